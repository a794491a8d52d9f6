"""Models, states, simulators and batches as Python has them."""
from __future__ import annotations

import copy
import pathlib
import pickle
import threading
import unittest
from typing import Any, Callable

import numpy as np

import karakuri
from common import ARM, arm

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


class Loading(unittest.TestCase):
    def test_errors_know_place_and_remedy(self) -> None:
        with self.assertRaises(karakuri.Error) as caught:
            karakuri.loads("<mujoco>\n  <worldbody>\n    <body name='a'><joint type='hinge'/></body>\n  </worldbody>\n</mujoco>")
        error = caught.exception
        self.assertEqual((error.file, error.line), ("model.xml", 3))
        self.assertGreater(error.column, 0)
        self.assertIn("inertia", error.remedy)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.line, type(again)), (str(error), 3, type(error)))
        self.assertIsInstance(error, ValueError)
        with self.assertRaises(OSError):
            karakuri.load("/nothing/here.urdf")

    def test_assets_stand_for_files(self) -> None:
        text = "<mujoco><include file='robot.xml'/></mujoco>"
        assets = {"robot.xml": "<mujoco><worldbody><body name='x'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"}
        self.assertEqual(karakuri.loads(text, assets=assets).nv, 6)
        with self.assertRaises(karakuri.Error):
            karakuri.loads(text)

    def test_options_have_names(self) -> None:
        urdf = ("<robot name='r'><link name='l'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
                "</inertial></link></robot>")
        self.assertEqual(karakuri.loads(urdf, base="free").nv, 6)
        self.assertEqual(karakuri.loads(urdf, base="fixed").nv, 0)
        with self.assertRaisesRegex(ValueError, "base is 'frei'; it is one of file, fixed, free"):
            karakuri.loads(urdf, base="frei")

    def test_specs_by_calls(self) -> None:
        spec = karakuri.Spec()
        link = spec.add_body(name="link", inertia={"mass": 1, "moment": (0.1, 0.1, 0.1, 0, 0, 0), "com": (0, 0, -1)},
                             joint={"name": "swing", "type": "hinge", "axis": (0, 1, 0), "dof": [{"damping": 0.5}]})
        spec.add_actuator(name="motor", target="swing", type="force")
        spec.options.timestep = 0.01
        model = spec.compile()
        self.assertEqual((link, model.nv, model.nu, model.timestep), (1, 1, 1, 0.01))
        self.assertEqual(spec.body("link").joint.dof[0].damping, 0.5)
        with self.assertRaisesRegex(ValueError, "type is 'hinged'; it is one of .*hinge"):
            spec.add_body(name="b", joint={"type": "hinged"})
        with self.assertRaises(LookupError):
            spec.body("nothing")
        self.assertIn("link", spec.to_mjcf())


