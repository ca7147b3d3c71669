"""Seoga: what every service stands on. Imports no service."""

__version__ = "0.1.0"
