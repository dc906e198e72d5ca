"""Diff: what differs between two spaces, told by meaning — blocks by their class, parameters by name, domains as sets.

Nothing is told exactly when the digests are equal; defaults, which digests leave out, are told apart from the rest.
"""

from __future__ import annotations

from msl.space import diff_shape as shape
from msl.space.change import Change, Kind
from msl.space.diff_domain import domain_kinds, ends_kind, is_scalar_domain
from msl.space.diff_match import Matching, align, match_by
from msl.space.diff_requirement import requirement_changes
from msl.space.entries import Entries
from msl.space.formula import Formula
from msl.space.node import (
    Arrange,
    BlockUse,
    Empty,
    Listing,
    Marked,
    Node,
    Param,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.normal import normal_form
from msl.space.normal_condition import Ground
from msl.space.normal_node import ANONYMOUS, Nodes
from msl.space.space import Space
from msl.space.spell import spell_condition, spell_node, spell_value
from msl.space.spell_node import is_single, spell_amount
from msl.space.spell_word import spell_name

_LONGEST_TEXT = 80

Path = tuple[str, ...]


def diff_spaces(old: Space, new: Space) -> tuple[Change, ...]:
    """What changed from one space to the other; without changes that count exactly when their digests are equal."""
    walk = _Walk(old, new)
    place = shape.place(old.root)
    walk.compare(old.root, new.root, (place,) if place is not None and place == shape.place(new.root) else ())
    if normal_form(old).key == normal_form(new).key:
        return tuple(walk.changes)
    changes = [*walk.changes, *requirement_changes(old, new)]
    if not any(change.counts for change in changes):
        detail = "the same words in its requirements speak of other places"
        changes.append(Change(Kind.CHANGED, (), _text(old.root), _text(new.root), detail))
    return tuple(changes)


class _Walk:
    """Walks both spaces side by side. A pair of nodes that is shared by several places is told of once."""

    def __init__(self, old: Space, new: Space) -> None:
        self.changes: list[Change] = []
        entries = Entries()
        self._old, self._new = (Nodes(entries, ANONYMOUS, Ground(facts=s.facts)) for s in (old, new))
        self._old_full, self._new_full = (
            Nodes(entries, ANONYMOUS, Ground(facts=s.facts), defaults=True) for s in (old, new)
        )
        self._met: dict[tuple[int, int], tuple[Node, Node]] = {}  # keeps the nodes, so their ids stay their own
        self._told = 0

    def compare(self, old: Node, new: Node, path: Path, *, is_value: bool = False) -> None:
        """Tells everything that differs between two nodes; something, if they differ at all."""
        if self._old_full.key(old) == self._new_full.key(new):
            return
        differs = not self._same(old, new)
        if (id(old), id(new)) in self._met:
            self._told += differs
            return
        self._met[id(old), id(new)] = (old, new)
        before, start = self._told, len(self.changes)
        self._inside(shape.bare(old), shape.bare(new), path, is_value)
        if not differs:  # other defaults, perhaps in other words: what the words differ in is no change
            self.changes[start:] = [change for change in self.changes[start:] if not change.counts]
            self._told = before
        elif self._told == before:
            texts = (_text(shape.bare(node), is_value) for node in (old, new))
            self._tell(Kind.CHANGED, path, *texts)

    def _same(self, old: Node, new: Node) -> bool:
        return self._old.key(old) == self._new.key(new)

    def _tell(self, kind: Kind, path: Path, old_text: str = "", new_text: str = "", detail: str = "") -> None:
        change = Change(kind, path, old_text, new_text, detail)
        self._told += change.counts
        self.changes.append(change)

    def _inside(self, old: Node, new: Node, path: Path, is_value: bool) -> None:
        match old, new:
            case (BlockUse(params=ours), BlockUse(params=theirs)) | (Symbol(params=ours), Symbol(params=theirs)) if (
                shape.head(old) == shape.head(new)
            ):
                self._params(ours, theirs, path)
            case Vector(size=size, element=element), Vector(size=new_size, element=new_element):
                if size != new_size:
                    self._tell(Kind.CHANGED, path, spell_amount(size), spell_amount(new_size), "size of the vector")
                self.compare(element, new_element, path, is_value=True)
            case Listing(elements=before), Listing(elements=after) if len(before) == len(after):
                for position, (one, other) in enumerate(zip(before, after, strict=True), 1):
                    self.compare(one, other, (*path, f"element {position}"), is_value=True)
            case _ if shape.are_groups(old, new):
                self._groups(shape.as_group(old), shape.as_group(new), path)
            case _:
                self._alternatives(old, new, path, is_value)

    # --- alternatives ---

    def _alternatives(self, old: Node, new: Node, path: Path, is_value: bool) -> None:
        before, after = shape.options(old), shape.options(new)
        if is_value and is_scalar_domain(before) and is_scalar_domain(after):
            kinds = [] if self._same(old, new) else domain_kinds(before, after)
            for kind in kinds:
                self._tell(kind, path, _text(old, True), _text(new, True))
            return
        if not is_value:
            before, after = self._optional(before, after, path, _text(old), _text(new))
        matching = match_by(before, after, (self._old.key, self._new.key), (shape.head, shape.head))
        for i, j in matching.pairs:
            place = shape.place(before[i])
            self.compare(before[i], after[j], path if place is None else (*path, place), is_value=is_value)
        if is_value and matching.pairs and len(before) == 1 < len(after):
            self._tell(Kind.OPENED, path, _text(old, True), _text(new, True))
        elif is_value and matching.pairs and len(after) == 1 < len(before):
            self._tell(Kind.FIXED, path, _text(old, True), _text(new, True))
        elif max(len(before), len(after)) > 1:
            self._alone(before, after, matching, path, "alternative", is_value)

    def _optional(
        self, before: list[Node], after: list[Node], path: Path, old_text: str, new_text: str
    ) -> tuple[list[Node], list[Node]]:
        """Tells when a step became optional or necessary; the alternatives without `none`."""
        present: list[Node] = [option for option in before if not isinstance(option, Empty)]
        still_present: list[Node] = [option for option in after if not isinstance(option, Empty)]
        if not present or not still_present:
            return before, after
        was, is_now = len(present) < len(before), len(still_present) < len(after)
        if was != is_now:
            kind, detail = (Kind.FIXED, "no longer optional") if was else (Kind.OPENED, "now optional")
            self._tell(kind, path, old_text, new_text, detail)
        return present, still_present

    def _alone(
        self, before: list[Node], after: list[Node], matching: Matching, path: Path, noun: str, is_value: bool = False
    ) -> None:
        for i in matching.old:
            self._tell(Kind.REMOVED, path, old_text=_text(before[i], is_value), detail=noun)
        for j in matching.new:
            self._tell(Kind.ADDED, path, new_text=_text(after[j], is_value), detail=noun)

    # --- steps, branches, members ---

    def _groups(self, old: shape.Group, new: shape.Group, path: Path) -> None:
        before, after = shape.members(old), shape.members(new)
        if type(old) is not type(new):
            detail = f"{shape.in_words(old)}, now {shape.in_words(new)}"
            self._tell(Kind.CHANGED, path, _text(old), _text(new), detail)
        elif isinstance(old, Sequence | Union | Subset):
            self._in_order(before, after, path, shape.noun(old))
            return
        elif isinstance(old, Arrange | Repeat) and isinstance(new, Arrange | Repeat):
            kind = ends_kind((old.low, old.high), (new.low, new.high))
            if kind is not None:
                times = f"{old.low}..{old.high}", f"{new.low}..{new.high}"
                self._tell(kind, path, *times, "how many" if isinstance(old, Arrange) else "how often")
        kept = match_by(before, after, (self._old.key, self._new.key), (_name, _name), (shape.head, shape.head))
        self._pairs(before, after, kept, path, "member")
        self._alone(before, after, kept, path, "member")

    def _in_order(self, before: list[Node], after: list[Node], path: Path, noun: str) -> None:
        aligned = align(before, after, self._closeness)
        old_rest, new_rest = [before[i] for i in aligned.old], [after[j] for j in aligned.new]
        moved = match_by(old_rest, new_rest, (self._old.key, self._new.key), (_name, _name))
        names = shape.places(before, noun)
        for i, j in moved.pairs:
            at, to = aligned.old[i], aligned.new[j]
            self._tell(Kind.MOVED, path, f"{noun} {at + 1}", f"{noun} {to + 1}", _text(before[at]))
            self.compare(before[at], after[to], (*path, names[at]))
        self._pairs(before, after, aligned, path, noun)
        self._alone(old_rest, new_rest, moved, path, noun)

    def _pairs(self, before: list[Node], after: list[Node], matching: Matching, path: Path, noun: str) -> None:
        names = shape.places(before, noun)
        for i, j in matching.pairs:
            self.compare(before[i], after[j], (*path, names[i]))

    def _closeness(self, old: Node, new: Node) -> float:
        """How surely two steps are the same one: equal, named alike, or made of the same blocks."""
        if self._same(old, new):
            return 4.0
        if _name(old) is not None and _name(old) == _name(new):
            return 3.0
        ours, theirs = set(shape.classes(old)), set(shape.classes(new))
        return 2.0 * len(ours & theirs) / len(ours | theirs) if ours else 0.0

    # --- parameters ---

    def _params(self, old: tuple[Param, ...], new: tuple[Param, ...], path: Path) -> None:
        before, after = {param.name: param for param in old}, {param.name: param for param in new}
        for name in before.keys() - after.keys():
            self._tell(Kind.REMOVED, path, old_text=_param_text(before[name]), detail="parameter")
        for name in after.keys() - before.keys():
            self._tell(Kind.ADDED, path, new_text=_param_text(after[name]), detail="parameter")
        for name, param in before.items():
            if name in after:
                self._param(param, after[name], (*path, name))

    def _param(self, old: Param, new: Param, path: Path) -> None:
        self.compare(old.node, new.node, path, is_value=True)
        conditions = [
            nodes.condition(p.condition) if p.condition is not None else True
            for p, nodes in ((old, self._old), (new, self._new))
        ]
        if conditions[0] != conditions[1]:
            texts = ("" if p.condition is None else spell_condition(p.condition) for p in (old, new))
            self._tell(Kind.CONDITION_CHANGED, path, *texts)
        if not is_single(old.node) and not is_single(new.node) and _default_text(old) != _default_text(new):
            self._tell(Kind.DEFAULT_CHANGED, path, _default_text(old), _default_text(new))


def _name(node: Node) -> str | None:
    """The part that a node is."""
    return shape.place(node) if isinstance(node, Marked) else None


def _text(node: Node, is_value: bool = False) -> str:
    return spell_node(node, parameters=is_value, parts=True, most=_LONGEST_TEXT)


def _param_text(param: Param) -> str:
    return f"{spell_name(param.name)}{' =' if is_single(param.node) else ':'} {_text(param.node, True)}"


def _default_text(param: Param) -> str:
    if not param.has_default:
        return ""
    default = param.default
    return spell_amount(default) if isinstance(default, Formula) else spell_value(default)
