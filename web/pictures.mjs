// Pictures of the gallery: each demonstration in the built page, in Chromium without a window. node web/pictures.mjs [DEMO ...], then build the page again.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";
import playwright from "playwright-core";

const out = fileURLToPath(new URL("viewer/pictures/", import.meta.url));
const demos = process.argv.length > 2 ? process.argv.slice(2) : ["stand", "walk", "titan8", "stack", "arch", "slope", "linkage", "chebyshev", "pendulum", "twelve", "walker", "new", "crane"];
mkdirSync(out, { recursive: true });
const server = await serve(0);
const browser = await playwright.chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"] });
const page = await browser.newPage({ viewport: { width: 480, height: 300 } });
await page.goto(`http://127.0.0.1:${server.address().port}/?embed#stand`);
for (const demo of demos) {
    await page.evaluate((id) => { globalThis.karakuri.store.set({ frame: undefined }); return globalThis.karakuri.loadDemo(id); }, demo);
    for (let i = 0; i < 150 && !(await page.evaluate(() => globalThis.karakuri.frame?.time > 0.5 && globalThis.karakuri.lastLoad > 0)); i++) {
        await page.waitForTimeout(100);
    }
    await page.waitForTimeout(1500); // until it is drawn
    const bytes = await page.evaluate(async () => {
        const { stage } = globalThis.karakuri;
        stage.isFixed = true;
        stage.setQuality(1);
        stage.overlays.group.visible = false;
        document.getElementById("game").hidden = true;
        stage.render();
        return new Promise((good) => stage.canvas.toBlob(async (blob) => good([...new Uint8Array(await blob.arrayBuffer())]), "image/jpeg", 0.82));
    });
    writeFileSync(`${out}${demo}.jpg`, Buffer.from(bytes));
    console.log(`${demo}.jpg ${(bytes.length / 1000).toFixed(0)} kB`);
}
await browser.close();
server.close();
