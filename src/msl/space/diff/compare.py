"""List what differs between two spaces by meaning: blocks by their class, parameters by name, domains as sets.

First it is proven that the sets of models differ: texts, and even digests, may differ where the sets do not. Defaults,
which are no part of the set, are reported separately.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from msl.space.canonical.content_hash import Entries, Key
from msl.space.canonical.normal_conditions import Vocabulary
from msl.space.canonical.normal_form import Nodes, naming_of, normal_form
from msl.space.condition_text import condition_to_text
from msl.space.diff import simplify as shape
from msl.space.diff.pieces import (
    KIND_OF,
    Change,
    Kind,
    Matching,
    align,
    domain_kinds,
    ends_kind,
    is_scalar_domain,
    match_by,
    requirement_changes,
    shared_parts,
    variables_of,
)
from msl.space.enumerate.disjoint_sets import WorkLimit
from msl.space.enumerate.equivalence import Relation, Verdict, relate
from msl.space.formulas import Formula
from msl.space.names_to_text import amount_to_text, name_to_text, term_to_text
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Const,
    Empty,
    Listing,
    Marked,
    Node,
    Param,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    Vector,
    rebuilt,
)
from msl.space.spec import Space
from msl.space.to_text import is_single, node_to_text, value_to_text
from msl.space.values import BlockType

_LONGEST_TEXT = 80
#: How much work may be done to tell whether pieces are the same in other words: once the whole was told from the
#: other, and where not even that could be done.
_MOST_WORK, _LEAST_WORK = 300_000, 10_000
_PAIR = 2
_NO_BLOCK = BlockType("", "", "", None, "")

Path = tuple[str, ...]


def compare_spaces(old: Space, new: Space) -> Verdict:
    """How the models of one space relate to those of another, proven unless their digests are equal."""
    return Verdict(Relation.SAME) if normal_form(old).key == normal_form(new).key else relate(old, new)


def diff_spaces(old: Space, new: Space, verdict: Verdict | None = None) -> tuple[Change, ...]:
    """What changed from one space to the other; none of it counts exactly when both are the same on the same scales.

    `verdict` is what `compare_spaces` says of the two, where that is known already.
    """
    verdict = compare_spaces(old, new) if verdict is None else verdict
    walk = _Walk(old, new, proves=verdict.relation is not Relation.UNDECIDED)
    place = shape.place(old.root)
    walk.compare(*walk.parts(), (place,) if place is not None and place == shape.place(new.root) else ())
    if verdict.relation is Relation.SAME:
        # What the words differ in is no change.
        kept = [change for change in walk.changes if not change.counts]
        return tuple(kept) if verdict.same_scales else (*_rescaled(walk.changes, old, new), *kept)
    changes = [*walk.changes, *requirement_changes(old, new)]
    if not any(change.counts for change in changes):
        detail = "the same words in its requirements speak of other places"
        changes.append(Change(Kind.CHANGED, (), _text(old.root), _text(new.root), detail))
    return tuple(changes)


def _rescaled(changes: list[Change], old: Space, new: Space) -> list[Change]:
    """The changes of scales among others without effect; one for the whole space if there is none."""
    found = [change for change in changes if change.kind is Kind.RESCALED]
    detail = "the same models, with numbers on other scales"
    return found or [Change(Kind.RESCALED, (), _text(old.root), _text(new.root), detail)]


class _Walk:
    """Walks both spaces side by side. A pair of nodes that is shared by several places is reported once.

    If it `proves`, steps that hold the same models in other words are not told of.
    """

    def __init__(self, old: Space, new: Space, proves: bool) -> None:
        self._spaces, self._shared = (old, new), shared_parts(old, new)
        self._facts = old.facts if old.facts == new.facts else None
        self._limit = WorkLimit(_MOST_WORK if proves else _LEAST_WORK)
        self.changes: list[Change] = []
        entries = Entries()
        shared = zip(*self._shared.values(), strict=True) if self._shared else ((), ())
        variables = (variables_of(s, uses, self._shared) for s, uses in zip((old, new), shared, strict=True))
        before, after = (naming_of({}, names) for names in variables)
        named = ((old, before), (new, after))
        self._old, self._new = (Nodes(entries, naming, Vocabulary(facts=s.facts)) for s, naming in named)
        self._old_full, self._new_full = (
            Nodes(entries, naming, Vocabulary(facts=s.facts), defaults=True) for s, naming in named
        )
        self._met: dict[tuple[int, int], tuple[Node, Node]] = {}  # keeps the nodes, so their ids stay their own
        self._verdicts: dict[tuple[int, int], tuple[Node, Node, Verdict]] = {}
        self._told = 0

    def parts(self) -> tuple[Node, Node]:
        """Tells how the parameters of parts changed, once for all uses; both spaces without them, for the rest."""
        for name, (old, new) in self._shared.items():
            self._params(old.params, new.params, (name,))
        told = {use.mark for uses in self._shared.values() for use in uses}

        def without(node: Node) -> Node:
            return replace(node, params=()) if isinstance(node, Marked) and node.mark in told else node

        old_space, new_space = self._spaces
        if not told:
            return old_space.root, new_space.root
        return rebuilt(old_space.root, without), rebuilt(new_space.root, without)

    def compare(self, old: Node, new: Node, path: Path, *, is_value: bool = False) -> None:
        """Tells everything that differs between two nodes; something, if they differ at all."""
        if self._old_full.key(old) == self._new_full.key(new):
            return
        differs = not self._same(old, new) and not self._is_proven_same(old, new, is_value)
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

    def _is_proven_same(self, old: Node, new: Node, is_value: bool) -> bool:
        verdict = self._related(old, new, is_value)
        return verdict.relation is Relation.SAME and verdict.same_scales

    def _related(self, old: Node, new: Node, is_value: bool) -> Verdict:
        """How two nodes relate, whatever is required of what they stand in."""
        key = id(old), id(new)
        if key not in self._verdicts:
            before, after = (_holder(old), _holder(new)) if is_value else (old, new)
            verdict = relate(Space(before, (), self._facts), Space(after, (), self._facts), self._limit)
            self._verdicts[key] = old, new, verdict
        return self._verdicts[key][2]

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
                    self._tell(Kind.CHANGED, path, amount_to_text(size), amount_to_text(new_size), "size of the vector")
                self.compare(element, new_element, path, is_value=True)
            case Sized(length=length, element=element), Sized(length=new_length, element=new_element):
                if length != new_length:
                    texts = term_to_text(length), term_to_text(new_length)
                    self._tell(Kind.CHANGED, path, *texts, "length of the vector")
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
            relation = self._related(old, new, True).relation
            for kind in [] if self._same(old, new) else domain_kinds(before, after, relation):
                self._tell(kind, path, _text(old, True), _text(new, True))
            return
        sizes = len(before), len(after)
        if not is_value:
            before, after = self._optional(before, after, path, _text(old), _text(new))
        rest, new_rest = self._without_same(before, after, is_value)
        has_same, (before, after) = len(rest) < len(before), self._united(rest, new_rest, path, is_value)
        matching = match_by(before, after, (self._old.key, self._new.key), (shape.head, shape.head))
        for i, j in matching.pairs:
            place = shape.place(before[i])
            self.compare(before[i], after[j], path if place is None else (*path, place), is_value=is_value)
        if is_value and (matching.pairs or has_same) and sizes[0] == 1 < sizes[1]:
            self._tell(Kind.OPENED, path, _text(old, True), _text(new, True))
        elif is_value and (matching.pairs or has_same) and sizes[1] == 1 < sizes[0]:
            self._tell(Kind.FIXED, path, _text(old, True), _text(new, True))
        elif max(sizes) > 1:
            self._alone(before, after, matching, path, "alternative", is_value)

    def _without_same(self, before: list[Node], after: list[Node], is_value: bool) -> tuple[list[Node], list[Node]]:
        """The alternatives without those that together mean the same: `sc` and `sc | sc(k: 1..2)`."""
        for kind in (shape.family, shape.head):
            ours, theirs = _by(kind, before), _by(kind, after)
            for name in ours.keys() & theirs.keys():
                if len(ours[name]) + len(theirs[name]) > _PAIR and self._come_to_the_same(
                    ours[name], theirs[name], is_value
                ):
                    before = [option for option in before if kind(option) != name]
                    after = [option for option in after if kind(option) != name]
        return before, after

    def _come_to_the_same(self, ours: list[Node], theirs: list[Node], is_value: bool) -> bool:
        if self._old.united(ours) == self._new.united(theirs):
            return True
        return self._is_proven_same(Choice(tuple(ours)), Choice(tuple(theirs)), is_value)

    def _united(
        self, before: list[Node], after: list[Node], path: Path, is_value: bool
    ) -> tuple[list[Node], list[Node]]:
        """Tells of several uses of one block that became others; the alternatives without them and the unchanged."""
        equal = match_by(before, after, (self._old.key, self._new.key))
        ours, theirs = (
            _by(shape.head, [side[i] for i in left]) for side, left in ((before, equal.old), (after, equal.new))
        )
        for head in [head for head in ours if head in theirs and len(ours[head]) + len(theirs[head]) > _PAIR]:
            old, new = (Choice(tuple(_by(shape.head, side)[head])) for side in (before, after))
            kind = KIND_OF.get(self._related(old, new, is_value).relation, Kind.CHANGED)
            place = shape.place(ours[head][0])
            texts = (_text(Choice(tuple(side)), True) for side in self._without_common(ours[head], theirs[head]))
            self._tell(kind, path if place is None else (*path, place), *texts)
            before = [option for option in before if option not in ours[head]]
            after = [option for option in after if option not in theirs[head]]
        return before, after

    def _without_common(self, ours: list[Node], theirs: list[Node]) -> tuple[list[Node], list[Node]]:
        """Uses of one block without the parameters that are the same in all of them."""
        domains: dict[str, set[Key]] = {}
        for nodes, side in ((self._old, ours), (self._new, theirs)):
            for param in (param for use in side for param in _params_of(use)):
                domains.setdefault(param.name, set()).add(nodes.key(param.node))
        shown = {name for name, found in domains.items() if len(found) > 1}
        if not shown:
            return ours, theirs
        return [_with_only(use, shown) for use in ours], [_with_only(use, shown) for use in theirs]

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
            texts = ("" if p.condition is None else condition_to_text(p.condition) for p in (old, new))
            self._tell(Kind.CONDITION_CHANGED, path, *texts)
        if not is_single(old.node) and not is_single(new.node) and _default_text(old) != _default_text(new):
            self._tell(Kind.DEFAULT_CHANGED, path, _default_text(old), _default_text(new))


def _params_of(node: Node) -> tuple[Param, ...]:
    inner = shape.bare(node)
    return inner.params if isinstance(inner, BlockUse | Symbol) else ()


def _with_only(node: Node, names: set[str]) -> Node:
    inner = shape.bare(node)
    if not isinstance(inner, BlockUse | Symbol):
        return node
    return replace(inner, params=tuple(param for param in inner.params if param.name in names))


def _holder(value: Node) -> Node:
    """A step with this value, which is compared as steps are; a length that siblings decide, by how it is written."""
    if isinstance(value, Sized):
        value = Listing((value.element, Const(term_to_text(value.length))))
    return BlockUse(_NO_BLOCK, (Param("value", value),))


def _by(kind: Callable[[Node], Hashable], nodes: list[Node]) -> dict[Hashable, list[Node]]:
    """Nodes by what they are at first sight, without those that are like nothing else."""
    found: dict[Hashable, list[Node]] = {}
    for node in nodes:
        if (name := kind(node)) is not None:
            found.setdefault(name, []).append(node)
    return found


def _name(node: Node) -> str | None:
    """The part that a node is."""
    return shape.place(node) if isinstance(node, Marked) else None


def _text(node: Node, is_value: bool = False) -> str:
    return node_to_text(node, parameters=is_value, parts=True, priors=False, most=_LONGEST_TEXT)


def _param_text(param: Param) -> str:
    return f"{name_to_text(param.name)}{' =' if is_single(param.node) else ':'} {_text(param.node, True)}"


def _default_text(param: Param) -> str:
    if not param.has_default:
        return ""
    default = param.default
    return amount_to_text(default) if isinstance(default, Formula) else value_to_text(default)
