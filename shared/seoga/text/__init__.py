"""Korean-aware normalising, tokenising and sentence ends, used by indexer and search alike."""
