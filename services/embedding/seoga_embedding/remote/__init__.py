"""Providers behind HTTP: addresses, connections, faults, limits, retries and batches."""
