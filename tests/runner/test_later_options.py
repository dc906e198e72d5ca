"""Options that came later do not invalidate what was stored: at their defaults they are no part of a digest."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_cases import SPACE, commissioned, write_classes

from msl.runner.plan import Digests


def digests(folder: Path, estimate: str, search: str) -> Digests:
    return commissioned(
        folder, f"{SPACE}minimize ber by {estimate}\nsearch {search}\n", write_classes(folder)
    ).plan.digests


@pytest.mark.parametrize("change", ["stratified = false", "balanced = true"])
def test_an_estimate_that_does_something_else_has_another_digest(tmp_path: Path, change: str) -> None:
    plain = digests(tmp_path, "cv(folds = 2, stratified = true, balanced = false)", "pso")
    assert plain == digests(tmp_path, "cv(folds = 2)", "pso")
    assert plain.evaluation != digests(tmp_path, f"cv(folds = 2, {change})", "pso").evaluation


@pytest.mark.parametrize(
    "change",
    ["units = native", "start_velocity = unit", "shared_start = unit", "leader = present", "shuffle = true"],
)
def test_a_swarm_that_does_something_else_has_another_digest(tmp_path: Path, change: str) -> None:
    assert digests(tmp_path, "loo()", "pso").search != digests(tmp_path, "loo()", f"pso({change})").search


def test_a_pattern_that_asks_again_has_another_digest(tmp_path: Path) -> None:
    plain = digests(tmp_path, "loo()", "pattern")
    assert plain == digests(tmp_path, "loo()", "pattern(shuffle = false)")
    assert plain.search != digests(tmp_path, "loo()", "pattern(shuffle = true)").search
