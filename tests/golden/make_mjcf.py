#!/usr/bin/env python3
"""Makes tests/golden/mjcf/models.inc anew from MuJoCo 4.0.1 (pip install mujoco-core==4.0.1 numpy). Run by hand.

Each case: its files (the first is the model's), and what MuJoCo makes of them: counts, bodies with masses and centers of mass, names of
actuators, sensors and tendons in their order, and poses of all bodies at the start and at every keyframe, with its controls.
"""
import os
import pathlib
import tempfile
import mujoco
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "mjcf"
O = mujoco.mjtObj

CHILD = """<mujoco model="child">
  <compiler angle="radian"/>
  <option timestep="0.004"/>
  <default>
    <geom density="500"/><joint damping="3"/><motor gear="7"/>
    <default class="k"><geom size=".3"/></default>
  </default>
  <asset><mesh name="tet" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <geom name="floor" type="sphere" size=".2"/>
    <site name="ws"/>
    <body name="a" pos="1 0 0" childclass="k">
      <joint name="ja" axis="0 1 0" range="-1 1"/>
      <geom name="ga" type="sphere"/>
      <site name="sa"/>
      <body name="b" pos="0 0 .5" euler="0 .3 0">
        <joint name="jb" type="slide"/><geom name="gb" type="mesh" mesh="tet"/><site name="sb"/>
      </body>
    </body>
    <body name="c" pos="0 2 0"><freejoint name="jc"/><geom name="gc" type="sphere" size=".1"/></body>
    <frame name="fr" pos="0 0 3" euler="0.5 0 0">
      <body name="d"><joint name="jd" type="ball"/><geom size=".2" class="k"/></body>
    </frame>
  </worldbody>
  <contact>
    <exclude name="ex1" body1="a" body2="b"/><exclude body1="a" body2="c"/><exclude body1="world" body2="a"/>
    <pair geom1="ga" geom2="gc"/>
  </contact>
  <tendon>
    <fixed name="t1"><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed>
    <spatial name="t2"><site site="sa"/><site site="ws"/></spatial>
  </tendon>
  <equality>
    <connect name="eq1" body1="a" anchor="0 0 0"/><joint name="eq2" joint1="ja" joint2="jb"/>
    <weld name="eq4" body1="a" body2="c"/>
  </equality>
  <actuator>
    <motor name="ma" joint="ja"/><motor name="mc" joint="jd" gear="0 0 1 0 0 0"/><general tendon="t1"/>
  </actuator>
  <sensor>
    <jointpos name="s1" joint="ja"/><framepos name="s2" objtype="body" objname="c"/>
    <framepos objtype="xbody" objname="b" reftype="xbody" refname="c"/><actuatorfrc name="s3" actuator="ma"/>
  </sensor>
  <keyframe>
    <key name="k1" qpos=".1 .2 1 2 3 1 0 0 0 .8 0 .6 0" ctrl="1 2 3"/>
    <key name="k2" qvel="1 2 3 4 5 6 7 8 9 10 11" qpos="0 0 1 2 3 0 1 0 0 1 0 0 0"/>
  </keyframe>
</mujoco>"""

# of two keyframes MuJoCo makes something else where a model is attached twice, or in another one
NO_KEYS = CHILD[:CHILD.index("  <keyframe>")] + "</mujoco>"

MIDDLE = """<mujoco model="middle">
  <asset><model name="leaf" file="child.xml"/></asset>
  <worldbody>
    <body name="m" pos="0 0 1"><joint name="jm" axis="1 0 0"/><geom size=".2"/>
      <attach model="leaf" body="a" prefix="l_"/>
    </body>
  </worldbody>
  <actuator><motor name="mm" joint="jm"/></actuator>
  <keyframe><key name="mk" qpos=".5 .1 .2" ctrl="4 5 6"/></keyframe>
</mujoco>"""


def parent(inside="", after="", model="child.xml", more="", name='name="ch" '):
    return f"""<mujoco model="parent">
  <option timestep="0.003"/>
  <default><geom density="100"/><joint armature="9"/><default class="u"><geom size="5 5 5"/></default></default>
  <asset><model {name}file="{model}"/></asset>
  <worldbody>
    <body name="p1"><joint name="jp1"/><geom size=".1"/></body>
    <body name="p" euler="0 0 90" childclass="u"><joint name="jp"/><geom size=".1"/>{inside}</body>
    <body name="p2"><joint name="jp2"/><geom size=".1"/></body>
    {after}
  </worldbody>
  <actuator><motor name="pm" joint="jp"/></actuator>
  <sensor><jointpos name="ps" joint="jp"/></sensor>
  {more}
</mujoco>"""


