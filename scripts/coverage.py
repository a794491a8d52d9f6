#!/usr/bin/env python3
"""Which lines and branches of src/ the unit tests reach: coverage.py [--missing] build/coverage

--missing lists the lines that were never run.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


class File:
    def __init__(self):
        self.lines = collections.Counter()  # line -> times run
        self.branches = collections.Counter()  # (line, place) -> times taken


def collect(build):
    """Adds up gcov's reports of all objects; a header and a kernel source appear in several."""
    files = collections.defaultdict(File)
    notes = sorted(build.rglob("*.gcda"))
    if not notes:
        sys.exit(f"{build}: no coverage data; run its karakuri_tests first")
    with tempfile.TemporaryDirectory() as scratch:
        command = [shutil.which("gcov"), "--json-format", "--stdout", "--branch-probabilities", *map(str, notes)]
        output = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=True).stdout
    for text in output.splitlines():
        for entry in json.loads(text)["files"]:
            # the build maps the root of the sources away
            path = pathlib.PurePath(os.path.normpath(entry["file"]))
            if path.is_absolute() or path.parts[0] != "src":
                continue
            file = files[str(path)]
            for line in entry["lines"]:
                file.lines[line["line_number"]] += line["count"]
                for place, branch in enumerate(line["branches"]):
                    file.branches[line["line_number"], place] += branch["count"]
    return files


def share(counter):
    reached = sum(count > 0 for count in counter.values())
    return f"{100.0 * reached / len(counter):6.1f} %" if counter else "       -"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--missing"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    files = collect(pathlib.Path(arguments[0]).resolve())
    total = File()
    width = max(map(len, files))
    print(f"{'file':{width}}     lines  branches")
    for name, file in sorted(files.items()):
        print(f"{name:{width}}  {share(file.lines)}  {share(file.branches)}")
        if "--missing" in sys.argv:
            missing = [str(line) for line, count in sorted(file.lines.items()) if count == 0]
            if missing:
                print(f"    never run: {' '.join(missing)}")
        for key, count in file.lines.items():
            total.lines[name, key] += count
        for key, count in file.branches.items():
            total.branches[name, key] += count
    print(f"{'all':{width}}  {share(total.lines)}  {share(total.branches)}")


if __name__ == "__main__":
    main()
