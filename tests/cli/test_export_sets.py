"""Twenty data sets: the run, the exported code, the model of skops and that of ONNX say the same of new rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from numpy.typing import NDArray
from run_store import run_msl
from sklearn import datasets

#: Chains of our own blocks, of scikit-learn's, and of both.
CHAINS = {
    "own": "use clop\nchain m = standardize >> shift_scale(take_log = true) >> ftest(fmax = 2) >> zarbi >> bias\n",
    "kernel": "use clop\nchain m = normalize(center = true) >> svc(rest = default)\n",
    "plain": "use sklearn\nchain m = standard_scaler(rest = default) >> logistic(rest = default)\n",
    "forest": "use sklearn\nchain m = random_forest(n_estimators = 10, rest = default)\n",
    "margin": "use sklearn\nchain m = min_max(rest = default) >> linear_svc(rest = default)\n",
    "bayes": "use clop, sklearn\nchain m = standardize(center = false) >> gaussian_nb(rest = default) >> bias\n",
    "nearest": "use sbm\nchain m = keep(features = [true, false]) >> knn(k = 3, rest = default)\n",
    "branches": "use clop, sklearn\nchain m = (pc_extract(fmax = 2) & sklearn.passthrough) >> lda(rest = default)\n",
    "ridge": "use clop, sklearn\nchain m = standardize >> ridge(rest = default)\n",
    "own ridge": "use clop\nchain m = standardize >> kridge(rest = default)\n",
    "trees": "use sklearn\nchain m = random_forest(n_estimators = 10, rest = default)\n",
}
#: Those that ONNX has operators for.
IN_ONNX = {"own", "plain", "forest", "margin", "bayes", "branches", "ridge", "trees"}

Arrays = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Set:
    """A data set, the chain that is fitted on it, and whether symbols and gaps are put in."""

    load: Callable[[], Arrays]
    chain: str
    mixed: bool = False


def half(load: Callable[..., Arrays]) -> Callable[[], Arrays]:
    return lambda: tuple(part[:: max(1, len(part) // 160)] for part in load(return_X_y=True))  # type: ignore[return-value]


def made(make: Callable[..., Arrays], **options: Any) -> Callable[[], Arrays]:
    return lambda: make(n_samples=160, random_state=1, **options)


SETS = {
    "iris": Set(half(datasets.load_iris), "own"),
    "wine": Set(half(datasets.load_wine), "plain"),
    "cancer": Set(half(datasets.load_breast_cancer), "kernel"),
    "digits": Set(half(datasets.load_digits), "forest"),
    "blobs": Set(made(datasets.make_blobs, centers=4), "margin"),
    "moons": Set(made(datasets.make_moons, noise=0.2), "nearest"),
    "circles": Set(made(datasets.make_circles, noise=0.1), "kernel"),
    "quantiles": Set(made(datasets.make_gaussian_quantiles, n_features=4), "bayes"),
    "hastie": Set(made(datasets.make_hastie_10_2), "forest"),
    "classification": Set(made(datasets.make_classification, n_classes=3, n_informative=5), "branches"),
    "two classes": Set(made(datasets.make_classification, n_features=6), "margin"),
    "mixed iris": Set(half(datasets.load_iris), "own", mixed=True),
    "mixed blobs": Set(made(datasets.make_blobs, centers=3, n_features=5), "plain", mixed=True),
    "mixed classification": Set(made(datasets.make_classification, n_features=8), "forest", mixed=True),
    "diabetes": Set(half(datasets.load_diabetes), "ridge"),
    "regression": Set(made(datasets.make_regression, n_features=6, noise=5.0), "own ridge"),
    "friedman1": Set(made(datasets.make_friedman1, noise=0.5), "trees"),
    "friedman2": Set(made(datasets.make_friedman2), "ridge"),
    "sparse": Set(made(datasets.make_sparse_uncorrelated), "own ridge"),
    "mixed friedman": Set(made(datasets.make_friedman3), "trees", mixed=True),
}


def write_tables(given: Set, folder: Path) -> tuple[Path, Path]:
    """Two thirds of the rows to train on, the others as new ones."""
    X, y = given.load()
    rng = np.random.default_rng(7)
    cells = [[repr(float(value)) for value in row] for row in X]
    names = [f"f{place}" for place in range(X.shape[1])]
    if given.mixed:
        names.append("colour")
        for row, value in zip(cells, X[:, 0], strict=True):
            row.append("" if rng.random() < 0.1 else ["red", "green", "blue"][int(value > np.median(X[:, 0]))])
            if rng.random() < 0.2:
                row[rng.integers(X.shape[1])] = ""
    is_classes = y.dtype.kind in "iu" or set(np.unique(y)) == {-1.0, 1.0}
    target = [f"kind {int(value)}" for value in y] if is_classes else [repr(float(value)) for value in y]
    lines = [",".join([*row, label]) for row, label in zip(cells, target, strict=True)]
    paths = folder / "train.csv", folder / "new.csv"
    for path, keep in zip(paths, (lambda place: place % 3, lambda place: not place % 3), strict=True):
        chosen = [line for place, line in enumerate(lines) if keep(place)]
        path.write_text("\n".join([",".join([*names, "target"]), *chosen]) + "\n", encoding="utf-8")
    return paths


def finished(given: Set, folder: Path) -> tuple[Path, Path]:
    """A run on a set, in a store of the folder; the tables of it."""
    train, new = write_tables(given, folder)
    columns = len(train.read_text(encoding="utf-8").partition("\n")[0].split(",")) - 1
    mask = ", ".join(["true", "false", *["true"] * columns][:columns])
    text = CHAINS[given.chain].replace("[true, false]", f"[{mask}]") + "search random(evaluations = 2)\n"
    spec = folder / "spec.msl"
    spec.write_text(text, encoding="utf-8")
    code, _, err = run_msl("run", str(spec), str(train), "--on", "inprocess", "--json")
    assert code == 0, err
    return train, new


def same(said: Any, expected: NDArray[Any], rtol: float = 1e-9) -> None:
    if expected.dtype.kind == "f":
        assert np.allclose(np.asarray(said, dtype=float), expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    else:
        assert [str(one) for one in said] == expected.tolist()


@pytest.mark.parametrize("name", list(SETS))
def test_all_forms_of_a_winner_say_the_same(tmp_path: Path, name: str) -> None:
    given = SETS[name]
    train, new = finished(given, tmp_path)
    store = ["--store", str(tmp_path / ".msl")]
    code, out, err = run_msl("predict", "@", str(new), *store)
    assert code == 0, err
    told = [row["target"] for row in csv.DictReader(io.StringIO(out))]
    expected = np.array([float(one) for one in told] if told[0][:4] != "kind" else told, dtype=None)
    files = {form: tmp_path / f"model.{form}" for form in ("py", "skops", "onnx")}
    asked = ["-o", str(files["py"]), "--skops", str(files["skops"]), "--no-verify"]
    code, out, err = run_msl("export", "@", *asked, *store)
    assert (code, out) == (0, ""), err

    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(files["py"].read_text(encoding="utf-8"), str(files["py"]), "exec"), names)
    model = names["fit"](*names["training_rows"](train))
    X = names["features"](names["read_table"](new))
    same(names["predict"](model, X), expected)
    assert names["self_test"](model)

    loaded = skops.io.load(files["skops"], trusted=skops.io.get_untrusted_types(file=files["skops"]))
    same(loaded.predict(X), expected)

    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    code, _, err = run_msl("export", "@", "--onnx", str(files["onnx"]), *store)
    assert code == (0 if given.chain in IN_ONNX else 2), err
    if code:
        assert "cannot be written as ONNX: `" in err
        assert "of `msl.blocks` has" in err
        assert not files["onnx"].exists()
        return
    session = onnxruntime.InferenceSession(str(files["onnx"]), providers=["CPUExecutionProvider"])
    if "missing values" in err:
        whole = ~np.isnan(X).any(axis=1)
        assert 0 < whole.sum() < len(X) or not given.mixed
        X, expected = X[whole], expected[whole]
    same(session.run(None, {"X": X})[0], expected, rtol=1e-4)
    notes = session.get_modelmeta().custom_metadata_map
    assert json.loads(notes["columns"]) == names["COLUMNS"]
    assert json.loads(notes["symbols"]) == names["SYMBOLS"]


def test_spelling_counts_in_the_exported_file_as_in_the_run(tmp_path: Path) -> None:
    """Symbols in another case are other symbols; a marker of missing values is known however its number is written."""
    rng = np.random.default_rng(6)
    rows = [
        (
            "-999.0" if place % 4 == 0 else f"{rng.normal(place % 2):.3f}",
            ("red", "green", "blue")[place % 3],
            "ab"[place % 2],
        )
        for place in range(80)
    ]
    new = [
        (number.replace("-999.0", "-999"), colour.upper() if place % 2 else colour)
        for place, (number, colour, _) in enumerate(rows)
    ]
    (tmp_path / "train.csv").write_text("\n".join(["x,colour,class", *map(",".join, rows)]), encoding="utf-8")
    (tmp_path / "new.csv").write_text("\n".join(["x,colour", *map(",".join, new)]), encoding="utf-8")
    spec = "use sklearn\ndata(missing = [-999])\nchain m = standard_scaler >> logistic(rest = default)\nsearch grid\n"
    (tmp_path / "m.msl").write_text(spec, encoding="utf-8")
    store = ["--store", str(tmp_path / ".msl")]
    code, _, err = run_msl("run", str(tmp_path / "m.msl"), str(tmp_path / "train.csv"), "--on", "inprocess", *store)
    assert code == 0, err
    _, out, _ = run_msl("predict", "@", str(tmp_path / "new.csv"), *store)
    assert run_msl("export", "@", "-o", str(tmp_path / "model.py"), "--no-verify", *store)[0] == 0
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile((tmp_path / "model.py").read_text(encoding="utf-8"), "model.py", "exec"), names)
    model = names["fit"](*names["training_rows"](tmp_path / "train.csv"))
    said = names["predict"](model, names["features"](names["read_table"](tmp_path / "new.csv")))
    assert names["self_test"](model)
    assert said.tolist() == out.split()[1:]


@pytest.mark.parametrize(
    ("chain", "is_public"),
    [
        ("standard_scaler >> logistic(rest = default)", True),
        ("hist_gradient_boosting(max_iter = 20, rest = default)", True),
        ("tuned_threshold(estimator = logistic(rest = default), rest = default)", False),
        ("predictions(random_forest(n_estimators = 10, rest = default), rest = default) >> gaussian_nb", False),
    ],
)
def test_exported_code_fits_with_the_weights_of_the_run(tmp_path: Path, chain: str, is_public: bool) -> None:
    rng = np.random.default_rng(8)
    rows = [(rng.normal(place % 2), "red blue".split()[place % 3 // 2], 0.1 + 9 * rng.random()) for place in range(90)]
    kinds = ["ab"[int(x + rng.normal() > 0.5)] for x, _, _ in rows]
    lines = [f"{x},{colour},{weight},{kind}" for (x, colour, weight), kind in zip(rows, kinds, strict=True)]
    (tmp_path / "train.csv").write_text("\n".join(["x,colour,w,class", *lines]), encoding="utf-8")
    new = [f"{x},{colour}" for x, colour, _ in rows]
    (tmp_path / "new.csv").write_text("\n".join(["x,colour", *new]), encoding="utf-8")
    spec = f"use sklearn, compose\ndata(weight = w)\nchain m = {chain}\nminimize error by holdout\nsearch grid\n"
    (tmp_path / "m.msl").write_text(spec, encoding="utf-8")
    store = ["--store", str(tmp_path / ".msl")]
    code, _, err = run_msl("run", str(tmp_path / "m.msl"), str(tmp_path / "train.csv"), "--on", "inprocess", *store)
    assert code == 0, err
    code, out, err = run_msl("predict", "@", str(tmp_path / "new.csv"), *store)
    assert code == 0, err
    assert run_msl("export", "@", "-o", str(tmp_path / "model.py"), "--no-verify", *store)[0] == 0
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert ("msl.blocks" not in text) == is_public
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, "model.py", "exec"), names)
    X, y, weights = names["training_rows"](tmp_path / "train.csv")
    fitted, unweighed = names["fit"](X, y, weights), names["fit"](X, y, np.ones(len(y)))
    said = names["predict"](fitted, names["features"](names["read_table"](tmp_path / "new.csv")))
    assert names["self_test"](fitted)
    assert said.tolist() == out.split()[1:]
    assert not np.allclose(_of(fitted, names, X), _of(unweighed, names, X))


def _of(model: Any, names: dict[str, Any], X: NDArray[Any]) -> NDArray[Any]:
    made: NDArray[Any] = names["outputs"](model, X) if "outputs" in names else model.outputs(X)
    return made
