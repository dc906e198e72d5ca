"""Random trees: hypothesis strategies for every node that a text can be read into."""

from __future__ import annotations

from hypothesis import strategies as st

from msl.language import ast
from msl.language.literals import UNITS
from msl.language.tokens import RESERVED

words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True).filter(lambda word: word not in RESERVED)
names = st.builds(ast.Name, words)
keys = names | st.builds(ast.Name, st.sampled_from(["step", "log", "part", "patient name", "é", "", 'a"b', "1st"]))
plain_paths = st.builds(lambda parts: ast.Path(tuple(parts)), st.lists(names, min_size=1, max_size=3))
paths = st.builds(lambda first, more: ast.Path((first, *more)), names, st.lists(names | keys, max_size=2))
strings = st.builds(ast.String, st.text(max_size=12))

whole_numbers = st.builds(ast.Number, st.integers(0, 10**12))
plain_numbers = whole_numbers | st.builds(ast.Number, st.floats(0, 1e300, allow_nan=False))
units_of = st.builds(ast.Number, st.integers(0, 10**6), st.sampled_from(sorted(UNITS)))
negative_numbers = st.builds(lambda number: ast.Number(-number.value), plain_numbers).filter(
    lambda number: str(number.value).startswith("-")
)
literals = plain_numbers | units_of | strings | st.builds(ast.Boolean, st.booleans()) | st.builds(ast.Nothing)
leaves = (
    paths | literals | negative_numbers | st.builds(ast.Default) | st.builds(ast.Bool) | st.builds(ast.AnyOf, paths)
)


def several(items: st.SearchStrategy, least: int = 2, most: int = 4) -> st.SearchStrategy:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def arithmetic(operands: st.SearchStrategy) -> st.SearchStrategy:
    def build(signs: str, first: ast.Node, more: list[tuple[bool, ast.Node]]) -> ast.Arithmetic:
        operators = tuple(signs[second] for second, _ in more)
        return ast.Arithmetic(operators, (first, *(operand for _, operand in more)))

    rest = st.lists(st.tuples(st.booleans(), operands), min_size=1, max_size=3)
    powers = st.builds(lambda *both: ast.Arithmetic(("^",), both), operands, operands)
    return st.builds(build, st.sampled_from(["+-", "*/"]), operands, rest) | powers


def negative(operands: st.SearchStrategy) -> st.SearchStrategy:
    """A minus before a plain number makes a negative number, so such a node is never read."""
    foldable = lambda node: isinstance(node, ast.Number) and node.unit is None  # noqa: E731
    return st.builds(ast.Negative, operands.filter(lambda node: not foldable(node)))


def ranges_with_priors(inner: st.SearchStrategy) -> st.SearchStrategy:
    """A prior follows a number: behind `default`, a call would be an alternative."""
    numbers = st.integers(1, 9).map(ast.Number)
    name = st.sampled_from(["normal", "lognormal"]).map(lambda text: ast.Path((ast.Name(text),)))
    arguments = several(inner, 0, 3).map(lambda values: tuple(ast.Argument(None, False, value) for value in values))
    prior = st.builds(ast.Call, name, arguments)
    kinds = st.sampled_from([None, "int", "real"])
    return st.builds(ast.Range, kinds, numbers, numbers, st.booleans(), st.none() | numbers, prior)


def weighted_choices(items: tuple[ast.Node, ...]) -> st.SearchStrategy:
    """Alternatives, at least the first with a weight."""
    weights = st.integers(1, 9).map(ast.Number)
    more = st.lists(st.none() | weights, min_size=len(items) - 1, max_size=len(items) - 1)
    return st.builds(lambda first, rest: ast.Choice(items, (first, *rest)), weights, more)


def expressions_over(inner: st.SearchStrategy) -> st.SearchStrategy:
    steps = st.one_of(paths, st.builds(ast.AnyOf, paths), calls(inner), chains(inner))
    return st.one_of(
        chains(inner),
        st.builds(ast.Optional, steps | st.builds(ast.Optional, steps)),
        calls(inner),
        several(inner, 0).map(ast.ListOf),
        st.builds(ast.Range, st.sampled_from([None, "int", "real"]), inner, inner, st.booleans(), st.none() | inner),
        ranges_with_priors(inner),
        st.builds(ast.Vector, inner, inner),
        st.builds(
            ast.On, st.sampled_from("numbers rest age".split()).map(ast.Name) | several(inner, 0).map(ast.ListOf), inner
        ),
        arithmetic(inner),
        negative(inner),
    )


def chains(inner: st.SearchStrategy) -> st.SearchStrategy:
    plain = st.one_of(several(inner).map(kind) for kind in (ast.Choice, ast.Sequence, ast.Union))
    return plain | several(inner).flatmap(weighted_choices)


def calls(inner: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(ast.Call, plain_paths, arguments(inner))


def arguments(inner: st.SearchStrategy, conditions: st.SearchStrategy | None = None) -> st.SearchStrategy:
    tests = paths if conditions is None else conditions
    orders = several(inner).map(lambda items: ast.Choice(items, (), True))
    opening = st.builds(ast.Argument, keys, st.just(True), inner | orders, st.none() | inner, st.none() | tests)
    braced = st.builds(ast.Call, plain_paths, several(opening, 0), st.just(True))
    closing = st.builds(ast.Argument, keys, st.just(False), inner | braced)
    positional = st.builds(ast.Argument, st.none(), st.just(False), inner)
    ranges = st.builds(ast.Range, st.sampled_from([None, "int", "real"]), whole_numbers, whole_numbers)
    word = st.just(ast.Name("best"))
    tried = st.builds(ast.Argument, keys, st.just(True), ranges, st.none() | inner, st.none() | tests, word)
    return several(opening | closing | positional | tried, 0)


expressions = st.recursive(leaves, expressions_over, max_leaves=12)


def conditions_over(inner: st.SearchStrategy) -> st.SearchStrategy:
    comparisons = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    return st.one_of(
        several(inner).map(ast.And),
        several(inner).map(ast.Or),
        st.builds(ast.Not, inner),
        st.builds(ast.Compare, comparisons, inner, inner),
        st.builds(ast.Is, inner, several(paths | literals, 1)),
        arithmetic(inner),
        negative(inner),
    )


conditions = st.recursive(
    paths | literals | negative_numbers | st.builds(ast.Call, plain_paths, arguments(leaves)),
    conditions_over,
    max_leaves=10,
)
all_arguments = arguments(expressions, conditions)
stages = paths | st.builds(ast.Call, plain_paths, all_arguments)
use_items = st.builds(ast.UseItem, names | strings, st.none() | whole_numbers, st.none() | names)
objectives = st.builds(ast.Objective, expressions, st.none() | stages)
statements = st.one_of(
    st.builds(ast.Edition, whole_numbers),
    st.builds(ast.Use, several(use_items, 1)),
    st.builds(ast.Data, all_arguments),
    st.builds(ast.Block, names, names, st.none() | names, strings, all_arguments, st.none() | keys),
    st.builds(ast.Derive, names, paths, all_arguments, st.none() | keys),
    st.builds(ast.Part, names, st.none() | all_arguments, expressions),
    st.builds(ast.Chain, names, expressions),
    st.builds(ast.Require, conditions, st.none() | conditions),
    st.builds(ast.Goal, st.booleans(), several(objectives, 1)),
    st.builds(ast.Search, several(stages, 1)),
    st.builds(ast.Ensemble, stages),
    st.builds(ast.Budget, all_arguments),
    st.builds(ast.Seed, whole_numbers),
)
files = st.lists(statements, max_size=4).map(lambda items: ast.File(tuple(items)))
