"""What changed between two spaces: `compare.diff_spaces(old, new)` and `compare.compare_spaces(old, new)`.

`pieces` are the differences as data; `simplify` removes what has no meaning before two spaces are compared.
`beside_the_set` tells of priors, weights and orders, which steer a search and change no set.
"""
