"""The command line of studies: `karakuri sweep` starts this."""
from __future__ import annotations

import argparse
import json
import pathlib
import signal
import sys
from typing import Any, NoReturn

from .._errors import Error
from . import driver, results, summary
from .errors import Missing, MissingPackage, StudyError, SweepError
from .search import search
from .shards import parse, shard_of
from .study import Study, prepare

OK, FINDING, USAGE, INPUT, LIMIT, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 130, 143  # as of every verb of the tool


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("karakuri sweep", description="run a study: a model with many sets of parameters, on one machine or many")
    parser.add_argument("study", metavar="STUDY", help="a TOML file, or a Python module that sets `study`")
    parser.add_argument("-o", "--out", metavar="FOLDER", help="where journals and results go; without it STUDY's name")
    parser.add_argument("--on", default="processes", metavar="ENGINE", help="processes[:N], serial, ray[:ADDRESS], dask[:ADDRESS], mpi")
    parser.add_argument("-j", "--workers", type=int, help="of an engine on this machine; without it all processors")
    parser.add_argument("--shard", metavar="I/N", help="run the part I of N, from 0; without it as SLURM's array or Kubernetes' index says")
    parser.add_argument("--merge", action="store_true", help="run nothing: merge the journals of all shards")
    parser.add_argument("--csv", metavar="FILE", help="write the results as a table as well")
    parser.add_argument("--plot", action="store_true", help="draw each scalar over each parameter")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--color", help=argparse.SUPPRESS)
    parser.add_argument("-q", "--quiet", action="store_true")
    return parser


def _ended(number: int, frame: Any) -> NoReturn:
    raise SystemExit(TERMINATED)


def main(words: list[str]) -> int:
    verb, words = (words[0], words[1:]) if words else ("", [])
    if verb not in ("sweep", "optimize"):
        print("usage: python -m karakuri.sweep sweep STUDY … | optimize MODEL …", file=sys.stderr)
        return USAGE
    signal.signal(signal.SIGTERM, _ended)  # of a scheduler that takes its machine back: the journal is closed, and the next run goes on
    as_json = "--json" in words
    try:
        if verb == "optimize":
            from .controls import main as optimize
            return optimize(words)
        return _sweep(_parser().parse_args(words))
    except (SweepError, Error) as error:
        return _fail(verb, error, as_json)
    except KeyboardInterrupt:
        print(f"karakuri {verb}: interrupted; give the same command again to go on", file=sys.stderr)
        return INTERRUPTED


def _fail(verb: str, error: Exception, as_json: bool) -> int:
    name = type(error).__name__
    print(f"karakuri {verb}: error: {error} [{name}]", file=sys.stderr)
    code = USAGE if isinstance(error, (StudyError, MissingPackage)) else FINDING if isinstance(error, Missing) else INPUT
    if as_json:
        print(json.dumps({"verb": verb, "ok": False, "error": {"exit_code": code, "name": name, "text": str(error)}, "notes": []}))
    return code


def _sweep(options: argparse.Namespace) -> int:
    study = Study.read(options.study)
    out = pathlib.Path(options.out or pathlib.Path(options.study).with_suffix(""))
    if study.search is not None:
        return _search(study, out, options)
    plan = prepare(study)
    if options.merge:
        found: results.Results | None = results.merge(plan, out)
    else:
        shard = parse(options.shard) if options.shard else shard_of()
        found = driver.run(plan, out, engine=options.on, workers=options.workers, shard=shard, quiet=options.quiet)
        if found is None:
            return _tell_shard(options, shard, out)
    if options.csv:
        found.write_csv(options.csv)
    plots = summary.plot(plan, found.rows, out) if options.plot else []
    return _tell(options, found, [str(p) for p in plots])


def _tell_shard(options: argparse.Namespace, shard: tuple[int, int], out: pathlib.Path) -> int:
    if options.json:
        print(json.dumps({"verb": "sweep", "ok": True, "notes": [], "shard": shard[0], "shards": shard[1], "out": str(out)}))
    else:
        print(f"shard {shard[0]} of {shard[1]} is done; when all are: karakuri sweep {options.study} --merge --out {out}")
    return OK


def _tell(options: argparse.Namespace, found: results.Results, plots: list[str]) -> int:
    statuses, table = found.statuses, found.summary()
    if options.json:
        print(json.dumps({"verb": "sweep", "ok": True, "notes": [], "points": len(found), **statuses, "results": str(found.path), "scalars": table, "plots": plots}))
        return OK
    print(f"{len(found)} points: " + ", ".join(f"{n} {name}" for name, n in statuses.items() if n))
    names = ["mean", "sd", "min", "q0.5", "max"]
    width = max([6, *map(len, table)])
    if table:
        print(f"  {'':{width}}" + "".join(f"{name:>13}" for name in names))
    for name, row in table.items():
        print(f"  {name:{width}}" + "".join(f"{row[key]:>13.6g}" for key in names))
    reasons = found.failures if statuses["failed"] else {}
    for index in list(reasons)[:3]:
        print(f"  point {index}: {reasons[index]}")
    print(f"  results       {found.path}, summary.csv, failures.csv beside it")
    return OK


def _search(study: Study, out: pathlib.Path, options: argparse.Namespace) -> int:
    found = search(study, out, engine=options.on, workers=options.workers, quiet=options.quiet)
    assert study.search is not None
    what, value = study.search.minimize or study.search.maximize, found.cost if study.search.minimize else -found.cost
    if options.json:
        print(json.dumps({"verb": "sweep", "ok": True, "notes": [], "scalar": what, "value": value, "best": found.best, "evaluations": found.evaluations}))
        return OK
    print(f"{what}: {value:.6g}, the best of {found.evaluations} in {len(found.history)} generations of {found.population}")
    for name, x in found.best.items():
        print(f"  {name:24} {x:.10g}")
    return OK
