import { defineConfig } from "vite";
import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
    root: at("."),
    base: "./",
    resolve: { alias: { "karakuri-dynamics": at("../engine/src/index.ts") } },
    build: { outDir: at("dist"), emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 900 },
    worker: { format: "es" },
    server: { fs: { allow: [at("../..")] } },
});
