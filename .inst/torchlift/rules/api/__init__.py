"""Removed, deprecated and moved names."""