def attached(model="ch", prefix="c_", **what):
    return "<attach " + " ".join(f'{k}="{v}"' for k, v in dict(model=model, prefix=prefix, **what).items() if v is not None) + "/>"


KEY = '<keyframe><key name="pk" qpos="{}" ctrl="{}"/></keyframe>'
REPLICATED = """<mujoco>
  <worldbody>
    <body name="z"><joint name="jz"/><geom size=".1"/></body>
    <replicate count="2" sep="-" offset="1 0 0">
      <body name="a"><joint name="j"/><geom size=".1"/>
        <replicate count="2" sep="_" offset="0 1 0">
          <body name="b"><joint name="k" axis="1 0 0"/><geom size=".1"/></body>
        </replicate>
      </body>
    </replicate>
    <replicate count="2" sep="-"><body name="c"><joint name="l"/><geom size=".1"/></body></replicate>
  </worldbody>
  <tendon>
    <fixed name="t1"><joint joint="l" coef="1"/></fixed><fixed name="t0"><joint joint="jz" coef="1"/></fixed>
    <fixed name="t2"><joint joint="j" coef="1"/></fixed>
  </tendon>
  <actuator>
    <motor name="ml" joint="l"/><motor name="mk" joint="k"/><motor name="mj" joint="j"/>
    <motor name="mz" joint="jz"/><motor name="named" joint="j-1"/><motor name="mt" tendon="t2"/>
  </actuator>
  <sensor><jointpos name="sk" joint="k"/><jointpos name="sj" joint="j"/><jointpos name="sz" joint="jz"/></sensor>
</mujoco>"""

SELF = """<mujoco>
  <default><default class="k"><geom size=".3"/></default></default>
  <asset><mesh name="tet" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <body name="a" childclass="k"><joint name="j"/><geom name="g" type="sphere"/><geom type="mesh" mesh="tet"/>
      <frame name="f" pos="0 0 1"><body name="b"><joint name="jb" type="slide"/><geom size=".1"/></body></frame></body>
    <body name="q" pos="3 0 0"><geom size=".1"/>
      <attach body="a" prefix="s_"/><frame pos="1 0 0" euler="0 90 0"><attach frame="f" prefix="f_"/></frame></body>
  </worldbody>
  <actuator><motor joint="j" name="m"/><motor joint="jb" name="mb"/></actuator>
</mujoco>"""

BUILTINS = ["sphere 0", "sphere 2", "hemisphere 0", "hemisphere 3", "cone 3 0", "cone 7 .4", "cone 5 1", "supersphere 7 .4 1.3",
            "supersphere 16 .3 .4", "supertorus 9 .3 1 1", "supertorus 16 .2 .4 1.2"]


def builtins():
    """Each with three rules of inertia, one of them scaled, mirrored and shifted."""
    assets, bodies = "", ""
    for i, (word, numbers) in enumerate(b.split(" ", 1) for b in BUILTINS):
        for rule, more in (("legacy", 'scale=".2 .13 -.085" refpos=".1 0 .2"'), ("exact", ""), ("shell", "")):
            assets += f'<mesh name="{rule}{i}" builtin="{word}" params="{numbers}" inertia="{rule}" {more}/>\n'
            bodies += f'<body name="{rule}{i}"><freejoint/><geom type="mesh" mesh="{rule}{i}"/></body>\n'
    return f"<mujoco><asset>\n{assets}</asset><worldbody>\n{bodies}</worldbody></mujoco>"


POINTS = """<mujoco>
  <asset>
    <mesh name="points" vertex="0 0 0  1 0 0  0 1 0  0 0 1  .2 .2 .2"/>
    <mesh name="hull" vertex="0 0 0  1 0 0  0 1 0  0 0 1  1 1 1" inertia="convex"/>
  </asset>
  <worldbody>
    <body name="a"><freejoint/><geom type="mesh" mesh="points"/></body>
    <body name="b"><freejoint/><geom type="mesh" mesh="hull"/></body>
  </worldbody>
</mujoco>"""

EMPTY = """<mujoco>
  <size nkey="3" nconmax="100" njmax="200"/>
  <default><geom density="500" rgba="1 0 0 1"/><default class="c"><geom density="" size=".3"/></default></default>
  <asset><material name="m" rgba=""/></asset>
  <worldbody>
    <body name="a" pos=""><joint range="" armature="" axis=""/><geom rgba="" class="c" mass="" contype="" friction="" fromto=""/></body>
    <body name="b" pos="1 0 0" quat=""><freejoint/><geom size=".1" material="" name=""/></body>
  </worldbody>
  <keyframe><key name="k" qpos="" qvel="" time="2"/></keyframe>
</mujoco>"""

