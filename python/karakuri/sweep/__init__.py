"""Studies that outgrow a machine: thousands to hundreds of millions of points, on the engine you have, with nothing lost when machines die.

    from karakuri import sweep

    study = sweep.Study("robot.xml", horizon=2, parameters={"mass.trunk": sweep.Range(low=5, high=9)}, points=1000,
                        scalars={"height": "max:trunk.z"})
    results = sweep.run(study, "out", engine="processes")
    print(results.summary()["height"]["mean"])

`karakuri sweep study.toml` is the same from the shell. Engines: whatever has the protocol of concurrent.futures.Executor, see engines.py. A program that
starts a study needs no `if __name__ == "__main__"`.
"""
from .design import Range
from .driver import Driver, run
from .engines import open_engine
from .errors import (Disagreement, JournalBusy, JournalCorrupt, LostWorker, Missing, MissingPackage, NoRoom, OtherStudy, OtherVersion, ReadOnly,
                     StudyError, SweepError)
from .results import Results, merge
from .search import Found, search
from .shards import shard_of
from .study import Plan, Rungs, Search, Study, prepare

__all__ = ["Disagreement", "Driver", "Found", "JournalBusy", "JournalCorrupt", "LostWorker", "Missing", "MissingPackage", "NoRoom", "OtherStudy",
           "OtherVersion", "Plan", "Range", "ReadOnly", "Results", "Rungs", "Search", "Study", "StudyError", "SweepError", "merge", "open_engine",
           "prepare", "run", "search", "shard_of"]
