"""Which definitions have to move in front of an initialisation, so that a device set behind it is known there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.rules.analysis.values.repeatable import is_harmless_call, is_repeatable, nodes_between, stores_item
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk


class Moving:
    """Decides which definitions between an initialisation and the `set_device` behind it have to stand in front."""

    def __init__(self, view: ModuleView, init: ast.Call, setting: ast.stmt) -> None:
        self.view = view
        self.init = init
        self.setting = setting
        self.moved: list[ast.Assign] = []
        self.assumptions: list[str] = []
        self.obstacle = ""
        block = view.block(setting)
        inside = [init, *view.ancestors(init)]
        self.front = next(item for item in block if any(item is node for node in inside))
        self.between = list(nodes_between(view.function_of(init) or view.tree, init, setting))

    def settle(self, device: ast.expr) -> bool:
        """Whether `device` can be evaluated in front of the initialisation, with `moved` moved there."""
        if not self._settle(device):
            return False
        values = [device, *(statement.value for statement in self.moved)]
        if any(isinstance(node, (ast.Subscript, ast.Call)) for value in values for node in walk(value)):
            variables: set[object] = {
                node.value for value in values for node in walk(value) if isinstance(node, ast.Constant)
            }
            if any(stores_item(self.view, node, variables) for node in self.between):
                self.obstacle = f"what `{self.view.text(device)}` looks up may be stored between the two"
                return False
        calls = [node for node in self.between if isinstance(node, ast.Call) and not self._moves(node)]
        doubtful = next((call for call in calls if not is_harmless_call(self.view, call)), None)
        if doubtful is not None and not _is_fixed(self.view, device):
            self.assumptions.append(
                f"`{self.view.text(doubtful.func)}` on line {doubtful.lineno} must not decide what "
                f"`{self.view.text(device)}` is"
            )
        return True

    def _moves(self, node: ast.AST) -> bool:
        above = [node, *self.view.ancestors(node)]
        return any(statement is item for statement in self.moved for item in above)

    def _settle(self, device: ast.expr) -> bool:
        for node in walk(device):
            if isinstance(node, ast.Attribute) and self._is_stored(node):
                self.obstacle = f"`{self.view.text(node)}` is set between the two"
                return False
            if not isinstance(node, ast.Name):
                continue
            binding = self.view.definition(node)
            if self._is_brought_late(node):
                self.obstacle = f"`{node.id}` is only known behind it"
                return False
            if binding is None or binding.kind != "assign":
                if any(self._binds(child, node.id) for child in self.between):
                    self.obstacle = f"`{node.id}` is set between the two"
                    return False
                continue
            if binding.node not in self.between:
                if any(self._binds(child, node.id) for child in self.between):
                    self.obstacle = f"`{node.id}` is set between the two"
                    return False
            elif not self._move(binding):
                return False
        return True

    def _is_brought_late(self, name: ast.Name) -> bool:
        """Whether an import or a definition between the two gives a name its meaning."""
        owner = self.view.scope_at(name).lookup(name.id)
        bindings = owner.bindings.get(name.id, ()) if owner is not None else ()
        return any(
            binding.kind != "assign" and any(binding.statement is node or binding.node is node for node in self.between)
            for binding in bindings
        )

    def _move(self, binding: Binding) -> bool:
        statement = binding.statement
        if any(statement is item for item in self.moved):
            return True
        simple = (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and statement.lineno == statement.end_lineno
            and any(statement is item for item in self.view.block(self.setting))
            and len([child for child in self.between if self._binds(child, binding.name)]) == 1
        )
        if not simple or not isinstance(statement, ast.Assign):
            self.obstacle = f"`{binding.name}` is only known behind it"
            return False
        asked = next((call for call in calls_of_distributed(self.view, statement.value)), None)
        if asked is not None:
            self.obstacle = f"`{binding.name}` comes from the group itself (`{self.view.text(asked)}`)"
            return False
        read = any(
            isinstance(node, ast.Name) and node.id == binding.name
            for node in [*walk(self.front), *nodes_between(self.view.tree, self.front, statement)]
        )
        bound = binding.scope.bindings[binding.name]
        read = read or (
            len(bound) > 1
            and any(chain.scope is not binding.scope for chain in self.view.scopes.chains.get(binding.name, ()))
        )
        if read or not is_repeatable(self.view, statement.value):
            self.obstacle = f"`{binding.name}` cannot move in front of it"
            return False
        if not self._settle(statement.value):
            return False
        self.moved.append(statement)
        return True

    @staticmethod
    def _binds(node: ast.AST, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)

    def _is_stored(self, attribute: ast.Attribute) -> bool:
        return any(
            isinstance(node, ast.Attribute) and node.attr == attribute.attr and not isinstance(node.ctx, ast.Load)
            for node in self.between
        )


def _is_fixed(view: ModuleView, device: ast.expr) -> bool:
    """Whether no call can change what `device` is: constants and names of the function itself."""
    for node in walk(device):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            owner = view.scope_at(node).lookup(node.id)
            if owner is not None and owner.kind != "function" and not _is_library(view, node):
                return False
        elif isinstance(node, ast.Attribute) and not _is_library(view, node):
            return False
    return True


def _is_library(view: ModuleView, node: ast.expr) -> bool:
    return view.possible_name(node).partition(".")[0] in {"torch", "os"}


def calls_of_distributed(view: ModuleView, node: ast.expr) -> Iterator[ast.Call]:
    """Calls in an expression that ask a group, or torch.distributed at all."""
    for child in walk(node):
        if isinstance(child, ast.Call):
            name = view.possible_name(child.func)
            if name.startswith("torch.distributed.") and not name.endswith(".get_node_local_rank"):
                yield child
