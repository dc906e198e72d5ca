"""Dask: evaluations on the machines of a dask.distributed cluster, within the same limits.

The job travels once to each worker of the cluster, where a site is opened: local processes, which can be killed. What a
lost worker was at is repeated by the scheduler; what the scheduler gives up on is submitted again.
"""

from __future__ import annotations

import contextlib
import pickle
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass
from threading import Condition, Event, Thread
from typing import Any

from msl.diagnostics.user_error import UserError
from msl.evaluate.outcome import Failure, Outcome
from msl.workers.dask_address import Scheduler
from msl.workers.executor import Executor, Grouping, PendingTask, WorkerBug, WorkersLost
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import AnyTask, Job, failed

try:
    import distributed

    from msl.workers import dask_worker
except ModuleNotFoundError as missing:
    raise UserError(
        f"running on Dask needs the package `{missing.name}`: install it with `pip install 'msl-lang[dask]'`"
    ) from missing

_GROUP_SECONDS = 0.1
_LOOK = 2.0  # seconds between looks at who is in the cluster
_QUEUE = 2  # groups for each thread of the cluster: one at work, one at hand
_MOST_LOST = 3  # times that an evaluation gets lost
_MOST_UNOPENED = 10  # sites in a row that get lost before they are open
_Lost = (distributed.KilledWorker, CancelledError)


class ClusterUnreachable(UserError, ConnectionError):
    """A Dask cluster that does not answer, or takes no work."""


@dataclass(slots=True, eq=False)
class _Item(PendingTask):
    times_lost: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Items that are evaluated together, Dask's future of them, and the workers that were open when it was sent."""

    items: list[_Item]
    sent: Any
    places: list[str]


