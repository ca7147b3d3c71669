"""Seoga: the extraction service."""
