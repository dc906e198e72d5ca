"""Check a spec: resolve its names, verify its values and its structure, and build the space that it describes.

- Check a spec -> `check_spec.check_source`, which returns `Checked`: the spec if it is valid, and all diagnostics
- Read a printed model -> `read_models.text_to_model`, `ModelReader`
- What does a name refer to? -> `names/`
- May a parameter have this value or domain? -> `domains/`
- Is every path of a chain a valid pipeline? -> `structure/`
- What do requirements leave of a space? -> `constraints/`
- Metrics, their options and resampling -> `objectives`; strategies and ensembles -> `strategies`
- The models that a search starts from: of files, of the list that ships -> `read_models`
- `data`, `budget` and `seed` -> `settings`
- Do search, objectives, ensemble and budget fit each other? -> `consistency`
- Allowed, but probably a mistake -> `lints`; where diagnostics are collected -> `msl.diagnostics.diagnostic.Report`

Nothing here imports numpy, scikit-learn or the classes that a spec names.
"""
