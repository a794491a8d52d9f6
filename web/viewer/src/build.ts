// The editor: parts from a box, handles to move, turn and size them, joints between them by hand, motors, springs. Every change acts at once, running or not.
import * as THREE from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import type { JointType } from "karakuri-dynamics";
import { button, choice, make, numberField, section } from "./dom.js";
import { isPlain, matrixOf, numbers, read, SceneDocument, type Motor, type Part } from "./document.js";
import { download, filesOfInput } from "./files.js";
import { JointHandles } from "./joint_handles.js";
import type { Loading } from "./loading.js";
import type { Pointer } from "./pointer.js";
import type { ScriptPane } from "./script_pane.js";
import type { WorkerSource } from "./source.js";
import type { Stage } from "./stage.js";
import type { Store } from "./store.js";
import { toast } from "./toasts.js";
import { t, word } from "./words.js";

const PARTS: readonly Part[] = ["box", "sphere", "capsule", "cylinder", "ellipsoid"];
/** sizes as MJCF has them: half lengths, radii */
const SIZE: Record<Part, number[]> = { box: [0.1, 0.1, 0.1], sphere: [0.1], capsule: [0.06, 0.15], cylinder: [0.08, 0.12], ellipsoid: [0.14, 0.1, 0.07], mesh: [] };
const SIZES: Record<string, string[]> = { box: ["x", "y", "z"], ellipsoid: ["x", "y", "z"], sphere: ["radius"], capsule: ["radius", "halfLength"], cylinder: ["radius", "halfLength"] };
const JOINTS: readonly JointType[] = ["free", "fixed", "hinge", "slide", "ball"];
const AXES: Record<string, number[]> = { X: [1, 0, 0], Y: [0, 1, 0], Z: [0, 0, 1] };
type Mode = "translate" | "rotate" | "scale";

export class Build {
    private document: SceneDocument | undefined;
    private readonly gizmo: TransformControls;
    private readonly proxy = new THREE.Object3D();
    private readonly handles: JointHandles;
    private mode: Mode = "translate";
    private placing: Part | undefined;
    private isFixed = false;
    private picking: ((body: number) => void) | undefined;
    private wanted = "";
    private isOpen = false;
    private isDragged = false;
    private applied = 0;
    private busy = false;
    private again = false;
    /** the pane lacks the frame of the new scene */
    private isWaiting = false;

    constructor(private readonly root: HTMLElement, private readonly store: Store, private readonly stage: Stage, private readonly local: WorkerSource, private readonly loading: Loading,
        private readonly scripts: ScriptPane, pointer: Pointer) {
        this.gizmo = new TransformControls(stage.camera, stage.canvas);
        this.gizmo.setSpace("local");
        this.gizmo.setSize(0.8);
        stage.extra.add(this.proxy);
        stage.scene.add(this.gizmo.getHelper());
        this.gizmo.addEventListener("dragging-changed", (e) => this.drag(Boolean(e.value)));
        this.gizmo.addEventListener("objectChange", () => this.moved());
        this.handles = new JointHandles(stage, (change, joins) => this.changeJoint(change, joins));
        pointer.catch = (e) => this.click(e);
        store.on(["selected", "shape", "description", "tool"], () => this.show());
        store.on(["frame"], () => this.follow());
        addEventListener("keydown", (e) => this.key(e));
        root.addEventListener("dragover", (e) => e.preventDefault());
    }

    /** Another model: what was edited is gone. */
    forget(): void {
        this.document = undefined;
        this.isOpen = false;
        this.placing = undefined;
        this.picking = undefined;
        this.show();
    }
    get text(): string | undefined { return this.document?.text; }

    /** The text of the scene that is there. A file that is plain is taken as it is. */
    private async begin(): Promise<SceneDocument> {
        if (this.document) {
            return this.document;
        }
        const file = this.loading.files.get(this.loading.main), own = file ? new TextDecoder().decode(file) : "";
        const text = isPlain(own) && Object.keys(this.loading.options).every((key) => key === "history" || key === "repair") ? own : await this.local.write("mjcf");
        this.document = new SceneDocument(text);
        if (text !== own) {
            this.apply(); // so that everything has the name it has in the text
        }
        return this.document;
    }

