"""`torch.testing.assert_allclose`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, old_uses, spelled, value_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL420",
    name="assert-allclose",
    summary="`torch.testing.assert_allclose`, deprecated in favour of `assert_close`",
    why=(
        "It warns since 1.12 and will be removed. `assert_close` has tighter tolerances, compares dtypes, takes NaN for unequal, and "
        "takes what follows the two values by keyword only."
    ),
    fix="For review: `equal_nan=True` and `check_dtype=False` keep two of the differences away, the tolerances are yours to choose.",
    targets=("torch.testing.assert_allclose",),
    deprecated=TorchVersion(1, 12),
    aliases=("TOR101", "TOR103"),
    triggers=("assert_allclose & torch.testing", "assert_allclose & torch import testing"),
    sources=(
        "torch/testing/_comparison.py:1640-1681 of torch 2.13.0; https://github.com/pytorch/pytorch/issues/61844",
    ),
)

_OLD = OldName(
    "torch.testing.assert_allclose",
    ("torch.testing.assert_close",),
    "Write `torch.testing.assert_close(actual, expected, rtol=..., atol=..., equal_nan=True, check_dtype=False)`. The old "
    "tolerances were rtol 1e-3, atol 1e-3 for float16; 1e-4, 1e-5 for float32; 1e-5, 1e-8 for float64. Numbers and lists are "
    "not turned into tensors any more where the other side is one.",
    TorchVersion(1, 12),
)

_TIGHTER = (
    "the new tolerances are tighter (float32: 1.3e-6 and 1e-5 instead of 1e-4 and 1e-5; Python's floats: 1e-7 both, where they were "
    "compared as float32), so a test may fail that passed."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view

    def answer(call: ast.Call) -> CallAdvice:
        given = bind(call, ("actual", "expected", "rtol", "atol", "equal_nan", "msg"))
        name = spelled(view, use, "torch.testing.assert_close")
        if given is None or name is None or "actual" not in given or "expected" not in given:
            return CallAdvice(_OLD.advice)
        positional = [key for key in ("rtol", "atol", "equal_nan", "msg") if key in given and given[key].key != key]
        add: list[tuple[str, Template]] = [(key, value_of(view, given[key])) for key in positional]
        if "equal_nan" not in given:
            add.append(("equal_nan", Template("True")))
        add.append(("check_dtype", Template("False")))
        edit = EditCall(
            view.span(call),
            Template(name[0]),
            view.span(call.func),
            drop=tuple(given[key].key for key in positional),
            add=tuple(add),
        )
        review = (
            "the two values must be of one kind, because a number or a list beside a tensor is not turned into one any more; "
            "two lists are compared number by number."
        )
        if "rtol" not in given or "atol" not in given:
            review += f" Without `rtol` and `atol` {_TIGHTER}"
        elif any(given[key].constant is ... or given[key].constant is None for key in ("rtol", "atol")):
            review += f" Where `rtol` and `atol` are None, {_TIGHTER}"
        return changed("Use `torch.testing.assert_close`", (edit, *name[1]), TorchVersion(1, 9), review)

    yield from old_uses("TL420", use, context, _OLD, answer)


EXAMPLES = (
    Ok(
        'import torch\nfrom packaging.version import Version\n\nif Version(torch.__version__) < Version("1.9.0"):\n'
        "    from torch.testing import assert_allclose\nelse:\n    from torch.testing import assert_close as assert_allclose\n\n"
        "assert_allclose(1.0, 1.0)\n",
        "a name that is another function on every torch supported",
    ),
    Bad(
        "import torch\n\n\ndef test(a, b):\n    torch.testing.assert_allclose(a, b, 1e-3, atol=1e-3)\n",
        "import torch\n\n\ndef test(a, b):\n"
        "    torch.testing.assert_close(a, b, atol=1e-3, rtol=1e-3, equal_nan=True, check_dtype=False)\n",
        safety="unsafe",
        why="tolerances given",
        run="a = torch.tensor([1.0, float('nan')])\nresult = [test(a, a.double() + 1e-4) is None]",
    ),
    Bad(
        "from torch.testing import assert_allclose\n\n\ndef test(a, b):\n    assert_allclose(a, b)\n",
        "import torch\n\n\ndef test(a, b):\n    torch.testing.assert_close(a, b, equal_nan=True, check_dtype=False)\n",
        safety="unsafe",
        why="tolerances left to torch",
        run="import torch\na = torch.ones(3)\nresult = [test(a, a + 5e-5) is None]",
        differs="The values differ by less than the old tolerance and more than the new one.",
    ),
    Bad(
        "import torch\n\n\ndef near(a, b, rtol=None, atol=None):\n    torch.testing.assert_allclose(a, b, rtol=rtol, atol=atol)\n",
        "import torch\n\n\ndef near(a, b, rtol=None, atol=None):\n"
        "    torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True, check_dtype=False)\n",
        safety="unsafe",
        why="tolerances that may be None, which the message says",
        run="a = torch.ones(3)\nresult = [near(a, a + 5e-5) is None]",
        differs="The values differ by less than the old tolerance and more than the new one.",
    ),
    Bad(
        "from torch.testing import assert_allclose\n\ncheck = dict(close=assert_allclose)\n",
        why="a reference that is no call",
    ),
    Ok("import numpy as np\nimport torch\n\nnp.testing.assert_allclose(1, 1)\n", "numpy's"),
    Ok("import torch\n\ntorch.testing.assert_close(torch.ones(1), torch.ones(1))\n", "the new function"),
    Ok(
        "import torch.testing\n\n\nclass Case:\n    def test(self):\n        self.assert_allclose(1, 1)\n",
        "an own method",
    ),
)