class Objects(unittest.TestCase):
    def setUp(self) -> None:
        self.model = arm()

    def test_names(self) -> None:
        model = self.model
        self.assertEqual(model.actuator_names, ["m_shoulder", "p_elbow", "slow"])
        self.assertEqual(model.control_range[0].tolist(), [-5, 5])
        self.assertEqual(model.sensor("imu"), slice(1, 4))
        self.assertEqual([j.name for j in model.joints], ["base", "shoulder", "elbow", "ball_x"])
        with self.assertRaisesRegex(LookupError, "no joint named 'knee'"):
            model.joint("knee")

    def test_joints_of_states_are_views(self) -> None:
        state = self.model.state()
        state.joint("elbow").q = 0.25
        state.joint("base").v[3:] = [1, 2, 3]
        elbow, base = self.model.joint("elbow"), self.model.joint("base")
        self.assertEqual(state.q[elbow.q_slice].tolist(), [0.25])
        self.assertEqual(state.v[base.v_slice].tolist(), [0, 0, 0, 1, 2, 3])
        q = self.model.state().q
        q[:] = 1  # its state lives as long
        self.assertEqual(q.sum(), self.model.nq)

    def test_steps_are_those_of_c(self) -> None:
        c = karakuri.c
        model, sim = self.model, self.model.simulator()
        state, simulator = c.kk_state_create(model.raw), c.kk_simulator_create(model.raw)
        control = np.zeros(3)
        for k in range(300):
            control[:] = [np.sin(k), np.cos(k), 0.5]
            sim.control = control
            sim.step()
            c.kk_step(model.raw, state, simulator, c.kk_input(control=control))
        self.assertEqual(sim.state.hash, c.kk_state_hash(state))
        self.assertGreater(len(sim.contacts), 0)
        self.assertLess(sim.report.residual, 1e-9)
        weight = -sim.model.gravity[2] * 3.8
        self.assertAlmostEqual(sim.contact_wrench("cart")[5], weight, delta=2 * weight)
        self.assertEqual(sim.sensors()[0], sim.sensor("angle")[0])

    def test_pickles_and_copies_go_on_bit_for_bit(self) -> None:
        sim = self.model.simulator()
        sim.control[0] = 2
        sim.run(100)
        model, state = pickle.loads(pickle.dumps((self.model, sim.state)))
        self.assertEqual(model.hash, self.model.hash)
        self.assertEqual(state, sim.state)
        others = [state, copy.copy(sim.state), copy.deepcopy(sim.state), pickle.loads(pickle.dumps(sim.state))]
        sim.run(100)
        for other in others:
            again = other.model.simulator(other)
            again.control[0] = 2
            again.run(100)
            self.assertEqual(other.hash, sim.state.hash)

    def test_all_our_robots_can_be_pickled(self) -> None:
        files = sorted(p for p in MODELS.rglob("*") if p.suffix in (".xml", ".urdf"))
        seen = 0
        for path in files:
            try:
                model = karakuri.load(path)
            except karakuri.Error:
                continue  # parts of others
            self.assertEqual(pickle.loads(pickle.dumps(model)).hash, model.hash, path)
            seen += 1
        self.assertGreater(seen, 8)

    def test_controllers(self) -> None:
        def hold(state: karakuri.State, sim: karakuri.Simulator) -> None:
            sim.control[0] = -10 * state.joint("shoulder").q - state.joint("shoulder").v
        sim = self.model.simulator()
        sim.reset("bent")
        sim.run(2000, hold)
        self.assertLess(abs(sim.state.joint("shoulder").q), 0.2)

    def test_dynamics_are_consistent(self) -> None:
        model, d = self.model, self.model.dynamics()
        rng = np.random.default_rng(3)
        for k in range(20):
            q, v, tau = model.random_q(k), rng.normal(size=model.nv), rng.normal(size=model.nv)
            a = d.forward(q, v, tau)
            np.testing.assert_allclose(d.inverse(q, v, a), tau, atol=1e-9)
            np.testing.assert_allclose(d.inertia(q) @ a + d.bias(q, v), tau, atol=1e-9)
            dq, _ = d.inverse_derivatives(q, v, a)
            w, h = rng.normal(size=model.nv), 1e-6
            slope = (d.inverse(model.integrate(q, h * w), v, a) - d.inverse(model.integrate(q, -h * w), v, a)) / (2 * h)
            np.testing.assert_allclose(dq @ w, slope, atol=1e-5 * max(1, abs(slope).max()))
            d.kinematics(q, v)
            np.testing.assert_allclose(d.velocity("lower"), d.jacobian(q, "lower") @ v, atol=1e-12)

    def refuse(self, kind: type[BaseException], name: str, call: Callable[[], Any]) -> None:
        with self.assertRaisesRegex(kind, name):
            call()

    def test_misuse_is_named(self) -> None:
        model, sim = self.model, self.model.simulator()
        self.refuse(ValueError, "control has 2 numbers; 3", lambda: setattr(sim, "control", [1, 2]))
        self.refuse(TypeError, "control must be 3 numbers", lambda: setattr(sim, "control", ["a", 1, 2]))
        self.refuse(ValueError, "q has 1 numbers", lambda: setattr(sim.state, "q", 0.0))
        self.refuse(TypeError, "no option 'tolerence'", lambda: model.simulator(tolerence=1))
        self.refuse(ValueError, "state belongs to another model", lambda: model.simulator(karakuri.loads("<mujoco/>").state()))
        self.refuse(IndexError, "body 99", lambda: sim.pose(99))
        self.refuse(ValueError, "solver", lambda: model.simulator(solver="exakt"))
        sim.control[1] = float("nan")
        before = sim.state.hash
        self.refuse(karakuri.NotFinite, "p_elbow", sim.step)
        self.assertEqual(sim.state.hash, before)
        sim.control[1] = 0
        sim.step()


