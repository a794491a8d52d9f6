// The engine in node beside MuJoCo's, Rapier's and Jolt's npm packages: the same scene, step and length of time; engines take turns, the
// best of the rounds counts, by CPU time. Beside the time stands what came out: how far the highest body moved that should rest.
//     node web/bench/run.mjs [ROUNDS]
import { readFileSync } from "node:fs";
import { Engine } from "../engine/dist/index.js";

const H = 1 / 120;
const STEPS = 240;
const rounds = Number(process.argv[2] ?? 5);

// ---- scenes: boxes with half edges and places; and robots, for those that have joints

const box = (x, y, z, a = 0.1, b = 0.1, c = 0.1) => ({ at: [x, y, z], half: [a, b, c] });
const stack = Array.from({ length: 10 }, (_, i) => box(0, 0, 0.1 + 0.2 * i));
const wall = Array.from({ length: 8 }, (_, row) => Array.from({ length: 10 - (row % 2) }, (_, i) =>
    box((i - 4.5 + 0.5 * (row % 2)) * 0.401, 0, 0.1 + 0.2 * row, 0.2, 0.1, 0.1))).flat();
const heap = (apart) => Array.from({ length: 64 }, (_, i) =>
    box(apart * (i % 4) + 0.02 * (i % 7), apart * (Math.floor(i / 4) % 4) + 0.02 * (i % 5), 0.2 + 0.25 * Math.floor(i / 16)));
const hrp2 = readFileSync(new URL("../../models/hrp2/hrp2.xml", import.meta.url), "utf8");

const mjcf = (boxes) => `<mujoco><option timestep="${H}"/><worldbody><geom type="plane" size="50 50 1" friction="0.7 0.005 0.0001"/>${boxes.map(({ at, half }, i) =>
    `<body name="b${i}" pos="${at.join(" ")}"><freejoint/><geom type="box" size="${half.join(" ")}" density="500" friction="0.7 0.005 0.0001"/></body>`).join("")}</worldbody></mujoco>`;

// ---- engines: make(scene) gives { step(n), height() }

async function karakuri() {
    const engine = await Engine.create();
    return {
        name: `karakuri ${engine.version}`,
        make(scene) {
            const s = engine.load({ "scene.xml": scene.text ?? mjcf(scene.boxes) }, "scene.xml", { history: 1 });
            const body = scene.boxes ? scene.boxes.length : 1;
            return { step: (n) => s.step(n), place: () => { const p = s.frame().poses; return [p[7 * body + 4], p[7 * body + 5], p[7 * body + 6]]; }, free: () => s.free() };
        },
    };
}

async function mujoco() {
    const m = await (await import("@mujoco/mujoco")).default();
    return {
        name: "MuJoCo 3.14",
        make(scene) {
            const model = m.MjModel.from_xml_string(scene.text ?? mjcf(scene.boxes));
            const data = new m.MjData(model);
            if (scene.text && model.nkey > 0) {
                m.mj_resetDataKeyframe(model, data, 0);
            }
            m.mj_forward(model, data);
            const body = scene.boxes ? scene.boxes.length : 1;
            return { step(n) { for (let i = 0; i < n; i++) { m.mj_step(model, data); } }, place: () => [...data.xpos.subarray(3 * body, 3 * body + 3)], free() { data.delete(); model.delete(); } };
        },
    };
}

async function rapier() {
    const R = (await import("@dimforge/rapier3d-simd-compat")).default;
    await R.init();
    return {
        name: `Rapier ${R.version()}`,
        make(scene) {
            const world = new R.World({ x: 0, y: 0, z: -9.81 });
            world.timestep = H;
            world.createCollider(R.ColliderDesc.cuboid(50, 50, 1).setTranslation(0, 0, -1).setFriction(0.7));
            let last;
            for (const { at, half } of scene.boxes) {
                last = world.createRigidBody(R.RigidBodyDesc.dynamic().setTranslation(...at).setCanSleep(false));
                world.createCollider(R.ColliderDesc.cuboid(...half).setDensity(500).setFriction(0.7), last);
            }
            return { step(n) { for (let i = 0; i < n; i++) { world.step(); } }, place: () => { const p = last.translation(); return [p.x, p.y, p.z]; }, free: () => world.free() };
        },
    };
}

