#!/usr/bin/env python3
"""Makes tests/golden/mjcf/sensors.inc anew from MuJoCo 4.0.1 (pip install mujoco-core==4.0.1 numpy). Run by hand.

A model with every sensor of positions, velocities, forces and accelerations that needs no contact, and what they read at keyframes. The time
step is a microsecond, so that what a step reads at its middle is what MuJoCo reads at its start.
"""
import pathlib
import mujoco
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "mjcf"
STATES = 6
BODIES = """
<option timestep="1e-6" magnetic=".1 .2 .3" gravity="1 -2 -9"><flag contact="disable"/></option>
<worldbody>
  <geom name="ground" type="plane" size="5 5 1" pos="0 0 -2" contype="0" conaffinity="0"/><site name="ws" pos=".1 .2 .3" euler="10 20 30"/>
  <body name="a" pos="0 0 1" euler="10 0 20">
    <joint name="j" range="-30 30" stiffness="3" springref="10" damping=".2"/>
    <joint name="j2" type="slide" axis="1 0 0" range="-.1 .1" armature=".3"/>
    <geom name="g" size=".1" pos=".3 0 0"/><geom name="h" type="box" size=".1 .1 .2" pos="-.3 0 .2" euler="10 20 30"/>
    <site name="s" pos=".1 0 0" euler="30 0 0" size=".5 .3 .4" type="box"/>
    <site name="cyl" fromto="0 0 -.5 .2 .1 .6" size=".4" type="cylinder"/><site name="cap" fromto="0 0 -.5 .2 .1 .6" size=".4" type="capsule"/>
    <site name="ell" size=".5 .6 .3" type="ellipsoid"/><site name="ball" size=".55"/>
    <body name="b" pos=".4 .1 0">
      <joint name="bj" type="ball" range="0 40" damping=".1"/>
      <geom name="cap" type="capsule" size=".05 .2" pos="0 0 .2" euler="30 40 0"/><inertial mass="2" pos=".1 .2 .3" diaginertia=".1 .2 .25" euler="5 6 7"/>
      <site name="t" pos=".1 .1 .3" euler="0 50 0"/>
    </body>
  </body>
  <body name="c" pos="1 0 1"><freejoint name="cf"/><geom name="k" size=".2"/><geom name="cy" type="cylinder" size=".1 .2" pos=".2 .3 0"/>
    <geom name="el" type="ellipsoid" size=".1 .2 .15" pos="-.2 -.2 .1"/><site name="cs" pos=".1 .2 .3" euler="40 0 10"/></body>
</worldbody>
<tendon><fixed name="t" limited="true" range="-.1 .1" stiffness="2" springlength=".2"><joint joint="j" coef="2"/></fixed>
  <spatial name="sp" stiffness="5" springlength=".3"><site site="ws"/><site site="t"/></spatial></tendon>
<actuator><motor name="m1" joint="j" gear="3"/><motor name="m2" tendon="t" gear="5"/><position name="m3" tendon="t" kp="10"/>
  <motor name="m4" joint="j2" gear="4"/><motor name="m5" site="cs" gear="1 2 3 .1 .2 .3"/><motor name="m6" joint="bj" gear="0 .3 0"/></actuator>
"""
NOW, STEP = [], []


def now(text):
    NOW.append(text)


for what in ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel"):
    for kind, name in (("body", "b"), ("xbody", "b"), ("geom", "cap"), ("site", "t"), ("site", "cs")):
        now(f'<{what} objtype="{kind}" objname="{name}"/>')
        for rkind, rname in (("xbody", "c"), ("site", "s"), ("geom", "h"), ("body", "b")):
            now(f'<{what} objtype="{kind}" objname="{name}" reftype="{rkind}" refname="{rname}"/>')
for what in ("magnetometer", "velocimeter", "gyro"):
    for site in ("s", "t", "ws", "cs"):
        now(f'<{what} site="{site}"/>')
for what in ("jointpos", "jointvel", "jointlimitpos", "jointlimitvel"):
    for joint in ("j", "j2") + (("bj",) if "limit" in what else ()):
        now(f'<{what} joint="{joint}"/>')
now('<ballquat joint="bj"/>')
now('<ballangvel joint="bj"/>')
for what in ("tendonpos", "tendonvel"):
    now(f'<{what} tendon="t"/>')
    now(f'<{what} tendon="sp"/>')
