"""The packages that carry weights: which version is installed, and what is said where none is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from seoga.errors import MissingDependency


@cache
def version_of(package: str, model: str) -> str:
    """The installed version of the package of a model. Raises MissingDependency."""
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise missing(package, model) from error


def missing(package: str, model: str) -> MissingDependency:
    """What to raise where the package of a model cannot be imported."""
    return MissingDependency(
        f"The embedding model {model} is not installed.", f"pip install {package}"
    )
