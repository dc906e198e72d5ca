"""Diary: what one evaluation notes down as it goes — the step it is at, what it fitted, and the figures of its fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class FitFigures:
    """Figures of the models that an estimate has fitted, one entry a fit; complexities of some or all of them."""

    features: list[float] = field(default_factory=list)
    complexities: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, features: float, complexity: float | None, seconds: float) -> None:
        self.features.append(features)
        if complexity is not None:
            self.complexities.append(complexity)
        self.seconds.append(seconds)

    @property
    def complexity(self) -> float:
        """The mean over the fits that were weighed."""
        return sum(self.complexities) / len(self.complexities) if self.complexities else 0.0

    def means(self, n_features: int, n_fits: int | None = None) -> dict[str, float]:
        """The measures of the models themselves: means over the fits, those that are still to come taken for nothing.

        `n_features` are those of the table.
        """
        count = n_fits or len(self.seconds)
        features = sum(self.features) / count
        return {
            "features": features,
            "feature_share": features / n_features,
            "complexity": sum(self.complexities) / count,
            "fit_time": sum(self.seconds) / count,
        }


@dataclass(slots=True)
class Diary:
    """`step` is the block at work, for whoever has to say where trouble came from; `on_step` hears of it."""

    on_step: Callable[[str], None] | None = None
    step: str = ""
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0

    def at(self, step: str) -> None:
        """A block starts work."""
        self.step = step
        if self.on_step is not None:
            self.on_step(step)
