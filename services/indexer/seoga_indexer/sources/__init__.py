"""One file = one connector."""
