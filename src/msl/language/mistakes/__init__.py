"""Explain syntax errors: recognise what was probably meant and say what to write instead.

`answer.explain` is what the parser calls. It tries the rules of `in_arguments`, `in_goals`, `in_signs`, `in_steps`,
`in_values` and `other_tools` in turn. A rule is a function that takes an `unreadable.UnreadableStatement` and returns a
diagnostic, or None if it does not apply. These modules are imported only if a file has a syntax error.
"""
