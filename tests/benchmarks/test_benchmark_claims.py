"""The claims of the papers: judged by their own words, on records made up here."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.cell import Cell, Record
from benchmarks.papers import hermite, kms_classifiers, kms_consensus, mopso
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Claim, Report


def record(data: str, split: int, method: str, outcome: Mapping[str, Any], budget: str = "128 evaluations") -> Record:
    return Record(Cell(data, split, method, budget), outcome, 1.0, "2025-01-01", "code")


def claim(report: Report, words: str) -> Claim:
    (found,) = (each for each in report.claims if words in each.text)
    return found


# --- mopso ---


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
    forward = claim(report, "front of cmdpso is better than forward selection")
    assert forward.holds is holds
    assert all(name in forward.seen for name in worse_on)


@pytest.mark.parametrize(("worse_on", "average", "best"), [(1, True, True), (2, True, False), (5, False, False)])
def test_most_and_almost_all_data_sets(worse_on: int, average: bool, best: bool) -> None:
    report = swarms(tuple(mopso.FILES)[:worse_on])
    assert claim(report, "average front of cmdpso is better than that of nspso by").holds is average
    assert claim(report, "best front of cmdpso is better than that of nspso by").holds is best


def test_a_data_set_that_is_missing_leaves_open_what_it_could_decide() -> None:
    names = tuple(mopso.FILES)[:8]
    forward = "front of cmdpso is better than forward selection"
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
        record(name, split, "RS", {"discordant": ratios[split], "origin": "drawn"})
        for name in kms_consensus.PAPER
        for split in range(2)
    ]
    report = kms_consensus.report(records)
    row = report.tables[0].rows[0]
    assert row[:2] == ("banana", 2)
    assert row[2:6] == (1.0, 1.0, 1.0, pytest.approx(0.03 / 0.12))
    assert report.claims[0].holds is True
    flat = [record(name, 0, "RS", {"discordant": ratios[1]}) for name in kms_consensus.PAPER]
    assert kms_consensus.report(flat).claims[0].holds is False


def test_ranks_of_classifiers_are_those_of_their_mean_errors() -> None:
    rng = np.random.default_rng(0)
    methods = list(kms_classifiers.RANKS)
    errors = {name: dict(zip(methods, rng.permutation(18), strict=True)) for name in kms_classifiers.PAPER}
    records = []
    for name, of_data in errors.items():
        for method in (*kms_classifiers.CLASSIFIERS, kms_classifiers.OURS):
            names = ("KMSE", "KMS") if method == kms_classifiers.OURS else (method,)
            ber = {each: of_data[each] / 100 for each in names}
            records.append(record(name, 0, f"{method}, raw", {"ber": ber, "origin": "published"}))
    report = kms_classifiers.report(records)
    table = report.tables[0]
    assert table.columns[1:] == ("paper, characterisation", "characterisation, published splits, 9 of 9 sets")
    expected = {method: np.mean([of_data[method] + 1 for of_data in errors.values()]) for method in methods}
    assert {row[0]: row[2] for row in table.rows} == pytest.approx(expected)
    best = sorted(methods, key=lambda method: expected[method])[:2]
    assert claim(report, "on the characterisation sets").holds is (best == ["KMSE", "KMS"])
    assert claim(report, "on the validation sets").holds is None
