// Makes web/viewer/dist/film.html of the built page: the same in one file, for `karakuri view --save`, which puts a recording inside.
import { readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`viewer/dist/${path}`, import.meta.url));
const read = (path) => readFileSync(at(path), "utf8");
const page = read("index.html")
    .replace(/<link rel="modulepreload"[^>]*>/g, "")
    .replace(/<link rel="stylesheet"[^>]*href="\.\/([^"]+)"[^>]*>/g, (_, path) => `<style>${read(path)}</style>`)
    .replace(/<script type="module"[^>]*src="\.\/([^"]+)"[^>]*><\/script>/g, (_, path) => `<script type="module">${read(path).replaceAll("</script", "<\\/script")}</script>`);
// its own script, by its hash, is the only one that may stand in the page
const hashes = [...page.matchAll(/<script type="module">([\s\S]*?)<\/script>/g)].map((m) => `'sha256-${createHash("sha256").update(m[1]).digest("base64")}'`);
const safe = page.replace("script-src 'self'", `script-src 'self' ${hashes.join(" ")}`);
if (/(src|href)="\.\//.test(page.replace(/<script[\s\S]*?<\/script>/g, ""))) {
    throw new Error("film.html would still need other files");
}
writeFileSync(at("film.html"), safe);
console.log(`film.html ${(page.length / 1000).toFixed(0)} kB`);
