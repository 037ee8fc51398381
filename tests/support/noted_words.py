"""What torchlift says, word for word, kept as digests in `fixtures/said.tsv` from one run of the tests to the next.

A test that looks for a word in a message does not see that the message stands at another line, lacks its advice or names another
release. Here every word counts. What changes is either a mistake or meant: then `pytest --prove` of that test notes it,
and the change of the file shows of which rules, checks and machines torchlift says something else now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

NOTED = Path(__file__).parents[2] / "fixtures" / "said.tsv"
_seen: dict[str, str] = {}


def digest(said: str) -> str:
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def problem_with(name: str, said: str) -> str | None:
    """What there is to do about what is said now of `name`, None where it was noted so."""
    _seen[name] = digest(said)
    if noted().get(name) == _seen[name]:
        return None
    return f"{name} is no longer answered as it was noted. If that is meant, note it with `pytest --prove` of this test.\n{said}"


@cache
def noted() -> Mapping[str, str]:
    lines = NOTED.read_text(encoding="utf-8").splitlines() if NOTED.exists() else []
    return dict(line.split("\t", 1) for line in lines)


def seen() -> Mapping[str, str]:
    """What this process heard, by name."""
    return _seen


def note(heard: Mapping[str, str]) -> None:
    """Write the file anew: as it was, but for what was heard."""
    kept = {**noted(), **heard}
    NOTED.write_text("".join(f"{name}\t{kept[name]}\n" for name in sorted(kept)), encoding="utf-8")
    noted.cache_clear()
