"""The target: its choice, its task, its classes, and the options that name columns."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest

from msl.data.data_errors import MEANINGS, DataError, problem
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.data.table import Table


def table_of(values: list[object], name: str = "class", **options: object) -> Table:
    frame = pl.DataFrame({"v": [row * 0.5 for row in range(len(values))], name: pl.Series(values, strict=False)})
    return read_table(frame, options=DataOptions(**options))  # type: ignore[arg-type]


def refusal(values: list[object], **options: object) -> str:
    with pytest.raises(DataError) as caught:
        table_of(values, **options)
    assert all(each.help for each in caught.value.problems)
    return caught.value.problems[0].code


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["a", "b", "c"], "c"),
        (["y", "b", "c"], "y"),
        (["y", "target", "c"], "target"),
        (["y", "target", "class"], "class"),
        (["Class", "b", "c"], "Class"),
        (["CLASS", "class", "c"], "class"),
        (["Y", "target", "c"], "target"),
    ],
)
def test_choice_of_the_target(names: list[str], chosen: str) -> None:
    table = read_table(pl.DataFrame({name: [1, 2, 1, 2] for name in names}))
    assert table.target == chosen
    assert table.target_reason
    assert chosen not in table.names


def test_ignored_columns_are_no_default_target() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0, 1, 0], "class": [0, 1, 0]})
    assert read_table(frame, options=DataOptions(ignore=("class",))).target == "b"


@pytest.mark.parametrize(
    ("name", "target", "classes"),
    [
        ("y", ["b", "a", "b"], ("a", "b")),
        ("y", [True, False, True], ("false", "true")),
        ("y", [1, -1, 1], (-1, 1)),
        ("y", [0.25, 0.75, 0.25], (0.25, 0.75)),
        ("y", [10, 9, 2] * 3, (2, 9, 10)),
        ("y", ["10", "9", "2.0"] * 3, (2, 9, 10)),
        ("y", ["x10", "x9", "x2"], ("x10", "x2", "x9")),
        ("class", [*range(26)] * 3, tuple(range(26))),
    ],
)
def test_classes_are_inferred_and_sorted(name: str, target: list[object], classes: tuple[object, ...]) -> None:
    table = table_of(target, name)
    assert (table.task, table.classes) == ("classification", classes)
    assert [type(label) for label in table.classes] == [type(label) for label in classes]
    assert name in table.task_reason
    assert decoded(table) == [as_label(value) for value in target]


def decoded(table: Table) -> list[object]:
    """The class of each row, as the table says it."""
    assert table.y is not None
    return [table.classes[code] for code in table.y]


def as_label(value: object) -> object:
    """A value of the target as it should come back."""
    if isinstance(value, bool):
        return str(value).lower()
    return float(value) if isinstance(value, str) and value[0].isdigit() else value


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("y", [0.5, 1.5, 2.5, 0.5, 1.5, 2.5]),
        ("y", [1, 2, 3, 4]),
        ("y", [*range(26)] * 3),
        ("class", [1, 2, 3, 4]),
    ],
)
def test_regression_is_inferred(name: str, target: list[object]) -> None:
    table = table_of(target, name)
    assert (table.task, table.classes, table.facts.n_classes) == ("regression", (), 0)
    assert table.y is not None
    assert table.y.dtype == np.float64
    assert table.y.tolist() == target


def test_the_task_can_be_given() -> None:
    assert table_of([1, 2, 1, 2], task="regression").task == "regression"
    assert table_of([1, 2, 3, 4, 4], "y", task="classification").classes == (1, 2, 3, 4)
    assert table_of([1, 2, 3, 4, 4], "y", task="classification").task_reason == "given by the user"


@pytest.mark.parametrize(
    ("target", "positive", "classes"),
    [
        (["a", "b", "a"], "a", ("b", "a")),
        (["a", "b", "a"], "b", ("a", "b")),
        ([1, -1, 1], -1, (1, -1)),
        ([1, -1, 1], "-1", (1, -1)),
        ([0.0, 1.0, 1.0], 0, (1, 0)),
        ([True, False, True], False, ("true", "false")),
    ],
)
def test_the_positive_class_is_last(target: list[object], positive: object, classes: tuple[object, ...]) -> None:
    table = table_of(target, positive=positive)
    assert table.classes == classes
    assert decoded(table) == [as_label(value) for value in target]


@pytest.mark.parametrize(
    ("target", "options", "code"),
    [
        (["a", None, "b"], {}, "MSL319"),
        ([None, None], {}, "MSL319"),
        (["1", "NA", "2"], {}, "MSL319"),
        (["a", "a"], {}, "MSL320"),
        ([3, 3], {"task": "regression"}, "MSL320"),
        (["a", "b"], {"task": "regression"}, "MSL321"),
        (["a", "b"], {"positive": "c"}, "MSL322"),
        (["a", "b", "c"], {"positive": "c"}, "MSL322"),
        ([0.1, 0.2, 0.3], {"positive": 1}, "MSL322"),
        ([0.1, float("inf"), 0.3], {}, "MSL318"),
        ([1.0, float("inf"), 1.0], {}, "MSL318"),
        (["2024-01-01", "2024-01-02"], {}, "MSL315"),
        ([1, 2], {"target": "clas"}, "MSL312"),
        ([1, 2], {"ignore": ("w",)}, "MSL312"),
        ([1, 2], {"ignore": ("v",)}, "MSL311"),
        ([1, 2], {"groups": "v"}, "MSL311"),
    ],
)
def test_refusals(target: list[object], options: dict[str, object], code: str) -> None:
    assert refusal(target, **options) == code


def test_missing_targets_are_listed() -> None:
    target = ["a" if row % 3 else None for row in range(60)]
    with pytest.raises(DataError, match=r"rows 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, … \(20 in all\)") as caught:
        table_of([*target, "b"])
    assert caught.value.problems[0].row == 1


def test_close_names_are_suggested() -> None:
    with pytest.raises(DataError, match="did you mean `class`"):
        table_of([1, 2], target="clas")
    with pytest.raises(DataError, match="did you mean malignant"):
        table_of(["malignant", "benign"], positive="malignent")


def test_a_class_with_one_row_is_said() -> None:
    assert [each.code for each in table_of(["a", "b", "b"]).warnings] == ["MSL470"]


@pytest.mark.parametrize(
    "options",
    [
        {"task": "clustering"},
        {"separator": ";;"},
        {"separator": '"'},
        {"decimal": ":"},
        {"decimal": ",", "separator": ","},
        {"categorical": ("a", "b"), "numeric": ("b",)},
        {"target": "a", "ignore": ("a",)},
        {"target": "a", "groups": "a"},
        {"groups": "a", "order": "a"},
    ],
)
def test_impossible_options(options: dict[str, object]) -> None:
    with pytest.raises(DataError) as caught:
        DataOptions(**options)  # type: ignore[arg-type]
    assert [each.code for each in caught.value.problems] == ["MSL314"]


def test_options_of_the_command_line_replace_those_of_the_spec() -> None:
    spec = DataOptions(target="a", ignore=("b",), header=True)
    line = DataOptions(target="c", header=False, missing=("?",))
    assert spec.overridden(line) == DataOptions(target="c", ignore=("b",), header=False, missing=("?",))
    assert spec.overridden(DataOptions()) == spec


def test_problems_are_data() -> None:
    assert problem("MSL301", "m", "h").severity == "error"
    assert problem("MSL472", "m", "h").severity == "warning"
    with pytest.raises(KeyError):
        problem("MSL399", "m", "h")
    assert all("MSL301" <= code <= "MSL398" or "MSL470" <= code <= "MSL489" for code in MEANINGS)
    assert problem("MSL350", "m", "h").severity == "error"
    assert problem("MSL360", "m", "h").severity == "error"
    error = DataError([problem("MSL301", "no file", "look again", line=3)])
    assert pickle.loads(pickle.dumps(error)).problems == error.problems
    assert str(error) == "error[MSL301]: no file\nhelp: look again"
