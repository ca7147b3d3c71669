"""20,000 chunks through a provider of which one call in twenty goes wrong, in every way: what came
of each, and the calls made for one that had to be. `CHUNKS=2000` for a short one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import soak
from bench import Clock, clean_environment
from bench_provider import serving

CHUNKS = int(os.environ.get("CHUNKS", "20000"))


def main() -> None:
    """Prints the outcome; fails where it is not what it must be."""
    from seoga.kb import load_kb
    from seoga.settings import Settings
    from seoga.wiring import Stack
    from seoga_embedding.remote import sender

    sender.DOCUMENT_READ_S = soak.PATIENCE_S
    os.environ.setdefault("OPENAI_API_KEY", "none-needed")
    with tempfile.TemporaryDirectory(prefix="seoga-soak-") as name:
        base = Path(name) / "base"
        with serving("fake-provider", clean_environment(base)) as fake:
            bad = soak.write(Path(name) / "docs", CHUNKS)
            soak.configure(base / "kb", Path(name) / "docs", fake)
            soak.begin(fake)
            stack = Stack(Settings(base_path=base, provider_calls=8))
            try:
                for number in range(soak.RUNS):
                    with Clock() as clock:
                        result = stack.indexing.run_kb(load_kb(base / "kb"))
                    print(
                        f"run {number + 1}: {clock.seconds:.0f} s, deferred {result.deferred},"
                        f" degraded {result.degraded}, failed {result.failed}",
                        *result.warnings,
                        flush=True,
                    )
            finally:
                stack.close()
            found = soak.outcome(base / "kb" / "rag.db", fake, bad)
    print(f"chunks {found.chunks} {found.states}, bad texts {len(bad)}, doubled {found.doubled}")
    print(f"calls {found.calls}, at the least {found.least}: {found.ratio:.2f}   (mark: 1.2)")
    assert not found.wrong, found.wrong[:5]
    assert found.ratio <= 1.2


if __name__ == "__main__":
    main()
