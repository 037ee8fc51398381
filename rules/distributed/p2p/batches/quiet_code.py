"""Whether code that stands between the operations of an exchange can matter to the exchange.

"Quiet" code computes and binds local names. It does not communicate, wait, write to a tensor, or leave the block; so it
does not matter whether an operation is posted before or after it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.messages import shortened
from torchlift.view import ModuleView

_QUERIES = frozenset(
    f"torch.distributed.{name}"
    for name in (
        "get_rank", "get_world_size", "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_backend",
        "get_node_local_rank", "is_initialized", "is_available", "P2POp",
    )
)  # fmt: skip
# `torch.empty`, `torch.cat`: functions of the module itself compute a new value, unless their name ends in an underscore or
# they are told where to write.
_FUNCTION = lazy_pattern(r"torch\.\w*[^\W_]")
# Methods that tensors have and that leave their tensor as it is.
_READING_METHODS = frozenset({
    "contiguous", "clone", "detach", "view", "view_as", "reshape", "size", "stride", "numel", "dim", "to", "cpu", "cuda",
    "float", "half", "double", "bfloat16", "int", "long", "type", "narrow", "select", "unsqueeze", "squeeze", "flatten",
    "transpose", "permute", "t", "new_empty", "new_zeros", "new_ones", "new_full", "element_size", "is_contiguous",
    "chunk", "split", "unbind", "expand", "expand_as", "item", "tolist", "get", "keys", "values", "items",
})  # fmt: skip
_BUILTINS = frozenset({
    "len", "int", "float", "bool", "str", "min", "max", "abs", "sum", "range", "enumerate", "zip", "reversed", "sorted",
    "list", "tuple", "dict", "set", "isinstance", "divmod", "any", "all", "getattr", "hasattr",
})  # fmt: skip
_WAITING_METHODS = frozenset({"wait", "synchronize", "is_completed", "result", "join", "barrier"})
_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass, ast.If, ast.For, ast.Assert, ast.FunctionDef)
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Await, ast.Yield, ast.YieldFrom)


@dataclass
class Effects:
    """What a piece of code may do besides binding local names.

    Attributes:
        obstacle: something in it that surely matters, as the middle of a sentence; empty if there is nothing.
        line: the line of the obstacle.
        unknown: source of calls that nobody knows anything about.
        communicates: whether the obstacle is communication or a wait.
        leaves: whether control may leave the block.
    """

    obstacle: str = ""
    line: int = 0
    unknown: list[str] = field(default_factory=list)
    communicates: bool = False
    leaves: bool = False

    @property
    def quiet(self) -> bool:
        """Whether it surely does nothing else."""
        return not self.obstacle and not self.unknown and not self.leaves

    def _found(self, node: ast.stmt | ast.expr, what: str, *, communicates: bool = False) -> None:
        if not self.obstacle or (communicates and not self.communicates):
            self.obstacle, self.line = what, node.lineno
        self.communicates = self.communicates or communicates


def effects(view: ModuleView, statements: Iterable[ast.AST], known: Collection[ast.AST] = ()) -> Effects:
    """What `statements` may do; calls among `known` are left out, their arguments are not."""
    found = Effects()
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            if isinstance(node, ast.ClassDef):
                found._found(node, "a class is defined")
                continue
            if not isinstance(node, ast.Lambda) and node.decorator_list:
                found._found(node, f"the decorator of `{node.name}` runs")
            stack.extend(value for value in (*node.args.defaults, *node.args.kw_defaults) if value is not None)
            continue
        if isinstance(node, _LEAVING):
            found.leaves = True
        elif isinstance(node, (ast.AugAssign, ast.Delete)):
            found._found(node, f"`{shortened(view.text(node), 40)}` may change a tensor")
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            found._found(node, f"`{shortened(view.text(node), 40)}` is stored to")
        elif isinstance(node, ast.stmt) and not isinstance(node, _STATEMENTS):
            found._found(node, f"a `{type(node).__name__.lower()}` statement stands")
        elif isinstance(node, ast.Call) and not any(node is call for call in known):
            _call(view, node, found)
        stack.extend(ast.iter_child_nodes(node))
    return found


def _call(view: ModuleView, call: ast.Call, found: Effects) -> None:
    name = view.possible_name(call.func)
    writes = any(keyword.arg in {"out", None} for keyword in call.keywords)
    if name in _QUERIES or (_FUNCTION.fullmatch(name) and not writes):
        return
    if name.startswith("torch.distributed."):
        found._found(call, f"`{shortened(view.text(call.func), 40)}` is called", communicates=True)
        return
    function = call.func
    calls_back = any(keyword.arg in {"key", None} for keyword in call.keywords)
    builtin = function.id if isinstance(function, ast.Name) and function.id in _BUILTINS else None
    if builtin is not None and not calls_back and view.scope_at(call).lookup(builtin) is None:
        return
    if isinstance(call.func, ast.Attribute) and not name:
        if call.func.attr in _WAITING_METHODS:
            found._found(call, f"`{shortened(view.text(call), 40)}` waits", communicates=True)
            return
        if call.func.attr in _READING_METHODS and not _is_of_no_tensor(view, call, call.func.attr):
            return
        if call.func.attr.endswith("_") and not call.func.attr.endswith("__"):
            found._found(call, f"`{shortened(view.text(call.func), 40)}` changes a tensor")
            return
    found.unknown.append(shortened(view.text(call.func), 40) + "(...)")


def _is_of_no_tensor(view: ModuleView, call: ast.Call, method: str) -> bool:
    """Whether a method is surely not the one of tensors: `queue.get()` waits, and `net.half()` as a statement changes `net`."""
    return (method == "get" and not call.args) or isinstance(view.parent(call), ast.Expr)
