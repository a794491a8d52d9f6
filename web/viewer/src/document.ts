// The scene as a text that can be changed: MJCF as the engine writes it, or the file itself where it is as plain. Every change is done to the tree of the text,
// which is loaded again and goes on from where the old one was; undo is the text of before.
import * as THREE from "three";
import type { Description, Frame, JointType } from "karakuri-dynamics";
import type { Parameter, ScriptFile } from "./script.js";

export type Part = "box" | "sphere" | "capsule" | "cylinder" | "ellipsoid" | "mesh";
export type Motor = "none" | "position" | "velocity" | "motor";

const number = (x: number) => String(Number(x.toPrecision(9)));
export const numbers = (list: ArrayLike<number>) => Array.from(list, number).join(" ");
export const read = (e: Element, name: string, otherwise: number[]): number[] => {
    const values = e.getAttribute(name)?.trim().split(/\s+/).map(Number);
    return values && values.every(Number.isFinite) ? [...values, ...otherwise.slice(values.length)] : otherwise;
};

export const matrixOf = (p: ArrayLike<number>, at = 0) =>
    new THREE.Matrix4().compose(new THREE.Vector3(p[at + 4], p[at + 5], p[at + 6]), new THREE.Quaternion(p[at + 1], p[at + 2], p[at + 3], p[at]), new THREE.Vector3(1, 1, 1));

function setPose(e: Element, X: THREE.Matrix4): void {
    const p = new THREE.Vector3(), q = new THREE.Quaternion();
    X.decompose(p, q, new THREE.Vector3());
    e.setAttribute("pos", numbers(p.toArray()));
    ["euler", "axisangle", "zaxis", "xyaxes"].forEach((name) => e.removeAttribute(name));
    e.setAttribute("quat", numbers([q.w, q.x, q.y, q.z]));
}

function poseOf(e: Element): THREE.Matrix4 {
    const [x, y, z] = read(e, "pos", [0, 0, 0]), [w, a, b, c] = read(e, "quat", [1, 0, 0, 0]);
    return matrixOf([w, a, b, c, x, y, z]);
}

/** Whether a file can be changed as it stands: nothing in it is defined elsewhere. */
export const isPlain = (text: string) => /<mujoco\b/.test(text) && /angle="radian"/.test(text) && !/<(include|default|replicate|attach|frame|composite|flexcomp|model)\b/.test(text) && !/\b(euler|axisangle|zaxis|xyaxes|fromto)=/.test(text);

const MOST_UNDO = 100;

export class SceneDocument {
    private xml: Document;
    private readonly past: string[] = [];
    private readonly future: string[] = [];

    constructor(text: string) {
        this.xml = SceneDocument.parse(text);
        this.letShapesWeigh();
    }

    /** New parts weigh what their shapes do; bodies that the engine wrote without mass stay without. */
    private letShapesWeigh(): void {
        const compiler = this.xml.querySelector("compiler");
        if (compiler?.getAttribute("inertiafromgeom") === "false") {
            compiler.setAttribute("inertiafromgeom", "auto");
            this.xml.querySelectorAll("worldbody body").forEach((body) => {
                const own = [...body.children];
                own.some((e) => e.tagName === "inertial") || own.filter((e) => e.tagName === "geom").forEach((e) => e.setAttribute("mass", "0"));
            });
        }
    }

    private static parse(text: string): Document {
        const xml = new DOMParser().parseFromString(text, "text/xml");
        if (xml.querySelector("parsererror")) {
            throw new Error(xml.querySelector("parsererror")!.textContent ?? "the scene is no XML");
        }
        return xml;
    }

    get text(): string { return new XMLSerializer().serializeToString(this.xml); }
    get canUndo(): boolean { return this.past.length > 0; }
    get canRedo(): boolean { return this.future.length > 0; }

    /** @param joins  the change goes on with the last one, as while a handle is dragged */
    change(act: () => void, joins = false): void {
        if (!joins) {
            this.past.push(this.text);
            this.past.splice(0, this.past.length - MOST_UNDO);
            this.future.length = 0;
        }
        act();
    }

    undo(): void { this.swap(this.past, this.future); }
    redo(): void { this.swap(this.future, this.past); }
    private swap(from: string[], to: string[]): void {
        const text = from.pop();
        if (text !== undefined) {
            to.push(this.text);
            this.xml = SceneDocument.parse(text);
        }
    }

    // ---- finding