def random_spec(seed: int) -> karakuri.Spec:
    """A forest of bodies with all kinds of joints, shapes, springs and motors."""
    rng = np.random.default_rng(seed)
    spec = karakuri.Spec()
    kinds = ("hinge", "slide", "ball", "free", "universal", "planar", "cylindrical", "screw", "fixed")
    for k in range(1, int(rng.integers(2, 9))):
        parent = int(rng.integers(0, k))
        kind = kinds[rng.integers(len(kinds))]
        kind = "hinge" if kind == "free" and parent else kind
        size = rng.uniform(0.05, 0.3, 3)
        turn = karakuri.c.kk_mat3_from_rpy(*(float(x) for x in rng.uniform(-3, 3, 3)))
        dof = {"damping": float(rng.uniform(0, 0.2)), "armature": 0.01, "stiffness": float(rng.uniform(0, 5))}
        body = spec.add_body(name=f"b{k}", parent=parent, inertia=karakuri.c.kk_inertia_solid_box(float(rng.uniform(0.5, 3)), *map(float, size)),
                             joint={"name": f"j{k}", "type": kind, "pitch": 0.1, "axis": rng.normal(size=3), "axis2": rng.normal(size=3),
                                    "placement": karakuri.c.kk_transform(turn, rng.uniform(-0.5, 0.5, 3)), "dof": [dof] * 6})
        spec.add_shape(body=body, type="box", size=size.tolist(), group=k, mask=0)
        if kind in ("hinge", "slide"):
            spec.add_actuator(name=f"a{k}", target=f"j{k}", type="position", gain=3.0, bias=(0, -3.0, -0.1))
    return spec


class RandomModels(unittest.TestCase):
    def test_pickled_models_and_states_go_on_bit_for_bit(self) -> None:
        """Python's numbers are those of C calls on another copy of the model, whatever the model."""
        c, moving = karakuri.c, 0
        for seed in range(150):
            model = random_spec(seed).compile()
            again = pickle.loads(pickle.dumps(model))
            self.assertEqual(again.hash, model.hash, seed)
            sim = model.simulator()
            sim.state.q = model.random_q(seed)
            sim.state.v = np.random.default_rng(seed).normal(size=model.nv)
            sim.control = np.linspace(-1, 1, model.nu)
            state = pickle.loads(pickle.dumps(sim.state))
            simulator = c.kk_simulator_create(again.raw)
            other = c.kk_state_create(again.raw)
            c.kk_state_restore(other, state.save())
            batch = again.batch(2, workers=1)
            batch.set_state(1, state)
            batch.control[1] = sim.control
            for _ in range(5):
                sim.step()
                c.kk_step(again.raw, other, simulator, c.kk_input(control=sim.control))
            batch.step(5, index=[1])
            self.assertEqual(c.kk_state_hash(other), sim.state.hash, seed)
            self.assertEqual(batch.state(1).hash, sim.state.hash, seed)
            moving += model.nv > 0
        self.assertGreater(moving, 100)


