"""msl compare: compare runs in a table and with paired tests."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Exit, tell, write, write_exactly
from msl.cli.shared.load_run import STORE_HELP, Trusted
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.data.table import Table
    from msl.report.compare_runs import FoldLosses, Pairing, Winner

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 4)

_MEANING = "lower, higher: how often the first of a pair is; p: {test}, two-sided, then after Holm;"
_WILCOXON, _CORRECTED = "Wilcoxon's signed ranks", "t-test corrected for rows that folds share (Nadeau and Bengio)"
_EFFECT = "effect: matched-pairs rank-biserial correlation, -1 where the first is always lower, +1 always higher"
_MORE = "compare with `--folds`, or run both specs on more tables or with more seeds (`msl run --seed`)"


def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN…", help="Runs such as @ and @1, or specs for all of their runs.")
    ],
    folds: Annotated[bool, typer.Option("--folds", help="Fit the best models again and compare fold by fold.")] = False,
    data: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Where the table of the runs is now, for `--folds`.")
    ] = None,
    trust: Annotated[list[str] | None, typer.Option(metavar="PACKAGE", help="Import classes of this package.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
) -> Exit:
    """Compare runs: a table, and tests with effect sizes — by table and seed (Wilcoxon's), or fold by fold."""
    from msl.report.compare_runs import Figures, figures_by_place, labels_by_text, paired, too_little

    found = _winners(runs, store)
    if len(found) < 2:
        raise UserError("there is one run to compare, and two are needed", "name more runs: `msl log` lists them")
    labels = labels_by_text([one.run for one in found], {one.run.id: one.sources for one in found})
    scored = _folds(found, data, Trusted(trust)) if folds else None
    if scored is None:
        pairings = paired(figures_by_place([one.run for one in found], labels))
    else:
        by_fold: Figures = {scored.metric: {run: dict(enumerate(of)) for run, of in scored.losses.items()}}
        pairings = paired(by_fold, scored.share_tested)
    note = too_little(pairings, by_folds=folds) if pairings else _nothing_paired(set(labels.values()))
    write_exactly(_as_json(found, scored, pairings, note)) if json else write(_as_text(found, scored, pairings, labels))
    if note is not None:
        tell(f"note: {note}")
        tell(f"help: {'use an estimate with more folds or repeats' if folds else _MORE}")
    return Exit.FINE


def _winners(names: Sequence[str], folder: Path | None) -> list[Winner]:
    """The runs that are named, each once, in this order; a spec stands for all of its finished runs."""
    from pathlib import PurePath

    from msl.report.compare_runs import Winner
    from msl.store.store import Store, locate_run

    found: dict[str, Winner] = {}
    for name in names:
        place = locate_run(name, folder)
        with Store.open(place.folder, read_only=True) as store:
            chosen = [place.run_in(store)]
            if place.name.endswith(".msl"):
                own = (run for run in store.runs.all() if PurePath(run.spec).name == place.name)
                chosen = [run for run in own if run.status == "finished"] or chosen
            for run in chosen:
                found.setdefault(run.id, Winner(run, store.runs.sources(run.id)))
    for one in found.values():
        if not one.run.result.get("objectives"):
            raise UserError(f"the run `{one.run.id}` is {one.run.status} and has no result", "finish it with `msl run`")
    return list(found.values())


def _folds(winners: list[Winner], data: str | None, trusted: Trusted) -> FoldLosses:
    from msl.report.compare_runs import NoFolds, fold_losses

    first = winners[0].run
    for one in winners:
        if one.run.digests.data != first.digests.data:
            message = f"`{first.id}` and `{one.run.id}` are runs on different tables, which have no common folds"
            raise UserError(message, "leave out `--folds`: runs of two specs are then paired by table and seed")
    try:
        return fold_losses(winners, _table(winners[0], data), trusted)
    except NoFolds as reason:
        raise UserError(str(reason), "leave this run out, or leave out `--folds`") from None
    finally:
        trusted.tell_of_file()


def _table(winner: Winner, given: str | None) -> Table:
    """The table that a run was on: as its spec reads it, and proven to be the same."""
    from msl.cli.shared.console import report
    from msl.cli.shared.load_plan import read_for
    from msl.data.options import DataOptions
    from msl.diagnostics.diagnostic import has_errors
    from msl.report.run_facts import check_stored, stored_source

    run = winner.run
    known = run.result.get("data") or {}
    path = given or known.get("path")
    if path is None:
        raise UserError(f"the run `{run.id}` does not say where its table is", "name it with `--data TABLE`")
    if not Path(path).exists():
        raise UserError(f"there is no table `{path}`", "say where it is now with `--data TABLE`")
    checked = check_stored(run, winner.sources)
    overrides = DataOptions(target=known["target"]) if known.get("target") else None
    table, problems = read_for(stored_source(run, winner.sources), checked.data, str(path), overrides)
    if table is None or has_errors(problems):
        report(problems)
        raise SystemExit(int(Exit.WRONG_USE))
    if table.fingerprint != run.digests.data:
        message = f"`{path}` is not the table that `{run.id}` was on: its content has another fingerprint"
        raise UserError(message, "name the table of then with `--data TABLE`")
    return table


def _nothing_paired(specs: set[str]) -> str:
    if len(specs) == 1:
        return "all of these are runs of one spec, so that there is nothing to pair"
    return "no two of these specs were run on the same table with the same seed and have a common objective"


def _as_text(
    winners: list[Winner], scored: FoldLosses | None, pairings: list[Pairing], labels: Mapping[str, str]
) -> str:
    from msl.report.compare_runs import pairings_table, runs_table

    text = runs_table([one.run for one in winners], labels)
    if not pairings:
        return text
    how = "by table and seed" if scored is None else f"on the same folds: {scored.by} with seed {scored.seed}"
    meaning = _MEANING.format(test=_WILCOXON if scored is None else _CORRECTED)
    return f"{text}\npaired {how}\n{pairings_table(pairings)}\n{meaning}\n{_EFFECT}\n"


def _as_json(winners: list[Winner], scored: FoldLosses | None, pairings: list[Pairing], note: str | None) -> str:
    from msl.report.text_tables import finite

    record: dict[str, Any] = {
        "runs": [
            {
                "run": one.run.id,
                "spec": one.run.spec,
                "data": one.run.digests.data,
                "seed": one.run.seed,
                "objectives": one.run.result.get("objectives", {}),
                "test": one.run.result.get("test", {}),
                "evaluations": one.run.result.get("evaluations"),
                "seconds": one.run.result.get("seconds"),
            }
            for one in winners
        ],
        "folds": None
        if scored is None
        else {"measure": scored.metric, "by": scored.by, "seed": scored.seed, "losses": dict(scored.losses)},
        "pairs": [
            {
                "one": each.one,
                "other": each.other,
                "figure": each.figure,
                "values": [each.ones, each.others],
                "mean_difference": each.mean_difference,
                "lower": each.test.lower,
                "higher": each.test.higher,
                "equal": each.test.zeros,
                "rank_sum": each.test.rank_sum,
                "test": "wilcoxon" if scored is None else "corrected t",
                "p": each.p,
                "holm": each.corrected,
                "effect": each.test.effect,
            }
            for each in pairings
        ],
        "note": note,
    }
    return json_text.dumps(finite(record), indent=2, ensure_ascii=False) + "\n"
