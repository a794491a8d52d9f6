// The page: puts the store, the stage, the source of frames and the panes together. What each does stands in its own file.
import "./style.css";
import type { Command, Frame, Message } from "karakuri-dynamics";
import { addressOf, readAddress } from "./address.js";
import { Build } from "./build.js";
import { Crane } from "./crane.js";
import { DEMOS } from "./demos.js";
import { $, button, make } from "./dom.js";
import { download } from "./files.js";
import { openGallery, showHint } from "./gallery.js";
import { setIcon } from "./icons.js";
import { Inspector } from "./inspector.js";
import { Loading } from "./loading.js";
import { FrameLog } from "./log.js";
import { Panel } from "./panel.js";
import { Plots } from "./plots.js";
import { Pointer } from "./pointer.js";
import { ScriptPane } from "./script_pane.js";
import { fillShow } from "./show_pane.js";
import { filmInPage, FilmSource, isServed, SocketSource, WorkerSource, type Listener, type Picture, type Source } from "./source.js";
import { Stage } from "./stage.js";
import { Store, type Tool } from "./store.js";
import { Recorder, Timeline } from "./timeline.js";
import { errors, toast } from "./toasts.js";
import { signalOf, Tree } from "./tree.js";
import { isJapanese, switchLanguage, t, translate } from "./words.js";

const store = new Store();
const stage = new Stage($<HTMLCanvasElement>("stage"));
const log = new FrameLog();
const address = readAddress();
let crane: Crane | undefined;
let stuck = ""; // what to say about a script when its scene is back
let isFresh = false;
let showsGhost = true;
let hovered: Frame | undefined;
/** ms from the navigation until the first picture of a model was on the screen, and of the last model from its loading */
let firstFrame = 0, lastLoad = 0;
let awaited: "picture" | "frame" | "screen" | "" = "picture";

// ---- what comes in

function showPicture(picture: Picture): void {
    const { description: d, isNew, isCarried } = picture;
    if (isNew) {
        stage.pictures = loading.files;
        stage.show(picture, isCarried);
        log.clear();
        store.set({ picture, description: d, isLoading: false });
        awaited = "frame";
        isCarried ? build?.loaded(false) : beginScene(d);
        tree.show(d);
        showShow();
    } else {
        store.set({ description: d });
        stage.overlays.show(d);
    }
    if (isNew || !panel.isHeld()) {
        panel.show(d, isNew);
    }
    inspector.show();
}

/** Another scene: nothing of the old one is left. */
function beginScene(d: NonNullable<typeof store.state.description>): void {
    start = undefined;
    if (loading.standsOnNothing(d)) {
        return;
    }
    store.set({ selected: -1, shape: -1 });
    stage.view = undefined;
    stage.through = undefined;
    stage.follow = loading.next.follow ? 0 : -1;
    plots.clear();
    build?.forget();
    crane?.destroy();
    crane = undefined;
    document.title = `${d.name || "Karakuri"} · Karakuri`;
    showName();
    if (store.state.demo === "crane") {
        crane = new Crane($("game"), d, send, toast, () => void loading.demo("crane"), (marks) => stage.overlays.drawn.show(marks));
        stage.view = [[0, -1.75, 1.05], [0, 0, 0.33]];
    }
    $("standButton").hidden = !d.bodies.some((b) => b.joint?.type === "free") || d.actuators.length === 0 || crane !== undefined;
    scripts.show(d, loading.next.script, loading.next.isOwn, stuck);
    stuck = "";
}

const listener: Listener = {
    picture: showPicture,
    frame(next, realTime) {
        isFresh = true;
        start ??= next;
        log.add(next);
        store.set({ frame: next, realTime });
        plots.show(next);
        crane?.update(next);
    },
    frames(list) { list.forEach((f) => log.add(f)); },
    notice: toast,
    messages(list: Message[]) {
        const serious = list.filter((m) => m.severity !== "note"), missing = serious.filter((m) => /a shape is left out: .*is not found/.test(m.text));
        if (missing.length > 0) { // one word for all: what to do
            toast(t("meshesMissing").replace("%", String(missing.length)), "warning");
        }
        serious.filter((m) => !missing.includes(m)).slice(0, 3).forEach((m) => toast(`${m.file}:${m.line}: ${m.text} ${m.remedy}`, m.severity === "error" ? "error" : "warning"));
    },
    refused() {
        store.set({ isLoading: false });
        build?.loaded(true);
    },
    closed() {
        store.set({ isAlive: false });
        store.state.frame && timeline.show(store.state.frame);
    },
    scriptStuck() {
        loading.next = { ...loading.next, script: scripts.main, isOwn: true }; // to be mended
        stuck = t("scriptStuck");
    },
    scriptError(line, text) {
        $("scriptError").textContent = text ? `${line ? `${t("line")} ${line}: ` : ""}${text}` : "";
        scripts.isRunning &&= !text;
    },
    parameters(list) { scripts.setParameters(list); },
    marks(list) { stage.overlays.drawn.show(list); },
};

