"""What `pytest --exhaustive` adds to a run; `conftest.py` says here whether it was given."""

from __future__ import annotations

_given = False


def choose(exhaustive: bool) -> None:
    """Say once, before tests are collected, whether the run is exhaustive."""
    global _given  # noqa: PLW0603 - one answer for the whole process
    _given = exhaustive


def is_exhaustive() -> bool:
    """Whether the run may take as long as it needs."""
    return _given


def tried(quick: int, exhaustive: int) -> int:
    """How many random examples a property test tries."""
    return exhaustive if _given else quick
