"""The public names of block classes: `msl.blocks.NaiveBayes`, whichever file the class is in.

Digests, saved models, lock files and exported code know a class by this name, so that moving a file changes none of
them. A class that a fitted model may hold is listed here and decorated with `public`; a test compares the two.
"""

from __future__ import annotations

from typing import TypeVar

#: The public names of classes that had another name in older saved models.
_RENAMED = {
    "basis.Gaussian": "GaussianBasis",
    "basis.InverseMultiquadric": "InverseMultiquadricBasis",
    "basis.Multiquadric": "MultiquadricBasis",
    "basis.ThinPlate": "ThinPlateBasis",
    "bayes.Naive": "NaiveBayes",
    "keep.Keep": "KeepFeatures",
    "kernel_map.Cauchy": "CauchyKernel",
    "kernel_map.Gaussian": "GaussianKernel",
    "kernel_map.Linear": "LinearKernel",
    "kernel_map.Regions": "KernelRegions",
    "kernel_map.Sigmoid": "SigmoidKernel",
    "metric.Metric": "FittedDistance",
    "network.Shape": "NetworkShape",
    "rank.Auc": "AucRanker",
    "rank.FTest": "FTestRanker",
    "rank.ForestImportance": "ForestImportanceRanker",
    "rank.OddsRatio": "OddsRatioRanker",
    "rank.Pearson": "PearsonRanker",
    "rank.SignalToNoise": "SignalToNoiseRanker",
    "rank.TTest": "TTestRanker",
    "rank.ZFilter": "ZFilterRanker",
    "rbf.Layout": "CentreLayout",
    "rbf.Regions": "CentreRegions",
    "relief.Relief": "ReliefRanker",
    "setting.Setting": "SimilaritySettings",
    "weighting.Gaussian": "GaussianWeighting",
    "weighting.HardSphere": "HardSphereWeighting",
    "weighting.Inverse": "InverseWeighting",
    "weighting.Triangular": "TriangularWeighting",
    "weighting.Uniform": "UniformWeighting",
}
_SUFFIXES = ("", "Classifier", "Regressor")

C = TypeVar("C", bound=type)

