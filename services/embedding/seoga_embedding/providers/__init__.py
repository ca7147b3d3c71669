"""One file = one provider."""
