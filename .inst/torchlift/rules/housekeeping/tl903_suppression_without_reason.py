"""Suppressions that do not say why. The engine makes these findings."""

from __future__ import annotations

from torchlift.finding import Severity
from torchlift.rules.rule import Bad, Ok, Rule, nothing

RULE = Rule(
    code="TL903",
    name="suppression-without-reason",
    summary="A suppression comment that does not say why",
    why="The next reader has to know whether the code may be migrated now.",
    fix="None: only you know the reason.",
    targets=(),
    triggers=("torchlift",),
    check=nothing,
    severity=Severity.INFO,
    sources=("torchlift's own design",),
)

EXAMPLES = (
    Bad("import torch\n\nx: torch.jit.Final = 3  # torchlift: ignore[TL110]\n", why="no reason"),
    Ok("import torch\n\nx: torch.jit.Final = 3  # torchlift: ignore[TL110] kept for torch 1.4\n", "a reason is given"),
    Ok("x = 3  # noqa: TL110\n", "another tool's comment"),
    Ok("x = 3\n", "no comment"),
)
