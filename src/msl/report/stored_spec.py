"""Stored spec: what a run was of, checked again from the texts that the store kept — not from files of today."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msl.check.spec import Checked, check_source
from msl.runs.run import Run
from msl.space.facts import Facts
from msl.space.spec import Objective
from msl.text.source import Source


def stored_source(run: Run, sources: Mapping[str, str]) -> Source:
    """The main text of a run, under the name that it had."""
    return Source(run.spec, sources[run.spec], run.spec)


def read_stored(sources: Mapping[str, str]) -> Callable[[str], str]:
    """Reads the files that a stored spec uses."""

    def read(path: str) -> str:
        if path not in sources:
            raise ValueError("the store has no text of it")
        return sources[path]

    return read


def check_stored(run: Run, sources: Mapping[str, str], facts: Facts | None = None) -> Checked:
    """The spec of a run; it may be unsound for the version of today."""
    return check_source(stored_source(run, sources), facts, run.name, read_stored(sources))


def first_objective(run: Run, sources: Mapping[str, str]) -> Objective | None:
    """What a run optimised first; None where the task of its table decided."""
    spec = check_stored(run, sources).spec
    return spec.objectives[0] if spec is not None and spec.objectives else None
