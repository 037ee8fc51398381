"""A rule as documentation: Markdown for the catalogue and `torchlift rule`, plain data for tools."""

from __future__ import annotations

from typing import Any

from torchlift.rules.registry import all_rules, loaded_rules, url_of
from torchlift.rules.rule import Bad, Rule
from torchlift.view.text import text_kind

_FENCES = {"shell": "bash", "makefile": "make", "env": "bash", "requirements": "text"}
_TABLE = ("| code | name | what |", "| --- | --- | --- |")
_HEAD = """\
# Rules

`torchlift rule TL101` prints the page of a rule: why it is there, what its fix does, examples of each kind, what is not reported, sources. The
site (`python scripts/site_pages.py`) has these pages, too. Here each code leads to the file that they are written from.

This list is written by `python -m torchlift.rules.catalogue`; do not edit.
"""
_SAFETY = {
    "safe": "Safe fix",
    "unsafe": "Fix that needs review (`--unsafe-fixes`)",
    "manual": "Reported without a fix",
}


def as_data(rule: Rule) -> dict[str, Any]:
    """Everything about a rule that is not code."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "severity": rule.severity.value,
        "targets": list(rule.targets),
        "reads_text_files": rule.text is not None,
        "deprecated": str(rule.deprecated) if rule.deprecated else None,
        "removed": str(rule.removed) if rule.removed else None,
        "aliases": list(rule.aliases),
        "default": rule.default,
        "sources": list(rule.sources),
        "url": url_of(rule),
    }


def as_markdown(rule: Rule, *, level: int = 1, examples: int = 2) -> str:
    """A page about one rule.

    Args:
        rule: the rule.
        level: heading level of its title.
        examples: most examples shown of each kind.
    """
    mark = "#" * level
    lines = [f"{mark} {rule.code} {rule.name}", "", f"{rule.summary}.", ""]
    facts = []
    if rule.since:
        facts.append(f"for targets from torch {rule.since} on")
    if rule.deprecated:
        facts.append(f"deprecated since torch {rule.deprecated}")
    if rule.removed:
        facts.append(f"removed in torch {rule.removed}")
    if rule.aliases:
        facts.append(f"also selected by {', '.join(rule.aliases)}")
    if not rule.default:
        facts.append(f"runs only where it is selected, as with `--select {rule.code}`")
    if facts:
        stated = "; ".join(facts)
        lines += [f"{stated[0].upper()}{stated[1:]}.", ""]
    lines += [f"{mark}# Why", "", rule.why, "", f"{mark}# Fix", "", rule.fix, ""]
    for safety, title in _SAFETY.items():
        chosen = [e for e in rule.examples if isinstance(e, Bad) and e.kind == safety][:examples]
        if not chosen:
            continue
        lines += [f"{mark}# {title}", ""]
        for example in chosen:
            kind = text_kind(example.path)
            language = _FENCES.get(kind, kind) if kind is not None else "python"
            place = f" (`{example.path}`)" if kind is not None else ""
            lines += [
                f"{example.why[0].upper()}{example.why[1:]}{place}:",
                "",
                f"```{language}",
                example.before.rstrip("\n"),
                "```",
                "",
            ]
            if example.after is not None:
                lines += ["becomes", "", f"```{language}", example.after.rstrip("\n"), "```", ""]
    lines += [f"{mark}# Not reported", "", *(f"- {e.why}" for e in rule.examples if not isinstance(e, Bad)), ""]
    lines += [f"{mark}# Sources", "", *(f"- {source}" for source in rule.sources), ""]
    return "\n".join(lines)


def catalogue() -> str:
    """All rules in full as one Markdown page, which the site cuts into a page a rule."""
    rules = all_rules().values()
    rows = (f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.name} | {rule.summary} |" for rule in rules)
    return "\n".join(["# Rules", "", *_TABLE, *rows, "", *(as_markdown(rule, level=2, examples=3) for rule in rules)])


def contents() -> str:
    """`docs/rules.md`: a line a rule, which leads to the file that says what it is and shows it by examples."""
    return "\n".join([_HEAD, *_TABLE, *(_line(rule, module) for rule, module in loaded_rules().values()), ""])


def _line(rule: Rule, module: str) -> str:
    file = f"../{module.removeprefix('torchlift.').replace('.', '/')}.py"
    anchor = f'<a id="{rule.code.lower()}-{rule.name}"></a>'
    return f"| {anchor}[{rule.code}]({file}) | {rule.name} | {rule.summary} |"


if __name__ == "__main__":
    print(contents(), end="")
