"""The differences between two spaces as data, and how lists, domains and requirements are matched to find them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from msl.record import record
from msl.space.canonical.content_hash import Entries, Key
from msl.space.canonical.normal_conditions import Conditions, Vocabulary
from msl.space.canonical.normal_form import Nodes, Speaker, naming_of, survey_of, variable_names
from msl.space.condition_text import requirement_to_text
from msl.space.enumerate.equivalence import Relation
from msl.space.formulas import Amount, Formula, at_most
from msl.space.names_to_text import part_name
from msl.space.nodes import Bool, Const, IntRange, Marked, Node, RealRange, bottom_up
from msl.space.part_parameters import variable
from msl.space.spec import Space


class Kind(StrEnum):
    """What happened. `changed` is for what none of the others names."""

    ADDED = "added"
    REMOVED = "removed"
    WIDENED = "widened"
    NARROWED = "narrowed"
    RESCALED = "rescaled"
    RESTEPPED = "restepped"
    FIXED = "fixed"
    OPENED = "opened"
    MOVED = "moved"
    CHANGED = "changed"
    CONDITION_CHANGED = "condition changed"
    REQUIREMENT_ADDED = "requirement added"
    REQUIREMENT_REMOVED = "requirement removed"
    DEFAULT_CHANGED = "default changed"


@record
class Change:
    """Where a space differs and how it read before and after; `detail` is what was added or removed, or says more."""

    kind: Kind
    path: tuple[str, ...]
    old_text: str = ""
    new_text: str = ""
    detail: str = ""

    @property
    def counts(self) -> bool:
        """Whether the set of models differs: a default is where a search starts, not what it searches."""
        return self.kind is not Kind.DEFAULT_CHANGED

    @property
    def where(self) -> str:
        return " > ".join(self.path)


# --- matching the pieces of two lists, in their order or in any order ---


_LARGEST_TABLE = 250_000

Pair = tuple[int, int]
Likeness = Callable[[Node], Hashable]


@dataclass(slots=True)
class Matching:
    """Positions that belong together, and those of either list that stand alone."""

    pairs: list[Pair] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)


def match_by(old: list[Node], new: list[Node], *likenesses: tuple[Likeness, Likeness]) -> Matching:
    """Pairs pieces that are alike: first by the first likeness, then what is left by the next.

    A likeness is a pair of functions, one for each list; None is like nothing.
    """
    found = Matching(old=list(range(len(old))), new=list(range(len(new))))
    for of_old, of_new in likenesses:
        waiting: dict[Hashable, list[int]] = {}
        for j in found.new:
            if (kind := of_new(new[j])) is not None:
                waiting.setdefault(kind, []).append(j)
        queues = ((i, waiting.get(of_old(old[i]))) for i in found.old)
        paired = [(i, queue.pop(0)) for i, queue in queues if queue]
        gone, met = {i for i, _ in paired}, {j for _, j in paired}
        found.old = [i for i in found.old if i not in gone]
        found.new = [j for j in found.new if j not in met]
        found.pairs.extend(paired)
    found.pairs.sort()
    return found


def align(old: list[Node], new: list[Node], closeness: Callable[[Node, Node], float]) -> Matching:
    """Pairs pieces without crossing, so that the sum of their closeness is largest; closeness 0 never pairs.

    Lists too long for a table of all pairs are not looked into.
    """
    rows, columns = len(old), len(new)
    if rows * columns > _LARGEST_TABLE:
        return Matching(old=list(range(rows)), new=list(range(columns)))
    score = [[closeness(one, other) for other in new] for one in old]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            together = score[i][j] + best[i + 1][j + 1] if score[i][j] > 0 else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    found = Matching()
    i = j = 0
    while i < rows and j < columns:
        if score[i][j] > 0 and best[i][j] == score[i][j] + best[i + 1][j + 1]:
            found.pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            found.old.append(i)
            i += 1
        else:
            found.new.append(j)
            j += 1
    found.old.extend(range(i, rows))
    found.new.extend(range(j, columns))
    return found


# --- domains of values ---


_MOST_LISTED = 10_000
_SCALARS = (int, float, str, bool, type(None))

Scalar = tuple[str, object]


def is_scalar_domain(options: list[Node]) -> bool:
    """Whether alternatives are numbers, texts, yes or no, nothing, and ranges: what can be compared as sets."""
    return all(
        isinstance(option, IntRange | RealRange | Bool)
        or (isinstance(option, Const) and isinstance(option.value, _SCALARS))
        for option in options
    )


#: What is said of a domain once it is proven how its values relate to those before.
KIND_OF = {Relation.WIDENED: Kind.WIDENED, Relation.NARROWED: Kind.NARROWED, Relation.SAME: Kind.RESCALED}


def domain_kinds(old: list[Node], new: list[Node], relation: Relation) -> list[Kind]:
    """What happened to a domain, given its alternatives before and after, which are not the same.

    Where the relation of their values is undecided, the ends of ranges are compared as far as they can be.
    """
    old_values, new_values = _listed(old), _listed(new)
    was_open, is_open = _is_open(old, old_values), _is_open(new, new_values)
    if was_open and not is_open:
        return [Kind.FIXED]
    if is_open and not was_open:
        return [Kind.OPENED]
    if len(old) == len(new) == 1 and isinstance(old[0], IntRange | RealRange) and type(old[0]) is type(new[0]):
        return _range_kinds(old[0], new[0], relation)
    return [KIND_OF.get(relation, Kind.CHANGED)]


def ends_kind(old: tuple[Amount, Amount], new: tuple[Amount, Amount]) -> Kind | None:
    """What happened to a range by its ends alone; None when both stayed."""
    lower, higher = at_most(new[0], old[0]), at_most(old[1], new[1])
    raised, lowered = at_most(old[0], new[0]), at_most(new[1], old[1])
    if lower and higher:
        return None if raised and lowered else Kind.WIDENED
    return Kind.NARROWED if raised and lowered else Kind.CHANGED


def _range_kinds(old: IntRange | RealRange, new: IntRange | RealRange, relation: Relation) -> list[Kind]:
    kinds = []
    if old.log != new.log:
        kinds.append(Kind.RESCALED)
    if old.step != new.step:
        kinds.append(Kind.RESTEPPED)
    by_ends = ends_kind((old.low, old.high), (new.low, new.high))
    if relation is Relation.SAME or by_ends is None:
        return kinds
    if relation is not Relation.UNDECIDED:
        return [*kinds, KIND_OF.get(relation, Kind.CHANGED)]
    is_continuous = old.step == new.step and (old.step in (None, 1) or old.low == new.low)
    return [*kinds, by_ends if is_continuous else Kind.CHANGED]


def _is_open(options: list[Node], values: frozenset[Scalar] | None) -> bool:
    return len(options) > 1 or values is None or len(values) > 1


def _listed(options: list[Node]) -> frozenset[Scalar] | None:
    """Every value, with its kind; None for reals, ends that follow the table, and too many to list."""
    parts = [_values(option) for option in options]
    if any(part is None for part in parts):
        return None
    return frozenset(chain.from_iterable(part for part in parts if part is not None))


def _values(option: Node) -> list[Scalar] | None:
    match option:
        case Const(value=value):
            return [(type(value).__name__, value)]
        case Bool():
            return [("bool", False), ("bool", True)]
        case IntRange(low=int(low), high=int(high), step=step, log=False) if high - low < _MOST_LISTED * step:
            return [("int", value) for value in range(low, high + 1, step)]
        case IntRange(low=low, high=high) if low == high and isinstance(low, int):
            return [("int", low)]
        case RealRange(low=low, high=high) if low == high and not isinstance(low, Formula):
            return [("float", float(low))]
    return None


# --- parts with parameters ---


def shared_parts(old: Space, new: Space) -> dict[str, tuple[Marked, Marked]]:
    """The parts with parameters that both spaces have, each by its name; those whose uses differ are left out."""
    ours, theirs = _uses_of_parts(old), _uses_of_parts(new)
    return {name: (ours[name], theirs[name]) for name in ours if name in theirs}


def _uses_of_parts(space: Space) -> dict[str, Marked]:
    found: dict[str, list[Marked]] = {}
    for node in bottom_up(space.root):
        if isinstance(node, Marked) and node.params:
            found.setdefault(part_name(node.mark), []).append(node)
    return {
        name: uses[0]
        for name, uses in found.items()
        if all(use.mark == uses[0].mark and use.params == uses[0].params for use in uses)
    }


def variables_of(space: Space, shared: Iterable[Marked], names: Iterable[str]) -> dict[str, str]:
    """Names for the parameters of parts: plain ones for parts that both spaces have, so that what is computed from a
    parameter is the same where only its domain is another.
    """
    plain = {
        variable(node.mark, param.name): f"{name}.{param.name}"
        for node, name in zip(shared, names, strict=True)
        for param in node.params
    }
    return variable_names(space.root) | plain


# --- requirements, compared by what they forbid ---


def requirement_changes(old: Space, new: Space) -> Iterator[Change]:
    """The requirements that went and those that came; a part that is only called otherwise is the same part."""
    before, after = survey_of(old, {}), survey_of(new, {})
    # What either space holds can be spoken of: a requirement does not vanish with the block that it is about.
    dataset = Vocabulary(before.dataset.blocks | after.dataset.blocks, before.dataset.marks | after.dataset.marks)
    names: dict[Speaker, str] = {mark: mark for mark in dataset.marks}
    names |= {key: ":".join(key) for key in (*before.speakers, *after.speakers) if not isinstance(key, str)}
    names |= {key: key[0] for key in dataset.blocks if key[0] in dataset.marks}  # parts with parameters
    same = _same_parts(old, new)
    now = names | same | {key: same[key[0]] for key in dataset.blocks if key[0] in same}
    entries = Entries()
    shared = shared_parts(old, new)
    variables = variables_of(old, (one for one, _ in shared.values()), shared)
    new_variables = variables_of(new, (other for _, other in shared.values()), shared)
    forbidden_before = _forbidden(old, Conditions(entries, naming_of(names, variables), dataset))
    forbidden_after = _forbidden(new, Conditions(entries, naming_of(now, new_variables), dataset))
    all_before, all_after = frozenset().union(*forbidden_before), frozenset().union(*forbidden_after)
    for requirement, keys in zip(old.requirements, forbidden_before, strict=True):
        if not keys <= all_after:
            yield Change(Kind.REQUIREMENT_REMOVED, (), old_text=requirement_to_text(requirement))
    for requirement, keys in zip(new.requirements, forbidden_after, strict=True):
        if not keys <= all_before:
            yield Change(Kind.REQUIREMENT_ADDED, (), new_text=requirement_to_text(requirement))


def _forbidden(space: Space, conditions: Conditions) -> list[frozenset[Key]]:
    return [conditions.forbidden(requirement) for requirement in space.requirements]


def _same_parts(old: Space, new: Space) -> dict[Speaker, str]:
    """The old marks of parts that have another one now: the same name in another file, or the same content."""
    entries = Entries()
    ours, theirs = _parts(old, entries), _parts(new, entries)
    gone, come = ([mark for mark in one if mark not in other] for one, other in ((ours, theirs), (theirs, ours)))
    by_name, now = ({name: marks for name, marks in _by_name(side).items() if len(marks) == 1} for side in (gone, come))
    same: dict[Speaker, str] = {marks[0]: by_name[name][0] for name, marks in now.items() if name in by_name}
    by_content = {ours[mark]: mark for mark in gone if mark not in same.values()}
    return {mark: by_content[theirs[mark]] for mark in come if theirs[mark] in by_content} | same


def _by_name(marks: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for mark in marks:
        found.setdefault(part_name(mark), []).append(mark)
    return found


def _parts(space: Space, entries: Entries) -> dict[str, Key]:
    nodes = Nodes(entries, naming_of({}, variable_names(space.root)))
    nodes.key(space.root)
    return {node.mark: nodes.key(node) for node in bottom_up(space.root) if isinstance(node, Marked)}
