"""An exported winner takes symbols as categories, as in the run, and needs nothing but scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

SPEC = """data(target = class)
use sklearn
part scaled = on numbers (standard_scaler) & on rest (passthrough)
chain m = scaled? >> hist_gradient_boosting(max_iter = 20, rest = default)
minimize ber by holdout(share = 0.3)
search grid
"""


def write_table(path: Path, count: int, n_symbols: int) -> None:
    rng = np.random.default_rng(n_symbols)
    lines = ["a,b,c,d,class"]
    for _ in range(count):
        number, symbol, other = rng.normal(), rng.integers(n_symbols), rng.integers(5)
        label = (symbol % 3 == 0) ^ (other == 2) ^ (number > 0.5)
        word = "" if rng.random() < 0.1 else f"s{symbol}"
        lines.append(f"{number:.4f},{word},t{other},{rng.normal():.4f},{'yes' if label else 'no'}")
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("n_symbols", [12, 600])
def test_an_exported_winner_does_the_same_without_msl(tmp_path: Path, msl: Any, n_symbols: int) -> None:
    write_table(tmp_path / "t.csv", 900, n_symbols)
    (tmp_path / "m.msl").write_text(SPEC.replace("scaled?", "scaled" if n_symbols == 12 else "none"), encoding="utf-8")
    ran = msl("run", str(tmp_path / "m.msl"), str(tmp_path / "t.csv"), "--on", "inprocess")
    assert ran.code == 0, ran.err
    path = tmp_path / "model.py"
    done = msl(
        "export", "@", "-o", str(path), "--skops", str(tmp_path / "model.skops"), "--store", str(tmp_path / ".msl")
    )
    assert done.code == 0, done.err
    assert "the same predictions as the run" in done.err
    text = path.read_text(encoding="utf-8")
    assert "categorical_features=" in text
    assert ("max_categories=255" in text) == (n_symbols == 600)
    assert "import msl" not in text
    assert "from msl" not in text
    refused = msl("export", "@", "--onnx", str(tmp_path / "model.onnx"), "--store", str(tmp_path / ".msl"))
    assert refused.code == 2
    assert "splits on sets of symbols" in refused.err


SPARSE = """data(target = class)
use sklearn
chain m = {}
minimize ber by holdout(share = 0.3)
search grid
"""


@pytest.mark.parametrize(
    "chain",
    [
        "max_abs >> logistic(rest = default)",
        "max_abs >> truncated_svd(n_components = 5) >> gaussian_nb(rest = default)",
        "(on symbols (one_hot(rest = default)) & on rest (impute(rest = default))) >> linear_svc(rest = default)",
    ],
)
def test_an_exported_winner_encodes_sparsely_where_the_run_did(tmp_path: Path, msl: Any, chain: str) -> None:
    write_table(tmp_path / "t.csv", 600, 98)
    (tmp_path / "m.msl").write_text(SPARSE.format(chain), encoding="utf-8")
    ran = msl("run", str(tmp_path / "m.msl"), str(tmp_path / "t.csv"), "--on", "inprocess", "--no-baselines")
    assert ran.code == 0, ran.err
    path, store = tmp_path / "model.py", str(tmp_path / ".msl")
    done = msl("export", "@", "-o", str(path), "--skops", str(tmp_path / "m.skops"), "--store", store)
    assert done.code == 0, done.err
    assert "the same predictions as the run" in done.err
    text = path.read_text(encoding="utf-8")
    assert "import msl" not in text
    assert "OneHotEncoder(" in text
    assert "sparse_output=False" not in text
    if chain.startswith("max_abs"):
        translated = msl("export", "@", "--onnx", str(tmp_path / "model.onnx"), "--store", store)
        assert translated.code == 0, translated.err
