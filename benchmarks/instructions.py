#!/usr/bin/env python3
"""Instructions a step of some thirty public models under random controls, counted by callgrind: `make instructions`.

    instructions.py [--scene WORD ...] [--seconds S] [--json FILE] [--compare OLD.json] [--functions N]

Times move with whatever else the machine does, by more than most changes gain; instructions do not. The count is of kk_step and all below it, in AVX2 (callgrind
has no AVX-512), compiled by clang. Instructions are not time: what waits for memory or for a quotient costs more than it counts, so `make bench` and `make zoo`
have the last word. `--functions 20` tells where most of them go, over all scenes.
"""
import argparse
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
FOLDER = ROOT / "build" / "instructions"
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

# file below ../shared, and the keyframe it starts from where the default state says little
SCENES = [
    "zoo/gymnasium/ant.xml", "zoo/gymnasium/half_cheetah.xml", "zoo/gymnasium/hopper.xml", "zoo/gymnasium/humanoid.xml", "zoo/gymnasium/walker2d_v5.xml",
    "zoo/gymnasium/pusher_v5.xml", "zoo/gymnasium/swimmer.xml", "zoo/dm_control/cheetah.xml", "zoo/dm_control/finger.xml", "zoo/dm_control/humanoid_CMU.xml",
    "zoo/dm_control/manipulator.xml", "zoo/dm_control/quadruped.xml", "zoo/dm_control/walker.xml", "zoo/dm_control/fish.xml",
    "zoo/mujoco/humanoid/humanoid.xml", "zoo/mujoco/car/car.xml", "zoo/mujoco/replicate/container.xml", "zoo/mujoco/tendon_arm/arm26.xml",
    "zoo/menagerie/aloha/scene.xml", "zoo/menagerie/leap_hand/scene_right.xml", "zoo/menagerie/pal_tiago/scene_velocity.xml",
    "zoo/menagerie/pal_tiago/scene_motor.xml", "zoo/menagerie/trs_so_arm100/scene.xml", "zoo/menagerie/unitree_g1/scene.xml",
    "zoo/menagerie/unitree_go1/scene.xml", "models/agility_cassie/scene.xml", "models/anybotics_anymal_c/scene.xml",
    "models/franka_emika_panda/scene.xml", "models/robotiq_2f85/scene.xml", "models/shadow_hand/scene_right.xml", "models/unitree_h1/scene.xml",
]
COST = re.compile(r"^(?:[+-]?\d+|\*) (\d+)$")


def program():
    """The zoo's program over a library that callgrind can read: it does not know all that gcc writes for AVX2."""
    build = ROOT / "build" / "clang-release"
    for command in (["cmake", "--preset", "clang-release", "--log-level=WARNING"],
                    ["cmake", "--build", "--preset", "clang-release", "--target", "karakuri_static"]):
        if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
            sys.exit("instructions: the library does not build with clang")
    return peers.build_zoo(with_mujoco=False, library=build / "libkarakuri.a", name="zoo_counted")


def count(tool, scene, seconds):
    """(steps, instructions, output files) of one run."""
    place = FOLDER / scene.replace("/", "_")
    for old in FOLDER.glob(f"{place.name}.*"):
        old.unlink()
    words = ["valgrind", "--tool=callgrind", "--toggle-collect=kk_step", f"--callgrind-out-file={place}.%p", tool, SHARED / scene, "--seconds", seconds,
             "--alone", "--start", "default", "--regime", "random", "--seed", 1, "--seeds", 1, "--cap", 1e6, "--room", 0, "--budget", 1e7]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{') and '"control"' in line]
    files = sorted(FOLDER.glob(f"{place.name}.*"))
    total = sum(int(line.split()[1]) for file in files for line in file.read_text().splitlines() if line.startswith("totals:"))
    computed = rows[0]["ours"]["computed"] if rows else 0
    return computed, total, files


def functions_of(files):
    """Instructions by function, its own alone."""
    costs, names, name, is_call = {}, {}, None, False
    for file in files:
        names.clear()
        for line in file.read_text().splitlines():
            if line.startswith(("fn=", "cfn=")):  # a name is told where it stands first, and is a number from then on
                number, _, text = line.partition("=")[2].partition(" ")
                names.setdefault(number, text)
                name = names[number] if line.startswith("fn=") else name
            elif line.startswith("calls="):
                is_call = True
            else:
                found = COST.match(line)
                if found and not is_call:
                    costs[name] = costs.get(name, 0) + int(found[1])
                is_call = is_call and not found
    return costs


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", action="append", help="only scenes whose name contains this word")
    parser.add_argument("--seconds", type=float, default=1, help="of simulated time")
    parser.add_argument("--functions", type=int, default=0, help="this many functions that take most")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    if not (SHARED / "zoo").is_dir() or not shutil.which("valgrind") or not shutil.which("clang"):
        print("skipped: this wants ../shared/zoo beside the sources, valgrind and clang")
        return
    before = json.loads(options.compare.read_text()) if options.compare else {}
    FOLDER.mkdir(parents=True, exist_ok=True)
    tool, found, costs = program(), {}, {}
    print(f"{'scene':44} {'steps':>6} {'instructions a step':>20}" + (f" {'was':>10} {'ratio':>7}" if before else ""), flush=True)
    for scene in SCENES:
        if options.scene and not any(word in scene for word in options.scene):
            continue
        steps, total, files = count(tool, scene, options.seconds)
        if not steps or not total:
            print(f"{scene:44} did not run")
            continue
        found[scene] = total / steps
        old = before.get(scene)
        print(f"{scene:44} {steps:6} {found[scene]:20.0f}" + (f" {old:10.0f} {found[scene] / old:7.3f}" if old else ""), flush=True)
        if options.functions:
            for name, cost in functions_of(files).items():
                costs[name] = costs.get(name, 0) + cost / total
    print(f"geometric mean {geometric_mean(list(found.values())):.0f} of {len(found)} scenes")
    common = [scene for scene in found if scene in before]
    if common:
        print(f"beside the older count: {geometric_mean([found[scene] / before[scene] for scene in common]):.4f} of {len(common)} scenes, "
              f"worst {max(found[scene] / before[scene] for scene in common):.3f}")
    for name, cost in sorted(costs.items(), key=lambda item: -item[1])[:options.functions]:
        print(f"{100 * cost / len(found):6.2f} %  {name}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