class Batches(unittest.TestCase):
    def setUp(self) -> None:
        self.model = arm()

    def start(self, batch: karakuri.Batch) -> None:
        for k in range(len(batch)):
            batch.q[k, self.model.joint("base").q_slice.start + 6] = 0.3 + 0.01 * k
            batch.control[k] = [k % 5 - 2, 0.1 * k, 1]

    def test_rows_are_simulations_alone(self) -> None:
        batch = self.model.batch(7, workers=2)
        self.start(batch)
        batch.step(150)
        for k in range(7):
            sim = self.model.simulator()
            sim.state.q[self.model.joint("base").q_slice.start + 6] = 0.3 + 0.01 * k
            sim.control = [k % 5 - 2, 0.1 * k, 1]
            sim.run(150)
            self.assertEqual(batch.state(k).hash, sim.state.hash)
            self.assertEqual(batch.q[k].tobytes(), sim.q.tobytes())
            self.assertEqual(batch.sensors[k].tobytes(), sim.sensors(k).tobytes())

    def test_same_bits_for_any_number_of_threads(self) -> None:
        results: list[tuple[bytes, ...]] = []
        for workers in (1, 2, 3, 5):
            batch = self.model.batch(33, workers=workers, poses=True)
            self.start(batch)
            for _ in range(10):
                batch.step(7)
            results.append((batch.q.tobytes(), batch.sensors.tobytes(), batch.poses.tobytes(), batch.velocities.tobytes()))
        self.assertEqual(len(set(results)), 1)

    def test_failures_are_named_and_alone(self) -> None:
        good, bad = self.model.batch(9), self.model.batch(9, workers=3)
        bad.control[5, 0] = bad.control[7, 0] = float("nan")
        good.step(5)
        with self.assertRaisesRegex(karakuri.NotFinite, "simulation 5: .*m_shoulder") as caught:
            bad.step(5)
        self.assertEqual(caught.exception.simulations, [5, 7])  # type: ignore[attr-defined]
        self.assertEqual(np.flatnonzero(bad.results["status"]).tolist(), [5, 7])
        for k in (0, 4, 6, 8):
            self.assertEqual(bad.state(k).hash, good.state(k).hash)
        bad.step(5, check=False)
        self.assertEqual(bad.results["substeps"].tolist(), [5, 5, 5, 5, 5, 0, 5, 0, 5])
        bad.reset([5, 7])
        bad.step()
        self.assertEqual(bad.time[[4, 5]].tolist(), [bad.time[4], self.model.timestep])

    def test_some_of_them(self) -> None:
        batch = self.model.batch(6)
        batch.step(3, index=[4, 1])
        self.assertEqual((batch.time > 0).tolist(), [False, True, False, False, True, False])
        batch.step(3, index=batch.time == 0)
        self.assertEqual(len(set(batch.time.tolist())), 1)
        batch.reset([2], keyframe="bent")
        self.assertEqual(batch.q[2, self.model.joint("elbow").q_slice].tolist(), [-0.7])
        for index, kind, text in (([6], karakuri.InvalidArgument, "index"), ([0, 0], karakuri.InvalidArgument, "twice"),
                                  ([0.5], TypeError, "index"), ([True], ValueError, "index has")):
            with self.assertRaisesRegex(kind, text):
                batch.step(1, index=index)  # type: ignore[arg-type]
        for name in ("q", "v", "control", "tau", "wrench"):
            with self.assertRaisesRegex(ValueError, name):
                setattr(batch, name, np.zeros((2, 2, 2, 57)))

    def test_rollouts_are_steps(self) -> None:
        a, b = self.model.batch(5, seed=1), self.model.batch(5, seed=1)
        control = np.random.default_rng(0).uniform(-1, 1, (3, 8, 3))
        q, v, sensors = a.rollout(control, 4, index=[4, 0, 2], sensors=True)
        for t in range(8):
            b.control[[4, 0, 2]] = control[:, t]
            b.step(4, index=[4, 0, 2])
            self.assertEqual(q[:, t].tobytes(), b.q[[4, 0, 2]].tobytes())
            self.assertEqual(v[:, t].tobytes(), b.v[[4, 0, 2]].tobytes())
            self.assertEqual(sensors[:, t].tobytes(), b.sensors[[4, 0, 2]].tobytes())
        with self.assertRaisesRegex(ValueError, r"control is \(3, 8, 3\); \(5, steps, 3\)"):
            a.rollout(control)

    def test_pickled_batches_go_on(self) -> None:
        batch = self.model.batch(4, seed=3)
        self.start(batch)
        batch.step(20)
        again = pickle.loads(pickle.dumps(batch))
        batch.step(20)
        again.step(20)
        self.assertEqual(again.q.tobytes(), batch.q.tobytes())
        self.assertEqual(again.sensors.tobytes(), batch.sensors.tobytes())

    def test_one_thread_at_a_time(self) -> None:
        batch = self.model.batch(64, workers=1)
        refused: list[str] = []

        def run() -> None:
            for _ in range(50):
                try:
                    batch.step(2)
                except RuntimeError as error:
                    refused.append(str(error))
        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("one thread at a time" in text for text in refused))
        batch.step()

    def test_arrays_outlive_batches(self) -> None:
        q = self.model.batch(3).q
        q[:] = 2
        self.assertEqual(q.sum(), 6 * self.model.nq)


class Texts(unittest.TestCase):
    def test_importing_needs_no_numpy(self) -> None:
        import subprocess
        import sys
        code = "import sys, karakuri; assert 'numpy' not in sys.modules; print(karakuri.__version__)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, karakuri.__version__), done.stderr)

    def test_things_say_what_they_are(self) -> None:
        self.assertEqual(repr(arm()), "<Model 'arm': 4 bodies, nq 10, nv 9, 3 actuators>")
        self.assertIn("Batch of 2", repr(arm().batch(2)))
        self.assertIn("bodies", repr(karakuri.Spec.from_string(ARM)))


if __name__ == "__main__":
    unittest.main()
