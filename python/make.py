#!/usr/bin/env python3
"""Builds the Python package and tests it.

    make.py test [--jobs N] [--python PYTHON] [--with PACKAGE] [-k PATTERN]    the last line is «N passed, N failed»
    make.py wheel                                                              a wheel in dist/

The package is built beside the release build (build/release/python) and tested in a virtual environment under build/python with numpy
alone. Where Python's headers or numpy cannot be had, the step is skipped and says which.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"


class Missing(Exception):
    """What this machine lacks; the text is for the reader."""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, **options)


def must(*command, **options):
    done = run(*command, capture_output=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}\n0 passed, 1 failed")
    return done.stdout


def check_python():
    if sys.version_info < (3, 11):
        raise Missing(f"Python 3.11 or newer; this is {sys.version.split()[0]}")
    if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise Missing("Python's headers (Debian package python3-dev)")


def build(jobs):
    must("cmake", "--preset", "release", "-DKK_BUILD_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}", cwd=ROOT)
    must("cmake", "--build", "--preset", "release", "--parallel", jobs, "--target", "karakuri_package", cwd=ROOT)
    return BUILD / "release" / "python"


def environment(python, packages):
    """A virtual environment with the packages, made once."""
    version = must(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    folder = BUILD / "python" / ("venv-" + "-".join([version, *sorted(re.sub(r"\W+", "", p) for p in packages)]))
    inside = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        if run(python, "-m", "venv", folder, capture_output=True).returncode:
            raise Missing("Python's venv (Debian package python3-venv)")
        done = run(inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages, capture_output=True)
        if done.returncode:
            raise Missing(f"{' '.join(packages)} from pip: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        (folder / "ready").touch()
    return inside


def test(options):
    try:
        check_python()
        python = environment(options.python, ["numpy", *options.packages])
    except Missing as missing:
        print(f"skipped python: no {missing}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = build(options.jobs)
    tests = ROOT / "python" / "tests"
    words = [python, "-X", "faulthandler", "-m", "unittest", "discover", "-s", tests, "-t", tests]
    words += [word for pattern in options.patterns for word in ("-k", pattern)]
    done = run(*words, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True)
    found = re.search(r"Ran (\d+) tests?", done.stderr)
    bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", done.stderr))
    skipped = sum(int(n) for n in re.findall(r"skipped=(\d+)", done.stderr))
    if done.returncode or not found:
        print(done.stdout + done.stderr)
        bad = bad or 1
    for reason in sorted(set(re.findall(r"skipped '([^']*)'", done.stderr))):
        print(f"skipped {reason}")
    total = int(found[1]) if found else 0
    print(f"{max(total - bad - skipped, 0)} passed, {bad} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if bad else 0


def wheel():
    check_python()
    python = environment(sys.executable, ["build"])
    done = run(python, "-m", "build", "--wheel", "--outdir", ROOT / "dist", ROOT)
    for path in sorted((ROOT / "dist").glob("*.whl")):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.2f} MB")
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("test", "wheel"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", default=sys.executable, help="that the tests run with")
    parser.add_argument("--with", dest="packages", action="append", default=[], help="a package that the environment has as well")
    parser.add_argument("-k", dest="patterns", action="append", default=[])
    options = parser.parse_args()
    try:
        return test(options) if options.what == "test" else wheel()
    except Missing as missing:
        raise SystemExit(f"make.py: no {missing}") from None


if __name__ == "__main__":
    sys.exit(main())
