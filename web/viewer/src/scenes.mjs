// Scenes that are made, not read: of the page's demonstrations, of the benchmark, and of the test of equal bits.

const COLORS = ["0.86 0.3 0.26 1", "0.95 0.68 0.25 1", "0.36 0.62 0.45 1", "0.27 0.5 0.76 1", "0.56 0.42 0.7 1"];

/** Ten boxes, not quite straight, and a ball to throw. */
export function stack() {
    const boxes = Array.from({ length: 10 }, (_, i) => `
    <body name="box${i}" pos="${(0.004 * Math.sin(5 * i)).toFixed(4)} ${(0.004 * Math.cos(3 * i)).toFixed(4)} ${(0.1 + 0.2 * i).toFixed(3)}">
      <freejoint/><geom type="box" size="0.1 0.1 0.1" density="500" rgba="${COLORS[i % 5]}"/>
    </body>`).join("");
    return `<mujoco model="stack"><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 1" friction="0.7"/>${boxes}
    <body name="ball" pos="-1.2 0 0.15"><freejoint/><geom type="sphere" size="0.15" density="2000" rgba="0.3 0.3 0.35 1"/></body>
    </worldbody></mujoco>`;
}

/** A dry arch of wedges: it stands by friction and shape alone, with a weight on its keystone; more than none: so high above it. */
export function arch(count = 25, fall = 0) {
    const inner = 0.9, outer = 1.2, depth = 0.15;
    const top = outer * Math.cos(Math.PI / (2 * count));
    const assets = [], bodies = [];
    for (let i = 0; i < count; i++) {
        const from = (Math.PI * i) / count, to = (Math.PI * (i + 1)) / count, middle = (from + to) / 2, radius = (inner + outer) / 2;
        const center = [radius * Math.cos(middle), radius * Math.sin(middle)];
        const corner = (r, angle, y) => `${(r * Math.cos(angle) - center[0]).toFixed(9)} ${y} ${(r * Math.sin(angle) - center[1]).toFixed(9)}`;
        const points = [-depth, depth].flatMap((y) => [corner(inner, from, y), corner(outer, from, y), corner(outer, to, y), corner(inner, to, y)]);
        assets.push(`<mesh name="stone${i}" vertex="${points.join("  ")}"/>`);
        bodies.push(`<body name="stone${i}" pos="${center[0].toFixed(9)} 0 ${center[1].toFixed(9)}"><freejoint/>
          <geom type="mesh" mesh="stone${i}" density="2000" rgba="${i % 2 ? "0.78 0.72 0.62 1" : "0.7 0.64 0.55 1"}"/></body>`);
    }
    return `<mujoco model="arch"><option timestep="0.002"/><default><geom friction="0.8"/></default>
      <asset>${assets.join("")}</asset><worldbody><geom type="plane" size="0 0 1"/>${bodies.join("")}
      <body name="weight" pos="0 0 ${(top + 0.08 + fall).toFixed(9)}"><freejoint/><geom type="box" size="0.12 0.1 0.08" density="600" rgba="0.86 0.3 0.26 1"/></body></worldbody></mujoco>`;
}
