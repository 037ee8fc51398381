"""Code quality, as GitLab shows it in merge requests: an array in its subset of the Code Climate specification.

Keys and levels: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format (read 2026-11-23).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from torchlift.finding import Severity
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble

_LEVELS = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """The whole document; an empty array if there is nothing to say."""
    return json.dumps([*map(_trouble, troubles), *map(_issue, entries)], indent=2) + "\n"


def _issue(entry: ListedFinding) -> dict[str, Any]:
    place = entry.place
    return {
        "check_name": f"{entry.code} {entry.name}",
        "description": entry.text,
        "severity": _LEVELS[entry.severity],
        "fingerprint": entry.identity,
        "location": {
            "path": entry.path,
            "positions": {
                "begin": {"line": place.row, "column": place.column},
                "end": {"line": place.end_row, "column": place.end_column},
            },
        },
    }


def _trouble(trouble: Trouble) -> dict[str, Any]:
    said = "\0".join((trouble.path, trouble.stage, trouble.reason)).encode("utf-8", "surrogateescape")
    return {
        "check_name": "torchlift",
        "description": trouble.text,
        "severity": "blocker",
        "fingerprint": hashlib.sha256(said).hexdigest()[:32],
        "location": {"path": trouble.path, "lines": {"begin": 1}},
    }
