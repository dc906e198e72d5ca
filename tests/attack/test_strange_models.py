"""Model files that somebody else has made: they give a model or a ModelProblem, run nothing and stay small."""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from skops.io._protocol import PROTOCOL

from msl.runner.safe_load import ModelFileError, load_estimator
from msl.runner.trained_model import load_trained
from msl.store.store import Files

Get = Callable[[str], Any]


def archive(schema: Any, compression: int = zipfile.ZIP_STORED, **files: bytes) -> bytes:
    """A file of skops with this schema."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as made:
        made.writestr("schema.json", schema if isinstance(schema, str) else json.dumps(schema | {"protocol": PROTOCOL}))
        for name, part in files.items():
            made.writestr(name.replace("_", "."), part)
    return content.getvalue()


def node(kind: str, loader: str, **more: Any) -> dict[str, Any]:
    module, _, name = kind.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, **more}


def value(of: Any) -> dict[str, Any]:
    return node("builtins.str", "JsonNode", content=json.dumps(of), is_json=True)


def values(*parts: Any, **more: Any) -> dict[str, Any]:
    return node("builtins.list", "ListNode", content=list(parts), **more)


def arguments(*parts: Any) -> dict[str, Any]:
    return node("builtins.tuple", "TupleNode", content=list(parts))


def array(shape: str, dtype: str = "<f8", content: bytes = b"") -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def nested(depth: int) -> dict[str, Any]:
    """Lists that hold the next one twice, by its id: 2**depth of them, in a few lines."""
    inner = values(__id__=1)
    for identity in range(2, depth):
        again = node("builtins.list", "ListNode", content=[], __id__=identity - 1)
        inner = values(inner, again, __id__=identity)
    return inner


MATRIX = node("scipy.sparse._csr.csr_matrix", "SparseMatrixNode", type="scipy", file="1.npz")
ARRAY = node("numpy.ndarray", "NdArrayNode", type="numpy", file="1.npy")


def test_no_class_that_opens_files_is_made(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    call = arguments(value(str(victim)), value("uint8"), value("w+"), value(0), arguments(value(10)))
    writers = ["numpy.memmap", "scipy.io._netcdf.netcdf_file", "numpy.lib._datasource.DataSource"]
    for kind in (*writers, "numpy.lib.npyio.NpzFile", "sklearn.utils._testing.TempMemmap"):
        for loader in ("ConstructorFromReduceNode", "ReduceNode", "LossNode", "TreeNode", "ObjectNode"):
            with pytest.raises(ModelFileError):
                load_estimator(archive(node(kind, loader, content=call, reduce=call)), "it")
    assert victim.read_text(encoding="utf-8") == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


HUGE = {
    "packed": lambda: archive(value("x" * 10_000_000), zipfile.ZIP_DEFLATED),
    "a large shape": lambda: archive(ARRAY, **{"1_npy": array("(1000000000000,)")}),
    "a shape beyond all numbers": lambda: archive(ARRAY, **{"1_npy": array(f"({'9' * 40},)")}),
    "nothing, very often": lambda: archive(ARRAY, **{"1_npy": array("(1000000000000000,)", "|V0")}),
    "a negative shape": lambda: archive(ARRAY, **{"1_npy": array("(-5,)")}),
    "deep": lambda: archive(json.dumps(value(1))[:-1] + ', "more": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "deep nodes": lambda: archive('{"a":' * 50_000 + "1" + "}" * 50_000),
    "deep lists": lambda: archive(deep_lists(3_000)),
    "laughs": lambda: archive(nested(60)),
    "a circle": lambda: archive(values(values(node("builtins.list", "ListNode", content=[], __id__=7)), __id__=7)),
    "one array, many times": lambda: archive(
        values(*[ARRAY] * 5_000), **{"1_npy": array("(1000000,)", "<f8", bytes(8_000_000))}
    ),
    "a packed matrix": lambda: archive(
        node("scipy.sparse._csr.csr_matrix", "SparseMatrixNode", type="scipy", file="1.npz"),
        **{"1_npz": packed_matrix()},
    ),
}


def deep_lists(depth: int) -> dict[str, Any]:
    inner = values()
    for _ in range(depth):
        inner = values(inner)
    return inner


def packed_matrix() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as made, made.open("data.npy", "w") as part:
        part.write(array("(75000000,)"))
        for _ in range(60):
            part.write(bytes(10_000_000))
    return content.getvalue()


@pytest.mark.parametrize("kind", HUGE)
def test_what_asks_for_all_memory_or_all_time_is_refused(kind: str, tmp_path: Path) -> None:
    """In a process that may not take much more than it has."""
    if sys.getrecursionlimit() < 10_000 and kind == "deep lists":
        sys.setrecursionlimit(20_000)  # to write it; the process that reads it has the usual limit
    file = tmp_path / "model.skops"
    file.write_bytes(HUGE[kind]())
    program = (
        "import resource, sys; from pathlib import Path; import skops.io;"
        "from msl.runner.safe_load import ModelFileError as ModelProblem, load_estimator;"
        "held = int(Path('/proc/self/statm').read_text().split()[5]) * 4096 if sys.platform == 'linux' else 0;"
        "held and resource.setrlimit(resource.RLIMIT_DATA, (held + 700_000_000, held + 700_000_000))\n"
        "try: load_estimator(Path(sys.argv[1]).read_bytes(), 'it')\n"
        "except ModelProblem as problem: print('refused:', problem.message[:200])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout[:8]) == (0, "refused:"), (done.stdout, done.stderr[-500:])


@pytest.mark.parametrize("name", ["own_blocks", "forest", "plain"])
def test_mutated_files_raise_only_our_own_errors(finished: Get, name: str) -> None:
    """Each byte that is changed, cut or doubled gives a ModelProblem or a model; nothing else, and no great memory."""
    done = finished(name)
    content = Files(done.store).model(done.run).read_bytes()
    chance = random.Random(name)
    refused = 0
    for _ in range(400):
        other = bytearray(content)
        for _ in range(chance.choice((1, 1, 2, 8))):
            place = chance.randrange(len(other))
            match chance.randrange(5):
                case 0:
                    other[place] ^= 1 << chance.randrange(8)
                case 1:
                    other[place] = chance.randrange(256)
                case 2:
                    del other[place : place + chance.choice((1, 4, 100))]
                case 3:
                    other[place:place] = other[place : place + chance.choice((1, 4, 100))]
                case 4:
                    other[place : place + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"[{}]", b'"":9'))
        try:
            load_estimator(bytes(other), "it")
        except ModelFileError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize("name", ["own_blocks", "forest"])
def test_mutated_schemas_raise_only_our_own_errors(finished: Get, name: str) -> None:
    """The same with parts of the schema exchanged for others, in a file that is sound otherwise."""
    done = finished(name)
    with zipfile.ZipFile(Files(done.store).model(done.run)) as opened:
        schema = json.loads(opened.read("schema.json"))
        files = {entry: opened.read(entry) for entry in opened.namelist() if entry != "schema.json"}
    chance = random.Random(name)
    for _ in range(300):
        changed = json.loads(json.dumps(schema))
        spots = list(spots_of(changed))
        holder, key = chance.choice(spots)
        other_holder, other_key = chance.choice(spots)
        holder[key] = chance.choice((None, 7, -1, "x", [], {}, True, 1e300, other_holder[other_key]))
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as made:
            try:
                made.writestr("schema.json", json.dumps(changed))
            except ValueError:  # it holds itself now, which JSON cannot say
                continue
            for entry, part in files.items():
                made.writestr(entry, part)
        try:
            load_estimator(content.getvalue(), "it")
        except ModelFileError:
            continue


def spots_of(part: Any) -> Any:
    pending = [part]
    while pending:
        each = pending.pop()
        inner = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        for key, held in inner:
            yield each, key
            pending.append(held)


def test_mutated_descriptions_raise_only_our_own_errors(finished: Get, tmp_path: Path) -> None:
    done = finished("forest")
    shutil.copytree(done.store, tmp_path / "store")
    files = Files(tmp_path / "store")
    path = files.model(done.run, ".json")
    record = json.loads(path.read_text(encoding="utf-8"))
    chance = random.Random(5)
    odd = (None, 7, -1, "x", [], {}, True, 1e300, 10**400, [[1, 2]], {"a": []})
    for _ in range(120):
        changed = json.loads(json.dumps(record))
        holder, key = chance.choice(list(spots_of(changed)))
        holder[key] = chance.choice(odd)
        path.write_text(json.dumps(changed), encoding="utf-8")
        try:
            load_trained(files, done.run)
        except ModelFileError:
            continue
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ModelFileError):
        load_trained(files, done.run)
