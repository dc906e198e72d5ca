"""The code of a worker process: a heartbeat that shows what it is doing, and the loop that evaluates tasks."""

from __future__ import annotations

import mmap
import os
import pickle
import resource
import struct
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import monotonic  # the same clock in all processes of a machine

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from msl.evaluate.outcome import Failure, Outcome
from msl.workers.in_process import TaskRunner
from msl.workers.measure_memory import LARGE, Heap, OwnUsage, Usage, peak_bytes
from msl.workers.shared_arrays import mapped_value
from msl.workers.task import AnyTask, Job, Task, failed, is_limited

_NUMBER = struct.Struct("=q")
_BODY = struct.Struct("=dq")
_STEP = struct.Struct("=d")
_LENGTH = struct.Struct("=q")
_BODY_AT = _NUMBER.size
_STEP_AT = _BODY_AT + _BODY.size
_LENGTH_AT = _STEP_AT + _STEP.size
_NAME_AT = _LENGTH_AT + _LENGTH.size
_MOST_NAME = 400


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What a worker is doing: the number of its evaluation (negative once it is over, 0 before the first), when it
    started and how many bytes the process held then; the current block, and when it started."""

    number: int
    started: float
    held: int
    step: str
    step_started: float


class Heartbeat:
    """A memory page that a worker writes and the pool reads, also after the worker has died.

    There is no lock: the number is written last and read first.
    """

    def __init__(self, descriptor: int) -> None:
        os.ftruncate(descriptor, mmap.PAGESIZE)
        self._page = mmap.mmap(descriptor, mmap.PAGESIZE)

    def begin(self, number: int, held: int) -> None:
        """Records that an evaluation starts. Numbers count from 1."""
        self.step("")
        _BODY.pack_into(self._page, _BODY_AT, monotonic(), held)
        _NUMBER.pack_into(self._page, 0, number)

    def step(self, name: str) -> None:
        """Records which block runs from now on."""
        encoded = name.encode()[:_MOST_NAME]
        _STEP.pack_into(self._page, _STEP_AT, monotonic())
        self._page[_NAME_AT : _NAME_AT + len(encoded)] = encoded
        _LENGTH.pack_into(self._page, _LENGTH_AT, len(encoded))

    def end(self, number: int) -> None:
        """Records that the evaluation is over."""
        _NUMBER.pack_into(self._page, 0, -number)

    def read(self) -> WorkerState:
        (number,) = _NUMBER.unpack_from(self._page, 0)
        started, held = _BODY.unpack_from(self._page, _BODY_AT)
        (step_started,) = _STEP.unpack_from(self._page, _STEP_AT)
        (length,) = _LENGTH.unpack_from(self._page, _LENGTH_AT)
        name = self._page[_NAME_AT : _NAME_AT + length].decode(errors="replace")
        return WorkerState(number, started, held, name, step_started)

    def close(self) -> None:
        self._page.close()


# --- The worker, with limits that the operating system enforces. ------------------------------------------------------


#: The first byte of a message from a worker.
ANSWERS, BROKEN, BUG = b"A", b"B", b"X"
_PATIENCE = 0.05  # seconds that an outcome waits at most for others before it is sent


def work(connection_descriptor: int, heartbeat_descriptor: int, job_descriptor: int) -> None:
    """Evaluates groups of tasks until the connection is closed."""
    with Connection(connection_descriptor) as connection:
        try:
            worker = _Worker(mapped_value(job_descriptor), Heartbeat(heartbeat_descriptor))
        except Exception as reason:
            connection.send_bytes(BROKEN + f"{type(reason).__name__}: {reason}".encode())
            return
        while True:
            try:
                group: list[tuple[int, bytes]] = pickle.loads(connection.recv_bytes())
            except EOFError:
                return
            try:
                worker.serve(group, connection)
            except Exception:
                connection.send_bytes(BUG + traceback.format_exc().encode())
                return
            worker.tidy()


class _Worker:
    def __init__(self, job: Job, heartbeat: Heartbeat) -> None:
        self._job, self._heartbeat = job, heartbeat
        self._runner = TaskRunner(job, heartbeat.step)
        self._hard_limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
        self._usage = OwnUsage()
        self._first_held = self._tidied_held = self._now().held
        self._has_lacked_memory = False
        self._heap = Heap()
        if job.threads != 1:  # one thread is set in the environment; finding all libraries takes a while
            threadpool_limits(job.threads)

    def serve(self, group: list[tuple[int, bytes]], connection: Connection) -> None:
        """Evaluates a group and sends outcomes in packets. Unsent ones of a worker that dies are evaluated again."""
        tasks = [(number, pickle.loads(task)) for number, task in group]
        if self._job.evaluates_together and len(tasks) > 1 and (answers := self._evaluate_together(tasks)):
            self._send(answers, connection)
            return
        ready: list[tuple[int, bytes]] = []
        sent = monotonic()
        for place, (number, task) in enumerate(tasks, 1):
            ready.append((number, self._evaluate(number, task)))
            if place == len(group) or monotonic() - sent > _PATIENCE:
                self._send(ready, connection)
                ready, sent = [], monotonic()

    def tidy(self) -> None:
        """Returns memory that evaluations on many rows have freed to the system; the allocator would keep it."""
        if self._now().held - self._tidied_held > LARGE:
            self._heap.trim()
            self._tidied_held = self._now().held

    def _now(self) -> Usage:
        return self._usage.now() or Usage(0, 0)

    def _send(self, answers: list[tuple[int, bytes]], connection: Connection) -> None:
        connection.send_bytes(ANSWERS + pickle.dumps((answers, self._is_spent())))

    def _evaluate(self, number: int, task: AnyTask) -> bytes:
        with self._limited(number, has_limits=is_limited(task)):
            return self._encoded(self._runner.run(task))

    def _evaluate_together(self, tasks: list[tuple[int, Task]]) -> list[tuple[int, bytes]]:
        """The outcomes; none, if the tasks have to be evaluated one by one."""
        with self._limited(tasks[0][0]):
            outcomes = self._runner.run_together([task for _, task in tasks]) or []
            return [(number, self._encoded(outcome)) for (number, _), outcome in zip(tasks, outcomes, strict=False)]

    @contextmanager
    def _limited(self, number: int, has_limits: bool = True) -> Iterator[None]:
        self._usage.forget_peak()
        before = self._now()
        self._heartbeat.begin(number, before.held)
        if has_limits:
            self._bound_memory(before)
        try:
            yield
        finally:
            if self._job.limits.memory is not None:
                resource.setrlimit(resource.RLIMIT_DATA, (self._hard_limit, self._hard_limit))
            self._heartbeat.end(number)

    def _bound_memory(self, before: Usage) -> None:
        """Makes allocations beyond the limit fail: in Python with a MemoryError."""
        if self._job.limits.memory is not None and before.reserved:
            most = before.reserved + self._job.limits.memory
            if self._hard_limit == resource.RLIM_INFINITY or most < self._hard_limit:
                resource.setrlimit(resource.RLIMIT_DATA, (most, self._hard_limit))

    def _is_spent(self) -> bool:
        """Whether the process has kept, or may have kept, more memory than one evaluation may take, caches aside."""
        limit = self._job.limits.memory
        grown = self._now().held - self._first_held
        return self._has_lacked_memory or (limit is not None and grown > limit + self._job.cache_bytes)

    def _encoded(self, outcome: Outcome) -> bytes:
        self._has_lacked_memory |= outcome.failure is not None and outcome.failure.cause == "memory"
        try:
            return pickle.dumps(outcome)
        except Exception as reason:
            message = f"the outcome cannot be sent: {type(reason).__name__}: {reason}"
            failure = Failure("unpicklable", message, self._heartbeat.read().step, peak_bytes())
            return pickle.dumps(failed(len(outcome.losses), failure, outcome.effort))
