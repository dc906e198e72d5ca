"""Blocks that go wrong on the rows that are judged."""

from __future__ import annotations

from typing import Any

from faulty_blocks import Copies


class FailsOnOthers(Copies):
    """Takes the rows that it was fitted on, and no others."""

    def fit(self, X: Any, y: Any = None) -> FailsOnOthers:
        self.first_ = X[0].copy()
        return self

    def transform(self, X: Any) -> Any:
        if (X[0] != self.first_).any():
            raise RuntimeError("no rows that I was not fitted on")
        return X.copy()
