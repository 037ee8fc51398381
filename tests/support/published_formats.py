"""What the readers of a format ask of a document: written down from their schemas, for documents that no library of ours reads that strictly.

- JUnit: `junit-10.xsd` of Jenkins' xUnit plugin, whose validation refuses what it does not name;
- GitLab: `app/validators/json_schemas/codeclimate.json` of gitlab-foss, with the severities and the uniqueness of
  https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format;
- rdjson: `proto/rdf/jsonschema/DiagnosticResult.json` of reviewdog.

All read 2026-11-26. The schemas themselves, and Microsoft's and UmbrellaDocs' validators, were run over reports of real projects that day
(bench/RESULTS.md); `tests/whole/test_official_validators.py` runs those that npm has.
"""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import junitparser
from jsonschema import Draft202012Validator

_COUNTS = {"tests", "failures", "errors"}
_ATTRIBUTES = {
    "testsuites": {"name", "time", *_COUNTS},
    "testsuite": {"name", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version", *_COUNTS},
    "testcase": {"name", "time", "classname", "group"},
    **{name: {"type", "message"} for name in ("failure", "error", "skipped")},
    "system-out": set(),
}  # fmt: skip
_NEEDED = {"testsuite": {"name", *_COUNTS}, "testcase": {"name"}}
_INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "skipped", "system-out"},
}

_PLACE = {
    "type": "object",
    "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
    "required": ["line"],
    "additionalProperties": False,
}
_RANGE = {
    "type": "object",
    "properties": {"start": _PLACE, "end": _PLACE},
    "required": ["start"],
    "additionalProperties": False,
}
_TEXT = {"type": "string", "minLength": 1}
_GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "check_name": _TEXT,
            "description": _TEXT,
            "fingerprint": _TEXT,
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "properties": {
                    "path": _TEXT,
                    "lines": {"type": "object", "properties": {"begin": {"type": "integer"}}, "required": ["begin"]},
                    "positions": {
                        "type": "object",
                        "properties": {"begin": _PLACE, "end": _PLACE},
                        "required": ["begin"],
                    },
                },
                "required": ["path"],
                "oneOf": [{"required": ["lines"]}, {"required": ["positions"]}],
                "additionalProperties": False,
            },
        },
        "required": ["description", "fingerprint", "severity", "location"],
        "additionalProperties": False,
    },
}
_RDJSON = {
    "type": "object",
    "properties": {
        "source": {"type": "object", "properties": {"name": _TEXT, "url": _TEXT}, "additionalProperties": False},
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "message": _TEXT,
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "location": {
                        "type": "object",
                        "properties": {"path": _TEXT, "range": _RANGE},
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                    "code": {
                        "type": "object",
                        "properties": {"value": _TEXT, "url": _TEXT},
                        "additionalProperties": False,
                    },
                    "suggestions": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"range": _RANGE, "text": {"type": "string"}},
                            "required": ["range", "text"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["message", "location"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["diagnostics"],
    "additionalProperties": False,
}


def junit(text: str) -> junitparser.JUnitXml:
    """A document of JUnit that Jenkins takes, as junitparser reads it."""
    data = text.encode("utf-8", "backslashreplace")
    top = ElementTree.fromstring(data)
    assert top.tag == "testsuites"
    for element in top.iter():
        assert set(element.attrib) <= _ATTRIBUTES[element.tag], ElementTree.tostring(element)
        assert set(element.attrib) >= _NEEDED.get(element.tag, set()), ElementTree.tostring(element)
        assert {inside.tag for inside in element} <= _INSIDE.get(element.tag, set()), ElementTree.tostring(element)
    return junitparser.JUnitXml.fromstring(data)


def gitlab(text: str) -> list[dict[str, Any]]:
    """A report on code quality that GitLab takes."""
    issues: list[dict[str, Any]] = json.loads(text)
    Draft202012Validator(_GITLAB).validate(issues)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


def rdjson(text: str) -> list[dict[str, Any]]:
    """Diagnostics that reviewdog takes."""
    document: dict[str, Any] = json.loads(text)
    Draft202012Validator(_RDJSON).validate(document)
    diagnostics: list[dict[str, Any]] = document["diagnostics"]
    return diagnostics
