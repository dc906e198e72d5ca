"""Winners on disk: what is loaded predicts as what was saved, and what is not ours is refused."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from winner_cases import CASES, Finished

from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.runner.safe_load import ModelFileError, load_estimator
from msl.runner.trained_model import load_trained, other_versions, record_to_schema, schema_to_record
from msl.store.store import Files

Get = Callable[[str], Finished]


@pytest.mark.slow
@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_a_loaded_model_predicts_as_the_run_does(finished: Get, name: str) -> None:
    done = finished(name)
    loaded = load_trained(Files(done.store), done.run)
    table = loaded.read(done.table)
    assert loaded.predict(table).tolist() == done.trained.predict(table).tolist()
    assert loaded.schema == done.trained.schema
    assert np.array_equal(loaded.ranges, done.trained.ranges, equal_nan=True)
    assert loaded.text == done.trained.text
    if loaded.task == "classification":
        shares = loaded.predict_proba(table)
        assert np.allclose(shares.sum(axis=1), 1.0)
        assert loaded.labels()[shares.argmax(axis=1)].tolist() == loaded.predict(table).tolist()


def test_the_estimator_alone_predicts_labels(finished: Get) -> None:
    done = finished("own_blocks")
    table = done.trained.read(done.table)
    alone = load_estimator(Files(done.store).model(done.run).read_bytes(), "it")
    assert alone.predict(table.X).tolist() == done.trained.predict(table).tolist()


def test_predictions_need_no_target_and_no_order_of_columns(finished: Get, tmp_path: Path) -> None:
    done = finished("symbols")
    lines = [line.split(",") for line in done.table.read_text(encoding="utf-8").splitlines()]
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join(",".join(reversed(line[:-1])) for line in lines), encoding="utf-8")
    both = [done.trained.read(path) for path in (done.table, turned)]
    assert done.trained.predict(both[0]).tolist() == done.trained.predict(both[1]).tolist()


def test_a_missing_column_is_named(finished: Get, tmp_path: Path) -> None:
    done = finished("own_blocks")
    table = tmp_path / "short.csv"
    table.write_text("f0,f1\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="lacks the column `f2`"):
        done.trained.read(table)


# --- files that are not as they were ----------------------------------------------------------------


@pytest.fixture
def copied(finished: Get, tmp_path: Path) -> tuple[Files, str]:
    done = finished("forest")
    shutil.copytree(done.store, tmp_path / "store")
    return Files(tmp_path / "store"), done.run


@pytest.mark.slow
def test_changed_bytes_are_noticed(copied: tuple[Files, str]) -> None:
    files, run = copied
    content = bytearray(files.model(run).read_bytes())
    content[len(content) // 2] ^= 1
    files.model(run).write_bytes(content)
    with pytest.raises(ModelFileError, match="is not the file that the run saved"):
        load_trained(files, run)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": "x"}'])
def test_a_description_that_is_none_is_refused(copied: tuple[Files, str], text: str) -> None:
    files, run = copied
    files.model(run, ".json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError):
        load_trained(files, run)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["schema", "ranges", "versions"])
def test_a_description_with_something_else_in_it_is_refused(copied: tuple[Files, str], key: str) -> None:
    files, run = copied
    path = files.model(run, ".json")
    record = json.loads(path.read_text(encoding="utf-8"))
    for other in (None, 7, []):
        path.write_text(json.dumps(record | {key: other}), encoding="utf-8")
        with pytest.raises(ModelFileError, match="cannot be read"):
            load_trained(files, run)


def test_a_newer_format_is_told(copied: tuple[Files, str]) -> None:
    files, run = copied
    files.model(run, ".json").write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(ModelFileError, match="newer version"):
        load_trained(files, run)


def test_a_run_without_a_model_is_told(copied: tuple[Files, str]) -> None:
    with pytest.raises(ModelFileError, match="has saved no model"):
        load_trained(copied[0], "20200101-000000-nobod")


def test_other_versions_are_told(finished: Get) -> None:
    trained = finished("own_blocks").trained
    assert not other_versions(trained)
    trained.versions["numpy"] = "1.0"  # type: ignore[index]  # a dict, as it is made
    try:
        assert other_versions(trained) == {"numpy": ("1.0", np.__version__)}
    finally:
        trained.versions["numpy"] = np.__version__  # type: ignore[index]


# --- a stranger's files -----------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_skops_file_is_refused(content: bytes) -> None:
    with pytest.raises(ModelFileError, match="damaged or no saved model"):
        load_estimator(content, "it")


class Foreign:
    """A class of a package that nobody trusts."""

    x = 1


@pytest.mark.parametrize(
    "thing",
    [
        FunctionTransformer(np.load, kw_args={"allow_pickle": True}),
        FunctionTransformer(np.savetxt),
        FunctionTransformer(partial(np.full, 3)),
        Foreign(),
        [Foreign],
        FunctionTransformer(zipfile.ZipFile.extractall),
    ],
)
def test_functions_and_foreign_classes_are_refused(thing: object) -> None:
    with pytest.raises(ModelFileError, match="no model of this package holds"):
        load_estimator(skops.io.dumps(thing), "it")


@pytest.mark.parametrize(
    "thing", [OrderedDict(a=1), Counter("aab"), defaultdict(OrderedDict, {"a": OrderedDict(b=2)}), defaultdict(Counter)]
)
def test_containers_of_the_standard_library_are_data(thing: object) -> None:
    assert load_estimator(skops.io.dumps(thing), "it") == thing


@pytest.mark.parametrize(
    ("name", "module"),
    [("system", "os"), ("system", "posix"), ("Popen", "subprocess"), ("namedtuple", "collections"), ("run", "runpy")],
)
def test_nobody_is_asked_to_trust_the_standard_library(name: str, module: str) -> None:
    """A file made by hand asks for a command to be run wherever an entry is missing."""
    honest = skops.io.dumps(defaultdict(Foreign))
    with zipfile.ZipFile(io.BytesIO(honest)) as file:
        schema = json.loads(file.read("schema.json"))
    assert schema["content"]["default_factory"]["__class__"] == "Foreign"
    schema["content"]["default_factory"] |= {"__class__": name, "__module__": module}
    content = _rewritten(honest, schema)
    with pytest.raises(ModelFileError, match="no model of this package holds") as refused:
        load_estimator(content, "it")
    assert "--trust" not in str(refused.value)


def test_a_package_can_be_trusted_by_name() -> None:
    content = skops.io.dumps(Foreign())
    with pytest.raises(ModelFileError, match=f"--trust {__name__}"):
        load_estimator(content, "it")
    assert isinstance(load_estimator(content, "it", trusted=[__name__]), Foreign)


def test_a_name_in_a_trusted_package_that_is_no_class_is_refused() -> None:
    """The file is made by hand: it asks for the command line of this package as if it were a class."""
    content = _rewritten(skops.io.dumps(Foreign()), {"__class__": "main", "__module__": "msl.__main__"})
    with pytest.raises(ModelFileError, match=r"msl.__main__.main"):
        load_estimator(content, "it")


def _rewritten(content: bytes, changes: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.namelist():
            data = old.read(entry)
            if entry == "schema.json":
                data = json.dumps(json.loads(data) | changes).encode()
            new.writestr(entry, data)
    return made.getvalue()


@pytest.mark.parametrize(("field", "value"), [("left_child", 10_000), ("left_child", 0), ("feature", 77)])
def test_a_tree_whose_links_lead_astray_is_refused(field: str, value: int) -> None:
    rng = np.random.default_rng(0)
    model = DecisionTreeClassifier(random_state=0).fit(rng.random((40, 3)), rng.integers(2, size=40))
    assert load_estimator(skops.io.dumps(model), "it").tree_.node_count == model.tree_.node_count
    state = model.tree_.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][0] = value
    model.tree_.__setstate__(state)
    with pytest.raises(ModelFileError, match="links of a tree"):
        load_estimator(skops.io.dumps(model), "it")


@pytest.mark.parametrize(("field", "value"), [("left", 10_000), ("right", 0), ("feature_idx", 77)])
def test_a_boosted_tree_whose_links_lead_astray_is_refused(field: str, value: int) -> None:
    rng = np.random.default_rng(0)
    model = HistGradientBoostingRegressor(max_iter=2, random_state=0).fit(rng.random((100, 3)), rng.random(100))
    load_estimator(skops.io.dumps(model), "it")
    model._predictors[1][0].nodes[field][0] = value
    with pytest.raises(ModelFileError, match="links of a tree"):
        load_estimator(skops.io.dumps(model), "it")


def test_every_schema_comes_back_from_json(finished: Get) -> None:
    options = DataOptions(target="f0", task="regression", missing=("?", -9), ignore=("class",), separator=",")
    table = read_table(finished("symbols").table, options=DataOptions(categorical=("f1",)))
    given = read_table(finished("boosting").table.parent / "holes.csv", options=DataOptions(positive=None))
    for schema in (table.schema, given.schema):
        assert record_to_schema(json.loads(json.dumps(schema_to_record(schema)))) == schema
    diabetes = finished("numbers").trained.schema
    changed = replace(diabetes, options=options)
    assert record_to_schema(json.loads(json.dumps(schema_to_record(changed)))) == changed
