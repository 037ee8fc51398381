"""Checks of the installed torch: is it the right build for this machine, and is it whole."""
