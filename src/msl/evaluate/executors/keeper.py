"""Keeper: the thread that hands tasks to worker processes, hears their outcomes, and replaces those that die.

A worker that dies costs the evaluation that killed it; the mates of its group are evaluated again. That an evaluation
crashes, or lacks memory, is only believed of a new process that has done nothing else: what ran before in the same
process never decides about a model.
"""

from __future__ import annotations

import contextlib
import pickle
import selectors
import socket
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from itertools import islice
from threading import Event, Lock, Thread
from time import monotonic

from msl.evaluate.executors.grouping import Grouping
from msl.evaluate.executors.handle import Handle, Item
from msl.evaluate.executors.mapped import Mapped
from msl.evaluate.executors.nursery import Nursery, NurseryError
from msl.evaluate.executors.task import Job, failed, is_limited, modules_of
from msl.evaluate.executors.watch import Watch
from msl.evaluate.executors.worker import BROKEN
from msl.evaluate.outcome import Effort, Failure, Outcome

_GROUP_SECONDS = 0.02
_LOOK_AHEAD = 100  # tasks whose modules are imported before a worker starts
_MOST_BARREN = 5  # workers in a row that die before they begin: then the fault is not a model's


class Keeper:
    """All but `add`, `finish` and `join` runs on its own thread."""

    def __init__(self, nursery: Nursery, job: Mapped[Job], workers: int, on_end: Callable[[], None]) -> None:
        self._nursery, self._mapped, self._workers, self._on_end = nursery, job, workers, on_end
        self._n_losses, self._judges_together = len(job.value.objectives), job.value.judges_together
        self.handles: list[Handle] = []
        self._waiting: deque[Item] = deque()
        self._grouping = Grouping(_GROUP_SECONDS)
        self._watch = Watch(job.value.limits, job.size)
        self._barren = 0
        self._lock = Lock()  # for the following, which other threads write
        self._new: list[Item] = []
        self._abandoning: list[Event] = []
        self._is_finishing = self._is_cancelled = False
        self._broken: BaseException | None = None
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._ear, selectors.EVENT_READ, lambda: self._ear.recv(4096))
        # A daemon, so that forgetting `shutdown` does not keep the interpreter from ending; workers end with it.
        self._thread = Thread(target=self._run, name="msl-keeper", daemon=True)
        self._thread.start()

    # --- called by other threads ---

    def add(self, item: Item) -> Future[Outcome]:
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(str(self._broken)) from self._broken
            self._new.append(item)
            is_first = len(self._new) == 1
        if is_first:
            self._ring()
        return item.future

    def finish(self, is_cancelled: bool) -> None:
        """Ends when all is done; or at once, if cancelled."""
        with self._lock:
            self._is_finishing = True
            self._is_cancelled |= is_cancelled
        self._ring()

    def abandon(self) -> None:
        """Cancels what waits and ends the workers that are at something; what is added afterwards is not meant."""
        is_done = Event()
        with self._lock:
            self._abandoning.append(is_done)
        self._ring()
        while not is_done.wait(0.1) and self._thread.is_alive():
            pass

    def join(self) -> None:
        self._thread.join()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # it has rung often enough, or there is nobody left to hear it
            self._bell.send(b"!")

    # --- the loop ---

    def _run(self) -> None:
        try:
            while self._goes_on():
                self._hand_out()
                if not self._goes_on():  # what was next had been cancelled, and there is nobody left to wait for
                    break
                for key, _ in self._selector.select(self._watch.look(self.handles)):
                    key.data()
        except BaseException as reason:  # whoever waits for an outcome must not wait for ever
            with self._lock:
                self._broken = reason
        finally:
            self._leave()

    def _goes_on(self) -> bool:
        with self._lock:
            self._waiting.extend(self._new)
            self._new.clear()
            is_finishing, is_cancelled = self._is_finishing, self._is_cancelled
            abandoning, self._abandoning = self._abandoning, []
        if abandoning:
            self._give_up_all()
        for each in abandoning:
            each.set()
        is_done = not self._waiting and all(handle.is_idle for handle in self.handles)
        return not is_cancelled and not (is_finishing and is_done)

    def _give_up_all(self) -> None:
        left = list(self._waiting)
        self._waiting.clear()
        for handle in [handle for handle in self.handles if not handle.is_idle]:
            left += handle.items.values()
            self._dismiss(handle)
        for item in left:
            item.give_up(None)

    def _leave(self) -> None:
        for handle in self.handles:
            with contextlib.suppress(NurseryError):
                handle.end()
        with self._lock:
            reason = self._broken
            self._broken = reason or BrokenExecutor("the executor is shut down")
            left = [*self._waiting, *self._new, *(item for handle in self.handles for item in handle.items.values())]
        for item in left:
            item.give_up(reason)
        self._selector.close()
        self._ear.close()
        self._bell.close()
        self._on_end()

    # --- handing out ---

    def _hand_out(self) -> None:
        while self._waiting and not self._must_wait():
            handle = self._free_handle(must_be_fresh=self._waiting[0].is_alone)
            if handle is None:
                return
            if group := self._next_group():
                handle.hand(group)

    def _must_wait(self) -> bool:
        """Whether a suspect runs, or is next while others run."""
        running = [item for handle in self.handles for item in handle.items.values()]
        return bool(running) and (self._waiting[0].is_suspect or any(item.is_suspect for item in running))

    def _free_handle(self, must_be_fresh: bool) -> Handle | None:
        idle = [handle for handle in self.handles if handle.is_idle]
        for handle in idle:
            if handle.is_fresh or not must_be_fresh:
                return handle
        if len(self.handles) >= self._workers:
            if not idle:
                return None
            self._dismiss(idle[0])
        return self._start()

    def _start(self) -> Handle:
        next_ones = islice(self._waiting, _LOOK_AHEAD)
        self._nursery.prepare({module for item in next_ones for module in modules_of(item.task.model)})
        handle = Handle(self._nursery, self._mapped.descriptor)
        self.handles.append(handle)
        self._selector.register(handle.connection, selectors.EVENT_READ, lambda: self._hear(handle))
        if handle.end_descriptor is not None:
            self._selector.register(handle.end_descriptor, selectors.EVENT_READ, lambda: self._hear_end(handle))
        return handle

    def _next_group(self) -> list[Item]:
        size = 1 if self._is_single(self._waiting[0]) else self._grouping.size(len(self._waiting), self._workers)
        group: list[Item] = []
        while self._waiting and len(group) < size and not (group and self._is_single(self._waiting[0])):
            item = self._waiting.popleft()
            if item.take_up():
                group.append(item)
        return group

    @staticmethod
    def _is_single(item: Item) -> bool:
        """Whether it travels without mates: what a run asks of its last models takes long enough by itself."""
        return item.is_alone or not is_limited(item.task)

    def _dismiss(self, handle: Handle) -> None:
        self._remove(handle)
        handle.end()

    def _remove(self, handle: Handle) -> None:
        self.handles.remove(handle)
        self._selector.unregister(handle.connection)
        if handle.end_descriptor is not None:
            self._selector.unregister(handle.end_descriptor)

    # --- hearing ---

    def _hear(self, handle: Handle) -> None:
        if handle not in self.handles:
            return  # another event of the same moment has removed it
        try:
            message = handle.connection.recv_bytes()
            answers, is_spent = ([], False) if message[:1] == BROKEN else pickle.loads(message[1:])
        except (EOFError, OSError, pickle.UnpicklingError):
            self._lose(handle)
            return
        if message[:1] == BROKEN:
            raise NurseryError(f"a worker cannot take up the job: {message[1:].decode()}")
        self._barren = 0
        for number, encoded in answers:
            self._answer(handle, number, encoded)
        if is_spent and handle.is_idle:
            self._dismiss(handle)

    def _hear_end(self, handle: Handle) -> None:
        while handle in self.handles and handle.connection.poll():
            self._hear(handle)
        if handle in self.handles:
            self._lose(handle)

    def _answer(self, handle: Handle, number: int, encoded: bytes) -> None:
        item = handle.items.pop(number)
        try:
            outcome: Outcome = pickle.loads(encoded)
        except Exception as reason:
            message = f"the outcome cannot be read: {type(reason).__name__}: {reason}"
            outcome = failed(self._n_losses, Failure("unpicklable", message))
        self._grouping.learn(outcome.effort.seconds)
        self._conclude(item, outcome, is_certain=handle.has_one_only)

    def _lose(self, handle: Handle) -> None:
        """A worker has died: the evaluation that it was at is judged, its mates go back to the queue."""
        self._remove(handle)
        beat, doom = handle.beat(), handle.doom
        ending = handle.end(is_dying=doom is None)
        number = abs(beat.number) if doom is None else doom.number
        failure = ending.failure(beat.step) if doom is None else replace(doom.failure, peak_memory=ending.peak)
        is_together = self._judges_together and len(handle.items) > 1
        culprit = None if is_together else handle.items.pop(number, None)
        for item in handle.items.values():
            item.is_alone |= is_together
        self._waiting.extendleft(reversed(handle.items.values()))
        if culprit is None:
            self._count_barren(handle)
            return
        self._barren = 0
        if not ending.is_known and not culprit.is_suspect:
            culprit.is_alone = culprit.is_suspect = True
            self._waiting.appendleft(culprit)
            return
        outcome = failed(self._n_losses, failure, Effort(monotonic() - beat.started))
        self._conclude(culprit, outcome, is_certain=handle.has_one_only)

    def _count_barren(self, handle: Handle) -> None:
        self._barren += bool(handle.items)
        if self._barren > _MOST_BARREN:
            raise NurseryError("workers die before they begin; the job cannot be evaluated on this machine")

    def _conclude(self, item: Item, outcome: Outcome, is_certain: bool) -> None:
        """Hands over an outcome, unless it says something that is only believed of a new process."""
        cause = outcome.failure.cause if outcome.failure is not None else ""
        if cause in ("crash", "exit", "memory") and not is_certain:
            item.is_alone = True
            self._waiting.appendleft(item)
        else:
            item.future.set_result(outcome)
