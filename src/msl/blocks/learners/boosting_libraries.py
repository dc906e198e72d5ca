"""The boosting of LightGBM, XGBoost and CatBoost as blocks: repeatable, silent, on one thread.

The libraries are called without their scikit-learn classes, which spend a tenth of the time of a small fit on checks of
arguments; what is fitted is the same, and `plain` gives the class that would fit it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from msl.blocks.base.block import BlockRegressor, Floats, ProbabilisticClassifier
from msl.blocks.learners.boosting import Held, Patience, SavedByLibrary
from msl.blocks.public import public


class _LightGBM(SavedByLibrary):
    """LightGBM: trees that grow leaf by leaf, on binned columns (Ke et al., 2017).

    `grown_` has the number of rounds with trees after each round, None if all have some: one whose rows cannot be split
    adds none, and later ones may.
    """

    takes_sparse = True
    grown_: list[int] | None = None

    @property
    def _grown_rounds(self) -> int:
        return self.rounds_ if self.grown_ is None else self.grown_[self.rounds_ - 1]

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        max_depth: int | None = None,
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        min_split_gain: float = 0.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        max_bin: int = 255,
        max_cat_to_onehot: int = 4,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        extra_trees: bool = False,
        class_weight: str | None = None,
        early_stopping: int | None = None,
        validation_share: float = 0.15,
        symbolic_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.min_split_gain = min_split_gain
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.max_cat_to_onehot = max_cat_to_onehot
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.extra_trees = extra_trees
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_share = validation_share
        self.symbolic_columns = symbolic_columns
        self.random_state = random_state

    def _parameters(self) -> dict[str, Any]:
        """Under names that both LightGBM and its scikit-learn class know."""
        taken = {name: getattr(self, name) for name in _LIGHTGBM}
        taken["max_depth"] = -1 if self.max_depth is None else self.max_depth
        more = {name: getattr(self, name) for name, default in _LIGHTGBM_MORE.items() if getattr(self, name) != default}
        drawn = {"subsample_freq": 1} if self.subsample < 1.0 else {}
        return {**taken, **more, **drawn, "deterministic": True, "force_row_wise": True, "verbosity": -1}

    def _all_parameters(self) -> dict[str, Any]:
        objective = {0: "regression", 2: "binary"}.get(self.n_kinds, "multiclass")
        classes = {"num_class": self.n_kinds} if self.n_kinds > 2 else {}
        return {**self._parameters(), **classes, "objective": objective, "num_threads": 1, "seed": self.seed_}

    def _rows(self, X: Floats, y: NDArray[Any], weights: Floats | None) -> Any:
        from lightgbm import Dataset

        symbols = self.symbols or "auto"
        return Dataset(X, y, weight=weights, categorical_feature=symbols, params=self._all_parameters())

    def _trained(self, X: Floats, y: NDArray[Any], weights: Floats | None) -> Any:
        from lightgbm import Booster

        model, grown = Booster(self._all_parameters(), self._rows(X, y, self._balanced(y, weights))), []
        for _ in range(self.rounds_):
            model.update()
            grown.append(model.current_iteration())
        model.free_dataset()
        self.grown_ = None if grown[-1] == self.rounds_ else grown
        return model

    def _stopped(self, X: Floats, y: NDArray[Any], weights: Floats | None, held: Held, patience: int) -> int:
        from lightgbm import Booster

        weights = self._balanced(y, weights)
        rows = self._rows(X[~held], y[~held], None if weights is None else weights[~held])
        judging = rows.create_valid(X[held], y[held], None if weights is None else weights[held])
        model, watched = Booster(self._all_parameters(), rows), Patience(patience)
        model.add_valid(judging, "held out")
        for _ in range(self.rounds_):
            model.update()
            if watched.is_over(model.eval_valid()[0][2]):
                break
        return watched.best

    def _predicted(self, X: Floats) -> Any:
        return self.model_.predict(X, num_iteration=self._grown_rounds, num_threads=1)

    def path_outputs(self, X: Floats, query: Any = None) -> Callable[[Self], Floats]:
        """Trees are walked once for all learners on the path, and their values added one by one as LightGBM does."""
        if self.model_ is None:
            return super().path_outputs(X)
        sums = _SumsOfTrees(self.model_, X, self._trees_a_round)

        def outputs(smaller: Self) -> Floats:
            return smaller._completed(smaller._of_sums(sums.after(smaller._grown_rounds)))

        # What is shown for all is checked on a few: the libraries of a machine may compute `exp` in two ways.
        few = _SumsOfTrees(self.model_, X[:_CHECKED], self._trees_a_round).after(self._grown_rounds)
        is_exact = np.array_equal(self._of_sums(few), self._predicted(X[:_CHECKED]))
        return outputs if is_exact else super().path_outputs(X)

    def _of_sums(self, sums: Floats) -> Any:
        """What LightGBM predicts where the values of trees add up to these, operation by operation."""
        if not self.n_kinds:
            return sums[:, 0].copy()
        if self.n_kinds == 2:
            return expit(sums[:, 0])
        powers = _EXP(sums - sums.max(axis=1, keepdims=True)).astype(np.float64)
        return powers / reduce(np.add, powers.T)[:, np.newaxis]

    def _leaves_of_trees(self) -> list[int]:
        trees = self.model_.model_to_string().splitlines()
        return [int(line.partition("=")[2]) for line in trees if line.startswith("num_leaves=")]

    def _written(self) -> bytes:
        text: str = self.model_.model_to_string()
        return text.encode()

    def _read(self, saved: bytes) -> Any:
        from lightgbm import Booster

        return Booster(model_str=saved.decode())

    def plain(self) -> tuple[Any, dict[str, Any]]:
        from lightgbm import LGBMClassifier, LGBMRegressor

        weight = {"class_weight": self.class_weight} if self.class_weight is not None else {}
        kind = LGBMClassifier if self.n_classes_ else LGBMRegressor
        model = kind(n_estimators=self.rounds_, n_jobs=1, random_state=self.seed_, **self._parameters(), **weight)
        return model, {"categorical_feature": self.symbols} if self.symbols else {}


#: Rows by which predictions of a path are checked; and `exp` of the system, of which numpy has one of its own.
_CHECKED = 100
_EXP = np.frompyfunc(math.exp, 1, 1)


class _SumsOfTrees:
    """The sums of the values of LightGBM's first trees for some rows, which grow with the rounds that are asked for."""

    def __init__(self, model: Any, X: Floats, trees_a_round: int) -> None:
        self._model, self._X, self._each = model, X, trees_a_round
        lines = model.model_to_string().splitlines()
        texts = (line.partition("=")[2].split() for line in lines if line.startswith("leaf_value="))
        self._values = [np.array(text, dtype=np.float64) for text in texts]
        self._start()

    def _start(self) -> None:
        self._rounds, self._sums = 0, np.zeros((self._X.shape[0], self._each))

    def after(self, rounds: int) -> Floats:
        """The sums for each class; of ascending rounds each tree is walked once."""
        if rounds < self._rounds:
            self._start()
        if rounds > self._rounds:
            more = {"start_iteration": self._rounds, "num_iteration": rounds - self._rounds, "num_threads": 1}
            leaves = self._model.predict(self._X, pred_leaf=True, **more).reshape(self._X.shape[0], -1)
            for place in range(leaves.shape[1]):
                tree = self._rounds * self._each + place
                self._sums[:, place % self._each] += self._values[tree][leaves[:, place]]
            self._rounds = rounds
        return self._sums


