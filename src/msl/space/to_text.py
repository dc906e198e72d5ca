"""Write models, domains and spaces as MSL text; a model as an expression with nothing open, or as a file of its own.

Names, numbers and formulas are written by `names_to_text`, requirements by `condition_text`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import accumulate

from msl.record import record
from msl.space.column_selectors import ON, Selector, selector_of
from msl.space.evaluate_conditions import occurrences
from msl.space.formulas import Amount, Formula
from msl.space.names_to_text import (
    BlockNames,
    amount_to_text,
    called,
    name_to_text,
    number_to_text,
    part_name,
    term_to_text,
)
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
    blocks_in,
    bottom_up,
    children,
    weighted_options,
)
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value

_WIDEST_LINE = 100
#: Texts between quotes, in which parentheses mean nothing.
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')


def model_to_text(model: Model, ambiguous: Collection[str] = ()) -> str:
    """A model as an expression. Blocks are called `origin.name` where two in the model share a name, or a name is
    `ambiguous` for other reasons, such as a catalogue in use that declares it too."""
    return " >> ".join(_steps(model.steps, _names(model, ambiguous))) or "none"


def model_to_file_text(model: Model, name: str = "model", ambiguous: Collection[str] = ()) -> str:
    """A model as a file that stands on its own: the edition, what it uses, and one chain."""
    names = _names(model, ambiguous)
    steps = _steps(model.steps, names) or ["none"]
    chain = f"chain {name} = {' >> '.join(steps)}"
    if len(chain) > _WIDEST_LINE:
        chain = f"chain {name} =\n  " + "\n  >> ".join(steps)
    header = f"msl 1\n{names.use()}\n" if names.origins else "msl 1\n"
    return f"{header}\n{chain}\n"


def value_to_text(value: Value) -> str:
    """A value of a parameter."""
    return NodeWriter(BlockNames()).value(value)


def node_to_text(
    node: Node, *, parameters: bool = True, parts: bool = False, priors: bool = True, most: int | None = None
) -> str:
    """A domain or a space. For people: without `parameters`, blocks are names alone, with `parts`, so are marked parts,
    and with `most`, long lists are cut."""
    names = BlockNames(blocks_in(node))
    return NodeWriter(names, parameters=parameters, parts=parts, priors=priors, most=most).node(node)


def _names(model: Model, ambiguous: Collection[str]) -> BlockNames:
    return BlockNames([found.block for found in occurrences(model.steps)], ambiguous)


def _steps(steps: tuple[Step, ...], names: BlockNames) -> list[str]:
    """A text for each step; one that selects columns has the steps up to the learner in its parentheses."""
    texts: list[str] = []
    for place, step in enumerate(steps):
        if (selector := selector_of(step)) is not None:
            rest = steps[place + 1 :]
            end = next((n for n, other in enumerate(rest) if _is_learner(other)), len(rest))
            inner = _steps(rest[:end], names)
            return [*texts, _on(selector, " >> ".join(inner) or "none"), *_steps(rest[end:], names)]
        texts.append(_step(step, names))
    return texts


def _is_learner(step: Step) -> bool:
    return isinstance(step, BlockValue) and step.block.role == "learner"


def _on(selector: Selector, steps: str) -> str:
    is_enclosed = steps.startswith("(") and steps.endswith(")") and _closes_last(steps)
    return f"{selector_to_text(selector)} {steps if is_enclosed else f'({steps})'}"


def selector_to_text(selector: Selector) -> str:
    """The columns that steps are for: `on numbers`, `on [age, "income_*"]`."""
    return f"on {selector if isinstance(selector, str) else '[' + ', '.join(map(name_to_text, selector)) + ']'}"


def _closes_last(text: str) -> bool:
    """Whether the first parenthesis of a text is closed by its last character."""
    depth = 0
    for place, character in enumerate(_TEXTS.sub(lambda found: "_" * len(found[0]), text)):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _step(step: Step, names: BlockNames) -> str:
    if not isinstance(step, Branches):
        return NodeWriter(names).value(step)
    joined = " & ".join(_branch(branch, names) for branch in step.branches)
    return f"({joined})"


def _branch(steps: tuple[Step, ...], names: BlockNames) -> str:
    texts = _steps(steps, names)
    return texts[0] if len(texts) == 1 else f"({' >> '.join(texts)})"


# --- domains and whole spaces, such as `int 1..10 log`, `a | b` and `(a & b)?` ---


_SHORT_LIST = 4
#: How many characters stand between two pieces, and how many say that there are more.
_BETWEEN, _MORE = 3, 9


@record
class _Text:
    """A text, and the operator that joins its parts: under another operator it needs parentheses."""

    text: str
    operator: str | None = None

    def under(self, operator: str | None) -> str:
        return f"({self.text})" if self.operator is not None and operator is not None else self.text


class NodeWriter:
    """Writes nodes with one set of block names.

    `parameters` says whether blocks are shown with theirs, `parts` whether a marked part is its name alone. For people,
    `most` keeps the whole within so many characters: long lists are cut to their first pieces, and what is still too
    long becomes `…`.
    """

    def __init__(
        self,
        names: BlockNames,
        *,
        parameters: bool = True,
        parts: bool = False,
        priors: bool = True,
        most: int | None = None,
    ) -> None:
        self._names, self._parameters, self._parts, self._most = names, parameters, parts, most
        self._priors = priors

    def node(self, node: Node) -> str:
        texts: dict[int, _Text] = {}
        for current in bottom_up(node):
            room = self._most if current is node or self._most is None else self._most // 2
            text = self._text(current, texts, room)
            if self._most is not None and len(text.text) > self._most and current is not node:
                text = _Text("…")
            texts[id(current)] = text
        whole = texts[id(node)].text
        return whole if self._most is None or len(whole) <= self._most else whole[: self._most - 1].rstrip() + "…"

    def value(self, value: Value) -> str:
        match value:
            case None:
                return "none"
            case bool():
                return "true" if value else "false"
            case int() | float():
                return number_to_text(value)
            case str():
                return name_to_text(value)
            case tuple():
                return f"[{', '.join(map(self.value, value))}]"
            case SymbolValue(name=name, params=params, own=True):
                return _braced(name_to_text(name), self.fixed(params))
            case SymbolValue(name=name, params=params):
                return called(name_to_text(name), self.fixed(params))
            case BlockValue(block=block, params=params):
                return called(self._names.name(block), self.fixed(params))
            case PipelineValue(steps=steps):
                return f"({' >> '.join(_steps(steps, self._names)) or 'none'})"

    def fixed(self, params: tuple[tuple[str, Value], ...]) -> list[str]:
        """Parameters with their values, by name: a model has one text."""
        ordered = sorted(params, key=lambda param: param[0])
        return [f"{name_to_text(name)} = {self.value(value)}" for name, value in ordered]

    # --- one node, given the texts of its pieces ---

    def _text(self, node: Node, texts: dict[int, _Text], room: int | None) -> _Text:
        match node:
            case Const(value=value):
                return _Text(amount_to_text(value) if isinstance(value, Formula) else self.value(value))
            case IntRange() | RealRange() | Bool():
                return _Text(_range(node) + (_prior(node) if self._priors else ""))
            case Vector(size=size, element=element):
                return _Text(f"vector({amount_to_text(size)}) of {self._text(element, texts, room).text}")
            case Regions(count=count):
                return _Text(f"regions({amount_to_text(count)})")
            case Listing(elements=elements):
                return _Text(f"[{', '.join(texts[id(element)].text for element in elements)}]")
            case Sized(length=length, element=element):
                return _Text(f"vector({term_to_text(length)}) of {texts[id(element)].under('of')}")
            case Symbol(name=name, params=params, own=True):
                return _Text(self._braced(name_to_text(name), self._params(params, texts)))
            case Symbol(name=name, params=params):
                return _Text(called(name_to_text(name), self._params(params, texts)))
            case BlockUse(block=block) if block == ON:
                return _Text(_on(selector_of(node) or "", "none"))
            case BlockUse(block=block, params=params):
                return _Text(called(self._names.name(block), self._params(params, texts)))
            case Pipeline(node=inner):
                return texts[id(inner)]
            case Computed(formula=formula):
                return _Text(amount_to_text(formula))
            case Marked(mark=mark, node=inner):
                return _Text(part_name(mark)) if self._parts else texts[id(inner)]
            case Empty():
                return _Text("none")
            case Choice(options=options):
                if self._priors and (node.weights or node.ordered) and len(options) > 1:
                    return self._weighted(node, texts, room)
                return _choice([texts[id(o)] for o in options if not isinstance(o, Empty)], len(options), room)
            case Sequence(steps=steps):
                return self._sequence(steps, texts, room)
            case Union(branches=branches):
                return _joined("&", [texts[id(branch)] for branch in branches], room)
            case Subset(members=members) | Permute(members=members):
                word = "subset" if isinstance(node, Subset) else "permute"
                shown = _cut([texts[id(member)].text for member in members], room)
                return _Text(called(word, shown) if members else "none")
            case Arrange(low=low, high=high, members=members):
                shown = _cut([texts[id(member)].text for member in members], room)
                return _Text(called("arrange", [f"{low}..{high}", *shown]))
            case Repeat(low=low, high=high, member=member):
                return _Text(called("repeat", [texts[id(member)].text, f"{low}..{high}"]))

    def _sequence(self, steps: tuple[Node, ...], texts: dict[int, _Text], room: int | None) -> _Text:
        """Steps one after the other; the first that selects columns has the others up to a learner in parentheses."""
        at = next((n for n, step in enumerate(steps) if selector_of(step) is not None), None)
        if at is None:
            return _joined(">>", [texts[id(step)] for step in steps], room)
        rest = steps[at + 1 :]
        end = next((n for n, step in enumerate(rest) if any(b.role == "learner" for b in blocks_in(step))), len(rest))
        inner = self._sequence(rest[:end], texts, room)
        selecting = _Text(_on(selector_of(steps[at]) or "", inner.text))
        return _joined(
            ">>", [*(texts[id(s)] for s in steps[:at]), selecting, *(texts[id(s)] for s in rest[end:])], room
        )

    def _weighted(self, node: Choice, texts: dict[int, _Text], room: int | None) -> _Text:
        """Alternatives with their weights; `none` is one of them, since `?` could have none."""
        spelt = [
            _Text(texts[id(o)].under("|") + (f" weight {_end(weight)}" if weight != 1 else ""))
            for o, weight in weighted_options(node)
        ]
        return _joined("<" if node.ordered else "|", spelt, room)

    def _braced(self, name: str, arguments: list[str]) -> str:
        return _braced(name, arguments) if self._parameters else name

    def _params(self, params: tuple[Param, ...], texts: dict[int, _Text]) -> list[str]:
        if not self._parameters:
            return []
        signs = [" =" if is_single(param.node) else ": best" if param.best else ":" for param in params]
        return [f"{name_to_text(p.name)}{sign} {texts[id(p.node)].text}" for p, sign in zip(params, signs, strict=True)]


def is_single(node: Node) -> bool:
    """Whether a parameter is closed by `=`: one value, or one alternative whose own parameters may be open."""
    match node:
        case Const() | Symbol() | BlockUse() | Computed():
            return True
        case Listing(elements=elements):
            return all(map(is_single, elements))
        case Marked(node=inner):
            return is_single(inner)
        case Sized(element=element):
            return is_single(element)
        case Pipeline(node=inner):
            return _is_one_row(inner)
    return False


def _is_one_row(node: Node) -> bool:
    """Whether steps are the same in every model, whatever their parameters."""
    match node:
        case BlockUse() | Empty():
            return True
        case Sequence() | Union() | Marked():
            return all(map(_is_one_row, children(node)))
    return False


def _range(node: IntRange | RealRange | Bool) -> str:
    match node:
        case Bool():
            return "bool"
        case IntRange(low=low, high=high, log=log, step=step):
            return f"int {_end(low)}..{_end(high)}{' log' * log}" + (f" step {step}" if step != 1 else "")
        case RealRange(low=low, high=high, log=log, step=real_step):
            ends = f"real {_end(low)}..{_end(high)}{' log' * log}"
            return ends if real_step is None else f"{ends} step {_end(real_step)}"


def _prior(node: IntRange | RealRange | Bool) -> str:
    prior = None if isinstance(node, Bool) else node.prior
    return "" if prior is None else f" {prior.kind}({_end(prior.centre)}, {_end(prior.spread)})"


def _end(amount: Amount) -> str:
    """An end of a range, whose kind is written before it."""
    return amount_to_text(amount).removesuffix(".0")


def _choice(options: list[_Text], alternatives: int, room: int | None) -> _Text:
    """Alternatives; with `none` among steps, an optional choice of the others."""
    if len(options) == alternatives:
        return _joined("|", options, room)
    if not options:
        return _Text("none")
    inner = _joined("|", options, room)
    is_optional = len(options) == 1 and (inner.text.endswith("?") or inner.text == "none")
    return inner if is_optional else _Text(inner.under("?") + "?")


def _joined(operator: str, texts: list[_Text], room: int | None) -> _Text:
    if not texts:
        return _Text("none")
    if len(texts) == 1:
        return texts[0]
    return _Text(f" {operator} ".join(_cut([text.under(operator) for text in texts], room)), operator)


def _cut(texts: list[str], room: int | None) -> list[str]:
    """A list that fits its room: its first pieces and how many more there are."""
    lengths = list(accumulate(len(text) + _BETWEEN for text in texts))
    if room is None or len(texts) < _SHORT_LIST or lengths[-1] <= room + _BETWEEN:
        return texts
    kept = sum(length <= room - _MORE for length in lengths)
    return [*texts[:kept], f"… {len(texts) - kept} more"]


def _braced(name: str, arguments: list[str]) -> str:
    return f"{name} {{ {', '.join(arguments)} }}" if arguments else f"{name} {{}}"
