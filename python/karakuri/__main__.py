"""The command-line tool, as `karakuri` and as `python -m karakuri`."""
from __future__ import annotations

import os
import pathlib
import shutil
import sys


def tool() -> str:
    """The tool of this package, or one on the path."""
    inside = pathlib.Path(__file__).parent / "bin" / "karakuri"
    if inside.exists():
        return str(inside)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("karakuri", path=folder)
        if found and pathlib.Path(found).resolve().read_bytes()[:2] != b"#!":
            return found
    raise SystemExit("karakuri: the command-line tool is not in this package; build it with `make`")


def main() -> None:
    path = tool()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
