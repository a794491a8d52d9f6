// The page: puts the stage, the panels and the source of frames together.
import "./style.css";
import * as THREE from "three";
import type { Command, Description, Frame, LoadOptions, Message } from "karakuri-dynamics";
import { filmInPage, FilmSource, isServed, SocketSource, WorkerSource, type Listener, type Picture, type Source } from "./source.js";
import { Stage } from "./stage.js";
import { LAYERS } from "./overlays.js";
import { Panel } from "./panel.js";
import { Plots, type Signal } from "./plots.js";
import { Tree } from "./tree.js";
import { Crane } from "./crane.js";
import { DEMOS } from "./demos.js";
import { download, filesOfDrop, filesOfInput, sortOut, type Dropped } from "./files.js";
import { isJapanese, switchLanguage, t, translate } from "./words.js";

const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

const stage = new Stage($<HTMLCanvasElement>("stage"));
const plots = new Plots($("plots"), $("plotArea"));
let description: Description | undefined;
let frame: Frame | undefined;
let isFresh = false;
let realTime = 0;
let crane: Crane | undefined;
let dropped: Dropped = new Map();
let pendingScript = "";
let pendingFollow = false;
let stuck = ""; // what to say about a script when its scene is back
let currentDemo = "";
let isScrubbing = false;
const errors: string[] = [];
/** ms from the navigation until the first picture of a model was on the screen, and of the last model from its loading */
let firstFrame = 0;
let loadBegan = 0;
let lastLoad = 0;
let awaited: "picture" | "frame" | "screen" | "" = "picture";

function toast(text: string, severity: "note" | "warning" | "error" = "note"): void {
    if (!text) {
        return;
    }
    const box = document.createElement("div");
    box.className = `toast ${severity}`;
    box.textContent = text;
    $("toasts").append(box);
    while ($("toasts").children.length > 4) {
        $("toasts").firstChild!.remove();
    }
    setTimeout(() => box.remove(), severity === "note" ? 3500 : 9000);
    if (severity === "error") {
        errors.push(text);
    }
}

// ---- what comes in

function showPicture(picture: Picture): void {
    const isNew = picture.isNew;
    description = picture.description;
    if (isNew) {
        awaited = "frame";
        stage.show(picture);
        stage.selected = -1;
        stage.view = undefined;
        stage.follow = pendingFollow ? 0 : -1;
        plots.clear();
        tree.show(description);
        document.title = `${description.name || "Karakuri"} · Karakuri`;
        crane?.destroy();
        crane = undefined;
        if (currentDemo === "crane") {
            crane = new Crane($("game"), description, send, toast);
            stage.view = [[0, -1.75, 1.05], [0, 0, 0.33]];
        }
        $<HTMLTextAreaElement>("scriptText").value = pendingScript || exampleScript(description);
        $("scriptError").textContent = stuck;
        stuck = "";
        fillShow();
    } else {
        stage.overlays.show(description);
    }
    if (isNew || !panel.isHeld()) {
        panel.show(description, isNew);
    }
}

function exampleScript(d: Description): string {
    const a = d.actuators.find((x) => x.type === "position") ?? d.actuators[0];
    return `// Runs before every step. There are\n// robot.time, q, v, control, sensor,\n// robot.pose(body),\n// robot.push(body, force);\n// memory stays from step to step.\n${
        a ? `robot.control["${a.name || a.target}"] =\n  0.3 * Math.sin(2 * robot.time);` : `robot.push("${d.bodies[1]?.name ?? ""}", [0, 0, 1]);`}\n`;
}

const listener: Listener = {
    picture: showPicture,
    frame(next, rate) {
        frame = next;
        realTime = rate;
        isFresh = true;
        plots.add(next);
        crane?.update(next);
    },
    notice: toast,
    messages(list: Message[]) {
        list.filter((m) => m.severity !== "note").slice(0, 3).forEach((m) => toast(`${m.file}:${m.line}: ${m.text} ${m.remedy}`, m.severity === "error" ? "error" : "warning"));
    },
    scriptStuck() {
        pendingScript = $<HTMLTextAreaElement>("scriptText").value; // to be mended
        stuck = t("scriptStuck");
    },
    scriptError(line, text) { $("scriptError").textContent = text ? `${line ? `${t("line")} ${line}: ` : ""}${text}` : ""; },
};

