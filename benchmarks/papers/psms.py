"""PSMS: full model selection by particle swarm against pattern search (Escalante, Montes and Sucar, 2009).

Table 4 and figure 2 of the paper are run with specs/psms.msl, the original program, and with specs/psms_paper.msl, the
printed text. Nothing of ours is mixed in: what we added to the method (walls that reflect, the best models evaluated
again on new splits, a vote) is run as a method of its own and shown in a table of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from benchmarks.benchmark import Benchmark
from benchmarks.cell import Record
from benchmarks.papers.psms_runs import (
    CONTROLS,
    IMPROVED,
    KINDS,
    METHODS,
    ONCE,
    ORDERS,
    OTHER,
    PAPER,
    PATTERN,
    PLAIN,
    PRINTED,
    PROGRAM,
    SPLITS,
    cells,
    sizes,
    work,
)
from benchmarks.report import Claim, Report, Table, made_by, origins
from benchmarks.significance import compare_pairs, mean, standard_error, verdict_on

#: By data set and method, the figure of every split.
Found = Mapping[tuple[str, str], Mapping[int, float]]


def report(records: Sequence[Record]) -> Report:
    records = [record for record in records if record.cell.method in METHODS]
    made = made_by(records)
    others, mirrored = _other_pattern(records)
    records += others
    counts = {name: len([r for r in records if (r.cell.data, r.cell.method) == (name, PROGRAM)]) for name in PAPER}
    budgets = sorted({record.cell.budget for record in records if record.cell.method == PROGRAM})
    ran = (
        f"Swarm and pattern search with {', '.join(budgets) or 'nothing yet'} each, 2-fold cross-validation, on "
        f"{sum(count > 0 for count in counts.values())} of 9 data sets with {min(counts.values())} to "
        f"{max(counts.values())} of 10 splits ({origins(records)})."
    )
    tables = (
        *_table_4(records, mirrored),
        _cv_table(records),
        _figure_2(records),
        _by_hand_table(records),
        _ours(records),
    )
    claims = (
        *_swarm_claims(records, "", mirrored),
        *(_swarm_claims(records, OTHER) if any(record.cell.method == PROGRAM + OTHER for record in records) else ()),
        _variety_claim(records, PROGRAM, 0.27),
        _variety_claim(records, PROGRAM, 0.35, ("learners",)),
        _order_claim(records),
    )
    return Report("papers.psms", "PSMS: full model selection by particle swarm", ran, tables, claims, made)


def _other_pattern(records: Sequence[Record]) -> tuple[list[Record], list[str]]:
    """On data sets where pattern search was run with the other order only, that run stands for it: which they are."""
    run = {record.cell.data for record in records if record.cell.method == PATTERN}
    found = [record for record in records if record.cell.method == PATTERN + OTHER and record.cell.data not in run]
    names = {record.cell.data for record in found}
    stand = [replace(record, cell=replace(record.cell, method=PATTERN)) for record in found]
    return stand, [name for name in PAPER if name in names]


def _percents(records: Iterable[Record], figure: str = "ber") -> Found:
    found: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if record.outcome.get(figure) is not None:
            of_method = found.setdefault((record.cell.data, record.cell.method), {})
            of_method[record.cell.split] = 100 * record.outcome[figure]
    return found


def _table_4(records: Sequence[Record], mirrored: Sequence[str]) -> Iterable[Table]:
    """Test BER, on published and on drawn splits apart: the paper does not say which splits it had."""
    note = (
        "Test BER in percent. `program` is specs/psms.msl, the original program; `pattern` is specs/patsms.msl, its "
        "pattern search with as many evaluations; `once` is the same without a second evaluation of any model, which "
        "ends when its steps lead to no other one; `printed` is specs/psms_paper.msl, the text of the paper. Every "
        "evaluation of `program` and `pattern` has new folds, also of a model that was met before. No wall reflects. "
        "The verdict is on `program`. `other order` is `program` with the orders of selection and preprocessing "
        f"numbered the other way round; so is `once`{_and_pattern(mirrored)}."
    )
    columns = (
        "data",
        "splits",
        "paper",
        "program",
        "s.e.",
        "difference",
        "verdict",
        "paper, pattern",
        "pattern",
        "its splits",
        "once",
        "other order",
        "printed",
    )
    for origin in ("published", "drawn"):
        found = _percents(record for record in records if record.outcome.get("origin", "drawn") == origin)
        rows = [_test_row(name, found) for name in PAPER if (name, PROGRAM) in found]
        yield Table(f"Table 4, test BER: {origin} splits", columns, tuple(rows), (note,))


def _and_pattern(mirrored: Sequence[str]) -> str:
    return f", and `pattern` on {', '.join(mirrored)}" if mirrored else ""


def _test_row(name: str, found: Found) -> tuple[str | float | int | None, ...]:
    (paper_pattern, paper), _ = PAPER[name]
    ours = list(found[name, PROGRAM].values())
    pattern = found.get((name, PATTERN), {})
    others = (
        *(_mean(pattern), len(pattern)),
        *(_mean(found.get((name, method), {})) for method in (ONCE, PROGRAM + OTHER, PRINTED)),
    )
    verdict = verdict_on(ours, paper)
    return name, len(ours), paper, mean(ours), standard_error(ours), mean(ours) - paper, verdict, paper_pattern, *others


def _cv_table(records: Sequence[Record]) -> Table:
    found, failed = _percents(records, "mean loss"), _percents(records, "failed share")
    rows = [
        (
            name,
            cv_pattern,
            _mean(found.get((name, PATTERN), {})),
            cv_swarm,
            _mean(found.get((name, PROGRAM), {})),
            _mean(failed.get((name, PROGRAM), {})),
        )
        for name, (_, (cv_pattern, cv_swarm)) in PAPER.items()
        if (name, PROGRAM) in found
    ]
    columns = ("data", "paper, pattern", "pattern", "paper, swarm", "program", "failed")
    note = (
        "BER in cross-validation in percent, the mean over all models tried that could be fitted; `failed` is the "
        "share of those of `program` that could not, which the original gives a BER of 100. `printed` has no column: "
        "it stops evaluating a model that cannot become the best any more, so that the BER of many is not known."
    )
    return Table("Table 4, CV BER", columns, tuple(rows), (note,))


def _figure_2(records: Sequence[Record]) -> Table:
    """How often each learner, selector and set of preprocessing steps was in the models tried."""
    rows: list[tuple[str | float | None, ...]] = []
    for kind in (*KINDS, "order"):
        shares = {method: _shares(records, method, kind) for method in (*ORDERS, PRINTED)}
        rows += [
            (kind, name, *(100 * of_method.get(name, 0.0) for of_method in shares.values()))
            for name in sorted(shares[PROGRAM], key=lambda name: -shares[PROGRAM][name])
        ]
    note = (
        "Percent of all models tried. In the paper nothing is in more than 27 % of the models; zarbi leads the "
        "learners with about 23 %, ftest the selectors, standardize with shift_scale the preprocessing, and in 70.1 % "
        "preprocessing comes before selection."
    )
    return Table("Figure 2", ("of", "method", "program", "other order", "printed"), tuple(rows), (note,))


def _shares(records: Iterable[Record], method: str, kind: str) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for record in records:
        if record.cell.method == method:
            counts.update(record.outcome.get("tried", {}).get(kind, {}))
    return {name: count / counts.total() for name, count in counts.items()}


def _by_hand_table(records: Sequence[Record]) -> Table:
    pairs = [pair for of_data in _by_data(_percents(records), *ORDERS).values() for pair in of_data]
    both = compare_pairs([ours for ours, _ in pairs], [theirs for _, theirs in pairs])
    note = (
        "Test BER in percent, all splits. `its estimate` is that of the model that the search chose, the lowest of "
        "1,010; `by hand` is the best of four learners of the space as they come, with a bias and without a search, on "
        "the same splits. It is the best by its test error, so it says that the space has such a model, not that one "
        f"would have found it. `{PROGRAM}` against `{PROGRAM + OTHER}` on the {len(pairs)} splits that both have: "
        f"{both}."
    )
    columns = (
        *("data", "method", "splits", "paper", "test", "s.e.", "its estimate"),
        *("by hand", "its test", "its s.e.", "its verdict"),
    )
    return Table("Above the paper: the model found, and one chosen by hand", columns, _by_hand_rows(records), (note,))


def _by_hand_rows(records: Sequence[Record]) -> tuple[tuple[str | float | int, ...], ...]:
    """For the sets on which a swarm is above the paper's figure by more than one standard error."""
    found, estimated = _percents(records), _percents(records, "estimate")
    rows = []
    for name, ((_, paper), _) in PAPER.items():
        for method in ORDERS:
            of_method = found.get((name, method), {})
            ours = list(of_method.values())
            plain = {
                learner: [found[name, learner][split] for split in of_method]
                for learner in PLAIN
                if of_method.keys() <= found.get((name, learner), {}).keys()
            }
            if plain and ours and verdict_on(ours, paper) == "above":
                best = min(plain, key=lambda learner: mean(plain[learner]))
                errors = plain[best]
                estimate = mean(list(estimated.get((name, method), {}).values()))
                row = (name, method, len(ours), paper, mean(ours), standard_error(ours), estimate)
                rows.append((*row, best, mean(errors), standard_error(errors), verdict_on(errors, paper)))
    return tuple(rows)


