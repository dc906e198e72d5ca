"""Base classes of blocks, and how models become estimators.

block: Block, BlockTransformer, BlockClassifier, BlockRegressor, BlockPost and slots
chain: ChainClassifier and ChainRegressor, the estimators of whole models
build: model_to_chain, adapt_model, recipe_of
load: load_class, BlockProblem, modules beside a spec
outputs: validation of what transformers and learners return
complexity: the complexity of any fitted estimator
"""