const film = filmInPage();
const source: Source = film ? new FilmSource(film, listener) : isServed() ? new SocketSource(listener) : new WorkerSource(listener);
const local = source instanceof WorkerSource ? source : undefined;
const send = (command: Command | Command[]) => source.command(command);

// ---- the parts

const loading = new Loading(store, local);
const scripts = new ScriptPane(local);
const panel = new Panel($("tuning"), send);
const tree = new Tree($("scene"), {
    select: (body) => store.set({ selected: body, shape: -1 }), plot: (signal) => plots.toggle(signal), isPlotted: (id) => plots.has(id), styleOf: (body) => stage.styleOf(body),
    toggle: (body) => stage.setStyle([body], stage.styleOf(body) === "hidden" ? "solid" : "hidden"),
});
const plots = new Plots($("plots"), $("plotArea"), log, (f) => send({ do: "rewind", step: f.step }), (f) => { hovered = f; });
plots.signalOf = (id) => store.state.description && signalOf(store.state.description, id);
plots.changed = () => tree.refresh();
const timeline = new Timeline(store, log, send, reset, film !== undefined);
const inspector = new Inspector($("inspector"), store, stage, send, () => { tree.refresh(); inspector.show(); });
const pointer = new Pointer(stage, store, send, film !== undefined);
const build = local && new Build($("build"), store, stage, local, loading, scripts, pointer);
inspector.hold = () => holdPose();
const recorder = new Recorder(stage.canvas, (blob, ending) => download(`${store.state.description?.name || "karakuri"}.${ending}`, blob));

store.on(["selected"], ({ selected }) => {
    stage.selected = selected;
    tree.mark(selected);
    selected > 0 && openTab("inspector");
    inspector.show();
});
store.on(["isLoading"], ({ isLoading }) => {
    $("progress").hidden = !isLoading;
    awaited = isLoading ? "picture" : awaited;
    if (isLoading && crane) { // it plays with the scene that goes
        crane.destroy();
        crane = undefined;
    }
});
store.on(["demo"], showName);
store.on(["tool"], ({ tool }) => {
    document.querySelectorAll<HTMLElement>("[data-tool]").forEach((b) => b.setAttribute("aria-checked", String(b.dataset.tool === tool)));
    stage.canvas.style.cursor = tool === "hand" ? "grab" : "";
    tool === "build" && openTab("build");
});

function showName(): void {
    const demo = DEMOS.find((d) => d.id === store.state.demo);
    $("demos").textContent = `${demo ? demo.name[isJapanese() ? 1 : 0] : store.state.description?.name || loading.main.split("/").pop() || t("demos")} ▾`;
}

// ---- doing

function reset(): void {
    crane ? void loading.demo("crane") : send([{ do: "reset" }, { do: "play" }]);
}

/** Where it is, upright, on its feet: the start's posture at the place and heading of now. */
function standUp(): void {
    const { description: d, frame: f } = store.state;
    if (!d || !f || !start) {
        return;
    }
    const q = [...start.q];
    d.bodies.forEach((b) => {
        const j = b.joint;
        if (j?.type === "free") {
            [q[j.q + 4], q[j.q + 5]] = [f.q[j.q + 4], f.q[j.q + 5]];
        }
    });
    send([{ do: "pose", q }, { do: "controls", values: [...start.control] }, { do: "play" }]);
}
let start: Frame | undefined; // of the scene

async function holdPose(): Promise<void> {
    await build?.hold();
    const { description: d, frame: f } = store.state;
    d && f && send(d.actuators.flatMap((a, actuator) => (a.type === "position" && a.joint >= 0 ? [{ do: "control" as const, actuator, value: f.q[d.bodies[a.joint].joint!.q + a.v - d.bodies[a.joint].joint!.v] }] : [])));
}

function screenshot(): Promise<Blob> {
    stage.render();
    return new Promise((good) => stage.canvas.toBlob((blob) => good(blob!), "image/png"));
}

function saveParameters(): void {
    const { description: d, demo } = store.state;
    const content = { karakuri: 1, model: d?.name, hash: d?.hash, demo: demo || undefined, commands: panel.parameters(), script: scripts.main };
    download(`${d?.name || "scene"}.karakuri.json`, JSON.stringify(content, null, 1));
    toast(t("saved"));
}

