"""HTML that is safe by its making: whatever is not `Markup` is text, and is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_VOID = frozenset({"meta", "br", "link", "col", "input"})


class Markup(str):
    """HTML, as opposed to text. Only `element` and `joined` make it of anything that is not written in torchlift."""

    __slots__ = ()


Child = str | Markup | None


def element(tag: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """An element; None among children and attributes is left out.

    `class_` and `for_` stand for attributes that are words of Python, and underscores for hyphens.
    """
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        plain = name.rstrip("_").replace("_", "-")
        words.append(plain if value is True else f'{plain}="{_text(str(value))}"')
    start = f"<{' '.join(words)}>"
    return Markup(start if tag in _VOID else f"{start}{joined(children)}</{tag}>")


def joined(children: Iterable[Child], between: str = "") -> Markup:
    """Elements and texts after each other."""
    return Markup(
        between.join(child if isinstance(child, Markup) else _text(child) for child in children if child is not None)
    )


def sentence(text: str) -> Markup:
    """Text in which what stands in backquotes is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return joined([text])
    return joined(element("code", part) if index % 2 else part for index, part in enumerate(parts))


def table(caption: str, head: Iterable[Child], rows: Iterable[Iterable[Child]], *, class_: str | None = None) -> Markup:
    """A table whose first column names the rows; it scrolls by itself where it is too wide."""
    names = element("tr", *(element("th", name, scope="col") for name in head))
    lines = []
    for first, *rest in rows:
        lines.append(element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest)))
    inner = element(
        "table", element("caption", caption), element("thead", names), element("tbody", *lines), class_=class_
    )
    return element("div", inner, class_="wide", role="region", aria_label=caption, tabindex="0")


def _text(text: str) -> str:
    # Characters that HTML forbids, and those that turn the direction of what follows, are shown as what they are.
    shown = "".join(
        char if char in "\n\t" or (char.isprintable() and not _turns(char)) else f"\\u{ord(char):04x}" for char in text
    )
    return escape(shown)


def _turns(char: str) -> bool:
    return "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
