// The engine, its clock, and the user's behavior script, away from the page's thread.
import { Engine, EngineError, type Description, type Recording, type Session } from "karakuri-dynamics";
import wasm from "../../engine/dist/karakuri.wasm.gz?url";
import type { FromWorker, ToWorker } from "./source.js";
import { Motion } from "./motion.js";
import { compileScript, type Parameter, type Script, type ScriptFile } from "./script.js";

const engine = fetch(wasm).then((response) => response.arrayBuffer()).then((bytes) => Engine.create(bytes));

let session: Session | undefined;
let recording: { film: Recording; at: number; playing: boolean; speed: number } | undefined;
let description: Description | undefined;
let script: Script | undefined;
let scriptFiles: ScriptFile[] = [];
const parameters = new Map<string, Parameter>();
let motion: Motion | undefined;
let generation = -1;
let notice = 0;
let isDirty = true;
let owed = 0;
let clock = performance.now();
let speed = 1;
let paused = false;
let timestep = 0.001;
let replays = false;
/** a game: never more than a few steps without a word from the page, so that a slow page plays the same game, more slowly */
let lockstep = false;
let credit = 0;
const CREDIT = 2;
/** simulated and wall-clock time of the last half second */
let meter = { simulated: 0, began: performance.now(), rate: 0 };

const post = (message: FromWorker, transfer: Transferable[] = []) => (self as unknown as Worker).postMessage(message, transfer);

function describe(isNew: boolean, isCarried = false): void {
    if (!session) {
        return;
    }
    const text = session.describeText();
    description = JSON.parse(text) as Description;
    timestep = description.options.timestep;
    const meshes = isNew ? description.meshes.map((_, i) => session!.mesh(i)) : [];
    const heights = isNew ? description.height_fields.map((_, i) => session!.heights(i).buffer as ArrayBuffer) : [];
    post({ type: "picture", description: text, meshes, heights, isNew, isCarried }, [...meshes, ...heights]);
}

function showFilm(): void {
    if (!session || !recording) {
        return;
    }
    const bytes = recording.film.frameBytes(session, Math.floor(recording.at));
    const view = new DataView(bytes);
    view.setUint32(32, (recording.playing ? 0 : 1) | 4, true);
    view.setUint32(24, Math.max(0, generation), true);
    view.setFloat32(148, recording.speed, true);
    post({ type: "frame", bytes, realTime: recording.playing ? recording.speed : 0 }, [bytes]);
}

function show(): void {
    if (!session) {
        return;
    }
    if (recording) {
        showFilm();
        return;
    }
    const bytes = session.frameBytes();
    const view = new DataView(bytes);
    if (view.getUint32(24, true) !== generation) {
        describe(false);
        generation = view.getUint32(24, true);
    }
    if (view.getUint32(28, true) !== notice) {
        notice = view.getUint32(28, true);
        post({ type: "notice", text: session.notice, severity: "error" });
    }
    const flags = view.getUint32(32, true);
    paused = (flags & 1) !== 0;
    replays = (flags & 4) !== 0;
    speed = view.getFloat32(148, true);
    post({ type: "frame", bytes, realTime: paused ? 0 : meter.rate }, [bytes]);
    if (script || marksShown) {
        marksShown = script?.marks.length ?? 0;
        post({ type: "marks", marks: script?.marks ?? [] });
    }
}
let marksShown = 0;

/** What both have, by name: positions and velocities of joints, controls; and the time. */
function carryOver(from: { q: Float64Array; v: Float64Array; control: Float64Array; time: number; description: Description }, to: Session): void {
    const d = to.describe();
    const q = [...to.q], v = [...to.v];
    const joints = new Map(from.description.bodies.filter((b) => b.joint).map((b) => [b.joint!.name || b.name, b.joint!]));
    d.bodies.forEach((b) => {
        const j = b.joint, old = j && joints.get(j.name || b.name);
        if (j && old && old.type === j.type) {
            from.q.slice(old.q, old.q + old.nq).forEach((x, i) => { q[j.q + i] = x; });
            from.v.slice(old.v, old.v + old.nv).forEach((x, i) => { v[j.v + i] = x; });
        }
    });
    to.command({ do: "pose", q, v, time: from.time });
    const controls = new Map(from.description.actuators.map((a, i) => [a.name || a.target, from.control[i]]));
    if (d.actuators.length > 0) {
        to.command({ do: "controls", values: d.actuators.map((a) => controls.get(a.name || a.target) ?? 0) });
    }
}

async function load(message: Extract<ToWorker, { type: "load" }>): Promise<void> {
    const own = await engine;
    const next = own.load(message.files, message.main, message.options);
    const before = message.carry && session && description && !recording
        ? { q: session.q.slice(), v: session.v.slice(), control: session.control.slice(), time: session.time, description, paused } : undefined;
    try {
        if (before) {
            carryOver(before, next);
            next.command({ do: before.paused ? "pause" : "play" });
            next.command(message.reset ?? []);
        }
        if (message.commands?.length) {
            next.command(message.commands);
        }
    } catch (error) {
        fail(error);
    }
    recording?.film.free();
    session?.free();
    session = next;
    const carried = message.carry ? lastScript : undefined;
    script = undefined;
    if (!message.carry) {
        parameters.clear();
        lastScript = undefined;
    }
    motion = undefined;
    recording = undefined;
    owed = 0;
    lockstep = message.lockstep ?? false;
    credit = CREDIT;
    if (message.recording) {
        openRecording(own, message.recording, next);
    }
    post({ type: "messages", messages: next.messages });
    describe(true, before !== undefined);
    startMotion(message.motion);
    description!.parameters.forEach((p) => parameters.has(p.name) || parameters.set(p.name, { ...p }));
    post({ type: "parameters", parameters: [...parameters.values()] });
    carried && await startScript(carried.text, carried.files);
    generation = new DataView(next.frameBytes()).getUint32(24, true);
    isDirty = true;
}

