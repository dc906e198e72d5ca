"""The authors' program of kernel model selection, written anew from what it does, for figures on the same splits.

KernelMethods.jl (Apache licence) is in Julia, with scikit-learn's classifiers. Where its public states of August and of
November 2019 do otherwise than the paper says, each of these differences can be switched alone:

- configurations: drawn without replacement, all alike since November; in August half of the classifiers drawn are naive
  Bayes, for one k-NN drawn evenly each;
- kernels: of squared euclidean distances in August; since November with the squares of both distance and sigma, and
  with a sigmoid that falls with the distance;
- sigma: of references other than those of density it is the largest distance of a group's rows not from the reference,
  but from the row of the table whose number is that of the group;
- references chosen by density, at random or by K-means are always centroids, and K-means has angles too;
- every configuration has folds, and in every fold references, of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.datasets import TARGET, Split
from benchmarks.trial import balanced_error

Rows = NDArray[np.float64]
Groups = NDArray[np.intp]

SIZES = (4, 8, 16, 32, 64)
KERNELS = ("gaussian", "linear", "cauchy", "sigmoid")
DISTANCES = ("angle", "euclidean")
WAYS = ("fft", "kmeans", "density", "random")
MEMBERS, FOLDS, BEFORE_ONE = 15, 3, 1e-6


@dataclass(frozen=True, slots=True)
class Program:
    """A state of the program, or the same with some of its differences to the paper taken out."""

    half_naive: bool = False
    #: `august` squares euclidean distances, `november` everything, `paper` nothing.
    kernels: str = "november"
    sigma_of_other_row: bool = True
    #: Of the references that rows are chosen for, only those of the traversal can be the rows themselves.
    only_centroids: bool = True
    own_folds: bool = True


#: What table of the report has them, in this order.
PROGRAMS: dict[str, Program] = {
    "program, August": Program(half_naive=True, kernels="august"),
    "program, November": Program(),
    "program, November, sigma as printed": Program(sigma_of_other_row=False),
    "program, November, kernels as printed": Program(kernels="paper"),
    "program, November, centers as printed": Program(only_centroids=False),
    "program, November, folds as printed": Program(own_folds=False),
    "program, November, all as printed": Program(False, "paper", False, False, False),
}


@dataclass(frozen=True, slots=True)
class Configuration:
    way: str
    size: int
    centers: bool
    distance: str
    kernel: str
    #: Neighbours, metric and weighting of a k-NN, or None for naive Bayes.
    neighbours: tuple[int, str, str] | None

    def classifier(self) -> Any:
        if self.neighbours is None:
            return GaussianNB()
        n, metric, weights = self.neighbours
        return KNeighborsClassifier(n_neighbors=n, metric=metric, weights=weights)


NEIGHBOURS = tuple(
    (n, metric, weights)
    for metric, weights, n in product(("cosine", "euclidean"), ("uniform", "distance"), (1, 5, 11, 21))
    if (n, weights) != (1, "distance")
)


@dataclass(frozen=True, slots=True, eq=False)
class KernelMap:
    """References with a sigma each, and what becomes of a row."""

    references: Rows
    sigmas: Rows
    distance: str
    kernel: str
    state: str

    def features(self, rows: Rows) -> Rows:
        squared = self.state == "august" and self.distance == "euclidean"
        d = distances(rows, self.references, self.distance, squared)
        with np.errstate(all="ignore"):
            found = _kernel(self.kernel, self.state, d, self.sigmas[: len(self.references)])
        return np.nan_to_num(found, nan=0.0)


def distances(rows: Rows, others: Rows, kind: str, squared: bool = False) -> Rows:
    if kind == "euclidean":
        return cdist(rows, others, "sqeuclidean" if squared else "euclidean")
    with np.errstate(all="ignore"):
        unit, unit_others = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (rows, others))
    return np.arccos(np.clip(unit @ unit_others.T, -1.0, 1.0))


def _kernel(kernel: str, state: str, d: Rows, sigma: Rows) -> Rows:
    if kernel == "linear":
        return d
    if kernel == "sigmoid":
        return 1 / (1 + np.exp(d - sigma if state == "november" else sigma - d))
    same = (d <= BEFORE_ONE) if state == "november" else (d == 0) | (sigma == 0)
    if kernel == "gaussian":
        value = np.exp(-(d**2) / (2 * sigma**2)) if state == "november" else np.exp(-d / sigma)
    else:
        value = 1 / (1 + (d**2 / sigma**2 if state == "november" else d / sigma))
    return np.where(same, 1.0, value)


def run_program(method: str, split: Split, seed: int, evaluations: int) -> dict[str, Any]:
    """The test error of the fifteen best and of the best alone."""
    program, rng = PROGRAMS[method], np.random.default_rng([seed, 19])
    start = process_time()
    (rows, labels), (test, truth) = _arrays(split.train), _arrays(split.test)
    folds = None if program.own_folds else int(rng.integers(2**31))
    tried = [(_judged(each, program, rows, labels, folds, rng), each) for each in drawn(program, evaluations, rng)]
    best = sorted(tried, key=lambda pair: -pair[0])[:MEMBERS]
    outputs = []
    for _, each in best:
        mapped = fitted(each, program, rows, rng)
        outputs.append(each.classifier().fit(mapped.features(rows), labels).predict(mapped.features(test)))
    return {
        "ber": balanced_error(truth.tolist(), voted(np.array(outputs)).tolist()),
        "kms": balanced_error(truth.tolist(), outputs[0].tolist()),
        "estimate": 1 - best[0][0],
        "naive": sum(each.neighbours is None for _, each in best),
        "cpu": round(process_time() - start, 2),
        "origin": split.origin,
    }


def _arrays(table: pl.DataFrame) -> tuple[Rows, NDArray[Any]]:
    return table.drop(TARGET).to_numpy().astype(np.float64), table[TARGET].to_numpy()


def drawn(program: Program, evaluations: int, rng: np.random.Generator) -> list[Configuration]:
    """Without replacement: of all configurations, or of all maps with one classifier drawn for each."""
    maps = [
        (way, size, centers, distance, kernel)
        for size, kernel, centers, distance, way in product(SIZES, KERNELS, (True, False), DISTANCES, WAYS)
        if way != "kmeans" or not centers or distance == "euclidean"
    ]
    if not program.half_naive:
        every = [Configuration(*of, each) for of in maps for each in (*NEIGHBOURS, None)]
    else:
        picked = rng.integers(len(NEIGHBOURS), size=len(maps))
        naive = rng.random(len(maps)) < 0.5
        every = [
            Configuration(*of, None if is_naive else NEIGHBOURS[place])
            for of, place, is_naive in zip(maps, picked, naive, strict=True)
        ]
    return [every[place] for place in rng.permutation(len(every))[:evaluations]]


def _judged(
    configuration: Configuration,
    program: Program,
    rows: Rows,
    labels: NDArray[Any],
    seed: int | None,
    rng: np.random.Generator,
) -> float:
    """The mean recall of the classes in the pooled predictions of the folds, which a seed makes the same for all."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)) if seed is None else seed)
    predicted = np.empty_like(labels)
    for train, held in folds.split(rows, labels):
        mapped = fitted(configuration, program, rows[train], rng)
        learned = configuration.classifier().fit(mapped.features(rows[train]), labels[train])
        predicted[held] = learned.predict(mapped.features(rows[held]))
    return float(np.mean([(predicted[labels == label] == label).mean() for label in np.unique(labels)]))


