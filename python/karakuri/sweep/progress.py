"""A bar on the standard error: how far, how fast, how long still, how many failed. Where there is no terminal, a line now and then."""
from __future__ import annotations

import sys
import time
from typing import Any, TextIO


def span(seconds: float) -> str:
    s = int(seconds + 0.5)
    return f"{s // 86400} d {s // 3600 % 24} h" if s >= 86400 else f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}" if s >= 3600 else f"{s // 60}:{s % 60:02}"


class Progress:
    WIDTH = 24

    def __init__(self, total: int, done: int = 0, file: TextIO | None = None, quiet: bool = False) -> None:
        self.file = file if file is not None else sys.stderr
        self.total, self.done, self.begun, self.before = total, done, time.monotonic(), done
        self.failed, self.lost = 0, 0
        self.on_terminal = self.file.isatty()
        self.quiet = quiet
        self.pause = 0.1 if self.on_terminal else 30.0
        self.last = self.begun
        self._drawn = False

    def add(self, points: int, failed: int) -> None:
        self.done += points
        self.failed += failed
        self.show()

    def lose(self) -> None:
        self.lost += 1

    def line(self) -> str:
        passed = max(time.monotonic() - self.begun, 1e-9)
        rate = (self.done - self.before) / passed
        left = f"{span((self.total - self.done) / rate)} left" if rate > 0 and self.done < self.total else span(passed)
        bar = "#" * (self.WIDTH * self.done // max(self.total, 1))
        more = (f", {self.failed} failed" if self.failed else "") + (f", {self.lost} workers lost" if self.lost else "")
        return f"[{bar:<{self.WIDTH}}] {self.done} of {self.total} points, {rate:.4g}/s, {left}{more}"

    def show(self, end: bool = False) -> None:
        now = time.monotonic()
        if self.quiet or (now - self.last < self.pause and not end):
            return
        self.last = now
        if self.on_terminal:
            self.file.write("\r\x1b[K" + self.line() + ("\n" if end else ""))
            self._drawn = True
        else:
            self.file.write(self.line() + "\n")
        self.file.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        self.show(end=True)
