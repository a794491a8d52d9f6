// The page in a real browser: Chromium without a window, driven by playwright-core. Skips with a word where there is no browser.
//     node web/tests/browser.mjs [name ...]       after `make web`
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { execFileSync, spawn } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "../serve.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const out = join(root, "build/web-tests");
const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && existsSync(p));
let playwright;
try {
    playwright = await import("playwright-core");
} catch {
    console.log("skipped: playwright-core is not installed (npm --prefix web ci)\n0 passed, 0 failed");
    process.exit(0);
}
if (!browserPath) {
    console.log("skipped: no Chromium on this machine (apt-get install chromium, or set CHROMIUM)\n0 passed, 0 failed");
    process.exit(0);
}

mkdirSync(out, { recursive: true });
const count = { bytes: 0 };
const server = await serve(0, count);
const address = `http://127.0.0.1:${server.address().port}/?plain`;
const browser = await playwright.chromium.launch({ executablePath: browserPath,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"] });

const tests = [];
const test = (name, run) => tests.push({ name, run });
const check = (holds, text) => { if (!holds) { throw new Error(text); } };

/** A page with a model in it; console errors and failures of the engine fail the test. */
async function open(hash, viewport = { width: 420, height: 300 }, condition = "k => k.frame?.step > 3") {
    const page = await browser.newPage({ bypassCSP: true, viewport });
    page.faults = [];
    page.on("console", (m) => m.type() === "error" && page.faults.push(m.text()));
    page.on("pageerror", (e) => page.faults.push(e.message));
    await page.goto(`${address}#${hash}`);
    await page.waitForFunction(`(() => { const k = globalThis.karakuri; return k && (${condition})(k); })()`, undefined, { timeout: 60000, polling: 50 });
    return page;
}
/** Waits until the newest frame satisfies a condition. */
const frame = (page, condition, timeout = 60000) =>
    page.waitForFunction(`(() => { const f = globalThis.karakuri?.frame; return f && (${condition})(f); })()`, undefined, { timeout, polling: 50 });
const look = (page, expression) => page.evaluate(`(() => { const k = globalThis.karakuri, f = k.frame; return ${expression}; })()`);
const send = (page, command) => page.evaluate((c) => globalThis.karakuri.send(c), command);
async function close(page) {
    const errors = await look(page, "k.errors");
    await page.close();
    check(page.faults.length === 0 && errors.length === 0, `errors: ${[...page.faults, ...errors].join("; ")}`);
}
const bodyPlace = (page, name) => look(page, `[...f.poses.slice(7 * k.description.bodies.findIndex(b => b.name === "${name}") + 4).slice(0, 3)]`);

for (const demo of ["stand", "walk", "titan8", "stack", "arch", "slope", "linkage", "chebyshev", "pendulum", "twelve", "crane"]) {
    test(`demo ${demo} runs`, async () => {
        const page = await open(demo);
        await frame(page, "f => f.time > 0.4");
        check(await look(page, "f.residual <= 1e-9"), "the residual is above 1e-9 m/s");
        check(await look(page, "!f.failed"), "a step failed");
        await close(page);
    });
}

test("the walk goes on", async () => {
    const page = await open("walk");
    await frame(page, "f => f.time > 4 || f.failed", 120000);
    const [x, , z] = await look(page, "[...f.com]");
    check(x > 0.25 && z > 0.7, `its center of mass is at x = ${x.toFixed(2)} m, z = ${z.toFixed(2)} m`);
    await close(page);
    return `${x.toFixed(2)} m after 4 s`;
});

/** CPU seconds of the browser's processes so far, by kind; of those that have ended as well. */
const system = await browser.newBrowserCDPSession();
const spent = new Map();
async function cpu() {
    const { processInfo } = await system.send("SystemInfo.getProcessInfo");
    processInfo.forEach(({ id, type, cpuTime }) => spent.set(id, { kind: type === "renderer" ? "page" : type, seconds: cpuTime }));
    const sum = (kind) => [...spent.values()].filter((p) => p.kind === kind).reduce((all, p) => all + p.seconds, 0);
    return { page: sum("page"), graphics: sum("GPU"), pages: new Map([...spent].filter(([, p]) => p.kind === "page").map(([id, p]) => [id, p.seconds])) };
}
/** What the busiest page computed between two of these; the browser keeps a spare one, which warms up meanwhile. */
const ofPage = (before, after) => Math.max(...[...after.pages].map(([id, seconds]) => seconds - (before.pages.get(id) ?? 0)));
/** Others compute, so that the clock on the wall says nothing. KK_QUIET=1: it does, for example under `chrt -r 1`, which lets nobody else in. */
const isBusy = () => !process.env.KK_QUIET && loadavg()[0] > cpus().length / 2;

/** The best of three by the clock; on a busy machine only whether what the browser computed would fit into that time on all cores. */
async function within(bar, run) {
    let wall = Infinity, computed = Infinity;
    for (let i = 0; i < 3 && wall > bar; i++) {
        let before;
        const begin = async () => { before = await cpu(); };
        const end = async () => {
            const after = await cpu();
            computed = Math.min(computed, ofPage(before, after) + after.graphics - before.graphics);
        };
        wall = Math.min(wall, await run(begin, end));
    }
    const word = `${wall.toFixed(2)} s by the clock${isBusy() ? " of a busy machine" : ""}, ${computed.toFixed(2)} s of computing`;
    check(wall <= bar || (isBusy() && computed <= bar * cpus().length), `${word}; the bar is ${bar} s`);
    return word;
}

/** Pictures a second while a demonstration runs; on a busy machine whether what one of them costs leaves room for 60. */
async function quickEnough(page, seconds = 3) {
    const main = await page.context().newCDPSession(page);
    await main.send("Performance.enable", { timeDomain: "threadTicks" });
    const mainThread = async () => (await main.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
    const now = async () => ({ ...(await cpu()), main: await mainThread(), ...(await look(page, "({ drawn: k.drawn, time: f.time, wall: performance.now() / 1000 })")) });
    await page.waitForTimeout(2000); // until the browser has compiled the engine for speed
    let a, b = await now(), ticks, missed = Infinity;
    for (let i = 0; i < 3 && missed > 0; i++) { // the best of three, as of other times
        a = b;
        ticks = await page.evaluate((span) => new Promise((good) => { // of the display's clock, one a picture: the page draws in the same call
            const list = [];
            const tick = (time) => list.push(time) && time - list[0] < span ? requestAnimationFrame(tick) : good(list);
            requestAnimationFrame(tick);
        }), 1000 * seconds);
        b = await now();
        missed = ticks.filter((time, k) => k > 0 && time - ticks[k - 1] > 25).length;
    }
    const isEnough = missed === 0;
    const pictures = b.drawn - a.drawn, rate = (1000 * (ticks.length - 1)) / (ticks[ticks.length - 1] - ticks[0]);
    const engine = (b.page - a.page - (b.main - a.main)) / (b.time - a.time);
    const ms = (seconds) => (1000 * seconds) / pictures;
    const thread = ms(b.main - a.main), graphics = ms(b.graphics - a.graphics);
    const all = thread + graphics + (1000 / 60) * engine, room = (1000 / 60) * cpus().length;
    const word = `${rate.toFixed(1)} pictures a second${isBusy() ? " of a busy machine" : ""}, ${missed} ticks of the display missed; of computing ${thread.toFixed(1)} ms each by the page, ${graphics.toFixed(1)} ms by graphics; the engine takes ${(100 * engine).toFixed(0)} % of real time`;
    // graphics are drawn by all cores where there is no card
    check(isEnough || (isBusy() && thread <= 1000 / 60 && all <= room), `${word}: fewer than 60 pictures`);
    check(engine <= 1, `${word}: slower than real time`);
    return word;
}

test("page is small and quick", async () => {
    let bytes = 0;
    const word = await within(1, async (begin, end) => {
        count.bytes = 0;
        await begin();
        const page = await open("stand", undefined, "k => k.firstFrame > 0");
        await end();
        const first = await look(page, "k.firstFrame");
        bytes = count.bytes;
        await close(page);
        return first / 1000;
    });
    check(bytes <= 1.5e6, `${bytes} bytes were transferred`);
    return `${(bytes / 1000).toFixed(0)} kB transferred, first frame: ${word}`;
});

for (const demo of ["twelve", "crane"]) {
    test(`${demo} at 60 pictures a second`, async () => {
        const page = await open(demo);
        const word = await quickEnough(page);
        await close(page);
        return word;
    });
}

test("a dropped folder with a URDF and meshes stands up", async () => {
    const folder = process.env.KK_JVRC1 ?? join(root, "../shared/models/jvrc1");
    if (!existsSync(folder)) {
        return "skipped: no jvrc1 beside the repository";
    }
    const files = [];
    const walk = (directory, path) => readdirSync(directory).forEach((name) => {
        const at = join(directory, name);
        statSync(at).isDirectory() ? walk(at, `${path}${name}/`) : files.push([`${path}${name}`, readFileSync(at).toString("base64")]);
    });
    walk(folder, "jvrc1/");
    return within(3, async (begin, end) => {
        const page = await open("pendulum");
        await page.evaluate((list) => {
            globalThis.dropped = new Map(list.map(([path, text]) => [path, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));
        }, files);
        await begin();
        await page.evaluate(() => globalThis.karakuri.openFiles(globalThis.dropped));
        await page.waitForFunction("globalThis.karakuri.lastLoad > 0", undefined, { timeout: 60000 });
        await end();
        const seconds = (await look(page, "k.lastLoad")) / 1000;
        await frame(page, "f => f.time > 1");
        const height = await look(page, "f.com[2]");
        check(height > 0.8, `its center of mass is at ${height} m: it does not stand`);
        check(await look(page, "k.description.bodies.length > 30 && k.description.meshes.length > 20"), "bodies or meshes are missing");
        await close(page);
        return seconds;
    });
});

test("a real drop of files is taken", async () => {
    const page = await open("pendulum");
    const text = readFileSync(join(root, "models/closed_link/closed_link.xml"), "utf8");
    await page.evaluate((content) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([content], "closed_link.xml"));
        dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, text);
    await page.waitForFunction("globalThis.karakuri.description.name.includes('closed')", undefined, { timeout: 30000 });
    await close(page);
});

const bytesOf = (list) => Object.fromEntries(list.map(([name, path]) => [name, readFileSync(path).toString("base64")]));
const openFiles = (page, files) => page.evaluate((all) => globalThis.karakuri.openFiles(
    new Map(Object.entries(all).map(([name, text]) => [name, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]))), files);

test("a zip archive is taken", async () => {
    const zip = join(out, "crane.zip");
    try {
        execFileSync("python3", ["-c", "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\n"
            + "for n in sys.argv[2:]: z.write(n, 'game/' + n.split('/')[-1])\nz.close()", zip, join(root, "models/crane/crane.urdf"), join(root, "models/crane/heart.obj")]);
    } catch {
        return "skipped: no python3 to make an archive";
    }
    const page = await open("pendulum");
    await page.setInputFiles("#fileInput", zip);
    await page.waitForFunction("globalThis.karakuri.description.bodies.some(b => b.name === 'heart')", undefined, { timeout: 30000 });
    await frame(page, "f => f.time > 0.1");
    await close(page);
});

test("a recording is played with its model", async () => {
    const tool = join(root, "build/release/karakuri");
    if (!existsSync(tool)) {
        return "skipped: build/release/karakuri is not built";
    }
    const model = join(root, "models/double_pendulum/double_pendulum.xml");
    execFileSync(tool, ["run", model, "--time", "0.5", "-k", "start", "--quiet", "-o", join(out, "p.kkr")]);
    const page = await open("stack");
    await openFiles(page, bytesOf([["double_pendulum.xml", model], ["p.kkr", join(out, "p.kkr")]]));
    await frame(page, "f => f.replays && f.time > 0.49 && f.paused");
    await send(page, { do: "rewind", step: 10 });
    await frame(page, "f => f.step === 10");
    await close(page);
});

test("a film in one file plays", async () => {
    const tool = join(root, "build/release/karakuri");
    if (!existsSync(tool)) {
        return "skipped: build/release/karakuri is not built";
    }
    const file = join(out, "film.html");
    execFileSync(tool, ["view", join(root, "models/double_pendulum/double_pendulum.xml"), "--time", "1", "--save", file, "--quiet", "--page", join(root, "web/viewer/dist")]);
    const page = await browser.newPage({ bypassCSP: true, viewport: { width: 420, height: 300 } });
    page.faults = [];
    page.on("console", (m) => m.type() === "error" && page.faults.push(m.text()));
    page.on("pageerror", (e) => page.faults.push(e.message));
    await page.goto(`file://${file}`);
    await frame(page, "f => f.time > 0.3");
    check(await page.isHidden("[data-tab=script]") && await page.isHidden("#right"), "a film offers to be tuned");
    await close(page);
    return `${(statSync(file).size / 1000).toFixed(0)} kB`;
});

test("a native simulation is watched, steered and rewound", async () => {
    const tool = join(root, "build/release/karakuri");
    if (!existsSync(tool)) {
        return "skipped: build/release/karakuri is not built";
    }
    const child = spawn(tool, ["view", join(root, "models/closed_link/closed_link.xml"), "--page", join(root, "web/viewer/dist")]);
    try {
        const url = await new Promise((good, bad) => {
            let text = "";
            child.stdout.on("data", (data) => { text += data; /http:\S+/.test(text) && good(/http:\S+/.exec(text)[0]); });
            child.on("exit", () => bad(new Error("karakuri view ended")));
        });
        const page = await browser.newPage({ bypassCSP: true, viewport: { width: 1000, height: 700 } });
        page.faults = [];
        page.on("pageerror", (e) => page.faults.push(e.message));
        await page.goto(url);
        await frame(page, "f => f.time > 0.3");
        check(await page.isHidden("[data-tab=script]"), "a script is offered that nobody would run");
        await send(page, { do: "edit", item: "option", field: "gravity", value: [0, 0, -3] });
        await page.waitForFunction("globalThis.karakuri.description.options.gravity[2] === -3", undefined, { timeout: 30000 });
        await send(page, { do: "pause" });
        await frame(page, "f => f.paused");
        const [step, hash] = await look(page, "[f.step, f.hash]");
        await send(page, { do: "rewind", step: step - 50 });
        await frame(page, `f => f.step === ${step - 50}`);
        await send(page, { do: "rewind", step });
        await frame(page, `f => f.step === ${step}`);
        check(await look(page, "f.hash") === hash, "another hash after going back and forth");
        await close(page);
    } finally {
        child.kill("SIGINT");
    }
});

test("a slider changes a gain and the motion", async () => {
    const page = await open("stand", { width: 1000, height: 700 });
    const before = await look(page, "k.description.actuators[0].gain");
    // the slider itself, in its folder
    await page.evaluate(() => [...document.querySelectorAll("#right .lil-title, #right .title")].find((e) => /Gains|ゲイン/.test(e.textContent)).click());
    const input = page.locator("#right .lil-controller.lil-number", { hasText: "all × kp" }).locator("input").first();
    await input.fill("0.02");
    await input.press("Enter");
    await page.waitForFunction(`globalThis.karakuri.description.actuators[0].gain < ${before} * 0.05`, undefined, { timeout: 30000 });
    const height = await look(page, "f.com[2]");
    await frame(page, `f => f.com[2] < ${height} - 0.1`);
    await close(page);
    return `the robot sinks from ${height.toFixed(2)} m`;
});

test("rewind and replay give the same hash", async () => {
    const page = await open("stack");
    await frame(page, "f => f.time > 0.3");
    await send(page, { do: "push", body: 11, force: [900, 0, 0], steps: 100 });
    await frame(page, "f => f.time > 0.8");
    await send(page, { do: "pause" });
    await frame(page, "f => f.paused");
    const [step, hash] = await look(page, "[f.step, f.hash]");
    await send(page, { do: "rewind", step: Math.round(step / 3) });
    await frame(page, `f => f.step < ${step} / 2 && f.replays`);
    check(await look(page, `f.hash !== "${hash}"`), "the past has the hash of now");
    await send(page, { do: "step", count: step - Math.round(step / 3) });
    await frame(page, `f => f.step === ${step}`);
    check(await look(page, "f.hash") === hash, "the replay differs");
    check(await look(page, "!f.differs"), "the replay says it differs");
    await close(page);
});

test("a fork goes another way", async () => {
    const page = await open("stack");
    await frame(page, "f => f.time > 0.4");
    await send(page, { do: "pause" });
    await frame(page, "f => f.paused");
    const [step, hash] = await look(page, "[f.step, f.hash]");
    await send(page, { do: "rewind", step: Math.round(step / 2) });
    await frame(page, "f => f.replays");
    await send(page, [{ do: "push", body: 1, force: [200, 0, 0], steps: 50 }, { do: "step", count: step - Math.round(step / 2) }]);
    await frame(page, `f => f.step === ${step} && !f.replays`);
    check(await look(page, "f.hash") !== hash, "the fork is the same");
    await close(page);
});

test("a plot shows the signal", async () => {
    const page = await open("pendulum", { width: 1000, height: 700 });
    const leaf = page.locator("#scene .leaf[data-signal$=' q']").first();
    await leaf.click();
    await page.waitForFunction("!document.getElementById('plots').hidden && document.querySelector('#plotArea canvas')");
    const id = await leaf.getAttribute("data-signal");
    await page.waitForFunction(`(({ count, axis }) => count > 10 && Number.isFinite(axis[0]))(globalThis.karakuri.plots.last(${JSON.stringify(id)}))`, undefined, { timeout: 60000 });
    const { value, axis } = await look(page, `k.plots.last(${JSON.stringify(id)})`);
    check(Number.isFinite(value) && axis[0] <= value + 1 && axis[1] > axis[0], `the value ${value} is not within the axis ${axis}`);
    await close(page);
});

test("plots of several units stay when the past is looked at", async () => {
    const page = await open("pendulum", { width: 1000, height: 700 });
    await page.evaluate(() => document.querySelectorAll("#scene details").forEach((e) => { e.open = true; }));
    const leaves = page.locator("#scene .leaf");
    for (let i = 0; i < 5; i++) {
        await leaves.nth(i).click();
    }
    const id = await leaves.first().getAttribute("data-signal");
    const count = () => look(page, `k.plots.last(${JSON.stringify(id)}).count`);
    await page.waitForFunction(`globalThis.karakuri.plots.last(${JSON.stringify(id)}).count > 20`, undefined, { timeout: 60000 });
    await send(page, { do: "pause" });
    await frame(page, "f => f.paused");
    const [step, before] = [await look(page, "f.step"), await count()];
    await send(page, { do: "rewind", step: step - 5 });
    await frame(page, `f => f.replays && f.step === ${step - 5}`);
    check(await count() >= before, "the curve is gone");
    check(await page.evaluate(() => [...document.querySelectorAll("#plots .legend")].every((e) => e.scrollHeight <= e.clientHeight + 1)), "names of the curves are outside of the panel");
    check(/\d/.test(await page.textContent("#plots .legend .value")), "no numbers of the moment");
    await send(page, [{ do: "fork" }, { do: "step", count: 1 }]);
    await frame(page, `f => !f.replays && f.step === ${step - 4}`);
    await close(page);
});

// folder, slider, new value, what must come to hold
const SLIDERS = [
    ["Targets", "0 left_hip_yaw", "0.2", "Math.abs(f.control[0] - 0.2) < 1e-6"], ["Gains", "kd left_hip_yaw", "300", "d.actuators[0].bias[2] === -300"],
    ["Limits", "left_hip_yaw ↓", "-0.5", "d.bodies.some((b) => b.joint?.name === 'left_hip_yaw' && b.joint.dofs[0].lower === -0.5)"],
    ["Masses", "pelvis kg", "9", "d.bodies.some((b) => b.name === 'pelvis' && b.mass === 9)"], ["Friction", "μ default", "0.3", "d.materials[0].friction === 0.3"],
    ["Friction", "e default", "0.5", "d.materials[0].restitution === 0.5"], ["World", "gravity z", "-5", "d.options.gravity[2] === -5"],
    ["World", "time step", "0.002", "d.options.timestep === 0.002"], ["Solver", "sweep budget (0: exact)", "30", "d.step.effort === 'sweeps' && d.step.iterations === 30"], ["Solver", "tolerance 10^", "-7", "Math.abs(d.step.tolerance - 1e-7) < 1e-12"]];
test("every kind of slider acts, and what was set is saved", async () => {
    const page = await open("stand", { width: 1000, height: 700 });
    for (const [folder, name, value, holds] of SLIDERS) {
        const title = page.locator("#right .lil-title, #right .title", { hasText: new RegExp(`^${folder}$`) });
        await title.evaluate((e) => e.parentElement.classList.contains("lil-closed") && e.click());
        const input = page.locator("#right .lil-controller.lil-number").filter({ has: page.getByText(name, { exact: true }) }).locator("input").first();
        await input.fill(value);
        await input.press("Enter");
        await page.waitForFunction(`(() => { const k = globalThis.karakuri, d = k.description, f = k.frame; return ${holds}; })()`, undefined, { timeout: 30000 }).catch(() => { throw new Error(`${folder}, ${name}`); });
    }
    const solver = page.locator("#right select").filter({ hasText: "springhead" });
    await solver.selectOption("springhead");
    await page.waitForFunction("globalThis.karakuri.description.step.solver === 'springhead'", undefined, { timeout: 30000 });
    const time = await look(page, "f.time");
    await frame(page, `f => f.time > ${time} + 0.1`);
    const [file] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => globalThis.karakuri.saveParameters())]);
    const path = join(out, "stand.karakuri.json");
    await file.saveAs(path);
    const saved = JSON.parse(readFileSync(path, "utf8")).commands;
    check(["actuator", "dof", "body", "material", "option", "step"].every((item) => saved.some((c) => c.item === item)), "parameters are missing in what was saved");
    await close(page);
    return `${SLIDERS.length + 1} kinds`;
});

