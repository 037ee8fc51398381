"""`torchaudio.set_audio_backend`, which did nothing from torchaudio 2.1 on and is gone since 2.9."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_SINCE = TorchVersion(2, 9)
_NO_OP = TorchVersion(2, 1)

RULE = Rule(
    code="TL449",
    name="audio-backend",
    summary="`torchaudio.set_audio_backend`, which does nothing since torchaudio 2.1 and is gone since 2.9",
    why="The call raises AttributeError in torchaudio 2.9, which goes with torch 2.9. Before, from 2.1 on, its body was `pass`.",
    fix=(
        "Needs review: a call for its own sake goes, where the project supports no torch before 2.1. What reads and writes files "
        "is TorchCodec then (TL433)."
    ),
    targets=("torchaudio.set_audio_backend",),
    triggers=("set_audio_backend",),
    deprecated=_NO_OP,
    removed=_SINCE,
    sources=(
        "torchaudio/_backend/__init__.py of the wheels of torchaudio 2.1.2 to 2.8.0 (`pass`), read 2026-11-26",
        "torchaudio/__init__.py of 2.9.1 (no such name)",
    ),
)


def changed_in(target: str) -> TorchVersion | None:
    return _SINCE


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.kind != "call" or use.call is None or not use.certain:
        return
    target = context.settings.target
    gone = target >= _SINCE
    when = (
        "is gone since torchaudio 2.9 (for torch 2.9)" if gone else "does nothing since torchaudio 2.1 (for torch 2.1)"
    )
    known = (
        "It has done nothing since torchaudio 2.1; `backend=` of `torchaudio.load` and `save` has an effect up to 2.8."
    )
    advice = f"Leave it out. {known}"
    statement = view.statement(use.node)
    fix = None
    if isinstance(statement, ast.Expr) and statement.value is use.call:
        advice = f"Needs review: torchaudio is taken to be 2.1 or newer already. {known}"
        fix = Fix("Leave out the call", Safety.UNSAFE, (DeleteStatement(view.span(statement)),), needs=_NO_OP)
    severity = Severity.ERROR if gone else Severity.WARNING
    yield Finding(
        "TL449", view.path, view.span(use.call), f"`torchaudio.set_audio_backend` {when}.", severity, advice, fix
    )


EXAMPLES = (
    Bad(
        'import torchaudio\n\ntorchaudio.set_audio_backend("sox_io")\nwave = torchaudio.transforms.Resample(8000, 16000)\n',
        "import torchaudio\n\nwave = torchaudio.transforms.Resample(8000, 16000)\n",
        "unsafe",
        why="a call for its own sake",
    ),
    Bad(
        "import sys\nimport torchaudio\n\nif sys.platform == 'win32':\n    torchaudio.set_audio_backend('soundfile')\nprint(torchaudio)\n",
        "import sys\nimport torchaudio\n\nif sys.platform == 'win32':\n    pass\nprint(torchaudio)\n",
        "unsafe",
        why="the only statement of a block",
    ),
    Bad(
        'import torchaudio\n\ntorchaudio.set_audio_backend("sox_io")\n',
        why="a project for older releases too",
        min_torch=TorchVersion(2, 0),
    ),
    Ok(
        "import torchaudio\n\nif hasattr(torchaudio, 'set_audio_backend'):\n    torchaudio.set_audio_backend('sox_io')\n",
        "a question first",
    ),
    Ok("from mylib import torchaudio\n\ntorchaudio.set_audio_backend('sox_io')\n", "another library's name"),
    Ok("import torchaudio\n\nwave = torchaudio.transforms.Resample(8000, 16000)  # set_audio_backend\n", "a comment"),
)
