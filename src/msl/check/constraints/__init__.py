"""Check `require` and the conditions of parameters.

- Read a requirement, or the condition of a parameter -> `read_requirement`, `read_condition`
- Read a requirement on a metric -> `metric_limits`
- Can it ever hold, does it always hold, do all together leave a model? -> `requirements`
- Which named blocks and parts occur together? -> `requirements.Combinations`
- Which truth values can a comparison have? -> `truth_values`
"""
