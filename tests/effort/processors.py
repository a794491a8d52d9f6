#!/usr/bin/env python3
"""Instructions a robot, processor by processor: tests/effort/processors.py [--build] [--jobs N]

Forward dynamics of a humanoid, by one robot at a time and by four and eight in lanes, counted under QEMU (count.c): on x86-64 with SSE2 alone, which is what its
emulator has, and on aarch64 with NEON. Vectors of the kernels are the compiler's (decision 0004), so NEON needs no source of its own; this says
what became of them. Times are not measured: they need the hardware. --build makes build/aarch64 first. The last line is «N passed, N failed».
"""
import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run import OUT, ROOT, count, plugin  # noqa: E402
import shutil  # noqa: E402

PROCESSORS = {"x86-64, SSE2": ("release", "cc", "qemu-x86_64"), "aarch64, NEON": ("aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64")}
VARIANTS = ("scalar", "lanes4", "lanes8")


def program(preset, compiler):
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"lanes_{preset}"
    sources = [ROOT / "tests" / "effort" / "lanes.c", ROOT / "models" / "robots.c", ROOT / "build" / preset / "libkarakuri.a"]
    subprocess.run([compiler, "-std=c17", "-O2", "-static", "-I", ROOT / "include", "-I", ROOT / "models", *sources, "-lm", "-o", path], check=True)
    return path


def measure(name, preset, compiler, emulator):
    path = program(preset, compiler)
    found = {v: count(emulator, path, [v, 3], "kk_batch_forward_dynamics", "lanes_end") for v in VARIANTS}
    for v in VARIANTS:
        print(f"{name:16} {v:8} {found[v]['median'] / 64:10.0f} instructions a robot, {found[v]['median'] / found['scalar']['median']:.3f} of scalar, "
              f"result {found[v]['output'].strip()}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    missing = [word for _, *words in PROCESSORS.values() for word in words if not shutil.which(word)]
    if missing:
        print(f"skipped processors: no {missing[0]} (`make setup-cross`)\n0 passed, 0 failed, 1 skipped")
        return 0
    if options.build:
        for command in (["cmake", "--preset", "aarch64"], ["cmake", "--build", "--preset", "aarch64", "--parallel", str(options.jobs), "--target", "karakuri_static"]):
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    plugin()
    intel, arm = [measure(name, *how) for name, how in PROCESSORS.items()]
    best = {v: arm[v]["median"] / intel[v]["median"] for v in VARIANTS}
    checks = {
        "the same bits everywhere": len({f["output"] for found in (intel, arm) for f in found.values()}) == 1,
        "aarch64 at most 1.3 of SSE2, each variant": max(best.values()) <= 1.3,
        "eight lanes at most 0.65 of scalar on aarch64": arm["lanes8"]["median"] <= 0.65 * arm["scalar"]["median"],
    }
    for name, holds in checks.items():
        print(f"{'ok    ' if holds else 'FAILED'} {name}")
    print("aarch64 over SSE2: " + ", ".join(f"{v} {ratio:.2f}" for v, ratio in best.items()))
    print(f"{sum(checks.values())} passed, {len(checks) - sum(checks.values())} failed")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
