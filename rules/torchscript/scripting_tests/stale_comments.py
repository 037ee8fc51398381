"""Comments right above a statement that speak of nothing but the scripting in it."""

from __future__ import annotations

import ast
import re

from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.view import ModuleView

_SPEAKS = re.compile(r"(?i)\b(?:torch\s*script\w*|jit\w*|script(?:ed|ing|able|ability|s)?|trac(?:e|ed|ing|eable))\b")


def stale_comments(view: ModuleView, statement: ast.stmt) -> int:
    """Number of comment lines right above a statement that go with it: all of them if they speak of scripting."""
    comments = comments_above(view, statement)
    return len(comments) if any(_SPEAKS.search(comment) for comment in comments) else 0