const film = filmInPage();
const source: Source = film ? new FilmSource(film, listener) : isServed() ? new SocketSource(listener) : new WorkerSource(listener);
const local = source instanceof WorkerSource ? source : undefined;
const send = (command: Command | Command[]) => source.command(command);
const panel = new Panel($("right"), send);
const tree = new Tree($("scene"), select, plot, (id) => plots.has(id));

function select(body: number): void {
    stage.selected = body;
    tree.mark(body);
}

function plot(signal: Signal): void {
    plots.toggle(signal);
    tree.refresh();
}

// ---- loading

const STANDING: LoadOptions = { floor: true, actuators: true, clean: true, place: true, repair: true };

function load(files: Dropped, main: string, options: LoadOptions = {}, recording?: Uint8Array, commands?: Command[], motion?: string, lockstep?: boolean): void {
    loadBegan = performance.now();
    awaited = "picture";
    local?.load(files, main, { history: 96e6, ...options }, recording, commands, motion, lockstep);
}

async function loadDemo(id: string): Promise<void> {
    const demo = DEMOS.find((d) => d.id === id) ?? DEMOS[0];
    currentDemo = demo.id;
    pendingScript = "";
    history.replaceState(null, "", `#${demo.id}`);
    $<HTMLSelectElement>("demos").value = demo.id;
    $("models").hidden = true;
    try {
        const { files, main, options, commands, script, motion, follow } = await demo.load();
        pendingScript = script ?? "";
        pendingFollow = follow ?? false;
        load(files, main, options, undefined, commands, motion, demo.id === "crane");
    } catch (error) {
        toast(String(error), "error");
    }
}

/** What saveParameters wrote; anything else is told and left out. */
function readParameters(text: string | undefined): { commands?: Command[]; script?: string } {
    if (!text) {
        return {};
    }
    try {
        const saved = JSON.parse(text) as { commands: Command[]; script?: string };
        if (Array.isArray(saved.commands)) {
            return { commands: saved.commands, script: typeof saved.script === "string" ? saved.script : undefined };
        }
    } catch { /* the same word as for other things */ }
    toast(t("noParameters"), "warning");
    return {};
}

function openModel(main: string, recording?: Uint8Array, parameters?: string, motion?: string): void {
    currentDemo = "";
    pendingScript = "";
    pendingFollow = false;
    const { commands, script } = readParameters(parameters);
    pendingScript = script ?? "";
    const isUrdf = /\.(urdf|xacro)$/i.test(main);
    load(dropped, main, recording ? {} : isUrdf ? STANDING : { repair: true }, recording, commands, motion);
}

function openFiles(files: Dropped): void {
    const { models, recording, parameters, motion } = sortOut(files);
    if (models.length === 0 && dropped.size > 0 && (recording || parameters || motion)) {
        files.forEach((bytes, path) => dropped.set(path, bytes)); // to the model that is there
        openModel(sortOut(dropped).models[0], recording, parameters, motion);
        return;
    }
    if (models.length === 0) {
        const names = [...files.keys()].map((path) => path.split("/").pop()).slice(0, 3).join(", ");
        toast(`${names ? `${t("noModel")} ${names}. ` : ""}${t("drop")}`, "warning");
        return;
    }
    if (!motion && [...files.keys()].some((path) => /\.csv$/i.test(path))) {
        toast(t("noTable"), "warning");
    }
    dropped = files;
    const list = $<HTMLSelectElement>("models");
    list.replaceChildren(...models.map((path) => new Option(path.split("/").pop(), path)));
    list.hidden = models.length < 2;
    list.onchange = () => openModel(list.value);
    openModel(models[0], recording, parameters, motion);
}

function setUpFiles(): void {
    const [file, folder] = [$<HTMLInputElement>("fileInput"), $<HTMLInputElement>("folderInput")];
    $("open").onclick = () => file.click();
    $("openFolder").onclick = () => folder.click();
    for (const input of [file, folder]) {
        input.onchange = async () => {
            if (input.files) {
                const files = await filesOfInput(input.files);
                input.value = "";
                openFiles(files);
            }
        };
    }
    addEventListener("dragover", (e) => { e.preventDefault(); $("dropHint").hidden = false; });
    addEventListener("dragleave", (e) => { $("dropHint").hidden = e.relatedTarget === null; });
    addEventListener("drop", async (e) => {
        e.preventDefault();
        $("dropHint").hidden = true;
        try {
            e.dataTransfer && openFiles(await filesOfDrop(e.dataTransfer));
        } catch (error) {
            toast(String(error), "error");
        }
    });
}

// ---- the time line

