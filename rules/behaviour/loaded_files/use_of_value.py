"""What code does with a value tells what the value is: a module, an object of another class, or weights."""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.view import ModuleView

Kind = Literal["module", "object", "weights"]

# What modules have and dicts and tensors have not.
_OF_MODULES = frozenset(
    "eval train state_dict load_state_dict parameters named_parameters modules named_modules children named_children "
    "forward generate predict encode decode zero_grad register_forward_hook".split()
)
# What tensors, arrays and plain containers have, as far as code asks what it has loaded for it; what else is asked for belongs
# to a class, of which the unpickler of plain values knows nothing.
_OF_PLAIN_VALUES = frozenset(
    "get items keys values update pop copy setdefault append extend index count sort split strip format lower upper join "
    "startswith endswith replace "
    "to cpu cuda cpu xpu float half double bfloat16 int long bool type numpy tolist item detach clone contiguous requires_grad "
    "requires_grad_ shape size dtype device ndim dim numel view reshape flatten squeeze unsqueeze transpose permute t T mean sum "
    "std var min max argmax argmin sort topk abs norm expand repeat index_select gather data grad copy_ type_as new_zeros new_ones "
    "is_cuda is_floating_point nelement element_size astype share_memory_ softmax sigmoid exp log sqrt unbind chunk fill_ zero_ "
    "mul add sub div matmul mm eq ne lt gt any all nonzero narrow select cumsum round clamp tensors coalesce to_dense is_sparse "
    "_metadata real imag mT H conj coords x y z isnan masked_fill roll flip nbytes tobytes rstrip lstrip values indices".split()
)
_MOST_NAMES = 3


@dataclass(frozen=True)
class ToldKind:
    """What a value is, and the code that tells: `.eval()`, `load_state_dict(...)`."""

    kind: Kind
    by: str


def kind_by_use(view: ModuleView, value: ast.expr) -> ToldKind | None:
    """What the value of an expression surely is, by what is done with it; None if nothing tells.

    A module or another object may be a part of it. Weights are told only where the whole value is given to `load_state_dict`.
    """
    return _direct(view, value) or _named(view, value, 0, whole=True)


def _direct(view: ModuleView, node: ast.expr, *, whole: bool = True) -> ToldKind | None:
    parent = view.parent(node)
    if isinstance(parent, ast.Call) and node in parent.args and whole:
        function = parent.func
        if isinstance(function, ast.Attribute) and function.attr == "load_state_dict" and parent.args[0] is node:
            return ToldKind("weights", "load_state_dict(...)")
        return None
    while isinstance(parent, (ast.Attribute, ast.Subscript, ast.Call)):
        if (parent.func if isinstance(parent, ast.Call) else parent.value) is not node:
            return None
        if isinstance(parent, ast.Attribute):
            called = view.parent(parent)
            is_called = isinstance(called, ast.Call) and called.func is parent
            if parent.attr in _OF_MODULES:
                return ToldKind("module", f".{parent.attr}()") if is_called else None
            in_place = parent.attr.endswith("_") and not parent.attr.endswith("__")  # as tensors name it
            if parent.attr not in _OF_PLAIN_VALUES and not in_place:
                return ToldKind("object", f".{parent.attr}")
        node, parent = parent, view.parent(parent)
    return None


def _named(view: ModuleView, value: ast.expr, depth: int, *, whole: bool) -> ToldKind | None:
    """The same of the name that `value` or a part of it is assigned to."""
    child, statement = value, view.parent(value)
    while isinstance(statement, (ast.Subscript, ast.Attribute)) and statement.value is child:
        child, statement, whole = statement, view.parent(statement), False
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is not child:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    binding = view.bound_by(targets[0]) if len(targets) == 1 else None
    told = []
    for read, alone in view.reads_of(binding) if binding is not None else ():
        if not alone:
            continue
        parent = view.parent(read)
        if isinstance(parent, ast.Call) and parent.func is read:
            told.append(ToldKind("module", f"{read.id}(...)"))
            continue
        found = _direct(view, read, whole=whole)
        if found is None and depth < _MOST_NAMES:
            found = _named(view, read, depth + 1, whole=whole)
        if found is not None:
            told.append(found)
    # What only an object can stand outweighs what weights could stand, too.
    return min(told, key=lambda one: one.kind == "weights", default=None)
