"""The table, one file a subject."""
