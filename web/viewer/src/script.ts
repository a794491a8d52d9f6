// Behavior scripts: a few lines of JavaScript run before every step, with the signals and actuators a C controller sees.
//
//     import { gait } from "./gait.js";                        // another script of the scene
//     const gain = robot.param("gain", 1, 0, 5);               // a slider
//     robot.control["left_knee"] = gain * gait(robot.time);
//     robot.draw.line([[0, 0, 0], [0, 0, 1]], "red");
//
// The script is the body of a function of `robot` and `memory` (an object that stays between steps). It is loaded as a module of its own (a page's policy
// forbids to evaluate texts). What goes wrong is told with its line; the simulation goes on without the script.
import type { Description, Session } from "karakuri-dynamics";
import type { Mark } from "./drawing.js";

type Point = [number, number, number];

export interface Robot {
    readonly time: number;
    readonly timestep: number;
    /** by joint name: position (or the first coordinate), velocity */
    readonly q: Record<string, number>;
    readonly v: Record<string, number>;
    /** by actuator name or number; writing sets it */
    readonly control: Record<string | number, number>;
    /** by sensor name or number; arrays for those with several numbers */
    readonly sensor: Record<string | number, number | Float64Array>;
    /** pose of a body: w, x, y, z, px, py, pz */
    pose(body: string): number[];
    push(body: string, force: Point, moment?: Point): void;
    /** a number with a slider, saved with the scene */
    param(name: string, value: number, lower?: number, upper?: number): number;
    /** drawn until the next step */
    readonly draw: {
        line(points: Point[], color?: string): void;
        cone(at: Point, along: Point, angle: number, color?: string): void;
        text(at: Point, text: string, color?: string): void;
        polygon(points: Point[], color?: string): void;
    };
}

export interface Parameter { name: string; value: number; lower: number; upper: number }
export interface ScriptFile { name: string; text: string }

export interface Script {
    run(): void;
    /** what was drawn in the last step */
    readonly marks: Mark[];
}

class ScriptError extends Error {
    constructor(readonly line: number, readonly text: string) { super(text); }
}

const FIRST = 2; // lines before the script in its module

/** The line of the script in which an error arose; 0 where it is not known. */
function lineOf(error: unknown, urls: string[]): number {
    const stack = error instanceof Error ? error.stack ?? "" : "";
    const url = urls.find((u) => stack.includes(u));
    const found = url ? new RegExp(`${url.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}:(\\d+)`).exec(stack) : null;
    return found ? Math.max(1, Number(found[1]) - FIRST) : 0;
}

const textOf = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

/** A module's syntax errors carry no line, those of a plain worker do: one is begun with the script, and goes no further than its first line. */
function lineOfSyntaxError(text: string): Promise<number> {
    const url = urlOf(`throw 0;\nfunction behavior(robot, memory) {\n${text.replace(IMPORT, "")}\n}`);
    return new Promise((good) => {
        const worker = new Worker(url);
        const end = (line: number) => {
            worker.terminate();
            URL.revokeObjectURL(url);
            good(Math.max(0, line - FIRST));
        };
        worker.onerror = (event) => {
            event.preventDefault();
            end(event.lineno ?? 0);
        };
        setTimeout(() => end(0), 1500);
    });
}

const IMPORT = /^\s*import\b.*$/gm;
const urlOf = (text: string) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));

