"""Whether a function computes anything for which TorchScript chooses a dtype under autocast that Python does not.

Autocast is at work inside of compiled code too; TorchScript's own pass adds casts to float32 for `+ - * /`, for what PyTorch
casts on one device alone, and for nothing that changes a tensor in place (torch/csrc/jit/passes/autocast.cpp, read 2026-11-27).
What it does not name gives the same under autocast, compiled or not, and so do products, which both cast alike:
`test_dtype_choices.py` runs it both ways.
"""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.analysis.values.type_comments import comment_types
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.facts.value_kinds import NUMBERS, parameter_kind
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_MOST_CALLS = 4
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.Div)
# Functions of torch and methods of a tensor that TorchScript treats as Python does under autocast.
UNTOUCHED = frozenset(
    """abs all amax amin any append arange argmax argmin argsort as_tensor atan baddbmm bmm bool broadcast_to cat ceil chunk clamp clamp_max
    clamp_min clip clone concat contiguous copy_ cos cpu cuda detach diag diagonal dim double einsum empty empty_like eq erf expand
    expand_as fill_ flatten flip float floor full full_like gather ge gt half hstack index_select int is_floating_point
    isfinite isinf isnan item le logical_and logical_not logical_or logical_xor long lt masked_fill masked_fill_
    masked_select matmul max maximum mean min minimum mm movedim narrow ne neg new_empty new_full new_ones new_zeros nonzero norm numel ones ones_like permute rand randint randn randperm
    relu remainder repeat repeat_interleave reshape reshape_as roll round select sigmoid sign sin size sort split sqrt squeeze stack swapaxes t tanh
    tensor tile to topk transpose tril triu trunc type unbind unflatten unique unsqueeze var view view_as vstack where zero_
    zeros zeros_like""".split()
)
_OF_MODULES = frozenset("dropout embedding one_hot pad relu silu".split())  # of `torch.nn.functional`
_BUILTINS = frozenset("abs bool enumerate float int isinstance len list max min print range tuple zip".split())


def chooses_dtypes(view: ModuleView, node: ast.FunctionDef, project: Project, depth: int = 0) -> bool:
    """Whether something in a function, or in what it calls, may get other dtypes from TorchScript's autocast."""
    for child in (part for statement in node.body for part in walk(statement)):
        match child:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
                if not (_is_number(view, left) and _is_number(view, right)):
                    return True
            case ast.AugAssign(target=target, op=op, value=value) if isinstance(op, _ARITHMETIC):
                in_place = isinstance(op, _IN_PLACE) and not _may_be_number(view, target)
                if not in_place and not (_is_number(view, target) and _is_number(view, value)):
                    return True
            case ast.Call(func=function) if _may_choose(view, function, project, depth):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                return True
    return False


def _may_choose(view: ModuleView, function: ast.expr, project: Project, depth: int) -> bool:
    """Whether a call may compute something for which TorchScript chooses another dtype."""
    name = view.certain_name(function)
    if name.startswith("torch.") or (isinstance(function, ast.Attribute) and view.resolve(function) is None):
        owner, _, last = name.rpartition(".")
        if owner == "torch.nn.functional":
            return last not in _OF_MODULES
        return (last or getattr(function, "attr", "")) not in UNTOUCHED or owner not in {"torch", ""}
    if isinstance(function, ast.Name) and view.resolve(function) is None:
        return function.id not in _BUILTINS
    found = definition_of(view, function, project, ast.FunctionDef)
    return found is None or depth >= _MOST_CALLS or chooses_dtypes(*found, project, depth + 1)


def _is_number(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression is a number of Python's, or a list of some, as far as it is written."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(view, operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(view, left) and _is_number(view, right)
        case (
            ast.Subscript(value=ast.Attribute(attr="shape"))
            | ast.Call(func=ast.Name(id="len" | "int" | "float" | "list"))
        ):
            return True
        case ast.List(elts=elements):
            return all(_is_number(view, element) for element in elements)
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]) | ast.Call(func=ast.Attribute(attr="dim" | "numel")):
            return True
        case ast.Name():
            binding = view.definition(node)
            if binding is not None and isinstance(binding.node, ast.arg):
                return _kind_of(view, binding.node) in NUMBERS | {"bool"}
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                return _is_number(view, binding.value)
    return False


def _kind_of(view: ModuleView, given: ast.arg) -> str:
    """The kind of a parameter, as its annotation or a type comment says it."""
    function = view.function_of(given)
    written = comment_types(view, function) if function is not None else {}
    if written is None and given.annotation is None:
        return "unknown"
    return parameter_kind(view, given.annotation, (written or {}).get(given.arg))


def _may_be_number(view: ModuleView, target: ast.expr) -> bool:
    """Whether what is added to may be a number, which then becomes a new value and does not change in place."""
    changed = target.value if isinstance(target, ast.Subscript) else target  # an entry of a dict gets a new value, too
    if not isinstance(changed, ast.Name):
        return True
    owner = view.scope_at(changed).lookup(changed.id)
    named = owner.bindings[changed.id] if owner is not None else ()
    bound = [one for one in named if not isinstance(view.parent(one.node), ast.AugAssign)]
    return not bound or any(not _is_tensor(view, one) for one in bound)


def _is_tensor(view: ModuleView, bound: Binding) -> bool:
    """Whether a binding is a tensor: a parameter that says nothing else, or what an operation of torch's gives."""
    if isinstance(bound.node, ast.arg):
        return _kind_of(view, bound.node) == "tensor"
    value = bound.value if bound.kind == "assign" else None
    return isinstance(value, ast.Compare) or (
        isinstance(value, ast.Call) and view.certain_name(value.func).startswith("torch.")
    )
