#!/usr/bin/env python3
"""Every model of ../shared/zoo and ../shared/models beside MuJoCo, for `make zoo`; `make zoo ARGS="--model humanoid --seed 1"` runs some.

    run.py [--model WORD ...] [--regime zero|hold|random] [--start default] [--seed N] [--seconds S] [--minutes M] [--jobs N]
           [--alone] [--json FILE] [--compare OLD.json] [--folder DIR]

A row is a run: (model, start, control, seed). Starts are the default state and every keyframe; controls are zero, held at the keyframe, or random over the
whole control range, new every 50 ms. Times are processor time of the thread. A row that would not end in its share of `--minutes` is cut, and says so.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("KK_SHARED", ROOT.parent / "shared"))
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))
import build as peers  # noqa: E402

# what does not load, and why; the quick cut skips it
NOT_YET = {}  # models that cannot be loaded: file and reason
AGREEMENT_BAR = 1e-9  # relative; of mass, M and bias
DEGRADED_BAR = 1e-3  # share of a model's steps that may be degraded or held
WORST_OVER_MEDIAN, WORST_STEP = 30, 5000  # of a single robot's steps; µs
HEAPS = ("mujoco",)  # collections of scenes with many bodies, to which these do not apply
DEGRADED_IS_FAILURE = False  # as a test, a model over that bar is told; with True it fails


# ---- which files

def included(path):
    """Files that this one includes: they run as part of it."""
    text = path.read_text(errors="replace")
    return {(path.parent / name).resolve() for name in re.findall(r'<include\s+file="([^"]+)"', text)}


def is_fragment(path):
    """Nothing in it but what another file is to include."""
    return not re.search(r"<(body|include|attach|replicate|link)\b", path.read_text(errors="replace"))


def is_model(path):
    """Whether it says that it is one: a folder of others holds much else."""
    return re.search(r"<(mujoco|robot)\b", path.read_text(errors="replace"))


def model_files(folder=None):
    """All models: files that no other includes, fragments left out. Those below `folder`, or the shared ones."""
    roots = [folder] if folder else [SHARED / "zoo", SHARED / "models"]
    files = [path for root in roots for end in ("xml", "urdf") for path in sorted(root.rglob(f"*.{end}")) if is_model(path)]
    parts = set().union(*(included(path) for path in files)) if files else set()
    return [path for path in files if path.resolve() not in parts and not is_fragment(path)]


def name_of(path):
    if not path.is_relative_to(SHARED):
        return "/".join(path.parts[-4:])
    relative = path.relative_to(SHARED)
    return str(relative.relative_to("zoo") if relative.parts[0] == "zoo" else relative)


def collection_of(name):
    return name.split("/")[0]


def robot_of(name):
    """Files of one robot share one weight: a folder of robots, or versions of one file."""
    if collection_of(name) in ("menagerie", "models"):
        return "/".join(name.split("/")[:2])
    return re.sub(r"_v\d+\.xml$", ".xml", name)


# ---- runs

def run_model(program, path, options, budget):
    words = [program, path, "--seconds", options.seconds, "--cap", options.cap, "--room", options.room, "--seeds", options.seeds,
             "--budget", f"{budget:.1f}"]
    for key in ("regime", "seed", "start"):
        if getattr(options, key) is not None:
            words += [f"--{key}", getattr(options, key)]
    words += [f"--{key}" for key in ("alone", "quick") if getattr(options, key)]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    name = name_of(path)
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    except ValueError as problem:
        return {"file": name, "not_loaded": f"unreadable: {problem}", "rows": []}
    head = lines[0] if lines else {"not_loaded": f"ended with {done.returncode}: {done.stderr[-300:]}"}
    agreement = next((line["agreement"] for line in lines if "agreement" in line), None)
    return {**head, "file": name, "collection": collection_of(name), "robot": robot_of(name), "agreement": agreement,
            "rows": [line for line in lines if "control" in line]}


def run_all(program, files, options):
    """Models one after the other (or as many as there are jobs); none may take more than four shares of what is left of the time."""
    begin, left, results = time.monotonic(), len(files), {}

    def run_one(path):
        nonlocal left
        remaining = max(60 * options.minutes - (time.monotonic() - begin), 1)
        result = run_model(program, path, options, options.jobs * remaining / left * min(4, left))
        left -= 1
        if not options.judge:
            print_model(result)
        return result

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, result in zip(files, pool.map(run_one, files)):
            results[path] = result
    return [results[path] for path in files]


# ---- what is printed

def number(value, form="{:.3g}"):
    return "-" if value is None else form.format(value)


def flaws_of(row):
    text = ", ".join(f"{name} {count}" for name, count in row["flaws"].items())
    worst = row.get("worst_flaw")
    if worst:
        bodies = "-".join(body for body in (worst["body"], worst["other"]) if body)
        text += f" (gravest: {worst['flaw']} {number(worst['amount'], '{:.2g}')}, step {worst['step']}, {worst['stage']}{' of ' + bodies if bodies else ''})"
    return text


def print_head():
    print(f"{'model':42} {'start':12} {'control':8} {'steps':>6} {'fail':>5} {'degr':>5} {'held':>4} {'us':>8} {'p50':>7} {'p99.9':>8} {'worst':>9} "
          f"{'MuJoCo':>8} {'ratio':>6} {'residual':>8} {'overlap':>8} {'gain':>8} {'dz mm':>7}  flaws", flush=True)


def height_difference(row):
    """m; of the base after 2 s, ours less MuJoCo's."""
    ours, theirs = row["height"], row.get("peer_height")
    return None if ours is None or theirs is None else ours - theirs


