"""`torchlift help`: the pages of the documentation, and all that has an entry of its own, without a network."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

import click

from torchlift.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ENTRIES = ("rules", "doctor", "errors", "smokes")
"""Pages that are not installed: each entry of theirs is a topic."""

_LISTED = lazy_pattern(r"^- \[([\w-]+)\.md\]\(\1\.md\): (.+)$", re.MULTILINE)
_HEADING = lazy_pattern(r"^(##+) (.+)$", re.MULTILINE)
_CODE = lazy_pattern(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = lazy_pattern(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:)[^)\s]*\)")


def _pages() -> Mapping[str, str]:
    """What each page is about, by its name."""
    listed = _LISTED.findall(files("torchlift.docs").joinpath("README.md").read_text(encoding="utf-8"))
    return {name: about for name, about in listed if name not in ENTRIES}


def _topics(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=about) for name, about in _pages().items() if name.startswith(incomplete)]


@click.command("help", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("topic", required=False, shell_complete=_topics)
@click.pass_context
def show_help(context: click.Context, topic: str | None) -> None:
    """Show what there is to read about TOPIC: a page, a command, a rule, a check, a smoke, a known error or a section of a page."""
    pages = _pages()
    if topic is None:
        width = max(map(len, pages))
        lines = [f"  {name:<{width}}  {_plain(about)}" for name, about in pages.items()]
        click.echo("\n".join(["torchlift help TOPIC shows one of these pages:", "", *lines, ""]))
        click.echo(
            "or what there is about a command (migrate), a rule (TL101, TOR102, torchscript-trace), a check of the doctor (shm-size), "
            "a smoke (alloc), a known error (no-kernel-image), or what a section of a page is called (baseline, exit status)."
        )
        return
    wanted = topic.strip().lower().removesuffix(".md")
    text = _page(context, wanted) if wanted in pages else _entry(context, topic.strip()) or _sections(pages, wanted)
    if text is None:
        context.fail(_unknown(context, topic, pages))
    if sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)


def _page(context: click.Context, name: str) -> str:
    text = _plain(files("torchlift.docs").joinpath(f"{name}.md").read_text(encoding="utf-8"))
    root = context.find_root()
    is_command = isinstance(root.command, click.Group) and name in root.command.list_commands(root)
    return f"{text}\n`torchlift {name} --help` lists the options.\n" if is_command else text


def _sections(pages: Mapping[str, str], topic: str) -> str | None:
    """Sections of pages whose headings hold some words, each with the page that it is from."""
    found = []
    for page in pages if topic else ():
        text = files("torchlift.docs").joinpath(f"{page}.md").read_text(encoding="utf-8")
        headings = list(_HEADING.finditer(_CODE.sub(lambda block: "x" * len(block[0]), text)))
        for number, heading in enumerate(headings):
            if re.search(rf"\b{re.escape(topic)}\b", heading[2].lower()):
                others = (other for other in headings[number + 1 :] if len(other[1]) <= len(heading[1]))
                section = text[heading.start() : next((other.start() for other in others), len(text))].rstrip()
                found.append(f"{_plain(section)}\n\n(of the page {page})\n")
    return "\n".join(found) or None


def _plain(text: str) -> str:
    """A page without addresses of other pages, which lead nowhere in a terminal."""
    return _LINK.sub(r"\1", text)


def _entry(context: click.Context, topic: str) -> str | None:
    """What there is about a command, a rule, a check, a smoke or an error."""
    root = context.find_root()
    if isinstance(root.command, click.Group) and (command := root.command.get_command(root, topic.lower())) is not None:
        with click.Context(command, info_name=topic.lower(), parent=root) as inner:
            return f"{command.get_help(inner)}\n"
    from torchlift.doctor.checks.registry import all_checks
    from torchlift.doctor.errors.page import entry
    from torchlift.doctor.errors.table import KNOWN
    from torchlift.doctor.report.catalogue import explained
    from torchlift.doctor.smoke.loading import own_smokes
    from torchlift.doctor.smoke.parent.catalogue import explained as explained_smoke
    from torchlift.rules.catalogue import as_markdown
    from torchlift.rules.registry import all_rules

    found = [rule for rule in all_rules().values() if topic.upper() in (rule.code, *rule.aliases) or topic == rule.name]
    if found:
        return "\n".join(map(as_markdown, found))
    for check in all_checks():
        if check.id == topic.lower():
            return explained(check)
    smoke = own_smokes().get(topic.lower())
    if smoke is not None:
        return explained_smoke(smoke)
    known = next((row for row in KNOWN if row.id == topic.lower() and not row.smokes_only), None)
    return None if known is None else "\n".join(entry(known))


def _unknown(context: click.Context, topic: str, pages: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    from torchlift.doctor.checks.registry import all_checks
    from torchlift.doctor.errors.table import KNOWN
    from torchlift.rules.rule_index import indexed_rules

    root = context.find_root()
    names = [*pages, *(root.command.list_commands(root) if isinstance(root.command, click.Group) else ())]
    names += [check.id for check in all_checks()] + [row.id for row in KNOWN]
    names += [name for rule in indexed_rules().values() for name in (rule.code, rule.name)]
    close = get_close_matches(topic, names, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else "`torchlift help` lists the pages."
    return f"There is nothing to read about {topic!r}. {hint}"
