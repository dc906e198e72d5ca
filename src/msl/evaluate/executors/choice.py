"""Choice: from what a user writes after `--on` to an executor."""

from __future__ import annotations

import os
import sys
from typing import Any

from msl.evaluate.executors.executor import Executor
from msl.evaluate.executors.scheduler import SCHEMES, Scheduler
from msl.evaluate.executors.task import Job


def open_executor(job: Job, on: Any = "local", workers: int | None = None) -> Executor:
    """The executor that `on` names: `local`, `inprocess`, a scheduler's address, or a client or cluster of Dask.

    `workers` counts local processes, by default one for each core; a Dask cluster has its own. Code from elsewhere may
    leave anything behind in its process, so that a job that may run some runs in a worker, not in process.
    """
    # Imports are here because each of these needs what not every system has.
    if on == "inprocess" and not _must_leave_process(job):
        from msl.evaluate.executors.inprocess import InProcessExecutor

        return InProcessExecutor(job)
    if on == "inprocess":
        on, workers = "local", 1
    if on == "local":
        if os.name != "posix":
            raise ValueError("worker processes need Linux or macOS: run on `inprocess` or on a Dask cluster")
        from msl.evaluate.executors.local import LocalExecutor

        return LocalExecutor(job, workers)
    if isinstance(on, str) and not on.startswith(SCHEMES):
        raise ValueError(
            f"`{on}` is no place to run on: write `local`, `inprocess`, `tls://host:port` or `dask://host:port`"
        )
    if isinstance(on, str):
        on = Scheduler(on)
    if workers is not None:
        raise ValueError("a Dask cluster has its own number of workers: leave out `workers`")
    from msl.evaluate.executors.dask import DaskExecutor

    return DaskExecutor(job, on)


def _must_leave_process(job: Job) -> bool:
    """Whether code from elsewhere may be run, and can be: classes of a notebook are in this process alone."""
    return os.name == "posix" and bool(job.trusted) and all(map(_has_file, job.trusted))


def _has_file(package: str) -> bool:
    return package != "__main__" and getattr(sys.modules.get(package), "__spec__", True) is not None
