// What is drawn over the bodies, and from where.
import type { Description } from "karakuri-dynamics";
import { button, choice, section, tick } from "./dom.js";
import { LAYERS } from "./overlays.js";
import { PRESETS, type Preset, type Stage, type View } from "./stage.js";
import { t } from "./words.js";

const VIEWS: readonly View[] = ["visual", "collision", "inertia"];

export function fillShow(pane: HTMLElement, stage: Stage, d: Description | undefined, extra: { save?: () => void; ghost: { on: boolean; change(on: boolean): void } }): void {
    const redraw = () => stage.frame && stage.overlays.update(stage.frame);
    const presets = (Object.keys(PRESETS) as Preset[]).map((name) => button(name, () => { stage.view = undefined; stage.frameAll(PRESETS[name]); }));
    const cameras = (d?.frames ?? []).filter((f) => /camera|cam\b|eye/i.test(f.name));
    const row = document.createElement("div");
    row.className = "row";
    row.append(...presets);
    pane.replaceChildren(
        section(t("signs"), ...LAYERS.map((layer) => tick(t(layer), stage.overlays.on[layer], (on) => { stage.overlays.on[layer] = on; redraw(); }))),
        section(t("bodies"), choice(t("drawnAs"), stage.viewOf, VIEWS.map((v) => [v, t(v === "collision" ? "collisionView" : v === "inertia" ? "inertiaView" : "visualView")] as const), (v) => { stage.viewOf = v; stage.applyStyles(); redraw(); }),
            tick(t("ghost"), extra.ghost.on, (on) => extra.ghost.change(on))),
        section(t("camera"), row, tick(t("follow"), stage.follow >= 0, (on) => { stage.follow = on ? Math.max(0, stage.selected) : -1; }),
            ...(cameras.length ? [choice(t("modelCamera"), "", [["", "–"], ...cameras.map((c) => [c.name, c.name] as const)], (name) => { stage.through = d!.frames.find((f) => f.name === name); })] : [])));
    extra.save && pane.append(button("save", extra.save));
}
