"""The frame of every page: verdict, head, parts with a heading, foot."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.page.look import CSS
from torchlift.page.markup import Child, Markup, element, sentence

MARKS = {"ok": "✓", "note": "•", "warning": "!", "problem": "✗", "skipped": "-", "failed": "?"}


def page(title: str, verdict: str, status: str, head: Child, body: Iterable[Child], *, foot: str, css: str = "") -> str:
    """The whole document, as text that a file or a mail can hold.

    Args:
        title: what made it.
        verdict: what it comes to, in a sentence.
        status: a key of `MARKS`.
        head: what stands below the verdict.
        body: the parts.
        foot: the last line.
        css: rules beside `CSS`.
    """
    first = element(
        "p", element("span", f"{MARKS[status]} ", aria_hidden="true"), sentence(verdict), class_=f"verdict {status}"
    )
    inside = (
        element("a", "To what was found", href="#found", class_="skip"),
        element("header", element("h1", title), first, head),
        element("main", *body, id="found"),
        element("footer", foot),
    )
    top = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # Nothing is loaded and nothing runs, whatever a name in the report may try.
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        ),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{title}: {verdict}"[:120]),
        element("style", Markup(CSS + css)),
    )
    return f"<!doctype html>\n{element('html', top, element('body', *inside), lang='en')}\n"


def section(id: str, title: str, *children: Child) -> Markup:
    """A part of the page with a heading that names it."""
    return element("section", element("h2", title, id=id), *children, aria_labelledby=id)


def link(address: str, text: str | None = None) -> Child:
    """A link where it is one, text otherwise: never a scheme that does something."""
    if address.startswith(("https://", "http://")):
        return element("a", text or address, href=address, rel="noreferrer noopener")
    return text or address
