// Where frames come from: the engine in a worker, a server behind a WebSocket, or a film inside the page.
import type { Mark } from "./drawing.js";
import type { Parameter, ScriptFile } from "./script.js";
import { Frame, type Command, type Description, type LoadOptions, type Message } from "karakuri-dynamics";

export interface Picture {
    description: Description;
    /** float32 vertices, then uint32 faces, of each mesh */
    meshes: ArrayBuffer[];
    heights: ArrayBuffer[];
    /** another model, not only other numbers in it */
    isNew: boolean;
    /** the scene of before, changed by the editor: its state went on */
    isCarried?: boolean;
}

export interface Listener {
    picture(picture: Picture): void;
    frame(frame: Frame, realTime: number): void;
    notice(text: string, severity?: "note" | "warning" | "error"): void;
    messages?(messages: Message[]): void;
    scriptError?(line: number, text: string): void;
    scriptStuck?(): void;
    parameters?(parameters: Parameter[]): void;
    marks?(marks: Mark[]): void;
    /** a load that failed: what was there goes on */
    refused?(): void;
    /** the other end is gone */
    closed?(): void;
    /** all frames of a film at once */
    frames?(frames: Frame[]): void;
}

export interface LoadRequest {
    files: Map<string, Uint8Array>;
    main: string;
    options: LoadOptions;
    recording?: Uint8Array;
    commands?: Command[];
    motion?: string;
    lockstep?: boolean;
    /** goes on from the state of now, by the names of joints */
    carry?: boolean;
    /** after that */
    reset?: Command[];
}

export interface Source {
    command(command: Command | Command[]): void;
    /** only where the engine runs in the page */
    readonly isLocal: boolean;
}

export type ToWorker =
    | ({ type: "load" } & LoadRequest)
    | { type: "command"; command: Command | Command[] }
    | { type: "script"; text: string; files: ScriptFile[] }
    | { type: "parameter"; name: string; value: number }
    | { type: "seek"; step: number }
    | { type: "ping" }
    | { type: "write"; format: "urdf" | "mjcf"; id: number };

export type FromWorker =
    | { type: "picture"; description: string; meshes: ArrayBuffer[]; heights: ArrayBuffer[]; isNew: boolean; isCarried: boolean }
    | { type: "frame"; bytes: ArrayBuffer; realTime: number }
    | { type: "notice"; text: string; severity: "note" | "warning" | "error" }
    | { type: "messages"; messages: Message[] }
    | { type: "scriptError"; line: number; text: string }
    | { type: "pong" }
    | { type: "parameters"; parameters: Parameter[] }
    | { type: "marks"; marks: Mark[] }
    | { type: "refused" }
    | { type: "written"; text: string; id: number };

/** ms between questions to a worker with a script, and for how long it may be silent */
const PING = 500, SILENCE = 3000;

/** The engine in a worker of the page. */
export class WorkerSource implements Source {
    readonly isLocal = true;
    private worker = earlyWorker!;
    /** what is running now, to begin it anew */
    private last: Extract<ToWorker, { type: "load" }> | undefined;
    private heard = 0;
    private hasScript = false;
    private watch: ReturnType<typeof setInterval> | undefined;
    private meshes: ArrayBuffer[] = [];
    private heights: ArrayBuffer[] = [];
    private pending: Command[] = [];
    private readonly waiting = new Map<number, (text: string) => void>();
    private count = 0;

    constructor(private readonly listener: Listener) { this.listen(); }

    private listen(): void {
        this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
        this.worker.onerror = (event) => this.listener.notice(event.message, "error");
    }

    /** While a script runs, and until it has stopped, its worker must answer: one that loops for ever, or closed itself, is replaced. */
    private watchScript(): void {
        if (this.watch !== undefined) {
            return;
        }
        this.heard = performance.now();
        let asked = this.heard;
        this.watch = setInterval(() => {
            const now = performance.now();
            this.heard = now - asked > 3 * PING ? now : this.heard; // the page itself slept
            asked = now;
            if (now - this.heard > SILENCE) {
                this.startAnew();
            } else {
                this.post({ type: "ping" });
            }
        }, PING);
    }

    private endWatch(): void {
        clearInterval(this.watch);
        this.watch = undefined;
    }