const ICONS = {
    play: "M4 2l10 6-10 6z", pause: "M3 2h4v12H3zM9 2h4v12H9z", step: "M2 2l8 6-8 6zM11 2h3v12h-3z", reset: "M8 3V0L3 4l5 4V5a4 4 0 1 1-4 4H2a6 6 0 1 0 6-6z",
    shot: "M5 3l1-2h4l1 2h4v11H1V3zm3 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z", film: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z", stop: "M3 3h10v10H3z",
};
function setIcon(id: string, icon: keyof typeof ICONS): void {
    const button = $(id);
    if (button.dataset.icon !== icon) {
        button.dataset.icon = icon;
        button.innerHTML = `<svg viewBox="0 0 16 16"><path d="${ICONS[icon]}"/></svg>`;
    }
}

function setPaused(paused: boolean): void { send({ do: paused ? "pause" : "play" }); }

function setUpTimeline(): void {
    setIcon("playButton", "play");
    setIcon("stepButton", "step");
    setIcon("resetButton", "reset");
    setIcon("shotButton", "shot");
    setIcon("filmButton", "film");
    $("playButton").onclick = () => setPaused(!(frame?.paused ?? true));
    $("stepButton").onclick = () => send({ do: "step", count: 1 });
    $("resetButton").onclick = () => reset();
    $("forkButton").onclick = () => send({ do: "fork" });
    const scrub = $<HTMLInputElement>("scrub");
    scrub.oninput = () => { isScrubbing = true; send({ do: "rewind", step: Number(scrub.value) }); };
    scrub.onchange = () => { isScrubbing = false; };
    $<HTMLSelectElement>("speed").onchange = (e) => send({ do: "speed", value: Number((e.target as HTMLSelectElement).value) });
}

function reset(): void {
    if (currentDemo === "crane") {
        void loadDemo("crane");
        return;
    }
    send([{ do: "reset" }, { do: "play" }]);
}

function nudge(seconds: number): void {
    if (frame) {
        send({ do: "rewind", step: Math.max(0, Math.round(frame.step + seconds / frame.timestep)) });
    }
}

function showTimeline(f: Frame): void {
    setIcon("playButton", f.paused ? "play" : "pause");
    $("playButton").title = t(f.paused ? "play" : "pause");
    const scrub = $<HTMLInputElement>("scrub");
    scrub.min = String(f.oldest);
    scrub.max = String(f.newest);
    if (!isScrubbing) {
        scrub.value = String(f.step);
    }
    $("mode").textContent = f.replays ? `${t("replay")}${f.differs ? ` · ${t("differs")}` : ""}` : t("live");
    $("forkButton").hidden = !f.replays || film !== undefined;
    $("timeBadge").textContent = `${f.time.toFixed(3)} s`;
    $("rateBadge").textContent = f.paused ? t("pause") : `${realTime.toFixed(2)} ×`;
    const residual = $("residualBadge");
    residual.textContent = `${f.residual > 0 ? f.residual.toExponential(1) : "0"} m/s`;
    residual.classList.toggle("good", f.residual <= 1e-9 && !f.failed);
    residual.classList.toggle("bad", f.residual > 1e-9 || f.failed);
    $("hashBadge").textContent = f.hash.slice(0, 8);
    $("hashBadge").title = f.hash;
}

// ---- dragging bodies

function setUpDragging(): void {
    const canvas = stage.canvas;
    let drag: { body: number; local: THREE.Vector3; plane: THREE.Plane; id: number; moved: boolean } | undefined;
    const pull = (e: PointerEvent) => {
        const at = drag && stage.ray(e.clientX, e.clientY).ray.intersectPlane(drag.plane, new THREE.Vector3());
        if (drag && at) {
            stage.overlays.drag = { body: drag.body, local: drag.local, target: at };
            send({ do: "drag", body: drag.body, point: drag.local.toArray(), target: at.toArray() });
        }
    };
    canvas.addEventListener("pointerdown", (e) => {
        canvas.focus();
        const hit = e.button === 0 && !e.altKey ? stage.pick(e.clientX, e.clientY) : undefined;
        if (!hit || !isMovable(hit.body) || film) {
            return;
        }
        const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new THREE.Vector3()), hit.world);
        drag = { body: hit.body, local: hit.local, plane, id: e.pointerId, moved: false };
        stage.controls.enabled = false;
        canvas.setPointerCapture(e.pointerId);
        select(hit.body);
    }, { capture: true });
    canvas.addEventListener("pointermove", (e) => {
        if (drag && e.pointerId === drag.id) {
            drag.moved = true;
            pull(e);
        }
    });
    const end = (e: PointerEvent) => {
        if (drag && e.pointerId === drag.id) {
            drag.moved && send({ do: "release" });
            drag = undefined;
            stage.overlays.drag = undefined;
            stage.controls.enabled = true;
        }
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
}