    body(name: string): Element | undefined { return name === "world" ? this.section("worldbody") : [...this.xml.querySelectorAll("body")].find((e) => e.getAttribute("name") === name); }
    geom(name: string): Element | undefined { return [...this.xml.querySelectorAll("geom")].find((e) => e.getAttribute("name") === name); }
    joint(body: string): Element | undefined { return [...(this.body(body)?.children ?? [])].find((e) => e.tagName === "joint" || e.tagName === "freejoint"); }
    geomsOf(body: string): Element[] { return [...(this.body(body)?.children ?? [])].filter((e) => e.tagName === "geom"); }
    private actuatorsOf(joint: string): Element[] { return [...(this.xml.querySelector("actuator")?.children ?? [])].filter((e) => e.getAttribute("joint") === joint); }

    private section(name: string): Element {
        return [...this.xml.documentElement.children].find((e) => e.tagName === name) ?? this.xml.documentElement.appendChild(this.xml.createElement(name));
    }
    private element(tag: string, attributes: Record<string, string>): Element {
        const e = this.xml.createElement(tag);
        Object.entries(attributes).forEach(([name, value]) => e.setAttribute(name, value));
        return e;
    }
    private free(base: string): string {
        const taken = new Set([...this.xml.querySelectorAll("[name]")].map((e) => e.getAttribute("name")));
        for (let i = 1; ; i++) {
            if (!taken.has(`${base}${i}`)) {
                return `${base}${i}`;
            }
        }
    }

    // ---- parts

    /** A body with one shape, loose or fixed to the world. @return its name */
    add(part: Part, X: THREE.Matrix4, size: number[], options: { isFixed?: boolean; color?: string; mesh?: string } = {}): string {
        const name = this.free(part), body = this.element("body", { name });
        setPose(body, X);
        options.isFixed || body.append(this.element("freejoint", { name }));
        body.append(this.element("geom", { name: `${name}_shape`, type: part, ...(part === "mesh" ? { mesh: options.mesh ?? "" } : { size: numbers(size) }), density: "500", friction: "0.8",
            ...(options.color ? { rgba: options.color } : {}) }));
        this.section("worldbody").append(body);
        if (!options.isFixed) { // keyframes know of it, too: it comes last
            const [w, x, y, z] = read(body, "quat", [1, 0, 0, 0]);
            this.xml.querySelectorAll("keyframe key[qpos]").forEach((key) => key.setAttribute("qpos", `${key.getAttribute("qpos")} ${numbers([...read(body, "pos", [0, 0, 0]), w, x, y, z])}`));
            this.xml.querySelectorAll("keyframe key[qvel]").forEach((key) => key.setAttribute("qvel", `${key.getAttribute("qvel")} 0 0 0 0 0 0`));
        }
        return name;
    }

    /** The mesh of a file that lies beside the scene. @return its name */
    addMesh(file: string): string {
        const name = this.free("mesh_");
        this.section("asset").append(this.element("mesh", { name, file }));
        return name;
    }

    addShape(body: string, part: Part, size: number[]): void {
        this.body(body)?.append(this.element("geom", { name: this.free(`${body}_${part}`), type: part, size: numbers(size), density: "500", friction: "0.8" }));
    }

    remove(name: string): void {
        const e = this.body(name);
        const gone = new Set([...(e?.querySelectorAll("[name]") ?? []), ...(e ? [e] : [])].map((x) => x.getAttribute("name")));
        e?.remove();
        ["actuator", "sensor", "contact", "equality", "tendon"].forEach((section) => [...(this.xml.querySelector(section)?.children ?? [])].forEach((x) => {
            const words = [...x.attributes, ...[...x.children].flatMap((c) => [...c.attributes])].filter((a) => a.name !== "name");
            words.some((a) => gone.has(a.value)) && x.remove();
        }));
        this.xml.querySelectorAll("keyframe key").forEach((key) => key.remove()); // they count coordinates that are gone
    }

    /** A copy beside it, with all that hangs on it. */
    duplicate(name: string, shift: number[]): string | undefined {
        const e = this.body(name), copy = e?.cloneNode(true) as Element | undefined;
        if (!e || !copy) {
            return undefined;
        }
        const names = new Map<string, string>();
        [copy, ...copy.querySelectorAll("[name]")].forEach((x) => {
            const old = x.getAttribute("name");
            if (old) {
                names.has(old) || names.set(old, this.free(`${old.replace(/\d+$/, "")}`.replace(/_?$/, "_")));
                x.setAttribute("name", names.get(old)!);
            }
        });
        e.after(copy);
        const p = read(copy, "pos", [0, 0, 0]);
        copy.setAttribute("pos", numbers(p.map((x, k) => x + shift[k])));
        this.xml.querySelectorAll("keyframe key").forEach((key) => key.remove());
        [...(this.xml.querySelector("actuator")?.children ?? [])].forEach((a) => {
            const joint = names.get(a.getAttribute("joint") ?? "");
            if (joint) {
                const own = a.cloneNode() as Element;
                own.setAttribute("joint", joint);
                own.setAttribute("name", this.free(`${joint}_motor`));
                a.after(own);
            }
        });
        return copy.getAttribute("name") ?? undefined;
    }

