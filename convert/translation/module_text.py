"""The whole text of the Python module that stands for an archive."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torchlift.convert.archive.code import ArchiveClass, ArchiveCode
from torchlift.convert.archive.torchscript import TorchScript
from torchlift.convert.archive.values import Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.control_flow import FLOW_HELPERS, NEEDS
from torchlift.convert.translation.functions import translated
from torchlift.convert.translation.line_breaks import broken
from torchlift.convert.translation.names import PythonNames
from torchlift.convert.translation.objects import AlikeObjects, ModelObjects, PartsDiffer, constructor, own_lists
from torchlift.convert.translation.operators import called, name_of
from torchlift.convert.translation.quantised import QUANTISED_HELPERS, QUANTISED_NEEDS
from torchlift.convert.translation.vocabulary import HELPERS

_PARAMETER = '''def parameter(weights: dict[str, Tensor], name: str, *, trains: bool = True) -> nn.Parameter:
    """The weight as a parameter; it is one parameter wherever it is used."""{shared}
    if not isinstance(weights[name], nn.Parameter):
        weights[name] = nn.Parameter(weights[name], requires_grad=trains)
    return weights[name]'''
_SHARED = "\n    name = SHARED.get(name, name)"
_CHANGES = frozenset(
    f"aten::{name}"
    for name in "_set_item append extend insert pop Delete update setdefault clear reverse popitem".split()
)
"""Operators by which lists and dictionaries change."""
_NOT_WRITTEN = ("__getstate__", "__setstate__")


@dataclass
class WrittenModule:
    """A Python module.

    Attributes:
        text: all of it but its head; `build(weights)` makes the model.
        weights: tensors of the archive by the names that the text asks for.
        flows: whether a branch or loop may become an operator.
    """

    text: str
    weights: dict[str, Tensor]
    flows: bool = False


def written(
    archive: TorchScript, number: Callable[[Tensor], Any], *, flow: bool = False, arithmetic: bool = False
) -> WrittenModule:
    """The archive as Python.

    Args:
        archive: with code that nothing speaks against.
        number: the value of a tensor of one element.
        flow: whether branches and loops that data decides are written for `torch.cond` and `while_loop`.
        arithmetic: whether operators on packed weights are written as arithmetic.

    Raises:
        BadArchive: something in it has no counterpart; the text says what.
    """
    if archive.refused is not None or archive.model is None:
        raise BadArchive(archive.refused or "has no object of a model in it")
    apart: set[tuple[str, str]] = set()
    while True:
        try:
            return _written(archive, archive.model, number, apart, flow, arithmetic)
        except PartsDiffer as error:
            if error.place in apart:
                raise
            apart.add(error.place)


def _written(
    archive: TorchScript,
    model: Thing,
    number: Callable[[Tensor], Any],
    apart: set[tuple[str, str]],
    flow: bool,
    arithmetic: bool,
) -> WrittenModule:
    constants = {f"c{place}": value for place, value in enumerate(archive.constants)}
    names = PythonNames(archive.code, constants, number, flow=flow, arithmetic=arithmetic)
    bodies = _merged(archive.code, names, str(model.kind))
    objects = ModelObjects(model, archive.code, names, apart)
    parts = [*_types(archive.code, names), *_functions(archive.code, names)]
    parts += [_variant(objects, variant, bodies) for variant in objects.variants]
    parts.append(_build(objects, {name: constants[name] for name in names.used_constants}))
    weights = dict(objects.weights)
    flows = any(name in NEEDS for name in names.helpers)
    needs = NEEDS | QUANTISED_NEEDS
    names.helpers |= {needed for name in names.helpers for needed in needs.get(name, ())}
    known = {**HELPERS, **FLOW_HELPERS, **QUANTISED_HELPERS}
    helpers = [text.strip("\n") for name, text in known.items() if name in names.helpers]
    shared = broken(f"SHARED = {objects.shared!r}") if objects.shared else ""
    parameter = _PARAMETER.format(shared=_SHARED if shared else "")
    used = any("parameter(weights" in part for part in parts)
    return WrittenModule(
        "\n\n\n".join(filter(None, [shared, *helpers, parameter * used, *parts])) + "\n", weights, flows
    )


def _merged(code: ArchiveCode, names: PythonNames, root: str) -> dict[str, list[ast.stmt]]:
    """Methods by name of class; classes whose methods are the same get the same name."""
    changes = bool(_CHANGES & set(code.operators()))
    bodies = {}
    first: dict[str, str] = {}
    for name, kind in code.classes.items():
        if kind.kind != "Module":
            continue
        methods: list[ast.stmt] = [
            translated(function, names, kind, own=changes and name == root)
            for key, function in kind.methods.items()
            if key not in _NOT_WRITTEN
        ]
        bodies[name] = methods
        text = "\n".join(map(ast.unparse, map(ast.fix_missing_locations, methods)))
        same = f"{name.rpartition('.')[2]}\n{sorted(kind.parameters)}{sorted(kind.buffers)}\n{text}"
        if same in first:
            names.rename(name, names.of(first[same]))
        else:
            first[same] = name
    return bodies


def _types(code: ArchiveCode, names: PythonNames) -> Iterator[str]:
    for kind in code.classes.values():
        if kind.kind == "Enum":
            members: list[ast.stmt] = [
                ast.Assign([ast.Name(name, ast.Store())], value) for name, value in kind.constants.items()
            ]
            yield _class(names.of(kind.name), ["Enum"], members)
        elif kind.kind == "NamedTuple":
            fields: list[ast.stmt] = [
                ast.AnnAssign(ast.Name(name, ast.Store()), names.type_of(ast.parse(text, mode="eval").body), None, 1)
                for name, text in kind.attributes.items()
            ]
            yield _class(names.of(kind.name), ["NamedTuple"], fields)
        elif kind.kind == "":
            yield _class(names.of(kind.name), [], [translated(one, names, kind) for one in kind.methods.values()])


def _functions(code: ArchiveCode, names: PythonNames) -> Iterator[str]:
    for name, function in code.functions.items():
        yield _text(translated(function, names, None, names.of(name)))


def _variant(objects: ModelObjects, variant: AlikeObjects, bodies: dict[str, list[ast.stmt]]) -> str:
    kind: ArchiveClass = variant.kind
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg("self"), ast.arg("weights", ast.parse("dict[str, Tensor]", mode="eval").body)],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[ast.Constant("")],
    )
    arguments.args.append(ast.arg("prefix", name_of("str")))
    for name in variant.varying:
        arguments.args.append(ast.arg(name, name_of(type(variant.instances[0][1].attributes[name]).__name__)))
        arguments.defaults.append(objects.literal(variant.instances[0][1].attributes[name], ""))
    body: list[ast.stmt] = [ast.Expr(called(ast.Attribute(called("super"), "__init__", ast.Load())))]
    body += constructor(objects, variant)
    first = ast.FunctionDef("__init__", arguments, body, [], ast.Constant(None))
    lists: list[ast.stmt] = []
    for name, own in own_lists(objects, variant).items():
        items: list[ast.expr] = [ast.Attribute(name_of("self"), one, ast.Load()) for one in own]
        of_self = ast.arguments([], [ast.arg("self")], None, [], [], None, [])
        lists.append(
            ast.FunctionDef(
                name,
                of_self,
                [ast.Return(ast.List(items, ast.Load()))],
                [name_of("property")],
                ast.parse("list[Tensor]", mode="eval").body,
            )
        )
    return _class(variant.name, ["nn.Module"], [first, *lists, *bodies[kind.name]])


def _build(objects: ModelObjects, constants: dict[str, Any]) -> str:
    lines = [
        "def build(weights: dict[str, Tensor]) -> nn.Module:",
        '    """The model with these weights, by the names of the archive."""',
    ]
    if objects.shared:
        lines.append("    weights |= {name: weights[first] for name, first in SHARED.items()}")
    lines += [f"    CONSTANTS.{name} = {_constant(objects, name, value)}" for name, value in constants.items()]
    lines.append(f"    model = {objects.root.name}(weights)")
    for path, first in objects.again:
        above, _, last = path.strip(".").rpartition(".")
        owner = f'model.get_submodule("{above}")' if above else "model"
        lines.append(f'    {owner}.add_module("{last}", model.get_submodule("{first.strip(".")}"))')
    lines.append("    return model")
    head = 'class CONSTANTS:\n    """Tensors that the code names."""\n\n\n' if constants else ""
    return head + "\n".join(lines)


def _constant(objects: ModelObjects, name: str, value: Any) -> str:
    path = f"CONSTANTS.{name}"
    if isinstance(value, Tensor) and value.quantizer is None:
        objects.weights[path] = value
        return f'weights["{path}"]'
    return ast.unparse(ast.fix_missing_locations(objects.literal(value, path))).replace("prefix + ", "")


def _class(name: str, bases: list[str], body: list[ast.stmt]) -> str:
    if not body:
        body = [ast.Pass()]
    return _text(ast.ClassDef(name, [name_of(base) for base in bases], [], body, []))


def _text(node: ast.stmt) -> str:
    return broken(ast.unparse(ast.fix_missing_locations(node)).replace("\n\n    def __init__", "\n    def __init__"))
