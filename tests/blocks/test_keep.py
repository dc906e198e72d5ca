"""The feature mask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.blocks.selection.selectors import KeepFeatures

X = np.arange(12.0).reshape(3, 4)


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_columns_whose_bit_is_on_are_kept(bits: list[bool]) -> None:
    kept = [column for column, bit in enumerate(bits) if bit] or [0]
    for mask in (bits, np.array(bits), [int(bit) for bit in bits], tuple(bits)):
        block = KeepFeatures(features=mask).fit(X)
        assert np.array_equal(block.transform(X), X[:, kept])
        assert block.complexity() == len(kept)
        assert block.get_support(indices=True).tolist() == kept


def test_no_mask_keeps_everything() -> None:
    assert np.array_equal(KeepFeatures().fit_transform(X), X)


def test_rows_stay_in_order_of_memory() -> None:
    assert KeepFeatures(features=[True, False, True, True]).fit_transform(X).flags.c_contiguous


@pytest.mark.parametrize("mask", [[True], [True] * 5, [[True] * 4]])
def test_a_mask_that_does_not_fit_is_a_clear_error(mask: list[bool]) -> None:
    with pytest.raises(ValueError, match=r"rows with 4 features; give `features` exactly 4 entries"):
        KeepFeatures(features=mask).fit(X)


@pytest.mark.parametrize("mask", [[0, 2, 3, 1], [0.5, 1, 1, 1], ["a", "b", "c", "d"]])
def test_a_mask_of_anything_else_is_a_clear_error(mask: list[object]) -> None:
    with pytest.raises(ValueError, match="mask of booleans"):
        KeepFeatures(features=mask).fit(X)
