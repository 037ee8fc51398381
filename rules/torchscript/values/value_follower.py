"""Follows a TorchScript value: through variables, attributes of `self`, arguments, returns, and into other files.

What is understood becomes a call, a save or an `.eval()` of the value. Everything else becomes an obstacle that says
what was done with the value there, so that nothing is taken for harmless because it was not looked at.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlift.finding import Safety
from torchlift.rules.analysis.project.module_base import is_module_class
from torchlift.rules.analysis.values.self_attributes import method_of, self_class, self_members
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.torchscript.facts.value_consumers import advice_for
from torchlift.rules.torchscript.values.scripted_whole import given_to_scripted
from torchlift.rules.torchscript.values.value_life import Obstacle, ValueLife
from torchlift.rules.torchscript.values.value_shapes import (
    FREEZERS,
    SAME_ON_MODULE,
    escape,
    giver_of_more,
    is_listed,
    is_placeholder,
    is_quoted,
    missing,
    read_in_functions_only,
    save_of,
    wrapped,
)
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk

if TYPE_CHECKING:
    from torchlift.project import Project

_MOVES = frozenset({"to", "cpu", "cuda", "half", "float", "double", "bfloat16"})
_HARMLESS = frozenset({"print", "id", "callable", "bool"})
_DEPTH = 6
_LATER = ", by when it may be another value, as far as this was read"


class Follower:
    """Fills a `ValueLife`, which is its `life`."""

    def __init__(self, view: ModuleView, origin: ast.Call, project: Project | None) -> None:
        self.project = project
        self.seen: set[object] = set()
        self.moves: list[str] = []
        self.giver = self.meant = ""
        life = self.life = ValueLife(view, origin, origin, "escapes", view.statement(origin))
        while (outer := wrapped(view, life.outer)) is not None:
            if not isinstance(outer.func, ast.Attribute) or outer.func.attr != "eval" or outer.args:
                life.frozen.append(outer)
            life.outer = outer
        parent = view.parent(life.outer)
        if isinstance(parent, ast.Call) and parent.func is life.outer:
            life.form = "called"
        elif save_of(view, life.outer) is not None:
            life.form = "saved"
        elif isinstance(parent, ast.Expr):
            life.form = "discarded"
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                life.form, life.name = "bound", targets[0]
            elif len(targets) == 1 and isinstance(targets[0], ast.Attribute) and self_class(view, targets[0]):
                life.form, life.attribute = "kept", targets[0]
        self._flow(view, life.outer, alone=True, depth=0)

    # Notes

    def _note(self, view: ModuleView, node: ast.AST) -> None:
        if view is not self.life.view:
            self.life.homes[node] = view

    def _obstacle(self, view: ModuleView, node: ast.AST, reason: str, safety: Safety = Safety.UNSAFE) -> None:
        self._note(view, node)
        self.life.obstacles.append(Obstacle(node, reason, safety, self.giver, self.meant))

    # One expression that is the value

    def _flow(self, view: ModuleView, node: ast.expr, *, alone: bool, depth: int) -> None:
        """See what is done with `node`, an expression that is the value, or may also be another if not `alone`."""
        life = self.life
        parent = view.parent(node)
        if view is life.view and any(ancestor is life.origin for ancestor in view.ancestors(node)):
            return  # `self.net = trace(self.net, x)`: what is traced, not the trace
        save = save_of(view, node)
        match parent:
            case _ if save is not None:
                if self.moves:
                    self._obstacle(view, node, f"is saved as what `.{self.moves[-1]}()` made of it", Safety.MANUAL)
                elif not alone:
                    self._obstacle(view, node, f"is saved{_LATER}", Safety.MANUAL)
                elif view is not life.view:
                    self._obstacle(view, node, "is saved in another file than the one that makes it", Safety.MANUAL)
                else:
                    life.saves.append(save)
            case ast.Call(func=function) if function is node:
                self._note(view, parent)
                life.calls.append(parent)
            case ast.Call() | ast.keyword():
                self._argument(view, node, parent, alone=alone, depth=depth)
            case ast.Attribute():
                self._attribute(view, node, parent, alone=alone, depth=depth)
            case ast.Assign(targets=targets):
                for target in targets:
                    self._store(view, target, alone=alone, depth=depth)
            case ast.AnnAssign(target=target):
                self._store(view, target, alone=alone, depth=depth)
            case ast.NamedExpr(target=target):
                self._store(view, target, alone=alone, depth=depth)
                self._flow(view, parent, alone=alone, depth=depth)
            case ast.IfExp(body=body, orelse=orelse) if node in (body, orelse):
                self._flow(view, parent, alone=False, depth=depth)
            case ast.BoolOp():
                self._flow(view, parent, alone=False, depth=depth)
            case ast.Return():
                before, self.giver = self.giver, self.giver or giver_of_more(view, parent)
                self._returned(view, parent, alone=alone, depth=depth)
                self.giver = before
            case ast.Expr() | ast.Compare() | ast.If() | ast.IfExp() | ast.While() | ast.Assert():
                return  # asked whether it is there, or shown
            case ast.UnaryOp(op=ast.Not()):
                return
            case _:
                self._obstacle(view, node, escape(parent))

    def _store(self, view: ModuleView, target: ast.expr, *, alone: bool, depth: int) -> None:
        if isinstance(target, ast.Name):
            self._name(view, target, alone=alone, depth=depth)
        elif isinstance(target, ast.Attribute) and (owner := self_class(view, target)) is not None:
            self._kept(view, target, owner, alone=alone, depth=depth)
        else:
            self._obstacle(view, target, "is stored where its uses are not followed")

    # Variables

    def _name(self, view: ModuleView, target: ast.Name, *, alone: bool, depth: int) -> None:
        scope, binding = view.scope_at(target), view.bound_by(target)
        owner = scope.lookup(target.id)
        if owner is None or binding is None:
            self._obstacle(view, target, "is bound in a way that is not followed", Safety.MANUAL)
            return
        if owner.kind == "class" or (
            scope.frame is not owner and scope is not owner and not read_in_functions_only(view, owner, target.id)
        ):
            self._obstacle(view, target, "is bound to a name of another scope")
        self._binding(view, binding, alone=alone, depth=depth)

    def _binding(self, view: ModuleView, binding: Binding, *, alone: bool, depth: int) -> None:
        if binding in self.seen:
            return
        self.seen.add(binding)
        if view is self.life.view:
            self.life.bindings.append(binding)
        for read, only in view.reads_of(binding):
            self._flow(view, read, alone=alone and only, depth=depth)
        if binding.scope.kind == "module":
            self._elsewhere(view, binding, depth=depth)

    def _elsewhere(self, view: ModuleView, binding: Binding, *, depth: int) -> None:
        """Uses of a module-level name in other files."""
        if self.project is None:
            return
        if is_listed(view, binding.name) or view.is_package:
            self._obstacle(view, binding.node, f"is offered to other code as `{binding.name}`")
        found = self.project.uses_elsewhere(view, binding.name) if depth < _DEPTH else None
        if found is None:
            self._obstacle(
                view, binding.node, f"may be used by files that cannot all be looked at, as `{binding.name}`"
            )
            return
        for other, use in found:
            if use.kind == "import":
                self._passed_through(other, use, binding.name)
            elif isinstance(use.node, ast.expr) and use.certain and use.name == use.target:
                self._flow(other, use.node, alone=False, depth=depth + 1)
            elif isinstance(use.node, ast.expr) and use.name != use.target:
                parent = other.parent(use.node)
                assert isinstance(parent, ast.Attribute)
                self._attribute(other, use.node, parent, alone=False, depth=depth + 1)
            else:
                self._obstacle(other, use.node, f"may be what `{binding.name}` means there")

    # Attributes of self

    def _kept(self, view: ModuleView, target: ast.Attribute, owner: ast.ClassDef, *, alone: bool, depth: int) -> None:
        key = (view.path, owner, target.attr)
        if key in self.seen:
            return
        self.seen.add(key)
        kind = is_module_class(view, owner, self.project)
        if kind is True:
            self._obstacle(
                view,
                target,
                f"becomes a part of the `nn.Module` `{owner.name}`, whose `train()` and `eval()` reach it: an exported "
                "module rejects them with NotImplementedError",
                Safety.MANUAL,
            )
        elif kind is None:
            self._obstacle(view, target, f"is kept on `{owner.name}`, whose base classes were not read")
        members = list(self_members(view, owner, target.attr))
        stores = [node for node in members if isinstance(node.ctx, ast.Store) and not is_placeholder(view, node)]
        for node in members:
            if isinstance(node.ctx, ast.Load):
                self._flow(view, node, alone=alone and len(stores) == 1, depth=depth)
            elif isinstance(node.ctx, ast.Del):
                self._obstacle(view, node, "is deleted")
        inside = set(map(id, members))
        strangers = [node for node in view.attributes_named(target.attr) if id(node) not in inside]
        if strangers:
            self._obstacle(view, strangers[0], f"may be what `.{target.attr}` means there")
        for stranger in (node for node in strangers if isinstance(node.ctx, ast.Load)):
            before, self.meant = self.meant, self.meant or f"`{one_line(view, stranger)}` on line {stranger.lineno}"
            self._flow(view, stranger, alone=False, depth=depth)
            self.meant = before
        if is_quoted(view, target.attr):
            self._obstacle(view, target, f"may be reached by the string '{target.attr}'")
        if "__dict__" in view.source.text or "vars(" in view.source.text:
            self._obstacle(view, target, "may be reached through `__dict__`")
        others = self.project.files_with_attribute(target.attr, (view.path,)) if self.project is not None else []
        if others:
            self._obstacle(view, target, f"may be reached as `.{target.attr}` by {others[0]}")

    # Returns

    def _returned(self, view: ModuleView, statement: ast.Return, *, alone: bool, depth: int) -> None:
        function = view.function_of(statement)
        if function is None or function in self.seen:
            return
        self.seen.add(function)
        name = function.name
        doubtful = (
            isinstance(function, ast.AsyncFunctionDef)
            or function.decorator_list
            or any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in walk(function))
        )
        if doubtful or depth >= _DEPTH:
            self._obstacle(view, statement, f"is returned by `{name}`, whose callers were not followed")
            return
        alone = alone and sum(isinstance(node, ast.Return) for node in walk(function)) == 1
        owner = view.parent(function)
        if isinstance(owner, ast.ClassDef):
            self._method_results(view, statement, owner, name, alone=alone, depth=depth)
            return
        binding = view.bound_by(function)
        if binding is None:
            self._obstacle(view, statement, f"is returned by `{name}`, whose callers were not followed")
            return
        for read, only in view.reads_of(binding):
            self._result(view, read, name, alone=alone and only, depth=depth)
        if binding.scope.kind != "module":
            return
        if self.project is None:
            return
        if ("." in view.module and not name.startswith("_")) or view.is_package or is_listed(view, name):
            self._obstacle(view, statement, f"is returned by `{name}`, which users of the package may call")
        found = self.project.uses_elsewhere(view, name)
        if found is None:
            self._obstacle(view, statement, f"is returned by `{name}`, whose callers cannot all be known")
            return
        for other, use in found:
            if use.kind == "import":
                self._passed_through(other, use, name)
            elif isinstance(use.node, ast.expr) and use.certain and use.name == use.target:
                self._result(other, use.node, name, alone=False, depth=depth)
            else:
                self._obstacle(other, use.node, f"may be what `{name}` gives there")

    def _passed_through(self, view: ModuleView, use: Use, name: str) -> None:
        """An import in another file: whoever imports the name from there is not looked at."""
        imported = use.resolution.binding if use.resolution is not None else None
        if imported is None or self.project is None or self.project.may_be_imported(view, imported):
            self._obstacle(view, use.node, f"is offered to other code by {view.path}, as `{name}`")

    def _result(self, view: ModuleView, read: ast.expr, name: str, *, alone: bool, depth: int) -> None:
        """A read of a function that returns the value."""
        call = view.parent(read)
        if isinstance(call, ast.Call) and call.func is read:
            self._flow(view, call, alone=alone, depth=depth + 1)
        else:
            self._obstacle(view, read, f"is returned by `{name}`, which is handed on as a function here")

    def _method_results(
        self, view: ModuleView, statement: ast.Return, owner: ast.ClassDef, name: str, *, alone: bool, depth: int
    ) -> None:
        members = list(self_members(view, owner, name))
        for member in members:
            self._result(view, member, name, alone=alone, depth=depth)
        inside = set(map(id, members))
        others = [node for node in view.attributes_named(name) if id(node) not in inside]
        if others:
            self._obstacle(view, others[0], f"may be what `.{name}()` gives there")
        elif self.project is None or self.project.files_with_attribute(name, (view.path,)) or not name.startswith("_"):
            self._obstacle(view, statement, f"is returned by the method `{name}`, whose callers were not followed")

    # Attributes and methods of the value

    def _attribute(
        self, view: ModuleView, node: ast.expr, attribute: ast.Attribute, *, alone: bool, depth: int
    ) -> None:
        name, call = attribute.attr, view.parent(attribute)
        if not (isinstance(call, ast.Call) and call.func is attribute):
            self._obstacle(view, node, missing(name), Safety.MANUAL)
        elif name == "eval" and not call.args:
            self._eval(view, node, call, alone=alone, depth=depth)
        elif name == "forward":
            self._note(view, call)
            self.life.calls.append(call)
        elif name == "save":
            self._obstacle(view, node, "is saved with arguments that were not understood", Safety.MANUAL)
        elif name in SAME_ON_MODULE:
            self.life.as_module = True
            if any(keyword.arg in {"assign", None} for keyword in call.keywords) or len(call.args) > 2:
                self._obstacle(view, node, "gets new parameters in the place of its own, which the program keeps")
        elif name == "state_dict":
            self._obstacle(view, node, "gives its state_dict, which lacks non-persistent buffers after export")
        elif name in _MOVES:
            self._obstacle(view, node, f"is moved with `.{name}()`; devices and dtypes inside its graph stay")
            self.moves.append(name)
            self._flow(view, call, alone=alone, depth=depth)  # a module is moved in place, and returned
            self.moves.pop()
        else:
            self._obstacle(view, node, missing(name), Safety.MANUAL)

    def _eval(self, view: ModuleView, node: ast.expr, call: ast.Call, *, alone: bool, depth: int) -> None:
        """`.eval()` on the value: nothing to a trace, rejected by an exported module, so it has to go."""
        statement = view.parent(call)
        if view is self.life.view and alone:
            if isinstance(statement, ast.Expr):
                self.life.evals.append(statement)
                return
            if self._rebinds(node, statement):
                assert isinstance(statement, ast.Assign)
                self.life.evals.append(statement)
                self._store(view, statement.targets[0], alone=alone, depth=depth)
                return
        where = " inside an expression" if alone else _LATER
        self._obstacle(view, node, f"is put into eval mode{where}", Safety.MANUAL)

    @staticmethod
    def _rebinds(node: ast.expr, statement: ast.AST | None) -> bool:
        """Whether a statement assigns something made of `node` back to it."""
        return (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and ast.dump(statement.targets[0]).replace("Store()", "Load()") == ast.dump(node)
        )

    # Arguments

    def _argument(
        self, view: ModuleView, node: ast.expr, parent: ast.Call | ast.keyword, *, alone: bool, depth: int
    ) -> None:
        call = parent if isinstance(parent, ast.Call) else view.parent(parent)
        if not isinstance(call, ast.Call):
            self._obstacle(view, node, "is passed on to other code")
            return
        name = view.certain_name(call.func)
        if not name and isinstance(call.func, ast.Attribute) and call.func.attr == "add_graph":
            name = "torch.utils.tensorboard.SummaryWriter.add_graph"
        plain = call.func.id if isinstance(call.func, ast.Name) and view.resolve(call.func) is None else ""
        if plain in _HARMLESS:
            return
        if plain in {"isinstance", "issubclass", "hasattr", "getattr", "setattr", "vars", "dir", "type", "str", "repr"}:
            asked = f"is asked about with `{plain}`, which answers differently after export"
            self._obstacle(view, node, asked, Safety.MANUAL)
        elif name in FREEZERS:
            self._frozen(view, node, call, alone=alone, depth=depth)
        elif (advice := advice_for(name)) is not None:
            self._obstacle(view, node, f"is passed to `{name}`: {advice}", Safety.MANUAL)
        elif (part := given_to_scripted(self.life, self.project, view, call)) is not None:
            self._obstacle(view, node, part, Safety.MANUAL)
        elif not self._parameter(view, node, parent, call, depth=depth):
            shown = f"`{view.text(call.func)}`" if call.func.lineno == call.func.end_lineno else "other code"
            self._obstacle(view, node, f"is passed on to {shown}")

    def _frozen(self, view: ModuleView, node: ast.expr, call: ast.Call, *, alone: bool, depth: int) -> None:
        """`torch.jit.freeze(value)`: export has captured the eval graph already, so the call goes away."""
        statement = view.parent(call)
        first = bool(call.args) and call.args[0] is node
        if view is self.life.view and alone and first and self._rebinds(node, statement):
            assert isinstance(statement, ast.Assign)
            self.life.frozen.append(call)
            self.life.evals.append(statement)
            self._store(view, statement.targets[0], alone=alone, depth=depth)
            return
        if view is self.life.view and first and call not in self.life.frozen:
            self.life.frozen.append(call)
        self._flow(view, call, alone=alone, depth=depth)

    def _parameter(
        self, view: ModuleView, node: ast.expr, parent: ast.Call | ast.keyword, call: ast.Call, *, depth: int
    ) -> bool:
        """Follow an argument into a function or a class of the project; False if it is not known where it goes."""
        if depth >= _DEPTH or any(isinstance(argument, ast.Starred) for argument in call.args):
            return False
        found = self._definition(view, call.func)
        if found is None:
            return False
        home, definition, skip = found
        arguments = definition.args
        positional = [*arguments.posonlyargs, *arguments.args][skip:]
        if isinstance(parent, ast.keyword):
            named = [a for a in [*positional, *arguments.kwonlyargs] if a.arg == parent.arg]
            parameter = named[0] if named else None
        else:
            index = call.args.index(node)
            parameter = positional[index] if index < len(positional) else None
        if parameter is None or definition.decorator_list:
            return False
        scope = home.scopes.scope_of.get(definition)
        bindings = scope.bindings.get(parameter.arg, ()) if scope is not None else ()
        binding = next((b for b in bindings if b.node is parameter), None)
        if binding is None:
            return False
        if binding not in self.seen:
            self.seen.add(binding)
            for read, _ in home.reads_of(binding):
                self._flow(home, read, alone=False, depth=depth + 1)
        return True

    def _definition(self, view: ModuleView, function: ast.expr) -> tuple[ModuleView, ast.FunctionDef, int] | None:
        """The function that a call runs, its file, and how many parameters the call does not fill."""
        if isinstance(function, ast.Attribute) and (owner := self_class(view, function)) is not None:
            method = method_of(owner, function.attr)
            return (view, method, 1) if method is not None and not owner.bases else None
        binding, home = view.definition(function), view
        if binding is None and self.project is not None and (name := view.certain_name(function)):
            found = self.project.binding(name, view.path)
            if found is not None:
                home, binding = found
        if binding is None:
            return None
        if isinstance(binding.node, ast.FunctionDef):
            return home, binding.node, 0
        plain = isinstance(binding.node, ast.ClassDef) and not (
            binding.node.bases or binding.node.decorator_list or binding.node.keywords
        )
        if plain and isinstance(binding.node, ast.ClassDef) and method_of(binding.node, "__new__") is None:
            init = method_of(binding.node, "__init__")
            return (home, init, 1) if init is not None else None
        return None
