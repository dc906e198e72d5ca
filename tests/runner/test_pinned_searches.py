"""One search by each strategy that ships, pinned from end to end: what it asks for, in which order, and what it finds.

A pin that breaks says that searches of the past do not repeat: whoever replays one is told of a difference, and whoever
resumes one goes elsewhere. Where that is meant, print the pins anew, put them in the place of `PINS`, and say in the
CHANGELOG what has changed:

    python tests/runner/test_pinned_searches.py

The blocks draw no random numbers and losses come from counts of rows, so that the last digits of sums, which differ
between machines and between releases of NumPy, decide nothing.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from search_cases import searched

from msl.check.names.catalogues import shipped_strategies
from msl.space.to_text import model_to_text
from msl.space.values import Model

WINE = Path(__file__).parents[2] / "specs" / "wine.csv"
SPACES = {
    "chains": """use clop
        part scale = standardize | normalize | none
        part learn = zarbi | naive | kridge(degree = 1, coef0 = 1, gamma: 0.1..2, shrinkage: 0.01..2)
        chain m = scale >> ftest(fmax: int 2..13, rest = default)? >> learn
        minimize ber by cv(folds = 3)""",
    "features": """use clop, sbm
        chain m = keep >> standardize? >> (zarbi | naive)
        minimize ber by cv(folds = 3)""",
    "fewest features": """use clop, sbm
        chain m = keep >> standardize? >> (zarbi | naive)
        minimize ber by cv(folds = 3), features""",
}


@dataclass(frozen=True)
class Pin:
    """A search and what it came to; `digest` is of all models in the order in which they were asked for."""

    space: str
    search: str
    asked: int
    digest: str
    losses: tuple[float, ...]
    best: str


PINS = (
    Pin(
        "chains",
        "random(evaluations = 40)",
        40,
        "1289f7fb27eaa0f5",
        (0.035461,),
        "standardize(center = true) >> naive",
    ),
    Pin(
        "chains",
        "random(evaluations = 40, draw = models)",
        40,
        "826410a2801cb6d5",
        (0.028369,),
        "standardize(center = false) >> ftest(fmax = 6) >> kridge(gamma = 1.01310967933, shrinkage = 1.62811896812)",
    ),
    Pin(
        "chains",
        "grid(steps = 2)",
        390,
        "43bbfefd70de5043",
        (0.028369,),
        "standardize(center = true) >> ftest(fmax = 7) >> kridge(gamma = 0.1, shrinkage = 2.0)",
    ),
    Pin(
        "chains",
        "pso(swarm = 6, iterations = 6)",
        42,
        "0dab057d7be66236",
        (0.035461,),
        "standardize(center = true) >> naive",
    ),
    Pin(
        "features",
        "bpso(swarm = 6, iterations = 6)",
        42,
        "450d522046e2cd0d",
        (0.028369,),
        "keep(features = 1110010001010) >> standardize(center = false) >> naive",
    ),
    Pin(
        "chains",
        "pattern(evaluations = 40)",
        12,
        "59e830b29aa94559",
        (0.035461,),
        "standardize(center = false) >> naive",
    ),
    Pin(
        "chains",
        "best_first",
        36,
        "e9952b904f1c1796",
        (0.035461,),
        "standardize(center = true) >> naive",
    ),
    Pin(
        "features",
        "best_first(levels = 3)",
        319,
        "f24131b7f721b962",
        (0.0,),
        "keep(features = 1111110000010) >> standardize(center = true) >> zarbi",
    ),
    Pin(
        "chains",
        "occam_ga(population = 8, generations = 5)",
        43,
        "2e2ad3c54a00b932",
        (0.0511,),
        "standardize(center = true) >> ftest(fmax = 6) >> naive",
    ),
    Pin(
        "fewest features",
        "nspso(swarm = 6, iterations = 6)",
        42,
        "e1051a4f4ccd5297",
        (0.029824, 5.0),
        "keep(features = 0111000001010) >> standardize(center = false) >> zarbi",
    ),
    Pin(
        "fewest features",
        "cmdpso(swarm = 6, iterations = 6)",
        42,
        "a90a763bb590917b",
        (0.04024, 5.0),
        "keep(features = 0111010000010) >> standardize(center = true) >> naive",
    ),
    Pin(
        "chains",
        "auto(evaluations = 60)",
        60,
        "0a657eff65f80a16",
        (0.035461,),
        "standardize(center = true) >> naive",
    ),
    Pin(
        "chains",
        "halving(evaluations = 60)",
        60,
        "c08024811c6202cf",
        (0.035461,),
        "standardize(center = true) >> naive",
    ),
    Pin(
        "chains",
        "random(evaluations = 20) then confirm(top = 4, repeats = 3)",
        32,
        "b3d1dbb10b3c7e8e",
        (0.040189,),
        "standardize(center = true) >> naive",
    ),
    Pin(
        "chains",
        "random(evaluations = 20) then pso(swarm = 4, iterations = 3) then pattern(evaluations = 10)",
        45,
        "a1b1886a868c2215",
        (0.035461,),
        "standardize(center = true) >> naive",
    ),
)


def pinned(space: str, search: str, folder: Path) -> Pin:
    """What a search comes to now."""
    case = searched(folder, f"{SPACES[space]}\nsearch {search}\nseed 11\n", WINE)
    asked = []
    for ask, _ in case.found.history:
        model = case.plan.search_spaces[ask.stage].decode(ask.vector)
        text = model_to_text(model) if isinstance(model, Model) else "no model"
        asked.append(f"stage {ask.stage}, share {ask.share:.6f}, turn {ask.repeat}: {text}\n")
    best = case.verdict.best
    assert best is not None
    digest = hashlib.sha256("".join(asked).encode()).hexdigest()[:16]
    losses = tuple(round(loss, 6) for loss in best.losses)
    return Pin(space, search, len(asked), digest, losses, _short(model_to_text(best.model)))


def _short(text: str) -> str:
    """A model without what all models of these spaces have in common, and with bits for its features."""
    text = re.sub(r"(fdrmax|pval|wmin|coef0|degree) = [0-9.]+(, )?", "", text).replace(", )", ")")
    return re.sub(r"\[(.*)\]", lambda bits: bits[1].replace("true", "1").replace("false", "0").replace(", ", ""), text)


@pytest.mark.slow
@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.search)
def test_a_search_asks_for_the_same_models_and_finds_the_same_as_ever(tmp_path: Path, pin: Pin) -> None:
    assert pinned(pin.space, pin.search, tmp_path) == pin


def test_every_strategy_that_ships_is_pinned() -> None:
    named = {stage.partition("(")[0] for pin in PINS for stage in pin.search.split(" then ")}
    assert named == set(shipped_strategies()) - {"start", "portfolio"}  # these ask for what they are given


def _print_pins() -> None:
    """The table as it is now, as Python."""
    print("PINS = (")
    for pin in PINS:
        with TemporaryDirectory() as folder:
            now = pinned(pin.space, pin.search, Path(folder))
        print("    Pin(")
        for value in (now.space, now.search, now.asked, now.digest, now.losses, now.best):
            print(f"        {value!r},".replace("'", '"'))
        print("    ),")
    print(")")


if __name__ == "__main__":
    _print_pins()
