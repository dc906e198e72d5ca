"""Text, tables, pictures and pages about spaces and runs.

What a run did, as text or JSON -> `run_account`. What failed and what to do -> `failures`. What a strategy reported
-> `search_trace`. Which model predicts, and the command that repeats a run -> `run_facts`. Differences of two specs or
runs -> `changes`. Tests between runs -> `compare_runs`, `statistics`. The HTML page -> `html.page`. Diagrams of a space
-> `diagrams.draw_space`. Aligned columns and numbers -> `text_tables`.
"""
