"""Boxes to untick: style sheets hide what they stand for, without a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torchlift.page.markup import Markup, element

_CSS = """
.filters { position: sticky; top: 0; background: var(--paper); padding: .4rem 0; }
.filters fieldset { border: 0; padding: 0; margin: 0 0 .2rem; display: flex; flex-wrap: wrap; gap: .1rem 1rem; }
.filters legend { float: left; margin-right: 1rem; color: var(--faint); } .filters label { white-space: nowrap; }
@media print { .filters { display: none; } }
"""


def mark(text: str) -> str:
    """A name for style sheets that tells texts apart, whatever signs they hold."""
    return f"in-{text.encode('utf-8', 'backslashreplace').hex()}"


def filters(groups: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> Markup:
    """The boxes: titles, each with marks and what they are called. What has the class `is-MARK` goes with the box."""
    rows = [
        element(
            "fieldset",
            element("legend", title),
            *(
                element("label", element("input", type="checkbox", id=f"show-{mark}", checked=True), f" {name}")
                for mark, name in boxes
            ),
        )
        for title, boxes in groups
    ]
    return element("div", element("details", element("summary", "Filter"), *rows, open=True), class_="filters")


def hiding(marks: Iterable[str]) -> str:
    """The style sheet."""
    hidden = [f"body:has(#show-{mark}:not(:checked)) .is-{mark} {{ display: none; }}" for mark in sorted(set(marks))]
    return "\n".join([_CSS, *hidden, ""])
