#!/usr/bin/env python3
"""Makes tests/golden/tendons/*.inc anew from MuJoCo 4.0.1 (pip install mujoco-core==4.0.1 numpy). Run by hand.

Each file: the model as MJCF, names of its joints, and at random poses the lengths and moment arms of all tendons; muscles.inc: forces and activation
rates of random muscles; actuators.inc: what transmissions and compiled muscles are.
"""
import pathlib
import mujoco
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "tendons"
STATES = 30
HEAD = f"// Made by tests/golden/make_tendons.py from MuJoCo {mujoco.__version__}. Do not edit.\n"

BODIES = """
<worldbody>
  <site name="w0" pos="-.3 .05 .02"/><site name="w1" pos="0 -.25 .1"/><site name="w2" pos=".1 .3 -.2"/>
  <geom name="drum" type="cylinder" size=".09 .1" pos="-.02 .02 .05" euler="20 65 -30" contype="0" conaffinity="0"/>
  <geom name="ball" type="sphere" size=".08" pos=".05 -.02 0" contype="0" conaffinity="0"/>
  <site name="side_drum" pos="-.02 .25 .05"/><site name="side_ball" pos=".05 .3 .1"/>
  <site name="in_drum" pos="-.01 .03 .05"/><site name="in_ball" pos=".06 -.01 .01"/>
  <body name="upper">
    <joint name="j1" type="hinge" axis="0 0 1"/><joint name="j2" type="hinge" axis=".3 1 .2" pos=".02 0 .01"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0"/>
    <site name="u0" pos=".22 .05 .01"/><site name="u1" pos=".2 -.06 .02"/><site name="u2" pos=".3 .04 -.05"/>
    <body name="lower" pos=".4 0 0">
      <joint name="j3" type="hinge" axis="0 .6 .8"/><joint name="j4" type="slide" axis="1 .2 0"/>
      <geom type="capsule" size=".025" fromto="0 0 0 .35 0 0"/>
      <geom name="knuckle" type="cylinder" size=".05 .02" euler="10 5 0" contype="0" conaffinity="0"/>
      <site name="side_knuckle" pos="0 -.2 0"/><site name="l0" pos=".16 .05 .02"/><site name="l1" pos=".15 -.04 -.03"/>
      <body name="hand" pos=".35 0 0">
        <joint name="j5" type="ball"/>
        <geom type="box" size=".05 .03 .02" pos=".05 0 0"/>
        <geom name="pea" type="sphere" size=".02" pos=".03 .01 0" contype="0" conaffinity="0"/>
        <site name="h0" pos=".09 .02 .01"/><site name="h1" pos=".08 -.05 .02"/>
      </body>
    </body>
  </body>
</worldbody>
"""


def spatial(name, *items):
    parts = []
    for item in items:
        if isinstance(item, (int, float)):
            parts.append(f'<pulley divisor="{item}"/>')
        elif isinstance(item, tuple):
            side = f' sidesite="{item[1]}"' if len(item) > 1 else ""
            parts.append(f'<geom geom="{item[0]}"{side}/>')
        else:
            parts.append(f'<site site="{item}"/>')
    return f'<spatial name="{name}">' + "".join(parts) + "</spatial>\n"


PATHS = [
    spatial("straight", "w0", "u0", "l0", "h0"),
    spatial("drum_free", "w0", ("drum",), "u0"),
    spatial("drum_side", "w0", ("drum", "side_drum"), "u1"),
    spatial("drum_inside", "w0", ("drum", "in_drum"), "u0"),
    spatial("ball_free", "w1", ("ball",), "u0"),
    spatial("ball_side", "w1", ("ball", "side_ball"), "u2"),
    spatial("ball_inside", "w2", ("ball", "in_ball"), "u1"),
    spatial("knuckle_free", "u2", ("knuckle",), "l0"),
    spatial("knuckle_side", "u1", ("knuckle", "side_knuckle"), "l1"),
    spatial("pea", "l0", ("pea",), "h1"),
    spatial("long", "w0", ("drum",), "u0", ("knuckle",), "l0", ("pea",), "h0"),
    spatial("pulleys", "w0", "u0", 2, "u0", ("knuckle",), "l0", 2, "u0", "l1", ("pea",), "h1"),
    spatial("moving_side", "w0", ("drum", "u2"), "l0"),
    '<fixed name="sum"><joint joint="j1" coef="1.5"/><joint joint="j4" coef="-2"/></fixed>\n',
]
WRAPS = f'<mujoco><compiler angle="degree"/>{BODIES}<tendon>{"".join(PATHS)}</tendon></mujoco>'


