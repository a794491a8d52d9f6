// Native and WebAssembly give the same bits: every model of models/ and the page's own scenes, STEPS steps (10 000), hash of the whole state.
//     node web/tests/hashes.mjs [STEPS]          after `make` and `make web-engine`
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Engine } from "../engine/dist/index.js";
import { arch, stack } from "../viewer/src/scenes.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const steps = Number(process.argv[2] ?? 10000);
const native = join(root, "build/release/karakuri");

const folders = readdirSync(join(root, "models"), { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name).sort();
const scenes = folders.flatMap((folder) => readdirSync(join(root, "models", folder))
    .filter((name) => /\.(xml|urdf)$/.test(name)).map((name) => ({ directory: join(root, "models", folder), name })));
const made = join(root, "build/web-tests/scenes");
mkdirSync(made, { recursive: true });
for (const [name, text] of [["arch.xml", arch()], ["stack.xml", stack()]]) {
    writeFileSync(join(made, name), text);
    scenes.push({ directory: made, name });
}

const engine = await Engine.create();
let failed = 0;
for (const { directory, name } of scenes) {
    const files = Object.fromEntries(readdirSync(directory).map((file) => [file, new Uint8Array(readFileSync(join(directory, file)))]));
    const session = engine.load(files, name, { history: 1 });
    const { keyframes, options } = session.describe();
    const key = keyframes[0]?.name;
    const time = steps * options.timestep;
    const began = performance.now();
    let own = "";
    try {
        session.step(steps);
        own = session.hash;
    } catch (error) {
        own = error.message;
    }
    const seconds = (performance.now() - began) / 1000;
    session.free();
    const text = execFileSync(native, ["run", join(directory, name), "--time", String(time), "--quiet", ...(key ? ["-k", key] : [])],
        { encoding: "utf8" });
    const theirs = /state +([0-9a-f]{16})/.exec(text)?.[1] ?? text;
    const took = Number(/took +([0-9.e-]+) s/.exec(text)?.[1] ?? NaN);
    const same = own === theirs;
    failed += same ? 0 : 1;
    console.log(`${name.padEnd(24)} ${own} ${same ? "same" : "DIFFERS from " + theirs}  ${seconds.toFixed(2)} s, native ${took} s`);
}
console.log(`${scenes.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
