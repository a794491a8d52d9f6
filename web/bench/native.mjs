// WebAssembly beside the same engine compiled for this machine without SIMD variants (preset scalar): the same models, steps and hashes.
// CPU time, so that a busy machine changes little; the two take turns, the best of the rounds counts. Bar: at most twice the time.
//     node web/bench/native.mjs [ROUNDS] [name ...]       after `make web-engine` and `cmake --build --preset scalar`
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Engine } from "../engine/dist/index.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const native = join(root, "build/scalar/karakuri");
const BAR = 2;
const rounds = Number(process.argv[2] ?? 5);
const wanted = process.argv.slice(3);

// models, and how many steps of each take a good part of a second; of the crane only until it rests, when steps are told by the last one
const scenes = [["hrp2/hrp2.xml", 5000], ["h6/h6.xml", 2000], ["titan8/titan8.xml", 8000], ["crane/crane.urdf", 300], ["boxes_on_slope/boxes_on_slope.xml", 2000],
    ["closed_link/closed_link.xml", 30000], ["double_pendulum/double_pendulum.xml", 100000]].filter(([path]) => wanted.length === 0 || wanted.some((w) => path.includes(w)));

/** CPU seconds of a process with what its start takes, and the seconds that it says its steps took, which are finer. */
function nativeRun(path, key, time) {
    const args = ["run", path, "--time", String(time), "--quiet", ...(key ? ["-k", key] : [])].map((a) => `'${a}'`).join(" ");
    const text = execFileSync("bash", ["-c", `TIMEFORMAT='cpu %U'; { time '${native}' ${args}; } 2>&1`], { encoding: "utf8" });
    return { seconds: Number(/cpu ([0-9.]+)/.exec(text)[1]), took: Number(/took +([0-9.e-]+) s/.exec(text)?.[1] ?? Infinity), hash: /state +([0-9a-f]{16})/.exec(text)?.[1] };
}

function wasmRun(engine, files, name, steps) {
    const session = engine.load(files, name, { history: 1 });
    const began = process.cpuUsage();
    session.step(steps);
    const seconds = process.cpuUsage(began).user / 1e6;
    const hash = session.hash;
    session.free();
    return { seconds, hash };
}

const engine = await Engine.create();
let worst = 0, failed = 0;
console.log("| model | steps | native scalar, µs a step | WebAssembly, µs a step | ratio | hash |\n|---|---|---|---|---|---|");
for (const [path, steps] of scenes) {
    const directory = join(root, "models", path.split("/")[0]), name = path.split("/")[1];
    const files = Object.fromEntries(readdirSync(directory).map((file) => [file, new Uint8Array(readFileSync(join(directory, file)))]));
    const session = engine.load(files, name, { history: 1 });
    const { keyframes, options } = session.describe();
    session.free();
    const key = keyframes[0]?.name;
    let start = Infinity, own = Infinity, theirs = Infinity, same = true;
    for (let warm = 0; warm < 3;) { // until the optimizing compiler has seen it: of short runs it takes many
        warm += wasmRun(engine, files, name, steps).seconds;
    }
    for (let round = 0; round < rounds; round++) {
        start = Math.min(start, nativeRun(join(directory, name), key, options.timestep).seconds);
        const a = nativeRun(join(directory, name), key, steps * options.timestep);
        const b = wasmRun(engine, files, name, steps);
        theirs = Math.min(theirs, a.took < 0.05 ? a.took : a.seconds - start);
        own = Math.min(own, b.seconds);
        same &&= a.hash === b.hash;
    }
    const micro = (seconds) => (1e6 * seconds) / steps;
    const ratio = own / theirs;
    worst = Math.max(worst, ratio);
    failed += same ? 0 : 1;
    console.log(`| ${path} | ${steps} | ${micro(theirs).toFixed(1)} | ${micro(own).toFixed(1)} | ${ratio.toFixed(2)} | ${same ? "same" : "DIFFERS"} |`);
}
console.log(`worst ratio ${worst.toFixed(2)}, bar ${BAR}: ${worst <= BAR ? "held" : "missed"}`);
process.exit(failed ? 1 : 0);
