"""What a first spec says for tables of different sizes, kinds and balance, and that all of it is sound."""

from __future__ import annotations

from importlib.util import find_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from msl.check.check_spec import check_source
from msl.data.options import DataOptions
from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.runner import starter_space
from msl.runner.forecast import expected_evaluations
from msl.runner.plan import make_plan
from msl.runner.search_space import space_to_search_space
from msl.runner.spec_source import checked_spec
from msl.runner.starter_space import PRESETS
from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text
from msl.space.to_text import model_to_text
from msl.space.values import Model


def table_of(rows: int, shares: tuple[float, ...] = (), numbers: int = 2, words: int = 1) -> pl.DataFrame:
    """A table with classes in these shares, or with a number as its target."""
    rng = np.random.default_rng(0)
    columns: dict[str, object] = {f"x{place}": rng.random(rows) for place in range(numbers)}
    columns |= {f"word{place}": rng.choice(["red", "green", "blue"], rows) for place in range(words)}
    counts = [round(share * rows) for share in shares[1:]]
    labels = np.repeat([f"class {place}" for place in range(len(shares))], [rows - sum(counts), *counts])
    return pl.DataFrame({**columns, "target": labels if shares else rng.random(rows)})


@pytest.fixture(params=[True, False], ids=["with LightGBM", "without"], autouse=True)
def has_lightgbm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether LightGBM counts as installed, whatever is installed here."""
    monkeypatch.setattr(starter_space, "find_spec", find_spec if request.param else lambda name: None)
    return bool(request.param)


def first_spec(frame: pl.DataFrame) -> tuple[str, Table]:
    table, first = read_for_starter_spec(frame, DataOptions(target="target"))
    return starter_spec_text(table, first, "first.msl", "table.csv"), table


TABLES = {
    "few rows": table_of(60, (0.5, 0.5)),
    "a rare class": table_of(400, (0.9, 0.1)),
    "three classes": table_of(90, (0.4, 0.3, 0.3)),
    "a rare class of three": table_of(300, (0.5, 0.4, 0.1)),
    "twelve classes": table_of(240, (1 / 12,) * 12),
    "a class of three rows": table_of(60, (0.95, 0.05)),
    "numbers only": table_of(80, (0.5, 0.5), words=0),
    "words only": table_of(80, (0.5, 0.5), numbers=0, words=3),
    "a number to predict": table_of(80),
    "more rows": table_of(6_000, (0.5, 0.5)),
    "many rows": table_of(30_000),
    "very many rows": table_of(100_001, (0.97, 0.03)),
}


@pytest.mark.parametrize("kind", TABLES)
def test_it_is_sound_and_says_nothing_to_complain_about(kind: str) -> None:
    text, table = first_spec(TABLES[kind])
    checked = check_source(Source("first.msl", text), facts=table.facts)
    assert [each.message for each in checked.diagnostics] == []
    assert checked.spec is not None


@pytest.mark.parametrize(
    ("kind", "said", "not_said"),
    [
        ("few rows", ["maximize auc by cv(folds = 5)", "k_neighbors", "svm("], ["class_weight = balanced"]),
        ("a rare class", ["10.0% of the rows", "class_weight = balanced", "maximize auc"], []),
        ("three classes", ["minimize ber by cv(folds = 5)"], ["class_weight = balanced"]),
        ("a rare class of three", ["minimize ber", "class_weight = balanced"], []),
        ("twelve classes", ["on symbols (ordinal)"], ["target_encode"]),
        ("a class of three rows", ["by cv(folds = 3)"], []),
        ("numbers only", ["chain model = boosted | forest | scaled"], ["on symbols"]),
        ("words only", ["target_encode"], ["on rest"]),
        ("a number to predict", ["minimize rmse", "ridge(", "target_encode_mean"], ["class_weight"]),
        ("more rows", ["by cv(folds = 3)", "forest", "logistic("], ["svm(", "k_neighbors"]),
        ("many rows", ["by holdout(0.25)", "forest", "ridge("], ["svr("]),
        ("very many rows", ["by holdout(0.25)", "boosted"], ["forest", "logistic("]),
    ],
)
def test_it_follows_the_table(kind: str, said: list[str], not_said: list[str]) -> None:
    text, _ = first_spec(TABLES[kind])
    assert all(each in text for each in said), text
    assert not any(each in text for each in not_said), text


def references(text: str, table: Table) -> list[str]:
    spec, _ = checked_spec(Source("first.msl", text), table.facts)
    search_space = make_plan(spec, table).search_spaces[0]
    found = [search_space.decode(point) for point in search_space.references]
    return [model_to_text(model) for model in found if isinstance(model, Model)]


def test_boosting_is_that_of_lightgbm_where_it_is_installed(has_lightgbm: bool) -> None:
    text, _ = first_spec(TABLES["a rare class"])
    said = text.partition("block boosted")[2].partition("}")[0]
    assert ('"msl.blocks:LightGBM*"' in said) == has_lightgbm
    assert ('"sklearn.ensemble:HistGradientBoostingClassifier"' in said) != has_lightgbm
    assert "class_weight = balanced" in said
    assert ("n_estimators" in said) == has_lightgbm


def test_a_library_that_does_not_load_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the system has no OpenMP runtime: the package is there, and its library ends with an error."""
    library = tmp_path / "lightgbm" / "lib" / "lib_lightgbm.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"not a library")
    (tmp_path / "lightgbm" / "__init__.py").touch()
    found = spec_from_file_location("lightgbm", tmp_path / "lightgbm" / "__init__.py")
    monkeypatch.setattr(starter_space, "find_spec", lambda name: found)
    assert not starter_space.lightgbm_loads()


