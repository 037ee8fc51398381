"""Boxes to untick: style sheets hide what they stand for, without a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torchlift.page.markup import Markup, element

_CSS = """
.filters { position: sticky; top: 0; background: var(--paper); padding: .4rem 0; }
.filters fieldset { border: 0; padding: 0; margin: 0 0 .2rem; display: flex; flex-wrap: wrap; gap: .1rem 1rem; }
.filters legend { float: left; margin-right: 1rem; color: var(--faint); }
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


def all_of(marks: Iterable[str]) -> str:
    """The class of something whose parts have these marks of one group of boxes: it goes when all of them are unticked."""
    return f"all-{'-'.join(sorted(set(marks)))}"


def hiding(marks: Iterable[str], together: Iterable[Iterable[str]] = ()) -> str:
    """The style sheet.

    Args:
        marks: of what goes with one box.
        together: the marks of each thing that has the class `all_of` them.
    """
    hidden = [f"body:has(#show-{mark}:not(:checked)) .is-{mark} {{ display: none; }}" for mark in sorted(set(marks))]
    for each in sorted({tuple(sorted(set(each))) for each in together}):
        boxes = "".join(f":has(#show-{mark}:not(:checked))" for mark in each)
        hidden.append(f"body{boxes} .{all_of(each)} {{ display: none; }}")
    return "\n".join([_CSS, *hidden, ""])
