"""Pages as a parser sees them."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "col", "link", "input"}
ALLOWED = set(
    """html head meta title style body a header h1 h2 h3 p span dl dt dd main section article pre code ul li table caption
    thead tbody tr th td div details summary footer strong input label fieldset legend del ins""".split()
)


class Page(HTMLParser):
    """The elements of a page, and whether they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)
