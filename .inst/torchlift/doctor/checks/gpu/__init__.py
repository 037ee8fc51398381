"""Checks of each GPU: health, mode, link, and whether programs are let see it."""
