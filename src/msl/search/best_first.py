"""Best-first search over channels: at each level the channel that gains most is opened (Duch and Grudzinski, 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

from msl.search.ask import Ask, Event, Told, ended
from msl.search.channel import Channel, channels_of
from msl.search.inner import optimise
from msl.search.setting import Setting, Strategy
from msl.search.together import together

#: Two gains that differ by less are equal: losses are shares of rows, and their differences are not exact.
_SLACK = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A model to improve, and the channels that were opened on the way to it."""

    here: Told
    opened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """What optimising one channel of a reference came to."""

    reference: Reference
    channel: Channel
    found: Told

    @property
    def gain(self) -> float:
        if self.found is self.reference.here or isinf(self.found.loss):
            return 0.0
        return self.reference.here.loss - self.found.loss

    def is_worth(self, gain: float) -> bool:
        return self.found is not self.reference.here and self.gain >= gain - _SLACK

    @property
    def next(self) -> Reference:
        return Reference(self.found, (*self.reference.opened, self.channel.name))


def best_first(setting: Setting) -> Strategy:
    """Each level optimises every unopened channel of the reference, the rest held, and opens the one that gains most.

    Equal gains go to the simpler model. It ends when no channel gains `gain`, or at `levels`. With `beam = n` the n
    best extensions of a level are the references of the next.
    """
    options, terrain = setting.options, setting.terrain
    gain, beam, most = float(options["gain"]), int(options["beam"]), options["levels"]
    channels = channels_of(terrain, round(1 / options["step"]) + 1, int(options["patience"]))

    (start,) = yield [Ask(next(iter(setting.seeds(1)), terrain.start))]
    references = [Reference(start)]
    best = start
    setting.note(_start_event(start))
    level = 0

    while level != most:
        level += 1
        tries = [
            (one, here)
            for one in references
            for channel in channels
            if channel.name not in one.opened and (here := channel.here(one.here.vector)) is not None
        ]
        if not tries:
            setting.note(ended("all channels are open"))
            return
        found = yield from together([optimise(channel, one.here, options["inner"]) for one, channel in tries])
        extensions = [Extension(one, channel, new) for (one, channel), new in zip(tries, found, strict=True)]
        worthy = [one for one in extensions if one.is_worth(gain)]
        kept = _different(sorted(worthy, key=lambda one: (one.found.loss, one.found.complexity)))[:beam]
        if kept:
            best = min(best, kept[0].found, key=lambda one: (one.loss, one.complexity))
        setting.note(_level_event(level, extensions, kept, best))
        if not kept:
            setting.note(ended(f"no channel gains {gain:g}" if gain else "no channel gains anything"))
            return
        references = [one.next for one in kept]
    setting.note(ended(f"{most} levels are done"))


def _different(extensions: list[Extension]) -> list[Extension]:
    """Those that lead to the same model by the same channels once."""
    first: dict[tuple[object, frozenset[str]], Extension] = {}
    for one in extensions:
        model = one.channel.terrain.decode(one.found.vector)
        first.setdefault((model, frozenset(one.next.opened)), one)
    return list(first.values())


def _start_event(start: Told) -> Event:
    chosen = (start,) if start.is_finite else ()
    return Event("level", {"level": 0, "rows": [], "best": start.loss}, chosen, stands=True)


def _level_event(level: int, extensions: list[Extension], kept: list[Extension], best: Told) -> Event:
    """A row for each channel that was tried, as in the tables of the paper."""
    rows = [
        {
            "reference": one.reference.opened,
            "channel": one.channel.name,
            "loss": one.found.loss,
            "gain": one.gain,
            "complexity": one.found.complexity,
            "values": one.channel.terrain.describe(one.found.vector, one.channel.genes),
            "opened": one in kept,
        }
        for one in extensions
    ]
    figures = {"level": level, "rows": rows, "best": best.loss}
    return Event("level", figures, (best,) if best.is_finite else (), tuple(one.found for one in kept), stands=True)
