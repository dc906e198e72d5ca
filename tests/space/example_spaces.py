"""Spaces for tests, built by hand: small pieces with short names, and the papers' spaces at their full size."""

from __future__ import annotations

from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    FactTerm,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    ValueIs,
)
from msl.space.formulas import Formula
from msl.space.nodes import (
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Marked,
    Node,
    Param,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.spec import Space
from msl.space.values import BlockType, Value

N_FEATURES, N_SAMPLES = Formula("n_features"), Formula("n_samples")


def block(
    name: str, role: str = "transformer", origin: str = "clop", task: str | None = None, target: str | None = None
) -> BlockType:
    return BlockType(name, origin, role, task, target or f"pkg.{origin}:{name}")


def use(name: str | BlockType, role: str = "transformer", **params: Node) -> BlockUse:
    found = block(name, role) if isinstance(name, str) else name
    return BlockUse(found, tuple(Param(key, node) for key, node in params.items()))


def param(name: str, node: Node, default: Value | Formula) -> Param:
    return Param(name, node, default, True)


def choice(*options: Node) -> Choice:
    return Choice(options)


def texts(*names: str) -> Choice:
    return Choice(tuple(Const(name) for name in names))


def numbers(*values: int | float) -> Choice:
    return Choice(tuple(Const(value) for value in values))


def seq(*steps: Node) -> Sequence:
    return Sequence(steps)


def optional(node: Node) -> Choice:
    return Choice((*node.options, Empty()) if isinstance(node, Choice) else (node, Empty()))


# --- the space of the particle swarm paper ----------------------------------------------------------------------

_FMAX = IntRange(2, Formula("min", (1000, N_FEATURES)))
_UNIT = RealRange(0, 1)
_FOUR = {"fmax": _FMAX, "wmin": _UNIT, "pval": _UNIT, "fdrmax": _UNIT}


def psms() -> Space:
    def selector(name: str, **params: Node) -> BlockUse:
        return use(block(name, "selector"), **params)

    def learner(name: str, **params: Node) -> BlockUse:
        return use(block(name, "learner"), **params)

    shrinkage, gamma = RealRange(1e-4, 2, log=True), RealRange(0, 10)
    preprocess = Subset(
        (use("normalize", center=Bool()), use("standardize", center=Bool()), use("shift_scale", take_log=Bool()))
    )
    select = choice(
        *(selector(name, **_FOUR) for name in ("ftest", "ttest", "aucfs", "odds_ratio")),
        selector("relief", fmax=_FMAX, wmin=_UNIT, knum=IntRange(2, 10)),
        selector("rffs", fmax=_FMAX, wmin=_UNIT),
        selector("svcrfe", fmax=_FMAX),
        selector("pearson", **_FOUR),
        selector("zfilter", fmax=_FMAX, wmin=_UNIT),
        selector("gs", fmax=_FMAX),
        selector("s2n", fmax=_FMAX, wmin=_UNIT),
        selector("pc_extract", fmax=_FMAX),
    )
    kernel = {"coef0": IntRange(0, 1), "degree": IntRange(0, 3), "gamma": gamma, "shrinkage": shrinkage}
    learn = choice(
        *(learner(name) for name in ("zarbi", "naive", "klogistic", "gkridge")),
        learner(
            "logitboost",
            units=IntRange(10, 1000, log=True),
            shrinkage=RealRange(0.1, 2, log=True),
            depth=IntRange(1, 5),
        ),
        learner("neural", units=IntRange(1, 25), shrinkage=shrinkage, balance=Bool(), maxiter=IntRange(10, 250)),
        learner("svc", **kernel | {"degree": IntRange(1, 3), "gamma": RealRange(1e-4, 100, log=True)}),
        learner("kridge", **kernel),
        learner("rf", units=IntRange(10, 1000, log=True), mtry=IntRange(1, 10), balance=Bool()),
        learner("lssvm", **kernel, balance=Bool()),
    )
    steps = seq(
        Permute((Marked("psms:preprocess", preprocess), Marked("psms:select", optional(select)))),
        Marked("psms:learn", learn),
        use(block("bias", "post")),
    )
    return Space(steps)


# --- the space of the kernel paper ------------------------------------------------------------------------------


def kms() -> Space:
    def named(role: str, origin: str, *names: str) -> Choice:
        return choice(*(use(block(name, role, origin)) for name in names))

    kernel_map = block("kernel_map", "selector", "kms")
    kmeans = block("kmeans", "references", "sbm")
    mapping = use(
        kernel_map,
        references=named("references", "sbm", "density", "fft", "kmeans", "random_rows"),
        n=numbers(4, 8, 16, 32, 64),
        points=texts("centers", "centroids"),
        distance=named("distance", "sbm", "angle", "euclidean"),
        kernel=named("kernel", "kms", "linear", "gaussian", "sigmoid", "cauchy"),
    )
    neighbours = use(
        block("knn", "learner", "sbm"),
        k=numbers(1, 5, 11, 21),
        distance=named("distance", "sbm", "angle", "euclidean"),
        weighting=named("weighting", "sbm", "uniform", "inverse"),
    )
    when = ValueIs(Parameter(kernel_map, "references"), (kmeans,))
    return Space(
        seq(mapping, choice(use(block("naive_bayes", "learner", "kms")), neighbours)),
        (
            Requirement(ValueIs(Parameter(kernel_map, "points"), ("centroids",)), when),
            Requirement(ValueIs(Parameter(kernel_map, "distance"), (block("euclidean", "distance", "sbm"),)), when),
        ),
    )


# --- every part of the language ---------------------------------------------------------------------------------


def everything() -> Space:
    svc, kpca = (
        block("svc", "learner"),
        block("kpca", origin="everything.msl", target="sklearn.decomposition:KernelPCA"),
    )
    standardize = block("standardize")
    boosted = BlockUse(
        block("boosted", "learner", "everything.msl", "classification", "sklearn.ensemble:HistGradientBoosting"),
        (
            param("learning_rate", RealRange(0.01, 1, log=True), 0.1),
            Param("max_iter", IntRange(50, 500, log=True)),
            Param("max_depth", choice(Const(None), IntRange(2, 12))),
            Param("l2_regularization", Const(0.1)),
        ),
    )
    components = use(
        kpca,
        n_components=IntRange(2, Formula("min", (50, N_FEATURES))),
        kernel=choice(
            Symbol("rbf", (Param("gamma", RealRange(1e-4, 1, log=True)),)),
            Symbol("poly", (Param("degree", IntRange(2, 4)), Param("coef0", RealRange(0, 1)))),
            Const("cosine"),
        ),
    )
    machine = use(
        svc,
        coef0=numbers(0, 1),
        degree=Const(1),
        gamma=RealRange(1e-3, 1, log=True),
        shrinkage=RealRange(1e-4, 2, log=True),
    )
    forest = use(
        block("wide_forest", "learner", "everything.msl", target="pkg.clop:rf"),
        units=IntRange(50, 200, step=50),
        mtry=Const(1),
        balance=Const(False),
    )
    scale = choice(use(block("robust", origin="team/scalers.msl")), use(standardize, center=Bool()), Empty())
    root = seq(
        use(block("impute", origin="sklearn"), strategy=texts("mean", "median", "most_frequent")),
        Marked("everything.msl:scale", scale),
        optional(Union((use(standardize, center=Bool()), components))),
        Repeat(0, 2, choice(*(use(block(name, "selector"), **_FOUR) for name in ("ftest", "ttest", "pearson")))),
        Marked("everything.msl:learn", choice(boosted, machine, forest)),
        optional(use(block("bias", "post"))),
    )
    few = Comparison("<=", Parameter(kpca, "n_components"), Literal(10))
    narrow = Comparison("<", Parameter(kpca, "gamma"), Literal(0.5))
    return Space(
        root,
        (
            Requirement(few, PartIs("everything.msl:learn", (svc,))),
            Requirement(Negation(AllOf((Present(svc), Comparison(">", FactTerm("n_samples"), Literal(20_000)))))),
            Requirement(AnyOf((narrow, PartIs("everything.msl:scale", (standardize, None))))),
        ),
    )


def similarity() -> Space:
    """Vectors over the features, and nested blocks with parameters."""
    return Space(
        use(
            block("sbm", "learner", "sbm"),
            features=Vector(N_FEATURES, Bool()),
            weights=Vector(N_FEATURES, RealRange(0, 1, step=0.1)),
            distance=choice(
                use(block("euclidean", "distance", "sbm")),
                use(block("minkowski", "distance", "sbm"), alpha=RealRange(0.5, 4)),
            ),
            k=IntRange(1, Formula("min", (50, N_SAMPLES))),
            radius=Const(None),
        )
    )


def network() -> Space:
    return Space(
        use(
            block("rbf_network", "learner", "rbf"),
            centers=Regions(15, N_FEATURES),
            overlap=RealRange(0, 1),
            basis=use(block("gaussian", "basis", "rbf")),
            ridge=Const(0.0),
        )
    )


EXAMPLES = {
    "psms": psms,
    "kms": kms,
    "everything": everything,
    "similarity": similarity,
    "network": network,
}
