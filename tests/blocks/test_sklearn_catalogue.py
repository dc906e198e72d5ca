"""The catalogue `sklearn` against scikit-learn itself: names, roles, ranges, defaults, and fits on real data."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import KBinsDiscretizer, minmax_scale, scale
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import validate_parameter_constraints

from msl.blocks.base.load import _SINCE as SINCE
from msl.blocks.base.load import VERSION
from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.parser import text_to_ast

CHAIN_ROLES = {"transformer", "selector", "learner", "post"}
TASKS = {"classification": "Classifier", "regression": "Regressor"}


# --- reading the catalogue ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """The constants of a table that bounds may speak of."""

    n_features: int
    n_samples: int
    n_classes: int


@dataclass(frozen=True)
class Declared:
    """One block for one task: its class, and its fields with those of the block it derives from."""

    name: str
    role: str
    task: str
    target: type
    fields: tuple[ast.Argument, ...]

    def __str__(self) -> str:
        return f"{self.name}-{self.task}"


@cache
def read(catalogue: str) -> tuple[str, ast.File]:
    text = (resources.files("msl.catalogue") / f"{catalogue}.msl").read_text(encoding="utf-8")
    file, diagnostics = text_to_ast(Source(f"{catalogue}.msl", text))
    assert diagnostics == []
    return text, file


def blocks() -> Iterator[Declared]:
    bases: dict[str, ast.Block] = {}
    for statement in read("sklearn")[1].statements:
        if isinstance(statement, ast.Block):
            bases[statement.name.text] = block = statement
            fields = {field_name(field): field for field in block.fields}
        elif isinstance(statement, ast.Derive):
            block = bases[statement.base.text]
            fields = {field_name(field): field for field in (*block.fields, *statement.fields)}
        else:
            continue
        module, _, name = block.target.value.partition(":")
        for task, ending in TASKS.items():
            if block.task is None or block.task.text == task:
                target = getattr(import_module(module), name.replace("*", ending))
                yield Declared(statement.name.text, block.role.text, task, target, tuple(fields.values()))


def field_name(field: ast.Argument) -> str:
    assert field.key is not None
    return field.key.text


BLOCKS = [block for block in blocks() if SINCE.get(block.name, (0, 0)) <= VERSION]
every_block = pytest.mark.parametrize("block", BLOCKS, ids=str)


# --- what a domain holds --------------------------------------------------------------------------------------------

Setting = dict[str, Any]
FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "log": math.log,
    "floor": math.floor,
    "ceil": math.ceil,
}


def amount(node: ast.Node, sizes: Sizes) -> float:
    """The number that a bound comes to."""
    match node:
        case ast.Number(value=value):
            return value
        case ast.Path(names=(ast.Name(text=name),)):
            return int(getattr(sizes, name))
        case ast.Call(path=path, arguments=arguments):
            return FUNCTIONS[path.text](*(amount(argument.value, sizes) for argument in arguments))
        case ast.Negative(operand=operand):
            return -amount(operand, sizes)
        case ast.Arithmetic(operators=operators, operands=operands):
            total = amount(operands[0], sizes)
            for operator, operand in zip(operators, operands[1:], strict=True):
                other = amount(operand, sizes)
                total = {"+": total + other, "-": total - other, "*": total * other, "/": total / other}[operator]
            return total
    raise AssertionError(f"no number: {node}")


def bounds(domain: ast.Range, sizes: Sizes) -> tuple[float, float]:
    """The ends of a range, in its kind."""
    low, high = amount(domain.low, sizes), amount(domain.high, sizes)
    return (math.ceil(low), math.floor(high)) if domain.kind == "int" else (float(low), float(high))


def literal(node: ast.Node, sizes: Sizes) -> Any:
    match node:
        case ast.Nothing():
            return None
        case ast.AnyOf():  # of learners: the one that stands for them all
            return DecisionTreeClassifier()
        case ast.Boolean(value=value) | ast.String(value=value):
            return value
        case ast.Path(names=(ast.Name(text=name),)) if not hasattr(sizes, name):
            return name
        case ast.ListOf(items=items):
            return tuple(literal(item, sizes) for item in items)
    return amount(node, sizes)


def alternatives(domain: ast.Node) -> tuple[ast.Node, ...]:
    match domain:
        case ast.Choice(items=items):
            return items
        case ast.Bool():
            return (ast.Boolean(True), ast.Boolean(False))
    return (domain,)


def is_symbol(node: ast.Node) -> bool:
    """A `name(…)` that chooses an alternative, not a bound that is computed."""
    return isinstance(node, ast.Call) and node.path.text not in FUNCTIONS


def ends(key: str, domain: ast.Node, sizes: Sizes) -> Iterator[Setting]:
    """Every alternative and both ends of every range, nested ones beside the alternative that they belong to."""
    for item in alternatives(domain):
        match item:
            case ast.Range():
                yield from ({key: bound} for bound in bounds(item, sizes))
            case ast.ListOf(items=items):
                for combination in product(*([s[key] for s in ends(key, entry, sizes)] for entry in items)):
                    yield {key: combination}
            case ast.Call() if is_symbol(item):
                for argument in item.arguments:
                    for setting in ends(field_name(argument), argument.value, sizes):
                        yield {key: item.path.text} | setting
            case _:
                yield {key: literal(item, sizes)}


def drawn(key: str, domain: ast.Node, sizes: Sizes, rng: np.random.Generator) -> Setting:
    """A random point of a domain."""
    options = alternatives(domain)
    item = options[rng.integers(len(options))]
    match item:
        case ast.Range(kind=kind, log=log):
            low, high = bounds(item, sizes)
            value = math.exp(rng.uniform(math.log(low), math.log(high))) if log else rng.uniform(low, high)
            return {key: round(value) if kind == "int" else min(max(value, low), high)}
        case ast.ListOf(items=items):
            return {key: tuple(drawn(key, entry, sizes, rng)[key] for entry in items)}
        case ast.Call() if is_symbol(item):
            nested = (drawn(field_name(argument), argument.value, sizes, rng) for argument in item.arguments)
            return {key: item.path.text} | {name: value for setting in nested for name, value in setting.items()}
    return {key: literal(item, sizes)}


def chosen(field: ast.Argument, sizes: Sizes) -> Setting:
    """The default of an open field, or the value of a closed one, with the defaults of what is nested in it."""
    options = alternatives(field.value)
    if field.default is None:
        item = options[0]
    elif isinstance(field.default, ast.Path):
        named = [o for o in options if is_symbol(o) and o.path.text == field.default.text]  # type: ignore[attr-defined]
        item = named[0] if named else field.default
    else:
        item = field.default
    if is_symbol(item):
        assert isinstance(item, ast.Call)
        nested = (chosen(argument, sizes) for argument in item.arguments)
        return {field_name(field): item.path.text} | {k: v for setting in nested for k, v in setting.items()}
    value = literal(item, sizes)
    if any(isinstance(o, ast.Range) and o.kind == "real" for o in options) and isinstance(value, int):
        value = float(value)
    return {field_name(field): value}


def holds(domain: ast.Node, value: Any, sizes: Sizes) -> bool:
    """Whether a value lies in a domain, nested parameters aside."""
    for item in alternatives(domain):
        match item:
            case ast.Range(kind=kind):
                low, high = bounds(item, sizes)
                right_kind = isinstance(value, int | float) and not isinstance(value, bool)
                if right_kind and low <= value <= high and (kind == "real" or isinstance(value, int)):
                    return True
            case ast.ListOf(items=items):
                if isinstance(value, tuple) and len(value) == len(items):
                    return all(holds(i, v, sizes) for i, v in zip(items, value, strict=True))
            case ast.Call() if is_symbol(item):
                if item.path.text == value:
                    return True
            case _:
                other = literal(item, sizes)
                if type(other) is type(value) and other == value:
                    return True
                if other == value and {type(other), type(value)} == {int, float}:
                    return True
    return False


def open_fields(fields: tuple[ast.Argument, ...]) -> Iterator[ast.Argument]:
    """All fields opened with `:`, those inside alternatives included."""
    for field in fields:
        if field.opens:
            yield field
        for item in alternatives(field.value):
            if is_symbol(item):
                assert isinstance(item, ast.Call)
                yield from open_fields(item.arguments)


def defaults(block: Declared, sizes: Sizes) -> Setting:
    return {key: value for field in block.fields for key, value in chosen(field, sizes).items()}


def random_setting(block: Declared, sizes: Sizes, rng: np.random.Generator) -> Setting:
    settings = (drawn(field_name(field), field.value, sizes, rng) for field in block.fields)
    return {key: value for setting in settings for key, value in setting.items()}


# --- the declarations -----------------------------------------------------------------------------------------------

SIZES = Sizes(n_features=20, n_samples=150, n_classes=3)


def test_there_are_many() -> None:
    assert len({block.name for block in BLOCKS}) >= 75
    assert {"impute", "passthrough", "columns", "one_hot", "robust", "min_max"} <= {block.name for block in BLOCKS}


def test_every_block_has_a_doc_comment_directly_above() -> None:
    text, file = read("sklearn")
    comment_lines = {text.count("\n", 0, comment.span.start) for comment in file.comments}
    headings = {line for line in comment_lines if text.splitlines()[line].startswith("# ---")}
    for statement in file.statements:
        if isinstance(statement, ast.Block | ast.Derive):
            line = text.count("\n", 0, statement.span.start) - 1
            assert line in comment_lines - headings, f"{statement.name.text} has no doc comment"


def declared_names(catalogue: str, roles: set[str] | None = None) -> list[str]:
    """The names that a catalogue declares; with `roles`, only those of blocks that serve them."""
    names, role_of = [], {}
    for statement in read(catalogue)[1].statements:
        if isinstance(statement, ast.Block):
            role_of[statement.name.text] = statement.role.text
        elif isinstance(statement, ast.Derive):
            role_of[statement.name.text] = role_of[statement.base.names[-1].text]
        elif not isinstance(statement, ast.Part | ast.Chain):
            continue
        name = statement.name.text
        if roles is None or role_of.get(name, "learner") in roles:
            names.append(name)
    return names


def test_names_of_chain_blocks_are_unique_over_all_catalogues() -> None:
    names = [
        name
        for catalogue in ("clop", "sbm", "kms", "rbf", "sklearn", "compose", "boosting", "tables")
        for name in declared_names(catalogue, CHAIN_ROLES)
    ]
    assert sorted(names) == sorted(set(names))


def test_no_name_is_taken_by_another_catalogue_in_any_role() -> None:
    others = {
        name
        for catalogue in ("clop", "sbm", "kms", "rbf", "compose", "boosting", "tables")
        for name in declared_names(catalogue)
    }
    assert not others & set(declared_names("sklearn"))


@every_block
def test_class_fits_role_and_task(block: Declared) -> None:
    if block.role == "learner":
        assert hasattr(block.target, "predict")
        decides = is_classifier if block.task == "classification" else is_regressor
        assert decides(block.target())
    else:
        assert block.role in {"transformer", "selector"}
        assert hasattr(block.target, "transform")


@every_block
def test_parameters_exist(block: Declared) -> None:
    accepted = set(inspect.signature(block.target).parameters)
    declared = [field_name(field) for field in block.fields]
    assert set(declared) | {field_name(field) for field in open_fields(block.fields)} <= accepted
    assert len(declared) == len(set(declared))


@every_block
def test_ends_alternatives_and_defaults_meet_the_constraints(block: Declared) -> None:
    settings = [setting for field in block.fields for setting in ends(field_name(field), field.value, SIZES)]
    for setting in [defaults(block, SIZES), *settings]:
        validate_parameter_constraints(block.target._parameter_constraints, setting, caller_name=block.name)


@every_block
def test_ranges_and_switches_say_their_default(block: Declared) -> None:
    for field in open_fields(block.fields):
        if any(isinstance(item, ast.Range) for item in alternatives(field.value)) or isinstance(field.value, ast.Bool):
            assert field.default is not None, f"{block.name}.{field_name(field)} has no default"


@every_block
def test_ranges_are_not_empty_and_hold_their_default(block: Declared) -> None:
    for field in open_fields(block.fields):
        for item in alternatives(field.value):
            if isinstance(item, ast.Range):
                low, high = bounds(item, SIZES)
                assert low < high
                assert not item.log or low > 0
        value = chosen(field, SIZES)[field_name(field)]
        assert holds(field.value, value, SIZES), f"{block.name}.{field_name(field)}: {value} is outside"


#: Where the block's default differs from scikit-learn's although that lies in the range, and why.
OTHER_DEFAULTS: dict[str, str] = {
    "impute.strategy": "the median stands outliers",
    "logistic_elastic_net.l1_ratio": "0 is `logistic`, which is faster",
    "passive_aggressive.eta0": "the bound of the algorithm, `C = 1` in its paper; SGD gives it a step's size",
    "passive_aggressive_regressor.eta0": "as above",
    "extra_tree.max_features": "one default for both tasks; scikit-learn takes all columns for regression",
    "random_forest.max_features": "as above",
    "extra_trees.max_features": "as above",
}


@every_block
def test_default_is_that_of_scikit_learn_where_it_lies_in_the_range(block: Declared) -> None:
    parameters = inspect.signature(block.target).parameters
    for field in block.fields:
        name = f"{block.name}.{field_name(field)}"
        own = parameters[field_name(field)].default
        if field.opens and holds(field.value, own, SIZES) and name not in OTHER_DEFAULTS:
            assert chosen(field, SIZES)[field_name(field)] == own, f"{name}: scikit-learn's default is {own}"


# --- fits on real data ----------------------------------------------------------------------------------------------

NON_NEGATIVE = {"nmf", "topics", "rbm", "additive_chi2", "multinomial_nb", "complement_nb"}
SYMBOLS = {"one_hot", "ordinal", "target_encode", "target_encode_mean"}
#: On few rows FastICA may circle between rotations, each a fair projection; a network may learn to the last pass.
MAY_STALL = {"ica", "mlp"}
WITH_GAPS = {"impute", "knn_impute", "missing_indicator", "passthrough", "columns", "hist_gradient_boosting"}
N_RANDOM_POINTS = 3

Table = tuple[np.ndarray, np.ndarray, Sizes]


@cache
def tables(task: str) -> tuple[Table, ...]:
    """Small tables with scaled columns: three classes and two, or a positive number."""
    if task == "regression":
        X, y = load_diabetes(return_X_y=True)
        rows = slice(0, 240, 3)
        return ((scale(X[rows]), y[rows] / y.std(), Sizes(X.shape[1], 80, 0)),)
    found = []
    for load, step in ((load_wine, 2), (load_breast_cancer, 7)):
        X, y = load(return_X_y=True)
        X, y = scale(X[::step]), y[::step]
        found.append((X, y, Sizes(X.shape[1], len(X), len(set(y)))))
    return tuple(found)


def suited(block: Declared, X: np.ndarray) -> np.ndarray:
    """The inputs as the block wants them: not negative, symbols by number, or with values missing."""
    if block.name in NON_NEGATIVE:
        return minmax_scale(X)
    if block.name in SYMBOLS:
        return KBinsDiscretizer(4, encode="ordinal", strategy="uniform").fit_transform(X)
    if block.name in WITH_GAPS:
        return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    return X


def fitted_output(block: Declared, setting: Setting, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the block gives for its training rows, fitted the way a chain fits it."""
    estimator = block.target(**setting)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    if block.name == "columns":
        estimator.set_params(symbolic_columns=[0, 2])
    if block.role == "learner":
        return np.asarray(estimator.fit(X, y).predict(X))
    output = estimator.fit_transform(X, y)
    assert isinstance(output, np.ndarray), "a sparse matrix would not suit the next step"
    return output


