"""What every rank does alike: code that all of them run, and values that are the same on all."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.analysis.places.order import LEAVING, running
from torchlift.rules.analysis.values.environment_reads import GETTERS
from torchlift.rules.analysis.values.repeatable import returned_value
from torchlift.rules.distributed.ranks.rank_condition import condition_on_own_rank
from torchlift.view import ModuleView
from torchlift.view.walk import walk

LOOKING = frozenset({"len", "sorted", "list", "range", "print", "tuple"})
"""Functions of Python that leave a list as it is."""

_ASKING = frozenset(
    {"torch.distributed.get_rank", "torch.distributed.get_world_size", "torch.distributed.get_node_local_rank",
     "torch.distributed.is_initialized", *GETTERS}
)  # fmt: skip
_ENDING = frozenset(
    {"exit", "quit", "sys.exit", "os._exit", "os.abort", "os.kill", "os.execv", "os.execvp", "SystemExit"}
)
_DEFAULT_GROUP = frozenset({"torch.distributed.init_process_group", "torch.distributed.destroy_process_group"})


def same_everywhere(view: ModuleView, node: ast.expr, call: ast.Call) -> bool:
    """Whether an argument is proved to have the same value on every rank."""
    match node:
        case ast.Constant():
            return True
        case ast.List() | ast.Tuple():
            return all(same_everywhere(view, element, call) for element in node.elts)
        case ast.BinOp():
            return same_everywhere(view, node.left, call) and same_everywhere(view, node.right, call)
        case ast.Call(keywords=[]):
            known = view.possible_name(node.func) == "torch.distributed.get_world_size"
            known = known or is_builtin(view, node, LOOKING - {"print"})
            return known and all(same_everywhere(view, argument, call) for argument in node.args)
        case ast.Name():
            binding = view.definition(node)
            if binding is None or not _never_changed(view, node, call):
                return False
            if binding.kind == "assign" and binding.value is not None:
                return same_everywhere(view, binding.value, call)
            loop = binding.statement
            if binding.kind == "target" and isinstance(loop, ast.For) and isinstance(loop.target, ast.Name):
                return loop.target.id == node.id and same_everywhere(view, loop.iter, call)
            return False
        case _:
            return False


def _never_changed(view: ModuleView, name: ast.Name, call: ast.Call) -> bool:
    """Whether a list that a name stands for is only ever looked at: compared, measured, looped over, or passed here."""
    for chain in view.scopes.chains.get(name.id, ()):
        parent = view.parent(chain.root)
        if chain.attributes:
            return False
        if isinstance(parent, ast.Compare) or parent is call or isinstance(parent, (ast.For, ast.BinOp)):
            continue
        if isinstance(parent, ast.keyword) and view.parent(parent) is call:
            continue
        if not isinstance(parent, ast.Call) or not is_builtin(view, parent, LOOKING):
            return False
    return True


def is_builtin(view: ModuleView, call: ast.Call, names: frozenset[str]) -> bool:
    """Whether a call is one of Python's own functions `names`."""
    function = call.func
    return isinstance(function, ast.Name) and function.id in names and view.scope_at(call).lookup(function.id) is None


def only_asks(view: ModuleView, test: ast.expr) -> bool:
    """Whether a test does nothing but compare, so that the group may as well be created in front of it."""
    for node in walk(test):
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(node, ast.Call):
            asks = view.possible_name(node.func) in _ASKING
            returned = returned_value(view, node)
            asks = asks or (returned is not None and only_asks(view, returned))
            if not asks and not is_builtin(view, node, LOOKING | {"int", "str", "bool"}):
                return False
    return True


def some_ranks_stop(view: ModuleView, statement: ast.stmt) -> bool:
    """Whether the file may end a process before `statement`, or has ranks that are in no default group at all."""
    for node in walk(view.tree):
        if isinstance(node, ast.Call):
            name = view.possible_name(node.func) or view.text(node.func)
            before = view.function_of(node) is not None or node.lineno < statement.lineno
            if name in _ENDING and before:
                return True
            if name in _DEFAULT_GROUP and condition_on_own_rank(view, node) is not None:
                return name.endswith("init_process_group") or not node.args
    return False


def reached_by_all(view: ModuleView, statement: ast.stmt, project: Project, depth: int = 0) -> bool:
    """Whether every rank surely runs a statement: no branch around it, and its function is called in such places only."""
    for child, ancestor in view.upwards(statement):
        if isinstance(child, ast.stmt):
            block = view.block(child)
            earlier = block[: next(i for i, item in enumerate(block) if item is child)]
            if any(isinstance(inner, LEAVING) for inner in running(earlier)):
                return False
        if isinstance(ancestor, ast.Module):
            return True
        if isinstance(ancestor, ast.FunctionDef):
            return depth < 3 and _called_by_all(view, ancestor, project, depth)
        if isinstance(ancestor, ast.For):
            if not same_everywhere(view, ancestor.iter, _NO_CALL):
                return False
        elif isinstance(ancestor, ast.If):
            if not _is_main_test(ancestor.test):
                return False
        elif not isinstance(ancestor, ast.With) or not all(_is_of_torch(view, item) for item in ancestor.items):
            return False
    return False


def _is_of_torch(view: ModuleView, item: ast.withitem) -> bool:
    """Whether a context is torch's own: others may swallow the error that ends their block."""
    node = item.context_expr
    return view.certain_name(node.func if isinstance(node, ast.Call) else node).startswith("torch.")


_NO_CALL = ast.Call(ast.Name("nothing", ast.Load()), [], [])


def _is_main_test(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _called_by_all(view: ModuleView, function: ast.FunctionDef, project: Project, depth: int) -> bool:
    bindings = view.scopes.module.bindings.get(function.name, ())
    if len(bindings) != 1 or bindings[0].node is not function or function.decorator_list:
        return False
    if project.may_be_imported(view, bindings[0]):
        return False
    places = view.scopes.chains.get(function.name, ())
    for chain in places:
        parent = view.parent(chain.root)
        if chain.attributes or not isinstance(parent, ast.Call) or parent.func is not chain.root:
            return False
        statement = view.statement(parent)
        if not isinstance(statement, (ast.Expr, ast.Assign)) or statement.value is not parent:
            return False
        if not reached_by_all(view, statement, project, depth + 1):
            return False
    return bool(places)
