"""How fast the blocks are: each against its reference, in turns, the median CPU time of several.

python -m benchmarks.blocks [leave_one_out] [networks] [gkridge] [learners] [small] [forests] [boosting]
                            [components] [relief] [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut as SklearnLeaveOneOut
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC as SklearnSVC

from benchmarks.figures import Row, Sections, in_turns, measured, show
from msl.blocks.base.block import Floats
from msl.blocks.kernels.kernel_machine import Kernel
from msl.blocks.kernels.ridge import GKRidgeRegressor, KRidgeRegressor
from msl.blocks.kernels.svm import SVC
from msl.blocks.learners.forest import ForestClassifier, ForestRegressor
from msl.blocks.learners.logitboost import LogitBoost
from msl.blocks.learners.naive_bayes import GaussianBayes
from msl.blocks.learners.neural import NeuralClassifier
from msl.blocks.learners.rbf import CentreLayout, GaussianBasis
from msl.blocks.learners.rbf_batch import batch_gcv
from msl.blocks.preprocessing.scalers import Normalize, Standardize
from msl.blocks.selection.orthogonal import PrincipalComponents
from msl.blocks.selection.rankers import FTestRanker, ReliefRanker
from msl.blocks.similarity.knn import KNNClassifier
from msl.blocks.similarity.leave_one_out import LeaveOneOut


def against(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    quick: bool,
    at_least: float | None = None,
    times: int = 9,
    scale: float = 1.0,
) -> Row:
    """How many times as fast as the reference, or, without a target for that, the part of the reference's time that is
    taken; `scale` is how often the reference would run."""
    own, other = in_turns(ours, theirs, max(2, times // 3) if quick else times)
    if at_least is None:
        return name, own / (other * scale), 1.3, "of the reference's time"
    return name, other * scale / own, at_least, "times as fast"


def leave_one_out(quick: bool) -> Iterator[Row]:
    X, y = make_classification(351, 34, n_informative=10, random_state=0)
    settings = []
    for feature in range(34):
        for step in range(11):
            weights = np.ones(34)
            weights[feature] = step / 10
            settings.append(weights)

    def ours() -> object:
        judge = LeaveOneOut(X, y, 2)
        return [judge.outputs(weights=weights) for weights in settings]

    def kneighbors() -> object:
        scaled = (X * np.sqrt(weights) for weights in settings)
        return [KNeighborsClassifier(2).fit(Z, y).kneighbors(Z) for Z in scaled]

    def leanest() -> object:
        scaled = (X * np.sqrt(weights) for weights in settings)
        return [NearestNeighbors(n_neighbors=1, algorithm="brute").fit(Z).kneighbors() for Z in scaled]

    def plain() -> object:
        return cross_val_predict(KNeighborsClassifier(1), X * np.sqrt(settings[5]), y, cv=SklearnLeaveOneOut())

    name = "374 leave-one-out settings, against LeaveOneOut (one run, times 374)"
    yield against(name, ours, plain, quick, 1000.0, times=3, scale=len(settings))
    yield against("374 leave-one-out settings, against one kneighbors each", ours, kneighbors, quick, 4.0, times=5)
    yield against("the same, against the leanest brute NearestNeighbors", ours, leanest, quick, 4.0, times=5)


def networks(quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-4, 4, (40, 1))
    y = 1.1 * (1 - X[:, 0] + 2 * X[:, 0] ** 2) * np.exp(-(X[:, 0] ** 2) / 2) + rng.normal(0, 0.1, 40)
    low, high = CentreLayout.of(X).regions.boxes(15)  # a centre in each of 15 regions of the rows
    centres = low + rng.random((500, 15, 1)) * (high - low)
    overlaps = rng.uniform(0.02, 0.2, 500)

    def loop() -> Floats:
        found = []
        for own, overlap in zip(centres, overlaps, strict=True):
            between = np.abs(own - own.T)
            np.fill_diagonal(between, np.inf)
            widths = overlap * 5 * between.min(axis=1)
            design = np.hstack([np.ones((40, 1)), np.exp(-(((X - own[:, 0]) / widths) ** 2))])
            solved, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
            residual = y - design @ solved
            found.append(40 * residual @ residual / (40 - rank) ** 2)
        return np.array(found)

    def batch() -> Floats:
        return batch_gcv(X, y[:, None], centres, overlaps, GaussianBasis(), 0.0)

    yield against("500 RBF networks by GCV, against a loop over lstsq", batch, loop, quick, 5.0, times=15)
    yield "  scores of both", float(np.abs(batch() / loop() - 1).max()), 1e-9, "largest relative difference"


def gkridge(quick: bool) -> Iterator[Row]:
    X, y = make_classification(400, 30, n_informative=10, random_state=0)
    target = y.astype(np.float64)

    def ridges() -> None:
        for ridge in np.logspace(-4, 1, 30):
            KernelRidge(kernel="rbf", gamma=0.01, alpha=ridge).fit(X, target)

    name, share, _, unit = against(
        "gkridge with leave-one-out over 30 ridges, against 30 KernelRidge",
        lambda: GKRidgeRegressor().fit(X, target),
        ridges,
        quick,
    )
    yield name, share, 0.5, unit


def pairs(gamma: float = 0.01) -> Iterator[tuple[str, Any, Any]]:
    """A block and scikit-learn's counterpart."""
    kernel = {"coef0": 1, "gamma": gamma}
    yield (
        "kridge",
        KRidgeRegressor(degree=0, shrinkage=0.1, **kernel),
        KernelRidge(kernel="rbf", gamma=gamma, alpha=0.1),
    )
    yield "svc", SVC(degree=1, shrinkage=0.1, **kernel), OnKernel(Kernel(1, 1, gamma), 0.1)
    yield "naive", GaussianBayes(), GaussianNB()
    yield "rf", ForestClassifier(units=100, random_state=0), RandomForestClassifier(100, random_state=0)
    network = {"solver": "lbfgs", "max_iter": 100, "tol": 0, "alpha": 0.01, "random_state": 0}
    yield "neural", NeuralClassifier(units=10, maxiter=100, random_state=0), MLPClassifier((10,), **network)
    yield "knn", KNNClassifier(k=5), KNeighborsClassifier(5, algorithm="brute")
    yield "ftest", FTestRanker(fmax=5), SelectKBest(f_classif, k=5)
    yield "standardize", Standardize(), StandardScaler()
    yield "normalize", Normalize(), Normalizer()


