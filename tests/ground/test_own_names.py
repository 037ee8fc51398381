"""A name that is said to be a module's own is nothing else to who reads the syntax tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlift.search.own_names import surely_defines
from torchlift.search.translations import Translations
from torchlift.source import SourceText
from torchlift.view import ModuleView

_TOP = Path(__file__).parents[2]
_LINES = (
    "class X:",
    "def X(a):",
    "    pass",
    "X = Y",
    "(X) = torch.nn",
    "X: T = Y",
    "X += 1",
    "from a import X",
    "from a import (b,",
    "    X)",
    "import b as X",
    "import X.y",
    '"""',
    "'''",
    "r'''\\'''",
    "# '''",
    '"\\',
    "'",
    'f"{a}"',
    "a.X = Y",
    "for X in a: pass",
    "del X",
    "global X",
    "async def X(): pass",
    "\\",
    "if a:",
    "    def X(): pass",
    "    X = torch.jit",
    "print(X)",
)


def meant(text: str) -> set[str | None] | None:
    """What the bindings of X stand for; None where the text is no Python."""
    source = SourceText.from_bytes(text.encode())
    try:
        view = ModuleView("m.py", source, source.parse(), "m")
    except (SyntaxError, ValueError):
        return None
    return {Translations._meaning(view, one) for one in view.scopes.module.bindings.get("X", ())}


@pytest.mark.parametrize("text", ["class X:\n    pass\n", '"""Text."""\n\n\ndef X(a):\n    return a\n\n\nprint(X)\n'])
def test_a_class_and_a_function_are_the_modules_own(text: str) -> None:
    assert surely_defines(text.encode(), b"X")


@pytest.mark.parametrize(
    "text",
    [
        '"""\nclass X:\n"""\n',
        "a = '''\\'''\ndef X(): pass\n'''\n",
        "try:\n    from a import X\nexcept ImportError:\n    pass\ndef X(): pass\n",
        "def X(): pass\nX = torch.jit.script\n",
        "def Xa(): pass\n",
        "def X\u00e9(): pass\n",
        "if a:\n    def X(): pass\n",
        "x = 'a\\\nclass X:'\n",
    ],
)
def test_what_stands_in_a_string_or_may_be_something_else_is_not_said_to_be_own(text: str) -> None:
    assert not surely_defines(text.encode(), b"X")


@given(st.lists(st.sampled_from(_LINES), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_what_is_said_to_be_own_means_itself(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    found = meant(text)
    assert found is None or found == {"m.X"} or not surely_defines(text.encode(), b"X")


def test_of_real_files_most_definitions_are_told_and_none_is_wrong() -> None:
    told = every = 0
    for path in sorted(_TOP.glob("rules/torchscript/**/*.py")):
        source = SourceText.from_bytes(path.read_bytes())
        view = ModuleView(path.name, source, source.parse(), "m")
        for name, bound in view.scopes.module.bindings.items():
            own = {Translations._meaning(view, one) for one in bound} == {f"m.{name}"}
            is_told = surely_defines(path.read_bytes(), name.encode())
            assert own or not is_told, (path, name)
            every += bound[0].kind in {"def", "class"}
            told += is_told
    assert told > 0.9 * every > 100