CASES = {
    "whole": [parent(after=attached()), CHILD],
    "body": [parent(inside=attached(body="a")), CHILD],
    "inner_body": [parent(inside=attached(body="b")), CHILD],
    "free_body": [parent(after=attached(body="c")), CHILD],
    "frame": [parent(inside=attached(frame="fr")), CHILD],
    "two_prefixes": [parent(inside=attached(body="d") + attached(body="a", prefix="d_")), NO_KEYS],
    "no_prefix": [parent(inside=attached(body="a", prefix="")), CHILD],
    "by_model_name": [parent(inside=attached(body="a", model="child"), name=""), CHILD],
    "replicated": [
        parent(inside=f'<replicate count="3" sep="-" offset="1 0 0" euler="0 0 30">{attached(body="a")}</replicate>'), CHILD],
    "nested": [parent(inside=attached(body="m"), model="middle.xml"), MIDDLE, NO_KEYS],
    "nested_leaf": [parent(inside=attached(body="l_b"), model="middle.xml"), MIDDLE, NO_KEYS],
    "key_of_all": [parent(inside=attached(body="a"), more=KEY.format("1 2 3 4 5", "1 2 3")), CHILD],
    "key_of_parent": [parent(inside=attached(body="a"), more=KEY.format("1 2 3", "1")), CHILD],
    "itself": [SELF],
    "copies_in_order": [REPLICATED],
    "builtin_meshes": [builtins()],
    "meshes_of_points": [POINTS],
    "empty_numbers": [EMPTY],
}
NAMES = ["model.xml", "child.xml"]


def files_of(case):
    names = ["model.xml", "middle.xml", "child.xml"] if len(case) == 3 else NAMES
    return list(zip(names, case))


def model_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            (pathlib.Path(folder) / name).write_text(text)
        return mujoco.MjModel.from_xml_path(os.path.join(folder, files[0][0]))


def quoted(text):
    return "\n".join('    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in text.splitlines())


def number(v):
    return repr(round(float(v), 15) + 0.0)


def names(m, kind, count):
    return [mujoco.mj_id2name(m, kind, i) or "" for i in range(count)]


def text_of(m):
    """What is compared, as lines of words and numbers."""
    d = mujoco.MjData(m)
    lines = [f"counts {m.nq} {m.nv} {m.nu} {m.nsensor} {m.ntendon} {m.nkey}"]
    bodies = names(m, O.mjOBJ_BODY, m.nbody)
    for i in range(1, m.nbody):
        lines.append(f"body {bodies[i]} " + " ".join(number(v) for v in [m.body_mass[i], *m.body_ipos[i], sum(m.body_inertia[i])]))
    for word, kind, count in (("actuator", O.mjOBJ_ACTUATOR, m.nu), ("sensor", O.mjOBJ_SENSOR, m.nsensor),
                              ("tendon", O.mjOBJ_TENDON, m.ntendon)):
        lines += [f"{word} {n or '-'}" for n in names(m, kind, count)]
    for k in range(-1, m.nkey):
        if k < 0:
            mujoco.mj_resetData(m, d)
        else:
            mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_kinematics(m, d)
        lines.append("pose " + ("start" if k < 0 else names(m, O.mjOBJ_KEY, m.nkey)[k] or "-"))
        for i in range(1, m.nbody):
            lines.append(f"at {bodies[i]} " + " ".join(number(v) for v in [*d.xpos[i], *d.xmat[i][[0, 3, 6]]]))
        if k >= 0:
            lines.append("control " + " ".join(number(v) for v in m.key_ctrl[k]))
    return "\n".join(lines)


def write():
    out = [f"// Made by tests/golden/make_mjcf.py from MuJoCo {mujoco.__version__}. Do not edit.\n"]
    for name, case in CASES.items():
        files = files_of(case)
        for file, text in files:
            out.append(f"static const char {name}_{file.split('.')[0]}[] =\n{quoted(text)};\n")
        out.append(f"static const char {name}_expected[] =\n{quoted(text_of(model_of(files)))};\n")
    out.append("static const golden_model golden_models[] = {\n")
    for name, case in CASES.items():
        parts = ", ".join(f'{{"{f}", {name}_{f.split(".")[0]}}}' for f, _ in files_of(case))
        out.append(f'    {{"{name}", {{{parts}}}, {name}_expected}},\n')
    out.append("};\n")
    (FOLDER / "models.inc").write_text("".join(out))


write()
