"""What tests of several folders share: runs that have come to their end, each made once."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable

import pytest
from winner_cases import CASES, Case, Finished, finished_run

# No test, nor any process that one starts, reads what whoever runs the tests has configured, such as the trust file.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="msl-tests-config-")
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Finished]:
    """`finished("kernel")`: the run of the case with that name. Nobody may change its files."""
    cases: dict[str, Case] = {case.name: case for case in CASES}
    made: dict[str, Finished] = {}

    def get(name: str) -> Finished:
        if name not in made:
            made[name] = finished_run(cases[name], tmp_path_factory.mktemp(name))
        return made[name]

    return get
