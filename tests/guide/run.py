#!/usr/bin/env python3
"""Every code block of the tutorials is run. tests/guide/run.py [--build FOLDER]

A block whose fence names a file (```c push.c) is written to that file; blocks of `sh` are run in the order of the page, each line by a shell that
stops at the first failure. Each page has a folder of its own with our models in it, the tool on its path, and the library installed where pkg-config finds it.
Prints what failed and, last, «N passed, N failed».
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("torque-plot", "analyze-a-motion", "stand-walk-push", "controller", "robot-and-simulation")
FENCE = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.M | re.S)


def blocks_of(page):
    """(language, file name or None, text) of every block."""
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
    return [match.groups() for match in FENCE.finditer(text)]


def install(build, prefix):
    done = subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"guide: the library cannot be installed from {build}: {done.stderr.strip()}")


def environment(build, prefix):
    folders = [str(path.parent) for path in prefix.rglob("karakuri.pc")]
    libraries = sorted({str(path.parent) for path in prefix.rglob("libkarakuri.*")})
    return {**os.environ, "PATH": f"{build}{os.pathsep}{os.environ['PATH']}", "PKG_CONFIG_PATH": os.pathsep.join(folders),
            "LD_LIBRARY_PATH": os.pathsep.join(libraries), "NO_COLOR": "1"}


def run_page(page, folder, env):
    """What failed, one line each, and how many blocks were run."""
    failed, count = [], 0
    for name in ("models", "examples", "python"):
        (folder / name).symlink_to(ROOT / name)
    blocks = blocks_of(page)
    for _, name, text in blocks:
        if name:
            (folder / name).write_text(text, encoding="utf-8")
    for language, name, text in blocks:
        if name and language == "c":
            count += 1  # compiled by the page's own command; must be warning-free here
            done = subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT}/include", f"-I{ROOT}/examples/controller", name],
                                  cwd=folder, env=env, capture_output=True, text=True)
        elif language == "sh":
            count += 1
            done = subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
        else:
            continue
        if done.returncode:
            failed.append(f"{page}: {name or text.strip()}\n{done.stdout[-400:]}{done.stderr[-800:]}")
            break  # what follows stands on it
    return failed, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    build = parser.parse_args().build.resolve()
    if not shutil.which("pkg-config") or not shutil.which("cc"):
        print("skipped: the tutorials need pkg-config and cc\n0 passed, 0 failed")
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as place:
        prefix = pathlib.Path(place) / "prefix"
        install(build, prefix)
        env = environment(build, prefix)
        for page in PAGES:
            folder = pathlib.Path(place) / page
            folder.mkdir()
            faults, count = run_page(page, folder, env)
            passed += count - len(faults)
            failed += len(faults)
            for fault in faults:
                print(f"FAILED guide: {fault}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
