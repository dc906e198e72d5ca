"""What a Dask cluster adds: data that travels once, workers that get lost, processes on other machines."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from pathlib import Path

import executor_models as em
import pytest
from executor_cluster import DaskCluster
from executor_processes import children, none_alive, wait_until

from msl.workers.in_process import InProcessExecutor
from msl.workers.local import open_executor

pytest_plugins = ("executor_fixtures",)
distributed = pytest.importorskip("distributed")


def count_arrivals() -> None:
    """On a worker: counts how often a table arrives."""
    from msl.workers import shared_arrays

    arrive = shared_arrays._unpickled

    def counted(content: object) -> object:
        counted.times += 1  # type: ignore[attr-defined]
        return arrive(content)

    counted.times = 0  # type: ignore[attr-defined]
    counted.__qualname__ = "_unpickled"
    counted.__module__ = shared_arrays.__name__
    shared_arrays._unpickled = counted  # type: ignore[assignment]


def arrivals() -> int:
    from msl.workers import shared_arrays

    return int(shared_arrays._unpickled.times)  # type: ignore[attr-defined]


def test_a_lost_worker_costs_only_what_it_was_at(cluster: DaskCluster, tmp_path: Path) -> None:
    from msl.workers.dask import DaskExecutor

    log = tmp_path / "fits"
    tasks = [em.sleeper(0.15, marker, str(log)) for marker in range(24)]
    job = em.job()
    expected = [outcome.losses for outcome in InProcessExecutor(job).map(em.sleeper(0.0, m) for m in range(24))]
    with distributed.Client(cluster.address.replace("dask", "tcp"), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        client.run(count_arrivals)
        pids = client.run(os.getpid)
        with DaskExecutor(job, client) as executor:
            futures = [executor.submit(task) for task in tasks]
            for future in futures[:4]:
                future.result()
            victim, survivor = pids[max(pids)], pids[min(pids)]
            wait_until(lambda: len(children(victim)) == 3)  # the fork server, its branch and a worker
            assert client.run(arrivals) == dict.fromkeys(pids, 1)
            below = children(victim)
            os.kill(victim, signal.SIGKILL)
            assert [future.result().losses for future in futures] == expected
            wait_until(none_alive(below))
            assert len(children(survivor)) >= 2
        wait_until(lambda: not children(survivor))
        with pytest.raises(RuntimeError, match="shut down"):
            executor.submit(tasks[0])
        assert client.status == "running"
    fits = Counter(line.split()[0] for line in log.read_text().splitlines())
    assert sum(fits.values()) - 3 * 24 <= 3 * 2  # three folds; a worker of one thread is at one group, of two at most


def test_a_cluster_that_is_gone() -> None:
    from msl.workers.dask import DaskExecutor

    with pytest.raises(ConnectionError, match="no Dask scheduler answers at dask://127"):
        DaskExecutor(em.job(), "dask://127.0.0.1:9", patience=0.2)


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    for module in ("dask", "dask_worker"):
        monkeypatch.delitem(sys.modules, f"msl.workers.{module}", raising=False)
    with pytest.raises(ValueError, match=r"pip install 'msl-lang\[dask\]'"):
        open_executor(em.job(), "dask://host:1")
