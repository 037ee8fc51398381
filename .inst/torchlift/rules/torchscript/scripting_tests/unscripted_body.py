"""The rewrites that take the scripting out of a function that stays, and what they assume."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, DropDecorator, ReplaceExpression, Rewrite, Template
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.expected_errors import is_expected_to_fail
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.rules.torchscript.modules.scripted_module import read_scripted_module
from torchlift.rules.torchscript.scripting_tests.checks import called_name
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import LIGHTNING, LOAD, ScriptedValues, called_function
from torchlift.rules.torchscript.scripting_tests.scripting_switches import (
    scripted_rows,
    unread_switches,
    without_rows,
    without_switch,
)
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_SPEAKS = re.compile(r"(?i)\b(?:torch\s*script\w*|jit\w*|script(?:ed|ing|able|ability|s)?|trac(?:e|ed|ing|eable))\b")
_LIBRARIES = ("torch.", "numpy.", "copy.")


class CannotReplace(Exception):
    """The scripted value cannot be replaced; the message is a clause that says why."""


class UnscriptedBody:
    """The rewrites, and the clauses about what they assume.

    Attributes:
        rewrites: what changes the function.
        doubts: clauses; without any the rewrites are right wherever nobody needs TorchScript.
    """

    def __init__(self, values: ScriptedValues, same: SameValues, reduction: Reduction) -> None:
        self.values = values
        self.view = values.view
        self.same = same
        self.reduction = reduction
        self._gone = set(reduction.gone)
        self._deleted: set[ast.stmt] = set(reduction.gone)
        self.rewrites: list[Rewrite] = []
        self.doubts: list[str] = []
        self._decorators()
        rows = scripted_rows(values)
        for display, kept in rows:
            self.rewrites.append(without_rows(self.view, display, kept))
        self._rows = {id(node) for display, _ in rows for node in walk(display)}
        for call in self._calls():
            if id(call) not in self._rows:
                self._replace(call)
        self._weigh()
        gone = self._emptied()
        replaced = [item for item in walk(values.function) if isinstance(item, ast.IfExp) and self._is_replaced(item)]
        for switch in unread_switches(self.view, values.function, {*gone, *replaced}):
            self.rewrites += without_switch(self.view, values.function, switch) or ()
        for statement in gone:
            span = self.view.span(statement)
            self.rewrites.append(DeleteStatement(span, self._stale_comments(statement), apart=True))

    def _is_replaced(self, node: ast.IfExp) -> bool:
        span = self.view.span(node)
        return any(isinstance(rewrite, ReplaceExpression) and rewrite.span == span for rewrite in self.rewrites)

    def _delete(self, statement: ast.stmt) -> None:
        self._deleted.add(statement)

    def _emptied(self) -> list[ast.stmt]:
        """The statements to delete; blocks of which nothing would be left in their place."""
        outermost = set(self._deleted)
        pending = list(outermost)
        while pending:
            parent = self.view.parent(pending.pop())
            if not isinstance(parent, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)):
                continue
            inside = [*parent.body, *getattr(parent, "orelse", [])]
            if parent not in outermost and all(item in outermost or isinstance(item, ast.Pass) for item in inside):
                outermost.add(parent)
                pending.append(parent)
        found = [item for item in outermost if outermost.isdisjoint(self.view.ancestors(item))]
        return sorted(found, key=lambda item: item.lineno)

    def _stays(self, node: ast.AST) -> bool:
        return not any(ancestor in self._gone for ancestor in self.view.ancestors(node))

    def _stale_comments(self, statement: ast.stmt) -> int:
        """Number of comment lines right above a statement that go with it: all of them if they speak of scripting."""
        comments = comments_above(self.view, statement)
        return len(comments) if any(_SPEAKS.search(comment) for comment in comments) else 0

    def _decorators(self) -> None:
        for use in self.values.uses:
            scripts = use.kind == "decorator" and use.target == "torch.jit.script"
            if scripts and isinstance(use.node, ast.expr) and self._stays(use.node):
                self.rewrites.append(DropDecorator(self.view.span(use.node)))

    def _calls(self) -> Iterator[ast.Call]:
        """Calls that give a scripted value, in what stays."""
        for node in walk(self.values.function):
            if isinstance(node, ast.Call) and self._stays(node):
                named = self.values.target(node) in {*self._makers, LOAD}
                if named or (self.values.helper(node) is not None and self.values.given_to(node) is not None):
                    yield node

    @property
    def _makers(self) -> set[str]:
        return {use.target for use in self.values.uses if use.call in self.values.makers}

    def _replace(self, made: ast.Call) -> None:
        """The plain value in the place of a call that scripts it, or of the variable that the scripted one is bound to."""
        call: ast.expr = made
        given = self.values.given_to(made)
        if given is None:
            raise CannotReplace(f"what is loaded on line {made.lineno} is not written in the test")
        while isinstance(given, ast.Call) and (inner := self.values.given_to(given)) is not None:
            given = inner  # what was saved may have been scripted in that very call
        span, statement = self.view.span(call), self.view.parent(call)
        if isinstance(statement, ast.IfExp) and statement.test is not call:
            other = statement.orelse if statement.body is call else statement.body
            if ast.dump(other) == ast.dump(given):
                span, call = self.view.span(statement), statement
                statement = self.view.parent(statement)
        if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and self._rename(statement, target, given):
                return
        simple = isinstance(given, _PLAIN)
        template = Template("$module" if simple else "($module)", (("module", self.view.span(given)),))
        self.rewrites.append(ReplaceExpression(span, template))

    def _rename(self, statement: ast.Assign, target: ast.Name, given: ast.expr) -> bool:
        """Delete `scripted = torch.jit.script(module)` and write `module` for `scripted`, where both mean one thing each."""
        root = given
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        if given is root and target.id == root.id:
            self._delete(statement)
            return True
        binding, source = self.view.bound_by(target), self.view.definition(root)
        if binding is None or source is None or binding.scope.kind != "function":
            return False
        reads = self.view.reads_of(binding)
        if not all(only and self._means(read, source, given) for read, only in reads):
            return False
        final = self._final_name(given) if isinstance(given, ast.Name) else self.view.text(given)
        for read, _ in reads:
            if self._stays(read):
                self.rewrites.append(ReplaceExpression(self.view.span(read), Template(final)))
        self._delete(statement)
        return True

    def _means(self, read: ast.Name, source: Binding, given: ast.expr) -> bool:
        """Whether the name that `source` binds still means that at `read`, behind `given`."""
        if self.view.scope_at(read).lookup(source.name) is not source.scope:
            return False
        loops = [item for item in self.view.ancestors(read) if isinstance(item, (ast.For, ast.AsyncFor, ast.While))]
        around = {*self.view.ancestors(given)}
        for other in source.scope.bindings[source.name]:
            line = getattr(other.node, "lineno", 0)
            inside = {*self.view.ancestors(other.node)}
            if given.lineno < line <= read.lineno or any(loop in inside and loop not in around for loop in loops):
                return False
        return True

    def _final_name(self, given: ast.Name) -> str:
        """The name that stands for `given` where that is a renamed variable itself."""
        binding = self.view.definition(given)
        value = binding.value if binding is not None else None
        inner = self.values.given_to(value) if isinstance(value, ast.Call) and self.values.original(value) else None
        if not isinstance(inner, ast.Name) or inner.id == given.id or not self._once(inner) or not self._once(given):
            return given.id
        return self._final_name(inner)

    def _once(self, name: ast.Name) -> bool:
        binding = self.view.definition(name)
        return binding is not None and len(binding.scope.bindings[name.id]) == 1

    # Assumptions

    def _evaluated(self, module: ast.expr) -> bool:
        """Whether the function puts a module into eval mode, and never out of it."""
        shown = ast.unparse(module)
        called = {
            child.func.attr
            for child in walk(self.values.function)
            if isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and ast.unparse(child.func.value) == shown
        }
        return "eval" in called and "train" not in called

    def _weigh(self) -> None:
        last = self.values.function.end_lineno or 0
        for call, module in self.values.makers.items():
            if not self._stays(call):
                continue
            if self.values.target(call) == LIGHTNING and not self._evaluated(module):
                self.doubts.append(
                    f"`to_torchscript` captures in eval mode, and `{one_line(self.view, module)}` runs in the mode that it is in"
                )
            line = self.same.changed_between(module, call.lineno, last)
            if line is not None:
                self.doubts.append(
                    f"`{one_line(self.view, module)}` is changed on line {line}, behind the scripting, and is the same object from now on"
                )
            if self.values.target(call).startswith("torch.jit.trace") and (doubt := self._traced(module)) is not None:
                self.doubts.append(doubt)
            if (asking := self._asks_scripting(module)) is not None:
                self.doubts.append(f"`{asking}` asks whether it is scripted and does something else where it is not")
            patched = self._patched(call)
            if patched is not None:
                self.doubts.append(f"it runs under `{patched}`, which may do nothing for plain code")
        for node in walk(self.values.function):
            if isinstance(node, ast.Call) and self._stays(node):
                self._weigh_call(node)

    def _asks_scripting(self, module: ast.expr) -> str | None:
        """The name of what is scripted, if the test defines it and it runs otherwise when it is not scripted."""
        found: tuple[ModuleView, ast.ClassDef | ast.FunctionDef] | None
        found = read_scripted_module(self.view, module, self.values.project).owner
        if found is None:
            found = definition_of(self.view, module, self.values.project, ast.FunctionDef)
        if found is None or not is_test_file(found[0].path):
            return None
        text = found[0].text(found[1])
        return found[1].name if "is_scripting" in text or "is_tracing" in text else None

    def _traced(self, module: ast.expr) -> str | None:
        """What a trace gives that the traced code does not: tensors for sizes and numbers."""
        plain = definition_of(self.view, module, self.values.project, ast.ClassDef) is None
        function = definition_of(self.view, module, self.values.project, ast.FunctionDef) is not None
        reads = any(
            isinstance(node, ast.Attribute) and node.attr in {"item", "tolist", "numpy"}
            for statement in self.reduction.kept
            for node in walk(statement)
        )
        if (function and plain) or reads:
            return "a trace gives tensors for sizes and numbers, which plain code gives as they are"
        return None

    def _weigh_call(self, node: ast.Call) -> None:
        if self.values.original(node.func) is not None and is_expected_to_fail(self.view, node):
            self.doubts.append(f"the plain code has to fail the same way on line {node.lineno}")
        if self.values.given_to(node) is not None:
            return
        for argument in node.args:
            if self.values.original(argument) is not None and (where := self._taker(node)) is not None:
                self.doubts.append(f"the value is handed to `{where}` on line {node.lineno}")

    def _taker(self, node: ast.Call) -> str | None:
        """The name of a function that may want a scripted value; None if it does not."""
        if self.view.possible_name(node.func).startswith(_LIBRARIES) or called_name(node) in {
            "str",
            "repr",
            "print",
            "len",
        }:
            return None
        found = called_function(self.view, node, self.values.project)
        if found is None:
            return self.view.text(node.func)
        for child in walk(found[1]):
            if isinstance(child, ast.Attribute) and (child.attr in OF_MODULES or child.attr == "jit"):
                return found[1].name
        return None

    def _patched(self, node: ast.AST) -> str | None:
        for ancestor in self.view.ancestors(node):
            if isinstance(ancestor, (ast.With, ast.AsyncWith)):
                for item in ancestor.items:
                    if isinstance(item.context_expr, ast.Call) and "patch" in called_name(item.context_expr).lower():
                        return self.view.text(item.context_expr)
        return None
