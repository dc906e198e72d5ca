"""Run a search: from a checked spec and a table to a trained winner that the store keeps.

What others use:

- What will a run do, with which digests? -> `plan.make_plan`, `plan.Plan`
- What does a strategy see of the space? -> `search_space`
- Run it, or continue it -> `session.run_plan`; its loop between strategy and evaluations -> `loop`
- Where is an evaluation looked up in the store, or made? -> `reuse_or_evaluate`
- Which models share one fit a fold, as one task? -> `path_tasks`
- Which stored evaluations will be reused, and how long will it take? -> `forecast`
- When is the time up, how much of it does its end need, and who runs its last fits in it? -> `time_limit`
- What is known of an earlier version of the table, before rows were added or changed? -> `table_versions`
- Which versions and revisions do results depend on? -> `versions`
- Which model wins? -> `choose_winner`; the ensemble and the last fits -> `choose_members`, `stored_ensembles`, `finish`
- How far may the estimate be off? -> `confidence_intervals`
- What is the best of many models worth on new rows? -> `corrected_estimate`, with `judged_outputs`
- What has a run found out beside its winner? -> `insight`
- The result as a search of scikit-learn has it -> `search_results`
- What does `--json` print? -> `summary`; how far is the run? -> `loop.Progress`
- Which alternatives of the space did the search try? -> `choice_counts`
- Save, load and use the winner -> `trained_model`, `safe_load`
- Does a run repeat itself? -> `replay`
- Read a spec in Python, or write a first one for a table -> `spec_source`, `starter_spec`, `starter_space`
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    """Imports the function of an ensemble, which its catalogue names by this package (`msl.runner:vote`)."""
    from msl.check.names import catalogues

    if all(piece.name != name for piece in catalogues.pieces(catalogues.text(catalogues.IMPLIED["combiner"], 1))):
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from msl.runner import choose_members

    return getattr(choose_members, name)