function share(): void {
    const { frame: f, demo } = store.state, { position: p } = stage.camera, { target: at } = stage.controls;
    const url = addressOf({ demo: demo || "file", time: f?.time ?? 0, camera: [p.x, p.y, p.z, at.x, at.y, at.z], commands: panel.parameters() });
    const embedded = `<iframe src="${url.replace("#", "?embed#")}" width="640" height="400" style="border:0"></iframe>`;
    const dialog = $<HTMLDialogElement>("shareDialog"), field = (label: string, text: string) => {
        const area = make("textarea", { readonly: true, "aria-label": label }, text);
        return make("div", {}, make("h3", { class: "small" }, label), area, make("div", { class: "row" }, button("copy", () => { area.select(); void navigator.clipboard?.writeText(text); })));
    };
    dialog.replaceChildren(make("h2", {}, t("share")), ...(demo ? [] : [make("p", {}, t("shareFile"))]), field(t("link"), url), field(t("embed"), embedded), button("close", () => dialog.close()));
    dialog.showModal();
}

// ---- panes

function openTab(name: string): void {
    const tab = document.querySelector<HTMLElement>(`[data-tab=${name}]`)!;
    tab.parentElement!.querySelectorAll<HTMLElement>("[data-tab]").forEach((other) => {
        other.classList.toggle("on", other === tab);
        other.setAttribute("aria-selected", String(other === tab));
        $(other.dataset.tab!).hidden = other !== tab;
    });
    name === "build" && store.state.tool !== "build" && store.set({ tool: "build" });
    name === "build" && build?.show();
}

function setUpPanes(): void {
    document.querySelectorAll<HTMLElement>("[data-tab]").forEach((tab) => { tab.onclick = () => openTab(tab.dataset.tab!); });
    openTab("scene");
    openTab("tuning");
    $("panelsButton").onclick = () => {
        const c = document.body.classList;
        c.contains("panels") ? (c.contains("left") ? c.remove("panels", "left") : c.add("left")) : c.add("panels");
    };
    $("plotClear").onclick = () => plots.clear();
    $("plotAll").onclick = () => plots.showAll();
    $("plotNow").onclick = () => plots.showNow();
    $("shotButton").onclick = async () => download(`${store.state.description?.name || "karakuri"}.png`, await screenshot());
    $("filmButton").onclick = () => recorder.toggle();
    $("standButton").onclick = standUp;
    $("demos").onclick = () => openGallery((id) => void loading.demo(id));
    $("share").onclick = share;
    setIcon("share", "share");
    document.querySelectorAll<HTMLElement>("[data-tool]").forEach((b) => {
        setIcon(b, b.dataset.tool as Tool);
        b.onclick = () => store.set({ tool: b.dataset.tool as Tool });
    });
    store.set({ tool: local ? "hand" : "look" });
    store.set({ tool: "look" });
}

function showShow(): void {
    fillShow($("show"), stage, store.state.description, { save: film ? undefined : saveParameters, ghost: { on: showsGhost, change: (on) => { showsGhost = on; } } });
}

function fillHelp(): void {
    const rows: [string, string][] = [[t("keySpace"), t("keyPlay")], ["→ .", t("keyStep")], ["r", t("keyReset")], ["[  ]", t("keyBack")], ["f", t("keyFollow")], ["a", t("keyAll")], ["1 2 3", t("keyTools")], ["Esc", t("keyEscape")],
        [t("mouseView"), t("keyTurn")], [t("mouseBody"), t("keyDrag")], [t("mouseShift"), t("keyPose")], ["?", t("keyHelp")]];
    $("helpDialog").replaceChildren(make("h2", {}, t("keys")), make("table", {}, ...rows.map(([k, v]) => make("tr", {}, make("td", {}, make("kbd", {}, k)), make("td", {}, v)))),
        make("div", { class: "row" }, button("close", () => $<HTMLDialogElement>("helpDialog").close())));
}

function setDark(isDark: boolean): void {
    document.documentElement.classList.toggle("dark", isDark);
    stage.setDark(isDark);
    store.set({ isDark });
    localStorage.setItem("dark", isDark ? "1" : "0");
}

