"""Store evaluations and runs in a folder with an SQLite database, and write lock files beside specs.

What others use:

- Open a store, find one, find a run in it -> `store.Store`, `store.find_store`, `store.locate_run`
- What is known of an evaluation, and under which key? -> `evaluation`, through `Store.evaluations` (`evaluation_table`)
- Which outputs of models are kept? -> `outputs_table`
- What is known of a run? -> `stored_run`, through `Store.runs` (`run_table`)
- Which SQL tables are there, and how are older stores migrated? -> `schema`; transactions -> `database`
- Where are saved models and reports? -> `store.Files`
- What is wrong with a store, and can it be repaired? -> `doctor`
- Remove what no run needs -> `gc`
- Write, read and compare lock files -> `lock`
- What can go wrong, by code? -> `store_error`
"""
