"""How findings can be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

OutputFormat = Literal["full", "concise", "json", "sarif", "github", "gitlab", "junit", "rdjson", "markdown", "html"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)

FOR_PEOPLE: tuple[OutputFormat, ...] = ("full", "concise")
"""Those that stand in a terminal beside a patch or the counts."""

WITH_EDITS: tuple[OutputFormat, ...] = ("json", "sarif", "rdjson", "html")
"""Those that say how fixes would edit the files."""

Report = tuple[OutputFormat | None, Path]
"""A file to write findings to: in a format of its own, or in the place of what would be printed."""