def differences_of(model):
    """What of the two models differs: pairs of bodies that may touch, mass, M, bias, starts."""
    a = model.get("agreement")
    if not a:
        return []
    off = [f"{key} {a[key]:.1e}" for key in ("mass", "inertia", "bias") if a[key] is not None and a[key] > AGREEMENT_BAR]
    if a["start"] > AGREEMENT_BAR:
        off.append(f"{a['start_body']} starts {a['start']:.1e} m off" + (f" in keyframe {a['start_keyframe']}" if a["start_keyframe"] >= 0 else ""))
    off += [a["problem"]] if a["problem"] else []
    for where, key in (("ours", "only_ours"), ("MuJoCo", "only_mujoco")):
        if a[key]:
            named = [f"{pair['body']}-{pair['other']}" for pair in a["listed"] if pair["in"] == where][:6]
            off.append(f"{a[key]} pairs of bodies may touch in {where} alone: {', '.join(named)}" + (", ..." if a[key] > len(named) else ""))
    return off


def print_model(model):
    if "not_loaded" in model:
        print(f"{model['file']:42} NOT LOADED: {model['not_loaded']}", flush=True)
    if differences_of(model):
        print(f"{model['file'][-42:]:42} differs: {'; '.join(differences_of(model))}", flush=True)
    for row in model["rows"]:
        control = row["control"] + (str(row["seed"]) if row["control"] == "random" else "")
        notes = [flaws_of(row), row["failure"], row["ended"], "cut" if row["cut"] else "", "MuJoCo cut" if row.get("peer_cut") else "",
                 f"MuJoCo reset {row['peer_resets']} times" if row.get("peer_resets") else "",
                 f"MuJoCo asleep in {row['peer_asleep']} steps" if row.get("peer_asleep") else "", model.get("no_peer", "")]
        t, p, dz = row["ours"], row.get("mujoco", {}), height_difference(row)
        print(f"{model['file'][-42:]:42} {row['start'][:12]:12} {control:8} {row['steps']:6} {row['failed']:5} {row['degraded']:5} {row['held']:4} "
              f"{t['mean']:8.1f} {t['p50']:7.1f} {t['p999']:8.1f} {t['worst']:9.1f} {number(p.get('mean'), '{:8.1f}'):>8} "
              f"{number(row.get('ratio'), '{:6.2f}'):>6} {row['residual']:8.1e} {row['overlap']:8.1e} {row['gain'] or 0:8.1e} "
              f"{number(dz and 1e3 * dz, '{:7.2f}'):>7}  "
              + "; ".join(note for note in notes if note), flush=True)


