"""Gradient boosting, with what is the same for all libraries: symbols as categories, gaps, early stopping; and
scikit-learn's.

Early stopping holds some of the training rows out, counts the rounds after which the loss on them is lowest, and then
fits that many rounds on all training rows. So no row is lost to the model, and an exported model is one of the library
with a number of rounds and needs to know nothing of this.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import BlockLearner, BlockRegressor, Floats, ProbabilisticClassifier
from msl.blocks.base.learner_paths import learner_path
from msl.blocks.numerics.class_statistics import balanced_weights, present_classes, probabilities_of_all
from msl.blocks.preprocessing.prepare import MergeRare
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

#: Which rows are held out.
Held = NDArray[np.bool_]
_LARGEST_SEED = 2**31 - 1
#: Of fewer rows none is held out.
_FEWEST_ROWS = 10


class Boosting(BlockLearner):
    """What all libraries share. `rounds_` is the number of rounds that were fitted."""

    takes_missing = True
    takes_weights = True
    #: Whether it splits on sets of symbols; their columns are named in `symbolic_columns`.
    splits_on_symbols: ClassVar[bool] = True
    #: The parameter that holds the number of rounds.
    rounds: ClassVar[str] = "n_estimators"
    class_weight: str | None
    early_stopping: int | None
    validation_share: float
    symbolic_columns: Any
    random_state: Any
    model_: Any
    #: The leaves of each tree, where they are counted.
    _leaves: list[int] | None = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "class_weight": [None, StrOptions({"balanced"})],
        "early_stopping": [None, Interval(Integral, 1, None, closed="left")],
        "validation_share": [Interval(Real, 0, 1, closed="neither")],
        "symbolic_columns": ["array-like", None],
        "random_state": ["random_state"],
    }

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._fit(X, y, n_classes, None)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._fit(X, y, n_classes, weights)

    def _fit(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> None:
        if self.class_weight is not None and not n_classes:
            raise UserError("`class_weight` balances classes, and the target holds numbers")
        self.n_classes_ = n_classes
        self.n_columns_ = X.shape[1]
        self.seed_ = self._seed()
        if n_classes:
            self.present_, y = present_classes(y, n_classes)
        self.rounds_: int = getattr(self, self.rounds)
        if n_classes and len(self.present_) == 1:
            self.model_ = None  # there is nothing to learn
            return
        if self.early_stopping is not None:
            self.rounds_ = self._best_rounds(X, y, weights, self.early_stopping)
        self.model_ = self._trained(X, y, weights)

    def outputs(self, X: Floats) -> Floats:
        return self._completed(np.ones((X.shape[0], 1)) if self.model_ is None else self._predicted(X))

    def _completed(self, predicted: Any) -> Floats:
        """Outputs for all classes, of what `_predicted` gives."""
        made = np.asarray(predicted)
        if not self.n_classes_:
            return np.asarray(made, dtype=np.float64)
        if len(self.present_) > 1:
            made = np.asarray(np.column_stack([1 - made, made]) if made.ndim == 1 else made, dtype=np.float64)
        return probabilities_of_all(made, self.present_, self.n_classes_)

    def with_less(self, parameter: str, value: int) -> Self:
        if self.model_ is not None and self._leaves is None:
            self._leaves = self._leaves_of_trees()  # counted once for all of its path
        smaller = super().with_less(parameter, value)
        smaller.rounds_ = value
        return smaller

    def path_outputs(self, X: Floats, query: Any = None) -> Callable[[Self], Floats]:
        return lambda smaller: type(smaller).outputs(smaller, X)

    def complexity(self) -> float:
        if self.model_ is None:
            return 1.0
        leaves = self._leaves_of_trees() if self._leaves is None else self._leaves
        return float(sum(leaves[: self._grown_rounds * self._trees_a_round]))

    @property
    def _grown_rounds(self) -> int:
        """How many rounds of the fitted model count."""
        return self.rounds_

    @property
    def _trees_a_round(self) -> int:
        return self.n_kinds if self.n_kinds > 2 else 1

    @property
    def n_kinds(self) -> int:
        """How many classes the training rows had; 0 for numbers."""
        return len(self.present_) if self.n_classes_ else 0

    @property
    def symbols(self) -> list[int]:
        """The positions of the columns of symbols."""
        return [int(place) for place in (self.symbolic_columns if self.symbolic_columns is not None else ())]

    def _seed(self) -> int:
        """A seed that all libraries take, whatever `random_state` is."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state) % _LARGEST_SEED
        return int(check_random_state(self.random_state).randint(_LARGEST_SEED))

    def _balanced(self, y: NDArray[Any], weights: Floats | None) -> Floats | None:
        """The weights of rows, by those of their classes where these are balanced."""
        if self.class_weight != "balanced":
            return weights
        of_classes = balanced_weights(y, len(self.present_))
        return of_classes if weights is None else of_classes * weights

    # --- what a library does ---

    @abstractmethod
    def _trained(self, X: Floats, y: NDArray[Any], weights: Floats | None) -> Any:
        """A model of `rounds_` rounds. `weights` are those of rows; `class_weight` is left to the library."""

    @abstractmethod
    def _predicted(self, X: Floats) -> Any:
        """Numbers, or the probabilities of the present classes, by the first `rounds_` rounds; of two classes that of
        the second alone will do."""

    @abstractmethod
    def _leaves_of_trees(self) -> list[int]:
        """The leaves of each tree, round by round."""

    @abstractmethod
    def _stopped(self, X: Floats, y: NDArray[Any], weights: Floats | None, held: Held, patience: int) -> int:
        """The rounds with the lowest loss on the rows that are held out, when fitted on the others."""

    @abstractmethod
    def plain(self) -> tuple[Any, dict[str, Any]]:
        """An estimator of the library alone that becomes this model on the same rows, and what its `fit` takes beside
        them; `sample_weight="balanced"` there stands for weights that give all classes the same sum."""

    # --- early stopping ---

    def _best_rounds(self, X: Floats, y: NDArray[Any], weights: Floats | None, patience: int) -> int:
        held = held_out(y, self.n_kinds, self.validation_share, self.seed_)
        if not held.any():
            return self.rounds_
        return max(1, self._stopped(X, y, weights, held, patience))


