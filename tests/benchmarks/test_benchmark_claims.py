"""The claims of the papers: judged by their own words, on records made up here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.cell import Cell, Record
from benchmarks.papers import hermite, kms_classifiers, kms_consensus, mopso, psms, psms_runs, psms_settings
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Claim, Report
from benchmarks.trial import SPECS
from msl.diagnostics.source import Source
from msl.runner.spec_source import checked_spec


def record(data: str, split: int, method: str, outcome: Mapping[str, Any], budget: str = "128 evaluations") -> Record:
    return Record(Cell(data, split, method, budget), outcome, 1.0, "2025-01-01", "code")


def claim(report: Report, words: str) -> Claim:
    (found,) = (each for each in report.claims if words in each.text)
    return found


# --- mopso ---

#: The nine data sets.
FILES = tuple(mopso.FILES)


def front(data: str, method: str, points: Sequence[tuple[int, float]], everything: float = 0.5) -> Record:
    outcome = {"front": [[features, error, error] for features, error in points], "features": 10, "all": everything}
    return record(data, 0, method, outcome, "30 × 41 evaluations")


def swarms(worse_on: Sequence[str], sets: Sequence[str] = tuple(mopso.FILES)) -> Report:
    """cmdpso reaches all but on some sets."""
    records = []
    for name in sets:
        errors = {
            "cmdpso": 0.4 if name in worse_on else 0.1,
            "bpso": 0.2,
            "weighted": 0.3,
            "nspso": 0.15,
            "forward": 0.2,
        }
        records += [front(name, method, [(3, error)]) for method, error in errors.items()]
    return mopso.report(records)


@pytest.mark.parametrize(("worse_on", "holds"), [((), True), (("zoo",), False), (("zoo", "musk1"), False)])
def test_all_data_sets_are_all(worse_on: Sequence[str], holds: bool) -> None:
    report = swarms(worse_on)
    assert claim(report, "front of cmdpso reaches or beats every solution").holds is holds
    forward = claim(report, "best front of cmdpso is better than forward selection")
    assert forward.holds is holds
    assert all(name in forward.seen for name in worse_on)


@pytest.mark.parametrize(("worse_on", "average", "best"), [(1, True, True), (2, True, False), (5, False, False)])
def test_most_and_almost_all_data_sets(worse_on: int, average: bool, best: bool) -> None:
    report = swarms(tuple(mopso.FILES)[:worse_on])
    assert claim(report, "average front of cmdpso is better than that of nspso by").holds is average
    assert claim(report, "best front of cmdpso is better than that of nspso by").holds is best


def test_a_data_set_that_is_missing_leaves_open_what_it_could_decide() -> None:
    names = tuple(mopso.FILES)[:8]
    forward = "best front of cmdpso is better than forward selection"
    assert claim(swarms((), names), forward).holds is None
    assert claim(swarms(("zoo",), names), forward).holds is False
    assert claim(swarms((), names), "average front of cmdpso is better than that of nspso by").holds is True


def test_forward_selection_is_on_all_nine_data_sets() -> None:
    for cells in BENCHMARKS["papers.mopso"].protocols():
        names = {cell.data for cell in cells}
        assert {cell.data for cell in cells if cell.method == "forward"} == names
    (table,) = (each for each in swarms(("sonar",)).tables if each.title == "Forward selection")
    assert len(table.rows) == 9
    assert {row[0] for row in table.rows if row[-1] == "nspso"} == {"sonar"}


def test_fronts_are_judged_against_all_features_and_small_means_at_most_half() -> None:
    def report(small: Sequence[tuple[int, float]]) -> Report:
        return mopso.report([front(name, "cmdpso", small if name == "zoo" else [(2, 0.2), (3, 0.1)]) for name in FILES])

    words = "average front of cmdpso has two or more solutions"
    assert claim(report([(4, 0.3), (5, 0.4)]), words).holds is True
    assert claim(report([(4, 0.3), (6, 0.2)]), words).holds is False, "six of ten features are not few"
    assert claim(report([(4, 0.3), (5, 0.6)]), words).holds is False, "all features have 0.5"


def test_examples_are_judged_on_the_data_sets_of_the_paper_only() -> None:
    def report(errors: Mapping[str, float]) -> Report:
        records = []
        for name in FILES:
            records += [front(name, "forward", [(5, 0.3)]), front(name, "nspso", [(4, errors.get(name, 0.4))])]
        return mopso.report(records)

    words = "average front of nspso is better than forward selection"
    found = claim(report({"zoo": 0.2, "wdbc": 0.2}), words)
    assert found.holds is True
    assert found.seen == "2 of 2"
    assert claim(report({"zoo": 0.2}), words).holds is False


def test_errors_of_the_single_swarms_differ_if_wilcoxon_says_so() -> None:
    def report(errors: Sequence[float]) -> Report:
        records = []
        for name, error in zip(FILES, errors, strict=True):
            records += [front(name, "bpso", [(5, 0.3)]), front(name, "weighted", [(5, error)])]
        return mopso.report(records)

    words = "bpso and weighted do not differ"
    assert claim(report([0.1 + place / 100 for place in range(9)]), words).holds is False
    assert claim(report([0.3 + (-1) ** place * place / 100 for place in range(9)]), words).holds is True


# --- psms ---


def swarm_and_pattern(test: Callable[[str, int], tuple[float, float]], evaluations: int = 1010) -> Report:
    """Test errors of the swarm and of pattern search on every split; both estimate as they test."""
    records = []
    for name in psms_runs.PAPER:
        for split in range(psms_runs.SPLITS):
            for method, error in zip((psms_runs.PROGRAM, psms_runs.PATTERN), test(name, split), strict=True):
                outcome = {"ber": error, "mean loss": error, "evaluations": evaluations, "origin": "drawn"}
                records.append(record(name, split, method, outcome, "10 × 101 evaluations"))
    return psms.report(records)


def test_the_swarm_is_compared_set_by_set() -> None:
    report = swarm_and_pattern(lambda name, split: (0.2, 0.3 + split / 1000))
    assert claim(report, "lower test BER than pattern search on every data set").holds is True
    assert claim(report, "significantly lower on all but flare_solar").holds is True
    assert claim(report, "wins at least 6 of 10").holds is True
    assert claim(report, "significantly better than pattern search with as many").holds is True
    assert claim(report, "pattern search has a lower CV BER").holds is False


def test_pattern_search_in_the_other_order_stands_only_where_it_alone_was_run() -> None:
    outcome = {"ber": 0.2, "mean loss": 0.2, "evaluations": 1010, "origin": "drawn"}
    budget = "10 × 101 evaluations"
    methods = {"heart": (psms_runs.PROGRAM, psms_runs.PATTERN, psms_runs.PATTERN + psms_runs.OTHER)}
    methods["image"] = (psms_runs.PROGRAM, psms_runs.PATTERN + psms_runs.OTHER)
    errors = {psms_runs.PROGRAM: 0.1, psms_runs.PATTERN: 0.2, psms_runs.PATTERN + psms_runs.OTHER: 0.3}
    records = [
        record(name, 0, method, {**outcome, "ber": errors[method]}, budget)
        for name, of_set in methods.items()
        for method in of_set
    ]
    report = psms.report(records)
    drawn = report.tables[1]
    column = drawn.columns.index("pattern")
    assert {row[0]: row[column] for row in drawn.rows} == {"heart": pytest.approx(20.0), "image": pytest.approx(30.0)}
    assert "and `pattern` on image." in drawn.notes[0]
    seen = claim(report, "significantly better than pattern search with as many").seen
    assert "pattern search of image with the orders numbered the other way round" in seen


def swarm_and_learners(errors: Mapping[str, Mapping[str, float]], splits: int = psms_runs.SPLITS) -> Report:
    """On every data set the swarm is at 1 %, unless there are other errors; no learner alone is as good."""
    records = []
    for name in psms_runs.PAPER:
        for method in (psms_runs.PROGRAM, *psms_runs.PLAIN):
            error = errors.get(name, {}).get(method, 0.01 if method == psms_runs.PROGRAM else 0.5)
            outcomes = [{"ber": error + split / 10_000, "estimate": 0.1} for split in range(splits)]
            records += [record(name, split, method, outcome) for split, outcome in enumerate(outcomes)]
    return psms.report(records)


def test_a_set_above_the_paper_is_shown_beside_the_best_learner_alone_on_the_same_splits() -> None:
    reached = swarm_and_learners({})
    assert claim(reached, "test BER of `program` at or below").holds is True
    (table,) = (table for table in reached.tables if table.title.startswith("Above the paper"))
    assert not table.rows
    above = swarm_and_learners({"heart": {psms_runs.PROGRAM: 0.2, "naive": 0.17, "zarbi": 0.18}})
    assert claim(above, "test BER of `program` at or below").holds is False
    assert claim(above, "one of four learners with a bias is not").holds is True
    (table,) = (table for table in above.tables if table.title.startswith("Above the paper"))
    (row,) = table.rows
    assert row[:4] == ("heart", "program", 10, 17.35)
    assert row[7:9] == ("naive", pytest.approx(17.045))
    assert row[-1] == "reached"
    nothing = swarm_and_learners({"heart": {psms_runs.PROGRAM: 0.2}, "image": {psms_runs.PROGRAM: 0.1, "zarbi": 0.02}})
    found = claim(nothing, "one of four learners with a bias is not")
    assert found.holds is False
    assert found.seen == "1 of 2, not on heart"
    few = swarm_and_learners({"heart": {psms_runs.PROGRAM: 0.2}}, splits=4)
    assert [claim(few, words).holds for words in ("`program` at or below", "a bias is not")] == [None, None]


@pytest.mark.parametrize("method", [psms_runs.PROGRAM, psms_runs.PATTERN, "pattern"])
def test_the_other_order_changes_the_order_alone(method: str) -> None:
    one, other = (
        psms_runs.spec_of(Cell("heart", 0, method + end, "10 × 101 evaluations")) for end in ("", psms_runs.OTHER)
    )
    assert one[one.index("\nsearch ") :] == other[other.index("\nsearch ") :]
    assert one[one.index("\nminimize ") :] == other[other.index("\nminimize ") :]
    assert "chain full_model = permute(preprocess, select) >> learn >> bias" in other
    checked_spec(Source("benchmark.msl", other, str(SPECS / "benchmark.msl")))


def test_one_complete_set_decides_against_the_swarm_and_incomplete_runs_decide_nothing() -> None:
    report = swarm_and_pattern(lambda name, split: (0.3, 0.2) if name == "titanic" else (0.2, 0.3 + split / 1000))
    lower = claim(report, "lower test BER than pattern search on every data set")
    assert lower.holds is False
    assert "titanic" in lower.seen
    ended = swarm_and_pattern(lambda name, split: (0.2, 0.3), evaluations=200)
    assert claim(ended, "significantly better than pattern search with as many").holds is None, "it ended early"


def test_settings_that_are_one_search_are_run_once_and_shown_in_every_table() -> None:
    cells = psms_settings.BENCHMARK.cells(False)
    of_tables = [setting for setting in psms_settings.SETTINGS if setting.table]
    assert len(of_tables) == 18
    assert len({cell.method for cell in cells if cell.data == "titanic"}) == 14
    plotted = {setting.name for setting in psms_settings.SETTINGS if not setting.table} | {psms_settings.PATTERN}
    assert {cell.data for cell in cells if cell.method in plotted} == {"heart"}
    models = [[0, 0.3, 0.4], [1, 0.2, 0.1], [9, 0.1, None], [250, 0.1, 0.2], [254, 0.2, 0.3]]
    outcome = {"cv": 0.25, "test": 0.2, "test of all": 0.3, "cpu": 1.0, "models": models}
    base = [record(data, 0, "k = 2", outcome) for data in ("heart", "titanic")]
    report = psms_settings.report([*base, record("heart", 0, "W = (0, 0, 0)", {**outcome, "test": 0.1})])
    five, six, seven, pairs, heart = report.tables
    assert [row[:2] for row in five.rows] == [("k = 2", 2)]
    against = next(row for row in pairs.rows if row[0] == "test" and row[3] == "W = (0, 0, 0)")
    assert against[1:7] == ("W = (1.2, 0.5, 0.4)", pytest.approx(20), "W = (0, 0, 0)", pytest.approx(10), 0, 1)
    assert [row[:2] for row in six.rows] == [("m = 5", 1), ("W = (0, 0, 0)", 1), ("W = (1.2, 0.5, 0.4)", 1)]
    assert [row[0] for row in seven.rows] == ["c1 = 2, c2 = 2"]
    ends = (pytest.approx(25), pytest.approx(15), pytest.approx(25), pytest.approx(25), pytest.approx(30))
    assert heart.rows[0] == ("k = 2", *ends, pytest.approx(20), pytest.approx(10), 0)
    pattern = {**outcome, "test": 0.35, "models": [[0, 0.4, 0.45], [1, 0.2, 0.35], [9, 0.3, 0.15]]}
    *_, first = psms_settings.report([*base, record("heart", 0, psms_settings.PATTERN, pattern)]).tables
    assert first.rows[1] == (psms_settings.PATTERN, 0, *map(pytest.approx, (35, 15, 15, 15)))


# --- hermite ---


def networks(errors: Mapping[str, Mapping[str, float]]) -> Report:
    """Ten repeats of each method at some levels of noise, around these errors."""
    return hermite.report(
        [
            record(noise, repeat, method, {"rmse": error + repeat / 1e6, "units": 5, "cpu": 1.0})
            for method, levels in errors.items()
            for noise, error in levels.items()
            for repeat in range(10)
        ]
    )


def test_two_objectives_must_be_better_than_each_alone_at_every_level() -> None:
    levels = ("0.0001", "0.1")
    better = {"two objectives": dict.fromkeys(levels, 0.1), "occam": dict.fromkeys(levels, 0.2)}
    words = "than each alone"
    assert claim(networks({**better, "gcv": dict.fromkeys(levels, 0.3)}), words).holds is True
    assert claim(networks({**better, "gcv": {"0.0001": 0.3, "0.1": 0.05}}), words).holds is False
    assert claim(networks(better), words).holds is None, "nothing to compare with"


def test_tables_compare_methods_on_the_repeats_that_all_of_them_have() -> None:
    def network(repeat: int, method: str) -> Record:
        return record("0.1", repeat, method, {"rmse": float(repeat), "units": 5, "cpu": 1.0})

    kinds = [network(repeat, method) for repeat in range(10) for method in ("plain", "occam")]
    report = hermite.report([*kinds, *(network(repeat, "gcv") for repeat in range(2))])
    elitism, _, everything, _, _ = report.tables
    assert elitism.rows == (("0.1", 10, pytest.approx(4500.0), pytest.approx(4500.0)),)
    assert everything.rows == (("0.1", 2, *[pytest.approx(500.0)] * 3),)


def test_shuffling_alone_and_many_regions_are_variants() -> None:
    for cells in BENCHMARKS["papers.hermite"].protocols():
        assert {"shuffle", "two, shuffle, 35 regions", "two, shuffle, grow, 35 regions"} <= {
            cell.method for cell in cells
        }
    words = "shuffling alone"
    assert claim(networks({"shuffle": {"0.1": 0.3}, "occam": {"0.1": 0.2}}), words).holds is True
    assert claim(networks({"shuffle": {"0.1": 0.1}, "occam": {"0.1": 0.2}}), words).holds is False


# --- kms ---


def test_consensus_is_normalised_by_the_largest_ratio() -> None:
    ratios = [
        {str(size): 0.02 if size > 7 else 0.2 for size in kms_consensus.SIZES},
        {str(size): 0.04 for size in kms_consensus.SIZES},
    ]
    records = [
        record(name, split, "RS", {"discordant": ratios[split % 2], "origin": "drawn"})
        for name in kms_consensus.PAPER
        for split in range(6)
    ]
    report = kms_consensus.report(records)
    row = report.tables[0].rows[0]
    assert row[:2] == ("banana", 6)
    assert row[2:6] == (1.0, 1.0, 1.0, pytest.approx(0.03 / 0.12))
    assert report.claims[0].holds is True
    flat = [record(name, split, "RS", {"discordant": ratios[1]}) for name in kms_consensus.PAPER for split in range(5)]
    assert kms_consensus.report(flat).claims[0].holds is False
    one = [record for record in records if record.cell.split == 0]
    assert kms_consensus.report(one).claims[0].holds is None, "one split says too little"


def test_ways_of_choosing_references_are_ranked_by_their_test_errors() -> None:
    ratios = {str(size): 0.1 for size in kms_consensus.SIZES}
    records = [
        record(name, 0, method, {"discordant": ratios, "ber": {"KMSE": place / 100, "KMS": 0.3 + place / 100}})
        for name in ("banana", "heart")
        for place, method in enumerate(kms_consensus.METHODS)
    ]
    *_, errors, ranks = kms_consensus.report(records).tables
    banana = dict(zip(errors.columns, errors.rows[0], strict=True))
    assert (banana["splits"], banana["paper, KMSE, fft"], banana["KMSE, fft"]) == (1, 11.88, pytest.approx(1.0))
    assert banana["KMS, density"] == pytest.approx(34.0)
    assert [row[0] for row in ranks.rows[:2]] == ["KMSE, RS", "KMSE, fft"]
    assert [row[2] for row in ranks.rows] == list(range(1, 11))


def test_ranks_of_classifiers_are_those_of_their_mean_errors() -> None:
    rng = np.random.default_rng(0)
    methods = list(kms_classifiers.RANKS)
    errors = {name: dict(zip(methods, rng.permutation(18), strict=True)) for name in kms_classifiers.PAPER}
    records = []
    for name, of_data in errors.items():
        for method in (*kms_classifiers.CLASSIFIERS, kms_classifiers.OURS):
            names = ("KMSE", "KMS") if method == kms_classifiers.OURS else (method,)
            ber = {each: of_data[each] / 100 for each in names}
            outcome = {"ber": ber, "origin": "published"}
            records += [record(name, split, f"{method}, raw", outcome) for split in range(5)]
    report = kms_classifiers.report(records)
    table = report.tables[0]
    assert table.columns[1:] == ("paper, characterisation", "characterisation, published splits, 9 of 9 sets")
    expected = {method: np.mean([of_data[method] + 1 for of_data in errors.values()]) for method in methods}
    assert {row[0]: row[2] for row in table.rows} == pytest.approx(expected)
    best = sorted(methods, key=lambda method: expected[method])[:2]
    assert claim(report, "best average rank on the characterisation sets").holds is (best == ["KMSE", "KMS"])
    one = [each for each in records if each.cell.split == 0]
    assert claim(kms_classifiers.report(one), "best average rank on the characterisation sets").holds is None, (
        "one split says too little"
    )
    assert claim(report, "best average rank on the validation sets").holds is None


def test_differences_from_other_classifiers_are_those_of_wilcoxon() -> None:
    def report(ours: float) -> Report:
        records = []
        for place, name in enumerate(kms_classifiers.PAPER):
            for split in range(5):
                for method in kms_classifiers.CLASSIFIERS:
                    ber = {method: 0.2 + (place + split) / 1000}
                    records.append(record(name, split, f"{method}, raw", {"ber": ber, "origin": "drawn"}))
                ber = {"KMSE": ours + (place - split) / 500, "KMS": 0.2 + (place + split) / 1000 + (-1) ** place / 1000}
                records.append(record(name, split, "KMS, raw", {"ber": ber, "origin": "drawn"}))
        return kms_classifiers.report(records)

    assert claim(report(0.1), "errors of KMSE differ from those of every other").holds is True
    assert claim(report(0.202), "errors of KMSE differ from those of every other").holds is False
    assert claim(report(0.1), "errors of KMS do not differ from those of RBF SVC and GaussianNB").holds is True
