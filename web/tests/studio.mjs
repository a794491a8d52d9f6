// What the studio promises, each in the browser: what was broken, plots, scene, editor, sharing, words, access.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export default function studio({ test, check, open, frame, look, send, close, openFiles, bytesOf, browser, root, out, address, serve }) {
    const tool = join(root, "build/release/karakuri");
    const wait = (page, condition, timeout = 60000) => page.waitForFunction(`(() => { const k = globalThis.karakuri, f = k?.frame; return ${condition}; })()`, undefined, { timeout, polling: 50 });
    const text = (name, content) => ({ [name]: Buffer.from(content).toString("base64") });
    const WIDE = { width: 1280, height: 720 };
    /** A name that JSON and the page both understand. */
    const clicks = { count: 0 };
    const click = async (page, selector) => { clicks.count++; await page.click(selector); };

    // ---- what was broken

    const CUBE = '<robot name="cube"><link name="cube"><inertial><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
        + '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>';

    test("forces of the floor on a dropped URDF point up", async () => {
        const page = await open("pendulum");
        await openFiles(page, text("cube.urdf", CUBE));
        await wait(page, "k.description.name === 'cube' && f.time > 0.3 && f.contactCount >= 4");
        await page.evaluate(() => { globalThis.karakuri.stage.overlays.on.cones = true; });
        await frame(page, "f => f.time > 0.5");
        const up = await page.evaluate(() => ["arrows", "cones"].map((name) => {
            const mesh = globalThis.karakuri.stage.overlays[name];
            return [mesh.count, Math.min(...Array.from({ length: mesh.count }, (_, i) => mesh.instanceMatrix.array[16 * i + 10]))];
        }));
        check(up.every(([count, z]) => count >= 4 && z > 0), `arrows and cones: ${JSON.stringify(up)}`);
        check(await page.evaluate(() => globalThis.karakuri.stage.overlays.arrows.material.depthTest === false), "they are hidden by bodies");
        await close(page);
    });

    test("a URDF without its meshes is held, drawn by its inertias, and says so once", async () => {
        const page = await open("pendulum");
        const mesh = (name) => `<visual><geometry><mesh filename="package://x/${name}.stl"/></geometry></visual><collision><geometry><mesh filename="package://x/${name}.stl"/></geometry></collision>`;
        const link = (name) => `<link name="${name}"><inertial><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>${mesh(name)}</link>`;
        await openFiles(page, text("bare.urdf", `<robot name="bare">${link("a")}${link("b")}<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>`));
        await wait(page, "k.description.name === 'bare' && f.time > 0.4 && !k.store.state.isLoading");
        const cards = await page.locator("#toasts .toast").count();
        const boxes = await page.evaluate(() => globalThis.karakuri.stage.bodies.slice(1).filter((b) => b.children.length > 0).length);
        check(boxes === 2, `${boxes} of 2 bodies are drawn`);
        check(await look(page, "f.com[2]") > -0.5, `it falls: ${await look(page, "f.com[2]")} m`);
        check(cards <= 2, `${cards} cards: ${await page.textContent("#toasts")}`);
        await close(page);
    });

    test("a recording has contacts, torques and ZMP; one of another model is one word", async () => {
        if (!existsSync(tool)) {
            return "skipped: build/release/karakuri is not built";
        }
        const model = join(root, "models/hrp2/hrp2.xml"), recording = join(out, "stand.kkr");
        execFileSync(tool, ["run", model, "--time", "0.3", "--quiet", "-o", recording]);
        const page = await open("stack");
        await openFiles(page, bytesOf([["hrp2.xml", model], ["stand.kkr", recording]]));
        await wait(page, "f.replays && f.time > 0.29 && f.paused");
        const seen = await look(page, "({ contacts: f.contactCount, torque: Math.max(...f.torque.map(Math.abs)), zmp: f.zmp[0] })");
        check(seen.contacts > 0 && seen.torque > 0.1 && Number.isFinite(seen.zmp), JSON.stringify(seen));
        await send(page, { do: "rewind", step: 100 });
        await frame(page, "f => f.step === 100 && f.contactCount > 0");
        await openFiles(page, bytesOf([["double_pendulum.xml", join(root, "models/double_pendulum/double_pendulum.xml")], ["stand.kkr", recording]]));
        await wait(page, "k.errors.length > 0");
        await page.waitForTimeout(1500);
        const errors = await look(page, "k.errors");
        check(errors.length === 1 && /another model/.test(errors[0]), errors.join(" | "));
        await page.close();
        return `${seen.contacts} contacts`;
    });

    test("plots of a film are full at once, and stay when it is scrubbed", async () => {
        if (!existsSync(tool)) {
            return "skipped: build/release/karakuri is not built";
        }
        const file = join(out, "plotted.html");
        execFileSync(tool, ["view", join(root, "models/double_pendulum/double_pendulum.xml"), "--time", "1", "--save", file, "--quiet", "--page", join(root, "web/viewer/dist")]);
        const page = await browser.newPage({ bypassCSP: true, viewport: WIDE });
        page.faults = [];
        await page.goto(`file://${file}`);
        await wait(page, "f?.time > 0.1");
        await send(page, { do: "rewind", step: 10 });
        await page.evaluate(() => document.querySelectorAll("#scene details").forEach((e) => { e.open = true; }));
        await page.locator("#scene .leaf[data-signal$=' q']").first().click();
        await wait(page, "k.plots.last('1 q')?.count >= 60");
        await close(page);
    });

    test("plots keep the whole time, also of a signal chosen late", async () => {
        const page = await open("pendulum", WIDE);
        await send(page, [{ do: "speed", value: 5 }]);
        await frame(page, "f => f.time > 12", 120000);
        await page.evaluate(() => document.querySelectorAll("#scene details").forEach((e) => { e.open = true; }));
        await page.locator("#scene .leaf[data-signal$=' q']").first().click();
        await wait(page, "k.plots.last('1 q')?.count > 50");
        const { count, first } = await look(page, "k.plots.last('1 q')");
        check(first < 0.5, `the curve begins at ${first} s`);
        const step = await look(page, "f.step");
        await send(page, { do: "rewind", step: Math.round(step / 4) });
        await frame(page, `f => f.replays && f.step < ${step} / 2`);
        check((await look(page, "k.plots.last('1 q').count")) >= count, "rewinding wiped the curve");
        const numbers = await page.evaluate(async () => { // small numbers are not nothing
            const { plots, frame: f } = globalThis.karakuri;
            plots.add({ id: "small", label: "small", unit: "m/s", read: () => 1e-13 });
            plots.show(f);
            plots.draw();
            await new Promise((good) => setTimeout(good, 300));
            plots.draw();
            return [...document.querySelectorAll(".legend .chip")].find((e) => /small/.test(e.textContent)).textContent;
        });
        check(/1\.0e-13/.test(numbers), `1e-13 is shown as "${numbers}"`);
        check((await page.locator(".chart").count()) === 2, "each unit has its chart");
        await close(page);
        return `${count} values from ${first.toFixed(2)} s`;
    });

    test("plots zoom, seek, log, spectrum, x-y, CSV, PNG", async () => {
        const page = await open("pendulum", WIDE);
        await frame(page, "f => f.time > 2.5", 90000);
        await page.evaluate(() => document.querySelectorAll("#scene details").forEach((e) => { e.open = true; }));
        await page.locator("#scene .leaf[data-signal$=' q']").first().click();
        await page.locator("#scene .leaf[data-signal$=' q']").nth(1).click();
        await wait(page, "k.plots.last('1 q')?.count > 20");
        const over = page.locator(".chart .u-over").first(), box = await over.boundingBox();
        await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
        await page.waitForFunction("globalThis.karakuri.stage.ghost.group.visible", undefined, { timeout: 20000 });
        await page.mouse.click(box.x + box.width * 0.5, box.y + 30);
        await frame(page, "f => f.replays && f.paused");
        await page.mouse.move(box.x + 80, box.y + 30);
        await page.mouse.down();
        await page.mouse.move(box.x + 200, box.y + 30, { steps: 4 });
        await page.mouse.up();
        await page.waitForFunction("(() => { const { min, max } = globalThis.karakuri.plots.charts[0].plot.scales.x; return max - min < 2; })()", undefined, { timeout: 20000 });
        await page.click(".chart .tools button >> nth=0");
        await page.waitForFunction("globalThis.karakuri.plots.charts[0].plot.scales.y.distr === 3");
        for (const kind of ["spectrum", "xy"]) {
            await page.selectOption(".chart .tools select", kind);
            await page.waitForFunction(`document.querySelector(".chart ${kind === "xy" ? "canvas.path" : ".uplot canvas"}")`);
            await page.waitForTimeout(300);
        }
        for (const [name, pattern] of [["CSV", /^time \[s\],/], ["PNG", /PNG/]]) {
            const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".chart .tools button", { hasText: name }).click()]);
            const path = join(out, file.suggestedFilename());
            await file.saveAs(path);
            check(pattern.test(readFileSync(path, "latin1").slice(0, 40)), `${name} is none`);
        }
        await close(page);
    });

    test("files of the user have the name and the address, and come back", async () => {
        const page = await open("stack", WIDE);
        await openFiles(page, bytesOf([["closed_link.xml", join(root, "models/closed_link/closed_link.xml")]]));
        await wait(page, "/closed/.test(k.description.name) && f.step > 3");
        check(!/tower|Stack/i.test(await page.textContent("#demos")) && !page.url().includes("stack"), `${await page.textContent("#demos")}, ${page.url()}`);
        await page.waitForTimeout(500);
        await page.reload();
        await wait(page, "/closed/.test(k?.description?.name ?? '')");
        await close(page);
    });

    test("a click beside bodies deselects", async () => {
        const page = await open("stack", WIDE);
        await page.evaluate(() => globalThis.karakuri.store.set({ selected: 3 }));
        await page.mouse.click(330, 500);
        await wait(page, "k.store.state.selected === -1", 10000);
        await close(page);
    });

    test("twenty loads leave nothing on the graphics card", async () => {
        const page = await open("slope");
        const counts = [];
        for (let i = 0; i < 20; i++) {
            await page.evaluate((id) => { globalThis.karakuri.store.set({ frame: undefined }); void globalThis.karakuri.loadDemo(id); }, i % 2 ? "slope" : "crane");
            await wait(page, `f && k.description.name === "${i % 2 ? "boxes_on_slope" : "crane"}" && f.step > 1`);
            await page.waitForTimeout(150);
            counts.push(await page.evaluate(() => { const { geometries, textures } = globalThis.karakuri.stage.renderer.info.memory; return [geometries, textures, globalThis.karakuri.stage.renderer.info.programs.length]; }));
        }
        const most = (from, to) => [0, 1, 2].map((k) => Math.max(...counts.slice(from, to).map((c) => c[k])));
        check(most(10, 20).every((n, k) => n <= most(0, 10)[k]), JSON.stringify(counts));
        await close(page);
        return `geometries, textures, programs: ${counts[19].join(", ")}`;
    });

    test("quality goes down and up again", async () => {
        const page = await open("pendulum");
        const steps = await page.evaluate(() => {
            const { stage } = globalThis.karakuri, seen = [];
            stage.isFixed = false;
            stage.setQuality(1);
            for (let i = 0; i < 40; i++) { stage.adapt(60); }
            seen.push(stage.quality);
            for (let i = 0; i < 4000; i++) { stage.adapt(16.7); }
            seen.push(stage.quality);
            stage.isFixed = true;
            stage.setQuality(3);
            return seen;
        });
        check(steps[0] === 3 && steps[1] === 1, steps.join(" → "));
        await close(page);
    });

    test("the server refuses what is no name, and a port that is taken", async () => {
        const port = Number(new URL(address).port);
        const answer = await new Promise((good) => {
            import("node:http").then(({ get }) => get({ port, host: "127.0.0.1", path: "/%E0%A4%A" }, (r) => good(r.statusCode)).on("error", () => good(0)));
        });
        check(answer === 400, `answered ${answer}`);
        const other = createServer().listen(0, "127.0.0.1");
        await new Promise((good) => other.once("listening", good));
        const refused = await serve(other.address().port).then(() => false, () => true);
        other.close();
        check(refused, "no error where the port is taken");
    });

    test("the page says so when its server has ended", async () => {
        if (!existsSync(tool)) {
            return "skipped: build/release/karakuri is not built";
        }
        const child = spawn(tool, ["view", join(root, "models/closed_link/closed_link.xml"), "--page", join(root, "web/viewer/dist")]);
        const url = await new Promise((good) => {
            let all = "";
            child.stdout.on("data", (data) => { all += data; /http:\S+/.test(all) && good(/http:\S+/.exec(all)[0]); });
        });
        const page = await browser.newPage({ bypassCSP: true, viewport: WIDE });
        await page.goto(url);
        await wait(page, "f?.time > 0.1");
        child.kill("SIGINT");
        await page.waitForFunction("/ended|終了/.test(document.getElementById('mode').textContent) && /ended|終了/.test(document.getElementById('statusText').textContent)", undefined, { timeout: 20000 });
        await page.close();
    });

    // ---- policy

    test("no text is evaluated: the page's policy holds, and scripts run", async () => {
        const page = await browser.newPage({ viewport: WIDE });
        const faults = [];
        page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
        await page.goto(`${address}#stand`);
        await page.waitForTimeout(500);
        const policy = await page.evaluate(() => document.querySelector("meta[http-equiv]").content);
        check(!/unsafe-eval/.test(policy.replace("wasm-unsafe-eval", "")) && !/script-src[^;]*unsafe-inline/.test(policy), policy);
        for (let i = 0; i < 100 && !(await page.evaluate(() => globalThis.karakuri?.frame?.step > 3)); i++) {
            await page.waitForTimeout(200);
        }
        check(await page.evaluate(() => new Promise((good) => setTimeout(() => { try { new Function("return 1")(); good(false); } catch { good(true); } }))), "the page evaluates texts");
        await page.click("[data-tab=script]");
        await page.fill("#scriptText", 'robot.control[0] = robot.param("lift", 0.2, 0, 1); robot.draw.text([0, 0, 1], "hello"); robot.draw.line([[0, 0, 0], [0, 0, 1]]);');
        await page.click("#scriptRun");
        for (let i = 0; i < 100 && !(await page.evaluate(() => Math.abs(globalThis.karakuri.frame.control[0] - 0.2) < 1e-6)); i++) {
            await page.waitForTimeout(100);
        }
        check(await page.evaluate(() => Math.abs(globalThis.karakuri.frame.control[0] - 0.2) < 1e-6), "the script does not act");
        check((await page.locator("#parameters input").count()) === 1, "no slider for its number");
        check(await page.evaluate(() => globalThis.karakuri.stage.overlays.drawn.group.children.length) === 2, "nothing drawn");
        check(faults.length === 0, faults.join("; "));
        await page.close();
    });

    test("scripts import each other, and those of strangers wait", async () => {
        const page = await open("pendulum", WIDE);
        const scene = `<mujoco model="scripted"><compiler angle="radian" inertiafromgeom="auto"/><worldbody><body name="a" pos="0 0 1"><joint name="j" type="hinge" axis="0 1 0"/><geom name="g" type="capsule" size="0.05 0.2"/></body></worldbody>
            <actuator><motor name="m" joint="j"/></actuator><karakuri><parameter name="gain" value="0.5" upper="2"/><script>import { k } from "./gains.js";
            robot.control.m = k * robot.param("gain", 1, 0, 5);</script><script name="gains.js">export const k = 0.25;</script></karakuri></mujoco>`;
        await openFiles(page, text("scripted.xml", scene));
        await wait(page, "k.description.name === 'scripted' && f.time > 0.1");
        check(await look(page, "f.control[0]") === 0, "a stranger's script ran unasked");
        await page.click("#scriptConsent button");
        await wait(page, "Math.abs(f.control[0] - 0.125) < 1e-6");
        await page.evaluate(() => { const input = document.querySelector("#parameters input"); input.value = "2"; input.dispatchEvent(new Event("input")); });
        await wait(page, "Math.abs(f.control[0] - 0.5) < 1e-6");
        await close(page);
    });

    // ---- scene

    test("bodies are hidden, isolated, made of glass; collision and inertia views", async () => {
        const page = await open("stand", WIDE);
        const [x, y] = await page.evaluate(() => {
            const { stage } = globalThis.karakuri, v = stage.bodies[1].position.clone().project(stage.camera);
            return [((v.x + 1) / 2) * innerWidth, ((1 - v.y) / 2) * innerHeight];
        });
        await page.mouse.click(x, y);
        await wait(page, "k.store.state.selected > 0");
        check(/N m|kg/.test(await page.textContent("#inspector")), "no numbers of what is selected");
        for (const style of ["glass", "wire", "hidden", "solid"]) {
            await page.selectOption("#inspector select >> nth=0", style);
            check(await page.evaluate(() => { const { stage, store } = globalThis.karakuri; return stage.styleOf(store.state.selected); }) === style, style);
        }
        await page.evaluate(() => globalThis.karakuri.store.set({ selected: 5 }));
        await page.locator("#inspector button", { hasText: "Only this" }).click();
        check(await page.evaluate(() => globalThis.karakuri.stage.bodies.filter((_, i) => globalThis.karakuri.stage.styleOf(i) === "hidden").length) > 0, "nothing is hidden");
        await page.locator("#inspector button", { hasText: "Show all" }).click();
        await page.click("[data-tab=show]");
        for (const view of ["collision", "inertia", "visual"]) {
            await page.selectOption("#show select", view);
            check(await page.evaluate(() => globalThis.karakuri.stage.viewOf) === view, view);
        }
        await close(page);
    });

    test("a paused robot is posed by sliders and by hand; keep, back, hold, stand up", async () => {
        const page = await open("stand", WIDE);
        await send(page, { do: "pause" });
        await frame(page, "f => f.paused");
        await page.click("[data-tab=inspector]");
        await page.evaluate(() => { const input = document.querySelector("#inspector input[type=range]"); input.value = "0.4"; input.dispatchEvent(new Event("input")); });
        await wait(page, "f.q.some((q) => Math.abs(q - 0.4) < 1e-6)");
        const hand = await look(page, "k.description.bodies.findIndex((b) => /hand|wrist|elbow/.test(b.name))");
        const [x, y] = await page.evaluate((i) => {
            const { stage } = globalThis.karakuri, box = stage.bounds(i), v = box.getCenter(stage.bodies[i].position.clone()).project(stage.camera);
            return [((v.x + 1) / 2) * innerWidth, ((1 - v.y) / 2) * innerHeight];
        }, hand);
        const before = await look(page, "[...f.q]");
        await page.keyboard.down("Shift");
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x + 40, y - 60, { steps: 5 });
        await page.mouse.up();
        await page.keyboard.up("Shift");
        await wait(page, `f.q.some((q, i) => Math.abs(q - ${JSON.stringify(before)}[i]) > 0.05)`);
        await page.click("#standButton");
        await wait(page, "!f.paused && f.com[2] > 0.5");
        await close(page);
    });

    test("a fork leaves a ghost", async () => {
        const page = await open("pendulum", WIDE);
        await frame(page, "f => f.time > 1");
        await send(page, { do: "pause" });
        await frame(page, "f => f.paused");
        const step = await look(page, "f.step");
        await send(page, { do: "rewind", step: Math.round(step / 3) });
        await frame(page, "f => f.replays");
        await send(page, [{ do: "push", body: 1, force: [80, 0, 0], steps: 20 }, { do: "play" }]);
        await wait(page, "!f.replays && k.log.ghost.length > 5 && k.stage.ghost.group.visible");
        await close(page);
    });

    // ---- the editor

    /** Where a point of the world is on the screen. */
    const screen = (page, p) => page.evaluate(([x, y, z]) => {
        const { stage } = globalThis.karakuri, v = stage.camera.position.clone().set(x, y, z).project(stage.camera);
        return [((v.x + 1) / 2) * innerWidth, ((1 - v.y) / 2) * innerHeight];
    }, p);
    const field = async (page, name, value) => {
        const input = page.locator(`#build [aria-label="${name}"]`).first();
        await input.fill(String(value));
        await input.press("Enter");
        clicks.count++;
    };

    test("a double pendulum with an obstacle is built by mouse, run, saved and loaded", async () => {
        const page = await open("new", WIDE, "k => k.frame");
        const began = Date.now();
        clicks.count = 0;
        await click(page, "#playButton"); // pauses
        await click(page, "[data-tool=build]");
        const place = async (part, at) => {
            const count = await look(page, "k.description.bodies.length");
            await click(page, `[data-part=${part}]`);
            clicks.count++;
            await page.mouse.click(...(await screen(page, at)));
            await wait(page, `k.description.bodies.length === ${count + 1} && k.store.state.selected === ${count}`);
        };
        await place("capsule", [0, 0, 0]);
        await field(page, "place z m", 1.4);
        await wait(page, "Math.abs(f.poses[7 + 6] - 1.4) < 1e-3");
        await page.selectOption("#build [aria-label=Joint]", "hinge");
        await wait(page, "k.description.bodies[1].joint.type === 'hinge'");
        await click(page, "[data-axis=Y]");
        await wait(page, "Math.abs(k.description.bodies[1].joint.axis[1]) === 1");
        await place("capsule", [0.3, 0, 0]);
        await field(page, "place x m", 0);
        await wait(page, "Math.abs(f.poses[14 + 4]) < 1e-3");
        await field(page, "place z m", 0.95);
        await wait(page, "Math.abs(f.poses[14 + 6] - 0.95) < 1e-3");
        await page.selectOption("#build [aria-label='hangs on']", "1");
        await wait(page, "k.description.bodies[2].parent === 1 && k.description.bodies[2].joint.type === 'hinge'");
        await page.click(".group .tick input"); // an obstacle
        await place("box", [0.45, 0, 0]);
        await page.selectOption("#build [aria-label=motor] >> nth=0", "none").catch(() => {});
        await send(page, { do: "pose", q: [1.2, 0.4] });
        await click(page, "#playButton");
        await wait(page, "f.time > 0.5", 60000);
        check(await look(page, "f.contactCount >= 0 && !f.failed"), "a step failed");
        const hash = await look(page, "k.description.hash");
        const [file] = await Promise.all([page.waitForEvent("download"), click(page, "[data-act=mjcf]")]);
        const seconds = (Date.now() - began) / 1000, path = join(out, "built.xml");
        await file.saveAs(path);
        writeFileSync(join(out, "built.png"), await page.screenshot());
        await openFiles(page, bytesOf([["built.xml", path]]));
        await wait(page, "k.store.state.demo === '' && k.description.bodies.length === 4 && f.step > 2");
        check(await look(page, "k.description.hash") === hash, `loaded as ${await look(page, "k.description.hash")}, built as ${hash}`);
        check(seconds < 60, `${seconds} s`);
        await close(page);
        return `${seconds.toFixed(1)} s, ${clicks.count} clicks and numbers, hash ${hash}`;
    });

    test("parts are moved by handles, sized, duplicated, deleted; undo and redo", async () => {
        const page = await open("new", WIDE, "k => k.frame");
        await send(page, { do: "pause" });
        await page.click("[data-tool=build]");
        await page.click("[data-part=box]");
        await page.mouse.click(...(await screen(page, [0, 0, 0])));
        await wait(page, "k.description.bodies.length === 2 && k.store.state.selected === 1");
        // the handle along x
        const at = await look(page, "[...f.poses.slice(11, 14)]"), tip = [at[0] + 0.001, at[1], at[2]];
        const reach = await page.evaluate(() => { const { stage } = globalThis.karakuri; return stage.camera.position.distanceTo(stage.bodies[1].position) * Math.tan(stage.camera.fov * Math.PI / 360) * 2 * 0.8 * 0.12; });
        const [x, y] = await screen(page, [tip[0] + reach, tip[1], tip[2]]), [ox, oy] = await screen(page, tip);
        await page.mouse.move(x, y);
        await page.waitForTimeout(200);
        await page.mouse.down();
        await page.mouse.move(x + 1.5 * (x - ox), y + 1.5 * (y - oy), { steps: 6 });
        await page.mouse.up();
        await wait(page, `Math.hypot(f.poses[11] - ${at[0]}, f.poses[12] - ${at[1]}, f.poses[13] - ${at[2]}) > 0.05`, 20000);
        await field(page, "half x m", 0.3);
        await wait(page, "k.description.shapes.some((s) => Math.abs(s.size[0] - 0.6) < 1e-6)");
        await page.click("[data-act=duplicate]");
        await wait(page, "k.description.bodies.length === 3");
        await page.click("[data-act=delete]");
        await wait(page, "k.description.bodies.length === 2");
        await page.click("[data-act=undo]");
        await wait(page, "k.description.bodies.length === 3");
        await page.click("[data-act=redo]");
        await wait(page, "k.description.bodies.length === 2");
        await close(page);
    });

    test("a part is added while it runs, time and motion go on", async () => {
        const page = await open("pendulum", WIDE);
        await frame(page, "f => f.time > 0.5");
        await page.click("[data-tool=build]");
        await page.click("[data-part=sphere]");
        const [time, v] = await look(page, "[f.time, f.v[0]]");
        await page.mouse.click(...(await screen(page, await look(page, "[...f.poses.slice(7 + 4, 7 + 7)].map((x, k) => x - (k === 2 ? 1.5 : 0))"))));
        await wait(page, "k.description.bodies.length === 4 && f.time > 0.5");
        check(await look(page, "f.time") >= time && await look(page, "Math.abs(f.v[0]) > 1e-6"), `from ${time} s at ${v}: the scene began anew`);
        await close(page);
    });

    // ---- sharing, words, access

    test("a shared address shows the same, embedded without panels", async () => {
        const page = await browser.newPage({ bypassCSP: true, viewport: WIDE });
        const query = new URLSearchParams({ t: "0.5", camera: "3,0,1,0,0,1", p: JSON.stringify([{ do: "edit", item: "option", field: "gravity", value: [0, 0, -2] }]), paused: "" });
        await page.goto(`${address}&embed#pendulum?${query}`);
        await wait(page, "f && f.time >= 0.5 && f.paused && k.description.options.gravity[2] === -2");
        check(await page.isHidden("#bar") && await page.isHidden("#left"), "panels in an embedded page");
        check(Math.abs(await look(page, "k.stage.camera.position.x") - 3) < 0.2, "the camera is elsewhere");
        await page.close();
    });

    test("an element for other pages", async () => {
        const page = await browser.newPage({ viewport: WIDE });
        await page.route("**/guide.html", (route) => route.fulfill({ contentType: "text/html", body: `<karakuri-view scene="pendulum" paused style="height:400px"></karakuri-view><script type="module" src="/karakuri-view.js"></script>` }));
        await page.goto(new URL("/guide.html", address).href);
        const inner = await (await page.waitForSelector("karakuri-view >> iframe", { timeout: 20000 })).contentFrame();
        for (let i = 0; i < 200 && !(await inner.evaluate(() => globalThis.karakuri?.frame?.paused ?? false).catch(() => false)); i++) {
            await page.waitForTimeout(100);
        }
        check(await inner.evaluate(() => globalThis.karakuri.description.name) === "double_pendulum", "another scene");
        check(await inner.evaluate(() => document.body.classList.contains("embed")), "with panels");
        await page.close();
    });

    /** Words that are names or signs in both languages. */
    const NAMES = /^(Karakuri|English|URDF|MJCF|CSV|PNG|ZMP|log|kp|kd|kv|Hz|rad|kg|[XYZxyz]|m|s|N|J|W|Alt|Shift|Esc|HTML|WebGL|JavaScript|zip|html|iframe|JSON|midpoint|rk4|exact|openhrp|springhead|kuroda|now|TITAN|VIII|H6|robot|time|control|sensor|pose|push|param|draw|line|cone|text|polygon|memory|gain|Math|sin|const|lower|upper|http|embed|src|width|height|style|border|px|none)$/;

    test("no English word is left on a Japanese page", async () => {
        const page = await open("stand", WIDE);
        await page.click("#language");
        const left = new Set();
        const scan = async () => {
            (await page.evaluate(() => {
                const names = new Set([...globalThis.karakuri.description.bodies.flatMap((b) => [b.name, b.joint?.name]), ...globalThis.karakuri.description.actuators.map((a) => a.name), ...globalThis.karakuri.description.sensors.map((s) => s.name), ...globalThis.karakuri.description.materials.map((m) => m.name), ...globalThis.karakuri.description.keyframes.map((m) => m.name), globalThis.karakuri.description.name].filter(Boolean));
                const texts = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                for (let n = walk.nextNode(); n; n = walk.nextNode()) {
                    const e = n.parentElement;
                    e.closest("script, style, #scriptText, #shareDialog textarea") || !e.offsetParent || texts.push(n.data);
                }
                document.querySelectorAll("[title], [aria-label], [placeholder]").forEach((e) => e.offsetParent && texts.push(e.title, e.getAttribute("aria-label") ?? "", e.getAttribute("placeholder") ?? ""));
                return texts.map((t) => [...names].sort((a, b) => b.length - a.length).reduce((s, name) => s.replaceAll(name, " "), t));
            })).forEach((t) => (t.match(/[A-Za-z]{2,}/g) ?? []).forEach((w) => NAMES.test(w) || left.add(w)));
        };
        await page.evaluate(() => document.querySelectorAll("#right .lil-title, #right .title").forEach((e) => e.parentElement.classList.contains("lil-closed") && e.click()));
        for (const tab of ["scene", "show", "script", "inspector", "tuning"]) {
            await page.click(`[data-tab=${tab}]`);
            await page.evaluate(() => document.querySelectorAll("#scene details").forEach((e) => { e.open = true; }));
            await page.waitForTimeout(300);
            await scan();
        }
        await page.locator("#scene .leaf").first().evaluate((e) => e.click());
        await page.click("[data-tool=build]");
        await page.evaluate(() => globalThis.karakuri.store.set({ selected: 2 }));
        await page.waitForTimeout(400);
        await scan();
        for (const [open_, dialog] of [["#demos", "#gallery"], ["#help", "#helpDialog"], ["#share", "#shareDialog"]]) {
            await page.click(open_);
            await page.waitForTimeout(200);
            await scan();
            await page.evaluate((id) => document.querySelector(id).close(), dialog);
        }
        check(left.size === 0, [...left].join(", "));
        await page.evaluate(() => localStorage.setItem("language", "en"));
        await close(page);
    });

    test("axe-core finds nothing; fingers find 44 px; the keyboard alone will do", async () => {
        const axe = join(root, "web/node_modules/axe-core/axe.min.js");
        const page = await open("stand", WIDE);
        const found = [];
        if (existsSync(axe)) {
            await page.addScriptTag({ content: readFileSync(axe, "utf8") });
            for (const dark of [false, true]) {
                for (const tab of ["scene", "show", "script", "build"]) {
                    await page.click(`[data-tab=${tab}]`);
                    const result = await page.evaluate(() => globalThis.axe.run(document, { rules: { region: { enabled: false } } }));
                    found.push(...result.violations.map((v) => `${dark ? "dark " : ""}${tab} ${v.id}: ${v.nodes[0].target.join(" ")}`));
                }
                await page.click("#dark");
            }
        }
        check(found.length === 0, [...new Set(found)].join("\n"));
        await page.setViewportSize({ width: 390, height: 740 });
        const small = await page.evaluate(() => [...document.querySelectorAll("header button, footer button, footer select")].filter((b) => b.offsetParent && (b.getBoundingClientRect().height < 43.5 || b.getBoundingClientRect().width < 43.5)).map((b) => b.id));
        check(small.length === 0, `smaller than 44 px: ${small.join(", ")}`);
        await page.setViewportSize(WIDE);
        await page.keyboard.press("Escape");
        await page.focus("#playButton");
        await page.keyboard.press("Enter");
        await frame(page, "f => f.paused");
        await close(page);
        return existsSync(axe) ? "" : "axe-core is not installed (npm --prefix web install): not asked";
    });

    test("the page and render draw the same picture", async () => {
        if (!existsSync(tool)) {
            return "skipped: build/release/karakuri is not built";
        }
        const picture = join(out, "render.png");
        execFileSync(tool, ["render", join(root, "models/hrp2/hrp2.xml"), "--time", "0", "--size", "640x400", "-o", picture]);
        const page = await browser.newPage({ bypassCSP: true, viewport: { width: 640, height: 400 } });
        await page.goto(`${address.replace("?plain", "?embed")}#stand?paused=`);
        await wait(page, "f && f.paused && k.drawn > 20", 90000);
        await page.evaluate(() => { const { stage } = globalThis.karakuri; stage.overlays.on.contacts = false; globalThis.karakuri.send({ do: "reset" }); });
        await page.waitForTimeout(1500);
        const own = await page.evaluate(async () => [...new Uint8Array(await (await globalThis.karakuri.screenshot()).arrayBuffer())]);
        writeFileSync(join(out, "page.png"), Buffer.from(own));
        const means = await page.evaluate(async ([a, b]) => {
            const mean = async (bytes) => { // of sky, ground, and the brightest tenth of the middle
                const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
                const canvas = new OffscreenCanvas(64, 40), pen = canvas.getContext("2d");
                pen.drawImage(image, 0, 0, 64, 40);
                const data = pen.getImageData(0, 0, 64, 40).data, at = (x0, y0, x1, y1) => {
                    const sum = [0, 0, 0];
                    for (let y = y0; y < y1; y++) { for (let x = x0; x < x1; x++) { for (let k = 0; k < 3; k++) { sum[k] += data[4 * (64 * y + x) + k] / ((x1 - x0) * (y1 - y0)); } } }
                    return sum;
                };
                return [at(0, 0, 64, 3), at(0, 30, 16, 40)];
            };
            return [await mean(a), await mean(b)];
        }, [[...readFileSync(picture)], own]);
        const worst = Math.max(...means[0].flatMap((rgb, i) => rgb.map((x, k) => Math.abs(x - means[1][i][k]))));
        check(worst < 16, `sky and ground differ by ${worst.toFixed(0)} of 255: ${JSON.stringify(means)}`);
        await page.close();
        return `sky and ground differ by at most ${worst.toFixed(0)} of 255`;
    });
}
