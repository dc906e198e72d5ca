"""Names, labels and parameters that try to become code: an exported file has the same shape whatever they hold."""

from __future__ import annotations

import ast
import builtins
import csv
import enum
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from msl.blocks.base.chain import ChainClassifier
from msl.blocks.ensembles import CommitteeClassifier
from msl.cli.main import main
from msl.export.python_code import EstimatorCode, Unwritable
from msl.export.python_file import Exportable, export_python

X = np.random.default_rng(0).normal(size=(60, 3))
X[:, 2] = np.arange(60) % 2
y = np.argmax([X[:, 0], X[:, 1], X[:, 2] - 0.5], axis=0)
#: Each would set this in `builtins` if it were run.
CANARY = "generated_code_was_run"
RUN = f"setattr(__import__('builtins'),'{CANARY}',1)"
PAYLOADS = [
    f'"); {RUN}; #',
    f"'); {RUN}; #",
    f'"""\n{RUN}\n"""',
    f"'''\n{RUN}\n'''",
    f"\n{RUN}\n",
    f"\r{RUN}\r",
    f"x\u2028{RUN}\u2029",
    f"\x0c\n{RUN}",
    f"x\x00\n{RUN}",
    f"\\\n{RUN}",
    f"{{{{about}}}}{RUN}",
    f"{{{RUN}}}",
    f"coding: utf-7 +AAo-{RUN}",
    f"-*- coding: utf-16 -*-\n{RUN}",
    "\\",
    "\\'",
    '\\"',
    "\ud800",
    "\u202e\u2066",
    "%s%n{0}",
    "]",
    "# type: ignore",
]
HOSTILE = (
    st.sampled_from(PAYLOADS) | st.text(max_size=20) | st.text(st.characters(categories=["Cs", "Cc", "Cf"]), max_size=5)
)


def fitted(kind: str) -> Any:
    def chain() -> Any:
        return ChainClassifier(steps=[StandardScaler()], learner=GaussianNB(var_smoothing=1e-8))

    estimator = chain() if kind == "one" else CommitteeClassifier([chain(), chain()], [1.0, 0.5], kind)  # type: ignore[arg-type]
    estimator.fit_arrays(X, y, 3)
    return estimator


ESTIMATORS = {kind: fitted(kind) for kind in ("one", "hard", "soft")}


def exportable(
    kind: str, title: str, text: str, names: list[str], classes: list[Any], symbols: list[str], options: list[str]
) -> Exportable:
    ranges = np.column_stack([X.min(axis=0), X.max(axis=0)])
    return Exportable(
        title=title,
        text=text,
        estimator=ESTIMATORS[kind],
        columns=tuple(names[:3]),
        symbols={names[2]: symbols},
        target=names[3],
        classes=tuple(classes),
        missing=tuple(options[:1]),
        separator=options[1],
        ranges=ranges,
    )


