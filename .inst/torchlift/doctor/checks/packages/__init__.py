"""Checks of the distributions around torch: pins, collisions, missing libraries, extensions."""
