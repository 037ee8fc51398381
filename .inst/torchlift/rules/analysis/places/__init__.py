"""Where a piece of code stands and who uses it."""
