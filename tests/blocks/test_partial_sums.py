"""Partial sums against fresh sums along walks of the weights."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from msl.blocks.similarity.leave_one_out import PartialSums, ranges_without


def fresh_sum(terms, weights):
    return sum(weight * term for weight, term in zip(weights, terms, strict=True) if weight)


@settings(max_examples=60)
@given(data=st.data(), n_terms=st.integers(1, 13), seed=st.integers(0, 99))
def test_any_walk_gives_the_sum_to_the_last_digits(data, n_terms, seed):
    # Terms of very different size: a subtraction anywhere would leave noise larger than the small ones.
    rng = np.random.default_rng(seed)
    terms = rng.random((n_terms, 3, 3)) * 10.0 ** rng.integers(-9, 10, size=(n_terms, 1, 1))
    sums = PartialSums(terms.copy())
    weights = np.zeros(n_terms)
    for _ in range(data.draw(st.integers(1, 12))):
        changes = data.draw(st.dictionaries(st.integers(0, n_terms - 1), st.integers(0, 10), max_size=n_terms))
        for place, tenths in changes.items():
            weights[place] = tenths / 10
        expected = np.asarray(fresh_sum(terms, weights)) + np.zeros((3, 3))
        np.testing.assert_allclose(sums.at(weights), expected, rtol=1e-13, atol=0)


def test_switching_a_large_term_off_leaves_exact_zeros():
    terms = np.array([np.full((2, 2), 1e6 + 0.1), np.zeros((2, 2)), np.full((2, 2), 1e-9)])
    sums = PartialSums(terms)
    sums.at(np.array([0.3, 1.0, 1.0]))
    sums.at(np.array([0.7, 1.0, 1.0]))
    sums.at(np.array([0.7, 1.0, 0.0]))
    assert np.all(sums.at(np.array([0.0, 1.0, 0.0])) == 0)


def test_infinite_entries_without_terms_stay():
    terms = np.ones((4, 2, 2)) - np.eye(2)
    sums = PartialSums(terms)
    for weights in ([1.0, 1, 1, 1], [1.0, 1, 1, 0.5], [1.0, 1, 0.2, 0.5], [1.0, 1, 0.4, 0.5]):
        total = sums.at(np.array(weights))
        np.fill_diagonal(total, np.inf)
        np.testing.assert_allclose(total[0, 1], sum(weights), rtol=1e-14)
        assert total[0, 0] == np.inf


@given(st.integers(1, 40), st.sets(st.integers(0, 39)))
def test_ranges_cover_everything_else_once(n, lacking):
    lacking = [place for place in lacking if place < n]
    covered = [place for low, high in ranges_without((0, n), lacking) for place in range(low, high)]
    assert sorted(covered) == sorted(set(range(n)) - set(lacking))
