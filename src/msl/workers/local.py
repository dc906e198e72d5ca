"""Run evaluations in worker processes of this machine, and choose the executor that `--on` names."""

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
from msl.workers.measure_memory import SUPPORTED
from msl.workers.pool import Pool
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import AnyTask, Job, modules_of
from msl.workers.worker_handle import WorkItem


class LocalExecutor(Executor):
    """Workers on this machine, started when there is work for them.

    They write nothing to the terminal, and have one thread of BLAS and OpenMP each unless the job says otherwise. The
    table is in memory once for all of them. All processes end with this one, even if it is killed.
    """

    def __init__(
        self,
        job: Job | SharedArrays[Job],
        workers: int | None = None,
        fork_server: ForkServer | None = None,
        *,
        is_own_job: bool = False,
    ) -> None:
        """`workers` is by default the number of cores.

        A fork server that is passed in is not closed, nor is a shared job unless `is_own_job`.
        """
        self.workers = available_cores() if workers is None else workers
        if self.workers < 1:
            raise UserError(f"`workers` must be at least 1, not {workers}")
        if isinstance(job, Job):
            job.evaluator()  # an impossible job is better refused here than by a worker
        self._shared_job = SharedArrays.of(job) if isinstance(job, Job) else job
        self._is_own_job = is_own_job or isinstance(job, Job)
        #: The job on shared arrays; dropping the arrays that it was made of saves their memory.
        self.job: Job = self._shared_job.value
        if self.job.limits.memory is not None and not SUPPORTED:
            raise UserError("a memory limit needs Linux: leave out `memory`, or use a Dask cluster on Linux")
        self._is_own_fork_server = fork_server is None
        self._fork_server = fork_server or ForkServer()
        self._pool = Pool(self._fork_server, self._shared_job, self.workers, self._close)
        self._lock = Lock()
        self._is_shut = False

    def submit(self, task: AnyTask) -> Future[Outcome]:
        with self._lock:
            if self._is_shut:
                raise RuntimeError("the executor is shut down and takes no more tasks")
            return self._pool.add(WorkItem(task, encoded=pickle.dumps(task), modules=frozenset(modules_of(task.model))))

    @property
    def width(self) -> int:
        return self.workers

    def abandon(self, futures: list[Future[Outcome]]) -> None:
        """Ends the worker processes that run them; other tasks of these workers are evaluated elsewhere."""
        super().abandon(futures)
        self._pool.abandon(futures)

    def worker_pids(self) -> list[int]:
        """The current worker processes, for measurements."""
        return [handle.pid for handle in list(self._pool.handles)]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._is_shut = True
        self._pool.finish(cancel_futures)
        if wait:
            self._pool.join()

    def _close(self) -> None:
        if self._is_own_fork_server:
            self._fork_server.close()
        if self._is_own_job:
            self._shared_job.close()


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- The executor that a user names. ----------------------------------------------------------------------------------


def open_executor(job: Job, on: Any = "local", workers: int | None = None) -> Executor:
    """The executor that `on` names: `local`, `inprocess`, a scheduler's address, or a client or cluster of Dask.

    `workers` counts local processes, by default one for each core; a Dask cluster has its own. Third-party code may
    leave anything behind in its process, so that a job with trusted packages runs in a worker even for `inprocess`.
    """
    # Imports are here because not every system has what each of them needs.
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
    """Whether third-party code may run, and can run elsewhere: classes of a notebook exist in this process only."""
    return os.name == "posix" and bool(job.trusted) and all(map(_has_file, job.trusted))


def _has_file(package: str) -> bool:
    return package != "__main__" and getattr(sys.modules.get(package), "__spec__", True) is not None
