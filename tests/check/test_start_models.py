"""`search start("portfolio.msl")`: which models are read, and which are near one that is not in the space."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from msl.check.check_spec import Checked, check_source
from msl.check.read_models import closed_steps
from msl.diagnostics.source import Source
from msl.space.membership import Membership, NotInSpace
from msl.space.nearest import nearest_model
from msl.space.to_text import model_to_text
from msl.space.values import Model

_SPEC = """use sbm, clop
chain model = standardize(rest = default)? >> (knn(k: 1..9, rest = default) | svc(gamma: 0.01..1 log, rest = default))
search start(FILES) then auto
"""


def checked(files: Mapping[str, str], spec: str = _SPEC) -> Checked:
    names = ", ".join(f'"{name}"' for name in files)
    return check_source(Source("spec.msl", spec.replace("FILES", names), "spec.msl"), read_file=files.__getitem__)


def models(found: Checked) -> list[Model]:
    assert found.spec is not None, found.diagnostics
    return [Model(closed_steps(node)) for node in found.spec.search[0].models]


def test_models_come_from_all_files_in_their_order() -> None:
    one = "use sbm\nchain b = knn(k = 3, rest = default)\nchain a = knn(k = 2, rest = default)\n"
    two = "use sbm, clop\nchain c = standardize(rest = default) >> knn(k = 1, rest = default)\n"
    found = models(checked({"one.msl": one, "two.msl": two}))
    assert [dict(model.steps[-1].params)["k"] for model in found] == [3, 2, 1]  # type: ignore[union-attr]
    assert len(found[2].steps) == 2


def test_a_file_that_uses_nothing_has_the_names_of_the_spec() -> None:
    found = models(checked({"one.msl": "chain b = knn(k = 3, rest = default)\n"}))
    assert len(found) == 1


def test_the_texts_of_the_files_are_among_the_sources() -> None:
    text = "chain b = knn(k = 3, rest = default)\n"
    assert text in [source.text for source in checked({"one.msl": text}).sources]


def test_a_model_outside_is_left_out_with_the_nearest_one() -> None:
    text = "chain in_it = knn(k = 3, rest = default)\n"
    text += "chain out = normalize(rest = default) >> knn(k = 30, rest = default)\n"
    found = checked({"one.msl": text})
    (warning,) = found.diagnostics
    assert warning.code == "MSL283"
    assert "k = 9" in (warning.help or "")
    assert len(models(found)) == 1


@pytest.mark.parametrize(
    ("space", "given", "nearest"),
    [
        ("knn(k: 1..9, rest = default)", "knn(k = 30, rest = default)", "k = 9"),
        ("knn(k: 3 | 5 | 9, rest = default)", "knn(k = 6, rest = default)", "k = 5"),
        (
            "knn(k = 5, distance: angle | minkowski(alpha: 1..2), rest = default)",
            "knn(k = 5, distance = minkowski(alpha = 2.5), rest = default)",
            "alpha = 2.0",
        ),
        ("svc(gamma: 0.01..1 log, rest = default)", "svc(gamma = 50.0, rest = default)", "gamma = 1.0"),
        ("permute(standardize, normalize) >> naive", "naive", ">>"),
        ("repeat(standardize, 1..2) >> naive", "standardize >> standardize >> standardize >> naive", "standardize"),
        ("arrange(0..1, standardize, normalize) >> naive", "normalize >> standardize >> naive", "naive"),
        ("(standardize & normalize) >> naive", "standardize >> naive", "&"),
        ("subset(standardize, normalize) >> naive", "normalize >> standardize >> naive", "naive"),
    ],
)
def test_the_nearest_model_is_in_the_space(space: str, given: str, nearest: str) -> None:
    space, given = (_closed_scalers(text) for text in (space, given))
    spec = f"use sbm, clop\nchain model = {space}\n"
    found = check_source(Source("spec.msl", spec))
    other = check_source(Source("given.msl", f"use sbm, clop\nchain model = {given}\n"))
    assert found.spec is not None
    assert other.spec is not None
    model = Model(closed_steps(other.spec.space.root))
    membership = Membership(found.spec.space)
    with pytest.raises(NotInSpace):
        membership.derive(model)
    near = nearest_model(found.spec.space.root, model)
    assert near is not None
    membership.derive(near)
    assert nearest in model_to_text(near)


def _closed_scalers(text: str) -> str:
    for name in ("standardize", "normalize", "naive"):
        text = text.replace(name, f"{name}(rest = default)")
    return text


def test_a_model_of_the_space_is_its_own_nearest() -> None:
    import numpy as np

    from msl.encode.codec import space_to_codec
    from msl.encode.sample import sample

    spec = """use sbm, clop
chain model = permute(standardize?, (normalize | shift_scale)?) >> (knn(k: 1..9, rest = default) | svc)
"""
    found = check_source(Source("spec.msl", spec)).spec
    assert found is not None
    drawn = sample(space_to_codec(found.space, "shared"), 200, np.random.default_rng(1), by="models")
    for model in random.Random(2).sample(list(drawn), 100):
        assert isinstance(model, Model)
        assert nearest_model(found.space.root, model) == model
