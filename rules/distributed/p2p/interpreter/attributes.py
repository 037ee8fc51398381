"""Attributes of objects, classes and modules."""

from __future__ import annotations

import ast

from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.rank_state import (
    MISSING,
    RankState,
    has_decorator,
    is_class_method,
    is_static,
    node_text,
    speaks_of_rank,
)
from torchlift.rules.distributed.p2p.interpreter.values import (
    Class,
    External,
    Frame,
    Function,
    Group,
    Instance,
    Level,
    Method,
    Open,
    Unknown,
    Value,
)


class Attributes(RankState):
    """Attributes of objects, classes and modules."""

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        text = node_text(node)
        if text in self.code.rank_texts and frame.view is self.code.view:
            return self.rank
        if text in self.code.world_texts and frame.view is self.code.view:
            return self.size
        base = self._eval(node.value, frame)
        return self._attribute_of(base, node.attr, node)

    def _attribute_of(self, base: Value, name: str, node: ast.Attribute) -> Value:
        if isinstance(base, External):
            full = f"{base.name}.{name}"
            if base.name.startswith("builtins."):
                return External(full)
            if full in {"sys.argv", "sys.platform"}:
                return Unknown(Level.UNIFORM, full, f"`{full}` is not known")
            return self._named(full, self.code.view)
        if isinstance(base, Instance):
            return self._instance_attribute(base, name, node)
        if isinstance(base, Class):
            return self._class_attribute(base, name, node)
        if isinstance(base, Unknown):
            if name in base.attributes and base.attributes[name] is not MISSING:
                return base.attributes[name]
            level = base.level
            if speaks_of_rank(name):
                level = max(level, Level.RANK if level is Level.UNIFORM else Level.GIVEN)
            return Unknown(
                level,
                f"{base.key}.{name}",
                base.why if level is not Level.UNIFORM else f"`{base.key}.{name}` is not known",
                handles=base.handles,
                choice=base.choice,
                source=base,
            )
        if isinstance(base, Group) and name == "WORLD":
            return self.communication.world
        return Method(name, base)

    def _instance_attribute(self, base: Instance, name: str, node: ast.Attribute) -> Value:
        if name in base.attributes and base.attributes[name] is not MISSING:
            return base.attributes[name]
        if name == "__class__" and base.of is not None:
            return base.of
        method = self._find_method(base.of, name) if base.of is not None else None
        if method is not None:
            assert isinstance(method.node, FunctionNode)
            if not base.complete and base.of is not None and self._is_overridden(base.of, name):
                return self._overridden(base.of, name, node)
            if has_decorator(method.node, "property", "cached_property"):
                return self._call_function(method, [base], {}, node)
            if is_static(method.node):
                return method
            return Method(method, base.of if is_class_method(method.node) else base)
        if base.of is not None and (base.complete or not self._is_bound_below(base.of, name)):
            value = self._class_value(base.of, name)
            if value is not MISSING:
                return value
        text = node_text(node)
        unknown = Unknown(Level.GIVEN, text, f"`{text}` is not set in the class")
        base.attributes[name] = unknown
        return unknown

    def _is_overridden(self, owner: Class, name: str) -> bool:
        """Whether a subclass in the file brings a method of its own."""
        return any(
            self.code.view.parent(method) is not owner.node and owner.node in self.code.bases(parent)
            for method in self.code.methods_called(name)
            if isinstance(parent := self.code.view.parent(method), ast.ClassDef)
        )

    def _overridden(self, owner: Class, name: str, node: ast.Attribute) -> Unknown:
        """What stands for a method of `self` that may be that of a subclass."""
        if any(self.code.communicates(method) for method in self.code.methods_called(name)):
            self._certain(node.lineno)
            raise Open(f"`{name}` in line {node.lineno} may be that of a subclass of `{owner.node.name}`")
        return Unknown(Level.GIVEN, f"self.{name}", f"`{name}` may be that of a subclass of `{owner.node.name}`")

    def _class_attribute(self, base: Class, name: str, node: ast.Attribute) -> Value:
        method = self._find_method(base, name)
        if method is not None:
            assert isinstance(method.node, FunctionNode)
            return Method(method, base) if is_class_method(method.node) else method
        value = self._class_value(base, name)
        if value is not MISSING:
            return value
        if name == "apply":
            forward = self._find_method(base, "forward")
            if forward is not None:
                return Method(forward, Instance(None))
        return Unknown(Level.GIVEN, f"{base.node.name}.{name}", f"`{base.node.name}.{name}` is not set in the class")

    def _class_value(self, base: Class, name: str) -> Value:
        """A value assigned in a class body and nowhere else."""
        view = base.frame.view
        code = self.code
        if view is not code.view:
            return MISSING
        if name in code.attribute_stores():
            return MISSING
        for node in code.bases(base.node):
            scope = view.scopes.scope_of[node]
            bindings = scope.bindings.get(name, ())
            if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
                if self._is_changed(name, base.frame) or isinstance(bindings[0].value, (ast.List, ast.Dict)):
                    return MISSING
                return self._eval(bindings[0].value, Frame(view, scope, base.frame, running=False))
        return MISSING

    def _find_method(self, owner: Class, name: str) -> Function | None:
        code = self.code
        family = code.bases(owner.node) if owner.frame.view is code.view else [owner.node]
        for node in family:
            for statement in node.body:
                if isinstance(statement, FunctionNode) and statement.name == name:
                    home = owner if node is owner.node else Class(node, self._module(owner.frame.view))
                    return Function(statement, owner.frame, home)
        return None
