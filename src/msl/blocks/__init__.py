"""The classes of the catalogues, all of them scikit-learn estimators: `from msl.blocks import NaiveBayes`.

How is a block written?                base.block: Block and its subclasses
How does a model become an estimator?  base.build: model_to_chain; base.chain: ChainClassifier, ChainRegressor
How does a block, or a step?           base.recipes: recipe_of, step_to_estimator
Where are columns encoded and imputed? base.build: adapt_model
How is a class imported and trusted?   base.load: load_class, BlockProblem
Which outputs are valid?               base.check_outputs: BadOutputs
Which fits answer for many values?     base.learner_paths: learner_path
How complex is a fitted model?         base.complexity: complexity
What is a class called in saved files? public: the table of public names
When is a block evaluated again?       revision: a digest of the source that its result depends on

Blocks by subject: preprocessing, selection (of features), similarity (nearest neighbours), kernels, learners (trees,
boosting, naive Bayes, networks), calibration (thresholds, decisions by costs), ensembles (stacking, voting, predictions
as columns, what a run makes of its best models) and from_table (what gets data frames). What they compute with is in
numerics.
"""

from __future__ import annotations

from importlib import import_module

from msl.blocks.public import HOMES


def __getattr__(name: str) -> object:
    """Imports the module of a class when the class is first used."""
    if name not in HOMES:
        raise AttributeError(f"module `msl.blocks` has no attribute `{name}`")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(HOMES)
