"""Run changes: what differs between two runs beside their specs — data, seed, versions — and their results abreast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msl.report.aligned import aligned, shown
from msl.runs.run import Run

#: What was changed, what it was, what it is.
Changed = tuple[str, str, str]

_SHORT = 16
_COUNTS = ("evaluations", "reused", "failures", "fits", "fits_saved", "complexity", "seconds")


def provenance_changes(before: Run, after: Run) -> list[Changed]:
    """What the two runs were made from, where that differs."""
    found = []
    if before.digests.data != after.digests.data:
        found.append(("table", _table(before), _table(after)))
    if before.seed != after.seed:
        found.append(("seed", str(before.seed), str(after.seed)))
    found += _differences("version of", before.versions, after.versions)
    found += _differences("option", _options(before), _options(after))
    return found


def result_changes(before: Run, after: Run) -> list[Changed]:
    """What the two came to, where that differs: how they ended, the winner and its figures, never what they cost."""
    found: list[Changed] = []
    if before.status != after.status:
        found.append(("status", before.status, after.status))
    old, new = before.result, after.result
    found += _differences("estimate", old.get("objectives"), new.get("objectives"))
    found += _differences("test", old.get("test"), new.get("test"))
    if old.get("best") != new.get("best"):
        found.append(("winner", shown(old.get("best")), shown(new.get("best"))))
    return found


def results_abreast(before: Run, after: Run) -> str:
    """A line for each figure that one of the two has."""
    rows = [("", before.id, after.id), ("status", before.status, after.status)]
    for what, name in (("estimate", "objectives"), ("test", "test")):
        old, new = before.result.get(name) or {}, after.result.get(name) or {}
        rows += [(f"{what} {key}", shown(old.get(key)), shown(new.get(key))) for key in dict.fromkeys([*old, *new])]
    rows += [
        (name.replace("_", " "), shown(before.result.get(name)), shown(after.result.get(name)))
        for name in _COUNTS
        if name in before.result or name in after.result
    ]
    winners = (before.result.get("best"), after.result.get("best"))
    text = aligned(rows, right=(1, 2))
    if winners[0] == winners[1]:
        return text if winners[0] is None else f"{text}\nwinner of both: {winners[0]}\n"
    return f"{text}\n- {shown(winners[0])}\n+ {shown(winners[1])}\n"


def _options(run: Run) -> dict[str, Any]:
    """Those that neither the spec nor the fingerprint of the table holds already."""
    return {name: value for name, value in run.options.items() if name not in ("set", "data")}


def _table(run: Run) -> str:
    path = (run.result.get("data") or {}).get("path")
    return run.digests.data[:_SHORT] + (f" ({path})" if path else "")


def _differences(what: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Changed]:
    old, new = old or {}, new or {}
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            # Every digit: what differs in the last one is still a difference.
            yield f"{what} {name}", _written(old.get(name)), _written(new.get(name))


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, float) else shown(value)