def geometric_mean(values):
    values = [value for value in values if value and value > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def judged_rows(model):
    """Random controls, for standing still hides everything; all rows of what has no actuators."""
    return [row for row in model["rows"] if row["control"] == "random"] or model["rows"]


def robot_ratios(models):
    """{(collection, robot): MuJoCo's time over ours}, the geometric mean over a robot's files and rows."""
    robots = {}
    for model in models:
        found = geometric_mean([row.get("ratio") for row in judged_rows(model)])
        if found:
            robots.setdefault((model["collection"], model["robot"]), []).append(found)
    return {key: geometric_mean(values) for key, values in robots.items()}


def mean_ratios(robots):
    """Geometric mean a collection, one weight a robot; and of all."""
    means = {name: geometric_mean([value for (collection, _), value in robots.items() if collection == name])
             for name in sorted({collection for collection, _ in robots})}
    return {**means, "all": geometric_mean(robots.values())}


def degraded_share(model):
    steps = sum(row["steps"] for row in model["rows"])
    return sum(row["degraded"] + row["held"] for row in model["rows"]) / steps if steps else 0


def degraded_text(model):
    steps = sum(row["steps"] for row in model["rows"])
    degraded = sum(row["degraded"] + row["held"] for row in model["rows"])
    return f"{model['file']}, {degraded} of {steps} steps degraded, bar {DEGRADED_BAR:g}"


def total(models, key):
    return sum(row[key] for model in models for row in model["rows"])


def print_over_bars(model):
    """Degraded steps, single steps that take long, and robots that stand elsewhere."""
    if degraded_share(model) > DEGRADED_BAR:
        print(f"over the bar: {degraded_text(model)}")
    slow = [row for row in model["rows"] if row["ours"]["computed"] > 100 and model["collection"] not in HEAPS
            and (row["ours"]["worst"] > WORST_OVER_MEDIAN * row["ours"]["p50"] or row["ours"]["worst"] > WORST_STEP)]
    if slow:
        row = max(slow, key=lambda row: row["ours"]["worst"])
        print(f"long steps: {model['file']}, {len(slow)} of {len(model['rows'])} rows, the worst {row['ours']['worst']:.0f} us beside a median of "
              f"{row['ours']['p50']:.1f} ({row['start']}, {row['control']})")
    held = [height_difference(row) for row in model["rows"] if row["control"] == "hold" and height_difference(row) is not None]
    if held and max(map(abs, held)) > 1e-3:
        print(f"base height after 2 s held: {model['file']}, off by up to {1e3 * max(held, key=abs):.1f} mm in {len(held)} rows")


def print_sums(models):
    rows = [(model, row) for model in models for row in model["rows"]]
    steps = total(models, "steps")
    robots = robot_ratios(models)
    print(f"\n{len(models)} models, {len(rows)} rows, {steps} steps: {total(models, 'failed')} failed, {total(models, 'degraded')} degraded, "
          f"{total(models, 'held')} held, {sum(row['cut'] for _, row in rows)} rows cut, {sum(bool(row['ended']) for _, row in rows)} did not end")
    flaws = {}
    for _, row in rows:
        for name, count in row["flaws"].items():
            flaws[name] = flaws.get(name, 0) + count
    print(f"certified steps that gain more than 1e-3 of their scale: {total(models, 'gaining'):.0f}")
    print("flaws: " + (", ".join(f"{name} {count}" for name, count in flaws.items()) or "none"))
    print(f"MuJoCo's time over ours, random controls where there are actuators, geometric means over {len(robots)} robots: "
          + ", ".join(f"{name} {value:.2f}" for name, value in mean_ratios(robots).items() if value))
    compared = [model["agreement"] for model in models if model.get("agreement")]
    print(f"models: {len(compared)} compared, pairs that may touch differ in {sum(bool(a['only_ours'] or a['only_mujoco']) for a in compared)}, "
          f"M in {sum((a['inertia'] or 0) > AGREEMENT_BAR for a in compared)}, bias in {sum((a['bias'] or 0) > AGREEMENT_BAR for a in compared)}, "
          f"mass in {sum(a['mass'] > AGREEMENT_BAR for a in compared)}")
    timed = [row["ratio"] for model in models for row in judged_rows(model) if row.get("ratio")]
    print(f"judged rows: {len(timed)}, below .3 {sum(ratio < 0.3 for ratio in timed)}, below 1 {sum(ratio < 1 for ratio in timed)}, "
          f"at 3 or more {sum(ratio >= 3 for ratio in timed)}")
    print("robots below 1: " + (", ".join(f"{name} {ratio:.2f}" for (_, name), ratio in sorted(robots.items(), key=lambda item: item[1]) if ratio < 1)
                                or "none"))
    for model in models:
        print_over_bars(model)


# ---- as a test

def faults_of(model):
    """What a model is judged by: it loads, is MuJoCo's model where that takes part, no step fails, each returns."""
    if "not_loaded" in model:
        return [model["not_loaded"]]
    faults = [f"{row['start']}, {row['control']} {row['seed']}: {row['failed']} failed steps, {row['failure']}" for row in model["rows"] if row["failed"]]
    faults += [f"{row['start']}, {row['control']} {row['seed']}: {row['ended']} behind step {row['steps']}" for row in model["rows"] if row["ended"]]
    faults += differences_of(model)
    if DEGRADED_IS_FAILURE and degraded_share(model) > DEGRADED_BAR:
        faults.append(degraded_text(model))
    return faults


def print_judgment(models):
    """A line for each model that is not as it should be, and the sum; gives how many failed."""
    failed, skipped = 0, 0
    for model in models:
        faults = faults_of(model)
        if faults and "not_loaded" in model and model["file"] in NOT_YET:
            skipped += 1
            print(f"skipped {model['file']}: {NOT_YET[model['file']]}")
        elif faults:
            failed += 1
            print(f"FAILED {model['file']}: " + "; ".join(faults))
        elif degraded_share(model) > DEGRADED_BAR:
            print(f"not yet within the bar: {degraded_text(model)}")
    print(f"{len(models) - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed


# ---- beside an older run

def keyed(models):
    return {(model["file"], row["start"], row["control"], row["seed"]): row for model in models for row in model["rows"]}


def print_comparison(old, new):
    before, after = keyed(old["models"]), keyed(new["models"])
    common = [key for key in after if key in before]
    faster = geometric_mean([before[key]["ours"]["mean"] / after[key]["ours"]["mean"] for key in common
                             if before[key]["ours"]["mean"] and after[key]["ours"]["mean"]])
    print(f"\nbeside the older run: {len(common)} rows in both" + (f", {faster:.3f} times as fast (geometric mean)" if faster else ""))
    for key in common:
        a, b = before[key], after[key]
        changes = [f"{name} {a[name]} -> {b[name]}" for name in ("failed", "degraded", "held") if a[name] != b[name]]
        if a["ours"]["mean"] and not 0.8 < b["ours"]["mean"] / a["ours"]["mean"] < 1.25:
            changes.append(f"mean {a['ours']['mean']:.1f} -> {b['ours']['mean']:.1f} us")
        if changes:
            print(f"{' '.join(map(str, key))}: " + ", ".join(changes))


# ---- the program

def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="only models whose name contains this word")
    parser.add_argument("--regime", choices=("zero", "hold", "random"))
    parser.add_argument("--start", choices=("default",))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of simulated time, a row")
    parser.add_argument("--cap", type=float, default=8, help="s of processor time that a run of one engine may take")
    parser.add_argument("--room", type=float, default=3, help="s of processor time in which a run is repeated")
    parser.add_argument("--minutes", type=float, default=60, help="for all of it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="without MuJoCo")
    parser.add_argument("--program", type=pathlib.Path, help="an older build of the program, in place of the one that is built here")
    parser.add_argument("--judge", action="store_true", help="as a test: the last line is a sum, and only what is wrong is told")
    parser.add_argument("--quick", action="store_true", help="a cut: the default state, one seed, half a second, without MuJoCo, judged")
    parser.add_argument("--folder", type=pathlib.Path, help="any models below this folder, in place of the shared ones")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    if options.quick:
        options.start, options.seeds, options.seconds, options.cap, options.room = "default", 1, 0.5, 0.4, 0
        options.alone = options.judge = True
    return options


def main():
    options = parse()
    if not options.folder and not (SHARED / "zoo").is_dir():
        print("skipped the zoo: there is no ../shared/zoo beside the sources" + ("\n0 passed, 0 failed, 1 skipped" if options.judge else ""))
        return 0
    files = [path for path in model_files(options.folder) if not options.model or any(word in name_of(path) for word in options.model)]
    if not files:
        sys.exit("zoo: no model of that name")
    program = options.program or peers.build_zoo(with_mujoco=not options.alone)
    if not options.judge:
        print_head()
    models = run_all(program, files, options)
    if not options.judge:
        print_sums(models)
    found = {"seconds": options.seconds, "models": models}
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.compare:
        print_comparison(json.loads(options.compare.read_text()), found)
    if options.judge:
        return int(print_judgment(models) > 0)
    return int(any(map(faults_of, models)))


if __name__ == "__main__":
    sys.exit(main())
