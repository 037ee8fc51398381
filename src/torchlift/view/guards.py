"""Whether code already handles both the old and the new release: version tests, `hasattr`, import fallbacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from torchlift.lazy_pattern import lazy_pattern
from torchlift.torch_names import TORCH_PACKAGES
from torchlift.versions import TorchVersion
from torchlift.view.handlers import ABSENT_NAME, catches_anything, caught, failed_before, may_be_for, stands_in_for
from torchlift.view.last_name import last_name
from torchlift.view.module import ModuleView
from torchlift.view.release_tests import OLDEST, Has, Lookup, assigned, compares_release, decided
from torchlift.view.scopes import Binding
from torchlift.view.walk import walk

_VERSION_WORD = lazy_pattern(
    r"(?<!opset_)version|torch_?(?:ge|gt|le|lt|eq|greater|less)(?:_|\b|\d)|torch_?\d|is_torch_\w*\d"
    r"|torch_?(?:major|minor)|(?:major|minor)_?torch",
    re.IGNORECASE,
)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


Guarded = dict[tuple[str, ast.AST, "TorchVersion | None"], bool]
"""What is known of nodes of one file that were asked about before: uses share most of what stands around them."""

Decides = Callable[[ast.expr], "bool | None"]
"""What a condition is for the releases that are asked about; None where that is open."""


def is_guarded(
    view: ModuleView,
    node: ast.AST,
    lowest: TorchVersion | None = None,
    find: Lookup | None = None,
    known: Guarded | None = None,
    has: Has | None = None,
    *,
    only: bool = False,
) -> bool:
    """Whether `node` runs only where a test or a handler has dealt with the other release.

    Helpers and constants of the project are read, those in other files with `find`; questions for names are answered by `has`. A test that every torch from `lowest` on passes, or with `only` that one, deals with nothing; behind one that none of them passes nothing runs.
    """

    def decides(test: ast.expr) -> bool | None:
        return decided(view, test, lowest or OLDEST, find, has, only=only)

    question = f"guarded {has is None} {only}"
    return _around(view, node, question, lowest, known, lambda one, by: _guards(view, one, by, lowest, find, decides))


def decisive_release(change: TorchVersion | None, lowest: TorchVersion, target: TorchVersion) -> TorchVersion:
    """The release from which on a branch counts for what changed in `change`, for `is_guarded`.

    Where only a test of an older release is open, newer ones run one branch of it, and older ones alone the other. What no
    release changed is asked about as the target sees it.
    """
    if change is None:
        return target
    major, minor = (change.major, change.minor - 1) if change.minor else (change.major - 1, 999)
    return max(min(lowest, change), TorchVersion(major, minor, 999))


def is_dead(
    view: ModuleView, node: ast.AST, lowest: TorchVersion, find: Lookup | None = None, known: Guarded | None = None
) -> bool:
    """Whether `node` stands in a branch that no torch from `lowest` on takes."""

    def ends(child: ast.AST, ancestor: ast.AST) -> bool:
        if not isinstance(ancestor, (ast.If, ast.IfExp)) or child is ancestor.test:
            return False
        answer = decided(view, ancestor.test, lowest, find)
        return answer is not None and answer is not _is_body(ancestor, child)

    return _around(view, node, "dead", lowest, known, ends)


def _around(
    view: ModuleView,
    node: ast.AST,
    question: str,
    lowest: TorchVersion | None,
    known: Guarded | None,
    holds: Callable[[ast.AST, ast.AST], bool],
) -> bool:
    """Whether something holds for `node` and what stands around it, or for that and what stands around that, and so on."""
    known = {} if known is None else known
    path: list[ast.AST] = []
    answer = False
    for child, ancestor in view.upwards(node):
        before = known.get((question, child, lowest))
        if before is not None:
            answer = before
            break
        path.append(child)
        if holds(child, ancestor):
            answer = True
            break
    known.update(((question, one, lowest), answer) for one in path)
    return answer


def _guards(
    view: ModuleView,
    child: ast.AST,
    ancestor: ast.AST,
    lowest: TorchVersion | None,
    find: Lookup | None,
    decides: Decides,
) -> bool:
    """Whether `child` is guarded by what stands right around it."""
    if isinstance(child, ast.stmt) and lowest is not None and _left_before(view, child, find, decides):
        return True
    if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
        answer = decides(ancestor.test)
        if answer is None:
            return tests_release(view, ancestor.test, find) and not _is_open_about_more(
                view, ancestor.test, find, decides
            )
        return answer is not _is_body(ancestor, child)
    if isinstance(ancestor, ast.Try) and any(child is statement for statement in ancestor.body):
        if any(caught(handler) & ABSENT_NAME for handler in ancestor.handlers) and _tries_name(child):
            return True
        return _only_names(child) and any(map(catches_anything, ancestor.handlers))
    if isinstance(ancestor, ast.ExceptHandler):
        return bool(caught(ancestor) & ABSENT_NAME)
    return _is_fallback(view, ancestor, child)


def _only_names(statement: ast.AST) -> bool:
    """Whether a statement does nothing but look a name up: an import, or a dotted name that is given to another or returned."""
    value = getattr(statement, "value", None)
    while isinstance(value, ast.Attribute):
        value = value.value
        if isinstance(value, ast.Name):
            return True
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _left_before(view: ModuleView, statement: ast.stmt, find: Lookup | None, decides: Decides) -> bool:
    """Whether an earlier statement of the same block leaves it, depending on a comparison with torch's release."""
    for earlier in view.block(statement):
        if earlier is statement:
            return False
        if not isinstance(earlier, ast.If) or earlier.orelse or not isinstance(earlier.body[-1], _LEAVES):
            continue
        if compares_release(view, earlier.test, find):
            answer = decides(earlier.test)
            if answer or (answer is None and not _is_open_about_more(view, earlier.test, find, decides)):
                return True
    return False


