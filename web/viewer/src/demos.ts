// The demonstrations: models of the repository, and a few scenes made here.
import type { Command, LoadOptions } from "karakuri-dynamics";

const FILES = import.meta.glob("../../../models/*/*.{xml,urdf,obj,csv}", { query: "?raw", import: "default" }) as Record<string, () => Promise<string>>;
const encode = (text: string) => new TextEncoder().encode(text);

export interface Demo {
    id: string;
    name: [string, string];
    load(): Promise<{ files: Map<string, Uint8Array>; main: string; options?: LoadOptions; commands?: Command[]; script?: string; motion?: string; follow?: boolean }>;
}

/** A model of models/, with all files of its folder. */
export async function repositoryModel(folder: string, main: string): Promise<{ files: Map<string, Uint8Array>; main: string }> {
    const files = new Map<string, Uint8Array>();
    for (const [path, get] of Object.entries(FILES)) {
        const parts = path.split("/");
        if (parts[parts.length - 2] === folder && (parts[parts.length - 1] === main || path.endsWith(".obj"))) {
            files.set(parts[parts.length - 1], encode(await get()));
        }
    }
    if (!files.has(main)) {
        throw new Error(`the page has no model ${folder}/${main}`);
    }
    return { files, main };
}

/** A table of controls beside a model. */
const repositoryTable = (folder: string, name: string): Promise<string> => FILES[`../../../models/${folder}/${name}`]();

const single = (text: string) => ({ files: new Map([["scene.xml", encode(text)]]), main: "scene.xml" });

const COLOURS = ["0.86 0.3 0.26 1", "0.95 0.68 0.25 1", "0.36 0.62 0.45 1", "0.27 0.5 0.76 1", "0.56 0.42 0.7 1"];

function stack(): string {
    const boxes = Array.from({ length: 10 }, (_, i) => `
    <body name="box${i}" pos="${(0.004 * Math.sin(5 * i)).toFixed(4)} ${(0.004 * Math.cos(3 * i)).toFixed(4)} ${(0.1 + 0.2 * i).toFixed(3)}">
      <freejoint/><geom type="box" size="0.1 0.1 0.1" density="500" rgba="${COLOURS[i % 5]}"/>
    </body>`).join("");
    return `<mujoco model="stack"><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 1" friction="0.7"/>${boxes}
    <body name="ball" pos="-1.2 0 0.15"><freejoint/><geom type="sphere" size="0.15" density="2000" rgba="0.3 0.3 0.35 1"/></body>
    </worldbody></mujoco>`;
}

/** A dry arch of wedges: it stands by friction and shape alone. */
function arch(): string {
    const count = 11, inner = 0.9, outer = 1.2, depth = 0.15;
    const assets: string[] = [], bodies: string[] = [];
    for (let i = 0; i < count; i++) {
        const from = (Math.PI * i) / count, to = (Math.PI * (i + 1)) / count, middle = (from + to) / 2, radius = (inner + outer) / 2;
        const centre = [radius * Math.cos(middle), radius * Math.sin(middle)];
        const corner = (r: number, angle: number, y: number) => `${(r * Math.cos(angle) - centre[0]).toFixed(9)} ${y} ${(r * Math.sin(angle) - centre[1]).toFixed(9)}`;
        const points = [-depth, depth].flatMap((y) => [corner(inner, from, y), corner(outer, from, y), corner(outer, to, y), corner(inner, to, y)]);
        assets.push(`<mesh name="stone${i}" vertex="${points.join("  ")}"/>`);
        bodies.push(`<body name="stone${i}" pos="${centre[0].toFixed(9)} 0 ${centre[1].toFixed(9)}"><freejoint/>
          <geom type="mesh" mesh="stone${i}" density="2000" rgba="${i % 2 ? "0.78 0.72 0.62 1" : "0.7 0.64 0.55 1"}"/></body>`);
    }
    return `<mujoco model="arch"><option timestep="0.002"/><default><geom friction="0.8"/></default>
      <asset>${assets.join("")}</asset><worldbody><geom type="plane" size="0 0 1"/>${bodies.join("")}
      <body name="weight" pos="0 0 1.6"><freejoint/><geom type="box" size="0.12 0.1 0.08" density="600" rgba="0.86 0.3 0.26 1"/></body></worldbody></mujoco>`;
}