    private get chosen() {
        const { description: d, frame: f, selected, shape } = this.store.state;
        return d && f && selected > 0 && d.bodies[selected] && f.poses.length === 7 * d.bodies.length ? { d, f, body: selected, name: d.bodies[selected].name, shape: d.shapes[shape]?.body === selected ? shape : -1 } : undefined;
    }

    // ---- acting

    private async edit(act: (document: SceneDocument) => void, joins = false): Promise<void> {
        const document = await this.begin();
        document.change(() => act(document), joins);
        this.apply();
    }

    /** The text is loaded again; the state goes on. One at a time: what comes meanwhile comes together. */
    private apply(): void {
        if (this.busy) {
            this.again = true;
            return;
        }
        this.busy = true;
        const files = new Map(this.loading.files).set("scene.xml", new TextEncoder().encode(this.document!.text));
        this.loading.files = files;
        this.isOpen = true;
        this.loading.load({ files, main: "scene.xml", options: {}, carry: true });
    }

    /** The engine took it, or refused it. */
    loaded(isRefused: boolean): void {
        if (!this.isOpen || !this.busy) {
            return;
        }
        this.busy = false;
        if (isRefused) {
            this.document?.undo();
            this.again = false;
        } else if (this.again) {
            this.again = false;
            this.apply();
        }
        const d = this.store.state.description, at = this.wanted ? d?.bodies.findIndex((b) => b.name === this.wanted) ?? -1 : -1;
        if (at > 0) {
            this.wanted = "";
            this.store.set({ selected: at, shape: -1 });
        }
        this.show();
    }
    get isEditing(): boolean { return this.isOpen; }

    async undo(): Promise<void> { this.document?.canUndo && (this.document.undo(), this.apply()); }
    async redo(): Promise<void> { this.document?.canRedo && (this.document.redo(), this.apply()); }

    private key(e: KeyboardEvent): void {
        if (this.store.state.tool !== "build" || e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement) {
            return;
        }
        const isCommand = e.ctrlKey || e.metaKey, key = e.key.toLowerCase();
        const act = isCommand && key === "z" ? () => (e.shiftKey ? this.redo() : this.undo()) : isCommand && key === "y" ? () => this.redo() : isCommand && key === "d" ? () => this.duplicate()
            : e.key === "Delete" || e.key === "Backspace" ? () => this.remove() : key === "escape" ? () => this.cancel()
                : key === "g" ? () => this.setMode("translate") : key === "e" ? () => this.setMode("rotate") : key === "s" && !isCommand ? () => this.setMode("scale") : undefined;
        if (act) {
            e.preventDefault();
            void act();
        }
    }

    private cancel(): void {
        this.placing = this.picking = undefined;
        this.show();
    }

    private setMode(mode: Mode): void {
        this.mode = mode;
        this.show();
    }

    // ---- placing

