"""What changed between two spaces: `compare.diff_spaces(old, new)` and `compare.compare_spaces(old, new)`.

`pieces` are the differences as data; `simplify` removes what has no meaning before two spaces are compared.
"""