def numbers(values):
    out = []
    for i in range(0, len(values), 6):
        out.append("    " + " ".join(f"{float(x).hex()}," for x in values[i : i + 6]))
    return "\n".join(out) + "\n"


def c_text(text):
    lines = [line for line in text.replace('"', "'").split("\n") if line.strip()]
    return "".join('    "' + line.strip() + ' "\n' for line in lines)


def random_pose(m, rng):
    q = np.zeros(m.nq)
    for j in range(m.njnt):
        at = m.jnt_qposadr[j]
        kind = m.jnt_type[j]
        if kind == mujoco.mjtJoint.mjJNT_BALL or kind == mujoco.mjtJoint.mjJNT_FREE:
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                q[at : at + 3] = rng.uniform(-1, 1, 3)
                at += 3
            x = rng.normal(size=4)
            q[at : at + 4] = x / np.linalg.norm(x)
        elif m.jnt_limited[j]:
            q[at] = rng.uniform(*m.jnt_range[j])
        else:
            q[at] = rng.uniform(-2, 2) if kind == mujoco.mjtJoint.mjJNT_HINGE else rng.uniform(-0.1, 0.1)
    return q


def moments(m, d):
    J = np.zeros((m.ntendon, m.nv))
    for t in range(m.ntendon):
        adr, n = m.ten_J_rowadr[t], m.ten_J_rownnz[t]
        J[t, m.ten_J_colind[adr : adr + n]] = np.asarray(d.ten_J).ravel()[adr : adr + n]
    return J


def write_tendons(name, m, xml):
    d = mujoco.MjData(m)
    rng = np.random.default_rng(7)
    joints = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(m.njnt)]
    text = HEAD
    if xml:
        text += f"static const char {name}_xml[] =\n{c_text(xml)};\n"
    text += f"static const char *const {name}_joint[] = {{" + ", ".join(f'"{j}"' for j in joints) + "};\n"
    text += f"/// For each state the coordinates of the joints, then each tendon's length and moment arms.\n"
    text += f"static const double {name}_state[] = {{\n"
    for _ in range(STATES):
        d.qpos[:] = random_pose(m, rng)
        mujoco.mj_forward(m, d)
        J = moments(m, d)
        row = list(d.qpos)
        for t in range(m.ntendon):
            row += [d.ten_length[t], *J[t]]
        text += numbers(row)
    text += "};\n"
    (FOLDER / f"{name}.inc").write_text(text)


def write_muscles():
    rng = np.random.default_rng(3)
    text = HEAD + "/// range 2, force, lmin, lmax, vmax, fpmax, fvmax, length range 2, time constants 2, smoothing; length, rate, control, activation;\n"
    text += "/// force without activation, force with it, rate of the activation.\n"
    text += "static const double muscle_sample[] = {\n"
    for i in range(300):
        low = rng.uniform(0.4, 0.9)
        prm = [low, low + rng.uniform(0.1, 0.8), rng.uniform(1, 1000), 200, rng.uniform(0.3, 0.7), rng.uniform(1.2, 2), rng.uniform(0.5, 10),
               rng.uniform(0, 2), rng.uniform(1, 2)]
        a = rng.uniform(-1, 1)
        lr = [a, a + rng.uniform(0.05, 1)]
        tau = [rng.uniform(0.005, 0.05), rng.uniform(0.01, 0.1), 0 if i % 2 else rng.uniform(0.05, 1)]
        length = rng.uniform(lr[0] - 0.5 * (lr[1] - lr[0]), lr[1] + 0.7 * (lr[1] - lr[0]))
        l0 = (lr[1] - lr[0]) / (prm[1] - prm[0])
        rate = rng.uniform(-1.3, 1.3) * l0 * prm[6]
        ctrl, act = rng.uniform(-0.2, 1.2), rng.uniform(0, 1)
        gain = mujoco.mju_muscleGain(length, rate, np.array(lr), 1.0, np.array(prm))
        bias = mujoco.mju_muscleBias(length, np.array(lr), 1.0, np.array(prm))
        dact = mujoco.mju_muscleDynamics(ctrl, act, np.array(tau))
        text += numbers([prm[0], prm[1], prm[2], *prm[4:], *lr, *tau, length, rate, ctrl, act, bias, gain * act + bias, dact])
    text += "};\n"
    (FOLDER / "muscles.inc").write_text(text)


