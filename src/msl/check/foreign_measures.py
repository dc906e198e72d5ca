"""Foreign measures: what other tools call measures, and which of ours judges the same."""

from __future__ import annotations

from msl.space.measure import MEASURES

_NAMES = {
    "error": "error_rate zero_one_loss misclassification",
    "ber": "balanced_error balanced_error_rate",
    "logloss": "log_loss neg_log_loss cross_entropy crossentropy nll deviance",
    "auc": "roc_auc roc_auc_score roc_auc_ovr roc_auc_ovo roc_auc_ovr_weighted auroc AUC",
    "f1": "f1_score f1_macro f1_weighted f1_micro macro_f1 F1 fscore f_score",
    "mcc": "matthews matthews_corrcoef phi",
    "mse": "mean_squared_error neg_mean_squared_error squared_error l2 MSE",
    "rmse": "root_mean_squared_error neg_root_mean_squared_error RMSE",
    "mae": "mean_absolute_error neg_mean_absolute_error absolute_error l1 MAE",
    "r2": "r2_score R2 r_squared rsquared",
    "features": "n_features number_of_features",
    "fit_time": "time training_time",
}
_OURS = {name: ours for ours, names in _NAMES.items() for name in names.split()}
#: Measures that are one minus one of ours.
_OPPOSITES = {
    **dict.fromkeys("accuracy acc accuracy_score".split(), "error"),
    **dict.fromkeys("balanced_accuracy balanced_accuracy_score bac".split(), "ber"),
}
#: Measures that we lack, and the one that is closest.
_CLOSE = {
    **dict.fromkeys(
        "precision recall sensitivity specificity jaccard fbeta f2 precision_macro recall_macro".split(), "f1"
    ),
    **dict.fromkeys("average_precision pr_auc auprc gini ks".split(), "auc"),
    **dict.fromkeys("brier brier_score neg_brier_score ece calibration".split(), "logloss"),
    **dict.fromkeys("kappa cohen_kappa cohen_kappa_score".split(), "mcc"),
    **dict.fromkeys("mean_absolute_percentage_error mape median_absolute_error huber smape".split(), "mae"),
    **dict.fromkeys("rmsle msle mean_squared_log_error neg_mean_squared_log_error".split(), "rmse"),
    **dict.fromkeys("explained_variance pearson pearsonr correlation".split(), "r2"),
}


def measure_meant(name: str, alone: bool) -> str | None:
    """What to write for a measure that others call by another name; `alone` if it is the only objective."""
    ours = _OPPOSITES.get(name) or _OURS.get(name)
    if ours is not None:
        word = "maximize" if MEASURES[ours].larger_is_better else "minimize"
        if alone:
            return f"write `{word} {ours}`"
        return f"write `{ours}`, its opposite" if name in _OPPOSITES else f"write `{ours}`"
    return f"there is none of that name; the closest is `{_CLOSE[name]}`" if name in _CLOSE else None
