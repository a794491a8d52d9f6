// The scene as a tree: bodies with their joints, and under each the signals that can be plotted. A word narrows it.
import type { Body, Description, Frame } from "karakuri-dynamics";
import { make } from "./dom.js";
import type { Signal } from "./plots.js";
import type { Style } from "./stage.js";
import { t, word } from "./words.js";

const DEEPEST = 40; // what lies deeper stands side by side

const angular = (type: string) => type === "hinge" || type === "screw" || type === "universal" || type === "ball";

export function signalsOfBody(b: Body, body: number): Signal[] {
    const at = (label: string, unit: string, read: (f: Frame) => number): Signal => ({ id: `${body} ${label}`, label: `${b.name} ${word(label)}`, unit, read });
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
    const at = (label: string, unit: string, read: (f: Frame) => number): Signal => ({ id: `scene ${label}`, label: word(label), unit, read });
    return [at("kinetic energy", "J", (f) => f.kinetic), at("potential energy", "J", (f) => f.potential), at("energy", "J", (f) => f.kinetic + f.potential),
        at("contacts", "", (f) => f.contactCount), at("residual", "m/s", (f) => f.residual),
        at("power of actuators", "W", (f) => f.torque.reduce((sum, tau, i) => sum + tau * f.v[i], 0)),
        ...["x", "y", "z"].map((axis, k) => at(`center of mass ${axis}`, "m", (f: Frame) => f.com[k])),
        ...["x", "y"].map((axis, k) => at(`ZMP ${axis}`, "m", (f: Frame) => f.zmp[k])),
        ...d.sensors.flatMap((s, i) => Array.from({ length: s.count }, (_, k): Signal => ({
            id: `sensor ${i} ${k}`, label: `${s.name || s.type.replaceAll("_", " ")}${s.count > 1 ? ` ${k}` : ""}`, unit: "", read: (f) => f.sensorData[s.first + k] })))];
}

/** The signal that a name stands for, of whatever model is there. */
export function signalOf(d: Description, id: string): Signal | undefined {
    const body = /^(\d+) /.exec(id);
    return (body ? signalsOfBody(d.bodies[Number(body[1])], Number(body[1])) : signalsOfScene(d)).find((s) => s.id === id);
}

interface Hands {
    select(body: number): void;
    plot(signal: Signal): void;
    isPlotted(id: string): boolean;
    styleOf(body: number): Style;
    /** shows or hides a body with all that hangs on it */
    toggle(body: number): void;
}

export class Tree {
    private readonly rows = new Map<number, HTMLElement>();
    private readonly filter = make("input", { id: "treeFilter", type: "search", "aria-label": "filter" });
    private readonly list = make("div");

    constructor(root: HTMLElement, private readonly hands: Hands) {
        this.list.classList.add("tree");
        root.append(this.filter, this.list);
        this.filter.oninput = () => this.narrow();
        this.list.addEventListener("keydown", (e) => this.key(e));
    }

    private leaf(signal: Signal): HTMLElement {
        const own = signal.label.includes(" ") && /^\d/.test(signal.id) ? word(signal.id.slice(signal.id.indexOf(" ") + 1)) : signal.label;
        const row = make("button", { type: "button", class: "leaf", draggable: "true", "data-signal": signal.id, click: () => this.hands.plot(signal),
            dragstart: (e) => (e as DragEvent).dataTransfer?.setData("text/karakuri-signal", signal.id) }, own);
        row.classList.toggle("plotted", this.hands.isPlotted(signal.id));
        return row;
    }

    private node(title: string, kind: string, open: boolean): { details: HTMLDetailsElement; summary: HTMLElement } {
        const details = make("details");
        const summary = make("summary", {}, title, kind ? make("small", {}, kind) : undefined);
        details.open = open;
        details.append(summary);
        return { details, summary };
    }

    show(d: Description): void {
        this.filter.placeholder = t("filter");
        this.filter.setAttribute("aria-label", t("filter"));
        this.list.replaceChildren();
        this.rows.clear();
        const scene = this.node(d.name || t("scene"), t("wholeScene"), false);
        scene.details.append(...signalsOfScene(d).map((s) => this.leaf(s)));
        this.list.append(scene.details);
        const children = new Map<number, number[]>();
        d.bodies.forEach((b, i) => i > 0 && children.set(b.parent, [...(children.get(b.parent) ?? []), i]));
        const depths = (children.get(0) ?? []).length > 3 ? 1 : 2; // many loose things stay closed
        const add = (parent: HTMLElement, i: number, depth: number): HTMLElement => {
            const b = d.bodies[i];
            const { details, summary } = this.node(b.name, b.joint ? word(b.joint.type) : "", depth < depths);
            summary.addEventListener("click", () => this.hands.select(i));
            this.rows.set(i, summary);
            // signals are made when they are first looked at: a large robot has thousands
            const fill = () => {
                if (details.open && !details.dataset.full) {
                    details.dataset.full = "1";
                    summary.after(...signalsOfBody(b, i).map((s) => this.leaf(s)));
                }
            };
            details.addEventListener("toggle", fill);
            parent.append(details);
            return depth < DEEPEST ? details : parent;
        };
        const waiting = [{ parent: this.list as HTMLElement, i: 0, depth: 0 }];
        for (let next = waiting.pop(); next; next = waiting.pop()) {
            const { i, depth } = next;
            const below = i === 0 ? this.list : add(next.parent, i, depth);
            waiting.push(...(children.get(i) ?? []).map((child) => ({ parent: below, i: child, depth: depth + 1 })).reverse());
        }
        this.narrow();
    }

    private narrow(): void {
        const text = this.filter.value.trim().toLowerCase();
        this.rows.forEach((row) => {
            const isIn = !text || row.textContent!.toLowerCase().includes(text);
            row.hidden = !isIn;
            for (let e = row.parentElement?.parentElement; text && isIn && e instanceof HTMLDetailsElement; e = e.parentElement) {
                e.open = true;
            }
        });
    }

    /** h hides what is selected, arrows go up and down. */
    private key(event: KeyboardEvent): void {
        const all = [...this.list.querySelectorAll<HTMLElement>("summary, .leaf")].filter((e) => e.offsetParent && !e.hidden), at = all.indexOf(event.target as HTMLElement);
        if ((event.key === "ArrowDown" || event.key === "ArrowUp") && at >= 0) {
            event.preventDefault();
            event.stopPropagation();
            all[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
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

    refresh(): void {
        this.list.querySelectorAll<HTMLElement>(".leaf").forEach((row) => row.classList.toggle("plotted", this.hands.isPlotted(row.dataset.signal!)));
        this.rows.forEach((row, i) => row.classList.toggle("dim", this.hands.styleOf(i) === "hidden"));
    }
}
