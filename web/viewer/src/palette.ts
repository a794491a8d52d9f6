// Colors of what a file gives none: the same as those of `karakuri render` (tools/cli/render/cast.c).
import type { Description } from "karakuri-dynamics";

/** Loose things, one color after the other. */
const PROPS: [number, number, number][] = [[0.86, 0.36, 0.28], [0.27, 0.53, 0.77], [0.94, 0.71, 0.26], [0.36, 0.64, 0.49], [0.61, 0.46, 0.72], [0.90, 0.55, 0.33],
    [0.42, 0.69, 0.75], [0.78, 0.43, 0.55]];
const WORLD: [number, number, number] = [0.72, 0.73, 0.74];
const TIP: [number, number, number] = [0.80, 0.27, 0.20], PORCELAIN: [number, number, number] = [0.91, 0.90, 0.87], GRAPHITE: [number, number, number] = [0.33, 0.36, 0.41];

/** sRGB of a body whose shapes have no color. Links of a robot: porcelain and graphite in turn, tips in red. */
export function colorOfBody(d: Description, body: number): [number, number, number] {
    if (body === 0) {
        return WORLD;
    }
    const hasChildren = d.bodies.some((b, i) => i > 0 && b.parent === body);
    if (d.bodies[body].parent === 0 && !hasChildren) {
        return PROPS[body % PROPS.length];
    }
    let depth = 0;
    for (let i = body; i > 0; i = d.bodies[i].parent) {
        depth++;
    }
    return !hasChildren ? TIP : depth % 2 ? PORCELAIN : GRAPHITE;
}

/** Curves of plots: each at least 3 : 1 against both grounds. */
export const CURVES = ["#2f7ed8", "#d9480f", "#2b8a3e", "#9c36b5", "#c92a2a", "#0c8599", "#7048e8", "#a1680a", "#d6336c", "#5c7cfa"];
