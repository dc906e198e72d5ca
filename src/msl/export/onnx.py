"""Export a trained model as an ONNX graph that runs without Python, and verify that it predicts the same.

Blocks of scikit-learn are translated by skl2onnx, those of LightGBM and XGBoost by onnxmltools, each alone: with double
precision where the runtime has it and the result agrees, else with single. What a block becomes is compared with the
block itself on made-up rows, and so is the whole in the end; where the two disagree there is no file.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.accepted_columns import rows_for
from msl.blocks.base.block import Block, Floats
from msl.blocks.base.chain import Branch, apply_steps, learner_outputs
from msl.blocks.learners.boosting import Boosting, SavedByLibrary
from msl.blocks.learners.boosting_libraries import (
    CatBoostClassifier,
    CatBoostRegressor,
    LightGBMClassifier,
    LightGBMRegressor,
)
from msl.diagnostics.user_error import UserError
from msl.export.onnx_blocks import OPSETS, Graph, translation_of
from msl.export.python_file import Exportable, probe_rows

_PROBES = 256
#: How far a translated block may be from the block itself, relative to its largest output, in each precision.
_PRECISIONS = {"double": 1e-9, "float": 1e-5}


class NoOnnx(UserError):
    """A model that cannot be written as ONNX: the block that is in the way, and why."""


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """The content of a file; `takes_gaps` says that rows with missing values are predicted as the model does, or are
    of no use to it either."""

    content: bytes
    takes_gaps: bool


def export_onnx(given: Exportable) -> OnnxFile:
    """The model. Rows go in as `X`, numbers with symbols coded as in `symbols` of the file's notes.

    Out come `label` and, with one score a class, `outputs`; of numbers `prediction`. Raises NoOnnx.
    """
    chain = given.estimator
    if given.is_ensemble:
        raise NoOnnx("an ensemble is several models, and only one is written")
    _require_texts(given)
    rows = probe_rows(given.ranges, [name in given.symbols for name in given.columns], _PROBES)
    graph = Graph("model")
    tensor = _add_steps(graph, chain.steps, _filled(graph, chain, rows), rows)
    inner = rows_for(None, apply_steps(chain.steps, rows))  # ONNX has no sparse rows
    tensor = _add_learner(graph, chain.learner, tensor, inner, chain.n_classes_)
    tensor = _add_steps(graph, chain.posts, tensor, learner_outputs(chain.learner, inner, chain.n_classes_))
    content = _finished(graph, tensor, given)
    differ = _differences(content, given, rows)
    if differ:
        raise NoOnnx(f"the translated model would predict {differ} of {len(rows)} made-up rows otherwise")
    return OnnxFile(content, takes_gaps=not _differences(content, given, _with_gaps(rows)))


def _require_texts(given: Exportable) -> None:
    """The notes and labels of a file are UTF-8, which not everything that a stranger's store calls a name can be."""
    symbols = [symbol for known in given.symbols.values() for symbol in known]
    for text in (given.title, given.text, given.target, *given.columns, *symbols, *map(str, given.classes)):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NoOnnx(f"{ascii(text)[:80]} cannot be written as UTF-8") from None


def _filled(graph: Graph, chain: Any, rows: Floats) -> str:
    """The input; where the blocks cannot take gaps, those that training had none of are filled in as it does."""
    middles = getattr(chain, "middles_", None)
    if middles is None or chain.can_take(_with_gaps(rows)):
        return "X"
    return graph.add("Where", graph.add("IsNaN", "X"), graph.constant(middles[None, :]), "X")


def _add_steps(graph: Graph, steps: Sequence[Any], tensor: str, rows: Floats) -> str:
    for step in steps:
        if isinstance(step, Branch):
            branches = [_add_steps(graph, branch, tensor, rows) for branch in step.branches]
            tensor = graph.add("Concat", *branches, axis=1)
        elif isinstance(step, Block):
            tensor = _add_own(graph, step, tensor)
        else:
            tensor = _add_foreign(graph, step, tensor, rows, rows_for(None, apply_steps([step], rows)), {}, place=0)
        rows = rows_for(None, apply_steps([step], rows))
    return tensor


