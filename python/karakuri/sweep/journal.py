"""Journals: what a driver has of its blocks, append-only, one file a shard.

    magic, length, header (JSON), checksum          which study, model, library, shard
    length, block, rows, failures, note, checksum   one record a block: the same bytes whoever made them, but for the note (when, who, how long)

Checksums are BLAKE2b, keyed by the header's, so that a record of another journal is not taken for one of this. A tail that was cut by a kill or a
full disk is taken off when the journal is opened for writing; anything altered before it is told. A lock of the operating system keeps a second driver
out; it ends with its driver, however that ends.
"""
from __future__ import annotations

import dataclasses
import errno
import fcntl
import hashlib
import json
import os
import pathlib
import platform
import struct
import time
from collections.abc import Iterator
from typing import Any

from .errors import JournalBusy, JournalCorrupt, NoRoom, OtherStudy, ReadOnly, SweepError

MAGIC = b"KKSWEEP1"
_HEAD = struct.Struct("<8sI")
_RECORD = struct.Struct("<QQIII")  # bytes behind this one up to the checksum; block; of rows, failures, note
_SUM = 16
SYNC_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Record:
    block: int
    rows: bytes
    failures: bytes
    note: bytes


def _sum(data: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SUM, key=key).digest()


def named(error: OSError, path: Any) -> SweepError:
    """The system's error by its name, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return NoRoom(f"{path}: {error.strerror}; make room and give the same command again: what the journal has is kept")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(f"{path}: {error.strerror}; choose another folder by --out")
    return SweepError(f"{path}: {error.strerror}; give the same command again: what the journal has is kept")


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view):]


class Journal:
    """One shard's journal, open for writing. header: what must be the same in all journals of the study."""

    def __init__(self, path: str | os.PathLike[str], header: dict[str, Any]) -> None:
        self.path = pathlib.Path(path)
        self.done: set[int] = set()
        try:
            self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise named(error, self.path) from None
        try:
            self._lock()
            self._begin(header)
        except BaseException:
            os.close(self.handle)
            raise
        self._synced = time.monotonic()

    def _lock(self) -> None:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise named(error, self.path) from None
            raise JournalBusy(f"{self.path}: another driver writes it{_owner(self.path)}; wait for it, or end it") from None

    def _begin(self, header: dict[str, Any]) -> None:
        with Scan(self.path) as scan:
            self._take_over(scan, header)
        self._claim()

    def _take_over(self, scan: Scan, header: dict[str, Any]) -> None:
        """Begins a new journal, or goes on behind the last whole record."""
        if not scan.header:
            if scan.altered:
                raise JournalCorrupt(f"{self.path}: it is no journal of a sweep; choose another folder by --out")
            os.ftruncate(self.handle, 0)
            text = json.dumps(header, sort_keys=True).encode()
            head = _HEAD.pack(MAGIC, len(text)) + text
            self.key = _sum(head, b"")
            self.end = 0
            self._append(head + self.key)
            self._sync_folder()
        else:
            check_header(self.path, scan.header, header)
            self.key = scan.key
            for record in scan.blocks():
                self.done.add(record)
            if scan.altered:
                raise JournalCorrupt(f"{self.path}: it was altered at byte {scan.end}; take it away, and its {len(self.done)} blocks are run again")
            self.end = scan.end
            if scan.end < scan.size:
                os.ftruncate(self.handle, scan.end)  # a record that was cut

    def _claim(self) -> None:
        """Who writes, for whoever comes second; no part of the journal."""
        try:
            owner = _owner_path(self.path)
            owner.write_text(f"{platform.node()} {os.getpid()}\n")
        except OSError:
            pass

    def _append(self, data: bytes) -> None:
        try:
            write_all(self.handle, data)
        except OSError as error:
            try:
                os.ftruncate(self.handle, self.end)  # nothing is left of what was not written whole
            except OSError:
                pass
            raise named(error, self.path) from None
        self.end += len(data)

    def _sync_folder(self) -> None:
        handle = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError:
            pass
        finally:
            os.close(handle)

    def add(self, record: Record) -> None:
        body = _RECORD.pack(_RECORD.size + len(record.rows) + len(record.failures) + len(record.note), record.block, len(record.rows),
                            len(record.failures), len(record.note)) + record.rows + record.failures + record.note
        self._append(body + _sum(body, self.key))
        self.done.add(record.block)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        try:
            os.fsync(self.handle)
        except OSError as error:
            raise named(error, self.path) from None
        self._synced = time.monotonic()

    def close(self) -> None:
        try:
            self.sync()
        finally:
            try:
                _owner_path(self.path).unlink(missing_ok=True)
            except OSError:
                pass
            os.close(self.handle)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _owner_path(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(path.name + ".owner")


def _owner(path: pathlib.Path) -> str:
    try:
        host, pid = _owner_path(path).read_text().split()
        return f" (process {pid} on {host})"
    except (OSError, ValueError):
        return ""


def check_header(path: Any, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for key, what in (("format", "format"), ("version", "version of karakuri"), ("model", "model"), ("probe", "library: other bits of the first steps"),
                      ("digest", "study")):
        if found.get(key) != wanted.get(key):
            raise OtherStudy(f"{path}: it belongs to another {what} ({found.get(key)}, here {wanted.get(key)}); choose another folder by --out, "
                             f"or take it away")


class Scan:
    """A journal read from its beginning, as far as it is whole. `altered`: there is more that is whole in length and wrong in content."""

    def __init__(self, path: Any) -> None:
        self.path = pathlib.Path(path)
        self.header: dict[str, Any] = {}
        self.key, self.end, self.altered = b"", 0, False
        try:
            self.file = open(self.path, "rb")
        except OSError as error:
            raise named(error, self.path) from None
        self.size = os.fstat(self.file.fileno()).st_size
        self._read_header()

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _read_header(self) -> None:
        head = self.file.read(_HEAD.size)
        if len(head) < _HEAD.size or head[:8] != MAGIC:
            self.altered = not MAGIC.startswith(head[:8])
            return
        length = _HEAD.unpack(head)[1]
        text, found = self.file.read(length) if length < 1 << 20 else b"", self.file.read(_SUM)
        if len(text) < length or len(found) < _SUM:
            self.altered = length >= 1 << 20
            return
        if _sum(head + text, b"") != found:
            self.altered = True
            return
        self.header, self.key, self.end = json.loads(text), found, _HEAD.size + length + _SUM

    def records(self, whole: bool = True) -> Iterator[Record]:
        """whole=False leaves the contents of records unread and unchecked, for a look at what is there."""
        while self.header:
            self.file.seek(self.end)
            head = self.file.read(_RECORD.size)
            if len(head) < _RECORD.size:
                return
            length, block, rows, failures, note = _RECORD.unpack(head)
            if length != _RECORD.size + rows + failures + note:
                self.altered = any(head) or any(self.file.read(1 << 20))  # zeros are what a machine leaves that lost its power
                return
            if self.end + length + _SUM > self.size:
                return
            if not whole:
                self.end += length + _SUM
                yield Record(block, b"", b"", b"")
                continue
            body = self.file.read(length - _RECORD.size)
            found = self.file.read(_SUM)
            if len(body) + len(found) < length - _RECORD.size + _SUM:
                return  # it is being shortened by its driver
            if _sum(head + body, self.key) != found:
                self.altered = True
                return
            self.end += length + _SUM
            yield Record(block, body[:rows], body[rows:rows + failures], body[rows + failures:])

    def blocks(self, whole: bool = True) -> Iterator[int]:
        for record in self.records(whole):
            yield record.block
