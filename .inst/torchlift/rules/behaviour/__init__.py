"""Behaviour that changed between releases while no signature shows it."""
