"""Names: catalogues, files, declarations, and what other tools call the same things.

- The files and catalogues of a spec -> `library.Library`, `Module`, `Declaration`; shipped ones -> `catalogues`
- Which declaration does a name refer to? -> `resolve_names.find`
- What does a block declare? -> `block_declarations.Blocks`; its documentation -> `documentation`
- What do metrics, estimates and strategies declare? -> `scoring_declarations`, `strategy_declarations`
- Names from scikit-learn, Optuna and others -> `names_of_other_tools`
"""
