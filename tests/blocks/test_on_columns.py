"""`on`: the estimator of a model with it does what scikit-learn's ColumnTransformer does with the same pieces."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.base.build import ColumnKinds, adapt_model, model_to_chain
from msl.blocks.base.load import BlockProblem
from msl.blocks.preprocessing.prepare import TableColumns
from msl.blocks.preprocessing.scalers import Log1p
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.space.column_selectors import matching, selector_of
from msl.space.values import Branches, Model

NAMES = ("age", "city", "income_main", "income_side", "job", "z")
KINDS = ColumnKinds(6, symbolic=(1, 4), incomplete=(3,), names=NAMES)
SCALED = (
    "on numbers (impute(strategy = mean, keep_empty_features = true) "
    ">> standard_scaler(with_mean = true, with_std = true))"
)
ENCODED = (
    "on symbols (one_hot(min_frequency = none, max_categories = 100, handle_unknown = infrequent_if_exist, "
    "sparse_output = false))"
)
LEARNER = "logistic(C = 1, class_weight = none, max_iter = 2000)"


@pytest.mark.slow
@parametrize_with_checks([Log1p(), TableColumns(columns=[0])])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def model(text: str) -> Model:
    found, problems = text_to_model(text, Source("spec.msl", "use sklearn, sbm"))
    assert found is not None, problems
    return found


def table(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    X[:, 1], X[:, 4] = rng.integers(0, 3, n), rng.integers(0, 2, n)
    X[:, 2:4] = np.exp(X[:, 2:4] * 2)
    y = (np.log(X[:, 2]) + (X[:, 1] == 1) + 0.3 * rng.normal(size=n) > 0).astype(int)
    X[::7, 3] = np.nan
    return X, y


def outputs_of(text: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, kinds: ColumnKinds = KINDS) -> np.ndarray:
    chain = model_to_chain(model(text), "classification", 0, (), kinds)
    chain.fit_arrays(X, y, 2)
    return chain.outputs(new)


def test_predictions_are_those_of_a_column_transformer():
    X, y = table()
    text = f"({SCALED} & {ENCODED} & on [income_main, age] (log1p) & on [z] (none)) >> {LEARNER}"
    reference = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), [0, 2, 3, 5]),
            (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), [1, 4]),
            (FunctionTransformer(lambda rows: np.sign(rows) * np.log1p(np.abs(rows))), [0, 2]),
            ("passthrough", [5]),
        ),
        LogisticRegression(C=1.0, max_iter=2000),
    ).fit(X[:90], y[:90])
    found = outputs_of(text, X[:90], y[:90], X[90:])
    np.testing.assert_allclose(found, reference.predict_proba(X[90:]), rtol=1e-6)


def positions(text: str, kinds: ColumnKinds = KINDS) -> list[tuple[int, ...] | None]:
    """The columns of the table of each branch; None for a branch that starts with another step."""
    adapted = adapt_model(model(f"{text} >> {LEARNER}"), kinds, "classification")
    first = adapted.steps[0]
    branches = first.branches if isinstance(first, Branches) else (adapted.steps,)
    return [selector_of(branch[0]) for branch in branches]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(on numbers (log1p) & on symbols (passthrough))", [(0, 2, 3, 5), (1, 4)]),
        ('(on ["income_*", z] (log1p) & on rest (passthrough))', [(2, 3, 5), (0, 1, 4)]),
        ("(on rest (passthrough) & on numbers (log1p) & on [city] (none))", [(4,), (0, 2, 3, 5), (1,)]),
        # Overlap is allowed, a branch without `on` names no column, and one without columns vanishes.
        ("(on [age, z] (log1p) & on [age] (none) & on rest (none))", [(0, 5), (0,), (1, 2, 3, 4)]),
        ("(on [age] (log1p) & passthrough & on rest (none))", [(0,), None, (1, 2, 3, 4, 5)]),
        ("(on dates (log1p) & on [age] (none))", [(0,)]),
        # Without other branches, the rest is everything.
        ("on rest (none)", [(0, 1, 2, 3, 4, 5)]),
        # What the branches inside a branch name is not the rest of the outer ones.
        ("(((on [age] (none) & on [z] (none)) >> log1p) & on rest (none))", [None, (1, 2, 3, 4)]),
    ],
)
def test_the_columns_of_each_branch(text, expected):
    assert positions(text) == expected


def test_inside_on_positions_are_those_of_its_columns():
    text = f"on numbers (on [z, age] (log1p) & on rest (none)) >> {LEARNER}"
    outer, inner, _ = adapt_model(model(text), ColumnKinds(6, (1, 4), names=NAMES), "classification").steps
    assert selector_of(outer) == (0, 2, 3, 5)
    assert isinstance(inner, Branches)
    assert [selector_of(branch[0]) for branch in inner.branches] == [(0, 3), (1, 2)]


def test_a_rest_that_does_not_start_a_branch_is_all_that_is_left():
    text = f"(on [age, z] (on rest (none)) & on [z] (none)) >> {LEARNER}"
    joined, _ = adapt_model(model(text), ColumnKinds(6, (1, 4), names=NAMES), "classification").steps
    assert isinstance(joined, Branches)
    assert [[selector_of(step) for step in branch] for branch in joined.branches] == [[(0, 5), (0, 1)], [(5,)]]


def test_a_mask_of_features_may_come_before():
    mask = "keep(features = [true, true, true, false, false, true])"
    steps = adapt_model(model(f"{mask} >> on [z, city] (none) >> {LEARNER}"), KINDS, "classification").steps
    assert selector_of(steps[1]) == (1, 3)


def test_a_model_without_columns_is_a_problem_before_any_fit():
    with pytest.raises(BlockProblem, match="no column"):
        positions("on dates (none)")


def test_names_need_a_table_with_names():
    without = ColumnKinds(6, (1, 4))
    assert positions("(on numbers (log1p) & on rest (none))", without) == [(0, 2, 3, 5), (1, 4)]
    with pytest.raises(BlockProblem, match="no names"):
        positions("on [age] (none)", without)


def test_the_order_of_names_in_a_list_does_not_matter():
    assert model(f'on [z, age, "b*"] (none) >> {LEARNER}') == model(f'on ["b*", "age", z] (none) >> {LEARNER}')


def test_the_parentheses_may_end_before_other_steps():
    assert model(f"on numbers (log1p >> max_abs) >> {LEARNER}") == model(f"on numbers (log1p) >> max_abs >> {LEARNER}")


@given(
    pattern=st.text("ab*?", max_size=5),
    names=st.lists(st.text("ab", min_size=1, max_size=4), unique=True, max_size=5),
)
def test_patterns_match_as_those_of_file_names(pattern, names):
    assert matching(pattern, names) == [name for name in names if fnmatchcase(name, pattern)]


def test_brackets_in_a_pattern_are_letters():
    assert matching("charge [*", ["charge [usd]", "charge u"]) == ["charge [usd]"]
    assert matching("a*b", ["a*b", "axb"]) == ["a*b"], "a column of this very name wins"


def test_logarithms_keep_signs_and_gaps():
    found = Log1p().fit_transform(np.array([[0.0, np.e - 1], [1 - np.e, np.nan]]))
    np.testing.assert_allclose(found, [[0.0, 1.0], [-1.0, np.nan]])


def test_a_position_outside_the_rows_is_told():
    with pytest.raises(ValueError, match=re.escape("0 to 1, and column 5")):
        TableColumns([5]).fit(np.eye(2))
