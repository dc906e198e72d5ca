"""Watch: the clocks and the memory of workers, held against the limits."""

from __future__ import annotations

import contextlib
import math
import pickle
import selectors
import socket
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from itertools import islice
from threading import Lock, Thread
from time import monotonic

from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.workers.executor import Grouping, WorkerBug
from msl.workers.fork_server import ForkServer, ForkServerError, WorkerEnd
from msl.workers.memory_usage import held_bytes, machine_bytes
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import Job, Limits, failed, foreign_modules, is_limited
from msl.workers.worker import ANSWERS, BROKEN, BUG, Beat
from msl.workers.worker_handle import WorkerHandle, WorkItem

_LOOK = 0.05  # seconds between looks at the memory of workers, or at one that has not begun


class LimitWatch:
    """Condemns workers whose evaluation has passed a limit, and sees to it that they end."""

    def __init__(self, limits: Limits, table_bytes: int) -> None:
        self._limits = limits
        self._table_bytes = table_bytes
        self._is_needed = limits != Limits()

    def look(self, handles: Iterable[WorkerHandle]) -> float | None:
        """The seconds until the next look has to come; None if there is no need for one."""
        soonest = min((self._look_at(handle) for handle in handles), default=math.inf)
        return None if soonest == math.inf else max(soonest, 0.0)

    def _look_at(self, handle: WorkerHandle) -> float:
        if handle.doom is not None:
            return handle.insist()
        if not self._is_needed or handle.is_idle:
            return math.inf
        cutoff = handle.cutoff()
        if cutoff.number not in handle.items:
            return _LOOK
        if not is_limited(handle.items[cutoff.number].task):
            return math.inf
        now, limits = monotonic(), self._limits
        each_left = math.inf if limits.each is None else cutoff.started + limits.each - now
        fit_left = math.inf if limits.fit is None else cutoff.step_started + limits.fit - now
        failure = None
        if each_left <= 0:
            failure = Failure("timeout", limits.each_message(), cutoff.step)
        elif fit_left <= 0:
            failure = Failure("timeout", limits.fit_message(), cutoff.step)
        elif limits.memory is not None and self._added_bytes(handle, cutoff) > limits.memory:
            failure = Failure("memory", limits.memory_message(), cutoff.step)
        if failure is None:
            return min(each_left, fit_left, math.inf if limits.memory is None else _LOOK)
        handle.condemn(cutoff.number, failure)
        return handle.insist()

    def _added_bytes(self, handle: WorkerHandle, cutoff: Beat) -> int:
        """What the evaluation holds for certain.

        The operating system keeps the limit for memory of the process itself. What it shares with others is counted
        here; where temporary files live in memory, the table is among it.
        """
        held = held_bytes(handle.pid)
        return 0 if held is None else held - cutoff.held - self._table_bytes


# --- Keeper: the thread that hands tasks to worker processes, hears their outcomes, and replaces those that die. ------
#
# A worker that dies costs the evaluation that killed it; the mates of its group are evaluated again. That an evaluation
# crashes, or lacks memory, is only believed of a new process that has done nothing else: what ran before in the same
# process never decides about a model. Code from elsewhere may leave anything behind, settings, patches, files that are
# open: each of its evaluations has a new process, which ends with it.
#
# A death may have nothing to do with the evaluation: where other programs have taken all memory, the system kills
# workers first, and so may people. Such signals are told from those of a model's own doing, as by a bad pointer, and
# what they have hit is tried again, after a pause and with nothing beside it, several times before it is believed.


