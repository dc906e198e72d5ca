"""The value of a parameter that a spec closes without naming one.

Where none is declared: the first alternative, the low end, all bits on. A default that a use has ruled out gives way
to the nearest value that it left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msl.space.formulas import Amount, Formula, limits
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
    children,
    with_children,
)
from msl.space.part_parameters import NO_VALUE, awaits, expanded, put_in, settings, variable
from msl.space.values import BlockValue, SymbolValue, Value


def default_node(param: Param) -> Node:
    """The parameter closed at its default; what lies inside a chosen alternative is closed too."""
    if not param.has_default:
        return closed(param.node)
    return _chosen(param.node, param.default)


def fit_default(param: Param) -> Param:
    """The parameter with a default that its domain still holds."""
    if not param.has_default or _holds(param.node, param.default):
        return param
    if isinstance(param.node, Sized):
        return replace(fit_default(replace(param, node=param.node.element)), node=param.node)
    if isinstance(param.node, IntRange | RealRange) and isinstance(param.default, int | float):
        low, high = limits(param.node.low)[0], limits(param.node.high)[1]
        nearest = min(max(param.default, low), high)
        kind = int if isinstance(param.node, IntRange) else float
        return replace(param, default=kind(nearest))
    return replace(param, default=None, has_default=False)


def is_closed(node: Node) -> bool:
    """Whether a value has nothing open."""
    match node:
        case Const() | Empty() | Computed():
            return True
        case Symbol() | BlockUse() | Listing() | Sized() | Pipeline() | Sequence() | Union() | Marked():
            return all(map(is_closed, children(node)))
        case Vector(element=element):
            return isinstance(element, Const)
    return False


def closed(node: Node) -> Node:
    """A node with nothing open: first alternatives, low ends, all bits on."""
    match node:
        case IntRange(low=low) | RealRange(low=low):
            return Const(float(low) if isinstance(node, RealRange) and isinstance(low, int) else low)
        case Computed():  # it follows from others
            return node
        case Bool():
            return Const(False)
        case Choice(options=options):
            return closed(options[0]) if options else node  # no value: computed, and outside its domain
        case Subset():
            return Empty()
        case Permute(members=members):
            return Sequence(tuple(closed(member) for member in members))
        case Arrange(low=low, members=members):
            return Sequence(tuple(closed(member) for member in members[:low]))
        case Repeat(low=low, member=member):
            return Sequence((closed(member),) * low)
        case Symbol(params=params) | BlockUse(params=params):
            return replace(node, params=tuple(replace(param, node=default_node(param)) for param in params))
        case Sized(element=Bool()):
            return replace(node, element=Const(True))
        case Marked(mark=mark, params=params) if params:
            return Marked(mark, closed(_at_defaults(node)))
        case Vector(size=size, element=element):
            bit = Const(True) if isinstance(element, Bool) else closed(element)
            assert isinstance(bit, Const)
            return _filled(size, bit)
    return with_children(node, [closed(child) for child in children(node)])


def learners_in(node: Node) -> Iterator[BlockUse]:
    """The learners among the steps of a space, not those that are parameters of other blocks."""
    if isinstance(node, BlockUse):
        if node.block.role == "learner":
            yield node
        return
    for child in children(node):
        yield from learners_in(child)


def leading_to(learner: BlockUse, node: Node, instead: BlockUse | None = None) -> Node:
    """The part of a space whose models have this learner, which may be put in another way."""
    if isinstance(node, BlockUse):
        return instead if instead is not None and node is learner else node
    if isinstance(node, Choice):
        chosen = next((option for option in node.options if any(each is learner for each in learners_in(option))), None)
        return node if chosen is None else leading_to(learner, chosen, instead)
    return with_children(node, [leading_to(learner, child, instead) for child in children(node)])


def _at_defaults(part: Marked) -> Node:
    """The steps of a part with its parameters at their defaults; where that gives no model, at the first that do."""
    names = [variable(part.mark, param.name) for param in part.params]
    defaults = [node.value if isinstance(node := default_node(p), Const) else None for p in part.params]
    waits = awaits(part)
    for setting in (tuple(defaults), *(() if waits else settings(part))):
        steps = put_in(part.node, dict(zip(names, setting, strict=True)))
        if waits or (steps := expanded(steps)) != NO_VALUE:
            return steps
    return part.node


def _chosen(node: Node, default: Value | Formula) -> Node:
    """The node at this value."""
    match node:
        case Choice(options=options):
            for option in options:
                if _holds(option, default):
                    return _chosen(option, default)
            return closed(node)
        case Symbol(params=params) | BlockUse(params=params):
            given = dict(default.params) if isinstance(default, SymbolValue | BlockValue) else {}
            return replace(node, params=tuple(_fixed(param, given) for param in params))
        case Sized(element=element):
            return replace(node, element=_chosen(element, default))
        case Vector(size=size) if not isinstance(default, tuple):
            return _filled(size, Const(default))
    return Const(default)


def _fixed(param: Param, given: dict[str, Value]) -> Param:
    chosen = _chosen(param.node, given[param.name]) if param.name in given else default_node(param)
    return replace(param, node=chosen)


def _filled(size: Amount, element: Const) -> Node:
    """A vector of one value over and over; while its size is unknown it stays a vector."""
    if isinstance(size, int) and not isinstance(element.value, Formula):
        return Const((element.value,) * size)
    return Vector(size, element)


def _holds(node: Node, value: Value | Formula) -> bool:
    """Whether a node may have this value, as far as can be told without a table."""
    match node:
        case Choice(options=options):
            return any(_holds(option, value) for option in options)
        case Symbol(name=name):
            return value == name or (isinstance(value, SymbolValue) and value.name == name)
        case BlockUse(block=block):
            return value == block.name or (isinstance(value, BlockValue) and value.block.key == block.key)
        case Const(value=own):
            return isinstance(own, bool) == isinstance(value, bool) and own == value
        case Bool():
            return isinstance(value, bool)
        case Sized(element=element):
            return _holds(element, value)
        case IntRange(low=low, high=high) | RealRange(low=low, high=high):
            if isinstance(value, Formula):
                return True
            if not isinstance(value, int | float) or isinstance(value, bool):
                return False
            return limits(low)[0] <= value <= limits(high)[1]
        case Vector() | Regions() | Listing():
            return True
    return False
