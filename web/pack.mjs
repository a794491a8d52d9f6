// Puts karakuri.wasm.gz beside the engine's JavaScript: made smaller by wasm-opt of the npm package binaryen, then compressed by zopfli, which finds 5 %
// more than zlib; both where they are installed (docs/decisions/0011).
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const from = at("../build/web/karakuri.wasm");
const small = at("../build/web/karakuri.small.wasm");
const to = at("engine/dist/karakuri.wasm.gz");
const optimizer = at("node_modules/binaryen/bin/wasm-opt");
const isOlder = (a, b) => !existsSync(a) || statSync(a).mtimeMs < statSync(b).mtimeMs;

mkdirSync(at("engine/dist"), { recursive: true });
rmSync(at("engine/dist/karakuri.wasm"), { force: true });
if (isOlder(small, from)) {
    if (existsSync(optimizer)) {
        // nothing lies below 1024, where the linker puts the first byte
        execFileSync(optimizer, ["--flatten", "--rereloop", "-Oz", "-Oz", "--converge", "--low-memory-unused", "--zero-filled-memory", "--enable-simd", "--enable-bulk-memory",
            "--enable-sign-ext", "--enable-nontrapping-float-to-int", "--enable-mutable-globals", from, "-o", small], { stdio: "inherit" });
    } else {
        copyFileSync(from, small);
    }
}
async function compress(bytes) {
    try {
        const { default: zopfli } = await import("@gfx/zopfli");
        return await zopfli.gzipAsync(bytes, { numiterations: 15, blocksplittingmax: 0 }); // as many blocks as pay
    } catch {
        return gzipSync(bytes, { level: 9 });
    }
}
if (isOlder(to, small)) {
    writeFileSync(to, await compress(readFileSync(small)));
}
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
console.log(`karakuri.wasm.gz ${kilobytes(statSync(to).size)}, ${kilobytes(statSync(small).size)} unpacked`);
