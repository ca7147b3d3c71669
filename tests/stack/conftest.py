"""The fake provider, and services in one process, for tests of several of them together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seoga.search.readers import close_readers
from seoga.settings import Settings
from seoga.wiring import Stack
from seoga_embedding.fake.app import create

from .serving import serving
from .watched import Watched


@pytest.fixture(scope="session")
def fake_provider() -> Iterator[str]:
    """The address of a fake provider; `DELETE /fake` brings it back to its start."""
    with serving(create()) as url:
        yield url


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The services in this process over a base path of the module's own."""
    home = tmp_path_factory.mktemp("home")
    made = Stack(Settings(base_path=home / "base", cache_path=home / "cache", offline=True))
    yield made
    made.close()
    close_readers()


@pytest.fixture
def desk() -> Watched:
    return Watched()


@pytest.fixture
def url(desk: Watched) -> Iterator[str]:
    """The address of a fake provider that tells of its calls."""
    with serving(create(desk)) as url:
        yield url
