"""Registry: every benchmark that is made of cells, by its name."""

from __future__ import annotations

from benchmarks import peers
from benchmarks.benchmark import Benchmark
from benchmarks.papers import challenge, hermite, kms, mopso, psms, sbm

BENCHMARKS: dict[str, Benchmark] = {
    each.name: each
    for each in (
        psms.BENCHMARK,
        kms.BENCHMARK,
        hermite.BENCHMARK,
        mopso.BENCHMARK,
        sbm.BENCHMARK,
        challenge.BENCHMARK,
        peers.BENCHMARK,
    )
}
