"""The evaluator against scikit-learn's own cross-validation, and against itself without any of its short cuts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evaluation_cases import (
    QUICK_PSMS,
    block,
    bundled,
    evaluator,
    models_of,
    numbers,
    objectives,
    only_model,
    spec_of,
    two_moons,
)
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline, make_union

from msl.blocks.base.build import model_to_chain
from msl.blocks.base.complexity import complexity
from msl.evaluate.cross_validate import EvaluationRequest
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.outcome import Effort, Outcome
from msl.evaluate.splits import Split
from msl.space.spec import loss_value
from msl.space.values import Branches, Model


class PublicChain(ClassifierMixin, BaseEstimator):
    """A chain put together from the public methods of its parts, as scikit-learn's users would."""

    def __init__(self, before: Any, learner: Any, posts: Any) -> None:
        self.before, self.learner, self.posts = before, learner, posts

    def fit(self, X: Any, y: Any) -> PublicChain:
        self.classes_ = np.unique(y)
        self.fitted_ = [clone(step) for step in [*self.before, self.learner, *self.posts]]
        for step in self.fitted_[: len(self.before)]:
            X = step.fit(X, y).transform(X)
        learner, *posts = self.fitted_[len(self.before) :]
        outputs = self.scores(learner.fit(X, y), X)
        for post in posts:
            outputs = post.fit(outputs, y).transform(outputs)
        return self

    @staticmethod
    def scores(learner: Any, X: Any) -> Any:
        """One score a class, from whatever the learner offers."""
        if hasattr(learner, "predict_proba"):
            return learner.predict_proba(X)
        margin = learner.decision_function(X)
        # Bias looks at differences alone, so half a margin each will do; it is exact.
        return np.column_stack([-margin / 2, margin / 2]) if margin.ndim == 1 else margin

    def predict(self, X: Any) -> Any:
        for step in self.fitted_[: len(self.before)]:
            X = step.transform(X)
        learner, *posts = self.fitted_[len(self.before) :]
        outputs = self.scores(learner, X)
        for post in posts:
            outputs = post.transform(outputs)
        return self.classes_[outputs.argmax(axis=1)]


def splits_of(judge: Evaluator) -> list[Split]:
    trials = judge._losses._resamplings
    return list(trials.resampling(trials.estimates[0], 0, 1.0, 0).splits)


def same(first: Outcome, second: Outcome) -> bool:
    """All but the effort."""
    return replace(first, effort=Effort()) == replace(second, effort=Effort())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_pooled_ber_is_that_of_cross_val_predict(name):
    dataset = bundled(name)
    judge = evaluator("minimize ber by cv(folds = 2)", dataset)
    folds = [(split.train, split.test) for split in splits_of(judge)]
    for model in models_of(QUICK_PSMS, dataset, 12, seed=1):
        outcome = judge.evaluate(model)
        chain = model_to_chain(model, "classification")
        predicted = cross_val_predict(chain, dataset.X, dataset.y, cv=folds)
        assert outcome.failure is None
        assert outcome.losses[0] == pytest.approx(1 - balanced_accuracy_score(dataset.y, predicted), abs=1e-14)
        by_hand = PublicChain(chain.steps, chain.learner, chain.posts)
        assert np.array_equal(cross_val_predict(by_hand, dataset.X, dataset.y, cv=folds), predicted)


def test_scikit_learn_blocks_are_judged_as_in_its_pipelines():
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.svm import LinearSVC

    dataset = bundled("wine")
    text = """use sklearn
    chain c = ((standard_scaler(rest = default) >> pca(n_components = 0.9, rest = default)) & min_max(rest = default))
      >> {}(C = 0.5, rest = default)"""
    judge = evaluator("maximize auc by cv(folds = 3)", dataset)
    folds = [(split.train, split.test) for split in splits_of(judge)]
    rows = np.concatenate([test for _, test in folds])
    union = make_union(make_pipeline(StandardScaler(), PCA(0.9)), MinMaxScaler())
    for learner, method in ((LogisticRegression(C=0.5), "predict_proba"), (LinearSVC(C=0.5), "decision_function")):
        name = "logistic" if method == "predict_proba" else "linear_svc"
        model = only_model(text.format(name), dataset)
        built = judge._losses._planner.plan(model).learner.estimator()
        given = clone(learner).set_params(**built.get_params())
        scores = cross_val_predict(make_pipeline(union, given), dataset.X, dataset.y, cv=folds, method=method)[rows]
        areas = [roc_auc_score(dataset.y[rows] == code, scores[:, code]) for code in range(3)]
        assert judge.evaluate(model).losses[0] == pytest.approx(-np.mean(areas), abs=1e-9)


