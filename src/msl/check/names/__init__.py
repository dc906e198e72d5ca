"""Names: catalogues, files, declarations, and what other tools call the same things.

- The files and catalogues of a spec -> `library.Library`, `Module`, `Declaration`; shipped ones -> `catalogues`
- Which declaration does a name refer to? -> `scope.find`
- What does a block declare? -> `block_declarations.Blocks`; its documentation -> `documentation`
- Names from scikit-learn, Optuna and others -> `other_names`
"""