_GROUP_SECONDS = 0.02
_LOOK_AHEAD = 100  # tasks whose modules are imported before a worker starts
#: Workers in a row that die before they begin: then the fault is not a model's. Some of them may be killed by others.
_MOST_BARREN = 20
#: An evaluation whose process is killed by somebody so many times in a row is to blame, whoever does it. All but the
#: first are new processes, and later ones have nothing beside them. That each is hit by chance takes a machine where no
#: process lives for long; code that kills itself is very rare, so that it costs little to try it so often.
_MOST_KILLED = 10
#: With its server an evaluation gets lost less often by chance: the system spares servers where there are workers.
_MOST_LOST = 4
#: One that held more than this share of the machine's memory was rightly chosen to be killed for it, and takes long to
#: get there: it is believed the second time.
_MOST_MEMORY = 0.5
_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds before what was lost is tried again; twice as long with each time
_MOST_BESIDE = 4  # times that it is tried with others beside it


class Pool:
    """All but `add`, `abandon`, `finish` and `join` runs on its own thread."""

    def __init__(self, nursery: ForkServer, job: SharedArrays[Job], workers: int, on_end: Callable[[], None]) -> None:
        self._nursery, self._mapped, self._workers, self._on_end = nursery, job, workers, on_end
        self._n_losses, self._judges_together = len(job.value.objectives), job.value.judges_together
        self.handles: list[WorkerHandle] = []
        self._waiting: deque[WorkItem] = deque()
        self._resting: list[tuple[float, WorkItem]] = []  # and from when on they are to be tried again
        self._grouping = Grouping(_GROUP_SECONDS)
        self._watch = LimitWatch(job.value.limits, job.size)
        self._barren = 0
        self._lock = Lock()  # for the following, which other threads write
        self._new: list[WorkItem] = []
        self._unwanted: set[Future[Outcome]] = set()
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

    def add(self, item: WorkItem) -> Future[Outcome]:
        with self._lock:
            if self._broken is not None:
                raise self._broken
            self._new.append(item)
            is_first = len(self._new) == 1
        if is_first:
            self._ring()
        return item.future

    def abandon(self, futures: Iterable[Future[Outcome]]) -> None:
        """Ends processes that are at one of these; what else they were given is evaluated elsewhere."""
        with self._lock:
            self._unwanted.update(future for future in futures if not future.done())
        self._ring()

    def finish(self, is_cancelled: bool) -> None:
        """Ends when all is done; or at once, if cancelled."""
        with self._lock:
            self._is_finishing = True
            self._is_cancelled |= is_cancelled
        self._ring()

    def join(self) -> None:
        self._thread.join()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # it has rung often enough, or there is nobody left to hear it
            self._bell.send(b"!")

    # --- the loop ---

    def _run(self) -> None:
        try:
            while self._goes_on():
                self._end_unwanted()
                self._hand_out()
                if not self._goes_on():  # what was next had been cancelled, and there is nobody left to wait for
                    break
                for key, _ in self._selector.select(self._patience()):
                    key.data()
        except BaseException as reason:  # whoever waits for an outcome must not wait for ever
            with self._lock:
                self._broken = reason
        finally:
            self._leave()

    def _patience(self) -> float | None:
        """The seconds until there is something to do, though nobody says so."""
        found = [max(when - monotonic(), 0.0) for when, _ in self._resting]
        look = self._watch.look(self.handles)
        return min(found if look is None else [*found, look], default=None)

    def _goes_on(self) -> bool:
        with self._lock:
            self._waiting.extend(self._new)
            self._new.clear()
            is_finishing, is_cancelled = self._is_finishing, self._is_cancelled
        self._wake()
        is_done = not self._waiting and not self._resting and all(handle.is_idle for handle in self.handles)
        return not is_cancelled and not (is_finishing and is_done)

    def _leave(self) -> None:
        for handle in self.handles:
            with contextlib.suppress(ForkServerError):
                handle.end()
        with self._lock:
            reason = self._broken
            self._broken = reason or BrokenExecutor("the executor is shut down")
            at_work = [item for handle in self.handles for item in handle.items.values()]
            left = [*self._waiting, *(item for _, item in self._resting), *self._new, *at_work]
        for item in left:
            item.give_up(reason)
        self._selector.close()
        self._ear.close()
        self._bell.close()
        self._on_end()

    # --- handing out ---

    def _hand_out(self) -> None:
        while self._waiting and self._has_room() and not self._must_wait():
            group = self._next_group()
            try:
                if group:
                    self._handle_for(group[0]).hand(group)
            except BaseException:
                self._waiting.extendleft(reversed(group))  # whoever waits for them has to hear of it
                raise

    def _has_room(self) -> bool:
        return sum(not handle.is_idle for handle in self.handles) < self._workers

    def _must_wait(self) -> bool:
        """Whether a suspect runs, or is next while others run."""
        running = [item for handle in self.handles for item in handle.items.values()]
        return bool(running) and (self._waiting[0].is_suspect or any(item.is_suspect for item in running))

    def _next_group(self) -> list[WorkItem]:
        size = self._grouping.size(len(self._waiting), self._workers)
        group: list[WorkItem] = []
        while self._waiting and len(group) < size:
            if group and (group[0].is_single or self._waiting[0].is_single):
                break
            item = self._waiting.popleft()
            if item.take_up():
                group.append(item)
        return group

    def _handle_for(self, item: WorkItem) -> WorkerHandle:
        """An idle worker or a new one. Code from elsewhere does not take the place of one with full caches."""
        if item.foreign:
            return self._start(item)
        idle = [handle for handle in self.handles if handle.is_idle]
        for handle in idle:
            if handle.is_fresh or not item.is_alone:
                return handle
        if idle and sum(not handle.is_for_one for handle in self.handles) >= self._workers:
            self._dismiss(idle[0])
        return self._start(item)

    def _start(self, first: WorkItem) -> WorkerHandle:
        ahead = frozenset().union(first.modules, *(item.modules for item in islice(self._waiting, _LOOK_AHEAD)))
        modules = ahead - foreign_modules(ahead) | first.foreign
        handle = WorkerHandle(self._nursery, self._mapped.descriptor, modules)
        self.handles.append(handle)
        self._selector.register(handle.connection, selectors.EVENT_READ, lambda: self._hear(handle))
        if handle.end_descriptor is not None:
            self._selector.register(handle.end_descriptor, selectors.EVENT_READ, lambda: self._hear_end(handle))
        return handle

    def _end_unwanted(self) -> None:
        with self._lock:
            unwanted, self._unwanted = self._unwanted, set()
        if not unwanted:
            return
        left = [item for item in [*self._waiting, *(item for _, item in self._resting)] if item.future in unwanted]
        self._waiting = deque(item for item in self._waiting if item.future not in unwanted)
        self._resting = [(when, item) for when, item in self._resting if item.future not in unwanted]
        for item in left:
            item.give_up(None)
        for handle in [one for one in self.handles if any(item.future in unwanted for item in one.items.values())]:
            self._dismiss(handle)
            for item in handle.items.values():
                if item.future in unwanted:
                    item.give_up(None)
                else:
                    self._waiting.appendleft(item)

    def _dismiss(self, handle: WorkerHandle) -> None:
        self._remove(handle)
        handle.end()

    def _remove(self, handle: WorkerHandle) -> None:
        self.handles.remove(handle)
        self._selector.unregister(handle.connection)
        if handle.end_descriptor is not None:
            self._selector.unregister(handle.end_descriptor)

    # --- hearing ---

    def _hear(self, handle: WorkerHandle) -> None:
        if handle not in self.handles:
            return  # another event of the same moment has removed it
        try:
            message = handle.connection.recv_bytes()
            answers, is_spent = pickle.loads(message[1:]) if message[:1] == ANSWERS else ([], False)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._lose(handle)
            return
        if message[:1] == BROKEN:
            raise ForkServerError(f"a worker cannot take up the job: {message[1:].decode()}")
        if message[:1] == BUG:
            raise WorkerBug(message[1:].decode(errors="replace"))
        self._barren = 0
        for number, encoded in answers:
            self._answer(handle, number, encoded)
        if handle.is_idle and (is_spent or handle.is_for_one):
            self._dismiss(handle)

    def _hear_end(self, handle: WorkerHandle) -> None:
        while handle in self.handles and handle.connection.poll():
            self._hear(handle)
        if handle in self.handles:
            self._lose(handle)

    def _answer(self, handle: WorkerHandle, number: int, encoded: bytes) -> None:
        item = handle.items.pop(number)
        try:
            outcome: Outcome = pickle.loads(encoded)
        except Exception as reason:
            message = f"the outcome cannot be read: {type(reason).__name__}: {reason}"
            outcome = failed(self._n_losses, Failure("unpicklable", message))
        self._grouping.learn(outcome.effort.seconds)
        self._conclude(item, outcome, is_certain=handle.has_one_only)

    def _lose(self, handle: WorkerHandle) -> None:
        """A worker has died: the evaluation that it was at is judged, its mates go back to the queue."""
        self._remove(handle)
        cutoff, doom = handle.cutoff(), handle.doom
        ending = handle.end(is_dying=doom is None)
        number = abs(cutoff.number) if doom is None else doom.number
        failure = ending.failure(cutoff.step) if doom is None else replace(doom.failure, peak_memory=ending.peak)
        is_together = self._judges_together and len(handle.items) > 1
        culprit = None if is_together else handle.items.pop(number, None)
        for item in handle.items.values():
            item.is_alone |= is_together
        if culprit is None:
            self._put_back(handle, ending)
            return
        self._waiting.extendleft(reversed(handle.items.values()))
        self._barren = 0
        if doom is None and ending.is_from_outside and not self._is_to_blame(culprit, handle, ending):
            culprit.is_alone = True
            culprit.is_suspect |= culprit.times_lost >= _MOST_BESIDE or not ending.is_known
            pause = min(_PAUSE * 2 ** (culprit.times_lost - 1), _LONGEST_PAUSE)
            self._resting.append((monotonic() + pause, culprit))
            return
        outcome = failed(self._n_losses, failure, Effort(monotonic() - cutoff.started))
        self._conclude(culprit, outcome, is_certain=handle.has_one_only)

    def _put_back(self, handle: WorkerHandle, ending: WorkerEnd) -> None:
        """Nothing was being evaluated, or nobody knows which of several: what was handed out is still to be done."""
        self._barren += bool(handle.items)
        if self._barren > _MOST_BARREN:
            raise ForkServerError(
                f"workers die before they begin: the last one {ending.manner}; "
                "the job cannot be evaluated on this machine as it is now"
            )
        self._waiting.extendleft(reversed(handle.items.values()))

    def _is_to_blame(self, item: WorkItem, handle: WorkerHandle, ending: WorkerEnd) -> bool:
        """Whether it is believed of an evaluation that somebody kills its process because of it."""
        item.times_lost += 1
        if not handle.has_one_only:
            return False
        memory = machine_bytes()
        if memory is not None and ending.peak is not None and ending.peak > _MOST_MEMORY * memory:
            return item.times_lost >= 2
        return item.times_lost >= (_MOST_KILLED if ending.is_known else _MOST_LOST)

    def _wake(self) -> None:
        due = [item for when, item in self._resting if when <= monotonic()]
        self._resting = [(when, item) for when, item in self._resting if item not in due]
        self._waiting.extendleft(due)

    def _conclude(self, item: WorkItem, outcome: Outcome, is_certain: bool) -> None:
        """Hands over an outcome, unless it says something that is only believed of a new process."""
        cause = outcome.failure.cause if outcome.failure is not None else ""
        if cause in ("crash", "exit", "memory") and not is_certain:
            item.is_alone = True
            self._waiting.appendleft(item)
        else:
            item.future.set_result(outcome)
