#!/usr/bin/env python3
"""URDF as we read it against URDF as Pinocchio reads it: mass, poses of all links, inertia matrix, inverse dynamics.

    tests/crosscheck/urdf.py [file.urdf ...]      without names: tests/io/urdf and ../shared/models

Files that Pinocchio's parser refuses, and those whose meaning is ours alone (<karakuri> joints, repaired inertias, other
conventions for the coordinates), are named and counted, not compared.
"""
import ctypes as c
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

BAR = 1e-9
STATES = 100
OURS_ALONE = {"planar": "coordinates", "planar_tilted": "coordinates", "karakuri_ball": "joint",
              "karakuri_universal": "joint", "karakuri_cylindrical": "joint", "karakuri_screw": "joint",
              "karakuri_free": "joint", "karakuri_offset": "frame", "karakuri_rotor": "armature",
              "karakuri_option": "gravity", "karakuri_coupling": "joint", "inertia_impossible": "repair",
              "inertia_negative": "repair", "massless_moving": "repair", "massless_root": "repair",
              "massless_robot": "repair", "point_mass": "repair", "mass_zero": "repair", "xacro_macro": "xacro",
              "xacro_include": "xacro", "origin_quaternion": "newer than the peer",
              "world_not_root": "name"}


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("line", c.c_int), ("column", c.c_int), ("file", c.c_char * 256),
                ("text", c.c_char * 512)]


class Transform(c.Structure):
    _fields_ = [("R", c.c_double * 9), ("p", c.c_double * 3)]


class JointInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int), ("q", c.c_int), ("nq", c.c_int), ("v", c.c_int), ("nv", c.c_int)]


def library():
    lib = c.CDLL(str(ROOT / "build" / "release" / "libkarakuri.so"))
    lib.kk_body_pose.restype = Transform
    lib.kk_model_joint.restype = JointInfo
    lib.kk_model_mass.restype = c.c_double
    lib.kk_model_body_name.restype = c.c_char_p
    return lib


class Robot:
    """A file as we read it."""

    def __init__(self, lib, np, path):
        self.lib, self.np = lib, np
        spec, error = c.c_void_p(), Error()
        if lib.kk_load_file(str(path).encode(), None, None, c.byref(spec), None, c.byref(error)) != 0:
            raise RuntimeError(f"{error.file.decode()}:{error.line}:{error.column}: {error.text.decode()}")
        self.model, self.data = c.c_void_p(), c.c_void_p()
        if lib.kk_model_compile(spec, None, c.byref(self.model), c.byref(error)) != 0:
            raise RuntimeError(error.text.decode())
        lib.kk_data_create(self.model, None, c.byref(self.data))
        lib.kk_spec_free(spec)
        self.nq, self.nv = lib.kk_model_nq(self.model), lib.kk_model_nv(self.model)

    def free(self):
        self.lib.kk_data_free(self.data)
        self.lib.kk_model_free(self.model)

    def pointer(self, array):
        return array.ctypes.data_as(c.POINTER(c.c_double))

    def joints(self):
        return [self.lib.kk_model_joint(self.model, b) for b in range(1, self.lib.kk_model_nbody(self.model))]

    def poses(self, q):
        self.lib.kk_kinematics(self.model, self.data, self.pointer(q))
        count = self.lib.kk_model_nbody(self.model)
        return {self.lib.kk_model_body_name(self.model, b).decode(): self.lib.kk_body_pose(self.model, self.data, b)
                for b in range(count)}

    def inertia(self, q):
        M = self.np.zeros((self.nv, self.nv))
        self.lib.kk_inertia_matrix(self.model, self.data, self.pointer(q), self.pointer(M))
        return M

    def inverse_dynamics(self, q, v, a):
        tau = self.np.zeros(self.nv)
        self.lib.kk_inverse_dynamics(self.model, self.data, self.pointer(q), self.pointer(v), self.pointer(a),
                                     self.pointer(tau))
        return tau


def match(np, ours, theirs):
    """How our coordinates lie in theirs: for each of our joints its place there; permutation P with v_theirs = P v_ours."""
    P, places = np.zeros((theirs.nv, ours.nv)), []
    for joint in ours.joints():
        if joint.nv == 0:
            continue
        name = joint.name.decode()
        index = theirs.getJointId(name) if theirs.existJointName(name) else theirs.getJointId("root_joint")
        theirs_joint = theirs.joints[index]
        places.append((joint, theirs_joint))
        order = [3, 4, 5, 0, 1, 2] if joint.nv == 6 else range(joint.nv)
        for k, target in enumerate(order):
            P[theirs_joint.idx_v + target, joint.v + k] = 1
    return P, places


