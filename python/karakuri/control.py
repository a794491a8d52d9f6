"""A controller beside the engine, in lock step with it: `karakuri run robot.xml -t 5 --controller "python -m karakuri.control pd.py"`.

The script has a function `control(robot)`, asked before every step: `robot["motor"] = -20 * robot["knee.q"]`; what it does not write stays. It may
have `start(robot)`. To a waiting `karakuri serve` it goes by KARAKURI_CONTROL=unix:PATH or tcp:HOST:PORT. See docs/guide/controller.md.
"""
from __future__ import annotations

import json
import os
import runpy
import socket
import struct
import sys
from collections.abc import Callable


class Robot:
    """One run: `signals` and `controls` are numbers in the order of their names; `robot["knee.q"]` is one of them."""

    def __init__(self, where: str | None = None) -> None:
        kind, _, rest = (where or os.environ["KARAKURI_CONTROL"]).partition(":")
        if kind == "tcp":
            host, _, port = rest.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self.socket = socket.socket(fileno=int(rest)) if kind == "fd" else socket.socket(socket.AF_UNIX)
            if kind == "unix":
                self.socket.connect(rest)
        magic, size = struct.unpack("<8sI", self.socket.recv(12, socket.MSG_WAITALL))
        if magic != b"KKCTRL1\n":
            raise ConnectionError("that is no karakuri that speaks this protocol")
        self.about = json.loads(self.socket.recv(size, socket.MSG_WAITALL))
        self.timestep: float = self.about["timestep"]
        self.signal = {name: k for k, name in enumerate(self.about["signals"])}
        self.actuator = {name: k for k, name in enumerate(self.about["controls"])}
        self._in, self._out = bytearray(8 * len(self.signal)), bytearray(8 * len(self.actuator))
        self.signals, self.controls = memoryview(self._in).cast("d"), memoryview(self._out).cast("d")

    def __getitem__(self, name: str) -> float:
        return self.signals[self.signal[name]] if name in self.signal else self.controls[self.actuator[name]]

    def __setitem__(self, name: str, value: float) -> None:
        self.controls[self.actuator[name]] = value

    def run(self, control: Callable[[Robot], object]) -> None:
        """Until the engine hangs up."""
        receive, send, size = self.socket.recv_into, self.socket.sendall, len(self._in)
        while receive(self._in, size, socket.MSG_WAITALL) == size:
            control(self)
            send(self._out)


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    script = runpy.run_path(sys.argv[0])
    robot = Robot()
    script.get("start", lambda robot: None)(robot)
    robot.run(script["control"])
