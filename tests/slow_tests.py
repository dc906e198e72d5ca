"""Which tests are slow. The rest is a first look, in less than a minute on two cores:

    pytest -n 2 -m "not slow" --hypothesis-profile=fast

Files are named here, and a first look does not even import them. In a file that is quick otherwise, `@pytest.mark.slow`
marks a test that takes more than its share: with all its cases about a third of a second, or more cases than a first
look needs. All of a first look takes some 90 seconds of processor time, a third of that to import and collect.
"""

from __future__ import annotations

from pathlib import Path

FOLDERS = ("attack", "mutation")
FILES = {
    "every block of a catalogue": (
        "test_boosting_catalogue.py",
        "test_boosting_libraries.py",
        "test_clop_learners.py",
        "test_kernel_map.py",
        "test_options_count.py",
        "test_preprocessing.py",
        "test_similarity_degenerate.py",
        "test_sklearn_catalogue.py",
    ),
    "texts and spaces beyond all measure": (
        "test_check_fuzz.py",
        "test_help.py",
        "test_limit.py",
        "test_limits.py",
        "test_mistakes_of_other_tools.py",
        "test_syntax_fuzz.py",
    ),
    "searches of many evaluations": (
        "test_auto.py",
        "test_conformance.py",
        "test_extremes.py",
        "test_kills.py",
        "test_own_metrics.py",
        "test_run.py",
        "test_run_streams.py",
        "test_summary.py",
        "test_vote_estimate.py",
    ),
    "processes that are started and killed": (
        "test_edited_specs.py",
        "test_executors_contract.py",
        "test_executors_dask.py",
        "test_executors_faults.py",
        "test_executors_processes.py",
        "test_killed_runs.py",
        "test_late_rows.py",
        "test_offered_strategies.py",
        "test_predict.py",
        "test_run_terminal.py",
        "test_runs_faults.py",
        "test_unknown_complexity.py",
    ),
    "exported code, run by itself": (
        "test_export.py",
        "test_export_foreign.py",
        "test_export_onnx.py",
        "test_export_sets.py",
        "test_export_tables.py",
        "test_export_verify.py",
        "test_exported_table.py",
        "test_exported_vote.py",
    ),
    "the package as a whole": (
        "test_generated_cases.py",
        "test_model_search.py",
        "test_notebook.py",
        "test_package.py",
        "test_report_browser.py",
        "test_specs.py",
        "test_start.py",
        "test_tutorial.py",
    ),
}
_NAMES = {name for names in FILES.values() for name in names}


def is_slow(path: Path) -> bool:
    return path.parent.name in FOLDERS or path.name in _NAMES
