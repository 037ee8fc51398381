"""The objects of an archive as constructors: which class each is, what it is made with, and where its weights lie."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from torchlift.convert.archive.code import ArchiveClass, ArchiveCode
from torchlift.convert.archive.values import Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.names import PythonNames
from torchlift.convert.translation.operators import called, name_of
from torchlift.convert.translation.quantised import PACKED, packed, quantised

_PLAIN = (bool, int, float, str)
_OF_EVERY_MODULE = ("training", "_is_full_backward_hook")


class PartsDiffer(BadArchive):
    """Modules of one class hold parts of another that differ in an attribute.

    Attributes:
        place: class and attribute: classes of their own are needed for its values.
    """

    def __init__(self, kind: str, attribute: str) -> None:
        super().__init__(f"has modules of one class whose parts, of {kind}, differ in {attribute}")
        self.place = kind, attribute


@dataclass
class AlikeObjects:
    """Objects of one class that are made alike.

    Attributes:
        kind: the class.
        name: of the Python class.
        instances: the objects and their paths.
        varying: attributes that are arguments of the constructor, since they differ.
    """

    kind: ArchiveClass
    name: str
    instances: list[tuple[str, Thing]] = field(default_factory=list)
    varying: list[str] = field(default_factory=list)


class ModelObjects:
    """All objects below a model.

    Args:
        model: the root.
        code: of the archive.
        names: of classes.
        apart: attributes by class and name, whose values need classes of their own.
    """

    def __init__(
        self, model: Thing, code: ArchiveCode, names: PythonNames, apart: Collection[tuple[str, str]] = ()
    ) -> None:
        self._code, self._names, self._apart = code, names, apart
        self.weights: dict[str, Tensor] = {}
        self.shared: dict[str, str] = {}
        self.again: list[tuple[str, str]] = []
        """Modules that are there twice: their path, and the path where the same one stands first."""
        self._first: dict[Any, str] = {}
        self._seen: dict[int, str] = {}
        self._variant_of: dict[int, AlikeObjects] = {}
        self._by_key: dict[Any, AlikeObjects] = {}
        self.variants: list[AlikeObjects] = []
        """Inner ones first."""
        self.root = self._visit(model, "")
        for variant in self.variants:
            variant.varying = _varying(variant)

    def variant_of(self, thing: Thing) -> AlikeObjects:
        """How this object is made."""
        return self._variant_of[id(thing)]

    def own_name(self, path: str, weight: str) -> str | None:
        """The attribute of the object at `path` that is this weight."""
        first = self.shared.get(weight, "")
        name = first.removeprefix(path)
        return name if first.startswith(path) and name.isidentifier() else None

    def _visit(self, thing: Thing, path: str) -> AlikeObjects:
        if id(thing) in self._seen:
            if id(thing) not in self._variant_of:
                raise BadArchive("has a module that contains itself")
            self.again.append((path, self._seen[id(thing)]))
            self._again(thing, path)
            return self._variant_of[id(thing)]
        self._seen[id(thing)] = path
        kind = self._code.classes.get(str(thing.kind))
        if kind is None or kind.kind not in ("Module", ""):
            raise BadArchive(f"holds an object of {thing.kind}, which torchlift cannot make")
        if thing.state is not None or "__setstate__" in kind.methods:
            raise BadArchive(f"holds an object of {thing.kind}, whose state only its own code can restore")
        if kind.kind == "":
            raise BadArchive(f"holds an object of {thing.kind}, a class of its own, in an attribute")
        key: list[Any] = [self._names.of(kind.name)]
        for name, value in thing.attributes.items():
            made = repr(value) if (kind.name, name) in self._apart else self._key(value, f"{path}{name}", kind)
            key.append((name, made))
        variant = self._by_key.get(tuple(key))
        if variant is None:
            variant = self._by_key[tuple(key)] = AlikeObjects(kind, self._unique(self._names.of(kind.name)))
            self.variants.append(variant)
        variant.instances.append((path, thing))
        self._variant_of[id(thing)] = variant
        return variant

    def _again(self, thing: Thing, path: str) -> None:
        """The weights of a module that is there twice, under their second names."""
        for name, value in thing.attributes.items():
            if isinstance(value, Tensor):
                self._weight(value, f"{path}.{name}" if not path.endswith(".") else f"{path}{name}")
            elif isinstance(value, Thing) and "." not in name:
                self._again(value, f"{path}.{name}" if not path.endswith(".") else f"{path}{name}")

    def _unique(self, name: str) -> str:
        taken = {variant.name for variant in self.variants}
        if name not in taken:
            return name
        number = 1
        while f"{name}V{number}" in taken:
            number += 1
        return f"{name}V{number}"

    def _key(self, value: Any, path: str, kind: ArchiveClass) -> Any:
        """What tells how an attribute is made; it can be a key of a dictionary."""
        if isinstance(value, Thing):
            member = self._code.classes.get(str(value.kind))
            if member is not None and member.kind == "Enum":
                return ("enum", ast.unparse(self.literal(value, path)))
            plain = member is not None and self._is_plain(value, member)
            if plain or str(value.kind) in (*PACKED, "torch.device"):
                return ("literal", ast.unparse(self.literal(value, path)).replace(repr(path)[1:-1], ""))
            return ("module", id(self._visit(value, f"{path}.")))
        if isinstance(value, Tensor) and value.quantizer is None:
            self._weight(value, path)
            return ("tensor", value.requires_grad)
        if isinstance(value, _PLAIN):
            return type(value).__name__
        return ("literal", ast.unparse(self.literal(value, path)).replace(repr(path)[1:-1], ""))

    def _weight(self, value: Tensor, path: str) -> None:
        place = (path.startswith("CONSTANTS."), value.key, value.dtype, value.offset, value.shape, value.stride)
        first = self._first.setdefault(place, path)
        if first == path:
            self.weights[path] = value
        else:
            self.shared[path] = first

    def _bytes(self, value: Tensor, path: str) -> ast.expr:
        self._weight(value, path)
        return ast.Subscript(name_of("weights"), _below(path), ast.Load())

    def _is_plain(self, value: Thing, kind: ArchiveClass) -> bool:
        """Whether an object is one of a class of the archive's own, and can be made of its attributes."""
        names = all(name.isidentifier() for name in value.attributes)
        return kind.kind == "" and value.state is None and "__setstate__" not in kind.methods and names

    def literal(self, value: Any, path: str) -> ast.expr:
        """An attribute as an expression. Raises `BadArchive`."""
        if value is None or isinstance(value, (bool, int, str)):
            return ast.Constant(value)
        if isinstance(value, float):
            odd = not math.isfinite(value)
            return called("float", ast.Constant(str(value))) if odd else ast.Constant(value)
        if isinstance(value, Tensor):
            if value.quantizer is not None:
                return quantised(value, path, self._bytes)
            self._weight(value, path)
            if value.requires_grad:
                return called("parameter", name_of("weights"), _below(path))
            return ast.Subscript(name_of("weights"), _below(path), ast.Load())
        if isinstance(value, (list, tuple)):
            items = [self.literal(item, f"{path}.{number}") for number, item in enumerate(value)]
            return ast.List(items, ast.Load()) if isinstance(value, list) else ast.Tuple(items, ast.Load())
        if isinstance(value, dict):
            keys: list[ast.expr | None] = [self.literal(key, path) for key in value]
            return ast.Dict(keys, [self.literal(item, f"{path}.{key}") for key, item in value.items()])
        if isinstance(value, Thing):
            kind = self._code.classes.get(str(value.kind))
            if kind is not None and kind.kind == "Enum" and value.args:
                return called(self._names.of(kind.name), self.literal(value.args[0], path))
            if str(value.kind) in PACKED:
                made, helper = packed(value, path, self._bytes, self._names.arithmetic)
                self._names.helpers |= {helper} if helper else set()
                return made
            if kind is not None and self._is_plain(value, kind):
                self._names.helpers.add("restored")
                named = {name: self.literal(one, f"{path}.{name}") for name, one in value.attributes.items()}
                return called("restored", name_of(self._names.of(kind.name)), **named)
            if str(value.kind) == "torch.device" and value.args:
                return called("torch.device", *(self.literal(one, path) for one in value.args))
        what = f"an object of {value.kind}" if isinstance(value, Thing) else f"a {type(value).__name__}"
        raise BadArchive(f"holds {what} in the attribute {path}, which torchlift cannot write down")


