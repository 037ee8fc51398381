"""Which rank runs a piece of code."""