test("a body is dragged with the mouse", async () => {
    const page = await open("stack", { width: 900, height: 600 });
    const [x, y] = await page.evaluate(() => {
        const { stage } = globalThis.karakuri;
        const v = stage.bodies[10].position.clone().project(stage.camera);
        const r = stage.canvas.getBoundingClientRect();
        return [r.left + ((v.x + 1) / 2) * r.width, r.top + ((1 - v.y) / 2) * r.height];
    });
    const before = await bodyPlace(page, "box9");
    await page.click("[data-tool=hand]");
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y - 40, { steps: 3 });
    await frame(page, `f => Math.hypot(f.poses[74] - ${before[0]}, f.poses[75] - ${before[1]}, f.poses[76] - ${before[2]}) > 0.03`);
    await page.mouse.up();
    await close(page);
});

test("a behavior script acts, and its errors have lines", async () => {
    const page = await open("stand", { width: 1000, height: 700 });
    await page.evaluate(() => document.querySelector("[data-tab=script]").click());
    const name = await look(page, "k.description.actuators[0].name");
    await page.fill("#scriptText", `const t = robot.time;\nrobot.control["${name}"] = 0.25;\n`);
    await page.click("#scriptRun");
    await frame(page, "f => Math.abs(f.control[0] - 0.25) < 1e-6");
    await page.fill("#scriptText", "const a = 1;\n\nrobot.control['nobody'] = a;\n");
    await page.click("#scriptRun");
    await page.waitForFunction("/(line|行) 3/.test(document.getElementById('scriptError').textContent)", undefined, { timeout: 30000 });
    await page.fill("#scriptText", "const a = 1;\nif (a { }\n");
    await page.click("#scriptRun");
    await page.waitForFunction("/(line|行) 2/.test(document.getElementById('scriptError').textContent)", undefined, { timeout: 30000 });
    const time = await look(page, "f.time");
    await frame(page, `f => f.time > ${time} + 0.1`);
    await close(page);
});

