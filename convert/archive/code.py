"""The code of a TorchScript archive: Python text of a small language, parsed and looked through, never run.

The language is what torch's printer writes (torch/csrc/jit/serialization/python_print.cpp, read for torch 2.13): classes,
functions, assignments, `if`, `while`, `for i in range(...)`, calls of operators as `torch.NAME(...)` and
`ops.NAMESPACE.NAME(...)`, and a dozen words. Whatever is not in it is refused by name.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlift.convert.archive.zip_entries import BadArchive

_DEEPEST_BRACKETS = 150
_LONGEST_FILE = 16 << 20

WORDS = frozenset(
    "annotate unchecked_cast uninitialized int float bool str complex len range print isinstance getattr hasattr fork "
    "awaitable inf nan list dict".split()
)
"""Names that the printer uses besides those of the archive."""
_TYPES = frozenset(
    "Tensor int float bool str complex number NoneType Any Optional List Dict Tuple Union Future Await Device Final "
    "Stream Generator t Scalar AnyClassType Storage QScheme Layout ScalarType".split()
)
_ROOTS = frozenset(("torch", "ops", "CONSTANTS", "__torch__"))
LIBRARIES = frozenset(("torchvision", "torch_scatter", "torch_sparse", "torch_cluster", "torch_spline_conv"))
"""Libraries that bring operators which compute, and nothing else; namespaces have the names of the packages."""
NAMESPACES = LIBRARIES | {"aten", "prim", "quantized", "mkldnn", "onednn", "prepacked"}
"""Namespaces of operators that are known to compute, and nothing else."""
_FORBIDDEN = frozenset(("save", "from_file", "load", "fork", "wait_stream"))
_NODES = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.Expr, ast.Return, ast.If, ast.While, ast.For, ast.Pass, ast.Assert,
    ast.Call, ast.keyword, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp,
    ast.With, ast.withitem, ast.Slice, ast.USub, ast.Load, ast.Store, ast.IfExp, ast.Break, ast.Continue, ast.AnnAssign,
)  # fmt: skip


@dataclass
class ArchiveFunction:
    """A function or method.

    Attributes:
        name: its name.
        node: its code.
        parameters: names, types and defaults as text, in order, without `self`; a default is None where there is none.
        returns: type as text.
    """

    name: str
    node: ast.FunctionDef
    parameters: list[tuple[str, str, str | None]]
    returns: str

    @property
    def schema(self) -> str:
        """As its author would write it: `forward(x: Tensor) -> Tensor`."""
        parts = [
            f"{name}: {kind}" + (f"={given}" if given is not None else "") for name, kind, given in self.parameters
        ]
        return f"{self.name}({', '.join(parts)}) -> {self.returns}"


@dataclass
class ArchiveClass:
    """A class.

    Attributes:
        name: qualified, as pickles name it: `__torch__.net.Net`.
        kind: `Module`, `NamedTuple`, `Enum`, `Interface`, or empty.
        attributes: types as text, by name.
        constants: values as code, of attributes that never change.
        methods: by name.
        parameters, buffers: names of the attributes that are.
    """

    name: str
    kind: str
    attributes: dict[str, str] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    methods: dict[str, ArchiveFunction] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    buffers: frozenset[str] = frozenset()


@dataclass
class ArchiveCode:
    """All code of an archive.

    Attributes:
        classes, functions: by qualified name.
        refused: why the code is not what torch's printer writes, or does more than compute; None if it does not.
    """

    classes: dict[str, ArchiveClass] = field(default_factory=dict)
    functions: dict[str, ArchiveFunction] = field(default_factory=dict)
    refused: str | None = None

    def operators(self) -> list[str]:
        """Every operator that is called, as `aten::add`, sorted."""
        nodes = [function.node for function in self.everything()]
        return sorted({name for node in nodes for part in ast.walk(node) if (name := operator_of(part))})

    def everything(self) -> Iterator[ArchiveFunction]:
        """All functions and methods."""
        yield from self.functions.values()
        for kind in self.classes.values():
            yield from kind.methods.values()


def parsed(files: dict[str, str]) -> ArchiveCode:
    """The code of these files, by their names below `code/`."""
    code = ArchiveCode()
    for name, text in files.items():
        prefix = name.removesuffix(".py").replace("/", ".")
        try:
            for node in _tree(name, text).body:
                if isinstance(node, ast.ClassDef):
                    made = _class(prefix, node)
                    code.classes[made.name] = made
                elif _is_version(node) or _imports_own(node):
                    continue
                elif isinstance(node, ast.FunctionDef):
                    code.functions[f"{prefix}.{node.name}"] = _function(node, method=False)
                else:
                    raise BadArchive(f"has {_called(node)} outside of functions in {name}, line {node.lineno}")
        except BadArchive as error:
            code.refused = code.refused or str(error)
    return code


def operator_of(node: ast.AST) -> str | None:
    """`aten::add` for a call `torch.add(...)` or `ops.aten.add(...)`; None for anything else."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return None
    if isinstance(function.value, ast.Name) and function.value.id == "torch":
        return f"aten::{function.attr}"
    inner = function.value
    if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "ops":
        return f"{inner.attr}::{function.attr}"
    return None


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` of an expression that is nothing but that."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _tree(name: str, text: str) -> ast.Module:
    if len(text) > _LONGEST_FILE:
        raise BadArchive(f"has more than {_LONGEST_FILE >> 20} MB of code in {name}")
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > _DEEPEST_BRACKETS:
            raise BadArchive(f"has code in {name} that is nested deeper than any printer writes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise BadArchive(f"has code in {name}{line} that cannot be parsed") from None


def _is_version(node: ast.stmt) -> bool:
    """`op_version_set = 0`, as torch 1.2 to 1.5 wrote it."""
    return (
        isinstance(node, ast.Assign)
        and dotted(node.targets[0]) == "op_version_set"
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
    )


def _imports_own(node: ast.stmt) -> bool:
    """`import __torch__.net`: other code of the archive, as torch 1.2 to 1.5 wrote it. It is there anyway."""
    return isinstance(node, ast.Import) and all(
        one.asname is None and one.name.startswith("__torch__.") for one in node.names
    )


def _class(prefix: str, node: ast.ClassDef) -> ArchiveClass:
    kind = node.bases[0].id if node.bases and isinstance(node.bases[0], ast.Name) else ""
    if (
        node.decorator_list
        or node.keywords
        or kind not in ("", "Module", "NamedTuple", "Enum", "Interface", "ModuleInterface")
    ):
        raise BadArchive(f"has a class {node.name} of a kind that TorchScript does not have")
    made = ArchiveClass(f"{prefix}.{_plain(node.name)}", kind)
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            if _is_pythons(part.name) and part.name not in _METHOD_DUNDERS:
                raise BadArchive(f"has a method {part.name}, which Python keeps for itself")
            made.methods[part.name] = _function(part, method=True, check=not kind.endswith("Interface"))
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            if part.target.id not in ("__constants__", "__overloads__"):
                _annotated(made, part.target.id, part.annotation, part.value)
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            name = part.targets[0].id
            if name == "__annotations__" and isinstance(part.value, (ast.List, ast.Dict)):
                continue
            if name in ("__parameters__", "__buffers__"):
                listed = part.value.elts if isinstance(part.value, ast.List) else []
                names = frozenset(str(one.value) for one in listed if isinstance(one, ast.Constant))
                setattr(made, name.strip("_"), names)
            else:
                made.constants[_plain(name)] = _literal(part.value)
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Subscript):
            slot = part.targets[0]
            if not (dotted(slot.value) == "__annotations__" and isinstance(slot.slice, ast.Constant)):
                raise BadArchive(f"has a class {node.name} with an assignment that TorchScript does not write")
            made.attributes[_plain(str(slot.slice.value))] = type_text(part.value)
        elif not isinstance(part, ast.Pass):
            raise BadArchive(f"has a class {node.name} with {_called(part)} in it")
    return made


def _annotated(made: ArchiveClass, name: str, annotation: ast.expr, value: ast.expr | None) -> None:
    if value is not None:
        made.constants[_plain(name)] = _literal(value)
    else:
        made.attributes[_plain(name)] = type_text(annotation)


def type_text(node: ast.expr) -> str:
    """A type as text. Raises `BadArchive` for what is none."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id not in _TYPES and part.id not in ("__torch__", "torch"):
            raise BadArchive(f"has a type with the name {part.id!r}, which is none of TorchScript's")
        if not isinstance(part, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Load, ast.Constant)):
            raise BadArchive("has a type that TorchScript does not write")
    return ast.unparse(node)


def _function(node: ast.FunctionDef, *, method: bool, check: bool = True) -> ArchiveFunction:
    given = node.args
    if node.decorator_list or given.vararg or given.kwarg or given.posonlyargs:
        raise BadArchive(f"has a function {node.name} with parameters that TorchScript does not write")
    everything = [*given.args, *given.kwonlyargs]
    defaults: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    defaults += [*given.defaults, *given.kw_defaults]
    parameters = []
    for parameter, value in list(zip(everything, defaults, strict=True))[1 if method else 0 :]:
        kind = type_text(parameter.annotation) if parameter.annotation is not None else "Tensor"
        parameters.append((parameter.arg, kind, None if value is None else ast.unparse(_literal(value))))
    if check:
        _Look(node).check()
    return ArchiveFunction(node.name, node, parameters, "Any" if node.returns is None else type_text(node.returns))


def _literal(node: ast.expr) -> ast.expr:
    for part in ast.walk(node):
        if isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)):
            continue
        # `annotate(List[int], [])`, `torch.device("cpu")`, `inf`, `__torch__.Color.RED`
        if isinstance(part, ast.Call) and dotted(part.func) in ("annotate", "torch.device", "float", "complex", "int"):
            continue
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and not _dunder(part):
            continue
        raise BadArchive("has a default or constant that TorchScript does not write")
    return node


def _called(node: ast.AST) -> str:
    """The kind of a node, for a sentence: `an Import`."""
    name = type(node).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _dunder(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _is_pythons(name)


def _is_pythons(name: str) -> bool:
    """Whether Python gives the name a meaning of its own."""
    return name.startswith("__") and name.endswith("__") and name != "__torch__"


def _plain(name: str) -> str:
    if _is_pythons(name):
        raise BadArchive(f"has an attribute with the name {name}, which Python keeps for itself")
    return name


class _Look:
    """Looks through one function."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self._node = node
        self._known = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        self._known |= {
            part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        self._known |= {part.name for part in ast.walk(node) if isinstance(part, ast.FunctionDef)} - {node.name}
        self._types: set[int] = set()

    def check(self) -> None:
        reserved = self._known & _ROOTS
        if reserved:
            raise self._wrong(self._node, f"a variable with the name {min(reserved)!r}")
        for statement in self._node.body:
            for part in ast.walk(statement):
                if id(part) not in self._types:
                    self._part(part)

    def _part(self, node: ast.AST) -> None:
        if not isinstance(node, _NODES):
            raise self._wrong(node, _called(node))
        if isinstance(node, ast.FunctionDef):
            self._inner(node)
        elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
            self._skip(node.annotation)
        elif isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id not in self._known and node.id not in WORDS and node.id not in _ROOTS:
                raise self._wrong(node, f"the name {node.id!r}, which nothing in it defines")
        elif isinstance(node, ast.For) and not (isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "range"):
            raise self._wrong(node, "a loop over something else than a range")

    def _inner(self, node: ast.FunctionDef) -> None:
        if node.decorator_list or node.args.vararg or node.args.kwarg or node.name != "__forked_function":
            raise self._wrong(node, f"a function {node.name} inside of a function")
        if node.returns is not None:
            self._skip(node.returns)

    def _call(self, node: ast.Call) -> None:
        name = dotted(node.func)
        if any(keyword.arg is None for keyword in node.keywords):
            raise self._wrong(node, "an argument with two stars")
        if name in ("annotate", "unchecked_cast", "uninitialized") and node.args:
            self._skip(node.args[0])
        elif name == "isinstance" and len(node.args) == 2:
            self._skip(node.args[1])
        elif name in ("getattr", "hasattr"):
            wanted = node.args[1] if len(node.args) == 2 else None
            if not isinstance(wanted, ast.Constant) or not isinstance(wanted.value, str) or _is_pythons(wanted.value):
                raise self._wrong(node, f"a {name} of something that is no attribute of a model")
        operator = operator_of(node)
        if operator is not None:
            namespace, _, short = operator.partition("::")
            if namespace not in NAMESPACES:
                raise self._wrong(
                    node, f"the operator {operator}, which comes from a library that torchlift does not know"
                )
            if short in _FORBIDDEN:
                raise self._wrong(node, f"the operator {operator}, which does more than compute")

    def _attribute(self, node: ast.Attribute) -> None:
        name = dotted(node) or ""
        if name.startswith(("__torch__.", "torch.", "ops.", "CONSTANTS.")):
            last = name.rpartition(".")[2]
            makes = last == "__new__" and name.startswith("__torch__.")
            allowed = makes or last in _OPERATOR_DUNDERS or not _is_pythons(last)
            if name.startswith(("torch.", "ops.")) and name.count(".") > 2:
                raise self._wrong(node, f"{name}, which is no operator")
            if not allowed:
                raise self._wrong(node, f"{name}, which Python keeps for itself")
        elif _is_pythons(node.attr) and node.attr not in _METHOD_DUNDERS:
            raise self._wrong(node, f"the attribute {node.attr}, which Python keeps for itself")

    def _skip(self, node: ast.expr) -> None:
        type_text(node)
        self._types |= {id(part) for part in ast.walk(node)}

    def _wrong(self, node: ast.AST, what: str) -> BadArchive:
        line = getattr(node, "lineno", self._node.lineno)
        return BadArchive(f"has code in `{self._node.name}`, line {line}, with {what}")


_OPERATOR_DUNDERS = frozenset(
    "__is__ __isnot__ __not__ __contains__ __getitem__ __and__ __or__ __xor__ __lshift__ __rshift__ __range_length "
    "__derive_index __round_to_zero_floordiv __interpolate __upsample __upsample_nearest __upsample_bilinear "
    "__iand__ __ior__ __ixor__ __ilshift__ __irshift__".split()
)
_METHOD_DUNDERS = frozenset(
    "__len__ __contains__ __getitem__ __setitem__ __call__ __enter__ __exit__ __getstate__ __setstate__ __init__".split()
)
