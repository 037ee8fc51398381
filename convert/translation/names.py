"""What things of an archive are called in the Python that is written: classes, functions, types, constants."""

from __future__ import annotations

import ast
import builtins
import keyword
import math
from collections.abc import Callable
from typing import Any

from torchlift.convert.archive.code import ArchiveCode, dotted
from torchlift.convert.archive.values import Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.control_flow import FLOW_HELPERS
from torchlift.convert.translation.operators import called, name_of
from torchlift.convert.translation.quantised import PACKED, QUANTISED_HELPERS
from torchlift.convert.translation.vocabulary import HELPERS, TYPES

_OURS = frozenset(
    "torch nn F Tensor Any Optional Union NamedTuple Enum Path json struct math warnings builtins weights prefix CONSTANTS build "
    "load parameter read_weights SHARED self_ then_part else_part goes_on next_step".split()
)
_ERASED = {
    "List": "list",
    "Dict": "dict",
    "Tuple": "tuple",
    "NoneType": "type(None)",
    "Tensor": "Tensor",
    "Device": "torch.device",
}


class PythonNames:
    """Python names for one archive.

    Args:
        code: all of its code.
        constants: tensors by name, `c0` and so on.
        number: the value of a tensor that has one element.
        flow: whether branches and loops that data decides are written for `torch.cond` and `while_loop`.
        arithmetic: whether operators on packed weights are written as arithmetic, which can be exported.
    """

    def __init__(
        self,
        code: ArchiveCode,
        constants: dict[str, Any],
        number: Callable[[Tensor], Any],
        *,
        flow: bool = False,
        arithmetic: bool = False,
    ) -> None:
        self.flow, self.arithmetic = flow, arithmetic
        self.constants = constants
        self.number = number
        self.helpers: set[str] = set()
        self.used_constants: dict[str, None] = {}
        self.methods = {name for kind in code.classes.values() for name in kind.methods}
        self.methods |= {
            name for name in ("forward",) if any(one.kind == "ModuleInterface" for one in code.classes.values())
        }
        self.forward_is_call = not any("forward" in one.methods and one.kind == "" for one in code.classes.values())
        self.stored = _stored(code)
        self._code = code
        self._names: dict[str, str] = {}
        taken = {*_OURS, *HELPERS, *FLOW_HELPERS, *QUANTISED_HELPERS, *dir(builtins), *keyword.kwlist}
        for name in [*code.classes, *code.functions]:
            short = name.rpartition(".")[2].lstrip("_") or "thing"
            unique, number_ = short, 1
            while unique in taken:
                number_ += 1
                unique = f"{short}{number_}"
            taken.add(unique)
            self._names[name] = unique
        self.reserved = taken - (set(dir(builtins)) - _BUILTINS_USED)

    def of(self, qualified: str) -> str:
        """The name of a class, function or member of an enumeration. Raises `BadArchive`."""
        if qualified in self._names:
            return self._names[qualified]
        above, _, last = qualified.rpartition(".")
        kind = self._code.classes.get(above)
        if kind is not None and last in kind.constants:
            return f"{self._names[above]}.{last}"
        raise BadArchive(f"names {qualified}, which is not in it")

    def attribute(self, name: str) -> str:
        """The name of an attribute or method: Python would take a name with two underscores for a private one of each class."""
        return f"private{name[1:]}" if name.startswith("__") and not name.endswith("__") else name

    def rename(self, qualified: str, name: str) -> None:
        """Another name for a class that is equal to one that is written already."""
        self._names[qualified] = name

    def constant(self, name: str) -> ast.expr:
        """`CONSTANTS.c0`; a number is written where it is used."""
        value = self.constants.get(name)
        if isinstance(value, Thing) and str(value.kind) in PACKED:
            self.used_constants[name] = None
            return name_of(f"CONSTANTS.{name}")
        if not isinstance(value, Tensor):
            raise BadArchive(f"uses the constant {name}, which is no tensor in it")
        if not value.shape and value.quantizer is None:
            literal = self.number(value)
            kind = name_of(f"torch.{value.dtype}")
            return called("torch.tensor", _number(literal), dtype=kind)
        self.used_constants[name] = None
        return name_of(f"CONSTANTS.{name}")

    def type_of(self, node: ast.expr) -> ast.expr:
        """A type, as Python writes it."""
        name = dotted(node)
        if name is not None and name.startswith("__torch__."):
            kind = self._code.classes.get(name)
            return name_of("nn.Module" if kind is None or kind.kind.endswith("Interface") else self._names[name])
        if isinstance(node, ast.Name):
            return name_of(TYPES.get(node.id, node.id)) if node.id != "NoneType" else ast.Constant(None)
        if isinstance(node, ast.Subscript):
            above = dotted(node.value) or ""
            if above in ("Future", "Await", "Final"):
                return self.type_of(node.slice)
            return ast.Subscript(name_of(TYPES.get(above, above)), self.type_of(node.slice), ast.Load())
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.type_of(one) for one in node.elts], ast.Load())
        return name_of("Any")

    def class_of(self, node: ast.expr) -> ast.expr:
        """A type for `isinstance`; what it contains is not looked at."""
        if isinstance(node, ast.Subscript):
            node = node.value
        name = dotted(node) or ""
        if name in ("int", "float"):
            return ast.Tuple([name_of(name), name_of(f"torch.Sym{name.capitalize()}")], ast.Load())
        if name.startswith("__torch__."):
            return self.type_of(node)
        found = ast.parse(_ERASED.get(name, name), mode="eval").body
        if name not in _ERASED and name not in ("bool", "str", "complex"):
            raise BadArchive(f"asks whether something is a {name}, for which torchlift knows no Python")
        return found


def _number(value: Any) -> ast.expr:
    if isinstance(value, float) and not math.isfinite(value):
        return called("float", ast.Constant(str(value)))
    return ast.Constant(value)


_BUILTINS_USED = frozenset(
    "int float bool str complex len range print isinstance getattr hasattr list dict min max abs sum type slice super all any".split()
)


def _stored(code: ArchiveCode) -> set[str]:
    """Attributes that some method sets."""
    return {
        part.attr
        for function in code.everything()
        for part in ast.walk(function.node)
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    }
