// Puts karakuri.wasm beside the engine's JavaScript, made smaller by wasm-opt of the npm package binaryen where that is installed.
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const from = at("../build/web/karakuri.wasm");
const to = at("engine/dist/karakuri.wasm");
const optimiser = at("node_modules/binaryen/bin/wasm-opt");

mkdirSync(at("engine/dist"), { recursive: true });
if (!existsSync(to) || statSync(to).mtimeMs < statSync(from).mtimeMs) {
    if (existsSync(optimiser)) {
        execFileSync(optimiser, ["-Os", "--enable-simd", "--enable-bulk-memory", "--enable-sign-ext", "--enable-nontrapping-float-to-int",
            "--enable-mutable-globals", from, "-o", to], { stdio: "inherit" });
    } else {
        copyFileSync(from, to);
    }
}
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
console.log(`karakuri.wasm ${kilobytes(statSync(to).size)}, ${kilobytes(gzipSync(readFileSync(to), { level: 9 }).length)} compressed`);
