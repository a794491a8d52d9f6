#!/usr/bin/env python3
"""The command-line tool as a user meets it: outputs, exit codes, JSON, misuse. tests/cli/run.py [--tool PATH]

Prints what failed and, last, «N passed, N failed».
"""
import argparse
import csv
import io
import json
import math
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OK, FINDING, USAGE, INPUT, LIMIT = range(5)
INTERRUPTED = 130
TERMINATED = 143


class Bench:
    """Runs the tool and counts what holds."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.passed = self.failed = 0

    def run(self, *words, text=None, env=None):
        environment = {**os.environ, "NO_COLOR": "", "COLUMNS": "88", **(env or {})}
        return subprocess.run([str(self.tool), *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              input=text, timeout=60, env=environment)

    def check(self, name, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED cli: {name}\n{detail}".rstrip())

    def expect(self, name, words, code, out=(), err=(), text=None):
        """The exit code, and pieces of both outputs."""
        done = self.run(*words, text=text)
        missing = [piece for piece in out if piece not in done.stdout] + [piece for piece in err if piece not in done.stderr]
        self.check(name, done.returncode == code and not missing,
                   f"{' '.join(map(str, words))}: code {done.returncode}, lacks {missing}\n{done.stdout}{done.stderr}")
        return done

    def document(self, name, words, code=OK, text=None):
        """One JSON document on the standard output, whatever happens."""
        done = self.run(*words, "--json", text=text)
        try:
            document = json.loads(done.stdout)
        except ValueError as fault:
            self.check(name, False, f"{' '.join(map(str, words))}: {fault}\n{done.stdout[:400]}{done.stderr}")
            return {}
        good = done.returncode == code and document["ok"] == (code == OK) and isinstance(document["notes"], list)
        self.check(name, good, f"{' '.join(map(str, words))}: code {done.returncode}\n{done.stdout[:400]}{done.stderr}")
        return document

    def table(self, *words, text=None):
        """The standard output as columns of numbers; units are taken off the names."""
        done = self.run(*words, text=text)
        rows = list(csv.reader(io.StringIO(done.stdout)))
        if done.returncode != OK or not rows:
            self.check(f"table of {' '.join(map(str, words))}", False, done.stderr)
            return {}
        names = [name.split(" [")[0] for name in rows[0]]
        return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(names)}


def near(a, b, tolerance=1e-12):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


# ---- help, verbs, options --------------------------------------------------------------------------------------------

def check_help(bench, verbs):
    for words in (["help"], ["--help"], ["-h"]):
        bench.expect(f"{words[0]} lists the verbs", words, OK, out=[f"  {verb} " for verb in verbs])
    bench.expect("no verb", [], USAGE, err=["USAGE", "VERBS"])
    for verb in verbs:
        done = bench.expect(f"help {verb}", ["help", verb], OK, out=[f"karakuri {verb}", "USAGE", "--json", "--help"])
        again = bench.run(verb, "--help")
        bench.check(f"{verb} --help is help {verb}", again.stdout == done.stdout, again.stdout)
        bench.check(f"help {verb} keeps to the width", all(len(line) <= 100 for line in done.stdout.splitlines()), done.stdout)
    bench.expect("version", ["version"], OK, out=["karakuri "])
    bench.expect("--version", ["--version"], OK, out=["karakuri "])
    colored = bench.run("help", "--color", "always").stdout
    bench.check("colors when asked for", "\033[1m" in colored)
    bench.check("no colors in a pipe", "\033" not in bench.run("help").stdout)


def check_option_names(bench, verbs):
    """No verb has an option of the name of another of its own, of loading or of all verbs: only one of them could be reached."""
    for verb in verbs:
        lines = bench.run("help", verb).stdout.splitlines()
        names = [line[6:].split()[0] for line in lines if line[:2] == "  " and line[6:8] == "--"]
        bench.check(f"options of {verb} have different names", len(names) == len(set(names)), str(sorted(names)))


def shared_models():
    return pathlib.Path(os.environ.get("KARAKURI_MODELS", ROOT.parent / "shared" / "models"))


def check_keyframes(bench):
    """Every verb that takes a keyframe says which there are."""
    model = ROOT / "models/hrp2/hrp2.xml"
    (bench.folder / "still.csv").write_text("time,waist.q\n0,0\n")
    for words in (["run", model, "-t", "1"], ["render", model, "-o", "x.png"], ["view", model], ["view", model, "--save", "x.html"],
                  ["walk", model], ["ik", model, "-f", "left_sole", "-p", "0,0,0"], ["analyze", model, "still.csv"],
                  ["optimize", model, "-t", "1", "--maximize", "end:head.z", "--limit", "1"]):
        bench.expect(f"keyframe of {words[0]}", [*words, "-k", "nope"], INPUT, err=["no keyframe 'nope' — the model has half_sitting"])


def check_misuse(bench, verbs):
    bench.expect("misspelt verb", ["inof"], USAGE, err=["did you mean 'info'?", "try 'karakuri help'"])
    bench.expect("unknown verb", ["zzzzzz"], USAGE, err=["there is no verb 'zzzzzz'\n"])
    bench.expect("misspelt option", ["info", "--degres", "robot:arm7"], USAGE, err=["did you mean --degrees?", "karakuri help info"])
    bench.expect("misspelt common option", ["info", "--jsno", "robot:arm7"], USAGE, err=["did you mean --json?"])
    bench.expect("unknown letter", ["info", "-z", "robot:arm7"], USAGE, err=["no option -z"])
    bench.expect("missing argument", ["info"], USAGE, err=["needs MODEL"])
    bench.expect("too many arguments", ["info", "robot:arm7", "more"], USAGE, err=["'more' is one argument too many"])
    bench.expect("missing required option", ["compute", "robot:arm7"], USAGE, err=["needs --what"])
    bench.expect("missing value", ["compute", "robot:arm7", "--what"], USAGE, err=["--what needs a value"])
    bench.expect("empty value", ["compute", "robot:arm7", "--what", ""], USAGE, err=["is empty"])
    bench.expect("flag with a value", ["info", "robot:arm7", "--degrees=yes"], USAGE, err=["takes no value"])
    bench.expect("wrong choice", ["info", "robot:arm7", "--color", "neever"], USAGE, err=["auto, always, never", "did you mean 'never'?"])
    bench.expect("no number", ["compute", "robot:arm7", "-w", "zmp", "--floor-height", "high"], USAGE, err=["no finite number"])
    bench.expect("not finite", ["compute", "robot:arm7", "-w", "zmp", "--floor-height", "nan"], USAGE, err=["no finite number"])
    bench.expect("out of range", ["plot", "x.csv", "--width", "3"], USAGE, err=["outside 160 … 10000"])
    bench.expect("no whole number", ["plot", "x.csv", "--width", "300.5"], USAGE, err=["no whole number"])
    bench.expect("wrong shell", ["completion", "csh"], USAGE, err=["bash, zsh, fish"])
    bench.expect("help of nothing", ["help", "compte"], USAGE, err=["did you mean 'compute'?"])
    bench.expect("misspelt robot", ["info", "robot:humanoid63"], INPUT, err=["did you mean 'robot:humanoid36'?"])
    bench.expect("unknown robot", ["info", "robot:zzzzzzzz"], INPUT, err=["there are arm7"])
    bench.expect("missing file", ["info", "no/such/file.urdf"], INPUT, err=["no/such/file.urdf"])
    bench.expect("= and letters", ["compute", "robot:arm7", "--what=com", "-q", "-o-"], OK, out=["com.x"])
    for verb in verbs:
        bench.expect(f"{verb} --zzz", [verb, "--zzz"], USAGE, err=["no option --zzz"])
    for words in (["inof"], ["info", "--degres"], ["info"], ["info", "robot:none"], ["compute", "robot:arm7", "-w", "rnae"]):
        code = bench.run(*words).returncode
        document = bench.document(f"an error as JSON: {words}", words, code)
        error = document.get("error", {})
        bench.check(f"its text: {words}", error.get("text") and error.get("exit_code") == code, str(document))


# ---- generated texts -------------------------------------------------------------------------------------------------

def check_generated(bench, verbs):
    for shell, command in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
        script = bench.expect(f"completion {shell}", ["completion", shell], OK, out=[*verbs, "ignore-extra", "humanoid36"]).stdout
        path = bench.folder / f"completion.{shell}"
        path.write_text(script)
        if shutil.which(command[0]):
            done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=60)
            bench.check(f"{shell} understands its completion", done.returncode == 0, done.stderr)
    complete = 'source completion.bash; COMP_WORDS=(karakuri "$@"); COMP_CWORD=$#; _karakuri; echo "${COMPREPLY[@]}"'
    for words, expected in ((["co"], "compute"), (["info", "rob"], "robot:arm7"), (["info", "--d"], "--degrees"),
                            (["info", "--color", "n"], "never"), (["completion", "z"], "zsh"), (["help", "in"], "info")):
        done = subprocess.run(["bash", "-c", complete, "bash", *words], capture_output=True, text=True, cwd=bench.folder, timeout=60)
        bench.check(f"bash completes {words}", expected in done.stdout.split(), done.stdout + done.stderr)
    pages = bench.folder / "pages"
    pages.mkdir()
    bench.expect("man --out", ["man", "--out", pages], OK)
    names = sorted(path.name for path in pages.iterdir())
    bench.check("a page for each verb", names == sorted(["karakuri.1"] + [f"karakuri-{verb}.1" for verb in verbs]), str(names))
    for path in pages.iterdir():
        text = path.read_text()
        bench.check(f"{path.name} is a page", text.startswith(".TH KARAKURI") and ".SH NAME" in text and ".SH EXIT STATUS" in text)
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", str(path)], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
            bench.check(f"man reads {path.name}", done.returncode == 0 and not done.stderr, done.stderr)
    bench.expect("man of a folder that is not", ["man", "--out", "nowhere"], INPUT, err=["nowhere"])
    for words in (["help"], ["help", "info"], ["man"], ["completion", "bash"], ["version"]):
        bench.document(f"{words} as JSON", words)


# ---- loading ---------------------------------------------------------------------------------------------------------

ARM = """<robot name="r">
  <link name="base"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://kit/part.stl"/></geometry></visual></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/></joint>
  <gazebo reference="arm"><selfCollide>1</selfCollide></gazebo>
