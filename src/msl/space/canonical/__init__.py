"""One form for all spaces that mean the same: `normal_form.normal_form(space)`, and `digest` for its hash."""
