"""msl predict: the winner's words on other rows, and clear words where there is nothing to say."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from winner_cases import CASES, Finished

Run = Callable[..., Any]
Get = Callable[[str], Finished]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_predictions_are_those_of_the_run(msl: Run, finished: Get, name: str) -> None:
    done = finished(name)
    shown = msl("predict", "@", str(done.table), "--store", str(done.store))
    assert (shown.code, shown.err) == (0, "")
    table = done.trained.read(done.table)
    target = done.trained.schema.target
    said = [row[target] for row in rows_of(shown.out)]
    expected = done.trained.predict(table).tolist()
    assert (said if done.trained.task == "classification" else [float(one) for one in said]) == expected


def test_probabilities_stand_beside_the_prediction(msl: Run, finished: Get) -> None:
    done = finished("own_blocks")
    shown = msl("predict", done.run[:-2], str(done.table), "--proba", "--store", str(done.store))
    rows = rows_of(shown.out)
    assert list(rows[0]) == ["class", "class=kind 0", "class=kind 1", "class=kind 2"]
    for row in rows:
        said = row.pop("class")
        shares = {name: float(share) for name, share in row.items()}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert max(shares, key=lambda name: shares[name]) == f"class={said}"


def test_the_store_of_this_folder_is_the_default(
    msl: Run, finished: Get, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = finished("own_blocks")
    monkeypatch.chdir(done.store.parent)
    file = tmp_path / "said.csv"
    assert msl("predict", "@", str(done.table), "-o", str(file)).out == ""
    assert file.read_text(encoding="utf-8") == msl("predict", "@", str(done.table)).out


def test_symbols_never_seen_are_told_and_predicted(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("symbols")
    table = tmp_path / "new.csv"
    table.write_text("f0,f1,f2,f3,colour\n5,3,1,0.2,violet\n5,3,1,0.2,\n", encoding="utf-8")
    shown = msl("predict", "@", str(table), "--store", str(done.store))
    assert shown.code == 0
    assert "column `colour` has symbols that the model was not trained on: violet" in shown.err
    first, second = rows_of(shown.out)
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody", "{table}"], ["there is no run `nobody`"]),
        (["@7", "{table}"], ["there is no run `@7`: there is 1 run"]),
        (["@", "nowhere.csv"], ["nowhere.csv"]),
        (["@", "{table}", "--proba"], ["regression model", "--proba"]),
        (["@", "{table}", "-o", "no/such/folder/x.csv"], ["cannot write"]),
    ],
)
def test_wrong_uses_are_told_in_a_sentence(msl: Run, finished: Get, arguments: list[str], words: list[str]) -> None:
    done = finished("numbers")
    filled = [each.format(table=done.table) for each in arguments]
    shown = msl("predict", *filled, "--store", str(done.store))
    assert shown.code == 2
    assert shown.out == ""
    assert all(word in shown.err for word in words), shown.err


def test_missing_columns_are_named(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("symbols")
    table = tmp_path / "short.csv"
    table.write_text("f0,f1,f2,color\n5,3,1,red\n", encoding="utf-8")
    shown = msl("predict", "@", str(table), "--store", str(done.store))
    assert shown.code == 2
    assert "lacks the column `f3`" in shown.err
    assert "lacks the column `colour`" in shown.err


def test_no_store_is_told(msl: Run, tmp_path: Path) -> None:
    shown = msl("predict", "@", "x.csv", "--store", str(tmp_path))
    assert shown.code == 2
    assert "there is no store" in shown.err


GAPS = """use sklearn
chain m = standard_scaler >> (logistic(rest = default) | k_neighbors(rest = default))
minimize ber by cv(folds = 3)
search grid
"""


@pytest.mark.parametrize("ensemble", ["", "ensemble vote(top = 2)\n"])
def test_gaps_that_training_did_not_have_are_filled_in_and_told(
    msl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ensemble: str
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = [[str(place % 7), str(place % 5), "ab"[place % 7 > 2]] for place in range(40)]
    write(tmp_path / "train.csv", whole)
    write(tmp_path / "gaps.csv", [["", "1", "a"], ["6", "", "b"], *whole[:6]])
    write(tmp_path / "filled.csv", [["3", "1", "a"], ["6", "2", "b"], *whole[:6]])
    (tmp_path / "m.msl").write_text(GAPS + ensemble, encoding="utf-8")
    shown = msl("run", "m.msl", "train.csv", "--test", "gaps.csv", "--on", "inprocess")
    assert shown.code == 0, shown.err
    assert "test          ber = " in shown.out
    said, expected = msl("predict", "@", "gaps.csv", "--proba"), msl("predict", "@", "filled.csv", "--proba")
    assert said.out == expected.out
    assert "warning: columns `x` and `y` have missing values here and none in training" in said.err
    assert expected.err == ""


def test_what_is_right_is_not_asked_of_rows_that_are_predicted(msl: Run, finished: Get, tmp_path: Path) -> None:
    done = finished("own_blocks")
    rows = rows_of(done.table.read_text(encoding="utf-8"))
    rows[0]["class"], rows[1]["class"] = "", "something new"
    with (tmp_path / "partly.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    said = msl("predict", "@", str(tmp_path / "partly.csv"), "--store", str(done.store))
    assert (said.code, said.err) == (0, "")
    assert said.out == msl("predict", "@", str(done.table), "--store", str(done.store)).out


def write(path: Path, rows: list[list[str]]) -> None:
    path.write_text("\n".join(["x,y,class", *map(",".join, rows)]) + "\n", encoding="utf-8")


def test_labels_are_written_as_they_are_unless_a_spreadsheet_is_guarded(msl: Run, tmp_path: Path) -> None:
    """Labels that spreadsheets would compute come back as they were; `--escape-formulas` puts a ' before them."""
    labels = ("=HYPERLINK(1)", "+plain", "@sum")
    text = "x,=kind\n" + "".join(f"{place % 3}.5,{labels[place % 3]}\n" for place in range(60))
    table, spec, store = tmp_path / "t.csv", tmp_path / "s.msl", tmp_path / "store"
    table.write_text(text, encoding="utf-8")
    spec.write_text("use clop\nchain m = naive\nsearch random(evaluations = 1)\n", encoding="utf-8")
    assert msl("run", str(spec), str(table), "--on", "inprocess", "--store", str(store)).code == 0
    said = rows_of(msl("predict", "@", str(table), "--store", str(store)).out)
    assert [row["=kind"] for row in said] == [labels[place % 3] for place in range(60)]
    guarded = rows_of(msl("predict", "@", str(table), "--proba", "--escape-formulas", "--store", str(store)).out)
    assert list(guarded[0]) == ["'=kind", *(f"'=kind={label}" for label in sorted(labels))]
    assert [row["'=kind"] for row in guarded] == [f"'{labels[place % 3]}" for place in range(60)]
    assert all(0.0 <= float(row["'=kind==HYPERLINK(1)"]) <= 1.0 for row in guarded)


def test_numbers_are_no_formulas(msl: Run, finished: Get) -> None:
    done = finished("numbers")
    plain = msl("predict", "@", str(done.table), "--store", str(done.store)).out
    assert msl("predict", "@", str(done.table), "--escape-formulas", "--store", str(done.store)).out == plain