</robot>
"""


def write_tetrahedron(path):
    corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    text = "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex %g %g %g\n" % corners[i] for i in f) + "endloop\nendfacet\n"
                   for f in faces)
    path.write_text("solid t\n" + text + "endsolid t\n")


def check_loading(bench):
    (bench.folder / "arm.urdf").write_text(ARM)
    (bench.folder / "paths" / "kit").mkdir(parents=True)
    write_tetrahedron(bench.folder / "paths" / "kit" / "part.stl")
    free = bench.document("a URDF file", ["info", "arm.urdf", "--search", "paths"])
    bench.check("its base is free", free.get("nv") == 7, str(free)[:300])
    bench.check("notes have a place", any(note.startswith("arm.urdf:7:") for note in free["notes"]), str(free["notes"]))
    fixed = bench.document("its base held", ["info", "arm.urdf", "--base", "fixed", "--meshes", "none"])
    bench.check("is fixed", fixed.get("nv") == 1)
    done = bench.expect("notes are printed", ["info", "arm.urdf", "--search", "paths"], OK, err=["arm.urdf:7:", ": note: "])
    bench.check("and --quiet stops them", bench.run("info", "arm.urdf", "--search", "paths", "-q").stderr == "", done.stderr)
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        found = bench.run("info", "arm.urdf", env={name: str(bench.folder / "paths")})
        bench.check(f"a package by {name}", found.returncode == OK and "part.stl" not in found.stderr, found.stderr)
    bench.check("a package by --package-path",
                "part.stl" not in bench.run("info", "arm.urdf", "--package-path", bench.folder / "paths").stderr)
    bench.expect("no number in an argument", ["info", "arm.urdf", "--arg", "x=3"], USAGE, err=["NAME:=VALUE"])
    (bench.folder / "arm.xacro").write_text('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="m" default="1"/>'
                                            '<link name="a"><inertial><mass value="$(arg m)"/><inertia ixx="1" iyy="1" izz="1" ixy="0"'
                                            ' ixz="0" iyz="0"/></inertial></link></robot>')
    bench.check("a xacro argument", bench.document("xacro", ["info", "arm.xacro", "--arg", "m:=7.5"]).get("mass") == 7.5)
    bench.expect("no such kind of base", ["info", "arm.urdf", "--base", "flying"], USAGE, err=["file, fixed, free"])
    (bench.folder / "broken.urdf").write_text("<robot name='r'><link></robot>")
    bench.expect("a broken file", ["info", "broken.urdf"], INPUT, err=["broken.urdf:1:"])
    bench.expect("loading options elsewhere", ["plot", "x.csv", "--search", "paths"], USAGE, err=["no option --search"])


# ---- info ------------------------------------------------------------------------------------------------------------

def check_info(bench):
    bench.expect("info", ["info", "robot:humanoid36"], OK, out=["36 (37 coordinates)", "58 kg", "├─ left_hip_yaw", "free"])
    bench.expect("info in degrees", ["info", "robot:arm7", "--degrees"], OK, out=["166°"])
    document = bench.document("info as JSON", ["info", "robot:humanoid36"])
    bodies = document["bodies"]
    bench.check("degrees of freedom add up", sum(body["joint"]["nv"] for body in bodies) == document["nv"] == 36)
    bench.check("masses add up", near(sum(body["mass"] for body in bodies), document["mass"]))
    names = {body["name"] for body in bodies} | {"world"}
    bench.check("parents exist", all(body["parent"] in names for body in bodies))
    bench.check("no limit is null, not a number", bodies[0]["joint"]["dofs"][0]["lower"] is None)


# ---- check -----------------------------------------------------------------------------------------------------------

BROKEN = """<robot name="bad">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="a"><inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://none/x.stl"/></geometry></visual></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="ja" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 0"/>
    <limit lower="1" upper="-1" effort="1" velocity="1"/></joint>
  <joint name="jb" type="continuous"><parent link="a"/><child link="b"/><mimic joint="jb"/></joint>
</robot>
"""

BROKEN_MJCF = """<mujoco><worldbody>
 <body name="a"><freejoint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>
  <body name="b"><joint name="j" axis="0 0 0" range="1 -1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/>
  <geom type="mesh" mesh="m"/></body>
  <body name="b"><joint name="j" range="-10 20"/><geom size=".1"/></body>
 </body></worldbody><asset><mesh name="m" file="none.stl"/></asset></mujoco>
"""


def check_doctor(bench):
    (bench.folder / "bad.urdf").write_text(BROKEN)
    (bench.folder / "bad.xml").write_text(BROKEN_MJCF)
    bench.expect("a broken URDF file", ["check", "bad.urdf"], FINDING, out=[
        "bad.urdf:3:41: error: link 'a': the mass is negative — ", "bad.urdf:4:39: error: a shape is left out: 'package://none/x.stl' is not found",
        "bad.urdf:6:15: error: a second <link>", "bad.urdf:7:85: error: joint 'ja': the axis is zero — ", "above the upper one",
        "mimics itself", "no body has these moments", "is not connected", "no actuators"])
    bench.expect("a broken MJCF file", ["check", "bad.xml"], FINDING, out=[
        "bad.xml:2:57: error: the mass is negative", "bad.xml:3:40: error: the axis", "upside down", "a second body has the name 'b'",
        "a second joint has", "none.stl", "principal moments 1, 1, 5"])
    document = bench.document("check as JSON", ["check", "bad.urdf", "bad.xml"], FINDING)
    bench.check("its findings", [file["file"] for file in document["files"]] == ["bad.urdf", "bad.xml"] and document["errors"] ==
                sum(f["severity"] == "error" for file in document["files"] for f in file["findings"]) > 8, str(document)[:300])
    for source, out in (("bad.urdf", "good.urdf"), ("bad.xml", "good.xml"), ("bad.urdf", "good2.xml"), ("bad.xml", "good2.urdf")):
        bench.expect(f"{source} repaired as {out}", ["check", source, "--repair", out], FINDING, out=[f"changed in {out}:", "negative"])
        bench.expect(f"{out} is good", ["check", out], OK, out=["0 errors"])
        bodies = {body["name"]: body for body in bench.document(f"info of {out}", ["info", out])["bodies"]}
        bench.check(f"{out}: mass and nearest inertia", bodies["a"]["mass"] == 1 and
                    all(near(x, y, 1e-12) for x, y in zip(bodies["b"]["moment"], (2.5, 2.5, 5, 0, 0, 0))), str(bodies["b"]))
        bench.check(f"{out}: the second name", "b_2" in bodies, str(list(bodies)))
    bench.expect("a good robot", ["check", "robot:humanoid36"], OK, out=["1 file: 0 errors"])
    bench.expect("no file", ["check", "none.urdf"], FINDING, out=["none.urdf", "1 error"])
    bench.expect("no file to repair", ["check", "none.urdf", "--repair", "x.urdf"], INPUT, err=["cannot be repaired"])
    bench.expect("what a repaired file is without", ["check", "bad.urdf", "--repair", "good.urdf"], FINDING, out=[
        "  line 4: a shape is left out: 'package://none/x.stl'", "left as it is: 1 warning for you to decide"])
    (bench.folder / "none.xml").write_text("<mujoco><worldbody><body><geom size='x'/></body></worldbody></mujoco>")
    bench.expect("no nearest repair", ["check", "none.xml", "--repair", "x.xml"], INPUT,
                 out=["none.xml:1:38: error: attribute 'size'", "not positive"], err=["cannot be repaired: ", " — "])
    bench.expect("nothing to check", ["check"], USAGE, err=["needs FILE"])
    bench.expect("two to repair", ["check", "bad.urdf", "bad.xml", "--repair", "x.urdf"], USAGE, err=["--repair takes one file"])
    bench.expect("repair to something", ["check", "bad.urdf", "--repair", "x.obj"], USAGE, err=["--to urdf"])
    bench.expect("repair to nowhere", ["check", "bad.urdf", "--repair", "nowhere/x.urdf"], INPUT, err=["nowhere/x.urdf"])
    bench.expect("notes, and a mesh that is missing", ["check", "arm.urdf", "--notes"], FINDING,
                 out=["arm.urdf:7:27: note: ", "arm.urdf:4:39: error: a shape is left out"])
    (bench.folder / "open.urdf").write_text('<robot name="a">\n <link name="b">\n</robot>')
    done = bench.run("check", "open.urdf", "--repair", "x.urdf", "--json")
    error = json.loads(done.stdout)["error"]
    bench.check("where it cannot be repaired", (error["file"], error["line"], error["column"]) == ("open.urdf", 3, 1), done.stdout)


# ---- convert ---------------------------------------------------------------------------------------------------------

def mass_matrices(bench, model, joints):
    """Bias, inertia matrix and the pose of the last body at three states."""
    columns = ["time"] + [f"{name}.{kind}" for kind in "qv" for name in joints]
    rows = [[n] + [0.3 * math.sin(1 + n + 0.7 * k) for k in range(len(columns) - 1)] for n in range(3)]
    write_table(bench.folder / "states.csv", columns, rows)
    document = bench.document(f"compute {model}", ["compute", model, "-q", "-s", "states.csv", "-w", "crba,bias,com"])
    return document.get("columns", []), document.get("rows", [])


def check_round_trip(bench, source, steps):
    """Mass matrix, bias forces and center of mass stay the same to 1e-12 through any number of formats."""
    info = bench.document(f"info {source}", ["info", source])
    joints = [body["joint"]["name"] for body in info["bodies"] if body["joint"]["nv"] == 1]
    columns, rows = mass_matrices(bench, source, joints)
    places = {column["name"]: i for i, column in enumerate(columns)}
    for target in steps:
        bench.expect(f"convert {source} to {target}", ["convert", source, target, "-q"], OK)
        other_columns, other = mass_matrices(bench, target, joints)
        order = [places.get(column["name"]) for column in other_columns]
        same = None not in order and len(order) == len(columns) > len(joints) and len(other) == len(rows) == 3
        bench.check(f"{target} has the same columns as {source}", same, str(set(places) ^ {c["name"] for c in other_columns})[:300])
        if same:
            worst = max((abs(row[i] - old[order[i]]) / max(1, abs(old[order[i]])) for row, old in zip(other, rows) for i in range(len(order))),
                        default=0)
            bench.check(f"{target} moves like {source}", worst <= 1e-12, f"worst difference {worst:.3g}")
        source = target


def check_convert(bench):
    write_tetrahedron(bench.folder / "part.stl")
    (bench.folder / "meshed.urdf").write_text(ARM.replace("package://kit/", ""))
    (bench.folder / "below").mkdir()
    bench.expect("meshes stay found", ["convert", "meshed.urdf", "below/meshed.xml"], OK, err=["1 mesh is outside"])
    bench.check("by relative paths", '"../part.stl"' in (bench.folder / "below" / "meshed.xml").read_text())
    bench.expect("and are read again", ["convert", "below/meshed.xml", "again.urdf", "--search", "."], OK)
    bench.check("from there, too", '"part.stl"' in (bench.folder / "again.urdf").read_text())
    (bench.folder / "wood.png").write_bytes(b"")
    (bench.folder / "wooden.xml").write_text("<mujoco><asset><texture name='t' type='2d' file='wood.png'/><material name='m' texture='t'/></asset>"
                                             "<worldbody><geom size='1' material='m'/></worldbody></mujoco>")
    for name in ("wooden.xml", "wooden.urdf"):
        bench.expect("textures stay found", ["convert", "wooden.xml", f"below/{name}"], OK)
        bench.check("by relative paths, too", '"../wood.png"' in (bench.folder / "below" / name).read_text())
    for robot in ("arm7", "humanoid36", "quadruped"):
        check_round_trip(bench, f"robot:{robot}", [f"{robot}.urdf", f"{robot}.xml", f"{robot}2.urdf"])
    bench.expect("to the standard output", ["convert", "robot:arm7", "-", "--to", "urdf"], OK, out=["<robot"])
    bench.expect("to something", ["convert", "robot:arm7", "x.obj"], USAGE, err=["--to urdf"])
    bench.expect("from nothing", ["convert", "none.urdf", "x.urdf"], INPUT, err=["none.urdf"])
    bench.expect("two things on one output", ["convert", "robot:arm7", "-", "--to", "urdf", "--json"], USAGE, err=["name a file"])
    document = bench.document("convert as JSON", ["convert", "robot:arm7", "arm7.xml"])
    bench.check("its format", document["format"] == "mjcf")
    for name in ("jvrc1/urdf/jvrc1.urdf", "unitree_h1/h1.xml", "agility_cassie/cassie.xml", "shadow_hand/right_hand.xml",
                 "anybotics_anymal_c/anymal_c.xml", "franka_emika_panda/panda.xml", "robotiq_2f85/2f85.xml"):
        path = shared_models() / name
        if path.exists():
            stem = path.stem
            check_round_trip(bench, str(path), [f"rt_{stem}.urdf", f"rt_{stem}.xml", f"rt_{stem}2.urdf"])


# ---- compute ---------------------------------------------------------------------------------------------------------

def write_table(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[repr(float(x)) for x in row] for row in rows])


def arm_states(bench, count=5):
    joints = [f"link{i}_joint" for i in range(1, 8)]
    columns = ["time"] + [f"{joint}.{kind}" for kind in ("q", "v", "a") for joint in joints]
    rows = [[0.1 * n] + [math.sin(1 + n + 0.7 * k) for k in range(21)] for n in range(count)]
    write_table(bench.folder / "arm.csv", columns, rows)
    return joints, columns, rows


def check_identities(bench):
    """Forward dynamics undoes inverse dynamics; tau = M a + bias; power is the rate of energy's work; V = J v."""
    joints, columns, rows = arm_states(bench)
    states = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    what = "rnea,crba,bias,power,energy,velocity:link7,jacobian:link7,kinematics:link7"
    result = bench.table("compute", "robot:arm7", "-s", "arm.csv", "-w", what, "-q")
    if not result:
        return
    bench.check("time is copied", result["time"] == states["time"])
    taus = [[result[f"{joint}.tau"][n] for joint in joints] for n in range(len(rows))]
    for n in range(len(rows)):
        for i, joint in enumerate(joints):
            total = result[f"{joint}.bias"][n]
            for k, other in enumerate(joints):
                entry = f"M.{joint}:{other}" if i <= k else f"M.{other}:{joint}"
                total += result[entry][n] * states[f"{other}.a"][n]
            bench.check(f"tau = M a + bias, {joint}, row {n}", near(total, taus[n][i], 1e-10), f"{total} {taus[n][i]}")
        for part in ("wx", "wy", "wz", "vx", "vy", "vz"):
            product = sum(result[f"link7.J.{part}:{joint}"][n] * states[f"{joint}.v"][n] for joint in joints)
            bench.check(f"V = J v, {part}, row {n}", near(product, result[f"link7.{part}"][n], 1e-10))
        power = sum(taus[n][i] * states[f"{joint}.v"][n] for i, joint in enumerate(joints))
        bench.check(f"power, row {n}", near(power, result["power.total"][n], 1e-10))
        norm = sum(result[f"link7.{part}"][n] ** 2 for part in ("qw", "qx", "qy", "qz"))
        bench.check(f"unit quaternion, row {n}", near(norm, 1))
    forward = columns[:15] + [f"{joint}.tau" for joint in joints]
    write_table(bench.folder / "forward.csv", forward, [row[:15] + taus[n] for n, row in enumerate(rows)])
    back = bench.table("compute", "robot:arm7", "--states", "forward.csv", "--what", "aba")
    for joint in joints:
        for n in range(len(rows)):
            bench.check(f"aba undoes rnea, {joint}, row {n}", near(back[f"{joint}.a"][n], states[f"{joint}.a"][n], 1e-9))


