#!/usr/bin/env python3
"""Batches of whole steps: ours beside mujoco.batch, both from Python, in one run.

    batch.py [--model NAME] [--sims 64] [--calls 20] [--substeps 5] [--rounds 3] [--wall] [--json FILE] [--strict]

Every call gives all simulations new random controls and takes `substeps` steps. Figures are processor time of this process with one thread a
side (--wall: the clock's), rounds of the two in turns, the least of each; so other programs on the machine matter little. Then: two threads
against one by the wall's clock with the same bits, a simulation of 4096 against one of 64, and parameters of each simulation against
none.
"""
import argparse
import json
import pathlib
import sys
import time

import numpy as np

import karakuri

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
MODELS = {"humanoid": "zoo/mujoco/humanoid/humanoid.xml", "go1": "zoo/menagerie/unitree_go1/scene.xml",
          "g1": "zoo/menagerie/unitree_g1/scene.xml", "ant": "zoo/gymnasium/ant.xml", "half cheetah": "zoo/gymnasium/half_cheetah.xml",
          "hopper": "zoo/gymnasium/hopper.xml", "walker": "zoo/gymnasium/walker2d.xml"}
BAR_MEAN, BAR_LEAST, BAR_THREADS, BAR_MANY, BAR_VARIED = 4, 3, 1.85, 1.05, 1.05


def controls(model, sims, calls):
    """Within the limits of the controls, ±1 where there are none."""
    limits = np.nan_to_num(model.control_range, posinf=1, neginf=-1)
    rng = np.random.default_rng(0)
    return rng.uniform(limits[:, 0], limits[:, 1], (calls, sims, model.nu))


class Ours:
    def __init__(self, model, sims, workers, variations=None):
        self.batch = model.batch(sims, workers=workers, sensors=False, variations=variations)
        if karakuri.c.kk_model_find_keyframe(model.raw, "home") >= 0:
            self.batch.reset(keyframe="home")

    def step(self, control, substeps):
        self.batch.control[:] = control
        self.batch.step(substeps, check=False)

    def degraded(self):
        return int(self.batch.results["degraded"].sum())


def measure_variations(name, options):
    """Processor time a step where each simulation has masses, friction, damping and gains of its own, against the model's: other by 1e-9, so that the motion is the same."""
    model = karakuri.load(SHARED / MODELS[name])
    tiny = karakuri.scale(1 - 1e-9, 1 + 1e-9)
    draws = model.randomization(mass=tiny, friction=tiny, damping=tiny, armature=tiny, **({"gain": tiny} if model.nu else {}))
    variations = [draws.draw(seed) for seed in range(options.sims)]
    inputs, found = controls(model, options.sims, options.calls), {False: [], True: []}
    for _ in range(2 * options.rounds):
        for varies, times in found.items():
            side = Ours(model, options.sims, 1, variations if varies else None)
            times.append(seconds(side, inputs, options.substeps, time.process_time))
    return min(found[True]) / min(found[False])


class Theirs:
    def __init__(self, model, sims, threads):
        from mujoco import batch
        self.batch = batch.Batch(model, nsim=sims, nthread=threads)
        if model.nkey:
            self.batch.bind("qpos")[:] = model.key_qpos[0]
        self.ctrl = self.batch.bind("ctrl")

    def step(self, control, substeps):
        self.ctrl[:] = control
        self.batch.step(nstep=substeps)


def seconds(side, inputs, substeps, clock):
    start = clock()
    for control in inputs:
        side.step(control, substeps)
    return clock() - start