def fitted(configuration: Configuration, program: Program, rows: Rows, rng: np.random.Generator) -> KernelMap:
    chosen, groups, is_by_number = _WAYS[configuration.way](rows, configuration, rng)
    present = np.unique(groups)
    members = [rows[groups == group] for group in present]
    is_squared = program.kernels == "august" and configuration.distance == "euclidean"
    can_have_centers = configuration.way == "fft" or (configuration.way != "kmeans" and not program.only_centroids)
    centers = rows[chosen] if is_by_number else rows[present]
    if has_centers := configuration.centers and can_have_centers:
        references = centers
    else:
        references = np.array([each.mean(axis=0) for each in members])
    if program.sigma_of_other_row or not is_by_number:
        froms = rows[present]
    else:
        froms = references[present] if has_centers else references
    sigmas = np.array(
        [
            np.nan_to_num(distances(each, source[None], configuration.distance, is_squared)).max()
            for each, source in zip(members, froms, strict=True)
        ]
    )
    if len(sigmas) < len(references):  # of equal rows only the first is anyone's nearest
        sigmas = np.append(sigmas, np.full(len(references) - len(sigmas), sigmas[-1]))
    return KernelMap(references, sigmas, configuration.distance, configuration.kernel, program.kernels)


#: The rows chosen, the group of every row, and whether groups are numbered in the order of choice or by their row.
Chosen = tuple[Groups, Groups, bool]


