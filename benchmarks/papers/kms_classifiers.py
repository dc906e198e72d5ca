"""KMS, figure 5 and table 5: ranks against scikit-learn's classifiers, on raw and on scaled columns.

(Ortiz-Bejar, Tellez and Graff, 2019.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import process_time
from typing import Any

import polars as pl
from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, preprocessing, svm, tree
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import TARGET, Split
from benchmarks.papers.kms import (
    IMAGE_SPLITS,
    LEAST_SPLITS,
    ORIGINS,
    PAPER,
    SPLITS,
    VALIDATION,
    VALIDATION_SPLITS,
    split_of,
)
from benchmarks.ranks import average_ranks
from benchmarks.report import Claim, Report, Table, made_by, origins
from benchmarks.significance import compare_pairs, mean
from benchmarks.trial import balanced_error, try_spec

#: The classifiers of figure 5 with the defaults of scikit-learn, by the seed.
CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "RBF SVC": lambda seed: svm.SVC(random_state=seed),
    "GaussianNB": lambda seed: naive_bayes.GaussianNB(),
    "GradientBoost": lambda seed: ensemble.GradientBoostingClassifier(random_state=seed),
    "MLP": lambda seed: neural_network.MLPClassifier(random_state=seed),
    "NearestCentroid": lambda seed: neighbors.NearestCentroid(),
    "AdaBoost": lambda seed: ensemble.AdaBoostClassifier(random_state=seed),
    "LinearSVC": lambda seed: svm.LinearSVC(random_state=seed),
    "LogisticRegression": lambda seed: linear_model.LogisticRegression(),
    "ExtraTrees": lambda seed: ensemble.ExtraTreesClassifier(random_state=seed),
    "RandomForest": lambda seed: ensemble.RandomForestClassifier(random_state=seed),
    "kNN": lambda seed: neighbors.KNeighborsClassifier(),
    "BernoulliNB": lambda seed: naive_bayes.BernoulliNB(),
    "DecisionTrees": lambda seed: tree.DecisionTreeClassifier(random_state=seed),
    "SGD": lambda seed: linear_model.SGDClassifier(random_state=seed),
    # What scikit-learn names in the place of its PassiveAggressiveClassifier.
    "PassiveAggressive": lambda seed: linear_model.SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, random_state=seed
    ),
    "Perceptron": lambda seed: linear_model.Perceptron(random_state=seed),
}
#: The scaler of scikit-learn, and the same as a step of a chain.
SCALERS: dict[str, tuple[Callable[[int], Any] | None, str]] = {
    "raw": (None, ""),
    "standard": (lambda seed: preprocessing.StandardScaler(), "standard_scaler(rest = default) >> "),
    "min-max": (lambda seed: preprocessing.MinMaxScaler(), "min_max(rest = default) >> "),
    "max-abs": (lambda seed: preprocessing.MaxAbsScaler(), "max_abs >> "),
    "quantile": (
        lambda seed: preprocessing.QuantileTransformer(random_state=seed),
        "quantile_transform(rest = default) >> ",
    ),
    "Yeo-Johnson": (lambda seed: preprocessing.PowerTransformer(), "power_transform(rest = default) >> "),
}
#: One cell gives both: the ensemble, and the best model alone.
OURS = "KMS"
FULL, QUICK = "128 evaluations", "16 evaluations"
#: The paper's average ranks on raw columns: of nine characterisation sets, of 25 validation sets.
RANKS = {
    "KMSE": (3.33, 5.84), "KMS": (5.33, 5.92), "RBF SVC": (6.00, 12.24), "GaussianNB": (6.22, 8.40),
    "GradientBoost": (6.67, 5.92), "MLP": (6.89, 7.84), "NearestCentroid": (7.78, 11.52), "AdaBoost": (9.11, 9.76),
    "LinearSVC": (9.33, 11.60), "LogisticRegression": (9.67, 9.76), "ExtraTrees": (9.78, 7.32),
    "RandomForest": (10.00, 8.16), "kNN": (10.33, 8.36), "BernoulliNB": (12.33, 12.60),
    "DecisionTrees": (12.67, 7.68), "SGD": (15.00, 12.64), "PassiveAggressive": (15.11, 12.20),
    "Perceptron": (15.44, 13.24),
}  # fmt: skip
#: The paper's grand average ranks: the means over raw columns and the five scalers.
GRAND = {
    "KMSE": 5.96, "KMS": 5.34, "RBF SVC": 9.31, "GaussianNB": 10.17, "GradientBoost": 6.70, "MLP": 5.74,
    "NearestCentroid": 10.01, "AdaBoost": 11.01, "LinearSVC": 10.51, "LogisticRegression": 10.31, "ExtraTrees": 8.14,
    "RandomForest": 8.82, "kNN": 9.12, "BernoulliNB": 12.75, "DecisionTrees": 8.67, "SGD": 13.11,
    "PassiveAggressive": 12.83, "Perceptron": 12.49,
}  # fmt: skip

#: What the paper's tests say on raw columns: of which method, against which, and whether they differ.
DIFFERENCES: dict[str, tuple[tuple[str, tuple[str, ...], bool], ...]] = {
    "characterisation": (
        ("KMSE", tuple(method for method in RANKS if method != "KMSE"), True),
        ("KMS", ("RBF SVC", "GaussianNB"), False),
    ),
    "validation": (("KMS", ("KMSE",), True), ("KMS", ("GradientBoost",), False)),
}

_SPEC = """msl 1
use "kms.msl" as paper, sklearn
chain scaled = {scaler}kernel_model
minimize ber by cv(folds = 3)
search random(evaluations = {evaluations}, draw = models)
"""
_VOTE = "ensemble vote(top = 15, distinct = false, voting = hard, always = true)\n"


def cells(quick: bool) -> list[Cell]:
    """Raw columns first, split by split; the scalers on the validation sets, as in the paper."""
    names = (*CLASSIFIERS, OURS)
    if quick:
        return [Cell("iris", 0, f"{name}, {scaler}", QUICK) for scaler in ("raw", "standard") for name in names]
    raw = [
        Cell(data, split, f"{name}, raw", FULL)
        for split in range(SPLITS)
        for data in PAPER
        for name in names
        if data != "image" or split < IMAGE_SPLITS
    ]
    validation = [
        Cell(data, split, f"{name}, {scaler}", FULL)
        for split in range(VALIDATION_SPLITS)
        for scaler in SCALERS
        for data in VALIDATION
        for name in names
    ]
    first = [cell for cell in raw if cell.split < 10]
    return [*first, *validation, *(cell for cell in raw if cell.split >= 10)]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """Test BER of a classifier, or of the best kernel model and of the vote of the fifteen best."""
    name, scaler = cell.method.rsplit(", ", 1)
    split = split_of(cell, place)
    if name != OURS:
        return _try_classifier(name, scaler, split, cell.split)
    text = _SPEC.format(scaler=SCALERS[scaler][1], evaluations=int(cell.budget.split()[0]))
    voted = try_spec(text + _VOTE, split, cell.split, place.folder)
    alone = try_spec(text, split, cell.split, place.folder)
    return {"ber": {"KMSE": voted["ber"], "KMS": alone["ber"]}, "cpu": voted["cpu"], "origin": split.origin}


def _try_classifier(name: str, scaler: str, split: Split, seed: int) -> Mapping[str, Any]:
    start = process_time()
    X, y = split.train.drop(TARGET), split.train[TARGET].cast(pl.String).to_numpy()
    fitted = make_pipeline(_columns(X), *_scaler(scaler, seed), CLASSIFIERS[name](seed)).fit(X, y)
    predicted = fitted.predict(split.test.drop(TARGET)).tolist()
    error = balanced_error(split.test[TARGET].to_list(), predicted)
    return {"ber": {name: error}, "cpu": round(process_time() - start, 2), "origin": split.origin}


def _scaler(name: str, seed: int) -> list[Any]:
    make = SCALERS[name][0]
    return [] if make is None else [make(seed)]


def _columns(X: pl.DataFrame) -> Any:
    """Numbers as they are, gaps filled, symbols as indicators."""
    numeric = [name for name, kind in X.schema.items() if kind.is_numeric()]
    symbolic = [name for name in X.columns if name not in numeric]
    indicators = make_pipeline(
        SimpleImputer(strategy="most_frequent"), preprocessing.OneHotEncoder(handle_unknown="ignore")
    )
    numbers = SimpleImputer(strategy="median")
    return make_column_transformer((numbers, numeric), (indicators, symbolic), sparse_threshold=0)


# --- the report ---


#: Test BER by scaler, method, data set and the origin of the split.
Errors = Mapping[tuple[str, str, str, str], Sequence[float]]


def report(records: Sequence[Record]) -> Report:
    errors: dict[tuple[str, str, str, str], list[float]] = {}
    for record in records:
        scaler, origin = record.cell.method.rsplit(", ", 1)[1], record.outcome.get("origin", "drawn")
        for method, error in record.outcome["ber"].items():
            errors.setdefault((scaler, method, record.cell.data, origin), []).append(error)
    tables = [table for table in (_figure_table(errors), _scaler_table(errors)) if table.rows]
    budgets = sorted({record.cell.budget for record in records})
    data = {record.cell.data for record in records}
    ran = (
        f"Sixteen classifiers of scikit-learn with its defaults, KMS and KMSE by random search of "
        f"{', '.join(budgets) or 'nothing yet'}; {sum(name in data for name in PAPER)} of 9 characterisation sets, "
        f"{sum(name in data for name in VALIDATION)} of 25 validation sets (20 can be had; {origins(records)})."
    )
    title = "KMS: ranks against other classifiers"
    return Report("papers.kms_classifiers", title, ran, tuple(tables), tuple(_claims(errors)), made_by(records))


def _ranks(errors: Errors, scaler: str, sets: Iterable[str], kinds: Sequence[str]) -> tuple[int, dict[str, float]]:
    """Average ranks over the data sets that every method has, and how many these are."""
    names = list(sets)
    scores: dict[str, dict[str, float]] = {method: {} for method in RANKS}
    for method in RANKS:
        for name in names:
            found = [error for kind in kinds for error in errors.get((scaler, method, name, kind), ())]
            if found:
                scores[method][name] = mean(found)
    shared = [name for name in names if all(name in of for of in scores.values())]
    return len(shared), average_ranks(scores)


def _figure_table(errors: Errors) -> Table:
    """Characterisation sets by published and by drawn splits apart; the validation sets have one split of either."""
    groups = [("characterisation", PAPER, (origin,), 0) for origin in ORIGINS]
    groups.append(("validation", VALIDATION, ORIGINS, 1))
    columns, found, papers = ["classifier"], [], []
    for name, sets, kinds, place in groups:
        n_sets, ranks = _ranks(errors, "raw", sets, kinds)
        if ranks:
            kind = f"{kinds[0]} splits" if len(kinds) == 1 else "all splits"
            columns += [f"paper, {name}", f"{name}, {kind}, {n_sets} of {len(sets)} sets"]
            found.append(ranks)
            papers.append(place)
    rows = []
    for method, paper in RANKS.items():
        figures = ((paper[place], ranks[method]) for place, ranks in zip(papers, found, strict=True))
        rows.append((method, *(figure for pair in figures for figure in pair)))
    note = "Average ranks by test BER on raw columns, over the data sets that all have; 1 is the best."
    return Table("Figure 5", tuple(columns), tuple(rows if found else ()), (note,))


def _scaler_table(errors: Errors) -> Table:
    ranks = {scaler: _ranks(errors, scaler, VALIDATION, ORIGINS) for scaler in SCALERS}
    known = {scaler: found for scaler, (_, found) in ranks.items() if found}
    columns = [
        "classifier",
        *(f"{scaler}, {ranks[scaler][0]} of {len(VALIDATION)} sets" for scaler in known),
        "mean",
        "paper, mean of six",
    ]
    rows = [
        (method, *(found[method] for found in known.values()), mean([found[method] for found in known.values()]), grand)
        for method, grand in GRAND.items()
    ]
    rows.sort(key=lambda row: row[-2])
    note = "Average ranks by test BER on the validation sets, sorted by their mean."
    return Table("Table 5", tuple(columns), tuple(rows if known else ()), (note,))


def _claims(errors: Errors) -> Iterable[Claim]:
    """The paper's sentences on its figure 5 and table 5; judged when every data set that can be had is there, with
    enough splits of the characterisation sets to say something."""
    for name, sets, least in (("characterisation", PAPER, LEAST_SPLITS), ("validation", VALIDATION, 1)):
        n_sets, ranks = _ranks(errors, "raw", sets, ORIGINS)
        counts = [_n_splits(errors, "raw", method, data) for data in sets for method in RANKS]
        is_whole = n_sets == len(sets) and min(counts) >= least
        text = f"KMSE has the best average rank on the {name} sets, and KMS the second"
        claim = _ranking_claim(text, ("KMSE", "KMS"), ranks, is_whole)
        ran = f"{n_sets} of {len(sets)} sets, {min(counts)} to {max(counts)} splits"
        yield Claim(claim.text, claim.holds, f"{claim.seen}; {ran}")
        for method, others, differs in DIFFERENCES[name]:
            yield _difference_claim(errors, name, sets, method, others, differs, is_whole)
    found = [_ranks(errors, scaler, VALIDATION, ORIGINS) for scaler in SCALERS]
    is_whole = all(n_sets == len(VALIDATION) for n_sets, _ in found)
    grand = {method: mean([ranks[method] for _, ranks in found]) for method in RANKS} if is_whole else {}
    order = ("KMS", "MLP", "KMSE", "GradientBoost")
    text = "KMS has the best mean of the average ranks over raw and scaled columns, then MLP, KMSE, gradient boosting"
    yield _ranking_claim(text, order, grand, is_whole)


def _difference_claim(
    errors: Errors,
    name: str,
    sets: Iterable[str],
    method: str,
    others: Sequence[str],
    differs: bool,
    is_whole: bool,
) -> Claim:
    """Wilcoxon's test over the splits that both methods have."""
    chances = {}
    for other in others:
        cells = [("raw", data, kind) for data in sets for kind in ORIGINS]
        both = [(errors.get((s, method, d, k), ()), errors.get((s, other, d, k), ())) for s, d, k in cells]
        pairs = [pair for ours, theirs in both for pair in zip(ours, theirs, strict=False)]
        chances[other] = compare_pairs(*zip(*pairs, strict=True)).p_value if pairs else float("nan")
    failing = [other for other, chance in chances.items() if (chance < (0.01 if differs else 0.05)) is not differs]
    shown = [other for other in (others if len(others) < 3 else failing) if not math.isnan(chances[other])]
    seen = f"{len(others) - len(failing)} of {len(others)}" + "".join(f"; {o}: p = {chances[o]:.2g}" for o in shown)
    text = f"on the {name} sets the errors of {method} " + ("differ from" if differs else "do not differ from")
    which = "those of every other method (p < 0.01)" if len(others) > 2 else "those of " + " and ".join(others)
    return Claim(f"{text} {which}", not failing if is_whole else None, seen)


def _n_splits(errors: Errors, scaler: str, method: str, data: str) -> int:
    return sum(len(errors.get((scaler, method, data, kind), ())) for kind in ORIGINS)


def _ranking_claim(text: str, order: Sequence[str], ranks: Mapping[str, float], is_whole: bool) -> Claim:
    best = sorted(ranks, key=lambda method: ranks[method])[: max(len(order), 3)]
    seen = ", ".join(f"{method} {ranks[method]:.2f}" for method in best) or "not run"
    return Claim(text, tuple(best[: len(order)]) == tuple(order) if is_whole else None, seen)


BENCHMARK = Benchmark("papers.kms_classifiers", cells, work, report)
