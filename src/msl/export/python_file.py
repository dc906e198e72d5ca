"""Export a trained model as a Python file, with classes of scikit-learn alone where that is possible.

Encoding symbols, filling in what is missing and routing columns are in every model of a table with symbols or gaps: a
model of public classes alone should not need this package because of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from msl.blocks.base.accepted_columns import rows_for, takes_sparse
from msl.blocks.base.block import Block, Floats
from msl.blocks.base.chain import Branch, ChainClassifier, ChainRegressor, apply_steps
from msl.blocks.base.row_weights import routes_weights
from msl.blocks.ensembles import (
    CommitteeClassifier,
    CommitteeRegressor,
    StackedCommitteeClassifier,
    StackedCommitteeRegressor,
)
from msl.blocks.learners.boosting import Boosting
from msl.blocks.learners.boosting_libraries import CatBoostClassifier, CatBoostRegressor
from msl.blocks.preprocessing.prepare import MOST_COLUMNS, Columns, MergeRare, Passthrough, Prepare, TableColumns
from msl.blocks.selection.selectors import KeepFeatures
from msl.data.derived_columns import DateColumns, Derived
from msl.export import python_template as texts
from msl.export.python_code import Code, EstimatorCode, Unwritable, comment, joined, literal, name, template


def has_public_form(step: Any) -> bool:
    """Whether a block of ours, which is fitted, can be written with scikit-learn alone."""
    if type(step) is Prepare:
        if step.encode:
            return all(len(symbols) <= MOST_COLUMNS for symbols in step.symbols_)
        return not len(step.symbolic_)
    return type(step) in (Passthrough, Columns, TableColumns, KeepFeatures, MergeRare)


def public_form(code: EstimatorCode, step: Any, depth: int) -> Code:
    """The expression that does what the block does."""
    if type(step) is Prepare:
        return _prepare(code, step, depth)
    if type(step) is MergeRare:
        return _merge_rare(code, step, depth)
    if type(step) is Passthrough:
        return literal("passthrough")
    kept = step.kept_ if isinstance(step, Columns) else step.selected_
    return _columns(code, [(literal("passthrough"), kept.tolist())], depth)


def _prepare(code: EstimatorCode, step: Prepare, depth: int) -> Code:
    numbers = literal("passthrough")
    if step.impute:
        arguments = [template('strategy="median"'), template("keep_empty_features=True")]
        numbers = code.call(code.imported(SimpleImputer), arguments, depth)
    if not len(step.symbolic_):
        return numbers
    parts = [(numbers, step.numeric_.tolist())] if len(step.numeric_) else []
    # A column without a symbol becomes no column at all.
    known = [(place, symbols.tolist()) for place, symbols in zip(step.symbolic_.tolist(), step.symbols_, strict=True)]
    known = [(place, symbols) for place, symbols in known if symbols]
    if known:
        arguments = [
            template("categories={{symbols}}", symbols=literal([symbols for _, symbols in known])),
            template('handle_unknown="ignore"'),
            template(f"sparse_output={bool(getattr(step, 'sparse', False))}"),
        ]
        parts.append((code.call(code.imported(OneHotEncoder), arguments, depth + 1), [place for place, _ in known]))
    return _columns(code, parts, depth, is_sparse=bool(getattr(step, "sparse", False)))


def _merge_rare(code: EstimatorCode, step: MergeRare, depth: int) -> Code:
    """The columns in their order, the merged ones as codes of frequent symbols and one of the others."""
    parts: list[tuple[Code, list[int]]] = []
    for column in range(step.n_columns_):
        if column not in step.merged_:
            if not parts or parts[-1][1][0] in step.merged_:
                parts.append((literal("passthrough"), []))
            parts[-1][1].append(column)
            continue
        arguments = [
            template("max_categories={{most}}", most=literal(int(step.most))),
            template('handle_unknown="use_encoded_value"'),
            template("unknown_value=np.nan"),
        ]
        parts.append((code.call(code.imported(OrdinalEncoder), arguments, depth + 1), [column]))
    return _columns(code, parts, depth)


def _columns(code: EstimatorCode, parts: list[tuple[Code, list[int]]], depth: int, is_sparse: bool = False) -> Code:
    """Columns side by side, each through a transformer of its own."""
    placed = [(transformer, literal(places)) for transformer, places in parts]
    return _column_transformer(code, placed, depth, is_sparse)


def _column_transformer(
    code: EstimatorCode, parts: list[tuple[Code, Code]], depth: int, is_sparse: bool = False
) -> Code:
    pairs = [
        template("({{transformer}}, {{places}})", transformer=transformer, places=places)
        for transformer, places in parts
    ]
    if is_sparse:  # however many values are there
        pairs.append(template("sparse_threshold=1.0"))
    return code.call(code.imported(make_column_transformer), pairs, depth)


def _places(step: TableColumns, names: Sequence[str]) -> Code:
    """The places of the selected columns, by their names where the input is the table."""
    places = step.kept_.tolist()
    if not names:
        return literal(places)
    return template("[COLUMNS.index(each) for each in {{names}}]", names=literal([names[place] for place in places]))


# --- Export: a trained model as a Python file of its own — of public classes alone where it is, else with -------------
# `msl.blocks`.


_PROBES = 24


@dataclass(frozen=True, slots=True, eq=False)
class Exportable:
    """What an exported file says: the fitted estimator, and how its tables are to be read."""

    title: str
    text: str
    estimator: Any
    columns: tuple[str, ...]
    symbols: Mapping[str, Sequence[str]]
    target: str
    classes: tuple[str | int | float, ...]
    missing: tuple[str, ...]
    separator: str | None
    #: The lowest and the highest value of each column, NaN for one that holds nothing.
    ranges: Floats
    #: What some of the columns are made of.
    derived: tuple[Derived, ...] = ()
    header: bool | None = None
    decimal: str | None = None
    drops_ragged: bool = False
    #: Columns whose numbers may have signs around them, as in $1,200.
    signed: tuple[str, ...] = ()
    #: The size of the sample to fit on; None for all rows.
    rows: int | None = None
    #: The column of the weights of rows.
    weight: str | None = None

    @property
    def is_ensemble(self) -> bool:
        return self.is_stack or isinstance(self.estimator, CommitteeClassifier | CommitteeRegressor)

    @property
    def is_stack(self) -> bool:
        return isinstance(self.estimator, StackedCommitteeClassifier | StackedCommitteeRegressor)

    @property
    def members(self) -> list[Any]:
        """The models that are fitted: one, or those of an ensemble."""
        return list(self.estimator.members) if self.is_ensemble else [self.estimator]

    def probes(self, count: int = _PROBES) -> Floats:
        """Rows that are made up, to compare models on."""
        return probe_rows(self.ranges, [each in self.symbols for each in self.columns], count)


def export_python(given: Exportable) -> str:
    """The text of the file; raises Unwritable where a parameter cannot be written as code."""
    code = EstimatorCode(texts.reserved_names())
    is_public = all(is_public_model(member, given.weight is not None) for member in given.members)
    if given.is_stack and not is_public:
        raise Unwritable("members of a stack have blocks of msl")
    model = _public_model(code, given) if is_public else _chain_model(code, given)
    head = template(
        texts.HEAD,
        needs=_needs(code),
        about=joined("\n#\n", [comment(given.title), comment(given.text.strip())]),
        imports=code.imports(),
    )
    test = template(texts.TEST, same=template(texts.SAME_CLASSES if given.classes else texts.SAME_NUMBERS))
    parts = [head, _constants(given, is_public), *model, template(texts.reading_text()), test, template(texts.MAIN)]
    text = joined("", parts).text
    try:
        ast.parse(text.encode())
    except (SyntaxError, RecursionError, MemoryError) as reason:  # nested more deeply than Python reads
        raise Unwritable(f"Python cannot read it: {reason}") from None
    return text


def probe_rows(ranges: Floats, is_symbolic: Sequence[bool], count: int = _PROBES) -> Floats:
    """Made-up rows that fill the ranges evenly; an exported file makes the same ones to test itself."""
    low, high = np.nan_to_num(ranges).T
    places = np.outer(np.arange(1, count + 1), 2 * np.arange(len(ranges)) + 1)
    between = low + (high - low) * ((places * 0.6180339887498949) % 1.0)
    rows: Floats = np.where(is_symbolic, np.rint(between), between)
    return rows


def _expected(given: Exportable) -> list[Any]:
    outputs = given.estimator.outputs(given.probes())
    if not given.classes:
        return [float(value) for value in outputs]
    return [given.classes[place] for place in outputs.argmax(axis=1)]


def _needs(code: EstimatorCode) -> Code:
    """What has to be installed."""
    others = [each for each in code.packages() if each.text not in ("numpy", "sklearn")]
    return joined(", ", [template("numpy"), template(f"scikit-learn (as of {sklearn.__version__})"), *others])


def _constants(given: Exportable, is_public: bool) -> Code:
    constants: dict[str, Any] = {
        "COLUMNS": list(given.columns),
        "SYMBOLS": {column: list(known) for column, known in given.symbols.items()},
        "DATES": {
            one.source: [*one.parts, *(["day first"] if one.day_first else [])]
            for one in given.derived
            if isinstance(one, DateColumns)
        },
        "WORDS": {one.source: list(one.words) for one in given.derived if not isinstance(one, DateColumns)},
        "TARGET": given.target,
        "WEIGHT": given.weight,
        "CLASSES": list(given.classes),
        "MISSING": [marker.strip() for marker in given.missing],
        "HEADER": given.header,
        "SEPARATOR": given.separator,
        "DECIMAL": given.decimal,
        "DROPS_RAGGED": given.drops_ragged,
        "SIGNED": list(given.signed),
        "ROWS": given.rows,
        "RANGES": np.nan_to_num(given.ranges).tolist(),
        "EXPECTED": _expected(given),
    }
    if is_public:
        constants["MIDDLES"] = _middles(given)
    if given.is_stack:
        constants["COEFFICIENTS"], constants["INTERCEPTS"] = _linear_form(given.estimator.final)
    if is_public and given.is_ensemble and not given.is_stack:
        weights = given.estimator.weights
        constants["WEIGHTS"] = [1.0] * len(given.members) if weights is None else [float(each) for each in weights]
    if is_public and given.is_ensemble and given.classes and (given.is_stack or given.estimator.voting == "soft"):
        constants["GIVE_PROBABILITIES"] = [bool(each) for each in given.estimator.given_probabilities_]
    lines = [
        template("{{name}} = {{value}}\n", name=name(each), value=literal(value)) for each, value in constants.items()
    ]
    return joined("", lines)


def _linear_form(final: Any) -> tuple[list[Any], Any]:
    """The coefficients and intercepts of the last learner of a stack, on its columns as they are; raises Unwritable for
    one that is not linear, which only its fit on outputs for rows held out would give again."""
    learner = final.learner
    is_scaled = len(final.steps) == 1 and isinstance(final.steps[0], StandardScaler)
    is_known = isinstance(learner, LogisticRegression | LinearRegression | Ridge | ElasticNet)
    if final.posts or not is_known or (final.steps and not is_scaled):
        raise Unwritable("the last learner of the stack is not linear on its columns; `--best` exports the best model")
    coefficients, intercepts = np.asarray(learner.coef_, dtype=float), np.asarray(learner.intercept_, dtype=float)
    if is_scaled:
        scaler = final.steps[0]
        scale = np.ones(coefficients.shape[-1]) if scaler.scale_ is None else scaler.scale_
        middle = np.zeros(coefficients.shape[-1]) if scaler.mean_ is None else scaler.mean_
        coefficients = coefficients / scale
        intercepts = intercepts - coefficients @ middle
    return coefficients.tolist(), intercepts.tolist()


def _middles(given: Exportable) -> list[float]:
    """For each column what stands in for a missing value where no training row lacked one; NaN where some did."""
    middles = getattr(given.members[0], "middles_", None)  # models saved before there were any have none
    return [np.nan] * len(given.columns) if middles is None else [float(each) for each in middles]


# --- with blocks of this package ----------------------------------------------------------------------


def _chain_model(code: EstimatorCode, given: Exportable) -> list[Code]:
    outputs = template("model.outputs(X)")
    fit = texts.FIT_CHAIN if given.weight is None else texts.FIT_CHAIN_WEIGHED
    return [
        template(texts.MAKE, what=template("The model, not yet fitted."), made=code.expression(given.estimator, 1)),
        template(fit, classes=template("len(CLASSES)")),
        template(texts.PREDICT_CLASSES if given.classes else texts.PREDICT_NUMBERS, outputs=outputs),
    ]


# --- of public classes --------------------------------------------------------------------------------


def is_public_model(chain: Any, is_weighed: bool = False) -> bool:
    """Whether a model is made of classes of other packages alone, and a pipeline of them can do what it does."""
    if not isinstance(chain, ChainClassifier | ChainRegressor) or chain.posts:
        return False
    if is_weighed and routes_weights(chain.learner):
        return False
    steps = [*chain.steps, chain.learner]
    return all(map(_is_public_step, steps)) and (len(steps) == 1 or all(map(_fits_pipelines, steps)))


def _fits_pipelines(step: Any) -> bool:
    """Pipelines ask their steps what only estimators of scikit-learn know how to answer."""
    if isinstance(step, Branch):
        return all(_fits_pipelines(inner) for branch in step.branches for inner in branch)
    return isinstance(step, BaseEstimator)


def _is_public_step(step: Any) -> bool:
    if isinstance(step, Branch):
        return all(_is_public_step(inner) for branch in step.branches for inner in branch)
    is_foreign = type(step).__module__.partition(".")[0] != "msl"
    return has_public_form(step) or is_foreign or (isinstance(step, Boosting) and step.model_ is not None)


def _public_model(code: EstimatorCode, given: Exportable) -> list[Code]:
    probes = given.probes()
    depth = 2 if given.is_ensemble else 1
    written = [pipeline_code(code, chain, given, probes, depth) for chain in given.members]
    fit = _fit_public(code, given, written)
    scores = texts.SCORES_OF_CLASSES if given.classes else texts.SCORES_OF_NUMBERS
    predict = texts.PREDICT_CLASSES if given.classes else texts.PREDICT_NUMBERS
    parts = [template(text) for name, text in (("dense", texts.DENSE), ("words", texts.WORDS)) if name in code.used]
    if not given.is_ensemble:
        what = template("The model, not yet fitted.")
        return [
            *parts,
            template(texts.MAKE, what=what, made=written[0]),
            *fit,
            template(predict, outputs=template("outputs(model, X)")),
            template(scores),
        ]
    what = template("The members of the ensemble, not yet fitted.")
    rows = [template("        {{one}},\n", one=one) for one in written]
    members = joined("", [template("[\n"), *rows, template("    ]")])
    if given.is_stack:
        votes = texts.STACK_CLASSES if given.classes else texts.STACK_NUMBERS
    elif given.classes:
        votes = texts.VOTE_SOFT if given.estimator.voting == "soft" else texts.VOTE_HARD
    else:
        votes = texts.VOTE_NUMBERS
    return [
        *parts,
        template(texts.MAKE, what=what, made=members),
        *fit,
        template(predict, outputs=template("vote(model, X)")),
        template(votes),
        template(scores),
    ]


def pipeline_code(code: EstimatorCode, chain: Any, given: Exportable, probes: Floats, depth: int = 1) -> Code:
    """The expression that makes a model of public classes alone."""
    steps, learner, _ = plain_learner(chain)
    return _pipeline(code, steps, probes, depth, learner, given.columns)


def _fit_public(code: EstimatorCode, given: Exportable, models: Sequence[Code]) -> list[Code]:
    """How the models are fitted: with the weights of rows, if there are any, and with what their learners take."""
    is_weighed = given.weight is not None
    pairs = zip(models, given.members, strict=True)
    arguments = [_fit_arguments(code, model, chain, is_weighed) for model, chain in pairs]
    one = template(texts.FIT_ONE_WEIGHED if is_weighed else texts.FIT_ONE, arguments=arguments[0])
    several = template(texts.FIT_MEMBERS_WEIGHED if is_weighed else texts.FIT_MEMBERS)
    if any(each.text for each in arguments):
        call = "        fit_weighed(members[{{place}}], X, y, weights{{arguments}}),\n" if is_weighed else _FIT_MEMBER
        calls = [template(call, place=literal(place), arguments=each) for place, each in enumerate(arguments)]
        weights = template(", weights" if is_weighed else "")
        several = template(texts.FIT_EACH_MEMBER, weights=weights, calls=joined("", calls))
    parts = [several if given.is_ensemble else one]
    if is_weighed:
        code.imported(has_fit_parameter)
        parts.append(template(texts.FIT_WEIGHED))
    return parts


_FIT_MEMBER = "        members[{{place}}].fit(X, y{{arguments}}),\n"


def _fit_arguments(code: EstimatorCode, model: Code, chain: Any, is_weighed: bool) -> Code:
    """What the `fit` of a model takes beside rows, targets and weights; `fit_weighed` finds the learner itself."""
    _, learner, beside = plain_learner(chain)
    is_pipeline = bool(beside) and model.text.startswith(f"{code.imported(make_pipeline).text}(")
    step = f"{type(learner).__name__.lower()}__" if is_pipeline and not is_weighed else ""
    parts = []
    for argument, value in beside.items():
        written = code.expression(value)
        if argument == "sample_weight":
            written = code.call(code.imported(compute_sample_weight), [literal(value), template("y")])
        parts.append(template(", {{argument}}={{value}}", argument=name(step + argument), value=written))
    return joined("", parts)


def _pipeline(
    code: EstimatorCode,
    steps: Sequence[Any],
    rows: Floats,
    depth: int,
    learner: Any = None,
    names: Sequence[str] = (),
) -> Code:
    """Steps one after the other; one that hands on anything but plain numbers is followed by one that makes them so.

    `names` are those of the columns of the input, if it is the table.
    """
    steps = [step for step in steps if not (isinstance(step, MergeRare) and not step.merged_)]  # they change nothing
    if not steps and learner is not None:
        return code.expression(learner, depth)
    written = []
    for position, step in enumerate(steps):
        if isinstance(step, SymbolsAsWords):
            places = template("kw_args={{places}}", places=literal({"places": step.places}))
            written.append(code.call(code.imported(FunctionTransformer), [code.own("words"), places], depth + 1))
            continue
        written.append(_public_step(code, step, rows, depth + 1, names if position == 0 else ()))
        made = apply_steps([step], rows)
        following = steps[position + 1] if position + 1 < len(steps) else learner
        if not (takes_sparse(following) if sparse.issparse(made) else _is_dense(step, rows)):
            written.append(code.call(code.imported(FunctionTransformer), [code.own("dense")], depth + 1))
        rows = made
    if learner is not None:
        written.append(code.expression(learner, depth + 1))
    if not written:
        return literal("passthrough")
    return written[0] if len(written) == 1 else code.call(code.imported(make_pipeline), written, depth)


def _public_step(code: EstimatorCode, step: Any, rows: Floats, depth: int, names: Sequence[str]) -> Code:
    if type(step) is TableColumns:
        return _column_transformer(code, [(literal("passthrough"), _places(step, names))], depth)
    if has_public_form(step):
        return public_form(code, step, depth)
    if not isinstance(step, Branch):
        return code.expression(step, depth)
    if all(branch and type(branch[0]) is TableColumns for branch in step.branches):
        parts = [
            (_pipeline(code, branch[1:], apply_steps([branch[0]], rows), depth + 1), _places(branch[0], names))
            for branch in step.branches
        ]
        return _column_transformer(code, parts, depth)
    branches = [_pipeline(code, branch, rows, depth + 1, names=names) for branch in step.branches]
    return code.call(code.imported(make_union), branches, depth)


def _is_dense(step: Any, rows: Floats) -> bool:
    """Whether a step hands plain numbers to the next, which a chain makes of everything and a pipeline does not."""
    if isinstance(step, Branch | Block):
        return True
    made = step.transform(rows_for(step, rows))
    return not sparse.issparse(made) and np.asarray(made).dtype == np.float64


# --- boosting blocks as the estimators of their libraries ---------------------------------------------


@dataclass(frozen=True)
class SymbolsAsWords:
    """The step before CatBoost: symbols at these places become texts, since it takes no others."""

    places: list[int]


def plain_learner(chain: Any) -> tuple[list[Any], Any, Mapping[str, Any]]:
    """The steps of a chain, its learner as an estimator of another package, and what its `fit` takes beside rows and
    targets."""
    steps, learner = list(chain.steps), chain.learner
    if not isinstance(learner, Boosting):
        return steps, learner, {}
    if hasattr(learner, "merge_"):
        steps.append(learner.merge_)
    if isinstance(learner, CatBoostClassifier | CatBoostRegressor) and learner.symbols:
        steps.append(SymbolsAsWords(learner.symbols))
    return steps, *learner.plain()


def needs_more_than_rows(chain: Any) -> bool:
    """Whether the plain form of a model takes more in `fit` than rows and targets, or a function of its file."""
    steps, _, beside = plain_learner(chain)
    return bool(beside) or any(isinstance(step, SymbolsAsWords) for step in steps)