def _below(path: str) -> ast.expr:
    """`prefix + "name"`, whatever stands above the attribute."""
    return ast.BinOp(ast.Name("prefix", ast.Load()), ast.Add(), ast.Constant(path))


def _varying(variant: AlikeObjects) -> list[str]:
    first = variant.instances[0][1]
    return [
        name
        for name, value in first.attributes.items()
        if isinstance(value, _PLAIN)
        and name not in _OF_EVERY_MODULE
        and any(thing.attributes[name] != value for _, thing in variant.instances[1:])
    ]


def own_lists(objects: ModelObjects, variant: AlikeObjects) -> dict[str, list[str]]:
    """Lists of the object's own parameters, such as `_flat_weights` of recurrent layers: names by name of the list.

    Export finds parameters where they are registered; in a list of their own they would be constants.
    """
    found = {}
    for name, value in variant.instances[0][1].attributes.items():
        if isinstance(value, list) and value and all(isinstance(item, Tensor) for item in value):
            names = [
                [objects.own_name(path, f"{path}{name}.{n}") for n in range(len(value))]
                for path, _ in variant.instances
            ]
            if all(names[0]) and all(other == names[0] for other in names):
                found[name] = [str(one) for one in names[0]]
    return found


def constructor(objects: ModelObjects, variant: AlikeObjects) -> list[ast.stmt]:
    """The statements of `__init__`, behind that of `nn.Module`."""
    path, thing = variant.instances[0]
    made: list[ast.stmt] = []
    lists = own_lists(objects, variant)
    for name, value in thing.attributes.items():
        if name in lists:
            continue
        if name == "training":
            if value is False:
                made.append(_set("training", ast.Constant(False)))
        elif name == "_is_full_backward_hook":
            continue
        elif isinstance(value, Thing) and id(value) in objects._variant_of:
            made.append(_module(objects, name, value, variant))
        elif isinstance(value, Tensor) and value.quantizer is None:
            made.append(_tensor(name, value, variant.kind))
        elif value is None and name in variant.kind.parameters | variant.kind.buffers:
            register = "register_parameter" if name in variant.kind.parameters else "register_buffer"
            made.append(ast.Expr(called(f"self.{register}", ast.Constant(name), ast.Constant(None))))
        elif name in variant.varying:
            made.append(_set(name, ast.Name(name, ast.Load())))
        else:
            made.append(_set(name, _without(objects.literal(value, f"{path}{name}"), path)))
    return made