def test_regression_is_judged_as_in_its_pipelines():
    dataset = numbers()
    judge = evaluator("minimize mae by cv(folds = 4)", dataset)
    folds = [(split.train, split.test) for split in splits_of(judge)]
    text = "use sklearn\nchain c = standard_scaler(rest = default) >> decision_tree(max_depth = 4, rest = default)"
    model = only_model(text, dataset)
    predicted = cross_val_predict(model_to_chain(model, "regression"), dataset.X, dataset.y, cv=folds)
    assert judge.evaluate(model).losses[0] == pytest.approx(mean_absolute_error(dataset.y, predicted), rel=1e-12)


#: Branches, and blocks that draw random numbers; fewer of those that take long.
WIDE = """
use clop
part select = ftest | relief | gs | (pearson & pc_extract) | (rffs & (standardize >> svcrfe))
part learn = naive | gkridge | logitboost(units: 10..30) | svc | rf(units: 10..30)
chain c = permute(subset(normalize, standardize), select?) >> learn >> bias?
"""


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["minimize ber by cv(folds = 3)", "minimize logloss by cv(folds = 2, repeats = 2)"])
def test_caches_and_order_change_no_bit(goal):
    dataset = two_moons()
    models = models_of(WIDE, dataset, 14, seed=3)
    models += models[:5]
    plain = [evaluator(goal, dataset, cache_bytes=0).evaluate(model) for model in models]
    judge = evaluator(goal, dataset)
    assert all(map(same, plain, [judge.evaluate(model) for model in models]))
    assert judge.cache_figures.hits > 0
    shuffled = np.random.default_rng(0).permutation(len(models))
    small = evaluator(goal, dataset, cache_bytes=300_000)
    for place in shuffled:
        assert same(small.evaluate(models[place]), plain[place])
    assert small.cache_figures.evictions > 0


@pytest.mark.slow
def test_fresh_splits_depend_on_the_model_and_the_turn_alone():
    dataset = two_moons()
    models = models_of(QUICK_PSMS, dataset, 6, seed=4)
    for options in ("shuffle = true", "subsample = 1/2", "subsample = 1/3, shuffle = true"):
        goal = f"minimize ber by cv(folds = 3, {options})"
        first, second = evaluator(goal, dataset), evaluator(goal, dataset, cache_bytes=0)
        there = [first.evaluate(model, repeat=repeat) for model in models for repeat in (0, 1)]
        back = [second.evaluate(model, repeat=repeat) for model in reversed(models) for repeat in (1, 0)]
        assert all(map(same, there, reversed(back)))
        assert any(a.losses != b.losses for a, b in zip(there[::2], there[1::2], strict=True))


def test_a_share_of_the_rows_is_the_same_for_all_models():
    dataset = two_moons(200)
    judge = evaluator("minimize ber by cv(folds = 2)", dataset)
    trials = judge._losses._resamplings
    half = trials.resampling(trials.estimates[0], 1, 0.5, 0)
    assert half is trials.resampling(trials.estimates[0], 2, 0.5, 0)
    later = trials.resampling(trials.estimates[0], 1, 0.5, 3)
    assert later is trials.resampling(trials.estimates[0], 2, 0.5, 3)
    assert later.key != half.key
    assert not np.array_equal(later.pools[0].rows, half.pools[0].rows)
    rows = np.sort(np.concatenate([split.test for split in half.splits]))
    assert len(rows) == pytest.approx(100, abs=2)
    model = models_of(QUICK_PSMS, dataset, 1)[0]
    assert judge.evaluate(model, share=0.5).losses != judge.evaluate(model).losses


