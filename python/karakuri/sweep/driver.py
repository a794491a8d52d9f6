"""The driver: hands blocks to an engine, and what comes back to the journal. Kill it at any moment and give the same command again."""
from __future__ import annotations

import concurrent.futures as futures
import json
import os
import pathlib
import platform
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors
from .block import FAILED, Outcome, probe, run_block
from .engines import open_engine, width
from .errors import LostWorker, SweepError
from .journal import Journal, Record, Scan, check_header, named
from .progress import Progress
from .results import Results, merge
from .study import FORMAT, Plan, Study, prepare, version

LOSSES = 10  # of a block's workers, one after the other, before it is left
AHEAD = 2    # blocks that wait at the engine for each that runs


def header_of(plan: Plan) -> dict[str, Any]:
    return {"format": FORMAT, "version": version(), "model": f"{plan.model.hash:016x}", "probe": f"{probe(plan):016x}", "digest": plan.digest,
            "points": plan.points, "block": plan.study.block}


def journal_path(out: pathlib.Path, shard: int, shards: int) -> pathlib.Path:
    return out / f"shard-{shard}-of-{shards}.journal"


class Driver:
    """A study under way on an engine. `header` is what its journals begin with."""

    def __init__(self, plan: Plan, out: str | os.PathLike[str], engine: Any = "processes", workers: int | None = None, quiet: bool = False) -> None:
        self.plan, self.out, self.quiet = plan, pathlib.Path(out), quiet
        self.header = header_of(plan)
        self._packed = plan.pack()
        self._engine, self._workers = engine, workers
        self._executor: futures.Executor | None = None
        self._mine = False
        self._arrived: queue.SimpleQueue[tuple[futures.Future[Any], int, int]] = queue.SimpleQueue()
        self._generation = 0
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise named(error, self.out) from None

    # ---- the engine

    def open(self) -> None:
        if self._executor is None:
            self._executor, self._mine = open_engine(self._engine, self._workers)

    def close(self, cancel: bool = False) -> None:
        if self._executor is not None and self._mine:
            self._executor.shutdown(wait=not cancel, cancel_futures=cancel)
        self._executor = None

    def _reopen(self) -> None:
        """After the pool as a whole broke: another one, if it was ours."""
        if not self._mine:
            raise SweepError("the executor is broken, and it is not ours to open again; give the same command again")
        self._generation += 1
        try:
            self.close(cancel=True)
        except Exception:
            self._executor = None
        self.open()

    def _submit(self, number: int, values: NDArray[np.float64] | None) -> None:
        for turn in range(3):
            assert self._executor is not None
            try:
                future = self._executor.submit(run_block, self._packed, int(self.header["probe"], 16), number, values)
                break
            except futures.BrokenExecutor:
                if turn == 2:
                    raise
                self._reopen()
        generation = self._generation
        future.add_done_callback(lambda done: self._arrived.put((done, number, generation)))

    # ---- blocks

    def run(self, blocks: Iterable[tuple[int, NDArray[np.float64] | None]], journal: Journal, progress: Progress,
            keep: Callable[[Outcome], Any] = lambda outcome: None) -> None:
        """Runs blocks that the journal has not. keep: is shown each outcome once it is in the journal."""
        self.open()
        waiting: Iterator[tuple[int, NDArray[np.float64] | None]] = iter(blocks)
        under_way: dict[int, NDArray[np.float64] | None] = {}
        losses: dict[int, int] = {}
        left: dict[int, str] = {}
        most = AHEAD * width(self._executor) + 1
        while True:
            while len(under_way) < most and (task := next(waiting, None)) is not None:
                under_way[task[0]] = task[1]
                self._submit(*task)
            if not under_way:
                break
            future, number, generation = self._next(progress)
            if number not in under_way:
                continue
            outcome, text = self._outcome(future)
            if outcome is not None:
                self._take(outcome, journal, progress)
                keep(outcome)
                del under_way[number]
                continue
            progress.lose()
            losses[number] = losses.get(number, 0) + 1
            if losses[number] >= LOSSES:
                left[number] = text
                del under_way[number]
                continue
            if isinstance(_error_of(future), futures.BrokenExecutor) and generation == self._generation:
                self._reopen()
            self._submit(number, under_way[number])
        if left:
            raise LostWorker(self._tell_lost(left))

    def _next(self, progress: Progress) -> tuple[futures.Future[Any], int, int]:
        while True:
            try:
                return self._arrived.get(timeout=1)
            except queue.Empty:
                progress.show()

    def _outcome(self, future: futures.Future[Any]) -> tuple[Outcome | None, str]:
        """What came, or why nothing did: whatever an engine raises is the loss of a worker, for a block itself raises nothing."""
        error = _error_of(future)
        if error is not None:
            return None, f"{type(error).__name__}: {error}".splitlines()[0]
        outcome = future.result()
        if outcome.refused is not None:
            kind, text = outcome.refused
            raise getattr(errors, kind, SweepError)(f"{text}; install the driver's version there. What the journal has is kept")
        return outcome, ""

    def _take(self, outcome: Outcome, journal: Journal, progress: Progress) -> None:
        for point, data in outcome.recordings:
            self._write_recording(point, data)
        rows = np.frombuffer(outcome.rows, self.plan.dtype)
        note = json.dumps({"host": outcome.host, "seconds": round(outcome.seconds, 6), "at": round(time.time(), 3), "driver": platform.node()})
        journal.add(Record(outcome.number, outcome.rows, json.dumps(outcome.failures).encode(), note.encode()))
        progress.add(len(rows), int((rows["status"] == FAILED).sum()))

    def _write_recording(self, point: int, data: bytes) -> None:
        folder = self.out / "recordings"
        path = folder / f"{point:08}.kkr"
        aside = folder / f".{point:08}.{os.getpid()}.part"
        try:
            folder.mkdir(exist_ok=True)
            aside.write_bytes(data)
            os.replace(aside, path)
        except OSError as error:
            raise named(error, path) from None

    def _tell_lost(self, left: dict[int, str]) -> str:
        size = self.plan.study.block
        first = min(left)
        return (f"{len(left)} blocks took their worker with them {LOSSES} times each; the first is block {first}, points {first * size} to "
                f"{min((first + 1) * size, self.plan.points) - 1}: {left[first]}. All others are in the journal")