def check_standing(bench):
    """A robot at rest: the ZMP lies below the center of mass and the floor bears the weight, wherever it stands and is turned."""
    base = "pelvis_joint.q"
    half = math.sqrt(0.5)
    text = f"time,{base}.qw,{base}.qz,{base}.x,{base}.y,{base}.z\n0,1,0,0,0,0.7\n1,{half:.6f},{half:.6f},2,-1,0.7\n"
    done = bench.expect("states from the standard input", ["compute", "robot:humanoid36", "-s", "-", "-w", "com,zmp,floor"], OK,
                        err=["taken as zero", "in 1 of 2 rows a quaternion was scaled"], text=text)
    result = bench.table("compute", "robot:humanoid36", "-q", "-s", "-", "-w", "com,zmp,floor", text=text)
    for n in range(2 if result and done.returncode == OK else 0):
        bench.check(f"zmp below com, row {n}", near(result["zmp.x"][n], result["com.x"][n], 1e-9) and
                    near(result["zmp.y"][n], result["com.y"][n], 1e-9), str(result))
        bench.check(f"weight, row {n}", near(result["floor.fz"][n], 58 * 9.81, 1e-9))
    bench.check("turned and moved", near(result["com.x"][1], 2, 1e-5) and near(result["com.y"][1], -1 + 0.010965517, 1e-5), str(result))


def check_compute_misuse(bench):
    arm = ["compute", "robot:arm7"]
    arm_states(bench)
    (bench.folder / "extra.csv").write_text("time,link1_joint.qq\n0,1\n")
    (bench.folder / "odd.csv").write_text("time,temperature [K]\n0,300\n")
    (bench.folder / "nan.csv").write_text("time,link1_joint.q\n0,nan\n")
    (bench.folder / "short.csv").write_text("time,link1_joint.q\n0\n")
    (bench.folder / "quat.csv").write_text("# a note\npelvis_joint.q.qw\n1\n2\n")
    (bench.folder / "fall.csv").write_text("pelvis_joint.a.vz\n-9.81\n")
    bench.expect("misspelt quantity", [*arm, "-w", "rnae"], USAGE, err=["did you mean 'rnea'?"])
    bench.expect("misspelt frame", [*arm, "-w", "jacobian:lnik7"], INPUT, err=["did you mean 'link7'?"])
    bench.expect("quantity without its name", [*arm, "-w", "jacobian"], USAGE, err=["jacobian:FRAME"])
    bench.expect("quantity with a name too many", [*arm, "-w", "com:link7"], USAGE, err=["takes no name"])
    bench.expect("twice", [*arm, "-w", "com,com"], USAGE, err=["stands twice"])
    bench.expect("misspelt column", [*arm, "-w", "rnea", "-s", "extra.csv"], INPUT, err=["extra.csv:1", "did you mean 'link1_joint.q'?"])
    bench.expect("foreign column", [*arm, "-w", "rnea", "-s", "odd.csv"], INPUT, err=["'temperature'", "--ignore-extra"])
    bench.expect("foreign column skipped", [*arm, "-w", "rnea", "-s", "odd.csv", "--ignore-extra"], OK, err=["taken as zero"])
    bench.expect("nan", [*arm, "-w", "rnea", "-s", "nan.csv"], INPUT, err=["nan.csv:2:3: error: 'nan' is not a finite number"])
    bench.expect("short row", [*arm, "-w", "rnea", "-s", "short.csv"], INPUT, err=["short.csv:2:"])
    bench.expect("no file", [*arm, "-w", "rnea", "-s", "none.csv"], INPUT, err=["none.csv"])
    bench.expect("a folder", [*arm, "-w", "rnea", "-s", "."], INPUT, err=["directory"])
    bench.expect("no place to write", [*arm, "-w", "rnea", "-o", "nowhere/out.csv"], INPUT, err=["nowhere/out.csv"])
    human = ["compute", "robot:humanoid36"]
    bench.expect("no unit quaternion", [*human, "-w", "com", "-s", "quat.csv"], INPUT, err=["quat.csv:4: error:", "pelvis_joint"])
    bench.expect("zmp of a falling robot", [*human, "-w", "zmp", "-s", "fall.csv"], INPUT, err=["fall.csv:2", "--allow-nan"])
    bench.expect("zmp of a falling robot, allowed", [*human, "-w", "zmp", "-s", "fall.csv", "--allow-nan"], OK, out=["\nnan,nan,0\n"])


def check_compute_json(bench):
    document = bench.document("compute as JSON", ["compute", "robot:arm7", "-s", "arm.csv", "-w", "rnea,com"])
    bench.check("its rows", len(document["rows"]) == document["row_count"] == 5 and
                all(len(row) == len(document["columns"]) == 11 for row in document["rows"]))
    document = bench.document("compute to a file as JSON", ["compute", "robot:arm7", "-s", "arm.csv", "-w", "com", "-o", "com.csv"])
    bench.check("its numbers are in the file", document["rows"] == [] and len((bench.folder / "com.csv").read_text().splitlines()) == 6)
    direct = bench.run("compute", "robot:arm7", "-s", "arm.csv", "-w", "com").stdout
    bench.check("file and output are the same", direct == (bench.folder / "com.csv").read_text())


# ---- run, replay, export ---------------------------------------------------------------------------------------------

SCENE = """<mujoco model="scene"><option timestep="0.002"/>
 <worldbody><geom type="plane" size="5 5 1"/>
  <body name="box" pos="0 0 0.3"><freejoint name="box"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
  <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.03 0.2" mass="1"/>
   <body name="fore" pos="0 0 0.3"><joint name="elbow" axis="0 1 0"/><geom type="capsule" size="0.02 0.1" mass="0.3"/></body></body>
 </worldbody>
 <actuator><position name="servo" joint="hinge" kp="100" kv="10"/><motor joint="elbow"/></actuator>
 <keyframe><key name="raised" qpos="0 0 0.5 1 0 0 0 0.5 0" ctrl="0.5 0"/></keyframe></mujoco>
"""


def check_run(bench):
    (bench.folder / "scene.xml").write_text(SCENE)
    document = bench.document("run as JSON", ["run", "scene.xml", "-t", "0.6", "-o", "a.kkr", "-l", "a.csv", "--key-every", "64"])
    bench.check("its figures", document["steps"] == 300 and near(document["time"], 0.6, 1e-9) and document["worst_residual"] <= 1e-9 and
                document["most_contacts"] == 4 and document["hit_iteration_limit"] == 0, str(document))
    rows = list(csv.reader(open(bench.folder / "a.csv")))
    names = [name.split(" [")[0] for name in rows[0]]
    bench.check("its log", len(rows) == 301 and {"time", "box.q.z", "hinge.q", "elbow.v", "servo.u", "elbow.u", "residual", "contacts"} <=
                set(names), str(names))
    # free fall from the center at 0.3 m: z = 0.3 - g t²/2 while it does not touch
    fall = [(float(row[0]), float(row[names.index("box.q.z")])) for row in rows[1:51]]
    bench.check("the box falls freely", all(abs(z + 4.905 * t * t - fall[0][1] - 4.905 * fall[0][0] ** 2) < 1e-9 for t, z in fall), str(fall[-1]))
    bench.check("and comes to rest on the floor", near(float(rows[-1][names.index("box.q.z")]), fall[0][1] - 0.2, 1e-4), rows[-1][7])
    scene = bench.document("info of a scene", ["info", "scene.xml"])
    bench.check("its actuators and keyframes", scene["actuators"] == ["servo", "elbow"] and scene["keyframes"] == ["raised"] and
                scene["colliding_shapes"] == 4 and scene["timestep"] == 0.002, str(scene)[:300])
    bench.expect("for people", ["info", "scene.xml"], OK, out=["4 shapes (4 collide), 2 actuators", "keyframes           raised"])
    bench.expect("a summary", ["run", "scene.xml", "-t", "0.1"], OK, out=["real time", "residual", "contacts", "energy"])
    bench.expect("a tolerance that shows", ["run", "scene.xml", "-t", "0.01", "--tolerance", "0.1"], OK, err=["creep"])
    if os.cpu_count() < 64:
        bench.expect("more workers than processors", ["run", "scene.xml", "-t", "0.01", "--workers", "64"], OK, err=["processors"])
    bench.expect("every tenth step", ["run", "scene.xml", "-t", "0.1", "-l", "few.csv", "--every", "10"], OK)
    bench.check("are 5 rows", len((bench.folder / "few.csv").read_text().splitlines()) == 6)
    held = bench.document("from a keyframe", ["run", "scene.xml", "-t", "0.002", "--keyframe", "raised", "-l", "key.csv"])
    bench.check("its controls are held", held and bench_column(bench, "key.csv", "servo.u") == [0.5])
    budget = bench.document("with a budget", ["run", "scene.xml", "-t", "0.4", "--budget", "1", "--dt", "0.01"])
    bench.check("steps of dt", budget["steps"] == 40 and budget["timestep"] == 0.01)
    cassie = shared_models() / "agility_cassie" / "cassie.xml"
    if cassie.exists():
        done = bench.run("run", cassie, "-t", "0.1")  # all zeros is no pose that it could have
        hint = "beyond its limit at the start; start within limits, with --keyframe home"
        bench.check("joints beyond their limits at the start", done.returncode == OK or hint in done.stderr, done.stderr)
    check_logs(bench)
    check_interrupts(bench)
    check_replay(bench)


