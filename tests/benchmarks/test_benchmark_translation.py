"""Translation: peers are given exactly our space."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.translation import Chance, OptunaTrial, Settings, choose_model, questions, space_to_configspace
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.space.formulas import Facts
from msl.space.membership import Membership
from msl.space.spec import Space
from msl.space.values import Model

FACTS = Facts(n_samples=100, n_features=12, n_classes=2, task="classification")
PSMS = Path(__file__).parents[2] / "specs" / "psms.msl"
SMALL = """use clop
part pre = subset(normalize, standardize)
part fs = ftest | gs
chain m = permute(pre, fs?) >> (naive | svc)
"""


def space_of(text: str) -> Space:
    spec = check_source(Source("t.msl", text, str(PSMS)), FACTS).spec
    assert spec is not None
    return space_to_codec(spec.space).space


def blocks(model: Model) -> tuple[str, ...]:
    return tuple(step.block.name for step in model.steps)


@pytest.mark.parametrize("text", [PSMS.read_text(), SMALL], ids=["psms", "small"])
def test_every_model_of_chance_is_in_the_space(text: str) -> None:
    space = space_of(text)
    chance, deriver = Chance(np.random.default_rng(0)), Membership(space)
    for _ in range(100):
        deriver.derive(choose_model(space, chance))


@pytest.mark.slow
def test_chance_reaches_every_structure() -> None:
    space = space_of(SMALL)
    chance = Chance(np.random.default_rng(0))
    found = {blocks(choose_model(space, chance)) for _ in range(2_000)}
    codec = space_to_codec(space)
    ours = {
        blocks(model) for model in codec.decode(np.random.default_rng(1).random((5_000, codec.n_dimensions))).models()
    }
    assert found == ours


def test_conditions_open_a_question_exactly_where_the_walk_asks_it() -> None:
    """Whatever is answered, the questions whose needs are met are those that are asked."""
    space = space_of(SMALL)
    declared = questions(space)
    assert len({question.name for question in declared}) == len(declared)
    rng = np.random.default_rng(0)

    class Listening(Chance):
        asked: dict[str, int]

        def option(self, name: str, count: int) -> int:
            answer = super().option(name, count)
            self.asked[name] = answer
            return answer

        def whole(self, name: str, low: int, high: int, log: bool) -> int:
            self.asked[name] = -1
            return super().whole(name, low, high, log)

        def real(self, name: str, low: float, high: float, log: bool) -> float:
            self.asked[name] = -1
            return super().real(name, low, high, log)

    for _ in range(200):
        listening = Listening(rng)
        object.__setattr__(listening, "asked", {})
        choose_model(space, listening)
        open_ = {q.name for q in declared if all(listening.asked.get(name) == answer for name, answer in q.needs)}
        assert open_ == set(listening.asked)


def test_configspace_has_the_same_models() -> None:
    pytest.importorskip("ConfigSpace")
    space = space_of(PSMS.read_text())
    deriver = Membership(space)
    translated = space_to_configspace(space, seed=0)
    learners = set()
    for configuration in translated.sample_configuration(200):
        model = choose_model(space, Settings(dict(configuration)))
        deriver.derive(model)
        learners.add(model.steps[-2].block.name)
    assert len(learners) == 10


def test_optuna_suggests_models() -> None:
    optuna = pytest.importorskip("optuna")
    space = space_of(SMALL)
    deriver = Membership(space)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    for _ in range(15):
        trial = study.ask()
        model = choose_model(space, OptunaTrial(trial))
        deriver.derive(model)
        study.tell(trial, float(len(model.steps)))


def test_what_peers_cannot_take_is_refused() -> None:
    text = SMALL + "require svc.gamma < 0.1"
    with pytest.raises(TypeError, match="requirements"):
        choose_model(space_of(text), Chance(np.random.default_rng(0)))