def _add_learner(graph: Graph, learner: Any, tensor: str, rows: Floats, n_classes: int) -> str:
    if isinstance(learner, SavedByLibrary):
        return _add_boosting(graph, learner, tensor, rows)
    if isinstance(learner, Boosting) and learner.model_ is not None:
        learner = learner.model_  # scikit-learn's
    if isinstance(learner, Block):
        return _add_own(graph, learner, tensor)
    expected = learner_outputs(learner, rows, n_classes)
    if np.any(getattr(learner, "is_categorical_", None)):
        raise NoOnnx(f"{_called(learner)} splits on sets of symbols, for which its translation has no operator")
    if not n_classes:
        tensor = _add_foreign(graph, learner, tensor, rows, expected, {}, place=0)
        return graph.add("Reshape", tensor, graph.constant(np.array([-1], dtype=np.int64)))
    if len(learner.classes_) != n_classes:
        raise NoOnnx(f"{_called(learner)} has not seen every class")
    if not hasattr(learner, "predict_proba"):
        return _add_linear(graph, learner, tensor)
    return _add_foreign(graph, learner, tensor, rows, expected, {"zipmap": False}, place=1)


def _add_linear(graph: Graph, learner: Any, tensor: str) -> str:
    """A learner of scores that are sums of the columns: the runtime has no such classifier in double precision."""
    if not hasattr(learner, "coef_") or getattr(learner, "kernel", "linear") != "linear":
        raise NoOnnx(f"{_called(learner)} gives no probabilities, and its scores are no sums of the columns")
    weights, shift = np.atleast_2d(learner.coef_), np.atleast_1d(learner.intercept_)
    scores = graph.add("MatMul", tensor, graph.constant(np.ascontiguousarray(weights.T, dtype=np.float64)))
    scores = graph.add("Add", scores, graph.constant(np.asarray(shift, dtype=np.float64)))
    return scores if len(weights) > 1 else graph.add("Concat", graph.add("Neg", scores), scores, axis=1)


def _add_own(graph: Graph, block: Any, tensor: str) -> str:
    translation = translation_of(block)
    if translation is None:
        raise NoOnnx(f"{_called(block)} has no counterpart among the operators of ONNX")
    return translation(graph, block, tensor)


def _add_foreign(
    graph: Graph, estimator: Any, tensor: str, rows: Floats, expected: Floats, options: dict[str, Any], place: int
) -> str:
    """A block of scikit-learn, in the first precision in which it does what it does here; `place` is its output's."""
    reasons = []
    for precision in _precisions(estimator):
        try:
            model = _converted(estimator, rows.shape[1], precision, options)
            made = _run(model.SerializeToString(), rows.astype(_dtype(precision)))[place]
        except Exception as reason:  # the converter and the runtime raise whatever they like
            reasons.append(_first_line(reason))
            continue
        if _is_close(np.asarray(made, dtype=np.float64).reshape(expected.shape), expected, _PRECISIONS[precision]):
            given = tensor if precision == "double" else graph.cast(tensor, precision)
            return graph.cast(graph.embed(model, given)[place], "double")
        reasons.append(f"in {precision} precision it would predict otherwise")
    raise NoOnnx(f"{_called(estimator)} cannot be translated: {'; '.join(dict.fromkeys(reasons))}")


# --- boosting of other libraries --------------------------------------------------------------------------------------

#: What onnxmltools is asked for: the newest operators that all of its converters know.
_BOOSTING_OPSET = 15


