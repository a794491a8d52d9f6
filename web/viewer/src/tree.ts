// The scene as a tree: bodies with their joints, and under each the signals that can be plotted.
import type { Body, Description, Frame } from "karakuri-dynamics";
import type { Signal } from "./plots.js";

const DEEPEST = 40; // what lies deeper stands side by side

const angular = (type: string) => type === "hinge" || type === "screw" || type === "universal" || type === "ball";

export function signalsOfBody(b: Body, body: number): Signal[] {
    const at = (label: string, unit: string, read: (f: Frame) => number): Signal => ({ id: `${body} ${label}`, label: `${b.name} ${label}`, unit, read });
    const list: Signal[] = ["x", "y", "z"].map((axis, k) => at(axis, "m", (f) => f.poses[7 * body + 4 + k]));
    const j = b.joint;
    if (j && j.nv === 1) {
        const unit = angular(j.type) ? "rad" : "m";
        const torque = angular(j.type) ? "N m" : "N";
        list.unshift(at("q", unit, (f) => f.q[j.q]), at("velocity", `${unit}/s`, (f) => f.v[j.v]), at("torque", torque, (f) => f.torque[j.v]),
            at("power", "W", (f) => f.torque[j.v] * f.v[j.v]));
    }
    if (j) {
        list.push(at("joint force", "N", (f) => Math.hypot(f.wrenches[6 * body + 3], f.wrenches[6 * body + 4], f.wrenches[6 * body + 5])),
            at("joint moment", "N m", (f) => Math.hypot(f.wrenches[6 * body], f.wrenches[6 * body + 1], f.wrenches[6 * body + 2])));
    }
    return list;
}

export function signalsOfScene(d: Description): Signal[] {
    const at = (label: string, unit: string, read: (f: Frame) => number): Signal => ({ id: `scene ${label}`, label, unit, read });
    return [at("kinetic energy", "J", (f) => f.kinetic), at("potential energy", "J", (f) => f.potential), at("energy", "J", (f) => f.kinetic + f.potential),
        at("contacts", "", (f) => f.contactCount), at("residual", "m/s", (f) => f.residual),
        at("power of actuators", "W", (f) => f.torque.reduce((sum, tau, i) => sum + tau * f.v[i], 0)),
        ...["x", "y", "z"].map((axis, k) => at(`center of mass ${axis}`, "m", (f: Frame) => f.com[k])),
        ...["x", "y"].map((axis, k) => at(`ZMP ${axis}`, "m", (f: Frame) => f.zmp[k])),
        ...d.sensors.flatMap((s, i) => Array.from({ length: s.count }, (_, k): Signal => ({
            id: `sensor ${i} ${k}`, label: `${s.name || s.type.replaceAll("_", " ")}${s.count > 1 ? ` ${k}` : ""}`, unit: "", read: (f) => f.sensorData[s.first + k] })))];
}

export class Tree {
    private readonly rows = new Map<number, HTMLElement>();
    constructor(private readonly root: HTMLElement, private readonly select: (body: number) => void, private readonly plot: (signal: Signal) => void,
        private readonly isPlotted: (id: string) => boolean) {
        root.classList.add("tree");
    }

    private leaf(signal: Signal): HTMLElement {
        const row = document.createElement("div");
        row.className = "leaf";
        row.dataset.signal = signal.id;
        row.textContent = signal.label.includes(" ") && !signal.id.startsWith("s") ? signal.id.slice(signal.id.indexOf(" ") + 1) : signal.label;
        row.classList.toggle("plotted", this.isPlotted(signal.id));
        row.onclick = () => this.plot(signal);
        return row;
    }

    private node(title: string, open: boolean): { details: HTMLDetailsElement; summary: HTMLElement } {
        const details = document.createElement("details");
        const summary = document.createElement("summary");
        summary.textContent = title;
        details.open = open;
        details.append(summary);
        return { details, summary };
    }

    show(d: Description): void {
        this.root.replaceChildren();
        this.rows.clear();
        const scene = this.node(d.name || "scene", false);
        scene.details.append(...signalsOfScene(d).map((s) => this.leaf(s)));
        this.root.append(scene.details);
        const children = new Map<number, number[]>();
        d.bodies.forEach((b, i) => i > 0 && children.set(b.parent, [...(children.get(b.parent) ?? []), i]));
        const depths = (children.get(0) ?? []).length > 3 ? 1 : 2; // many loose things stay closed
        const add = (parent: HTMLElement, i: number, depth: number): HTMLElement => {
            const b = d.bodies[i];
            const { details, summary } = this.node(b.joint && b.joint.type !== "fixed" ? `${b.name} · ${b.joint.type}` : b.name, depth < depths);
            summary.addEventListener("click", () => this.select(i));
            this.rows.set(i, summary);
            // signals are made when they are first looked at: a large robot has thousands
            details.addEventListener("toggle", () => {
                if (details.open && !details.dataset.full) {
                    details.dataset.full = "1";
                    summary.after(...signalsOfBody(b, i).map((s) => this.leaf(s)));
                }
            });
            parent.append(details);
            return depth < DEEPEST ? details : parent;
        };
        const waiting = [{ parent: this.root, i: 0, depth: 0 }];
        for (let next = waiting.pop(); next; next = waiting.pop()) {
            const { i, depth } = next;
            const below = i === 0 ? this.root : add(next.parent, i, depth);
            waiting.push(...(children.get(i) ?? []).map((child) => ({ parent: below, i: child, depth: depth + 1 })).reverse());
        }
    }

    mark(body: number): void {
        this.rows.forEach((row, i) => row.classList.toggle("on", i === body));
        const row = this.rows.get(body);
        for (let e = row?.parentElement?.parentElement; e instanceof HTMLDetailsElement; e = e.parentElement) {
            e.open = true;
        }
        row?.scrollIntoView({ block: "nearest" });
    }

    refresh(): void { this.root.querySelectorAll<HTMLElement>(".leaf").forEach((row) => row.classList.toggle("plotted", this.isPlotted(row.dataset.signal!))); }
}
