"""A block of points, as a worker runs it: one batch, from variations to the rows of the result.

What a row holds depends on the plan and the number of the block alone; not on who runs it, when, or beside what.
"""
from __future__ import annotations

import dataclasses
import functools
import os
import platform
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import c
from .._errors import Error
from .errors import StudyError, SweepError
from .points import Parameters
from .quantities import Scalar
from .study import STATUS, Plan, unpack, version

DONE, STOPPED, PRUNED, FAILED = range(len(STATUS))
PROBE_STEPS = 8


@dataclasses.dataclass
class Outcome:
    """What came of a block. `refused` is the name of an error and its text, where it was not run at all."""

    number: int
    rows: bytes = b""
    failures: tuple[tuple[int, str], ...] = ()
    recordings: tuple[tuple[int, bytes], ...] = ()
    seconds: float = 0
    host: str = ""
    refused: tuple[str, str] | None = None


def probe(plan: Plan) -> int:
    """Hash of the model's state after a few steps: two libraries that disagree about it are not the same, whatever they are called."""
    sim = plan.model.simulator(timestep=plan.timestep)
    for k in range(PROBE_STEPS):
        sim.control[:] = 0.01 * (k + 1)
        try:
            sim.step()
        except Error:
            break
    return sim.state.hash


@functools.lru_cache(4)
def _unpacked(packed: bytes) -> tuple[str, str, Plan, int, Callable[..., Any] | None]:
    theirs, digest, plan = unpack(packed)
    return theirs, digest, plan, probe(plan), _controller(plan)


def _controller(plan: Plan) -> Callable[..., Any] | None:
    if plan.controller is None:
        return None
    file, text, function = plan.controller
    namespace: dict[str, Any] = {"__name__": "controller", "__file__": file}
    exec(compile(text, file, "exec"), namespace)
    if not callable(namespace.get(function)):
        raise StudyError(f"controller: {file} has no function {function!r}")
    return namespace[function]


def run_block(packed: bytes, expected: int, number: int, values: NDArray[np.float64] | None = None) -> Outcome:
    """The one function that engines call. expected: the driver's probe. values: [points, parameters] where the design does not know them."""
    begun = time.perf_counter()
    try:
        theirs, digest, plan, found, controller = _unpacked(packed)
        if theirs != version() or digest != plan.digest or found != expected:
            raise SweepError(f"karakuri {version()} on {platform.node()} gives probe {found:016x}, the driver's {theirs} gives {expected:016x}")
    except SweepError as error:
        return Outcome(number, host=platform.node(), refused=("OtherVersion" if type(error) is SweepError else type(error).__name__, str(error)))
    except Exception as error:  # a pickle of another version may break in any way
        return Outcome(number, host=platform.node(), refused=("OtherVersion", f"karakuri {version()} on {platform.node()} cannot read the study: {error}"))
    first, count = plan.block_of(number)
    values = plan.design.values(first, count) if values is None else np.ascontiguousarray(values, np.float64)
    block = Block(plan, controller, first, values)
    rows = block.run(_chosen(plan, range(first, first + len(values))))
    if plan.study.recordings == "failures" and block.failures:
        block = Block(plan, controller, first, values)
        rows = block.run(sorted(point - first for point, _ in block_failures(rows)))
    return Outcome(number, rows.tobytes(), tuple(sorted(block.failures.items())), tuple(block.recordings), time.perf_counter() - begun,
                   f"{platform.node()}:{os.getpid()}")


def block_failures(rows: NDArray[Any]) -> list[tuple[int, int]]:
    return [(int(row["index"]), int(row["status"])) for row in rows[rows["status"] == FAILED]]


def _chosen(plan: Plan, points: range) -> list[int]:
    asked = plan.study.recordings
    if isinstance(asked, str):
        return list(range(len(points))) if asked == "all" else []
    return [int(p) - points.start for p in asked if int(p) in points]


