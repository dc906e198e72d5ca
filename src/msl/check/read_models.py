"""Read models written as MSL text: one alone, those of `search start("portfolio.msl")`, and the shipped portfolio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Declaration, Library, Module, ReadFile
from msl.check.strategies import closed_steps, node_value
from msl.check.structure.expressions import Spaces
from msl.diagnostics.diagnostic import Diagnostic, Label, Report
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.record import record
from msl.space.defaults import closed, fit_default, leading_to, learners_in
from msl.space.formulas import Facts
from msl.space.membership import Membership, NotInSpace
from msl.space.nearest import nearest_model
from msl.space.nodes import BlockUse, Choice, Node, Param, Vector, bottom_up, children, follows_table
from msl.space.resolve import NothingLeft, resolve
from msl.space.spec import Space
from msl.space.to_text import model_to_text
from msl.space.values import BlockValue, Model, Value


def text_to_model(text: str, spec: Source, read_file: ReadFile | None = None) -> tuple[Model | None, list[Diagnostic]]:
    """The model of an expression, or None and the errors. Names refer to the spec and to the files that it uses."""
    return ModelReader(spec, read_file).read(text)


class ModelReader:
    """Reads models with the names of one spec, which is opened once."""

    def __init__(self, spec: Source, read_file: ReadFile | None = None) -> None:
        self._report = Report()
        self._module = Library(self._report, read_file).open(spec)
        self._blocks = Blocks(self._report)

    def read(self, text: str) -> tuple[Model | None, list[Diagnostic]]:
        """As `text_to_model`."""
        source = Source("<model>", f"chain model = {text}")
        file, problems = text_to_ast(source)
        if problems:
            return None, problems
        chain = file.statements[0]
        assert isinstance(chain, ast.Chain)
        report = self._report
        report.diagnostics.clear()  # those of the spec, which was checked before, or of the previous model
        if len(file.statements) > 1:
            message = "a model is one expression, but another statement follows here"
            report.error("MSL067", source, file.statements[1].span, message, "", "remove it")
            return None, list(report.diagnostics)
        node = Spaces(report, self._blocks, quiet=True).expression(chain.space, _reading(source, self._module))
        model = None
        if node is not None and not report.failed:
            model = _closed_model(node, source, chain.space.span, report)
        # What could be better about a declaration was said where it is declared.
        return model, [one for one in report.diagnostics if one.is_error or one.primary.source is source]


def _reading(source: Source, module: Module) -> Module:
    """A module with the names of the spec and of all files that it uses directly or indirectly."""
    reading = Module(source, ast.File(()), module.origin)
    reading.uses = dict(module.uses)
    waiting = list(module.uses.values())
    for used in waiting:
        for qualifier, deeper in used.uses.items():
            if not any(deeper is known for known in reading.uses.values()):
                # A file `kms.msl` may hide the catalogue `kms` that it uses; the blocks of both must be found.
                free = qualifier if qualifier not in reading.uses else f"{qualifier} of {used.origin}"
                reading.uses[free] = deeper
                waiting.append(deeper)
    reading.declarations = dict(module.declarations)
    return reading


def _closed_model(node: Node, source: Source, span: Span, report: Report) -> Model | None:
    try:
        return Model(closed_steps(node))
    except TypeError:
        opened = ", ".join(f"`{name}`" for name in dict.fromkeys(open_parameters(node)))
        message = "this model has open parameters" + (f": {opened}" if opened else "")
        report.error("MSL067", source, span, message, "", "a model fixes every parameter with `=`")
        return None


def open_parameters(node: Node) -> list[str]:
    """The open parameters of steps by name, and `|` for each choice between steps."""
    found: list[str] = []
    if isinstance(node, BlockUse):
        for param in node.params:
            try:
                node_value(param.node)
            except TypeError:
                found.append(f"{node.block.name}.{param.name}")
    elif isinstance(node, Choice):
        found.append("|")
    else:
        for child in children(node):
            found.extend(open_parameters(child))
    return found


# --- The models of the files that `start` names -----------------------------------------------------------------------

#: What is written to start from files.
EXAMPLE = 'write `start("portfolio.msl")`'


@record
class Given:
    """A model of a file to start from: where it is written, and where the spec names the file."""

    node: Node
    name: str
    where: Label
    file: Span


def read_files(
    call: ast.Path | ast.Call, module: Module, library: Library, blocks: Blocks, report: Report
) -> list[Given]:
    """The models of the files that a call of `start` names, in order; what cannot be read is reported."""
    arguments = call.arguments if isinstance(call, ast.Call) else ()
    if not arguments:
        message = "`start` evaluates the models of a file first, but names no file"
        report.error("MSL280", module.source, call.span, message, "", EXAMPLE)
    found: list[Given] = []
    for argument in arguments:
        target = _file_name(argument, module, report)
        used = None if target is None else library.file(module, target)
        if target is not None and used is not None:
            found.extend(_models(used, target, module, blocks, report))
    return found


def _file_name(argument: ast.Argument, module: Module, report: Report) -> ast.String | None:
    value, text = argument.value, module.source.slice(argument.value.span)
    if argument.key is None and isinstance(value, ast.String):
        return value
    message, help = f"`start` takes names of files, and `{text}` is none", EXAMPLE
    if argument.key is not None and isinstance(value, ast.String):
        message, help = f"`start` has no option `{argument.key.text}`", f"write `start({text})`"
    elif argument.key is not None:
        message = f"`start` has no option `{argument.key.text}`; it takes names of files"
    elif isinstance(value, ast.Path):
        help = f'a file is written in quotes: `start("{text}.msl")`'
    elif isinstance(value, ast.ListOf) and all(isinstance(item, ast.String) for item in value.items):
        help = f"write them without brackets: `start({text[1:-1].strip()})`"
    elif isinstance(value, ast.Call | ast.Sequence | ast.ListOf):
        model = module.source.slice(value.items[0].span) if isinstance(value, ast.ListOf) and value.items else text
        message = "`start` takes names of files, not a model"
        help = f'put `chain first = {model}` into a file, and give its name: `start("portfolio.msl")`'
    report.error("MSL280", module.source, argument.span, message, "", help)
    return None


def _models(used: Module, target: ast.String, spec: Module, blocks: Blocks, report: Report) -> list[Given]:
    """The chains of a file. One that uses nothing has the names of the spec."""
    chains = used.chains()
    if not chains and not report.failed:
        message = f"`{target.value}` has no chain, so there is no model to start from"
        report.error("MSL281", spec.source, target.span, message, "", "write each model as `chain first = …` there")
    reading = used if used.uses else Module(used.source, used.file, used.origin, unknowable=used.unknowable)
    if reading is not used:
        reading.uses, reading.declarations = spec.uses, {**spec.declarations, **used.declarations}
    spaces = Spaces(report, blocks, quiet=True)
    found = []
    for chain in chains:
        assert isinstance(chain.node, ast.Chain)
        node = spaces.expression(chain.node.space, reading)
        if node is not None and _has_nothing_open(node, chain, report):
            found.append(Given(node, chain.name, Label(used.source, chain.node.space.span, "this model"), target.span))
    return found


def _has_nothing_open(node: Node, chain: Declaration, report: Report) -> bool:
    opened = [f"`{name}`" for name in dict.fromkeys(open_parameters(node)) if name != "|"]
    if not open_parameters(node):
        return True
    assert isinstance(chain.node, ast.Chain)
    several = f"{', '.join(opened[:3])}{' and more are' if len(opened) > 3 else ' is' if len(opened) == 1 else ' are'}"
    what = f"{several} open" if opened else "it has alternatives"
    message = f"the chain `{chain.name}` is not one model: {what}"
    help = "a model to start from fixes every parameter with `=`; `rest = default` fixes those not mentioned"
    if not opened:
        help = "write a chain for each of the models"
    report.error("MSL282", chain.module.source, chain.node.space.span, message, "", help)
    return False


# --- whether they are in the space ------------------------------------------------------------------------------------


def models_of_space(
    given: list[Given], space: Space, facts: Facts | None, call: Span, module: Module, report: Report
) -> tuple[Node, ...]:
    """The models that are in the space, resolved for the table. The others are reported, with the nearest that is."""
    membership = Membership(space)
    kept, left_out = [], 0
    for one in given:
        node = _resolved(one.node, facts)
        try:
            model = Model(closed_steps(node))
            membership.derive(model)
            kept.append(node)
        except NotInSpace as outside:
            left_out += 1
            message = f"`{one.name}` is not a model of the space and is left out: {outside}"
            help = _nearest(space, model, membership)
            report.warning("MSL283", module.source, one.file, message, "", help, (one.where,))
        except (TypeError, ValueError):
            kept.append(node)  # it depends on the table, which is not known yet
    if left_out and not kept:
        models = "the only model" if left_out == 1 else f"none of the {left_out} models"
        message = f"{models} to start from is {'not ' if left_out == 1 else ''}in the space"
        help = "the warnings say why, and which models of the space are near"
        report.error("MSL284", module.source, call, message, "", help)
    return tuple(kept)


def _resolved(node: Node, facts: Facts | None) -> Node:
    if facts is None or not any(follows_table(each) or isinstance(each, Vector) for each in bottom_up(node)):
        return node
    try:
        return resolve(Space(node), facts)[0].root
    except (NothingLeft, ArithmeticError, ValueError):
        return node


def _nearest(space: Space, model: Model, membership: Membership) -> str:
    """The nearest model as text, if a requirement does not exclude it too."""
    otherwise = "write a model of the chain; `msl sample` shows some"
    try:
        near = nearest_model(space.root, model)
        if near is None:
            return otherwise
        membership.derive(near)
        return f"the nearest model of the space is `{model_to_text(near)}`"
    except (NotInSpace, TypeError, ValueError, ArithmeticError):
        return otherwise


# --- The learners of the shipped portfolio ----------------------------------------------------------------------------
#
# The portfolio (`catalogue/portfolio.msl`) has learners alone, each with the values of some parameters, the most useful
# first. In a space a learner is recognised by its class, whatever the space calls it. What stands before it takes its
# defaults, and a value that the space does not have becomes the nearest one that it has.

#: How the classes of one learner for the two tasks end; `*` stands for both.
_TASKS = ("Classifier", "Regressor", "*")
_HIST = "sklearn.ensemble:HistGradientBoosting"
#: Classes with the algorithm of another, and what they call its parameters where they have other names.
_KIN: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    _HIST: {
        "msl.blocks:HistBoosting": {},
        "msl.blocks:LightGBM": {
            "max_iter": "n_estimators",
            "max_leaf_nodes": "num_leaves",
            "min_samples_leaf": "min_child_samples",
            "l2_regularization": "reg_lambda",
            "max_features": "colsample_bytree",
        },
    },
}


def portfolio_models(
    space: Space, task: str | None, library: Library, blocks: Blocks, call: Span, module: Module, report: Report
) -> tuple[Node, ...]:
    """The models of the portfolio that a space has, in its order, each once; for both tasks if the task is not known.

    A learner that the space has in several places is taken at the first; where it has none of that class, one of
    another with the same algorithm.
    """
    membership = Membership(space)
    found: dict[Model, Node] = {}
    learners = portfolio_learners(task, library, blocks)
    for given in learners:
        values = {param.name: node_value(param.node) for param in given.params}
        alike = (
            node for target, own in _alike(given.block.target, values) for node in _with_learner(space, target, own)
        )
        for node in alike:
            model = _model_of(node, membership)
            if model is not None:
                found.setdefault(model, node)
                break
    if not found:
        message = "the portfolio has no model of this space"
        names = dict.fromkeys(one.block.name for one in learners)
        help = f"leave `portfolio` out; it has {', '.join(f'`{name}`' for name in names)} of `sklearn`"
        report.warning("MSL246", module.source, call, message, "", help)
    return tuple(found.values())


def portfolio_learners(task: str | None, library: Library, blocks: Blocks) -> list[BlockUse]:
    """The learners of the portfolio for a task, the most useful first; the names of its chains begin with the task."""
    module = library.portfolio()
    spaces = Spaces(Report(), blocks, quiet=True)
    found: list[BlockUse] = []
    for chain in module.chains():
        if task is None or chain.name.startswith(task):
            assert isinstance(chain.node, ast.Chain)
            node = spaces.expression(chain.node.space, module)
            assert node is not None, "a test reads the portfolio"
            found.extend(learners_in(node))
    return found


def model_with_learner(space: Space, learner: Model) -> Model | None:
    """The model of a space with this learner, itself a model of one step; None if there is none."""
    (step,) = learner.steps
    assert isinstance(step, BlockValue)
    nodes = _with_learner(space, step.block.target, dict(step.params))
    return next((model for node in nodes if (model := _model_of(node, Membership(space))) is not None), None)


def _alike(target: str, values: Mapping[str, Value]) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """The class itself, then others with its algorithm, each with the values under its own names."""
    yield target, values
    for other, names in _KIN.get(_class_of(target), {}).items():
        yield other, {names.get(name, name): value for name, value in values.items()}


def _with_learner(space: Space, target: str, values: Mapping[str, Value]) -> Iterator[Node]:
    """A model of the space for each place where it has a learner of this class, with these values or near ones."""
    for learner in learners_in(space.root):
        if _class_of(learner.block.target) == _class_of(target):
            params = tuple(_with_value(param, values) for param in learner.params)
            yield closed(leading_to(learner, space.root, replace(learner, params=params)))


def _with_value(param: Param, values: Mapping[str, Value]) -> Param:
    if param.name not in values:
        return param
    fitted = fit_default(replace(param, default=values[param.name], has_default=True))
    return fitted if fitted.has_default else param


def _model_of(node: Node, membership: Membership) -> Model | None:
    """The model of a node; None if a requirement excludes it, or if its bounds depend on a table not known yet."""
    try:
        model = Model(closed_steps(node))
        membership.derive(model)
    except (NotInSpace, TypeError, ValueError, ArithmeticError):
        return None
    return model


def _class_of(target: str) -> str:
    return next((target.removesuffix(end) for end in _TASKS if target.endswith(end)), target)
