"""Seoga: the gateway service."""
