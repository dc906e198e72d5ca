"""Which model of a run predicts, its best model or its ensemble, and the figures of that one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msl.check.check_spec import Checked, check_source
from msl.diagnostics.source import Source
from msl.space.formulas import Facts
from msl.space.spec import Objective
from msl.store.stored_run import Run


@dataclass(frozen=True, slots=True)
class UsedModel:
    """What `predict` and `export` take: its estimate with intervals, and what it came to on a test table."""

    is_ensemble: bool
    words: str
    objectives: Mapping[str, float | None] = field(default_factory=dict)
    interval: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, float | None] = field(default_factory=dict)
    gap: Mapping[str, float | None] = field(default_factory=dict)


def used_model(result: Mapping[str, Any]) -> UsedModel:
    """From the record of a run; one made before there was a choice used its ensemble where it had one."""
    members = len(result.get("ensemble") or ())
    used = result.get("used") or {"model": "ensemble" if members > 1 else "best", "why": ""}
    why = f": {used['why']}" if used.get("why") else ""
    if used.get("model") != "ensemble":
        words = "the best model alone" if members else "the best model"
        figures = (result.get(name) or {} for name in ("objectives", "interval", "test", "gap"))
        return UsedModel(False, f"{words}{why}", *figures)
    softly = "soft vote" if result.get("voting") == "soft" else "vote"
    words = f"the {softly} of {members} models{why}"
    judged, tested = result.get("ensemble_objectives") or {}, result.get("ensemble_test") or {}
    gap = {
        name: value - judged[name]
        for name, value in tested.items()
        if value is not None and judged.get(name) is not None
    }
    return UsedModel(True, words, judged, result.get("ensemble_interval") or {}, tested, gap)


# --- Command: what to type to make a run again, as far as the store knows how it was started. -------------------------


def run_command(run: Run, data: str | None = None, store: Sequence[str] = ()) -> str:
    """The command of a run with all that was changed on its command line; `data` where it was not read from a file."""
    options = run.options
    table = options.get("data") or (run.result.get("data") or {}).get("path") or data or "DATA"
    given = [("--test", options.get("test")), ("--chain", options.get("chain"))]
    given += [("--set", change) for change in options.get("set") or ()]
    given += [("--trust", package) for package in options.get("trusted") or ()]
    words = [word for name, value in given if value is not None for word in (name, str(value))]
    return shlex.join(["msl", "run", run.spec, str(table), *words, *store])


def store_words(folder: Path) -> list[str]:
    """What a command needs to find a store that is not where it looks."""
    return [] if folder.name == ".msl" else ["--store", str(folder)]


# --- Repeats: what to say of a search that mostly asked for models that it knew already. ------------------------------


#: Fewer proposals tell nothing about a search.
_FEWEST = 20


def repeats_words(result: Mapping[str, Any]) -> str | None:
    """How many proposals were repeats and what helps, if they were more than half; None also for older runs."""
    repeats, evaluations = int(result.get("repeats") or 0), int(result.get("evaluations") or 0)
    if evaluations < _FEWEST or 2 * repeats <= evaluations:
        return None
    told = f"{repeats:,} of {evaluations:,} proposals were repeats"
    if str(result.get("ending", "")).endswith("models were evaluated"):
        return f"{told}: the space has no more models"
    return (
        f"{told}; `auto` asks for each model once, a swarm does better with `floor = 2, restart = 1`, "
        "and a larger space gives it more to find"
    )


# --- Stored spec: what a run was of, checked again from the texts that the store kept — not from files of today. ------


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