def _ours(records: Sequence[Record]) -> Table:
    found, voted = _percents(records), _percents(records, "vote")
    rows = [
        (
            name,
            PAPER[name][0][1],
            _mean(found.get((name, PROGRAM), {})),
            _mean(found.get((name, IMPROVED), {})),
            _mean(voted.get((name, IMPROVED), {})),
            *(_mean(found.get((name, method), {})) for method in CONTROLS),
        )
        for name in PAPER
        if any((name, method) in found for method in METHODS)
    ]
    note = (
        "Test BER in percent, all splits. `improved` is ours: walls that reflect, and 15 % of the evaluations spent on "
        "evaluating the best models again on five new splits; `vote` is the vote of its nine best. The SVM (tuned by a "
        "grid) and the forest (500 balanced trees) are controls of the space; the others are learners of the space as "
        "they come, with a bias after them."
    )
    columns = ("data", "paper", "program", "improved", "vote", *CONTROLS)
    return Table("Our own additions, and controls", columns, tuple(rows), (note,))


def _mean(values: Mapping[int, float]) -> float | None:
    return mean(list(values.values())) if values else None


# --- Claims -----------------------------------------------------------------------------------------------------------


def _swarm_claims(records: Sequence[Record], order: str, mirrored: Sequence[str] = ()) -> Iterable[Claim]:
    yield _figures_claim(records, PROGRAM + order)
    yield _by_hand_claim(records, PROGRAM + order)
    note = f"; pattern search of {', '.join(mirrored)} with the orders numbered the other way round" if mirrored else ""
    for claim in _pattern_claims(records, order):
        yield replace(claim, seen=claim.seen + note)
    yield _one_method_claim(records, order)


