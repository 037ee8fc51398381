"""Writes `docs/errors.md` from the table, `python -m torchlift.doctor.errors.page > docs/errors.md`, and the site's pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.errors.matching import expression, worded
from torchlift.doctor.errors.table import KNOWN, SUBJECTS

_HEAD = """\
# Error messages

`torchlift doctor --explain-error "TEXT"` says what a message comes from and what to do; TEXT is the message, the path of a log, or `-`
for standard input. Of a log it finds the first cause and says where it stands: ranks that write into one log, tracebacks in
tracebacks, colours, time stamps and the summaries of launchers are read through, and logs of hundreds of megabytes in little memory.
Where checks look at the error, this machine (or that of `--facts FILE`, `--python PATH`, `--gpu NAME --driver VERSION`) is asked, and
its command is the answer. `--json` writes it as `doctor/error.schema.json` describes.

Exit status: 0 explained (remarks for which nothing stops, too), 1 the text, or the first error in it, is not in this table, 2 the text
cannot be read.

A message that torchlift does not know gets no answer. **Likely** stands where the cause is a common one and not a certain one. How often
the answers were right on messages that nobody had looked at before: [bench/RESULTS.md](../bench/RESULTS.md#error-messages).

What a message comes from, what to do and where that is known from stands in the table in `doctor/errors/known/`, which the smokes share, and on
a page each of the site (`python scripts/site_pages.py`). `python -m torchlift.doctor.errors.page` writes the list below from it: {number} rows.
"""
_LONGEST = 120

_LEVELS = {
    "cause": "",
    "vague": "It says that something failed; another line of the log says why.",
    "warning": "Nothing stops for it.",
}


def contents() -> str:
    """`docs/errors.md`: the first line of the first text of each row."""
    return "\n".join(_contents()) + "\n"


def _contents() -> Iterator[str]:
    yield _head()
    for title, rows in SUBJECTS.items():
        yield from (f"## {title}", "", "| | |", "| --- | --- |")
        for row in rows:
            if not row.smokes_only:
                line = row.says[0].strip().split("\n")[0]
                short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."
                yield f"| {row.id} | {_as_code(short)} |"
        yield ""


def _as_code(text: str) -> str:
    """A cell of a table that shows a text letter for letter."""
    mark = "``" if "`" in text else "`"
    shown = f"{mark} {text} {mark}" if "`" in text else f"`{text}`"
    return shown.replace("|", "\\|")


def page() -> str:
    """Everything about each error, which the site cuts into a page each."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield _head()
    for title, rows in SUBJECTS.items():
        yield f"## {title}"
        yield ""
        for row in rows:
            if not row.smokes_only:
                yield from entry(row)


def _head() -> str:
    return _HEAD.format(number=sum(not row.smokes_only for row in KNOWN))


def entry(known: KnownError) -> Iterator[str]:
    """What there is about one error, a line each."""
    match = expression(known).search(known.says[0])
    row = known if match is None else worded(known, match)
    yield f"### {row.id}"
    yield ""
    yield "```text"
    yield from "\n".join(row.says).split("\n")
    yield "```"
    yield ""
    cause = f"**Likely:** {row.cause}" if row.likely else row.cause
    yield " ".join(part for part in (f"{cause}.", _LEVELS[row.level]) if part)
    yield ""
    if row.causes:
        yield "One of these:"
        yield ""
        yield from (
            f"{number}. {each.what}. Told by: {each.tell}. Then: {each.remedy}."
            for number, each in enumerate(row.causes, 1)
        )
        yield ""
    command = f": `{row.command}`" if row.command is not None else "."
    yield f"- What to do: {row.remedy}{command}"
    if row.checks:
        yield f"- Checks: {', '.join(f'[{id}](doctor.md#{id})' for id in row.checks)}"
    yield f"- From: {'; '.join(row.sources)}"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(contents())
