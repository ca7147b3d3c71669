"""The fake provider for tests of several services together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seoga_embedding.fake.app import create

from .serving import serving


@pytest.fixture(scope="session")
def fake_provider() -> Iterator[str]:
    """The address of a fake provider; `DELETE /fake` brings it back to its start."""
    with serving(create()) as url:
        yield url
