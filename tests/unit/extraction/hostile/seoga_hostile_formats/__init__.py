"""Formats that do to their process what broken parsers do. Tests reach it by PYTHONPATH."""
