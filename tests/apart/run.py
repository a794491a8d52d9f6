#!/usr/bin/env python3
"""Layers by themselves: programs that are linked with some layers of src/ and no other. tests/apart/run.py [--build FOLDER]

A robot's computer needs its model, dynamics and motion, and no contact solver (Z-DYNAFORM: every module depends on lower ones only, and those of a
layer not on each other). What is linked here cannot reach for more: a symbol of another layer would be missing.
Prints what failed and, last, «N passed, N failed».
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {
    "numbers": ["base", "math"],
    "shapes": ["base", "math", "geometry", "model", "dynamics", "collision"],
    "robot": ["base", "math", "geometry", "model", "dynamics", "motion"],
}


def archive(build, layers, target):
    """The objects of some layers, as a library: what a program does not ask for is left out of it."""
    folder = build / "CMakeFiles"
    objects = [str(o) for layer in layers for o in folder.glob(f"kk_objects.dir/src/{layer}/**/*.o")]
    objects += [str(o) for layer in layers for o in folder.glob(f"kk_kernels_*.dir/src/{layer}/**/*.o")]
    subprocess.run(["ar", "rcs", target, *objects], check=True)


def link(name, layers, build, work):
    """What went wrong, or nothing."""
    archive(build, layers, work / f"{name}.a")
    sources = [ROOT / "tests" / "apart" / f"{name}.c"] + ([ROOT / "models" / "robots.c"] if name == "robot" else [])
    words = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", f"-I{ROOT}/models", *sources, work / f"{name}.a", "-lm",
             "-o", work / name]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 0:
        done = subprocess.run([work / name], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    build = parser.parse_args().build
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, layers in PROGRAMS.items():
            fault = link(name, layers, build, pathlib.Path(folder))
            if fault:
                failed += 1
                print(f"FAILED apart: {name} with {' '.join(layers)} alone\n{fault.rstrip()}")
    print(f"{len(PROGRAMS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
