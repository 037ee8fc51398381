"""What can be imported from a source tree of torch, read without running it.

A surface maps every qualified name that the tree offers (the module's own definitions, what it imports, what star imports
and stubs bring) to what stands behind it: where it is defined, how it is called, whether it says that it is deprecated.
Branches of conditions and of `try` count alike: a name that some platform has, is there. What stands under
`TYPE_CHECKING` is not.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# What `torch/__init__.py` copies from its C modules in loops over `dir()`.
_COPIED = {
    "torch": ("torch._C", "torch._C._VariableFunctions"),
    "torch.nn.functional": (),
    "torch._VF": ("torch._C._VariableFunctions",),
}
_WARNS = re.compile(r"\b(?:Deprecation|Future|PendingDeprecation)Warning\b")
_DEPRECATED_CALL = re.compile(r"deprecat", re.IGNORECASE)
_SAYS_SO = re.compile(
    r"deprecat|renamed|has (?:been )?moved|removed|in favor of|(?:please|should) use\b", re.IGNORECASE
)
_OF_AN_ARGUMENT = re.compile(r"(?:argument|parameter)s?\b[^.]*\b(?:deprecat|renamed|removed)", re.IGNORECASE)
_GONE = re.compile(
    r"(?:is|was|been) (?:now )?removed|is no longer (?:supported|available)|has been deprecated and removed",
    re.IGNORECASE,
)
_SELF = r"(?:this (?:function|class|method|api|module|decorator|operator|context manager)|:(?:func|class|meth|attr):`[^`]*\b{0}`|`+(?:\w+\.)*{0}(?:\(\))?`+|(?:torch\.)?(?:\w+\.)*{0}(?:\(\))?)"
_DOC_SAYS = r"\s+(?:is|has been|was|will be) (?:now )?deprecated"
_SECTIONS = re.compile(
    r"\n\s*(?:Args|Arguments|Parameters|Keyword args|Keyword arguments|Kwargs|Attributes|Returns|Example|Examples)\s*:",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Parameter:
    """One parameter: `kind` is one of "positional", "normal", "*", "keyword", "**"; `default` is its source text."""

    name: str
    kind: str
    default: str | None = None


@dataclass
class Thing:
    """What stands behind a name.

    Attributes:
        kind: "module", "function", "class" or "value".
        home: qualified name where it is defined.
        at: file and line of the definition.
        signatures: how it is called; several for overloads in stubs. Empty where nothing is known.
        stub: whether the signatures come from a stub.
        deprecated: what says that it is deprecated, and where; empty if nothing does.
        raises: the message with which every call fails, where the function has become an error.
        body: digest of the definition without its name and documentation; empty for one too short to tell it from others.
        members: names of a class, own and inherited.
        open: whether a class or module answers names that its source does not show (`__getattr__`, unknown bases).
    """

    kind: str
    home: str
    at: str
    signatures: tuple[tuple[Parameter, ...], ...] = ()
    stub: bool = False
    deprecated: str = ""
    raises: str = ""
    body: str = ""
    members: dict[str, Thing] = field(default_factory=dict)
    open: bool = False


@dataclass
class _Binding:
    """What a module binds a name to: a definition, a value, or a name somewhere else."""

    node: ast.AST | None = None
    target: str = ""
    stub: bool = False
    overloads: list[_Function] = field(default_factory=list)


@dataclass
class _Module:
    name: str
    path: str
    tree: ast.Module
    is_package: bool
    lines: list[str]
    bindings: dict[str, _Binding] = field(default_factory=dict)
    exported: set[str] | None = None
    deprecated: str = ""
    answers: bool = False


class Surface:
    """The names of one source tree.

    Args:
        root: folder with the packages.
        packages: packages to read.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[str, _Module | None] = {}
        self._docs: dict[str, str] | None = None
        self._known: dict[tuple[str, str], Thing | None] = {}

    # Modules

    def module_names(self, package: str) -> Iterator[str]:
        """Every module below `package` that has a source file."""
        for path in sorted((self._root / package).rglob("*.py")):
            parts = path.relative_to(self._root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if all(part.isidentifier() for part in name.split(".")):
                yield name

    def module(self, name: str) -> _Module | None:
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

    def _read(self, name: str, files: list[Path]) -> _Module | None:
        source = files[0]
        text = source.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return None
        module = _Module(
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
                    module.bindings[key] = _Binding(target=f"{copied}.{key}")
        told = _warning(tree.body, name, self._lookup(module))
        words = _words(told, self._lookup(module)) if told is not None else ""
        # What a package says about a part of it is not about the package.
        about = re.search(rf"\b{name.rpartition('.')[2]}\b|this (?:module|package|file)", words)
        if told is not None and about and _WARNS.search(ast.unparse(told)):
            module.deprecated = f"{module.path}:{told.lineno} warns when imported: {words}"
        if module.answers:
            for exported in module.exported or ():
                module.bindings.setdefault(exported, _Binding(tree))
        return module

    def _add_stub(self, module: _Module, path: Path) -> None:
        """Signatures from the stub for what the module itself only assigns."""
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return
        other = _Module(module.name, path.relative_to(self._root).as_posix(), tree, module.is_package, text.split("\n"))
        self._bind(other, tree.body, stub=True)
        for key, binding in other.bindings.items():
            own = module.bindings.get(key)
            if own is None or not isinstance(own.node, (ast.Assign, ast.AnnAssign)) or own.target:
                continue
            if binding.target or isinstance(binding.node, _Function | ast.ClassDef):
                module.bindings[key] = binding

    def _bind(self, module: _Module, body: list[ast.stmt], stub: bool) -> None:
        for node in body:
            if isinstance(node, _Function):
                known = module.bindings.get(node.name)
                overloads = list(known.overloads) if known is not None and isinstance(known.node, _Function) else []
                overloads = [*overloads, node] if _is_overload(node) or (stub and overloads) else []
                module.bindings[node.name] = _Binding(node, stub=stub, overloads=overloads)
                if node.name == "__getattr__":
                    module.answers = True
                    self._answered(module, node)
            elif isinstance(node, ast.ClassDef):
                module.bindings[node.name] = _Binding(node, stub=stub)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                if stub or not isinstance(node, ast.AnnAssign) or node.value is not None:
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        self._assign(module, target, node, stub)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        module.bindings[alias.asname] = _Binding(target=alias.name)
                    else:
                        root = alias.name.partition(".")[0]
                        module.bindings[root] = _Binding(target=root)
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
                    if name in module.bindings
                    and module.bindings[name].target.partition(".")[0] not in {"torch", "functorch"}
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

    def _assign(self, module: _Module, target: ast.expr, node: ast.AST, stub: bool) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._assign(module, item, node, stub)
        elif isinstance(target, ast.Name):
            value = getattr(node, "value", None)
            dotted = _dotted(value) if isinstance(node, ast.Assign) else None
            if target.id == "__all__":
                self._export(module, node)
            elif dotted is not None and dotted.partition(".")[0] in module.bindings:
                module.bindings[target.id] = _Binding(node, target=f"{module.name}.{dotted}", stub=stub)
            elif not (isinstance(node, ast.AugAssign) and target.id in module.bindings):
                module.bindings[target.id] = _Binding(node, stub=stub)

    def _import(self, module: _Module, node: ast.ImportFrom, stub: bool) -> None:
        source = node.module or ""
        if node.level:
            parts = module.name.split(".")
            parts = parts[: len(parts) - node.level + (1 if module.is_package else 0)]
            source = ".".join([*parts, source] if source else parts)
        for alias in node.names:
            if alias.name == "*":
                self._star(module, source)
            elif not stub or alias.asname == alias.name:
                module.bindings[alias.asname or alias.name] = _Binding(target=f"{source}.{alias.name}")

    def _star(self, module: _Module, source: str) -> None:
        other = self.module(source)
        if other is None:
            return
        for name in self.exports(other):
            if name in other.bindings or self.module(f"{source}.{name}"):
                module.bindings[name] = _Binding(target=f"{source}.{name}")

    def exports(self, module: _Module) -> list[str]:
        """What a star import of `module` brings."""
        if module.exported is not None:
            return sorted(module.exported)
        return [name for name in module.bindings if not name.startswith("_")]

    def _export(self, module: _Module, node: ast.AST) -> None:
        names = self._strings(module, getattr(node, "value", None))
        if isinstance(node, ast.AugAssign) or module.exported is None:
            if names is None:
                return
            module.exported = (module.exported or set()) | names
        elif names is not None:
            module.exported = module.exported | names

    def _strings(self, module: _Module, value: ast.expr | None) -> set[str] | None:
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
            dotted = _dotted(value.value)
            binding = module.bindings.get(dotted.partition(".")[0]) if dotted else None
            other = self.module(binding.target) if binding else None
            return set(self.exports(other)) if other else None
        return None

    def _call(self, module: _Module, value: ast.expr) -> None:
        if not isinstance(value, ast.Call):
            return
        function = ast.unparse(value.func)
        if function in {"__all__.extend", "__all__.append"} and value.args:
            names = self._strings(module, value.args[0])
            if names is None and isinstance(value.args[0], ast.Constant):
                names = {str(value.args[0].value)}
            module.exported = (module.exported or set()) | (names or set())

    def _bind_through_globals(self, module: _Module, node: ast.For) -> None:
        """`for name in (...): globals()[name] = ...` binds the names that are written out."""
        if any(
            isinstance(inner, ast.Subscript) and ast.unparse(inner.value) == "globals()" for inner in ast.walk(node)
        ):
            for name in self._strings(module, node.iter) or ():
                module.bindings.setdefault(name, _Binding(node))
            module.answers = True

    def _answered(self, module: _Module, node: _Function) -> None:
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
                module.bindings.setdefault(text, _Binding(node))

    def _lookup(self, module: _Module) -> _Lookup:
        """What names of `module` are assigned, there or in the module that they are imported from."""

        def value(name: str) -> ast.expr | None:
            found = self.resolve(f"{module.name}.{name}")
            node = found[2].node if isinstance(found, tuple) else None
            return node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None

        return value

    # Names

    def resolve(self, name: str, seen: frozenset[str] = frozenset()) -> tuple[_Module, str, _Binding] | _Module | None:
        """Follow a qualified name to the module that defines it."""
        if name in seen:
            return None
        seen |= {name}
        parent, _, last = name.rpartition(".")
        # An import statement means the module, also where its package binds the same name to something else.
        owner: object = (self.module(parent) or self.resolve(parent, seen)) if parent else None
        if isinstance(owner, _Module):
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

    def thing(self, name: str) -> Thing | None:
        """What stands behind a qualified name of a module; None where nothing does, or nothing of these packages."""
        found = self.resolve(name)
        if found is None:
            return None
        if isinstance(found, _Module):
            return Thing("module", found.name, f"{found.path}:1", deprecated=found.deprecated, open=found.answers)
        return self._described(*found)

    def _described(self, module: _Module, name: str, binding: _Binding) -> Thing | None:
        key = module.name, name
        if key not in self._known:
            self._known[key] = None  # a definition that leads back to itself
            self._known[key] = self._describe(module, name, binding)
        return self._known[key]

    def _describe(self, module: _Module, name: str, binding: _Binding) -> Thing | None:
        home = f"{module.name}.{name}"
        node = binding.node
        if node is None:
            root = binding.target.partition(".")[0]
            return (
                None
                if root not in {"torch", "functorch"}
                else Thing("value", binding.target, f"{module.path}:1", open=True)
            )
        path = module.path
        if binding.stub and not path.endswith(".pyi"):
            path += "i"
        at = f"{path}:{getattr(node, 'lineno', 1)}"
        if isinstance(node, _Function):
            nodes = binding.overloads or [node]
            says = [_deprecation(item, name, path, self._lookup(module)) for item in nodes]
            deprecated = (says[-1] if all(says) else "") or self._documented(home, name)
            thing = Thing(
                "function",
                home,
                at,
                tuple(_signature(item) for item in nodes),
                binding.stub,
                deprecated,
                _raises(node),
                _digest(node, module.lines),
            )
            if (not binding.stub and _is_overload(node)) or any(_unreadable(item) for item in nodes):
                thing.signatures = ()
            return thing
        if isinstance(node, ast.ClassDef):
            return self._class(module, node, home, at, path, binding.stub)
        deprecated = ""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if _DEPRECATED_CALL.search(called):
                deprecated = f"{at} is marked: {_words(node.value, self._lookup(module))}"
            if called.endswith("_add_docstr") and _doc_says(_all_strings(node.value), name):
                deprecated = f"{at} documents: {_doc_says(_all_strings(node.value), name)}"
        return Thing("value", home, at, deprecated=deprecated or self._documented(home, name))

    def _class(self, module: _Module, node: ast.ClassDef, home: str, at: str, path: str, stub: bool) -> Thing:
        thing = Thing("class", home, at, stub=stub, body=_digest(node, module.lines))
        thing.deprecated = _deprecation(node, node.name, path, self._lookup(module))
        for base in node.bases:
            dotted = _dotted(base if not isinstance(base, ast.Subscript) else base.value)
            inherited = self.thing(f"{module.name}.{dotted}") if dotted else None
            if inherited is None or inherited.kind != "class":
                thing.open = thing.open or dotted not in {
                    "object",
                    "ABC",
                    "Enum",
                    "str",
                    "int",
                    "Generic",
                    "NamedTuple",
                    "Protocol",
                    "Exception",
                }
                continue
            thing.open = thing.open or inherited.open
            thing.members = {**inherited.members, **thing.members}
            thing.signatures = thing.signatures or inherited.signatures
        known: dict[str, list[_Function]] = {}
        for item in _class_body(node.body):
            if isinstance(item, _Function):
                known.setdefault(item.name, []).append(item)
            elif isinstance(item, (ast.Assign, ast.AnnAssign)):
                for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
                    if isinstance(target, ast.Name):
                        thing.members[target.id] = Thing("value", f"{home}.{target.id}", f"{path}:{item.lineno}")
            elif isinstance(item, ast.ClassDef):
                thing.members[item.name] = Thing("class", f"{home}.{item.name}", f"{path}:{item.lineno}", open=True)
        for name, items in known.items():
            overloads = [item for item in items if _is_overload(item)]
            chosen = items if stub and overloads else [items[-1]]
            member = Thing(
                "function",
                f"{home}.{name}",
                f"{path}:{chosen[-1].lineno}",
                tuple(_signature(item, method=True) for item in chosen),
                stub,
                _deprecation(chosen[-1], name, path, self._lookup(module)),
                _raises(chosen[-1]),
            )
            if _unreadable(chosen[-1]):
                member.signatures = ()
            if any(
                ast.unparse(d).endswith((".setter", "property", "cached_property")) for d in chosen[-1].decorator_list
            ):
                member.kind, member.signatures = "value", ()
            thing.members[name] = member
        if "__getattr__" in known:
            thing.open = True
        start = thing.members.get("__init__")
        if "__init__" in known and start is not None:
            thing.signatures = start.signatures
            thing.deprecated = thing.deprecated or start.deprecated
        elif "__new__" in known:
            thing.signatures = thing.members["__new__"].signatures
        if any("dataclass" in ast.unparse(d) for d in node.decorator_list) or (
            node.bases and ast.unparse(node.bases[0]).endswith("NamedTuple")
        ):
            inherits = any(not ast.unparse(base).endswith(("NamedTuple", "object")) for base in node.bases)
            if "__init__" not in known:
                thing.signatures = () if inherits else (_fields(node),)
        if any(
            keyword.arg == "metaclass"
            and "Enum" not in ast.unparse(keyword.value)
            and "ABC" not in ast.unparse(keyword.value)
            for keyword in node.keywords
        ):
            thing.open = True
        return thing

    def _documented(self, home: str, name: str) -> str:
        """Where torch's documentation of C functions says that `home` is deprecated."""
        if self._docs is None:
            self._docs = {}
            for file, prefix in (("torch/_torch_docs.py", ""), ("torch/_tensor_docs.py", "torch.Tensor.")):
                path = self._root / file
                for node in ast.walk(ast.parse(path.read_bytes())) if path.exists() else ():
                    if (
                        isinstance(node, ast.Call)
                        and ast.unparse(node.func) in {"add_docstr", "add_docstr_all"}
                        and node.args
                    ):
                        first = node.args[0]
                        called = prefix + str(first.value) if isinstance(first, ast.Constant) else ast.unparse(first)
                        says = _doc_says(_all_strings(node), called.rpartition(".")[2])
                        if says:
                            self._docs[called] = f"{file}:{node.lineno} documents: {says}"
        shown = home.replace("torch._C._VariableFunctions.", "torch.").replace("torch._C.TensorBase.", "torch.Tensor.")
        return self._docs.get(shown, "")


# Definitions


def _is_overload(node: _Function) -> bool:
    return any(ast.unparse(decorator).rpartition(".")[2] == "overload" for decorator in node.decorator_list)


# Decorators that leave the signature as it is written.
_HARMLESS = re.compile(
    r"overload|deprecated|staticmethod|classmethod|abstractmethod|no_grad|wraps|exposed_in|lru_cache|cache|compatibility|set_module|"
    r"_exception_logger|_time_logger|torch\.jit\.|_disable_dynamo|_onnx_symbolic|final|override|property|setter|dont_skip_tracing|"
    r"_copy_to_script_wrapper|public|_maybe_handle|_use_grad_for_differentiable|_disable_dynamo_if_unsupported|experimental|forbid_in_graph|"
    r"allow_in_graph|contextmanager|substitute_in_graph|nonstrict_trace|leaf_function|skip|functional_datapipe|parse_args|_beartype|boolean_dispatch"
)


def _unreadable(node: _Function) -> bool:
    """Whether a decorator may give the function another signature than the one written."""
    return any(not _HARMLESS.search(ast.unparse(decorator)) for decorator in node.decorator_list)


def _signature(node: _Function, *, method: bool = False) -> tuple[Parameter, ...]:
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    found = []
    for index, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        positional = index < len(arguments.posonlyargs) or (
            argument.arg.startswith("__") and not argument.arg.endswith("__")
        )
        found.append(Parameter(argument.arg, "positional" if positional else "normal", _default(default)))
    static = node.name != "__new__" and any(ast.unparse(d).endswith("staticmethod") for d in node.decorator_list)
    if method and found and not static:
        found = found[1:]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "*"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(Parameter(argument.arg, "keyword", _default(default)))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "**"))
    return tuple(found)


