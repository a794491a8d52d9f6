// What is selected: its numbers as they are, how it is drawn, its joint by hand while paused.
import type { Command, Description, Frame } from "karakuri-dynamics";
import { CONTACT_NUMBERS } from "karakuri-dynamics";
import { button, choice, make, section, si } from "./dom.js";
import type { Stage, Style } from "./stage.js";
import { sideOf } from "./overlays.js";
import type { Store } from "./store.js";
import { t, word } from "./words.js";

const STYLES: readonly Style[] = ["solid", "glass", "wire", "hidden"];

/** A body and all that hangs on it. */
export function subtree(d: Description, body: number): number[] {
    const isIn = d.bodies.map((_, i) => i === body);
    d.bodies.forEach((b, i) => { isIn[i] ||= i > 0 && isIn[b.parent]; }); // parents come first
    return isIn.flatMap((x, i) => (x ? [i] : []));
}

export class Inspector {
    private values: HTMLElement | undefined;
    private sliders: { input: HTMLInputElement; text: HTMLElement; q: number }[] = [];
    private held = false;

    constructor(private readonly root: HTMLElement, private readonly store: Store, private readonly stage: Stage, private readonly send: (command: Command | Command[]) => void,
        private readonly restyle: () => void) {
        addEventListener("pointerup", () => { this.held = false; });
    }

    show(): void {
        const { description: d, selected } = this.store.state;
        this.root.replaceChildren();
        this.sliders = [];
        this.values = undefined;
        if (!d || selected < 1 || selected >= d.bodies.length) {
            this.root.append(make("p", {}, t("selectHint")), ...(d ? [this.joints(d, d.bodies.flatMap((b, i) => (i > 0 && b.joint?.nv === 1 ? [i] : [])).slice(0, 80))] : []), this.states(d));
            return;
        }
        const b = d.bodies[selected];
        this.values = make("dl", { class: "values" });
        const all = subtree(d, selected);
        this.root.append(section(b.name, this.values),
            section(t("look"), choice(t("drawnAs"), this.stage.styleOf(selected), STYLES.map((s) => [s, t(s)] as const), (s) => { this.stage.setStyle([selected], s); this.restyle(); }),
                make("div", { class: "row" }, button("isolate", () => { this.stage.isolate(all); this.restyle(); }), button("hideAll", () => { this.stage.setStyle(all, "hidden"); this.restyle(); }),
                    button("showAll", () => { this.stage.setStyle(d.bodies.map((_, i) => i), "solid"); this.restyle(); }))));
        b.joint && b.joint.nv === 1 && this.root.append(this.joints(d, [selected]));
        this.root.append(make("div", { class: "row" }, button("lookAt", () => this.stage.frameAll(undefined, selected)), button("followIt", () => { this.stage.follow = selected; }),
            button("unselect", () => this.store.set({ selected: -1, shape: -1 }))), this.states(d));
        this.store.state.frame && this.update(this.store.state.frame);
    }

    /** Joints by hand: the pose is set, time stands. */
    private joints(d: Description, bodies: number[]): HTMLElement {
        const rows = bodies.map((i) => {
            const j = d.bodies[i].joint!, dof = j.dofs[0], reach = j.type === "slide" ? 1 : Math.PI;
            const input = make("input", { type: "range", min: String(dof.lower ?? -reach), max: String(dof.upper ?? reach), step: "any", "aria-label": j.name });
            const text = make("em", {});
            input.onpointerdown = () => { this.held = true; };
            input.oninput = () => this.pose(j.q, input.valueAsNumber);
            this.sliders.push({ input, text, q: j.q });
            return make("label", { class: "field" }, make("span", { title: j.name }, j.name), input, text);
        });
        return rows.length ? section(t("poseByHand"), ...rows) : make("div");
    }

    private pose(at: number, value: number): void {
        const f = this.store.state.frame;
        if (f) {
            const q = [...f.q];
            q[at] = value;
            this.send([{ do: "pause" }, { do: "pose", q }]);
        }
    }

    private states(d: Description | undefined): HTMLElement {
        const keys = (d?.keyframes ?? []).map((k, i) => make("button", { type: "button", click: () => this.send({ do: "reset", keyframe: i }) }, k.name || `${t("keyframe")} ${i + 1}`));
        return section(t("states"), make("div", { class: "row" }, ...keys, button("keep", () => this.send({ do: "save", slot: 0 })), button("backTo", () => this.send({ do: "restore", slot: 0 }))),
            make("div", { class: "row" }, button("copyState", () => this.copy()), button("holdPose", () => this.hold())));
    }

    private copy(): void {
        const f = this.store.state.frame;
        f && void navigator.clipboard?.writeText(JSON.stringify({ do: "pose", q: [...f.q], v: [...f.v], time: f.time }));
    }

    /** Targets where the joints are. Where there are no servos the editor makes them. */
    hold: () => void = () => undefined;

    update(f: Frame): void {
        const { description: d, selected } = this.store.state;
        if (d && f.poses.length !== 7 * d.bodies.length) {
            return; // of the scene of before
        }
        if (!this.held) {
            this.sliders.forEach(({ input, text, q }) => {
                input.value = String(f.q[q]);
                text.textContent = si(f.q[q]);
            });
        }
        if (!d || !this.values || selected < 1 || this.root.hidden) {
            return;
        }
        const b = d.bodies[selected], j = b.joint, p = f.poses.subarray(7 * selected, 7 * selected + 7);
        const rows: [string, string][] = [[t("mass"), si(b.mass, "kg")], [t("place"), [p[4], p[5], p[6]].map((x) => x.toFixed(3)).join("  ")]];
        if (j && j.nv === 1) {
            const unit = j.type === "slide" ? "m" : "rad", torque = j.type === "slide" ? "N" : "N m";
            rows.push([j.name, word(j.type)], [word("q"), `${f.q[j.q].toFixed(3)} ${unit}`], [word("velocity"), si(f.v[j.v], `${unit}/s`)], [word("torque"), si(f.torque[j.v], torque)]);
        }
        if (j && f.wrenches.length) {
            rows.push([word("joint force"), si(Math.hypot(...f.wrenches.subarray(6 * selected + 3, 6 * selected + 6)), "N")], [word("joint moment"), si(Math.hypot(...f.wrenches.subarray(6 * selected, 6 * selected + 3)), "N m")]);
        }
        this.values.replaceChildren(...[...rows, ...this.contacts(d, f, selected)].flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    }

    private contacts(d: Description, f: Frame, body: number): [string, string][] {
        const with_ = new Map<number, [number, number]>();
        for (let i = 0; i < f.contactCount; i++) {
            const at = CONTACT_NUMBERS * i, [a, b] = [f.contacts[at + 11], f.contacts[at + 12]];
            if (a === body || b === body) {
                const other = a === body ? b : a, [count, newtons] = with_.get(other) ?? [0, 0];
                with_.set(other, [count + 1, newtons + Math.abs(sideOf(d, f, i)) * Math.hypot(f.contacts[at + 6], f.contacts[at + 7], f.contacts[at + 8])]);
            }
        }
        return [...with_].map(([other, [count, newtons]]) => [`${t("touches")} ${other === 0 ? t("world") : d.bodies[other].name}`, `${si(newtons, "N")} (${count})`]);
    }
}
