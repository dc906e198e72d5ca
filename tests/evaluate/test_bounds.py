"""Bounds of objectives: whatever the metrics turn out to be within theirs, the objective is within its own."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.metrics import loss_bounds
from msl.space.spec import Combined, Loss, Measured, Weight, loss_value

VALUES = {"ber": 0.25, "features": 7.0, "mcc": -0.5, "r2": -3.0, "logloss": 0.0}


def _measured(name: str) -> Measured:
    return Measured(name, metric_named(name))


leaves = st.one_of(
    st.sampled_from(sorted(VALUES)).map(lambda name: _measured(name)),
    st.floats(-3, 3).map(lambda value: Weight(round(value, 2))),
)
losses = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a: Combined("-", (a,)), inner),
        st.builds(lambda op, a, b: Combined(op, (a, b)), st.sampled_from("+-*/"), inner, inner),
    ),
    max_leaves=6,
)


@given(losses, st.dictionaries(st.sampled_from(sorted(VALUES)), st.floats(0, 0.5)))
def test_the_value_lies_within(loss: Loss, slack: dict[str, float]):
    known = {name: (VALUES[name] - gap, VALUES[name] + gap) for name, gap in slack.items()}
    low, high = loss_bounds(loss, known)
    try:
        value = loss_value(loss, VALUES)
    except (ArithmeticError, OverflowError):
        return
    if math.isfinite(value):
        room = 1e-9 * max(1.0, abs(value))
        assert low - room <= value <= high + room


def test_a_weighted_sum_grows_with_its_parts():
    loss = Combined("+", (Combined("*", (Weight(0.2), _measured("feature_share"))), _measured("error")))
    assert loss_bounds(loss, {"error": (0.3, math.inf)}) == (0.3, math.inf)
    assert loss_bounds(loss, {}) == (0.0, math.inf)
    assert loss_bounds(Combined("-", (Weight(1.0), _measured("ber"))), {"ber": (0.3, 1.0)}) == (0.0, 0.7)
