"""The space, the measure and the search of a first spec, chosen by the rows, columns and classes of a table."""

from __future__ import annotations

from ctypes import CDLL
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from msl.check.names.scoring_declarations import DEFAULT_METRICS, shipped_metrics
from msl.data.data_errors import listed
from msl.data.table import Table
from msl.diagnostics.suggest import did_you_mean
from msl.diagnostics.user_error import UserError

#: Up to so many rows kernel machines and nearest neighbours end in time: their work grows with the square of the rows.
_FEW_ROWS = 2_000
#: Up to so many rows five folds end in time, then three; beyond, one split is precise enough.
_FIVE_FOLDS, _THREE_FOLDS = 5_000, 20_000
#: Beyond so many rows a forest and an exact linear model take longer than all that boosting needs to be better.
_MANY_ROWS = 100_000
#: Classes are unbalanced if the rarest has less than this share of what it would have among equal ones.
_RARE = 2 / 3
#: With more classes, target encoding makes too many columns: one for each class.
_MOST_ENCODED_CLASSES = 10
#: What libraries call the parameters of boosting, in the same order.
_OF_LIGHTGBM = "learning_rate n_estimators num_leaves min_child_samples reg_lambda colsample_bytree".split()
_OF_SKLEARN = "learning_rate max_iter max_leaf_nodes min_samples_leaf l2_regularization max_features".split()
_METRIC_MEANINGS = {
    "auc": "how well the two classes are told apart, whatever the threshold",
    "ber": "the mean of the classes' error rates",
    "rmse": "the root of the mean squared error",
}


@dataclass(frozen=True, slots=True)
class Preset:
    """How much a first spec spends: what it says of the search, and for whom that is."""

    budget: str
    has_ensemble: bool
    meaning: str


#: By the words of `--preset`; each gives the text of a spec, which says the same to everybody who reads it.
PRESETS = {
    "quick": Preset("time = 20s, each = 5s", False, "a first answer in 20 s"),
    "good": Preset("time = 2min, each = 20s", True, "2 minutes"),
    "best": Preset("time = 30min, each = 2min", True, "half an hour"),
}
USUAL_PRESET = "good"


def preset_named(name: str) -> Preset:
    """The preset of this name; raises UserError for another."""
    if name not in PRESETS:
        known = listed(f"`{each}` ({preset.meaning})" for each, preset in PRESETS.items())
        raise UserError(
            f"there is no preset `{name}`", f"{did_you_mean(name, PRESETS) or ''} Presets are {known}".strip()
        )
    return PRESETS[name]


def lightgbm_loads() -> bool:
    """Whether LightGBM can be used: its library takes an OpenMP runtime, which small systems do not have.

    Only the library is loaded; to import the package takes a second.
    """
    found = find_spec("lightgbm")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    library = next((file for folder in folders for file in Path(folder).rglob("lib_lightgbm.*")), None)
    try:
        return library is not None and CDLL(str(library)) is not None
    except OSError:
        return False


