"""What the verbs share.

Output, exit codes, errors -> `console`. Reading specs -> `spec_files`, `load_spec`. A table and a plan -> `load_plan`.
A stored run and its model -> `load_run`. Trusted packages -> `trust`. Progress, Ctrl-C -> `progress_display`. The text
at the end of a run -> `summary_text`. docs/cli.md -> `reference`.
"""