# a log is a table of states, a motion and a table of controls as it is
def check_logs(bench):
    bench.expect("a log as states", ["compute", "scene.xml", "-s", "a.csv", "-w", "energy", "-o", "energy.csv"], OK)
    kinetic, logged = bench_column(bench, "energy.csv", "energy.kinetic"), bench_column(bench, "a.csv", "energy.kinetic")
    bench.check("has the energy that the steps told", len(kinetic) == 300 and all(abs(a - b) < 1e-9 for a, b in zip(kinetic, logged)))
    bench.expect("a log as motion", ["analyze", "scene.xml", "a.csv", "-o", "of_log"], OK, out=["300 frames"])
    bench.expect("a log as controls", ["run", "scene.xml", "-t", "0.1", "-c", "a.csv"], OK)
    lines = (bench.folder / "a.csv").read_text().replace("residual", "residue").replace("servo.u", "serve.u").splitlines()
    (bench.folder / "no_log.csv").write_text("\n".join(lines) + "\n")
    bench.expect("is refused among states", ["compute", "scene.xml", "-s", "no_log.csv", "-w", "energy"], INPUT, err=["--ignore-extra"])
    bench.expect("and in a motion", ["analyze", "scene.xml", "no_log.csv", "-o", "of_log"], INPUT, err=["serve.u"])


STIFF = """<mujoco><option timestep="0.01"/><worldbody><body name="b"><joint name="knee" axis="0 1 0" range="-60 60"/>
<geom type="capsule" fromto="0 0 0 0 0 .3" size=".02" mass=".1"/></body></worldbody>
<actuator><position name="p" joint="knee" kp="1e5"/></actuator><keyframe><key name="off" qpos=".5" ctrl="0"/></keyframe></mujoco>"""


# where the energy of a run came from and went, and what may have made it run away
def check_soak(bench):
    hrp2 = [ROOT / "models" / "hrp2" / "hrp2.xml", "-k", "half_sitting"]
    soak = bench.document("a soak of 1e5 steps", ["soak", *hrp2, "-n", 100000], OK)
    looks = soak.get("looks", [])
    bench.check("looks at each tenth", [look["steps"] for look in looks] == [10000 * i for i in range(1, 11)], str(soak))
    bench.check("flat memory, nothing asked for in its second half", soak["memory_is_flat"] and looks[4]["requests"] == looks[9]["requests"], str(looks))
    bench.check("replays alike", soak["replays_alike"] and soak["replayed_steps"] == 10000, str(soak))
    short = bench.document("a short one", ["soak", *hrp2, "-n", 10000], OK)
    bench.check("has the bits of the long one's first tenth", short["state_hash"] == looks[0]["state_hash"], str(short))
    bench.expect("an expected hash", ["soak", *hrp2, "-n", 10000, "--expect", short["state_hash"]], OK, out=["flat", "to the same bits"])
    bench.expect("another one", ["soak", *hrp2, "-n", 10000, "--expect", "0"], FINDING, out=["not expected"])
    other = bench.document("another seed", ["soak", *hrp2, "-n", 10000, "--seed", 1], OK)
    bench.check("other controls", other["state_hash"] != short["state_hash"])
    again = bench.document("episodes", ["soak", "robot:arm7", "-n", 2000, "--episode", 200, "--shake", 0], OK)
    bench.check("begin anew", len({look["state_hash"] for look in again["looks"]}) == 1, str(again))
    capped = bench.document("a ceiling of effort", ["soak", *hrp2, "-n", 2000, "--budget", 2], OK)
    bench.check("is counted where it cuts short", capped["cut_short"] > 0, str(capped))


def check_ledger(bench):
    (bench.folder / "stiff.xml").write_text(STIFF)
    told = bench.document("energy as JSON", ["run", "stiff.xml", "-t", "0.5", "-k", "off"])
    energy = told["energy"]
    change = sum(energy[k] for k in ("actuators", "applied", "moved", "correction", "integration_error")) - energy["dissipated"] - energy["numerical_damping"]
    bench.check("energy adds up", abs(told["energy_after"] - told["energy_before"] - change) <= 1e-9 and energy["actuators"] != 0
                and not energy["from_nowhere"], str(told))
    bench.expect("servos of the step's start run away", ["run", "stiff.xml", "-t", "0.5", "-k", "off", "--explicit-servos"], OK,
                 out=["runs away", '"knee" is held with 1e+05', "time step below", "limits"])
    fine = bench.run("run", "stiff.xml", "-t", "0.5", "-k", "off")
    bench.check("and only they", "runs away" not in fine.stdout, fine.stdout)
    (bench.folder / "swing.xml").write_text("<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body></worldbody></mujoco>")
    rk4 = bench.document("another integrator", ["run", "swing.xml", "-t", "0.01", "--integrator", "rk4"])
    own = bench.document("the model's", ["run", "swing.xml", "-t", "0.01"])
    bench.check("they differ", rk4["state_hash"] != own["state_hash"] and abs(rk4["energy_before"] - own["energy_before"]) < 1e-9)
    options = ["--restitution", "newton", "--restitution-speed", "0.1", "--correction", "0.001", "--follow", "step", "--contacts", "50", "--newton", "40"]
    bench.expect("options of steps", ["run", "scene.xml", "-t", "0.1", *options], OK, out=["in all"])
    raw = subprocess.run([str(bench.tool), "run", "scene.xml", "-t", "0.02", "-o", "-"], capture_output=True, cwd=bench.folder)
    (bench.folder / "piped.kkr").write_bytes(raw.stdout)
    bench.check("a summary beside a recording", b"simulated" in raw.stderr and not (bench.folder / "-").exists(), str(raw.stderr))
    bench.expect("a recording through a pipe", ["replay", "piped.kkr", "--verify"], OK, out=["same bits"])
    bench.expect("a log through a pipe", ["run", "scene.xml", "-t", "0.02", "-l", "-"], OK, out=["time [s]"], err=["simulated"])
    bench.expect("two for one pipe", ["run", "scene.xml", "-t", "0.02", "-l", "-", "-o", "-"], USAGE, err=["only one of"])


