#!/usr/bin/env python3
"""Every system call of everything that writes made to fail: tests/faults/calls.py [--tool PATH] [--case WORD]

Each case is run once to count its calls (calls.c, loaded in front of the C library); then once for every call and error. Whatever fails, the tool ends by
itself, with a word about it; a file that was there holds its old bytes or all of the new ones, nothing else; and the next run succeeds. Interrupted and
short calls do not show at all. Prints what failed and, last, «N passed, N failed».
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
OLD = b"what was there before\n"
# what each call can meet
ERRORS = {
    "open": ["EIO", "ENOSPC", "EMFILE", "EINTR", "EACCES"],
    "write": ["EIO", "ENOSPC", "EINTR", "EDQUOT", "short"],
    "read": ["EIO", "EINTR", "short"],
    "fsync": ["EIO", "ENOSPC", "EINTR"],
    "rename": ["EIO", "ENOSPC", "EROFS"],
    "close": ["EIO", "EINTR"],
    "ftruncate": ["EIO", "EINTR"],
    "flock": ["EIO", "EINTR", "ENOLCK"],
    "fchmod": ["EIO", "EPERM"],
    "fstat": ["EIO"],
    "stat": ["EIO"],
    "lstat": ["EIO"],
    "access": ["EIO"],
    "mkdir": ["EIO", "ENOSPC"],
    "fopen": ["EIO", "EMFILE"],
    "fread": ["EIO"],
    "fwrite": ["EIO"],
    "fflush": ["EIO", "ENOSPC"],
    "fclose": ["EIO"],
}
SILENT = ("EINTR", "short", "ENOLCK")  # of these nobody hears, where a call may be made again
RECORDING = b"KKREC"
TIMES = re.compile(rb"  (took|a step) .*\n|drawn in .*")
FIRST, LAST = 3, 2  # calls of one name beyond the first and the last few are like those
# a full disk: no new file, no byte
FULL = ["open:1:ENOSPC,write:1+:ENOSPC", "open:2:ENOSPC,write:1+:ENOSPC", "open:1+:ENOSPC,write:1+:ENOSPC", "open:2+:ENOSPC,write:1+:ENOSPC", "write:1+:ENOSPC",
        "write:2+:EDQUOT", "open:3+:EMFILE", "write:1+:EIO,close:1+:EIO", "write:1+:short",
        "write:1+:short,read:1+:short"]
ARM = "robot:arm7"
# words of a call, and the files it writes
CASES = {
    "run": (["run", ARM, "-t", "0.02", "--out", "a.kkr", "--log", "a.csv", "-q"], ["a.kkr", "a.csv"]),
    "run, log to the standard output": (["run", ARM, "-t", "0.01", "--log", "-", "-q"], []),
    "compute": (["compute", ARM, "-w", "com", "-o", "com.csv"], ["com.csv"]),
    "convert": (["convert", "in.urdf", "out.xml"], ["out.xml"]),
    "export": (["export", "in.kkr", "--csv", "--out", "out.csv"], ["out.csv"]),
    "plot": (["plot", "in.csv", "--out", "out.svg"], ["out.svg"]),
    "render": (["render", ARM, "--out", "out.png", "--size", "32x32"], ["out.png"]),
    "replay": (["replay", "in.kkr", "--verify"], []),
    "view, a page": (["view", "in.kkr", "--save", "out.html", "-q"], ["out.html"]),
    "check, repaired": (["check", "in.urdf", "--repair", "out.urdf"], ["out.urdf"]),
    "man": (["man", "--out", "."], ["karakuri-info.1"]),
    "info as JSON": (["info", ARM, "--json"], []),
}
URDF = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>
"""


