"""One expression of an archive's function as a Python expression."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlift.convert.archive.code import ArchiveClass, ArchiveFunction, dotted
from torchlift.convert.archive.devices import is_elsewhere
from torchlift.convert.archive.values import Tensor
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.names import PythonNames
from torchlift.convert.translation.operators import called, name_of, operator_call
from torchlift.convert.translation.quantised import AS_ARITHMETIC
from torchlift.convert.translation.vocabulary import (
    ATTRIBUTES,
    BINARY,
    COMPARISONS,
    DTYPES,
    EITHER,
    MATHEMATICS,
    METHODS,
)

_SIZES = ("size", "len", "dim", "numel")
_ON_TENSORS = ("max", "min", "sum", "abs", "all", "any")
_SAME_CALL = {"str": "str", "dict": "dict"}
_WHOLE_ARITHMETIC = ("add", "sub", "mul", "floor_divide", "remainder")
_ROUNDED = ("floor", "trunc")


class ExpressionWriter:
    """Writes the expressions of one function anew.

    Args:
        function: of the archive.
        names: of everything in it.
        owner: the class, for a method.
    """

    def __init__(self, function: ArchiveFunction, names: PythonNames, owner: ArchiveClass | None) -> None:
        self._names = names
        self._owner = owner
        self._wholes: set[str] = set()
        """Variables that are tensors without dimensions in TorchScript, and whole numbers here: sizes in traces."""
        self._counts: set[str] = set()
        """Those among them that are never negative."""
        self._sizes: set[str] = set()
        """Variables that are numbers in TorchScript too, and sizes."""
        self._dtypes: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._inlined: dict[str, ast.expr] = {}
        own = {part.arg for part in ast.walk(function.node) if isinstance(part, ast.arg)}
        stored = [
            part.id
            for part in ast.walk(function.node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
        for variable in own | set(stored):
            if variable in names.reserved:
                self._renamed[variable] = f"{variable}_"
        self._once = {variable for variable in stored if stored.count(variable) == 1} - own
        self._never = own - set(stored)
        loads = [
            part.id for part in ast.walk(function.node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
        ]
        self._read_once = {variable for variable in stored if loads.count(variable) == 1}
        self._self = function.node.args.args[0].arg if owner is not None and function.node.args.args else ""

    def expression(self, node: ast.expr) -> ast.expr:
        """An expression, written anew."""
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return ast.Subscript(self.expression(node.value), self._index(node.slice), ast.Load())
        if isinstance(node, ast.Slice):
            parts = [None if one is None else self.expression(one) for one in (node.lower, node.upper, node.step)]
            return ast.Slice(*parts)
        if isinstance(node, ast.List):
            return ast.List([self.expression(one) for one in node.elts], ast.Load())
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.expression(one) for one in node.elts], ast.Load())
        if isinstance(node, ast.Dict):
            keys = [None if one is None else self.expression(one) for one in node.keys]
            return ast.Dict(keys, [self.expression(one) for one in node.values])
        if isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(ast.USub(), self.expression(node.operand))
        if isinstance(node, ast.IfExp):
            return ast.IfExp(self.expression(node.test), self.expression(node.body), self.expression(node.orelse))
        raise BadArchive(f"has a {type(node).__name__} that torchlift cannot write anew")

    def _name(self, node: ast.Name) -> ast.expr:
        if node.id in self._inlined:
            return self._inlined[node.id]
        plain = ast.Name(self._renamed.get(node.id, node.id), ast.Load())
        if node.id in self._wholes:
            return self._help("as_tensor", plain)
        if node.id in ("inf", "nan"):
            return called("float", ast.Constant(node.id))
        if node.id == "__forked_function":
            return name_of("forked_function")
        return plain

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        name = dotted(node) or ""
        if name.startswith("CONSTANTS."):
            return self._names.constant(node.attr)
        if name.startswith("__torch__."):
            return name_of(self._names.of(name))
        return ast.Attribute(self.expression(node.value), self._names.attribute(node.attr), ast.Load())

    def _whole(self, node: ast.expr) -> ast.expr | None:
        """A whole number in the place of a tensor without dimensions; None where it may be something else."""
        if isinstance(node, ast.Name) and node.id in self._wholes:
            return ast.Name(self._renamed.get(node.id, node.id), ast.Load())
        name = dotted(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name is None:
            return None
        if self._is_rounded_division(name, node):
            return self._whole_arithmetic(ast.FloorDiv(), node.args)
        if node.keywords:
            return None
        if name == "ops.prim.NumToTensor":
            inner = node.args[0]
            return self.expression(inner) if self.is_size(inner) or _is_call(inner, "int") else None
        short = name.removeprefix("torch.")
        # What is changed in place may stand for another value only where nobody reads the old one again.
        first = next(iter(node.args), None)
        if isinstance(first, ast.Call) or (isinstance(first, ast.Name) and first.id in self._read_once):
            short = short.removesuffix("_")
        if short in _WHOLE_ARITHMETIC and len(node.args) == 2 and name.startswith("torch."):
            return self._whole_arithmetic(BINARY.get(short, ast.FloorDiv)(), node.args)
        return None

    def _whole_arithmetic(self, operator: ast.operator, sides: list[ast.expr]) -> ast.expr | None:
        found = [self._whole(one) for one in sides]
        if not any(found):
            return None
        left, right = (made or self._whole_constant(one) for made, one in zip(found, sides, strict=True))
        return ast.BinOp(left, operator, right) if left and right else None

    def _is_rounded_division(self, name: str, node: ast.Call) -> bool:
        """`torch.div(size, 4, rounding_mode="trunc")`, of what is never negative, so that both roundings are one."""
        if name != "torch.div" or len(node.args) != len(("size", "parts")):
            return False
        modes = [one.value.value for one in node.keywords if isinstance(one.value, ast.Constant)]
        return len(node.keywords) == 1 and set(modes) <= set(_ROUNDED) and bool(modes) and self.is_count(node)

    def is_size(self, node: ast.expr) -> bool:
        """Whether a number is a size, a length or a number of dimensions."""
        return _is_call(node, *(f"torch.{one}" for one in _SIZES)) or (
            isinstance(node, ast.Name) and node.id in self._sizes
        )

    def is_count(self, node: ast.expr) -> bool:
        """Whether a whole number can be seen to be none below zero: a size, or sums, products and parts of sizes."""
        if isinstance(node, ast.Name):
            return node.id in self._counts
        if not isinstance(node, ast.Call):
            number = self._whole_constant(node)
            return isinstance(number, ast.Constant) and type(number.value) is int and number.value > 0
        name = (dotted(node.func) or "").removesuffix("_")
        if name in ("ops.prim.NumToTensor", "int"):
            return self.is_size(node.args[0]) or self.is_count(node.args[0])
        return name in ("torch.add", "torch.mul", "torch.div", "torch.floor_divide") and all(
            map(self.is_count, node.args)
        )

    def _whole_constant(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node
        name = dotted(node) or ""
        value = self._names.constants.get(name.removeprefix("CONSTANTS.")) if name.startswith("CONSTANTS.") else None
        if isinstance(value, Tensor) and not value.shape and value.dtype == "int64":
            return ast.Constant(self._names.number(value))
        return None

    def _call(self, node: ast.Call) -> ast.expr:
        name = dotted(node.func) or ""
        if name.startswith("torch.") and name.count(".") == 1:
            return self._operator(node.func.attr if isinstance(node.func, ast.Attribute) else "", node)
        if name.startswith("ops.prim."):
            return self._primitive(name.removeprefix("ops.prim."), node)
        if name.startswith("ops."):
            _, namespace, short = name.split(".")
            if namespace == "quantized" and short in AS_ARITHMETIC and self._names.arithmetic:
                return self._help(short, *self._args(node), **self._named(node))
            return operator_call(namespace, short, self._args(node), self._named(node))
        if name == "uninitialized":
            return ast.Constant(None)
        word: Callable[[ast.Call], ast.expr] | None = getattr(self, f"_word_{name}", None)
        if word is not None and name.isidentifier():
            return word(node)
        if name.startswith("__torch__.") and name.endswith(".__new__"):
            kind = name_of(self._names.of(name.removesuffix(".__new__")))
            return called(ast.Attribute(kind, "__new__", ast.Load()), kind)
        if name.startswith("__torch__."):
            return called(name_of(self._names.of(name)), *self._args(node), **self._named(node))
        if name == "torch.autograd.grad":
            return called(name, *self._args(node), **self._named(node))
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, node)
        return called(self.expression(node.func), *self._args(node), **self._named(node))

    def _method(self, function: ast.Attribute, node: ast.Call) -> ast.expr:
        if function.attr == "tolist" and not node.args:
            return called(ast.Attribute(self.expression(function.value), "tolist", ast.Load()))
        if function.attr not in self._names.methods:
            raise BadArchive(f"calls the method {function.attr}, which no class of it has")
        value = self.expression(function.value)
        short = function.attr == "forward" and self._names.forward_is_call
        return called(
            value if short else ast.Attribute(value, self._names.attribute(function.attr), ast.Load()),
            *self._args(node),
            **self._named(node),
        )

    def _args(self, node: ast.Call) -> list[ast.expr]:
        return [self.expression(one) for one in node.args]

    def _named(self, node: ast.Call) -> dict[str, ast.expr]:
        return {str(one.arg): self.expression(one.value) for one in node.keywords}

    def _help(self, name: str, *args: ast.expr, **named: ast.expr) -> ast.expr:
        self._names.helpers.add(name)
        return called(name, *args, **named)

    def _operator(self, name: str, node: ast.Call) -> ast.expr:
        """`torch.NAME(...)`."""
        special: Callable[[ast.Call], ast.expr] | None = getattr(self, f"_operator_{name.strip('_')}", None)
        if special is not None:
            return special(node)
        args, named = self._args(node), self._named(node)
        if name in BINARY and len(args) == 2 and not named:
            return ast.BinOp(args[0], BINARY[name](), args[1])
        if name in COMPARISONS and len(args) == 2:
            left, right = self._dtypes_by_name(node, args)
            return ast.Compare(left, [COMPARISONS[name]()], [right])
        if name == "percentFormat":
            return ast.BinOp(args[0], ast.Mod(), ast.Tuple(args[1:], ast.Load()))
        if name in _SAME_CALL:
            return called(_SAME_CALL[name], *args)
        if name in METHODS:
            made = called(ast.Attribute(args[0], name, ast.Load()), *args[1:], **named)
            return called("list", made) if name in ("keys", "items") else made
        if name in MATHEMATICS and len(args) == 1:
            return self._help("calculate", ast.Constant(name), *args)
        if name in EITHER and name != "slice":
            if name in _ON_TENSORS and not (len(args) == 1 and isinstance(args[0], ast.List)):
                return operator_call("aten", name, args, named)
            return self._help("either", ast.Constant(name), *args, **named)
        return operator_call("aten", name, args, named)

    def _index(self, node: ast.expr) -> ast.expr:
        """What stands in square brackets; archives look dtypes up by their numbers."""
        made = self.expression(node)
        return self._help("as_code", made) if self._is_dtype(node) else made

    def _is_dtype(self, node: ast.expr) -> bool:
        return (isinstance(node, ast.Call) and dotted(node.func) == "ops.prim.dtype") or (
            isinstance(node, ast.Name) and node.id in self._dtypes
        )

    def _dtypes_by_name(self, node: ast.Call, args: list[ast.expr]) -> list[ast.expr]:
        if not any(map(self._is_dtype, node.args)):
            return args
        return [
            name_of(f"torch.{DTYPES[one.value]}")
            if isinstance(one, ast.Constant) and type(one.value) is int and 0 <= one.value < len(DTYPES)
            else one
            for one in args
        ]

    def _operator_pow(self, node: ast.Call) -> ast.expr:
        return self._help("power", *self._args(node))

    def _operator_to(self, node: ast.Call) -> ast.expr:
        value, *wanted = self._args(node)
        kind = wanted[0] if len(wanted) == 1 and not node.keywords else None
        if isinstance(kind, ast.Constant) and type(kind.value) is int and 0 <= kind.value < len(DTYPES):
            return called(ast.Attribute(value, "to", ast.Load()), name_of(f"torch.{DTYPES[kind.value]}"))
        return operator_call("aten", "to", [value, *wanted], self._named(node))

    def _operator_device(self, node: ast.Call) -> ast.expr:
        names = [
            ast.Constant("cpu") if isinstance(one, ast.Constant) and is_elsewhere(one.value) else self.expression(one)
            for one in node.args
        ]
        return called("torch.device", *names)

    def _operator_neg(self, node: ast.Call) -> ast.expr:
        return ast.UnaryOp(ast.USub(), self.expression(node.args[0]))

    def _operator_not(self, node: ast.Call) -> ast.expr:
        if self._names.flow:
            return self._help("opposite", self.expression(node.args[0]))
        return ast.UnaryOp(ast.Not(), self.expression(node.args[0]))

    def _operator_contains(self, node: ast.Call) -> ast.expr:
        where, item = self._args(node)
        return ast.Compare(item, [ast.In()], [where])

    def _operator_getitem(self, node: ast.Call) -> ast.expr:
        return ast.Subscript(self.expression(node.args[0]), self._index(node.args[1]), ast.Load())

    def _operator_len(self, node: ast.Call) -> ast.expr:
        return self._help("length", *self._args(node))

    def _operator_size(self, node: ast.Call) -> ast.expr:
        value, *place = self._args(node)
        sizes = called(ast.Attribute(value, "size", ast.Load()), *place)
        return sizes if place else called("list", sizes)

    def _operator_select(self, node: ast.Call) -> ast.expr:
        args = self._args(node)
        plain = not self._names.flow or len(args) != len(("value", "dimension", "place")) or node.keywords
        return operator_call("aten", "select", args, self._named(node)) if plain else self._help("selected", *args)

    def _operator_slice(self, node: ast.Call) -> ast.expr:
        return self._help("part", *self._args(node), **self._named(node))

    def _operator_format(self, node: ast.Call) -> ast.expr:
        text, *values = self._args(node)
        return called(ast.Attribute(text, "format", ast.Load()), *values)

    def _operator_warn(self, node: ast.Call) -> ast.expr:
        return called("warnings.warn", self.expression(node.args[0]))

    def _operator_wait(self, node: ast.Call) -> ast.expr:
        return self.expression(node.args[0])

    def _operator_tensor(self, node: ast.Call) -> ast.expr:
        named = {key: value for key, value in self._named(node).items() if not _none(value)}
        kind = named.get("dtype")
        if isinstance(kind, ast.Constant) and type(kind.value) is int and 0 <= kind.value < len(DTYPES):
            named["dtype"] = name_of(f"torch.{DTYPES[kind.value]}")
        return called("torch.tensor", *self._args(node), **named)

    def _operator_range_length(self, node: ast.Call) -> ast.expr:
        return called("len", called("range", *self._args(node)))

    def _operator_derive_index(self, node: ast.Call) -> ast.expr:
        index, start, step = self._args(node)
        return ast.BinOp(start, ast.Add(), ast.BinOp(index, ast.Mult(), step))

    def _primitive(self, name: str, node: ast.Call) -> ast.expr:
        """`ops.prim.NAME(...)`."""
        if name == "NumToTensor":
            return self._help("as_tensor", self._whole(node) or self.expression(node.args[0]))
        args = self._args(node)
        if name in ATTRIBUTES and len(args) == 1:
            return ast.Attribute(args[0], ATTRIBUTES[name], ast.Load())
        if name == "shape":
            return called("list", called(ast.Attribute(args[0], "size", ast.Load())))
        if name == "data":
            return called(ast.Attribute(args[0], "detach", ast.Load()))
        if name in ("min", "max", "abs"):
            return called(name, *args)
        if name == "rangelist":
            return called("list", called("range", *args))
        if name == "StringIndex":
            return ast.Subscript(args[0], args[1], ast.Load())
        if name in ("unchecked_unwrap_optional", "unchecked_cast"):
            return args[0]
        if name == "tolist":
            return called(ast.Attribute(args[0], "tolist", ast.Load()))
        raise BadArchive(f"calls the operator prim::{name}, for which torchlift knows no Python")

    def _word_annotate(self, node: ast.Call) -> ast.expr:
        kind, value = node.args
        wanted = {"int": "as_int", "float": "as_float", "number": "as_number"}.get(dotted(kind) or "")
        if wanted is None or isinstance(value, ast.Constant):
            return self.expression(value)
        return self._whole(value) or self._help(wanted, self.expression(value))

    def _word_unchecked_cast(self, node: ast.Call) -> ast.expr:
        return self.expression(node.args[1])

    def _word_int(self, node: ast.Call) -> ast.expr:
        return self._whole(node.args[0]) or self._help("as_int", *self._args(node))

    def _word_float(self, node: ast.Call) -> ast.expr:
        value = node.args[0]
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return called("float", value)
        whole = self._whole(value)
        return self._help("as_float", whole or self.expression(value))

    def _word_bool(self, node: ast.Call) -> ast.expr:
        value = self._whole(node.args[0]) or self.expression(node.args[0])
        return self._help("as_truth", value) if self._names.flow else called("bool", value)

    def _word_isinstance(self, node: ast.Call) -> ast.expr:
        value, kinds = node.args
        wanted = kinds.elts if isinstance(kinds, (ast.List, ast.Tuple)) else [kinds]
        found = [self._names.class_of(one) for one in wanted]
        return called(
            "isinstance", self.expression(value), found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
        )

    def _word_fork(self, node: ast.Call) -> ast.expr:
        return called(*(self.expression(one) for one in node.args))


def _is_call(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) in names


def _none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