async function jolt() {
    const J = await (await import("jolt-physics/wasm-compat")).default();
    return {
        name: "Jolt 1.1",
        make(scene) {
            const settings = new J.JoltSettings();
            const filter = new J.ObjectLayerPairFilterTable(2);
            filter.EnableCollision(0, 1);
            filter.EnableCollision(1, 1);
            const broad = new J.BroadPhaseLayerInterfaceTable(2, 2);
            broad.MapObjectToBroadPhaseLayer(0, new J.BroadPhaseLayer(0));
            broad.MapObjectToBroadPhaseLayer(1, new J.BroadPhaseLayer(1));
            settings.mObjectLayerPairFilter = filter;
            settings.mBroadPhaseLayerInterface = broad;
            settings.mObjectVsBroadPhaseLayerFilter = new J.ObjectVsBroadPhaseLayerFilterTable(broad, 2, filter, 2);
            const world = new J.JoltInterface(settings);
            const bodies = world.GetPhysicsSystem().GetBodyInterface();
            world.GetPhysicsSystem().SetGravity(new J.Vec3(0, 0, -9.81));
            const add = ([x, y, z], half, motion, layer) => {
                const shape = new J.BoxShape(new J.Vec3(...half), 0.005);
                const def = new J.BodyCreationSettings(shape, new J.RVec3(x, y, z), new J.Quat(0, 0, 0, 1), motion, layer);
                def.mFriction = 0.7;
                def.mAllowSleeping = false;
                if (layer === 1) {
                    def.mOverrideMassProperties = J.EOverrideMassProperties_CalculateInertia;
                    def.mMassPropertiesOverride.mMass = 8 * half[0] * half[1] * half[2] * 500;
                }
                const body = bodies.CreateBody(def);
                bodies.AddBody(body.GetID(), J.EActivation_Activate);
                return body;
            };
            add([0, 0, -1], [50, 50, 1], J.EMotionType_Static, 0);
            let last;
            for (const { at, half } of scene.boxes) {
                last = add(at, half, J.EMotionType_Dynamic, 1);
            }
            return { step(n) { for (let i = 0; i < n; i++) { world.Step(H, 1); } }, place: () => { const p = last.GetPosition(); return [p.GetX(), p.GetY(), p.GetZ()]; }, free: () => J.destroy(world) };
        },
    };
}

const engines = [];
for (const [name, make] of [["karakuri", karakuri], ["@mujoco/mujoco", mujoco], ["@dimforge/rapier3d-simd-compat", rapier], ["jolt-physics", jolt]]) {
    try {
        engines.push(await make());
    } catch (error) {
        console.log(`skipped: ${name}: ${String(error.message).split("\n")[0]} (npm --prefix web/bench ci)`);
    }
}

const scenes = [
    { name: "stack of 10 boxes", boxes: stack },
    { name: "wall of 76 bricks", boxes: wall },
    { name: "64 boxes fall on a heap", boxes: heap(0.325), moves: true }, // from 0.32 on none begins inside another
    { name: "the same, seven pairs begin up to 7 cm inside each other", boxes: heap(0.25), moves: true },
    { name: "humanoid of 36 DoF stands, h = 1 ms", text: hrp2, robots: true },
];

console.log(`| scene (h = 1/120 s, ${STEPS} steps) | engine | µs a step | of ours | moved, mm |\n|---|---|---|---|---|`);
for (const scene of scenes) {
    const entries = engines.filter((e) => !scene.robots || /karakuri|MuJoCo/.test(e.name)).map((e) => ({ e, best: Infinity, moved: 0 }));
    for (let round = 0; round < rounds; round++) {
        for (const entry of entries) {
            try {
                const world = entry.e.make(scene);
                const from = world.place();
                world.step(1);
                const began = process.cpuUsage(); // not the clock, which counts what others compute
                const spent = () => process.cpuUsage(began).user;
                let taken = 0; // all of them, or as many as three seconds allow
                for (; taken < STEPS && spent() < 3e6; taken += 8) {
                    world.step(8);
                }
                entry.best = Math.min(entry.best, spent() / taken);
                const to = world.place();
                entry.moved = 1000 * Math.hypot(...to.map((x, i) => x - from[i]));
                world.free();
            } catch (error) {
                entry.fault = String(error.message ?? error).split("\n")[0];
            }
        }
    }
    for (const { e, best, moved, fault } of entries) {
        console.log(fault ? `| ${scene.name} | ${e.name} | ${fault} | | |`
            : `| ${scene.name} | ${e.name} | ${best.toFixed(1)} | ${(entries[0].fault ? "" : (best / entries[0].best).toFixed(2))} | ${scene.moves ? "" : moved.toFixed(3)} |`);
    }
}