/** Whether some joint between a body and the world can move. */
function isMovable(body: number): boolean {
    for (let i = body; description && i > 0; i = description.bodies[i].parent) {
        if ((description.bodies[i].joint?.nv ?? 0) > 0) {
            return true;
        }
    }
    return false;
}

// ---- pictures and films

function screenshot(): Promise<Blob> {
    stage.render();
    return new Promise((good) => stage.canvas.toBlob((blob) => good(blob!), "image/png"));
}

let recorder: MediaRecorder | undefined;
function toggleFilm(): void {
    if (recorder) {
        recorder.stop();
        return;
    }
    const parts: Blob[] = [];
    const type = ["video/mp4", "video/webm;codecs=vp9", "video/webm"].find((m) => MediaRecorder.isTypeSupported(m)) ?? "";
    recorder = new MediaRecorder(stage.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 8e6 });
    recorder.ondataavailable = (e) => parts.push(e.data);
    recorder.onstop = () => {
        download(`${description?.name || "karakuri"}.${type.includes("mp4") ? "mp4" : "webm"}`, new Blob(parts, { type }));
        recorder = undefined;
        setIcon("filmButton", "film");
    };
    recorder.start(500);
    setIcon("filmButton", "stop");
}

function saveParameters(): void {
    const content = { karakuri: 1, model: description?.name, hash: description?.hash, demo: currentDemo || undefined, commands: panel.parameters(), script: $<HTMLTextAreaElement>("scriptText").value };
    download(`${description?.name || "scene"}.karakuri.json`, JSON.stringify(content, null, 1));
    toast(t("saved"));
}

// ---- panels

function setUpPanels(): void {
    document.querySelectorAll<HTMLElement>("[data-tab]").forEach((tab) => {
        tab.onclick = () => {
            document.querySelectorAll<HTMLElement>("[data-tab]").forEach((other) => {
                other.classList.toggle("on", other === tab);
                $(other.dataset.tab!).hidden = other !== tab;
            });
        };
    });
    document.querySelector<HTMLElement>("[data-tab=scene]")!.classList.add("on");
    $("panelsButton").onclick = () => {
        const c = document.body.classList;
        if (!c.contains("panels")) {
            c.add("panels");
        } else if (!c.contains("left")) {
            c.add("left");
        } else {
            c.remove("panels", "left");
        }
    };
    const run = (text: string) => {
        $("scriptError").textContent = "";
        local?.script(text);
    };
    $("scriptRun").onclick = () => run($<HTMLTextAreaElement>("scriptText").value);
    $("scriptStop").onclick = () => run("");
    $("plotClear").onclick = () => { plots.clear(); tree.refresh(); };
    $("shotButton").onclick = async () => download(`${description?.name || "karakuri"}.png`, await screenshot());
    $("filmButton").onclick = toggleFilm;
}

function fillShow(): void {
    const pane = $("show");
    pane.replaceChildren();
    const check = (label: string, on: boolean, change: (on: boolean) => void) => {
        const row = document.createElement("label");
        const box = document.createElement("input");
        box.type = "checkbox";
        box.checked = on;
        box.onchange = () => { change(box.checked); frame && stage.overlays.update(frame); };
        row.append(box, ` ${label}`);
        pane.append(row);
    };
    LAYERS.forEach((layer) => check(t(layer), stage.overlays.on[layer], (on) => { stage.overlays.on[layer] = on; }));
    check(t("collision"), stage.showsCollision, (on) => { stage.showsCollision = on; stage.applyVisibility(); });
    check(t("follow"), stage.follow >= 0, (on) => { stage.follow = on ? Math.max(0, stage.selected) : -1; });
    const save = document.createElement("button");
    save.textContent = t("save");
    save.onclick = saveParameters;
    save.hidden = film !== undefined;
    pane.append(save);
}