/** Copies of a robot side by side: every name gets a number. */
export function crowd(text: string, count: number): string {
    const body = /<worldbody>([\s\S]*?)<\/worldbody>/.exec(text);
    const rename = (part: string, k: number) => part.replace(/\b(name|joint|joint1|joint2|body|body1|body2|site|target|geom1|geom2|actuator|objname|refname|tendon|cranksite|slidersite)="([^"]*)"/g, `$1="$2_${k}"`);
    if (!body) {
        return text;
    }
    const floor = /<geom[^>]*type="plane"[^>]*\/>/.exec(body[1])?.[0] ?? "";
    const robots = body[1].replace(floor, "");
    const moved = (k: number) => rename(robots, k).replace(/<body ([^>]*?)pos="([^"]*)"/, (_, before: string, pos: string) => {
        const [x, y, z] = pos.trim().split(/\s+/).map(Number);
        return `<body ${before}pos="${x + (k % 4) * 1.2 - 1.8} ${y + Math.floor(k / 4) * 1.2 - 1.2} ${z}"`;
    });
    const range = [...Array(count).keys()];
    const repeat = (tag: string) => (_: string, inner: string) => `<${tag}>${range.map((k) => rename(inner, k)).join("")}</${tag}>`;
    return text.replace(body[0], `<worldbody>${floor}${range.map(moved).join("")}</worldbody>`)
        .replace(/<actuator>([\s\S]*?)<\/actuator>/, repeat("actuator")).replace(/<sensor>([\s\S]*?)<\/sensor>/, repeat("sensor"))
        .replace(/<contact>([\s\S]*?)<\/contact>/, repeat("contact")).replace(/<equality>([\s\S]*?)<\/equality>/, repeat("equality"))
        .replace(/<keyframe>([\s\S]*?)<\/keyframe>/, "");
}

export const DEMOS: Demo[] = [
    { id: "stand", name: ["Humanoid stands: push it", "ヒューマノイド: 押してみる"], load: async () => ({ ...await repositoryModel("hrp2", "hrp2.xml"), follow: true }) },
    {
        id: "walk", name: ["Humanoid walks", "ヒューマノイド: 歩く"], load: async () => ({
            ...await repositoryModel("hrp2", "hrp2.xml"), motion: await repositoryTable("hrp2", "walk.csv"), follow: true }),
    },
    { id: "titan8", name: ["Quadruped TITAN-VIII", "四脚 TITAN-VIII"], load: async () => ({ ...await repositoryModel("titan8", "titan8.xml"), follow: true }) },
    { id: "stack", name: ["Stack of ten boxes", "箱の塔"], load: async () => single(stack()) },
    { id: "arch", name: ["Dry stone arch", "石のアーチ"], load: async () => single(arch()) },
    { id: "slope", name: ["Boxes on a slope", "斜面の箱"], load: () => repositoryModel("boxes_on_slope", "boxes_on_slope.xml") },
    { id: "linkage", name: ["Closed link", "閉リンク"], load: () => repositoryModel("closed_link", "closed_link.xml") },
    { id: "chebyshev", name: ["Chebyshev's linkage", "チェビシェフ機構"], load: () => repositoryModel("chebyshev", "chebyshev.xml") },
    { id: "pendulum", name: ["Double pendulum", "二重振り子"], load: () => repositoryModel("double_pendulum", "double_pendulum.xml") },
    {
        id: "twelve", name: ["Twelve quadrupeds", "四脚 12台"], load: async () => {
            const { files, main } = await repositoryModel("titan8", "titan8.xml");
            return { ...single(crowd(new TextDecoder().decode(files.get(main)), 12)), commands: [{ do: "edit", item: "option", field: "timestep", value: 0.002 }] };
        },
    },
    { id: "crane", name: ["Crane game", "クレーンゲーム"], load: () => repositoryModel("crane", "crane.urdf") },
];
