#!/usr/bin/env python3
"""The binary interface against a recorded list: check_abi.py LIBRARY [--list FILE] [--write]

The list (tests/compat/abi.txt) has a line for every exported function with its signature, every member of every structure with its place and size, and every
enumerator with its value. A program that was built against them works with a later library as long as no line is changed or gone, so that is a fault
within a version MAJOR.MINOR that was released: raise it (before 1.0 a minor version may change the interface). While CHANGELOG.md calls the version
unreleased, changes are told and no fault. New lines are recorded with --write. And what the library exports is what the headers declare, always.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include" / "karakuri"
sys.path.insert(0, str(ROOT / "python"))
import generate  # noqa: E402


def version():
    return re.search(r'KK_VERSION "(\d+\.\d+)\.', (HEADERS / "version.h").read_text())[1]


def is_released():
    heads = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    return not any(head.startswith("Unreleased") and version() in head for head in heads)


def signature(call):
    parameters = ", ".join(f"{'const ' if p.is_const else ''}{p.base}{' ' + '*' * p.stars if p.stars else ''}{'[]' if p.count else ''}"
                           for p in call.parameters)
    const = "const " if call.result_const else ""
    return f"{const}{call.result} {'*' * call.result_stars}{call.name}({parameters})"


def probe(interface):
    """A C program that prints members and enumerators as the compiler lays them out."""
    lines = ["#include <karakuri/karakuri.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for struct in interface.structs.values():
        lines.append(f'    printf("struct {struct.name}: %zu bytes\\n", sizeof({struct.c_type}));')
        for field in struct.fields:
            place = f"offsetof({struct.c_type}, {field.name})"
            size = f"sizeof((({struct.c_type} *)0)->{field.name})"
            kind = f"{field.base} {'*' * field.stars}".strip()
            lines.append(f'    printf("member {struct.name}.{field.name}: {kind}, %zu bytes at %zu\\n", {size}, {place});')
    for name, values in interface.enums.items():
        for value in values:
            lines.append(f'    printf("value {value} = %lld\\n", (long long){value});')
    return "\n".join([*lines, "    return 0;", "}", ""])


def compiled_lines(interface):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "probe.c").write_text(probe(interface))
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-std=c17", "-w", "-I", ROOT / "include", folder / "probe.c", "-o", folder / "probe"], check=True)
        return subprocess.run([folder / "probe"], capture_output=True, text=True, check=True).stdout.splitlines()


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.split()[1] in "TW"}


def lines_of(interface, symbols):
    calls = [call for call in interface.calls if call.name in symbols]
    return sorted({*(f"call {signature(call)}" for call in calls), *compiled_lines(interface)})


def undeclared(interface, symbols):
    """What is exported without a declaration, and what is declared to be exported and is not."""
    text = "\n".join(path.read_text() for path in HEADERS.glob("*.h"))
    inline = set(re.findall(r"static inline [^\n;{(]*?(kk_\w+)\(", text))
    wanted = {call.name for call in interface.calls} - inline
    return [f"{name} is exported and in no header" for name in sorted(symbols - wanted)] + \
           [f"{name} is declared and not exported" for name in sorted(wanted - symbols)]


def differences(recorded, now):
    """(gone or changed, new)"""
    return [line for line in recorded if line not in set(now)], [line for line in now if line not in set(recorded)]


def judge(recorded_version, recorded, now, current, released):
    """Faults and remarks about what changed since the list was written."""
    gone, new = differences(recorded, now)
    if gone and released and recorded_version == current:
        return [f"gone or changed within {current}: {line}" for line in gone], []
    return [], [f"{len(gone)} lines gone or changed and {len(new)} new since the list was recorded, for {recorded_version}"] if gone or new else []


def self_test(now):
    """That the judge sees what it is for."""
    changed = [line.replace(" at 0", " at 8") if i == next(k for k, one in enumerate(now) if one.endswith(" at 0")) else line for i, line in enumerate(now)]
    assert judge("1.0", now, now[1:], "1.0", True)[0] and judge("1.0", now, changed, "1.0", True)[0]
    assert not judge("1.0", now, now[1:], "1.1", True)[0] and not judge("1.0", now[1:], now, "1.0", True)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path, default=ROOT / "tests" / "compat" / "abi.txt")
    parser.add_argument("--write", action="store_true", help="record what there is now")
    options = parser.parse_args()
    interface, symbols = generate.read_headers(HEADERS), exported(options.library)
    now = lines_of(interface, symbols)
    if options.write:
        options.list.write_text(f"version {version()}\n" + "\n".join(now) + "\n")
        return 0
    first, *recorded = options.list.read_text().splitlines()
    self_test(now)
    faults, remarks = judge(first.split()[1], recorded, now, version(), is_released())
    faults += undeclared(interface, symbols)
    print("\n".join([*remarks, *faults, f"abi: {len(now)} lines, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
