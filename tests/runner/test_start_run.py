"""Runs that start from the models of files: evaluated first, part of the digest, and kept in the store."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from msl.search.base import Observation
from msl.search.strategies.start import start
from msl.search.strategy_context import Setting
from msl.store.store import Store
from msl.testing.toy_problems import sphere

sys.path.insert(0, str(Path(__file__).parent))
from search_cases import commissioned, searched, write_classes

_SPEC = """use sbm
chain model = knn(k: 1..40, rest = default)
minimize error by cv(folds = 2)
search start("portfolio.msl") then random(evaluations = 3)
"""


def write_models(folder: Path, *neighbours: int) -> None:
    lines = [f"chain m{place} = knn(k = {k}, rest = default)" for place, k in enumerate(neighbours)]
    (folder / "portfolio.msl").write_text("\n".join(["use sbm", *lines, ""]), encoding="utf-8")


def test_the_models_of_the_file_are_evaluated_first_and_in_order(tmp_path: Path) -> None:
    write_models(tmp_path, 7, 3, 39, 3)
    case = searched(tmp_path, _SPEC, write_classes(tmp_path))
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        queries = store.runs.queries(case.run)
        texts = {row.key: row.text for row in store.evaluations.read([q.key for q in queries if q.key]).values()}
    assert [texts[str(q.key)].split("k = ")[1].split(",")[0] for q in queries[:3]] == ["7", "3", "39"]
    assert [q.stage for q in queries] == [0, 0, 0, 1, 1, 1]


def test_other_models_are_another_run_but_not_another_text_of_the_same(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    write_models(tmp_path, 7, 3)
    first = commissioned(tmp_path, _SPEC, table).plan.digests
    file = tmp_path / "portfolio.msl"
    file.write_text("# a comment\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert commissioned(tmp_path, _SPEC, table).plan.digests == first
    write_models(tmp_path, 7, 4)
    other = commissioned(tmp_path, _SPEC, table).plan.digests
    assert other.run != first.run
    assert other.space == first.space


def test_the_store_keeps_the_text_of_the_file(tmp_path: Path) -> None:
    write_models(tmp_path, 5)
    case = searched(tmp_path, _SPEC, write_classes(tmp_path))
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        sources = store.runs.sources(case.run)
    assert [text for name, text in sources.items() if name.endswith("portfolio.msl")] == [
        (tmp_path / "portfolio.msl").read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_strategy_asks_for_each_point_once(count: int) -> None:
    points = [np.full(2, place / 4) for place in range(count)]
    running = start(Setting(sphere().search_space, {}, np.random.default_rng(0), points=[*points, *points]))
    queries = next(running, [])
    assert [query.vector.tolist() for query in queries] == [point.tolist() for point in points]
    if queries:
        with pytest.raises(StopIteration):
            running.send([Observation(query.vector, (1.0,)) for query in queries])
