"""The normal form of a space: plain data that is equal for spaces that mean the same set.

Each node becomes an entry that names its pieces by key. A piece that is used in many places is processed once, so the
work grows with the number of nodes, not with the number of paths through them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from msl.record import record
from msl.space.canonical.content_hash import Entries, Entry, Key, content_hash
from msl.space.canonical.normal_alternatives import merge_records
from msl.space.canonical.normal_conditions import (
    Conditions,
    Naming,
    Vocabulary,
    block_identity,
    block_key,
    symbol_key,
    value_key,
)
from msl.space.canonical.normal_numbers import amount_key, int_range_key, merge_numbers, real_range_key
from msl.space.conditions import (
    Condition,
    Parameter,
    PartIs,
    Present,
    Requirement,
    ValueIs,
    atoms,
    marks,
    observed_settings,
    terms,
)
from msl.space.evaluate_conditions import occurrences
from msl.space.formulas import Amount, Formula
from msl.space.lengths import with_known_lengths
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Computed,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    Pipeline,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    Vector,
    bottom_up,
)
from msl.space.part_parameters import expanded, has_parameters, variable
from msl.space.spec import Space
from msl.space.values import BlockType, BlockValue, PipelineValue, SymbolValue, Value, part_as_block

#: Steps are put into one row up to this many. Beyond, nesting is kept: no two spaces become equal by it, and parts that
#: double each other forty times over stay small.
_LONGEST_ROW = 4_096
_SCALARS = frozenset("nothing bool int real text".split())

ANONYMOUS = Naming({}, {})


class Nodes:
    """Gives the nodes of one space their keys.

    With `defaults`, declared defaults count too, and alternatives that could be one are left as they are.
    """

    def __init__(
        self, entries: Entries, naming: Naming = ANONYMOUS, dataset: Vocabulary | None = None, *, defaults: bool = False
    ) -> None:
        self.entries, self._naming, self._defaults = entries, naming, defaults
        self._conditions = Conditions(entries, naming, dataset or Vocabulary())
        self._done: dict[int, tuple[Node, Key]] = {}  # keeps the node, so its id stays its own
        self._empty = entries.add("empty")

    def key(self, node: Node) -> Key:
        """Equal for two nodes that mean the same."""
        if id(node) not in self._done:
            for current in bottom_up(node):
                if id(current) not in self._done:
                    self._done[id(current)] = (current, self._normal(current))
        return self._known(node)

    def united(self, nodes: Iterable[Node]) -> Key:
        """The key of a choice of nodes."""
        return self._choice([self.key(node) for node in nodes])

    def _known(self, node: Node) -> Key:
        return self._done[id(node)][1]

    def _all_known(self, nodes: tuple[Node, ...]) -> list[Key]:
        return [self._known(node) for node in nodes]

    def _normal(self, node: Node) -> Key:
        add = self.entries.add
        match node:
            case Const(value=value):
                return self._value(value)
            case IntRange():
                return int_range_key(self.entries, node)
            case RealRange():
                return real_range_key(self.entries, node)
            case Bool():
                return self._choice([add("bool", False), add("bool", True)])
            case Vector(size=size, element=element):
                return self._vector(size, self.key(element))
            case Regions(count=count, width=width):
                return add("regions", amount_key(self.entries, count), amount_key(self.entries, width))
            case Listing(elements=elements):
                return add("list", *self._all_known(elements))
            case Sized(length=length):
                return add("sized", self._conditions.term(length), self._known(node.element))
            case Symbol(name=name, params=params, own=own):
                return symbol_key(self.entries, name, self._params(params), own)
            case BlockUse(block=block, params=params):
                return block_key(self.entries, block, self._params(params), self._naming)
            case Pipeline(node=inner):
                return self._pipeline(self._known(inner))
            case Computed(formula=formula, within=within):
                return add("computed", amount_key(self.entries, formula, self._naming.variables), self._known(within))
            case Marked(params=params) if params:
                block = part_as_block(node.mark)
                named = tuple(replace(param, name=self._naming.parameter(block, param.name)) for param in params)
                setting = block_key(self.entries, block, self._params(named), self._naming)
                return add("setting", setting, self._part_key(node))
            case Marked():
                return self._part_key(node)
            case Empty():
                return self._empty
            case Choice(options=options):
                return self._choice(self._all_known(options))
            case Sequence(steps=steps):
                return self._row("sequence", self._all_known(steps))
            case Union(branches=branches):
                return self._row("union", self._all_known(branches))
            case Subset(members=members):
                return self._row("sequence", [self._optional(key) for key in self._all_known(members)])
            case Permute(members=members):
                return self._permute(self._all_known(members))
            case Arrange(low=low, high=high, members=members):
                return self._arrange(low, high, self._all_known(members))
            case Repeat(low=low, high=high, member=member):
                return self._repeat(low, high, self._known(member))

    def _vector(self, size: Amount, element: Key) -> Key:
        if isinstance(size, int) and self.entries.kind(element) in _SCALARS:
            return self.entries.add("list", *[element] * size)
        return self.entries.add("vector", amount_key(self.entries, size), element)

    # --- parameters ---

    def _params(self, params: tuple[Param, ...]) -> list[Key]:
        keys = [self._param(param) for param in sorted(with_known_lengths(params), key=lambda param: param.name)]
        return [key for key in keys if key is not None]

    def _param(self, param: Param) -> Key | None:
        """A parameter; None for one whose condition can never be true."""
        condition = None if param.condition is None else self.condition(param.condition)
        if condition is False:
            return None
        described: list[str | None] = [self.key(param.node), None if condition is True else condition]
        if self._defaults and param.has_default:
            described.append(self._value(param.default))
        return self.entries.add("param", param.name, *described)

    def _value(self, value: Value | Formula) -> Key:
        if isinstance(value, Formula):
            return amount_key(self.entries, value)
        return value_key(self.entries, value, self._naming)

    def condition(self, condition: Condition) -> Key | bool:
        return self._conditions.key(condition)

    # --- how steps and values combine ---

    def _pipeline(self, key: Key) -> Key:
        """Steps as a value, alternative by alternative: one that is a single block is that block."""
        options = self.entries.pieces(key, "choice")
        return self._choice(
            [o if self.entries.kind(o) == "block" else self.entries.add("pipeline", o) for o in options]
        )

    def _choice(self, options: list[Key]) -> Key:
        flat = dict.fromkeys(piece for key in options for piece in self.entries.pieces(key, "choice"))
        distinct = set(merge_numbers(self.entries, list(flat)))
        if len(distinct) > 1 and not self._defaults:
            distinct = set(merge_records(self.entries, list(distinct), self._choice))
        return distinct.pop() if len(distinct) == 1 else self.entries.add("choice", *sorted(distinct))

    def _part_key(self, part: Marked) -> Key:
        name_of_part, inner = self._naming.marks.get(part.mark), self._known(part.node)
        return inner if name_of_part is None else self.entries.add("mark", name_of_part, inner)

    def _optional(self, key: Key) -> Key:
        return self._choice([key, self._empty])

    def _row(self, word: str, keys: list[Key]) -> Key:
        """Steps or branches in their order, nested ones put in place, empty ones left out."""
        present = [key for key in keys if key != self._empty]
        rows = [self.entries.pieces(key, word) for key in present]
        flat = [piece for row in rows for piece in row] if sum(map(len, rows)) <= _LONGEST_ROW else present
        if not flat:
            return self._empty
        return flat[0] if len(flat) == 1 else self.entries.add(word, *flat)

    def _permute(self, keys: list[Key]) -> Key:
        present = sorted(key for key in keys if key != self._empty)
        if len(set(present)) <= 1:
            return self._row("sequence", present)
        return self.entries.add("permute", *present)

    def _arrange(self, low: int, high: int, keys: list[Key]) -> Key:
        present = sorted(key for key in keys if key != self._empty)
        low, high = max(0, low - (len(keys) - len(present))), min(high, len(present))
        if high <= 0:
            return self._empty
        if low <= 0:
            return self._optional(self._arrange(1, high, present))
        if low >= len(present):
            return self._permute(present)
        if high == 1:
            return self._choice(present)
        return self.entries.add("arrange", low, high, *present)

    def _repeat(self, low: int, high: int, key: Key) -> Key:
        if high <= 0 or key == self._empty:
            return self._empty
        if low <= 0:
            return self._optional(self._repeat(1, high, key))
        if low == high <= _LONGEST_ROW:
            return self._row("sequence", [key] * low)
        return self.entries.add("repeat", low, high, key)


# --- whole spaces ---
#
# Layout, order of alternatives and declarations, nesting, names of parts and of blocks, and how the uses of a block are
# cut into alternatives leave no trace in it. The names that requirements use are replaced by numbers that follow from
# what the named things are and where they stand. Equal sets that are put together from unlike steps, or cut out by
# requirements, may have different forms: `enumerate/equivalence.py` proves that they are equal.


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
    plain = without_parameters(space)
    survey = survey_of(plain, variable_names(space.root) if has_parameters(plain.root) else {})
    return _form(plain, survey, _canonical_names(plain, survey))


def without_parameters(space: Space) -> Space:
    """A space with every part at each setting of its parameters, which stay where a requirement names them."""
    if not has_parameters(space.root):
        return space
    return replace(space, root=expanded(space.root, observed_settings(space.requirements)))


def _form(space: Space, survey: Survey, names: Mapping[Speaker, str]) -> NormalForm:
    entries, naming = Entries(), naming_of(names, survey.variables)
    root = Nodes(entries, naming, survey.dataset).key(space.root)
    conditions = Conditions(entries, naming, survey.dataset)
    forbidden = sorted({key for requirement in space.requirements for key in conditions.forbidden(requirement)})
    return NormalForm(root, tuple(forbidden), entries.below([root, *forbidden]))


# --- what requirements name ---


@record
class Survey:
    """What is in a space, and those named by its requirements that nothing but the name may tell apart."""

    dataset: Vocabulary
    speakers: tuple[Speaker, ...]
    #: Names for the parameters of parts that do not depend on names.
    variables: Mapping[str, str]


def survey_of(space: Space, variables: Mapping[str, str]) -> Survey:
    blocks = list(_blocks(space))
    marked = frozenset(node.mark for node in bottom_up(space.root) if isinstance(node, Marked))
    dataset = Vocabulary(frozenset(block.key for block in blocks), marked, space.facts)
    mentioned = [block for requirement in space.requirements for block in _mentioned(requirement)]
    keys_of, classes_of = defaultdict(set), defaultdict(set)
    for block in [*blocks, *mentioned]:
        keys_of[block_identity(block)].add(block.key)
        classes_of[block.key].add(block_identity(block))
    ambiguous = {b.key for b in mentioned if len(keys_of[block_identity(b)]) > 1 or len(classes_of[b.key]) > 1}
    speakers: tuple[Speaker, ...] = (*sorted(set(_parts_that_matter(space, dataset))), *sorted(ambiguous))
    return Survey(dataset, speakers, variables)


def variable_names(root: Node) -> dict[str, str]:
    """A name for each parameter of a part, which follows from how the part uses it; those of parts inside it first."""
    uses: dict[str, list[Marked]] = defaultdict(list)
    for node in bottom_up(root):
        if isinstance(node, Marked) and node.params:
            uses[node.mark].append(node)
    around = {variable(mark, param.name): "around" for mark, nodes in uses.items() for param in nodes[0].params}
    names: dict[str, str] = {}
    for mark, nodes in uses.items():
        own = [variable(mark, param.name) for param in nodes[0].params]
        found: dict[str, str] = {}
        for name in own:
            known = Naming({}, {}, around | names | dict.fromkeys(own, "other") | {name: "this"})
            keys = Nodes(Entries(), known)
            content = content_hash(("parameter", sorted({keys.key(node) for node in nodes})))
            found[name] = content if content not in found.values() else content_hash((content, len(found)))
        names |= found
    return names


def _parts_that_matter(space: Space, dataset: Vocabulary) -> Iterator[str]:
    """The parts that are left in what requirements forbid once everything that is never true is dropped."""
    entries = Entries()
    conditions = Conditions(entries, Naming({mark: mark for mark in dataset.marks}, {}), dataset)
    forbidden = {key for requirement in space.requirements for key in conditions.forbidden(requirement)}
    for entry in entries.below(forbidden).values():
        match entry:
            case ("part_is", str(mark), *_) | ("present", _, str(mark)) | ("parameter", _, _, str(mark)):
                yield mark


def naming_of(names: Mapping[Speaker, str], variables: Mapping[str, str]) -> Naming:
    parts = {speaker: name for speaker, name in names.items() if isinstance(speaker, str)}
    blocks = {speaker: name for speaker, name in names.items() if not isinstance(speaker, str)}
    return Naming(parts, blocks, variables)


def _blocks(space: Space) -> Iterator[BlockType]:
    for node in bottom_up(space.root):
        if isinstance(node, BlockUse):
            yield node.block
        elif isinstance(node, Marked) and node.params:
            yield part_as_block(node.mark)
        elif isinstance(node, Const) and isinstance(node.value, BlockValue | PipelineValue | SymbolValue | tuple):
            holder = BlockValue(_NO_BLOCK, (("", node.value),))
            yield from (found.block for found in occurrences((holder,)) if found is not holder)


_NO_BLOCK = BlockType("", "", "", None, "")


def _mentioned(requirement: Requirement) -> Iterator[BlockType]:
    yield from _blocks_of(requirement.condition)
    if requirement.when is not None:
        yield from _blocks_of(requirement.when)


def _blocks_of(condition: Condition) -> Iterator[BlockType]:
    for atom in atoms(condition):
        match atom:
            case Present(block=block):
                yield block
            case PartIs(options=options) | ValueIs(options=options):
                yield from (option for option in options if isinstance(option, BlockType))
        yield from (term.block for term in terms(atom) if isinstance(term, Parameter))


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
    nodes = Nodes(Entries(), naming_of(kinds, survey.variables), survey.dataset)
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
            naming = naming_of(kinds | {speaker: "this"}, survey.variables)
            said[speaker] |= Conditions(nodes.entries, naming, survey.dataset).forbidden(requirement)
    return {s: content_hash((kind, sorted(places[s]), sorted(said[s]))) for s, kind in kinds.items()}
