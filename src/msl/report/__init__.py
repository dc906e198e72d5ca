"""Text, tables, pictures and pages about spaces and runs.

What a run did, as text or JSON -> `run_account`. What a strategy reported -> `search_trace`. Which model predicts, the
command that repeats a run, what failed and what to do -> `run_facts`. Differences of two specs or runs -> `changes`.
Tests between runs -> `compare_runs`, with `paired_tests`. What mattered in a search -> `search_importance`, by losses
that `loss_process` foresees; as text, with what a run found out -> `insight_text`. Models to evaluate first on the
next table -> `learned_portfolio`. The HTML page -> `html.page`. Diagrams of a space -> `diagrams.draw_space`. Aligned
columns and numbers -> `text_tables`.
"""
