"""Seoga: the embedding service."""
