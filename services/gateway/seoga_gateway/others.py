"""How the other services stand that this gateway is configured to use, for /ready."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from seoga.settings import Settings

NAMES = ("extraction", "embedding", "indexer")
# Whoever asks for readiness waits for the slowest of them.
WAIT_S = 2.0


def states_of(config: Settings) -> dict[str, Any]:
    """`{"services": {name: "ready" or why not}}`, asked at once; empty where no URL is set.

    None of them holds the gateway back: without them it still answers from the keyword index.
    """
    urls = {name: url for name in NAMES if (url := getattr(config, f"{name}_url"))}
    if not urls:
        return {}
    from seoga.contracts.http import readiness

    with ThreadPoolExecutor(len(urls)) as pool:
        states = pool.map(lambda url: readiness(url, WAIT_S), urls.values())
        return {"services": dict(zip(urls, states, strict=True))}
