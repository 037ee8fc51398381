"""Bars that show how much of something is safe, to review and by hand."""

from __future__ import annotations

from torchlift.page.markup import Markup, element

CSS = """
.bar { display: flex; height: 1.1rem; min-width: 8rem; border-radius: .25rem; overflow: hidden; background: var(--code); margin: .2rem 0; }
.bar span { min-width: 2px; } .bar .safe { background: var(--ok); } .bar .review { background: var(--mid); } .bar .hand { background: var(--faint); }
"""


def bar(safe: int, review: int, hand: int) -> Markup:
    """The shares of three counts; an empty bar where there is nothing."""
    total = safe + review + hand
    parts = (("safe", safe), ("review", review), ("hand", hand))
    inside = (element("span", class_=name, style=f"width: {number / total:.1%}") for name, number in parts if number)
    return element("div", *inside, class_="bar", aria_hidden="true")