def convert(np, places, q, nq):
    result = np.zeros(nq)
    for joint, their in places:
        part = q[joint.q:joint.q + joint.nq]
        if joint.nq == 7:  # quaternion (w, x, y, z), position
            result[their.idx_q:their.idx_q + 7] = [*part[4:7], part[1], part[2], part[3], part[0]]
        elif their.nq == 2:  # an unbounded angle
            result[their.idx_q:their.idx_q + 2] = [np.cos(part[0]), np.sin(part[0])]
        else:
            result[their.idx_q] = part[0]
    return result


def compare(lib, np, pin, path):
    ours = Robot(lib, np, path)
    text = path.read_text(encoding="utf-8", errors="replace")
    theirs = pin.buildModelFromXML(text)
    if theirs.frames[1].name != "world":
        theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    data = theirs.createData()
    if theirs.nv != ours.nv:
        raise RuntimeError(f"{ours.nv} degrees of freedom, theirs {theirs.nv}")
    P, places = match(np, ours, theirs)
    mass = pin.computeTotalMass(theirs) + theirs.inertias[0].mass
    worst = {"mass": abs(lib.kk_model_mass(ours.model) - mass) / max(mass, 1e-3)}
    for stream in range(STATES):
        q = np.zeros(ours.nq)
        lib.kk_model_random_q(ours.model, c.c_uint64(1), c.c_uint64(stream), ours.pointer(q))
        random = np.random.default_rng(stream)
        v, a = random.standard_normal(ours.nv), random.standard_normal(ours.nv)
        their_q = convert(np, places, q, theirs.nq)
        pin.framesForwardKinematics(theirs, data, their_q)
        for name, X in ours.poses(q).items():
            if theirs.existBodyName(name):
                M = data.oMf[theirs.getBodyId(name)]
                off = max(np.abs(np.array(X.R).reshape(3, 3) - M.rotation).max(), np.abs(np.array(X.p) - M.translation).max())
                worst["poses"] = max(worst.get("poses", 0), off)
        if ours.nv > 0:
            pin.crba(theirs, data, their_q)
            M = np.triu(data.M) + np.triu(data.M, 1).T
            worst["inertia"] = max(worst.get("inertia", 0), np.abs(P.T @ M @ P - ours.inertia(q)).max() / np.abs(M).max())
            tau = P.T @ pin.rnea(theirs, data, their_q, P @ v, P @ a)
            off = np.abs(tau - ours.inverse_dynamics(q, v, a)).max() / max(np.abs(tau).max(), 1e-3)
            worst["rnea"] = max(worst.get("rnea", 0), off)
    ours.free()
    return worst


def main(names):
    sys.path.insert(0, str(peers.fetch()))
    for folder in pathlib.Path(sys.path[0]).glob("cmeel.prefix/lib/python3*/site-packages"):
        sys.path.insert(0, str(folder))
    import numpy as np
    import pinocchio as pin
    lib = library()
    shared = ROOT.parent / "shared" / "models"
    paths = [pathlib.Path(name) for name in names] or [*sorted((ROOT / "tests" / "io" / "urdf").glob("*.urdf")),
                                                       *sorted(shared.glob("*/urdf/*.urdf"))]
    compared, refused, failed, most = 0, [], 0, {}
    for path in paths:
        if path.stem in OURS_ALONE:
            continue
        try:
            pin.buildModelFromXML(path.read_text(encoding="utf-8", errors="replace"))
        except Exception:  # whatever the peer's parser throws
            refused.append(path.stem)
            continue
        worst = compare(lib, np, pin, path)
        compared += 1
        most = {key: max(most.get(key, 0), worst.get(key, 0)) for key in {*most, *worst}}
        if max(worst.values()) > BAR:
            failed += 1
            print(f"FAILED {path.name}: {worst}")
    figures = ", ".join(f"{key} {value:.1e}" for key, value in sorted(most.items()))
    print(f"urdf: {compared - failed} of {compared} files agree; worst: {figures}; refused by the peer: {', '.join(refused) or 'none'}; "
          f"ours alone: {len(OURS_ALONE)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
