"""What the verbs share.

Output, exit codes, errors -> `console`. Reading specs -> `load_spec`. A table and a plan -> `load_plan`.
A stored run, its model and the trusted packages -> `load_run`. Progress, Ctrl-C -> `progress_display`. The text at the
end of a run -> `summary_text`.
"""
