"""Processes of this machine as an Executor. Each worker is a plain child on two pipes: one that is killed loses its own block alone and is
replaced, and all end when their driver does, however that ends."""
from __future__ import annotations

import concurrent.futures as futures
import os
import pathlib
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from .errors import LostWorker

_LENGTH = struct.Struct("<Q")


def send(file: Any, value: Any) -> None:
    data = pickle.dumps(value)
    file.write(_LENGTH.pack(len(data)) + data)
    file.flush()


def receive(file: Any) -> bytes:
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(head)[0]
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data


class Processes(futures.Executor):
    """`Processes(4).submit(function, …)`; functions and arguments must be picklable, and the function's module importable."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._over = False
        self._threads = [threading.Thread(target=self._serve, args=(k,), daemon=True) for k in range(self.workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        if self._over:
            raise RuntimeError("the executor is shut down")
        future: futures.Future[Any] = futures.Future()
        self._tasks.put((future, fn, args, kwargs))
        return future

    @property
    def pids(self) -> list[int]:
        """Of the workers that are alive."""
        return [child.pid for child in list(self._children.values()) if child.poll() is None]

    def _start(self, k: int) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(pathlib.Path(__file__).resolve().parents[2]), *filter(None, sys.path)])
        # one thread a worker: as many workers as processors
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        child = subprocess.Popen([sys.executable, "-c", "from karakuri.sweep.processes import main; main()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._children[k] = child
        return child

    def _serve(self, k: int) -> None:
        child: subprocess.Popen[bytes] | None = None
        while (task := self._tasks.get()) is not None:
            future, fn, args, kwargs = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                child = child if child is not None and child.poll() is None else self._start(k)
                send(child.stdin, (fn, args, kwargs))
                good, value = pickle.loads(receive(child.stdout))
            except (OSError, EOFError) as error:
                future.set_exception(LostWorker(self._end(child, error)))
                child = None
            except Exception as error:  # what cannot be pickled
                future.set_exception(error)
            else:
                future.set_result(value) if good else future.set_exception(value)
        if child is not None:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.close()
            child.wait()
            child.stdout.close()

    def _end(self, child: subprocess.Popen[bytes] | None, error: Exception) -> str:
        if child is None:
            return f"a worker could not be started: {error}"
        assert child.stdin is not None and child.stdout is not None
        child.kill()
        code = child.wait()
        try:
            child.stdin.close()
        except OSError:
            pass
        child.stdout.close()
        name = signal.Signals(-code).name if code < 0 else f"code {code}"
        return f"worker {child.pid} ended by {name}"

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._over = True
        if cancel_futures:
            while True:
                try:
                    task = self._tasks.get_nowait()
                except queue.Empty:
                    break
                if task is not None:
                    task[0].cancel()
            for child in list(self._children.values()):
                child.kill()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()


def main() -> None:
    """A worker: tasks come in, results go out; what is printed goes to the standard error."""
    tasks = os.fdopen(os.dup(0), "rb")
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    while True:
        try:
            task = receive(tasks)
        except EOFError:
            return
        try:
            fn, args, kwargs = pickle.loads(task)
            answer = True, fn(*args, **kwargs)
        except Exception as error:
            answer = False, error
        try:
            send(results, answer)
        except (BrokenPipeError, OSError):
            return
