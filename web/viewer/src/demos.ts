// The demonstrations: models of the repository, and a few scenes made here.
import type { Command, LoadOptions } from "karakuri-dynamics";
import { arch, stack } from "./scenes.mjs";

const FILES = import.meta.glob("../../../models/*/*.{xml,urdf,obj,csv}", { query: "?raw", import: "default" }) as Record<string, () => Promise<string>>;
const encode = (text: string) => new TextEncoder().encode(text);

export interface Demo {
    id: string;
    name: [string, string];
    /** what to do with it */
    about?: [string, string];
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

const prize = (name: string, shape: string, mass: number, moments: [number, number], at: string, material: string) => `
  <link name="${name}"><inertial><mass value="${mass}"/><inertia ixx="${moments[0]}" ixy="0" ixz="0" iyy="${moments[0]}" iyz="0" izz="${moments[1]}"/></inertial>
    <visual><geometry>${shape}</geometry><material name="${material}"/></visual><collision name="${name}"><geometry>${shape}</geometry></collision><karakuri material="wood"/></link>
  <joint name="${name}" type="floating"><parent link="world"/><child link="${name}"/><origin xyz="${at}"/></joint>`;

/** Below the table, so that what falls off it does not fall for ever. */
const GROUND = (() => {
    const box = '<origin xyz="0 0 -0.55"/><geometry><box size="12 12 0.1"/></geometry>';
    return `<visual>${box}<material name="ground"><color rgba="0.62 0.6 0.57 1"/></material></visual><collision name="ground">${box}</collision>`;
})();

/** Rails between the posts of the table, only to be seen. */
const GANTRY = [-0.48, 0.48].map((y) => `<visual><origin xyz="0 ${y} 0.89"/><geometry><box size="1.39 0.035 0.03"/></geometry><material name="frame"/></visual>`).join("");

/** The crane of models/, with two more prizes behind its own. */
async function craneGame(): Promise<{ files: Map<string, Uint8Array>; main: string }> {
    const { files, main } = await repositoryModel("crane", "crane.urdf");
    const more = prize("drum", '<cylinder radius="0.045" length="0.09"/>', 0.2, [2.36e-4, 2.03e-4], "-0.2 0.22 0.045", "blue")
        + prize("gift", '<box size="0.08 0.08 0.08"/>', 0.2, [2.13e-4, 2.13e-4], "0.2 0.22 0.04", "gift");
    files.set(main, encode(new TextDecoder().decode(files.get(main)).replace("</robot>", `${more}\n</robot>`)
        .replace('<collision name="table">', `${GROUND}${GANTRY}<collision name="table">`)));
    return { files, main };
}

/** A floor and light: to build on. */
const EMPTY = `<mujoco model="scene"><compiler angle="radian" inertiafromgeom="auto"/><option timestep="0.002"/>
  <worldbody><geom name="floor" type="plane" size="0 0 1" friction="0.8"/></worldbody></mujoco>`;

export const DEMOS: Demo[] = [
    { id: "stand", name: ["Humanoid stands: push it", "ヒューマノイド: 押してみる"], about: ["pull it with the hand", "手で引いてみてください"], load: async () => ({ ...await repositoryModel("hrp2", "hrp2.xml"), follow: true }) },
    {
        id: "walk", name: ["Humanoid walks", "ヒューマノイド: 歩く"], about: ["a dropped table of joint angles", "関節角の表で歩きます"], load: async () => ({
            ...await repositoryModel("hrp2", "hrp2.xml"), motion: await repositoryTable("hrp2", "walk.csv"), follow: true }),
    },
    { id: "titan8", name: ["Quadruped TITAN-VIII", "四脚 TITAN-VIII"], about: ["four legs, eight servos each side", "8自由度の脚"], load: async () => ({ ...await repositoryModel("titan8", "titan8.xml"), follow: true }) },
    { id: "stack", name: ["Stack of ten boxes", "箱の塔"], about: ["ten boxes and a ball to throw", "箱10個と球"], load: async () => single(stack()) },
    { id: "arch", name: ["Dry stone arch", "石のアーチ"], about: ["no mortar, only friction", "摩擦だけで立つ"], load: async () => single(arch()) },
    { id: "slope", name: ["Boxes on a slope", "斜面の箱"], about: ["some slide, some stay", "滑る箱と止まる箱"], load: () => repositoryModel("boxes_on_slope", "boxes_on_slope.xml") },
    { id: "linkage", name: ["Closed link", "閉リンク"], about: ["a loop of rigid bars", "剛体の閉ループ"], load: () => repositoryModel("closed_link", "closed_link.xml") },
    { id: "chebyshev", name: ["Chebyshev's linkage", "チェビシェフ機構"], about: ["almost a straight line", "ほぼ直線を描く"], load: () => repositoryModel("chebyshev", "chebyshev.xml") },
    { id: "pendulum", name: ["Double pendulum", "二重振り子"], about: ["dry friction in the joints", "関節に乾性摩擦"], load: () => repositoryModel("double_pendulum", "double_pendulum.xml") },
    {
        id: "twelve", name: ["Twelve quadrupeds", "四脚 12台"], about: ["a crowd in real time", "12台を実時間で"], load: async () => {
            const { files, main } = await repositoryModel("titan8", "titan8.xml");
            return { ...single(crowd(new TextDecoder().decode(files.get(main)), 12)), commands: [{ do: "edit", item: "option", field: "timestep", value: 0.002 }] };
        },
    },
    { id: "walker", name: ["Humanoid H6", "ヒューマノイド H6"], about: ["H6 with toes", "つま先のあるH6"], load: async () => ({ ...await repositoryModel("h6", "h6.xml"), follow: true }) },
    { id: "new", name: ["Build something new", "新しく組み立てる"], about: ["an empty floor and a box of parts", "床と部品箱"], load: async () => single(EMPTY) },
    { id: "crane", name: ["Crane game", "クレーンゲーム"], about: ["five tries", "5回勝負"], load: craneGame },
];
