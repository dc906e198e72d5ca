"""Translation: a space given to other optimisers — one walk that asks for every choice by name and builds the model.

The walk is the same for all; who answers differs: chance, a trial of Optuna, a configuration of ConfigSpace. The names
of conditional choices say where in the space they are, so a choice is asked for only where it exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Protocol

import numpy as np

from msl.space.nodes import (
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Marked,
    Node,
    Permute,
    RealRange,
    Sequence,
    Subset,
)
from msl.space.numbers import ends, whole_numbers
from msl.space.spec import Space
from msl.space.values import BlockValue, Model, Step, Value


class Chooser(Protocol):
    """Whoever answers the questions of the walk."""

    def option(self, name: str, count: int) -> int: ...

    def whole(self, name: str, low: int, high: int, log: bool) -> int: ...

    def real(self, name: str, low: float, high: float, log: bool) -> float: ...


def choose_model(space: Space, chooser: Chooser) -> Model:
    """The model that the answers lead to. Raises TypeError for a space that peers cannot be given."""
    if space.requirements:
        raise TypeError("a space with requirements cannot be given to peers: they know only conditions")
    return Model(tuple(_steps(space.root, "", chooser)))


def _steps(node: Node, name: str, chooser: Chooser) -> Iterator[Step]:
    match node:
        case Empty():
            return
        case Marked(node=inner):
            yield from _steps(inner, name, chooser)
        case BlockUse():
            params = tuple(
                (param.name, _value(param.node, f"{name}{node.block.name}.{param.name}", chooser))
                for param in node.params
            )
            yield BlockValue(node.block, params)
        case Choice(options=options):
            number = chooser.option(f"{name}choice", len(options))
            yield from _steps(options[number], f"{name}{number}.", chooser)
        case Sequence(steps=steps):
            for number, step in enumerate(steps):
                yield from _steps(step, f"{name}{number}.", chooser)
        case Subset(members=members):
            for number, member in enumerate(members):
                if chooser.option(f"{name}has.{number}", 2):
                    yield from _steps(member, f"{name}{number}.", chooser)
        case Permute(members=members):
            orders = list(permutations(range(len(members))))
            for number in orders[chooser.option(f"{name}order", len(orders))]:
                yield from _steps(members[number], f"{name}{number}.", chooser)
        case _:
            raise TypeError(f"{type(node).__name__} cannot be given to peers")


def _value(node: Node, name: str, chooser: Chooser) -> Value:
    match node:
        case Const(value=value):
            return value  # type: ignore[return-value]  # a resolved space has no formulas
        case Bool():
            return bool(chooser.option(name, 2))
        case IntRange():
            numbers = whole_numbers(node)
            if len(numbers) == 1 or node.step == 1:
                return chooser.whole(name, numbers[0], numbers[-1], node.log) if len(numbers) > 1 else numbers[0]
            return numbers[chooser.option(name, len(numbers))]
        case RealRange(step=None):
            low, high = ends(node)
            return chooser.real(name, low, high, node.log) if low < high else low
        case Choice(options=options):
            number = chooser.option(name, len(options))
            return _value(options[number], f"{name}.{number}", chooser)
        case Marked(node=inner):
            return _value(inner, name, chooser)
    raise TypeError(f"{type(node).__name__} cannot be given to peers as a parameter")


# --- who answers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chance:
    """Answers at random, as scikit-learn's RandomizedSearchCV draws."""

    rng: np.random.Generator

    def option(self, name: str, count: int) -> int:
        return int(self.rng.integers(count))

    def whole(self, name: str, low: int, high: int, log: bool) -> int:
        return round(self.real(name, low, high, log)) if log else int(self.rng.integers(low, high + 1))

    def real(self, name: str, low: float, high: float, log: bool) -> float:
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high)))) if log else float(self.rng.uniform(low, high))


@dataclass(frozen=True, slots=True)
class OptunaTrial:
    """A trial of Optuna: it suggests."""

    trial: Any

    def option(self, name: str, count: int) -> int:
        return int(self.trial.suggest_categorical(name, list(range(count))))

    def whole(self, name: str, low: int, high: int, log: bool) -> int:
        return int(self.trial.suggest_int(name, low, high, log=log))

    def real(self, name: str, low: float, high: float, log: bool) -> float:
        return float(self.trial.suggest_float(name, low, high, log=log))


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration of ConfigSpace: what it says by name."""

    values: dict[str, Any]

    def option(self, name: str, count: int) -> int:
        return int(self.values[name])

    def whole(self, name: str, low: int, high: int, log: bool) -> int:
        return int(self.values[name])

    def real(self, name: str, low: float, high: float, log: bool) -> float:
        return float(self.values[name])


# --- a declaration of all questions -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """One choice with the answers that must have been given for it to exist."""

    name: str
    count: int | None
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    is_whole: bool = False
    needs: tuple[tuple[str, int], ...] = ()


class _Explorer:
    """Answers with a script, else with the first option, and remembers every question and every answer."""

    def __init__(self, script: dict[str, int]) -> None:
        self.script = script
        self.met: list[Question] = []
        self.answers: dict[str, int] = {}

    def option(self, name: str, count: int) -> int:
        self._meet(Question(name, count))
        self.answers[name] = self.script.get(name, 0)
        return self.answers[name]

    def whole(self, name: str, low: int, high: int, log: bool) -> int:
        self._meet(Question(name, None, low, high, log, is_whole=True))
        return low

    def real(self, name: str, low: float, high: float, log: bool) -> float:
        self._meet(Question(name, None, low, high, log))
        return low

    def _meet(self, question: Question) -> None:
        needs = (
            (name, answer) for name, answer in self.answers.items() if question.name.startswith(_opened(name, answer))
        )
        self.met.append(replace(question, needs=tuple(needs)))


def _opened(name: str, answer: int) -> str:
    """How the names begin of what an answer opens."""
    if name.endswith("choice"):
        return f"{name.removesuffix('choice')}{answer}."
    place, has, number = name.rpartition("has.")
    return f"{place}{number}." if has else f"{name}.{answer}"


def questions(space: Space) -> list[Question]:
    """Every question that the walk can ask; one that others open `needs` their answers.

    Each option of each choice is answered once, in the light of the answers that opened it.
    """
    found: dict[str, Question] = {}
    pending: list[dict[str, int]] = [{}]
    while pending:
        script = pending.pop()
        explorer = _Explorer(script)
        choose_model(space, explorer)
        for question in explorer.met:
            if question.name not in found:
                found[question.name] = question
                opened = dict(question.needs)
                pending.extend({**opened, question.name: answer} for answer in range(1, question.count or 1))
    return sorted(found.values(), key=lambda question: len(question.needs))


def space_to_configspace(space: Space, seed: int) -> Any:
    """The same space with its conditions, for SMAC."""
    from ConfigSpace import AndConjunction, Categorical, ConfigurationSpace, EqualsCondition, Float, Integer

    translated = ConfigurationSpace(seed=seed)
    for question in questions(space):
        match question:
            case Question(count=int(count)):
                made: Any = Categorical(question.name, list(range(count)))
            case Question(is_whole=True):
                made = Integer(question.name, (int(question.low), int(question.high)), log=question.log)
            case _:
                made = Float(question.name, (question.low, question.high), log=question.log)
        translated.add(made)
        conditions = [EqualsCondition(made, translated[name], answer) for name, answer in question.needs]
        if conditions:
            translated.add(conditions[0] if len(conditions) == 1 else AndConjunction(*conditions))
    return translated
