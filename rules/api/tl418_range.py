"""`torch.range`: the end belongs to it, and it makes floats of whole numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.api.uses import old_call
from torchlift.rules.api.uses.old_call import Argument, CallAdvice, OldName
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL418",
    name="range",
    summary="`torch.range`, deprecated in favour of `torch.arange`",
    why=(
        "It warns and will be removed. `arange` leaves the end out, and of whole numbers it makes int64 where `range` makes "
        "the default float type, so a new name alone gives other numbers of another type."
    ),
    fix=(
        "Safe where start, end and step are whole numbers that are written out. For review where the end is computed: it must be "
        "whole and not before the start. Not offered for fractions, whose count of elements depends on rounding."
    ),
    targets=("torch.range",),
    triggers=old_call.triggers("range", rare=False),
    deprecated=TorchVersion(1, 4),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/_torch_docs.py, `range`, of torch 2.13.0, and its UserWarning; ends, steps and types run on 2.13.0",
    ),
)

_OLD = OldName(
    "torch.range",
    ("torch.arange",),
    "Write `torch.arange(start, end + 1, dtype=...)`, with `end - 1` for steps below zero: `range` includes its end. Without `dtype` it "
    "makes the default float type, `arange` of whole numbers makes int64. With a fractional step count the elements: "
    "`start + step * torch.arange(n)`.",
    TorchVersion(1, 4),
)
_PARAMETERS = ("start", "end", "step")
_OPTIONS = ("out", "dtype", "layout", "device", "requires_grad")
# Whole numbers up to here are exact in float32, and so is what is counted up from them.
_EXACT = 2**24


def _answer(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = old_call.bind(call, (*_PARAMETERS, *_OPTIONS))
    name = old_call.spelled(view, use, "torch.arange")
    if given is None or name is None or "end" not in given or len(call.args) > len(_PARAMETERS):
        return CallAdvice(_OLD.advice)
    start = _whole(given["start"]) if "start" in given else 0
    step = _whole(given["step"]) if "step" in given else 1
    end = given["end"]
    if start is None or step is None or step == 0:
        return CallAdvice(_OLD.advice)
    last = _whole(end)
    if last is None and end.constant is not ...:
        return CallAdvice(_OLD.advice)
    if last is not None and (abs(last) >= _EXACT or abs(start) >= _EXACT or (last - start) * step < 0):
        return CallAdvice(_OLD.advice)
    new_end = Template(str(last + (1 if step > 0 else -1))) if last is not None else _behind(view, end.value, step)
    add: tuple[tuple[str, Template], ...] = ()
    imports = name[1]
    if "dtype" not in given and "out" not in given and not _becomes_whole(view, call):
        default = old_call.spelled(view, use, "torch.get_default_dtype")
        if default is None:
            return CallAdvice(_OLD.advice)
        add = (("dtype", Template(f"{default[0]}()")),)
        imports = (*imports, *(item for item in default[1] if item not in imports))
    edit = EditCall(view.span(call), Template(name[0]), view.span(call.func), arguments=((end.key, new_end),), add=add)
    review = (
        ""
        if last is not None
        else f"`{one_line(view, end.value)}` must be a whole number that is not before the start; `range` raises for such an end, "
        "`arange` is empty."
    )
    if add and "jit" in view.source.text:
        review += (
            " TorchScript knows no `torch.get_default_dtype`: write the dtype itself in functions that it compiles."
        )
    return old_call.changed(
        "Use `torch.arange` with an end of its own", (edit, *imports), TorchVersion(1, 4), review.strip()
    )


def _whole(argument: Argument) -> int | None:
    value = argument.constant
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _becomes_whole(view: ModuleView, call: ast.Call) -> bool:
    """Whether nothing but `.long()` gets to see the result."""
    method = view.parent(call)
    above = view.parent(method) if isinstance(method, ast.Attribute) and method.attr == "long" else None
    return isinstance(above, ast.Call) and above.func is method and not above.args and not above.keywords


def _behind(view: ModuleView, end: ast.expr, step: int) -> Template:
    """The place one further than `end`, in the direction of `step`."""
    further = 1 if step > 0 else -1
    if isinstance(end, ast.BinOp) and isinstance(end.op, (ast.Add, ast.Sub)):
        number = end.right.value if isinstance(end.right, ast.Constant) else None
        if isinstance(number, int) and not isinstance(number, bool):
            further += number if isinstance(end.op, ast.Add) else -number
            end = end.left
    if not further:
        return old_call.whole(view, end)
    return old_call.filled(f"$end {'+' if further > 0 else '-'} {abs(further)}", view, end=end)


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from old_call.old_uses("TL418", use, context, _OLD, lambda call: _answer(use, call, context.view))


EXAMPLES = (
    Bad(
        "import torch\n\na = torch.range(0, 6, 2)\nb = torch.range(4, 1, -2, dtype=torch.long)\nc = torch.range(end=-2, start=-4)\n",
        "import torch\n\na = torch.arange(0, 7, 2, dtype=torch.get_default_dtype())\n"
        "b = torch.arange(4, 0, -2, dtype=torch.long)\nc = torch.arange(end=-1, start=-4, dtype=torch.get_default_dtype())\n",
        why="whole numbers",
        run="result = [a, b, c]",
    ),
    Bad(
        "import torch as th\n\nfloats = th.empty(0)\nth.range(1, 5, out=floats)\n",
        "import torch as th\n\nfloats = th.empty(0)\nth.arange(1, 6, out=floats)\n",
        why="written into a tensor, whose type decides",
        run="result = floats",
    ),
    Bad(
        "import torch\n\n\ndef f(n):\n    return torch.range(0, n - 1), torch.range(1, n, dtype=torch.long), torch.range(n, 0, -1)\n",
        safety="unsafe",
        after="import torch\n\n\ndef f(n):\n    return torch.arange(0, n, dtype=torch.get_default_dtype()), "
        "torch.arange(1, n + 1, dtype=torch.long), torch.range(n, 0, -1)\n",
        why="an end that is computed; a start that is computed stays",
        run="result = f(4)",
    ),
    Bad(
        "import torch\n\n\ndef f(n):\n    return torch.range(10, n, -1)\n",
        "import torch\n\n\ndef f(n):\n    return torch.arange(10, n - 1, -1, dtype=torch.get_default_dtype())\n",
        safety="unsafe",
        why="downwards",
        run="result = f(7)",
    ),
    Bad(
        "import torch\n\n\ndef f(items):\n    return torch.range(0, len(items) -\n                          1).long()\n",
        "import torch\n\n\ndef f(items):\n    return torch.arange(0, len(items)).long()\n",
        safety="unsafe",
        why="made whole at once, so that the type before does not matter",
        run="result = f('abcd')",
    ),
    Bad("import torch\n\nx = torch.range(0, 1, 0.1)\n", why="a fractional step"),
    Bad("from torch import range\n\nx = range(0, 9.5)\n", why="imported in the place of the builtin"),
    Ok("import torch\n\nx = torch.arange(0, 4)\n", "the new function"),
    Ok("import torch\n\nx = [torch.ones(i) for i in range(3)]\n", "Python's own"),
    Ok("import torch\n\n\ndef f(x):\n    torch.cuda.nvtx.range('step')\n    return x\n", "a profiler range"),
)
