"""Text in scripts that is shown to somebody and not run."""

from __future__ import annotations

import re

from torchlift.view.text import TextView

_PRINTED = re.compile(
    r"""(?:^|[;&|(]|\b(?:then|else|do)\b)\s*[@-]?\s*(?:echo|printf)\b(?:[^;&|"']|"[^"]*"|'[^']*')*(?:"[^"]*|'[^']*)?$"""
)
_TITLE = re.compile(r"""^\s*(?:-\s+)?["']?(?:name|run-name|description|title|help|label|summary|message)["']?\s*:\s""")


def is_shown(view: TextView, offset: int) -> bool:
    """Whether the word at `offset` is printed, or stands in a title; text that goes on into a file or a pipe is not."""
    line = view.line_at(offset)
    if line is None:
        return False
    before, after = line.text[: offset - line.start], line.text[offset - line.start :]
    if view.kind == "yaml" and _TITLE.match(before):
        return True
    return _PRINTED.search(before) is not None and re.search(r"[>|]", after) is None
