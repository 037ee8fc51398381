"""What torchlift says about itself. The engine makes these findings; this file explains them."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use


def _nothing(use: Use, context: Context) -> Iterator[Finding]:
    return iter(())


_SOURCE = ("torchlift's own design",)
_USED = "import torch\n\nx: torch.jit.Final = 3  # torchlift: ignore[TL110] kept for torch 1.4\n"

RULES = (
    Rule(
        code="TL901",
        name="unused-suppression",
        summary="A suppression comment that silences nothing, or names no rule",
        why="A suppression that outlives its reason hides the next finding on that line.",
        fix="Safe: only the comment changes.",
        targets=(),
        triggers=("torchlift",),
        check=_nothing,
        severity=Severity.INFO,
        sources=_SOURCE,
        examples=(
            Bad("x = 3  # torchlift: ignore[TL110] old\n", "x = 3\n", why="trailing comment", run="result = x"),
            Bad(
                "import torch\n\n# torchlift: ignore[TL110, TL101] both\nx: torch.jit.Final = 3\n",
                "import torch\n\n# torchlift: ignore[TL110] both\nx: torch.jit.Final = 3\n",
                why="one of two names is unused",
                run="result = x",
            ),
            Bad("x = 3  # torchlift: ignore[TL110x] typo\n", safety="manual", why="no such rule"),
            Bad("make  # torchlift: ignore[TL206] old launcher\n", safety="manual", why="in a script", path="run.sh"),
            Ok(_USED, "a suppression that is used"),
            Ok("x = '# torchlift: ignore[TL110] in a string'\n", "a string"),
            Ok("# torchlift is a tool\nx = 3\n", "prose"),
        ),
    ),
    Rule(
        code="TL902",
        name="not-analysed",
        summary="A file that could not be read or parsed",
        why="A file that is skipped in silence looks like a file without findings.",
        fix="None: correct the file, run torchlift with the Python it is written for, or exclude it.",
        targets=(),
        triggers=("torchlift",),
        check=_nothing,
        sources=_SOURCE,
        examples=(
            Bad("import torch.jit\nprint 'torch 0.1'\n", safety="manual", why="Python 2"),
            Ok("print('no trigger word here')\n", "a plain file"),
            Ok("import torch.jit\n", "a file that parses"),
            Ok("def f(:\n", "a broken file without any trigger word is none of our business"),
        ),
    ),
    Rule(
        code="TL903",
        name="suppression-without-reason",
        summary="A suppression comment that does not say why",
        why="The next reader has to know whether the code may be migrated now.",
        fix="None: only you know the reason.",
        targets=(),
        triggers=("torchlift",),
        check=_nothing,
        severity=Severity.INFO,
        sources=_SOURCE,
        examples=(
            Bad(
                "import torch\n\nx: torch.jit.Final = 3  # torchlift: ignore[TL110]\n", safety="manual", why="no reason"
            ),
            Ok(_USED, "a reason is given"),
            Ok("x = 3  # noqa: TL110\n", "another tool's comment"),
            Ok("x = 3\n", "no comment"),
        ),
    ),
)