function setUpWords(): void {
    const refresh = () => {
        translate(document);
        showName();
        showShow();
        fillHelp();
        const { description: d, frame: f } = store.state;
        if (d) {
            panel.show(d, false);
            tree.show(d);
            inspector.show();
            build?.show();
        }
        f && timeline.show(f);
    };
    $("language").onclick = () => { switchLanguage(); refresh(); };
    $("dark").onclick = () => setDark(!store.state.isDark);
    $("help").onclick = () => $<HTMLDialogElement>("helpDialog").showModal();
    refresh();
    const saved = localStorage.getItem("dark");
    setDark(saved ? saved === "1" : matchMedia("(prefers-color-scheme: dark)").matches);
    if (!local) { // scripts and the editor are where the page itself simulates
        ["demos", "open", "openFolder", "share"].forEach((id) => { $(id).hidden = true; });
        document.querySelectorAll<HTMLElement>("[data-tab=script], [data-tab=build], [data-tool=build]").forEach((e) => { e.hidden = true; });
    }
    if (film) { // what was recorded cannot be tuned
        $("right").hidden = true;
    }
    document.body.classList.toggle("embed", address.isEmbedded);
}

function setUpKeys(): void {
    const tool = (name: Tool) => () => store.set({ tool: name });
    addEventListener("keydown", (e) => {
        const at = e.target as HTMLElement, isField = at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement || (at instanceof HTMLInputElement && at.type !== "range");
        const isPressed = (e.key === " " || e.key === "Enter") && at.closest("button, summary, [role=tab]") !== null;
        if (isField || isPressed || e.ctrlKey || e.metaKey || document.querySelector("dialog[open]") || (e.key === "ArrowRight" && at instanceof HTMLInputElement) || (crane && / |Arrow/.test(e.key))) {
            return;
        }
        const action: Record<string, () => void> = {
            " ": () => timeline.togglePaused(), ".": () => send({ do: "step", count: 1 }), ArrowRight: () => send({ do: "step", count: 1 }), r: reset, "[": () => timeline.nudge(-0.25), "]": () => timeline.nudge(0.25),
            f: () => { stage.follow = stage.follow >= 0 ? -1 : Math.max(0, stage.selected); showShow(); }, a: () => stage.frameAll(), "?": () => $<HTMLDialogElement>("helpDialog").showModal(),
            1: tool("look"), 2: tool("hand"), 3: tool("build"), Escape: () => store.set({ selected: -1, shape: -1 }),
        };
        if (action[e.key]) {
            e.preventDefault();
            action[e.key]();
        }
    });
}

// ---- begin

let drawn = 0, wordsShown = 0, isPlaced = false;
function draw(): void {
    if (awaited === "screen") { // what the last call drew is seen now
        awaited = "";
        firstFrame ||= performance.now();
        lastLoad = performance.now() - loading.began;
    }
    const { frame } = store.state;
    if (isFresh && frame) {
        awaited = awaited === "frame" ? "screen" : awaited;
        isFresh = false;
        stage.update(frame);
        isPlaced || place(frame);
        const now = performance.now();
        if (now - wordsShown > 60 || frame.paused) { // words are not read faster, and cost more than the robot
            wordsShown = now;
            timeline.show(frame);
            panel.update(frame);
            inspector.update(frame);
        }
    }
    plots.draw();
    stage.ghost.update(hovered ?? (showsGhost && frame && log.ghost.length > 1 && frame.time <= log.ghost[log.ghost.length - 1].time && frame.time >= log.ghost[0].time ? log.at(frame.time, log.ghost) : undefined));
    stage.render();
    drawn++;
    requestAnimationFrame(draw);
}

/** Where a shared address stands, at its time. */
function place(frame: Frame): void {
    if (address.camera) {
        const [x, y, z, a, b, c] = address.camera;
        stage.camera.position.set(x, y, z);
        stage.controls.target.set(a, b, c);
    }
    if (address.isPaused) {
        send({ do: "pause" });
    }
    if (address.time !== undefined && frame.time < address.time) {
        const steps = Math.min(10000, Math.round((address.time - frame.time) / frame.timestep));
        send([{ do: "step", count: Math.max(1, steps) }, ...(address.isPaused ? [] : [{ do: "play" as const }])]);
    }
    isPlaced = true;
}

setUpPanes();
setUpWords();
setUpKeys();
addEventListener("error", (e) => toast(e.message, "error"));
addEventListener("unhandledrejection", (e) => toast(String(e.reason), "error"));
if (local) {
    void loading.fromAddress();
    address.isEmbedded || showHint();
} else {
    isPlaced = true;
}
requestAnimationFrame(draw);

// for tests and for the console
Object.assign(globalThis, {
    karakuri: {
        send, stage, plots, panel, log, store, loading, build, scripts, screenshot, saveParameters, errors, loadDemo: (id: string) => loading.demo(id), openFiles: (files: Map<string, Uint8Array>) => loading.open(files),
        get frame() { return store.state.frame; }, get description() { return store.state.description; }, get crane() { return crane; }, get drawn() { return drawn; }, get realTime() { return store.state.realTime; },
        get firstFrame() { return firstFrame; }, get lastLoad() { return awaited ? 0 : lastLoad; },
    },
});
