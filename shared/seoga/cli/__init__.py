"""The one command, a file per group."""
