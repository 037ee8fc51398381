"""A file to begin a rule with: whole, except for what only its author knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from torchlift.authoring.checkout import checkout_around, families, family_folder
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.own_rules import OF_TORCHLIFT, code_in_name, problem_with_code
from torchlift.rules.rule_index import indexed_rules

_NAME = lazy_pattern(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_WANTED = lazy_pattern(r"([A-Z]+)(\d*)")
# Digits of the first code of an author's own letters.
_FIRST_OWN = 100

_RULE = '''\
"""<`package.name`: what is wrong with it, in one line.>"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="{code}",
    name="{name}",
    summary="<what is found, in a few words>",
    why="<What breaks, and since which release.>",
    fix="<When the fix is safe, when it needs review, when there is none.>",
    targets=("<package.qualified.name>",),
    sources=("<where each fact comes from, with its date>",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    span = view.span(use.node)
    message = f"`{{use.target}}` <what happens to it, and since when>."
    if use.kind == "import":
        if view.is_unread_import(use):  # else it goes with the fixes of what reads it
            yield Finding("{code}", view.path, span, message, Severity.WARNING, "<What to import instead.>")
        return
    new = view.spell("<package.new.name>", use.node, use)
    if new is None:
        yield Finding("{code}", view.path, span, message, Severity.WARNING, "<What to write instead.>")
        return
    fix = Fix("<What the fix does>", Safety.SAFE, (ReplaceExpression(span, Template(new.text)), *new.imports))
    yield Finding("{code}", view.path, span, message, Severity.WARNING, fix=fix)


EXAMPLES = (
    Bad(
        "<a module with the pattern, as plain as it gets>",
        "<the module after the fix>",
        why="<a plain call>",
        run="<statements that assign `result`, such as result = f(torch.ones(3))>",
    ),
    Bad("<a module that only imports the name and hands it on>", why="<an import>"),
    Ok("<another library's function of the same name>", "<another library>"),
    Ok("<a parameter that shadows the module>", "<a shadowed name>"),
    Ok("<what the rule asks for>", "<the new code>"),
)
'''
PLACEHOLDERS: Final = tuple(dict.fromkeys(re.findall("<[^<>]+>", _RULE)))
"""What stands in a new file for what only its author knows."""


class ScaffoldError(Exception):
    """No file was written; the message says why and what to do."""


def new_rule(wanted: str, name: str, folder: Path | None, here: Path) -> Path:
    """Write a file for a new rule, and return its path.

    Args:
        wanted: a code, or the letters and first digits of one, which take the next that is free.
        name: what the pattern is called, in lower case with hyphens.
        folder: where to; None for the folder of the family in the checkout of torchlift around `here`.
        here: the current folder.

    Raises:
        ScaffoldError: there is no such family, the code or the name is taken, or nothing says where to write.
    """
    if not _NAME.fullmatch(name):
        raise ScaffoldError(f"{name!r} is no name of a rule; write it in lower case with hyphens, such as old-solver.")
    if name in {rule.name for rule in indexed_rules().values()}:
        raise ScaffoldError(f"A rule is called {name!r} already; `torchlift rule {name}` shows it.")
    split = _WANTED.fullmatch(wanted.upper())
    if split is None:
        raise ScaffoldError(f"{wanted!r} is no code; write the letters and first digits of one, such as TL4 or X1.")
    place = _place(split[1], wanted.upper(), folder, here)
    code = _code(split[1], split[2], place)
    path = place / f"{code.lower()}_{name.replace('-', '_')}.py"
    place.mkdir(parents=True, exist_ok=True)
    path.write_text(_RULE.format(code=code, name=name), encoding="utf-8")
    return path


def free_codes() -> Mapping[str, str]:
    """The next free code of each family of torchlift, by the first letters of its codes."""
    return {family: _next(family, indexed_rules()) for family in families()}


def _place(letters: str, wanted: str, folder: Path | None, here: Path) -> Path:
    if folder is not None:
        if letters in OF_TORCHLIFT and checkout_around(folder) is None:
            raise ScaffoldError(f"Codes with {letters} belong to torchlift; take letters of your own, such as X100.")
        return folder
    if letters != "TL":
        raise ScaffoldError(f"Say where your own rules stand: `--folder tools/torchlift_rules`, say, for {wanted}.")
    root = checkout_around(here)
    if root is None:
        raise ScaffoldError(
            f"{wanted} is a code of torchlift's own, whose rules stand in its repository: go to a checkout of it. "
            "For a rule of yours take letters of your own, such as X100, and say `--folder`."
        )
    found = family_folder(root, wanted)
    if found is None:
        raise ScaffoldError(f"{wanted} names no family; they are {', '.join(families())}.")
    return found


def _code(letters: str, digits: str, place: Path) -> str:
    """The code that is meant: the one that is named, or the next free one of its family."""
    files = place.glob("*.py") if place.is_dir() else ()
    used = {code for file in files if (code := code_in_name(file)) is not None}
    if letters == "TL":
        used |= set(indexed_rules())
    whole = len(digits) >= 3
    code = letters + digits if whole else _next(letters + digits, used)
    if letters != "TL" and (problem := problem_with_code(code)) is not None:
        raise ScaffoldError(f"{problem}.")
    if code in used:
        raise ScaffoldError(f"{code} is taken; the next free one is {_next(code[:-2], used)}.")
    return code


def _next(family: str, used: Iterable[str]) -> str:
    """The code behind the last of `family`. Gaps stay: a code is never used twice."""
    letters = family.rstrip("0123456789")
    first = int(family[len(letters) :].ljust(3, "0")) if family != letters else _FIRST_OWN
    numbers = [int(code[len(letters) :]) for code in used if code.startswith(family)]
    return f"{letters}{max(numbers, default=max(first, 1) - 1) + 1:03}"
