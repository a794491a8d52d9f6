#!/usr/bin/env python3
"""Makes the corpus of contact problems: runs the sources below with karakuri_collect and chooses from what they give.

    tests/corpus/make.py collect FOLDER [--only WORD]   runs the sources; FOLDER/SOURCE.bin and its index
    tests/corpus/make.py choose FOLDER                  tests/corpus/FAMILY.bin and manifest.csv, by fixed rules and without chance

A problem is told from others by its signature (laws, kinds of constraints, sizes in powers of two, how many factorizations it takes). The choice goes
round the sources of a family and in each round takes the rarest signature, hard problems before easy ones, so that no scene dominates.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"
SHARED = ROOT.parent / "shared"
COLLECT = ROOT / "build" / "release" / "karakuri_collect"
BENCH = ROOT / "build" / "release" / "karakuri_solverbench"
LIMIT = 60  # seconds a source
ZOO, MODELS, SCENES, OURS = SHARED / "zoo", SHARED / "models", SHARED / "scenes", ROOT / "models"

# what a family gets, at most: problems, bytes; and of problems that are unsolved today
SIZES = {"standing": 110, "stepping": 70, "falling": 150, "gripping": 90, "wedged": 100, "loops": 90, "piles": 100, "stacks": 80,
         "limits": 90, "friction": 70, "soft": 60, "impacts": 80, "servos": 80}
MOST_BYTES = 450_000
MOST_OF_ONE = 90_000   # bytes of a problem; two of a family may be larger
LARGE_BYTES = 200_000
UNSOLVED = 0.12


# ---- scenes of our own, as MJCF

def mjcf(bodies, options="", floor='friction="0.8"'):
    return (f'<mujoco><option timestep="0.004" {options}/><worldbody><geom type="plane" size="20 20 .1" {floor}/>'
            f'{bodies}</worldbody></mujoco>')


def body(x, y, z, geom, euler="0 0 0"):
    return f'<body pos="{x} {y} {z}" euler="{euler}"><freejoint/><geom {geom}/></body>'


def stack(count, ratio):
    """Boxes on each other, each so many times as heavy as the one below."""
    return mjcf("".join(body(0.003 * (-1) ** k, 0, 0.101 + 0.2 * k, f'type="box" size=".1 .1 .1" mass="{ratio ** k}"')
                        for k in range(count)))


def heap(count, geoms, options="", floor='friction="0.8"'):
    """Columns that fall in."""
    out = [body(0.21 * (k % 3) + 0.013 * k, 0.19 * (k // 3 % 3), 0.15 + 0.25 * (k // 9), geoms[k % len(geoms)],
                f"{17 * k} {29 * k} {41 * k}") for k in range(count)]
    return mjcf("".join(out), options, floor)


def ring(count, hinge, joint="", scale=0.25):
    """A chain of links that closes on itself, free to fall; its hinges about y, or every second one about another axis."""
    link, tail, turn = "", "", 360 / count
    for k in range(count):
        root = "<freejoint/>" if k == 0 else f'<joint type="hinge" axis="{hinge[k % len(hinge)]}" {joint}/>'
        place = "0 0 .6" if k == 0 else f"{scale} 0 0"
        link += (f'<body name="l{k}" pos="{place}" euler="0 {0 if k == 0 else turn:.6f} 0">{root}'
                 f'<geom type="capsule" fromto=".03 0 0 {scale - 0.03} 0 0" size=".02" mass=".4"/>')
        tail += "</body>"
    closing = f'<equality><connect body1="l{count - 1}" body2="l0" anchor="{scale} 0 0"/></equality>'
    return mjcf(link + tail).replace("</mujoco>", closing + "</mujoco>")


def hanging(count, joint):
    """Arms from the ceiling whose hands are joined in pairs: loops that share bodies."""
    bodies, closing = "", ""
    for k in range(count):
        bodies += (f'<body name="a{k}" pos="{0.3 * k} 0 1.2"><joint type="hinge" axis="0 1 0" {joint}/>'
                   f'<geom type="capsule" fromto="0 0 0 .15 0 -.4" size=".03" mass="1"/>'
                   f'<body name="b{k}" pos=".15 0 -.4"><joint type="hinge" axis="0 1 0" {joint}/>'
                   f'<geom type="capsule" fromto="0 0 0 {-0.15 if k else 0.15} 0 -.4" size=".03" mass=".5"/></body></body>')
    for k in range(count - 1):
        closing += f'<connect body1="b{k}" body2="b{k + 1}" anchor="0.15 0 -.4"/>' if k == 0 else ""
    return mjcf(bodies).replace("</mujoco>", f"<equality>{closing}</equality></mujoco>")


BOX, BALL = 'type="box" size=".08 .06 .05" mass="1"', 'type="sphere" size=".07" mass="1"'
ROD, HEAVY = 'type="capsule" size=".03 .1" mass=".5"', 'type="box" size=".1 .1 .1" mass="200"'
ROLLING = ' condim="6" friction=".6 .02 .004"'
SOFT = 'solref="-20000 -100" friction=".7"'
OWN = {
    "stack6": stack(6, 1), "stack5-heavy": stack(5, 5), "stack4-100": stack(4, 30), "stack12": stack(12, 1),
    "heap9": heap(9, [BOX]), "heap9-mixed": heap(9, [BOX, BALL, ROD]), "heap18-heavy": heap(18, [BOX, BALL, ROD, HEAVY]),
    "heap27": heap(27, [BOX, ROD, BALL]), "heap60": heap(60, [BOX, ROD, BALL, BOX]),
    "heap6-rolling": heap(6, [BOX + ROLLING, BALL + ROLLING, ROD + ROLLING], floor='condim="6" friction=".6 .02 .004"'),
    "heap9-soft": heap(9, [BOX + " " + SOFT, BALL + " " + SOFT, ROD + " " + SOFT], floor=SOFT),
    "heap12-softer": heap(12, [x + ' solref="-3000 -20"' for x in (BOX, ROD, HEAVY)], floor='solref="-3000 -20"'),
    "heap6-soft-rolling": heap(6, [x + ROLLING + ' solref="-20000 -100"' for x in (BALL, ROD)], floor=SOFT),
    "heap5-ice": heap(5, [BOX.replace("mass", 'friction=".02" mass'), HEAVY], floor='friction=".02"'),
    "ring4": ring(4, ["0 1 0"]), "ring6": ring(6, ["0 1 0"]), "ring5-limits": ring(5, ["0 1 0"], 'limited="true" range="-20 20"'),
    "ring8-rubs": ring(8, ["0 1 0"], 'frictionloss=".3"'), "ring7-space": ring(7, ["0 1 0", "0 0 1", "1 0 0"]),
    "hanging2": hanging(2, 'frictionloss=".05"'), "hanging2-limits": hanging(2, 'limited="true" range="-15 15"'),
    "pair-mill": mjcf(body(0, 0, 0.101, 'type="box" size=".1 .1 .1" mass=".01"') + body(0.02, 0, 0.32, HEAVY)),
}


# ---- where problems come from

def sources():
    """(family, source, words of karakuri_collect)."""
    out = []

    def run(family, name, model, time, *words):
        if model.exists():
            out.append((family, name, ["cli", "run", model, "--time", time, *words]))

    def throw(family, name, model, dt, seeds, steps=350):
        for seed in seeds if model.exists() else ():
            out.append((family, f"{name}-{seed}", ["throw", model, dt, seed, steps]))

    def exam(family, *rows):
        out.extend((family, f"exam{row}", ["cli", "exam", "--row", row]) for row in rows)

    def test(family, *words):
        out.extend((family, f"test-{word}", ["test", word]) for word in words)

    menagerie = ZOO / "menagerie"
    robots = {"go1": menagerie / "unitree_go1/scene.xml", "g1": menagerie / "unitree_g1/scene.xml",
              "g1-hands": menagerie / "unitree_g1/scene_with_hands.xml", "h1": MODELS / "unitree_h1/scene.xml",
              "anymal": MODELS / "anybotics_anymal_c/scene.xml", "cassie": MODELS / "agility_cassie/scene.xml",
              "ant": ZOO / "gymnasium/ant.xml", "humanoid": ZOO / "mujoco/humanoid/humanoid.xml",
              "cmu": ZOO / "dm_control/humanoid_CMU.xml", "quadruped": ZOO / "dm_control/quadruped.xml",
              "hopper": ZOO / "gymnasium/hopper.xml", "walker2d": ZOO / "gymnasium/walker2d.xml",
              "cheetah": ZOO / "gymnasium/half_cheetah.xml", "standup": ZOO / "gymnasium/humanoidstandup.xml",
              "hrp2": OURS / "hrp2/hrp2.xml", "h6": OURS / "h6/h6.xml", "titan8": OURS / "titan8/titan8.xml",
              "titan8-torque": OURS / "titan8/titan8_torque.xml"}
    jvrc = next(iter(sorted((MODELS / "jvrc1").rglob("*.urdf"))), MODELS / "none")
    hands = {"shadow": MODELS / "shadow_hand/scene_right.xml", "leap": menagerie / "leap_hand/scene_right.xml",
             "robotiq": MODELS / "robotiq_2f85/scene.xml"}

    for name, key in (("go1", "home"), ("g1", "stand"), ("h1", "home"), ("cassie", "home"),
                      ("hrp2", "half_sitting")):
        run("standing", f"{name}-{key}", robots[name], 1, "--keyframe", key)
    for name in ("quadruped", "humanoid", "h6", "titan8", "anymal", "ant"):
        run("standing", name, robots[name], 1)
    run("standing", "jvrc-servos", jvrc, 1, "--floor", "--servos")
    exam("standing", 22)
    test("standing", "standing_quadruped", "flat_foot", "bobbing", "humanoids_stand", "many_points", "points_that")
    exam("stepping", 23)
    test("stepping", "feet_on_bushes", "rigid_feet", "bobbing_quadruped", "folding_leg")
    for name, robot, words in (("bush", "hrp2_bush", ["--stabilize"]), ("rigid", "hrp2", []), ("fast", "hrp2_bush", ["--step-time", 0.7])):
        out.append(("stepping", f"walk-{name}", ["cli", "walk", OURS / f"hrp2/{robot}.xml", "--simulate", *words]))
    for name, dt in (("go1", 0.004), ("g1", 0.003), ("h1", 0.002), ("anymal", 0.005), ("ant", 0.01), ("humanoid", 0.005),
                     ("cmu", 0.003), ("quadruped", 0.007), ("standup", 0.003), ("hopper", 0.006), ("walker2d", 0.008),
                     ("cheetah", 0.01), ("titan8-torque", 0.005), ("hrp2", 0.0021)):
        throw("falling", name, robots[name], dt, (1, 2, 3))
    throw("falling", "jvrc", jvrc, 0.003, (1, 2, 3))
    throw("falling", "g1-hands", robots["g1-hands"], 0.002, (1,))
    for name, model in hands.items():
        throw("gripping", name, model, 0.002, (1, 2), 250)
    run("gripping", "panda-cube", MODELS / "franka_emika_panda/mjx_single_cube.xml", 1)
    run("gripping", "aloha", menagerie / "aloha/scene.xml", 0.5)
    run("gripping", "manipulator", ZOO / "dm_control/manipulator.xml", 1)
    throw("gripping", "stacker", ZOO / "dm_control/stacker.xml", 0.004, (1, 2))
    run("gripping", "finger", ZOO / "dm_control/finger.xml", 1)
    exam("gripping", 5)
    test("gripping", "wedged_hand")
    test("wedged", "heads_that", "wedged", "step_is_total", "thrown_quadruped", "painleve")
    exam("wedged", 18, 17)
    throw("wedged", "jvrc-limp", jvrc, 0.004, (11, 12, 13), 500)
    throw("wedged", "tiago", menagerie / "pal_tiago/scene_motor.xml", 0.004, (1,), 150)
    throw("wedged", "cube", ZOO / "mujoco/cube/cube_3x3x3.xml", 0.004, (1,), 200)
    for name in ("four_bar", "chebyshev", "slider_crank", "closed_link"):
        throw("loops", name, OURS / name / f"{name}.xml", 0.003, (1, 2), 300)
    throw("loops", "cassie", robots["cassie"], 0.003, (1, 2, 3), 300)
    throw("loops", "robotiq", hands["robotiq"], 0.003, (5,), 250)
    throw("loops", "crank-mujoco", ZOO / "mujoco/slider_crank/slider_crank.xml", 0.004, (1,), 300)
    for name in ("ring4", "ring6", "ring5-limits", "ring8-rubs", "ring7-space", "hanging2", "hanging2-limits"):
        out.append(("loops", name, ["own", name, 1.5]))
    exam("loops", 19)
    test("loops", "loop", "redundant", "tendon", "coupling", "weld")
    run("piles", "bin216", SCENES / "bin216.xml", 0.6)
    run("piles", "pile100", SCENES / "pile100.xml", 1.2)
    for name in ("heap9", "heap9-mixed", "heap27", "heap18-heavy", "heap60", "heap6-rolling"):
        out.append(("piles", name, ["own", name, 1.6]))
    run("piles", "bowl", ZOO / "mujoco/replicate/bowl.xml", 0.4)
    run("piles", "bunnies", ZOO / "mujoco/replicate/bunnies.xml", 0.3)
    run("piles", "stonehenge", ZOO / "mujoco/replicate/stonehenge.xml", 0.5)
    run("piles", "sand-castle", ZOO / "mujoco/adhesion/sand_castle.xml", 0.4)
    test("piles", "wide", "many_boxes")
    for name in ("stack6", "stack5-heavy", "stack4-100", "stack12", "pair-mill"):
        out.append(("stacks", name, ["own", name, 2]))
    run("stacks", "tower27", SCENES / "tower27.xml", 1)
    run("stacks", "stack10", SCENES / "stack10.xml", 1)
    run("stacks", "cards", ZOO / "mujoco/cards/cards.xml", 0.3)
    run("stacks", "dominos", ZOO / "mujoco/sleep/dominos.xml", 1)
    exam("stacks", 14, 16, 17)
    test("stacks", "heavy_on_light", "mass_ratios", "few_boxes")
    for name, model in (("panda", MODELS / "franka_emika_panda/panda.xml"), ("so100", menagerie / "trs_so_arm100/scene.xml"),
                        ("pusher", ZOO / "gymnasium/pusher.xml"), ("reacher", ZOO / "gymnasium/reacher.xml"),
                        ("swimmer", ZOO / "gymnasium/swimmer.xml"), ("pendulum2", ZOO / "gymnasium/inverted_double_pendulum.xml"),
                        ("fish", ZOO / "dm_control/fish.xml"), ("arm26", ZOO / "mujoco/tendon_arm/arm26.xml"),
                        ("ball-in-cup", ZOO / "dm_control/ball_in_cup.xml"), ("acrobot", ZOO / "dm_control/acrobot.xml")):
        throw("limits", name, model, 0.006, (1, 2), 300)
    test("limits", "limit", "stop", "rope")
    for name in ("go1", "g1"):
        throw("friction", f"{name}-rubs", robots[name], 0.005, (21,), 250)
    throw("friction", "shadow-rubs", hands["shadow"], 0.005, (21,), 250)
    throw("friction", "tiago-rubs", menagerie / "pal_tiago/scene_velocity.xml", 0.005, (21,), 150)
    exam("friction", 1, 2, 3, 4, 6, 7)
    test("friction", "wheel", "joints_stop", "friction", "slide", "static")
    run("friction", "car", ZOO / "mujoco/car/car.xml", 0.5)
    out.append(("friction", "heap5-ice", ["own", "heap5-ice", 1.5]))
    for name in ("heap9-soft", "heap12-softer", "heap6-soft-rolling"):
        out.append(("soft", name, ["own", name, 1.5]))
    test("soft", "soft", "adhesion", "bush", "stiff")
    run("soft", "adhesion", ZOO / "mujoco/adhesion/active_adhesion.xml", 0.5)
    run("soft", "fridge", ZOO / "mujoco/adhesion/fridge_door.xml", 0.5)
    run("soft", "tendons", ZOO / "mujoco/replicate/tendon.xml", 0.3)
    exam("impacts", 8, 9, 10, 20)
    test("impacts", "restitution", "cradle", "bounce")
    run("impacts", "cradle-mujoco", ZOO / "mujoco/replicate/newton_cradle.xml", 1)
    throw("impacts", "momentum", robots["titan8-torque"], 0.01, (31, 32), 200)
    out.append(("impacts", "momentum-simbench", ["cli", "simbench", "--test", "momentum"]))
    test("servos", "servo", "thrown_quadruped_with_servos")
    for name in ("go1", "h1", "anymal"):
        throw("servos", f"{name}-driven", robots[name], 0.004, (41, 42), 250)
    throw("servos", "panda-driven", MODELS / "franka_emika_panda/scene.xml", 0.004, (41,), 250)
    throw("servos", "hrp2-driven", robots["hrp2"], 0.004, (41,), 250)
    return out


def take(folder, family, source, words):
    """Runs one source; what it said at its end."""
    target = folder / f"{family}--{source}.bin"
    if words[0] == "own":
        model = folder / f"{words[1]}.xml"
        model.write_text(OWN[words[1]])
        words = ["cli", "run", model, "--time", words[2]]
    command = [str(word) for word in (COLLECT, target, family, source, *words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=folder)
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or [""]
        code = done.returncode
    except subprocess.TimeoutExpired:
        said, code = ["stopped"], 0
    index = pathlib.Path(f"{target}.index")
    count = len(index.read_text().splitlines()) if index.exists() else 0
    return f"{family:9} {source:24} {count:5} problems{'' if code == 0 else f', code {code}'}  {said[0][:120]}"


def collect(folder, only):
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [s for s in sources() if not only or only in f"{s[0]}--{s[1]}"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda s: take(folder, *s), wanted):
            print(line, flush=True)


# ---- choice

def read_index(folder):
    """All candidates whose records are whole: a source that was stopped may have left half of one."""
    found = []
    for index in sorted(folder.glob("*.index")):
        records = pathlib.Path(str(index)[:-len(".index")])
        size = records.stat().st_size
        for line in index.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry.get("at", size) + entry.get("size", 1) <= size:  # the last line counts calls
                entry["file"] = records
                found.append(entry)
    return found


UNSOLVED_LEVEL = 5


def scene_of(entry):
    """Throws of one model are one scene."""
    return re.sub(r"-\d+$", "", entry["source"])


def lot(entry):
    """A number that has nothing to do with what the problem is like, and is always the same."""
    return zlib.crc32(entry["name"].encode())


def read_rare():
    """Names of problems that few of our methods solve, found by solverbench among all candidates."""
    path = CORPUS / "rare.txt"
    return set(path.read_text().split()) if path.exists() else set()


def choose_family(entries, count, rare):
    """What is rare; then round the scenes, of each the rarest signature, hardest first."""
    scenes = collections.defaultdict(list)
    chosen = [e for e in entries if f"{e['family']}/{e['name']}" in rare and e["size"] <= MOST_OF_ONE]
    for entry in entries:
        if entry not in chosen:
            scenes[scene_of(entry)].append(entry)
    count += len(chosen)
    used = large = unsolved = 0
    signatures, levels = collections.Counter(), collections.Counter()
    while len(chosen) < count and any(scenes.values()):
        for scene in sorted(scenes):
            rest = scenes[scene]
            while rest and len(chosen) < count:
                best = min(rest, key=lambda e: (signatures[e["signature"]], levels[scene, e["level"]], -e["level"], lot(e), e["at"]))
                rest.remove(best)
                is_large, is_unsolved = best["size"] > MOST_OF_ONE, best["level"] == UNSOLVED_LEVEL
                if used + best["size"] > MOST_BYTES or best["size"] > LARGE_BYTES or (is_large and large == 1) or \
                        (is_unsolved and unsolved >= UNSOLVED * count) or signatures[best["signature"]] >= 3:
                    continue
                used += best["size"]
                large += is_large
                unsolved += is_unsolved
                signatures[best["signature"]] += 1
                levels[scene, best["level"]] += 1
                chosen.append(best)
                break
    return sorted(chosen, key=lambda e: (e["source"], e["at"]))


def solve():
    """What the engine makes of the corpus as it is now: baseline.json, by family/name."""
    command = [BENCH, "--method", "engine", "--json", CORPUS / "baseline.json", *sorted(CORPUS.glob("*.bin"))]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    lines = map(json.loads, (CORPUS / "baseline.json").read_text().splitlines())
    return {line["problem"]: line for line in lines}


def choose(folder):
    entries, rare = read_index(folder), read_rare()
    rows = []
    for old in CORPUS.glob("*.bin"):
        old.unlink()
    for family, count in SIZES.items():
        chosen = choose_family([e for e in entries if e["family"] == family], count, rare)
        with open(CORPUS / f"{family}.bin", "wb") as out:
            for entry in chosen:
                with open(entry["file"], "rb") as records:
                    records.seek(entry["at"])
                    out.write(records.read(entry["size"]))
                rows.append([family, entry["name"], entry["source"], entry["rows"], entry["blocks"], entry["bodies"],
                             0, 0, 0,
                             " + ".join(entry["kinds"])])
        print(f"{family:9} {len(chosen):4} of {sum(e['family'] == family for e in entries):6}, "
              f"{sum(e['size'] for e in chosen):8} bytes, levels {dict(sorted(collections.Counter(e['level'] for e in chosen).items()))}")
    solutions = solve()
    for row in rows:
        solution = solutions[f"{row[0]}/{row[1]}"]
        row[6:9] = [solution["factorizations"], f"{solution['residual']:.2g}", solution["solved"]]
    with open(CORPUS / "manifest.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["family", "name", "source", "rows", "blocks", "bodies", "factorizations", "residual", "solved", "kinds"])
        table.writerows(rows)
    print(len(rows), "problems,", sum(path.stat().st_size for path in CORPUS.glob("*.bin")), "bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["collect", "choose"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.what == "collect":
        collect(options.folder, options.only)
    else:
        choose(options.folder)


if __name__ == "__main__":
    sys.exit(main())
