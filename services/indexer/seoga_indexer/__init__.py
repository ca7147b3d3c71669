"""Seoga: the indexer service."""
