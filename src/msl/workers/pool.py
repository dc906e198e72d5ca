"""Distribute tasks over worker processes, enforce limits on time and memory, and replace workers that die."""

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
from msl.workers.measure_memory import held_bytes, machine_bytes
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import Job, Limits, failed, foreign_modules, is_limited
from msl.workers.worker import ANSWERS, BROKEN, BUG, WorkerState
from msl.workers.worker_handle import WorkerHandle, WorkItem

_POLL_SECONDS = 0.05  # between looks at the memory of workers, or at one that has not begun


class LimitWatch:
    """Terminates workers whose evaluation has exceeded a limit."""

    def __init__(self, limits: Limits, table_bytes: int) -> None:
        self._limits = limits
        self._table_bytes = table_bytes
        self._is_needed = limits != Limits()

    def look(self, handles: Iterable[WorkerHandle]) -> float | None:
        """The seconds until it has to be called again; None if that is not needed."""
        soonest = min((self._look_at(handle) for handle in handles), default=math.inf)
        return None if soonest == math.inf else max(soonest, 0.0)

    def _look_at(self, handle: WorkerHandle) -> float:
        if handle.termination is not None:
            return handle.kill_if_due()
        if not self._is_needed or handle.is_idle:
            return math.inf
        state = handle.state()
        if state.number not in handle.items:
            return _POLL_SECONDS
        if not is_limited(handle.items[state.number].task):
            return math.inf
        now, limits = monotonic(), self._limits
        each_left = math.inf if limits.each is None else state.started + limits.each - now
        fit_left = math.inf if limits.fit is None else state.step_started + limits.fit - now
        failure = None
        if each_left <= 0:
            failure = Failure("timeout", limits.each_message(), state.step)
        elif fit_left <= 0:
            failure = Failure("timeout", limits.fit_message(), state.step)
        elif limits.memory is not None and self._added_bytes(handle, state) > limits.memory:
            failure = Failure("memory", limits.memory_message(), state.step)
        if failure is None:
            return min(each_left, fit_left, math.inf if limits.memory is None else _POLL_SECONDS)
        handle.terminate(state.number, failure)
        return handle.kill_if_due()

    def _added_bytes(self, handle: WorkerHandle, state: WorkerState) -> int:
        """A lower bound of the memory that the evaluation has added.

        The operating system enforces the limit for private memory. Shared memory is counted here; where temporary
        files are kept in memory, it includes the table.
        """
        held = held_bytes(handle.pid)
        return 0 if held is None else held - state.held - self._table_bytes


# --- The pool. --------------------------------------------------------------------------------------------------------
#
# When a worker dies, the evaluation that it was running fails; the others of its group are evaluated again. A crash or
# a lack of memory only counts if it happens in a new process that has done nothing else: what ran before in the same
# process never decides about a model. Third-party code may leave anything behind (settings, patches, open files): each
# of its evaluations has a process of its own.
#
# A death may have nothing to do with the evaluation: where other programs have taken all memory, the system kills
# workers first, and people may kill them too. Such signals are distinguished from those that a model causes itself, as
# by a bad pointer. The evaluation is repeated after a pause, later with nothing else running, and only fails after
# several deaths.


_GROUP_SECONDS = 0.02
_LOOK_AHEAD = 100  # tasks whose modules are imported before a worker starts
#: Workers in a row that may die before they begin. More than these cannot be the fault of a model, or chance.
_MOST_EARLY_DEATHS = 20
#: An evaluation whose process is killed so many times in a row is blamed for it. All but the first are new processes,
#: and later ones run alone. Code that kills itself is very rare, so that so many attempts cost little.
_MOST_KILLED = 10
#: The same for deaths together with the fork server, which are rarer: the system kills workers before it.
_MOST_LOST = 4
#: One that held more than this share of the machine's memory was probably killed for it, and takes long to repeat: it
#: is blamed the second time.
_MOST_MEMORY = 0.5
_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds before a repetition, doubled each time
_MOST_WITH_OTHERS = 4  # repetitions while others run beside it


