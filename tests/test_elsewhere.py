"""Spaces of other tools, translated: they check, they count what the originals have, and scikit-learn's run.

Each count is worked out below from the tables of the original. A real without a step counts once there, and `reals`
says how many of them one model has at most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import msl
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.language.formatter import format_source
from msl.space.enumerate.count import Models, count
from msl.space.formulas import Facts

ELSEWHERE = Path(__file__).parents[1] / "specs" / "elsewhere"
ROWS, FEATURES, CLASSES = 150, 8, 3
TABLE = Facts(n_samples=ROWS, n_features=FEATURES, n_classes=CLASSES, task="classification")


@dataclass(frozen=True)
class Size:
    """What one translation has: structures, models with every open real counted once, reals of one model at most."""

    structures: int
    models: int
    reals: int


def product_of(*numbers: int) -> int:
    return int(np.prod(numbers, dtype=object))


def nni_nested() -> Size:
    layer = 1 + 4 + 3 + 3  # empty; four kernels; three sizes for each kind of pool
    return Size(1, layer**4, 0)


def irace_acotsp() -> Size:
    algorithm = 1 + 1 + 750 + 100 + 1  # as, mmas, elitistants of eas, rasrank of ras, q0 of acs
    local = 1 + 3 * 46 * 2  # none, or one of three with nnls and dlb
    # What is forbidden tells apart whether alpha and beta are 0; three of these four ranges are left.
    return Size(1, algorithm * local * 96 * 3, 4)  # 96 numbers of ants; alpha, beta, rho and perhaps q0 are real


def optuna_layers() -> Size:
    widths = 125 + 125**2 + 125**3  # 4 to 128 units in one, two or three layers
    return Size(1, widths * 3, 3 + 1)  # three optimizers; a dropout for each layer and the learning rate


def hyperopt_classifiers() -> Size:
    tree = 2 * (1 + 5_000) * 1_999
    return Size(3, 1 + 2 + tree, 2)  # naive Bayes, two kernels, trees


def flaml_lightgbm() -> Size:
    trees = leaves = (ROWS - 1) - 4 + 1  # the upper end is the number of rows, and is not included
    return Size(1, trees * leaves * 127 * 8, 4)  # min_child_samples 2 to 128, log_max_bin 3 to 10


def autoweka_meta() -> Size:
    smo = 3 * 2 * (2 + 2 + 1 + 1)  # N, M, and four kernels, two of them with L
    j48 = 2**4 * 64 * (2 + (2 + 1))  # O, B, J, A; M; with S: no C or one; without: no C, then U or not, or one
    base = smo + j48
    lwl = 1 + 6 + 5  # neither K nor U, or one of them
    ada_boost = 51 * 127 * 2
    bagging = (90 + 2) * 127  # O only where P is 100
    committee = subspace = 63
    selected = 2
    meta = lwl + ada_boost + bagging + committee + subspace + selected
    return Size(2 + 6, base * (1 + meta), 4)  # C, S and O of SMO with Puk, inside RandomSubSpace with P


def sklearn_titanic() -> Size:
    return Size(1, 2 * 4 * 4, 0)


def gama() -> Size:
    bayes = 1 + 6 * 2 + 6 * 2
    tree = 2 * 10 * 19 * 20
    forests = 2 * (2 * 20 * 19 * 20 * 2)
    boosting = 5 * 10 * 19 * 20 * 20 * 20
    neighbours = 50 * 2 * 2
    svc = (2 * 2 * 2 - 4) * 5 * 11  # of eight settings of penalty, loss and dual its check rejects four
    logistic = 11 * 2
    learners = bayes + tree + forests + boosting + neighbours + svc + logistic
    agglomerate = 3 * 6 - 5  # ward only with euclidean
    scalers = 1 + 1 + 1 + 1 + 3  # the last one is Normalizer with three norms
    others = 21 + 21 + agglomerate + 9 * 21 * 10 + 10 + 1 + 21  # Binarizer, FastICA, …, Nystroem, PCA, products, RBF
    selectors = 50 + 99 + 20
    steps = scalers + others + selectors
    return Size(10 * (1 + 15 + 15**2), learners * (1 + steps + steps**2), 0)


def tpot_linear() -> Size:
    extra_trees = 2 * 19 * 20 * 2 * 2
    stop = 1 + 20 * 2  # off; or the iterations without change, judged on training or on held-out rows
    learners = (
        3 * 255 * 10 * 91 * 2,  # LightGBM
        98 * 2 * (1 + 2),  # bagging: out-of-bag scores only with bootstrap
        451,  # AdaBoost
        2,  # Bernoulli naive Bayes
        2 * min(20, 2 * FEATURES) * 19 * 20 * 3 * 2,  # a tree
        extra_trees,
        1,  # Gaussian naive Bayes
        200 * 2_045 * stop,  # histogram boosting
        100 * 2 * 3,  # neighbours
        3,  # LDA
        3 * 2,  # logistic regression
        497 * 3 * 4 * 3 * 2,  # a network with one to three layers of the same width
        2,  # multinomial naive Bayes
        1,  # QDA
        2 * 19 * 20 * 2 * 2,  # random forest
        3 * 2,  # SGD
        21 * 16,  # XGBoost
    )
    transformers = (
        98 * 3,  # bins
        1,  # Binarizer
        1,  # PCA
        1,  # ZeroCount
        FEATURES * 2,  # FastICA
        (1 + 2 * 5) * (FEATURES - 1),  # FeatureAgglomeration: a metric unless ward
        9 * FEATURES,  # Nystroem
        FEATURES,  # RBFSampler
        (ROWS - 9) * 2,  # quantiles
        1,  # powers
        1,  # one-hot
        1,  # ordinal
    )
    scalers = 1 + 1 + 1 + 1 + 3 + 1
    selectors = 1 + 1 + 1 + extra_trees + extra_trees + 1
    union = product_of(*(1 + n for n in transformers))
    inner = product_of(*(1 + n for n in learners))
    # In a structure all inner learners are the same block, `predictions`: none to 17 of them.
    structures = 6 * 6 * 2**12 * 18 * 17
    # RobustScaler 2, RFE or SelectFromModel 1 + 1, Binarizer, PCA, Nystroem, RBFSampler 4, a last learner 6 at most,
    # and all inner ones: bagging 2, AdaBoost 1, Bernoulli 1, extra trees 1, boosting 4, LDA 1, logistic 2, network 2,
    # multinomial 1, QDA 1, forest 1, SGD 4, XGBoost 5
    reals = 2 + 2 + 4 + 5 + (2 + 1 + 1 + 1 + 4 + 1 + 2 + 2 + 1 + 1 + 1 + 4 + 5)
    return Size(structures, scalers * selectors * union * inner * sum(learners), reals)


def auto_sklearn() -> Size:
    forest = 2 * FEATURES * 19 * 20 * 2  # each number of features is the floor of some power
    #: What a component has, and whether balancing changes it.
    preprocessors = {
        "by_trees": (forest, True),
        "by_svc": (1, True),
        "fast_ica": (2 * (1 + 1_991) * 3, False),
        "agglomerate": ((FEATURES - 1) * (3 * 3 - 2), False),
        "kernel_pca": (1_991 * (1 + 4 + 1 + 1), False),
        "kitchen_sinks": (9_951, False),
        "nystroem": (9_951 * (1 + 4 + 1 + 1 + 1), False),
        "pca": (2, False),
        "polynomial": (2 * 2 * 2, False),
        "embedding": (91 * 9 * 19 * 20, False),
        "percentile": (1, False),
        "rates": (3, False),
        "none": (1, False),
    }
    classifiers = {
        "adaboost": (10 * 451, False),
        "bernoulli_nb": (2, False),
        "decision_tree": (2 * 2 * FEATURES * 19 * 20, True),
        "extra_trees": (forest, True),
        "random_forest": (forest, True),
        "gaussian_nb": (1, False),
        "boosting": (200 * 2_045 * (1 + 20 * 2), True),
        "k_neighbors": (100 * 2 * 2, False),
        "lda": (1 + 2, False),
        "linear_svc": (1, True),
        "svc": ((1 + 4 + 1) * 2, True),
        "mlp": (249 * 3 * 2 * 2, False),
        "multinomial_nb": (2, False),
        "passive_aggressive": (2 * 2, True),
        "qda": (1, False),
        "sgd": (5 * 3 * 3 * 2, True),
    }
    slow = {"adaboost", "decision_tree", "extra_trees", "boosting", "k_neighbors", "svc", "mlp", "random_forest"}
    slow.add("gaussian_nb")
    forbidden = {(p, c) for p in ("kernel_pca", "kitchen_sinks", "nystroem") for c in slow}
    forbidden |= {("embedding", c) for c in ("gaussian_nb", "boosting", "lda", "qda")}
    forbidden |= {(p, "multinomial_nb") for p in preprocessors if p != "embedding"}
    assert len(forbidden) == 43
    pairs = [(p, c) for p in preprocessors for c in classifiers if (p, c) not in forbidden]
    models = sum(
        preprocessors[p][0] * classifiers[c][0] * (2 if preprocessors[p][1] or classifiers[c][1] else 1)
        for p, c in pairs
    )
    columns = 3 * (1 + 1 + 1 + 1_991 * 2 + 1 + 1 + 1) * (2 + 2)
    # Both selectors from a model are one class, and so one structure.
    structures = len({("by" if p.startswith("by") else p, c) for p, c in pairs}) * 7 * 2
    # two of RobustScaler, one of the encoder, two of the poly kernel in Nystroem, six of SGD
    return Size(structures, columns * models, 2 + 1 + 2 + 6)


SIZES = {
    size.__name__: size
    for size in (
        auto_sklearn,
        autoweka_meta,
        flaml_lightgbm,
        gama,
        hyperopt_classifiers,
        irace_acotsp,
        nni_nested,
        optuna_layers,
        sklearn_titanic,
        tpot_linear,
    )
}


def test_every_spec_has_its_count() -> None:
    assert sorted(path.stem for path in ELSEWHERE.glob("*.msl")) == sorted(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_a_translation_checks_and_is_formatted(name: str) -> None:
    path = ELSEWHERE / f"{name}.msl"
    source = Source(str(path), path.read_text(encoding="utf-8"), str(path))
    assert not [d.message for d in check_source(source).diagnostics if d.is_error]
    assert format_source(source)[0] == source.text


@pytest.mark.parametrize("name", SIZES)
def test_a_translation_has_as_many_models_as_the_original(name: str) -> None:
    path = ELSEWHERE / f"{name}.msl"
    checked = check_source(Source(str(path), path.read_text(encoding="utf-8"), str(path)), TABLE)
    assert checked.spec is not None
    space = checked.spec.space
    counted = count(space)
    assert counted.exact
    assert Size(counted.structures, Models(space).number, counted.open_reals or 0) == SIZES[name]()


# --- those of scikit-learn run ---


def small_table() -> pd.DataFrame:
    """Three classes, seven numbers (some missing) and a symbol."""
    rng = np.random.default_rng(3)
    label = np.repeat([0, 1, 2], 20)
    numbers = rng.normal(size=(60, 7)) + label[:, None] * rng.normal(size=7)
    table = pd.DataFrame(np.abs(numbers).round(3), columns=[f"x{i}" for i in range(7)])
    table["kind"] = np.where(rng.random(60) < 0.5, "a", "b")
    return table.assign(label=np.array(["u", "v", "w"])[label])


def passengers() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "age": rng.integers(1, 80, size=60).astype(float),
            "fare": rng.gamma(2, 20, size=60).round(2),
            "embarked": rng.choice(["C", "Q", "S"], size=60),
            "sex": rng.choice(["female", "male"], size=60),
            "pclass": rng.integers(1, 4, size=60),
        }
    )
    table.loc[::7, "age"] = None
    lucky = (table["sex"] == "female") ^ (rng.random(60) < 0.2)
    return table.assign(survived=np.where(lucky, "yes", "no"))


def installed_only(text: str) -> str:
    """The spec without the blocks of packages that are not installed here."""
    for name in re.findall(r'^block (\w+): .*"(?:lightgbm|xgboost|tpot)', text, re.MULTILINE):
        text = re.sub(rf"^block {name}: .*?\}}\n", "", text, flags=re.MULTILINE | re.DOTALL)
        text = re.sub(rf"(& )?(predictions\({name}, folds = 5\)|\b{name})\?\s*(?(1)|&)", "", text)
        text = re.sub(rf"\b{name} \||\| {name}$", "", text, flags=re.MULTILINE)
    return text


def test_the_translation_of_flaml_runs_where_lightgbm_is(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    text = (ELSEWHERE / "flaml_lightgbm.msl").read_text(encoding="utf-8")
    text += "minimize error by holdout(0.3)\nsearch random(evaluations = 4)\nbudget(each = 60s)\nseed 1\n"
    result = msl.run(text, small_table(), store=tmp_path, trusted=["lightgbm"])
    assert [evaluation["failure"] for evaluation in result.evaluations] == [None] * 4


@pytest.mark.parametrize("name", ["auto_sklearn", "gama", "hyperopt_classifiers", "sklearn_titanic", "tpot_linear"])
def test_a_translation_to_scikit_learn_runs(name: str, tmp_path: Path) -> None:
    text = installed_only((ELSEWHERE / f"{name}.msl").read_text(encoding="utf-8"))
    text = re.sub(r"^(minimize|search) .*\n", "", text, flags=re.MULTILINE)
    text += "minimize error by holdout(0.3)\nsearch random(evaluations = 8)\nbudget(each = 60s)\nseed 1\n"
    table = passengers() if name == "sklearn_titanic" else small_table()
    result = msl.run(text, table, store=tmp_path)
    finished = [evaluation for evaluation in result.evaluations if not evaluation["failure"]]
    assert len(result.evaluations) == 8
    # Some models of these spaces cannot be fitted to so small a table, there as here: QDA of fewer rows than columns,
    # naive Bayes of counts on negative numbers.
    assert len(finished) >= 2