def _by_traversal(rows: Rows, configuration: Configuration, rng: np.random.Generator) -> Chosen:
    chosen = [int(rng.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < min(configuration.size, len(rows)):
        nearest = np.fmin(nearest, distances(rows, rows[chosen[-1:]], configuration.distance)[:, 0])
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
    return _grouped(rows, np.array(chosen), configuration)


def _at_random(rows: Rows, configuration: Configuration, rng: np.random.Generator) -> Chosen:
    return _grouped(rows, rng.permutation(len(rows))[: configuration.size], configuration)


def _grouped(rows: Rows, chosen: Groups, configuration: Configuration) -> Chosen:
    found = np.nan_to_num(distances(rows, rows[chosen], configuration.distance), nan=np.inf)
    return chosen, found.argmin(axis=1), True


def _by_means(rows: Rows, configuration: Configuration, rng: np.random.Generator) -> Chosen:
    """Seeded by k-means++, by euclidean distance whatever the distance of the kernel is."""
    seeds = [int(rng.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    while len(seeds) < configuration.size:
        nearest = np.minimum(nearest, cdist(rows, rows[seeds[-1:]], "sqeuclidean")[:, 0])
        cumulated = np.cumsum(nearest / nearest.sum())
        seeds.append(min(int(np.searchsorted(cumulated, rng.random())), len(rows) - 1))
    centroids, groups = rows[seeds], np.zeros(len(rows), np.intp)
    for _ in range(1000):
        groups = cdist(rows, centroids, "sqeuclidean").argmin(axis=1)
        moved = np.array([rows[groups == group].mean(axis=0) for group in np.unique(groups)])
        if moved.shape == centroids.shape and (moved == centroids).all():
            break
        centroids = moved
    return np.array(seeds), groups, True


def _by_density(rows: Rows, configuration: Configuration, rng: np.random.Generator) -> Chosen:
    """A row and so many of its nearest leave together; their group has the number of the row, so sigma is right."""
    size = len(rows) // configuration.size
    groups, pending = np.full(len(rows), -1), np.arange(len(rows))
    chosen = []
    while len(pending):
        row = int(rng.choice(pending))
        chosen.append(row)
        pending = pending[pending != row]
        order = np.argsort(distances(rows[pending], rows[[row]], configuration.distance)[:, 0], kind="stable")
        groups[[row, *pending[order[:size]]]] = row
        pending = np.sort(pending[order[size:]])
    return np.array(chosen), groups, False


_WAYS: Mapping[str, Callable[[Rows, Configuration, np.random.Generator], Chosen]] = {
    "fft": _by_traversal,
    "kmeans": _by_means,
    "density": _by_density,
    "random": _at_random,
}


def voted(outputs: NDArray[Any]) -> NDArray[Any]:
    """The most votes; of as many the last label."""
    labels = np.unique(outputs)
    counts = np.array([(outputs == label).sum(axis=0) for label in labels])
    return labels[len(labels) - 1 - counts[::-1].argmax(axis=0)]