test("a script that never ends is stopped, and the scene goes on", async () => {
    const page = await open("stand", { width: 1000, height: 700 });
    await page.evaluate(() => document.querySelector("[data-tab=script]").click());
    for (const text of ["while (true) {}", "close();", "self.onmessage = null;"]) {
        await page.fill("#scriptText", text);
        await page.click("#scriptRun");
        await page.waitForFunction("/anew|最初から/.test(document.getElementById('scriptError').textContent)", undefined, { timeout: 30000 });
        await frame(page, "f => f.time > 0.05 && f.time < 3");
        check(await page.inputValue("#scriptText") === text, "the script is gone");
    }
    for (const text of ["robot.q = 1;", "robot.control[99] = 1;", "robot.v['nobody'];"]) {
        await page.fill("#scriptText", text);
        await page.click("#scriptRun");
        await page.waitForFunction("/(line|行) 1: (Type|Range|Reference)Error/.test(document.getElementById('scriptError').textContent)", undefined, { timeout: 30000 });
        await page.click("#scriptStop");
    }
    await close(page);
});

test("files that are no models are refused with a word", async () => {
    const page = await open("pendulum");
    const toast = (word) => page.waitForFunction(`[...document.querySelectorAll("#toasts .toast")].some((e) => ${word}.test(e.textContent))`, undefined, { timeout: 30000 });
    const ball = '<mujoco model="ball"><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>';
    const drop = (files) => openFiles(page, Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString("base64")])));
    for (const [files, word] of [
        [{ "a.png": "x" }, /a\.png/], [{ "a.urdf": "" }, /a\.urdf:1:1: no element/], [{ "a.xml": "<html/>" }, /a\.xml:1/],
        [{ "m.xml": ball, "m.karakuri.json": "{no" }, /karakuri\.json/], [{ "m.xml": ball, "m.csv": "a,b\n1,2\n" }, /\.csv/], [{ "m.xml": ball, "r.kkr": "no" }, /recording/]]) {
        await drop(files);
        await toast(word);
    }
    const time = await look(page, "f.time");
    await frame(page, `f => f.time > ${time} + 0.1`);
    // a chain so long that a tree of it overflows the stack
    await drop({ "deep.xml": `<mujoco model="deep"><worldbody>${'<body><joint/><geom size="0.1"/>'.repeat(2500)}${"</body>".repeat(2500)}</worldbody></mujoco>` });
    await page.waitForFunction("globalThis.karakuri.description.name === 'deep'", undefined, { timeout: 60000 });
    check(page.faults.length === 0, page.faults.join("; "));
    await page.close();
});

