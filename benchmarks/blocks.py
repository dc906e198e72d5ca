"""How fast the blocks are: each against its reference, in turns, best CPU time of several, with the target beside.

python benchmarks/blocks.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut as SklearnLeaveOneOut
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC as SklearnSVC

from msl.blocks.basis import Gaussian
from msl.blocks.bayes import GaussianBayes
from msl.blocks.forest import ForestClassifier
from msl.blocks.kernels import Kernel
from msl.blocks.leave_one_out import LeaveOneOut
from msl.blocks.network import NeuralClassifier
from msl.blocks.orthogonal import PrincipalComponents
from msl.blocks.rank import FTest
from msl.blocks.rbf import Layout
from msl.blocks.rbf_batch import batch_gcv
from msl.blocks.relief import Relief
from msl.blocks.ridge import GKRidgeRegressor, KRidgeRegressor
from msl.blocks.scale import Normalize, Standardize
from msl.blocks.similarity import KNNClassifier
from msl.blocks.support import SVC

warnings.simplefilter("ignore")


def taken(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def row(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    target: str,
    faster: bool = True,
    times: int = 9,
    scale: float = 1.0,
) -> None:
    """Both in turns, so that a busy moment of the machine hits both; `scale` is how often the reference would run."""
    ours()
    theirs()
    pairs = [(taken(ours), taken(theirs)) for _ in range(times)]
    own, other = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs) * scale
    ratio = other / own if faster else own / other
    print(f"{name:<58} {own * 1e3:>9.2f} ms {other * 1e3:>11.2f} ms   {ratio:>8.2f}   {target}", flush=True)


def leave_one_out() -> None:
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

    name = "374 leave-one-out settings vs LeaveOneOut (1 x 374)"
    row(name, ours, plain, "at least 1000", times=2, scale=len(settings))
    row("374 leave-one-out settings vs one kneighbors each", ours, kneighbors, "at least 4", times=5)
    row("the same vs the leanest brute NearestNeighbors", ours, leanest, "at least 4", times=5)


def networks() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-4, 4, (40, 1))
    y = 1.1 * (1 - X[:, 0] + 2 * X[:, 0] ** 2) * np.exp(-(X[:, 0] ** 2) / 2) + rng.normal(0, 0.1, 40)
    low, high = Layout.of(X).boxes(15)  # a centre in each of 15 regions of the rows
    centres = low + rng.random((500, 15, 1)) * (high - low)
    overlaps = rng.uniform(0.02, 0.2, 500)

    def loop() -> np.ndarray:  # type: ignore[type-arg]
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

    def batch() -> np.ndarray:  # type: ignore[type-arg]
        return batch_gcv(X, y[:, None], centres, overlaps, Gaussian(), 0.0)

    row("500 RBF networks by GCV vs a loop over lstsq", batch, loop, "at least 5", times=15)
    print(f"{'':<58} largest relative difference {np.abs(batch() / loop() - 1).max():.1e}   at most 1e-9")


def kernels() -> None:
    X, y = make_classification(400, 30, n_informative=10, random_state=0)
    target = y.astype(np.float64)

    def ridges() -> None:
        for ridge in np.logspace(-4, 1, 30):
            KernelRidge(kernel="rbf", gamma=0.01, alpha=ridge).fit(X, target)

    name = "gkridge, leave-one-out over 30 ridges, vs 30 KernelRidge"
    row(name, lambda: GKRidgeRegressor().fit(X, target), ridges, "at most 0.5", False)
    kernel = Kernel(1, 1, 0.01).matrix(X, X)
    for name, ours, theirs in (
        (
            "kridge",
            KRidgeRegressor(coef0=1, degree=0, gamma=0.01, shrinkage=0.1),
            KernelRidge(kernel="rbf", gamma=0.01, alpha=0.1),
        ),
        ("GaussianBayes", GaussianBayes(), GaussianNB()),
        ("rf", ForestClassifier(units=100, random_state=0), RandomForestClassifier(100, random_state=0)),
        (
            "neural",
            NeuralClassifier(units=10, maxiter=100, random_state=0),
            MLPClassifier((10,), solver="lbfgs", max_iter=100, tol=0, alpha=0.01, random_state=0),
        ),
        ("knn, 5 neighbours", KNNClassifier(k=5), KNeighborsClassifier(5, algorithm="brute")),
        ("ftest", FTest(fmax=10), SelectKBest(f_classif, k=10)),
        ("standardize", Standardize(), StandardScaler()),
        ("normalize", Normalize(), Normalizer()),
        ("pc_extract", PrincipalComponents(fmax=10), PCA(10)),
    ):
        apply = "predict" if hasattr(ours, "predict") else "transform"
        name = f"{name} vs scikit-learn, fit and {apply}"
        row(name, fitted(ours, X, y, apply), fitted(theirs, X, y, apply), "at most 1.3", False)
    libsvm = SklearnSVC(kernel="precomputed", C=1e6)
    own = SVC(coef0=1, degree=1, gamma=0.01, shrinkage=0.1)

    def svc() -> None:
        libsvm.fit(Kernel(1, 1, 0.01).matrix(X, X) + 0.1 * np.eye(len(X)), y).predict(kernel)

    row("svc vs libsvm on the same kernel", lambda: own.fit(X, y).predict(X), svc, "at most 1.3", False)


def fitted(model: Any, X: Any, y: Any, apply: str) -> Callable[[], object]:
    return lambda: getattr(model.fit(X, y), apply)(X)


def relief() -> None:
    X, y = make_classification(300, 20, n_informative=5, random_state=0)
    span = X.max(axis=0) - X.min(axis=0)

    def double_loop() -> None:
        for i in range(len(X)):
            np.argsort([np.abs((X[i] - X[j]) / span).sum() for j in range(len(X))])

    name = "relief vs a double loop over distances alone"
    row(name, lambda: Relief(knum=10).fit(X, y), double_loop, "at least 20", times=3)


if __name__ == "__main__":
    print(f"{'':<58} {'ours':>12} {'reference':>13}   {'ratio':>8}   target")
    leave_one_out()
    networks()
    kernels()
    relief()
