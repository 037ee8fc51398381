"""Tests of scripting: what is left of one when nothing is scripted any more, and what becomes of it."""
