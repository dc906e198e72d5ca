"""What tests of several folders share: how generated cases are drawn, and runs that have come to their end."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from slow_tests import is_slow
from winner_cases import CASES, Case, Finished, finished_run

# No test, nor any process that one starts, reads what whoever runs the tests has configured, such as the trust file.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="msl-tests-config-")
# The models that a run compares its winner with take longer than most of the searches here; tests ask for them.
os.environ["MSL_BASELINES"] = "off"
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)

# How long a case takes says nothing on a machine that does other things too, so that none has a deadline. `fast` is for
# a first look: `pytest --hypothesis-profile=fast`. `unshrunk` is for those who only ask whether a test fails. Whether
# CI passes does not hang on which cases were drawn: there they are the same every time, and others elsewhere.
settings.register_profile("default", deadline=None)
settings.register_profile("fast", settings.get_profile("default"), max_examples=10)
settings.register_profile("unshrunk", settings.get_profile("fast"), phases=(Phase.explicit, Phase.generate))
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
#: Where Hypothesis keeps what `@settings` says of a test; it has no public way to change that later.
_SETTINGS = "_hypothesis_internal_use_settings"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A first look does not even import slow files, except those that are asked for by name."""
    if config.option.markexpr != "not slow" or not collection_path.is_file() or not is_slow(collection_path):
        return None
    named = {config.invocation_params.dir / argument.partition("::")[0] for argument in config.args}
    return None if collection_path in named else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item.path):
            item.add_marker("slow")


def pytest_itemcollected(item: pytest.Item) -> None:
    """With `fast`, tests that ask for a number of cases of their own have no more than the others."""
    function = getattr(item, "obj", None)
    own, now = getattr(function, _SETTINGS, None), settings()
    if own is not None and now.max_examples < min(own.max_examples, settings.get_profile("default").max_examples):
        setattr(getattr(function, "__func__", function), _SETTINGS, settings(own, max_examples=now.max_examples))


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
