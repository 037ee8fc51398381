"""Addresses of the pages of the site (scripts/site_pages.py), where it is published."""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import quote

VARIABLE = "TORCHLIFT_DOCUMENTATION"
"""Environment variable with the address that the site was published at, such as `https://torchlift.example.org/`."""


def page_of(kind: Literal["rules", "checks", "smokes", "errors"], name: str) -> str | None:
    """The address of the page about a rule's code, or the id of a check, a smoke or an error.

    None where the variable does not say where the pages are.
    """
    root = published_at()
    return f"{root}{kind}/{quote(name)}/" if root is not None else None


def published_at() -> str | None:
    """The address of the first page, with a slash at its end; None where the variable does not say it."""
    root = os.environ.get(VARIABLE, "").strip().rstrip("/")
    return f"{root}/" if root.startswith(("https://", "http://")) else None
