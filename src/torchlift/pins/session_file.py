"""`session.install(...)` in a noxfile: its words are those of a pip command.

Source: `nox.sessions.Session.install` in nox's documentation.
"""

from __future__ import annotations

import ast

from torchlift.pins.commands import read_words
from torchlift.pins.pin import PinSet
from torchlift.pins.setup_file import string_place
from torchlift.view import ModuleView


def read_session(view: ModuleView, call: ast.Call) -> PinSet | None:
    """What a call of `install` installs; None where not all of its words are plain strings."""
    words = []
    for argument in call.args:
        place = string_place(view, argument)
        if place is None:
            return None
        words.append((view.source.slice(place), place.start))
    return read_words(words) if words else None