class Block:
    """One batch under way."""

    def __init__(self, plan: Plan, controller: Callable[..., Any] | None, first: int, values: NDArray[np.float64]) -> None:
        self.plan, self.first, self.values, self.n = plan, first, values, len(values)
        self.controller = controller
        self.rows = np.zeros(self.n, plan.dtype)
        self.rows["index"] = np.arange(first, first + self.n)
        self.rows["time"] = np.nan
        for k, name in enumerate(plan.study.parameters):
            self.rows[name] = values[:, k]
        self.failures: dict[int, str] = {}
        self.recordings: list[tuple[int, bytes]] = []
        self.active = np.ones(self.n, np.bool_)
        self.gathered = {name: np.full(self.n, np.nan) for name in plan.scalars}
        self.score = np.full(self.n, np.nan)
        self.samples = np.zeros(self.n, np.int64)
        self.steps = np.zeros(self.n, np.int64)
        for name in plan.curves:
            self.rows[name] = np.nan

    def fail(self, row: int, text: str) -> None:
        self.active[row] = False
        self.rows["status"][row] = FAILED
        self.failures[self.first + row] = " ".join(text.split())

    # ---- making ready

    def _variations(self, parameters: Parameters) -> list[Any]:
        found: list[Any] = []
        for row in range(self.n):
            try:
                found.append(parameters.variation(self.values[row]))
            except (Error, TypeError, ValueError, LookupError) as error:
                self.fail(row, str(error))
                found.append(None)
        return found

    def _open(self) -> None:
        plan, study = self.plan, self.plan.study
        parameters = _parameters(plan)
        quantities = [s.quantity for s in plan.scalars.values()] + list(plan.curves.values())
        quantities += [plan.score.quantity if plan.score else None, plan.until.quantity if plan.until else None]
        kinds = {q.kind for q in quantities if q is not None}
        reads = "sensor" in kinds or self.controller is not None
        variations = self._variations(parameters)
        self.batch = plan.model.batch(self.n, workers=1, sensors=reads, poses="position" in kinds or self.controller is not None,
                                      seed=_seed(study.seed, self.first), timestep=plan.timestep, **study.options)
        if any(v is not None for v in variations):
            self.batch.vary(variations)
        self.batch.reset(keyframe=study.keyframe)
        parameters.place(self.batch, self.values)
        if "frame" in kinds:
            made = {id(model): (model.raw, c.kk_data_create(model.raw)) for model in self.batch.variations}
            self.batch.of_rows = [made[id(model)] for model in self.batch.variations]
        self.drive = self._make_controller(parameters)

    def _make_controller(self, parameters: Parameters) -> Callable[[Any], Any] | None:
        if self.controller is None:
            return None
        arguments = {name: self.values[:, k].copy() for k, name in parameters.arguments}
        self.batch.points = np.arange(self.first, self.first + self.n)
        return self.controller(self.batch, **arguments)

    # ---- running

    def run(self, recorded: list[int]) -> NDArray[Any]:
        try:
            self._open()
            recorders = self._recorders(recorded)
            self._loop(recorders)
            self._finish(recorders)
        except Error as error:  # what is wrong with all of them alike
            self._fail_all(str(error))
        except Exception:  # the controller's own
            self._fail_all(traceback.format_exc(limit=-1, chain=False).strip().splitlines()[-1])
        return self.rows

    def _fail_all(self, text: str) -> None:
        for row in np.flatnonzero(self.rows["status"] == DONE):
            self.fail(int(row), text)
        self._blank()

    def _next(self, t: int, stride: int) -> int:
        """The next step at which something is to be done."""
        plan = self.plan
        ends = [plan.steps, *(s for s in plan.rung_steps if s > t)]
        if plan.every:
            ends.append((t // plan.every + 1) * plan.every)
        if self.drive is not None:
            ends.append((t // plan.study.control_every + 1) * plan.study.control_every)
        return min(*ends, t + stride) if stride else min(ends)

    def _loop(self, recorders: dict[int, Any]) -> None:
        plan, t = self.plan, 0
        sampled_each = not plan.every and (any(s.when not in ("end", "controller") for s in plan.scalars.values()) or
                                           (plan.score is not None and plan.score.when != "end"))
        stride = 1 if recorders or sampled_each else 0
        while t < plan.steps and self.active.any():
            if self.drive is not None and t % plan.study.control_every == 0:
                self.drive(self.batch)
            end = self._next(t, stride)
            self._step(end - t)
            t = end
            for row, (_, recorder) in recorders.items():
                if self.active[row]:
                    c.kk_recorder_add(recorder, self.batch.state(row).raw, self.batch.control[row], None)
            if t == plan.steps or sampled_each or (plan.every and t % plan.every == 0) or t in plan.rung_steps:
                self._sample(t)
            if t in plan.rung_steps:
                self._prune(plan.rung_steps.index(t) + 1)

    def _step(self, count: int) -> None:
        index = None if self.active.all() else np.flatnonzero(self.active).astype(np.int32)
        self.batch.step(count, index, check=False)
        results = self.batch.results
        named = self.active.copy()
        self.steps[named] += results["substeps"][named]
        self.rows["degraded"][named] += results["degraded"][named]
        for row in np.flatnonzero(named & (results["status"] != 0)):
            self.fail(int(row), self._reason(int(row)))

    def _reason(self, row: int) -> str:
        """The text of the step that failed: it is before that step, and fails again."""
        try:
            c.kk_simulations_step(self.batch.raw, np.array([row], np.int32), 1)
        except Error as error:
            return f"at {self.batch.time[row]!r} s: {error.text.partition(': ')[2] or error.text}"
        return f"at {self.batch.time[row]!r} s: a step failed"

    def _sample(self, t: int) -> None:
        plan, active = self.plan, self.active
        for name, scalar in plan.scalars.items():
            if scalar.quantity is not None:
                self._gather(self.gathered[name], scalar, active)
        if plan.score is not None:
            self._gather(self.score, plan.score, active)
        self.samples[active] += 1
        if plan.every and t % plan.every == 0:
            for name, quantity in plan.curves.items():
                self.rows[name][active, t // plan.every - 1] = quantity.of(self.batch)[active]
            if plan.until is not None:
                over = active & plan.until.holds(self.batch)
                self.rows["status"][over] = STOPPED
                self.active = active & ~over

    def _gather(self, gathered: NDArray[np.float64], scalar: Scalar, active: NDArray[np.bool_]) -> None:
        assert scalar.quantity is not None
        now = scalar.quantity.of(self.batch)
        fresh = active & (self.samples == 0)
        later = active & ~fresh
        gathered[fresh] = now[fresh]
        gathered[later] = scalar.gather(gathered, now, 1)[later]

    def _prune(self, rung: int) -> None:
        """The better share goes on; equals by their number."""
        rungs = self.plan.study.rungs
        assert rungs is not None and self.plan.score is not None
        rows = np.flatnonzero(self.active)
        self.rows["rung"][rows] = rung
        score = self.plan.score.finish(self.score, self.samples)[rows]
        order = rows[np.lexsort((rows, -score if rungs.maximize else score))]
        out = order[max(int(np.ceil(rungs.keep * len(rows))), 1):]
        self.rows["status"][out] = PRUNED
        self.active[out] = False

    # ---- the end

    def _finish(self, recorders: dict[int, Any]) -> None:
        self.rows["steps"] = self.steps
        self.rows["time"] = self.batch.time
        self.rows["hash"] = [self.batch.state(row).hash for row in range(self.n)]
        for name, scalar in self.plan.scalars.items():
            if scalar.quantity is None:
                self.rows[name] = self.drive_scalar(scalar.what)
            else:
                self.rows[name] = scalar.finish(self.gathered[name], self.samples)
        self._blank()
        for row, (path, recorder) in recorders.items():
            c.kk_recorder_close(recorder)
            with open(path, "rb") as file:
                self.recordings.append((self.first + row, file.read()))
            os.unlink(path)

    def drive_scalar(self, name: str) -> Any:
        try:
            return np.asarray(getattr(self.drive, name), np.float64)
        except AttributeError:
            raise StudyError(f"the controller has no {name!r}") from None

    def _blank(self) -> None:
        """What failed has no numbers: nobody shall take them for results."""
        failed = self.rows["status"] == FAILED
        for name in self.plan.scalars:
            self.rows[name][failed] = np.nan

    def _recorders(self, recorded: list[int]) -> dict[int, Any]:
        found = {}
        definition = c.kk_recorder_def(note=f"model of a study\npoint of study {self.plan.digest}")
        for row in recorded:
            handle, path = tempfile.mkstemp(suffix=".kkr")
            os.close(handle)
            model = self.batch.variations[row]
            found[row] = (path, c.kk_recorder_open(path, model.raw, self.batch.state(row).raw, definition))
        return found


def _seed(seed: int, first: int) -> int:
    """Of the noise of the first row; the engine gives each next row one more."""
    return (c.kk_hash_bytes(seed.to_bytes(8, "little", signed=seed < 0), 0) + first) % (1 << 64)


def _parameters(plan: Plan) -> Parameters:
    found = plan.__dict__.get("_parameters")
    if found is None:
        found = plan.__dict__["_parameters"] = Parameters(plan.model, plan.study.parameters)
    return found
