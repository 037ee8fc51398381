"""`torchlift help` answers from what is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from torchlift.cli import torchlift
from torchlift.help import ENTRIES

DOCS = Path(__file__).parents[2] / "docs"


def asked(*words: str) -> Result:
    return CliRunner().invoke(torchlift, ["help", *words], prog_name="torchlift")


def test_every_page_is_listed_and_shown_without_addresses_of_pages() -> None:
    listed = asked().output
    for page in sorted({path.stem for path in DOCS.glob("*.md")} - {"README", *ENTRIES}):
        shown = asked(page)
        assert f"\n  {page} " in listed and shown.exit_code == 0
        assert shown.output.startswith("# ") and not re.search(r"\]\([^):]*\.md[)#]", shown.output)


def test_what_a_page_and_a_command_share_names_the_options() -> None:
    assert asked("migrate").output.endswith("`torchlift migrate --help` lists the options.\n")
    assert asked("plan").output.startswith("Usage: torchlift plan [OPTIONS]")


@pytest.mark.parametrize(
    ("topic", "beginning"),
    [
        ("tl101", "# TL101 torchscript-trace"),
        ("torchscript-trace", "# TL101 torchscript-trace"),
        ("TOR102", "# TL501"),
        ("shm-size", "shm-size (machine): "),
        ("alloc", "alloc (smoke, quick): "),
        ("no-kernel-image", "### no-kernel-image"),
        ("exit status", "## Exit status\n\n| command | 0 | 1 |"),
        ("Baseline", "## Baseline: only what is new fails"),
    ],
)
def test_what_has_an_entry_is_explained(topic: str, beginning: str) -> None:
    assert asked(topic).output.startswith(beginning)


@pytest.mark.parametrize(
    ("topic", "hint"), [("weels", "Did you mean 'wheels'?"), ("qqqq", "lists the pages"), ("", "")]
)
def test_what_there_is_nothing_about_is_a_sentence(topic: str, hint: str) -> None:
    done = asked(topic)
    assert done.exit_code == 2 and f"There is nothing to read about {topic!r}." in done.output and hint in done.output
