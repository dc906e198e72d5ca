"""Parameters with `best`: every value is tried within one evaluation, so that a search has no dimension for them.

A strategy searches the space with one word in place of each such parameter. A model with words stands for the models
with their values: those are evaluated, each as the model that it is, and the best of them is the answer. Which values
are tried, and which of their results is the answer, is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import exp, log

from msl.space.conditions import Parameter, Requirement, Sibling, nested_terms, terms
from msl.space.fit_costs import path_of, path_value
from msl.space.nodes import BlockUse, Choice, Const, IntRange, Node, Param, RealRange, Sized, Symbol, bottom_up, rebuilt
from msl.space.numbers import evenly_spaced, level_count, level_value, whole_numbers
from msl.space.spec import Space
from msl.space.to_text import is_single, node_to_text
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value, is_number

#: The most values that are tried in one evaluation, of all `best` parameters of a model together.
MOST_TRIED = 16
#: The most values where one fit answers for all: each is an evaluation to score and to store.
MOST_ON_PATH = 200
#: A domain by the name of the parameter and the word that stands for its values.
Domains = Mapping[tuple[str, str], Node]
#: A loss and a complexity, of which the lower ones are better.
Result = tuple[float, float]


def is_best(param: Param) -> bool:
    """Whether a parameter has several values of which the best is taken."""
    return param.best and not is_single(param.node)


def best_parameters(root: Node) -> list[str]:
    """The `best` parameters of a space by their names, each once."""
    return list(
        dict.fromkeys(
            f"{node.block.name if isinstance(node, BlockUse) else node.name}.{param.name}"
            for node in bottom_up(root)
            if isinstance(node, BlockUse | Symbol)
            for param in node.params
            if is_best(param)
        )
    )


def takes_numbers(node: Node) -> bool:
    """Whether `best` can stand before this domain: a range, or a choice between numbers."""
    if isinstance(node, Choice):
        return all(isinstance(option, Const) and is_number(option.value) for option in node.options)
    return isinstance(node, IntRange | RealRange)


# --- the space that is searched ---------------------------------------------------------------------------------------


def without_best(space: Space) -> tuple[Space, Domains]:
    """The space with a word in place of each `best` parameter, and what the words stand for.

    Requirements on such a parameter are left out here: of the values that are tried, those that they allow count.
    """
    domains: dict[tuple[str, str], Node] = {}

    def worded(node: Node) -> Node:
        if isinstance(node, BlockUse | Symbol) and any(map(is_best, node.params)):
            return replace(node, params=tuple(_worded(param, domains) for param in node.params))
        return node

    root = rebuilt(space.root, worded)
    if not domains:
        return space, {}
    names = {name for name, _ in domains}
    free = tuple(each for each in space.requirements if names.isdisjoint(_names_on_paths(each)))
    return replace(space, root=root, requirements=free), domains


def _worded(param: Param, domains: dict[tuple[str, str], Node]) -> Param:
    if not is_best(param):
        return param
    word = f"best {node_to_text(param.node)}"
    domains[param.name, word] = param.node
    return replace(param, node=Const(word), default=None, has_default=False, best=False)


def _names_on_paths(requirement: Requirement) -> set[str]:
    """The names of the parameters that a requirement looks at: of `first.width` both."""
    return {
        name
        for condition in (requirement.condition, requirement.when)
        if condition is not None
        for whole in terms(condition)
        for term in nested_terms(whole)
        if isinstance(term, Parameter)
        for name in term.name.split(".")
    }


def deciding_siblings(root: Node) -> list[tuple[str, str]]:
    """The `best` parameters that decide whether another exists, or how long it is, each with that one."""
    uses = [node for node in bottom_up(root) if isinstance(node, BlockUse | Symbol)]
    return [
        (name, param.name)
        for use in uses
        for best in [{param.name for param in use.params if is_best(param)}]
        if best
        for param in use.params
        for name in _siblings(param)
        if name in best
    ]


def _siblings(param: Param) -> list[str]:
    """The parameters beside this one that it depends on."""
    conditions = () if param.condition is None else terms(param.condition)
    lengths = [node.length for node in bottom_up(param.node) if isinstance(node, Sized)]
    found = [term for whole in (*conditions, *lengths) for term in nested_terms(whole)]
    return [term.name for term in found if isinstance(term, Sibling)]


# --- which values are tried -------------------------------------------------------------------------------------------


def tried_models(model: Model, domains: Domains, task: str | None = None) -> list[Model]:
    """The models that one with words stands for, from low to high values; the model itself if it has no words.

    With a task, a model whose only word is for its path parameter stands for more models.
    """
    words = list(_words(model.steps, domains))
    if not words:
        return [model]
    each = max(2, int(MOST_TRIED ** (1 / len(words)) + 1e-9))
    path = None if task is None or len(words) > 1 else path_of(model, task)
    if path is not None and path_value(model, path) == words[0][1]:
        each = MOST_ON_PATH
    grids = [tried_values(domains[word], each) for word in words]
    found = (_replaced(model.steps, iter(values), domains) for values in product(*grids))
    return list(dict.fromkeys(Model(steps) for steps in found))


def largest_model(model: Model, domains: Domains) -> Model:
    """The one with the highest value in place of each word, which takes the longest; the model itself without words."""
    words = list(_words(model.steps, domains))
    highest = iter([max(tried_values(domains[word], 2)) for word in words])
    return Model(_replaced(model.steps, highest, domains)) if words else model


def tried_values(node: Node, most: int = MOST_TRIED) -> list[int | float]:
    """All values of a domain, or `most` of them evenly on its scale, both ends among them."""
    match node:
        case IntRange():
            numbers = whole_numbers(node)
            if len(numbers) <= most:
                return list(numbers)
            shares = [place / (most - 1) for place in range(most)]
            if not node.log:
                return [numbers[round(share * (len(numbers) - 1))] for share in shares]
            low, high = log(numbers[0]), log(numbers[-1])
            near = [round((exp(low + share * (high - low)) - numbers[0]) / numbers.step) for share in shares]
            return list(dict.fromkeys(numbers[min(place, len(numbers) - 1)] for place in near))
        case RealRange():
            count = level_count(node)
            if count is None:
                return list(evenly_spaced(node, most))
            levels = range(count) if count <= most else [round(i * (count - 1) / (most - 1)) for i in range(most)]
            return [level_value(node, level) for level in levels]
        case Choice(options=options):
            values = [option.value for option in options if isinstance(option, Const)]
            found = sorted(value for value in values if isinstance(value, int | float))
            return (
                found if len(found) <= most else [found[round(i * (len(found) - 1) / (most - 1))] for i in range(most)]
            )
    raise TypeError(f"{type(node).__name__} has no numbers to try")


def best_place(results: Sequence[Result | None]) -> int:
    """Which of the tried models is the answer: the lowest loss, the simpler on ties, then the first.

    A loss that is only known to be too high is infinite. None stands for one that failed; if all have, it is the first.
    """
    known = [(result, place) for place, result in enumerate(results) if result is not None]
    return min(known)[1] if known else 0


# --- words in models --------------------------------------------------------------------------------------------------


Params = tuple[tuple[str, Value], ...]
#: The name under which elements of lists are looked up: none of them is a word, but there may be words inside them.
_ELEMENT = ""


def worded_models(model: Model, domains: Domains) -> Iterator[Model]:
    """The models with words that may stand for this one: any of its numbers may be the value of a word."""
    for steps in _rows(model.steps, domains):
        yield Model(steps)


def _rows(steps: tuple[Step, ...], domains: Domains) -> Iterator[tuple[Step, ...]]:
    return product(*(list(_worded_step(step, domains)) for step in steps))


def _worded_step(step: Step, domains: Domains) -> Iterator[Step]:
    if isinstance(step, Branches):
        yield from map(Branches, product(*(list(_rows(branch, domains)) for branch in step.branches)))
    else:
        yield from (replace(step, params=params) for params in _worded_params(step.params, domains))


def _worded_params(params: Params, domains: Domains) -> Iterator[Params]:
    return product(*([(name, each) for each in _readings(name, value, domains)] for name, value in params))


def _readings(name: str, value: Value, domains: Domains) -> list[Value]:
    if isinstance(value, SymbolValue | BlockValue):
        return [replace(value, params=params) for params in _worded_params(value.params, domains)]
    if isinstance(value, PipelineValue):
        return [PipelineValue(steps) for steps in _rows(value.steps, domains)]
    if isinstance(value, tuple):
        return list(product(*(_readings(_ELEMENT, item, domains) for item in value)))
    if not is_number(value):
        return [value]
    words = (word for (parameter, word), domain in domains.items() if parameter == name and _may_be(domain, value))
    return [value, *words]


def _may_be(domain: Node, value: Value) -> bool:
    """Whether a number may be one of a domain: by its kind and between the ends. Without a table these may be open."""
    match domain:
        case IntRange(low=int(low), high=int(high)):
            return isinstance(value, int) and low <= value <= high
        case RealRange(low=int() | float() as low, high=int() | float() as high):
            return isinstance(value, float) and low <= value <= high
        case Choice(options=options):
            return any(isinstance(o, Const) and type(o.value) is type(value) and o.value == value for o in options)
    return True


def _words(steps: tuple[Step, ...], domains: Domains) -> Iterator[tuple[str, str]]:
    """The words of a model in the order in which `_replaced` gives them values."""
    for step in steps:
        if isinstance(step, Branches):
            for branch in step.branches:
                yield from _words(branch, domains)
        else:
            yield from _words_of("", step, domains)


def _words_of(name: str, value: Value, domains: Domains) -> Iterator[tuple[str, str]]:
    if isinstance(value, SymbolValue | BlockValue):
        for inner, each in value.params:
            yield from _words_of(inner, each, domains)
    elif isinstance(value, PipelineValue):
        yield from _words(value.steps, domains)
    elif isinstance(value, tuple):
        for item in value:
            yield from _words_of(_ELEMENT, item, domains)
    elif isinstance(value, str) and (name, value) in domains:
        yield name, value


def _replaced(steps: tuple[Step, ...], values: Iterator[Value], domains: Domains) -> tuple[Step, ...]:
    """The steps with the next value in place of each word."""
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Branches):
            found.append(Branches(tuple(_replaced(branch, values, domains) for branch in step.branches)))
        else:
            found.append(replace(step, params=_with_values(step.params, values, domains)))
    return tuple(found)


def _with_values(params: Params, values: Iterator[Value], domains: Domains) -> Params:
    return tuple((name, _with_value(name, value, values, domains)) for name, value in params)


def _with_value(name: str, value: Value, values: Iterator[Value], domains: Domains) -> Value:
    if isinstance(value, SymbolValue | BlockValue):
        return replace(value, params=_with_values(value.params, values, domains))
    if isinstance(value, PipelineValue):
        return PipelineValue(_replaced(value.steps, values, domains))
    if isinstance(value, tuple):
        return tuple(_with_value(_ELEMENT, item, values, domains) for item in value)
    return next(values) if isinstance(value, str) and (name, value) in domains else value