@pytest.mark.slow
@pytest.mark.parametrize(
    "goal",
    [
        "minimize ber by cv(folds = 10)",
        "minimize error by cv(folds = 5, repeats = 2)",
        "minimize ber by bootstrap632(8)",
        "minimize 0.3 * feature_share + 0.7 * error by cv(folds = 6)",
        "minimize 0.2 * feature_share + 0.8 * relative_error by cv(folds = 6)",
    ],
)
def test_racing_only_replaces_a_loss_by_its_bound(goal):
    dataset = two_moons()
    models = models_of(QUICK_PSMS, dataset, 24, seed=5)
    exact = [evaluator(goal, dataset).evaluate(model) for model in models]
    judge = evaluator(goal, dataset)
    best = math.inf
    skipped = 0
    for model, known in zip(models, exact, strict=True):
        cutoff = best if math.isfinite(best) else None
        raced = judge.evaluate(model, cutoff=cutoff)
        if raced.bound:
            assert best <= raced.losses[0] <= known.losses[0]
            skipped += raced.effort.folds_skipped
        else:
            assert same(raced, known)
        best = min(best, known.losses[0])
    assert skipped > 0


def test_races_of_numbers_and_of_what_is_maximised():
    dataset = numbers()
    tree = "use sklearn\nchain c = decision_tree(rest = default)"
    for goal, low in (("minimize rmse", 0.2), ("minimize mae", 0.1), ("maximize 1 - mse", -0.9)):
        goal += " by cv(folds = 6)"
        known = evaluator(goal, dataset).evaluate(only_model(tree, dataset)).losses[0]
        raced = evaluator(goal, dataset).evaluate(only_model(tree, dataset), cutoff=low)
        assert raced.bound
        assert low <= raced.losses[0] <= known
        assert evaluator(goal, dataset).evaluate(only_model(tree, dataset), cutoff=known + 1e-9).losses == (known,)


def test_equal_models_are_judged_once_and_bounds_are_not_taken_for_losses():
    dataset = two_moons()
    model = models_of(QUICK_PSMS, dataset, 1)[0]
    judge = evaluator("minimize ber by cv(folds = 10)", dataset)
    raced = judge.evaluate(model, cutoff=1e-9)
    assert raced.bound
    again = judge.evaluate(model, cutoff=raced.losses[0])
    assert again.bound
    assert again.effort.remembered
    exact = judge.evaluate(model)
    assert not exact.bound
    assert not exact.effort.remembered
    for cutoff in (None, 1e-9, 0.5):
        remembered = judge.evaluate(model, cutoff=cutoff)
        assert remembered.effort.remembered
        assert same(remembered, exact)


def test_one_and_one_point_nought_are_two_models():
    dataset = two_moons()
    judge = evaluator("minimize ber by cv(folds = 2)", dataset)
    target = "sklearn.ensemble:RandomForestClassifier"
    one = judge.evaluate(Model((block(target, "learner", max_features=1, n_estimators=7),)))
    all_of_them = judge.evaluate(Model((block(target, "learner", max_features=1.0, n_estimators=7),)))
    assert not all_of_them.effort.remembered
    assert one.complexity != all_of_them.complexity


def test_many_at_once_are_as_one_by_one():
    dataset = two_moons()
    models = models_of(QUICK_PSMS, dataset, 8, seed=6)
    one_by_one = [evaluator("minimize ber by cv(folds = 2)", dataset).evaluate(model) for model in models]
    together = evaluator("minimize ber by cv(folds = 2)", dataset).evaluate_many(
        [EvaluationRequest(model) for model in models]
    )
    assert all(map(same, one_by_one, together))


def mean_complexity(model: Model, dataset: Dataset, judge: Evaluator) -> float:
    """The mean over the fits, each chain fitted by hand."""
    sizes = []
    for split in splits_of(judge):
        chain = model_to_chain(model, "classification").fit(dataset.X[split.train], dataset.y[split.train])
        sizes.append(sum(map(complexity, [*chain.steps, chain.learner, *chain.posts])))
    return float(np.mean(sizes))


