"""Which part of a study is ours: by environment, as schedulers of arrays of jobs set it."""
from __future__ import annotations

import os
from collections.abc import Mapping

from .errors import SweepError


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise SweepError(f"{name} is {text!r}; a whole number is wanted") from None


def shard_of(environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """(shard, shards), from 0: KARAKURI_SHARD and KARAKURI_SHARDS, an array of SLURM, an indexed job of Kubernetes; else (0, 1).

    Kubernetes does not tell the number of indices: KARAKURI_SHARDS does, set to the job's `completions`.
    """
    shards = _number(environment, "KARAKURI_SHARDS")
    own, index, first = _number(environment, "KARAKURI_SHARD"), _number(environment, "SLURM_ARRAY_TASK_ID"), 0
    if own is not None:
        found = own
    elif index is not None:
        first = _number(environment, "SLURM_ARRAY_TASK_MIN") or 0
        step = _number(environment, "SLURM_ARRAY_TASK_STEP") or 1
        found, shards = (index - first) // step, shards if shards is not None else _number(environment, "SLURM_ARRAY_TASK_COUNT")
    else:
        index = _number(environment, "JOB_COMPLETION_INDEX")
        if index is None:
            return 0, 1
        found = index
    if shards is None:
        raise SweepError("this is one of several jobs, and KARAKURI_SHARDS does not say of how many")
    if not 0 <= found < shards:
        raise SweepError(f"shard {found} of {shards}: shards are counted from 0")
    return found, shards


def parse(text: str) -> tuple[int, int]:
    """"2/7": the third of seven."""
    try:
        shard, shards = (int(word) for word in text.split("/"))
    except ValueError:
        raise SweepError(f"--shard is {text!r}; write 0/4 … 3/4") from None
    if not 0 <= shard < shards:
        raise SweepError(f"--shard {text}: shards are counted from 0")
    return shard, shards