now('<tendonlimitpos tendon="t"/>')
now('<tendonlimitvel tendon="t"/>')
for what in ("actuatorpos", "actuatorvel"):
    for m in ("m1", "m2", "m3", "m4"):
        now(f'<{what} actuator="{m}"/>')
for what in ("subtreecom", "subtreelinvel", "subtreeangmom"):
    for b in ("a", "b", "c", "world"):
        now(f'<{what} body="{b}"/>')
now('<clock/>')
now('<e_potential/>')
now('<e_kinetic/>')
for what in ("distance", "normal", "fromto"):
    for one, two in (("geom1='g'", "geom2='k'"), ("geom1='k'", "geom2='cap'"), ("body1='a'", "body2='c'"), ("geom1='g'", "body2='c'"), ("geom1='cap'", "geom2='ground'")):
        for cutoff in ("10", ".2", "0"):
            now(f"<{what} {one} {two} cutoff='{cutoff}'/>")
for site in ("s", "cyl", "cap", "ell", "ball"):
    for kind, name in (("geom", "g"), ("xbody", "b"), ("site", "t"), ("geom", "k"), ("body", "b")):
        now(f'<insidesite objtype="{kind}" objname="{name}" site="{site}"/>')
for what in ("actuatorfrc",):
    for m in ("m1", "m2", "m3", "m4", "m5"):
        STEP.append(f'<{what} actuator="{m}"/>')
for joint in ("j", "j2"):
    STEP.append(f'<jointactuatorfrc joint="{joint}"/>')
STEP.append('<tendonactuatorfrc tendon="t"/>')
for what in ("framelinacc", "frameangacc"):
    for kind, name in (("body", "b"), ("xbody", "b"), ("geom", "cap"), ("site", "cs")):
        STEP.append(f'<{what} objtype="{kind}" objname="{name}"/>')
for what in ("accelerometer", "force", "torque"):
    # what a site's actuator does to its own body goes through a free joint there, and through none here
    for site in ("s", "t", "cs")[:3 if what == "accelerometer" else 2]:
        STEP.append(f'<{what} site="{site}"/>')


def vector(v):
    return " ".join(repr(round(float(x), 12) + 0.0) for x in v)


def keys(m):
    """Within limits, so that none acts, but for the first two, which only positions and velocities are read at."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(STATES):
        w = 3.0 if i < 2 else 0.2
        ball = rng.normal(size=3) * 0.3 * w
        half = np.linalg.norm(ball) / 2
        quat = [np.cos(half), *(np.sin(half) * ball / (2 * half))]
        free = rng.normal(size=4)
        q = [rng.uniform(-.2, .2) * w, rng.uniform(-.2, .2) * w * .4, *quat, *(rng.normal(size=3) * .5 + [1.7, 0, 1.2]), *(free / np.linalg.norm(free))]
        rows.append(f'<key name="k{i}" time="{i}.5" qpos="{vector(q)}" qvel="{vector(rng.normal(size=m.nv))}" ctrl="{vector(rng.normal(size=m.nu))}"/>')
    return "<keyframe>" + "\n".join(rows) + "</keyframe>"


def write():
    sensors = "<sensor>\n" + "\n".join(NOW + STEP) + "\n</sensor>\n"
    m = mujoco.MjModel.from_xml_string("<mujoco>" + BODIES + "</mujoco>")
    xml = "<mujoco>" + BODIES + sensors + keys(m) + "</mujoco>"
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    out = [f"// Made by tests/golden/make_sensors.py from MuJoCo {mujoco.__version__}. Do not edit.\n", "static const char sensors_xml[] =\n"]
    for line in xml.splitlines():
        out.append('    "' + line.replace('"', '\\"') + '\\n"\n')
    first = int(m.sensor_adr[len(NOW)])
    out.append(f";\nenum {{ SENSORS_NOW = {first}, SENSORS_ALL = {m.nsensordata}, SENSORS_FREE = 2 }};\n")
    out.append(f"static const double sensors_read[][{m.nsensordata}] = {{\n")
    for k in range(STATES):
        mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_forward(m, d)
        out.append("    {" + ", ".join(repr(round(float(x), 12) + 0.0) for x in d.sensordata) + "},\n")
    out.append("};\n")
    (FOLDER / "sensors.inc").write_text("".join(out))


write()