test("a zip that unpacks to more than it says is refused", async () => {
    const zip = join(out, "bomb.zip");
    try {
        execFileSync("python3", ["-c", "import sys, zipfile, struct\nz = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\nz.writestr('../m.xml', b'<mujoco>' + b' ' * 5000000 + b'</mujoco>')\nz.close()\n"
            + "b = bytearray(open(sys.argv[1], 'rb').read())\nat = b.rindex(b'PK\\x01\\x02')\nb[at + 24:at + 28] = struct.pack('<I', 100)\nopen(sys.argv[1], 'wb').write(b)", zip]);
    } catch {
        return "skipped: no python3 to make an archive";
    }
    const page = await open("pendulum");
    await page.setInputFiles("#fileInput", zip);
    await page.waitForFunction("globalThis.karakuri.errors.some((e) => /more than its directory/.test(e))", undefined, { timeout: 30000 });
    const time = await look(page, "f.time");
    await frame(page, `f => f.time > ${time} + 0.1`);
    await page.close();
});

test("English, Japanese, dark, phone", async () => {
    const page = await open("pendulum", { width: 390, height: 740 });
    await page.click("#language");
    check(/[ぁ-んァ-ン一-龥]/.test(await page.textContent("#open")) || (await page.textContent("#open")) === "Open", "no words");
    await page.click("#language");
    await page.click("#dark");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
    check(!wide, "the page is wider than a phone");
    await page.click("#panelsButton");
    await close(page);
});

