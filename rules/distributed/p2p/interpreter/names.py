"""Names, what they are bound to, and attributes of objects, classes and modules."""

from __future__ import annotations

import ast
import builtins

from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.keys import node_text, speaks_of_rank
from torchlift.rules.distributed.p2p.interpreter.operators import MUTATING
from torchlift.rules.distributed.p2p.interpreter.rank_state import (
    RankState,
    has_decorator,
    is_class_method,
    is_static,
)
from torchlift.rules.distributed.p2p.interpreter.values import (
    MISSING,
    BoundMethod,
    Class,
    CodeRaises,
    Ended,
    External,
    Frame,
    Function,
    Instance,
    Level,
    Open,
    ProcessGroup,
    Unknown,
    Value,
    candidates_in,
    holds_handle,
    is_plain,
)
from torchlift.torch_names import public_name
from torchlift.view import Binding, ModuleView

_BUILTIN_NAMES = frozenset(dir(builtins))


class Names(RankState):
    """Names, what they are bound to, and attributes of objects, classes and modules."""

    def _name(self, node: ast.Name, frame: Frame, origin: ast.Name | None = None) -> Value:
        name = node.id
        owner = frame.owner(name)
        if owner is None:
            if name == "__name__":
                return "__main__" if frame.module.running else frame.view.module
            if name in _BUILTIN_NAMES:
                return External(f"builtins.{name}")
            resolution = frame.view.resolve(origin or node)
            if resolution is not None and resolution.certain:
                return self._named(resolution.name, frame.view)
            return Unknown(Level.GIVEN, name, f"`{name}` is not defined in the file")
        if self._open_names and (id(owner), name) in self._open_names:
            old = owner.values.get(name)
            why = f"code that is not followed may change `{name}`"
            return Unknown(Level.GIVEN, name, why, handles=holds_handle(old), candidates=candidates_in(old))
        if name in owner.values and owner.values[name] is not MISSING:
            value = owner.values[name]
            if isinstance(value, Unknown) and value.unset:
                self._may_fail()
            return value
        value = self._looked_up(name, owner)
        if not owner.running or owner.outer is None:
            owner.values[name] = value
        return value

    def _looked_up(self, name: str, owner: Frame) -> Value:
        """What the source says of a name whose binding has not been run."""
        bindings = [binding for binding in owner.scope.bindings[name] if binding.kind != "delete"]
        if owner.running and owner.outer is not None:
            if all(binding.imported is not None for binding in bindings) and bindings:
                return self._imported(bindings[0], owner.view)
            self._may_fail()
            return Unknown(Level.GIVEN, f"unset {name}", f"`{name}` may not be set")
        values = [self._bound(binding, owner) for binding in bindings]
        if len(values) == 1:
            return values[0]
        imports = [value for value in values if isinstance(value, (External, Function, Class))]
        others = [value for value in values if not isinstance(value, (External, Function, Class))]
        if imports and all(value == imports[0] for value in imports) and all(value is None for value in others):
            return imports[0]  # `torch = None` beside `import torch`: a use means the import
        simple = values and all(isinstance(value, (bool, int, str, float)) or value is None for value in values)
        level = Level.UNIFORM if simple and not speaks_of_rank(name) else Level.GIVEN
        return Unknown(level, name, f"`{name}` is set in several places")

    def _bound(self, binding: Binding, owner: Frame) -> Value:
        if binding.imported is not None:
            return self._imported(binding, owner.view)
        if isinstance(binding.node, FunctionNode):
            return self._decorated(Function(binding.node, owner), owner)
        if isinstance(binding.node, ast.ClassDef):
            return Class(binding.node, owner)
        name = binding.name
        if isinstance(binding.node, ast.arg):
            where = getattr(owner.scope.node, "name", "lambda")
            return Unknown(Level.GIVEN, name, f"`{name}` is a parameter of `{where}`")
        unknown = Unknown(Level.GIVEN, name, f"`{name}` is set outside the function")
        if binding in self._looking_up or self._is_changed(name, owner):
            return unknown
        self._looking_up.add(binding)
        silent, self.communication.silent = self.communication.silent, True
        try:
            if binding.kind == "assign" and binding.value is not None:
                return self._eval(binding.value, owner)
            return self._from_tuple(binding, owner, unknown)
        except (Open, CodeRaises, Ended):
            return unknown
        finally:
            self._looking_up.discard(binding)
            self.communication.silent = silent

    def _from_tuple(self, binding: Binding, owner: Frame, unknown: Unknown) -> Value:
        """`rank, world = a, b`."""
        assert isinstance(binding.node, ast.Name)
        parent = owner.view.parent(binding.node)
        statement = owner.view.parent(parent) if parent is not None else None
        if (
            not isinstance(parent, ast.Tuple)
            or not isinstance(statement, ast.Assign)
            or parent not in statement.targets
        ):
            return unknown
        if not any(isinstance(item, ast.Starred) for item in parent.elts):
            values = self._eval(statement.value, owner)
            index = parent.elts.index(binding.node)
            if isinstance(values, (tuple, list)) and len(values) == len(parent.elts):
                return values[index]
        return unknown

    @staticmethod
    def _is_changed(name: str, owner: Frame) -> bool:
        """Whether some code of the file may change the list or dict that a name holds."""
        for chain in owner.view.scopes.chains.get(name, ()):
            if chain.attributes and chain.attributes[0] in MUTATING:
                return True
            parent = owner.view.parent(chain.top)
            if isinstance(parent, ast.Subscript) and parent.value is chain.top and not isinstance(parent.ctx, ast.Load):
                return True
        return False

    def _imported(self, binding: Binding, view: ModuleView) -> Value:
        absolute = view.absolute(binding.imported) if binding.imported is not None else None
        if absolute is None:
            return Unknown(Level.GIVEN, binding.name, f"`{binding.name}` is imported from an unknown module")
        return self._named(absolute, view)

    def _named(self, name: str, view: ModuleView) -> Value:
        """The value of a qualified name."""
        name = public_name(view.wrappers.mirrored(name))
        if name.partition(".")[0] == "torch" or "." not in name:
            return External(name)
        translated = self.project.translate(name, view.path)
        if translated is not None and translated != name:
            name = public_name(view.wrappers.mirrored(translated))
            if name.startswith("torch."):
                return External(name)
        found = self.project.binding(name, view.path)
        if found is not None:
            other, binding = found
            if other.path == self.code.view.path:
                return self._name(ast.Name(binding.name, ast.Load()), self._module(self.code.view))
            if isinstance(binding.node, FunctionNode):
                return Function(binding.node, self._module(other))
            if isinstance(binding.node, ast.ClassDef):
                return Class(binding.node, self._module(other))
        return External(name)

    def _is_bound_below(self, owner: Class, name: str) -> bool:
        """Whether a subclass in the file binds a class attribute or method of that name anew."""
        scopes = self.code.view.scopes.scope_of
        return any(name in scopes[node].bindings for node in self.code.below(owner.node))

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
            if speaks_of_rank(name) and self.layout is None:
                level = max(level, Level.RANK if level is Level.UNIFORM else Level.GIVEN)
            return Unknown(
                level,
                f"{base.key}.{name}",
                base.why if level is not Level.UNIFORM else f"`{base.key}.{name}` is not known",
                handles=base.handles,
                choice=base.choice,
                source=base,
                candidates=base.candidates,
            )
        if isinstance(base, ProcessGroup) and name == "WORLD":
            return self.communication.world
        return BoundMethod(name, base)

    def _instance_attribute(self, base: Instance, name: str, node: ast.Attribute) -> Value:
        if name == "__dict__":
            self._escape(base)
            return Unknown(Level.GIVEN, node_text(node), f"`{node_text(node)}` is not followed")
        if base.of is not None and self._find_method(base.of, "__getattribute__") is not None:
            return Unknown(Level.GIVEN, node_text(node), f"`{node_text(node)}` is not followed")
        if base.escaped and (name in base.attributes or base.of is None or self._find_method(base.of, name) is None):
            value = base.attributes.get(name, MISSING)
            if value is MISSING or is_plain(value) or isinstance(value, (list, dict, set)):
                return Unknown(
                    Level.GIVEN,
                    node_text(node),
                    f"code that is not followed may change `{node_text(node)}`",
                    handles=holds_handle(value),
                    candidates=candidates_in(value),
                )
        if name in base.attributes and base.attributes[name] is not MISSING:
            return base.attributes[name]
        if name == "__class__" and base.of is not None:
            return base.of
        method = self._find_method(base.of, name) if base.of is not None else None
        if method is not None:
            assert isinstance(method.node, FunctionNode)
            if not base.complete and base.of is not None and self._is_overridden(base.of, name):
                if self.layout is None:
                    return self._overridden(base.of, name, node)
                self.taken[f"`self` is a `{base.of.node.name}`, and of no class below it"] = None
            if has_decorator(method.node, "property", "cached_property"):
                return self._call_function(method, [base], {}, node)
            changed = self._decorated(method, base.of.frame) if base.of is not None else method
            if changed is not method:
                return BoundMethod(changed, base) if isinstance(changed, Function) else changed
            if is_static(method.node):
                return method
            return BoundMethod(method, base.of if is_class_method(method.node) else base)
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
            self._open(node.lineno, f"`{name}` in line {node.lineno} may be that of a subclass of `{owner.node.name}`")
        return Unknown(Level.GIVEN, f"self.{name}", f"`{name}` may be that of a subclass of `{owner.node.name}`")

    def _class_attribute(self, base: Class, name: str, node: ast.Attribute) -> Value:
        method = self._find_method(base, name)
        if method is not None:
            assert isinstance(method.node, FunctionNode)
            return BoundMethod(method, base) if is_class_method(method.node) else method
        value = self._class_value(base, name)
        if value is not MISSING:
            return value
        if name == "apply":
            forward = self._find_method(base, "forward")
            if forward is not None:
                return BoundMethod(forward, Instance(None))
        return Unknown(Level.GIVEN, f"{base.node.name}.{name}", f"`{base.node.name}.{name}` is not set in the class")

    def _class_value(self, base: Class, name: str) -> Value:
        """A value assigned in a class body and nowhere else."""
        view = base.frame.view
        code = self.code
        if view is not code.view:
            return MISSING
        if name in code.attribute_stores() or not self._open_classes.isdisjoint(code.bases(base.node)):
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
