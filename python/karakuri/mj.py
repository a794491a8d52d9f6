"""MuJoCo's dialect: qpos, qvel, ctrl, mj_step, for those who come over. A thin layer: the engine's coordinates are translated before and after.

    from karakuri import mj as mujoco
    m = mujoco.MjModel.from_xml_path("robot.xml")
    d = mujoco.MjData(m)
    d.ctrl[:] = 0.1
    mujoco.mj_step(m, d)

Order and meaning are MuJoCo's: joints in the order of the file; free joints as position and quaternion, linear velocity along the world's axes
and angular along the body's; forces on bodies in xfrc_applied at their centers of mass, world axes. What is not here is in `d.simulator`.
"""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import c
from ._model import Array, Model, Simulator
from ._spec import Spec

mjOBJ_BODY, mjOBJ_JOINT, mjOBJ_GEOM, mjOBJ_SITE, mjOBJ_ACTUATOR, mjOBJ_SENSOR, mjOBJ_KEY = 1, 3, 5, 6, 19, 20, 22
_FIND = {mjOBJ_GEOM: "shape", mjOBJ_SITE: "frame", mjOBJ_ACTUATOR: "actuator", mjOBJ_SENSOR: "sensor", mjOBJ_KEY: "keyframe"}


def _turn(q: Array) -> Array:
    """Rotation matrix of a quaternion (w, x, y, z)."""
    w, x, y, z = q / np.sqrt(np.sum(q * q))
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _quaternion(R: Array) -> Array:
    q = c.kk_quat_from_mat3(np.ascontiguousarray(R).reshape(9))
    return np.array([q.w, q.x, q.y, q.z])


def _times(a: Array, b: Array) -> Array:
    w, v, u, x = a[0], a[1:], b[0], b[1:]
    return np.concatenate([[w * u - v @ x], w * x + u * v + np.cross(v, x)])


class _Joint:
    """A joint's place in both languages."""

    def __init__(self, model: Model, spec: Spec, body: int, qpos: int, qvel: int) -> None:
        joint = model.joint(body)
        self.name, self.type = joint.name, joint.type
        self.q, self.v = joint.q_slice, joint.v_slice
        self.qpos = slice(qpos, qpos + joint.q_slice.stop - joint.q_slice.start)
        self.qvel = slice(qvel, qvel + joint.v_slice.stop - joint.v_slice.start)
        placement = spec.item("body", body).joint.placement
        self.R, self.p = np.array(placement.R).reshape(3, 3).copy(), np.array(placement.p).copy()
        self.turn = _quaternion(self.R)
        self.back = self.turn * [1, -1, -1, -1]


class MjModel:
    """A model with MuJoCo's names of sizes and things."""

    def __init__(self, model: Model) -> None:
        self.model = model
        spec = model.spec()
        self._spec = spec
        self.bodies = [k for k in range(model.nbody) if k == 0 or not spec.item("body", k).is_joint_part]
        self.joints: list[_Joint] = []
        qpos = qvel = 0
        for joint in model.joints:
            self.joints.append(_Joint(model, spec, joint.body, qpos, qvel))
            qpos, qvel = self.joints[-1].qpos.stop, self.joints[-1].qvel.stop
        self.nq, self.nv, self.nu, self.na, self.nbody = model.nq, model.nv, model.nu, model.na, len(self.bodies)
        self.njnt, self.nsensor, self.nsensordata = len(self.joints), model.nsensor, model.nsensordata
        self.nkey = c.kk_model_nkeyframe(model.raw)
        self.actuator_ctrlrange = model.control_range
        self.qpos0 = _qpos(self, model.start())

    @classmethod
    def from_xml_path(cls, path: str | os.PathLike[str], assets: Mapping[str, bytes] | None = None) -> MjModel:
        return cls(Model.load(path, assets=assets))

    @classmethod
    def from_xml_string(cls, text: str, assets: Mapping[str, bytes] | None = None) -> MjModel:
        return cls(Model.from_string(text, assets=assets))

    @property
    def opt(self) -> c.kk_options:
        return c.kk_model_options(self.model.raw)

    def body_id(self, name: str) -> int:
        return self.bodies.index(self.model.body(name)) if name != "world" else 0


def _qpos(m: MjModel, q: Array) -> Array:
    qpos = np.zeros(m.nq)
    for j in m.joints:
        if j.type == c.KK_JOINT_FREE:
            turn, place = q[j.q][:4], q[j.q][4:]
            qpos[j.qpos] = np.concatenate([j.p + j.R @ place, _times(j.turn, turn)])
        else:
            qpos[j.qpos] = q[j.q]
    return qpos


def _q(m: MjModel, qpos: Array, q: Array) -> None:
    for j in m.joints:
        x = qpos[j.qpos]
        if j.type == c.KK_JOINT_FREE:
            turn = _times(j.back, x[3:])
            q[j.q] = np.concatenate([turn / np.sqrt(turn @ turn), j.R.T @ (x[:3] - j.p)])
        elif j.type == c.KK_JOINT_BALL:
            q[j.q] = x / np.sqrt(x @ x)
        else:
            q[j.q] = x