def interrupted(bench, words, seconds, number=signal.SIGINT):
    process = subprocess.Popen([str(bench.tool), *words], cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


# Ctrl-C ends a run, not its files
def check_interrupts(bench):
    code, out, err = interrupted(bench, ["run", "scene.xml", "-t", "1e6", "-o", "long.kkr", "-l", "long.csv"], 0.5)
    bench.check("an interrupted run", code == INTERRUPTED and "interrupted" in err and "simulated" in out, f"{code} {err}")
    steps = int(out.split(" s in ")[1].split()[0]) if " s in " in out else -1
    lines = (bench.folder / "long.csv").read_text().splitlines()
    bench.check("leaves a whole log", len(lines) == steps + 1 and lines[-1].count(",") == lines[0].count(","), f"{len(lines)} {steps}")
    told = bench.document("and a whole recording", ["replay", "long.kkr"])
    bench.check("of so many steps", told["complete"] and told["steps"] == steps, str(told))
    code, out, err = interrupted(bench, ["run", "scene.xml", "-t", "1e6"], 0.5, signal.SIGTERM)
    bench.check("and one that is ended", code == TERMINATED and "simulated" in out, f"{code} {err}")
    code, out, err = interrupted(bench, ["exam"], 0.5, signal.SIGTERM)
    bench.check("an exam that is ended", code == TERMINATED and "interrupted" in out and " passed, " in out, f"{code} {out} {err}")
    best = ["optimize", "scene.xml", "-t", "0.2", "--maximize", "end:fore.z", "--limit", "1", "-g", "1000000", "-o", "best.csv"]
    code, out, err = interrupted(bench, best, 0.7)
    bench.check("an interrupted search keeps its best", code == INTERRUPTED and "best so far" in err and (bench.folder / "best.csv").exists(), err)


def bench_column(bench, table, name):
    rows = list(csv.reader(open(bench.folder / table)))
    index = [head.split(" [")[0] for head in rows[0]].index(name)
    return [float(row[index]) for row in rows[1:]]


def check_outputs(bench):
    """A file is written whole or not at all, and by one writer at a time."""
    import fcntl
    path = bench.folder / "kept.csv"
    words = ["run", "scene.xml", "-t", "0.02", "--out", "kept.kkr", "--log", "kept.csv"]
    bench.expect("outputs", words, OK)
    bench.check("leave no parts", not list(bench.folder.glob("kept.*.part")))
    before = path.read_bytes()
    with open(bench.folder / "kept.kkr.part", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        bench.expect("two writers of one recording", words, INPUT, err=["kept.kkr", "another program is writing this file"])
        bench.check("the old table stands", path.read_bytes() == before)
    bench.expect("the other has gone", words, OK)
    path.chmod(0o640)
    bench.expect("written again", words, OK)
    bench.check("keeps who may read it", path.stat().st_mode & 0o777 == 0o640)
    (bench.folder / "link.csv").symlink_to(path)
    bench.expect("through a link", ["run", "scene.xml", "-t", "0.01", "--log", "link.csv"], OK)
    bench.check("the link stays", (bench.folder / "link.csv").is_symlink() and len(path.read_bytes()) < len(before))
    (bench.folder / "precious").write_text("not to be touched")
    (bench.folder / "trap.csv.part").symlink_to(bench.folder / "precious")
    bench.expect("a link laid where the part will be", ["run", "scene.xml", "-t", "0.01", "--log", "trap.csv"], OK)
    bench.check("is not followed", (bench.folder / "precious").read_text() == "not to be touched" and (bench.folder / "trap.csv").stat().st_size > 100)
    bench.expect("a full disk", ["run", "scene.xml", "-t", "0.02", "--out", "/dev/full"], INPUT, err=["could not be written"])
    if os.geteuid() != 0:
        path.chmod(0o400)
        bench.expect("a file that is read-only", words, INPUT, err=["cannot be written"])


def check_killed(bench):
    """Killed at twenty moments of its life, a run leaves the files as they were, and parts that are whole as far as they go; the next run is as ever."""
    words = ["run", "scene.xml", "-t", "0.05", "--key-every", "4", "--out", "life.kkr", "--log", "life.csv", "-q"]
    bench.expect("a run to be killed", words, OK)
    whole = [(bench.folder / name).read_bytes() for name in ("life.kkr", "life.csv")]
    longer = [*words[:3], "1e6", *words[4:]]
    for i in range(20):
        child = subprocess.Popen([str(bench.tool), *longer], cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.002 * i)
        child.kill()
        child.wait()
        now = [(bench.folder / name).read_bytes() for name in ("life.kkr", "life.csv")]
        bench.check(f"killed after {2 * i} ms: the old files stand", now == whole)
        part = bench.folder / "life.kkr.part"
        if part.exists() and part.stat().st_size > 400:
            told = json.loads(bench.run("replay", "life.kkr.part", "--verify", "--json").stdout)
            bench.check(f"killed after {2 * i} ms: what is there is verified", told.get("compared") == told.get("steps") and told.get("differs_at") == -1, str(told))
    bench.expect("and again", words, OK)
    bench.check("the same bytes as ever", [(bench.folder / name).read_bytes() for name in ("life.kkr", "life.csv")] == whole)


def check_strange_recordings(bench):
    """A recording may be anybody's: what it names as its model is not opened whatever it is, and its words do not command a terminal."""
    scene = (bench.folder / "scene.xml").read_text()
    (bench.folder / "scene.odd").write_text(scene)
    bench.expect("a recording of an odd name", ["run", "scene.odd", "-t", "0.02", "--out", "odd.kkr"], OK)
    bench.expect("an odd model is not opened unasked", ["replay", "odd.kkr", "--verify"], INPUT, err=["is no model file", "--model"])
    bench.expect("but where it is named", ["replay", "odd.kkr", "--verify", "--model", "scene.odd"], OK, out=["same bits"])
    (bench.folder / "pipe.xml").write_text(scene)
    bench.expect("a recording of a file", ["run", "pipe.xml", "-t", "0.02", "--out", "pipe.kkr"], OK)
    (bench.folder / "pipe.xml").unlink()
    os.mkfifo(bench.folder / "pipe.xml")
    bench.expect("that became a pipe", ["replay", "pipe.kkr", "--verify"], INPUT, err=["is no model file"])
    bench.expect("is not waited for in an export", ["export", "pipe.kkr", "--csv", "--out", "pipe.csv"], OK, err=["columns are numbered"])
    bench.expect("nor in a picture", ["render", "pipe.xml", "-o", "pipe.png"], INPUT, err=["FIFO"])
    bench.expect("nor in a page", ["view", "pipe.xml", "--save", "pipe.html"], INPUT, err=["FIFO"])
    name = "a\033[2J\u009b31m\rb.xml"
    (bench.folder / name).write_text(scene)
    done = bench.expect("a name of commands", ["run", name, "-t", "0.02", "--out", "name.kkr"], OK)
    told = done.stdout + done.stderr + bench.run("replay", "name.kkr").stdout + bench.run("info", "no" + name).stderr
    bench.check("shows them", "\\x1b[2J" in told and not any(c in told for c in "\033\u009b\r"), repr(told))


def check_replay(bench):
    bench.expect("what a recording holds", ["replay", "a.kkr"], OK, out=["scene.xml", "300, a whole state every 64", "9 coordinates"])
    bench.expect("a replay", ["replay", "a.kkr", "--verify"], OK, out=["all 300 steps", "same bits"])
    part = bench.document("a part of it", ["replay", "a.kkr", "--verify", "--from", "200"])
    bench.check("from the key before", part["compared"] == 300 - 192 and part["verified"])
    again = bench.document("another run", ["run", "scene.xml", "-t", "0.6", "-o", "b.kkr", "--key-every", "64"])
    bench.check("gives the same file", again and (bench.folder / "a.kkr").read_bytes() == (bench.folder / "b.kkr").read_bytes())
    bench.expect("export", ["export", "a.kkr", "--csv", "-o", "exported.csv"], OK)
    bench.check("is the log", (bench.folder / "exported.csv").read_text() == (bench.folder / "a.csv").read_text())
    bench.expect("export of some steps", ["export", "a.kkr", "--csv", "--from", "10", "--to", "20", "--every", "5"], OK, out=["time [s],"])
    bench.check("has three", len(bench.run("export", "a.kkr", "--from", "10", "--to", "20", "--every", "5").stdout.splitlines()) == 4)
    data = (bench.folder / "a.kkr").read_bytes()
    (bench.folder / "cut.kkr").write_bytes(data[:len(data) * 2 // 3])
    bench.expect("a recording that was cut", ["replay", "cut.kkr"], OK, err=["was cut"], out=["(it was cut)"])
    cut = bench.document("is not verified", ["replay", "cut.kkr", "--verify"], FINDING)
    bench.check("though what is left is the same", not cut["ok"] and not cut["verified"] and cut["differs_at"] == -1 and cut["compared"] == 192, str(cut))
    broken = bytearray(data)
    broken[len(data) // 2] ^= 1
    (bench.folder / "broken.kkr").write_bytes(broken)
    bench.expect("a recording that was altered", ["replay", "broken.kkr", "--verify"], INPUT, err=["checksum"])
    bench.expect("no recording", ["replay", "scene.xml"], INPUT, err=["does not start as a recording"])
    bench.expect("no file", ["replay", "none.kkr"], INPUT, err=["none.kkr"])
    (bench.folder / "scene.xml").write_text(SCENE.replace('mass="0.3"', 'mass="0.31"'))
    check_outputs(bench)
    check_strange_recordings(bench)
    check_killed(bench)
    bench.expect("a model that has changed", ["replay", "a.kkr", "--verify"], INPUT, err=["has changed since"])
    (bench.folder / "scene2.xml").write_text(SCENE)
    bench.expect("the model elsewhere", ["replay", "a.kkr", "--verify", "--model", "scene2.xml"], OK, out=["same bits"])
    (bench.folder / "scene.xml").unlink()
    bench.expect("export without the model", ["export", "a.kkr"], OK, out=["time [s],q0,q1"], err=["columns are numbered"])
    bench.expect("two things on one output", ["export", "a.kkr", "--json"], USAGE, err=["--out FILE"])
    (bench.folder / "scene.xml").write_text(SCENE)


# the papers' methods: the same scene, a recording that replays to the same bits, and a word where a paper cannot take it
def check_odd_requests(bench):
    """What cannot be meant is refused before anything is done."""
    (bench.folder / "short.xml").write_text('<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    (bench.folder / "void.xml").write_text("<mujoco/>")
    bench.expect("a run without a step", ["run", "short.xml", "-t", "0.01", "--dt", "1", "-o", "no.kkr"], USAGE, err=["half a step"])
    bench.check("leaves no recording", not (bench.folder / "no.kkr").exists())
    done = bench.expect("a log on a full disk", ["run", "short.xml", "-t", "20", "--log", "/dev/full"], INPUT, err=["disk full"])
    bench.check("is told of once", done.stderr.count("error") == 1, done.stderr)
    bench.expect("mass of nothing", ["info", "void.xml"], OK, out=["mass                0 kg\n"])
    (bench.folder / "arm.urdf").write_text('<robot name="a"><link name="base"/><link name="l"><inertial><mass value="1"/><inertia ixx="1" ixy="0" '
                                           'ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="j" type="continuous"><parent link="base"/>'
                                           '<child link="l"/></joint></robot>')
    bench.expect("a base that falls", ["info", "arm.urdf"], OK, out=["base_joint  free"], err=["--base fixed"])
    held = bench.run("info", "arm.urdf", "--base", "fixed")
    bench.check("and one that is held", held.returncode == OK and "base_joint  fixed" in held.stdout and not held.stderr, held.stdout + held.stderr)
    before = (bench.folder / "short.xml").read_text()
    bench.expect("convert onto itself", ["convert", "short.xml", "./short.xml"], USAGE, err=["over itself"])
    bench.expect("repair onto itself", ["check", "short.xml", "--repair", "short.xml"], USAGE, err=["over itself"])
    bench.check("the file is as it was", (bench.folder / "short.xml").read_text() == before)
    bench.run("run", "short.xml", "-t", "0.1", "-o", "short.kkr")
    for name, words, piece in (
            ("a moment behind the end", ["render", "short.kkr", "-o", "x.png", "--size", "64x48", "--at", "9"], "behind the end"),
            ("a film backwards", ["render", "short.kkr", "-o", "x/", "--from", "0.08", "--to", "0.02"], "behind --to"),
            ("steps behind the end", ["export", "short.kkr", "--from", "5000"], "--from"),
            ("steps backwards", ["export", "short.kkr", "--from", "9", "--to", "3"], "behind --to"),
            ("verify behind the end", ["replay", "short.kkr", "--verify", "--from", "5000"], "only 50 steps"),
            ("a live view at another step", ["view", "short.xml", "--dt", "0.01", "--seconds", "0.1", "--no-browser"], "--save"),
            ("pictures to nowhere", ["exam", "--row", "1", "--pictures"], "--out"),
            ("drawing nothing", ["exam", "--row", "1", "--out", "x", "--draw-only"], "--pictures"),
            ("a pose and trials", ["ik", "robot:arm7", "-f", "flange", "-p", "0.4,0,0.5", "--trials", "3"], "either")):
        bench.expect(name, words, USAGE, err=[piece])


def check_solvers(bench):
    (bench.folder / "box.xml").write_text(SCENE.replace('type="capsule" size="0.03 0.2"', 'type="box" size="0.06 0.06 0.2"')
                                          .replace('type="capsule" size="0.02 0.1"', 'type="box" size="0.06 0.06 0.1"'))
    for solver in ("openhrp", "springhead", "kuroda"):
        run = ["run", "box.xml", "-t", "0.6", "--solver", solver, "-o", solver + ".kkr", "-l", solver + ".csv"]
        document = bench.document(f"run by {solver}", run)
        rest = bench_column(bench, solver + ".csv", "box.q.z")[-1]
        bench.check(f"{solver} lays the box down", document["solver"] == solver and abs(rest + 0.2) < 0.03, f"{rest} {document}")
        bench.expect(f"a replay by {solver}", ["replay", solver + ".kkr", "--verify"], OK, out=["all 300 steps", "same bits"])
    bench.expect("what kuroda cannot take", ["run", "scene.xml", "-t", "0.1", "--solver", "kuroda"], INPUT, err=["knows closed polyhedra", "arm"])


def check_controls(bench):
    write_table(bench.folder / "motion.csv", ["time", "servo", "elbow"], [[0, 0, 0], [0.1, 0.2, 0], [0.2, 0.2, 0.01]])
    run = ["run", "scene.xml", "-t", "0.3"]
    bench.expect("controls from a table", [*run, "--control", "motion.csv", "-l", "moved.csv"], OK)
    values = bench_column(bench, "moved.csv", "servo.u")
    bench.check("straight lines between its rows", near(values[25], 0.1, 1e-9) and values[-1] == 0.2 and near(values[-1], 0.2), str(values[25]))
    write_table(bench.folder / "joints.csv", ["time", "hinge", "elbow"], [[0, 0.3, 0]])
    bench.expect("columns named by joints", [*run, "-c", "joints.csv"], OK)
    write_table(bench.folder / "missing.csv", ["time", "servo"], [[0, 0]])
    bench.expect("a missing column", [*run, "-c", "missing.csv"], INPUT, err=["missing.csv:1: error: 1 actuator has no column: elbow", "--allow-missing"])
    bench.expect("a missing column allowed", [*run, "-c", "missing.csv", "--allow-missing"], OK)
    write_table(bench.folder / "extra.csv", ["time", "servo", "elbo"], [[0, 0, 0]])
    bench.expect("a misspelt column", [*run, "-c", "extra.csv"], INPUT, err=["extra.csv:1: error:", "did you mean 'elbow'?"])
    write_table(bench.folder / "more.csv", ["time", "servo", "elbow", "temperature"], [[0, 0, 0, 300]])
    bench.expect("an extra column", [*run, "-c", "more.csv"], INPUT, err=["'temperature'", "--ignore-extra"])
    bench.expect("an extra column skipped", [*run, "-c", "more.csv", "--ignore-extra"], OK)
    write_table(bench.folder / "back.csv", ["time", "servo", "elbow"], [[0, 0, 0], [0, 1, 1]])
    bench.expect("time that stands still", [*run, "-c", "back.csv"], INPUT, err=["back.csv:3: error: time does not rise"])
    write_table(bench.folder / "timeless.csv", ["servo", "elbow"], [[0, 0]])
    bench.expect("no time", [*run, "-c", "timeless.csv"], INPUT, err=["no column 'time'"])
    bench.expect("no duration", ["run", "scene.xml"], USAGE, err=["needs --time"])
    bench.expect("negative step", [*run, "--dt", "-0.1"], USAGE, err=["outside"])
    bench.expect("misspelt keyframe", [*run, "--keyframe", "raisd"], INPUT, err=["did you mean 'raised'?"])
    bench.expect("no place for the recording", [*run, "-o", "nowhere/a.kkr"], INPUT, err=["nowhere/a.kkr"])
    bench.expect("no place for the log", [*run, "-l", "nowhere/a.csv"], INPUT, err=["nowhere/a.csv"])


# ---- collide ---------------------------------------------------------------------------------------------------------

def check_collide(bench):
    ball = bench.document("a ball above a box", ["collide", "box:1,1,1", "sphere:0.5", "--pose-b", "0,0,1.25", "--velocity-b", "0,0,-2"])
    bench.check("its distance and time of impact", near(ball["distance"], 0.25, 1e-12) and ball["normal"] == [0, 0, 1] and
                ball["impact"]["kind"] == "hit" and near(ball["impact"]["time"], 0.125, 1e-9), str(ball))
    box = bench.document("a box on a floor", ["collide", "plane", "box:1,1,1", "--pose-b", "0,0,0.499"])
    bench.check("its four points", box["touching"] == 1 and len(box["manifolds"]) == 1 and len(box["manifolds"][0]["points"]) == 4 and
                all(near(p["gap"], -0.001, 1e-9) for p in box["manifolds"][0]["points"]), str(box))
    turned = bench.document("turned", ["collide", "sphere:0.5", "box:1,1,1", "--pose-b", "0,0,2,0.785398163397448,0,0"])
    bench.check("an edge is nearer", near(turned["distance"], 2 - 0.5 - math.sqrt(0.5), 1e-9), str(turned))
    write_tetrahedron(bench.folder / "part.stl")
    for word in ("part.stl", "hull:part.stl", "mesh:part.stl"):
        part = bench.document(word, ["collide", word, "sphere:0.1", "--pose-b=0,0,-0.3"])
        bench.check(f"distance of {word}", near(part["distance"], 0.2, 1e-9), str(part))
    scene = bench.document("a model", ["collide", "scene.xml", "sphere:0.1", "--pose-b", "3,0,0.5"])
    bench.check("its nearest shape is the floor", scene["pairs"] == 4 and near(scene["distance"], 0.4, 1e-9), str(scene))
    bench.expect("for people", ["collide", "box:1,1,1", "box:1,1,1", "--pose-b", "0.9,0,0"], OK, out=["they overlap", "normal", "contact point"])
    bench.expect("no impact", ["collide", "plane", "sphere:1", "--pose-b", "0,0,3", "--velocity-b", "0,0,1"], OK, out=["none within 1 s"])
    bench.expect("misspelt shape", ["collide", "spere:1", "plane"], USAGE, err=["did you mean 'sphere'?"])
    bench.expect("too few sizes", ["collide", "box:1,1", "plane"], USAGE, err=["box:X,Y,Z"])
    bench.expect("no sizes", ["collide", "sphere", "plane"], USAGE, err=["write it sphere:RADIUS"])
    bench.expect("no file", ["collide", "mesh:", "plane"], USAGE, err=["write it mesh:FILE"])
    bench.expect("two at one place", ["collide", "box:1,1,1", "box:1,1,1"], OK, out=["on A       (0.5, 0, 0) m", "on B       (-0.5, 0, 0) m"])
    bench.expect("a fan beside a wall", ["collide", "cylinder:0.01,2", "box:1,1,1", "--pose-b", "3,0,0", "--velocity-a", "0,0,0,0,1e6,0", "--duration", "1e6"], OK, out=["none within 1e+06 s"])
    bench.expect("no size", ["collide", "sphere:0", "plane"], USAGE, err=["must be positive"])
    bench.expect("not a number", ["collide", "sphere:big", "plane"], USAGE, err=["sphere:RADIUS"])
    bench.expect("half a pose", ["collide", "sphere:1", "plane", "--pose-a", "1,2"], USAGE, err=["three nor six"])
    bench.expect("a pose out of this world", ["collide", "sphere:1", "plane", "--pose-a", "1e160,0,0"], USAGE, err=["beyond 1e15"])
    bench.expect("an absurd speed", ["collide", "sphere:1", "plane", "--velocity-a", "0,0,-1e300"], USAGE, err=["beyond 1e15"])
    bench.expect("zeros without signs", ["collide", "sphere:1", "plane", "--pose-a", "0,0,5"], OK, out=["normal     (0, 0, -1)"])
    bench.expect("one thing only", ["collide", "sphere:1"], USAGE, err=["needs B"])
    bench.expect("no such mesh", ["collide", "none.stl", "plane"], INPUT, err=["none.stl"])
    bench.expect("two planes", ["collide", "plane", "plane"], OK, out=["not known"])
    bench.expect("a model without shapes", ["collide", "robot:arm7", "plane"], INPUT, err=["no shapes that collide"])


# ---- plot ------------------------------------------------------------------------------------------------------------

# ---- ik and walk -----------------------------------------------------------------------------------------------------

def check_ik(bench):
    document = bench.document("ik of a pose", ["ik", "robot:arm7", "-f", "flange", "-p", "0.4,0.1,0.5,3.14,0,0"])
    bench.check("ik reaches it", document.get("reached") and document["error"] <= 1e-9, document)
    bench.expect("ik writes a row", ["ik", "robot:arm7", "-f", "flange", "-p", "0.4,0.1,0.5", "-o", "arm.csv"], OK, out=["reached"])
    pose = bench.table("compute", "robot:arm7", "-w", "kinematics:flange", "-s", "arm.csv")
    bench.check("and compute finds the frame there", near(pose.get("flange.x", [0])[0], 0.4, 1e-8), pose)
    bench.expect("ik out of reach", ["ik", "robot:arm7", "-f", "flange", "-p", "9,0,0"], FINDING, out=["not reached"])
    document = bench.document("ik of many poses", ["ik", "robot:arm7", "-f", "flange", "--trials", "200"])
    bench.check("reaches all of them", document.get("reached") == 200, document)
    bench.expect("ik of no frame", ["ik", "robot:arm7", "-f", "flang", "-p", "0,0,0"], INPUT, err=["flange"])
    bench.expect("ik of half a pose", ["ik", "robot:arm7", "-f", "flange", "-p", "0,0"], USAGE, err=["x,y,z"])
    bench.expect("ik of nothing", ["ik", "robot:arm7", "-f", "flange"], USAGE, err=["--pose"])


def check_walk(bench):
    model = ROOT / "models/hrp2/hrp2.xml"
    plan = bench.folder / "plan.csv"
    plan.write_text("forward [m],sideways [m],turn [rad]\n0.1,0,0\n0,0,0\n")
    words = ["walk", model, "--steps", plan, "--dt", "0.01"]
    bench.expect("walk writes a motion", [*words, "--out", "motion.csv"], OK, out=["2 steps", "motion.csv"])
    header = (bench.folder / "motion.csv").read_text().split("\n")[0]
    bench.check("with a column for each coordinate", header.startswith("time [s],base.q.qw") and header.count(",") == 37, header)
    document = bench.document("walk in simulation", [*words, "--simulate", "--report", "walk.html"])
    simulation = document.get("simulation", {})
    bench.check("does not fall", simulation.get("fell") is False and simulation["zmp_gap"] < 1e-6, simulation)
    page = (bench.folder / "walk.html").read_text() if (bench.folder / "walk.html").exists() else ""
    bench.check("and leaves a page", "<svg" in page or "image/svg" in page, page[:200])
    plan.write_text("foot,x,y,yaw\n0,0.1,0.095,0\n0,0.2,0.095,0\n")
    bench.expect("walk with one foot", words, INPUT, err=["foot"])
    plan.write_text("forward,sideways,turn\n2,0,0\n")
    bench.expect("walk out of reach", words, INPUT, err=["reach"])
    plan.write_text("speed\n2\n")
    bench.expect("walk by nothing", words, INPUT, err=["forward"])
    bench.expect("walk of an arm", ["walk", "robot:arm7"], INPUT, err=["left_sole"])
    plan.write_text("forward,sidewys\n0.1,0\n")
    bench.expect("walk by a misspelt column", words, INPUT, err=["did you mean 'sideways'?"])
    plan.write_text("foot,x,y,yaw\n1e300,0.1,0.095,0\n")
    bench.expect("walk on a third foot", words, INPUT, err=["row 1: foot"])
    plan.write_text("forward,duration\n0.1,-1\n")
    bench.expect("walk back in time", words, INPUT, err=["row 1", "duration"])
    for option in ("--dt", "--step-time", "--double-support", "--lift", "--width", "--height", "--start", "--end"):
        bench.expect(f"walk {option} 0", ["walk", model, option, "0"], USAGE, err=["outside"])
    bench.expect("report without simulation", ["walk", model, "--report", "x.html"], USAGE, err=["--simulate"])


def check_walking_guide(bench):
    """The commands of docs/guide/walking.md, as they stand there."""
    text = (ROOT / "docs/guide/walking.md").read_text()
    plan = text.split("```csv file=plan.csv\n")[1].split("```")[0]
    (bench.folder / "plan.csv").write_text(plan)
    for line in text.split("```sh\n")[1].split("```")[0].splitlines():
        words = [str(ROOT / word) if word.startswith("models/") else word for word in line.split()[1:]]
        bench.expect(f"guide: {line}", words, OK, out=["5 steps"])


def check_plot(bench):
    import xml.etree.ElementTree as tree
    arm_states(bench, 50)
    bench.run("compute", "robot:arm7", "-s", "arm.csv", "-w", "rnea,energy", "-o", "out.csv")
    bench.expect("plot", ["plot", "out.csv", "-y", "*.tau/energy.*", "-t", "a <b> & c", "-o", "out.svg"], OK)
    root = tree.fromstring((bench.folder / "out.svg").read_text())
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{space}text")]
    bench.check("its texts", {"a <b> & c", "[N m]", "[J]", "time [s]", "link7_joint.tau"} <= set(texts), str(texts))
    bench.check("its panels", sum(g.get("class") == "panel" for g in root.iter(f"{space}g")) == 2)
    bench.expect("plot to the output", ["plot", "out.csv", "-y", "energy.total"], OK, out=["<svg ", "</svg>"])
    (bench.folder / "bare.csv").write_text("time,a\n")
    bench.expect("plot without rows", ["plot", "bare.csv"], INPUT, err=["bare.csv:1", "no rows"])
    (bench.folder / "bare.csv").write_text("time\n1\n")
    bench.expect("plot of the time alone", ["plot", "bare.csv"], INPUT, err=["no column to draw"])
    (bench.folder / "wide.csv").write_text("time,a.long.name [m]\n0,-0.05631\n1,-0.05649\n")
    root = tree.fromstring(bench.run("plot", "wide.csv").stdout)
    ticks = [text for text in root.iter(f"{space}text") if text.get("class") == "tick end"]
    first = min(float(text.get("x")) - 7 * len(text.text) for text in ticks)
    bench.check("long numbers keep clear of the axis' name", ticks and first >= 14, str(first))
    bench.expect("plot without a column", ["plot", "out.csv", "-y", "energy.totl"], INPUT, err=["did you mean 'energy.total'?"])
    bench.expect("plot over a missing x", ["plot", "out.csv", "-x", "tme"], INPUT, err=["did you mean 'time'?"])
    bench.expect("plot of nothing", ["plot", "none.csv"], INPUT, err=["none.csv"])
    bench.document("plot as JSON", ["plot", "out.csv"])


# ---- motions ---------------------------------------------------------------------------------------------------------

def columns_of(path):
    rows = list(csv.reader(path.read_text().splitlines()))
    return {name.split(" [")[0]: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def check_analyze(bench):
    """A squat of the humanoid: what the floor does follows from Newton, and the plots are there."""
    rows = [(0.02 * i, *(k * 0.3 * (1 - math.cos(0.5 * math.pi * 0.02 * i)) for k in (-1, 2, -1))) for i in range(101)]
    write_table(bench.folder / "squat.csv", ["time", "left_thigh_joint", "left_shin_joint.q", "left_ankle_pitch_joint.q"], rows)
    words = ["analyze", "robot:humanoid36", "squat.csv", "--support", "right_foot@0,left_foot@1", "--out", "squat"]
    document = bench.document("analyze", words)
    bench.check("its frames", document.get("frames") == 101 and len(document.get("joints", [])) == 36)
    table = columns_of(bench.folder / "squat" / "analysis.csv")
    bench.check("its support", table["support"][0] == 0 and table["support"][-1] == 1)
    mass, h = 58.0, 0.02
    z = table["com.z"]
    worst = max(abs(table["floor.fz"][i] - mass * (9.81 + (z[i + 1] - 2 * z[i] + z[i - 1]) / h**2)) for i in range(2, 48))
    bench.check("the floor carries and accelerates the center of mass", worst < 0.02 * mass * 9.81, str(worst))
    bench.check("no jump where the foot changes", max(abs(b - a) for a, b in zip(z, z[1:])) < 0.02)
    names = {path.name for path in (bench.folder / "squat").iterdir()}
    bench.check("its files", names == {"analysis.csv", "balance.svg", "torque.svg", "power.svg"}, str(names))
    bench.expect("analyze in words", [*words, "--rate", "50", "-i", "cubic"], OK, out=["101 frames", "left_shin_joint"])
    bench.expect("no such foot", [*words[:4], "right_fot@0"], USAGE, err=["did you mean 'right_foot'?"])
    bench.expect("no such time", [*words[:4], "right_foot@now"], USAGE, err=["is no time"])
    bench.expect("no such motion", ["analyze", "robot:humanoid36", "none.csv"], INPUT, err=["none.csv"])
    write_table(bench.folder / "odd.csv", ["time", "nose.q"], [(0, 1)])
    write_table(bench.folder / "huge.csv", ["time", "head_joint.q"], [(0, 1e308), (1, -1e308), (2, 1e308)])
    bench.expect("numbers too large", ["analyze", "robot:humanoid36", "huge.csv"], INPUT, err=["no finite number"])
    flight = bench.run("analyze", "robot:humanoid36", "squat.csv", "--out", "flight").stdout
    bench.check("degrees of the base have their names", "pelvis_joint.fz " in flight and ".ta " not in flight, flight)
    bench.expect("no such joint", ["analyze", "robot:humanoid36", "odd.csv"], INPUT, err=["odd.csv:1", "nose.q"])


def check_optimize(bench):
    model = ROOT / "models" / "double_pendulum" / "double_pendulum.xml"
    words = ["optimize", model, "-t", "1", "--limit", "150", "--maximize", "end:tip.z", "--dt", "0.01", "-g", "6", "--knots", "4"]
    one = bench.document("optimize", [*words, "-j", "1", "-o", "swing.csv"])
    two = bench.document("optimize with more jobs", [*words, "-j", "3"])
    bench.check("jobs change nothing", one.get("best") == two.get("best") and one.get("cost") == two.get("cost"))
    worse = bench.document("fewer generations", [*words, "-g", "1"])
    bench.check("a search gets better", one["cost"] < worse["cost"], f"{one['cost']} {worse['cost']}")
    played = bench.run("run", model, "-t", "1", "--dt", "0.01", "--control", "swing.csv", "--log", "swing_log.csv")
    log = columns_of(bench.folder / "swing_log.csv") if played.returncode == OK else {"upper.q": [math.nan], "lower.q": [math.nan]}
    upper, lower = log["upper.q"][-1], log["upper.q"][-1] + log["lower.q"][-1]
    height = -4 * math.cos(upper) - 5 * math.cos(lower)
    bench.check("its controls do what it says", abs(height + one["cost"]) < 0.05, f"{height} {one['cost']} {played.stderr}")
    genetic = bench.document("genetic", [*words, "--method", "genetic", "--population", "10"])
    bench.check("its population", genetic.get("population") == 10)
    bench.expect("no goal", ["optimize", model, "-t", "1"], USAGE, err=["--maximize"])
    bench.expect("no such body", [*words[:7], "end:tp.z"], USAGE, err=["did you mean 'tip'?"])
    bench.expect("no such goal", [*words[:7], "often:tip.z"], USAGE, err=["is no goal"])
    bench.expect("no limits", ["optimize", model, "-t", "1", "--maximize", "end:tip.z"], USAGE, err=["--limit"])


def write_swing(path, late, gain=1.0):
    """Two joints over time on a clock that is late; the first is larger by a gain."""
    rows = [[i * 0.005 + late, gain * math.sin(i * 0.02), 0.3 * math.cos(i * 0.035)] for i in range(600)]
    write_table(path, ["time", "hip.q [rad]", "knee.q [rad]"], rows)


def check_compare(bench):
    write_swing(bench.folder / "sim.csv", 0)
    write_swing(bench.folder / "robot.csv", 0.03, gain=1.2)
    words = ["compare", "sim.csv", "robot.csv"]
    document = bench.document("compare", [*words, "--report", "overlay.html"])
    hip, knee = document["columns"]
    bench.check("the shift of the clocks", near(document["shift"], 0.03, 1e-5) and near(knee["own_shift"], 0.03, 1e-5))
    bench.check("a joint that is 20 % larger", near(hip["rms"], 0.2 / math.sqrt(2), 0.01) and near(hip["peak"], 0.2, 1e-4) and near(hip["correlation"], 1, 1e-6))
    bench.check("a joint that is the same", knee["rms"] < 1e-4 and knee["share"] < 1e-3)
    page = (bench.folder / "overlay.html").read_text()
    bench.check("the overlay", page.count("<svg") == 2 and "hip.q" in page and "<script" not in page)
    bench.expect("within a limit", [*words, "--limit", "0.08"], OK, out=["hip.q", "0.03 s behind"])
    bench.expect("beyond a limit", [*words, "--limit", "0.05"], FINDING)
    bench.expect("one column", [*words, "--column", "knee.q", "--limit", "0.05"], OK)
    bench.expect("no such column", [*words, "--column", "kne.q"], INPUT, err=["did you mean 'knee.q'"])
    bench.expect("another shift", [*words, "--shift", "0", "--column", "knee.q", "--limit", "0.01"], FINDING)


def check_identify(bench):
    (bench.folder / "told.xml").write_text("""<mujoco><compiler angle="radian"/><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"
        damping="0.1"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/></body></worldbody>
        <actuator><motor name="motor" joint="hinge"/></actuator></mujoco>""")
    text = (bench.folder / "told.xml").read_text()
    (bench.folder / "real.xml").write_text(text.replace('damping="0.1"', 'damping="0.3"').replace('mass="1"', 'mass="1.5"'))
    write_table(bench.folder / "torque.csv", ["time", "motor"], [[i * 0.05, 2 * math.sin(3 * i * 0.05)] for i in range(60)])
    bench.expect("a log", ["run", "real.xml", "--control", "torque.csv", "-t", "2", "--log", "real.csv"], OK)
    words = ["identify", "told.xml", "real.csv", "-p", "mass:rod", "-p", "damping:hinge"]
    for method, bar in (("regressor", 0.02), ("search", 1e-5), ("both", 1e-5)):
        found = bench.document(f"identify by {method}", [*words, "--method", method])["parameters"]
        bench.check(f"what {method} finds", near(found[0]["found"], 1.5, 1.5 * bar) and near(found[1]["found"], 0.3, 0.3 * bar), found)
    bench.expect("a model with it", [*words, "--out", "found.xml"], OK, out=["mass", "found.xml"])
    bench.expect("is the real one", ["info", "found.xml"], OK, out=["1.5 kg"])
    bench.expect("no such kind", ["identify", "told.xml", "real.csv", "-p", "weight:rod"], USAGE, err=["mass, damping"])
    bench.expect("no such joint", ["identify", "told.xml", "real.csv", "-p", "damping:hing"], INPUT, err=["hing"])
    bench.expect("not over the model", [*words, "--out", "told.xml"], USAGE)


def check_reproduce(bench):
    models = ["--models", ROOT / "models"]
    document = bench.document("reproduce", ["reproduce", "s1_sliding", "s3_servo", "--quick", "--out", "again", *models])
    studies = document.get("experiments", [])
    bench.check("its studies", [study["name"] for study in studies] == ["s1_sliding", "s3_servo"] and all(study["pass"] for study in studies))
    page = (bench.folder / "again" / "index.html").read_text()
    bench.check("its page", page.count("data:image/svg+xml") == 2 and "<script" not in page and "2 of 2 experiments pass" in page)
    bench.check("its contents and table", page.count('<a href="#s') == 2 and "<caption>Where it stops" in page)
    rows = (bench.folder / "again" / "s1_sliding_table.csv").read_text().splitlines()
    bench.check("its table as a file", len(rows) == 10 and rows[4].startswith('"19.6","1/50","39.2","39.2000"'))
    tables = [list(csv.reader(path.open())) for path in (bench.folder / "again").glob("s3_servo_*.csv")]
    drawn = [len(table) - 1 for table in tables for name in table[0][1:]]
    bench.check("seventeen curves, of which none is a point", len(drawn) == 17 and min(drawn) >= 2, drawn)
    bench.check("its files", {"s3_servo.svg", "s3_servo_1.csv", "s1_sliding.svg"} <= {path.name for path in (bench.folder / "again").iterdir()})
    bench.expect("reproduce --list", ["reproduce", "--list", "s2"], OK, out=["s2_steps"])
    bench.expect("no such paper", ["reproduce", "s3_servoo"], USAGE, err=["did you mean 's3_servo'?"])
    bench.expect("no models", ["reproduce", "s2_steps", "--out", "again", "--models", "nowhere"], FINDING, out=["stopped", "nowhere"])
# ---- pictures --------------------------------------------------------------------------------------------------------

def read_png(path):
    """Width, height and rows of a PNG file of eight-bit colors, by the letter of its standard."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(name + body) == struct.unpack_from(">I", data, at + 8 + size)[0]
        chunks[name] = body
        at += 12 + size
    width, height, depth, color = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert (depth, color) == (8, 2) and b"IEND" in chunks
    raw, rows, above = zlib.decompress(chunks[b"IDAT"]), [], bytes(3 * width)
    for y in range(height):
        kind, row = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i in range(3 * width):
            left, up, corner = (row[i - 3], above[i], above[i - 3]) if i >= 3 else (0, above[i], 0)
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        rows.append(bytes(row))
        above = row
    return width, height, rows


def check_render(bench):
    small = ["--size", "96x64", "--detail", "1"]
    bench.expect("a picture", ["render", "robot:humanoid36", "-o", "still.png", *small], OK, out=["still.png: 1 picture of 96 x 64"])
    width, height, rows = read_png(bench.folder / "still.png")
    bench.check("its size", (width, height) == (96, 64))
    bench.check("the sky above, something in the middle", rows[2][0] > 200 and min(rows[32][3 * 40:3 * 56]) < 120)
    bench.expect("and again", ["render", "robot:humanoid36", "-o", "again.png", *small], OK)
    bench.check("the same picture", read_png(bench.folder / "again.png")[2] == rows)
    bench.run("run", "robot:arm7", "-t", "0.1", "-o", "arm.kkr")
    document = bench.document("a recording as pictures", ["render", "arm.kkr", "-o", "frames/", "--fps", "40", *small])
    bench.check("their number", document.get("pictures") == 5 and len(list((bench.folder / "frames").glob("*.png"))) == 5, str(document))
    bench.expect("signs", ["render", "arm.kkr", "-o", "signs.png", "--forces", "--balance", "--at", "0.05", "--background", "dark", *small], OK)
    bench.expect("no such kind of picture", ["render", "arm.kkr", "-o", "x.jpg"], USAGE, err=["x.jpg", ".png"])
    bench.expect("a size that is none", ["render", "arm.kkr", "-o", "x.png", "--size", "12"], USAGE, err=["--size"])
    bench.expect("a body that is none", ["render", "arm.kkr", "-o", "x.png", "--follow", "nobody", *small], INPUT, err=["nobody"])
    bench.expect("a folder that is none", ["render", "arm.kkr", "-o", "none/x.png", *small], INPUT, err=["none/x.png"])
    done = bench.run("render", "arm.kkr", "-o", "film.mp4", *small)
    if shutil.which("ffmpeg"):
        bench.check("a film", done.returncode == OK and (bench.folder / "film.mp4").stat().st_size > 500, done.stderr)
    else:
        bench.check("a film without ffmpeg", done.returncode == INPUT and "ffmpeg" in done.stderr, done.stderr)
    bench.expect("a page", ["view", "arm.kkr", "--save", "arm.html"], OK, out=["arm.html"])
    bench.check("with the recording inside", "karakuri-film" in (bench.folder / "arm.html").read_text())
    bench.expect("an address that is none", ["view", "robot:arm7", "--listen", "0.0.0.0"], USAGE, err=["0.0.0.0"])
    bench.expect("a page that is none", ["view", "robot:arm7", "--page", "."], INPUT, err=["index.html"])


PUSHER = """
def control(robot):
    assert len(robot.signals) == 5 and robot["time"] <= 1 and robot.timestep == 0.01
    robot["upper"] = -3 * robot["upper.q"] - robot["upper.v"]
"""


def check_controllers(bench):
    """Another process that is asked before every step: its result, its deaths, its silence, its absence."""
    model = ROOT / "models" / "double_pendulum" / "double_pendulum.xml"
    (bench.folder / "push.py").write_text(PUSHER)
    client = f"{sys.executable} {ROOT}/python/karakuri/control.py"
    words = ["run", model, "-t", "1", "--dt", "0.01", "-k", "start", "--controller"]
    bench.expect("a controller", [*words, f"{client} push.py", "-l", "pushed.csv", "-o", "pushed.kkr"], OK, out=["100 steps"])
    log = columns_of(bench.folder / "pushed.csv")
    bench.check("its law", all(near(u, -3 * q - v) for u, q, v in zip(log["upper.u"][1:], log["upper.q"], log["upper.v"])))
    bench.expect("its recording", ["replay", "pushed.kkr", "--verify"], OK, out=["100 steps"])
    (bench.folder / "dies.py").write_text(PUSHER + "    if robot['time'] > 0.295: import os; os.kill(os.getpid(), 9)\n")
    bench.expect("a controller that is killed", [*words, f"{client} dies.py", "-o", "died.kkr"], FINDING, err=["dies.py", "signal 9", "after 30 steps"])
    bench.expect("what it left", ["replay", "died.kkr", "--verify"], OK, out=["30 steps"])
    bench.expect("one that ends", [*words, "exit 3"], FINDING, err=["'exit 3' ended with code 3", "after 0 steps"])
    bench.expect("one that is not there", [*words, "./nothing-there"], FINDING, err=["could not be started"])
    bench.expect("one that is silent", [*words, "sleep 20", "--patience", "0.2"], FINDING, err=["did not answer for 0.2 s", "--patience"])
    (bench.folder / "nan.py").write_text("def control(robot):\n    robot['upper'] = float('nan')\n")
    bench.expect("one that talks nonsense", [*words, f"{client} nan.py"], FINDING, err=["failed"])
    bench.expect("nothing to drive", ["run", "robot:humanoid36", "-t", "1", "--controller", "true"], USAGE, err=["no actuators"])
    document = bench.document("a dead controller as JSON", [*words, "exit 3"], FINDING)
    bench.check("is named there", "exit 3" in str(document.get("error")), str(document))
    check_serve(bench, model, client)


def check_serve(bench, model, client):
    """Two controllers one after the other, by a path and by a port, with the state of `run`; and one that hangs up."""
    wanted = bench.document("the run", ["run", model, "-t", "0.5", "-k", "start", "--controller", f"{client} one.py"]) if \
        (bench.folder / "one.py").write_text("def control(robot):\n    robot['lower'] = -robot['lower.v']\n") else {}
    for where, page in (("unix:here.sock", []), ("tcp:127.0.0.1:47391", ["--no-page"])):
        server = subprocess.Popen([str(bench.tool), "serve", str(model), "-t", "0.5", "--listen", where, "--runs", "2", "--json", *page],
                                  cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = json.loads(server.stdout.readline())
        bench.check("serve says where", said["listen"] == where and said["url"].startswith("http://127.0.0.1:") == (not page), str(said))
        for _ in range(2):
            subprocess.run(f"{client} one.py", shell=True, cwd=bench.folder, env={**os.environ, "KARAKURI_CONTROL": where}, timeout=60)
        out, err = server.communicate(timeout=60)
        runs = [json.loads(line) for line in out.splitlines()]
        bench.check(f"{where}: the state of a run", [run["state_hash"] for run in runs] == 2 * [wanted.get("state_hash")] and server.returncode == OK, out + err)
    server = subprocess.Popen([str(bench.tool), "serve", str(model), "--listen", "unix:here.sock", "--runs", "1", "--no-page"], cwd=bench.folder,
                              stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    (bench.folder / "leaves.py").write_text("def control(robot):\n    if robot['time'] > 0.2: raise SystemExit\n")
    subprocess.run(f"{client} leaves.py", shell=True, cwd=bench.folder, env={**os.environ, "KARAKURI_CONTROL": "unix:here.sock"}, timeout=60)
    bench.check("a controller that leaves", "the controller has hung up" in server.communicate(timeout=60)[0])
    (bench.folder / "plain").write_text("not a socket")
    bench.expect("a path that is taken", ["serve", model, "--listen", "unix:plain"], USAGE, err=["unix:plain", "in use"])
    bench.check("is left alone", (bench.folder / "plain").read_text() == "not a socket")
    for where in ("here", "tcp:nowhere", "tcp:1.2.3:99999", "unix:"):
        bench.expect(f"--listen {where}", ["serve", model, "--listen", where], USAGE, err=["--listen"])


def check_python(bench):
    """Verbs that Python does, where there is none, and where the package is missing."""
    for words in (["sweep", "study.toml"], ["optimize", "robot.xml", "-t", "1", "--on", "ray", "--maximize", "end:a.z"]):
        done = bench.run(*words, env={"KARAKURI_PYTHON": "/nowhere/python"})
        bench.check(f"{words[0]} without Python", done.returncode == INPUT and "Python 3.11" in done.stderr, done.stderr)
        done = bench.run(*words, "--json", env={"KARAKURI_PYTHON": sys.executable, "PYTHONPATH": "", "PYTHONNOUSERSITE": "1"})
        lacks = done.returncode == INPUT and "pip install" in done.stderr and json.loads(done.stdout)["ok"] is False
        there = subprocess.run([sys.executable, "-s", "-c", "import karakuri"], cwd=bench.folder, env={**os.environ, "PYTHONPATH": ""}, capture_output=True)
        bench.check(f"{words[0]} without the package", lacks or there.returncode == 0, done.stdout + done.stderr)
    bench.expect("no study", ["sweep"], USAGE, err=["STUDY"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "release" / "karakuri")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.tool.resolve(), pathlib.Path(folder))
        overview = bench.run("help").stdout
        lines = overview.split("VERBS\n")[1].split("\n\n")[0].splitlines()
        verbs = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
        check_help(bench, verbs)
        check_option_names(bench, verbs)
        check_keyframes(bench)
        check_misuse(bench, verbs)
        check_generated(bench, verbs)
        check_loading(bench)
        check_info(bench)
        check_doctor(bench)
        check_convert(bench)
        check_identities(bench)
        check_standing(bench)
        check_compute_misuse(bench)
        check_compute_json(bench)
        check_run(bench)
        check_soak(bench)
        check_ledger(bench)
        check_odd_requests(bench)
        check_solvers(bench)
        check_controls(bench)
        check_collide(bench)
        check_plot(bench)
        check_analyze(bench)
        check_optimize(bench)
        check_compare(bench)
        check_identify(bench)
        check_reproduce(bench)
        check_ik(bench)
        check_walk(bench)
        check_walking_guide(bench)
        check_render(bench)
        check_controllers(bench)
        check_python(bench)
    print(f"{bench.passed} passed, {bench.failed} failed")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
