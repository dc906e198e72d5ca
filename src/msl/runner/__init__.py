from __future__ import annotations


def __getattr__(name: str) -> object:
    """Imports the function of an ensemble, which its catalogue names by this package (`msl.runner:vote`)."""
    from msl.check.names import catalogues

    if all(piece.name != name for piece in catalogues.pieces(catalogues.text(catalogues.IMPLIED["combiner"], 1))):
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from msl.runner import ensembles

    return getattr(ensembles, name)
