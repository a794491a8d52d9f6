// Karakuri in JavaScript: load a robot, step it, read everything. The engine is WebAssembly; this file is its cover.
//
//     const engine = await Engine.create();                       // reads karakuri.wasm.gz beside this file
//     const session = engine.load({ "arm.urdf": text }, "arm.urdf", { floor: true, actuators: true });
//     session.control[0] = 0.5;
//     session.step(1000);
//     console.log(session.time, session.q, session.hash);
//     session.free();
//
// Typed arrays that look into the engine (q, v, control, sensorData) are views: read them anew after each call.

import { Frame } from "./frame.js";
import type { Command, Description, Message, Pose } from "./types.js";

export * from "./types.js";
export { Frame, CONTACT_NUMBERS } from "./frame.js";

export interface LoadOptions {
    /** a plane z = 0 where the file has none */
    floor?: boolean;
    /** position servos on joints without actuator */
    actuators?: boolean;
    /** leave out pairs of shapes that always or never touch */
    clean?: boolean;
    /** raise or lower a free base to stand on z = 0 */
    place?: boolean;
    /** load as much as can be made sense of */
    repair?: boolean;
    base?: "file" | "free" | "fixed";
    /** collide with the triangles of meshes, not with their hulls */
    exact?: boolean;
    /** bytes for going back, 64 MB */
    history?: number;
    /** to start from */
    keyframe?: number;
    paused?: boolean;
}

/** What is a file: its text or its bytes, by path. */
export type Files = Record<string, string | Uint8Array> | Map<string, string | Uint8Array>;

/** An error of the engine, with the place in the file where it is known. */
export class EngineError extends Error {
    constructor(readonly status: string, message: string, readonly file = "", readonly line = 0, readonly column = 0) {
        super(file ? `${file}${line ? `:${line}:${column}` : ""}: ${message}` : message);
        this.name = "EngineError";
    }
}

type Native = Record<string, (...args: (number | bigint)[]) => number> & { memory: WebAssembly.Memory; _initialize(): void };

/** Compiles the engine while it is being unpacked. The file is compressed, so that it is small from servers that do not compress, too; one that
 * unpacks it on the way (Content-Encoding by the name's end) is noticed by the first bytes. */
export async function compile(bytes: Uint8Array): Promise<WebAssembly.Module> {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
        return WebAssembly.compile(bytes as BufferSource);
    }
    const plain = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