def _figures_claim(records: Sequence[Record], method: str) -> Claim:
    """A set that has all its splits and is above decides it, whatever the others would have."""
    found = {name: list(errors.values()) for (name, of), errors in _percents(records).items() if of == method}
    verdicts = {name: verdict_on(errors, PAPER[name][0][1]) for name, errors in found.items()}
    near = [name for name in verdicts if not verdicts[name].startswith("above")]
    whole = [name for name, errors in found.items() if len(errors) == SPLITS]
    failing = [name for name in verdicts if name not in near]
    text = f"test BER of `{method}` at or below the paper's, or within one standard error, on every data set"
    seen = f"{len(near)} of {len(found)}" + (f", not on {', '.join(failing)}" if failing else "")
    if len(whole) < len(found):
        seen += f"; all ten splits of {', '.join(whole) or 'none'}"
    holds = False if any(name in whole for name in failing) else True if len(whole) == len(PAPER) else None
    return Claim(text, holds, seen)


def _by_hand_claim(records: Sequence[Record], method: str) -> Claim:
    """Whether the models are there where the search falls short."""
    rows = [row for row in _by_hand_rows(records) if row[1] == method]
    above = [str(row[0]) for row in rows if row[-1] == "above"]
    text = f"where `{method}` is above the paper, one of four learners with a bias is not, on the same splits"
    is_whole = len([key for key, errors in _percents(records).items() if key[1] == method and len(errors) == SPLITS])
    seen = f"{len(rows) - len(above)} of {len(rows)}" + (f", not on {', '.join(above)}" if above else "")
    return Claim(text, not above if is_whole == len(PAPER) else None, seen)


