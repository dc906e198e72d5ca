"""Contestants: the peers' searches, each given the same space where it can take one, else its own.

A budget is a number of evaluations or of seconds. Those that take our space judge a model by the very evaluator that
MSL uses, so that they differ in what they propose alone.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from benchmarks.baselines import prepared
from benchmarks.datasets import TARGET, Split
from benchmarks.translation import Chance, OptunaTrial, Settings, choose_model, space_to_configspace
from benchmarks.trial import balanced_error, commissioned, outputs_on, run_spec
from msl.evaluate.evaluator import Evaluator
from msl.runner.plan import Plan
from msl.space.values import Model

#: What a failed model counts as: worse than any BER, and finite, since not every peer takes infinity.
FAILED = 2.0
#: How many evaluations our strategy reckons with when only time is given.
MOST_IN_TIME = 1_000
#: The space of specs/psms.msl, but no more than 200 trees: a thousand of them take most of the time of every search.
SPEC = """msl 1
use clop
part preprocess = subset(normalize, standardize, shift_scale)
part select = ftest | ttest | aucfs | odds_ratio | relief | rffs | svcrfe | pearson | zfilter | gs | s2n | pc_extract
part learn = zarbi | naive | klogistic | gkridge | logitboost(units: int 10..200) | neural | svc | kridge
           | rf(units: int 10..200) | lssvm
chain full_model = permute(preprocess, select?) >> learn >> bias
minimize ber by cv(folds = 3)
search {search}
"""


@dataclass(frozen=True, slots=True)
class Budget:
    """So many evaluations, or so many seconds; the other is None."""

    evaluations: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, text: str) -> Budget:
        number, unit = text.split()
        return cls(evaluations=int(number)) if unit == "evaluations" else cls(seconds=float(number))


class OutOfTime(Exception):  # it is no error
    """The seconds of a budget are used up."""


class Race:
    """Judges models until the budget is used up, and remembers the best."""

    def __init__(self, plan: Plan, budget: Budget) -> None:
        self.plan, self._budget = plan, budget
        self._evaluator = Evaluator(plan.job.dataset, plan.objectives, plan.seed)
        self._start = perf_counter()
        self.evaluations = 0
        self.best: tuple[float, Model] | None = None

    def judge(self, model: Model) -> float:
        if self.is_over:
            raise OutOfTime
        loss = self._evaluator.evaluate(model).losses[0]
        self.evaluations += 1
        if math.isfinite(loss) and (self.best is None or loss < self.best[0]):
            self.best = loss, model
        return loss if math.isfinite(loss) else FAILED

    @property
    def is_over(self) -> bool:
        if self._budget.evaluations is not None:
            return self.evaluations >= self._budget.evaluations
        return perf_counter() - self._start >= (self._budget.seconds or 0)

    @property
    def trials(self) -> int:
        """How many a peer may be told that there will be."""
        return self._budget.evaluations or 400


def random_search(race: Race, seed: int, folder: Path) -> None:
    chance = Chance(np.random.default_rng(seed))
    while not race.is_over:
        race.judge(choose_model(race.plan.spec.space, chance))


def tpe(race: Race, seed: int, folder: Path) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    space = race.plan.spec.space
    try:
        study.optimize(lambda trial: race.judge(choose_model(space, OptunaTrial(trial))), n_trials=race.trials)
    except OutOfTime:
        return


def smac(race: Race, seed: int, folder: Path) -> None:
    from smac import HyperparameterOptimizationFacade, Scenario  # type: ignore[import-not-found]

    space = race.plan.spec.space

    def judge(config: Any, seed: int = 0) -> float:
        return race.judge(choose_model(space, Settings(dict(config))))

    scenario = Scenario(
        space_to_configspace(space, seed),
        deterministic=True,
        n_trials=race.trials,
        seed=seed,
        output_directory=folder / "smac",
    )
    facade = HyperparameterOptimizationFacade(scenario, judge, overwrite=True, logging_level=False)
    ask_and_tell(facade, judge, race)


def ask_and_tell(facade: Any, judge: Callable[..., float], race: Race) -> None:
    """SMAC's own loop without its executor, so that the end of a budget is the end."""
    from smac.runhistory.dataclasses import TrialValue  # type: ignore[import-not-found]

    while not race.is_over:
        info = facade.ask()
        try:
            cost = judge(info.config)
        except OutOfTime:  # it was used up by asking
            return
        facade.tell(info, TrialValue(cost=cost, time=0.0))


