// Sliders for everything: targets, gains, limits, masses, friction, gravity, time step, solver. Each acts at once.
import GUI, { type Controller } from "lil-gui";
import type { Command, Description, EditItem, Frame } from "karakuri-dynamics";
import { t } from "./words.js";

type Edit = Extract<Command, { do: "edit" }>;

/** A round range around a value that is not bounded by itself. */
const above = (value: number, least: number) => Math.max(least, 10 ** Math.ceil(Math.log10(Math.max(Math.abs(value), 1e-6) * 3)));

export class Panel {
    private gui: GUI | undefined;
    private readonly edits = new Map<string, Edit>();
    private targets: { controller: Controller; index: number }[] = [];
    private targetValues: Record<string, number> = {};
    private description: Description | undefined;
    private held = false;

    constructor(private readonly root: HTMLElement, private readonly send: (command: Command | Command[]) => void) {
        root.addEventListener("pointerdown", () => { this.held = true; });
        addEventListener("pointerup", () => { this.held = false; });
    }

    /** Everything that was changed, as commands that change it again. */
    parameters(): Command[] { return [...this.edits.values()]; }
    adopt(commands: Command[]): void { commands.forEach((c) => c.do === "edit" && this.edits.set(this.key(c), c)); }

    private key(c: Edit): string { return `${c.item} ${JSON.stringify(c.id ?? 0)} ${c.field}`; }

    private edit(item: EditItem, id: Edit["id"], field: string, value: Edit["value"]): void {
        const command: Edit = { do: "edit", item, field, value, ...(id === undefined ? {} : { id }) };
        this.edits.set(this.key(command), command);
        this.send(command);
    }

    private number(folder: GUI, label: string, value: number, from: number, to: number, change: (value: number) => void, step?: number): Controller {
        const holder = { [label]: value };
        const c = folder.add(holder, label, from, to);
        if (step) {
            c.step(step);
        }
        return c.onChange(change);
    }

    show(d: Description, isNew: boolean): void {
        if (isNew) {
            this.edits.clear();
        }
        const wasOpen = new Map(this.gui?.foldersRecursive().map((f) => [f._title, !f._closed]) ?? []);
        const scroll = this.root.scrollTop;
        this.description = d;
        this.gui?.destroy();
        this.gui = new GUI({ container: this.root, title: t("tuning"), width: 284 });
        this.targetsFolder(d);
        this.gainsFolder(d);
        this.limitsFolder(d);
        this.massesFolder(d);
        this.materialsFolder(d);
        this.worldFolder(d);
        this.solverFolder(d);
        this.gui.foldersRecursive().forEach((f) => {
            const open = wasOpen.get(f._title) ?? (f._title === t("targets") && d.actuators.length <= 12);
            f.open(open);
        });
        this.root.scrollTop = scroll;
        this.root.querySelectorAll<HTMLElement>(".lil-controller, .controller").forEach((row) => { // names for who cannot see them
            const name = row.querySelector(".lil-name, .name")?.textContent ?? "";
            row.querySelectorAll("input, select").forEach((input) => input.setAttribute("aria-label", name));
        });
    }

    private folder(title: string): GUI { return this.gui!.addFolder(title); }
    private actuatorName(d: Description, i: number): string { return d.actuators[i].name || d.actuators[i].target || `${t("actuator")} ${i}`; }

    private targetsFolder(d: Description): void {
        this.targets = [];
        this.targetValues = {};
        if (d.actuators.length === 0) {
            return;
        }
        const folder = this.folder(t("targets"));
        d.actuators.forEach((a, i) => {
            const joint = a.joint >= 0 ? d.bodies[a.joint].joint : undefined;
            const dof = joint?.dofs[a.v - joint.v];
            const isPosition = a.type === "position";
            const reach = isPosition ? (joint?.type === "slide" ? 1 : Math.PI) : above(a.force_upper ?? dof?.effort_limit ?? 10, 1) / (a.gain || 1);
            const from = a.control_lower ?? (isPosition ? dof?.lower : undefined) ?? -reach;
            const to = a.control_upper ?? (isPosition ? dof?.upper : undefined) ?? reach;
            const name = `${i} ${this.actuatorName(d, i)}`;
            this.targetValues[name] = 0;
            const controller = folder.add(this.targetValues, name, from, to).onChange((value: number) => this.send({ do: "control", actuator: i, value }));
            this.targets.push({ controller, index: i });
        });
    }