#: The sets on which the paper found no significant difference in test BER, and those where it found one in CV BER.
EVEN, CV_DIFFERS = ("flare_solar", "german"), ("heart", "image", "thyroid")
#: By data set, the figures of two methods on the splits that both have.
ByData = Mapping[str, Sequence[tuple[float, float]]]


def _pattern_claims(records: Sequence[Record], order: str) -> Iterable[Claim]:
    """What the paper says of the swarm against pattern search, at equal evaluations."""
    swarm, pattern = PROGRAM + order, PATTERN + order
    complete = [record for record in records if record.cell.method != pattern or _used_all(record)]
    tested, estimated = _percents(complete), _percents(complete, "mean loss")
    test, cv = _by_data(tested, swarm, pattern), _by_data(estimated, pattern, swarm)
    yield _pairs_claim(test, order)
    yield _lower_claim(f"the swarm has a lower test BER than pattern search on every data set{order}", test)
    others = [name for name in PAPER if name not in EVEN]
    text = f"its test BER is significantly lower on all but flare_solar and german{order}"
    yield _significant_claim(text, test, others)
    wins = {name: sum(ours < theirs for ours, theirs in test[name]) for name in EVEN}
    text = f"on flare_solar and german the swarm wins at least 6 of 10 splits{order}"
    seen = ", ".join(f"{name}: {wins[name]} of {len(test[name])}" for name in EVEN)
    yield Claim(text, all(won >= 6 for won in wins.values()) if _are_whole(test, EVEN) else None, seen)
    yield _lower_claim(f"pattern search has a lower CV BER, the mean of all models tried, on every data set{order}", cv)
    text = f"its CV BER is significantly lower on heart, image and thyroid, and only there{order}"
    yield _significant_claim(text, cv, CV_DIFFERS, only=True)


def _by_data(found: Found, first: str, second: str) -> ByData:
    return {
        name: [
            (value, found[name, second][split])
            for split, value in found.get((name, first), {}).items()
            if split in found.get((name, second), {})
        ]
        for name in PAPER
    }


def _are_whole(pairs: ByData, names: Iterable[str]) -> bool:
    return all(len(pairs[name]) == SPLITS for name in names)


def _used_all(record: Record) -> bool:
    return bool(record.outcome.get("evaluations", 0) == math.prod(sizes(record.cell)))


def _pairs_claim(test: ByData, order: str) -> Claim:
    """The paper: better on 68.9 % of 90 pairs, worse on 22.2 %, by Wilcoxon's test."""
    pairs = [pair for of_data in test.values() for pair in of_data]
    compared = compare_pairs([ours for ours, _ in pairs], [theirs for _, theirs in pairs])
    holds = compared.wins > compared.losses and compared.p_value < 0.05 if _are_whole(test, PAPER) else None
    text = f"the swarm is significantly better than pattern search with as many evaluations, over all pairs{order}"
    shares = [100 * count / max(len(pairs), 1) for count in (compared.wins, compared.losses)]
    seen = f"{len(pairs)} of 90 pairs: {compared}; {shares[0]:.1f} % won, {shares[1]:.1f} % lost"
    return Claim(text, holds, f"{seen} (paper: 68.9 % won, 22.2 % lost)")


