"""One requirement with the place of every part, so that a part can be exchanged and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

Notation = Literal["pip", "poetry", "conda"]

_LOCAL = lazy_pattern(r"([^+]*)\+([A-Za-z0-9][A-Za-z0-9.]*)\Z")
_TORCH_OF_CONDA = frozenset({"pytorch", "pytorch-cpu", "pytorch-gpu"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One comparison: `==2.3.1+cu118`.

    Attributes:
        operator: as written; in Poetry and conda also `^`, `~`, `=` or nothing.
        version: what follows it, local part included.
        span: where `version` stands.
    """

    operator: str
    version: str
    span: Span

    @property
    def public(self) -> str:
        """The version without its local part."""
        return self.version.partition("+")[0]

    @property
    def build(self) -> str | None:
        """The local part, "cu118"."""
        match = _LOCAL.match(self.version)
        return match[2].lower() if match else None

    @property
    def exact(self) -> bool:
        """Whether it allows one release only."""
        return self.operator in {"==", "===", "="} and "*" not in self.version


@dataclass(frozen=True, slots=True)
class Pin:
    """One requirement.

    Attributes:
        name: in lower case, with hyphens.
        text: as written; in Poetry's tables the versions alone.
        span: all of it.
        alternatives: comparisons that hold together, for each choice that it leaves; none where they are not understood.
        notation: whose grammar it is in.
        group: the list it stands in, "" where a file or a command is one list.
        conditional: whether it holds under an environment marker, a factor or the like only.
        opaque: whether it has parts that nobody edits: an address, a template, a build string.
        hashed: whether hashes of its files stand beside it.
        file: version of the wheel that it is the address of, "" for everything else.
        unread: the part of its versions that has no meaning.
    """

    name: str
    text: str
    span: Span
    alternatives: tuple[tuple[Clause, ...], ...] = ((),)
    notation: Notation = "pip"
    group: str = ""
    conditional: bool = False
    opaque: bool = False
    hashed: bool = False
    file: str = ""
    unread: str = ""

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Its versions; empty where it names none, or leaves a choice."""
        return self.alternatives[0] if len(self.alternatives) == 1 else ()

    @property
    def exact(self) -> Clause | None:
        """The clause of a requirement that allows one release only."""
        return self.clauses[0] if len(self.clauses) == 1 and self.clauses[0].exact else None

    @property
    def is_torch(self) -> bool:
        """Whether it asks for torch, which conda has under other names."""
        return self.name in _TORCH_OF_CONDA if self.notation == "conda" else self.name == "torch"

    @property
    def specifier(self) -> str | None:
        """The versions as pip writes them, without local parts; None where they have no such form."""
        if self.opaque and not self.clauses:
            return None
        written = []
        for clause in self.clauses:
            found = _as_pip(clause.operator, clause.public, self.notation)
            if found is None:
                return None
            written.append(found)
        return ",".join(part for part in written if part)

    def at(self, span: Span) -> Pin:
        """The same requirement where the text at `span` only amounts to it, so that no part can be exchanged."""
        moved = tuple(tuple(replace(clause, span=span) for clause in choice) for choice in self.alternatives)
        return replace(self, span=span, alternatives=moved, opaque=True)


def _as_pip(operator: str, version: str, notation: Notation) -> str | None:
    if version == "*":
        return ""
    if notation == "pip":
        return None if operator in {"", "=", "^", "~"} else f"{operator}{version}"
    if version.endswith("*"):
        # conda takes the dot before the star as given, and the star behind a bound as none
        version = version.rstrip(".*") + (".*" if operator in {"", "=", "==", "!="} else "")
    if operator == "=" or (operator == "" and notation == "conda"):
        return f"=={version}" if version.endswith("*") or version.count(".") >= 2 else f"=={version}.*"
    if operator == "":
        return f"=={version}"
    if operator in {"^", "~"}:
        numbers = [int(part) for part in re.findall(r"\d+", version)]
        if not numbers or not re.fullmatch(r"[\d.]+", version):
            return None
        kept = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1) if operator == "^" else 1
        kept = min(kept, len(numbers) - 1)
        above = [*numbers[:kept], numbers[kept] + 1]
        return f">={version},<{'.'.join(map(str, above))}"
    return f"{operator}{version}"
