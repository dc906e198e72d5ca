"""Base classes of blocks, and how models become estimators.

block: Block, BlockTransformer, BlockClassifier, BlockRegressor, BlockPost and slots
chain: ChainClassifier and ChainRegressor, the estimators of whole models
build: model_to_chain; adapt_model inserts encoders and imputers
recipes: recipe_of and step_to_estimator for one block or step
accepted_columns: what a block takes of a table as it is: symbols, missing values, categories
load: load_class, BlockProblem, modules beside a spec
check_outputs: validation of what transformers and learners return
learner_paths: one fit with the largest value of a parameter, as the fits with smaller values
complexity: the complexity of any fitted estimator
row_weights: which learners take weights of rows, also inside others
"""
