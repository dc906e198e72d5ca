"""Target encoding by scikit-learn's TargetEncoder, with folds that depend on `random_state` in every release."""

from __future__ import annotations

from inspect import signature
from numbers import Real
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from msl.blocks.public import public

N_FOLDS = 5
#: Since 1.9 the folds are passed as `cv`, and `random_state` is deprecated.
_TAKES_SEED = getattr(signature(TargetEncoder).parameters.get("random_state"), "default", "deprecated") is None


@public
class TargetEncode(TransformerMixin, BaseEstimator):
    """Replaces a symbol by the mean target, or by the frequency of each class, of the rows with this symbol.

    `fit_transform` encodes the rows of each of five shuffled folds from the other four, so that the target of a row
    does not leak into its features (Micci-Barreca, 2001); `transform` uses all training rows. `smooth` is the weight of
    the overall mean, in rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "target_type": [StrOptions({"auto", "continuous", "binary", "multiclass"})],
        "smooth": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, target_type: str = "auto", smooth: float | str = "auto", random_state: Any = None) -> None:
        self.target_type = target_type
        self.smooth = smooth
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._new_encoder(y).fit(X, y)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        encoded: NDArray[Any] = self._new_encoder(y).fit_transform(X, y)
        return encoded

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        encoded: NDArray[Any] = self.encoder_.transform(X)
        return encoded

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        check_is_fitted(self)
        names: NDArray[Any] = self.encoder_.get_feature_names_out(input_features)
        return names

    def _new_encoder(self, y: ArrayLike) -> TargetEncoder:
        self._validate_params()
        if _TAKES_SEED:
            folds: dict[str, Any] = {"cv": N_FOLDS, "random_state": self.random_state}
        else:
            kind = type_of_target(y) if self.target_type == "auto" else self.target_type
            splitter = KFold if str(kind).startswith("continuous") else StratifiedKFold
            folds = {"cv": splitter(N_FOLDS, shuffle=True, random_state=self.random_state)}
        self.encoder_ = TargetEncoder(target_type=self.target_type, smooth=self.smooth, **folds)
        return self.encoder_

    @property
    def n_features_in_(self) -> int:
        return int(self.encoder_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