def _error_of(future: futures.Future[Any]) -> BaseException | None:
    if future.cancelled():
        return futures.CancelledError()
    return future.exception()


def known_blocks(plan: Plan, header: dict[str, Any], out: pathlib.Path, but: pathlib.Path) -> set[int]:
    """Blocks that journals of other cuts of the study have: nothing is run twice when a study is cut anew."""
    found: set[int] = set()
    for path in sorted(out.glob("shard-*-of-*.journal")):
        if path != but and path.name.rpartition("-of-")[2] != but.name.rpartition("-of-")[2]:
            with Scan(path) as scan:
                if scan.header:
                    check_header(path, scan.header, header)
                    found.update(scan.blocks())
    return found


def run(study: Study | Plan | str | os.PathLike[str], out: str | os.PathLike[str], *, engine: Any = "processes", workers: int | None = None,
        shard: tuple[int, int] = (0, 1), quiet: bool = True) -> Results | None:
    """Runs what is left of a study, or of a shard of it, and merges where all is there.

    The results, or None where other shards are not done yet.
    """
    plan = study if isinstance(study, Plan) else prepare(study)
    if plan.study.search is not None:
        raise errors.StudyError("the study is a search: karakuri.sweep.search.run runs it")
    driver = Driver(plan, out, engine, workers, quiet)
    path = journal_path(driver.out, *shard)
    with Journal(path, driver.header) as journal:
        done = known_blocks(plan, driver.header, driver.out, path) | journal.done
        mine = range(shard[0], plan.blocks, shard[1])
        before = sum(plan.block_of(k)[1] for k in mine if k in done)
        total = sum(plan.block_of(k)[1] for k in mine)
        failed = True
        try:
            with Progress(total, before, quiet=quiet) as progress:
                driver.run(((k, None) for k in mine if k not in done), journal, progress)
            failed = False
        finally:
            driver.close(cancel=failed)
    return merge(plan, out, header=driver.header) if shard[1] == 1 else None
