"""MSL: a declarative language for spaces of machine-learning models, and the interpreter that searches them."""

__version__ = "0.1.0"
__all__ = ["ModelSearch", "Result", "SpecError", "Trained", "__version__", "check_spec", "load", "load_model", "run"]

_PLACES = {"ModelSearch": "msl.sklearn", "load_ipython_extension": "msl.notebook"}


# The types of what is exported stand in `__init__.pyi`.
def __getattr__(name: str) -> object:
    """What is asked for is imported then: `import msl` alone loads neither numpy nor scikit-learn."""
    if name not in __all__ and name not in _PLACES:
        raise AttributeError(f"module `msl` has no attribute `{name}`")
    from importlib import import_module

    return getattr(import_module(_PLACES.get(name, "msl.api")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