_LIGHTGBM = (
    "learning_rate num_leaves min_child_samples min_child_weight min_split_gain reg_alpha reg_lambda subsample"
    " colsample_bytree"
).split()
#: Parameters of LightGBM that its scikit-learn class takes by `**kwargs`, and their defaults.
_LIGHTGBM_MORE = {"max_bin": 255, "max_cat_to_onehot": 4, "cat_smooth": 10.0, "cat_l2": 10.0, "extra_trees": False}


@public
class LightGBMClassifier(_LightGBM, ProbabilisticClassifier):
    """LightGBM for classes."""


@public
class LightGBMRegressor(_LightGBM, BlockRegressor):
    """LightGBM for numbers."""


class _XGBoost(SavedByLibrary):
    """XGBoost: trees that grow level by level, with penalties on their leaves (Chen and Guestrin, 2016)."""

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.3,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        gamma: float = 0.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 1.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        max_bin: int = 256,
        max_cat_to_onehot: int = 4,
        class_weight: str | None = None,
        early_stopping: int | None = None,
        validation_share: float = 0.15,
        symbolic_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.gamma = gamma
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.max_cat_to_onehot = max_cat_to_onehot
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_share = validation_share
        self.symbolic_columns = symbolic_columns
        self.random_state = random_state

    def _parameters(self) -> dict[str, Any]:
        """Under names that both XGBoost and its scikit-learn class know."""
        return {name: getattr(self, name) for name in _XGBOOST} | {"tree_method": "hist", "verbosity": 0}

    def _all_parameters(self) -> dict[str, Any]:
        objective = {0: "reg:squarederror", 2: "binary:logistic"}.get(self.n_kinds, "multi:softprob")
        classes = {"num_class": self.n_kinds} if self.n_kinds > 2 else {}
        return {**self._parameters(), **classes, "objective": objective, "nthread": 1, "seed": self.seed_}

    def _types(self) -> list[str] | None:
        if not self.symbols:
            return None
        return ["c" if place in set(self.symbols) else "q" for place in range(self.n_columns_)]

    def _rows(self, X: Floats, y: NDArray[Any], weights: Floats | None, like: Any = None) -> Any:
        from xgboost import QuantileDMatrix

        kinds = {"feature_types": self._types(), "enable_categorical": True}
        return QuantileDMatrix(X, y, weight=weights, nthread=1, max_bin=self.max_bin, ref=like, **kinds)

    def _trained(self, X: Floats, y: NDArray[Any], weights: Floats | None) -> Any:
        from xgboost import Booster

        rows = self._rows(X, y, self._balanced(y, weights))
        model = Booster(self._all_parameters(), [rows])
        for number in range(self.rounds_):
            model.update(rows, number)
        return model

    def _stopped(self, X: Floats, y: NDArray[Any], weights: Floats | None, held: Held, patience: int) -> int:
        from xgboost import Booster

        weights = self._balanced(y, weights)
        rows = self._rows(X[~held], y[~held], None if weights is None else weights[~held])
        judging = self._rows(X[held], y[held], None if weights is None else weights[held], rows)
        model, watched = Booster(self._all_parameters(), [rows, judging]), Patience(patience)
        for number in range(self.rounds_):
            model.update(rows, number)
            if watched.is_over(float(model.eval(judging, "held", number).rpartition(":")[2])):
                break
        return watched.best

    def _predicted(self, X: Floats) -> Any:
        return self.model_.inplace_predict(X, iteration_range=(0, self.rounds_))

    def path_outputs(self, X: Floats, query: Any = None) -> Callable[[Self], Floats]:
        """XGBoost goes on from the margins of fewer rounds, twice: for margins, and for what it makes of them."""
        rounds, margins, found = 0, None, None

        def outputs(smaller: Self) -> Floats:
            nonlocal rounds, margins, found
            if smaller.model_ is None:
                return type(smaller).outputs(smaller, X)
            if smaller.rounds_ < rounds:
                rounds, margins = 0, None
            if smaller.rounds_ > rounds:
                more = {"iteration_range": (rounds, smaller.rounds_), "base_margin": margins}
                found = smaller.model_.inplace_predict(X, **more)
                margins = smaller.model_.inplace_predict(X, predict_type="margin", **more)
                rounds = smaller.rounds_
            return smaller._completed(found)

        return outputs

    def _leaves_of_trees(self) -> list[int]:
        return [tree.count("leaf=") for tree in self.model_.get_dump()]

    def _written(self) -> bytes:
        return bytes(self.model_.save_raw("ubj"))

    def _read(self, saved: bytes) -> Any:
        from xgboost import Booster

        return Booster({"nthread": 1}, model_file=bytearray(saved))

    def plain(self) -> tuple[Any, dict[str, Any]]:
        from xgboost import XGBClassifier, XGBRegressor

        kind = XGBClassifier if self.n_classes_ else XGBRegressor
        kinds = {"feature_types": self._types(), "enable_categorical": True} if self.symbols else {}
        model = kind(n_estimators=self.rounds_, n_jobs=1, random_state=self.seed_, **self._parameters(), **kinds)
        return model, {"sample_weight": "balanced"} if self.class_weight is not None else {}


