"""Pinocchio's dialect: its names, orders and conventions, for those who come over. A thin layer over the engine's own calls.

    from karakuri import pin
    model = pin.buildModelFromUrdf("robot.urdf", pin.JointModelFreeFlyer())
    data = model.createData()
    tau = pin.rnea(model, data, pin.neutral(model), v, a)

Conventions are Pinocchio's: joints depth first with siblings in the order of their names; free flyers as position and quaternion
(x, y, z, w), velocities linear before angular in the body's axes; hinges without limits as cosine and sine; spatial vectors linear first.
Joint 0 is "universe".
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import c
from ._model import Array, Dynamics, Model

WORLD, LOCAL, LOCAL_WORLD_ALIGNED = 0, 1, 2
_REFERENCE = {WORLD: c.KK_WORLD_ORIGIN, LOCAL: c.KK_LOCAL, LOCAL_WORLD_ALIGNED: c.KK_WORLD_ALIGNED}
_SWAP = [3, 4, 5, 0, 1, 2]


class JointModelFreeFlyer:
    """Asks for a free root."""


class SE3:
    def __init__(self, rotation: Array, translation: Array) -> None:
        self.rotation, self.translation = rotation, translation

    @property
    def homogeneous(self) -> Array:
        return np.block([[self.rotation, self.translation[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


class _Joint:
    """A joint's place in both languages. kind: free, ball, circle (a hinge without limits) or plain."""

    def __init__(self, model: Model, body: int, q: int, v: int) -> None:
        joint = model.joint(body)
        self.name, self.body, self.q, self.v = joint.name, body, joint.q_slice, joint.v_slice
        dof = c.kk_model_dof(model.raw, joint.v_slice.start)
        endless = joint.type == c.KK_JOINT_HINGE and dof.lower == -np.inf and dof.upper == np.inf
        self.kind = {c.KK_JOINT_FREE: "free", c.KK_JOINT_BALL: "ball"}.get(joint.type, "circle" if endless else "plain")
        nq = 2 if self.kind == "circle" else joint.q_slice.stop - joint.q_slice.start
        self.pq, self.pv = slice(q, q + nq), slice(v, v + joint.v_slice.stop - joint.v_slice.start)


