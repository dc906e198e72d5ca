from msl.api import Result, SpecError, Trained, check_spec, load, load_model, run
from msl.estimator import ModelSearch
from msl.notebook import load_ipython_extension as load_ipython_extension

__version__: str
__all__ = ["ModelSearch", "Result", "SpecError", "Trained", "__version__", "check_spec", "load", "load_model", "run"]
