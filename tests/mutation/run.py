#!/usr/bin/env python3
"""Defects put into the sources, one at a time: how many do the tests notice?

    tests/mutation/run.py --hand [--only N,N-N]          the mutants of hand.py
    tests/mutation/run.py --automatic N [--seed S]       N more, drawn over the solver, the parsers, the recordings and the server
    tests/mutation/run.py --ledger                       what the ledger adds up to

The sources are copied to build/mutation/tree, built there, changed in one place, built again and tested: first what is nearest, then, with --all, all unit tests. A
mutant that does not compile, or makes the same program, does not count. The ledger (tests/mutation/ledger.csv) keeps every verdict; --record adds to it.
"""
import argparse
import csv
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutation" / "tree"
BUILD = TREE / "build" / "release"
LEDGER = ROOT / "tests" / "mutation" / "ledger.csv"
FOLDERS = ("src", "include", "tests", "models", "tools", "cmake", "examples", "python", "web/viewer/dist")
FILES = ("CMakeLists.txt", "CMakePresets.json")
sys.path.insert(0, str(ROOT / "tests" / "mutation"))
from hand import MUTANTS  # noqa: E402

# where automatic mutants are drawn from, and the tests that are nearest
AREAS = {
    "src/contact/*.c": "contact/",
    "src/simulate/*.c": "simulate/",
    "src/io/xml*.c": "xml",
    "src/io/urdf*.c": "urdf",
    "src/io/mjcf*.c": "mjcf",
    "src/io/mesh_*.c": "mesh",
    "src/io/record*.c": "recording",
    "src/model/state.c": "state",
    "tools/cli/serve/*.c": "serve server",
}
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" && ", " || "), (" || ", " && "),
         (" + ", " - "), (" - ", " + "), (" * ", " / "), ("++", "--"), ("if (", "if (!("), ("return KK_OK", "return KK_IO")]


def copy_sources():
    for folder in FOLDERS:
        source = ROOT / folder
        if source.is_dir():
            subprocess.run(["rsync", "-a", "--delete", f"{source}/", f"{TREE / folder}/"], check=True) if shutil.which("rsync") else \
                shutil.copytree(source, TREE / folder, dirs_exist_ok=True, copy_function=copy_if_newer)
    for name in FILES:
        copy_if_newer(ROOT / name, TREE / name)


def copy_if_newer(source, target):
    source, target = pathlib.Path(source), pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_bytes() != source.read_bytes():
        shutil.copy2(source, target)
        os.utime(target)


def run(*command, limit=600):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=TREE, timeout=limit)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"stopped after {limit} s")


def build(jobs, needs_tool):
    targets = ["karakuri_tests", *(["karakuri_cli"] if needs_tool else [])]
    return run("cmake", "--build", BUILD, "--parallel", jobs, "--target", *targets, limit=7200)


