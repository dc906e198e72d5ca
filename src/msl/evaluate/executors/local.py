"""Local processes: evaluations in workers of this machine, killed for real when they pass a limit."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import Future
from threading import Lock

from msl.evaluate.executors.executor import Executor
from msl.evaluate.executors.handle import Item
from msl.evaluate.executors.keeper import Keeper
from msl.evaluate.executors.mapped import Mapped
from msl.evaluate.executors.nursery import Nursery
from msl.evaluate.executors.task import AnyTask, Job, modules_of
from msl.evaluate.executors.usage import SUPPORTED
from msl.evaluate.outcome import Outcome


class LocalExecutor(Executor):
    """Workers on this machine, started when there is work for them.

    They say nothing on the terminal, and have one thread of BLAS and OpenMP each unless the job says otherwise. The
    table is in their memory once, not once for each. All processes end with this one, even if it is killed.
    """

    def __init__(
        self,
        job: Job | Mapped[Job],
        workers: int | None = None,
        nursery: Nursery | None = None,
        *,
        is_own_job: bool = False,
    ) -> None:
        """`workers` is by default the number of cores.

        A nursery that is given is left open in the end, and so is a mapped job unless it is the executor's own.
        """
        self.workers = available_cores() if workers is None else workers
        if self.workers < 1:
            raise ValueError(f"`workers` must be at least 1, not {workers}")
        if isinstance(job, Job):
            job.evaluator()  # what the job cannot do is better said here than by a worker
        self._mapped = Mapped.of(job) if isinstance(job, Job) else job
        self._is_own_job = is_own_job or isinstance(job, Job)
        #: The job on mapped arrays; whoever drops the arrays it was made of saves their memory.
        self.job: Job = self._mapped.value
        if self.job.limits.memory is not None and not SUPPORTED:
            raise ValueError("a memory limit needs Linux: leave out `memory`, or use a Dask cluster on Linux")
        self._is_own_nursery = nursery is None
        self._nursery = nursery or Nursery()
        self._keeper = Keeper(self._nursery, self._mapped, self.workers, self._close)
        self._lock = Lock()
        self._is_shut = False

    def submit(self, task: AnyTask) -> Future[Outcome]:
        with self._lock:
            if self._is_shut:
                raise RuntimeError("the executor is shut down and takes no more tasks")
            return self._keeper.add(Item(task, encoded=pickle.dumps(task), modules=frozenset(modules_of(task.model))))

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
