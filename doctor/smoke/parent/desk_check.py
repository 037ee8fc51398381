"""What the smokes of GPUs rely on in torch, as it was read in its sources: a part of docs/smokes.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from torchlift.doctor.smoke.smoke import GPUS, Smoke

_HEAD = """\
## Desk check

For each smoke that is for a GPU: the places in torch's own sources that say what it may ask, on which
devices, and what spares it where it has no business. Line numbers are those of the wheels of {releases};
`scripts/desk_check.py` finds them again in another.
"""


@cache
def places() -> Mapping[str, Any]:
    """The table: "python" and "binary" by the ids of smokes."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name("desk_check.json").read_text(encoding="utf-8"))
    return table


def section(smokes: Iterable[Smoke], names: Mapping[str, str]) -> Iterator[str]:
    """The section of the page; `names` are words for kinds of devices."""
    python, binary = places()["python"], places()["binary"]
    releases = dict.fromkeys(release for rows in python.values() for row in rows for release in row["lines"])
    yield _HEAD.format(releases=" and ".join(releases))
    yield f"| Smoke | Devices | Gate | torch, lines of {', '.join(releases)} | Libraries and C++ |"
    yield "|---|---|---|---|---|"
    for smoke in smokes:
        if not set(smoke.kinds) & set(GPUS):
            continue
        read = [
            f"`{row['file']}` {', '.join(str(row['lines'].get(release, '-')) for release in releases)}"
            for row in python.get(smoke.id, ())
        ]
        devices = ", ".join(name for kind, name in names.items() if kind in smoke.kinds)
        yield f"| {smoke.id} | {devices} | {smoke.needs} | {'; '.join(read) or 'not read yet'} | {binary.get(smoke.id, '')} |"
    yield ""