def held_out(y: NDArray[Any], n_classes: int, share: float, seed: int) -> Held:
    """Which rows early stopping judges by: the same share of every class, and no class as a whole."""
    held = np.zeros(len(y), dtype=bool)
    if len(y) < _FEWEST_ROWS:
        return held
    rng = np.random.default_rng(seed)
    strata = [np.flatnonzero(y == code) for code in range(n_classes)] if n_classes else [np.arange(len(y))]
    for rows in strata:
        count = min(round(share * len(rows)), len(rows) - 1)
        held[rng.permutation(rows)[:count]] = True
    return held


class Patience:
    """Watches a loss round by round, and is at its end when it was not lowered in so many rounds."""

    def __init__(self, rounds: int) -> None:
        self._patience, self.best, self._lowest, self._seen = rounds, 0, np.inf, 0

    def is_over(self, loss: float) -> bool:
        """Takes the loss after one more round."""
        self._seen += 1
        if loss < self._lowest:
            self._lowest, self.best = loss, self._seen
        return self._seen - self.best >= self._patience


class SavedByLibrary(Boosting):
    """A model that its library writes as bytes, which are what a pickled or saved block holds."""

    @abstractmethod
    def _written(self) -> bytes: ...

    @abstractmethod
    def _read(self, saved: bytes) -> Any: ...

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("model_") is not None:
            state["saved_"] = self._written()
            del state["model_"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if name != "saved_"})
        if (saved := state.get("saved_")) is not None:
            self.model_ = self._read(bytes(saved))


# --- Scikit-learn's ---------------------------------------------------------------------------------------------------


class _HistBoosting(Boosting):
    """Scikit-learn's histogram boosting, after LightGBM (Ke et al., 2017)."""

    rounds = "max_iter"

    def __init__(
        self,
        max_iter: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        class_weight: str | None = None,
        early_stopping: int | None = None,
        validation_share: float = 0.15,
        symbolic_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_share = validation_share
        self.symbolic_columns = symbolic_columns
        self.random_state = random_state

    def _fit(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> None:
        self.merge_ = MergeRare(self.symbols, self.max_bins)
        self.merge_.fit_arrays(X, y, n_classes)
        super()._fit(self.merge_.transform_arrays(X), y, n_classes, weights)

    def _new(self, **stopping: Any) -> Any:
        kind = HistGradientBoostingClassifier if self.n_classes_ else HistGradientBoostingRegressor
        weight = {"class_weight": self.class_weight} if self.class_weight is not None else {}
        symbols = {"categorical_features": self.symbols} if self.symbols else {}
        rest = {name: getattr(self, name) for name in _HIST}
        stopping = stopping or {"early_stopping": False}
        return kind(max_iter=self.rounds_, random_state=self.seed_, **rest, **symbols, **weight, **stopping)

    def _trained(self, X: Floats, y: NDArray[Any], weights: Floats | None) -> Any:
        return self._new().fit(X, y, sample_weight=weights)

    def _stopped(self, X: Floats, y: NDArray[Any], weights: Floats | None, held: Held, patience: int) -> int:
        """Scikit-learn holds rows out itself, with the share and the seed that it is given."""
        if self.n_kinds and np.bincount(y).min() < 2:
            return self.rounds_
        share = self.validation_share
        found = self._new(early_stopping=True, validation_fraction=share, n_iter_no_change=patience, tol=0.0)
        found.fit(X, y, sample_weight=weights)
        return int(np.argmax(found.validation_score_))

    def _predicted(self, X: Floats) -> Any:
        merged = self.merge_.transform_arrays(X)
        return self.model_.predict_proba(merged) if self.n_classes_ else self.model_.predict(merged)

    def _leaves_of_trees(self) -> list[int]:
        return [tree.get_n_leaf_nodes() for trees in self.model_._predictors for tree in trees]

    def path_outputs(self, X: Floats, query: Any = None) -> Callable[[Self], Floats]:
        if self.model_ is None:
            return super().path_outputs(X)
        merged = self.merge_.transform_arrays(X)
        path = learner_path(self.model_, "max_iter", merged)
        assert path is not None

        def outputs(smaller: Self) -> Floats:
            model: Any = path.at(smaller.rounds_)
            return smaller._completed(model.predict_proba(merged) if smaller.n_classes_ else model.predict(merged))

        return outputs

    def plain(self) -> tuple[Any, dict[str, Any]]:
        return self._new(), {}


_HIST = "learning_rate max_leaf_nodes max_depth min_samples_leaf l2_regularization max_features max_bins".split()


@public
class HistBoostingClassifier(_HistBoosting, ProbabilisticClassifier):
    """Scikit-learn's histogram boosting for classes."""


@public
class HistBoostingRegressor(_HistBoosting, BlockRegressor):
    """Scikit-learn's histogram boosting for numbers."""
