"""Runs of spaces with `best` parameters: one request tries all values, each stored as the model that it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import msl
from msl.store.store import Store

sys.path.insert(0, str(Path(__file__).parent))
from search_cases import commissioned, ensemble_of, searched, write_classes

_SPEC = """use sbm
chain model = knn(k: best 1..9, weighting: uniform | inverse, rest = default)
minimize error by cv(folds = 3)
search random(evaluations = 2)
"""


def stored(folder: Path, run: str) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    """The losses of every evaluation by the text of its model, and the models that answered the queries."""
    with Store.open(folder, read_only=True) as store:
        digests = store.runs.get(run).digests
        rows = list(store.evaluations.about(digests.data, digests.evaluation))
        texts = {row.key: row.text for row in rows}
        return {row.text: row.losses for row in rows}, [texts[str(q.key)] for q in store.runs.queries(run)]


def test_every_value_is_an_evaluation_of_its_own_and_the_best_one_answers(tmp_path: Path) -> None:
    case = searched(tmp_path, _SPEC, write_classes(tmp_path))
    losses, answers = stored(tmp_path / ".msl", case.run)
    assert len(losses) == 18
    assert len(answers) == case.found.evaluator.counts.evaluations == 2
    for answer in answers:
        kind = answer.split("weighting")[1]
        tried = {text: loss for text, loss in losses.items() if text.split("weighting")[1] == kind}
        assert len(tried) == 9
        assert losses[answer] == min(tried.values())
    best = case.verdict.best
    assert best is not None
    assert best.losses == min(losses.values())
    assert isinstance(dict(best.model.steps[0].params)["k"], int)  # type: ignore[union-attr]
    assert case.found.evaluator.counts.fits == 2 * 3, "one fit a fold serves all values"


def test_the_values_are_the_evaluations_of_a_space_without_best(tmp_path: Path) -> None:
    """A search that asks for each value reuses all of them, and finds nothing better."""
    table = write_classes(tmp_path)
    tried = searched(tmp_path, _SPEC, table)
    plain = searched(tmp_path, _SPEC.replace("best ", "").replace("random(evaluations = 2)", "grid"), table)
    assert plain.found.evaluator.counts.evaluations == plain.found.evaluator.counts.reused == 18
    assert plain.verdict.best is not None
    assert tried.verdict.best is not None
    assert plain.verdict.best.losses == tried.verdict.best.losses


def test_the_run_is_another_one_but_the_space_is_the_same(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    tried = commissioned(tmp_path, _SPEC, table).plan
    plain = commissioned(tmp_path, _SPEC.replace("best ", ""), table).plan
    assert tried.digests.space == plain.digests.space
    assert tried.digests.run != plain.digests.run
    assert tried.search_spaces[0].n_dimensions == plain.search_spaces[0].n_dimensions - 1


@pytest.mark.parametrize(
    "search", ["auto(evaluations = 12)", "random(evaluations = 4) then confirm(top = 2, repeats = 2)"]
)
def test_one_and_two_workers_do_the_same(tmp_path: Path, search: str) -> None:
    text = _SPEC.replace("random(evaluations = 2)", search).replace("knn(", "keep >> knn(")
    table = str(write_classes(tmp_path, 45))
    found = [msl.run(text, table, store=tmp_path / f"store{jobs}", jobs=jobs).summary for jobs in (1, 2)]
    assert found[0]["best"] == found[1]["best"]
    one, two = (stored(tmp_path / f"store{jobs}", str(run["run"])) for jobs, run in zip((1, 2), found, strict=True))
    assert one[1] == two[1]


def test_only_values_that_requirements_allow_are_tried(tmp_path: Path) -> None:
    text = _SPEC + "require knn.k <= 3 if knn.weighting is inverse\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    losses, _ = stored(tmp_path / ".msl", case.run)
    assert len(losses) == 9 + 3


def test_members_of_an_ensemble_have_the_best_values(tmp_path: Path) -> None:
    case = searched(tmp_path, _SPEC + "ensemble vote(top = 2, always = true)\n", write_classes(tmp_path))
    values = [dict(one.model.steps[0].params)["k"] for one in ensemble_of(case).members.candidates]  # type: ignore[union-attr]
    assert all(isinstance(value, int) for value in values)


def test_confirming_keeps_the_value_that_was_best(tmp_path: Path) -> None:
    text = _SPEC.replace("random(evaluations = 2)", "random(evaluations = 2) then confirm(top = 2, repeats = 2)")
    case = searched(tmp_path, text, write_classes(tmp_path))
    _, answers = stored(tmp_path / ".msl", case.run)
    assert len(answers) in (2 + 2, 2 + 2 * 2)  # of models with equal losses one is confirmed
    assert set(answers[2:]) <= set(answers[:2])