    private startAnew(): void {
        this.endWatch();
        this.hasScript = false;
        this.worker.terminate();
        this.worker = newWorker();
        this.listen();
        if (this.last) {
            this.post(this.last);
        }
        this.listener.scriptStuck?.();
    }

    private receive(message: FromWorker): void {
        switch (message.type) {
        case "picture":
            if (message.isNew) {
                this.meshes = message.meshes;
                this.heights = message.heights;
            }
            this.listener.picture({ description: JSON.parse(message.description) as Description, meshes: this.meshes, heights: this.heights, isNew: message.isNew, isCarried: message.isCarried });
            break;
        case "frame": this.listener.frame(new Frame(message.bytes), message.realTime); break;
        case "notice": this.listener.notice(message.text, message.severity); break;
        case "messages": this.listener.messages?.(message.messages); break;
        case "pong":
            this.heard = performance.now();
            !this.hasScript && this.endWatch();
            break;
        case "scriptError": this.listener.scriptError?.(message.line, message.text); break;
        case "parameters": this.listener.parameters?.(message.parameters); break;
        case "marks": this.listener.marks?.(message.marks); break;
        case "refused": this.listener.refused?.(); break;
        case "written":
            this.waiting.get(message.id)?.(message.text);
            this.waiting.delete(message.id);
            break;
        }
    }

    private post(message: ToWorker): void { this.worker.postMessage(message); }

    load(request: LoadRequest): void {
        this.last = { type: "load", ...request };
        this.post(this.last);
        this.hasScript = this.hasScript && request.carry === true;
    }
    script(text: string, files: ScriptFile[] = []): void {
        this.post({ type: "script", text, files });
        this.hasScript = text.trim() !== "";
        this.watchScript();
    }
    seek(step: number): void { this.post({ type: "seek", step }); }
    parameter(name: string, value: number): void { this.post({ type: "parameter", name, value }); }
    /** The model as it is now, as the text of a file. */
    write(format: "urdf" | "mjcf"): Promise<string> {
        const id = ++this.count;
        this.post({ type: "write", format, id });
        return new Promise((good) => this.waiting.set(id, good));
    }

    /** Commands of one task go together: a slider that is dragged makes one new model a picture, not ten. */
    command(command: Command | Command[]): void {
        if (this.pending.length === 0) {
            queueMicrotask(() => {
                const all = this.pending;
                this.pending = [];
                this.post({ type: "command", command: all.length === 1 ? all[0] : all });
            });
        }
        this.pending.push(...(Array.isArray(command) ? command : [command]));
    }
}

/** A native simulation, by `karakuri view`. */
export class SocketSource implements Source {
    readonly isLocal = false;
    private readonly socket: WebSocket;
    private latest = 0;
    private lastTime = 0;
    private lastClock = 0;
    private rate = 0;
    private loaded = "";
    private meshes: ArrayBuffer[] = [];
    private heights: ArrayBuffer[] = [];

    constructor(private readonly listener: Listener) {
        const url = new URL("socket", location.href);
        url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
        this.socket = new WebSocket(url);
        this.socket.binaryType = "arraybuffer";
        this.socket.onmessage = (event) => typeof event.data === "string" ? this.text(event.data) : this.bytes(event.data as ArrayBuffer);
        this.socket.onclose = () => {
            listener.notice("the simulation has gone", "error");
            listener.closed?.();
        };
    }

    private async text(data: string): Promise<void> {
        const message = JSON.parse(data) as { description?: Description; notice?: string; error?: string };
        if (message.description) {
            await this.describe(message.description);
        }
        if (message.notice || message.error) {
            this.listener.notice(message.notice ?? message.error ?? "", message.error ? "error" : "note");
        }
    }

    private async describe(description: Description): Promise<void> {
        const turn = ++this.latest;
        const key = JSON.stringify([description.meshes, description.shapes]);
        const isNew = key !== this.loaded;
        if (isNew) {
            const get = async (kind: string, count: number) =>
                Promise.all(Array.from({ length: count }, async (_, i) => (await fetch(new URL(`${kind}/${i}`, location.href))).arrayBuffer()));
            this.meshes = await get("mesh", description.meshes.length);
            this.heights = await get("heights", description.height_fields.length);
            this.loaded = key;
        }
        if (turn === this.latest) {
            this.listener.picture({ description, meshes: this.meshes, heights: this.heights, isNew });
        }
    }