async function defaultModule(): Promise<WebAssembly.Module> {
    const url = new URL("./karakuri.wasm.gz", import.meta.url);
    if (url.protocol === "file:") {
        const { readFile } = await import(/* @vite-ignore */ "node:fs/promises" as string);
        return compile(await readFile(url));
    }
    return compile(new Uint8Array(await (await fetch(url)).arrayBuffer()));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Engine {
    private constructor(readonly native: Native) {}

    /** @param source  bytes or module of the engine, compressed or not; none: the file beside this one */
    static async create(source?: BufferSource | WebAssembly.Module | Promise<WebAssembly.Module>): Promise<Engine> {
        let module = await source;
        if (module === undefined) {
            module = await defaultModule();
        } else if (!(module instanceof WebAssembly.Module)) {
            module = await compile(module instanceof ArrayBuffer ? new Uint8Array(module) : new Uint8Array((module as ArrayBufferView).buffer, (module as ArrayBufferView).byteOffset, (module as ArrayBufferView).byteLength));
        }
        const instance = await WebAssembly.instantiate(module);
        const native = instance.exports as unknown as Native;
        native._initialize();
        return new Engine(native);
    }

    get version(): string { return this.text(this.native.kkw_version()); }

    /** The text at an address, up to its zero. */
    text(at: number): string {
        if (at === 0) {
            return "";
        }
        const bytes = new Uint8Array(this.native.memory.buffer);
        return decoder.decode(bytes.slice(at, bytes.indexOf(0, at)));
    }

    /** Bytes in the engine's memory; to be released. */
    put(bytes: Uint8Array): number {
        const at = this.native.kkw_allocate(bytes.length);
        if (at === 0) {
            throw new EngineError("KK_OUT_OF_MEMORY", "the engine's memory is full");
        }
        new Uint8Array(this.native.memory.buffer).set(bytes, at);
        return at;
    }

    putText(text: string): number { return this.put(encoder.encode(text + "\0")); }

    /** A copy of what the last call gave. */
    result(): ArrayBuffer {
        const at = this.native.kkw_result();
        return this.native.memory.buffer.slice(at, at + this.native.kkw_result_size()) as ArrayBuffer;
    }

    error(status: number): EngineError {
        const n = this.native;
        return new EngineError(this.text(n.kkw_status_name(status)), this.text(n.kkw_error_text()) || this.text(n.kkw_status_name(status)),
            this.text(n.kkw_error_file()), n.kkw_error_line(), n.kkw_error_column());
    }

    /** Loads a robot or a scene (URDF, xacro, MJCF) with its meshes, all from memory. */
    load(files: Files, main: string, options: LoadOptions = {}): Session {
        const n = this.native;
        const entries = files instanceof Map ? [...files] : Object.entries(files);
        const blocks: number[] = [];
        const keep = (at: number) => { blocks.push(at); return at; };
        try {
            const table = new Uint32Array(3 * entries.length);
            entries.forEach(([path, content], i) => {
                const bytes = typeof content === "string" ? encoder.encode(content) : content;
                table.set([keep(this.putText(path)), keep(this.put(bytes)), bytes.length], 3 * i);
            });
            const flags = (options.floor ? 1 : 0) | (options.actuators ? 2 : 0) | (options.clean ? 4 : 0) | (options.place ? 8 : 0)
                | (options.repair ? 16 : 0) | (options.base === "free" ? 32 : 0) | (options.base === "fixed" ? 64 : 0) | (options.exact ? 128 : 0);
            const at = keep(this.put(new Uint8Array(table.buffer)));
            const spec = n.kkw_load(at, entries.length, keep(this.putText(main)), flags);
            const messages = this.messages();
            if (spec === 0) {
                throw this.error(-3);
            }
            const session = n.kkw_session_create(spec, options.history ?? 0, options.keyframe === undefined ? 0 : options.keyframe + 1,
                options.paused ? 1 : 0);
            if (session === 0) {
                const error = this.error(-3);
                n.kkw_spec_free(spec);
                throw error;
            }
            return new Session(this, session, messages);
        } finally {
            blocks.forEach((block) => n.kkw_release(block));
        }
    }

    private messages(): Message[] {
        const n = this.native;
        const names = ["note", "warning", "error"] as const;
        return Array.from({ length: n.kkw_message_count() }, (_, i) => ({
            severity: names[n.kkw_message_severity(i)],
            file: this.text(n.kkw_message_part(i, 0)),
            line: n.kkw_message_line(i),
            text: this.text(n.kkw_message_part(i, 1)),
            remedy: this.text(n.kkw_message_part(i, 2)),
        }));
    }

    openRecording(bytes: Uint8Array): Recording {
        const block = this.put(bytes);
        const handle = this.native.kkw_recording_open(block, bytes.length);
        this.native.kkw_release(block);
        if (handle === 0) {
            throw this.error(-10);
        }
        return new Recording(this, handle);
    }
}

const hex = (value: number | bigint) => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, "0");

/** A simulation under way. */
export class Session {
    private descriptionText = "";
    constructor(readonly engine: Engine, readonly handle: number, readonly messages: Message[]) {}

    private check(status: number): void {
        if (status !== 0) {
            throw this.engine.error(status);
        }
    }

    private numbers(at: number, count: number): Float64Array {
        return new Float64Array(this.engine.native.memory.buffer, at, count);
    }

    private count(which: number): number { return this.engine.native.kkw_count(this.handle, which); }

    get time(): number { return this.engine.native.kkw_time(this.handle); }
    get nq(): number { return this.count(0); }
    get nv(): number { return this.count(1); }
    get bodyCount(): number { return this.count(2); }
    get actuatorCount(): number { return this.count(3); }
    get contactCount(): number { return this.count(5); }
    get q(): Float64Array { return this.numbers(this.engine.native.kkw_q(this.handle), this.nq); }
    get v(): Float64Array { return this.numbers(this.engine.native.kkw_v(this.handle), this.nv); }
    /** what the next step gets; write here */
    get control(): Float64Array { return this.numbers(this.engine.native.kkw_control(this.handle), this.count(3)); }
    /** of the sensors behind the last step */
    get sensorData(): Float64Array { return this.numbers(this.engine.native.kkw_sensor_data(this.handle), this.count(4)); }
    /** of the whole state: the same on every machine */
    get hash(): string { return hex(this.engine.native.kkw_state_hash(this.handle)); }
    get modelHash(): string { return hex(this.engine.native.kkw_model_hash(this.handle)); }
    /** m/s, of the last step's constraints */
    get residual(): number { return this.engine.native.kkw_residual(this.handle); }
    get notice(): string { return this.engine.text(this.engine.native.kkw_notice(this.handle)); }

    /** Takes steps; throws where one fails, and the state is that before it. */
    step(count = 1): void { this.check(this.engine.native.kkw_step(this.handle, count)); }
    /** As many steps as that wall-clock time is worth, none while paused. */
    advance(seconds: number, most = 1000): number { return this.engine.native.kkw_advance(this.handle, seconds, most); }

