"""The call of `setup` in setup.py, as rules are asked about it."""

from __future__ import annotations

from torchlift.pins.pin import PinSet
from torchlift.pins.setup_file import read_setup
from torchlift.rules.rule import Context
from torchlift.source import Span
from torchlift.view import Use

SETUP = ("setuptools.setup", "distutils.core.setup", "skbuild.setup")


def setup_of(use: Use, context: Context) -> tuple[PinSet, tuple[str, Span] | None] | None:
    """What the call requires, and the Pythons it asks for with their place; None outside of setup.py."""
    if use.call is None or context.view.path.rpartition("/")[2] != "setup.py":
        return None
    return read_setup(context.view, use.call)