class MjData:
    """A state and what a step finds. Arrays stay where they are."""

    def __init__(self, model: MjModel) -> None:
        self.model = model
        self.simulator = Simulator(model.model)
        self.qpos, self.qvel, self.qacc = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        self.qfrc_applied, self.xfrc_applied = np.zeros(model.nv), np.zeros((model.nbody, 6))
        self.ctrl, self.sensordata = self.simulator.control, np.zeros(model.nsensordata)
        self.xpos, self.xquat, self.xmat = np.zeros((model.nbody, 3)), np.zeros((model.nbody, 4)), np.zeros((model.nbody, 9))
        self._data = c.kk_data_create(model.model.raw)
        self._pull()

    @property
    def act(self) -> Array:
        return self.simulator.state.act

    @property
    def time(self) -> float:
        return self.simulator.time

    @time.setter
    def time(self, time: float) -> None:
        self.simulator.state.time = time

    @property
    def ncon(self) -> int:
        return c.kk_simulator_ncontact(self.simulator.raw)

    @property
    def contact(self) -> list[c.kk_contact]:
        return self.simulator.contacts

    def body(self, name: str) -> Any:
        k = self.model.body_id(name)
        return type("Body", (), {"id": k, "xpos": self.xpos[k], "xquat": self.xquat[k], "xmat": self.xmat[k]})

    def joint(self, name: str) -> Any:
        for j in self.model.joints:
            if j.name == name:
                return type("Joint", (), {"qpos": self.qpos[j.qpos], "qvel": self.qvel[j.qvel]})
        raise KeyError(f"there is no joint named {name!r}")

    # ---- between the languages

    def _velocity(self, v: Array, to_mujoco: bool, result: Array) -> None:
        for j in self.model.joints:
            source, target = (j.v, j.qvel) if to_mujoco else (j.qvel, j.v)
            x = v[source]
            if j.type == c.KK_JOINT_FREE:
                R = _turn(self.qpos[j.qpos][3:])
                x = np.concatenate([R @ x[3:], x[:3]]) if to_mujoco else np.concatenate([x[3:], R.T @ x[:3]])
            result[target] = x

    def _force(self) -> None:
        tau = self.simulator.tau
        self._velocity(self.qfrc_applied, False, tau)
        if self.xfrc_applied.any():
            for k, body in enumerate(self.model.bodies):
                force, moment = self.xfrc_applied[k][:3], self.xfrc_applied[k][3:]
                R = self.xmat[k].reshape(3, 3)
                f, n = R.T @ force, R.T @ moment
                com = np.array(c.kk_model_body_inertia(self.model.model.raw, body).com)
                self.simulator.wrench[body] = np.concatenate([n + np.cross(com, f), f])
        else:
            self.simulator.wrench[:] = 0

    def _push(self) -> None:
        _q(self.model, self.qpos, self.simulator.state.q)
        self._velocity(self.qvel, False, self.simulator.state.v)
        self._force()

    def _pull(self) -> None:
        state = self.simulator.state
        self.qpos[:] = _qpos(self.model, state.q)
        self._velocity(state.v, True, self.qvel)
        self._place()

    def _place(self) -> None:
        raw = self.model.model.raw
        c.kk_kinematics(raw, self._data, self.simulator.state.q)
        for k, body in enumerate(self.model.bodies):
            pose = c.kk_body_pose(raw, self._data, body)
            self.xmat[k], self.xpos[k] = np.array(pose.R), np.array(pose.p)
            self.xquat[k] = _quaternion(self.xmat[k])


def mj_step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """Steps; what was written into qpos, qvel, ctrl, qfrc_applied and xfrc_applied counts."""
    d._push()
    for _ in range(nstep):
        d.simulator.step()
    d._pull()
    if m.nsensordata:
        d.sensordata[:] = d.simulator.sensors()
    d._velocity(d.simulator.acceleration, True, d.qacc)


def mj_forward(m: MjModel, d: MjData) -> None:
    """Poses of bodies from qpos. (Forces and sensors belong to a step.)"""
    d._push()
    d._place()


mj_kinematics = mj_forward


def mj_resetData(m: MjModel, d: MjData) -> None:
    d.simulator.reset()
    d.qfrc_applied[:], d.xfrc_applied[:], d.qacc[:], d.sensordata[:] = 0, 0, 0, 0
    d._pull()


def mj_resetDataKeyframe(m: MjModel, d: MjData, key: int) -> None:
    mj_resetData(m, d)
    d.simulator.state.set_keyframe(key)
    control = c.kk_model_keyframe(m.model.raw, key).control
    if control is not None:
        d.ctrl[:] = control
    d._pull()


def mj_name2id(m: MjModel, kind: int, name: str) -> int:
    """−1 where there is none."""
    if kind == mjOBJ_BODY:
        found = c.kk_model_find_body(m.model.raw, name)
        return m.bodies.index(found) if found in m.bodies else -1
    if kind == mjOBJ_JOINT:
        names = [j.name for j in m.joints]
        return names.index(name) if name in names else -1
    return getattr(c, f"kk_model_find_{_FIND[kind]}")(m.model.raw, name)
