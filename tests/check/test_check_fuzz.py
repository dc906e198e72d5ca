"""Mutated and truncated specs through the whole check and the formatter: never a crash, every message fit to be read.

`MSL_FUZZ_CASES` sets how many cases are tried, 1,000 when absent; each is made from its number alone.
"""

from __future__ import annotations

import os

import pytest
from mutated_specs import checked, text_of, try_case

CASES = int(os.environ.get("MSL_FUZZ_CASES", "1000"))
BATCH = 250


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_mutated_specs(first: int) -> None:
    for number in range(first, min(first + BATCH, CASES)):
        try:
            try_case(number)
        except Exception as error:
            raise AssertionError(f"case {number} of the fuzz test: {text_of(number)[:4000]!r}") from error


def test_the_mutations_reach_most_codes() -> None:
    """A fuzz test that finds nothing because it tries nothing would be no test."""
    codes = {diagnostic.code for number in range(400) for diagnostic in checked(number).diagnostics}
    assert len(codes) >= 60
