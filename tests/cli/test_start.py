"""msl init, msl new, msl data: files to start from, each of which runs as it is."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermeval
from winner_cases import write_table

from msl.cli.verbs.init import spec_beside
from msl.cli.verbs.new import SPECS
from msl.diagnostics.user_error import UserError

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", ["iris", "mixed", "holes", "diabetes", "cancer"])
def test_a_starting_spec_is_sound_and_formatted(msl: Run, here: Path, kind: str) -> None:
    write_table(kind, here)
    shown = msl("init", f"{kind}.csv")
    assert (shown.code, shown.out) == (0, "")
    assert f"msl run {kind}.msl {kind}.csv" in shown.err
    checked = msl("check", f"{kind}.msl", "--data", f"{kind}.csv")
    assert (checked.code, checked.err) == (0, "no problems\n")
    assert msl("fmt", "--check", f"{kind}.msl").code == 0


def test_a_starting_spec_runs(msl: Run, here: Path) -> None:
    write_table("mixed", here)
    msl("init", "mixed.csv")
    spec = here / "mixed.msl"
    text = spec.read_text(encoding="utf-8")
    assert "classification of `class` (kind 0, kind 1, kind 2)" in text
    assert "1 with symbols" in text
    spec.write_text(
        text.replace("portfolio then auto(evaluations = none)", "random(evaluations = 2)"), encoding="utf-8"
    )
    shown = msl("run", "mixed.msl", "mixed.csv", "--json", "--on", "inprocess")
    assert shown.code == 0, shown.err
    summary = json.loads(shown.out)
    assert summary["evaluations"] == 2
    assert summary["ensemble"]


def test_a_table_alone_gets_a_spec_beside_it_that_is_shown_and_run(msl: Run, here: Path) -> None:
    (here / "sub").mkdir()
    write_table("iris", here / "sub")
    few = ("--set", "search.auto.evaluations=1", "--json", "--on", "inprocess")
    shown = msl("run", "sub/iris.csv", "--preset", "quick", *few)
    assert shown.code == 0, shown.err
    spec = here / "sub" / "iris.msl"
    text = spec.read_text(encoding="utf-8")
    assert "budget(time = 20s" in text
    assert json.loads(shown.out)["evaluations"] == 6, "the five of the portfolio, and one"
    assert (here / "sub" / ".msl").is_dir()
    again = msl("run", "sub/iris.csv", *few)
    assert "spec: sub/iris.msl, which is there already" in again.err
    assert json.loads(again.out)["best"] == json.loads(shown.out)["best"]


def test_a_spec_beside_a_table_is_written_again_only_as_long_as_nobody_has_edited_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table("iris", here)
    spec = here / "iris.msl"
    assert spec_beside("iris.csv", None, None, shows=True) == "iris.msl"
    good = spec.read_text(encoding="utf-8")
    assert good in capsys.readouterr().err
    spec_beside("iris.csv", None, "best", shows=False)
    best = spec.read_text(encoding="utf-8")
    assert "30min" in best
    assert "30min" not in good
    edited = best + "# mine\n"
    spec.write_text(edited, encoding="utf-8")
    assert spec_beside("iris.csv", None, None, shows=True) == "iris.msl"
    with pytest.raises(UserError, match="not overwritten"):
        spec_beside("iris.csv", None, "quick", shows=True)
    assert spec.read_text(encoding="utf-8") == edited


def test_words_of_a_preset_and_a_spec_without_a_table_are_told(msl: Run, here: Path) -> None:
    write_table("iris", here)
    wrong = msl("run", "iris.csv", "--preset", "quik")
    assert (wrong.code, "did you mean `quick`?" in wrong.err) == (2, True)
    msl("init", "iris.csv")
    assert "write `msl run iris.msl DATA`" in msl("run", "iris.msl").err
    assert "`--preset` is for a table without a spec" in msl("run", "iris.msl", "iris.csv", "--preset", "best").err


def test_useless_columns_are_left_out_and_odd_names_quoted(msl: Run, here: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["id,same,my value,the class"]
    lines += [f"row{place},1,{rng.random():.4f},{'ab'[place % 2]}" for place in range(40)]
    (here / "odd table.csv").write_text("\n".join(lines), encoding="utf-8")
    msl("init", "odd table.csv")
    text = (here / "odd table.msl").read_text(encoding="utf-8")
    assert 'target = "the class"' in text
    assert 'ignore = ["id", "same"]' in text
    assert "msl run 'odd table.msl' 'odd table.csv'" in text
    assert msl("check", "odd table.msl", "--data", "odd table.csv").code == 0


def test_a_word_among_numbers_is_told_and_the_column_kept(msl: Run, here: Path) -> None:
    lines = ["size,class", *(f"{place}.5,{'ab'[place % 2]}" for place in range(30)), "unknown,a"]
    (here / "word.csv").write_text("\n".join(lines), encoding="utf-8")
    text = msl("init", "word.csv", "-o", "-").out
    assert "# column `size` is taken as symbolic: of its numbers, row 31 holds 'unknown'; " in text
    assert 'missing = ["unknown"]' in text
    assert "ignore" not in text


def messy(rows: int = 60) -> str:
    """A table as people have them: a date that the rows follow, another, text, an identifier, signs, gaps, a copy."""
    lines = ["when;born;note;customer;price;share;nothing;same;x;x;amount"]
    for place in range(rows):
        when = date(2024, 1, 1) + timedelta(days=place)
        born = date(1980, 1, 1) + timedelta(days=place * 7919 % 9000)
        note = f"called about the {('bill', 'phone', 'house')[place % 3]} again, case {place}"
        amount = "" if place % 10 == 3 else f"{place % 7 + place / 8:.3f}".replace(".", ",")
        numbers = f"{place % 9 + 1}.250,{place % 10}0 €;{place % 50} %"
        lines.append(f"{when};{born:%d.%m.%Y};{note};C{place:05};{numbers};;north;{place % 5},5;{place % 3};{amount}")
    return "\n".join(lines) + "\n"


def test_a_messy_table_gets_a_spec_that_runs(msl: Run, here: Path) -> None:
    (here / "messy.csv").write_text(messy(), encoding="utf-8")
    shown = msl("init", "messy.csv")
    assert shown.code == 0, shown.err
    assert "target: `amount` (guessed: the last column; `--target COLUMN` names another)" in shown.err
    assert "left out: `customer`, `nothing` and `same`; messy.msl says why" in shown.err
    text = (here / "messy.msl").read_text(encoding="utf-8")
    statement = " ".join(text[text.index("data(") :].split(")")[0].split())
    for said in (
        "target = amount",
        "task = regression",
        "order = when",
        'numeric = ["price", "share"]',
        'ignore = ["customer", "nothing", "same"]',
        "missing_target = drop",
    ):
        assert said in statement
    for comment in (
        "# The target is a guess: the last column.",
        "# 6 rows without a value of the target `amount` left out.",
        "# `price` has signs around its numbers and is read as numeric: '1.250,00 €' is 1250.",
        "# `share` has signs around its numbers and is read as numeric: '0 %' is 0.",
        "# `when` is the order of the rows: the rows are sorted by it,",
        "# `born` holds dates, of which year, month, day, weekday, yearday and days are columns; ",
        "# `note` is free text, of which 3 frequent words are columns; ",
        "# `customer` is left out: it looks like an identifier,",
        "# `nothing` is left out: it has no values at all.",
        "# `same` is left out: it has one value only.",
        "# columns 9 and 10 are both named `x`: column 9 is `x` here, column 10 is called `x_2`;",
    ):
        assert comment in text
    checked = msl("check", "messy.msl", "--data", "messy.csv")
    assert checked.code == 0, checked.out
    assert "warning[MSL331]" in checked.out
    assert "6 rows without a value of the target `amount` left out, 54 used" in checked.err
    spec = text[: text.index("\nsearch ")] + "\nsearch random(evaluations = 2)\n"
    (here / "messy.msl").write_text(spec, encoding="utf-8")
    ran = msl("run", "messy.msl", "messy.csv", "--json", "--on", "inprocess")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["evaluations"] == 2
    assert "6 rows without a value of the target `amount` left out, 54 used" in ran.err


def test_a_guess_of_the_target_is_said_to_be_one(msl: Run, here: Path) -> None:
    write_table("iris", here)
    (here / "bare.msl").write_text("use clop\nchain m = naive\nsearch random(evaluations = 1)\n", encoding="utf-8")
    said = "target: `class` (guessed: a column named `class`; say `data(target = …)`)"
    checked = msl("check", "bare.msl", "--data", "iris.csv")
    assert (checked.code, checked.out, checked.err) == (0, "", f"{said}\nno problems\n")
    assert said in msl("run", "bare.msl", "iris.csv", "--on", "inprocess").err
    assert said not in msl("run", "bare.msl", "iris.csv", "--on", "inprocess", "--target", "class").err
    assert msl("check", "bare.msl", "--data", "iris.csv", "--format", "json").err == ""


def test_dates_identifiers_and_constants_in_a_spec_by_hand(msl: Run, here: Path) -> None:
    lines = ["when,id,same,x,class"]
    lines += [f"2024-01-{place % 28 + 1:02},{place * 31 % 97},1,{place % 7},{'ab'[place % 2]}" for place in range(60)]
    (here / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    spec = here / "s.msl"
    spec.write_text("use clop\nchain m = naive\n", encoding="utf-8")
    for verb in (("check", "s.msl", "--data", "t.csv"), ("run", "s.msl", "t.csv")):
        shown = msl(*verb)
        assert shown.code == 0, shown.err
    shown = msl("check", "s.msl", "--data", "t.csv")
    assert "warning[MSL333]: column `same` is always 1" in shown.out
    assert "warning[MSL335]: column `id` looks like an identifier" in shown.out


def test_tiny_classes_get_fewer_folds(msl: Run, here: Path) -> None:
    lines = ["x,class", *(f"{place}.5,{'a' if place < 20 else 'b'}" for place in range(23))]
    with gzip.open(here / "tiny.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    assert "cv(folds = 3)" in msl("init", "tiny.csv.gz", "-o", "-").out
    assert not (here / "tiny.msl").exists()


def test_nothing_is_overwritten_unless_asked(msl: Run, here: Path) -> None:
    write_table("iris", here)
    (here / "iris.msl").write_text("mine", encoding="utf-8")
    shown = msl("init", "iris.csv")
    assert shown.code == 2
    assert "is there already" in shown.err
    assert (here / "iris.msl").read_text(encoding="utf-8") == "mine"
    assert msl("init", "iris.csv", "--force").code == 0
    assert (here / "iris.msl").read_text(encoding="utf-8") != "mine"


def test_another_target(msl: Run, here: Path) -> None:
    write_table("iris", here)
    assert "regression of `f2`" in msl("init", "iris.csv", "--target", "f2", "-o", "-").out
    shown = msl("init", "iris.csv", "--target", "f9")
    assert shown.code == 2
    assert "f9" in shown.err


@pytest.mark.parametrize("quick", [[], ["--quick"]])
@pytest.mark.parametrize("name", SPECS)
def test_the_papers_specs_are_sound(msl: Run, here: Path, name: str, quick: list[str]) -> None:
    if quick and name == "psms_paper":
        shown = msl("new", name, *quick)
        assert shown.code == 2
        assert "leave `--quick` out" in shown.err
        return
    assert msl("new", name, *quick).code == 0
    main = f"{name}_quick.msl" if quick else f"{name}.msl"
    assert msl("check", main).code == 0
    assert msl("fmt", "--check", main).code == 0
    assert msl("new", name, *quick).code == 2
    assert msl("new", name, *quick, "--force").code == 0


def test_a_run_starts_from_files_as_if_the_spec_said_so(msl: Run, here: Path) -> None:
    write_table("iris", here)
    text = (
        "use sklearn\nchain m = standard_scaler? >> (gaussian_nb | decision_tree)\nsearch {}random(evaluations = 2)\n"
    )
    (here / "sub").mkdir()
    (here / "sub" / "s.msl").write_text(text.format(""), encoding="utf-8")
    (here / "sub" / "t.msl").write_text(text.format('start("../p.msl") then '), encoding="utf-8")
    (here / "p.msl").write_text("use sklearn\nchain m = gaussian_nb(rest = default)\n", encoding="utf-8")
    start = ("--start", "p.msl")
    shown = msl("run", "sub/s.msl", "iris.csv", *start, "--json", "--on", "inprocess")
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)["evaluations"] == 3
    plans = [
        json.loads(msl("plan", *arguments, "--json").out)["digest"]
        for arguments in (
            ["sub/s.msl", "iris.csv", "--start", "p.msl"],
            ["sub/t.msl", "iris.csv"],
            ["sub/s.msl", "iris.csv"],
        )
    ]
    assert plans[0] == plans[1] != plans[2]
    assert msl("lock", "sub/s.msl", "iris.csv", *start).code == 0
    assert msl("lock", "sub/s.msl", "iris.csv", *start, "--check").code == 0
    assert msl("lock", "sub/s.msl", "iris.csv", "--check").code == 1
    assert msl("replay", "@", "iris.csv", "--store", "sub/.msl").code == 0
    missing = msl("run", "sub/s.msl", "iris.csv", "--start", "none.msl")
    assert (missing.code, "--start:1:" in missing.err, "none.msl" in missing.err) == (1, True, True)


def test_an_unknown_spec_gets_a_suggestion(msl: Run) -> None:
    shown = msl("new", "pmss")
    assert shown.code == 2
    assert "psms" in shown.err
    assert msl("new", "psms", "-o", "no/such/folder").code == 2


def columns(text: str) -> tuple[np.ndarray, np.ndarray]:
    rows = list(csv.DictReader(text.splitlines()))
    return np.array([float(row["x"]) for row in rows]), np.array([float(row["y"]) for row in rows])


def test_the_hermite_curve_is_a_sum_of_hermite_polynomials(msl: Run) -> None:
    """2x² - x + 1 is 2 He₂ - He₁ + 3 He₀, and as printed -2 He₂ - He₁ - He₀: computed by numpy's own polynomials."""
    for options, weights in (([], [3.0, -1.0, 2.0]), (["--printed"], [-1.0, -1.0, -2.0])):
        x, y = columns(msl("data", "hermite", "--noise", "0", "--even", "--rows", "200", *options).out)
        assert np.allclose(x, np.linspace(-4, 4, 200))
        assert np.allclose(y, 1.1 * hermeval(x, weights) * np.exp(-(x**2) / 2))


def test_the_noise_has_its_variance_and_the_seed_decides(msl: Run) -> None:
    noisy = columns(msl("data", "hermite", "--rows", "4000", "--noise", "0.09").out)
    clean = 1.1 * (1 - noisy[0] + 2 * noisy[0] ** 2) * np.exp(-(noisy[0] ** 2) / 2)
    assert (noisy[1] - clean).var() == pytest.approx(0.09, rel=0.1)
    assert noisy[0].min() < -3.9 < 3.9 < noisy[0].max()
    assert msl("data", "hermite").out == msl("data", "hermite", "--seed", "0").out
    assert msl("data", "hermite").out != msl("data", "hermite", "--seed", "1").out
    assert msl("data", "hermit").code == 2
