"""One form for all spaces that mean the same: `normal_form.normal_form(space)`, and `digest` for its hash.

`normal_alternatives`, `normal_conditions` and `normal_numbers` are parts of the form; `content_hash` keeps its entries.
"""