test("parameters come back with the scene", async () => {
    const page = await open("pendulum");
    const text = readFileSync(join(root, "models/double_pendulum/double_pendulum.xml"), "utf8");
    const parameters = JSON.stringify({ commands: [{ do: "edit", item: "option", field: "gravity", value: [0, 0, -1.5] }] });
    await page.evaluate(([model, saved]) => {
        const bytes = (t) => new TextEncoder().encode(t);
        globalThis.karakuri.openFiles(new Map([["m.xml", bytes(model)], ["m.karakuri.json", bytes(saved)]]));
    }, [text, parameters]);
    await page.waitForFunction("globalThis.karakuri.description.options.gravity[2] === -1.5", undefined, { timeout: 30000 });
    await close(page);
});

/** Holds a key for a time of the simulation. */
async function hold(page, key, until) {
    await page.keyboard.down(key);
    await frame(page, until);
    await page.keyboard.up(key);
}
const railOf = (page, name) => look(page, `k.description.bodies.find(b => b.joint?.name === "${name}").joint.q`);

for (const [prize, x] of [["box", -0.35], ["heart", 0]]) {
    test(`crane lifts the ${prize} and jerks`, async () => {
        const page = await open("crane");
        const q = await railOf(page, "rail_x");
        if (x < 0) {
            await hold(page, "ArrowLeft", `f => f.q[${q}] < ${x} + 0.03`);
        }
        await frame(page, `f => Math.abs(f.v[${q}] ?? 0) < 0.05`);
        // small corrections, as a player makes them
        for (let i = 0; i < 12; i++) {
            const at = await look(page, `f.q[${q}]`);
            if (Math.abs(at - x) < 0.012) {
                break;
            }
            await page.keyboard.press(at < x ? "ArrowRight" : "ArrowLeft", { delay: 20 });
            await page.waitForTimeout(150);
        }
        await page.keyboard.press(" ");
        await page.waitForFunction("globalThis.karakuri.crane.state === 'carry'", undefined, { timeout: 90000 });
        const height = (await bodyPlace(page, prize))[2];
        check(height > 0.2, `the ${prize} is at ${height.toFixed(3)} m, the crane at ${(await look(page, `f.q[${q}]`)).toFixed(3)} m, not ${x} m`);
        await page.waitForFunction(`globalThis.karakuri.crane.lift === "${prize}" && globalThis.karakuri.crane.tries === 4`, undefined, { timeout: 30000 });
        prize === "box" && writeFileSync(join(out, "crane.png"), await page.screenshot());
        await page.keyboard.down("Shift");
        for (let i = 0; i < 6; i++) {
            const time = await look(page, "f.time");
            await hold(page, i % 2 ? "ArrowDown" : "ArrowUp", `f => f.time > ${time} + 0.25`);
        }
        await page.keyboard.up("Shift");
        const time = await look(page, "f.time");
        await frame(page, `f => f.time > ${time} + 0.5`);
        const left = (await bodyPlace(page, prize))[2];
        check(prize === "heart" ? left > 0.2 : left < 0.2, `after six jerks the ${prize} is at ${left.toFixed(3)} m`);
        await close(page);
        return `at ${height.toFixed(3)} m, after six jerks at ${left.toFixed(3)} m`;
    });
}

