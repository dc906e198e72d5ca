"""Facts: what a spec may know of a table."""

from __future__ import annotations

import subprocess
import sys

import pytest

from msl.space.formulas import Facts


def test_facts_are_plain_and_comparable() -> None:
    facts = Facts(150, 4, 3, "classification", ("a", "b", "c", "d"))
    assert facts == Facts(n_samples=150, n_features=4, n_classes=3, task="classification", columns=("a", "b", "c", "d"))
    assert hash(facts) == hash(Facts(150, 4, 3, "classification", ("a", "b", "c", "d")))


@pytest.mark.parametrize(
    "wrong",
    [(0, 4, 2, "classification"), (9, 0, 2, "classification"), (9, 4, 2, "regression"), (9, 4, 0, "classification")],
)
def test_impossible_facts(wrong: tuple[int, int, int, str]) -> None:
    with pytest.raises(ValueError, match=r"table has|does not go"):
        Facts(*wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 names for 2 features"):
        Facts(3, 2, 0, "regression", ("a",))


def test_facts_need_nothing_beyond_the_standard_library() -> None:
    program = "import sys, msl.space.formulas; sys.exit('numpy' in sys.modules or 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
