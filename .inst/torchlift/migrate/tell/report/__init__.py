"""Reports: text made from a `RunResult` and from nothing else.

`render` makes the list of findings. Beside it stand `diff` (the patch, as bytes), `summary` (the verdict),
`statistics` (counts per rule) and `palette` (whether there is colour). Nothing here prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from torchlift.migrate.result import RunResult
from torchlift.migrate.workspace.config import OUTPUT_FORMATS, OutputFormat

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
        output_format: `full` and `concise` list what is left, `json` lists everything.
        root: project root. Paths are shown as seen from the working directory, in `json` as seen from the root.
        color: whether to add terminal colours; `json` never has any.
        verbose: whether `full` shows every finding in full; the others always list all.
        names: rule names by code; used by `json`.
        urls: documentation addresses by code; used by `json`.

    Returns:
        Text that ends with a line feed, or the empty string where there is nothing to list.

    Raises:
        ValueError: the format is not known.
    """
    if output_format == "full":
        from torchlift.migrate.tell.report import full

        return full.render(result, root=root, color=color, verbose=verbose)
    if output_format == "concise":
        from torchlift.migrate.tell.report import concise

        return concise.render(result, root=root, color=color)
    if output_format == "json":
        from torchlift.migrate.tell.report import json_report

        return json_report.render(result, root=root, names=names, urls=urls)
    raise ValueError(f"{output_format!r} is not an output format; choose one of {', '.join(OUTPUT_FORMATS)}")
