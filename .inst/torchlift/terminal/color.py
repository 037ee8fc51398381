"""Whether a report has colour."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, TextIO

ColorChoice = Literal["auto", "always", "never"]


def wants_color(choice: ColorChoice, stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """Whether to write colours to `stream`.

    `always` and `never` are the user's last word. `auto` follows, in the order Python itself does, `NO_COLOR`
    (no-color.org), `FORCE_COLOR` (force-color.org; `0` counts as unset), `TERM=dumb`, and whether the stream is a
    terminal.

    Args:
        choice: value of `--color`.
        stream: where the report goes.
        environ: environment variables; those of the process unless given.
    """
    if choice != "auto":
        return choice == "always"
    variables = os.environ if environ is None else environ
    if variables.get("NO_COLOR"):
        return False
    if variables.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    if variables.get("TERM") == "dumb":
        return False
    return not stream.closed and stream.isatty()
