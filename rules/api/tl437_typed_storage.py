"""`tensor.storage()`, which gives a TypedStorage."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

# What the two storages answer alike; the others count elements in the one and bytes in the other.
_ALIKE = frozenset({"data_ptr", "nbytes", "is_shared", "is_pinned"})
_OTHERS = frozenset({"size", "resize_", "element_size", "_cdata", "pickle_storage_type"})

RULE = Rule(
    code="TL437",
    name="typed-storage",
    summary="`tensor.storage()`, whose TypedStorage is deprecated for `untyped_storage()`",
    why=(
        "It warns since torch 2.0: storages without a type are to be the only ones. `untyped_storage()` is the same memory, counted in "
        "bytes."
    ),
    fix="Safe: `.storage().data_ptr()` and others that both answer alike. What counts elements (`size`, `resize_`) is yours.",
    targets=("*.storage",),
    triggers=("storage().", "storage () ."),
    deprecated=TorchVersion(2, 0),
    sources=("torch/storage.py:583 (the warning) and torch/_tensor.py, `storage`, of torch 2.13.0, read 2026-11-23",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or call.args or call.keywords or not isinstance(use.node, ast.Attribute):
        return
    asked = view.parent(call)
    if not isinstance(asked, ast.Attribute) or asked.attr not in _ALIKE | _OTHERS or "torch" not in view.source.text:
        return
    message = "`.storage()` of a tensor gives a TypedStorage, which is deprecated and warns since torch 2.0."
    span = view.span(call)
    if asked.attr not in _ALIKE:
        advice = "`untyped_storage()` is the same memory: its `size()` and `resize_()` count bytes, elements times `tensor.element_size()`."
        yield Finding("TL437", view.path, span, message, Severity.WARNING, advice)
        return
    text = f"{view.text(use.node.value)}.untyped_storage()"
    fix = Fix("Ask `untyped_storage()`", Safety.SAFE, (ReplaceExpression(span, Template(text)),), TorchVersion(2, 0))
    yield Finding("TL437", view.path, span, message, Severity.WARNING, None, fix)


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(a, b):\n    return a.storage().data_ptr() == b.view(-1).storage().data_ptr()\n",
        "import torch\n\n\ndef f(a, b):\n    return a.untyped_storage().data_ptr() == b.view(-1).untyped_storage().data_ptr()\n",
        why="whether memory is shared",
        run="x = torch.ones(3)\nresult = (f(x, x), f(x, torch.ones(3)))",
    ),
    Bad("import torch\n\n\ndef f(a):\n    return a.storage().size()\n", why="a number of elements"),
    Ok("import torch\n\n\ndef f(a):\n    return a.untyped_storage().data_ptr()\n", "the new method"),
    Ok(
        "import torch\n\n\ndef f(cloud):\n    return cloud.storage().upload(torch.ones(1))\n",
        "a method of something else",
    ),
    Ok("import torch\n\n\ndef f(cloud):\n    return cloud.storage('a').data_ptr()\n", "a call with an argument"),
)