def _default(node: ast.expr | None) -> str | None:
    return None if node is None else " ".join(ast.unparse(node).split())


def _fields(node: ast.ClassDef) -> tuple[Parameter, ...]:
    found = []
    for item in node.body:
        if (
            isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and "ClassVar" not in ast.unparse(item.annotation)
        ):
            value = item.value
            if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field"):
                options = {keyword.arg: keyword.value for keyword in value.keywords}
                init = options.get("init")
                if isinstance(init, ast.Constant) and init.value is False:
                    continue
                value = options.get("default") or options.get("default_factory")
            found.append(Parameter(item.target.id, "normal", _default(value)))
    return tuple(found)


def _class_body(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for item in body:
        if isinstance(item, ast.If):
            test = ast.unparse(item.test)
            if "TYPE_CHECKING" not in test or test.startswith("not "):
                yield from _class_body(item.body)
            yield from _class_body(item.orelse)
        else:
            yield item


def _dotted(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def _body_of(node: _Function | ast.ClassDef) -> list[ast.stmt]:
    body = node.body
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        return body[1:]
    return body


def _digest(node: _Function | ast.ClassDef, lines: list[str]) -> str:
    body = _body_of(node)
    if not body:
        return ""
    text = "".join("".join(line.split()) for line in lines[body[0].lineno - 1 : body[-1].end_lineno])
    return hashlib.sha1(text.encode()).hexdigest()[:16] if len(text) > 120 else ""


def _raises(node: _Function) -> str:
    """The message of a function that does nothing but fail because it was removed."""
    *before, last = _body_of(node) or [ast.Pass()]
    if (
        isinstance(last, ast.Raise)
        and last.exc is not None
        and all(isinstance(item, (ast.Assign, ast.Import)) for item in before)
    ):
        text = " ".join(_all_strings(last.exc).split())
        if _GONE.search(text):
            return text
    return ""


_Lookup = Callable[[str], ast.expr | None]


def _deprecation(node: _Function | ast.ClassDef, name: str, path: str, lookup: _Lookup) -> str:
    """What marks a definition as deprecated in every use, with file and line; empty where nothing does."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if re.search(r"(?:^|[._])deprecated$|^_?deprecate", ast.unparse(called)):
            return f"{path}:{decorator.lineno} is marked: {_words(decorator, lookup)}"
    if isinstance(node, _Function) and not _DEPRECATED_CALL.search(name):
        call = _warning(_body_of(node), name, _with_locals(node, lookup))
        if call is not None:
            return f"{path}:{call.lineno} warns: {_words(call, _with_locals(node, lookup))}"
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(statement, ast.FunctionDef) and statement.name in {"__init__", "__new__"}:
            found = _deprecation(statement, name, path, lookup)
            if found:
                return found
    says = _doc_says(ast.get_docstring(node) or "", name)
    return f"{path}:{node.lineno} documents: {says}" if says else ""


def _warning(body: list[ast.stmt], name: str, lookup: _Lookup) -> ast.Call | None:
    """The call in `body` that tells every caller of `name` that it is deprecated.

    A warning that some callers do not reach speaks of a form of the call, not of the name.
    """
    for statement in body:
        found = None
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            found = statement.value if _calls_deprecated(statement.value, name, lookup) else None
        elif isinstance(statement, ast.With):
            found = _warning(statement.body, name, lookup)
        elif isinstance(statement, ast.If):
            branches = [_warning(part, name, lookup) for part in (statement.body, statement.orelse)]
            # Where the Python decides, the other branch says that it does not work at all.
            if all(branches) or "sys.version_info" in ast.unparse(statement.test):
                found = next((call for call in reversed(branches) if call is not None), None)
        if found is not None:
            return found
        if _may_return(statement) and "has_torch_function" not in ast.unparse(statement):
            return None
    return None


def _may_return(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return isinstance(statement, ast.Return) or any(
        _may_return(inner) for inner in ast.iter_child_nodes(statement) if isinstance(inner, ast.stmt)
    )


def _calls_deprecated(call: ast.Call, name: str, lookup: _Lookup) -> bool:
    called, text = ast.unparse(call.func), ast.unparse(call)
    if not called.endswith("warn"):
        return bool(re.match(r"(?!_?check)[\w.]*deprecat(?!\w*(?:arg|param))\w*$", called))
    words = _message(call, lookup)
    if _OF_AN_ARGUMENT.search(words) and name not in words:
        return False
    if _WARNS.search(text):
        return not words or bool(_SAYS_SO.search(words))
    return bool(_DEPRECATED_CALL.search(words))


def _doc_says(text: str, name: str) -> str:
    """The sentence of a documentation that calls the whole of `name` deprecated, or empty."""
    if "deprecated" not in text.lower():
        return ""
    flat = " ".join(_SECTIONS.split(text, maxsplit=1)[0].split())
    if re.match(r"[\W_]*deprecated\b[\W_]*[:.!]", flat, re.IGNORECASE):
        return flat.partition(". ")[0][:200]
    directive = re.search(r"\.\. deprecated::\s*(.*?)(?:\.(?:\s|$)|$)", flat)
    if directive:
        return f".. deprecated:: {directive[1]}"[:200]
    found = re.search(_SELF.format(re.escape(name)) + _DOC_SAYS + r"[^.]*(?:\.(?!\s)[^.]*)*", flat, re.IGNORECASE)
    return found[0][:200] if found else ""


def _all_strings(node: ast.AST) -> str:
    parts = [item for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    parts.sort(key=lambda item: (item.lineno, item.col_offset))
    return "".join(str(item.value) for item in parts)


def _words(node: ast.AST, lookup: _Lookup) -> str:
    """The message of a call, or the call where it has none that can be read."""
    inner = node
    while isinstance(inner, ast.Call):  # deprecated("...")(function)
        text = _message(inner, lookup)
        if text:
            return text[:300]
        inner = inner.func
    return " ".join(ast.unparse(node).split())[:120]


def _message(call: ast.Call, lookup: _Lookup) -> str:
    """The longest text among the arguments of a call that is a sentence rather than a name; empty where there is none."""
    given = [*call.args, *(item.value for item in call.keywords if item.arg not in {"category", "stacklevel"})]
    texts = [" ".join(_text(argument, lookup).split()) for argument in given]
    return max((text for text in texts if text.count(" ") > 1), key=len, default="")


def _text(node: ast.expr, lookup: _Lookup, depth: int = 0) -> str:
    """What an expression of text says, with `...` for what only running it would show; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part.value if isinstance(part, ast.FormattedValue) else part, lookup, depth) or "..."
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, lookup, depth) + _text(node.right, lookup, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.sub(r"%[sdr]", "...", _text(node.left, lookup, depth))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"format", "strip"}:
            return re.sub(r"\{[^{}]*\}", "...", _text(node.func.value, lookup, depth))
        if node.func.attr == "dedent" and node.args:
            return _text(node.args[0], lookup, depth)
    if isinstance(node, ast.Name) and depth < 3:
        value = lookup(node.id)
        return _text(value, lookup, depth + 1) if value is not None else ""
    return ""


