"""Normal form: a space as plain data such that equal data means equal spaces.

Layout, order of alternatives and declarations, nesting, names of parts and of blocks, and how the uses of a block are
cut into alternatives leave no trace in it. The names that requirements use are replaced by numbers that follow from
what the named things are and where they stand. Equal sets that are put together from unlike steps, or cut out by
requirements, may have different forms: `relation.py` tells that they are equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msl.space.condition import (
    AllOf,
    AnyOf,
    Condition,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    ValueIs,
    marks,
    terms,
)
from msl.space.entries import Entries, Entry, Key, content_hash
from msl.space.node import BlockUse, Const, Marked, bottom_up
from msl.space.normal_condition import Conditions, Ground, Naming, block_identity
from msl.space.normal_node import Nodes
from msl.space.space import Space
from msl.space.truth import occurrences
from msl.space.value import BlockType, BlockValue, SymbolValue
from msl.text.record import record

#: What a requirement names: a part by its mark, or a block by its origin and name.
Speaker = str | tuple[str, str]


@record
class NormalForm:
    """The root, what requirements forbid, and the entries that both are made of, each under the hash of its content."""

    root: Key
    forbidden: tuple[Key, ...]
    entries: Mapping[Key, Entry]

    @property
    def key(self) -> Key:
        """Two spaces have the same form exactly when this is the same."""
        return content_hash(("space", self.root, self.forbidden))


def normal_form(space: Space) -> NormalForm:
    """The one form of a space and of everything that is spelt otherwise but means the same."""
    survey = survey_of(space)
    return _form(space, survey, _canonical_names(space, survey))


def _form(space: Space, survey: Survey, names: Mapping[Speaker, str]) -> NormalForm:
    entries, naming = Entries(), naming_of(names)
    root = Nodes(entries, naming, survey.ground).key(space.root)
    conditions = Conditions(entries, naming, survey.ground)
    forbidden = sorted({key for requirement in space.requirements for key in conditions.forbidden(requirement)})
    return NormalForm(root, tuple(forbidden), entries.below([root, *forbidden]))


# --- what requirements speak of -----------------------------------------------------------------------


@record
class Survey:
    """What is in a space, and those named by its requirements that nothing but the name may tell apart."""

    ground: Ground
    speakers: tuple[Speaker, ...]


def survey_of(space: Space) -> Survey:
    blocks = list(_blocks(space))
    marked = frozenset(node.mark for node in bottom_up(space.root) if isinstance(node, Marked))
    ground = Ground(frozenset(block.key for block in blocks), marked, space.facts)
    mentioned = [block for requirement in space.requirements for block in _mentioned(requirement)]
    keys_of, classes_of = defaultdict(set), defaultdict(set)
    for block in [*blocks, *mentioned]:
        keys_of[block_identity(block)].add(block.key)
        classes_of[block.key].add(block_identity(block))
    ambiguous = {b.key for b in mentioned if len(keys_of[block_identity(b)]) > 1 or len(classes_of[b.key]) > 1}
    return Survey(ground, (*sorted(set(_parts_that_matter(space, ground))), *sorted(ambiguous)))


def _parts_that_matter(space: Space, ground: Ground) -> Iterator[str]:
    """The parts that are left in what requirements forbid once everything that is never true is dropped."""
    entries = Entries()
    conditions = Conditions(entries, Naming({mark: mark for mark in ground.marks}, {}), ground)
    forbidden = {key for requirement in space.requirements for key in conditions.forbidden(requirement)}
    for entry in entries.below(forbidden).values():
        match entry:
            case ("part_is", str(mark), *_) | ("present", _, str(mark)) | ("parameter", _, _, str(mark)):
                yield mark


def naming_of(names: Mapping[Speaker, str]) -> Naming:
    parts = {speaker: name for speaker, name in names.items() if isinstance(speaker, str)}
    return Naming(parts, {speaker: name for speaker, name in names.items() if not isinstance(speaker, str)})


def _blocks(space: Space) -> Iterator[BlockType]:
    for node in bottom_up(space.root):
        if isinstance(node, BlockUse):
            yield node.block
        elif isinstance(node, Const) and isinstance(node.value, BlockValue | SymbolValue | tuple):
            holder = BlockValue(_NO_BLOCK, (("", node.value),))
            yield from (found.block for found in occurrences((holder,)) if found is not holder)


_NO_BLOCK = BlockType("", "", "", None, "")


def _mentioned(requirement: Requirement) -> Iterator[BlockType]:
    yield from _blocks_of(requirement.condition)
    if requirement.when is not None:
        yield from _blocks_of(requirement.when)


def _blocks_of(condition: Condition) -> Iterator[BlockType]:
    match condition:
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from _blocks_of(item)
        case Negation(item=item):
            yield from _blocks_of(item)
        case Present(block=block):
            yield block
        case PartIs(options=options) | ValueIs(options=options):
            yield from (option for option in options if isinstance(option, BlockType))
    if not isinstance(condition, AllOf | AnyOf | Negation):
        yield from (term.block for term in terms(condition) if isinstance(term, Parameter))


# --- names that do not depend on names ------------------------------------------------------------------


def _canonical_names(space: Space, survey: Survey) -> dict[Speaker, str]:
    """A name for each speaker that follows from what it is and where it stands.

    Those with the same content and the same requirements are told apart by their places in the whole. Where even that
    makes no difference, swapping them changes nothing, so any one of them may come first.
    """
    names = _names_by_content(space, survey)
    while tied := _tied(names):
        names |= {
            speaker: content_hash((names[speaker], _form(space, survey, names | {speaker: "this"}).key))
            for speaker in tied
        }
        if tied := _tied(names):
            first = min(tied, key=lambda speaker: (names[speaker], speaker))
            names[first] = content_hash(("first", names[first]))
    return names


def _tied(names: Mapping[Speaker, str]) -> list[Speaker]:
    bearers = defaultdict(list)
    for speaker, name in names.items():
        bearers[name].append(speaker)
    return [speaker for tied in bearers.values() if len(tied) > 1 for speaker in tied]


def _names_by_content(space: Space, survey: Survey) -> dict[Speaker, str]:
    kinds: dict[Speaker, str] = {
        speaker: "part" if isinstance(speaker, str) else "block" for speaker in survey.speakers
    }
    if len(kinds) < 2:
        return kinds
    nodes = Nodes(Entries(), naming_of(kinds), survey.ground)
    places: dict[Speaker, set[Key]] = defaultdict(set)
    nodes.key(space.root)
    for node in bottom_up(space.root):
        if isinstance(node, Marked):
            places[node.mark].add(nodes.key(node))
        elif isinstance(node, BlockUse):
            places[node.block.key].add(nodes.key(node))
    said: dict[Speaker, set[Key]] = defaultdict(set)
    for requirement in space.requirements:
        named: set[Speaker] = {*marks(requirement), *(block.key for block in _mentioned(requirement))}
        for speaker in named & kinds.keys():
            naming = naming_of(kinds | {speaker: "this"})
            said[speaker] |= Conditions(nodes.entries, naming, survey.ground).forbidden(requirement)
    return {s: content_hash((kind, sorted(places[s]), sorted(said[s]))) for s, kind in kinds.items()}