_XGBOOST = (
    "learning_rate max_depth min_child_weight gamma reg_alpha reg_lambda subsample colsample_bytree max_bin"
    " max_cat_to_onehot"
).split()


@public
class XGBoostClassifier(_XGBoost, ProbabilisticClassifier):
    """XGBoost for classes."""


@public
class XGBoostRegressor(_XGBoost, BlockRegressor):
    """XGBoost for numbers."""


class _CatBoost(SavedByLibrary):
    """CatBoost: symmetric trees on statistics of the symbols that do not see the row itself (Prokhorenkova, 2018)."""

    def __init__(
        self,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        depth: int = 6,
        l2_leaf_reg: float = 3.0,
        random_strength: float = 1.0,
        border_count: int = 254,
        one_hot_max_size: int = 2,
        max_ctr_complexity: int = 4,
        class_weight: str | None = None,
        early_stopping: int | None = None,
        validation_share: float = 0.15,
        symbolic_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.depth = depth
        self.l2_leaf_reg = l2_leaf_reg
        self.random_strength = random_strength
        self.border_count = border_count
        self.one_hot_max_size = one_hot_max_size
        self.max_ctr_complexity = max_ctr_complexity
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_share = validation_share
        self.symbolic_columns = symbolic_columns
        self.random_state = random_state

    def _parameters(self) -> dict[str, Any]:
        more = {name: getattr(self, name) for name, default in _CATBOOST_MORE.items() if getattr(self, name) != default}
        silent = {"allow_writing_files": False, "logging_level": "Silent", "thread_count": 1}
        weight = {"auto_class_weights": "Balanced"} if self.class_weight is not None else {}
        return {**{name: getattr(self, name) for name in _CATBOOST}, **more, **silent, **weight}

    def _new(self) -> Any:
        from catboost import CatBoost

        loss = {0: "RMSE", 2: "Logloss"}.get(self.n_kinds, "MultiClass")
        rounds = {"n_estimators": self.rounds_, "random_seed": self.seed_}
        return CatBoost({**self._parameters(), **rounds, "loss_function": loss})

    def _rows(self, X: Floats, y: NDArray[Any] | None = None, weights: Floats | None = None) -> Any:
        from catboost import FeaturesData, Pool

        if not self.symbols:
            return Pool(np.ascontiguousarray(X, dtype=np.float32), y, weight=weights)
        is_symbol = np.zeros(self.n_columns_, dtype=bool)
        is_symbol[self.symbols] = True
        numbers = np.ascontiguousarray(X[:, ~is_symbol], dtype=np.float32) if not is_symbol.all() else None
        words = np.empty((len(X), len(self.symbols)), dtype=object)
        for place, column in enumerate(np.flatnonzero(is_symbol)):
            codes, where = np.unique(X[:, column], return_inverse=True)
            words[:, place] = np.array([_word(code) for code in codes], dtype=object)[where]
        return Pool(FeaturesData(num_feature_data=numbers, cat_feature_data=words), y, weight=weights)

    def _trained(self, X: Floats, y: NDArray[Any], weights: Floats | None) -> Any:
        model = self._new()  # it balances classes itself
        model.fit(self._rows(X, y, weights))
        return model

    def _stopped(self, X: Floats, y: NDArray[Any], weights: Floats | None, held: Held, patience: int) -> int:
        model = self._new()
        of_both = (None, None) if weights is None else (weights[held], weights[~held])
        judging = self._rows(X[held], y[held], of_both[0])
        model.fit(self._rows(X[~held], y[~held], of_both[1]), eval_set=judging, early_stopping_rounds=patience)
        return int(model.get_best_iteration()) + 1

    def _predicted(self, X: Floats) -> Any:
        kind = "Probability" if self.n_classes_ else "RawFormulaVal"
        return self.model_.predict(self._rows(X), prediction_type=kind, ntree_end=self.rounds_, thread_count=1)

    @property
    def _trees_a_round(self) -> int:
        return 1  # with values for all classes

    def _leaves_of_trees(self) -> list[int]:
        return [int(count) for count in self.model_.get_tree_leaf_counts()]

    def _written(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "model.cbm")
            self.model_.save_model(str(file))
            return file.read_bytes()

    def _read(self, saved: bytes) -> Any:
        from catboost import CatBoost

        return CatBoost().load_model(blob=saved)

    def plain(self) -> tuple[Any, dict[str, Any]]:
        from catboost import CatBoostClassifier, CatBoostRegressor

        kind = CatBoostClassifier if self.n_classes_ else CatBoostRegressor
        columns = {"cat_features": self.symbols} if self.symbols else {}
        return kind(n_estimators=self.rounds_, random_seed=self.seed_, **self._parameters(), **columns), {}


_CATBOOST = ("learning_rate", "depth", "l2_leaf_reg", "random_strength")
_CATBOOST_MORE = {"border_count": 254, "one_hot_max_size": 2, "max_ctr_complexity": 4}


def _word(code: float) -> bytes:
    """A symbol as CatBoost takes it; a missing one is a symbol too."""
    return b"" if np.isnan(code) else b"%d" % int(code)


@public
class CatBoostClassifier(_CatBoost, ProbabilisticClassifier):
    """CatBoost for classes."""


@public
class CatBoostRegressor(_CatBoost, BlockRegressor):
    """CatBoost for numbers."""