test("the crane is played with fingers", async () => {
    const context = await browser.newContext({ bypassCSP: true, viewport: { width: 390, height: 740 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    page.faults = [];
    page.on("pageerror", (e) => page.faults.push(e.message));
    await page.goto(`${address}#crane`);
    await frame(page, "f => f.step > 3");
    const outside = await page.evaluate(() => [...document.querySelectorAll("#game button, footer button:not([hidden])")].filter((b) => {
        const { left, right, top, bottom, width } = b.getBoundingClientRect();
        return width > 0 && (left < 0 || right > innerWidth + 0.5 || top < 0 || bottom > innerHeight + 0.5);
    }).length);
    check(outside === 0, `${outside} buttons are not on the screen`);
    const q = await railOf(page, "rail_x");
    const button = page.locator("#game [data-key=ArrowRight]");
    await button.dispatchEvent("pointerdown", { pointerId: 1 });
    await frame(page, `f => f.q[${q}] > 0.05`);
    await button.dispatchEvent("pointerup", { pointerId: 1 });
    await page.tap("#game .grab");
    await page.waitForFunction("globalThis.karakuri.crane.state !== 'free'", undefined, { timeout: 30000 });
    await close(page);
    await context.close();
});

test("a video is recorded", async () => {
    const page = await open("pendulum");
    await page.click("#filmButton");
    await page.waitForTimeout(1500);
    const [file] = await Promise.all([page.waitForEvent("download", { timeout: 60000 }), page.click("#filmButton")]);
    const path = join(out, file.suggestedFilename());
    await file.saveAs(path);
    const bytes = readFileSync(path);
    check(bytes.length > 2000 && (bytes.readUInt32BE(0) === 0x1a45dfa3 || bytes.toString("latin1", 4, 8) === "ftyp"), `${bytes.length} bytes that are no video`);
    await close(page);
    return `${file.suggestedFilename()}, ${(bytes.length / 1000).toFixed(0)} kB`;
});

test("fields of view, cones and ellipsoids are drawn", async () => {
    const page = await open("pendulum");
    const text = `<mujoco model="eye"><worldbody><geom type="plane" size="0 0 1"/><body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
        <site name="eye" pos="0 0 0.4" zaxis="0 1 -0.5"/></body></worldbody><sensor><rangefinder name="eye" site="eye"/></sensor></mujoco>`;
    await openFiles(page, { "eye.xml": Buffer.from(text).toString("base64") });
    await page.waitForFunction("globalThis.karakuri.description.sensors.length === 1", undefined, { timeout: 30000 });
    await page.evaluate(() => { Object.assign(globalThis.karakuri.stage.overlays.on, { sensors: true, cones: true, inertia: true, contacts: true }); });
    await frame(page, "f => f.time > 0.1 && f.contactCount >= 4");
    await page.waitForFunction("(({ views, cones, ellipsoids, arrows }) => views.count === 1 && cones.count >= 4 && ellipsoids.count === 1 && arrows.count >= 4)(globalThis.karakuri.stage.overlays)",
        undefined, { timeout: 30000 });
    await close(page);
});

test("a screenshot is not blank", async () => {
    const page = await open("stand");
    const colors = await page.evaluate(async () => {
        const picture = await createImageBitmap(await globalThis.karakuri.screenshot());
        const canvas = new OffscreenCanvas(picture.width, picture.height);
        const pen = canvas.getContext("2d");
        pen.drawImage(picture, 0, 0);
        const data = pen.getImageData(0, 0, picture.width, picture.height).data;
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) {
            seen.add((data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
        }
        return seen.size;
    });
    check(colors > 20, `${colors} colors only`);
    await close(page);
});

await (await import("./studio.mjs")).default({ test, check, open, frame, look, send, close, bodyPlace, openFiles, bytesOf, browser, root, out, address, serve });

const names = process.argv.slice(2);
let passed = 0, failed = 0;
for (const { name, run } of tests.filter((t) => names.length === 0 || names.some((n) => t.name.includes(n)))) {
    const began = Date.now();
    try {
        const word = await run();
        passed++;
        console.log(`ok    ${name}${word ? `: ${word}` : ""} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}: ${error.message.split("\n")[0]}`);
        for (const page of browser.contexts().flatMap((c) => c.pages())) {
            await page.screenshot({ path: join(out, `${name.replaceAll(/\W+/g, "_")}.png`) }).catch(() => {});
            await page.close();
        }
    }
}
await browser.close();
server.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
