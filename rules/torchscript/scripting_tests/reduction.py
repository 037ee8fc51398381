"""What is left of a function once nothing in it is scripted: checks that become void go, and what only fed them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.torchscript.scripting_tests.checks import (
    asks_for_own_file,
    called_name,
    captures_otherwise,
    expects,
    is_check,
    is_repeated,
    is_void,
)
from torchlift.rules.torchscript.scripting_tests.made_alike import asks_alike
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import LOAD, MAKERS, MARKS, SAVE, ScriptedValues
from torchlift.rules.torchscript.scripting_tests.twins import shape_of
from torchlift.view import Binding
from torchlift.view.walk import walk

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass
class Reduction:
    """A function without its scripting.

    Attributes:
        values: its scripted values.
        gone: statements of the function that go, the outermost ones.
        kept: simple statements that stay, and the `with` statements that expect an error.
        refusal: why it cannot be told, a clause; None if it can.
    """

    values: ScriptedValues
    gone: list[ast.stmt] = field(default_factory=list)
    kept: list[ast.stmt] = field(default_factory=list)
    refusal: str | None = None

    @property
    def checks(self) -> list[ast.stmt]:
        """Statements left that may check something."""
        return [statement for statement in self.kept if is_check(statement, self.values)]


def reduce(values: ScriptedValues, same: SameValues) -> Reduction:
    """`values.function` without its scripting."""
    return _Reducer(values, same).result()


class _Reducer:
    def __init__(self, values: ScriptedValues, same: SameValues) -> None:
        self.values = values
        self.view = values.view
        self.same = same
        self.gone: set[ast.stmt] = set()
        self.refusal: str | None = None

    def result(self) -> Reduction:
        """What is left."""
        unread = self.values.unread
        if unread:
            return Reduction(
                self.values,
                refusal=f"line {unread[0].node.lineno} does something with TorchScript that was not followed",
            )
        body = self.values.function.body
        self._block(body)
        self._repetitions(list(self._kept(body)))
        while self._unfed() or self._emptied(body):
            pass
        outer = [item for item in walk(self.values.function) if isinstance(item, ast.stmt) and item in self.gone]
        outer = [item for item in outer if not any(around in self.gone for around in self.view.ancestors(item))]
        gone = sorted(outer, key=lambda item: item.lineno)
        return Reduction(self.values, gone, list(self._kept(body)), self.refusal)

    # What goes by itself

    def _block(self, block: Sequence[ast.stmt]) -> None:
        for statement in block:
            if isinstance(statement, _DEFINITIONS):
                continue
            blocks = list(_blocks_of(statement))
            if not blocks:
                if self._goes(statement):
                    self.gone.add(statement)
                continue
            if any(self.values.script_only(part) for part in _header(statement)):
                self.gone.add(statement)
                continue
            for inner in blocks:
                self._block(inner)
            if expects(statement) and self._expects_of_scripting(blocks):
                self.gone.add(statement)

    def _expects_of_scripting(self, blocks: Sequence[Sequence[ast.stmt]]) -> bool:
        """Whether all that could raise an expected error scripts something, which nothing does any more."""
        inside = [item for block in blocks for outer in block for item in walk(outer) if isinstance(item, ast.stmt)]
        scripts = [item for item in inside if item in self.gone or self._only_scripts(item)]
        called = (item for item in inside if item not in scripts and not list(_blocks_of(item)))
        return bool(scripts) and not any(
            isinstance(node, ast.Call) and not self._prepares(node) for item in called for node in walk(item)
        )

    def _only_scripts(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
                return self.values.target(call) in MAKERS
        return False

    def _prepares(self, node: ast.Call) -> bool:
        return self.view.possible_name(node.func).startswith("warnings.")

    def _goes(self, statement: ast.stmt) -> bool:
        values = self.values
        if values.script_only(statement) or self._looks_at_a_copy(statement) or asks_for_own_file(statement, values):
            if isinstance(statement, ast.Return):
                self.refusal = f"line {statement.lineno} returns what only a scripted value has"
                return False
            return True
        match statement:
            case ast.Expr(value=ast.Call() as call):
                if captures_otherwise(call, self.view):
                    return False
                return self._is_only_scripting(call) or is_void(statement, values, self.same)
            case ast.Expr(value=value):
                return values.original(value) is not None
            case ast.Assert():
                return is_void(statement, values, self.same)
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call() as call):
                original = values.original(call)
                scripts_itself = original is not None and ast.unparse(original) == ast.unparse(target)
                return values.target(call) in MARKS or scripts_itself
        return False

    def _looks_at_a_copy(self, statement: ast.stmt) -> bool:
        """Whether a check wants a scripted value to be as it was before what it was made from was changed."""
        if not isinstance(statement, (ast.Assert, ast.Expr)) or not is_check(statement, self.values):
            return False
        for node in walk(statement):
            binding = self.view.definition(node) if isinstance(node, ast.Name) else None
            if binding is None or not isinstance(node, ast.Name) or binding.value is None:
                continue
            original = self.values.original(node)
            if original is not None and self.same.changed_between(original, binding.value.lineno, node.lineno):
                return True
        return False

    def _made_otherwise(self, save: ast.Call) -> str | None:
        """What makes the value that is saved and not loaded again, where that is a call that was not understood."""
        binding = self.view.definition(save.args[0]) if save.args else None
        made = binding.value if binding is not None and binding.kind == "assign" else None
        loads = any(use.target == LOAD for use in self.values.uses)
        if not isinstance(made, ast.Call) or loads or self.values.original(save.args[0]) is not None:
            return None
        return self.view.text(made.func)

    def _is_only_scripting(self, call: ast.Call) -> bool:
        values = self.values
        if values.target(call) == SAVE and (made := self._made_otherwise(call)) is not None:
            self.refusal = f"line {call.lineno} saves what `{made}` makes, which is no capture of torch's own"
            return False
        if any(call is saved for saved, _, _ in values.saves()) or values.target(call) == SAVE:
            return True
        if values.target(call) == LOAD:
            return values.given_to(call) is not None  # what something else writes is tested here
        if values.reads_own_file(call):
            return True
        helper = values.helper(call)
        if helper is not None and helper.gives is None:
            return True
        inner: ast.expr = call
        while (
            isinstance(inner, ast.Call) and values.target(inner) not in MAKERS and isinstance(inner.func, ast.Attribute)
        ):
            if values.original(inner) is None:
                return False
            inner = inner.func.value
        return isinstance(inner, ast.Call) and values.target(inner) in MAKERS

    def _repetitions(self, kept: list[ast.stmt]) -> None:
        """Take out checks of a scripted value that were made of the plain one before."""
        checks = [item for item in kept if is_check(item, self.values)]
        for index, statement in enumerate(checks):
            if self.values.depends(statement) and any(
                is_repeated(statement, earlier, self.same)
                or self._reads_alike(statement, earlier)
                or asks_alike(self.values, statement, earlier)
                for earlier in checks[:index]
                if earlier not in self.gone
                and any(around is self.view.parent(earlier) for around in self.view.ancestors(statement))
            ):
                self.gone.add(statement)
        before: ast.stmt | None = None
        for statement in kept:
            if before is not None and self._is_said_again(statement, before):
                self.gone.add(statement)
            elif statement not in self.gone and not self._scripts_a_name(statement):
                before = statement

    def _scripts_a_name(self, statement: ast.stmt) -> bool:
        """Whether a statement binds a scripted value, and stays or goes with what is scripted."""
        return isinstance(statement, ast.Assign) and self.values.original(statement.value) is not None

    def _is_said_again(self, statement: ast.stmt, before: ast.stmt) -> bool:
        """Whether a call of something scripted says what the call right before it says of the plain value."""
        match statement, before:
            case ast.Expr(value=ast.Call()), ast.Expr(value=ast.Call()):
                alone = self.values.depends(statement) and not self.values.depends(before)
                return (
                    alone and self.view.parent(statement) is self.view.parent(before) and self._alike(statement, before)
                )
        return False

    def _reads_alike(self, statement: ast.stmt, earlier: ast.stmt) -> bool:
        """Whether two checks read the same without scripting, and nothing that they name changed in between."""
        match statement:
            case ast.Assert():
                return self._alike(statement, earlier)
            case ast.Expr(value=ast.Call() as call):
                return "assert" in called_name(call) and self._alike(statement, earlier)
        return False

    def _alike(self, statement: ast.stmt, earlier: ast.stmt) -> bool:
        if shape_of(statement, self.values) != shape_of(earlier, self.values):
            return False
        if any(earlier.lineno < line <= statement.lineno for _, line, _ in self.same.changes):
            return False
        names, others = ([node for node in walk(one) if isinstance(node, ast.Name)] for one in (statement, earlier))
        return len(names) == len(others) and all(
            self.values.original(name) is not None
            or self.view.definition(name) is self.view.definition(other)
            or self.same.same(name, other)
            for name, other in zip(names, others, strict=True)
        )

    # What only fed that

    def _unfed(self) -> bool:
        """Take out statements that do nothing but make a value that is no longer read; whether there were any."""
        before = len(self.gone)
        for statement in walk(self.values.function):
            if not isinstance(statement, ast.stmt) or statement in self.gone or statement is self.values.function:
                continue
            bound = list(self._bound(statement))
            kept = captures_otherwise(statement, self.view) or self._is_watched(statement)
            if bound and not kept and all(self._is_dead(binding) for binding in bound):
                self.gone.add(statement)
                for binding in bound:
                    self.gone.update(self._feeding(binding))
            elif self._prints_nothing(statement):
                self.gone.add(statement)
        return len(self.gone) > before

    def _bound(self, statement: ast.stmt) -> Iterator[Binding]:
        """What a statement binds, if it does nothing else that others could see."""
        view = self.view
        match statement:
            case ast.Assign(targets=[target]) if _is_plain(statement.value):
                names = list(_stored(target))
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr()) if _is_plain(statement.value):
                names = [target]
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
                scope = view.scope_at(statement)
                found = [b for bound in scope.bindings.values() for b in bound]
                yield from (b for b in found if b.node is statement or b.statement is statement)
                return
            case _:
                return
        bindings = [view.bound_by(name) if isinstance(name, ast.Name) else None for name in names]
        if all(binding is not None and binding.scope.kind == "function" for binding in bindings):
            yield from (binding for binding in bindings if binding is not None)

    def _is_dead(self, binding: Binding) -> bool:
        reads = [read for read, _ in self.view.reads_of(binding)]
        if not reads:
            return self._scripts(binding)
        if any(self._is_loaded_again(read) for read in reads):
            return False
        feeding = self._feeding(binding)
        return any(self._is_gone(read) for read in reads) and all(
            self._is_gone(read) or self.view.statement(read) in feeding for read in reads
        )

    def _is_loaded_again(self, read: ast.Name) -> bool:
        """Whether a read is part of what is written to a file, and a call that stays gives it back from there."""
        return any(
            saved is not None and not self._is_gone(load) and any(node is read for node in walk(saved))
            for load, saved in self._loads
        )

    @cached_property
    def _loads(self) -> list[tuple[ast.Call, ast.expr | None]]:
        """Calls that load TorchScript, and what was written to where they load it from."""
        calls = (use.call for use in self.values.uses if use.target == LOAD and use.call is not None)
        return [(call, self.values.given_to(call)) for call in calls]

    def _is_watched(self, statement: ast.stmt) -> bool:
        """Whether a check that stays looks, behind a call of what is scripted, at what the call was given."""
        given = {
            name.id
            for call in walk(statement)
            if isinstance(call, ast.Call) and self.same.is_subject(call.func)
            for argument in (*call.args, *call.keywords)
            for name in walk(argument)
            if isinstance(name, ast.Name)
        }
        if not given:
            return False
        return any(
            isinstance(node, ast.Name) and node.id in given
            for check in self._kept(self.values.function.body)
            if check.lineno > statement.lineno and is_check(check, self.values)
            for node in walk(check)
            if not any(
                isinstance(around, ast.Call) and self.same.is_subject(around.func)
                for around in self._inside(node, check)
            )
        )

    def _inside(self, node: ast.AST, statement: ast.stmt) -> Iterator[ast.AST]:
        for ancestor in self.view.ancestors(node):
            if ancestor is statement:
                return
            yield ancestor

    def _scripts(self, binding: Binding) -> bool:
        return binding.value is not None and self.values.original(binding.value) is not None

    def _is_gone(self, node: ast.AST) -> bool:
        return any(ancestor in self.gone for ancestor in self.view.ancestors(node))

    def _feeding(self, binding: Binding) -> set[ast.stmt]:
        """Statements that do nothing but change what a local name is bound to: `args.x = 1`, `model.eval()`."""
        if not isinstance(binding.value, (ast.Call, ast.List, ast.Dict, ast.Tuple)):
            return set()
        found: set[ast.stmt] = set()
        for read, only in self.view.reads_of(binding):
            statement = self.view.statement(read)
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as root)) as call) if root is read:
                    if only and not is_check(statement, self.values) and called_name(call) not in {"backward", "step"}:
                        found.add(statement)
                case ast.Assign(targets=[ast.Attribute(value=ast.Name() as root)]) if root is read and only:
                    found.add(statement)
        return found

    def _prints_nothing(self, statement: ast.stmt) -> bool:
        """Whether a statement prints a value that is not there any more."""
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=arguments)):
                names = [node for argument in arguments for node in walk(argument) if isinstance(node, ast.Name)]
                return any(self._makers_gone(name) for name in names)
        return False

    def _makers_gone(self, name: ast.Name) -> bool:
        binding = self.view.definition(name)
        return binding is not None and binding.statement in self.gone and not self._renamed(binding)

    def _renamed(self, binding: Binding) -> bool:
        return self._scripts(binding)

    # Blocks that hold nothing any more

    def _emptied(self, block: Sequence[ast.stmt]) -> bool:
        before = len(self.gone)
        for statement in block:
            if statement in self.gone or isinstance(statement, _DEFINITIONS):
                continue
            blocks = list(_blocks_of(statement))
            for inner in blocks:
                self._emptied(inner)
            if not blocks or isinstance(statement, ast.Match):
                continue
            handlers = getattr(statement, "handlers", [])
            needed = [blocks[0]] if handlers else blocks
            inside = [item for inner in needed for item in inner]
            if self.gone.intersection(inside) and all(i in self.gone or isinstance(i, ast.Pass) for i in inside):
                self.gone.add(statement)
        return len(self.gone) > before

    def _kept(self, block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in block:
            if statement in self.gone or _is_docstring(statement):
                continue
            blocks = [] if isinstance(statement, _DEFINITIONS) else list(_blocks_of(statement))
            if not blocks or expects(statement):
                yield statement
            for inner in blocks:
                yield from self._kept(inner)


def _stored(target: ast.expr) -> Iterator[ast.expr]:
    """What an assignment target stores to, unpacked."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _stored(element)
    else:
        yield target


def _blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in _BLOCKS:
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    match statement:
        case ast.If(test=test) | ast.While(test=test):
            yield test
        case ast.For(iter=source) | ast.AsyncFor(iter=source):
            yield source
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from items


def _is_plain(value: ast.expr | None) -> bool:
    return value is not None and not any(
        isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)) for node in walk(value)
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
