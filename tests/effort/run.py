#!/usr/bin/env python3
"""Instructions of every step, counted under QEMU: how much more than an ordinary step the rarest takes, with a ceiling of effort and without.

    tests/effort/run.py [--steps N] [--tool PATH] [--jobs N] [--model WORD]

A step's deadline is a matter of its work, not of the machine: the same count comes on any machine, whatever else it does. Prints a table, a skip where
QEMU is not installed, and «N passed, N failed»: a row passes where the rarest of a million steps takes at most three times the median, and is told as
open where it takes more.
"""
import argparse
import concurrent.futures
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "effort"
SUM = re.compile(r"calls (\d+) instructions (\d+) median (\d+) p99 (\d+) p999999 (\d+) most (\d+)")
BAR = 3
MODELS = ROOT / "models"
ROWS = [
    ("hrp2, standing and shaken", [MODELS / "hrp2" / "hrp2.xml", "-k", "half_sitting"]),
    ("titan8, four legs", [MODELS / "titan8" / "titan8.xml"]),
    ("h6, six legs", [MODELS / "h6" / "h6.xml"]),
    ("boxes on a slope", [MODELS / "boxes_on_slope" / "boxes_on_slope.xml", "--episode", "4000"]),
    ("double pendulum", [MODELS / "double_pendulum" / "double_pendulum.xml"]),
]
CEILINGS = [("none", []), ("budget 20", ["--budget", "20"])]


def plugin():
    """The path of the counting plugin, built now."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "count.so"
    subprocess.run(["cc", "-std=c17", "-O2", "-fPIC", "-shared", ROOT / "tests" / "effort" / "count.c", "-o", path], check=True)
    return path


def address(program, symbol):
    """A symbol with its address, as the plugin wants it."""
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(f"{symbol}@{line.split()[0]}" for line in lines if line.endswith(f" {symbol}"))


def count(emulator, program, words, begin, end):
    """What the plugin says of a run: a dictionary of numbers. `begin` and `end` are names of functions."""
    argument = f"{plugin()},from={address(program, begin)},to={address(program, end)}"
    done = subprocess.run([emulator, "-plugin", argument, program, *map(str, words)], capture_output=True, text=True, cwd=OUT)
    found = SUM.search(done.stderr)
    if done.returncode not in (0, 1) or not found:
        raise RuntimeError(f"{program} {words}: code {done.returncode}\n{done.stdout[-400:]}{done.stderr[-400:]}")
    return {**dict(zip(("calls", "instructions", "median", "p99", "p999999", "most"), map(int, found.groups()))), "output": done.stdout}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "release" / "karakuri")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--model", default="", help="only rows whose name contains this")
    options = parser.parse_args()
    emulator = f"qemu-{platform.machine()}"
    if not shutil.which(emulator):
        print(f"skipped effort: no {emulator} (Debian package qemu-user)\n0 passed, 0 failed, 1 skipped")
        return 0
    plugin()
    rows = [(name, ceiling, [*words, *more]) for name, words in ROWS if options.model in name for ceiling, more in CEILINGS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda row: count(emulator, options.tool, ["soak", *row[2], "-n", options.steps, "--quiet"], "kk_step", "spread_add"), rows))
    passed = is_open = 0
    print(f"{'model':28} {'ceiling':10} {'steps':>9} {'median':>9} {'99 %':>9} {'99.9999 %':>10} {'most':>10}  rarest / median  cut short")
    for (name, ceiling, _), f in zip(rows, found):
        ratio = f["p999999"] / f["median"]
        cut = re.search(r"(\d+) cut short", f["output"])
        verdict = "" if ceiling == "none" else "  ok" if ratio <= BAR else f"  open: above {BAR}"
        passed, is_open = passed + (verdict == "  ok"), is_open + ("open" in verdict)
        print(f"{name:28} {ceiling:10} {f['calls']:>9} {f['median']:>9} {f['p99']:>9} {f['p999999']:>10} {f['most']:>10}  {ratio:15.2f}  "
              f"{cut[1] if cut else '?'}{verdict}")
    print(f"{passed} passed, 0 failed" + (f", {is_open} skipped" if is_open else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
