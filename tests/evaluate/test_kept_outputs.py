"""The outputs that a model was judged by come back as they were scored, in few bytes, and nothing else does."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest
from evaluation_cases import bundled, models_of, numbers, objectives, only_model
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from msl.blocks.base.block import Floats
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.final_fits import request_stream
from msl.evaluate.kept_outputs import BadPackedOutputs, check_packed, needed_outputs, pack_outputs, unpack_outputs
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.evaluate.splits import Split
from msl.space.spec import Estimate, metrics_of

CV = Estimate("cv", "msl.evaluate:cv")
RNG = np.random.default_rng(8)


def folds(n: int, repeats: int = 1) -> Resampling:
    places = np.arange(n)
    splits = [
        Split(np.flatnonzero((places + r) % 3 != f), np.flatnonzero((places + r) % 3 == f), r)
        for r in range(repeats)
        for f in range(3)
    ]
    return Resampling.of(CV, splits, places % 2, None)


def pooled(resampling: Resampling, values: Floats) -> list[Floats]:
    return [values[pool.rows] for pool in resampling.pools]


def probabilities(n: int, k: int) -> Floats:
    return RNG.dirichlet(np.full(k, 0.3), n)


@pytest.mark.parametrize("classes", [2, 3, 300])
def test_classes_come_back_exactly(classes: int) -> None:
    resampling = folds(50, repeats=2)
    outputs = pooled(resampling, RNG.normal(size=(50, classes)))
    packed = pack_outputs([(resampling, outputs)], "classes")
    (found,) = unpack_outputs(packed, [resampling], classes)
    assert all((a.argmax(axis=1) == b.argmax(axis=1)).all() for a, b in zip(found, outputs, strict=True))
    check_packed(packed)


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_come_back_close_also_near_zero_and_one(classes: int) -> None:
    values = probabilities(60, classes)
    values[:3] = 1e-30
    values[:3, 1] = 1.0
    values[3] = np.eye(classes)[0]
    resampling = folds(60)
    outputs = pooled(resampling, values)
    (found,) = unpack_outputs(pack_outputs([(resampling, outputs)], "all"), [resampling], classes)
    np.testing.assert_allclose(found[0], outputs[0], rtol=1e-5, atol=1e-37)
    assert (found[0].argmax(axis=1) == outputs[0].argmax(axis=1)).all()


def test_two_probabilities_are_one_number_of_four_bytes() -> None:
    resampling = folds(3000)
    packed = pack_outputs([(resampling, pooled(resampling, probabilities(3000, 2)))], "all")
    assert len(packed) < 3000 * 4 + 100


def test_rounding_never_changes_a_prediction() -> None:
    values = np.full((40, 3), 1 / 3)
    values[:, 2] += 1e-12
    resampling = folds(40)
    outputs = pooled(resampling, values)
    (found,) = unpack_outputs(pack_outputs([(resampling, outputs)], "all"), [resampling], 3)
    assert (found[0].argmax(axis=1) == 2).all()


@pytest.mark.parametrize("offset", [0.0, 1.6e9])
def test_numbers_come_back_to_a_millionth_of_their_spread(offset: float) -> None:
    resampling = folds(40)
    outputs = pooled(resampling, offset + RNG.normal(size=40))
    (found,) = unpack_outputs(pack_outputs([(resampling, outputs)], "all"), [resampling], 0)
    np.testing.assert_allclose(found[0] - offset, outputs[0] - offset, atol=2e-6)


# --- of many rows, about a byte of each is kept -----------------------------------------------------------------------

ROWS = 6000


def labelled(signal: float, shift: float = 0.0) -> tuple[Floats, NDArray[np.intp]]:
    """Log odds of a model, and classes that follow them."""
    truth = RNG.normal(size=ROWS) * signal + shift
    return truth + 0.3 * RNG.normal(size=ROWS), (RNG.random(ROWS) < 1 / (1 + np.exp(-truth))).astype(np.intp)


def scored_again(outputs: Floats, y: NDArray[Any], most_bytes: float) -> tuple[Floats, Floats, NDArray[Any]]:
    """The outputs as they were and as they come back, and what is true, in the order of the splits."""
    places = np.arange(ROWS)
    splits = [Split(np.flatnonzero(places % 3 != f), np.flatnonzero(places % 3 == f), 0) for f in range(3)]
    resampling = Resampling.of(CV, splits, y, None)
    given = pooled(resampling, outputs)
    packed = pack_outputs([(resampling, given)], "all")
    check_packed(packed)
    assert len(packed) < most_bytes * outputs.size
    (found,) = unpack_outputs(packed, [resampling], 0 if outputs.ndim == 1 else outputs.shape[1])
    return given[0], found[0], resampling.pools[0].y


def assert_same_mean(before: Floats, after: Floats) -> None:
    """Within a twentieth of a standard error."""
    assert abs(after.mean() - before.mean()) < 0.05 * before.std() / np.sqrt(len(before))


@pytest.mark.parametrize(
    ("signal", "scale", "shift"),
    [(0.5, 1.0, 0.0), (1.5, 1.0, 0.0), (4.0, 1.0, 0.0), (2.0, 5.0, 0.0), (1.0, 0.01, -3.0), (2.0, 1.0, -4.0)],
)
def test_metrics_of_two_classes_stay_within_a_twentieth_of_their_standard_error(
    signal: float, scale: float, shift: float
) -> None:
    odds, y = labelled(signal, shift)
    chance = 1 / (1 + np.exp(-scale * odds))
    before, after, truth = scored_again(np.column_stack([1 - chance, chance]), y, 0.7)
    assert (before.argmax(axis=1) == after.argmax(axis=1)).all()
    right = np.arange(ROWS), truth
    assert_same_mean(-np.log(before[right]), -np.log(after[right]))
    assert_same_mean((before[:, 1] - truth) ** 2, (after[:, 1] - truth) ** 2)
    area = roc_auc_score(truth, before[:, 1])
    error = np.sqrt(area * (1 - area) / 2 / min(truth.sum(), ROWS - truth.sum()))
    assert abs(roc_auc_score(truth, after[:, 1]) - area) < 0.05 * error


@pytest.mark.parametrize("are_shares", [True, False])
def test_metrics_of_many_classes_stay_within_a_twentieth_of_their_standard_error(are_shares: bool) -> None:
    scores = 1.5 * RNG.normal(size=(ROWS, 4))
    shares = softmax(scores, axis=1)
    y = (shares.cumsum(axis=1) < RNG.random((ROWS, 1))).sum(axis=1)
    before, after, truth = scored_again(shares if are_shares else scores, y, 1.5)
    assert (before.argmax(axis=1) == after.argmax(axis=1)).all()
    if are_shares:
        np.testing.assert_allclose(after.sum(axis=1), 1.0)
    losses = [-np.log((one if are_shares else softmax(one, axis=1))[np.arange(ROWS), truth]) for one in (before, after)]
    assert_same_mean(*losses)


def test_two_scores_with_a_constant_sum_are_one_number() -> None:
    odds, y = labelled(1.5)
    before, after, _ = scored_again(np.column_stack([1.0 - odds, 1.0 + odds]), y, 0.7)
    assert (before.argmax(axis=1) == after.argmax(axis=1)).all()
    np.testing.assert_allclose(after.sum(axis=1), 2.0)
    np.testing.assert_allclose(after, before, atol=0.2)


@pytest.mark.parametrize("spread", [1.0, 1e6])
def test_residuals_keep_their_sizes(spread: float) -> None:
    y = 1e3 + spread * RNG.standard_t(3, size=ROWS)
    before, after, truth = scored_again(y - spread * RNG.standard_t(3, size=ROWS), y, 1.7)
    gaps = truth - before, truth - after
    for each in (np.square, np.abs, lambda gap: np.log1p(np.abs(gap))):
        assert_same_mean(*map(each, gaps))
    np.testing.assert_allclose(gaps[1], gaps[0], rtol=0.025, atol=1e-9 * spread)
    right, after, _ = scored_again(y, y, 9)
    np.testing.assert_allclose(after, right, rtol=1e-6)


def test_what_is_certain_and_what_is_rare_comes_back_exactly() -> None:
    odds, y = labelled(2.0)
    chance = 1 / (1 + np.exp(-odds))
    chance[:40], chance[40:90] = 0.0, 1.0
    before, after, _ = scored_again(np.column_stack([1 - chance, chance]), y, 0.7)
    for end in (0.0, 1.0):
        assert ((before == end) == (after == end)).all()
    few = np.round(chance * 50) / 50
    before, after, _ = scored_again(np.column_stack([1 - few, few]), y, 0.7)
    np.testing.assert_allclose(after, before, rtol=1e-5)
    assert len(np.unique(after[:, 1])) == len(np.unique(before[:, 1]))


def packed_classes() -> tuple[Resampling, bytes]:
    resampling = folds(30)
    return resampling, pack_outputs([(resampling, pooled(resampling, RNG.normal(size=(30, 3))))], "classes")


def test_outputs_of_other_rows_or_classes_are_refused() -> None:
    resampling, packed = packed_classes()
    with pytest.raises(BadPackedOutputs, match="other rows"):
        unpack_outputs(packed, [folds(33)], 3)
    reversed_splits = Resampling.of(CV, list(reversed(resampling.splits)), np.arange(30) % 2, None)
    with pytest.raises(BadPackedOutputs, match="other rows"):
        unpack_outputs(packed, [reversed_splits], 3)
    with pytest.raises(BadPackedOutputs, match="class"):
        unpack_outputs(packed, [resampling], 2)
    with pytest.raises(BadPackedOutputs, match="estimates"):
        unpack_outputs(packed, [resampling, resampling], 3)


@pytest.mark.parametrize("keep", [0, 2, 3, 20, 30])
def test_a_part_of_them_is_refused(keep: int) -> None:
    resampling, packed = packed_classes()
    with pytest.raises(BadPackedOutputs):
        check_packed(packed[:keep])
    with pytest.raises(BadPackedOutputs):
        unpack_outputs(packed[:keep], [resampling], 3)


def test_what_would_unpack_to_very_much_is_not_unpacked() -> None:
    resampling, packed = packed_classes()
    head = packed[: struct.calcsize("<BH") + struct.calcsize("<BBHIIQ")]
    bomb = head + zlib.compress(bytes(50_000_000))
    for refuse in (check_packed, lambda one: unpack_outputs(one, [resampling], 3)):
        with pytest.raises(BadPackedOutputs, match="length"):
            refuse(bomb)


# --- what evaluations hand back ---------------------------------------------------------------------------------------

SPACE = "msl 1\nuse clop\nchain m = naive | zarbi\n"


@pytest.mark.parametrize(
    ("goal", "keeps"),
    [
        ("minimize ber by cv(folds = 3, repeats = 2)", "classes"),
        ("minimize logloss by cv(folds = 3)", "all"),
        ("minimize error by holdout(share = 0.3)", "classes"),
        ("minimize error by loo", "classes"),
        ("minimize ber by bootstrap632(samples = 4)", "classes"),
        ("minimize ber by cv(folds = 3, shuffle = true)", "classes"),
        ("minimize ber by cv(folds = 3), logloss by holdout(share = 0.4)", "all"),
    ],
)
def test_the_metrics_follow_from_what_an_evaluation_hands_back(goal: str, keeps: str) -> None:
    dataset = bundled("wine")
    wanted = objectives(goal, dataset)
    assert needed_outputs(wanted, for_votes=False) == keeps
    assert needed_outputs(wanted, for_votes=True) == "all"
    subject = Evaluator(dataset, wanted, 5, keeps=needed_outputs(wanted, for_votes=False))
    plan = ResamplingPlan(dataset, (one.estimate for one in wanted), 5)
    for model in models_of(SPACE, dataset, 2):
        outcome = subject.evaluate(model)
        assert outcome.outputs is not None
        resamplings = [plan.resampling(one, request_stream(model), 1.0, 0) for one in plan.estimates]
        found = unpack_outputs(outcome.outputs, resamplings, dataset.n_classes)
        for objective, loss in zip(wanted, outcome.losses, strict=True):
            place = plan.estimates.index(objective.estimate)
            (metric,) = metrics_of(objective.loss)
            assert resamplings[place].score(metric, found[place]) == pytest.approx(loss, abs=1e-6)


def test_numbers_are_handed_back_too() -> None:
    dataset = numbers()
    wanted = objectives("minimize mse by cv(folds = 3)", dataset)
    model = only_model("msl 1\nuse sklearn\nchain m = ridge(rest = default)", dataset)
    outcome = Evaluator(dataset, wanted, keeps=needed_outputs(wanted, for_votes=False)).evaluate(model)
    assert outcome.outputs is not None
    resampling = ResamplingPlan(dataset, [wanted[0].estimate], 0).resampling(wanted[0].estimate, 0, 1.0, 0)
    ((found,),) = unpack_outputs(outcome.outputs, [resampling], 0)
    assert np.mean((found - resampling.pools[0].y) ** 2) == pytest.approx(outcome.losses[0], rel=1e-5)


def test_what_was_cut_short_or_saw_a_share_of_the_rows_hands_nothing_back() -> None:
    dataset = bundled("wine")
    wanted = objectives("minimize ber by cv(folds = 3)", dataset)
    (model,) = models_of(SPACE, dataset, 1)
    subject = Evaluator(dataset, wanted, keeps="classes")
    cut_short = subject.evaluate(model, cutoff=1e-9)
    assert cut_short.bound
    assert cut_short.outputs is None
    assert subject.evaluate(model, share=0.5).outputs is None
    assert subject.evaluate(model).outputs is not None
    assert Evaluator(dataset, wanted).evaluate(model).outputs is None


def test_what_is_scored_on_the_rows_that_were_fitted_is_not_kept() -> None:
    assert needed_outputs(objectives("minimize mse by gcv", numbers()), for_votes=True) == "nothing"
    assert needed_outputs(objectives("minimize features by cv(folds = 3)", numbers()), for_votes=True) == "nothing"