@dataclass(frozen=True)
class StarterSpace:
    """What a first spec says after its `data` statement, as lines of text."""

    table: Table
    preset: Preset = PRESETS[USUAL_PRESET]
    #: LightGBM fits the same trees as scikit-learn's boosting in a fifth to a half of the time.
    has_lightgbm: bool = field(default_factory=lightgbm_loads)

    def lines(self) -> list[str]:
        return [*self._learners(), "", *self._chain(), "", *self._measure(), "", *self._search()]

    # --- what is known of the table ---

    @property
    def _is_classes(self) -> bool:
        return self.table.task == "classification"

    @property
    def _rows(self) -> int:
        return len(self.table)

    @cached_property
    def _class_counts(self) -> list[int]:
        assert self.table.y is not None
        return np.bincount(self.table.y).tolist() if self._is_classes else []

    @property
    def _is_unbalanced(self) -> bool:
        counts = self._class_counts
        return bool(counts) and min(counts) * len(counts) < _RARE * sum(counts)

    # --- the learners ---

    def _learners(self) -> list[str]:
        about = [f"# Learners for {self._rows:,} rows. " + self._why_these()]
        if self._is_unbalanced:
            share = min(self._class_counts) / sum(self._class_counts)
            about += [
                f"# The rarest class has {share:.1%} of the rows. `class_weight = balanced` lets all classes count",
                "# the same, also in the labels that are predicted; without it, probabilities are those of the rows.",
            ]
        return [*about, *self._boosted(), *self._forest()]

    def _why_these(self) -> str:
        if self._rows <= _FEW_ROWS:
            return "They are few enough for all kinds: `msl blocks` lists more."
        if self._rows <= _MANY_ROWS:
            return "Kernel machines and nearest neighbours are left out: they would take too long."
        return "Only boosting ends in time on so many."

    def _boosted(self) -> list[str]:
        leaves, samples = (16, 10) if self._rows <= _FEW_ROWS else (31, 20)
        names = _OF_LIGHTGBM if self.has_lightgbm else _OF_SKLEARN
        domains = [
            "real 0.02..0.3 log default 0.1",
            "int 30..300 log default 100",
            f"int 4..64 log default {leaves}",
            f"int 2..100 log default {samples}",
            "0 | real 1e-3..10 log default 0",
            "real 0.2..1.0 default 1.0",
        ]
        parameters = [f"{name}: {domain}" for name, domain in zip(names, domains, strict=True)]
        fidelity = f" fidelity {names[1]}"
        if self.has_lightgbm:
            about = ["# Boosting is LightGBM's, which is quicker than scikit-learn's."]
            return [*about, *self._block("boosted", "msl.blocks:LightGBM*", parameters, fidelity)]
        about = [
            "# Boosting is scikit-learn's. LightGBM's is quicker, but cannot be loaded here; on Linux it takes the",
            "# system's package of the OpenMP runtime (libgomp1).",
        ]
        target = f"sklearn.ensemble:HistGradientBoosting{self._kind}"
        return [*about, *self._block("boosted", target, parameters, fidelity)]

    def _forest(self) -> list[str]:
        if self._rows > _MANY_ROWS:
            return []
        parameters = [
            'max_features: "sqrt" | real 0.1..1.0 default "sqrt"',
            f"min_samples_leaf: int 1..20 log default {2 if self._rows <= _FEW_ROWS else 4}",
            "n_estimators = 100",
        ]
        return self._block("forest", f"sklearn.ensemble:ExtraTrees{self._kind}", parameters)

    @property
    def _kind(self) -> str:
        """How the classes of scikit-learn end: only classifiers take weights of classes."""
        return "Classifier" if self._is_unbalanced else "*"

    def _block(self, name: str, target: str, parameters: list[str], fidelity: str = "") -> list[str]:
        """A block with the ranges that suit the rows."""
        weight = ["class_weight = balanced"] if self._is_unbalanced else []
        head = f'block {name}: learner "{target}" {{'
        return [head, *(f"  {each}," for each in (*parameters, *weight)), f"}}{fidelity}"]

    # --- the chain ---

    def _chain(self) -> list[str]:
        symbols, numbers = self.table.facts.symbolic, len(self.table.schema.columns) - len(self.table.facts.symbolic)
        trees = ["boosted"] if self._rows > _MANY_ROWS else ["boosted", "forest"]
        lines, paths = [], trees
        if symbols:
            lines += [
                "# Boosting takes symbols as they are; what is known of the target where one stands may help trees."
            ]
            steps = f"on symbols ({self._encoders()}) & on rest (passthrough)" if numbers else self._encoders()
            lines += [f"part coded = {steps}", ""]
            paths = ["boosted", f"(coded >> {trees[0] if len(trees) == 1 else '(boosted | forest)'})"]
        if self._rows <= _MANY_ROWS:
            lines += ["# These need columns on a common scale; symbols become columns of 0 and 1."]
            lines += [f"part scaled = standard_scaler(rest = default) >> ({' | '.join(self._scaled())})", ""]
            paths = [*paths, "scaled"]
        return [*lines, f"chain model = {' | '.join(paths)}"]

    def _encoders(self) -> str:
        if not self._is_classes:
            return "target_encode_mean(rest = default) | ordinal(rest = default)"
        if len(self._class_counts) > _MOST_ENCODED_CLASSES:
            return "ordinal"
        return "target_encode(rest = default) | ordinal(rest = default)"

    def _scaled(self) -> list[str]:
        rest = "class_weight = balanced" if self._is_unbalanced else "rest = default"
        machine, linear = (
            ("svm", "logistic(C: 1e-3..100 log") if self._is_classes else ("svr", "ridge(alpha: 1e-2..1e4 log")
        )
        few = [f"{machine}(C: 1e-2..1e3 log, kernel = rbf(gamma: scale | 1e-4..1 log), {rest})", "k_neighbors"]
        return [f"{linear}, {rest})", *(few if self._rows <= _FEW_ROWS else ())]

    # --- the measure ---

    def _measure(self) -> list[str]:
        metric = "auc" if len(self._class_counts) == 2 else DEFAULT_METRICS[self.table.task]
        others = [
            each.name
            for each in shipped_metrics().values()
            if each.task == self.table.task and each.is_named and each.relative_to is None and not each.takes_costs
            if each.name != metric
        ]
        lines = [f"# {metric}: {_METRIC_MEANINGS[metric]}; others: {', '.join(others)}."]
        if metric == "auc":
            lines += ["# `minimize ber` instead judges labels, by the mean of the two classes' error rates."]
        return [*lines, f"{'maximize' if metric == 'auc' else 'minimize'} {metric} by {self._estimate()}"]

    def _estimate(self) -> str:
        """Five folds, three or one split if there are more rows, no more folds than a tiny class has rows."""
        if self._rows > _THREE_FOLDS:
            return "holdout(0.25)"
        smallest = min(self._class_counts, default=self._rows)
        most = 5 if self._rows <= _FIVE_FOLDS else 3
        return f"cv(folds = {min(most, max(2, smallest), self._rows)})"

    # --- the search ---

    def _search(self) -> list[str]:
        return [
            "# Learners that were good on other tables, then searches that share the evaluations by what each gains.",
            "# They go on for as long as the budget lets them.",
            "search portfolio then auto(evaluations = none)",
            "",
            *(self._ensemble() if self.preset.has_ensemble else ()),
            f"budget({self.preset.budget})  # of the run; of one model",
            "seed 0",
        ]

    def _ensemble(self) -> list[str]:
        return [
            "# Begins with the best model and adds the one that helps the mean most, again and again, by predictions",
            "# for held-out rows that are there anyway. It is used if it is better than the best model on rows left",
            "# out of both choices; without this line that model is the answer, simpler and mostly a little worse.",
            "ensemble greedy()",
            "",
        ]