class DaskExecutor(Executor):
    """A cluster, given by the address of its scheduler, or as a client or a cluster object of dask.distributed."""

    def __init__(self, job: Job, on: Any, patience: float = 30.0) -> None:
        """`patience` is how many seconds to wait for the scheduler, and then for its first worker."""
        job.evaluator()  # what the job cannot do is better said here than by a worker
        self._client, self._is_own_client = _connect(on, patience)
        self._mapped = SharedArrays.of(job)
        self.job: Job = self._mapped.value
        self._id = uuid.uuid4().hex
        self._grouping = Grouping(_GROUP_SECONDS)
        self._state = Condition()  # for all that follows, which the caller's threads and Dask's change
        self._waiting: deque[_Item] = deque()
        self._running: dict[str, _Group] = {}
        self._leases: dict[str, Any] = {}
        self._threads: dict[str, int] = {}
        self._times_unopened = self._being_taken = 0
        self._sent_job: Any = None
        self._broken: BrokenExecutor | None = None
        self._is_shut = self._is_closing = self._is_closed = False
        self._end = Event()
        try:
            self._client.wait_for_workers(1, timeout=patience)
            self._send_job()
            self._look()
        except Exception as reason:
            self._close()
            message = f"the Dask cluster takes no work: {reason or type(reason).__name__}"
            raise ClusterUnreachable(message, "look at its scheduler and its workers") from reason
        Thread(target=self._look_again, name="msl-dask", daemon=True).start()

    def submit(self, task: AnyTask) -> Future[Outcome]:
        item = _Item(task)
        with self._state:
            if self._broken is not None:
                raise self._broken
            if self._is_shut:
                raise RuntimeError("the executor is shut down and takes no more tasks")
            self._waiting.append(item)
            self._feed()
        return item.future

    @property
    def width(self) -> int:
        with self._state:
            return max(1, sum(self._threads.values()))

    def abandon(self, futures: list[Future[Outcome]]) -> None:
        super().abandon(futures)
        unwanted = set(futures)
        with self._state:
            left = [
                (key, group)
                for key, group in self._running.items()
                if all(item.future in unwanted for item in group.items)
            ]
            for key, _ in left:
                del self._running[key]
        with contextlib.suppress(Exception):  # a cluster that is gone has nothing left to cancel
            self._client.cancel([group.sent for _, group in left])
            if not self._running:
                self._client.run(dask_worker.abandon, self._id)
        for _, group in left:
            for item in group.items:
                item.give_up(None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._state:
            self._is_shut = True
        if cancel_futures:
            self._abandon(None)
        self._close_when_done()
        if wait:
            with self._state:
                self._state.wait_for(lambda: self._is_closed)

    # --- the sites ---

    def _send_job(self) -> None:
        """To one worker, from which the others get it when their sites are opened."""
        self._sent_job = self._client.scatter(self._mapped)

    def _look(self) -> None:
        """Sees who is in the cluster, and opens sites where there are none."""
        with self._state:
            if self._is_closing:
                return
            self._threads = self._client.nthreads()
            self._leases = {address: lease for address, lease in self._leases.items() if address in self._threads}
            for address in self._threads:
                if address not in self._leases:
                    self._open_site(address)
            self._take_back()

    def _take_back(self) -> None:
        """Takes back what was sent to workers that are all gone: Dask would not give it to those that came later."""
        for key, group in list(self._running.items()):
            if not any(address in self._threads for address in group.places):
                del self._running[key]
                self._client.cancel([group.sent])
                self._waiting.extendleft(reversed(group.items))

    def _look_again(self) -> None:
        """Workers come and go, and nobody says so."""
        while not self._end.wait(_LOOK):
            try:
                self._look()
            except Exception as reason:
                if self._client.status != "running":  # else it may be better next time
                    self._abandon(_broken(reason))
            with self._state:
                self._feed()
            self._close_when_done()

    def _open_site(self, address: str) -> None:
        arguments = (self._sent_job, self._id, dask_worker.installed_versions())
        lease = self._client.submit(dask_worker.open_site, *arguments, workers=[address], pure=False)
        self._leases[address] = lease
        lease.add_done_callback(lambda done: self._hear(self._take_lease, address, done))

    def _take_lease(self, address: str, lease: Any) -> None:
        with self._state:
            if self._is_closing or getattr(self._leases.get(address), "key", None) != lease.key:
                return
            if lease.status == "finished":
                self._times_unopened = 0
                return
            del self._leases[address]
            error = _error_of(lease)
            self._times_unopened += 1
            if not isinstance(error, _Lost) or self._times_unopened > _MOST_UNOPENED:
                raise error
            if self._sent_job.status != "finished":
                self._send_job()
            self._look()

    # --- to the cluster ---

    def _feed(self) -> None:
        """Keeps the cluster's threads busy, and no more: what waits here can still be grouped."""
        places = [address for address, lease in self._leases.items() if lease.status == "finished"]
        threads = sum(self._threads[address] for address in places)
        while self._waiting and len(self._running) < _QUEUE * threads:
            if group := self._next_group(threads):
                self._send(group, places)

    def _next_group(self, threads: int) -> list[_Item]:
        size = 1 if self._waiting[0].times_lost else self._grouping.size(len(self._waiting), threads)
        group: list[_Item] = []
        while self._waiting and len(group) < size:
            item = self._waiting.popleft()
            if item.take_up():
                group.append(item)
        return group

    def _send(self, group: list[_Item], places: list[str]) -> None:
        arguments = (self._id, pickle.dumps([item.task for item in group]))
        # Should some of these places die, the others may do it.
        options = {"workers": places, "allow_other_workers": True, "pure": False}
        sent = self._client.submit(dask_worker.evaluate, *arguments, **options)
        self._running[sent.key] = _Group(group, sent, places)
        sent.add_done_callback(lambda done: self._hear(self._take, done))

    # --- from the cluster, on a thread of Dask's ---

    def _hear(self, take: Callable[..., None], *arguments: Any) -> None:
        try:
            take(*arguments)
            with self._state:
                self._feed()
        except Exception as reason:
            self._abandon(_broken(reason))
        self._close_when_done()

    def _take(self, sent: Any) -> None:
        with self._state:
            group = self._running.pop(sent.key, None)
            if group is None:
                return
            self._being_taken += 1
        try:
            if sent.status == "finished":
                self._hand_over(group.items, sent.result())
            else:
                self._try_again(group.items, _error_of(sent))
        except Exception as reason:
            for item in group.items:
                item.give_up(_broken(reason))
            raise
        finally:
            with self._state:
                self._being_taken -= 1

    def _hand_over(self, group: list[_Item], outcomes: list[Outcome]) -> None:
        for item, outcome in zip(group, outcomes, strict=True):
            self._grouping.learn(outcome.effort.seconds)
            item.future.set_result(outcome)

    def _try_again(self, group: list[_Item], error: BaseException) -> None:
        """Puts back what was lost on the way; what is lost again and again is the fault of whatever it does."""
        left = group
        if isinstance(error, dask_worker.NoSiteError):
            with self._state:
                lease = self._leases.get(error.address)
                if error.address in self._threads and (lease is None or lease.status != "pending"):
                    self._open_site(error.address)
        elif isinstance(error, _Lost):
            left = [item for item in group if not self._is_hopeless(item)]
        else:
            raise error
        with self._state:
            self._waiting.extendleft(reversed(left))

    def _is_hopeless(self, item: _Item) -> bool:
        item.times_lost += 1
        if item.times_lost < _MOST_LOST:
            return False
        failure = Failure("crash", "all workers of the Dask cluster that tried it were lost")
        item.future.set_result(failed(len(self.job.objectives), failure))
        return True

    # --- the end ---

    def _abandon(self, reason: BrokenExecutor | None) -> None:
        """Gives up what waits and what runs: cancelled, or because the cluster is broken."""
        with self._state:
            self._is_shut, self._broken = True, self._broken or reason
            sent = [group.sent for group in self._running.values()]
            left = [*self._waiting, *(item for group in self._running.values() for item in group.items)]
            self._running.clear()
            self._waiting.clear()
        with contextlib.suppress(Exception):  # a cluster that is gone has nothing left to cancel
            self._client.cancel(sent)
        for item in left:
            item.give_up(reason)

    def _close_when_done(self) -> None:
        with self._state:
            is_done = not self._waiting and not self._running and not self._being_taken
            if not self._is_shut or not is_done or self._is_closing:
                return
            self._is_closing = True
        self._end.set()
        self._close()
        with self._state:
            self._is_closed = True
            self._state.notify_all()

    def _close(self) -> None:
        with contextlib.suppress(Exception):  # of a cluster that is gone, no process is left either
            self._client.run(dask_worker.leave, self._id)
        self._leases.clear()
        self._sent_job = None
        self._mapped.close()
        if self._is_own_client:
            self._client.close()


def _connect(on: Any, patience: float) -> tuple[Any, bool]:
    """A client, and whether it is to be closed in the end."""
    if isinstance(on, distributed.Client):
        if on.asynchronous:
            raise UserError("an asynchronous Dask client cannot be used here: make one with `asynchronous=False`")
        return on, False
    where, options = on, {}
    if isinstance(on, str):
        on = Scheduler(on)
    if isinstance(on, Scheduler):
        where, options = on.contact, {"security": _security(on)}
        on = on.address
    elif not hasattr(on, "scheduler_address"):
        raise UserError(f"{type(on).__name__} is neither a client nor a cluster of dask.distributed")
    try:
        client = distributed.Client(where, timeout=patience, set_as_default=False, **options)  # type: ignore[no-untyped-call]
        return client, True
    except OSError as reason:
        message = f"no Dask scheduler answers at {on}: {reason}"
        raise ClusterUnreachable(message, "start it, or mend the address") from reason


def _security(scheduler: Scheduler) -> Any:
    """Dask's own, with the files that are given or those of its configuration."""
    if not scheduler.is_encrypted:
        return None
    files = {}
    if scheduler.has_files:
        files = {
            "tls_ca_file": scheduler.tls_ca,
            "tls_client_cert": scheduler.tls_cert,
            "tls_client_key": scheduler.tls_key,
        }
    security: Any = distributed.Security(require_encryption=True, **files)  # type: ignore[no-untyped-call]
    wanted = {"ca": security.tls_ca_file, "cert": security.tls_client_cert, "key": security.tls_client_key}
    if missing := [f"`--tls-{name}`" for name, path in wanted.items() if not path]:
        raise UserError(
            f"{scheduler.address} needs {', '.join(missing)}: the files of the authority, of your certificate and of "
            "its key, unless the configuration of Dask names them; in Python, pass a client of Dask"
        )
    return security


def _broken(reason: Exception) -> BrokenExecutor:
    if isinstance(reason, WorkerBug):
        return reason
    return WorkersLost(f"the Dask cluster takes no more work: {str(reason) or type(reason).__name__}")


def _error_of(sent: Any) -> BaseException:
    if sent.status in ("cancelled", "lost"):
        return CancelledError()
    error: BaseException = sent.exception()
    return error
