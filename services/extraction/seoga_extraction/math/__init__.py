"""Equations of office files as LaTeX: own converters, driven by tables and bounded."""