def test_its_search_has_all_the_time_of_its_budget() -> None:
    for preset in PRESETS:
        table, first = read_for_starter_spec(TABLES["few rows"], DataOptions(target="target"))
        text = starter_spec_text(table, first, "first.msl", "table.csv", PRESETS[preset])
        spec, _ = checked_spec(Source("first.msl", text), table.facts)
        assert expected_evaluations(make_plan(spec, table)) is None
        assert spec.budget.time


def test_a_search_knows_each_learner_with_its_defaults(has_lightgbm: bool) -> None:
    text, table = first_spec(TABLES["few rows"])
    native, boosted, forest, logistic, svm, neighbours = references(text, table)
    assert native.startswith("boosted(")
    of_sklearn = "boosted(l2_regularization = 0, learning_rate = 0.1, max_features = 1.0, max_iter = 100"
    of_lightgbm = "boosted(colsample_bytree = 1.0, learning_rate = 0.1, min_child_samples = 10, n_estimators = 100"
    assert (of_lightgbm if has_lightgbm else of_sklearn) in boosted
    assert "forest(max_features = sqrt" in forest
    assert all(each.startswith("(on symbols (target_encode(") for each in (boosted, forest))
    assert logistic.startswith("standard_scaler(")
    assert "logistic(C = 1.0" in logistic
    assert "svm(C = 1.0, class_weight = none, kernel = rbf(gamma = scale)" in svm
    assert "k_neighbors(n_neighbors = 5" in neighbours


def test_learners_inside_parameters_are_not_tried_alone() -> None:
    text = "use sklearn\npart b = bagging(estimator: decision_tree | gaussian_nb)\nchain m = pca? >> (b | lda)"
    spec = check_source(Source("nested.msl", text)).spec
    assert spec is not None
    search_space = space_to_search_space(spec.space)
    models = [search_space.decode(point) for point in search_space.references]
    assert [model_to_text(model).split("(")[0] for model in models if isinstance(model, Model)] == ["pca", "pca"]
    assert len(models) == 2


@pytest.mark.parametrize(
    ("noise", "step", "is_kept"),
    [
        (800.0, 3, True),  # given in the order of time, on which the target hangs
        (1e9, 3, False),  # they tell nothing of it
        (800.0, 1, False),  # they count the rows of the file
        (0.0, 3, False),  # the table is sorted by its target
    ],
    ids=["of time", "by chance", "rows", "sorted"],
)
def test_numbers_that_identify_rows_are_kept_if_they_go_with_a_number(noise: float, step: int, is_kept: bool) -> None:
    rng = np.random.default_rng(0)
    time = rng.permutation(3_000)[:400]
    places = np.argsort(np.argsort(time + noise * rng.normal(size=400)))
    frame = pl.DataFrame({"id": 1_000 + step * places, "x": rng.random(400), "target": time / 3.0})
    text, _ = first_spec(frame)
    assert ('ignore = ["id"]' not in text) == is_kept
    assert ("its numbers go with the target" in text) == is_kept