SEARCHES: dict[str, Callable[[Race, int, Path], None]] = {"random": random_search, "tpe": tpe, "smac": smac}
#: Those that bring their own space: only time can be made equal.
OWN_SPACE = ("flaml", "tpot")
OURS = {"msl": "", "msl vote": "ensemble vote(top = 15, voting = hard, always = true)\n"}


def try_search(name: str, split: Split, budget: Budget, seed: int, folder: Path) -> dict[str, Any]:
    """A peer on our space."""
    plan = commissioned(SPEC.format(search="random()"), split.train, seed).plan
    race = Race(plan, budget)
    SEARCHES[name](race, seed, folder)
    if race.best is None:
        return {**as_guessing(split), "failure": "no model was judged within the budget"}
    loss, model = race.best
    outputs, truth = outputs_on(plan, model, split.test)
    ber = balanced_error(truth.tolist(), outputs.argmax(axis=1).tolist())
    return {"ber": ber, "estimate": loss, "evaluations": race.evaluations}


def try_ours(name: str, split: Split, budget: Budget, seed: int, folder: Path) -> dict[str, Any]:
    """MSL's own default strategy, its best model or the vote of its best."""
    evaluations = budget.evaluations or MOST_IN_TIME
    text = SPEC.format(search=f"auto(evaluations = {evaluations})") + OURS[name]
    if budget.seconds is not None:
        text += f"budget(time = {budget.seconds:g}s)\n"
    result = run_spec(text, split.train, seed, folder)
    labels = result.trained.predict(result.trained.read(split.test)).tolist()
    ber = balanced_error(split.test[TARGET].to_list(), labels)
    estimate = next(iter(result.objectives.values()))
    return {"ber": ber, "estimate": estimate, "evaluations": len(result.evaluations)}


def as_guessing(split: Split) -> dict[str, float]:
    """What a peer gets that has no model when its time is up."""
    return {"ber": 1.0 - 1.0 / split.train[TARGET].n_unique()}


def try_own_space(name: str, split: Split, budget: Budget, seed: int, folder: Path) -> dict[str, Any]:
    """A peer with its own space, for so many seconds; one that has no model by then is judged as guessing."""
    X, y = split.train.drop(TARGET), split.train[TARGET].cast(pl.String).to_numpy()
    labels, codes = np.unique(y, return_inverse=True)
    inputs = prepared("passthrough", X)
    rows = inputs.fit_transform(X)
    fitting = _fit_flaml if name == "flaml" else _fit_tpot
    try:
        model = fitting(rows, codes, budget, seed)
    except Exception as nothing:
        return {**as_guessing(split), "failure": str(nothing).splitlines()[0]}
    predicted = labels[np.asarray(model.predict(inputs.transform(split.test.drop(TARGET)))).astype(int)]
    return {"ber": balanced_error(split.test[TARGET].to_list(), predicted.tolist())}


def _fit_flaml(rows: Any, codes: Any, budget: Budget, seed: int) -> Any:
    from flaml import AutoML  # type: ignore[import-not-found]

    model = AutoML(time_budget=budget.seconds, metric=_flaml_ber, seed=seed, n_jobs=1)
    model.fit(rows, codes, task="classification", verbose=0)
    return model


def _flaml_ber(X_val: Any, y_val: Any, estimator: Any, labels: Any, *rest: Any, **more: Any) -> tuple[float, dict]:  # type: ignore[type-arg]
    """The measure that all are judged by, in FLAML's form."""
    ber = balanced_error(list(y_val), list(estimator.predict(X_val)))
    return ber, {"ber": ber}


def _fit_tpot(rows: Any, codes: Any, budget: Budget, seed: int) -> Any:
    """On a worker of ours: one of its own would go on computing, beside all that follows, when TPOT finds no model."""
    from distributed import Client, LocalCluster
    from tpot import TPOTClassifier  # type: ignore[import-not-found]

    minutes = (budget.seconds or 0) / 60
    place = LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=logging.CRITICAL
    )
    with place, Client(place) as client:
        model = TPOTClassifier(
            search_space="linear-light",
            scorers=["balanced_accuracy"],
            scorers_weights=[1],
            max_time_mins=minutes,
            max_eval_time_mins=minutes,
            random_state=seed,
            client=client,
            n_jobs=1,
            verbose=0,
        )
        model.fit(rows, codes)
    return model
