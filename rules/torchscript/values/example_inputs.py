"""What the example inputs of a capture are: how many tensors, of what rank, which dimensions are 1."""

from __future__ import annotations

import ast
import re
from dataclasses import field
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.tensor_sizes import kept_shape, sizes_of
from torchlift.rules.analysis.values.value_of import MOST_STEPS, assigned_value
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_SAME_OBJECT = frozenset(
    {"to", "cuda", "cpu", "float", "half", "double", "bfloat16", "long", "int", "contiguous", "detach",
     "requires_grad_", "type", "bool"}
)  # fmt: skip


_MAKERS = frozenset(
    f"torch.{name}"
    for name in "rand randn zeros ones empty full randint tensor arange linspace from_numpy randperm eye as_tensor".split()
)


@dataclass(frozen=True)
class TensorInput:
    """One positional example input.

    Attributes:
        node: the expression at the capture.
        sizes: its shape as far as literals tell; None where even the rank is unknown; a None size is unknown.
        known: whether it is known to be a tensor; otherwise it may be a list, tuple or dict of tensors.
    """

    node: ast.expr
    sizes: tuple[int | None, ...] | None
    known: bool = True


_SEVERAL = lazy_pattern(r"tuple|list|dict|Sequence|Mapping|Iterable", re.IGNORECASE)


@dataclass
class ExampleInputs:
    """The example inputs of one capture.

    Attributes:
        node: the whole expression.
        form: what the expression is. `tensor` one input, `display` a tuple or list written out, `tuple` and `list`
            variables that hold one, `keywords` a dict of keyword inputs, `unknown` anything else.
        tensors: one entry per positional argument of `forward`, as far as known.
        repeated: indexes of inputs that are the same object as an earlier one.
        keys: for `keywords`, the names where the dict is written out.
        multiplied: whether it is a display times a number: the same tensors several times.
    """

    node: ast.expr
    form: Literal["tensor", "display", "tuple", "list", "keywords", "unknown"] = "unknown"
    tensors: list[TensorInput] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)
    keys: tuple[str, ...] | None = None
    multiplied: bool = False

    @property
    def count(self) -> int:
        """Number of positional arguments of `forward`."""
        return len(self.tensors)

    @property
    def understood(self) -> bool:
        """Whether every input is known to be a tensor and their number is known."""
        return self.form in {"tensor", "display", "tuple", "list"} and all(tensor.known for tensor in self.tensors)


def visible_sizes(view: ModuleView, node: ast.expr) -> tuple[int | None, ...] | None:
    """Shape of the tensor that `node` gives, as far as literals tell."""
    return sizes_of(view, node)


def read_example_inputs(view: ModuleView, node: ast.expr, called_with: tuple[ast.Call, ...] = ()) -> ExampleInputs:
    """Classify the `example_inputs` argument of a capture.

    Args:
        view: the file.
        node: the argument.
        called_with: calls of the module or of the captured value, which show whether a variable is one input
            (`net(x)`) or all of them (`net(*x)`).
    """
    inputs = ExampleInputs(node)
    display: ast.expr = node
    value = assigned_value(view, node)
    for repeated in (node, value):
        if isinstance(repeated, ast.BinOp) and isinstance(repeated.op, ast.Mult):
            inputs.multiplied = isinstance(repeated.left, (ast.Tuple, ast.List))
    if isinstance(node, ast.Name) and isinstance(value, (ast.Tuple, ast.List)) and _unchanged(view, node):
        display, inputs.form = value, "tuple" if isinstance(value, ast.Tuple) else "list"
    elif isinstance(node, (ast.Tuple, ast.List)):
        inputs.form = "display"
    else:
        is_dict = _is_dict(view, node)
        whole = _passed_whole(view, node, called_with) and not _may_be_several(view, node)
        known = not is_dict and (_is_tensor(view, node) or whole)
        inputs.tensors = [TensorInput(node, sizes_of(view, node), known)]
        inputs.form = "tensor" if known or is_dict else "unknown"
        return inputs
    assert isinstance(display, (ast.Tuple, ast.List))
    if not display.elts or any(isinstance(element, ast.Starred) for element in display.elts):
        inputs.form = "unknown"
        return inputs
    inputs.tensors = [
        TensorInput(element, sizes_of(view, element), _is_tensor(view, element)) for element in display.elts
    ]
    inputs.repeated = _repeated(view, display.elts)
    return inputs


