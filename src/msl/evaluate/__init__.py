"""Evaluate a model: fit it on the splits of an estimate, score its outputs, report losses or a failure.

| question | module |
| --- | --- |
| What is the loss of a model? | `evaluator`: `Evaluator.evaluate`, one model in, one `Outcome` out |
| What does an evaluation report? | `outcome`: `Outcome`, `Failure`, `Effort` |
| How is a metric computed? | `metrics`: one function per metric, `score`, `loss_bounds` |
| How are rows assigned to folds? | `splits`: `Split`, `SplitGroups`; `resampling`: one function per estimate |
| How much does the error of each row count? | `resampling`: `row_weights` |
| How does one fit answer for several models? | `fit`: `PathFits` of `model_plan`; `blocks.base.learner_paths` |
| How is a model cross-validated? | `cross_validate`: `CrossValidator`, `EvaluationRequest` |
| When is an evaluation stopped early? | `racing`: `Race` |
| How are leave-one-out and GCV computed without refits? | `without_refits`; GCV of one fitted learner: `fit` |
| How is a pipeline fitted on one fold? | `model_plan`, `fit`, and `prefix_cache` for prefixes that models share |
| Which rows and columns does a model see? | `dataset`: `Dataset` |
| What is kept of the outputs that a model was judged by? | `kept_outputs` |
| What are metrics and losses of many models on many draws of the rows? | `drawn_metrics`, `drawn_losses` |
| How are rows drawn, and what interval follows? | `drawn_units` |
| Which models make the best ensemble of outputs? | `ensemble_selection` |
| How are the final models fitted, and their bytes and the time of their predictions measured? | `final_fits` |

Declarations in `catalogue/metrics.msl` and `catalogue/estimates.msl` name functions as `msl.evaluate:ber`, whichever
module they are in. Packages that add an estimate use `from msl.evaluate import Split`.
"""

from __future__ import annotations

from importlib import import_module

#: The modules whose functions and classes are found here, in the order of looking.
_PUBLIC = ("msl.evaluate.metrics", "msl.evaluate.resampling", "msl.evaluate.splits")


def __getattr__(name: str) -> object:
    """Imports these modules when a name is first looked up."""
    for place in () if name.startswith("_") else _PUBLIC:
        found = getattr(import_module(place), name, None)
        if getattr(found, "__module__", None) == place:
            return found
    raise AttributeError(f"module `msl.evaluate` has no attribute `{name}`")