    command(command: Command | Command[]): void {
        const bytes = encoder.encode(JSON.stringify(command));
        const at = this.engine.put(bytes);
        const status = this.engine.native.kkw_command(this.handle, at, bytes.length);
        this.engine.native.kkw_release(at);
        this.check(status);
    }

    describeText(): string {
        this.check(this.engine.native.kkw_describe(this.handle));
        this.descriptionText = decoder.decode(this.engine.result());
        return this.descriptionText;
    }
    describe(): Description { return JSON.parse(this.describeText()) as Description; }

    /** Bytes of a frame, a copy that may be sent elsewhere. */
    frameBytes(): ArrayBuffer {
        this.check(this.engine.native.kkw_frame(this.handle));
        return this.engine.result();
    }
    frame(): Frame { return new Frame(this.frameBytes()); }

    /** float32 vertices, then uint32 faces */
    mesh(index: number): ArrayBuffer {
        this.check(this.engine.native.kkw_mesh(this.handle, index));
        return this.engine.result();
    }
    heights(index: number): Float32Array {
        this.check(this.engine.native.kkw_height_field(this.handle, index));
        return new Float32Array(this.engine.result());
    }

    /** The state in its portable form. */
    save(): Uint8Array {
        this.check(this.engine.native.kkw_state_save(this.handle));
        return new Uint8Array(this.engine.result());
    }

    /** The model as it is now, with all edits. */
    write(format: "urdf" | "mjcf"): string {
        this.check(this.engine.native.kkw_spec_write(this.engine.native.kkw_session_spec(this.handle), format === "mjcf" ? 1 : 0));
        return decoder.decode(this.engine.result());
    }

    private withArrays<T>(inputs: ArrayLike<number>[], outCount: number, run: (addresses: number[], out: number) => number, read: (out: Float64Array) => T): T {
        const sizes = [...inputs.map((x) => x.length), outCount];
        const block = this.engine.put(new Uint8Array(8 * sizes.reduce((a, b) => a + b, 0)));
        const addresses: number[] = [];
        let at = block;
        for (const size of sizes) {
            addresses.push(at);
            at += 8 * size;
        }
        inputs.forEach((x, i) => this.numbers(addresses[i], x.length).set(x));
        const status = run(addresses, addresses[inputs.length]);
        const value = read(this.numbers(addresses[inputs.length], outCount).slice());
        this.engine.native.kkw_release(block);
        this.check(status);
        return value;
    }

    /** tau that produces acceleration a at (q, v) */
    inverseDynamics(q: ArrayLike<number>, v: ArrayLike<number>, a: ArrayLike<number>): Float64Array {
        return this.withArrays([q, v, a], this.nv, ([x, y, z], out) => this.engine.native.kkw_inverse_dynamics(this.handle, x, y, z, out), (r) => r);
    }
    /** acceleration that tau produces, nothing touching */
    forwardDynamics(q: ArrayLike<number>, v: ArrayLike<number>, tau: ArrayLike<number>): Float64Array {
        return this.withArrays([q, v, tau], this.nv, ([x, y, z], out) => this.engine.native.kkw_forward_dynamics(this.handle, x, y, z, out), (r) => r);
    }
    /** nv × nv, row by row */
    inertiaMatrix(q: ArrayLike<number>): Float64Array {
        return this.withArrays([q], this.nv * this.nv, ([x], out) => this.engine.native.kkw_inertia_matrix(this.handle, x, out), (r) => r);
    }
    /** 6 × nv, rows [angular; linear], world axes about the body's origin */
    bodyJacobian(q: ArrayLike<number>, body: number): Float64Array {
        return this.withArrays([q], 6 * this.nv, ([x], out) => this.engine.native.kkw_body_jacobian(this.handle, x, body, out), (r) => r);
    }
    bodyPose(q: ArrayLike<number>, body: number): Pose {
        return this.withArrays([q], 7, ([x], out) => this.engine.native.kkw_body_pose(this.handle, x, body, out), (r) => [...r] as Pose);
    }

    free(): void { this.engine.native.kkw_session_free(this.handle); }
}

/** A recording made by `karakuri run --record` or by another program. */
export class Recording {
    constructor(readonly engine: Engine, readonly handle: number) {}
    get steps(): number { return this.engine.native.kkw_recording_steps(this.handle); }
    get modelHash(): string { return hex(this.engine.native.kkw_recording_model_hash(this.handle)); }
    get note(): string { return this.engine.text(this.engine.native.kkw_recording_note(this.handle)); }
    /** A frame of a step, drawn with the model of a session; throws where it does not fit. */
    frameBytes(session: Session, step: number): ArrayBuffer {
        const status = this.engine.native.kkw_recording_frame(session.handle, this.handle, step);
        if (status !== 0) {
            throw this.engine.error(status);
        }
        return this.engine.result();
    }
    free(): void { this.engine.native.kkw_recording_free(this.handle); }
}