CRANK = """
<mujoco><compiler angle="degree"/><worldbody>
  <body name="wheel"><joint name="spin" axis="0 1 0"/><joint name="tip" axis="1 0 .2"/><geom type="cylinder" size=".1 .02" zaxis="0 1 0"/>
    <site name="pin" pos=".08 .01 .02"/></body>
  <body name="rail" pos=".5 0 0"><joint name="sway" axis="0 0 1"/><joint name="lift" type="slide" axis="0 .2 1"/><geom size=".05"/>
    <site name="slider" zaxis="1 .1 .2" pos="-.05 0 0"/></body>
</worldbody><actuator>
  <motor name="a" cranksite="pin" slidersite="slider" cranklength=".6" gear="1.5"/>
  <motor name="short" cranksite="pin" slidersite="slider" cranklength=".02"/>
</actuator></mujoco>
"""


def write_cranks():
    m = mujoco.MjModel.from_xml_string(CRANK)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(5)
    text = HEAD + f"static const char crank_xml[] =\n{c_text(CRANK)};\n"
    text += "/// For each state four coordinates, four velocities, then of both cranks length, rate and four moment arms.\nstatic const double crank_state[] = {\n"
    for _ in range(STATES):
        d.qpos[:] = rng.uniform(-0.6, 0.6, m.nq)
        d.qvel[:] = rng.uniform(-2, 2, m.nv)
        mujoco.mj_forward(m, d)
        row = [*d.qpos, *d.qvel]
        for i in range(2):
            J = np.zeros(m.nv)
            adr, n = d.moment_rowadr[i], d.moment_rownnz[i]
            J[d.moment_colind[adr : adr + n]] = np.asarray(d.actuator_moment).ravel()[adr : adr + n]
            row += [d.actuator_length[i], d.actuator_velocity[i], *J]
        text += numbers(row)
    text += "};\n"
    (FOLDER / "cranks.inc").write_text(text)


def write_arm(path):
    # MuJoCo's own search for length ranges does not converge here (actuator 1)
    xml = path.read_text().replace("<visual>", '<compiler><lengthrange mode="none"/></compiler><visual>', 1)
    m = mujoco.MjModel.from_xml_string(xml)
    write_tendons("arm26", m, None)
    text = (FOLDER / "arm26.inc").read_text()
    text += "/// Of each muscle: 200 over the acceleration of a unit force.\nstatic const double arm26_muscle[] = {\n"
    for i in range(m.nu):
        text += numbers([200 / m.actuator_acc0[i]])
    text += "};\n"
    (FOLDER / "arm26.inc").write_text(text)


