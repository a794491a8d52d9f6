"""Engines: whoever runs blocks. Anything with the protocol of concurrent.futures.Executor will do; these are made by name.

    processes[:N]     this machine's processors
    serial            this process, one block after the other
    ray[:ADDRESS]     tasks of a Ray cluster ("auto": the one that this machine belongs to); without an address a new one on this machine
    dask[:ADDRESS]    a scheduler of Dask distributed; without an address one on this machine
    mpi               mpi4py.futures: mpirun -n 8 python -m mpi4py.futures -m karakuri sweep study.toml --on mpi
"""
from __future__ import annotations

import concurrent.futures as futures
import importlib
import os
from collections.abc import Callable
from typing import Any

from .errors import MissingPackage, SweepError
from .processes import Processes

PACKAGES = {"ray": ("ray", "ray"), "dask": ("distributed", "dask distributed"), "mpi": ("mpi4py.futures", "mpi4py")}
ENGINES = ("processes", "serial", *PACKAGES)


class Serial(futures.Executor):
    """Runs what is submitted at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        future: futures.Future[Any] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class RayTasks(futures.Executor):
    """Each submit is a task of Ray. What is large and submitted again and again is put into Ray's store once."""

    LARGE = 10_000

    def __init__(self, address: str | None, workers: int | None) -> None:
        self.ray = importlib.import_module("ray")
        self._mine = not self.ray.is_initialized()
        if self._mine:
            # workers get the driver's modules, so that a package that is on its path alone is found
            paths = os.pathsep.join(filter(None, [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                                                  os.environ.get("PYTHONPATH")]))
            self.ray.init(address=address or "local", num_cpus=None if address else workers, log_to_driver=False, include_dashboard=False if not address else None,
                          configure_logging=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
        self.workers = int(self.ray.cluster_resources().get("CPU", 1))
        self._kept: dict[bytes, Any] = {}
        # a task that is lost is ours to give again, so that it is counted
        self._task = self.ray.remote(_call).options(max_retries=0)

    def _stored(self, value: Any) -> Any:
        if not isinstance(value, bytes) or len(value) < self.LARGE:
            return value
        if value not in self._kept:
            self._kept[value] = self.ray.put(value)
        return self._kept[value]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        return self._task.remote(fn, *(self._stored(x) for x in args), **kwargs).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._kept.clear()
        if self._mine:
            self.ray.shutdown()


def _call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


class DaskTasks(futures.Executor):
    """A client of Dask's scheduler."""

    def __init__(self, address: str | None, workers: int | None) -> None:
        distributed = importlib.import_module("distributed")
        self.cluster = None if address else distributed.LocalCluster(n_workers=workers or len(os.sched_getaffinity(0)), threads_per_worker=1,
                                                                     dashboard_address=None, silence_logs=50)
        self.client = distributed.Client(address or self.cluster, set_as_default=False)
        self.workers = max(len(self.client.scheduler_info(n_workers=-1)["workers"]), 1)
        self._executor = self.client.get_executor(pure=False, retries=0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=False)
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()


class MpiTasks(futures.Executor):
    """The pool of mpi4py: under `mpirun … python -m mpi4py.futures` its ranks but the first, else ranks that MPI spawns."""

    def __init__(self, workers: int | None) -> None:
        module = importlib.import_module("mpi4py.futures")
        self.pool = module.MPIPoolExecutor(workers)
        self.workers = self.pool.num_workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        return self.pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait=wait, cancel_futures=cancel_futures)


def open_engine(engine: str | futures.Executor, workers: int | None = None) -> tuple[futures.Executor, bool]:
    """The executor, and whether it is ours to shut down."""
    if isinstance(engine, futures.Executor) or not isinstance(engine, str):
        return engine, False
    name, _, rest = engine.partition(":")
    if name not in ENGINES:
        raise SweepError(f"there is no engine {name!r}; there are {', '.join(ENGINES)}")
    if name in PACKAGES:
        module, package = PACKAGES[name]
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise MissingPackage(f"engine {name!r} needs a package that is not installed ({error}): pip install {package}") from None
    try:
        if name == "processes":
            return Processes(int(rest) if rest else workers), True
        if name == "serial":
            return Serial(), True
        return {"ray": lambda: RayTasks(rest or None, workers), "dask": lambda: DaskTasks(rest or None, workers), "mpi": lambda: MpiTasks(workers)}[name](), True
    except (ValueError, OSError, ConnectionError) as error:
        raise SweepError(f"engine {engine!r}: {error}") from None


def width(executor: Any) -> int:
    """How many blocks it runs at a time, as far as it tells."""
    for name in ("workers", "_max_workers"):
        found = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    return len(os.sched_getaffinity(0))
