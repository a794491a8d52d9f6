"""MuJoCo's and Pinocchio's dialects: against closed forms, and against the engines themselves where they are installed."""
from __future__ import annotations

import importlib
import importlib.util
import pathlib
import unittest
from typing import Any

import numpy as np

from common import ARM
from karakuri import mj, pin

TURNED = ARM.replace('<body name="cart" pos="0 0 .3">', '<body name="cart" pos=".1 .2 .3" quat=".5 .5 -.5 .5">').replace(
    'timestep="0.002"', 'timestep="0.000001"')
URDF = pathlib.Path(__file__).resolve().parents[2] / "models" / "crane" / "crane.urdf"


class MuJoCo(unittest.TestCase):
    def test_free_bodies_fly(self) -> None:
        m = mj.MjModel.from_xml_string("<mujoco><worldbody><body name='b' pos='1 2 3' quat='0 1 0 0'><freejoint name='f'/>"
                                       "<geom type='box' size='.1 .2 .3' mass='2'/></body></worldbody></mujoco>")
        d = mj.MjData(m)
        np.testing.assert_allclose(d.qpos, [1, 2, 3, 0, 1, 0, 0], atol=1e-15)
        d.qvel[:3] = [1, 0, 4]
        d.qvel[3:] = [0, 0, 1]
        mj.mj_step(m, d, 500)
        t = d.time
        np.testing.assert_allclose(d.qpos[:3], [1 + t, 2, 3 + 4 * t - 9.81 * t * t / 2], atol=1e-9)
        np.testing.assert_allclose(d.qvel, [1, 0, 4 - 9.81 * t, 0, 0, 1], atol=1e-9)
        np.testing.assert_allclose(np.abs(d.qpos[3:]), np.abs([0, np.cos(t / 2), -np.sin(t / 2), 0]), atol=1e-6)
        d.xfrc_applied[1, 2] = 2 * 9.81  # carries the weight
        before = d.qvel.copy()
        mj.mj_step(m, d, 10)
        np.testing.assert_allclose(d.qvel, before, atol=1e-9)

    def test_names_and_keyframes(self) -> None:
        m = mj.MjModel.from_xml_string(ARM)
        d = mj.MjData(m)
        mj.mj_resetDataKeyframe(m, d, mj.mj_name2id(m, mj.mjOBJ_KEY, "bent"))
        self.assertEqual(d.joint("elbow").qpos.tolist(), [-0.7])
        self.assertEqual(mj.mj_name2id(m, mj.mjOBJ_BODY, "ball"), 4)
        self.assertEqual(mj.mj_name2id(m, mj.mjOBJ_JOINT, "nothing"), -1)
        mj.mj_step(m, d)
        self.assertGreater(np.abs(d.sensordata).sum(), 0)

    @unittest.skipUnless(importlib.util.find_spec("mujoco"), "mujoco: not installed")
    def test_coordinates_are_mujocos(self) -> None:
        mujoco: Any = importlib.import_module("mujoco")
        ours, theirs = mj.MjModel.from_xml_string(TURNED), mujoco.MjModel.from_xml_string(TURNED)
        d, e = mj.MjData(ours), mujoco.MjData(theirs)
        np.testing.assert_allclose(ours.qpos0, theirs.qpos0, atol=1e-12)
        rng = np.random.default_rng(1)
        for _ in range(5):
            qpos = rng.normal(size=ours.nq)
            qpos[2] += 5  # off the ground
            qpos[7], qpos[9] = 0.3, 1  # within its limits, off the ground
            qpos[3:7] /= np.linalg.norm(qpos[3:7])
            qvel = rng.normal(size=ours.nv)
            mj.mj_resetData(ours, d)
            mujoco.mj_resetData(theirs, e)
            d.qpos[:], e.qpos[:], d.qvel[:], e.qvel[:] = qpos, qpos, qvel, qvel
            d.qfrc_applied[:3] = e.qfrc_applied[:3] = [1, 2, 3]
            mj.mj_forward(ours, d)
            mujoco.mj_forward(theirs, e)
            np.testing.assert_allclose(d.xpos, e.xpos, atol=1e-12)
            np.testing.assert_allclose(d.xmat, e.xmat, atol=1e-12)
            mj.mj_step(ours, d, 5)
            mujoco.mj_step(theirs, e, 5)
            np.testing.assert_allclose(d.qpos, e.qpos, atol=1e-6)
            np.testing.assert_allclose(d.qvel, e.qvel, atol=1e-3)  # integrators differ


class Pinocchio(unittest.TestCase):
    def setUp(self) -> None:
        self.model = pin.buildModelFromUrdf(URDF, pin.JointModelFreeFlyer())
        self.data = self.model.createData()

    def draw(self, seed: int) -> tuple[Any, Any, Any]:
        rng = np.random.default_rng(seed)
        return pin.randomConfiguration(self.model, seed), rng.normal(size=self.model.nv), rng.normal(size=self.model.nv)

    def test_identities(self) -> None:
        m, d = self.model, self.data
        for seed in range(10):
            q, v, a = self.draw(seed)
            tau = pin.rnea(m, d, q, v, a)
            np.testing.assert_allclose(pin.aba(m, d, q, v, tau), a, atol=1e-7 * max(1, np.abs(tau).max()))
            np.testing.assert_allclose(pin.crba(m, d, q) @ a + pin.nonLinearEffects(m, d, q, v), tau, atol=1e-9 * np.abs(tau).max())
            np.testing.assert_allclose(pin.difference(m, q, pin.integrate(m, q, 0.3 * v)), 0.3 * v, atol=1e-9)
            self.assertAlmostEqual(pin.computeKineticEnergy(m, d, q, v), 0.5 * v @ d.M @ v, delta=1e-9 * v @ d.M @ v)

    def test_jacobians_are_slopes(self) -> None:
        m, d = self.model, self.data
        q, v, _ = self.draw(3)
        frame, h = m.nframes - 1, 1e-6
        J = pin.computeFrameJacobian(m, d, q, frame, pin.LOCAL_WORLD_ALIGNED)
        places: list[Any] = []
        for sign in (1, -1):
            pin.framesForwardKinematics(m, d, pin.integrate(m, q, sign * h * v))
            places.append(d.oMf[frame].translation)
        np.testing.assert_allclose(J[:3] @ v, (places[0] - places[1]) / (2 * h), atol=1e-6)

    def test_shapes_are_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "v is"):
            pin.rnea(self.model, self.data, pin.neutral(self.model), np.zeros(2), np.zeros(self.model.nv))

    @unittest.skipUnless(importlib.util.find_spec("pinocchio"), "pinocchio: not installed")
    def test_numbers_are_pinocchios(self) -> None:
        pinocchio: Any = importlib.import_module("pinocchio")
        theirs = pinocchio.buildModelFromUrdf(str(URDF))
        e = theirs.createData()
        self.assertEqual(list(theirs.names)[1:], self.model.names[1:])
        for seed in range(5):
            q, v, a = self.draw(seed)
            for ours, other in ((pin.rnea(self.model, self.data, q, v, a), pinocchio.rnea(theirs, e, q, v, a)),
                                (pin.aba(self.model, self.data, q, v, a), pinocchio.aba(theirs, e, q, v, a)),
                                (pin.crba(self.model, self.data, q) @ a, pinocchio.crba(theirs, e, q) @ a)):
                np.testing.assert_allclose(ours, other, rtol=1e-8, atol=1e-8 * max(1, np.abs(other).max()))
            apart = pinocchio.difference(theirs, pin.integrate(self.model, q, v), pinocchio.integrate(theirs, q, v))
            np.testing.assert_allclose(apart, 0, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