    private gainsFolder(d: Description): void {
        const servos = d.actuators.map((a, i) => ({ a, i })).filter(({ a }) => a.type === "position" || a.type === "velocity");
        if (servos.length === 0) {
            return;
        }
        const folder = this.folder(t("gains"));
        const first = servos.map(({ a }) => ({ kp: a.gain, kd: -a.bias[2] }));
        this.number(folder, `${t("all")} × kp`, 1, 0, 4, (scale) => {
            servos.forEach(({ a, i }, k) => this.edit("actuator", i, a.type === "position" ? "kp" : "kv", first[k].kp * scale));
        });
        this.number(folder, `${t("all")} × kd`, 1, 0, 4, (scale) => {
            servos.forEach(({ a, i }, k) => a.type === "position" && this.edit("actuator", i, "kd", first[k].kd * scale));
        });
        servos.forEach(({ a, i }) => {
            const name = this.actuatorName(d, i);
            if (a.type === "position") {
                this.number(folder, `kp ${name}`, a.gain, 0, above(a.gain, 1), (v) => this.edit("actuator", i, "kp", v));
                this.number(folder, `kd ${name}`, -a.bias[2], 0, above(a.bias[2], 0.1), (v) => this.edit("actuator", i, "kd", v));
            } else {
                this.number(folder, `kv ${name}`, a.gain, 0, above(a.gain, 1), (v) => this.edit("actuator", i, "kv", v));
            }
        });
    }

    private limitsFolder(d: Description): void {
        const folder = this.folder(t("limits"));
        d.bodies.forEach((b, body) => b.joint?.dofs.forEach((dof, k) => {
            if (dof.lower !== null && dof.upper !== null && b.joint!.type !== "free") {
                const reach = Math.max(Math.PI, Math.abs(dof.lower), Math.abs(dof.upper));
                this.number(folder, `${b.joint!.name} ↓`, dof.lower, -reach, reach, (v) => this.edit("dof", [body, k], "lower", v));
                this.number(folder, `${b.joint!.name} ↑`, dof.upper, -reach, reach, (v) => this.edit("dof", [body, k], "upper", v));
            }
        }));
        d.actuators.forEach((a, i) => {
            if (a.force_upper !== null && a.force_lower !== null) {
                this.number(folder, `F ${this.actuatorName(d, i)}`, a.force_upper, 0, above(a.force_upper, 1), (v) => {
                    this.edit("actuator", i, "force_lower", -v);
                    this.edit("actuator", i, "force_upper", v);
                });
            }
        });
        if (folder.controllers.length === 0) {
            folder.destroy();
        }
    }

    private massesFolder(d: Description): void {
        const folder = this.folder(t("masses"));
        d.bodies.forEach((b, i) => {
            if (i > 0 && b.mass > 0) {
                this.number(folder, `${b.name} kg`, b.mass, b.mass / 20, above(b.mass, 0.01), (v) => this.edit("body", i, "mass", v));
            }
        });
    }

    private materialsFolder(d: Description): void {
        const folder = this.folder(t("friction"));
        d.materials.forEach((m, i) => {
            const name = m.name || (i === 0 ? t("default") : `${t("material")} ${i}`);
            this.number(folder, `μ ${name}`, m.friction, 0, Math.max(2, m.friction), (v) => {
                if (m.static_friction >= 0) {
                    this.edit("material", i, "static_friction", Math.max(v, m.static_friction));
                }
                this.edit("material", i, "friction", v);
            });
            this.number(folder, `e ${name}`, m.restitution, 0, 1, (v) => this.edit("material", i, "restitution", v));
        });
    }

    private worldFolder(d: Description): void {
        const folder = this.folder(t("world"));
        const g = [...d.options.gravity];
        ["x", "y", "z"].forEach((axis, k) => this.number(folder, `${t("gravity")} ${axis}`, g[k], -20, 20, (v) => {
            g[k] = v;
            this.edit("option", undefined, "gravity", [...g]);
        }));
        this.number(folder, t("timestep"), d.options.timestep, 1e-4, 0.05, (v) => this.edit("option", undefined, "timestep", v), 1e-4);
    }

    private solverFolder(d: Description): void {
        const folder = this.folder(t("solver"));
        folder.add({ [t("solver")]: d.step.solver }, t("solver"), ["exact", "openhrp", "springhead", "kuroda"]).onChange((v: string) => this.edit("step", undefined, "solver", v));
        this.number(folder, t("budget"), d.step.effort === "sweeps" ? d.step.iterations : 0, 0, 100, (v) => {
            this.edit("step", undefined, "effort", v > 0 ? "sweeps" : "tolerance");
            this.edit("step", undefined, "iterations", Math.round(v));
        }, 1);
        this.number(folder, `${t("tolerance")} 10^`, Math.log10(d.step.tolerance || 1e-9), -13, -3, (v) => this.edit("step", undefined, "tolerance", 10 ** v), 1);
        folder.add({ [t("explicitServos")]: d.step.explicit_servos }, t("explicitServos")).onChange((v: boolean) => this.edit("step", undefined, "explicit_servos", v));
        folder.add({ [t("integrator")]: d.options.integrator }, t("integrator"), ["midpoint", "rk4"]).onChange((v: string) => this.edit("option", undefined, "integrator", v));
    }

    /** Targets as they are, unless a hand is on a slider. */
    update(frame: Frame): void {
        if (this.held || !this.description) {
            return;
        }
        for (const { controller, index } of this.targets) {
            if (Math.abs((this.targetValues[controller.property] ?? 0) - frame.control[index]) > 1e-6) {
                this.targetValues[controller.property] = frame.control[index];
                controller.updateDisplay();
            }
        }
    }

    isHeld(): boolean { return this.held; }
}
