// Behavior scripts: a few lines of JavaScript run before every step, with the signals and actuators a C controller sees.
//
//     const t = robot.time;
//     robot.control["left_knee"] = 0.3 * Math.sin(2 * t);
//
// The script is the body of a function of `robot` and `memory` (an object that stays between steps). What goes wrong is told with its
// line; the simulation goes on without the script.
import type { Description, Session } from "karakuri-dynamics";

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
    push(body: string, force: [number, number, number], moment?: [number, number, number]): void;
}

export interface Script { run(): void }

class ScriptError extends Error {
    constructor(readonly line: number, readonly text: string) { super(text); }
}

/** The line of the script in which an error arose; 0 where it is not known. */
function lineOf(error: unknown): number {
    const stack = error instanceof Error ? error.stack ?? "" : "";
    const found = /behavior\.js:(\d+)/.exec(stack) ?? /<anonymous>:(\d+):\d+/.exec(stack);
    return found ? Math.max(1, Number(found[1]) - 2) : 0;
}

const textOf = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

/** Syntax errors carry no line: the first line behind which nothing can save the text. */
function lineOfSyntaxError(text: string): number {
    const lines = text.split("\n");
    const isFine = (part: string) => {
        try {
            new Function("robot", "memory", part);
            return true;
        } catch (error) {
            return /end of input|Unterminated|missing \) after|Unexpected token '\}'/.test(String(error)) && !/Unexpected token '[^}]/.test(String(error));
        }
    };
    for (let i = 1; i <= lines.length; i++) {
        if (!isFine(lines.slice(0, i).join("\n"))) {
            return i;
        }
    }
    return lines.length;
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

export function compileScript(text: string, session: Session, description: Description): Script {
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
    };
    let behavior: (robot: Robot, memory: object) => void;
    try {
        behavior = new Function("robot", "memory", `"use strict"; ${text}\n//# sourceURL=behavior.js`) as typeof behavior;
    } catch (error) {
        throw new ScriptError(lineOfSyntaxError(text), textOf(error));
    }
    Object.freeze(robot);
    const memory = {};
    return {
        run() {
            try {
                behavior(robot, memory);
            } catch (error) {
                throw new ScriptError(lineOf(error), textOf(error));
            }
        },
    };
}
