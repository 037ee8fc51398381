"""Files that could not be read. The engine makes these findings."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.finding import Finding
from torchlift.rules.rule import Bad, Context, Ok, Rule, nothing

RULE = Rule(
    code="TL902",
    name="not-analysed",
    summary="A file that could not be read or parsed",
    why="A file that is skipped in silence looks like a file without findings.",
    fix="None: correct the file, run torchlift with the Python it is written for, or exclude it.",
    targets=(),
    # With these words a file that uses torch is no Python of today, whatever else stands in it.
    triggers=("torchlift", 'import torch & print "', "import torch & print '"),
    check=nothing,
    sources=("torchlift's own design",),
)


def whole(context: Context) -> Iterable[Finding]:
    """A file with one of the words is looked at, and has no finding once that could be done."""
    return ()


EXAMPLES = (
    Bad("import torch.jit\nprint 'torch 0.1'\n", why="Python 2"),
    Ok("print('no trigger word here')\n", "a plain file"),
    Ok("import torch.jit\n", "a file that parses"),
    Ok("def f(:\n", "a broken file without any trigger word is none of our business"),
)
