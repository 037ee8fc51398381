"""Checks of the computer around the GPU: C library, container, limits, and whether the tables know all of it."""
