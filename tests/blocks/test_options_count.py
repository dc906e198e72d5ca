"""Every parameter of every block in the catalogues changes what the block does, and no alternative is another one under
a second name; the few that do not are listed with their reasons."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import KBinsDiscretizer, minmax_scale, scale
from threadpoolctl import threadpool_limits

from msl.blocks.base.chain import apply_steps, fit_learner, fit_step, learner_outputs
from msl.blocks.base.load import _SINCE as SINCE
from msl.blocks.base.load import VERSION
from msl.blocks.base.recipes import step_to_estimator
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.encode.sample import enumerate_models
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.space.formulas import Facts
from msl.space.resolve import resolve
from msl.space.values import BlockValue, SymbolValue

CATALOGUES = ("clop", "extras", "sbm", "kms", "rbf", "sklearn")
ROLES = ("transformer", "selector", "learner", "post")
#: Where a parameter needs company to count.
COMPANY = {
    ("relief", "knum"): "fmax = 5",
    ("relieff", "knum"): "fmax = 3",
    ("lssvm", "coef0"): "degree = 2",  # to a linear kernel it adds what the bias takes away
    ("lssvm_log", "coef0"): "degree = 2",
    ("sbm", "weighting"): "k = 7",
    ("sbm", "distance"): "k = 7",
    ("sbm", "references"): "k = 3",
    ("sbm", "n_references"): "references = kmeans",
    ("agglomerate", "linkage"): "n_clusters = 4",
    ("radius_neighbors", "weights"): "radius = 4",
    ("radius_neighbors", "p"): "radius = 4",
    ("kernel_map", "points"): "references = random_rows",  # k-means has its centres in the middle already
}
#: (block, task, parameter): why it does nothing.
NO_EFFECT = {
    ("neural", "regression", "balance"): "classes are balanced, and there are none",
    ("rf", "regression", "balance"): "classes are balanced, and there are none",
    ("lssvm", "regression", "balance"): "classes are balanced, and there are none",
    ("neural_log", "regression", "balance"): "classes are balanced, and there are none",
    ("root_forest", "regression", "balance"): "classes are balanced, and there are none",
    ("lssvm_log", "regression", "balance"): "classes are balanced, and there are none",
    ("zfilter", "regression", "wmin"): "no column of the tables has fewer than two values that are not zero",
    ("zfilter", "classification", "wmin"): "no column of the tables has fewer than two values that are not zero",
}
NON_NEGATIVE = {"nmf", "topics", "rbm", "additive_chi2", "multinomial_nb", "complement_nb"}
SYMBOLS = {"one_hot", "ordinal", "target_encode", "target_encode_mean", "categorical_nb"}
WITH_GAPS = {"fill_nearest", "impute", "knn_impute", "missing_indicator"}
TABLES = {"regression": ("diabetes",), "classification": ("wine", "cancer", "noisy")}
#: Of a range, so many values are tried, the lowest first, until two of them differ.
STEPS = 3
MOST_MODELS = 60


@dataclass(frozen=True)
class Parameter:
    """One open parameter of a block, for a task."""

    catalogue: str
    block: str
    role: str
    task: str
    name: str
    others: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.catalogue}.{self.block}.{self.name}-{self.task}"


def parameters() -> Iterator[Parameter]:
    for catalogue in CATALOGUES:
        text = (resources.files("msl.catalogue") / f"{catalogue}.msl").read_text(encoding="utf-8")
        for block in text_to_ast(Source(f"{catalogue}.msl", text))[0].statements:
            if not isinstance(block, ast.Block) or block.role.text not in (
                "transformer",
                "selector",
                "learner",
                "post",
            ):
                continue
            open_ones = [field.key.text for field in block.fields if field.opens and field.key is not None]
            for task in TABLES:
                # What scikit-learn's transformers do to rows is the same for either task.
                is_twice = catalogue == "sklearn" and block.role.text != "learner" and task == "regression"
                if (block.task is None and not is_twice) or (block.task is not None and block.task.text == task):
                    for name in open_ones:
                        others = tuple(other for other in open_ones if other != name)
                        yield Parameter(catalogue, block.name.text, block.role.text, task, name, others)


@cache
def table(name: str) -> tuple[Any, Any, int]:
    if name == "noisy":  # classes that no neighbourhood separates: several models are as good as each other elsewhere
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 4))
        return X, (X[:, 0] * X[:, 1] + rng.normal(0.0, 0.7, 90) > 0).astype(np.intp), 2
    X, y = {"diabetes": load_diabetes, "wine": load_wine, "cancer": load_breast_cancer}[name](return_X_y=True)
    step = {"diabetes": 8, "wine": 3, "cancer": 10}[name]
    # Scaled, but for half the columns not to the same variance.
    X = np.ascontiguousarray(scale(X[::step]) * np.where(np.arange(X.shape[1]) % 2, 1.0, 0.2))
    return (X, y[::step] / 50, 0) if name == "diabetes" else (X, y[::step].astype(np.intp), len(set(y)))


def rows_for(parameter: Parameter, X: Any) -> Any:
    if parameter.block in NON_NEGATIVE:
        X = minmax_scale(X)
    elif parameter.block in SYMBOLS:
        X = KBinsDiscretizer(4, encode="ordinal", strategy="uniform").fit_transform(X)
    elif parameter.block in WITH_GAPS:
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    return np.ascontiguousarray(X)


def models(parameter: Parameter, facts: Facts) -> Iterator[BlockValue]:
    """The block with each alternative of the parameter and some values of each range, the rest at its default."""
    company = COMPANY.get((parameter.block, parameter.name), "")
    if parameter.block == "hist_gradient_boosting" and parameter.name != "min_samples_leaf":
        company = "min_samples_leaf = 2"  # the tables are small
    given = {*(part.split(" = ")[0] for part in company.split(", "))}
    closed = [f"{other} = default" for other in parameter.others if other not in given]
    arguments = ", ".join([*([company] if company else []), *closed])
    call = f"{parameter.catalogue}.{parameter.block}({arguments})"
    learner = "clop.naive" if parameter.task == "classification" else "sklearn.ridge(rest = default)"
    chain = {"learner": call, "post": f"{learner} >> {call}"}.get(parameter.role, f"{call} >> {learner}")
    used = ", ".join(dict.fromkeys((parameter.catalogue, "clop", "sklearn")))
    checked = check_source(Source("spec.msl", f"use {used}\nchain m = {chain}"), facts=facts)
    assert checked.spec is not None, [one.message for one in checked.diagnostics]
    codec = space_to_codec(resolve(checked.spec.space, facts)[0])
    for place, model in enumerate(enumerate_models(codec, steps=STEPS)):
        if place >= MOST_MODELS:
            return
        yield next(s for s in model.steps if isinstance(s, BlockValue) and s.block.name == parameter.block)


def alternative(value: Any) -> Any:
    """Which alternative a value is: all numbers are one."""
    if isinstance(value, BlockValue):
        return value.block.name
    if isinstance(value, SymbolValue):
        return value.name
    if isinstance(value, tuple):
        return f"{len(value)} values"
    return value if isinstance(value, str | bool) or value is None else "a number"


def said(parameter: Parameter, step: BlockValue, name: str) -> Any:
    """What the block makes of a table; a value that it refuses is told apart by its words."""
    X, y, n_classes = table(name)
    X = rows_for(parameter, X)
    cut = 2 * len(X) // 3
    order = np.random.default_rng(3).permutation(len(X))
    fitted, asked = np.ascontiguousarray(X[order[:cut]]), np.ascontiguousarray(X[order[cut:]])
    target = y[order[:cut]]
    estimator = step_to_estimator(step, parameter.task, "0", ())
    if parameter.block == "columns":
        estimator.set_params(symbolic_columns=[0, 2])
    try:
        if parameter.role == "learner":
            fit_learner(estimator, fitted, target, n_classes)
            outputs = [learner_outputs(estimator, asked, n_classes)]
        elif parameter.role == "post":
            scores = np.column_stack([fitted[:, :n_classes] ** 2]) + 0.1
            outputs = [fit_step(estimator, scores, target, n_classes)]
        else:
            outputs = [fit_step(estimator, fitted, target, n_classes), apply_steps([estimator], asked)]
    except ValueError as refused:
        return str(refused)
    return tuple((one.shape, np.round(one, 9).tobytes()) for one in outputs)


def is_here(parameter: Parameter) -> bool:
    """Whether the installed scikit-learn has the block."""
    return parameter.catalogue != "sklearn" or SINCE.get(parameter.block, (0, 0)) <= VERSION


@pytest.mark.parametrize("parameter", list(filter(is_here, parameters())), ids=str)
def test_a_parameter_counts_and_its_alternatives_differ(parameter: Parameter) -> None:
    if (parameter.block, parameter.task, parameter.name) in NO_EFFECT:
        return
    same: set[frozenset[Any]] | None = None
    alike = True
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name in TABLES[parameter.task]:
            X, _, n_classes = table(name)
            groups: dict[Any, list[BlockValue]] = {}
            for step in models(parameter, Facts(len(X), X.shape[1], n_classes, parameter.task)):  # type: ignore[arg-type]
                groups.setdefault(alternative(dict(step.params)[parameter.name]), []).append(step)
            heads = {which: said(parameter, steps[0], name) for which, steps in groups.items()}
            equal = {frozenset(pair) for pair in combinations(heads, 2) if heads[pair[0]] == heads[pair[1]]}
            for pair in list(equal):  # the first of a range may be what another alternative is
                if any(said(parameter, step, name) != heads[one] for one in pair for step in groups[one][1:]):
                    equal.discard(pair)
            same = equal if same is None else same & equal
            ranges = [steps for steps in groups.values() if len(steps) > 1]
            alike = (
                alike
                and bool(ranges)
                and not any(
                    any(said(parameter, step, name) != heads[which] for step in steps[1:])
                    for which, steps in groups.items()
                    if len(steps) > 1
                )
            )
            if not same and not alike:
                return
    assert not same, f"the same under two names: {[sorted(map(str, pair)) for pair in same or ()]}"
    assert not alike, "no value of it changes anything"


def test_the_lists_are_of_parameters_that_there_are() -> None:
    known = list(parameters())
    assert set(COMPANY) <= {(one.block, one.name) for one in known}
    assert set(NO_EFFECT) <= {(one.block, one.task, one.name) for one in known}
    assert all(reason for reason in NO_EFFECT.values())