class PinModel:
    """A model with Pinocchio's names."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = model.name
        children: dict[int, list[int]] = {}
        for body in range(1, model.nbody):
            children.setdefault(c.kk_model_body_parent(model.raw, body), []).append(body)
        self.joints: list[_Joint] = []
        self.nq = self.nv = 0
        waiting = [0]
        while waiting:
            body = waiting.pop()
            if body and c.kk_model_joint(model.raw, body).nv:
                self.joints.append(_Joint(model, body, self.nq, self.nv))
                self.nq, self.nv = self.joints[-1].pq.stop, self.joints[-1].pv.stop
            waiting += sorted(children.get(body, []), key=lambda b: c.kk_model_joint(model.raw, b).name or "", reverse=True)
        self.names = ["universe", *(j.name for j in self.joints)]
        self.njoints = len(self.names)
        self.frames = model.body_names + [c.kk_model_frame_name(model.raw, k) or "" for k in range(c.kk_model_nframe(model.raw))]
        self.nframes = len(self.frames)
        # permutation of velocities: theirs[k] = ours[order[k]]
        self.order = np.zeros(self.nv, np.intp)
        for j in self.joints:
            ours = np.arange(j.v.start, j.v.stop)
            self.order[j.pv] = ours[_SWAP] if j.kind == "free" else ours

    def createData(self) -> PinData:
        return PinData(self)

    def getJointId(self, name: str) -> int:
        return self.names.index(name) if name in self.names else self.njoints

    def getFrameId(self, name: str) -> int:
        return self.frames.index(name) if name in self.frames else self.nframes

    def existJointName(self, name: str) -> bool:
        return name in self.names

    def existFrame(self, name: str) -> bool:
        return name in self.frames

    # ---- between the languages

    def to_q(self, q: Any) -> Array:
        q = np.asarray(q, np.float64)
        if q.shape != (self.nq,):
            raise ValueError(f"q is {q.shape}; ({self.nq},) is wanted")
        ours = np.zeros(self.model.nq)
        for j in self.joints:
            x = q[j.pq]
            if j.kind == "free":
                ours[j.q] = x[[6, 3, 4, 5, 0, 1, 2]]
            elif j.kind == "ball":
                ours[j.q] = x[[3, 0, 1, 2]]
            else:
                ours[j.q] = c.kk_atan2(x[1], x[0]) if j.kind == "circle" else x
        return ours

    def from_q(self, ours: Array) -> Array:
        q = np.zeros(self.nq)
        for j in self.joints:
            x = ours[j.q]
            if j.kind == "free":
                q[j.pq] = x[[4, 5, 6, 1, 2, 3, 0]]
            elif j.kind == "ball":
                q[j.pq] = x[[1, 2, 3, 0]]
            else:
                q[j.pq] = [c.kk_cos(x[0]), c.kk_sin(x[0])] if j.kind == "circle" else x
        return q

    def to_v(self, name: str, v: Any) -> Array:
        v = np.asarray(v, np.float64)
        if v.shape != (self.nv,):
            raise ValueError(f"{name} is {v.shape}; ({self.nv},) is wanted")
        ours = np.zeros(self.nv)
        ours[self.order] = v
        return ours


class PinData:
    def __init__(self, model: PinModel) -> None:
        self.model = model
        self.dynamics = Dynamics(model.model)
        self.oMi: list[SE3] = [SE3(np.eye(3), np.zeros(3)) for _ in range(model.njoints)]
        self.oMf: list[SE3] = [SE3(np.eye(3), np.zeros(3)) for _ in range(model.nframes)]
        self.tau, self.ddq, self.nle, self.g = (np.zeros(model.nv) for _ in range(4))
        self.M, self.J = np.zeros((model.nv, model.nv)), np.zeros((6, model.nv))
        self.com = [np.zeros(3)]
        self.kinetic_energy = self.potential_energy = 0.0


def buildModelFromUrdf(path: str | os.PathLike[str], root: JointModelFreeFlyer | None = None) -> PinModel:
    return PinModel(Model.load(path, base="free" if root is not None else "fixed", meshes="none"))


def buildModelFromXML(text: str, root: JointModelFreeFlyer | None = None) -> PinModel:
    return PinModel(Model.from_string(text, base="free" if root is not None else "fixed", meshes="none"))


def buildModelFromMJCF(path: str | os.PathLike[str]) -> PinModel:
    return PinModel(Model.load(path))


def neutral(model: PinModel) -> Array:
    return model.from_q(model.model.neutral())


def randomConfiguration(model: PinModel, seed: int = 0) -> Array:
    return model.from_q(model.model.random_q(seed))


def integrate(model: PinModel, q: Any, v: Any) -> Array:
    return model.from_q(model.model.integrate(model.to_q(q), model.to_v("v", v)))


def difference(model: PinModel, q0: Any, q1: Any) -> Array:
    return model.model.difference(model.to_q(q0), model.to_q(q1))[model.order]


def rnea(model: PinModel, data: PinData, q: Any, v: Any, a: Any) -> Array:
    data.tau = data.dynamics.inverse(model.to_q(q), model.to_v("v", v), model.to_v("a", a))[model.order]
    return data.tau


def aba(model: PinModel, data: PinData, q: Any, v: Any, tau: Any) -> Array:
    data.ddq = data.dynamics.forward(model.to_q(q), model.to_v("v", v), model.to_v("tau", tau))[model.order]
    return data.ddq


def crba(model: PinModel, data: PinData, q: Any) -> Array:
    data.M = data.dynamics.inertia(model.to_q(q))[np.ix_(model.order, model.order)]
    return data.M


def nonLinearEffects(model: PinModel, data: PinData, q: Any, v: Any) -> Array:
    data.nle = data.dynamics.bias(model.to_q(q), model.to_v("v", v))[model.order]
    return data.nle


def computeGeneralizedGravity(model: PinModel, data: PinData, q: Any) -> Array:
    data.g = data.dynamics.gravity(model.to_q(q))[model.order]
    return data.g


def centerOfMass(model: PinModel, data: PinData, q: Any) -> Array:
    data.com[0] = data.dynamics.center_of_mass(model.to_q(q))
    return data.com[0]


def computeKineticEnergy(model: PinModel, data: PinData, q: Any, v: Any) -> float:
    data.kinetic_energy = data.dynamics.energy(model.to_q(q), model.to_v("v", v))[0]
    return data.kinetic_energy


def computePotentialEnergy(model: PinModel, data: PinData, q: Any) -> float:
    data.potential_energy = data.dynamics.energy(model.to_q(q), np.zeros(model.nv))[1]
    return data.potential_energy


def forwardKinematics(model: PinModel, data: PinData, q: Any, v: Any = None, a: Any = None) -> None:
    data.dynamics.kinematics(model.to_q(q), None if v is None else model.to_v("v", v), None if a is None else model.to_v("a", a))
    for k, joint in enumerate(model.joints):
        data.oMi[k + 1] = SE3(*data.dynamics.pose(joint.body))


def updateFramePlacements(model: PinModel, data: PinData) -> None:
    nbody = model.model.nbody
    for k in range(model.nframes):
        data.oMf[k] = SE3(*(data.dynamics.pose(k) if k < nbody else data.dynamics.frame_pose(k - nbody)))


def framesForwardKinematics(model: PinModel, data: PinData, q: Any) -> None:
    forwardKinematics(model, data, q)
    updateFramePlacements(model, data)


def computeFrameJacobian(model: PinModel, data: PinData, q: Any, frame: int, reference: int = LOCAL) -> Array:
    """[6, nv], rows [linear; angular]."""
    raw, nbody, J = model.model.raw, model.model.nbody, np.zeros((6, model.nv))
    c.kk_jacobians(raw, data.dynamics.raw, model.to_q(q))
    if frame < nbody:
        c.kk_body_jacobian(raw, data.dynamics.raw, frame, _REFERENCE[reference], J)
    else:
        c.kk_frame_jacobian(raw, data.dynamics.raw, frame - nbody, _REFERENCE[reference], J)
    return J[_SWAP][:, model.order]


def computeJointJacobian(model: PinModel, data: PinData, q: Any, joint: int) -> Array:
    return computeFrameJacobian(model, data, q, model.joints[joint - 1].body, LOCAL)


def computeRNEADerivatives(model: PinModel, data: PinData, q: Any, v: Any, a: Any) -> tuple[Array, Array, Array]:
    dq, dv = data.dynamics.inverse_derivatives(model.to_q(q), model.to_v("v", v), model.to_v("a", a))
    order = np.ix_(model.order, model.order)
    return dq[order], dv[order], crba(model, data, q)