def test_complexity_is_that_of_the_first_fit_unless_it_is_an_objective():
    dataset = two_moons()
    first = evaluator("minimize ber by cv(folds = 3)", dataset)
    all_of_them = evaluator("minimize relative_error, complexity by cv(folds = 3)", dataset)
    for model in models_of(QUICK_PSMS, dataset, 4, seed=11):
        split = splits_of(first)[0]
        chain = model_to_chain(model, "classification").fit(dataset.X[split.train], dataset.y[split.train])
        own = sum(map(complexity, [*chain.steps, chain.learner, *chain.posts]))
        assert first.evaluate(model).complexity == pytest.approx(own)
        assert all_of_them.evaluate(model).complexity == pytest.approx(mean_complexity(model, dataset, first))


def test_objectives_are_arithmetic_on_metrics():
    dataset = two_moons()
    goal = "minimize 2 * ber + 0.5 * error, features, complexity, fit_time by cv(folds = 3)"
    judge = evaluator(goal, dataset)
    for model in models_of(QUICK_PSMS, dataset, 5, seed=7):
        outcome = judge.evaluate(model)
        found = outcome.metrics
        assert outcome.losses[0] == pytest.approx(2 * found["ber"] + 0.5 * found["error"])
        assert outcome.losses[1:] == (found["features"], found["complexity"], found["fit_time"])
        assert outcome.complexity == found["complexity"]
        assert found["complexity"] == pytest.approx(mean_complexity(model, dataset, judge))
        assert found["fit_time"] > 0
        assert 1 <= found["features"] <= 6
        for objective, loss in zip(objectives(goal, dataset), outcome.losses, strict=True):
            assert loss == loss_value(objective.loss, found)


def test_each_objective_has_its_own_estimate():
    dataset = two_moons()
    model = models_of(QUICK_PSMS, dataset, 1, seed=8)[0]
    both = evaluator("minimize ber by cv(folds = 3), ber by holdout(0.4)", dataset).evaluate(model)
    folds = evaluator("minimize ber by cv(folds = 3)", dataset).evaluate(model)
    held = evaluator("minimize ber by holdout(0.4)", dataset).evaluate(model)
    assert both.losses == folds.losses + held.losses
    assert both.metrics == {"ber": folds.losses[0], "ber by holdout": held.losses[0]}


def test_features_are_those_that_reach_the_learner():
    dataset = bundled("iris")
    goal = "minimize features, feature_share by cv(folds = 2)"

    def count(chain: str, use: str = "sbm, clop") -> tuple[float, ...]:
        return evaluator(goal, dataset).evaluate(only_model(f"use {use}\nchain c = {chain}", dataset)).losses

    assert count("knn(rest = default)") == (4, 1)
    assert count("keep(features = [true, false, false, true]) >> knn(rest = default)") == (2, 0.5)
    assert count("sbm(features = [true, false, false, true], rest = default)") == (2, 0.5)
    assert count("pc_extract(fmax = 3) >> knn(rest = default)") == (3, 0.75)
    assert count("(standardize(rest = default) & passthrough) >> knn(rest = default)", "sbm, clop, sklearn") == (4, 1)
    both = "(pc_extract(fmax = 2) & (normalize(rest = default) >> pc_extract(fmax = 3))) >> knn(rest = default)"
    assert count(both) == (5, 1.25)


def test_relative_error_compares_with_all_features():
    dataset = bundled("iris")
    judge = evaluator("minimize relative_error, error by cv(folds = 3)", dataset)

    def outcome(chain: str) -> Outcome:
        return judge.evaluate(only_model(f"use sbm, clop\nchain c = {chain}", dataset))

    whole = outcome("knn(rest = default)")
    assert whole.losses[0] == 1.0
    for chain in (
        "keep(features = [true, false, false, false]) >> knn(rest = default)",
        "gs(fmax = 2) >> knn(rest = default)",
    ):
        part = outcome(chain)
        assert part.losses[0] == pytest.approx(part.losses[1] / whole.losses[1])
    masked = outcome("sbm(features = [false, true, false, false], k = 5, rest = default)")
    assert masked.losses[0] == pytest.approx(masked.losses[1] / whole.losses[1])
    built = outcome("pc_extract(fmax = 2) >> knn(rest = default)")
    assert built.losses[0] == 1.0