    /** A body where it shall be seen now, whatever its joint's position: its place in its parent is made so. */
    moveBody(d: Description, f: Frame, body: number, to: THREE.Matrix4): void {
        const b = d.bodies[body], e = this.body(b.name), parent = matrixOf(f.poses, 7 * b.parent), now = matrixOf(f.poses, 7 * body);
        if (!e) {
            return;
        }
        const own = poseOf(e), moved = b.joint?.type === "free" ? new THREE.Matrix4() : own.clone().invert().multiply(parent.clone().invert()).multiply(now);
        setPose(e, parent.clone().invert().multiply(to).multiply(moved.invert()));
    }

    moveShape(name: string, inBody: THREE.Matrix4): void {
        const e = this.geom(name);
        e && setPose(e, inBody);
    }

    /** Another parent, in the place of now. */
    reparent(d: Description, f: Frame, body: number, parent: number): void {
        const e = this.body(d.bodies[body].name), to = this.body(parent === 0 ? "world" : d.bodies[parent].name);
        if (e && to && !e.contains(to)) {
            setPose(e, matrixOf(f.poses, 7 * parent).invert().multiply(matrixOf(f.poses, 7 * body)));
            to.append(e);
        }
    }

    // ---- joints

    setJoint(body: string, type: JointType, anchor: number[], axis: number[]): void {
        const e = this.body(body), old = this.joint(body), name = old?.getAttribute("name") ?? body;
        if (!e) {
            return;
        }
        if (type !== "hinge" && type !== "slide") {
            this.setMotor(body, "none");
        }
        old?.remove();
        if (type === "free") {
            this.section("worldbody").append(e);
            e.prepend(this.element("freejoint", { name }));
        } else if (type !== "fixed") {
            e.prepend(this.element("joint", { name, type, pos: numbers(anchor), ...(type === "ball" ? {} : { axis: numbers(axis) }), damping: "0.02" }));
        }
        this.xml.querySelectorAll("keyframe key").forEach((key) => key.remove());
    }

    setMotor(body: string, motor: Motor, gain = 20): void {
        const joint = this.joint(body)?.getAttribute("name") ?? body;
        this.actuatorsOf(joint).forEach((a) => a.remove());
        if (motor !== "none") {
            const gains: Record<string, string> = motor === "position" ? { kp: number(gain), kv: number(gain / 10) } : motor === "velocity" ? { kv: number(gain) } : {};
            this.section("actuator").append(this.element(motor, { name: `${joint}_motor`, joint, ...gains }));
        }
    }
    motorOf(body: string): Motor {
        const a = this.actuatorsOf(this.joint(body)?.getAttribute("name") ?? body)[0];
        return !a ? "none" : a.tagName === "position" || a.tagName === "velocity" ? a.tagName : "motor";
    }

    /** A spring between the middles of two bodies, slack at their distance of now. */
    addSpring(a: string, b: string, stiffness = 200): void {
        const ends = [a, b].map((name) => {
            const site = this.free(`${name}_end`);
            this.body(name)?.append(this.element("site", { name: site, pos: "0 0 0" }));
            return this.element("site", { site });
        });
        const spring = this.element("spatial", { name: this.free("spring"), stiffness: number(stiffness), damping: number(stiffness / 50) });
        spring.append(...ends);
        this.section("tendon").append(spring);
    }

    addKeyframe(name: string, frame: Frame, d: Description): void {
        const q = d.bodies.flatMap((b) => {
            const j = b.joint;
            if (!j || j.type !== "free") {
                return j ? [...frame.q.slice(j.q, j.q + j.nq)] : [];
            }
            const p = frame.poses.subarray(7 * d.bodies.indexOf(b), 7 * d.bodies.indexOf(b) + 7);
            return [p[4], p[5], p[6], p[0], p[1], p[2], p[3]];
        });
        this.section("keyframe").append(this.element("key", { name, qpos: numbers(q), ...(frame.control.length ? { ctrl: numbers(frame.control) } : {}) }));
    }

    /** Scripts and their numbers, in the scene's <karakuri>. */
    setScripts(scripts: ScriptFile[], parameters: Parameter[]): void {
        const own = this.section("karakuri");
        [...own.children].filter((e) => e.tagName === "script" || e.tagName === "parameter").forEach((e) => e.remove());
        parameters.forEach((p) => own.append(this.element("parameter", { name: p.name, value: number(p.value), lower: number(p.lower), upper: number(p.upper) })));
        scripts.filter((s) => s.text.trim()).forEach((s) => {
            const e = this.element("script", s.name ? { name: s.name } : {});
            e.textContent = s.text;
            own.append(e);
        });
        own.children.length || own.remove();
    }
}
