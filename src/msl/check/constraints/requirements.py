"""Find requirements that can never hold, that always hold, or that name blocks which are not in the space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import reduce

from msl.check.constraints.read_condition import flat_params
from msl.check.constraints.read_requirement import RequirementReader, Surroundings
from msl.check.constraints.truth_values import DomainEvaluator
from msl.check.names.library import Declaration, Module
from msl.diagnostics.diagnostic import Label, Report
from msl.language import ast
from msl.record import record
from msl.space.conditions import Parameter, PartIs, Present, Requirement, Sibling
from msl.space.evaluate_conditions import CERTAIN, Contents, Key, Outcome, Truths, joined_outcome, presence
from msl.space.formulas import Facts
from msl.space.model_traits import NO_TRAITS, Abstraction, BlockTrait, Traits
from msl.space.nodes import (
    Algebra,
    BlockUse,
    Computed,
    Empty,
    Marked,
    Node,
    Param,
    Symbol,
    alternatives,
    bottom_up,
    children,
    combined,
)
from msl.space.spec import Space
from msl.space.values import part_as_block


class Verdict(Enum):
    """What holds for a requirement whatever the model."""

    NEVER = "no model meets it"
    ALWAYS = "every model meets it"
    ABSENT = "it names a block that is not in the space"
    KILLS = "no model with the block meets it"


@record
class Finding:
    """A verdict, the block that it is about, and whether only the table makes it so."""

    verdict: Verdict
    block: str | None = None
    by_table: bool = False


class Survey:
    """The blocks of a space, the domains of their parameters, and which of them occur together."""

    def __init__(self, root: Node, facts: Facts | None) -> None:
        self.facts = facts
        self.uses: dict[Key, list[BlockUse]] = {}
        for node in bottom_up(root):
            if isinstance(node, BlockUse):
                self.uses.setdefault(node.block.key, []).append(node)
            elif isinstance(node, Marked) and node.params:
                block = part_as_block(node.mark)
                self.uses.setdefault(block.key, []).append(BlockUse(block, _widest(node.params)))
        self._combinations = Combinations(root)
        self._options: dict[tuple[Key, str], tuple[Node, ...]] = {}
        self._lacking: dict[tuple[Key, str], bool] = {}

    def verdict(self, requirement: Requirement) -> Finding | None:
        """A certain verdict on a requirement, or None."""
        abstraction = Abstraction((requirement,), self.facts, values=False)
        absent = next((block.name for key, block in abstraction.blocks.items() if key not in self.uses), None)
        found = self._combinations.of(abstraction)
        if found is None:
            return None if absent is None else Finding(Verdict.ABSENT, absent)
        models = [_Models(self, abstraction.contents(traits)) for traits in found]
        here = [_Rejected.of(requirement, DomainEvaluator(one, self.facts)) for one in models]
        if all(rejected.surely for rejected in here):
            return Finding(Verdict.NEVER, absent)
        if absent is not None:
            return Finding(Verdict.ABSENT, absent)
        anywhere = [_Rejected.of(requirement, DomainEvaluator(one)) for one in models]
        if not any(rejected.possibly for rejected in anywhere):
            return Finding(Verdict.ALWAYS)
        for key, block in abstraction.blocks.items():
            having = [BlockTrait(None, key) in traits for traits in found]
            if any(having) and _all_rejected(here, having):
                return Finding(Verdict.KILLS, block.name, by_table=not _all_rejected(anywhere, having))
        return None

    def options(self, key: Key, name: str) -> tuple[Node, ...]:
        """Every option that a parameter has in some occurrence of its block."""
        if (key, name) not in self._options:
            nodes = [node for use in self.uses.get(key, []) for node in _param_nodes(use, name)]
            options = (option for n in nodes for option in alternatives(n))
            self._options[key, name] = tuple(dict.fromkeys(options))
        return self._options[key, name]

    def may_lack(self, key: Key, name: str) -> bool:
        """Whether an occurrence of the block may be without the parameter."""
        if (key, name) not in self._lacking:
            self._lacking[key, name] = not all(
                any(param.name == name and param.condition is None for param in use.params)
                for use in self.uses.get(key, [])
            )
        return self._lacking[key, name]


@record
class _Rejected:
    """Whether models with the same traits are rejected, as far as is known."""

    surely: bool
    possibly: bool

    @classmethod
    def of(cls, requirement: Requirement, evaluator: DomainEvaluator) -> _Rejected:
        when: Truths = CERTAIN[True] if requirement.when is None else evaluator.truths(requirement.when)
        condition = evaluator.truths(requirement.condition)
        return cls(condition == {False} and when == {True}, False in condition and True in when)


def _all_rejected(rejections: list[_Rejected], chosen: list[bool]) -> bool:
    return all(rejected.surely for rejected, is_chosen in zip(rejections, chosen, strict=True) if is_chosen)


@record
class _Models:
    """The models that have the same traits: their parameters may be whatever the space leaves open."""

    survey: Survey
    contents: Contents

    def options(self, term: Parameter | Sibling) -> Iterable[Node]:
        assert isinstance(term, Parameter)
        return self.survey.options(term.block.key, term.name) if self._is_there(term) else ()

    def may_lack(self, term: Parameter | Sibling) -> bool:
        assert isinstance(term, Parameter)
        return not self._is_there(term) or self.survey.may_lack(term.block.key, term.name)

    def presence(self, condition: Present | PartIs) -> Truths:
        return CERTAIN[presence(condition, self.contents)]

    def _is_there(self, term: Parameter) -> bool:
        return presence(Present(term.block, term.mark), self.contents)


def _widest(params: tuple[Param, ...]) -> tuple[Param, ...]:
    """Parameters of a part, each with all values that it may have: where an outer part gives it, those declared."""
    return tuple(replace(p, node=p.node.within) if isinstance(p.node, Computed) else p for p in params)


def _param_nodes(use: BlockUse, name: str) -> Iterator[Node]:
    return (node for path, node in flat_params(use.params) if path == name)


# --- the requirements of a spec: read, checked one by one, and counted together ---


_MOST_WORK = 20_000  # what counting may cost before a check does without
_MOST_COUNTED = 100  # requirements; counting compares each with each


@record
class Required:
    """A requirement, and the statement that wrote it."""

    requirement: Requirement
    statement: ast.Require
    module: Module


def read(
    module: Module, report: Report, around: Surroundings, others: Sequence[ast.Require] = ()
) -> tuple[list[Required], list[Declaration]]:
    """The requirements of a file that can be read, without `others`, and the parts that they name."""
    reader = RequirementReader(module, report, around)
    found = []
    for statement in module.statements(ast.Require):
        if any(statement is other for other in others):
            continue
        condition = reader.condition(statement.condition)
        when = None if statement.when is None else reader.condition(statement.when)
        if condition is None or (statement.when is not None and when is None):
            continue
        text = " ".join(module.source.slice(statement.span).split())
        found.append(Required(Requirement(condition, when, text), statement, module))
    return found, list(reader.parts.values())


def report_verdicts(required: list[Required], root: Node, facts: Facts | None, spec: Module, report: Report) -> None:
    """Report each requirement that can never hold, always holds, or names what is not in the space."""
    survey = Survey(root, facts)
    for one in required:
        finding = survey.verdict(one.requirement)
        if finding is None:
            continue
        source, span = one.module.source, one.statement.span
        match finding.verdict:
            case Verdict.NEVER if finding.block is not None:
                message = f"no model can meet this requirement: `{finding.block}` is not in the chain"
                report.error("MSL125", source, span, message, "", "remove it, or add the block")
            case Verdict.NEVER:
                _never_met(one, report)
            case Verdict.ALWAYS:
                message = "every model of this space meets this requirement: it does nothing"
                report.warning("MSL229", source, span, message, "", "remove it, or look for a slip")
            case Verdict.ABSENT if one.module is spec:
                message = f"this requirement speaks of `{finding.block}`, which is not in the chain"
                report.warning("MSL230", source, span, message, "", "remove it, or add the block")
            case Verdict.KILLS if finding.by_table:
                message = f"for this table `{finding.block}` is left out: no model with it meets this requirement"
                report.note("MSL241", source, span, message)
            case Verdict.KILLS:
                message = f"no model with `{finding.block}` can meet this requirement"
                help = f"remove `{finding.block}`, or loosen the requirement"
                report.warning("MSL231", source, span, message, "a dead alternative", help)


def leave_a_model(required: list[Required], space: Space, report: Report) -> None:
    """Each requirement can be met; whether all can at once is counted, as far as that is cheap."""
    if len(required) > _MOST_COUNTED:
        return
    from msl.space.enumerate.count import count

    found = count(space, work=_MOST_WORK)
    if not found.exact or 0 not in (found.models, found.structures):
        return
    *others, last = required
    if not others:
        _never_met(last, report)
        return
    also = tuple(Label(one.module.source, one.statement.span, "and this one") for one in others)
    message = "together the requirements leave no model"
    report.error("MSL126", last.module.source, last.statement.span, message, "", "loosen one of them", also)


def _never_met(one: Required, report: Report) -> None:
    message = "no model of this space can meet this requirement"
    help = "loosen it, or change the domains"
    report.error("MSL125", one.module.source, one.statement.span, message, "", help)


# --- combinations: which of the blocks and parts that a requirement names can stand together in one model ---

# Computed from the structure of the space, without listing models. What a node contributes is a set of outcomes, each
# the traits that hold (`Abstraction`, without the values of parameters) and the outcome of its steps.

_Outcomes = frozenset[tuple[Traits, Outcome]]

_NOTHING: _Outcomes = frozenset({(NO_TRAITS, None)})
_MOST_OUTCOMES = 200


class _TooMany(Exception):
    """There are more outcomes than are worth telling apart."""


class Combinations:
    """The combinations of traits that the models of a space have.

    What a node contributes when nothing below it is named is computed once. For a requirement only the nodes above
    what it names are computed again, and for all requirements together at most `most_looks` of them.
    """

    def __init__(self, root: Node, most_looks: int = 1_000_000) -> None:
        self._looks_left = most_looks
        #: The nodes that hold blocks, with the places of those below each (None for mere values), lowest first.
        self._nodes: list[tuple[Node, list[int | None]]] = []
        self._above: list[list[int]] = []
        self._places: dict[Key | str, list[int]] = {}
        met: dict[int, int] = {}
        for node in bottom_up(root):
            below = [met.get(id(child)) for child in children(node)]
            if isinstance(node, BlockUse | Empty | Marked) or any(place is not None for place in below):
                met[id(node)] = len(self._nodes)
                self._add(node, below)
        nothing = Abstraction((), None, values=False)
        self._plain: list[_Outcomes] = []
        for node, below in self._nodes:
            inner = [_NOTHING if place is None else self._plain[place] for place in below]
            self._plain.append(_outcomes(node, inner, nothing))

    def _add(self, node: Node, below: list[int | None]) -> None:
        here = len(self._nodes)
        self._nodes.append((node, below))
        self._above.append([])
        for place in {place for place in below if place is not None}:
            self._above[place].append(here)
        if isinstance(node, BlockUse):
            self._places.setdefault(node.block.key, []).append(here)
        elif isinstance(node, Marked):
            self._places.setdefault(node.mark, []).append(here)
            if node.params:
                self._places.setdefault(part_as_block(node.mark).key, []).append(here)

    def of(self, abstraction: Abstraction) -> set[Traits] | None:
        """Every set of traits that some model has, or None where there are too many to tell apart."""
        done: dict[int, _Outcomes] = {}
        try:
            for here in self._touched([*abstraction.blocks, *abstraction.parts]):
                node, below = self._nodes[here]
                self._looks_left -= len(below) + 1
                if self._looks_left < 0:
                    return None
                inner = [_NOTHING if p is None else done[p] if p in done else self._plain[p] for p in below]
                done[here] = _outcomes(node, inner, abstraction)
        except _TooMany:
            return None
        last = len(self._nodes) - 1
        return {traits for traits, _ in done.get(last, self._plain[last])}

    def _touched(self, named: list[Key | str]) -> list[int]:
        """The places of what is named and of everything above it, lowest first."""
        pending = [place for name in named for place in self._places.get(name, [])]
        found: set[int] = set()
        while pending:
            place = pending.pop()
            if place not in found:
                found.add(place)
                pending.extend(self._above[place])
        return sorted(found)


def _outcomes(node: Node, below: list[_Outcomes], abstraction: Abstraction) -> _Outcomes:
    match node:
        case BlockUse(block=block):
            own = abstraction.block_traits(block, ())
            outcome: Outcome = block.key if own else False
            return frozenset((traits | own, outcome) for traits, _ in _of_params(node, below))
        case Symbol():
            return _of_params(node, below)
        case Marked(mark=mark, params=params):
            own = abstraction.block_traits(part_as_block(mark), ()) if params else NO_TRAITS
            if own:
                below = [frozenset((traits | own, outcome) for traits, outcome in below[0])]
            if not abstraction.observes_part(mark):
                return below[0]
            return frozenset(_inside(mark, traits, outcome, abstraction) for traits, outcome in below[0])
    return combined(node, below, _COMBINE)


def _of_params(node: BlockUse | Symbol, below: list[_Outcomes]) -> _Outcomes:
    """Blocks that fill slots; a conditional parameter may not be there."""
    pairs = zip(node.params, below, strict=True)
    return _COMBINE.all_of([one if param.condition is None else one | _NOTHING for param, one in pairs])


def _inside(mark: str, traits: Traits, outcome: Outcome, abstraction: Abstraction) -> tuple[Traits, Outcome]:
    """With the traits of a part: the blocks that are inside it, and its outcome."""
    own = abstraction.part_traits(mark, abstraction.outcome(mark, outcome))
    return traits | abstraction.inside(mark, traits) | own, outcome


def _joined(one: _Outcomes, other: _Outcomes) -> _Outcomes:
    if one is _NOTHING:
        return other
    if other is _NOTHING:
        return one
    return _limited(frozenset((t1 | t2, joined_outcome(o1, o2)) for t1, o1 in one for t2, o2 in other))


def _limited(outcomes: _Outcomes) -> _Outcomes:
    if len(outcomes) > _MOST_OUTCOMES:
        raise _TooMany
    return outcomes


class _Combine(Algebra[_Outcomes]):
    """The outcomes of a node from those of its children."""

    nothing = _NOTHING

    def one_of(self, options: list[_Outcomes]) -> _Outcomes:
        return _limited(frozenset().union(*options))

    def optional(self, member: _Outcomes) -> _Outcomes:
        return member | _NOTHING

    def all_of(self, members: list[_Outcomes]) -> _Outcomes:
        return reduce(_joined, members, _NOTHING)

    def some_of(self, members: list[_Outcomes], low: int, high: int) -> _Outcomes:
        """Member by member, by how many were taken so far."""
        taken: list[_Outcomes] = [_NOTHING] + [frozenset()] * high
        for outcomes in members:
            for count in reversed(range(high)):
                taken[count + 1] = _limited(taken[count + 1] | _joined(taken[count], outcomes))
        return frozenset().union(*taken[low:])

    def repeated(self, member: _Outcomes, low: int, high: int) -> _Outcomes:
        """Once a further time adds nothing new, no number of times does."""
        current, found = _NOTHING, _NOTHING if low == 0 else frozenset()
        for count in range(1, high + 1):
            current = _joined(current, member)
            if count > low and current <= found:
                break
            if count >= low:
                found = _limited(found | current)
        return found


_COMBINE = _Combine()
