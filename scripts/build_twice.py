#!/usr/bin/env python3
"""Two builds, the same bytes: build_twice.py [--optimize=-O3] [--quick] [--jobs N]

The repository's files are copied to two folders of other names and depths, with other times of files; they are built by other numbers of jobs, in
another time zone, language and umask, without a compiler cache, and installed. Every installed file must have the same bytes. Prints what
differs and, last, «N passed, N failed», a file a test.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sbom  # noqa: E402


def must(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}\n0 passed, 1 failed")


def copy_to(folder, age):
    for name in sbom.files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sbom.ROOT / name, target)
        os.utime(target, (sbom.epoch() + age, sbom.epoch() + age))


QUICK = ("-DKK_VARIANTS=one", "-DKK_BUILD_TOOLS=OFF")


def build(folder, jobs, optimize, environment, umask, more=()):
    """The installed tree of a copy."""
    everything = {**os.environ, **environment, "CMAKE_C_COMPILER_LAUNCHER": "", "CCACHE_DISABLE": "1", "DESTDIR": str(folder.parent / "tree")}
    options = {"env": everything, "cwd": folder, "umask": umask}
    must("cmake", "-G", "Ninja", "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_PREFIX=/usr", f"-DKK_OPTIMIZE={optimize}",
         "-DKK_BUILD_TESTS=OFF", "-DKK_BUILD_EXAMPLES=OFF", *more, **options)
    must("cmake", "--build", "out", "--parallel", jobs, **options)
    must("cmake", "--install", "out", **options)
    return folder.parent / "tree"


def digests(tree):
    return {str(path.relative_to(tree)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(tree.rglob("*"))
            if path.is_file() and not path.is_symlink()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimize", default="-O3")
    parser.add_argument("--quick", action="store_true", help="the library alone, without kernels for lanes")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    more = QUICK if options.quick else ()
    with tempfile.TemporaryDirectory() as name:
        one, two = pathlib.Path(name, "a", "k"), pathlib.Path(name, "another_place", "with", "a longer name", "karakuri")
        copy_to(one, -86400)
        copy_to(two, -3600)
        first = digests(build(one, options.jobs, options.optimize, {"TZ": "UTC", "LANG": "C"}, 0o022, more))
        second = digests(build(two, 1, options.optimize, {"TZ": "Asia/Tokyo", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}, 0o077, more))
    names = sorted(first.keys() | second.keys())
    different = [path for path in names if first.get(path) != second.get(path)]
    for path in different:
        print(f"FAILED {path} differs")
    print(f"{len(names) - len(different)} passed, {len(different)} failed")
    return 1 if different or not names else 0


if __name__ == "__main__":
    sys.exit(main())
