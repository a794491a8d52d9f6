#!/usr/bin/env python3
"""What Python costs: a call above C, importing, the wheel.

    python.py [--json FILE]

A step of a pendulum from Python, against the same loop in C: kk_run without a controller takes so many steps in one call.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import karakuri
from karakuri import c

ROOT = pathlib.Path(__file__).resolve().parents[1]
XML = """<mujoco><worldbody><body><joint name="j" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".03"/>
</body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""


def least(call, rounds=9):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    n = 100000
    model = karakuri.loads(XML)
    sim, other = model.simulator(), model.simulator()
    sim.state.q[:] = other.state.q[:] = 1

    def python():
        step = sim.step
        for _ in range(n):
            step()

    def empty():
        for _ in range(n):
            pass

    command = c.kk_command_create(model.raw)
    above = (least(python) - least(empty) - least(lambda: c.kk_run(model.raw, other.state.raw, other.raw, command, None, n))) / n * 1e9
    code = "import time; t = time.process_time(); import karakuri; print(time.process_time() - t)"
    imports = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(7))
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    size = wheels[-1].stat().st_size / 1e6 if wheels else None
    print(f"step() from Python above C   {above:6.0f} ns, bar 150")
    print(f"import karakuri              {imports * 1e3:6.1f} ms, bar 50")
    print(f"wheel with the tool          {size:6.2f} MB, bar 4" if size else "wheel: none in dist/; make wheel")
    if options.json:
        options.json.write_text(json.dumps({"step_ns": above, "import_ms": imports * 1e3, "wheel_mb": size}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
