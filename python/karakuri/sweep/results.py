"""From journals to one result: rows by point, the same bytes whoever ran them in whatever order.

    results.npy     a row a point: index, hash of the last state, status, parameters, scalars, curves (numpy.load, also mmap_mode="r")
    failures.csv    why points failed
    summary.csv     mean, standard deviation, least, quantiles, largest of each scalar
"""
from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block import FAILED
from .errors import Disagreement, JournalCorrupt, Missing, OtherStudy, SweepError
from .journal import Scan, check_header, named, write_all
from .study import STATUS, Plan
from .summary import summarize, write_summary


class Results:
    """What came of a study. `rows` is a view of the file, read as far as it is looked at."""

    def __init__(self, plan: Plan, out: pathlib.Path) -> None:
        self.plan, self.folder = plan, out
        self.path = out / "results.npy"
        self.rows: NDArray[Any] = np.load(self.path, mmap_mode="r")

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> NDArray[Any]:
        return np.asarray(self.rows[name])

    @property
    def statuses(self) -> dict[str, int]:
        counts = np.zeros(len(STATUS), np.int64)
        for part in chunks(self.rows):
            counts += np.bincount(part["status"], minlength=len(STATUS))
        return {name: int(n) for name, n in zip(STATUS, counts)}

    @property
    def failures(self) -> dict[int, str]:
        with open(self.folder / "failures.csv", encoding="utf-8") as file:
            lines = (line.rstrip("\n").split(",", 1) for line in list(file)[1:])
            return {int(index): text.strip('"').replace('""', '"') for index, text in lines}

    def summary(self) -> dict[str, dict[str, float]]:
        return summarize(self.plan, self.rows)

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """All but curves as a table; numbers with as many digits as they need."""
        names = [name for name in self.rows.dtype.names or () if not self.rows.dtype[name].shape]
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(",".join(names) + "\n")
                for part in chunks(self.rows):
                    columns = [[f"{h:016x}" for h in part[n].tolist()] if n == "hash" else [STATUS[s] for s in part[n]] if n == "status"
                               else [repr(x) for x in part[n].tolist()] for n in names]
                    file.writelines(",".join(line) + "\n" for line in zip(*columns))
        except OSError as error:
            raise named(error, path) from None


def chunks(rows: NDArray[Any], size: int = 65536) -> Any:
    for k in range(0, len(rows), size):
        yield rows[k:k + size]


def _npy_head(dtype: np.dtype[Any], points: int) -> bytes:
    """The header of version 1 or 2 of NumPy's format, as numpy.save writes it."""
    import io
    file = io.BytesIO()
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (points,)}
    try:
        np.lib.format.write_array_header_1_0(file, head)
    except ValueError:  # more than 64 kB of names
        file = io.BytesIO()
        np.lib.format.write_array_header_2_0(file, head)
    return file.getvalue()


class _Merger:
    """Rows go to their places in a file beside the last; of points only a bit each is kept in memory."""

    def __init__(self, plan: Plan, aside: pathlib.Path) -> None:
        self.plan, self.aside = plan, aside
        self.head = _npy_head(plan.dtype, plan.points)
        self.size = plan.dtype.itemsize
        self.handle = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        self.have = np.zeros(plan.blocks, np.bool_)
        self.failures: dict[int, str] = {}

    def take(self, path: pathlib.Path, record: Any) -> None:
        plan = self.plan
        if record.block >= plan.blocks:
            raise JournalCorrupt(f"{path}: block {record.block} is none of the {plan.blocks} of the study")
        first, count = plan.block_of(record.block)
        if len(record.rows) != count * self.size:
            raise JournalCorrupt(f"{path}: block {record.block} has {len(record.rows)} bytes; {count * self.size} are wanted")
        place = len(self.head) + first * self.size
        if self.have[record.block]:
            if os.pread(self.handle, len(record.rows), place) != record.rows:
                raise Disagreement(f"{path}: points {first} to {first + count - 1} have other results in another journal; some machine does not "
                                   f"give the same bits")
            return
        self.have[record.block] = True
        view = memoryview(record.rows)
        while view:
            n = os.pwrite(self.handle, view, place)
            view, place = view[n:], place + n
        self.failures.update((int(k), text) for k, text in json.loads(record.failures))

    def finish(self, path: pathlib.Path) -> None:
        os.pwrite(self.handle, self.head, 0)
        os.fsync(self.handle)
        os.replace(self.aside, path)


def journals(out: pathlib.Path, header: dict[str, Any]) -> Iterator[Scan]:
    """One after the other: there may be thousands."""
    found = False
    for path in sorted(out.glob("shard-*-of-*.journal")):
        with Scan(path) as scan:
            if scan.altered:
                raise JournalCorrupt(f"{path}: its header was altered; take it away, and its blocks are run again")
            if scan.header:
                check_header(path, scan.header, header)
                found = True
                yield scan
    if not found:
        raise OtherStudy(f"{out}: there is no journal; run the study first")


def merge(plan: Plan, out: str | os.PathLike[str], *, header: dict[str, Any] | None = None) -> Results:
    """Merges all journals of a folder by point. Missing where points are not there yet."""
    from .driver import header_of
    folder = pathlib.Path(out)
    aside = folder / f".results.{os.getpid()}.part"
    try:
        merger = _Merger(plan, aside)
        try:
            for scan in journals(folder, header or header_of(plan)):
                for record in scan.records():
                    merger.take(scan.path, record)
                if scan.altered:
                    raise JournalCorrupt(f"{scan.path}: it was altered at byte {scan.end}; take it away, and its blocks are run again")
            if not merger.have.all():
                lacking = np.flatnonzero(~merger.have)
                points = sum(plan.block_of(int(k))[1] for k in lacking)
                raise Missing(f"{points} of {plan.points} points are not in the journals of {folder} yet, from point {plan.block_of(int(lacking[0]))[0]} on")
            merger.finish(folder / "results.npy")
        finally:
            os.close(merger.handle)
            aside.unlink(missing_ok=True)
        _write_failures(folder / "failures.csv", merger.failures)
        results = Results(plan, folder)
        write_summary(plan, results.rows, folder)
    except OSError as error:
        if isinstance(error, SweepError):
            raise
        raise named(error, folder) from None
    return results


def write_aside(path: pathlib.Path, text: str) -> None:
    """The whole of a file or nothing of it."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        write_all(handle, text.encode())
    finally:
        os.close(handle)
    os.replace(aside, path)


def _write_failures(path: pathlib.Path, failures: dict[int, str]) -> None:
    quoted = (f'{index},"{text.replace(chr(34), chr(34) * 2)}"' for index, text in sorted(failures.items()))
    write_aside(path, "\n".join(["index,reason", *quoted]) + "\n")


def failed(rows: NDArray[Any]) -> NDArray[Any]:
    return rows["index"][rows["status"] == FAILED]