def _is_fallback(view: ModuleView, around: ast.AST, child: ast.AST) -> bool:
    """Whether `child` stands for what `getattr` does not find in torch: as its default, or behind `or`."""
    match around:
        case ast.Call(args=[_, _, default]) if default is child:
            return _looks_in_torch(view, around, "getattr")
        case ast.BoolOp(op=ast.Or(), values=values):
            before = values[: next(at for at, value in enumerate(values) if value is child)]
            return any(isinstance(value, ast.Call) and _looks_in_torch(view, value, "getattr") for value in before)
    return False


def _asks_for_name(view: ModuleView, node: ast.AST) -> bool:
    """Whether an expression asks whether torch has a name: `hasattr`, `getattr` with a default, or `in` a list of its names."""
    match node:
        case ast.Call(func=ast.Name(id="hasattr")):
            return _looks_in_torch(view, node, "hasattr")
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(), _]):
            return _looks_in_torch(view, node, "getattr")
        case ast.Compare(
            ops=[ast.In() | ast.NotIn()], comparators=[ast.Call(func=ast.Name(id="dir" | "vars")) as names]
        ):
            return _looks_in_torch(view, names, ast.unparse(names.func))
        case ast.Compare(
            ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr="__all__" | "__dict__") as names]
        ):
            return _is_of_torch(view, names.value)
    return False


def _looks_in_torch(view: ModuleView, call: ast.Call, function: str) -> bool:
    """Whether `call` asks torch, or one of its companions, for a name; about anything else it is not about a release."""
    if not (isinstance(call.func, ast.Name) and call.func.id == function and call.args):
        return False
    return _is_of_torch(view, call.args[0])


def _is_of_torch(view: ModuleView, node: ast.expr) -> bool:
    resolution = view.resolve(node)
    return resolution is not None and resolution.name.partition(".")[0] in TORCH_PACKAGES


def _is_body(choice: ast.If | ast.IfExp, child: ast.AST) -> bool:
    return child is choice.body or (isinstance(choice, ast.If) and child in choice.body)


def _is_open_about_more(view: ModuleView, test: ast.expr, find: Lookup | None, decides: Decides) -> bool:
    """Whether all that `test` asks about releases is decided, and it is open for other reasons."""
    parts = test.values if isinstance(test, ast.BoolOp) else []
    return bool(parts) and not any(tests_release(view, part, find) and decides(part) is None for part in parts)


def is_last_resort_for(view: ModuleView, node: ast.AST, names: frozenset[str]) -> bool:
    """Whether `node` runs only where a `try` that looks one of `names` up has failed, with whatever error."""
    if next(failed_before(view, node), None) is None:
        return False
    new = {id(use.node) for use in view.uses(names)}
    return stands_in_for(view, node, lambda part: id(part) in new)


def is_fallback_import(view: ModuleView, binding: Binding) -> bool:
    """Whether an import and another of the same name stand in one `try`, so that each release takes the one that it has."""
    around = _try_around(view, binding.node) if binding.imported is not None else None
    return around is not None and any(
        other is not binding and other.imported is not None and _try_around(view, other.node) is around
        for other in binding.scope.bindings.get(binding.name, ())
    )


def _try_around(view: ModuleView, node: ast.AST) -> ast.Try | None:
    """The `try` whose body or handler an import stands in, where that catches what a missing name raises."""
    parent = view.parent(view.statement(node)) if isinstance(node, (ast.alias, ast.stmt)) else None
    around = view.parent(parent) if isinstance(parent, ast.ExceptHandler) else parent
    if not isinstance(around, ast.Try):
        return None
    return around if any(may_be_for(handler, ABSENT_NAME) for handler in around.handlers) else None


def tests_release(view: ModuleView, test: ast.expr, find: Lookup | None = None) -> bool:
    """Whether a condition asks about a release, or about what a release of torch has; which NumPy there is says nothing of it."""
    of_others = _of_others(view, test)
    for node in walk(test):
        if _VERSION_WORD.search(last_name(node)) and id(node) not in of_others:
            return True
        if _asks_for_name(view, node):
            return True
        known = assigned(view, node, find) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if known is not None and _asks_for_name(*known):
            return True
    return compares_release(view, test, find)


def _of_others(view: ModuleView, test: ast.expr) -> frozenset[int]:
    """The parts of a condition that are versions of packages which neither are torch nor belong to it, and the calls that read them."""
    versions = {id(node) for node in walk(test) if _is_of_another(view, node)}
    readers = [
        node.func
        for node in walk(test)
        if isinstance(node, ast.Call) and all(isinstance(one, ast.Constant) or id(one) in versions for one in node.args)
    ]
    return frozenset(versions | {id(part) for reader in readers for part in walk(reader)}) if versions else frozenset()


def _is_of_another(view: ModuleView, node: ast.AST) -> bool:
    found = view.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    name = found.name if found is not None else ""
    return name.endswith(".__version__") and not name.startswith(("torch", "functorch", "triton"))


def _tries_name(statement: ast.AST) -> bool:
    """Whether the tried statement is a look-up of a name (an import, an alias), not work that may fail in other ways."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    value = getattr(statement, "value", None)
    return isinstance(value, (ast.Name, ast.Attribute, ast.Call))
