"""What the tests of executors share because it is slow to start: a fork server, and a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from executor_cluster import DaskCluster

from msl.workers.fork_server import ForkServer


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer() as shared:
        yield shared


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    pytest.importorskip("distributed")
    started = DaskCluster(tmp_path_factory.mktemp("dask"))
    try:
        started.start(workers=2)
        yield started
    finally:
        started.stop()
