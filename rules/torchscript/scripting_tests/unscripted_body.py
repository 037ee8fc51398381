"""The rewrites that take the scripting out of a function that stays, and what they assume."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, DropDecorator, ReplaceExpression, Rewrite, Template
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.expected_errors import is_expected_to_fail
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.torchscript.compilers.scripted_classes import first_tracer
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.rules.torchscript.facts.value_consumers import advice_for, takes_torchscript
from torchlift.rules.torchscript.modules.scripted_module import read_scripted_module
from torchlift.rules.torchscript.scripting_tests.checks import called_name
from torchlift.rules.torchscript.scripting_tests.handed_on import exported_instead, given_back, may_be_scripted
from torchlift.rules.torchscript.scripting_tests.reduction import Reduction
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import (
    LIGHTNING,
    LOAD,
    MAKERS,
    FunctionNode,
    ScriptedValues,
    called_function,
)
from torchlift.rules.torchscript.scripting_tests.scripting_switches import (
    scripted_rows,
    unread_switches,
    without_rows,
    without_switch,
)
from torchlift.rules.torchscript.scripting_tests.unbound_names import first_unbound
from torchlift.rules.torchscript.values.script_readers import script_reader
from torchlift.rules.torchscript.values.stale_comments import SPEAKS, without_stale_comments
from torchlift.rules.torchscript.values.stale_names import CHANGES, still_means
from torchlift.rules.torchscript.values.takers import taker_by
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_CODE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_EXPORTERS = frozenset({"torch.onnx.export", "torch.onnx.dynamo_export", "torch.onnx.utils.export"})
_LIBRARIES = ("torch.", "numpy.", "copy.")


_WAYS = (ast.If, ast.For, ast.While, ast.IfExp)


class CannotReplace(Exception):
    """The scripted value cannot be replaced; the message is a clause that says why."""


class NotTheSame(Exception):
    """The plain code is known to do something else; the message is a clause that says why."""


class UnscriptedBody:
    """The rewrites, and the clauses about what they assume.

    Attributes:
        rewrites: what changes the function.
        deleted: statements that go.
        doubts: clauses; without any the rewrites are right wherever nobody needs TorchScript.
    """

    def __init__(self, values: ScriptedValues, same: SameValues, reduction: Reduction) -> None:
        self.values = values
        self.view = values.view
        self.same = same
        self.reduction = reduction
        self._gone = set(reduction.gone)
        self.deleted: set[ast.stmt] = set(reduction.gone)
        self._again: set[ast.stmt] = set()
        self._renamed: dict[Binding, tuple[ast.expr, Binding]] = {}
        self._moved: list[tuple[ast.expr, ast.expr]] = []
        self.rewrites: list[Rewrite] = []
        self.doubts: list[str] = []
        self._decorators()
        rows = scripted_rows(values)
        for display, kept in rows:
            self.rewrites.append(without_rows(self.view, display, kept))
        self._rows = {id(node) for display, _ in rows for node in walk(display)}
        calls = [call for call in self._calls() if id(call) not in self._rows]
        calls.sort(key=lambda call: (call.lineno, call.col_offset))
        self._again.update(statement for call in calls if (statement := self._binds_again(call)) is not None)
        for call in calls:
            self._replace(call)
        self._weigh()
        gone = self._emptied()
        replaced = [item for item in walk(values.function) if isinstance(item, ast.IfExp) and self._is_replaced(item)]
        for switch in unread_switches(self.view, values.function, {*gone, *replaced}):
            self.rewrites += without_switch(self.view, values.function, switch) or ()
        for statement in gone:
            span = self.view.span(statement)
            self.rewrites.append(DeleteStatement(span, self._stale_comments(statement)))
        changed = (self.view.statement(place) for place, _ in self._moved)
        self.rewrites += without_stale_comments(self.view, (item for item in changed if item not in gone))
        unbound = first_unbound(self.view, values.function, gone, self.rewrites, self._moved)
        if unbound is not None:
            raise CannotReplace(f"`{unbound.id}` on line {unbound.lineno} would be bound no more")

    def _is_replaced(self, node: ast.IfExp) -> bool:
        span = self.view.span(node)
        return any(isinstance(rewrite, ReplaceExpression) and rewrite.span == span for rewrite in self.rewrites)

    def _delete(self, statement: ast.stmt) -> None:
        self.deleted.add(statement)

    def _emptied(self) -> list[ast.stmt]:
        """The statements to delete; blocks of which nothing would be left in their place."""
        outermost = set(self.deleted)
        pending = list(outermost)
        while pending:
            parent = self.view.parent(pending.pop())
            if not isinstance(parent, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)):
                continue
            inside = [*parent.body, *getattr(parent, "orelse", [])]
            if parent not in outermost and all(
                item in outermost or isinstance(item, ast.Pass) or self._only_filters(item, parent) for item in inside
            ):
                outermost.add(parent)
                pending.append(parent)
        found = [item for item in outermost if outermost.isdisjoint(self.view.ancestors(item))]
        return sorted(found, key=lambda item: item.lineno)

    def _only_filters(self, statement: ast.stmt, around: ast.stmt) -> bool:
        """Whether a statement sets what warnings do until the end of the block that it stands in."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        managers = [item.context_expr for item in getattr(around, "items", ())]
        caught = [
            one for one in managers
            if isinstance(one, ast.Call) and self.view.certain_name(one.func) == "warnings.catch_warnings"
        ]  # fmt: skip
        return (
            len(caught) == len(managers) == 1
            and isinstance(call, ast.Call)
            and self.view.certain_name(call.func) in {"warnings.filterwarnings", "warnings.simplefilter"}
        )

    def _stays(self, node: ast.AST) -> bool:
        return not any(ancestor in self._gone for ancestor in self.view.ancestors(node))

    def _stale_comments(self, statement: ast.stmt) -> int:
        """Number of comment lines right above a statement that go with it: all of them if they speak of scripting."""
        comments = comments_above(self.view, statement)
        return len(comments) if any(SPEAKS.search(comment) for comment in comments) else 0

    def _decorators(self) -> None:
        for use in self.values.uses:
            scripts = use.kind == "decorator" and use.target == "torch.jit.script"
            if scripts and isinstance(use.node, ast.expr) and self._stays(use.node):
                function = self.view.parent(use.node)
                if function is not None and isinstance(self.view.parent(function), ast.ClassDef):
                    raise CannotReplace("a scripted function in a class body is called without `self`")
                self.rewrites.append(DropDecorator(self.view.span(use.node)))
                if isinstance(function, ast.FunctionDef) and (traced := self._traced_later(function)) is not None:
                    raise NotTheSame(traced)

    def _traced_later(self, function: ast.FunctionDef) -> str | None:
        """A clause about a function with branches, or that reads sizes, which the test hands to code that may trace it."""
        branch = next((node for node in walk(function) if isinstance(node, _WAYS) or _reads_size(node)), None)
        bound = self.view.scope_at(function).bindings.get(function.name, [])
        place = first_tracer(self.values.project) if branch is not None and len(bound) == 1 else None
        if place is None or branch is None:
            return None
        for read, _ in self.view.reads_of(bound[0]):
            call = self.view.parent(read)
            here = isinstance(call, ast.Call) and call.func is read
            around = [one for one in self.view.ancestors(read) if isinstance(one, _CODE)]
            if not here or around[:1] != [self.view.function_of(function)]:
                kept = "sizes that are read" if _reads_size(branch) else "branch"
                line = getattr(branch, "lineno", 0)
                return f"{place} may trace `{function.name}`, and a trace may fix the {kept} on line {line} of a plain function"
        return None

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
        given, call = self._plain(made)
        statement = self.view.parent(call)
        if statement in self._again:
            assert isinstance(statement, ast.stmt)
            self._delete(statement)
            return
        if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and self._rename(statement, target, given):
                return
            if isinstance(target, ast.Name) and self._is_bound_alike(statement, target, given):
                self._delete(statement)
                return
        span = self.view.span(call)
        simple = isinstance(given, _PLAIN)
        template = Template("$module" if simple else "($module)", (("module", self.view.span(given)),))
        self.rewrites.append(ReplaceExpression(span, template))
        self._moved.append((call, given))

    def _plain(self, made: ast.Call) -> tuple[ast.expr, ast.expr]:
        """The plain value of a call that scripts one, and what it takes the place of: the call, or the choice around it."""
        given = self.values.given_to(made)
        while isinstance(given, ast.Call) and given in self.values.makers:
            given = self.values.given_to(given)  # what is saved is scripted right there
        if given is None:
            raise CannotReplace(f"what is loaded on line {made.lineno} is not written in the test")
        while isinstance(given, ast.Call) and (inner := self.values.given_to(given)) is not None:
            given = inner  # what was saved may have been scripted in that very call
        choice = self.view.parent(made)
        if isinstance(choice, ast.IfExp) and choice.test is not made:
            other = choice.orelse if choice.body is made else choice.body
            if ast.dump(other) == ast.dump(given):
                return given, choice
        return given, made

    def _binds_again(self, made: ast.Call) -> ast.stmt | None:
        """The statement `net = torch.jit.script(net)` around a call, which says nothing any more."""
        given, call = self._plain(made)
        match self.view.parent(call), given:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) as statement, ast.Name(id=other):
                return statement if value is call and name == other else None
        return None

    def _rename(self, statement: ast.Assign, target: ast.Name, given: ast.expr) -> bool:
        """Delete `scripted = torch.jit.script(module)` and write `module` for `scripted`, where both mean one thing each."""
        binding, found = self.view.bound_by(target), self._source(given)
        if binding is None or found is None or binding.scope.kind != "function":
            return False
        given, source = found
        if any(other.kind in CHANGES for other in binding.scope.bindings[binding.name]):
            return False
        reads = list(self._reads(binding))
        if not all(only and still_means(self.view, read, source, given) for read, only in reads):
            return False
        for read, _ in reads:
            if self._stays(read) and self.view.statement(read) not in self._again:
                self.rewrites.append(ReplaceExpression(self.view.span(read), Template(self.view.text(given))))
                self._moved.append((read, given))
        self._renamed[binding] = given, source
        self._delete(statement)
        return True

    def _is_bound_alike(self, statement: ast.Assign, target: ast.Name, given: ast.expr) -> bool:
        """Whether an `if` without an `else` binds a name to what the one statement before binds it to."""
        around, binding = self.view.parent(statement), self.view.bound_by(target)
        if not isinstance(around, ast.If) or around.orelse or binding is None or binding.scope.kind != "function":
            return False
        others = [other for other in binding.scope.bindings[binding.name] if other is not binding]
        first = others[0] if len(others) == 1 else None
        if first is None or first.value is None or first.statement is None or not isinstance(given, ast.Name):
            return False
        block = self.view.block(around)
        before = first.statement in block and block.index(first.statement) == block.index(around) - 1
        return before and ast.dump(first.value) == ast.dump(given)

    def _source(self, given: ast.expr) -> tuple[ast.expr, Binding] | None:
        """A name, or an attribute of one, that means what `given` does and stays, with what binds the name."""
        root = given
        while isinstance(root, ast.Attribute):
            root = root.value
        source = self.view.definition(root)
        if source is None or not isinstance(root, ast.Name):
            return None
        if source in self._renamed:
            return self._renamed[source] if given is root else None
        value = source.value
        if value is None or self._stays(value):
            return given, source
        scripts = given is root and isinstance(value, ast.Call) and self.values.given_to(value) is not None
        return self._source(self._plain(value)[0]) if scripts and isinstance(value, ast.Call) else None

    def _reads(self, binding: Binding) -> Iterator[tuple[ast.Name, bool]]:
        """Reads of what is bound, those behind `scripted = load(scripted)` with them, and whether they see nothing else."""
        pending, seen = [binding], {binding}
        while pending:
            for read, only in self.view.reads_of(pending.pop()):
                yield read, only
                statement = self.view.statement(read)
                if statement in self._again and isinstance(statement, ast.Assign):
                    again = self.view.bound_by(statement.targets[0])
                    if again is not None and again not in seen:
                        seen.add(again)
                        pending.append(again)

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
            if (exported := exported_instead(self.values, call)) is not None:
                raise NotTheSame(f"line {exported} exports in its place, so what gets the value wants a capture")
            if self.values.target(call) == LIGHTNING and not self._evaluated(module):
                self.doubts.append(
                    f"`to_torchscript` captures in eval mode, and `{one_line(self.view, module)}` runs in the mode that it is in"
                )
            line = self.same.changed_between(module, call.lineno, last) or self.same.shared_change(module, call.lineno)
            if line is not None:
                self.doubts.append(
                    f"`{one_line(self.view, module)}` is changed on line {line}, behind the scripting, and is the same object from now on"
                )
            if (
                self.values.target(call).startswith("torch.jit.trace")
                and (doubt := self._traced(call, module)) is not None
            ):
                self.doubts.append(doubt)
            inside = self.view.function_of(call)
            if inside is not None and inside is not self.values.function:
                self.doubts.append(f"`{inside.name}` runs the plain code from now on, whoever calls it here")
            if (asking := self._asks_scripting(module)) is not None:
                self.doubts.append(f"`{asking}` asks whether it is scripted and does something else where it is not")
            patched = self._patched(call)
            if patched is not None:
                self.doubts.append(f"it runs under `{patched}`, which may do nothing for plain code")
        about, needed = given_back(self.values)
        if about is not None and needed:
            raise NotTheSame(about)
        self.doubts += filter(None, (about,))
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

    def _traced(self, call: ast.Call, module: ast.expr) -> str | None:
        """What a trace gives that the traced code does not: tensors for sizes and numbers.

        Raises:
            NotTheSame: what the traced function reads from around it is an example, and an input of the trace.
        """
        found = definition_of(self.view, module, self.values.project, ast.FunctionDef)
        if found is not None and found[0] is self.view:
            given = {node.id for argument in call.args[1:] for node in walk(argument) if isinstance(node, ast.Name)}
            own = {parameter.arg for parameter in walk(found[1].args) if isinstance(parameter, ast.arg)}
            for node in walk(found[1]):
                if isinstance(node, ast.Name) and node.id in given - own:
                    raise NotTheSame(
                        f"`{found[1].name}` reads `{node.id}` from around it on line {node.lineno}, which is an input of the trace"
                    )
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
        taker = taker_by(self.values.project, called_name(node)) if self.values.target(node) not in MAKERS else None
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if taker is not None and any(self.values.depends(argument) for argument in given):
            raise NotTheSame(
                f"the value is handed to `{self.view.text(node.func)}` on line {node.lineno}, and {taker} needs it as TorchScript"
            )
        for argument in given:
            if not may_be_scripted(self.values, argument) or (where := self._taker(node)) is None:
                continue
            if (reader := script_reader(self.view, node, argument, self.values.project)) is not None:
                shown = self.view.text(node.func)
                about = f"and {reader} asks it for what only TorchScript has"
                raise NotTheSame(f"the value is handed to `{shown}` on line {node.lineno}, {about}")
            self.doubts.append(f"the value is handed to `{where}` on line {node.lineno}")

    def _taker(self, node: ast.Call) -> str | None:
        """The name of a function that may want a scripted value; None if it does not."""
        name = self.view.possible_name(node.func)
        if takes_torchscript(name) and name not in MAKERS:
            about = f": {advice}" if (advice := advice_for(name)) is not None else ", which may want TorchScript"
            raise NotTheSame(f"the value is handed to `{self.view.text(node.func)}` on line {node.lineno}{about}")
        if name in _EXPORTERS:
            return self.view.text(node.func)
        if name.startswith(_LIBRARIES) or called_name(node) in {
            "str",
            "repr",
            "print",
            "len",
        }:
            return None
        found = called_function(self.view, node, self.values.project)
        if found is None:
            return self.view.text(node.func)
        return found[1].name if self._asks_of_scripted(*found) else None

    def _asks_of_scripted(self, view: ModuleView, function: FunctionNode, steps: int = 3) -> bool:
        """Whether a function, or one that it calls, does something that only a scripted value serves."""
        for child in walk(function):
            if isinstance(child, ast.Attribute) and (child.attr in OF_MODULES or child.attr == "jit"):
                return True
            inner = called_function(view, child, self.values.project) if isinstance(child, ast.Call) and steps else None
            if inner is not None and inner[1] is not function and self._asks_of_scripted(*inner, steps - 1):
                return True
        return False

    def _patched(self, node: ast.AST) -> str | None:
        for ancestor in self.view.ancestors(node):
            if isinstance(ancestor, (ast.With, ast.AsyncWith)):
                for item in ancestor.items:
                    if isinstance(item.context_expr, ast.Call) and "patch" in called_name(item.context_expr).lower():
                        return self.view.text(item.context_expr)
        return None


def _reads_size(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in {"shape", "size", "numel", "ndim", "dim"}
