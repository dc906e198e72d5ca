"""MSL: a declarative language for spaces of machine-learning models, and the interpreter that searches them."""

__version__ = "0.1.0"
