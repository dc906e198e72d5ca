"""Domains of parameters: what a declaration allows, and whether a use stays within it.

- The domains of a declaration -> `declared.Declarer`; its defaults -> `default_value.Defaults`
- Ranges and formulas -> `number_ranges.Ranges`, `Bounds`; lengths that are parameters -> `vector_lengths.Lengths`
- Alternatives as one domain, and in an order -> `alternatives`: `choice`, `Orders`
- Which parameter does an argument belong to? -> `arguments.Naming`
- The arguments of a use -> `narrow.Narrower`; ranges, vectors and lists in them -> `narrow_structured`
- A learner that a block takes, or a pipeline -> `learners.LearnerReader`
- Values that follow from the parameters of a part -> `computed_values`
- Is a value in a domain, and what to report if not? -> `contains`
"""