    private click(e: PointerEvent): boolean {
        const hit = this.stage.pick(e.clientX, e.clientY);
        if (this.picking) {
            const pick = this.picking;
            this.picking = undefined;
            pick(hit?.body ?? 0);
            return true;
        }
        if (!this.placing || this.store.state.tool !== "build") {
            return false;
        }
        const ground = this.stage.ray(e.clientX, e.clientY).ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 0, 1), 0), new THREE.Vector3());
        const at = hit?.world ?? ground;
        at && this.place(this.placing, at);
        return true;
    }

    private place(part: Part, at: THREE.Vector3): void {
        const size = SIZE[part], height = part === "capsule" ? size[0] + size[1] : part === "cylinder" ? size[1] : size[size.length - 1];
        const X = new THREE.Matrix4().setPosition(...([at.x, at.y, at.z + height + 0.001].map((x) => Number(x.toFixed(3))) as [number, number, number]));
        this.placing = undefined;
        void this.edit((document) => { this.wanted = document.add(part, X, size, { isFixed: this.isFixed }); });
    }

    private async addMeshes(list: FileList): Promise<void> {
        const files = await filesOfInput(list), name = [...files.keys()].find((path) => /\.(stl|obj|dae|glb|gltf|ply|msh)$/i.test(path));
        if (!name) {
            toast(t("noMesh"), "warning");
            return;
        }
        files.forEach((bytes, path) => this.loading.files.set(path, bytes));
        const target = this.stage.controls.target;
        void this.edit((document) => { this.wanted = document.add("mesh", new THREE.Matrix4().setPosition(target.x, target.y, target.z + 0.3), [], { isFixed: this.isFixed, mesh: document.addMesh(name) }); });
    }

    private remove(): void {
        const c = this.chosen;
        if (c) {
            this.store.set({ selected: -1, shape: -1 });
            void this.edit((document) => document.remove(c.name));
        }
    }

    private duplicate(): void {
        const c = this.chosen;
        c && void this.edit((document) => { this.wanted = document.duplicate(c.name, [0.25, 0, 0]) ?? ""; });
    }

    // ---- handles

    private drag(isDragged: boolean): void {
        this.isDragged = isDragged;
        this.stage.controls.enabled = !isDragged;
        if (isDragged) {
            void this.begin().then((document) => document.change(() => undefined)); // one step back for the whole drag
        } else {
            this.applyHandle();
        }
    }

    private moved(): void {
        if (this.isDragged && performance.now() - this.applied > 120 && !this.busy) {
            this.applied = performance.now();
            this.applyHandle();
        }
    }

    private applyHandle(): void {
        const c = this.chosen;
        if (!c || !this.document) {
            return;
        }
        const to = new THREE.Matrix4().compose(this.proxy.position, this.proxy.quaternion, new THREE.Vector3(1, 1, 1)), { scale } = this.proxy;
        void this.edit((document) => {
            if (this.mode === "scale") {
                const geoms = c.shape >= 0 ? [document.geom(c.d.shapes[c.shape].name ?? "")] : document.geomsOf(c.name);
                geoms.forEach((g) => g && this.scaleGeom(g, scale));
                this.proxy.scale.set(1, 1, 1);
            } else if (c.shape >= 0 && c.d.shapes.filter((s) => s.body === c.body).length > 1) {
                document.moveShape(c.d.shapes[c.shape].name ?? "", matrixOf(c.f.poses, 7 * c.body).invert().multiply(to));
            } else {
                document.moveBody(c.d, c.f, c.body, to);
            }
        }, true);
    }

    private scaleGeom(geom: Element, scale: THREE.Vector3): void {
        const size = read(geom, "size", []), by = size.length === 3 ? scale.toArray() : size.length === 2 ? [Math.max(scale.x, scale.y) === 1 ? Math.min(scale.x, scale.y) : Math.max(scale.x, scale.y), scale.z]
            : [scale.toArray().reduce((a, b) => (Math.abs(b - 1) > Math.abs(a - 1) ? b : a), 1)];
        size.length && geom.setAttribute("size", numbers(size.map((x, k) => Math.max(1e-3, Math.abs(x * by[k])))));
    }

    /** The handle sits where the thing is. */
    private follow(): void {
        if (this.isWaiting && this.chosen) {
            this.isWaiting = false;
            this.show();
            return;
        }
        const c = this.chosen, isOn = this.store.state.tool === "build" && c !== undefined && !this.placing;
        this.gizmo.getHelper().visible = this.gizmo.enabled = isOn;
        isOn ? this.gizmo.object === this.proxy || this.gizmo.attach(this.proxy) : this.gizmo.detach();
        isOn && c && !this.isDragged && this.sit(c);
        this.handles.update(isOn ? c : undefined);
    }

    private sit(c: NonNullable<Build["chosen"]>): void {
        const own = c.shape >= 0 && c.d.shapes.filter((s) => s.body === c.body).length > 1;
        const X = matrixOf(c.f.poses, 7 * c.body);
        own && X.multiply(matrixOf(c.d.shapes[c.shape].placement));
        X.decompose(this.proxy.position, this.proxy.quaternion, new THREE.Vector3());
        this.proxy.scale.set(1, 1, 1);
    }

    private changeJoint(change: { anchor?: number[]; axis?: number[]; range?: [number, number] }, joins: boolean): void {
        const c = this.chosen;
        c && void this.edit((document) => {
            const joint = document.joint(c.name);
            change.anchor && joint?.setAttribute("pos", numbers(change.anchor));
            change.axis && joint?.setAttribute("axis", numbers(change.axis));
            change.range && joint?.setAttribute("range", numbers(change.range));
            change.range && joint?.setAttribute("limited", "true");
        }, joins);
    }

    // ---- the pane

    show(): void {
        const isOn = this.store.state.tool === "build";
        this.gizmo.setMode(this.mode);
        this.follow();
        if (!isOn || this.root.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && this.isDragged) {
            return;
        }
        this.isWaiting = this.store.state.selected > 0 && !this.chosen;
        const c = this.chosen, focus = (document.activeElement as HTMLElement | null)?.getAttribute("aria-label");
        const parts = PARTS.map((part) => {
            const own = button(part, () => { this.placing = this.placing === part ? undefined : part; this.show(); }, { "data-part": part });
            own.classList.toggle("on", this.placing === part);
            return own;
        });
        const file = make("input", { type: "file", multiple: true, hidden: true, accept: ".stl,.obj,.dae,.glb,.gltf,.ply,.msh" });
        file.onchange = () => file.files && void this.addMeshes(file.files);
        const fixed = make("input", { type: "checkbox" });
        fixed.checked = this.isFixed;
        fixed.onchange = () => { this.isFixed = fixed.checked; };
        const undo = button("undo", () => void this.undo(), { "data-act": "undo" }), redo = button("redo", () => void this.redo(), { "data-act": "redo" });
        undo.disabled = !this.document?.canUndo;
        redo.disabled = !this.document?.canRedo;
        this.root.replaceChildren(
            section(t("parts"), make("div", { class: "palette" }, ...parts, button("mesh", () => file.click())), file, make("label", { class: "tick" }, fixed, t("obstacle")),
                make("p", {}, this.placing ? t("placeHint") : this.picking ? t("pickHint") : c ? "" : t("buildHint"))),
            make("div", { class: "row" }, undo, redo, button("duplicate", () => this.duplicate(), { "data-act": "duplicate" }), button("delete", () => this.remove(), { "data-act": "delete" })),
            ...(c ? this.ofBody(c) : []),
            section(t("file"), make("div", { class: "row" }, button("saveMjcf", () => void this.save("mjcf"), { "data-act": "mjcf" }), button("saveUrdf", () => void this.save("urdf"), { "data-act": "urdf" }))));
        focus && this.root.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focus)}"]`)?.focus();
    }

    private ofBody(c: NonNullable<Build["chosen"]>): HTMLElement[] {
        const modes = (["translate", "rotate", "scale"] as const).map((mode) => {
            const own = button(mode, () => this.setMode(mode), { "data-mode": mode });
            own.classList.toggle("strong", this.mode === mode);
            return own;
        });
        return [section(c.name, make("div", { class: "row" }, ...modes), this.triple(t("place"), c.f.poses.subarray(7 * c.body + 4, 7 * c.body + 7), "m", (p) => this.moveTo(c, p)), ...this.shapeFields(c)), this.jointSection(c)];
    }

    private triple(label: string, values: ArrayLike<number>, unit: string, change: (values: number[]) => void): HTMLElement {
        const own = Array.from(values), names = ["x", "y", "z"];
        const inputs = own.map((x, k) => {
            const input = make("input", { type: "number", step: "0.01", value: String(Number(x.toFixed(4))), "aria-label": `${label} ${names[k]} ${unit}` });
            input.onchange = () => { if (Number.isFinite(input.valueAsNumber)) { own[k] = input.valueAsNumber; change(own); } };
            return input;
        });
        return make("div", { class: "triple" }, make("span", {}, label), ...inputs);
    }

    private moveTo(c: NonNullable<Build["chosen"]>, p: number[]): void {
        const X = matrixOf(c.f.poses, 7 * c.body).setPosition(p[0], p[1], p[2]);
        void this.edit((document) => document.moveBody(c.d, c.f, c.body, X));
    }

    private shapeFields(c: NonNullable<Build["chosen"]>): HTMLElement[] {
        const shape = c.shape >= 0 ? c.d.shapes[c.shape] : c.d.shapes.find((s) => s.body === c.body), name = shape?.name ?? "";
        const geom = this.document?.geom(name), set = (attribute: string, value: string) => void this.edit((document) => document.geom(name)?.setAttribute(attribute, value));
        if (!shape) {
            return [];
        }
        const size = geom ? read(geom, "size", []) : shape.size.map((x) => x / 2), names = SIZES[shape.type] ?? [];
        const color = make("input", { type: "color", value: `#${(shape.color ?? [0.7, 0.7, 0.7]).slice(0, 3).map((x) => Math.round(255 * x).toString(16).padStart(2, "0")).join("")}`, "aria-label": t("color") });
        color.onchange = () => set("rgba", `${[1, 3, 5].map((at) => (parseInt(color.value.slice(at, at + 2), 16) / 255).toFixed(3)).join(" ")} 1`);
        return [...names.map((label, k) => numberField(label.length > 1 ? t(label as "radius") : `${t("half")} ${label}`, size[k] ?? 0, (x) => {
            const next = [...size];
            next[k] = Math.max(1e-4, x);
            set("size", numbers(next.slice(0, names.length)));
        }, "0.01", "m")),
        numberField(t("density"), geom ? Number(geom.getAttribute("density") ?? 1000) : 1000, (x) => set("density", String(Math.max(0.01, x))), "10", "kg/m³"),
        numberField(t("friction"), c.d.materials[shape.material]?.friction ?? 0.8, (x) => set("friction", `${Math.max(0, x)} 0 0`), "0.05"),
        make("label", { class: "field" }, make("span", {}, t("color")), color)];
    }

    private jointSection(c: NonNullable<Build["chosen"]>): HTMLElement {
        const joint = c.d.bodies[c.body].joint, type = joint?.type ?? "fixed", own = this.document?.joint(c.name);
        const axis = own ? read(own, "axis", [0, 0, 1]) : joint?.axis ?? [0, 0, 1], anchor = own ? read(own, "pos", [0, 0, 0]) : [0, 0, 0];
        const set = (name: string, value: string) => void this.edit((document) => document.joint(c.name)?.setAttribute(name, value));
        const kinds = JOINTS.includes(type) ? JOINTS : [...JOINTS, type];
        const rows: HTMLElement[] = [
            choice(t("hangsOn"), String(c.d.bodies[c.body].parent), c.d.bodies.map((b, i) => [String(i), i === 0 ? t("world") : b.name] as const).filter(([i]) => Number(i) !== c.body),
                (i) => void this.edit((document) => this.attach(document, c, Number(i)))),
            make("div", { class: "row" }, button("pickParent", () => { this.picking = (body) => { body !== c.body && void this.edit((document) => this.attach(document, c, body)); }; this.show(); }, { "data-act": "parent" }),
                button("spring", () => { this.picking = (body) => { body !== c.body && void this.edit((document) => document.addSpring(c.name, body === 0 ? "world" : c.d.bodies[body].name)); }; this.show(); })),
            choice(t("joint"), type, kinds.map((k) => [k, word(k)] as const), (k) => void this.edit((document) => document.setJoint(c.name, k, this.hingePlace(c), axis))),
        ];
        if (type === "hinge" || type === "slide") {
            const isHinge = type === "hinge", dof = joint!.dofs[0], unit = isHinge ? "rad" : "m";
            rows.push(make("div", { class: "row" }, make("span", {}, t("axis")), ...Object.entries(AXES).map(([name, a]) => {
                const b = make("button", { type: "button", "data-axis": name, click: () => set("axis", numbers(a)) }, name);
                b.classList.toggle("strong", a.every((x, k) => Math.abs(Math.abs(x) - Math.abs(axis[k])) < 1e-6));
                return b;
            })),
            this.triple(t("anchor"), anchor, "m", (p) => set("pos", numbers(p))),
            numberField(t("lower"), dof.lower ?? (isHinge ? -Math.PI : -1), (x) => void this.edit((document) => this.limit(document, c.name, x, dof.upper ?? (isHinge ? Math.PI : 1))), "0.05", unit),
            numberField(t("upper"), dof.upper ?? (isHinge ? Math.PI : 1), (x) => void this.edit((document) => this.limit(document, c.name, dof.lower ?? (isHinge ? -Math.PI : -1), x)), "0.05", unit),
            numberField(t("stiffness"), dof.stiffness, (x) => set("stiffness", String(Math.max(0, x))), "1"), numberField(t("damping"), dof.damping, (x) => set("damping", String(Math.max(0, x))), "0.01"),
            choice<Motor>(t("motor"), this.document?.motorOf(c.name) ?? "none", (["none", "position", "velocity", "motor"] as const).map((m) => [m, t(m === "none" ? "nothing" : m === "motor" ? "torqueMotor" : m === "position" ? "servo" : "speedMotor")] as const),
                (m) => void this.edit((document) => document.setMotor(c.name, m))));
        }
        return section(t("joint"), ...rows);
    }

    /** Where a joint is put first: at the end of the body that is nearest to its parent. */
    private hingePlace(c: NonNullable<Build["chosen"]>): number[] {
        const box = this.stage.bounds(c.body), X = matrixOf(c.f.poses, 7 * c.body).invert();
        const top = new THREE.Vector3((box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2, box.max.z);
        return top.applyMatrix4(X).toArray().map((x) => Number(x.toFixed(4)));
    }

    private attach(document: SceneDocument, c: NonNullable<Build["chosen"]>, parent: number): void {
        document.reparent(c.d, c.f, c.body, parent);
        if (c.d.bodies[c.body].joint?.type === "free") { // a loose thing hangs on a hinge
            document.setJoint(c.name, "hinge", this.hingePlace(c), [0, 1, 0]);
            document.reparent(c.d, c.f, c.body, parent);
        }
    }

    private limit(document: SceneDocument, name: string, lower: number, upper: number): void {
        const joint = document.joint(name);
        joint?.setAttribute("range", numbers([Math.min(lower, upper), Math.max(lower, upper)]));
        joint?.setAttribute("limited", "true");
    }

    /** One file with everything: shapes, joints, motors, scripts and their numbers. */
    async save(format: "mjcf" | "urdf"): Promise<void> {
        const document = await this.begin(), { scripts, parameters } = this.scripts.saved();
        document.change(() => document.setScripts(scripts, parameters), true);
        let { text } = document;
        if (format === "urdf") {
            this.apply();
            text = await this.local.write("urdf");
        }
        download(`${this.store.state.description?.name || "scene"}.${format === "urdf" ? "urdf" : "xml"}`, text);
        toast(t("saved"));
    }

    /** A keyframe of the pose of now. */
    keyframe(): void {
        const { description: d, frame: f } = this.store.state;
        d && f && void this.edit((document) => document.addKeyframe(`pose${d.keyframes.length + 1}`, f, d));
    }

    /** Servos for every joint that has none, with their targets where the joints are. */
    async hold(): Promise<void> {
        const { description: d, frame: f } = this.store.state;
        if (!d || !f) {
            return;
        }
        const has = new Set(d.actuators.map((a) => a.joint));
        const bare = d.bodies.flatMap((b, i) => (b.joint && (b.joint.type === "hinge" || b.joint.type === "slide") && !has.has(i) ? [{ b, i }] : []));
        const gain = 40 * Math.max(0.1, d.mass);
        bare.length && await this.edit((document) => bare.forEach(({ b }) => document.setMotor(b.name, "position", gain)));
    }
}
