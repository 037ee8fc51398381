"""Files of rules outside torchlift, as a user writes them."""

from __future__ import annotations

from pathlib import Path

_RULE = '''\
"""`mylib.old`, which is `mylib.new` now."""

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Template
from torchlift.rules.rule import Bad, Ok, Rule
from .wording import MESSAGE

RULE = Rule(
    code="{code}", name="{name}", summary="A call of `mylib.old`", why="It is gone in mylib 2.",
    fix="Safe: it is the same function.", targets=("mylib.old",), sources=("our changelog",),
)


def check(use, context):
    if use.call is None:
        return
    span = context.view.span(use.call.func)
    fix = Fix("Call `mylib.new`", Safety.SAFE, (ReplaceExpression(span, Template("mylib.new")),))
    yield Finding("{code}", context.view.path, span, MESSAGE, fix=fix)


EXAMPLES = (
    Bad("import mylib\\n\\nx = mylib.old()\\n", "import mylib\\n\\nx = mylib.new()\\n", why="a call", run="result = x",
        files=(("mylib.py", "def old():\\n    return 3\\n\\n\\nnew = old\\n"),)),
    Ok("import other\\n\\nx = other.old()\\n", "another library"),
    Ok("import mylib\\n\\nx = mylib.new()\\n", "the new name"),
    Ok("import mylib\\n\\nx = mylib.older()\\n", "another name"),
)
'''


def write_rule(
    folder: Path, code: str = "X100", name: str = "old-call", file: str | None = None, more: str = ""
) -> Path:
    """Write a rule, and the module it imports its message from, into `folder`.

    Args:
        folder: made if it is not there.
        code, name: of the rule.
        file: name of its file, if not that which belongs to the code.
        more: lines at its end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wording.py").write_text('MESSAGE = "`mylib.old` is gone."\n')
    path = folder / (file or f"{code.lower()}_{name.replace('-', '_')}.py")
    path.write_text(_RULE.format(code=code, name=name) + more)
    return path
