"""Spaces of pipelines as data: what a space contains, and questions about it that need neither data nor numpy.

- What is a space made of? -> `nodes`, `values`, `conditions`, `formulas`, `spec`
- Which columns does `on numbers (…)` select? -> `column_selectors`
- Does a model meet a requirement? -> `evaluate_conditions`; what can requirements tell apart? -> `model_traits`
- What are the models of a part with parameters? -> `part_parameters`
- Which numbers does a range hold, and which of its pieces give one value of a formula? -> `numbers`
- Is this model in the space? -> `membership`, `membership_of_values`
- How long is a list whose length is a parameter? -> `lengths`
- Which model of the space is nearest to another? -> `nearest`
- Which values of `best` parameters are tried? -> `best`
- How long do fits take, which parameters have one fit for all their values (paths), what is the resource of a block,
  and a model with less of it? -> `fit_costs`
- How many models are there? Draw one, list them -> `enumerate.count`
- Do two spaces have the same models? -> `enumerate.equivalence`
- What is the digest of a space? -> `canonical.digest`; what differs between two? -> `diff.compare`
- How is it written in MSL? -> `to_text`, `condition_text`; names, numbers and formulas -> `names_to_text`
- What is left for one table? -> `resolve`; what are the defaults? -> `defaults`; what is too large? -> `numbers.excess`
"""
