"""JSON Schema of the `json` report.

`schema_version` rises when a key goes away or changes its meaning. New keys may come at any time: a reader ignores what
it does not know.
"""

from __future__ import annotations

from typing import Any

SCHEMA_VERSION = 1


def _object(description: str, /, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
    }


def _array(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": items}


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _text_or_null(description: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "description": description}


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


_PATH = "Path relative to `root`, with forward slashes."

_LOCATION = _object(
    "A place between characters.",
    row={"type": "integer", "minimum": 1, "description": "Line; lines end at LF, CRLF and lone CR, as in Python."},
    column={"type": "integer", "minimum": 1, "description": "Column in code points; a byte-order mark is not counted."},
)

_FIX = _object(
    "A change that makes the finding go away.",
    applicability={
        "enum": ["safe", "unsafe"],
        "description": "`unsafe` fixes rest on an assumption that the finding names, and are applied only on demand.",
    },
    message=_text("What applying it does."),
    edits=_array(
        "Replacements in the text that the finding's locations refer to, in ascending order and without overlap. Empty "
        "where they were not made: for fixed findings, and in files where nothing can be applied.",
        _object(
            "One replacement.",
            content=_text("New text."),
            location={"$ref": "#/$defs/location"},
            end_location={"$ref": "#/$defs/location"},
        ),
    ),
)

_FINDING = _object(
    "One place that breaks, or will.",
    code=_text("Stable rule code, such as `TL101`."),
    name=_text_or_null("Name of the rule."),
    message=_text("What is wrong and why."),
    help=_text_or_null("What to do where there is no fix, or what the fix assumes."),
    notes=_array("What the message rests on, step by step.", _text("One step.")),
    severity={"enum": ["error", "warning", "info"], "description": "How much it matters at the target release."},
    filename=_text(_PATH),
    location={"$ref": "#/$defs/location"},
    end_location={"$ref": "#/$defs/location"},
    fixed=_flag(
        "Whether its fix is part of the file's new text: written in mode `write`, shown as a patch in mode `diff`. "
        "Locations of fixed findings are in the text as it was read, those of other findings in the new text, if any."
    ),
    fix={"anyOf": [{"$ref": "#/$defs/fix"}, {"type": "null"}]},
    url=_text_or_null("Where the rule is explained."),
)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "torchlift migrate report",
    **_object(
        "What one run of `torchlift migrate` found and did.",
        schema_version={"const": SCHEMA_VERSION},
        torchlift_version=_text("Version of torchlift."),
        mode={"enum": ["write", "diff", "check"], "description": "What was asked for."},
        unsafe_fixes=_flag("Whether fixes that need review were to be applied too."),
        target=_text("torch release the project moves to."),
        min_torch=_text("Lowest torch release the project supports."),
        min_torch_source=_text_or_null("Where that bound was read; null where it is assumed."),
        root=_text("Project root as seen from the working directory of the run."),
        findings=_array("Fixed findings and those that are left, by file and place.", {"$ref": "#/$defs/finding"}),
        refused=_array(
            "Files left as they were although there was something to write.",
            _object("One file.", path=_text(_PATH), reason=_text("Why, and what would allow it.")),
        ),
        failures=_array(
            "What torchlift could not do; any failure makes the exit code 2.",
            _object(
                "One failure.",
                path=_text(_PATH),
                stage=_text("What was being done: `read`, `parse`, `rule TL101`, `verify`, `write`."),
                reason=_text("What happened."),
                ours=_flag("Whether it is a defect of torchlift and not of the input."),
            ),
        ),
        notes=_array("Remarks on the whole run.", {"type": "string"}),
        summary=_object(
            "Counts.",
            files_seen=_count("Files looked at."),
            files_analysed=_count("Files that mention something a rule knows, and were parsed."),
            files_changed=_count("Files with fixes written, or shown as a patch."),
            fixed=_count("Findings whose `fixed` is true."),
            left=_count("Findings whose `fixed` is false."),
            safe=_count("Findings left with a safe fix."),
            unsafe=_count("Findings left with a fix that needs review."),
            manual=_count("Findings left without a fix."),
            suppressed=_count("Findings silenced by comments; they are not listed."),
        ),
    ),
    "$defs": {"location": _LOCATION, "fix": _FIX, "finding": _FINDING},
}
"""JSON Schema, draft 2020-12."""