class OnKernel:
    """libsvm on the same kernel with the same ridge: a hard margin, as `svc` has it."""

    def __init__(self, kernel: Kernel, ridge: float) -> None:
        self.kernel, self.ridge = kernel, ridge

    def fit(self, X: Floats, y: NDArray[Any]) -> OnKernel:
        self.rows = X
        matrix = self.kernel.matrix(X, X) + self.ridge * np.eye(len(X))
        self.machine = SklearnSVC(kernel="precomputed", C=1e6).fit(matrix, y)
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        predicted: NDArray[Any] = self.machine.predict(self.kernel.matrix(X, self.rows))
        return predicted


def compared(rows: int, columns: int, quick: bool) -> Iterator[Row]:
    X, y = make_classification(rows, columns, n_informative=min(10, columns // 2), random_state=0)
    repeats = max(1, 400 // rows)  # so that small tables are timed over more than a tick of the clock
    for name, ours, theirs in pairs():
        apply = "predict" if hasattr(ours, "predict") else "transform"
        what = f"{name}, fit and {apply} on {rows} × {columns}"
        yield against(what, fitted(ours, X, y, apply, repeats), fitted(theirs, X, y, apply, repeats), quick, times=15)


def fitted(model: Any, X: Floats, y: NDArray[Any], apply: str, repeats: int) -> Callable[[], object]:
    return lambda: [getattr(model.fit(X, y), apply)(X) for _ in range(repeats)]


def learners(quick: bool) -> Iterator[Row]:
    yield from compared(400, 30, quick)


def small(quick: bool) -> Iterator[Row]:
    """Tables on which most of the time is validation, done once by each `fit` and `predict`."""
    yield from compared(50, 10, quick)
    yield from compared(50, 100, quick)


def forests(quick: bool) -> Iterator[Row]:
    """What growing trees with scikit-learn's private classes gains: why the code that does so is kept."""
    for rows, columns, at_least in ((100, 10, 4.0), (400, 30, 1.5), (1000, 30, 1.2)):
        tried = int(np.sqrt(columns))
        data: dict[str, Any] = {
            "classes": (make_classification, ForestClassifier, RandomForestClassifier),
            "numbers": (make_regression, ForestRegressor, RandomForestRegressor),
        }
        for task, (make, own, other) in data.items():
            X, y = make(rows, columns, random_state=0)
            for units in (10, 50, 200):
                ours = own(units=units, random_state=0)
                theirs = other(units, max_features=tried, random_state=0, n_jobs=1)
                repeats = max(1, 20_000 // (rows * units))
                name = f"forest of {units} trees for {task}, fit and predict on {rows} × {columns}"
                works = (fitted(model, X, y, "predict", repeats) for model in (ours, theirs))
                yield against(name, *works, quick, at_least, times=5)


def boosting(quick: bool) -> Iterator[Row]:
    X, y = make_classification(400, 30, n_informative=10, random_state=0)
    for depth, units in ((1, 200), (5, 100)) if quick else ((1, 1000), (5, 1000)):
        ours = LogitBoost(units=units, depth=depth)
        theirs = GradientBoostingClassifier(n_estimators=units, max_depth=depth)
        name = f"logitboost, {units} trees of depth {depth}, against GradientBoosting"
        yield against(name, fitted(ours, X, y, "predict", 1), fitted(theirs, X, y, "predict", 1), quick, times=2)


def components(quick: bool) -> Iterator[Row]:
    """Ours are exact; scikit-learn's first ten of 500 are those of a randomised method, unless rows are many."""
    for rows, columns in ((400, 30), (1000, 500), (5000, 500), (500, 1000)):
        X, y = make_classification(rows, columns, n_informative=10, random_state=0)
        name = f"pc_extract, the first 10 components of {rows} × {columns}"
        models = PrincipalComponents(fmax=10), PCA(10, random_state=0)
        ours, theirs = (fitted(model, X, y, "transform", 10 if columns == 30 else 1) for model in models)
        yield against(name, ours, theirs, quick)


def relief(quick: bool) -> Iterator[Row]:
    X, y = make_classification(300, 20, n_informative=5, random_state=0)
    span = X.max(axis=0) - X.min(axis=0)

    def double_loop() -> None:
        for i in range(len(X)):
            np.argsort([np.abs((X[i] - X[j]) / span).sum() for j in range(len(X))])

    name = "relief, against a double loop over distances alone"
    yield against(name, lambda: ReliefRanker(knum=10).fit(X, y), double_loop, quick, 20.0, times=3)


SECTIONS: Sections = {
    "leave_one_out": leave_one_out,
    "networks": networks,
    "gkridge": gkridge,
    "learners": learners,
    "small": small,
    "forests": forests,
    "boosting": boosting,
    "components": components,
    "relief": relief,
}


def measure(quick: bool) -> list[Row]:
    """Every figure with its name, target and unit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measured(SECTIONS, SECTIONS, quick)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    show(SECTIONS, sys.argv[1:])