def _may_be_several(view: ModuleView, node: ast.expr) -> bool:
    """Whether the function around asks of a variable whether it is a tuple or the like, or unpacks it."""
    if not isinstance(node, ast.Name):
        return False
    for child in walk(view.function_of(node) or view.tree):
        match child:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]) if name == node.id:
                if _SEVERAL.search(ast.unparse(kinds)):
                    return True
            case ast.Starred(value=ast.Name(id=name)) if name == node.id:
                return True
    return False


def read_keyword_inputs(view: ModuleView, node: ast.expr) -> ExampleInputs:
    """Classify the `example_kwarg_inputs` argument of a capture."""
    inputs = ExampleInputs(node, "keywords")
    display = node if isinstance(node, ast.Dict) else assigned_value(view, node)
    if isinstance(display, ast.Dict) and (display is node or (isinstance(node, ast.Name) and _unchanged(view, node))):
        keys = [key.value for key in display.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        if len(keys) == len(display.keys):
            inputs.keys = tuple(keys)
            inputs.repeated = _repeated(view, display.values)
            inputs.tensors = [
                TensorInput(value, sizes_of(view, value), _is_tensor(view, value)) for value in display.values
            ]
    return inputs


def _repeated(view: ModuleView, elements: list[ast.expr]) -> list[int]:
    """Indexes of elements that may be the same object as an earlier one."""
    roots: list[object] = []
    found = []
    for index, element in enumerate(elements):
        root = _identity(view, element)
        if root is not None and root in roots:
            found.append(index)
        roots.append(root)
    return found


def _passed_whole(view: ModuleView, node: ast.expr, calls: tuple[ast.Call, ...]) -> bool:
    """Whether some call gives the same variable as its only argument, which makes it one input."""
    binding = view.definition(node)
    if binding is None:
        return False
    return any(len(call.args) == 1 and not call.keywords and view.definition(call.args[0]) is binding for call in calls)


def _unchanged(view: ModuleView, name: ast.Name) -> bool:
    """Whether a list or dict held by a variable is only read: never appended to, stored into or handed on."""
    binding = view.definition(name)
    if binding is None:
        return False
    for read, _ in view.reads_of(binding):
        parent = view.parent(read)
        if isinstance(parent, ast.Attribute) and parent.attr not in {
            "keys",
            "values",
            "items",
            "get",
            "index",
            "count",
        }:
            return False
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return False
    return True


def _is_dict(view: ModuleView, node: ast.expr) -> bool:
    """`torch.jit.trace` takes a dict for one input."""
    return isinstance(node, ast.Dict) or isinstance(assigned_value(view, node), ast.Dict)


def _identity(view: ModuleView, node: ast.expr) -> object:
    """Something equal for two expressions that may give the same object: methods such as `.float()` can return it."""
    for _ in range(MOST_STEPS):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_OBJECT:
            node = node.func.value
            continue
        if not isinstance(node, ast.Name):
            break
        binding = view.definition(node)
        if binding is None:
            return node.id
        if binding.kind != "assign" or binding.value is None:
            return binding
        node = binding.value
    return ast.dump(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else id(node)


def _is_tensor(view: ModuleView, node: ast.expr) -> bool:
    if sizes_of(view, node) is not None:
        return True
    if isinstance(node, ast.Call):
        name = view.certain_name(node.func)
        if name in _MAKERS or (name.startswith("torch.") and name.endswith("_like")):
            return True
        return (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _SAME_OBJECT | {"clone"}
            and _is_tensor(view, node.func.value)
        )
    binding = view.definition(node)
    if binding is None:
        return False
    if binding.kind == "param" and isinstance(binding.node, ast.arg):
        annotation = binding.node.annotation
        return annotation is not None and view.certain_name(annotation) == "torch.Tensor"
    if binding.kind == "assign" and isinstance(binding.value, ast.Call) and isinstance(node, ast.Name):
        return _is_tensor(view, binding.value) and kept_shape(view, node)
    return False
