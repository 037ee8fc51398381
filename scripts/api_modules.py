"""The modules of a source tree of torch, and what each binds its names to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from api_definitions import Function, dotted_name, is_overload
from api_deprecation import WARNS, Lookup, warning_in, words_of

# What `torch/__init__.py` copies from its C modules in loops over `dir()`.
_COPIED = {
    "torch": ("torch._C", "torch._C._VariableFunctions"),
    "torch.nn.functional": (),
    "torch._VF": ("torch._C._VariableFunctions",),
}


@dataclass
class Binding:
    """What a module binds a name to: a definition, a value, or a name somewhere else."""

    node: ast.AST | None = None
    target: str = ""
    stub: bool = False
    overloads: list[Function] = field(default_factory=list)


@dataclass
class SourceModule:
    """A parsed module: what it binds, what it exports, and whether it answers names that its source does not show."""

    name: str
    path: str
    tree: ast.Module
    is_package: bool
    lines: list[str]
    bindings: dict[str, Binding] = field(default_factory=dict)
    exported: set[str] | None = None
    deprecated: str = ""
    answers: bool = False


class Modules:
    """The modules of one source tree, each parsed when it is first asked for.

    Args:
        root: folder with the packages.
        packages: their names; what other packages define is not followed.
    """

    def __init__(self, root: Path, packages: tuple[str, ...]) -> None:
        self._root = root
        self._packages = packages
        self._modules: dict[str, SourceModule | None] = {}

    def module_names(self, package: str) -> Iterator[str]:
        """Every module below `package` that has a source file."""
        for path in sorted((self._root / package).rglob("*.py")):
            parts = path.relative_to(self._root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if all(part.isidentifier() for part in name.split(".")):
                yield name

    def module(self, name: str) -> SourceModule | None:
        """A parsed module; None where there is no source file of that name."""
        if name not in self._modules:
            self._modules[name] = None
            base = self._root / Path(*name.split("."))
            found = [
                path
                for path in (
                    base / "__init__.py",
                    base.with_suffix(".py"),
                    base / "__init__.pyi",
                    base.with_suffix(".pyi"),
                )
                if path.is_file()
            ]
            if found:
                self._modules[name] = self._read(name, found)
        return self._modules[name]

    def _read(self, name: str, files: list[Path]) -> SourceModule | None:
        source = files[0]
        text = source.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return None
        module = SourceModule(
            name, source.relative_to(self._root).as_posix(), tree, source.stem == "__init__", text.split("\n")
        )
        self._modules[name] = module
        self._bind(module, tree.body, stub=source.suffix == ".pyi")
        stubs = [path for path in files[1:] if path.suffix == ".pyi"]
        if stubs and source.suffix == ".py":
            self._add_stub(module, stubs[0])
        for copied in _COPIED.get(name, ()):
            other = self.module(copied)
            for key, binding in (other.bindings if other else {}).items():
                private = key.startswith("__") or (key.startswith("_") and copied == "torch._C")
                if not private and key not in module.bindings and not binding.target:
                    module.bindings[key] = Binding(target=f"{copied}.{key}")
        told = warning_in(tree.body, name, self._lookup(module))
        words = words_of(told, self._lookup(module)) if told is not None else ""
        # What a package says about a part of it is not about the package.
        about = re.search(rf"\b{name.rpartition('.')[2]}\b|this (?:module|package|file)", words)
        if told is not None and about and WARNS.search(ast.unparse(told)):
            module.deprecated = f"{module.path}:{told.lineno} warns when imported: {words}"
        if module.answers:
            for exported in module.exported or ():
                module.bindings.setdefault(exported, Binding(tree))
        return module

    def _add_stub(self, module: SourceModule, path: Path) -> None:
        """Signatures from the stub for what the module itself only assigns."""
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return
        other = SourceModule(
            module.name, path.relative_to(self._root).as_posix(), tree, module.is_package, text.split("\n")
        )
        self._bind(other, tree.body, stub=True)
        for key, binding in other.bindings.items():
            own = module.bindings.get(key)
            if own is None or not isinstance(own.node, (ast.Assign, ast.AnnAssign)) or own.target:
                continue
            if binding.target or isinstance(binding.node, Function | ast.ClassDef):
                module.bindings[key] = binding

    def _bind(self, module: SourceModule, body: list[ast.stmt], stub: bool) -> None:
        for node in body:
            if isinstance(node, Function):
                known = module.bindings.get(node.name)
                overloads = list(known.overloads) if known is not None and isinstance(known.node, Function) else []
                overloads = [*overloads, node] if is_overload(node) or (stub and overloads) else []
                module.bindings[node.name] = Binding(node, stub=stub, overloads=overloads)
                if node.name == "__getattr__":
                    module.answers = True
                    self._answered(module, node)
            elif isinstance(node, ast.ClassDef):
                module.bindings[node.name] = Binding(node, stub=stub)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                if stub or not isinstance(node, ast.AnnAssign) or node.value is not None:
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        self._assign(module, target, node, stub)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        module.bindings[alias.asname] = Binding(target=alias.name)
                    else:
                        root = alias.name.partition(".")[0]
                        module.bindings[root] = Binding(target=root)
            elif isinstance(node, ast.ImportFrom):
                self._import(module, node, stub)
            elif isinstance(node, ast.If):
                test = ast.unparse(node.test)
                if "TYPE_CHECKING" in test:
                    self._bind(module, node.body if test.startswith("not ") else node.orelse, stub)
                elif not test.startswith("__name__ == "):
                    self._bind(module, node.body, stub)
                    self._bind(module, node.orelse, stub)
            elif isinstance(node, ast.Try):
                self._bind(module, node.body, stub)
                others = {
                    name: module.bindings[name]
                    for item in node.body
                    if isinstance(item, (ast.Import, ast.ImportFrom))
                    for name in (alias.asname or alias.name.partition(".")[0] for alias in item.names)
                    if name in module.bindings and module.bindings[name].target.partition(".")[0] not in self._packages
                }
                for part in (*(handler.body for handler in node.handlers), node.orelse, node.finalbody):
                    self._bind(module, part, stub)
                # What only stands in for another library's name is no name of torch's.
                module.bindings.update(others)
            elif isinstance(node, (ast.With, ast.For, ast.While)):
                if isinstance(node, ast.For):
                    self._assign(module, node.target, node, stub)
                    self._bind_through_globals(module, node)
                self._bind(module, node.body, stub)
            elif isinstance(node, ast.Delete):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        module.bindings.pop(target.id, None)
            elif isinstance(node, ast.Expr):
                self._call(module, node.value)

    def _assign(self, module: SourceModule, target: ast.expr, node: ast.AST, stub: bool) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._assign(module, item, node, stub)
        elif isinstance(target, ast.Name):
            value = getattr(node, "value", None)
            dotted = dotted_name(value) if isinstance(node, ast.Assign) else None
            if target.id == "__all__":
                self._export(module, node)
            elif dotted is not None and dotted.partition(".")[0] in module.bindings:
                module.bindings[target.id] = Binding(node, target=f"{module.name}.{dotted}", stub=stub)
            elif not (isinstance(node, ast.AugAssign) and target.id in module.bindings):
                module.bindings[target.id] = Binding(node, stub=stub)

    def _import(self, module: SourceModule, node: ast.ImportFrom, stub: bool) -> None:
        source = node.module or ""
        if node.level:
            parts = module.name.split(".")
            parts = parts[: len(parts) - node.level + (1 if module.is_package else 0)]
            source = ".".join([*parts, source] if source else parts)
        for alias in node.names:
            if alias.name == "*":
                self._star(module, source)
            elif not stub or alias.asname == alias.name:
                module.bindings[alias.asname or alias.name] = Binding(target=f"{source}.{alias.name}")

    def _star(self, module: SourceModule, source: str) -> None:
        other = self.module(source)
        if other is None:
            return
        for name in self.exports(other):
            if name in other.bindings or self.module(f"{source}.{name}"):
                module.bindings[name] = Binding(target=f"{source}.{name}")

    def exports(self, module: SourceModule) -> list[str]:
        """What a star import of `module` brings."""
        if module.exported is not None:
            return sorted(module.exported)
        return [name for name in module.bindings if not name.startswith("_")]

    def _export(self, module: SourceModule, node: ast.AST) -> None:
        names = self._strings(module, getattr(node, "value", None))
        if isinstance(node, ast.AugAssign) or module.exported is None:
            if names is None:
                return
            module.exported = (module.exported or set()) | names
        elif names is not None:
            module.exported = module.exported | names

    def _strings(self, module: SourceModule, value: ast.expr | None) -> set[str] | None:
        if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            names: set[str] = set()
            for item in value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    names.add(item.value)
                elif isinstance(item, ast.Starred):
                    names |= self._strings(module, item.value) or set()
            return names
        if isinstance(value, ast.BinOp):
            left, right = self._strings(module, value.left), self._strings(module, value.right)
            return None if left is None or right is None else left | right
        if isinstance(value, ast.Call) and value.args and ast.unparse(value.func) in {"list", "tuple", "sorted", "set"}:
            return self._strings(module, value.args[0])
        if isinstance(value, ast.Attribute) and value.attr == "__all__":
            dotted = dotted_name(value.value)
            binding = module.bindings.get(dotted.partition(".")[0]) if dotted else None
            other = self.module(binding.target) if binding else None
            return set(self.exports(other)) if other else None
        return None

    def _call(self, module: SourceModule, value: ast.expr) -> None:
        if not isinstance(value, ast.Call):
            return
        function = ast.unparse(value.func)
        if function in {"__all__.extend", "__all__.append"} and value.args:
            names = self._strings(module, value.args[0])
            if names is None and isinstance(value.args[0], ast.Constant):
                names = {str(value.args[0].value)}
            module.exported = (module.exported or set()) | (names or set())

    def _bind_through_globals(self, module: SourceModule, node: ast.For) -> None:
        """`for name in (...): globals()[name] = ...` binds the names that are written out."""
        if any(
            isinstance(inner, ast.Subscript) and ast.unparse(inner.value) == "globals()" for inner in ast.walk(node)
        ):
            for name in self._strings(module, node.iter) or ():
                module.bindings.setdefault(name, Binding(node))
            module.answers = True

    def _answered(self, module: SourceModule, node: Function) -> None:
        """Names that a module's `__getattr__` knows by name: its strings, and the keys of what it looks into."""
        looked_into = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        texts: set[str] = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Compare):
                texts |= {c.value for c in ast.walk(inner) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
        for statement in module.tree.body:
            targets = (
                statement.targets
                if isinstance(statement, ast.Assign)
                else [statement.target]
                if isinstance(statement, ast.AnnAssign)
                else []
            )
            if any(isinstance(target, ast.Name) and target.id in looked_into for target in targets):
                value = statement.value
                items = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
                texts |= {i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str)}
        for text in texts:
            if text.isidentifier() and not text.startswith("__"):
                module.bindings.setdefault(text, Binding(node))

    def _lookup(self, module: SourceModule) -> Lookup:
        """What names of `module` are assigned, there or in the module that they are imported from."""

        def value(name: str) -> ast.expr | None:
            found = self.resolve(f"{module.name}.{name}")
            node = found[2].node if isinstance(found, tuple) else None
            return node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None

        return value

    def resolve(
        self, name: str, seen: frozenset[str] = frozenset()
    ) -> tuple[SourceModule, str, Binding] | SourceModule | None:
        """Follow a qualified name to the module that defines it."""
        if name in seen:
            return None
        seen |= {name}
        parent, _, last = name.rpartition(".")
        # An import statement means the module, also where its package binds the same name to something else.
        owner: object = (self.module(parent) or self.resolve(parent, seen)) if parent else None
        if isinstance(owner, SourceModule):
            binding = owner.bindings.get(last)
            if binding is not None:
                if binding.target:
                    found = self.resolve(binding.target, seen)
                    if found is None and binding.target == name:
                        return self.module(name)
                    return found if found is not None else (owner, last, binding)
                return owner, last, binding
            return self.module(f"{owner.name}.{last}")
        if owner is None:
            return self.module(name)
        return None