CHAIN = """
<mujoco><option timestep="0.0001" integrator="implicitfast"/><worldbody>
  <site name="w" pos="-.1 0 .3"/><site name="up" pos=".1 0 .5"/>
  <geom name="drum" type="cylinder" size=".06 .1" zaxis="0 1 0" pos=".1 0 .05" contype="0" conaffinity="0"/>
  <body><joint name="a" axis="0 1 0" damping=".05"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="s0" pos=".2 0 .05"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0" damping=".05"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
      <site name="s1" pos=".2 0 .03"/></body></body></worldbody>
%s</mujoco>
"""
ROUND = '<site site="w"/><geom geom="drum" sidesite="up"/><site site="s1"/></spatial>'
PATH = '<site site="w"/><site site="s0"/><site site="s1"/></spatial>'
SUMS = '<tendon><fixed name="t1"><joint joint="b" coef="1"/></fixed><fixed name="t2"><joint joint="a" coef="1"/></fixed></tendon>'
MOTIONS = [  # name, what the chain has, seconds, controls
    ("armature", f'<tendon><spatial name="t" armature="2">{PATH}</tendon>', 0.5, []),
    ("fixed armature", '<tendon><fixed name="t" armature=".03"><joint joint="a" coef="1"/><joint joint="b" coef="-.7"/></fixed></tendon>', 0.5, []),
    ("dead band", f'<tendon><spatial name="t" stiffness="300" damping="3" springlength=".35 .55">{ROUND}</tendon>', 0.8, []),
    ("equality", SUMS + '<equality><tendon tendon1="t1" tendon2="t2" polycoef="0 -.8 .5 .1 0" solref=".0001 1" solimp=".9999 .9999 .001"/></equality>', 0.4, []),
    ("delays", '<actuator><motor name="m" joint="a" gear="3" delay=".1" nsample="10001"/>'
     '<position name="p" joint="b" kp="10" kv="1" delay=".05" nsample="6001" interp="linear"/></actuator>', 0.5, [1.5, 0.5]),
    ("pid and dcmotor", '<actuator><pid name="p" joint="a" kp="50" kv="3" input="pos vel ff"/>'
     '<dcmotor name="d" joint="b" resistance="2" motorconst="1.5" damping=".1" armature=".02"/></actuator>', 0.6, [0.4, 0.2, 1, 0.8]),
    ("servo on a tendon", f'<tendon><spatial name="t" actuatorfrcrange="-12 12">{ROUND}</tendon>'
     '<actuator><position name="p" tendon="t" kp="200" kv="20" forcerange="-20 20"/><motor name="q" tendon="t"/></actuator>', 0.8, [0.5, -3]),
    ("muscles", f'<tendon><spatial name="t">{ROUND}<spatial name="u">{PATH}</tendon>'
     '<actuator><muscle name="m" tendon="t" force="80" lengthrange=".3 .6"/>'
     '<muscle name="n" tendon="u" scale="50" lengthrange=".35 .8" tausmooth=".2" timeconst=".02 .05"/></actuator>', 0.5, [0.7, 0.4]),
]


def write_motions():
    """Where the chain is after a while, at a tenth of our time step."""
    text = HEAD + "static const struct {\n    const char *name, *xml;\n    double time, control[4], q[2];\n} motion[] = {\n"
    for name, parts, seconds, control in MOTIONS:
        xml = CHAIN % parts
        m = mujoco.MjModel.from_xml_string(xml)
        m.opt.timestep = 1e-5
        d = mujoco.MjData(m)
        d.ctrl[: len(control)] = control
        for _ in range(round(seconds / m.opt.timestep)):
            mujoco.mj_step(m, d)
        u = ", ".join(str(c) for c in (control + [0, 0, 0, 0])[:4])
        text += f'    {{"{name}",\n{c_text(xml)}     ,{seconds}, {{{u}}}, {{{d.qpos[0]!r}, {d.qpos[1]!r}}}}},\n'.replace("np.float64(", "").replace(")}}", "}}").replace("), ", ", ")
    text += "};\n"
    (FOLDER / "motions.inc").write_text(text)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write_tendons("wraps", mujoco.MjModel.from_xml_string(WRAPS), WRAPS)
    write_muscles()
    write_cranks()
    write_motions()
    arm = pathlib.Path(__file__).resolve().parents[2] / ".." / "shared" / "zoo" / "mujoco" / "tendon_arm" / "arm26.xml"
    if arm.exists():
        write_arm(arm)