def _lower_claim(text: str, pairs: ByData) -> Claim:
    """One data set that is complete and fails decides it, whatever the others would have."""
    whole = [name for name in PAPER if _are_whole(pairs, [name])]
    failing = [name for name in whole if not _is_lower(pairs[name])]
    seen = f"{len(whole) - len(failing)} of {len(whole)}" + (f", not on {', '.join(failing)}" if failing else "")
    return Claim(text, False if failing else True if len(whole) == len(PAPER) else None, seen)


def _is_lower(pairs: Sequence[tuple[float, float]]) -> bool:
    return mean([ours for ours, _ in pairs]) < mean([theirs for _, theirs in pairs])


def _significant_claim(text: str, pairs: ByData, names: Sequence[str], only: bool = False) -> Claim:
    """Significantly lower on these, by Wilcoxon's test over the splits; with `only`, on no other."""
    chances = {}
    for name in PAPER:
        if _are_whole(pairs, [name]):
            chance = compare_pairs(*zip(*pairs[name], strict=True)).p_value
            chances[name] = chance if _is_lower(pairs[name]) else 1.0
    lower = [name for name, chance in chances.items() if chance < 0.05]
    missing = [name for name in names if name in chances and name not in lower]
    wrong = [name for name in lower if only and name not in names]
    seen = f"significant on {', '.join(lower) or 'none'} of {len(chances)}"
    return Claim(text, False if missing or wrong else True if len(chances) == len(PAPER) else None, seen)


def _one_method_claim(records: Sequence[Record], order: str) -> Claim:
    """Footnote 6: pattern search evaluates one learner and one selector in about 95 % of its iterations."""
    seen = []
    for kind in ("learners", "selectors"):
        counts = [
            record.outcome["tried"][kind]
            for record in records
            if record.cell.method == PATTERN + order and "tried" in record.outcome
        ]
        seen.append(mean([max(of_run.values()) / sum(of_run.values()) for of_run in counts]))
    text = f"within a run of pattern search, one learner and one selector are in about 95 % of the models{order}"
    holds = None if math.isnan(seen[0]) else all(abs(share - 0.95) <= 0.05 for share in seen)
    shown = "one learner in {:.1%}, one selector in {:.1%} on the average".format(*seen)
    return Claim(text, holds, "not run" if holds is None else shown)


def _variety_claim(
    records: Sequence[Record],
    method: str,
    most: float,
    kinds: Sequence[str] = ("learners", "selectors", "preprocessing"),
) -> Claim:
    of_all = {kind: _shares(records, method, kind).items() for kind in kinds}
    shares = {kind: max(of_kind, key=itemgetter(1), default=("-", 0.0)) for kind, of_kind in of_all.items()}
    what = "learner, selector or set of preprocessing steps" if len(kinds) > 1 else "learner"
    text = f"no {what} is in more than {100 * most:.0f} % of the models tried"
    runs = len([record for record in records if record.cell.method == method and "tried" in record.outcome])
    seen = ", ".join(f"{kind}: {name} {share:.0%}" for kind, (name, share) in shares.items()) + f"; {runs} of 90 runs"
    return Claim(text, None if not records else all(share <= most for _, share in shares.values()), seen)


def _order_claim(records: Sequence[Record]) -> Claim:
    share, other = (_shares(records, method, "order").get("preprocessing first") for method in ORDERS)
    text = "preprocessing comes before selection in most models (paper: 70.1 %)"
    if share is None:
        return Claim(text, None, "not run")
    seen = f"{share:.1%}" + ("" if other is None else f", {other:.1%} with the orders numbered the other way round")
    return Claim(text, share > 0.5, seen)


BENCHMARK = Benchmark("papers.psms", cells, work, report)
