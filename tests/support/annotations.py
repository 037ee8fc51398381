"""Annotations of GitHub as its runner reads them."""

from __future__ import annotations


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them: actions/runner, src/Runner.Common/ActionCommand.cs (read 2026-11-23)."""
    listed = []
    for line in text.splitlines():
        assert line.startswith("::")
        head, _, message = line[2:].partition("::")
        level, _, rest = head.partition(" ")
        named = dict(part.split("=", 1) for part in rest.split(","))
        for code, sign in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
            named = {name: value.replace(code, sign) for name, value in named.items()}
            message = message.replace(code, sign) if code not in {"%2C", "%3A"} else message
        listed.append((level, named, message))
    return listed