class Bench:
    def __init__(self, tool, shim, folder):
        self.tool, self.shim, self.folder = tool, shim, folder
        self.passed = self.failed = 0

    def run(self, words, fault="", counts=None):
        environment = {**os.environ, "LD_PRELOAD": str(self.shim), "KK_FAULT": fault, "NO_COLOR": "1"}
        if counts:
            environment["KK_FAULT_COUNT"] = str(counts)
        return subprocess.run([self.tool, *words], capture_output=True, cwd=self.folder, env=environment, timeout=60)

    def check(self, name, wrong, done):
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"FAILED calls: {name}: {wrong}\n  code {done.returncode}\n  {done.stdout[-200:]}\n  {done.stderr[-300:]}")

    def put_old(self, outputs):
        for name in outputs:
            path = self.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            path.write_bytes(OLD)
            (self.folder / (name + ".part")).unlink(missing_ok=True)

    def contents(self, outputs):
        return [(self.folder / name).read_bytes() if (self.folder / name).is_file() else b"" for name in outputs]


def wrong_with(done, clean, now, whole, is_silent):
    """What is wrong about a run that met a fault, or nothing."""
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    if done.returncode == 0 and (now != whole or TIMES.sub(b"", done.stdout) != TIMES.sub(b"", clean.stdout)):
        return "ended well, and its output is another"
    if is_silent and done.returncode != 0:
        return "a call that may be made again ended it"
    if done.returncode != 0 and not done.stderr.strip() and b'"error"' not in done.stdout:
        return "no word about it"
    for one, all_of_it in zip(now, whole):
        if one not in (OLD, all_of_it) and not is_as_far_as_it_went(one, all_of_it):
            return f"a file with {len(one)} bytes is neither the old one nor the new one"
    return ""


def is_as_far_as_it_went(one, all_of_it):
    """A recording, or a log, of a simulation that ended early is whole as far as it goes."""
    return one.startswith(RECORDING) or (one.startswith(b"time [s]") and one.endswith(b"\n") and all_of_it.startswith(one))


def numbers(count):
    return sorted({*range(1, min(count, FIRST) + 1), *range(max(1, count - LAST + 1), count + 1)})


def faults_of(counts):
    singles = [f"{call}:{n}:{error}" for call, count in counts.items() for n in numbers(count) for error in ERRORS[call]]
    return singles + FULL


def try_case(bench, name, words, outputs):
    bench.put_old(outputs)
    counts_file = bench.folder / "counts"
    clean = bench.run(words, counts=counts_file)
    whole = bench.contents(outputs)
    is_good = clean.returncode == 0 and OLD not in whole
    bench.check(name, "" if is_good else "it fails without a fault", clean)
    if not is_good:
        return
    counts = {line.split()[0]: int(line.split()[1]) for line in counts_file.read_text().splitlines()}
    for call in ("fsync", "rename"):
        bench.check(f"{name}: {call} of each output", "" if counts[call] >= len(outputs) else f"{counts[call]} calls for {len(outputs)} outputs", clean)
    for fault in faults_of(counts):
        bench.put_old(outputs)
        done = bench.run(words, fault)
        is_silent = all(part.endswith(SILENT) for part in fault.split(","))
        bench.check(f"{name}, {fault}", wrong_with(done, clean, bench.contents(outputs), whole, is_silent), done)
    again = bench.run(words)
    bench.check(f"{name}, again", "" if again.returncode == 0 and bench.contents(outputs) == whole else "does not succeed again", again)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "release" / "karakuri")
    parser.add_argument("--case", default="", help="only cases whose name begins with this")
    options = parser.parse_args()
    if sys.platform != "linux":
        print("skipped calls: no LD_PRELOAD\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shim = folder / "calls.so"
        subprocess.run(["cc", "-std=c17", "-O1", "-fPIC", "-shared", ROOT / "tests" / "faults" / "calls.c", "-o", shim, "-ldl"], check=True)
        bench = Bench(options.tool.resolve(), shim, folder)
        (folder / "in.urdf").write_text(URDF)
        subprocess.run([bench.tool, "run", ARM, "-t", "0.02", "--out", "in.kkr", "--log", "in.csv", "-q"], cwd=folder, check=True, capture_output=True)
        for case, (words, outputs) in CASES.items():
            if case.startswith(options.case):
                try_case(bench, case, words, outputs)
    print(f"{bench.passed} passed, {bench.failed} failed")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