    private bytes(data: ArrayBuffer): void {
        const frame = new Frame(data);
        const now = performance.now() / 1000;
        if (now - this.lastClock > 0.5) {
            this.rate = Math.max(0, (frame.time - this.lastTime) / (now - this.lastClock));
            this.lastClock = now;
            this.lastTime = frame.time;
        }
        this.listener.frame(frame, this.rate);
    }

    command(command: Command | Command[]): void {
        if (this.socket.readyState === WebSocket.OPEN) {
            this.socket.send(JSON.stringify(command));
        }
    }
}

interface Film { description: Description; meshes: string[]; heights: string[]; frames: string; note?: string }

const bytesOf = (text: string): ArrayBuffer => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

/** Frames that came with the page: playing, pausing and going back are all there is. */
export class FilmSource implements Source {
    readonly isLocal = false;
    private readonly frames: ArrayBuffer[] = [];
    private at = 0;
    private playing = true;
    private speed = 1;
    private clock = performance.now();
    private time = 0;

    constructor(film: Film, private readonly listener: Listener) {
        const all = bytesOf(film.frames);
        const view = new DataView(all);
        for (let at = 0; at + 8 <= all.byteLength;) {
            const size = view.getUint32(at + 4, true);
            if (size < 160 || at + size > all.byteLength) {
                break;
            }
            this.frames.push(all.slice(at, at + size));
            at += size;
        }
        queueMicrotask(() => { // when the page is set up
            listener.picture({ description: film.description, meshes: film.meshes.map(bytesOf), heights: film.heights.map(bytesOf), isNew: true });
            listener.notice(film.note ?? "");
            listener.frames?.(this.frames.map((_, i) => this.frameOf(i)));
            this.show(0);
            setInterval(() => this.tick(), 15);
        });
    }

    private timeOf(index: number): number { return new DataView(this.frames[index]).getFloat64(8, true); }

    private show(index: number): void {
        if (this.frames.length === 0) {
            return;
        }
        this.at = Math.max(0, Math.min(this.frames.length - 1, index));
        this.listener.frame(this.frameOf(this.at), this.playing ? this.speed : 0);
    }

    private frameOf(index: number): Frame {
        const bytes = this.frames[index].slice(0);
        const view = new DataView(bytes);
        view.setUint32(32, (view.getUint32(32, true) & ~1) | (this.playing ? 0 : 1) | 4, true);
        view.setFloat64(16, index, true);
        view.setFloat64(64, 0, true);
        view.setFloat64(72, this.frames.length - 1, true);
        view.setFloat32(148, this.speed, true);
        return new Frame(bytes);
    }

    private tick(): void {
        const now = performance.now();
        if (this.playing && this.frames.length > 1) {
            this.time += (this.speed * (now - this.clock)) / 1000;
            let next = this.at;
            while (next + 1 < this.frames.length && this.timeOf(next + 1) <= this.time) {
                next++;
            }
            if (next + 1 >= this.frames.length) {
                this.playing = false;
            }
            this.show(next);
        }
        this.clock = now;
    }

    command(command: Command | Command[]): void {
        for (const c of Array.isArray(command) ? command : [command]) {
            switch (c.do) {
            case "play":
                this.playing = true;
                if (this.at >= this.frames.length - 1) {
                    this.at = 0;
                }
                break;
            case "pause": this.playing = false; break;
            case "speed": this.speed = c.value; break;
            case "step": this.playing = false; this.at += 1; break;
            case "reset": this.at = 0; break;
            case "rewind": this.playing = false; this.at = c.step; break;
            }
        }
        this.at = Math.max(0, Math.min(this.frames.length - 1, this.at));
        if (this.frames.length) {
            this.time = this.timeOf(this.at);
        }
        this.show(this.at);
    }
}

/** How the page was opened. */
export function filmInPage(): Film | undefined {
    const element = document.getElementById("karakuri-film");
    return element?.textContent ? (JSON.parse(element.textContent) as Film) : undefined;
}
export const isServed = () => /^\/[0-9a-f]{32}\/$/.test(location.pathname);

/** Started before the page is put together, so that the engine is fetched and compiled meanwhile. */
const newWorker = () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
const earlyWorker = document.getElementById("karakuri-film") || isServed() ? undefined : newWorker();
