"""Local processes: evaluations in workers of this machine, killed for real when they pass a limit."""

from __future__ import annotations

import os
import pickle
import sys
from concurrent.futures import Future
from threading import Lock
from typing import Any

from msl.diagnostics.user_error import UserError
from msl.evaluate.outcome import Outcome
from msl.workers.dask_address import SCHEMES, Scheduler
from msl.workers.executor import Executor
from msl.workers.fork_server import ForkServer
from msl.workers.memory_usage import SUPPORTED
from msl.workers.pool import Pool
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import AnyTask, Job, modules_of
from msl.workers.worker_handle import WorkItem


class LocalExecutor(Executor):
    """Workers on this machine, started when there is work for them.

    They say nothing on the terminal, and have one thread of BLAS and OpenMP each unless the job says otherwise. The
    table is in their memory once, not once for each. All processes end with this one, even if it is killed.
    """

    def __init__(
        self,
        job: Job | SharedArrays[Job],
        workers: int | None = None,
        nursery: ForkServer | None = None,
        *,
        is_own_job: bool = False,
    ) -> None:
        """`workers` is by default the number of cores.

        A nursery that is given is left open in the end, and so is a mapped job unless it is the executor's own.
        """
        self.workers = available_cores() if workers is None else workers
        if self.workers < 1:
            raise UserError(f"`workers` must be at least 1, not {workers}")
        if isinstance(job, Job):
            job.evaluator()  # what the job cannot do is better said here than by a worker
        self._mapped = SharedArrays.of(job) if isinstance(job, Job) else job
        self._is_own_job = is_own_job or isinstance(job, Job)
        #: The job on mapped arrays; whoever drops the arrays it was made of saves their memory.
        self.job: Job = self._mapped.value
        if self.job.limits.memory is not None and not SUPPORTED:
            raise UserError("a memory limit needs Linux: leave out `memory`, or use a Dask cluster on Linux")
        self._is_own_nursery = nursery is None
        self._nursery = nursery or ForkServer()
        self._keeper = Pool(self._nursery, self._mapped, self.workers, self._close)
        self._lock = Lock()
        self._is_shut = False

    def submit(self, task: AnyTask) -> Future[Outcome]:
        with self._lock:
            if self._is_shut:
                raise RuntimeError("the executor is shut down and takes no more tasks")
            return self._keeper.add(
                WorkItem(task, encoded=pickle.dumps(task), modules=frozenset(modules_of(task.model)))
            )

    @property
    def width(self) -> int:
        return self.workers

    def abandon(self, futures: list[Future[Outcome]]) -> None:
        """Ends the processes of those that run, with whatever else they were given."""
        super().abandon(futures)
        self._keeper.abandon(futures)

    def worker_pids(self) -> list[int]:
        """The processes of the moment, for those who measure them."""
        return [handle.pid for handle in list(self._keeper.handles)]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._is_shut = True
        self._keeper.finish(cancel_futures)
        if wait:
            self._keeper.join()

    def _close(self) -> None:
        if self._is_own_nursery:
            self._nursery.close()
        if self._is_own_job:
            self._mapped.close()


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- Choice: from what a user writes after `--on` to an executor. -----------------------------------------------------


def open_executor(job: Job, on: Any = "local", workers: int | None = None) -> Executor:
    """The executor that `on` names: `local`, `inprocess`, a scheduler's address, or a client or cluster of Dask.

    `workers` counts local processes, by default one for each core; a Dask cluster has its own. Code from elsewhere may
    leave anything behind in its process, so that a job that may run some runs in a worker, not in process.
    """
    # Imports are here because each of these needs what not every system has.
    if on == "inprocess" and not _must_leave_process(job):
        from msl.workers.in_process import InProcessExecutor

        return InProcessExecutor(job)
    if on == "inprocess":
        on, workers = "local", 1
    if on == "local":
        if os.name != "posix":
            raise UserError("worker processes need Linux or macOS: run on `inprocess` or on a Dask cluster")

        return LocalExecutor(job, workers)
    if isinstance(on, str) and not on.startswith(SCHEMES):
        raise UserError(
            f"`{on}` is no place to run on: write `local`, `inprocess`, `tls://host:port` or `dask://host:port`"
        )
    if isinstance(on, str):
        on = Scheduler(on)
    if workers is not None:
        raise UserError("a Dask cluster has its own number of workers: leave out `workers`")
    from msl.workers.dask import DaskExecutor

    return DaskExecutor(job, on)


def _must_leave_process(job: Job) -> bool:
    """Whether code from elsewhere may be run, and can be: classes of a notebook are in this process alone."""
    return os.name == "posix" and bool(job.trusted) and all(map(_has_file, job.trusted))


def _has_file(package: str) -> bool:
    return package != "__main__" and getattr(sys.modules.get(package), "__spec__", True) is not None
