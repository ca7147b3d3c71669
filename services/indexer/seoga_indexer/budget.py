"""What a run may spend at a provider; when it is spent the run ends, and the next one goes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Budget:
    """Tokens and US dollars of one run (0: no limit) at `price` dollars a million tokens. `group`
    is the object of config.json that sets it."""

    group: str
    tokens: int = 0
    cost: float = 0.0
    price: float = 0.0
    spent: int = 0
    dollars: float = 0.0

    @property
    def limited(self) -> bool:
        """Whether there is anything to keep to."""
        return bool(self.tokens or self.cost)

    def spend(self, tokens: int, dollars: float = 0.0) -> str:
        """Counts what a call took; why there must be no further one, or "". `dollars` counts where
        there is no price for all tokens alike."""
        self.spent += tokens
        self.dollars += tokens * self.price / 1_000_000 or dollars
        if self.tokens and self.spent >= self.tokens:
            return self._ended(f"{self.spent:,} of {self.tokens:,} tokens", "maxTokensPerRun")
        if not self.cost or not self.spent:
            return ""
        if not self.dollars:
            return (
                f"{self.group}.maxCostPerRun is set, but nobody knows the price of the model:"
                f" set {self.group}.pricePerMillion (US dollars a million tokens)"
            )
        if self.dollars < self.cost:
            return ""
        return self._ended(f"{self.dollars:.4f} of {self.cost:.4f} US dollars", "maxCostPerRun")

    def _ended(self, spent: str, key: str) -> str:
        return f"the budget of this run is spent ({spent}, {self.group}.{key}); the next goes on"
