"""Writing sends and receives as one batch."""
