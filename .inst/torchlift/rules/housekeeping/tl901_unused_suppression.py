"""Suppressions that silence nothing. The engine makes these findings."""

from __future__ import annotations

from torchlift.finding import Severity
from torchlift.rules.rule import Bad, Ok, Rule, nothing

RULE = Rule(
    code="TL901",
    name="unused-suppression",
    summary="A suppression comment that silences nothing, or names no rule",
    why="A suppression that outlives its reason hides the next finding on that line.",
    fix="Safe: only the comment changes.",
    targets=(),
    triggers=("torchlift",),
    check=nothing,
    severity=Severity.INFO,
    sources=("torchlift's own design",),
)

EXAMPLES = (
    Bad("x = 3  # torchlift: ignore[TL110] old\n", "x = 3\n", why="trailing comment", run="result = x"),
    Bad(
        "import torch\n\n# torchlift: ignore[TL110, TL101] both\nx: torch.jit.Final = 3\n",
        "import torch\n\n# torchlift: ignore[TL110] both\nx: torch.jit.Final = 3\n",
        why="one of two names is unused",
        run="result = x",
    ),
    Bad("x = 3  # torchlift: ignore[TL110x] typo\n", why="no such rule"),
    Bad("make  # torchlift: ignore[TL206] old launcher\n", why="in a script", path="run.sh"),
    Ok(
        "import torch\n\nx: torch.jit.Final = 3  # torchlift: ignore[TL110] kept for torch 1.4\n",
        "a suppression that is used",
    ),
    Ok("x = '# torchlift: ignore[TL110] in a string'\n", "a string"),
    Ok("# torchlift is a tool\nx = 3\n", "prose"),
)
