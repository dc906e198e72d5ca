"""Keep evaluations and runs in a folder with an SQLite database, and lock files beside specs.

What others use:

- Open a store, find one, find a run in it -> `store.Store`, `store.find_store`, `store.place_of_run`
- What is known of an evaluation, and under which key? -> `evaluation`, through `Store.evaluations`
- What is known of a run? -> `stored_run`, through `Store.runs`
- Where are saved models and reports? -> `files`
- What is wrong with a store, and can it be repaired? -> `doctor`, `recover`
- Remove what no run needs -> `gc`
- Write, read and compare lock files -> `lock`
- What can go wrong, by code? -> `store_error`
"""
