#!/usr/bin/env python3
"""Memory of states and simulators, and what `karakuri check` takes for a megabyte of XML: `make bench ARGS=bars`.

Bytes of states and simulators are what their allocators count (memory.c). Of `check` they are the resident set less that for an empty file, and the time is processor time.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("KK_SHARED", ROOT.parent / "shared"))
TOOL = ROOT / "build" / "release" / "karakuri"
MB = 1_000_000


# ---- states and simulators

def build_memory(folder):
    program = folder / "memory"
    subprocess.run([shutil.which("cc"), "-O2", "-std=c17", "-Wall", "-Wextra", "-I", ROOT / "include", ROOT / "benchmarks" / "memory.c",
                    ROOT / "build" / "release" / "libkarakuri.a", "-pthread", "-o", program], check=True)
    return program


def scene(head, each, count):
    return f"<mujoco>{head}<worldbody>" + "".join(each(i) for i in range(count)) + "</worldbody></mujoco>"


def fixed_shapes(i):
    ball = '<body pos="1 1 .1"><freejoint/><geom size=".1"/></body>' if i == 0 else ""
    return f'{ball}<geom type="box" size=".1 .1 .1" pos="{0.2 * (i % 316):g} {0.2 * (i // 316):g} -.1"/>'


def free_bodies(i):
    floor = '<geom type="plane" size="9 9 9"/>' if i == 0 else ""
    return f'{floor}<body pos="{0.2 * (i % 28):g} {0.2 * (i // 28 % 28):g} {0.1 + 0.1999 * (i // 784):g}"><freejoint/><geom size=".1"/></body>'


def measure(program, path, *words):
    done = subprocess.run([program, path, *map(str, words)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def print_memory(program, folder):
    for name in ("unitree_h1", "anybotics_anymal_c"):
        found = measure(program, SHARED / "models" / name / "scene.xml", 600) if (SHARED / "models").is_dir() else None
        if found:
            print(f"state of {name}, {found['nv']} DoF, {found['contacts']} contacts: {found['state']} B in use, {found['saved']} B saved, bar {found['state_bar']} B")
    for label, each, count in (("1e5 fixed shapes", fixed_shapes, 100_000), ("20 000 free bodies", free_bodies, 20_000)):
        path = folder / "scene.xml"
        path.write_text(scene("", each, count))
        before, behind = measure(program, path, 0, 10), measure(program, path, 2, 10)
        print(f"simulator of {label}: {before['simulator'] / MB:.1f} MB before its first step, {behind['simulator'] / MB:.1f} MB with {behind['contacts']} contacts, "
              "bar 200 MB" + (" before" if "free" in label else ""))


# ---- check

def filled(head, each, tail):
    parts, size, i = [head], len(head), 0
    while size < MB:
        parts.append(each.replace("#", str(i)))
        size += len(parts[-1])
        i += 1
    return "".join(parts) + tail


def chain(each, end):
    parts, size = [], 0
    while size < MB:
        parts.append(each.replace("#", str(len(parts))))
        size += len(parts[-1]) + len(end)
    return "<mujoco><worldbody>" + "".join(parts) + end * len(parts) + "</worldbody></mujoco>"


ARM = '<mujoco><worldbody><body name="a"><joint name="j"/><geom size=".1"/></body><site name="s"/></worldbody>'
BODIES = '<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/></body><body name="b"><freejoint/><geom size=".1"/></body></worldbody>'
LINK = ('<link name="l#"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><sphere radius="1"/></geometry></collision></link>'
        '<joint name="j#" type="continuous"><parent link="root"/><child link="l#"/></joint>')
TEXTS = {
    "chain with springdamper": lambda: chain('<body name="b#" pos="0 0 .3"><joint springdamper="1 1"/><geom size=".1"/>', "</body>"),
    "chain of joints": lambda: chain('<body name="b#" pos="0 0 .3"><joint/><geom size=".1"/>', "</body>"),
    "links on a root, overlapping": lambda: filled('<robot name="r"><link name="root"/>', LINK, "</robot>"),
    "geoms": lambda: filled("<mujoco><worldbody>", '<geom size=".1" pos="# 0 0"/>', "</worldbody></mujoco>"),
    "free bodies": lambda: filled("<mujoco><worldbody>", '<body name="b#" pos="# 0 0"><freejoint/><geom size=".1"/></body>', "</worldbody></mujoco>"),
    "frames": lambda: filled("<mujoco><worldbody>", '<frame pos="# 0 0"><geom size="1"/></frame>', "</worldbody></mujoco>"),
    "sites": lambda: filled("<mujoco><worldbody>", '<site name="s#" pos="0 0 #"/>', "</worldbody></mujoco>"),
    "actuators": lambda: filled(ARM + "<actuator>", '<motor name="m#" joint="j" gear="3"/>', "</actuator></mujoco>"),
    "sensors": lambda: filled(ARM + "<sensor>", '<jointpos joint="j"/>', "</sensor></mujoco>"),
    "keyframes": lambda: filled(ARM + "<keyframe>", '<key qpos="1"/>', "</keyframe></mujoco>"),
    "tendons": lambda: filled(ARM + "<tendon>", '<spatial><site site="s"/><site site="s"/></spatial>', "</tendon></mujoco>"),
    "welds": lambda: filled(BODIES + "<equality>", '<weld body1="a" body2="b"/>', "</equality></mujoco>"),
    "excludes": lambda: filled(BODIES + "<contact>", '<exclude body1="a" body2="b"/>', "</contact></mujoco>"),
    "defaults": lambda: filled("<mujoco><default>", '<default class="c#"/>', "</default><worldbody/></mujoco>"),
    "elements in elements": lambda: "<a>" * (MB // 7) + "</a>" * (MB // 7),
}


def run_check(program, path):
    """Seconds of processor time and bytes of the largest resident set."""
    done = subprocess.run([program, "--run", TOOL, "check", path, "-q"], capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["resident"]


def print_check(program, folder):
    path = folder / "text.xml"
    path.write_text("<mujoco/>")
    _, empty = run_check(program, path)
    for label, make in TEXTS.items():
        text = make()
        path = folder / ("text.urdf" if text.startswith("<robot") else "text.xml")
        path.write_text(text)
        seconds, resident = run_check(program, path)
        times = (resident - empty) / len(text)
        print(f"check of {len(text) / MB:.2f} MB of {label}: {times:.0f} times its size, bar 32; {seconds:.2f} s, bar 1"
              + ("   over" if times > 32 or seconds > 1 else ""), flush=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build_memory(folder)
        print_memory(program, folder)
        print_check(program, folder)


if __name__ == "__main__":
    sys.exit(main())
