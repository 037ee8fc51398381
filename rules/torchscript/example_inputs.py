"""What the example inputs of a trace are: how many tensors, of what rank, which dimensions are 1."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from torchlift.view import ModuleView

_FACTORIES = frozenset(f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty"))
_SAME_SHAPE = frozenset(
    {"to", "cuda", "cpu", "float", "half", "double", "bfloat16", "long", "int", "contiguous", "clone", "detach",
     "requires_grad_", "type", "bool"}
)  # fmt: skip


_SAME_OBJECT = _SAME_SHAPE - {"clone"}


@dataclass(frozen=True)
class TensorInput:
    """One example tensor.

    Attributes:
        node: the expression at the trace call.
        sizes: its shape as far as literals tell; None where even the rank is unknown; a None size is unknown.
    """

    node: ast.expr
    sizes: tuple[int | None, ...] | None


@dataclass
class ExampleInputs:
    """The example inputs of one trace call.

    Attributes:
        node: the whole expression.
        form: `tensor` one tensor; `display` a tuple or list of tensors written out; `tuple` a variable that holds a
            tuple of tensors; `unknown` anything else.
        tensors: one entry per positional argument of `forward`, as far as known.
        repeated: indexes of inputs that are the same object as an earlier one.
    """

    node: ast.expr
    form: Literal["tensor", "display", "tuple", "unknown"] = "unknown"
    tensors: list[TensorInput] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of positional arguments of `forward`."""
        return len(self.tensors)


def visible_sizes(view: ModuleView, node: ast.expr) -> tuple[int | None, ...] | None:
    """Shape of the tensor that `node` gives, as far as literals tell."""
    return _sizes(view, node, 0)


def read_example_inputs(view: ModuleView, node: ast.expr) -> ExampleInputs:
    """Classify the `example_inputs` argument of a trace call."""
    inputs = ExampleInputs(node)
    display: ast.expr | None = node
    if isinstance(node, ast.Name) and isinstance(value := _value(view, node), ast.Tuple):
        display, inputs.form = value, "tuple"
    elif isinstance(node, (ast.Tuple, ast.List)):
        inputs.form = "display"
    else:
        inputs.tensors = [TensorInput(node, _sizes(view, node, 0))]
        inputs.form = "tensor" if _is_tensor(view, node, 0) else "unknown"
        return inputs
    assert isinstance(display, (ast.Tuple, ast.List))
    inputs.tensors = [TensorInput(element, _sizes(view, element, 0)) for element in display.elts]
    if not display.elts or not all(_is_tensor(view, element, 0) for element in display.elts):
        inputs.form = "unknown"
    roots: list[object] = []
    for index, element in enumerate(display.elts):
        root = _identity(view, element)
        if root is not None and root in roots:
            inputs.repeated.append(index)
        roots.append(root)
    return inputs


def _value(view: ModuleView, node: ast.expr) -> ast.expr | None:
    binding = view.definition(node)
    return binding.value if binding is not None and binding.kind == "assign" else None


def _identity(view: ModuleView, node: ast.expr) -> object:
    """Something equal for two expressions that may give the same object: methods such as `.float()` can return it."""
    for _ in range(20):
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


def _kept_shape(view: ModuleView, name: ast.Name) -> bool:
    """Whether nothing between its creation and its use here can have changed a tensor's shape in place."""
    binding = view.definition(name)
    if binding is None:
        return False
    for read, _ in view.reads_of(binding):
        parent = view.parent(read)
        if isinstance(parent, ast.Attribute) and (
            parent.attr.endswith("_") or not isinstance(parent.ctx, ast.Load) or parent.attr == "data"
        ):
            return parent.attr == "requires_grad_"
    return True


def _is_tensor(view: ModuleView, node: ast.expr, depth: int) -> bool:
    if _sizes(view, node, depth) is not None:
        return True
    binding = view.definition(node)
    if binding is not None and binding.kind == "param" and isinstance(binding.node, ast.arg):
        annotation = binding.node.annotation
        resolution = view.resolve(annotation) if annotation is not None else None
        return resolution is not None and resolution.certain and resolution.name == "torch.Tensor"
    return False


def _sizes(view: ModuleView, node: ast.expr, depth: int) -> tuple[int | None, ...] | None:
    if depth > 8:
        return None
    if isinstance(node, ast.Name):
        value = _value(view, node)
        return _sizes(view, value, depth + 1) if value is not None and _kept_shape(view, node) else None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_SHAPE:
        inner = _sizes(view, node.func.value, depth + 1)
        if inner is not None:
            return inner
    resolution = view.resolve(node.func)
    if resolution is None or not resolution.certain:
        return None
    sizes: list[ast.expr] | None = None
    if resolution.name in _FACTORIES:
        keyword = next((k.value for k in node.keywords if k.arg == "size"), None)
        sizes = [keyword] if keyword is not None else list(node.args)
    elif resolution.name == "torch.full":
        sizes = node.args[:1]
    elif resolution.name == "torch.randint":
        keyword = next((k.value for k in node.keywords if k.arg == "size"), None)
        shapes: list[ast.expr] = [arg for arg in node.args if isinstance(arg, (ast.Tuple, ast.List))]
        sizes = [keyword] if keyword is not None else shapes[:1]
    if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
        return None
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = list(sizes[0].elts)
    elif len(sizes) == 1 and _integer(view, sizes[0]) is None:
        return None  # one variable may be a whole shape
    if any(isinstance(size, ast.Starred) for size in sizes):
        return None
    return tuple(_integer(view, size) for size in sizes)


def _integer(view: ModuleView, node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    value = _value(view, node)
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None
