"""Checks of the interpreter and of environment variables."""
