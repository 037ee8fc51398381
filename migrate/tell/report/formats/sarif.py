"""SARIF 2.1.0, which GitHub code scanning, Azure DevOps and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; what GitHub takes from it:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
(both read 2026-11-23). Microsoft's SARIF Multitool has a set of rules for that, `Ghas`: sarif 5.7.0 finds nothing to object to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from torchlift import __version__
from torchlift.documentation import published_at
from torchlift.finding import Severity, TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.tell.report.formats.listing import ListedFinding, Region, Trouble, region_of

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_BASE = "%SRCROOT%"


@dataclass(frozen=True)
class RuleHelp:
    """What the log says about a rule.

    Attributes:
        summary: a phrase.
        why: why it matters, a sentence or several.
        markdown: everything, with an example.
    """

    summary: str
    why: str
    markdown: str


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble], helps: Mapping[str, RuleHelp]) -> str:
    """The whole log.

    Args:
        entries: what was found.
        troubles: what could not be done.
        helps: by code of a rule.
    """
    codes = sorted({entry.code for entry in entries})
    index = {code: position for position, code in enumerate(codes)}
    by_code = {entry.code: entry for entry in entries}
    pages = published_at()
    driver = {
        "name": "torchlift",
        "semanticVersion": __version__,
        **({"informationUri": pages} if pages is not None else {}),
        "rules": [_rule(by_code[code], helps.get(code, RuleHelp(code, code, code))) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The folder that torchlift was started in."}}},
        "invocations": [
            {
                "executionSuccessful": not troubles,
                "toolExecutionNotifications": [_notification(trouble) for trouble in troubles],
            }
        ],
        "results": [_result(entry, index[entry.code]) for entry in entries],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rule(entry: ListedFinding, told: RuleHelp) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": told.summary},
        "fullDescription": {"text": told.why},
        "help": {"text": told.summary, "markdown": told.markdown},
        "defaultConfiguration": {"level": _LEVELS[entry.severity]},
    }
    if entry.url:
        rule["helpUri"] = entry.url
    return rule


def _result(entry: ListedFinding, index: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": entry.code,
        "ruleIndex": index,
        "level": _LEVELS[entry.severity],
        "message": {"text": entry.text},
        "locations": [{"physicalLocation": {"artifactLocation": _file(entry.uri), "region": _region(entry.place)}}],
        "partialFingerprints": {"torchlift/v1": entry.identity},
        "properties": {"fix": entry.safety.value},
    }
    if entry.edits:
        change = {"artifactLocation": _file(entry.uri), "replacements": [_replacement(entry, e) for e in entry.edits]}
        found["fixes"] = [{"description": {"text": entry.title}, "artifactChanges": [change]}]
    return found


def _replacement(entry: ListedFinding, edit: TextEdit) -> dict[str, Any]:
    region = _region(region_of(entry.source, edit.span))
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _notification(trouble: Trouble) -> dict[str, Any]:
    where = {"physicalLocation": {"artifactLocation": _file(trouble.uri)}}
    return {"level": "error", "message": {"text": trouble.text}, "locations": [where]}


def _file(uri: str) -> dict[str, str]:
    return {"uri": uri, "uriBaseId": _BASE}


def _region(place: Region) -> dict[str, int]:
    return {
        "startLine": place.row,
        "startColumn": place.column,
        "endLine": place.end_row,
        "endColumn": place.end_column,
    }
