"""msl export --onnx: where a model cannot be written, the block that is in the way is named, and no file is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from winner_cases import Finished

from msl.cli.verbs import export as verb

Run = Callable[..., Any]
Get = Callable[[str], Finished]


def exported(msl: Run, done: Finished, path: Path) -> Any:
    return msl("export", "@", "--onnx", str(path), "--store", str(done.store))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("kernel", "`SVC` of `msl.blocks` has no counterpart"),
        ("vote", "an ensemble is several models"),
        ("symbols", "`KNNClassifier` of `msl.blocks` has no counterpart"),
    ],
)
def test_the_block_in_the_way_is_named(msl: Run, finished: Get, tmp_path: Path, case: str, words: str) -> None:
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    shown = exported(msl, finished(case), tmp_path / "model.onnx")
    assert (shown.code, shown.out) == (2, "")
    assert words in shown.err
    assert "--skops" in shown.err
    assert ("`--best`" in shown.err) == (case == "vote")
    assert list(tmp_path.iterdir()) == []


def test_labels_and_scores_come_out(msl: Run, finished: Get, tmp_path: Path) -> None:
    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    done, path = finished("plain"), tmp_path / "model.onnx"
    shown = exported(msl, done, path)
    assert (shown.code, shown.out, shown.err) == (0, "", "")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    table = done.trained.read(done.table)
    labels, outputs = session.run(["label", "outputs"], {"X": table.X})
    assert labels.tolist() == done.trained.predict(table).tolist()
    assert np.allclose(outputs, done.trained.predict_proba(table), atol=1e-6)
    assert session.get_modelmeta().custom_metadata_map["model"] == done.trained.text
    holed = table.X.copy()
    holed.ravel()[::5] = np.nan
    (filled,) = session.run(["outputs"], {"X": holed})
    expected = done.trained.estimator.outputs(holed)
    assert np.allclose(filled, expected / expected.sum(axis=1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("form", ["onnx", "ONNX", "skops"])
def test_the_end_of_a_name_says_what_is_written(msl: Run, finished: Get, tmp_path: Path, form: str) -> None:
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    done, named, plain = finished("plain"), tmp_path / f"named.{form}", tmp_path / "plain"
    assert msl("export", "@", "-o", str(named), "--store", str(done.store)).code == 0
    assert msl("export", "@", f"--{form.lower()}", str(plain), "--store", str(done.store)).code == 0
    if form == "skops":
        loaded = skops.io.load(named, trusted=skops.io.get_untrusted_types(file=named))
        table = done.trained.read(done.table)
        assert (loaded.predict(table.X) == done.trained.predict(table)).all()
    else:
        assert named.read_bytes() == plain.read_bytes()


def test_packages_that_are_missing_are_named(
    msl: Run, finished: Get, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    shown = exported(msl, finished("plain"), tmp_path / "model.onnx")
    assert (shown.code, shown.out) == (2, "")
    assert "`--onnx` needs onnx and onnxruntime and skl2onnx" in shown.err
    assert "pip install 'msl-lang[onnx]'" in shown.err
