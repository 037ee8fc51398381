"""The options of `torchlift migrate`, in the order in which its help shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from torchlift import __version__
from torchlift.migrate.flags import duration, patterns, reports
from torchlift.migrate.output_formats import OUTPUT_FORMATS

_OPTIONS = (
    click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True)),
    click.option("--check", "check", is_flag=True, help="Report only; write nothing."),
    click.option("--diff", "diff", is_flag=True, help="Print the changes as a patch; write nothing."),
    click.option("--unsafe-fixes", is_flag=True, default=None, help="Also apply fixes that need a human's review."),
    click.option(
        "--select", multiple=True, metavar="CODES", help="Rules to run: codes, prefixes or names, comma-separated."
    ),
    click.option("--ignore", multiple=True, metavar="CODES", help="Rules to leave out."),
    click.option(
        "--extend-rules",
        multiple=True,
        type=click.Path(path_type=Path, exists=True),
        help="A file or folder of rules of your own, in the place of the configured ones; they are code, which runs.",
    ),
    click.option("--allow-own-rules", is_flag=True, help="Run the rules that the configuration names in extend-rules."),
    click.option("--target", metavar="VERSION", help="torch release the project moves to. [default: newest known]"),
    click.option(
        "--min-torch", metavar="VERSION", help="Lowest torch release to support. [default: found in the project]"
    ),
    click.option(
        "--batch-example",
        type=click.IntRange(min=2),
        metavar="N",
        help="Capture with a batch of N where the example has 1, which export would fix.",
    ),
    click.option(
        "--gpus",
        multiple=True,
        metavar="NAMES",
        help="GPUs that the project runs on, such as H100,V100: decides which wheels requirements ask for.",
    ),
    click.option("--driver", metavar="VERSION", help="Their NVIDIA driver, such as 580.95.05; goes with --gpus."),
    click.option(
        "--facts",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The machine it runs on, as saved by torchlift doctor --save-facts, in the place of --gpus.",
    ),
    click.option(
        "--wrapper",
        multiple=True,
        metavar="MODULE=TORCH_MODULE",
        help="A module that mirrors one of torch, such as mylib.dist=torch.distributed.",
    ),
    click.option(
        "--torchscript",
        type=click.Choice(["drop", "keep"]),
        help="drop: nobody scripts, traces or loads TorchScript from this project any more. keep: somebody does.",
    ),
    click.option(
        "--torchscript-tests",
        type=click.Choice(["successor", "delete"]),
        help="What becomes of tests that test nothing but scripting.",
    ),
    click.option(
        "--torchscript-speed",
        type=click.Choice(["eager", "compile"]),
        help="What takes the place of scripting for speed. [default: eager]",
    ),
    click.option(
        "--torchscript-keep",
        multiple=True,
        metavar="PATTERN",
        callback=patterns,
        help="Files and artifacts that stay TorchScript, with all they reach.",
    ),
    click.option(
        "--evidence",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="What torchlift record has seen: also apply fixes that it proves.",
    ),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Findings that are known: only others are listed and count.",
    ),
    click.option(
        "--write-baseline", is_flag=True, help="Write what is left to the baseline. [default: .torchlift-baseline.json]"
    ),
    click.option(
        "--since",
        metavar="REV",
        help="List only what is on lines changed since this revision of git; goes with --check.",
    ),
    click.option(
        "--changed", "since", flag_value="HEAD", help="The same for lines that are not committed yet: --since HEAD."
    ),
    click.option(
        "--verify",
        "command",
        metavar="CMD",
        help="Try the fixes on a copy of the project, keep those with which CMD runs as it does without.",
    ),
    click.option(
        "--verify-runs",
        type=click.IntRange(min=4),
        default=30,
        show_default=True,
        help="Most runs of CMD; goes with --verify.",
    ),
    click.option(
        "--verify-timeout",
        metavar="TIME",
        callback=duration,
        default="10m",
        show_default=True,
        help="Most time that one run of CMD may take, such as 90s, 10m or 1h.",
    ),
    click.option(
        "--flaky",
        is_flag=True,
        help="CMD has tests that fail now and then: look three times, and twice before blaming.",
    ),
    click.option(
        "--output-format",
        type=click.Choice(OUTPUT_FORMATS),
        help="How findings are shown. [default: full]",
    ),
    click.option(
        "--output-file",
        multiple=True,
        metavar="[FORMAT=]FILE",
        callback=reports,
        help="Write the findings to FILE, in FORMAT beside what is shown, else in their place.",
    ),
    click.option("--statistics", is_flag=True, help="Show counts per rule instead of findings."),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        callback=patterns,
        help="Files to leave out, beside the configured ones.",
    ),
    click.option(
        "--force-exclude",
        is_flag=True,
        default=None,
        help="Apply excludes to explicitly named files too, and leave out those of kinds that are not read (for hooks).",
    ),
    click.option("--no-respect-gitignore", is_flag=True, help="Look at files that .gitignore names, too."),
    click.option("--allow-dirty", is_flag=True, default=None, help="Write files with uncommitted changes."),
    click.option("--allow-no-vcs", is_flag=True, default=None, help="Write files outside version control."),
    click.option(
        "--stdin-filename", type=click.Path(path_type=Path), help="Name of the file read from standard input (-)."
    ),
    click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use."),
    click.option("--isolated", is_flag=True, help="Use no configuration file."),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=0), help="Processes to use; 0 lets the amount of work decide."
    ),
    click.option(
        "--cache-dir",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="TORCHLIFT_CACHE_DIR",
        metavar="FOLDER",
        help="Where to keep what was found. [default: the user's folder for caches]",
    ),
    click.option(
        "--no-cache", is_flag=True, envvar="TORCHLIFT_NO_CACHE", help="Neither use nor keep what earlier runs found."
    ),
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True),
    click.option("-v", "--verbose", is_flag=True, help="Show every finding in full, also those that wait for another."),
    click.option("-q", "--quiet", is_flag=True, help="No summary."),
    click.version_option(__version__, "-V", "--version", prog_name="torchlift"),
)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the function of the command its arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
