"""The differences between two specs or runs as text, in the style of a diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from msl.report.text_tables import aligned, shown
from msl.space.diff.pieces import Change, Kind
from msl.space.enumerate.equivalence import Relation, Verdict
from msl.space.names_to_text import BlockNames, part_name
from msl.space.nodes import (
    BlockUse,
    Choice,
    IntRange,
    Listing,
    Marked,
    Node,
    RealRange,
    Sized,
    Symbol,
    Vector,
    bottom_up,
    children,
)
from msl.space.to_text import NodeWriter
from msl.store.stored_run import Run

_SIGNS = {
    Kind.ADDED: "+",
    Kind.REMOVED: "-",
    Kind.REQUIREMENT_ADDED: "+",
    Kind.REQUIREMENT_REMOVED: "-",
    Kind.MOVED: ">",
    Kind.DEFAULT_CHANGED: " ",
}
_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", ">": "\x1b[36m", " ": "\x1b[2m"}
_PLAIN = "\x1b[0m"
_VERDICTS = {
    Relation.SAME: "the same models, written otherwise: the digests differ, the sets do not",
    Relation.WIDENED: "widened: every model of the old space is in the new one",
    Relation.NARROWED: "narrowed: every model of the new space was in the old one",
    Relation.CHANGED: "changed: each space has models that the other lacks",
}
#: What a change without a path is in.
_WHOLE = "the chain"


def changes_to_text(changes: Sequence[Change], *, colour: bool = False) -> str:
    """One line for each place that changed, `+ - ~ >` for added, removed, changed and moved; empty without changes."""
    lines = [_line(list(same)) for _, same in groupby(changes, key=_place)]
    return "".join(f"{_COLOURS[line[0]]}{line}{_PLAIN}\n" if colour else f"{line}\n" for line in lines)


def verdict_to_text(verdict: Verdict) -> str:
    """One line on how two spaces with different digests relate as sets."""
    if verdict.relation is Relation.UNDECIDED:
        return f"whether one space has all models of the other could not be decided: {verdict.reason}"
    if verdict.relation is Relation.SAME and not verdict.same_scales:
        return "the same models, with numbers on other scales"
    return _VERDICTS[verdict.relation]


def _place(change: Change) -> tuple[object, ...]:
    """Changes of one domain that differ in their kind alone are one line."""
    joins = change.kind in (Kind.WIDENED, Kind.NARROWED, Kind.RESCALED, Kind.RESTEPPED, Kind.CHANGED)
    return change.path, change.old_text, change.new_text, joins or change.kind, change.detail


def _line(same: list[Change]) -> str:
    change = same[0]
    sign = _SIGNS.get(change.kind, "~")
    return f"{sign} {_said(change, _kinds(same))}"


def _kinds(same: Iterable[Change]) -> str:
    return ", ".join(change.kind for change in same)


def _said(change: Change, kinds: str) -> str:
    where = change.where or _WHOLE
    match change.kind:
        case Kind.ADDED | Kind.REMOVED:
            return f"{change.detail} {change.old_text or change.new_text} in {where}"
        case Kind.REQUIREMENT_ADDED | Kind.REQUIREMENT_REMOVED:
            return change.old_text or change.new_text
        case Kind.MOVED:
            return f"{change.detail} in {where}: {change.old_text} -> {change.new_text} (moved)"
        case Kind.CONDITION_CHANGED:
            return f"{where}: {_condition(change.old_text)} -> {_condition(change.new_text)} (condition changed)"
        case Kind.DEFAULT_CHANGED:
            return f"{where}: default {change.old_text or 'none declared'} -> {change.new_text or 'none declared'}"
    said = f"{kinds}: {change.detail}" if change.detail else kinds
    return f"{where}: {change.old_text} -> {change.new_text} ({said})"


def _condition(text: str) -> str:
    return f"if {text}" if text else "always"


# --- Differences between two runs beside their specs ------------------------------------------------------------------


#: What was changed, what it was, what it is.
Changed = tuple[str, str, str]

_SHORT = 16
_COUNTS = ("evaluations", "reused", "failures", "fits", "fits_saved", "complexity", "seconds")


def provenance_changes(before: Run, after: Run) -> list[Changed]:
    """Differences in data, seed, versions and options."""
    found = []
    if before.digests.data != after.digests.data:
        found.append(("table", _table(before), _table(after)))
    if before.seed != after.seed:
        found.append(("seed", str(before.seed), str(after.seed)))
    found += _differences("version of", before.versions, after.versions)
    found += _differences("option", _options(before), _options(after))
    return found


def result_changes(before: Run, after: Run) -> list[Changed]:
    """Differences in the results: status, best model and its figures; never costs."""
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
    """The options of a run that are not part of the spec or of the fingerprint of the table."""
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


# --- What steers a search and is no part of the set of models ---------------------------------------------------------


def priors_to_text(root: Node) -> list[str]:
    """What steers draws and is no part of the set: parameters with priors, choices with weights."""
    writer = NodeWriter(BlockNames(), parameters=False)
    found: dict[str, None] = {}
    for node in bottom_up(root):
        if isinstance(node, Choice) and node.weights:
            found[writer.node(node)] = None
        if not isinstance(node, BlockUse | Symbol):
            continue
        owner = node.block.name if isinstance(node, BlockUse) else node.name
        for param in node.params:
            inner = param.node.element if isinstance(param.node, Vector) else param.node
            if isinstance(inner, IntRange | RealRange) and inner.prior is not None:
                found[f"{owner}.{param.name}: {writer.node(param.node)}"] = None
    return sorted(found)


def orders_to_text(root: Node) -> list[str]:
    """The parameters whose alternatives have an order, which is no part of the set."""
    writer, found = NodeWriter(BlockNames(), parameters=False), set()
    for owner in bottom_up(root):
        for param in owner.params if isinstance(owner, BlockUse | Symbol | Marked) else ():
            inner = (
                next(iter(children(param.node)), param.node) if isinstance(param.node, Sized | Listing) else param.node
            )
            if isinstance(inner, Choice) and inner.ordered:
                name = owner.block.name if isinstance(owner, BlockUse) else getattr(owner, "name", None)
                found.add(f"{name or part_name(owner.mark)}.{param.name}: {writer.node(param.node)}")  # type: ignore[union-attr]
    return sorted(found)
