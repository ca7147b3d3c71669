"""What Office packages (OOXML) have in common: relationships, number formats, charts, drawings."""