def prepare(jobs):
    copy_sources()
    if not (BUILD / "build.ninja").exists():
        run("cmake", "--preset", "release", "-DKK_WERROR=OFF")
    done = build(jobs, True)
    if done.returncode:
        raise SystemExit(f"mutation: the sources do not build\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def is_caught(words):
    """The first command that fails, or nothing."""
    tool = BUILD / "karakuri"
    programs = {"server": [sys.executable, TREE / "tests/server/run.py", "--tool", tool], "cli": [sys.executable, TREE / "tests/cli/run.py", "--tool", tool],
                "calls": [sys.executable, TREE / "tests/faults/calls.py", "--tool", tool]}
    filters = [word for word in words.split() if word not in programs]
    if filters and run(BUILD / "karakuri_tests", "--quick", *filters).returncode:
        return f"unit tests {' '.join(filters)}"
    return next((word for word in words.split() if word in programs and run(*programs[word]).returncode), "")


def try_mutant(file, old, new, words, jobs, wants_all):
    """caught BY, survived, or void where it does not compile."""
    path = TREE / file
    text = path.read_text()
    if text.count(old) != 1:
        return "void", f"the text stands {text.count(old)} times"
    path.write_text(text.replace(old, new))
    try:
        if build(jobs, any(word in words for word in ("server", "cli", "calls"))).returncode:
            return "void", "does not compile"
        by = is_caught(words)
        if not by and wants_all and run(BUILD / "karakuri_tests", "--quick", limit=1800).returncode:
            by = "all unit tests"
        return ("caught", by) if by else ("survived", "")
    finally:
        path.write_text(text)


def name_of(file, old, new):
    return hashlib.sha256(f"{file}\n{old}\n{new}".encode()).hexdigest()[:12]


def draw(count, seed):
    """Mutants of single lines: an operator, a condition, a returned status."""
    chance = random.Random(seed)
    files = [(path, words) for pattern, words in AREAS.items() for path in sorted(ROOT.glob(pattern))]
    while count > 0:
        path, words = chance.choice(files)
        lines = path.read_text().splitlines()
        line = chance.choice(lines)
        swaps = [swap for swap in SWAPS if swap[0] in line]
        code = line.split("//")[0]
        if not swaps or lines.count(line) > 1 or code.strip().startswith(("#", "/", "*", "static const", "typedef")) or '"' in code:
            continue
        old, new = chance.choice(swaps)
        changed = line.replace(old, new, 1) if new != "if (!(" else re.sub(r"if \((.*)\) \{$", r"if (!(\1)) {", line)
        if changed != line and old in code:
            count -= 1
            yield str(path.relative_to(ROOT)), line, changed, words


def numbers(text, most):
    wanted = set()
    for part in text.split(",") if text else [f"1-{most}"]:
        first, _, last = part.partition("-")
        wanted |= set(range(int(first), int(last or first) + 1))
    return wanted


def read_ledger():
    if not LEDGER.exists():
        return {}
    with LEDGER.open() as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def write_ledger(rows):
    with LEDGER.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["name", "kind", "verdict", "by", "file", "old", "new"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows.values(), key=lambda row: (row["kind"], row["file"], row["name"])))


def tell_ledger():
    rows = read_ledger().values()
    for kind in sorted({row["kind"] for row in rows}):
        verdicts = [row["verdict"] for row in rows if row["kind"] == kind]
        good, bad = verdicts.count("caught"), verdicts.count("survived")
        print(f"{kind:10} {good} of {good + bad} caught, {100 * good / max(good + bad, 1):.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hand", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--automatic", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="all unit tests where the nearest ones do not notice")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--ledger", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.ledger:
        tell_ledger()
        return 0
    wanted = numbers(options.only, len(MUTANTS))
    work = [("hand", *mutant) for i, mutant in enumerate(MUTANTS, 1) if options.hand and i in wanted]
    work += [("automatic", *mutant) for mutant in draw(options.automatic, options.seed)]
    prepare(options.jobs)
    for words in sorted({mutant[-1] for mutant in work}):
        by = is_caught(words)
        if by:
            raise SystemExit(f"mutation: without a mutant {by} fails")
    caught = survived = void = 0
    ledger = read_ledger()
    for kind, file, old, new, words in work:
        verdict, by = try_mutant(file, old, new, words, options.jobs, options.all)
        caught, survived, void = caught + (verdict == "caught"), survived + (verdict == "survived"), void + (verdict == "void")
        print(f"{verdict:8} {file}: {old.strip()!r} -> {new.strip()!r}  {by}", flush=True)
        name = name_of(file, old, new)
        ledger[name] = {"name": name, "kind": kind, "verdict": verdict, "by": by, "file": file, "old": old.strip(), "new": new.strip()}
        if options.record:
            write_ledger(ledger)
    print(f"{caught} caught, {survived} survived, {void} void")
    print(f"{caught} passed, {survived} failed" + (f", {void} skipped" if void else ""))
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
