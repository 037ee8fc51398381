"""How old the tables are."""

from __future__ import annotations


def data_age() -> str:
    """The line that says so, and what the newest torch is that they know."""
    from torchlift.versions import LATEST
    from torchlift.wheels.tables import data_date

    return f"Wheel data of {data_date()}, newest torch known {LATEST}."
