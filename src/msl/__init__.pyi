from msl.api import Result, SpecError, Trained, check_spec, load, load_model, run
from msl.sklearn import ModelSearch

__version__: str
__all__ = ["ModelSearch", "Result", "SpecError", "Trained", "__version__", "check_spec", "load", "load_model", "run"]
