"""Test paired differences: Wilcoxon's signed ranks, the corrected t-test where folds share rows, and Holm's correction.

Folds of one table are no independent trials: the models of any two were fitted on mostly the same rows. Taken for
independent, their differences seem far surer than they are. Nadeau and Bengio (2003) add to the variance of the mean
what two folds have in common, about the ratio of the rows that are tested to those that are fitted on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata
from scipy.stats import t as students_t

from msl.blocks.base.block import Floats

#: Beyond so many pairs the distribution is normal to more digits than anyone reads.
_MOST_EXACT = 200
#: Differences that are closer than this, relative to the largest, are equal: they come from sums of rounded shares.
_DIGITS = 1e-10


@dataclass(frozen=True, slots=True)
class SignedRank:
    """The test of `n` differences that are not zero; `zeros` pairs were equal and count for nothing, as with Wilcoxon.

    `effect` is the matched-pairs rank-biserial correlation: 1 where every difference is positive, -1 where every one is
    negative, 0 where their ranks balance.
    """

    n: int
    zeros: int
    #: How many differences are positive, and the sum of their ranks.
    higher: int
    rank_sum: float
    p: float
    effect: float

    @property
    def lower(self) -> int:
        return self.n - self.higher


def least_p(pairs: int) -> float:
    """The lowest two-sided p that so many pairs can give, all of them different and in one direction."""
    return min(1.0, 2.0 ** (1 - pairs))


def signed_rank(differences: Sequence[float]) -> SignedRank:
    """The two-sided test that differences are symmetric around zero; exact for ranks with and without ties."""
    given = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(given).all():
        raise ValueError("a difference is not a number")
    levelled = _levelled(given)
    signed = levelled[levelled != 0.0]
    if not len(signed):
        return SignedRank(0, len(given), 0, 0.0, 1.0, 0.0)
    ranks: Floats = rankdata(np.abs(signed))
    above, total = float(ranks[signed > 0].sum()), float(ranks.sum())
    p = _exact_p(ranks, min(above, total - above)) if len(signed) <= _MOST_EXACT else _normal_p(ranks, above)
    zeros, higher = len(given) - len(signed), int((signed > 0).sum())
    return SignedRank(len(signed), zeros, higher, above, p, (2 * above - total) / total)


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values corrected for being several, each at its place; never below the one it corrects."""
    corrected = [0.0] * len(ps)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        highest = max(highest, min(1.0, (len(ps) - place) * ps[index]))
        corrected[index] = highest
    return corrected


def _levelled(differences: Floats) -> Floats:
    """Rounds differences, so that those that differ in their last digits alone are equal."""
    largest = np.abs(differences).max(initial=0.0)
    if largest == 0.0:
        return differences
    unit = largest * _DIGITS
    steps: Floats = np.rint(differences / unit)
    return steps


def _exact_p(ranks: Floats, least: float) -> float:
    """Of all ways to give the ranks their signs, the share with a rank sum as far out as this one."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # the ranks of ties are halves
    shares = np.zeros(int(doubled.sum()) + 1)
    shares[0] = 1.0
    for rank in doubled:
        shares[rank:] = 0.5 * (shares[rank:] + shares[:-rank])
        shares[:rank] *= 0.5
    return min(1.0, 2.0 * float(shares[: round(2 * least) + 1].sum()))


def _normal_p(ranks: Floats, above: float) -> float:
    """The variance of a sum of ranks with random signs is a quarter of the sum of their squares, ties or not."""
    spread = math.sqrt(float((ranks**2).sum()) / 4)
    return min(1.0, 2.0 * float(ndtr(-abs(above - ranks.sum() / 2) / spread)))


# --- folds that share rows --------------------------------------------------------------------------------------------


def corrected_spread(differences: Sequence[float] | Floats, share_tested: float) -> float:
    """The standard error of the mean of differences on folds; so many rows are tested for one that is fitted on."""
    return math.sqrt((1.0 / len(differences) + share_tested) * float(np.var(differences, ddof=1)))


def students_p(difference: float, error: float, freedom: int) -> float:
    """Two-sided. What is the same on every fold differs by nothing, or for sure."""
    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return float(2.0 * students_t.sf(abs(difference) / error, freedom))


def resampled_p(differences: Sequence[float], share_tested: float) -> float:
    """The corrected resampled t-test; 1 for a single fold, which says nothing."""
    if len(differences) < 2:
        return 1.0
    mean = float(np.mean(differences))
    return students_p(mean, corrected_spread(differences, share_tested), len(differences) - 1)
