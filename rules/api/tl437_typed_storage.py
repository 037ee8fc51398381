"""`tensor.storage()`, which gives a TypedStorage."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.value_of import value_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.handlers import ABSENT_NAME, ABSENT_PARAMETER, FAILED_CALL, stands_in_for, tried_around
from torchlift.view.last_name import last_name

# What the two storages answer alike; the others count elements in the one and bytes in the other.
_ALIKE = frozenset({"data_ptr", "nbytes", "is_shared", "is_pinned"})
_OTHERS = frozenset(
    {
        "size",
        "resize_",
        "element_size",
        "_cdata",
        "pickle_storage_type",
        "copy_",
        "fill_",
        "tolist",
        "share_memory_",
        "untyped",
    }
)
_GONE = frozenset({"_untyped", "_storage"})

_NAMED_TENSOR = lazy_pattern(r"(?:.*_)?(?:tensor|param|parameter|weight|bias|grad)s?(?:_\w+)?\d*")

RULE = Rule(
    code="TL437",
    name="typed-storage",
    summary="`tensor.storage()`, whose TypedStorage is deprecated for `untyped_storage()`",
    why=(
        "It warns since torch 2.0: storages without a type are to be the only ones. `untyped_storage()` is the same memory, counted in "
        "bytes."
    ),
    fix=(
        "Safe: `.storage().data_ptr()` and others that both answer alike. What counts elements (`size`, `resize_`, an index) is yours, and so "
        "is a storage that goes elsewhere; that is reported where a value, an annotation or a name tells that it is a tensor's."
    ),
    targets=("*.storage",),
    triggers=("storage()", "storage ()"),
    deprecated=TorchVersion(2, 0),
    sources=("torch/storage.py:583 (the warning) and torch/_tensor.py, `storage`, of torch 2.13.0, read 2026-11-23",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or call.args or call.keywords or not isinstance(use.node, ast.Attribute):
        return
    if "torch" not in view.source.text:
        return
    if stands_in_for(view, call, _asks_the_new_way, ABSENT_NAME | FAILED_CALL | ABSENT_PARAMETER):
        return
    asked = view.parent(call)
    attribute = asked.attr if isinstance(asked, ast.Attribute) else ""
    sure = _is_tensor(view, use.node.value)
    if not sure and (attribute not in _ALIKE | _OTHERS | _GONE or context.project.files_holding("def storage")):
        return  # a class of the project may have a `storage` of its own
    message = "`.storage()` of a tensor gives a TypedStorage, which is deprecated and warns since torch 2.0."
    span = view.span(call)
    if attribute in _GONE:
        if next(tried_around(view, call), None) is not None:
            return  # what to do without it stands beside
        message += f" It has no `{attribute}` any more."
    if attribute not in _ALIKE:
        advice = (
            "`untyped_storage()` is the same memory in bytes: its sizes, indices and offsets are those of elements times "
            "`tensor.element_size()`."
        )
        if attribute == "element_size":
            advice = f"`{view.text(use.node.value)}.element_size()` is the same; that of `untyped_storage()` is 1."
        if attribute in {"untyped", *_GONE}:
            advice = f"`{view.text(use.node.value)}.untyped_storage()` is what this asks for, since torch 2.0."
        yield Finding("TL437", view.path, span, message, Severity.WARNING, advice)
        return
    text = f"{view.text(use.node.value)}.untyped_storage()"
    fix = Fix("Ask `untyped_storage()`", Safety.SAFE, (ReplaceExpression(span, Template(text)),), TorchVersion(2, 0))
    yield Finding("TL437", view.path, span, message, Severity.WARNING, None, fix)


def _asks_the_new_way(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "untyped_storage"


def _is_tensor(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression is a tensor by its value, its annotation or, taken at its word, its name."""
    binding = view.definition(node)
    if binding is not None and isinstance(binding.node, ast.arg) and binding.node.annotation is not None:
        return view.certain_name(binding.node.annotation) in {"torch.Tensor", "torch.nn.Parameter"}
    value = value_of(view, node)
    if isinstance(value, ast.Call):
        return (
            view.certain_name(value.func).startswith("torch.") or _NAMED_TENSOR.fullmatch(last_name(node)) is not None
        )
    return last_name(node) == "data" or _NAMED_TENSOR.fullmatch(last_name(node)) is not None


EXAMPLES = (
    Ok(
        "import torch\n\n\ndef f(tensor):\n    try:\n        return tensor.untyped_storage().data_ptr()\n    except Exception:\n"
        "        return tensor.storage().data_ptr()\n",
        "what is asked where the new one failed",
    ),
    Bad(
        "import torch\n\n\ndef f(a, b):\n    return a.storage().data_ptr() == b.view(-1).storage().data_ptr()\n",
        "import torch\n\n\ndef f(a, b):\n    return a.untyped_storage().data_ptr() == b.view(-1).untyped_storage().data_ptr()\n",
        why="whether memory is shared",
        run="x = torch.ones(3)\nresult = (f(x, x), f(x, torch.ones(3)))",
    ),
    Bad("import torch\n\n\ndef f(a):\n    return a.storage().size()\n", why="a number of elements"),
    Bad(
        "import torch\n\n\ndef f(out, tensor):\n    kept = tensor.storage()\n    out.set_(torch.empty(3).storage())\n    return kept[0]\n",
        why="a storage that goes elsewhere",
    ),
    Bad("import torch\n\n\ndef f(bucket):\n    return bucket.data.storage()._untyped()\n", why="a name that is gone"),
    Ok(
        "import torch\n\n\ndef f(cloud, name):\n    bucket = cloud.storage()\n    return bucket[name]\n",
        "something else's storage",
    ),
    Ok("import torch\n\n\ndef f(tensor: Client):\n    return tensor.storage()\n", "an annotation that says otherwise"),
    Ok(
        "import torch\n\n\nclass Bucket:\n    def storage(self):\n        return self.memory\n\n    def same(self, x):\n"
        "        return self.storage().data_ptr() == x.untyped_storage().data_ptr()\n",
        "a class of the project that has a storage of its own",
    ),
    Ok("import torch\n\n\ndef f(a):\n    return a.untyped_storage().data_ptr()\n", "the new method"),
    Ok(
        "import torch\n\n\ndef f(cloud):\n    return cloud.storage().upload(torch.ones(1))\n",
        "a method of something else",
    ),
    Ok("import torch\n\n\ndef f(cloud):\n    return cloud.storage('a').data_ptr()\n", "a call with an argument"),
)