/** The module of a script: its imports first, then a function of the rest; and names of other scripts become addresses of theirs. */
function moduleOf(text: string, files: ScriptFile[], urls: string[], depth = 0): string {
    if (depth > 16) {
        throw new ScriptError(0, "scripts import each other in a circle");
    }
    return text.replace(/(\bfrom\s*|\bimport\s*)(["'])(?:\.\/)?([^"']+)\2/g, (_, word: string, quote: string, name: string) => {
        const file = files.find((f) => f.name === name);
        if (!file) {
            throw new ScriptError(text.slice(0, text.indexOf(name)).split("\n").length, `the scene has no script called "${name}"`);
        }
        const url = urlOf(moduleOf(file.text, files, urls, depth + 1));
        urls.push(url);
        return `${word}${quote}${url}${quote}`;
    });
}


function bodyModule(text: string, files: ScriptFile[], urls: string[]): string {
    const imports = (text.match(IMPORT) ?? []).join(" ");
    return `${moduleOf(imports, files, urls)}\nexport default function behavior(robot, memory) {\n${text.replace(IMPORT, "")}\n}\n`;
}

const known = (names: Map<string, number>, key: string | symbol, what: string): number => {
    const index = names.get(String(key)) ?? (/^\d+$/.test(String(key)) ? Number(key) : undefined);
    if (index === undefined) {
        throw new ReferenceError(`no ${what} is called "${String(key)}"`);
    }
    return index;
};

function named<T>(names: Map<string, number>, what: string, get: (index: number) => T, set?: (index: number, value: number) => void): Record<string, T> {
    const there = (key: string | symbol): number => {
        const index = known(names, key, what);
        if (get(index) === undefined) {
            throw new RangeError(`there is no ${what} ${String(key)}`);
        }
        return index;
    };
    return new Proxy({}, {
        get: (_, key) => get(there(key)),
        set: (_, key, value) => {
            if (!set) {
                throw new TypeError(`${what}s can only be read`);
            }
            if (typeof value !== "number" || !Number.isFinite(value)) {
                throw new TypeError(`${what} "${String(key)}" needs a finite number, not ${String(value)}`);
            }
            set(there(key), value);
            return true;
        },
    }) as Record<string, T>;
}

async function compile(text: string, files: ScriptFile[], urls: string[]): Promise<(robot: Robot, memory: object) => void> {
    const source = bodyModule(text, files, urls);
    const url = urlOf(source);
    urls.unshift(url);
    try {
        return ((await import(/* @vite-ignore */ url)) as { default: (robot: Robot, memory: object) => void }).default;
    } catch (error) {
        if (error instanceof ScriptError) {
            throw error;
        }
        throw new ScriptError(lineOf(error, urls) || await lineOfSyntaxError(text), textOf(error));
    }
}

const LIMIT = 500; // marks a step

function drawingOf(marks: Mark[]): Robot["draw"] {
    const point = (p: number[]): number[] => {
        if (!Array.isArray(p) || p.length !== 3 || !p.every(Number.isFinite)) {
            throw new TypeError("a point is [x, y, z]");
        }
        return p;
    };
    const add = (mark: Mark) => { marks.length < LIMIT && marks.push(mark); };
    return {
        line: (points, color = "#1971c2") => add({ kind: "line", points: points.map(point), color }),
        polygon: (points, color = "#1971c2") => add({ kind: "polygon", points: points.map(point), color }),
        cone: (at, along, angle, color = "#15aabf") => add({ kind: "cone", at: point(at), along: point(along), angle: Number(angle), color }),
        text: (at, text, color = "#212529") => add({ kind: "text", at: point(at), text: String(text).slice(0, 80), color }),
    };
}

/** @param parameters  values by name, which sliders change; those a script asks for first are added
 *  @param files  other scripts of the scene */
export async function compileScript(text: string, session: Session, description: Description, parameters: Map<string, Parameter>, files: ScriptFile[],
    announce: (parameter: Parameter) => void): Promise<Script> {
    const marks: Mark[] = [];
    const joints = description.bodies.filter((b) => b.joint && b.joint.nv > 0);
    const index = <T>(items: T[], name: (item: T) => string | null | undefined, value: (item: T, i: number) => number) =>
        new Map(items.map((item, i) => [name(item) ?? String(i), value(item, i)] as const));
    const bodies = index(description.bodies, (b) => b.name, (_, i) => i);
    const actuators = index(description.actuators, (a) => a.name, (_, i) => i);
    description.actuators.forEach((a, i) => a.target && !actuators.has(a.target) && actuators.set(a.target, i));
    const robot: Robot = {
        get time() { return session.time; },
        timestep: description.options.timestep,
        q: named(index(joints, (b) => b.joint!.name, (b) => b.joint!.q), "joint", (i) => session.q[i]),
        v: named(index(joints, (b) => b.joint!.name, (b) => b.joint!.v), "joint", (i) => session.v[i]),
        control: named(actuators, "actuator", (i) => session.control[i], (i, value) => { session.control[i] = value; }),
        sensor: named(index(description.sensors, (s) => s.name, (_, i) => i), "sensor", (i) => {
            const s = description.sensors[i] as Description["sensors"][number] | undefined;
            const all = session.sensorData;
            return s === undefined ? undefined! : s.count === 1 ? all[s.first] : all.slice(s.first, s.first + s.count);
        }),
        pose: (body) => session.bodyPose(session.q.slice(), known(bodies, body, "body")),
        push: (body, force, moment) => session.command({ do: "push", body: known(bodies, body, "body"), force, moment: moment ?? [0, 0, 0], steps: 1 }),
        param(name, value, lower = 0, upper = 1) {
            const known = parameters.get(name) ?? { name, value, lower, upper };
            if (!parameters.has(name)) {
                parameters.set(name, known);
                announce(known);
            }
            return known.value;
        },
        draw: drawingOf(marks),
    };
    const urls: string[] = [];
    const behavior = await compile(text, files, urls);
    Object.freeze(robot);
    const memory = {};
    return {
        marks,
        run() {
            marks.length = 0;
            try {
                behavior(robot, memory);
            } catch (error) {
                throw new ScriptError(lineOf(error, urls), textOf(error));
            }
        },
    };
}
