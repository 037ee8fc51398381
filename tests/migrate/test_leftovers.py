"""What a fix leaves without a use goes with it: names that only it needed, private helpers, comments on what has gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes

ASKS = "    if not torch.jit.is_scripting():\n        {}\n    return x\n"
F = "def f(x):\n" + ASKS


def rewritten(folder: Path, code: str, **files: str) -> str:
    named = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    result = analyse_files(
        folder, {"pkg/__init__.py": "", "pkg/a.py": code, **named}, codes=frozenset({"TL112", "TL117"})
    )
    assert not [failure.detail or failure.reason for failure in result.failures]
    new = new_bytes(result, "pkg/a.py")
    return code if new is None else new.decode()


GUARD = "    if torch.jit.is_scripting():\n        raise {}\n    return x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import torch\nfrom typing import Any, cast\n\n\ndef f(x: Any):\n    if torch.jit.is_scripting():\n        x = cast(int, x)\n    return x\n",
            "import torch\nfrom typing import Any\n\n\ndef f(x: Any):\n    return x\n",
        ),
        (
            "import torch\nfrom warnings import warn\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n        warn('slow')\n    return x\n",
            "import torch\n\n\ndef f(x):\n    return x\n",
        ),
        (
            "import torch\nfrom pkg.errors import Refused\n\n\ndef f(x):\n" + GUARD.format("Refused()"),
            "import torch\n\n\ndef f(x):\n    return x\n",
        ),
        (
            "import torch\n\n_TEXT = 'no scripting'\n\n\ndef _refuse(x):\n    raise RuntimeError(_TEXT)\n\n\n# The way in.\n\n\n"
            "def f(x):\n    if torch.jit.is_scripting():\n        assert _refuse(x)\n    return x\n",
            "import torch\n\n\n# The way in.\n\n\ndef f(x):\n    return x\n",
        ),
        (
            "import torch\n\n\nclass Net:\n    def forward(self, x):\n        if torch.jit.is_scripting():\n"
            "            assert self._check(x)\n        return x\n\n    def _check(self, x):\n        return x\n",
            "import torch\n\n\nclass Net:\n    def forward(self, x):\n        return x\n",
        ),
        (
            "import torch\n\n\ndef f(x, n):\n    # torchscript does not support break in cycle, so we just\n    # go over all of it\n"
            "    if not torch.jit.is_scripting() and n > 1:\n        assert x.dim() == n\n    return x\n",
            "import torch\n\n\ndef f(x, n):\n    if n > 1:\n        assert x.dim() == n\n    return x\n",
        ),
        (
            "import torch\n\n\ndef f(x, n):\n    # Large inputs only.\n    # next is not supported in TorchScript\n"
            "    if not torch.jit.is_scripting() and n > 1:\n        assert x.dim() == n\n    return x\n",
            "import torch\n\n\ndef f(x, n):\n    # Large inputs only.\n    if n > 1:\n        assert x.dim() == n\n    return x\n",
        ),
        (
            "import torch\n\n\ndef f(x, n):\n    if (\n        n > 1\n        # A workaround. Otherwise JIT compilation\n        # takes it for a method.\n"
            "        and not torch.jit.is_scripting()\n        # large\n        and x.dim() == n\n    ):\n        assert x.dim() > 1\n    return x\n",
            "import torch\n\n\ndef f(x, n):\n    if (\n        n > 1\n"
            "        # large\n        and x.dim() == n\n    ):\n        assert x.dim() > 1\n    return x\n",
        ),
        (
            "import torch\n\n\n# TorchScript cannot compile this\n@torch.jit.ignore\ndef f(x):\n    return x\n",
            "import torch\n\n\ndef f(x):\n    return x\n",
        ),
    ],
    ids=[
        "a name of two",
        "an import",
        "of the project",
        "a helper and its constant",
        "a method",
        "a comment",
        "the last sentence of a comment",
        "above a part of a condition",
        "above a mark",
    ],
)
def test_what_only_the_removed_code_used_goes_too(before: str, after: str, tmp_path: Path) -> None:
    assert rewritten(tmp_path, before, pkg__errors="class Refused(Exception):\n    pass\n") == after


CALLS = "    if torch.jit.is_scripting():\n        assert _check(x)\n    return x\n"


@pytest.mark.parametrize(
    ("kept", "files"),
    [
        ("def check(x):\n    return x\n\n\n" + CALLS.replace("_check", "check").join(("def f(x):\n", "")), {}),
        ("def _check(x):\n    return x\n\n\ndef f(x):\n" + CALLS, {"pkg__b": "from pkg.a import _check\n"}),
        ("def _check(x):\n    return x\n\n\ndef f(x):\n" + CALLS, {"pkg__b": "import pkg.a\n\npkg.a._check(1)\n"}),
        ("def _check(x):\n    return x\n\n\ndef f(x):\n" + CALLS, {"pkg__b": "patch('pkg.a._check')\n"}),
        ("@register\ndef _check(x):\n    return x\n\n\ndef f(x):\n" + CALLS, {}),
        ("def _check(x):\n    return x\n\n\n__all__ = ['_check']\n\n\ndef f(x):\n" + CALLS, {}),
        ("def _check(x):\n    return x\n\n\ndef g(x):\n    return _check(x)\n\n\ndef f(x):\n" + CALLS, {}),
        ("_check = make()\n\n\ndef f(x):\n" + CALLS, {}),
        (
            "from pkg.layers import _check\n\n\ndef f(x):\n" + CALLS,
            {"pkg__layers": "@register\ndef _check(x):\n    return x\n"},
        ),
        ("from elsewhere import _check\n\n\ndef f(x):\n" + CALLS, {}),
        ("def _check(x):\n    return x\n", {}),
    ],
    ids=[
        "a public function",
        "imported elsewhere",
        "read elsewhere",
        "named elsewhere",
        "a decorated function",
        "a listed name",
        "still called",
        "made by a call",
        "a module that registers",
        "a module of another package",
        "never used",
    ],
)
def test_what_others_may_use_and_what_nothing_used_before_stays(
    kept: str, files: dict[str, str], tmp_path: Path
) -> None:
    head = "import torch\n\n\n"
    mark = "\n\n@torch.jit.ignore\ndef last(x):\n    return x\n"
    new = rewritten(tmp_path, f"{head}{kept}{mark}", **files)
    assert "is_scripting" not in new and "jit.ignore" not in new
    assert (
        kept.replace("    if torch.jit.is_scripting():\n        assert _check(x)\n", "").replace(
            "    if torch.jit.is_scripting():\n        assert check(x)\n", ""
        )
        in new
    )


@pytest.mark.parametrize(
    "comment",
    [
        "# only for large inputs",
        "# TorchScript cannot; see also the note on padding. Large inputs only",
        "# TODO: drop with TorchScript",
        "# for torchscript and onnx",
    ],
)
def test_a_comment_that_speaks_of_something_else_stays(comment: str, tmp_path: Path) -> None:
    code = f"import torch\n\n\ndef f(x, n):\n    {comment}\n    if not torch.jit.is_scripting() and n > 1:\n        assert x.dim() == n\n    return x\n"
    assert f"    {comment}\n    if n > 1:\n" in rewritten(tmp_path, code)


@pytest.mark.parametrize(
    ("use", "goes"), [("Refused()", True), ("Refused", False)], ids=["called", "perhaps a fixture"]
)
def test_in_a_file_of_tests_an_import_goes_of_what_was_called(use: str, goes: bool, tmp_path: Path) -> None:
    code = "import torch\nfrom pkg.errors import Refused\n\n\ndef f(x):\n" + GUARD.format(use)
    files = {"pkg/__init__.py": "", "pkg/errors.py": "class Refused(Exception):\n    pass\n", "tests/test_a.py": code}
    result = analyse_files(tmp_path, files, codes=frozenset({"TL117"}))
    new = (new_bytes(result, "tests/test_a.py") or b"").decode()
    assert new.endswith("def f(x):\n    return x\n") and ("Refused" not in new) is goes
