"""SQLite: the only packages that open databases are this one and seoga.search."""
