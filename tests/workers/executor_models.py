"""A table, a job and models for the tests of executors."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification

from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.dataset import Dataset
from msl.space.spec import Estimate, Measured, Objective
from msl.space.values import BlockType, BlockValue, Model, Value
from msl.workers.task import Job, Limits, Task

CV = Estimate("cv", "msl.evaluate:cv", (("folds", 3), ("repeats", 1), ("shuffle", False), ("subsample", 1.0)))
BER = Objective("ber", Measured("ber", metric_named("ber")), CV)


def job(limits: Limits | None = None, rows: int = 150, columns: int = 6, cache_bytes: int = 10_000_000) -> Job:
    X, y = make_classification(rows, columns, n_informative=3, flip_y=0.2, random_state=0)
    dataset = Dataset.of_arrays(np.ascontiguousarray(X), y.astype(np.intp), 2)
    return Job(dataset, (BER,), 3, ("executor_faults",), cache_bytes, limits or Limits(), keeps="all")


def step(target: str, role: str = "transformer", **params: Value) -> BlockValue:
    name = target.partition(":")[2].lower()
    return BlockValue(BlockType(name, "test", role, None, target), tuple(params.items()))


def learner(kind: int = 0) -> BlockValue:
    return (
        step("sklearn.naive_bayes:GaussianNB", "learner", var_smoothing=1e-9),
        step("sklearn.tree:DecisionTreeClassifier", "learner", max_depth=3),
        step("sklearn.svm:SVC", "learner", C=2.0, gamma=0.3),
        step("sklearn.ensemble:RandomForestClassifier", "learner", n_estimators=5, max_depth=3),
        step("sklearn.linear_model:LogisticRegression", "learner", C=0.5),
    )[kind % 5]


def model(*steps: BlockValue) -> Model:
    return Model(steps)


def models(count: int) -> list[Model]:
    """Real models, several of which share their first steps; some draw random numbers, some from global state."""
    scaler = step("sklearn.preprocessing:StandardScaler")
    made = []
    for number in range(count):
        pca = step("sklearn.decomposition:PCA", "selector", n_components=2 + number % 4)
        noise = step("executor_faults:GlobalNoise", marker=number // 10)
        before = ((scaler, pca), (scaler,), (noise,), (scaler, noise, pca))[number % 4]
        made.append(model(*before, learner(number)))
    return made


def tasks(count: int) -> list[Task]:
    return [Task(model) for model in models(count)]


def faulty(what: str, marker: int = 0) -> Task:
    return Task(model(step("executor_faults:Fault", what=what, marker=marker), learner()))


def sleeper(seconds: float, marker: int = 0, log: str = "") -> Task:
    rest = step("executor_faults:Sleeper", seconds=seconds, marker=marker, log=log)
    return Task(model(rest, learner(marker)))


def meeting(processes: int, marker: int, log: str) -> Task:
    """One of several evaluations that only go on together."""
    return Task(model(step("executor_faults:Meeting", processes=processes, marker=marker, log=log), learner()))