/** A recording of another model cannot be shown: one word, and the model is simulated. */
function openRecording(own: Engine, bytes: Uint8Array, model: Session): void {
    const film = own.openRecording(bytes);
    try {
        film.frameBytes(model, 0);
    } catch (error) {
        film.free();
        throw error instanceof EngineError && error.status === "KK_SIZE_MISMATCH" ? new Error("the recording is of another model: it has other joints or actuators") : error;
    }
    recording = { film, at: 0, playing: true, speed: 1 };
    if (film.modelHash !== model.modelHash) {
        post({ type: "notice", text: "the recording is of another model, or of this one before it was changed", severity: "warning" });
    }
}

let lastScript: { text: string; files: ScriptFile[] } | undefined;

async function startScript(text: string, files: ScriptFile[]): Promise<void> {
    scriptFiles = files;
    lastScript = text.trim() ? { text, files } : undefined;
    script = undefined;
    if (lastScript && session && description) {
        try {
            const own = await compileScript(text, session, description, parameters, scriptFiles, () => post({ type: "parameters", parameters: [...parameters.values()] }));
            script = own;
        } catch (error) {
            scriptFailed(error);
            return;
        }
    }
    post({ type: "scriptError", line: 0, text: "" });
    isDirty = true;
}

function startMotion(text: string | undefined): void {
    try {
        motion = text && description ? new Motion(text, description) : undefined;
    } catch (error) {
        fail(error);
    }
}

function fail(error: unknown): void {
    const text = error instanceof EngineError || error instanceof Error ? error.message : String(error);
    post({ type: "notice", text, severity: "error" });
}

function commandFilm(all: Extract<ToWorker, { type: "command" }>["command"]): void {
    for (const c of Array.isArray(all) ? all : [all]) {
        const film = recording!;
        switch (c.do) {
        case "play": film.playing = true; film.at = film.at >= film.film.steps - 1 ? 0 : film.at; break;
        case "pause": film.playing = false; break;
        case "speed": film.speed = c.value; break;
        case "step": film.playing = false; film.at += c.count ?? 1; break;
        case "reset": film.at = 0; break;
        case "rewind": film.playing = false; film.at = c.step; break;
        }
        film.at = Math.max(0, Math.min(film.film.steps - 1, film.at));
    }
}

/** One after the other: loading waits for the engine, and what follows waits for the loading. */
let queue: Promise<void> = Promise.resolve();
self.onmessage = (event: MessageEvent<ToWorker>) => {
    if (event.data.type === "ping") {
        post({ type: "pong" });
        return;
    }
    queue = queue.then(() => receive(event.data));
};

async function receive(message: ToWorker): Promise<void> {
    try {
        switch (message.type) {
        case "load": await load(message); break;
        case "command":
            if (recording) {
                commandFilm(message.command);
            } else {
                session?.command(message.command);
            }
            owed = lockstep ? owed : 0;
            credit = CREDIT;
            break;
        case "script": await startScript(message.text, message.files); break;
        case "parameter": {
            const p = parameters.get(message.name);
            p && (p.value = message.value);
            break;
        }
        case "seek": session?.command({ do: "rewind", step: message.step }); break;
        case "write": post({ type: "written", id: message.id, text: session?.write(message.format) ?? "" }); break;
        }
    } catch (error) {
        fail(error);
        message.type === "load" && post({ type: "refused" });
    }
    isDirty = true;
}

function scriptFailed(error: unknown): void {
    const { line, text } = error as { line?: number; text?: string };
    post({ type: "scriptError", line: line ?? 0, text: text ?? String(error) });
}

/** What drives the next step: a table, then a script, which has the last word. */
function behave(): void {
    if (replays) {
        return;
    }
    motion?.act(session!);
    try {
        script?.run();
    } catch (error) {
        script = undefined;
        scriptFailed(error);
    }
}

/** Takes the steps that are due, for as long as there is time before the next picture. */
function simulate(seconds: number): void {
    if (!session || paused) {
        return;
    }
    owed += seconds * speed;
    const began = performance.now();
    let due = Math.floor(owed / timestep);
    owed -= due * timestep;
    due = lockstep && !replays ? Math.min(due, credit) : due;
    let taken = 0;
    while (due > 0 && performance.now() - began < 14) {
        const portion = (script || motion) && !replays ? 1 : Math.min(due, 8);
        behave();
        try {
            session.step(portion);
        } catch {
            break; // the session has paused itself and left a notice
        }
        due -= portion;
        taken += portion;
    }
    credit -= taken;
    meter.simulated += taken * timestep;
    isDirty ||= taken > 0;
}

function playFilm(seconds: number): void {
    const film = recording!;
    if (film.playing) {
        film.at = Math.min(film.film.steps - 1, film.at + (seconds * film.speed) / timestep);
        film.playing = film.at < film.film.steps - 1;
        isDirty = true;
    }
}

function tick(): void {
    const now = performance.now();
    const seconds = Math.min(0.1, (now - clock) / 1000);
    clock = now;
    try {
        if (recording) {
            playFilm(seconds);
        } else {
            simulate(seconds);
        }
        if (now - meter.began > 500) {
            meter = { simulated: 0, began: now, rate: meter.simulated / ((now - meter.began) / 1000) };
        }
        if (isDirty) {
            isDirty = false;
            show();
        }
    } catch (error) {
        fail(error);
    }
    setTimeout(tick, Math.max(0, 1000 / 60 - (performance.now() - now)));
}
tick();
