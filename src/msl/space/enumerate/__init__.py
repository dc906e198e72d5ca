"""The models of a space as a set: count them, draw one, list them, compare two sets.

- `count`: `count(space)` and `Models(space)`
- `equivalence`: `relate(old, new)`
- `chain_automaton`: chains as words of an automaton
- `node_facts`: which nodes are alike, how long they are, the leaves of a value
- `value_sets`, `number_sets`: disjoint sets of parameter values and of numbers
- `disjoint_sets`: the enumerations that all of these are made of, and `WorkLimit`
"""
