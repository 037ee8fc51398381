"""TF32 settings of before torch 2.9 read where those of 2.9 are set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_DOCS = "https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices"
_ALL = "torch.backends.fp32_precision"
_MATMUL = "torch.backends.cuda.matmul.fp32_precision"
_CUDNN = tuple(f"torch.backends.cudnn{part}.fp32_precision" for part in ("", ".conv", ".rnn"))

# Old questions: the new settings they cannot be asked behind, the value that does no harm, the old setting that agrees
# with them again, and what to ask instead.
_OLD = {
    "torch.backends.cuda.matmul.allow_tf32": (
        frozenset({_ALL, _MATMUL}),
        "ieee",
        "torch.backends.cuda.matmul.allow_tf32",
        'torch.backends.cuda.matmul.fp32_precision == "tf32"',
    ),
    "torch.get_float32_matmul_precision": (
        frozenset({_ALL, _MATMUL}),
        "ieee",
        "torch.set_float32_matmul_precision",
        "torch.backends.cuda.matmul.fp32_precision",
    ),
    "torch.backends.cudnn.allow_tf32": (
        frozenset({_ALL, *_CUDNN}),
        "tf32",
        "torch.backends.cudnn.allow_tf32",
        'torch.backends.cudnn.conv.fp32_precision == "tf32"',
    ),
    "torch.backends.cudnn.flags": (
        frozenset({_ALL, *_CUDNN}),
        "tf32",
        "torch.backends.cudnn.allow_tf32",
        "",
    ),
}

RULE = Rule(
    code="TL506",
    name="mixed-float32-settings",
    summary="`allow_tf32` or `get_float32_matmul_precision` read where `fp32_precision` is set, which raises since torch 2.9",
    why=(
        "torch 2.9 brought `fp32_precision` per backend and operation. Setting `allow_tf32` or `set_float32_matmul_precision` "
        "sets the new values too, and nothing warns; setting the new values does not set the old, and reading an old one that "
        "disagrees raises RuntimeError. The error comes where something is read (logging, saving and restoring, "
        "`torch.backends.cudnn.flags`), not where it is set."
    ),
    fix=(
        "None: the help names the new setting to ask. A file that sets the old value too is not reported, and files are looked at "
        "one by one."
    ),
    targets=tuple(_OLD),
    since=TorchVersion(2, 9),
    triggers=(
        "fp32_precision & allow_tf32",
        "fp32_precision & get_float32_matmul_precision",
        "fp32_precision & cudnn.flags",
    ),
    sources=(
        "torch/backends/cuda/__init__.py:138-152 of torch 2.9.1, :185-213 of 2.15.0",
        _DOCS,
        "fifty pairs of a setting and a question run in fresh processes with torch 2.13.0, fifteen of them with 2.15.0 too",
    ),
)

_NEW = frozenset({_ALL, _MATMUL, *_CUDNN})
_SETTINGS = frozenset({*_NEW, *(agreeing for _, _, agreeing, _ in _OLD.values())})


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    asked = use.kind == "call" if use.target.endswith(("_precision", "flags")) else use.kind in {"reference", "call"}
    if not asked or use.name != use.target:
        return
    conflicting, harmless, agreeing, instead = _OLD[use.target]
    stores = [(name, node) for name, node in _stores(view) if name in conflicting or name == agreeing]
    if any(name == agreeing for name, _ in stores):
        return  # the old setting makes the two agree; which comes first is not known here
    at_fault = next(((name, node) for name, node in stores if _value(view, node) != harmless), None)
    if at_fault is None:
        return
    name, node = at_fault
    short = use.target.removeprefix("torch.")
    message = (
        f"`{short}` raises RuntimeError behind `{name} = ...` (line {node.lineno}): since torch 2.9 the old TF32 settings cannot "
        "be read where the new ones say something that they cannot express."
    )
    if instead:
        advice = f"Ask the new setting: `{instead}`. {_DOCS}"
    else:
        advice = f"It reads `torch.backends.cudnn.allow_tf32` to restore it; set what it sets by assignment. {_DOCS}"
    yield Finding("TL506", view.path, view.span(use.node), message, Severity.WARNING, advice)


def _stores(view: ModuleView) -> Iterator[tuple[str, ast.expr]]:
    for other in view.uses(_SETTINGS):
        setter = other.target == "torch.set_float32_matmul_precision" and other.kind == "call"
        if (other.kind == "store" or setter) and isinstance(other.node, ast.expr) and other.name == other.target:
            yield other.target, other.node


def _value(view: ModuleView, stored: ast.expr) -> object:
    statement = view.parent(stored)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
        return statement.value.value
    return None


EXAMPLES = (
    Bad(
        "import torch\n\ntorch.backends.cuda.matmul.fp32_precision = 'tf32'\nprint(torch.backends.cuda.matmul.allow_tf32)\n",
        why="the old flag of products",
    ),
    Bad(
        "import torch\n\n\ndef fast(on):\n    torch.backends.fp32_precision = 'tf32' if on else 'ieee'\n\n\n"
        "def report():\n    return torch.get_float32_matmul_precision()\n",
        why="the old question behind the setting for everything",
    ),
    Bad(
        "import torch.backends.cudnn as cudnn\n\ncudnn.conv.fp32_precision = 'ieee'\nkept = cudnn.allow_tf32\n",
        why="the old flag of convolutions",
    ),
    Bad(
        "import torch\n\ntorch.backends.cudnn.conv.fp32_precision = 'ieee'\n\nwith torch.backends.cudnn.flags(deterministic=True):\n"
        "    pass\n",
        why="a context that saves the old flag",
    ),
    Ok(
        "import torch\n\ntorch.backends.cuda.matmul.allow_tf32 = True  # not fp32_precision\n",
        "only the old setting",
    ),
    Ok(
        "import torch\n\ntorch.backends.cuda.matmul.fp32_precision = 'ieee'\nprint(torch.backends.cuda.matmul.allow_tf32)\n",
        "a value that both can express",
    ),
    Ok(
        "import torch\n\ntorch.backends.cudnn.conv.fp32_precision = 'tf32'\nprint(torch.backends.cudnn.allow_tf32)\n",
        "a value that both have from the start",
    ),
    Ok(
        "import torch\n\ntorch.backends.cuda.matmul.fp32_precision = 'tf32'\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
        "print(torch.backends.cuda.matmul.allow_tf32)\n",
        "both are set",
    ),
    Ok(
        "import torch\n\nif hasattr(torch.backends, 'fp32_precision'):\n    torch.backends.fp32_precision = 'tf32'\nelse:\n"
        "    print(torch.backends.cuda.matmul.allow_tf32)\n",
        "each release its own",
    ),
    Ok(
        "import torch\n\ntorch.backends.cuda.matmul.fp32_precision = 'tf32'\nprint(torch.backends.cudnn.allow_tf32)\n",
        "products and convolutions",
    ),
)
