"""Dask site: what runs on a worker of a cluster — local processes for each executor that sends work there."""

from __future__ import annotations

import pickle
import platform
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from importlib.metadata import PackageNotFoundError, version
from threading import Lock

from distributed import get_worker

from msl.diagnostics.user_error import UserError
from msl.evaluate.outcome import Outcome
from msl.workers.local import LocalExecutor
from msl.workers.shared_arrays import SharedArrays
from msl.workers.task import AnyTask, Job

_PACKAGES = ("msl-lang", "numpy", "scipy", "scikit-learn")
_sites: dict[str, LocalExecutor] = {}
#: What each executor has under way here.
_under_way: dict[str, set[Future[Outcome]]] = {}
_lock = Lock()


class NoSiteError(Exception):
    """Work has come to a worker where nobody has opened a site for it."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class Lease:
    """Keeps a site open. Dask drops it on the worker when the client lets go of it, or is gone without a word."""

    def __init__(self, executor_id: str, site: LocalExecutor) -> None:
        weakref.finalize(self, _close, executor_id, site, wait=False)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return object, ()  # elsewhere, it keeps nothing open


def open_site(job: SharedArrays[Job], executor_id: str, versions: Mapping[str, str]) -> Lease:
    """Gets ready to work for an executor, on as many processes as this worker of the cluster has threads."""
    _check_versions(versions)
    leave(executor_id)
    site = LocalExecutor(job.twin(), get_worker().state.nthreads, is_own_job=True)
    with _lock:
        _sites[executor_id] = site
    return Lease(executor_id, site)


def evaluate(executor_id: str, tasks: bytes) -> list[Outcome]:
    """The outcomes of pickled tasks."""
    with _lock:
        site = _sites.get(executor_id)
    if site is None:
        raise NoSiteError(get_worker().address)
    wanted: list[AnyTask] = pickle.loads(tasks)
    futures = [site.submit(task) for task in wanted]
    with _lock:
        _under_way.setdefault(executor_id, set()).update(futures)
    try:
        return [future.result() for future in futures]
    finally:
        with _lock:
            _under_way[executor_id].difference_update(futures)


def abandon(executor_id: str) -> None:
    """Ends what the processes that work for an executor are at."""
    with _lock:
        site = _sites.get(executor_id)
        futures = list(_under_way.get(executor_id, ()))
    if site is not None:
        site.abandon(futures)


def leave(executor_id: str) -> None:
    """Ends the processes that work for an executor."""
    with _lock:
        site = _sites.get(executor_id)
    if site is not None:
        _close(executor_id, site, wait=True)


def _close(executor_id: str, site: LocalExecutor, wait: bool) -> None:
    with _lock:
        if _sites.get(executor_id) is site:
            del _sites[executor_id]
            _under_way.pop(executor_id, None)
    site.shutdown(wait, cancel_futures=True)


def installed_versions() -> dict[str, str]:
    """What has to be the same on all machines for losses to be the same."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def _check_versions(wanted: Mapping[str, str]) -> None:
    here = installed_versions()
    other = [f"{name} {here[name]} instead of {wanted[name]}" for name in here if here[name] != wanted[name]]
    if other:
        raise UserError(f"a Dask worker has {', '.join(other)}; losses could differ, so install the same there")