function fillHelp(): void {
    const rows: [string, string][] = [[t("keySpace"), t("keyPlay")], ["→ .", t("keyStep")], ["r", t("keyReset")], ["[  ]", t("keyBack")], ["f", t("keyFollow")], ["a", t("keyAll")],
        [t("mouseBody"), t("keyDrag")], [t("mouseView"), t("keyTurn")], ["?", t("keyHelp")]];
    $("helpDialog").innerHTML = `<h3>${t("keys")}</h3><table>${rows.map(([k, v]) => `<tr><td><kbd>${k}</kbd></td><td>${v}</td></tr>`).join("")}</table><form method="dialog"><button>OK</button></form>`;
}

function setDark(dark: boolean): void {
    document.documentElement.classList.toggle("dark", dark);
    stage.setDark(dark);
    localStorage.setItem("dark", dark ? "1" : "0");
}

function setUpWords(): void {
    const demos = $<HTMLSelectElement>("demos");
    const refresh = () => {
        translate(document);
        const value = demos.value;
        demos.replaceChildren(...DEMOS.map((d) => new Option(d.name[isJapanese() ? 1 : 0], d.id)));
        demos.value = value || DEMOS[0].id;
        fillShow();
        fillHelp();
        description && panel.show(description, false);
    };
    $("language").onclick = () => { switchLanguage(); refresh(); };
    demos.onchange = () => void loadDemo(demos.value);
    $("dark").onclick = () => setDark(!document.documentElement.classList.contains("dark"));
    $("help").onclick = () => $<HTMLDialogElement>("helpDialog").showModal();
    refresh();
    const saved = localStorage.getItem("dark");
    setDark(saved ? saved === "1" : matchMedia("(prefers-color-scheme: dark)").matches);
    if (!local) { // scripts run where the page itself simulates
        ["demos", "open", "openFolder"].forEach((id) => { $(id).hidden = true; });
        document.querySelector<HTMLElement>("[data-tab=script]")!.hidden = true;
    }
    $("right").hidden = film !== undefined; // what was recorded cannot be tuned
}

function setUpKeys(): void {
    addEventListener("keydown", (e) => {
        if (e.target instanceof HTMLTextAreaElement || e.target instanceof HTMLInputElement && e.target.type !== "range" || e.ctrlKey || e.metaKey || crane && / |Arrow/.test(e.key)) {
            return;
        }
        const action: Record<string, () => void> = {
            " ": () => setPaused(!(frame?.paused ?? true)), ".": () => send({ do: "step", count: 1 }), ArrowRight: () => send({ do: "step", count: 1 }),
            r: reset, "[": () => nudge(-0.25), "]": () => nudge(0.25), f: () => { stage.follow = stage.follow >= 0 ? -1 : Math.max(0, stage.selected); fillShow(); },
            a: () => stage.frameAll(), "?": () => $<HTMLDialogElement>("helpDialog").showModal(),
        };
        if (action[e.key]) {
            e.preventDefault();
            action[e.key]();
        }
    });
}

// ---- begin

let drawn = 0;
let wordsShown = 0;
function draw(): void {
    if (awaited === "screen") { // what the last call drew is seen now
        awaited = "";
        firstFrame ||= performance.now();
        lastLoad = performance.now() - loadBegan;
    }
    if (isFresh && frame) {
        awaited = awaited === "frame" ? "screen" : awaited;
        isFresh = false;
        stage.update(frame);
        const now = performance.now();
        if (now - wordsShown > 60 || frame.paused) { // words are not read faster, and cost more than the robot
            wordsShown = now;
            showTimeline(frame);
            panel.update(frame);
        }
        plots.draw();
    }
    stage.render();
    drawn++;
    requestAnimationFrame(draw);
}

setUpFiles();
setUpTimeline();
setUpDragging();
setUpPanels();
setUpWords();
setUpKeys();
addEventListener("error", (e) => toast(e.message, "error"));
addEventListener("unhandledrejection", (e) => toast(String(e.reason), "error"));
if (local) {
    void loadDemo(location.hash.slice(1) || "stand");
    addEventListener("hashchange", () => { location.hash.slice(1) !== currentDemo && void loadDemo(location.hash.slice(1)); });
}
requestAnimationFrame(draw);

// for tests and for the console
Object.assign(globalThis, {
    karakuri: {
        send, stage, plots, panel, loadDemo, openFiles, screenshot, saveParameters,
        get frame() { return frame; }, get description() { return description; }, get crane() { return crane; }, get errors() { return errors; },
        get drawn() { return drawn; }, get realTime() { return realTime; }, get firstFrame() { return firstFrame; },
        get lastLoad() { return awaited ? 0 : lastLoad; },
    },
});
