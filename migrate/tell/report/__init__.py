"""Reports: text made from a `RunResult` and from nothing else.

`render` makes the list of findings. Beside it stand `diff` (the patch, as bytes), `summary` (the verdict),
`statistics` (counts per rule) and `palette` (whether there is colour). Nothing here prints.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.output_formats import OUTPUT_FORMATS, OutputFormat
from torchlift.migrate.result import RunResult

if TYPE_CHECKING:
    from torchlift.migrate.tell.report.formats.sarif import RuleHelp

_COMMANDS = lazy_pattern(r" \([^()]*`[^()]*\)")
_NONE: Mapping[str, str] = MappingProxyType({})


def render(
    result: RunResult,
    output_format: OutputFormat,
    *,
    root: Path,
    color: bool = False,
    verbose: bool = False,
    names: Mapping[str, str] = _NONE,
    urls: Mapping[str, str] = _NONE,
) -> str:
    """The findings of a run.

    Args:
        result: the run.
        output_format: `json` lists everything, the others what is left.
        root: project root. Paths are shown as seen from the working directory, in `json` as seen from the root.
        color: whether to add terminal colours; only `full` and `concise` have any.
        verbose: whether `full` shows every finding in full; the others always list all.
        names: rule names by code; `full` and `concise` do without.
        urls: documentation addresses by code; likewise.

    Returns:
        Text that ends with a line feed, or the empty string where there is nothing to list.

    Raises:
        ValueError: the format is not known.
    """
    if output_format in ("full", "concise") and not result.outcomes:
        return ""
    if output_format == "full":
        from torchlift.migrate.tell.report import full

        return full.render(result, root=root, color=color, verbose=verbose)
    if output_format == "concise":
        from torchlift.migrate.tell.report import concise

        return concise.render(result, root=root, color=color)
    if output_format == "json":
        from torchlift.migrate.tell.report import json_report

        return json_report.render(result, root=root, names=names, urls=urls)
    return _exchanged(result, output_format, root, names, urls)


def _exchanged(
    result: RunResult, output_format: OutputFormat, root: Path, names: Mapping[str, str], urls: Mapping[str, str]
) -> str:
    """The findings in a form that another program asks for."""
    from torchlift.migrate.tell.report.formats import listing

    found, troubles = listing.listed_findings(result, root, names, urls), listing.troubles_of(result, root)
    if output_format == "sarif":
        from torchlift.migrate.tell.report.formats import sarif

        return sarif.render(found, troubles, _explained({entry.code for entry in found}))
    if output_format == "markdown":
        from torchlift.migrate.tell.report.formats import markdown
        from torchlift.migrate.tell.report.harm import counted
        from torchlift.migrate.tell.report.summary import verdict

        harm = counted((entry.harm for entry in found), result.target)
        return markdown.render(found, troubles, verdict(result), harm)
    if output_format == "html":
        from torchlift.migrate.tell.report.formats import html
        from torchlift.migrate.tell.report.harm import harms
        from torchlift.migrate.tell.report.summary import verdict

        facts = (("project", root.resolve().name), *_facts(result))
        told = _COMMANDS.sub("", verdict(result))  # for whoever runs none
        head = html.RunHead(told, not result.exit_code, facts, result.notes, harms(result.target))
        return html.render(found, troubles, head)
    if output_format in {"github", "gitlab", "junit", "rdjson"}:
        from importlib import import_module

        text: str = import_module(f"{__name__}.formats.{output_format}").render(found, troubles)
        return text
    raise ValueError(f"{output_format!r} is not an output format; choose one of {', '.join(OUTPUT_FORMATS)}")


def _facts(result: RunResult) -> tuple[tuple[str, str], ...]:
    """What a run was about, as names and values."""
    source = f" ({result.min_torch_source})" if result.min_torch_source else ""
    files = f"{result.files_seen}, of which {result.files_analysed} name something that may have changed"
    known = [("known", f"{result.known} findings of the baseline are not listed")] if result.known else []
    return (
        ("target", f"torch {result.target}"),
        ("lowest", f"torch {result.min_torch}{source}"),
        ("files", files),
        *known,
    )


def _explained(codes: Collection[str]) -> dict[str, RuleHelp]:
    """What there is to say about torchlift's own rules among `codes`."""
    from torchlift.migrate.tell.report.formats.sarif import RuleHelp
    from torchlift.rules.catalogue import as_markdown
    from torchlift.rules.registry import all_rules

    known = [rule for code, rule in all_rules().items() if code in codes]
    return {rule.code: RuleHelp(rule.summary, rule.why, as_markdown(rule, level=2, examples=1)) for rule in known}
