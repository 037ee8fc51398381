"""What can be imported from a source tree of torch or a companion, read without running it.

A surface maps every qualified name that the tree offers (the module's own definitions, what it imports, what star imports
and stubs bring) to what stands behind it: where it is defined, how it is called, whether it says that it is deprecated.
Branches of conditions and of `try` count alike: a name that some platform has, is there. What stands under
`TYPE_CHECKING` is not.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from api_definitions import (
    Function,
    Parameter,
    class_body,
    digest_of,
    dotted_name,
    fields_of,
    is_overload,
    is_unreadable,
    signature_of,
)
from api_deprecation import (
    DEPRECATED_CALL,
    all_strings,
    deprecation_of,
    of_setting,
    removal_message,
    said_by_doc,
    words_of,
)
from api_modules import Binding, Modules, SourceModule


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


class Surface(Modules):
    """The names of one source tree.

    Args:
        root: folder with the packages.
        packages: their names.
    """

    def __init__(self, root: Path, packages: tuple[str, ...]) -> None:
        super().__init__(root, packages)
        self._docs: dict[str, str] | None = None
        self._known: dict[tuple[str, str], Thing | None] = {}

    def thing(self, name: str) -> Thing | None:
        """What stands behind a qualified name of a module; None where nothing does, or nothing of these packages."""
        found = self.resolve(name)
        if found is None:
            return None
        if isinstance(found, SourceModule):
            return Thing("module", found.name, f"{found.path}:1", deprecated=found.deprecated, open=found.answers)
        return self._described(*found)

    def _described(self, module: SourceModule, name: str, binding: Binding) -> Thing | None:
        key = module.name, name
        if key not in self._known:
            self._known[key] = None  # a definition that leads back to itself
            self._known[key] = self._describe(module, name, binding)
        return self._known[key]

    def _describe(self, module: SourceModule, name: str, binding: Binding) -> Thing | None:
        home = f"{module.name}.{name}"
        node = binding.node
        if node is None:
            root = binding.target.partition(".")[0]
            return (
                None
                if root not in {*self._packages, "torch", "functorch"}
                else Thing("value", binding.target, f"{module.path}:1", open=True)
            )
        path = module.path
        if binding.stub and not path.endswith(".pyi"):
            path += "i"
        at = f"{path}:{getattr(node, 'lineno', 1)}"
        if isinstance(node, Function):
            nodes = binding.overloads or [node]
            says = [deprecation_of(item, name, path, self._lookup(module)) for item in nodes]
            deprecated = (says[-1] if all(says) else "") or self._documented(home, name)
            thing = Thing(
                "function",
                home,
                at,
                tuple(signature_of(item) for item in nodes),
                binding.stub,
                deprecated,
                removal_message(node),
                digest_of(node, module.lines),
            )
            if (not binding.stub and is_overload(node)) or any(is_unreadable(item) for item in nodes):
                thing.signatures = ()
            if name != node.name:
                thing.signatures = ()  # a name that `__getattr__` answers
            return thing
        if isinstance(node, ast.ClassDef):
            return self._class(module, node, home, at, path, binding.stub)
        deprecated = ""
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            deprecated = of_setting(node.value, at, name)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if DEPRECATED_CALL.search(called):
                deprecated = f"{at} is marked: {words_of(node.value, self._lookup(module))}"
            if called.endswith("_add_docstr") and said_by_doc(all_strings(node.value), name):
                deprecated = f"{at} documents: {said_by_doc(all_strings(node.value), name)}"
        return Thing("value", home, at, deprecated=deprecated or self._documented(home, name))

    def _class(self, module: SourceModule, node: ast.ClassDef, home: str, at: str, path: str, stub: bool) -> Thing:
        thing = Thing("class", home, at, stub=stub, body=digest_of(node, module.lines))
        thing.deprecated = deprecation_of(node, node.name, path, self._lookup(module))
        for base in node.bases:
            dotted = dotted_name(base if not isinstance(base, ast.Subscript) else base.value)
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
        known: dict[str, list[Function]] = {}
        for item in class_body(node.body):
            if isinstance(item, Function):
                known.setdefault(item.name, []).append(item)
            elif isinstance(item, (ast.Assign, ast.AnnAssign)):
                for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
                    if isinstance(target, ast.Name):
                        thing.members[target.id] = Thing("value", f"{home}.{target.id}", f"{path}:{item.lineno}")
            elif isinstance(item, ast.ClassDef):
                thing.members[item.name] = Thing("class", f"{home}.{item.name}", f"{path}:{item.lineno}", open=True)
        for name, items in known.items():
            overloads = [item for item in items if is_overload(item)]
            chosen = items if stub and overloads else [items[-1]]
            member = Thing(
                "function",
                f"{home}.{name}",
                f"{path}:{chosen[-1].lineno}",
                tuple(signature_of(item, method=True) for item in chosen),
                stub,
                deprecation_of(chosen[-1], name, path, self._lookup(module)),
                removal_message(chosen[-1]),
            )
            if is_unreadable(chosen[-1]):
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
                thing.signatures = () if inherits else (fields_of(node),)
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
                        says = said_by_doc(all_strings(node), called.rpartition(".")[2])
                        if says:
                            self._docs[called] = f"{file}:{node.lineno} documents: {says}"
        shown = home.replace("torch._C._VariableFunctions.", "torch.").replace("torch._C.TensorBase.", "torch.Tensor.")
        return self._docs.get(shown, "")


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
    surface = Surface(root, packages)
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
