"""Registry: every benchmark that is made of cells, by its name."""

from __future__ import annotations

from benchmarks import columns, first_steps, honesty, importance, peers, portfolio, suggestions, tables
from benchmarks.benchmark import Benchmark
from benchmarks.papers import challenge, hermite, kms, kms_classifiers, kms_consensus, mopso, psms, psms_settings, sbm

BENCHMARKS: dict[str, Benchmark] = {
    each.name: each
    for each in (
        psms.BENCHMARK,
        psms_settings.BENCHMARK,
        kms.BENCHMARK,
        kms_consensus.BENCHMARK,
        kms_classifiers.BENCHMARK,
        hermite.BENCHMARK,
        mopso.BENCHMARK,
        sbm.BENCHMARK,
        challenge.BENCHMARK,
        peers.BENCHMARK,
        tables.BENCHMARK,
        columns.BENCHMARK,
        first_steps.BENCHMARK,
        portfolio.BENCHMARK,
        honesty.BENCHMARK,
        importance.BENCHMARK,
        suggestions.BENCHMARK,
    )
}