def _module(objects: ModelObjects, name: str, value: Thing, above: AlikeObjects) -> ast.stmt:
    variant = objects.variant_of(value)
    named = {}
    for attribute in variant.varying:
        values = [thing.attributes[name].attributes[attribute] for _, thing in above.instances]
        if any(other != values[0] for other in values[1:]):
            raise PartsDiffer(variant.kind.name, attribute)
        named[attribute] = objects.literal(values[0], "")
    made = called(variant.name, name_of("weights"), _below(f"{name}."), **named)
    if name.isidentifier():
        return _set(name, made)
    return ast.Expr(called("self.add_module", ast.Constant(name), made))


def _tensor(name: str, value: Tensor, kind: ArchiveClass) -> ast.stmt:
    if name in kind.parameters and value.dtype.startswith(("float", "bfloat", "complex")):
        named = {} if value.requires_grad else {"trains": ast.Constant(False)}
        return _set(name, called("parameter", name_of("weights"), _below(name), **named))
    named = {} if name in kind.buffers else {"persistent": ast.Constant(False)}
    weight = ast.Subscript(name_of("weights"), _below(name), ast.Load())
    return ast.Expr(called("self.register_buffer", ast.Constant(name), weight, **named))


def _without(node: ast.expr, path: str) -> ast.expr:
    """Keys of weights relative to the object."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.right, ast.Constant) and isinstance(part.left, ast.Name):
            part.right = ast.Constant(str(part.right.value).removeprefix(path))
    return node


def _set(name: str, value: ast.expr) -> ast.stmt:
    if not name.isidentifier():
        return ast.Expr(called("setattr", name_of("self"), ast.Constant(name), value))
    own = f"private{name[1:]}" if name.startswith("__") else name
    return ast.Assign([ast.Attribute(name_of("self"), own, ast.Store())], value)