class Pool:
    """Hands tasks to workers. All but `add`, `abandon`, `finish` and `join` runs on a thread of its own."""

    def __init__(
        self, fork_server: ForkServer, job: SharedArrays[Job], workers: int, on_end: Callable[[], None]
    ) -> None:
        self._fork_server, self._shared_job, self._workers, self._on_end = fork_server, job, workers, on_end
        self._n_losses, self._evaluates_together = len(job.value.objectives), job.value.evaluates_together
        self.handles: list[WorkerHandle] = []
        self._waiting: deque[WorkItem] = deque()
        self._delayed: list[tuple[float, WorkItem]] = []  # with the time at which each is repeated
        self._grouping = Grouping(_GROUP_SECONDS)
        self._watch = LimitWatch(job.value.limits, job.size)
        self._early_deaths = 0
        self._lock = Lock()  # guards the following, which other threads write
        self._new: list[WorkItem] = []
        self._unwanted: set[Future[Outcome]] = set()
        self._is_finishing = self._is_cancelled = False
        self._broken: BaseException | None = None
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._wake_sender.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake_receiver, selectors.EVENT_READ, lambda: self._wake_receiver.recv(4096))
        # A daemon, so that forgetting `shutdown` does not keep the interpreter from ending; workers end with it.
        self._thread = Thread(target=self._run, name="msl-pool", daemon=True)
        self._thread.start()

    # --- called by other threads ---

    def add(self, item: WorkItem) -> Future[Outcome]:
        with self._lock:
            if self._broken is not None:
                raise self._broken
            self._new.append(item)
            is_first = len(self._new) == 1
        if is_first:
            self._wake_up()
        return item.future

    def abandon(self, futures: Iterable[Future[Outcome]]) -> None:
        """Ends the workers that run these; their other tasks are evaluated elsewhere."""
        with self._lock:
            self._unwanted.update(future for future in futures if not future.done())
        self._wake_up()

    def finish(self, is_cancelled: bool) -> None:
        """Ends the pool when all is done; at once, if cancelled."""
        with self._lock:
            self._is_finishing = True
            self._is_cancelled |= is_cancelled
        self._wake_up()

    def join(self) -> None:
        self._thread.join()

    def _wake_up(self) -> None:
        with contextlib.suppress(OSError):  # the buffer is full, or the thread has ended
            self._wake_sender.send(b"!")

    # --- the loop ---

    def _run(self) -> None:
        try:
            while self._is_running():
                self._end_unwanted()
                self._hand_out()
                if not self._is_running():  # the next tasks were cancelled, and nothing else runs
                    break
                for key, _ in self._selector.select(self._timeout()):
                    key.data()
        except BaseException as reason:  # futures must not stay pending for ever
            with self._lock:
                self._broken = reason
        finally:
            self._shut_down()

    def _timeout(self) -> float | None:
        """The seconds until there is something to do even if no event arrives."""
        found = [max(when - monotonic(), 0.0) for when, _ in self._delayed]
        look = self._watch.look(self.handles)
        return min(found if look is None else [*found, look], default=None)

    def _is_running(self) -> bool:
        with self._lock:
            self._waiting.extend(self._new)
            self._new.clear()
            is_finishing, is_cancelled = self._is_finishing, self._is_cancelled
        self._requeue_due()
        is_done = not self._waiting and not self._delayed and all(handle.is_idle for handle in self.handles)
        return not is_cancelled and not (is_finishing and is_done)

    def _shut_down(self) -> None:
        for handle in self.handles:
            with contextlib.suppress(ForkServerError):
                handle.end()
        with self._lock:
            reason = self._broken
            self._broken = reason or BrokenExecutor("the executor is shut down")
            at_work = [item for handle in self.handles for item in handle.items.values()]
            left = [*self._waiting, *(item for _, item in self._delayed), *self._new, *at_work]
        for item in left:
            item.give_up(reason)
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()
        self._on_end()

    # --- handing out ---

    def _hand_out(self) -> None:
        while self._waiting and self._has_room() and not self._must_wait():
            group = self._next_group()
            try:
                if group:
                    self._handle_for(group[0]).hand(group)
            except BaseException:
                self._waiting.extendleft(reversed(group))  # their futures get the exception
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
        """An idle worker or a new one. Third-party code does not replace a worker with full caches."""
        if item.foreign:
            return self._start(item)
        idle = [handle for handle in self.handles if handle.is_idle]
        for handle in idle:
            if handle.is_fresh or not item.is_alone:
                return handle
        if idle and sum(not handle.is_single_use for handle in self.handles) >= self._workers:
            self._end_worker(idle[0])
        return self._start(item)

    def _start(self, first: WorkItem) -> WorkerHandle:
        ahead = frozenset().union(first.modules, *(item.modules for item in islice(self._waiting, _LOOK_AHEAD)))
        modules = ahead - foreign_modules(ahead) | first.foreign
        handle = WorkerHandle(self._fork_server, self._shared_job.descriptor, modules)
        self.handles.append(handle)
        self._selector.register(handle.connection, selectors.EVENT_READ, lambda: self._receive(handle))
        if handle.end_descriptor is not None:
            self._selector.register(handle.end_descriptor, selectors.EVENT_READ, lambda: self._on_end_of_worker(handle))
        return handle

    def _end_unwanted(self) -> None:
        with self._lock:
            unwanted, self._unwanted = self._unwanted, set()
        if not unwanted:
            return
        left = [item for item in [*self._waiting, *(item for _, item in self._delayed)] if item.future in unwanted]
        self._waiting = deque(item for item in self._waiting if item.future not in unwanted)
        self._delayed = [(when, item) for when, item in self._delayed if item.future not in unwanted]
        for item in left:
            item.give_up(None)
        for handle in [one for one in self.handles if any(item.future in unwanted for item in one.items.values())]:
            self._end_worker(handle)
            for item in handle.items.values():
                if item.future in unwanted:
                    item.give_up(None)
                else:
                    self._waiting.appendleft(item)

    def _end_worker(self, handle: WorkerHandle) -> None:
        self._remove(handle)
        handle.end()

    def _remove(self, handle: WorkerHandle) -> None:
        self.handles.remove(handle)
        self._selector.unregister(handle.connection)
        if handle.end_descriptor is not None:
            self._selector.unregister(handle.end_descriptor)

    # --- receiving ---

    def _receive(self, handle: WorkerHandle) -> None:
        if handle not in self.handles:
            return  # another event of the same round has removed it
        try:
            message = handle.connection.recv_bytes()
            answers, is_spent = pickle.loads(message[1:]) if message[:1] == ANSWERS else ([], False)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._on_lost_worker(handle)
            return
        if message[:1] == BROKEN:
            raise ForkServerError(f"a worker cannot take up the job: {message[1:].decode()}")
        if message[:1] == BUG:
            raise WorkerBug(message[1:].decode(errors="replace"))
        self._early_deaths = 0
        for number, encoded in answers:
            self._answer(handle, number, encoded)
        if handle.is_idle and (is_spent or handle.is_single_use):
            self._end_worker(handle)

    def _on_end_of_worker(self, handle: WorkerHandle) -> None:
        while handle in self.handles and handle.connection.poll():
            self._receive(handle)
        if handle in self.handles:
            self._on_lost_worker(handle)

    def _answer(self, handle: WorkerHandle, number: int, encoded: bytes) -> None:
        item = handle.items.pop(number)
        try:
            outcome: Outcome = pickle.loads(encoded)
        except Exception as reason:
            message = f"the outcome cannot be read: {type(reason).__name__}: {reason}"
            outcome = failed(self._n_losses, Failure("unpicklable", message))
        self._grouping.learn(outcome.effort.seconds)
        self._conclude(item, outcome, is_certain=handle.had_single_task)

    def _on_lost_worker(self, handle: WorkerHandle) -> None:
        """A worker has died: decides about the evaluation that it was running; the others go back to the queue."""
        self._remove(handle)
        state, termination = handle.state(), handle.termination
        ending = handle.end(is_dying=termination is None)
        number = abs(state.number) if termination is None else termination.number
        failure = (
            ending.failure(state.step) if termination is None else replace(termination.failure, peak_memory=ending.peak)
        )
        is_together = self._evaluates_together and len(handle.items) > 1
        culprit = None if is_together else handle.items.pop(number, None)
        for item in handle.items.values():
            item.is_alone |= is_together
        if culprit is None:
            self._requeue(handle, ending)
            return
        self._waiting.extendleft(reversed(handle.items.values()))
        self._early_deaths = 0
        if termination is None and ending.is_from_outside and not self._is_to_blame(culprit, handle, ending):
            culprit.is_alone = True
            culprit.is_suspect |= culprit.times_lost >= _MOST_WITH_OTHERS or not ending.is_known
            pause = min(_PAUSE * 2 ** (culprit.times_lost - 1), _LONGEST_PAUSE)
            self._delayed.append((monotonic() + pause, culprit))
            return
        outcome = failed(self._n_losses, failure, Effort(monotonic() - state.started))
        self._conclude(culprit, outcome, is_certain=handle.had_single_task)

    def _requeue(self, handle: WorkerHandle, ending: WorkerEnd) -> None:
        """Puts all tasks of a worker back: nothing was being evaluated, or it is unknown which one."""
        self._early_deaths += bool(handle.items)
        if self._early_deaths > _MOST_EARLY_DEATHS:
            raise ForkServerError(
                f"workers die before they begin: the last one {ending.manner}; "
                "the job cannot be evaluated on this machine as it is now"
            )
        self._waiting.extendleft(reversed(handle.items.values()))

    def _is_to_blame(self, item: WorkItem, handle: WorkerHandle, ending: WorkerEnd) -> bool:
        """Whether an evaluation is blamed for the death of its process."""
        item.times_lost += 1
        if not handle.had_single_task:
            return False
        memory = machine_bytes()
        if memory is not None and ending.peak is not None and ending.peak > _MOST_MEMORY * memory:
            return item.times_lost >= 2
        return item.times_lost >= (_MOST_KILLED if ending.is_known else _MOST_LOST)

    def _requeue_due(self) -> None:
        due = [item for when, item in self._delayed if when <= monotonic()]
        self._delayed = [(when, item) for when, item in self._delayed if item not in due]
        self._waiting.extendleft(due)

    def _conclude(self, item: WorkItem, outcome: Outcome, is_certain: bool) -> None:
        """Sets the outcome, unless it is a failure that only counts in a new process."""
        cause = outcome.failure.cause if outcome.failure is not None else ""
        if cause in ("crash", "exit", "memory") and not is_certain:
            item.is_alone = True
            self._waiting.appendleft(item)
        else:
            item.future.set_result(outcome)
