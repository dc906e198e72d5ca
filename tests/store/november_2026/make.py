"""Make the stores, locks and predictions of November 2026: `PYTHONPATH=OLD/src python make.py /tmp/november`.

OLD is a checkout of commit e1b7a29, the last one before blocks had public names and revisions; today's code cannot run
this file. Each store is an archive with the files of its folder; specs, tables and predictions stay readable.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

SEED = "3"

SPECS = {
    "clop": """\
# A chain of CLOP with a ranking of features and a vote.
msl 1
use clop

data(target = class)

part select = ftest(fmax: 2..8) | relief(fmax: 2..8) | pc_extract(fmax: 2..6) | s2n(fmax: 2..8)
part learn = zarbi | naive | klogistic | gkridge | logitboost | svc | kridge | rf(units: 10..12) | neural

chain full_model = subset(normalize, standardize, shift_scale) >> select >> learn >> bias

minimize ber by cv(folds = 2)
search pso(swarm = 6, iterations = 5)
ensemble vote(top = 9, always = true)
""",
    "kms": """\
# A kernel map before naive Bayes, with the priors of the classes made equal.
msl 1
use kms, sbm

data(target = class)

chain kernel_model =
  kernel_map(
    references: fft | kmeans,
    n: 4 | 8,
    points: centers | centroids,
    distance: angle | euclidean,
    kernel: gaussian | cauchy,
  )
  >> naive_bayes
  >> equal_priors

require kernel_map.points is centroids if kernel_map.references is kmeans
require kernel_map.distance is euclidean if kernel_map.references is kmeans

minimize ber by cv(folds = 3)
search random(evaluations = 8)
""",
    "rbf": """\
# A network of radial basis functions for regression.
msl 1
use rbf

data(target = y, task = regression)

chain network = rbf_network(centers: regions(6), overlap: real 0..1, basis: gaussian | thin_plate)

minimize mse by holdout(0.5), mse by gcv()
search occam_ga(population = 8, generations = 4, kappa = 5)
""",
    "sbm": """\
# Nearest neighbours with categorical columns and missing values.
msl 1
use sbm

data(target = sold, missing = ["?"])

chain nearest = symbolic(
  features: vector(n_features) of bool,
  distance: euclidean | manhattan | canberra,
  symbols: overlap | value_difference,
  weighting: uniform | inverse | triangular,
  k: int 1..10,
  rest = default,
)

minimize error by loo()
search best_first(start = symbolic(k = 1, distance = euclidean), channels = [k, distance, weighting, symbols])
""",
    "mopso": """\
# Columns to keep, chosen by a swarm with two objectives.
msl 1
use sbm

data(target = class)

chain wrapper = keep(features: vector(n_features) of bool) >> knn(k = 5, rest = default)

minimize error by cv(folds = 3), features
search cmdpso(swarm = 6, iterations = 4)
""",
    "failures": """\
# NMF refuses negative numbers, so that half of the models fail.
msl 1
use sklearn

data(target = class)

chain projected = (nmf(rest = default) | pca(n_components: 0.5..0.99, rest = default)) >> logistic

minimize error by cv(folds = 2)
search random(evaluations = 8)
""",
}
TABLES = {"clop": "wine.csv", "kms": "wine.csv", "mopso": "wine.csv", "rbf": "curve.csv", "sbm": "sales.csv"}
TABLES["failures"] = "signs.csv"
LOCKED = ("clop", "sbm")


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    _write_tables(folder)
    for name, text in SPECS.items():
        spec = folder / f"{name}.msl"
        spec.write_text(text)
        shutil.rmtree(folder / f"{name}_store", ignore_errors=True)
        _in_a_process(folder, "run", name)
        if name == "clop":
            _in_a_process(folder, "interrupt", name)
        if name in LOCKED:
            _in_a_process(folder, "lock", name)
        _in_a_process(folder, "predict", name)
        _pack(folder / f"{name}_store", folder / f"{name}_store.zip")


def _write_tables(folder: Path) -> None:
    """By formulas, so that there is nothing to draw."""
    wine = (Path(__file__).parents[3] / "specs" / "wine.csv").read_text().splitlines()
    (folder / "wine.csv").write_text("\n".join([wine[0], *wine[1::2]]) + "\n")
    curve = [f"{x:.3f},{(x * x - 0.3 * x) / (1 + abs(x)):.5f}" for x in (place / 9 - 2.5 for place in range(45))]
    (folder / "curve.csv").write_text("\n".join(["x,y", *curve]) + "\n")
    sales = [
        f"{'?' if row % 11 == 4 else row * 7 % 23},{'?' if row % 13 == 6 else ('red', 'green', 'blue')[row * 5 % 3]},"
        f"{row * row % 17 / 4},{('shop', 'web')[row // 3 % 2]},{'yes' if (row * 7 % 23) + (row % 3) * 4 > 14 else 'no'}"
        for row in range(70)
    ]
    (folder / "sales.csv").write_text("\n".join(["price,colour,size,place,sold", *sales]) + "\n")
    signs = [
        f"{row % 7 - 3},{row * 3 % 11 - 5},{row % 5},{row * row % 13 - 6},{'up' if row * 3 % 11 > 5 else 'down'}"
        for row in range(60)
    ]
    (folder / "signs.csv").write_text("\n".join(["a,b,c,d,class", *signs]) + "\n")


def _in_a_process(folder: Path, what: str, name: str) -> None:
    done = subprocess.run([sys.executable, __file__, str(folder), what, name], cwd=folder)
    assert done.returncode == (130 if what == "interrupt" else 0)


def _command(what: str, name: str) -> None:
    """One command of the old code, with paths that name no machine."""
    from msl.cli.main import command_line

    socket.gethostname = lambda: "november"
    store, table = f"{name}_store", TABLES[name]
    arguments = {
        "run": ["run", f"{name}.msl", table, "--on", "inprocess", "--seed", SEED, "--store", store, "--quiet"],
        "interrupt": ["run", f"{name}.msl", table, "--on", "inprocess", "--seed", "4", "--store", store, "--quiet"],
        "lock": ["lock", f"{name}.msl", table, "--seed", SEED],
        "predict": [
            "predict",
            "@1" if name == "clop" else "@",
            table,
            "--store",
            store,
            *(["--proba"] if name != "rbf" else []),
        ],
    }[what]
    if what == "predict" and name != "rbf":
        arguments.append("--proba")
    if what == "interrupt":
        _stop_after_one_batch()
    with Path(f"{name}_predictions.csv" if what == "predict" else os.devnull).open("w") as out, redirect_stdout(out):
        command_line([arguments[0]])(arguments, standalone_mode=False)


def _stop_after_one_batch() -> None:
    """As Ctrl-C does: the batch that is going on is the last one."""
    from msl.engine import session

    search = session.search

    def stopped_search(*arguments: object, **options: object) -> object:
        return search(*arguments, **(options | {"stopped": lambda: True}))

    session.search = stopped_search


def _pack(store: Path, archive: Path) -> None:
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        for file in sorted(store.rglob("*")):
            if file.is_file() and not file.name.endswith(("-wal", "-shm")):
                packed.writestr(
                    ZipInfo(str(file.relative_to(store)), (2026, 11, 30, 0, 0, 0)), file.read_bytes(), ZIP_DEFLATED
                )
    shutil.rmtree(store)


if __name__ == "__main__":
    main() if len(sys.argv) == 2 else _command(*sys.argv[2:])