def measure(name, options):
    """Microseconds a step of ours and of theirs, and what else is known."""
    path, clock = SHARED / MODELS[name], time.perf_counter if options.wall else time.process_time
    model = karakuri.load(path)
    inputs = controls(model, options.sims, options.calls)
    steps = options.sims * options.calls * options.substeps
    ours, theirs, degraded, lacks = [], [], 0, ""
    try:
        import mujoco
        other = mujoco.MjModel.from_xml_path(str(path))
    except Exception as error:  # noqa: BLE001 - whatever it is, the row says so
        other, lacks = None, str(error)
    for _ in range(options.rounds):
        side = Ours(model, options.sims, 1)
        ours.append(seconds(side, inputs, options.substeps, clock))
        degraded = side.degraded()
        if other is not None:
            theirs.append(seconds(Theirs(other, options.sims, 1), inputs, options.substeps, clock))
    return {"name": name, "ours": min(ours) / steps * 1e6, "theirs": min(theirs) / steps * 1e6 if theirs else None,
            "degraded": degraded, "lacks": lacks}


def measure_threads(name, options):
    """Two threads against one by the wall's clock, in turns, best of five; and whether the bits are the same."""
    model = karakuri.load(SHARED / MODELS[name])
    inputs = controls(model, options.sims, options.calls)
    times, bits = {1: [], 2: []}, set()
    for _ in range(5):
        for workers in (1, 2):
            side = Ours(model, options.sims, workers)
            times[workers].append(seconds(side, inputs, options.substeps, time.perf_counter))
            bits.add(side.batch.q.tobytes())
    return min(times[1]) / min(times[2]), len(bits) == 1


def measure_many(name, options):
    """Processor time of a simulation's step among 4096 against that among 64, over the same steps: 64 are taken 64 times from the start."""
    model = karakuri.load(SHARED / MODELS[name])
    inputs, found = controls(model, 64, 2), {64: [], 4096: []}
    sides = {sims: Ours(model, sims, 1) for sims in found}
    for _ in range(2):
        for sims, side in sides.items():
            used = 0.0
            for _ in range(4096 // sims):
                side.batch.reset(keyframe="home" if karakuri.c.kk_model_find_keyframe(model.raw, "home") >= 0 else None)
                start = time.process_time()
                for control in inputs:
                    side.step(np.tile(control, (sims // 64, 1)), options.substeps)
                used += time.process_time() - start
            found[sims].append(used)
    return min(found[4096]) / min(found[64])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--sims", type=int, default=64)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--substeps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--strict", action="store_true", help="fail where a bar is missed")
    options = parser.parse_args()
    print(f"{options.sims} simulations, {options.calls} calls of {options.substeps} steps, random controls, one thread, "
          f"{'wall' if options.wall else 'processor'} time", flush=True)
    rows = []
    for name in options.model or MODELS:
        row = measure(name, options)
        rows.append(row)
        peer = f"mujoco.batch {row['theirs']:8.2f} us   {row['theirs'] / row['ours']:5.2f} times" if row["theirs"] else row["lacks"][:60]
        print(f"{name:14} {row['ours']:8.2f} us a step   {peer}   {row['degraded']} of the last steps degraded", flush=True)
    ratios = [row["theirs"] / row["ours"] for row in rows if row["theirs"]]
    missed = False
    if ratios:
        mean = float(np.exp(np.mean(np.log(ratios))))
        missed |= mean < BAR_MEAN or min(ratios) < BAR_LEAST
        print(f"geometric mean {mean:.2f}, bar {BAR_MEAN}; least {min(ratios):.2f}, bar {BAR_LEAST}")
    faster, same = measure_threads(rows[0]["name"], options)
    many = measure_many(rows[0]["name"], options)
    varied = [measure_variations(row["name"], options) for row in rows]
    missed |= faster < BAR_THREADS or not same or many > BAR_MANY or max(varied) > BAR_VARIED
    print("parameters per simulation: " + ", ".join(f"{row['name']} {ratio:.3f}" for row, ratio in zip(rows, varied)) +
          f" of the time without, bar {BAR_VARIED}")
    print(f"two threads on {rows[0]['name']}: {faster:.2f} times one, bar {BAR_THREADS}, {'the same bits' if same else 'OTHER BITS'}; "
          f"a simulation of 4096: {many:.3f} of one of 64, bar {BAR_MANY}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "two_threads": faster, "of_4096": many, "varied": varied}, indent=2) + "\n")
    return int(options.strict and missed)


if __name__ == "__main__":
    sys.exit(main())
