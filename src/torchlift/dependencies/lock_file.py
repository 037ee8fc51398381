"""Which torch a lock file holds: what uv, Poetry, PDM, Pipenv, conda-lock and pixi write, and PEP 751.

Sources: the lock files of these tools; "pylock.toml Specification" of PyPA.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

_PATTERNS = (
    # Tables of TOML, items of YAML
    lazy_pattern(
        r"\bname(?:: | = )[\"']?(?:py)?torch[\"']?\r?\n[ \t]*version(?:: | = )[\"']?(?P<release>\d+\.\d+(?:\.\d+)?)"
    ),
    # Pipenv's JSON
    lazy_pattern(r"\"torch\": \{[^{}]*\"version\": \"==(?P<release>\d+\.\d+(?:\.\d+)?)"),
    # Addresses of pixi
    lazy_pattern(r"(?:pypi|conda): \S*/(?:py)?torch-(?P<release>\d+\.\d+(?:\.\d+)?)[-+%]"),
)


def locked_torch(text: str) -> Iterator[tuple[str, Span]]:
    """The releases of torch in a lock file, each with its place."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield match["release"], Span(*match.span("release"))
