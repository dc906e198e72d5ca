"""msl init, msl new, msl data: files to start from, each of which runs as it is."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermeval
from winner_cases import write_table

from msl.cli.new import SPECS

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
    spec.write_text(text.replace("auto(evaluations = 100)", "random(evaluations = 2)"), encoding="utf-8")
    shown = msl("run", "mixed.msl", "mixed.csv", "--json", "--on", "inprocess")
    assert shown.code == 0, shown.err
    summary = json.loads(shown.out)
    assert (summary["evaluations"], len(summary["ensemble"])) == (2, 2)


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
    assert msl("new", name, *quick).code == 0
    main = f"{name}_quick.msl" if quick else f"{name}.msl"
    assert msl("check", main).code == 0
    assert msl("fmt", "--check", main).code == 0
    assert msl("new", name, *quick).code == 2
    assert msl("new", name, *quick, "--force").code == 0


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
