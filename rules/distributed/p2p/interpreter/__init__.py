"""Runs the code of one rank, as far as it can be known without its data."""
