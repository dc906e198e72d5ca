"""Halving by the resource of models: fewer trees on all rows, each such model evaluated as itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import msl
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.space.fit_costs import resource_of, scaled_down
from msl.space.nodes import IntRange, Param, RealRange
from msl.space.values import BlockType, BlockValue, Branches, Fidelity, Model
from msl.store.store import Store

sys.path.insert(0, str(Path(__file__).parent))
from search_cases import commissioned, searched, write_classes

_SPEC = """use sklearn, sbm
chain model = extra_trees(n_estimators: 20..60, rest = default) | knn(k: 1..9, rest = default)
minimize error by cv(folds = 2)
search halving(evaluations = 12, factor = 3, first = 0.1, resource = auto)
"""
TREES = BlockType("trees", "own", "learner", None, "m:Trees", fidelity=Fidelity("n", 10.0, True))
OTHER = BlockType("other", "own", "transformer", None, "m:Other")


def test_rungs_have_fewer_trees_or_fewer_rows(tmp_path: Path) -> None:
    case = searched(tmp_path, _SPEC, write_classes(tmp_path))
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        queries = store.runs.queries(case.run)
        rows = store.evaluations.read([str(query.key) for query in queries])
    seen = set()
    for (query, _), stored in zip(case.found.history, queries, strict=True):
        row = rows[str(stored.key)]
        trees = re.search(r"n_estimators = (\d+)", row.text)
        assert row.inputs.share == (query.share if trees is None else 1.0)
        if trees is not None:
            assert 10 <= int(trees[1]) <= max(10, round(60 * query.share))
        seen.add((trees is None, query.share < 1.0))
    assert len(seen) >= 3
    best = case.verdict.best
    assert best is not None
    assert all(20 <= value <= 60 for name, value in best.model.steps[0].params if name == "n_estimators")  # type: ignore[union-attr,operator]


_AUTO = re.sub(r"search .*", "search auto(evaluations = 34, resource = auto)", _SPEC)


@pytest.mark.parametrize("spec", [_SPEC, _AUTO], ids=["halving", "auto"])
def test_one_and_two_workers_do_the_same(spec: str, tmp_path: Path) -> None:
    table = str(write_classes(tmp_path, 45))
    found = [msl.run(spec, table, store=tmp_path / f"store{jobs}", jobs=jobs).summary for jobs in (1, 2)]
    asked = []
    for jobs, summary in zip((1, 2), found, strict=True):
        with Store.open(tmp_path / f"store{jobs}", read_only=True) as store:
            asked.append([(one.key, one.losses) for one in store.runs.queries(str(summary["run"]))])
    assert found[0]["best"] == found[1]["best"]
    assert asked[0] == asked[1]


def test_auto_tries_new_models_with_fewer_trees_first(tmp_path: Path) -> None:
    case = searched(tmp_path, _AUTO, write_classes(tmp_path))
    shares = [query.share for query, _ in case.found.history]
    assert shares[: shares.index(1.0)] == sorted(shares[: shares.index(1.0)])
    assert len([share for share in shares if share < 0.2]) > len([share for share in shares if 0.2 < share < 1]) > 0
    assert {query.less for query, _ in case.found.history if query.share < 1.0} == {"fidelity"}
    best = case.verdict.best
    assert best is not None
    assert all(20 <= value <= 60 for name, value in best.model.steps[0].params if name == "n_estimators")  # type: ignore[union-attr,operator]


def test_auto_has_no_resource_unless_the_spec_says_so(tmp_path: Path) -> None:
    """An old spec keeps its digest."""
    table = write_classes(tmp_path)
    plain = commissioned(tmp_path, _AUTO.replace(", resource = auto", ""), table).plan.digests
    none = commissioned(tmp_path, _AUTO.replace("= auto)", "= none)"), table).plan.digests
    assert none.run == plain.run != commissioned(tmp_path, _AUTO, table).plan.digests.run


def test_rows_are_the_resource_unless_the_spec_says_otherwise(tmp_path: Path) -> None:
    """An old spec keeps its digest."""
    table = write_classes(tmp_path)
    plain = commissioned(tmp_path, _SPEC.replace(", resource = auto", ""), table).plan.digests
    rows = commissioned(tmp_path, _SPEC.replace("= auto", "= rows"), table).plan.digests
    assert rows.run == plain.run != commissioned(tmp_path, _SPEC, table).plan.digests.run


@pytest.mark.parametrize(
    ("trees", "share", "left"), [(500, 0.1, 50), (50, 0.1, 10), (5, 0.5, 5), (101, 0.5, 51), (80, 1, 80)]
)
def test_a_share_is_at_least_the_low_end_and_at_most_the_value(trees: int, share: float, left: int) -> None:
    step = BlockValue(TREES, (("depth", 3), ("n", trees)))
    small = BlockValue(TREES, (("depth", 3), ("n", left)))
    assert scaled_down(Model((BlockValue(OTHER, ()), step)), share) == Model((BlockValue(OTHER, ()), small))
    branches = Branches(((BlockValue(OTHER, ()),), (step,)))
    assert scaled_down(Model((branches,)), share) == Model((Branches(((BlockValue(OTHER, ()),), (small,))),))


def test_a_model_without_a_resource_is_not_scaled_down() -> None:
    assert scaled_down(Model((BlockValue(OTHER, (("n", 5),)),)), 0.1) is None


def test_only_ranges_of_positive_numbers_are_resources() -> None:
    params = (Param("n", IntRange(10, 50)), Param("r", RealRange(0.5, 2.0)), Param("z", IntRange(0, 5)))
    assert resource_of(params, "n") == Fidelity("n", 10.0, True)
    assert resource_of(params, "r") == Fidelity("r", 0.5, False)
    assert resource_of(params, "z") is None


def test_a_derived_block_keeps_the_resource_while_it_has_a_range() -> None:
    text = """use sklearn
block few = random_forest { n_estimators: int 5..50 }
block fixed = random_forest { n_estimators = 50 }
chain model = few | fixed
"""
    spec = check_source(Source("spec.msl", text)).spec
    assert spec is not None
    blocks = [option.block for option in spec.space.root.options]  # type: ignore[union-attr]
    assert [block.fidelity for block in blocks] == [Fidelity("n_estimators", 5.0, True), None]


def test_best_of_a_derived_block_is_kept() -> None:
    from msl.space.best import best_parameters

    text = (
        "use sbm\nblock near = knn { k: best int 1..20 }\nblock far = knn { k: best 1..9 }\nchain model = near | far\n"
    )
    spec = check_source(Source("spec.msl", text)).spec
    assert spec is not None
    assert best_parameters(spec.space.root) == ["near.k", "far.k"]