@every_block
def test_fits_at_default_and_random_points(block: Declared) -> None:
    rng = np.random.default_rng(20090416)
    choices = tables(block.task)
    for attempt in range(1 + N_RANDOM_POINTS):
        X, y, sizes = choices[attempt % len(choices)]
        X = suited(block, X)
        setting = random_setting(block, sizes, rng) if attempt else defaults(block, sizes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            output = fitted_output(block, setting, X, y)
        stalls = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
        assert not stalls or block.name in MAY_STALL, f"{setting}: {stalls[0].message}"
        assert len(output) == len(X)
        if block.role == "learner":
            assert output.shape == y.shape
            assert np.isfinite(output).all()
            assert block.task == "regression" or set(output) <= set(y)
        else:
            assert output.ndim == 2
            assert output.shape[1] >= 1
            assert output.shape[1] == X.shape[1] or block.role == "selector", "a transformer keeps the columns"
            assert np.isfinite(output).all() or block.name in {"passthrough", "columns"}


@every_block
def test_defaults_stand_constant_and_twin_columns_and_fewer_rows_than_columns(block: Declared) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(36, 45))
    X[:, 1], X[:, 2] = 1.0, X[:, 3]
    classes = np.arange(len(X)) % 3
    y = classes if block.task == "classification" else 1 + classes + rng.random(len(X))
    X[:, 4] += 3 * classes  # something to find
    sizes = Sizes(X.shape[1], len(X), 3 if block.task == "classification" else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = fitted_output(block, defaults(block, sizes), suited(block, X), y)
    assert np.isfinite(output).all() or block.name in {"passthrough", "columns"}


@every_block
def test_same_seed_gives_the_same_numbers(block: Declared) -> None:
    X, y, sizes = tables(block.task)[0]
    X, setting = suited(block, X), defaults(block, sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # looked at above
        first, second = (fitted_output(block, setting, X, y) for _ in range(2))
    np.testing.assert_array_equal(first, second)