PACKAGE = "msl.blocks"
#: The module of each class.
HOMES: dict[str, str] = {
    name: module
    for module, names in (
        ("msl.blocks.learners.rbf", "GaussianBasis ThinPlateBasis MultiquadricBasis InverseMultiquadricBasis"),
        ("msl.blocks.learners.naive_bayes", "GaussianBayes NaiveBayes"),
        ("msl.blocks.calibration", "Bias LeastRisk"),
        ("msl.blocks.from_table", "FromTable"),
        ("msl.blocks.learners.logitboost", "LogitBoost"),
        (
            "msl.blocks.ensembles",
            "OutOfFoldPredictions StackClassifier StackRegressor VoteClassifier VoteRegressor",
        ),
        ("msl.blocks.base.chain", "Branch ChainClassifier ChainRegressor"),
        ("msl.blocks.preprocessing.prepare", "Passthrough Columns TableColumns"),
        (
            "msl.blocks.ensembles",
            "CommitteeClassifier CommitteeRegressor StackedCommitteeClassifier StackedCommitteeRegressor",
        ),
        ("msl.blocks.similarity.distances", "Euclidean Manhattan Minkowski Chebyshev Canberra Angle Mahalanobis"),
        ("msl.blocks.selection.selectors", "SVCElimination"),
        ("msl.blocks.calibration", "EqualPriors"),
        ("msl.blocks.similarity.distances", "Difference Overlap ValueDifference OverlapGaps ValueGaps"),
        ("msl.blocks.learners.forest", "ForestRegressor ForestClassifier"),
        ("msl.blocks.selection.selectors", "KeepFeatures"),
        (
            "msl.blocks.kernels.kernel_map",
            "LinearKernel GaussianKernel SigmoidKernel CauchyKernel KernelRegions KernelMap",
        ),
        ("msl.blocks.kernels.ridge", "LSSVMRegressor LSSVMClassifier"),
        ("msl.blocks.learners.linear_classifiers", "Zarbi PooledBayes LinearLogistic"),
        ("msl.blocks.kernels.logistic", "KernelLogistic"),
        ("msl.blocks.similarity.fitted_distance", "SpecialColumn FittedDistance"),
        ("msl.blocks.similarity.neighbour_search", "Neighbours"),
        ("msl.blocks.learners.neural", "NetworkShape NeuralRegressor NeuralClassifier"),
        ("msl.blocks.selection.orthogonal", "GramSchmidt PrincipalComponents"),
        ("msl.blocks.similarity.safe_coordinates", "Scaled Quartered Directions Whitened"),
        ("msl.blocks.preprocessing.prepare", "Prepare MergeRare"),
        ("msl.blocks.preprocessing.encoders", "Cycle Thermometer SymbolShares SymbolBuckets"),
        (
            "msl.blocks.selection.rankers",
            "FTestRanker PearsonRanker TTestRanker ZFilterRanker SignalToNoiseRanker AucRanker ForestImportanceRanker"
            " OddsRatioRanker MedianOddsRanker",
        ),
        ("msl.blocks.learners.rbf", "CentreRegions CentreLayout RBFNetworkClassifier RBFNetworkRegressor"),
        (
            "msl.blocks.similarity.reference_points",
            "AllRows RandomRows KMeans FarthestFirst Density Edited Condensed LVQ Coulomb OnLine",
        ),
        ("msl.blocks.similarity.fill_nearest", "FillNearest"),
        ("msl.blocks.similarity.local_models", "LocalModelsClassifier LocalModelsRegressor"),
        ("msl.blocks.similarity.reference_points", "ReferencePoints"),
        ("msl.blocks.selection.relief", "ReliefRanker ReliefFRanker"),
        ("msl.blocks.kernels.ridge", "KRidgeRegressor KRidgeClassifier"),
        ("msl.blocks.preprocessing.scalers", "Log1p Normalize Standardize ShiftScale RangeScale"),
        (
            "msl.blocks.learners.boosting_libraries",
            "LightGBMClassifier LightGBMRegressor XGBoostClassifier XGBoostRegressor CatBoostClassifier"
            " CatBoostRegressor",
        ),
        ("msl.blocks.learners.boosting", "HistBoostingClassifier HistBoostingRegressor"),
        ("msl.blocks.learners.logitboost", "ShallowTrees"),
        (
            "msl.blocks.similarity.knn",
            "SimilaritySettings FittedReferences SimilarityClassifier SimilarityRegressor KNNClassifier KNNRegressor",
        ),
        ("msl.blocks.kernels.svm", "SVC"),
        ("msl.blocks.preprocessing.prepare", "TargetEncode"),
        ("msl.blocks.kernels.ridge", "GKRidgeRegressor GKRidgeClassifier"),
        (
            "msl.blocks.similarity.weightings",
            "UniformWeighting InverseWeighting GaussianWeighting TriangularWeighting SoftGaussianWeighting RBFWeighting"
            " HardSphereWeighting",
        ),
    )
    for name in names.split()
}


#: Packages that some classes are of no use without, and that `pip install msl-lang` alone does not bring.
_BEHIND = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}


def packages_behind(target: str) -> frozenset[str]:
    """The packages that the classes of a target need beside those of every installation."""
    kinds = {name.removesuffix("Classifier").removesuffix("Regressor") for name in public_names(target)}
    return frozenset(_BEHIND[kind] for kind in kinds if kind in _BEHIND)


def public_names(target: str) -> list[str]:
    """The public classes of a target such as `msl.blocks:NaiveBayes`; none for a class of another package.

    A target that ends in `*` stands for a classifier and a regressor.
    """
    module, _, name = target.partition(":")
    names = [name[:-1] + suffix for suffix in _SUFFIXES] if name.endswith("*") else [name]
    return [each for each in names if each in HOMES] if module == PACKAGE else []


def target_modules(target: str) -> set[str]:
    """The modules to import for a target such as `msl.blocks:NaiveBayes` or `sklearn.svm:SVC`."""
    module = target.partition(":")[0]
    return {HOMES[name] for name in public_names(target)} if module == PACKAGE else {module}


def current_name(module: str, name: str) -> tuple[str, str]:
    """The current module and name of a class, from those in a saved model."""
    if not module.startswith(f"{PACKAGE}."):
        return module, name
    place = module.removeprefix(f"{PACKAGE}.")
    return PACKAGE, _RENAMED.get(f"{place}.{name}", name)


def public(found: C) -> C:
    """Makes a class known by its public name, as `numpy` and `scikit-learn` do with theirs."""
    found.__module__ = PACKAGE
    return found
