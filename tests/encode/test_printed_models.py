"""Printed models: what is decoded prints as MSL that checks, has nothing open, and reads back as the same model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.space.enumerate.count import count
from msl.space.evaluate_conditions import Derivation, broken
from msl.space.formulas import Facts
from msl.space.spec import Space
from msl.space.to_text import model_to_file_text
from msl.space.values import Model

SPECS = Path(__file__).parents[2] / "specs"
CLASSES = Facts(n_samples=200, n_features=6, n_classes=2, task="classification")
NUMBERS = Facts(n_samples=200, n_features=6, n_classes=0, task="regression")


def _space(text: str, name: str, facts: Facts) -> Space:
    checked = check_source(Source(name, text), facts)
    assert checked.spec is not None, [diagnostic.message for diagnostic in checked.diagnostics]
    return checked.spec.space


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["shared", "separate"])
@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ("psms.msl", CLASSES),
        ("kms.msl", CLASSES),
        ("sbm.msl", CLASSES),
        ("mopso.msl", CLASSES),
        ("rbf.msl", NUMBERS),
    ],
)
def test_decoded_models_print_and_read_back(spec: str, facts: Facts, encoding: str) -> None:
    space = _space((SPECS / spec).read_text(encoding="utf-8"), spec, facts)
    codec = space_to_codec(space, encoding)
    found = 0
    for model in codec.decode(np.random.default_rng(1).random((15, codec.n_dimensions))):
        if isinstance(model, Model):
            assert broken(space.requirements, Derivation(model), facts) is None
            closed = _space(model_to_file_text(model), "model.msl", facts)
            assert count(closed).models == 1
            assert space_to_codec(closed).model([]) == model
            found += 1
    assert found >= 8
