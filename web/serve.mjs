// Serves the built page on this machine only: node web/serve.mjs [PORT] [--open] [#DEMO]
import { createServer } from "node:http";
import { createReadStream, existsSync, statSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";
import { spawn } from "node:child_process";

const ROOT = fileURLToPath(new URL("./viewer/dist", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".jpg": "image/jpeg", ".png": "image/png" };

/** @returns a server that listens on 127.0.0.1; count.bytes is what was sent */
export function serve(port = 0, count = { bytes: 0 }) {
    const server = createServer((request, response) => {
        let path;
        try {
            path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
        } catch { // half a character: no file has such a name
            response.writeHead(400).end();
            return;
        }
        const file = join(ROOT, path === "/" ? "index.html" : path);
        if (!file.startsWith(ROOT) || !existsSync(file) || !statSync(file).isFile()) {
            response.writeHead(404).end();
            return;
        }
        const isPacked = extname(file) === ".gz";
        response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Cache-Control": "no-cache",
            ...(isPacked ? {} : { "Content-Encoding": "gzip" }) });
        const stream = isPacked ? createReadStream(file) : createReadStream(file).pipe(createGzip({ level: 6 }));
        stream.on("data", (part) => { count.bytes += part.length; });
        stream.pipe(response);
    });
    return new Promise((good, bad) => {
        server.once("error", bad); // a port that is taken
        server.listen(port, "127.0.0.1", () => good(server));
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const port = Number(process.argv.find((a) => /^\d+$/.test(a)) ?? 8321);
    const demo = process.argv.find((a) => a.startsWith("#")) ?? "";
    const server = await serve(port).catch(() => serve(0));
    const url = `http://127.0.0.1:${server.address().port}/${demo}`;
    console.log(`${url}   (Ctrl-C ends)`);
    if (process.argv.includes("--open") && (process.env.DISPLAY || process.env.WAYLAND_DISPLAY || process.platform === "darwin")) {
        spawn(process.platform === "darwin" ? "open" : "xdg-open", [url], { stdio: "ignore", detached: true }).on("error", () => {}).unref();
    }
}