def _add_boosting(graph: Graph, learner: SavedByLibrary, tensor: str, rows: Floats) -> str:
    """Trees of LightGBM and XGBoost, which onnxmltools translates, and of CatBoost, which does so itself."""
    if learner.n_kinds != learner.n_classes_:
        raise NoOnnx(f"{_called(learner)} has not seen every class")
    is_catboost = isinstance(learner, CatBoostClassifier | CatBoostRegressor)
    if is_catboost and learner.symbols:
        raise NoOnnx("CatBoost computes with statistics of symbols, which it cannot write as ONNX")
    if not is_catboost and find_spec("onnxmltools") is None:
        raise NoOnnx("`onnxmltools` translates it, which is not installed: `pip install 'msl-lang[onnx]'`")
    expected = learner.outputs(rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = _catboost_model(learner) if is_catboost else _converted_boosting(learner, rows.shape[1])
        made = np.asarray(_run(model.SerializeToString(), rows.astype(np.float32))[-1], dtype=np.float64)
        made = made.reshape(expected.shape)
    except Exception as reason:  # the converter and the runtime raise whatever they like
        raise NoOnnx(f"{_called(learner)} cannot be translated: {_first_line(reason)}") from None
    if not _is_close(made, expected, _PRECISIONS["float"]):
        raise NoOnnx(f"{_called(learner)} cannot be translated: it would predict otherwise")
    scores = graph.cast(graph.embed(model, graph.cast(tensor, "float"))[-1], "double")
    return (
        scores if learner.n_classes_ else graph.add("Reshape", scores, graph.constant(np.array([-1], dtype=np.int64)))
    )


def _converted_boosting(learner: SavedByLibrary, n_features: int) -> Any:
    from onnxmltools import convert_lightgbm, convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    given = {"initial_types": [("X", FloatTensorType([None, n_features]))], "target_opset": _BOOSTING_OPSET}
    if isinstance(learner, LightGBMClassifier | LightGBMRegressor):
        return convert_lightgbm(learner.model_, zipmap=False, **given)
    return convert_xgboost(learner.model_, **given)


def _catboost_model(learner: SavedByLibrary) -> Any:
    """What CatBoost writes, with probabilities as an array and not as a list of dictionaries."""
    import onnx

    with tempfile.TemporaryDirectory() as folder:
        learner.model_.save_model(f"{folder}/model.onnx", format="onnx")
        model = onnx.load(f"{folder}/model.onnx")
    for node in [each for each in model.graph.node if each.op_type == "ZipMap"]:
        kind = onnx.helper.make_tensor_value_info(node.input[0], onnx.TensorProto.FLOAT, [None, learner.n_classes_])
        model.graph.node.remove(node)
        del model.graph.output[-1]
        model.graph.output.append(kind)
    return model


def _precisions(estimator: Any) -> list[str]:
    """Trees compare in single precision themselves, and their converter does not end where a threshold is infinite."""
    is_of_trees = type(estimator).__module__.startswith(("sklearn.tree.", "sklearn.ensemble."))
    return ["float"] if is_of_trees else list(_PRECISIONS)


def _converted(estimator: Any, n_features: int, precision: str, options: dict[str, Any]) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    kind = DoubleTensorType if precision == "double" else FloatTensorType
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return convert_sklearn(
            estimator,
            initial_types=[("X", kind([None, n_features]))],
            options={id(estimator): options} if options else None,
            target_opset=OPSETS,
        )


def _finished(graph: Graph, tensor: str, given: Exportable) -> bytes:
    notes = {
        "title": given.title,
        "model": given.text,
        "columns": json.dumps(list(given.columns), ensure_ascii=False),
        "symbols": json.dumps({name: list(known) for name, known in given.symbols.items()}, ensure_ascii=False),
        "target": given.target,
    }
    if not given.classes:
        graph.named(tensor, "prediction")
        return graph.model(len(given.columns), {"prediction": ("double", [None])}, notes)
    winners = graph.add("ArgMax", tensor, axis=1, keepdims=0)
    labels, kind = _labels(given.classes)
    graph.named(graph.add("Gather", graph.constant(labels), winners), "label")
    graph.named(tensor, "outputs")
    outputs: dict[str, tuple[str, list[Any]]] = {
        "label": (kind, [None]),
        "outputs": ("double", [None, len(given.classes)]),
    }
    return graph.model(len(given.columns), outputs, notes)


def _labels(classes: Sequence[str | int | float]) -> tuple[NDArray[Any], str]:
    if all(isinstance(label, int) and not isinstance(label, bool) for label in classes):
        return np.array(classes, dtype=np.int64), "int64"
    if all(isinstance(label, float) for label in classes):
        return np.array(classes, dtype=np.float64), "double"
    return np.array([str(label) for label in classes], dtype=object), "string"


def _differences(content: bytes, given: Exportable, rows: Floats) -> int:
    """Of how many rows the file says something else than the model."""
    expected = _outputs_or_none(given.estimator, rows)
    if expected is None:
        return 0
    said = _run(content, rows)[0]
    if given.classes:
        labels, _ = _labels(given.classes)
        return int((said != labels[expected.argmax(axis=1)]).sum())
    return int((~np.isclose(said, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())).sum())


def _with_gaps(rows: Floats) -> Floats:
    holed = rows.copy()
    holed.ravel()[::7] = np.nan
    return holed


def _outputs_or_none(estimator: Any, rows: Floats) -> Floats | None:
    """What a model says, or None for one that has no use for rows with gaps."""
    try:
        outputs: Floats = estimator.outputs(rows)
    except ValueError:
        return None
    return outputs if np.isfinite(outputs).all() else None


def _run(content: bytes, rows: Any) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    made: list[Any] = session.run(None, {session.get_inputs()[0].name: rows})
    return made


def _dtype(precision: str) -> type:
    return np.float64 if precision == "double" else np.float32


def _is_close(made: Floats, expected: Floats, tolerance: float) -> bool:
    size = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)) or 1.0
    return bool(np.allclose(made, expected, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _called(block: Any) -> str:
    return f"`{type(block).__name__}` of `{type(block).__module__}`"


def _first_line(reason: Exception) -> str:
    words = next((line.strip() for line in str(reason).splitlines() if line.strip()), type(reason).__name__)
    return words if len(words) <= 120 else f"{words[:119]}…"
