"""Choice: from what a user writes after `--on` to an executor."""

from __future__ import annotations

import os
from typing import Any

from msl.evaluate.executors.executor import Executor
from msl.evaluate.executors.task import Job


def open_executor(job: Job, on: Any = "local", workers: int | None = None) -> Executor:
    """The executor that `on` names: `local`, `inprocess`, `dask://host:port`, or a client or cluster of Dask.

    `workers` counts local processes, by default one for each core; a Dask cluster has its own.
    """
    # Imports are here because each of these needs what not every system has.
    if on == "inprocess":
        from msl.evaluate.executors.inprocess import InProcessExecutor

        return InProcessExecutor(job)
    if on == "local":
        if os.name != "posix":
            raise ValueError("worker processes need Linux or macOS: run on `inprocess` or on a Dask cluster")
        from msl.evaluate.executors.local import LocalExecutor

        return LocalExecutor(job, workers)
    if isinstance(on, str) and not on.startswith("dask:"):
        raise ValueError(f"`{on}` is no place to run on: write `local`, `inprocess` or `dask://host:port`")
    if workers is not None:
        raise ValueError("a Dask cluster has its own number of workers: leave out `workers`")
    from msl.evaluate.executors.dask import DaskExecutor

    return DaskExecutor(job, on)
