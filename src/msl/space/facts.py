"""What a spec may know of the table it will run on: its sizes, its task and its columns."""

from __future__ import annotations

from typing import Literal

from msl.text.record import record

Task = Literal["classification", "regression"]


@record
class Facts:
    """Constants of a table before any split or step; bounds such as `min(50, n_features)` are computed from them.

    The columns are the features in the order in which vectors over features number them.
    """

    n_samples: int
    n_features: int
    #: 0 for regression.
    n_classes: int
    task: Task
    columns: tuple[str, ...] = ()
    #: The columns that hold symbols, and those that lack values somewhere; blocks may need them encoded or imputed.
    symbolic: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n_samples < 1 or self.n_features < 1:
            raise ValueError(f"a table has rows and features, not {self.n_samples} × {self.n_features}")
        if (self.task == "regression") != (self.n_classes == 0):
            raise ValueError(f"{self.task} does not go with {self.n_classes} classes")
        if self.columns and len(self.columns) != self.n_features:
            raise ValueError(f"{len(self.columns)} names for {self.n_features} features")