def test_an_error_of_nothing_counts_as_that_of_one_row():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], 10, axis=0) + np.random.default_rng(0).normal(0, 0.01, (20, 2))
    dataset = Dataset.of_arrays(X, np.repeat([0, 1], 10), 2)
    judge = evaluator("minimize relative_error by cv(folds = 2)", dataset)
    text = "use sbm\nchain c = keep(features = [{}, {}]) >> knn(k = 1, rest = default)"
    assert judge.evaluate(only_model(text.format("true", "true"), dataset)).losses == (0.0,)
    worse = judge.evaluate(only_model(text.format("false", "true"), dataset))
    assert worse.losses[0] == pytest.approx(
        20
        * evaluator("minimize error by cv(folds = 2)", dataset)
        .evaluate(only_model(text.format("false", "true"), dataset))
        .losses[0]
    )


def test_bootstrap632_by_hand():
    dataset = two_moons()
    model = models_of(QUICK_PSMS, dataset, 1, seed=9)[0]
    judge = evaluator("minimize error by bootstrap632(10)", dataset)
    everything, *resamples = splits_of(judge)
    chain = model_to_chain(model, "classification")
    training = np.mean(clone(chain).fit(dataset.X, dataset.y).predict(dataset.X) != dataset.y)
    wrong: dict[int, list[bool]] = {}
    for split in resamples:
        fitted = clone(chain).fit(dataset.X[split.train], dataset.y[split.train])
        for row, predicted in zip(split.test, fitted.predict(dataset.X[split.test]), strict=True):
            wrong.setdefault(row, []).append(predicted != dataset.y[row])
    lacking = np.mean([np.mean(of_row) for of_row in wrong.values()])
    assert len(everything.train) == len(dataset.y)
    assert judge.evaluate(model).losses[0] == pytest.approx(0.368 * training + 0.632 * lacking)


def test_randomness_comes_from_the_seed_and_the_place():
    dataset = two_moons()
    text = "use clop\nchain c = standardize(rest = default) >> rf(units = 10, rest = default)"
    model = only_model(text, dataset)
    goal = "minimize logloss by cv(folds = 2)"
    first = evaluator(goal, dataset, seed=1)
    assert first.evaluate(model).losses == evaluator(goal, dataset, seed=1).evaluate(model).losses
    plan = first._losses._planner.plan(model)
    place = plan.learner.estimator().random_state
    assert place == plan.learner.estimator().random_state
    moved = Model((model.steps[0], *model.steps))
    assert first._losses._planner.plan(moved).learner.estimator().random_state != place
    other = evaluator(goal, dataset, seed=2)._losses._planner
    assert other.plan(model).learner.estimator().random_state != place


def test_branches_share_what_they_have_in_common():
    dataset = two_moons()
    goal = "minimize ber by cv(folds = 2)"
    standardize = only_model("use clop\nchain c = standardize(rest = default) >> zarbi", dataset)
    relief = only_model("use clop\nchain c = relief(fmax = 3, rest = default) >> zarbi", dataset)
    wide = Model((Branches((standardize.steps[:1], relief.steps[:1])), standardize.steps[-1]))
    judge = evaluator(goal, dataset)
    judge.evaluate(standardize)
    judge.evaluate(relief)
    outcome = judge.evaluate(wide)
    assert outcome.effort.fits == 2
    assert outcome.effort.fits_saved == 4
    assert same(outcome, evaluator(goal, dataset, cache_bytes=0).evaluate(wide))
    assert judge.evaluate(wide).effort.remembered


def test_siblings_share_rankings_and_kernels():
    dataset = two_moons()
    text = "use clop\nchain c = relief(fmax = {}, rest = default) >> svc(shrinkage = {}, rest = default) >> bias"
    judge = evaluator("minimize ber by cv(folds = 2)", dataset)
    before = judge.cache_figures
    judge.evaluate(only_model(text.format(3, 0.1), dataset))
    judge.evaluate(only_model(text.format(4, 0.1), dataset))
    # targets, rows and ranking of both folds
    assert judge.cache_figures.hits - before.hits == 6
    judge.evaluate(only_model(text.format(4, 0.2), dataset))
    # targets, rows, the selector, and the kernel three times: to fit, to judge, and for the bias
    assert judge.cache_figures.hits - before.hits == 6 + 12


def test_the_specs_defaults_serve_a_spec_without_a_goal():
    dataset = two_moons()
    assert spec_of(QUICK_PSMS, dataset).objectives[0].estimate.name == "cv"
