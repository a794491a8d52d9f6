// The npm package in node: loading, stepping, dynamics, errors. Closed forms, as everywhere.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Engine, EngineError } from "../engine/dist/index.js";

const PENDULUM = `<mujoco><option timestep="0.001"/><worldbody><body name="bob"><joint name="hinge" type="hinge" axis="0 1 0"/>
  <inertial pos="0 0 -0.7" mass="2" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator><sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>`;
const g = 9.81, m = 2, l = 0.7;
const engine = await Engine.create();
let passed = 0;
const running = [];
const test = (name, run) => { running.push(Promise.resolve(run()).then(() => { passed++; console.log(`ok    ${name}`); })); };

test("inverse and forward dynamics of a pendulum are the textbook's", () => {
    const s = engine.load({ "p.xml": PENDULUM }, "p.xml");
    for (let q = -3; q <= 3; q += 0.37) {
        const [v, a] = [1.3, -0.4];
        const [tau] = s.inverseDynamics([q], [v], [a]);
        assert.ok(Math.abs(tau - (m * l * l * a + m * g * l * Math.sin(q))) < 1e-7);
        assert.ok(Math.abs(s.forwardDynamics([q], [v], [tau])[0] - a) < 1e-9);
        assert.ok(Math.abs(s.inertiaMatrix([q])[0] - m * l * l) < 1e-7);
        const [, , , , x, , z] = s.bodyPose([q], 1);
        assert.ok(Math.abs(x) < 1e-15 && Math.abs(z) < 1e-15);
    }
    s.free();
});

test("steps, controls, sensors, frames agree", () => {
    const s = engine.load({ "p.xml": PENDULUM }, "p.xml");
    s.control[0] = 1;
    s.step(500);
    assert.ok(Math.abs(s.time - 0.5) < 1e-12);
    assert.equal(s.sensorData[0], s.q[0]);
    const f = s.frame();
    assert.equal(f.step, 500);
    assert.equal(f.q[0], Math.fround(s.q[0]));
    assert.equal(f.hash, s.hash);
    assert.ok(Math.abs(f.torque[0] - 1) < 1e-6);
    s.free();
});

test("going back and on gives the same bits", () => {
    const s = engine.load({ "p.xml": PENDULUM }, "p.xml");
    s.step(300);
    const hash = s.hash;
    s.command([{ do: "rewind", step: 100 }, { do: "step", count: 200 }]);
    assert.equal(s.hash, hash);
    s.free();
});

test("errors name the place", () => {
    assert.throws(() => engine.load({ "p.urdf": "<robot name='x'>\n<link name='a'/>\n<link name='a'/></robot>" }, "p.urdf"), (e) =>
        e instanceof EngineError && e.line === 3);
    assert.throws(() => engine.load({}, "none.urdf"), EngineError);
    const s = engine.load({ "p.xml": PENDULUM }, "p.xml");
    assert.throws(() => s.command({ do: "edit", item: "body", id: 1, field: "mass", value: -1 }), EngineError);
    s.free();
});

test("a model with a mesh from memory is written and read again", () => {
    const folder = new URL("../../models/crane/", import.meta.url);
    const files = { "crane.urdf": new Uint8Array(readFileSync(new URL("crane.urdf", folder))), "heart.obj": new Uint8Array(readFileSync(new URL("heart.obj", folder))) };
    const s = engine.load(files, "crane.urdf");
    const again = engine.load({ ...files, "crane.urdf": s.write("urdf") }, "crane.urdf");
    assert.equal(again.describe().bodies.length, s.describe().bodies.length);
    assert.equal(s.mesh(0).byteLength, 12 * (s.describe().meshes[0].vertices + s.describe().meshes[0].faces));
    s.free();
    again.free();
});

test("memory is given back", () => {
    const size = () => engine.native.memory.buffer.byteLength;
    const once = () => engine.load({ "p.xml": PENDULUM }, "p.xml", { history: 4e6 }).free();
    once();
    const before = size();
    for (let i = 0; i < 200; i++) {
        once();
    }
    assert.equal(size(), before);
});

test("the engine is shipped in at most 500 kB, and taken unpacked as well", async () => {
    const file = new URL("../engine/dist/karakuri.wasm.gz", import.meta.url);
    assert.ok(statSync(file).size <= 500e3, `${statSync(file).size} bytes`);
    const plain = await Engine.create(gunzipSync(readFileSync(file)));
    assert.equal(plain.version, engine.version);
});
await Promise.all(running);
console.log(`${passed} passed, 0 failed`);