def _with_locals(function: _Function, lookup: _Lookup) -> _Lookup:
    """`lookup` that also knows what the function assigns at the start of its own body."""
    own = {
        target.id: statement.value
        for statement in reversed(_body_of(function))
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return lambda name: own[name] if name in own else lookup(name)


@dataclass
class Names:
    """Everything that one release offers: `names` leads from a qualified name to the home of what it means."""

    version: str
    names: dict[str, str] = field(default_factory=dict)
    things: dict[str, Thing] = field(default_factory=dict)
    exported: dict[str, frozenset[str]] = field(default_factory=dict)
    """`__all__` of the modules that have one."""


def names_of(version: str, root: Path, packages: tuple[str, ...], left_out: re.Pattern[str]) -> Names:
    """Read every module of `packages` but those whose name `left_out` finds."""
    surface = Surface(root)
    found = Names(version)
    for package in packages:
        for name in surface.module_names(package):
            if left_out.search(name):
                continue
            module = surface.module(name)
            whole = surface.thing(name)
            if module is None or whole is None:
                continue
            found.names[name] = name
            found.things[name] = Thing(
                "module", name, f"{module.path}:1", deprecated=module.deprecated, open=module.answers
            )
            if module.exported is not None:
                found.exported[name] = frozenset(module.exported)
            for bound in module.bindings:
                thing = surface.thing(f"{name}.{bound}")
                if thing is not None and not bound.startswith("__"):
                    found.names.setdefault(f"{name}.{bound}", thing.home)
                    found.things.setdefault(thing.home, thing)
    return found
