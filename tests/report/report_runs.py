"""Runs for reports, written into a store by hand: of every strategy's events, with and without a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from msl.report.html.run_record import Record, read_record
from msl.store.evaluation import Evaluation, EvaluationInputs, StoredFailure, StoredQuery
from msl.store.store import Store
from msl.store.stored_run import Digests, Event, NewRun

DATA, PROTOCOL = "d" * 64, "e" * 64
SPEC = """\
use clop
part scale = standardize | normalize | none
chain tried = scale >> (svc | naive | rf)
minimize ber by cv(folds = 3)
search pso(swarm = 4, iterations = 9)
"""
#: What would do harm in a page if it were not escaped.
EVIL = "</script><script>window.harmed=1</script><img src=x onerror='window.harmed=1'>\"'&\u202e]]><!--"


@dataclass(frozen=True)
class Given:
    """A trial to write: its model, and a value, a failure, or neither for a point outside the space."""

    model: str | None
    losses: tuple[float, ...] = (math.inf,)
    trouble: StoredFailure | None = None
    bound: bool = False
    share: float = 1.0
    seconds: float = 0.1
    complexity: float = 3.0
    stage: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Story:
    """A run to write down."""

    trials: Sequence[Given] = ()
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()
    result: Mapping[str, Any] | None = None
    status: Literal["finished", "interrupted", "failed"] | None = "finished"
    spec: str = SPEC
    name: str = "tried"
    path: str = "tried.msl"
    sources: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=lambda: {"msl": "0.1.0", "numpy": "2.0.0"})


def write_story(story: Story, folder: Path) -> str:
    """Writes the run into a store of this folder, and gives its id."""
    now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal now
        now += timedelta(seconds=1)
        return now

    digests = Digests("1" * 64, "2" * 64, DATA, PROTOCOL, "3" * 64)
    order = NewRun(
        name=story.name,
        spec=story.path,
        sources={story.path: story.spec, **story.sources},
        digests=digests,
        seed=7,
        versions=story.versions,
        options=story.options,
    )
    with Store.open(folder, clock=clock) as store:
        run = store.runs.start(order).id
        evaluations = [_evaluation(one, place) for place, one in enumerate(story.trials)]
        asks = [
            StoredQuery(
                position=place,
                stage=one.stage,
                batch=place // 4,
                key=None if made is None else made.key,
                losses=one.losses,
                complexity=one.complexity,
                bound=one.bound,
                cutoff=0.0 if one.bound else None,
                vector=(0.5,),
            )
            for place, (one, made) in enumerate(zip(story.trials, evaluations, strict=True))
        ]
        events = [Event(kind, figures, place) for place, (kind, figures) in enumerate(story.events)]
        store.record(run, [made for made in evaluations if made is not None], asks, events)
        if story.status is not None:
            store.runs.end(run, story.status, story.result)
    return run


def record_of(story: Story, folder: Path) -> Record:
    run = write_story(story, folder)
    with Store.open(folder, read_only=True) as store:
        return read_record(store, run)


def _evaluation(one: Given, place: int) -> Evaluation | None:
    if one.model is None:
        return None
    model = sha256(f"{one.model} {place}".encode()).hexdigest()
    return Evaluation(
        inputs=EvaluationInputs(model, {"msl": "0.1.0"}, DATA, PROTOCOL, 7, share=one.share),
        text=one.model,
        losses=one.losses,
        metrics={"ber": one.losses[0]} if math.isfinite(one.losses[0]) else {},
        complexity=one.complexity,
        bound=one.bound,
        cutoff=0.0 if one.bound else None,
        failure=one.trouble,
        seconds=one.seconds,
        fits=3,
        fits_saved=1,
        folds_skipped=2 if one.bound else 0,
        warnings=one.warnings,
    )


# --- stories -------------------------------------------------------------------------------------------


def swarm(particles: int = 4, iterations: int = 9) -> Story:
    """A small swarm that gets better, with all kinds of trials in it."""
    trials: list[Given] = []
    events: list[tuple[str, Mapping[str, Any]]] = []
    best = math.inf
    for iteration in range(iterations + 1):
        losses = []
        for particle in range(particles):
            loss = 0.5 / (1 + iteration) + 0.05 * particle + 0.01 * ((3 * iteration + particle) % 5)
            one = Given(f"standardize >> {('svc', 'naive', 'rf')[particle % 3]}(x = {iteration}) >> bias", (loss,))
            if iteration == 3 and particle == 1:
                trouble = StoredFailure("exception", "ValueError: too few rows", "rf")
                one = Given("normalize >> rf", trouble=trouble, warnings=("did not converge",))
            elif iteration == 4 and particle == 2:
                one = Given(None)
            elif iteration > 4 and particle == 3:
                one = Given("naive", (loss,), bound=True)
            trials.append(one)
            losses.append(one.losses[0])
            if not one.bound:
                best = min(best, one.losses[0])
        figures = {"iteration": iteration, "inertia": 0.7, "losses": losses, "best": best, "stage": 0}
        events.append(("iteration", figures))
    events.append(("end", {"why": "all evaluations are used"}))
    winner = min((one for one in trials if not one.bound), key=lambda one: one.losses[0])
    result = {
        "best": winner.model,
        "objectives": {"ber": winner.losses[0]},
        "evaluations": len(trials),
        "reused": 2,
        "outside": 1,
        "failures": 1,
        "fits": 90,
        "fits_saved": 30,
        "seconds": 12.5,
        "ending": "all evaluations are used",
        "complexity": 3.0,
        "ensemble": [winner.model, "naive"],
        "ensemble_objectives": {"ber": 0.085},
        "test": {"ber": 0.09},
        "ensemble_test": {"ber": 0.08},
        "used": {"model": "best", "why": "not better than the best model alone"},
        "interval": {"ber": [0.02, 0.12]},
        "gap": {"ber": 0.09 - winner.losses[0]},
        "measures": {"ber": winner.losses[0]},
        "preferred": [
            {"choice": "scale", "block": "standardize", "asked": 30, "share": 0.75, "best_share": 0.9},
            {"choice": "scale", "block": "normalize", "asked": 10, "share": 0.25, "best_share": 0.1},
            {"choice": "scale", "block": "none", "asked": 0, "share": 0.0, "best_share": 0.0},
        ],
        "judged": {"kind": "classification", "classes": ["a", "b"], "confusion": [[40, 2], [5, 53]]},
        "test_judged": {"kind": "classification", "classes": ["a", "b"], "confusion": [[18, 2], [1, 29]]},
        "data": {
            "path": "/data/wine.csv",
            "rows": 100,
            "features": 13,
            "task": "classification",
            "classes": ["a", "b"],
        },
    }
    return Story(trials, events, result)


def regression() -> Story:
    """Two stages, a maximised metric, residuals."""
    spec = SPEC.replace("minimize ber by cv(folds = 3)", "maximize r2 by cv(folds = 3)").replace(
        "search pso(swarm = 4, iterations = 9)", "search random(evaluations = 10) then pattern(evaluations = 10)"
    )
    trials = [Given(f"standardize >> ridge(alpha = {place})", (-place / 20,), stage=place // 10) for place in range(20)]
    sweeps = [
        ("sweep", {"sweep": n, "step": 0.5**n, "tried": 3, "moved": n < 3, "best": -0.95, "stage": 1})
        for n in (1, 2, 3, 4)
    ]
    actual = [place / 3 for place in range(60)]
    predicted = [value + (0.75 if place % 2 else -0.25) for place, value in enumerate(actual)]
    judged = {"kind": "regression", "actual": actual, "predicted": predicted}
    result = {
        "best": trials[-1].model,
        "objectives": {"r2": 0.95},
        "test": {"r2": 0.5},
        "gap": {"r2": -0.45},
        "interval": {"r2": [0.9, 0.97]},
        "judged": judged,
        "data": {"rows": 60, "features": 4, "task": "regression", "target": "height", "classes": []},
    }
    return Story(trials, sweeps, result, spec=spec)


def several_objectives() -> Story:
    """Two objectives and their front, as swarms tell it."""
    spec = SPEC.replace("minimize ber by cv(folds = 3)", "minimize error by cv(folds = 3), features").replace(
        "pso(swarm = 4, iterations = 9)", "cmdpso(swarm = 4, iterations = 3)"
    )
    trials = [
        Given(f"keep(features = [true]) >> svc(x = {n})", (0.5 / (1 + n % 7), float(n % 7 + n % 3))) for n in range(40)
    ]
    fronts = [
        (
            "front",
            {
                "iteration": n,
                "front": [[0.5, 1.0]] * (n + 1),
                "hypervolume": n + 1.0,
                "reference": [1.0, 9.0],
                "stage": 0,
            },
        )
        for n in range(4)
    ]
    return Story(trials, fronts, None, "interrupted", spec=spec)


def levels() -> Story:
    """Best-first search."""
    spec = SPEC.replace("search pso(swarm = 4, iterations = 9)", "search best_first(channels = [learn])")
    rows = [
        {
            "reference": [],
            "channel": "k",
            "loss": 0.3,
            "gain": 0.1,
            "complexity": 5.0,
            "values": "k = 3",
            "opened": False,
        },
        {
            "reference": [],
            "channel": "distance",
            "loss": 0.2,
            "gain": 0.2,
            "complexity": 5.0,
            "values": "distance = manhattan",
            "opened": True,
        },
    ]
    told = [
        ("level", {"level": 0, "rows": [], "best": 0.4, "stage": 0}),
        ("level", {"level": 1, "rows": rows, "best": 0.2, "stage": 0}),
    ]
    trials = [Given("knn(k = 1)", (0.4,)), Given("knn(k = 3)", (0.3,)), Given("knn(distance = manhattan)", (0.2,))]
    return Story(trials, told, {"best": "knn(distance = manhattan)", "objectives": {"ber": 0.2}}, spec=spec)


def generations() -> Story:
    """A genetic algorithm, and arms and rungs beside it, as no run has them together."""
    told: list[tuple[str, Mapping[str, Any]]] = [
        (
            "generation",
            {
                "generation": n,
                "best": 0.5 - n / 20,
                "units": [n + 1.0],
                "mean_units": n + 2.5,
                "feasible": 9,
                "stage": 0,
            },
        )
        for n in range(6)
    ]
    told += [
        ("arm", {"arm": arm, "losses": [best] * 4, "best": best, "shares": {}, "stage": 0})
        for arm, best in (("start", 0.5), ("random", 0.4), ("pattern", 0.1))
    ]
    told += [
        ("rung", {"share": share, "losses": [0.3, 0.2, math.inf], "best": 0.2, "stage": 0}) for share in (0.25, 1.0)
    ]
    trials = [Given("rf", (0.5 - n / 20,), share=0.25 if n < 4 else 1.0) for n in range(10)]
    return Story(trials, told, {"best": "rf", "objectives": {"ber": 0.05}})


def many_classes(number: int = 50) -> Story:
    classes = [f"species number {n}" for n in range(number)]
    confusion = [[30 if a == b else 2 if (a * 7 + b) % 11 == 0 else 0 for b in range(number)] for a in range(number)]
    judged = {"kind": "classification", "classes": classes, "confusion": confusion}
    return Story([Given("naive", (0.3,))], (), {"best": "naive", "objectives": {"ber": 0.3}, "judged": judged})


def all_failed() -> Story:
    trouble = StoredFailure("memory", "not enough memory", "rf", 10_000_000)
    trials = [Given("standardize >> rf", trouble=trouble) for _ in range(30)] + [Given(None)] * 3
    return Story(trials, (), {"best": None, "objectives": {}, "evaluations": 33, "failures": 30, "outside": 3})


def nothing_yet() -> Story:
    return Story(status=None)


def evil() -> Story:
    """Every text that a user or a table can give, as bad as can be."""
    trouble = StoredFailure(EVIL, EVIL, EVIL)
    model = f'"{EVIL}"'
    trials = [Given(model, (0.1,), warnings=(EVIL,)), Given(model, trouble=trouble), Given(f"svc({EVIL})", (0.2,))]
    result = {
        "best": model,
        "objectives": {EVIL: 0.1},
        "ending": EVIL,
        "test": {EVIL: 0.2},
        "ensemble": [model],
        "interval": {EVIL: [0.0, 1.0]},
        "preferred": [
            {"choice": EVIL, "block": f"{EVIL}{n}", "asked": 1, "share": 0.5, "best_share": 0.5} for n in range(2)
        ],
        "judged": {"kind": "classification", "classes": [EVIL, "b"], "confusion": [[1, 2], [3, 4]]},
        "test_judged": {"kind": "regression", "actual": [1.0, 2.0], "predicted": [1.0, 3.0]},
        "data": {"path": EVIL, "rows": 3, "features": 1, "task": EVIL, "target": EVIL},
    }
    row = {"reference": [EVIL], "channel": EVIL, "values": EVIL, "opened": True}
    row |= {"loss": 0.1, "gain": 0.1, "complexity": 1.0}
    told = [
        ("level", {"level": 1, "rows": [row], "best": 0.1}),
        ("arm", {"arm": EVIL, "losses": [0.1], "best": 0.1}),
        ("end", {"why": EVIL}),
    ]
    return Story(
        trials, told, result, spec=f"# {EVIL}\n{SPEC}", name=EVIL, path=f"{EVIL}.msl", sources={EVIL: EVIL},
        options={"test": EVIL, "trusted": [EVIL]}, versions={EVIL: EVIL},
    )  # fmt: skip


def long_run(number: int = 20_000) -> Story:
    """As many evaluations as a night gives."""
    trials = [
        Given(
            f"standardize(center = true) >> svc(gamma = {n / 7}) >> bias",
            (0.2 + 0.5 * ((n * 7919) % 1000) / 1000 * (1 - n / number / 2),),
        )
        for n in range(number)
    ]
    told = [
        (
            "iteration",
            {"iteration": n // 50, "losses": [one.losses[0] for one in trials[n : n + 50]], "best": 0.2, "stage": 0},
        )
        for n in range(0, number, 50)
    ]
    return Story(trials, told, {"best": trials[0].model, "objectives": {"ber": 0.2}})


STORIES = {
    "swarm": swarm,
    "regression": regression,
    "several": several_objectives,
    "levels": levels,
    "generations": generations,
    "classes": many_classes,
    "failed": all_failed,
    "nothing": nothing_yet,
    "evil": evil,
}
