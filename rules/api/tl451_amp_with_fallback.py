"""torch's old amp where something stands by for a torch without it: it warns there as anywhere, and so does every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DropOperand, Finding, Fix, KeepBranch, Rewrite, Safety, Severity
from torchlift.rules.api.uses.old_amp import triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.handlers import ABSENT_NAME, catches_anything, caught
from torchlift.view.walk import walk

_NAMES = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
_OLD = (*(f"torch.cuda.amp.{name}" for name in _NAMES), "torch.cpu.amp.autocast", "torch.cpu.amp.GradScaler")
_MODULES = frozenset({"torch.cuda.amp", "torch.cpu.amp"})
_SINCE, _ADDED = TorchVersion(2, 4), TorchVersion(1, 10)  # torch.cpu.amp came last

RULE = Rule(
    code="TL451",
    name="amp-with-fallback",
    summary="The deprecated amp of `torch.cuda` where a `try` or a `hasattr` stands by for a torch that lacks it, and its calls",
    why=(
        "`try: from torch.cuda.amp import autocast` and `hasattr(torch.cuda.amp, 'autocast')` ask for torch 1.6. Every torch since has "
        "the name, and since 2.4 each call of it warns, whatever stands by."
    ),
    fix=(
        "Safe where nothing but these names is tried or asked for, the file imports torch in any case, and nothing else uses what the "
        "fallback binds: the fallback goes, and what it stood by for is the business of TL423, TL424 and TL428 from then on. Manual elsewhere."
    ),
    targets=_OLD,
    triggers=triggers(_NAMES),
    sees_guarded=True,
    sources=("torch/cuda/amp/autocast_mode.py:18-110 and torch/cuda/amp/grad_scaler.py:12-38 of torch 2.13.0",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, node = context.view, use.node
    if context.settings.target < _SINCE or use.kind in {"string", "store", "delete", "annotation"}:
        return
    _, device, _, name = use.target.split(".")
    if name.startswith("custom"):
        advice = f'Take out the fallback and write `torch.amp.{name}(device_type="{device}")`.'
    else:
        named = ", with `enabled=` and `dtype=` by name where they are given" if name == "autocast" else ""
        advice = f'Take out the fallback and write `torch.amp.{name}("{device}")`{named}.'
    binding = use.resolution.binding if use.resolution is not None else None
    around = _around(view, node)
    if around is not None:
        message = f"`torch.{device}.amp.{name}` warns on every call since torch 2.4; what stands by for a torch without it is never used."
        fix = _without_fallback(view, around)
        yield Finding("TL451", view.path, view.span(node), message, Severity.WARNING, advice, fix)
    elif binding is not None and not use.certain and (around := _around(view, binding.node)) is not None:
        message = (
            f"`torch.{device}.amp.{name}` warns on every call since torch 2.4, and is what this name means since 1.6, whatever "
            f"stands by at line {around.lineno}."
        )
        yield Finding("TL451", view.path, view.span(node), message, Severity.WARNING, advice)


def _around(view: ModuleView, node: ast.AST) -> ast.Try | ast.If | None:
    """What tries or asks for a name only because an old torch may lack it, if nothing in it knows the new names."""
    for child, around in view.upwards(node):
        if isinstance(around, (ast.Try, ast.If)) and any(child is statement for statement in around.body):
            if isinstance(around, ast.If):
                tried = any(_is_answered(view, part) for part in walk(around.test))
            else:
                tried = bool(around.handlers) and isinstance(child, (ast.Import, ast.ImportFrom))
            if tried and not _names_the_new(view, around):
                return around
    return None


def _is_answered(view: ModuleView, test: ast.AST) -> bool:
    """Whether a condition asks torch for its amp or for a name of it, which every torch since 1.10 has."""
    match test:
        case ast.Call(func=ast.Name(id="hasattr"), args=[asked, ast.Constant(value=str(name))], keywords=[]):
            module = view.certain_name(asked)
            return (module in _MODULES and name in _NAMES) or (f"{module}.{name}" in _MODULES)
    return False


def _names_the_new(view: ModuleView, around: ast.stmt) -> bool:
    text = view.text(around)
    return any(name in text for name in ("torch.amp", "torch.autocast", "version"))


def _without_fallback(view: ModuleView, around: ast.Try | ast.If) -> Fix | None:
    """The fix that takes the fallback out; None where it may serve another purpose."""
    rewrites: tuple[Rewrite, ...] = (KeepBranch(view.span(around), "body"),)
    gone: list[ast.stmt] | None
    if isinstance(around, ast.Try):
        alone = not around.orelse and not around.finalbody and all(_asks_for_amp(view, one) for one in around.body)
        if not alone or not _has_torch(view, around) or not all(map(_is_about_absence, around.handlers)):
            return None
        gone = [statement for handler in around.handlers for statement in handler.body]
    elif isinstance(around.test, ast.BoolOp) and isinstance(around.test.op, ast.And):
        answered = [part for part in around.test.values if _is_answered(view, part)]
        if answered and len(answered) < len(around.test.values):
            drop = tuple(DropOperand(view.span(part)) for part in answered)
            return Fix(
                "Take out the question that every torch answers with yes",
                Safety.SAFE,
                drop,
                _ADDED,
                still_reported=True,
            )
        gone = around.orelse if answered else None
    else:
        gone = around.orelse if _is_answered(view, around.test) else None
    if gone is None or _is_needed(view, gone):
        return None
    return Fix("Take out the fallback", Safety.SAFE, rewrites, _ADDED, still_reported=True)


def _asks_for_amp(view: ModuleView, statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.ImportFrom)
        and not statement.level
        and statement.module in _MODULES
        and all(name.name in _NAMES for name in statement.names)
    )


def _is_about_absence(handler: ast.ExceptHandler) -> bool:
    return catches_anything(handler) or caught(handler) <= ABSENT_NAME


def _has_torch(view: ModuleView, before: ast.stmt) -> bool:
    """Whether the file cannot be imported without torch: it imports it earlier, in no `try`."""
    return any(
        isinstance(statement, (ast.Import, ast.ImportFrom))
        and statement.lineno < before.lineno
        and any(
            name.partition(".")[0] == "torch"
            for name in (
                [statement.module or ""]
                if isinstance(statement, ast.ImportFrom)
                else [one.name for one in statement.names]
            )
        )
        and not getattr(statement, "level", 0)
        for statement in view.tree.body
    )


def _is_needed(view: ModuleView, gone: list[ast.stmt]) -> bool:
    """Whether something outside of statements that go reads a name that they bind and nothing beside them does."""
    inside = {id(node) for statement in gone for node in walk(statement)}
    for scope in view.scopes.scope_of.values():
        for bound in scope.bindings.values():
            here = [binding for binding in bound if id(binding.node) in inside]
            if here and len(here) == len(bound) and _is_read_outside(view, here, inside):
                return True
    return False


def _is_read_outside(view: ModuleView, bindings: list[Binding], inside: set[int]) -> bool:
    return any(id(read) not in inside for binding in bindings for read, _ in view.reads_of(binding))


EXAMPLES = (
    Bad(
        "import torch\n\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    from contextlib import contextmanager\n\n"
        "    @contextmanager\n    def autocast(enabled=None):\n        yield\n\n\ndef step(model, x):\n    with autocast():\n"
        "        return model(x)\n",
        'import torch\n\n\ndef step(model, x):\n    with torch.amp.autocast("cuda"):\n        return model(x)\n',
        why="an import with a stand-in, and its call",
        run="result = step(torch.nn.Hardtanh(), torch.full((2, 2), 3.0))",
    ),
    Bad(
        "import torch\n\nif hasattr(torch.cuda.amp, 'custom_fwd'):\n    from torch.cuda.amp import custom_fwd\nelse:\n\n    def custom_fwd(f):\n"
        "        return f\n\n\nclass Double(torch.autograd.Function):\n    @staticmethod\n    @custom_fwd\n    def forward(ctx, x):\n"
        "        return x * 2\n",
        'import torch\n\n\nclass Double(torch.autograd.Function):\n    @staticmethod\n    @torch.amp.custom_fwd(device_type="cuda")\n'
        "    def forward(ctx, x):\n        return x * 2\n",
        why="a question first",
        run="x = torch.ones(2, requires_grad=True)\nresult = Double.apply(x)",
    ),
    Bad(
        "import contextlib\nimport torch\n\n\ndef run(model, x, amp):\n"
        "    if amp and hasattr(torch.cuda, 'amp') and hasattr(torch.cuda.amp, 'autocast'):\n        autocast = torch.cuda.amp.autocast\n"
        "    else:\n        autocast = contextlib.nullcontext\n    with autocast():\n        return model(x)\n",
        "import contextlib\nimport torch\n\n\ndef run(model, x, amp):\n    if amp:\n        autocast = torch.cuda.amp.autocast\n"
        "    else:\n        autocast = contextlib.nullcontext\n    with autocast():\n        return model(x)\n",
        why="a question beside another one",
        run="x = torch.full((2, 2), 3.0)\nresult = [run(torch.nn.Hardtanh(), x, amp) for amp in (False, True)]",
    ),
    Bad(
        "import torch\n\ntry:\n    from torch.cuda.amp import autocast\n\n    AMP = True\nexcept ImportError:\n    AMP = False\n",
        why="a flag beside it",
    ),
    Bad(
        "import torch\n\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    MISSING = 'amp'\n\nprint(MISSING)\n",
        why="a name that only the fallback binds",
    ),
    Bad(
        "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n",
        why="torch itself may be missing",
    ),
    Ok(
        "import torch\n\n\ndef run(model, x, amp):\n    with torch.cuda.amp.autocast() if amp else torch.no_grad():\n        return model(x)\n",
        "a choice in one expression, which has a body that is no list",
    ),
    Ok("import torch\n\nmake = lambda: torch.cuda.amp.GradScaler()\n", "nothing stands by in a lambda"),
    Ok(
        "try:\n    from torch.amp import GradScaler\nexcept ImportError:\n    from torch.cuda.amp import GradScaler\n",
        "the new name first",
    ),
    Ok(
        "try:\n    from torch.cuda.amp import GradScaler\n\n    OLD = True\nexcept ImportError:\n    from torch.amp import GradScaler\n",
        "the new name last",
    ),
    Ok(
        "import torch\n\nif hasattr(torch, 'autocast'):\n    autocast = torch.autocast\nelse:\n    autocast = torch.cuda.amp.autocast\n",
        "a question about the new name",
    ),
    Ok(
        "import torch\n\ntry:\n    import torch.cuda.amp as amp\nexcept ImportError:\n    amp = None\n\n\ndef f(x):\n    with amp.autocast():\n"
        "        return x @ x\n",
        "a call that TL423 knows for certain",
    ),
)
