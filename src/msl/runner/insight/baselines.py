"""The models that need no search, and how long they may take.

They are a model that sees no feature, a linear one, boosting and a forest, all as scikit-learn has them. A run
evaluates them after its search, on the same splits, so that no strategy sees them. The store keeps them as it keeps all
evaluations: the next run on the table has them for nothing. Where a run has a time limit, those are left out that would
not end in time, as far as the size of the table tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import accumulate

from msl.check.read_models import ModelReader
from msl.diagnostics.source import Source
from msl.runner.plan import Plan
from msl.runner.search_space import EvaluationCosts
from msl.space.canonical.digest import model_digest
from msl.space.values import Model

#: The names that people read, and the models; the cheapest come first.
_MODELS: Mapping[str, Mapping[str, str]] = {
    "classification": {
        "no features": "prior_alone",
        "linear": "standard_scaler(rest = default) >> linear",
        "boosting": "boosting",
        "forest": "forest",
    },
    "regression": {
        "no features": "mean_alone",
        "linear": "standard_scaler(rest = default) >> linear",
        "boosting": "boosting",
        "forest": "forest",
    },
}
_BLOCKS = {
    "classification": """use sklearn
block prior_alone: learner "sklearn.dummy:DummyClassifier" {}
block linear: learner "sklearn.linear_model:LogisticRegression" { max_iter = 1000 }
block boosting: learner "sklearn.ensemble:HistGradientBoostingClassifier" {}
block forest: learner "sklearn.ensemble:RandomForestClassifier" {}
""",
    "regression": """use sklearn
block mean_alone: learner "sklearn.dummy:DummyRegressor" {}
block linear: learner "sklearn.linear_model:Ridge" {}
block boosting: learner "sklearn.ensemble:HistGradientBoostingRegressor" {}
block forest: learner "sklearn.ensemble:RandomForestRegressor" {}
""",
}
#: Full rows of so many bytes hurt nobody; larger ones are at most so many times the table.
_BYTES, _SMALL, _TIMES_THE_TABLE = 8, 2e8, 4
#: The share of a run's time that baselines may take, and how much longer than foretold one may take.
_SHARE, SAFETY = 0.05, 2.0


def baseline_models(task: str) -> dict[str, Model]:
    """The models by name, the cheapest first."""
    reader = ModelReader(Source("<baselines>", _BLOCKS[task]))
    found = {}
    for name, text in _MODELS[task].items():
        model, problems = reader.read(text)
        assert model is not None, problems
        found[name] = model
    return found


def baseline_seconds(plan: Plan) -> dict[str, float]:
    """How long each may take, by what is declared of learners and the size of the table: orders of magnitude."""
    models, costs = baseline_models(plan.table.task), _costs(plan)
    return {name: 0.0 if costs is None else costs.seconds(model) for name, model in models.items()}


def needs_too_much_memory(plan: Plan, name: str) -> str | None:
    """Why one is left out on a table of this width: scaled rows are full ones, also where symbols became columns."""
    costs = _costs(plan)
    if costs is None or name != "linear":
        return None
    full = _BYTES * costs.size.wide_cells
    if full <= max(_SMALL, _TIMES_THE_TABLE * plan.job.dataset.X.nbytes):
        return None
    return f"its {costs.size.wide:,} columns would take {full / 1e9:.1f} GB"


def _costs(plan: Plan) -> EvaluationCosts | None:
    """None for an estimate that the table cannot give."""
    return EvaluationCosts.of(plan.job.dataset, plan.objectives[0].estimate, plan.spec.budget, plan.seed)


def baseline_reserve(plan: Plan, workers: int) -> float:
    """The seconds that a search with a time limit leaves for those that end in their share of it."""
    if plan.spec.budget.time is None:
        return 0.0
    all_of_these = accumulate(sorted(baseline_seconds(plan).values()))
    reserves = (SAFETY * seconds / workers for seconds in all_of_these)
    return max((one for one in reserves if one <= _SHARE * plan.spec.budget.time), default=0.0)


@cache
def baseline_digests(task: str) -> frozenset[str]:
    """The digests of the models, by which the store knows them."""
    return frozenset(model_digest(model) for model in baseline_models(task).values())