def skeleton(text: str) -> str:
    """The code without its constants: what it does, not what it speaks of."""

    class Blank(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.AST:
            return ast.copy_location(ast.Constant(0), node)

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            inner = self.visit(node.operand)
            return inner if isinstance(node.op, ast.USub) and isinstance(inner, ast.Constant) else node

    return ast.dump(Blank().visit(ast.parse(text.encode())))


BENIGN = {
    kind: skeleton(
        export_python(exportable(kind, "run", "text", ["a", "b", "c", "y"], ["p", "q", "r"], ["s", "t"], ["m", ";"]))
    )
    for kind in ESTIMATORS
}


@settings(max_examples=100)
@given(
    kind=st.sampled_from(list(ESTIMATORS)),
    title=HOSTILE,
    text=HOSTILE,
    names=st.lists(HOSTILE, min_size=4, max_size=4, unique=True),
    classes=st.lists(HOSTILE, min_size=3, max_size=3, unique=True) | st.permutations([10**30, -5, 2]),
    symbols=st.lists(HOSTILE, min_size=2, max_size=2, unique=True),
    options=st.lists(HOSTILE, min_size=2, max_size=2),
)
def test_names_and_labels_stay_what_they_are(
    kind: str, title: str, text: str, names: list[str], classes: list[Any], symbols: list[str], options: list[str]
) -> None:
    given = exportable(kind, title, text, names, classes, symbols, options)
    code = export_python(given)
    assert skeleton(code) == BENIGN[kind]
    defined: dict[str, Any] = {"__name__": "exported"}
    exec(compile(code.encode(), "model.py", "exec"), defined)
    assert not hasattr(builtins, CANARY)
    assert defined["COLUMNS"] == names[:3]
    assert defined["TARGET"] == names[3]
    assert defined["SYMBOLS"] == {names[2]: symbols}
    model = defined["fit"](X, y)
    expected = [classes[place] for place in ESTIMATORS[kind].outputs(X).argmax(axis=1)]
    assert defined["predict"](model, X).tolist() == expected
    assert defined["self_test"](model)


# --- parameters -----------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = RUN


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    ONE = f"'); {RUN}"


class ShownAsCode(str):
    def __repr__(self) -> str:
        return RUN


class NumberShownAsCode(int):
    def __repr__(self) -> str:
        return RUN

    __str__ = __repr__


class RealShownAsCode(float):
    def __repr__(self) -> str:
        return RUN


class Taking(ClassifierMixin, BaseEstimator):
    """Keeps whatever it is given, as the saved model of a stranger may."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.options

    def fit(self, X: Any, y: Any) -> Any:
        return self


PARAMETERS = [
    *PAYLOADS,
    float("inf"),
    float("-inf"),
    float("nan"),
    -0.0,
    10**5000,
    -(10**5000),
    True,
    None,
    b"\x00'\"",
    np.float64(0.1),
    np.float32(0.1),
    np.int64(3),
    np.bool_(True),
    np.str_(PAYLOADS[0]),
    Colour.RED,
    Level.HIGH,
    Word.ONE,
    ShownAsCode("text"),
    NumberShownAsCode(5),
    RealShownAsCode(0.5),
    [1, (2,), {"a": [PAYLOADS[1]]}],
    np.array([1.5, np.nan]),
    np.array([[1, 2]], dtype=np.int8),
    np.zeros((0, 3), dtype=np.float32),
    np.array([PAYLOADS[0]]),
    StandardScaler,
    np.mean,
]


def written(estimator: Any) -> Any:
    """The estimator that its code makes."""
    code = EstimatorCode()
    expression = code.expression(estimator).text
    tree = ast.parse(f"{code.imports().text}\nmade = {expression}\n".encode())
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called <= {"Taking", "float"}
    names: dict[str, Any] = {"np": np}
    exec(compile(tree, "model.py", "exec"), names)
    assert not hasattr(builtins, CANARY)
    return names["made"]


@pytest.mark.parametrize("value", PARAMETERS, ids=lambda value: ascii(type(value).__name__))
def test_parameters_of_any_kind(value: Any) -> None:
    made = written(Taking(given=value)).options["given"]
    if isinstance(value, np.ndarray):
        assert made.dtype == value.dtype
        assert made.shape == value.shape
        assert np.array_equal(made, value, equal_nan=value.dtype.kind == "f")
    elif isinstance(value, float) and value != value:
        assert made != made
    else:
        assert made == value or repr(made) == repr(value)
        assert not isinstance(value, enum.Enum) or made is value


@pytest.mark.parametrize("payload", [*PAYLOADS, f"x=1)+{RUN}+f(y", "class", "a b", "x\n", "", "é"])
def test_names_of_parameters(payload: str) -> None:
    estimator = Taking(**{payload: 1})
    assert written(estimator).options == {payload: 1}


@pytest.mark.parametrize(
    ("module", "own"),
    [
        (f"os\n{RUN}", "Taking"),
        (__name__, f"Taking\n{RUN}"),
        (__name__, "Unheard"),
        ("os", "Taking"),
        (f"{__name__};{RUN}", "Taking"),
        ("__main__", "Taking"),
        (f"{__name__} as x\n{RUN}\nimport os", "Taking"),
        (None, "Taking"),
    ],
)
def test_names_of_classes(module: Any, own: str) -> None:
    kind = type("Other", (Taking,), {"__module__": module})
    kind.__name__ = kind.__qualname__ = own
    with pytest.raises(Unwritable, match="cannot be imported by name"):
        EstimatorCode().expression(kind())


def test_what_is_no_text_is_told_before_it_is_onnx() -> None:
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    from msl.export.onnx import NoOnnx, export_onnx

    names, labels = ["a", "b", "c", "y"], ["p", "q", "r"]
    for place in range(4):
        spoilt = [*names[:place], "\ud800", *names[place + 1 :]]
        with pytest.raises(NoOnnx, match="cannot be written as UTF-8"):
            export_onnx(exportable("one", "run", "text", spoilt, labels, ["s", "t"], ["m", ";"]))
    with pytest.raises(NoOnnx, match="cannot be written as UTF-8"):
        export_onnx(exportable("one", "run", "text", names, ["p", "q", "\udfff"], ["s", "t"], ["m", ";"]))
    hostile = [*PAYLOADS[:3], PAYLOADS[5]]
    assert export_onnx(exportable("one", hostile[0], hostile[1], hostile, hostile[:3], ["s", "t"], ["m", ";"])).content


def test_what_is_nested_too_deeply_is_no_code() -> None:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    estimator = ChainClassifier(learner=Taking(deep=nested))
    given = exportable("one", "run", "text", ["a", "b", "c", "y"], ["p", "q", "r"], ["s", "t"], ["m", ";"])
    broken = Exportable(**{name: getattr(given, name) for name in Exportable.__slots__} | {"estimator": estimator})
    estimator.outputs = ESTIMATORS["one"].outputs
    with pytest.raises(Unwritable, match="nested too deeply"):
        export_python(broken)


# --- from a table to a file -------------------------------------------------------------------------------


def test_a_table_of_hostile_names_and_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the commands themselves, with the file run as a user runs it."""
    usable = [each for each in PAYLOADS if "\ud800" not in each and "\x00" not in each]
    names = [*(f"{place}{payload}".strip() for place, payload in enumerate(usable[:6])), "class"]
    labels = [f"a{usable[0]}", f"b{usable[2]}", f"c{usable[4]}".strip()]
    symbols = [payload.strip() for payload in usable[5:9]]
    rng = np.random.default_rng(4)
    rows = []
    for place in range(90):
        numbers = rng.normal(size=5)
        numbers[0] += 2 * (place % 3)
        rows.append([*(repr(float(one)) for one in numbers), symbols[rng.integers(4)], labels[place % 3]])
    text = io.StringIO()
    csv.writer(text).writerows([names, *rows])
    (tmp_path / "train.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
    (tmp_path / "m.msl").write_text("use sklearn\nchain m = lda(rest = default)\nsearch grid\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def msl(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["msl", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 0

    msl("run", "m.msl", "train.csv", "--on", "inprocess", "--quiet")
    msl("predict", "@", "train.csv", "-o", "predicted.csv")
    msl("export", "@", "-o", "model.py")
    command = [sys.executable, "model.py", "train.csv", "train.csv"]
    said = subprocess.run(command, capture_output=True, check=False)
    assert (said.returncode, said.stderr) == (0, b"the same predictions as the run\n")
    assert said.stdout == (tmp_path / "predicted.csv").read_bytes()
    assert not hasattr(builtins, CANARY)
