// Runs a WASI program in node with its arguments: node scripts/run_wasm.mjs program.wasm [argument ...]
// The working directory is open to it as "."; the exit code is the program's.
import { readFile } from "node:fs/promises";
import { argv, cwd, exit } from "node:process";

process.removeAllListeners("warning"); // node calls its WASI module experimental; that is known
const { WASI } = await import("node:wasi");

const [program, ...programArguments] = argv.slice(2);
if (program === undefined) {
    console.error("usage: node scripts/run_wasm.mjs program.wasm [argument ...]");
    exit(2);
}
const wasi = new WASI({ version: "preview1", args: [program, ...programArguments], env: {}, preopens: { ".": cwd() }, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
exit(wasi.start(instance));
