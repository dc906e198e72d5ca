"""Models that a shipped spec prints read back with that spec, also where a file hides the catalogue that it uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from msl.check.check_spec import check_source
from msl.check.read_models import ModelReader
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.encode.sample import sample
from msl.space.formulas import Facts
from msl.space.to_text import model_to_text
from msl.space.values import Model

SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in SPECS.glob("[!.]*.msl")))
def test_what_a_shipped_spec_prints_reads_back(name: str) -> None:
    path = SPECS / f"{name}.msl"
    source = Source(path.name, path.read_text(encoding="utf-8"), str(path))
    task = "regression" if name.startswith("rbf") else "classification"
    classes = 0 if task == "regression" else 3
    spec = check_source(source, Facts(n_samples=100, n_features=8, n_classes=classes, task=task)).spec
    assert spec is not None
    reader = ModelReader(source)
    for model in sample(space_to_codec(spec.space), 10, np.random.default_rng(0)):
        assert isinstance(model, Model)
        assert reader.read(model_to_text(model)) == (model, [])
