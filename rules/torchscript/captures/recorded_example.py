"""Example inputs for an export, written from what a recorded run called the value with: shapes and dtypes, not data.

`torch.export` runs a module on tensors without data, so zeros of the same shapes make the program that was proved.
"""

from __future__ import annotations

from typing import Any

from torchlift.finding import Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.captures.capture_writer import Capture
from torchlift.rules.torchscript.captures.export_arguments import CannotExport, ExportArguments
from torchlift.rules.torchscript.captures.proven_variant import proved_variant

_TENSOR = lazy_pattern(r"(\w+)\[([\d,]*)\]")


def recorded_example(capture: Capture) -> ExportArguments | None:
    """The arguments of the export that was proved; None where its example was not recorded.

    Raises:
        CannotExport: it cannot be written out.
    """
    recorded = capture.recorded
    if recorded is None or recorded.conclusion is None or not recorded.proved:
        return None
    detail = recorded.conclusion.detail
    example = detail.get("example")
    if not isinstance(example, dict):
        return None
    return _Writer(capture, fixed=proved_variant(capture) == "fixed shapes", ints="ints" in detail).arguments(example)


class _Writer:
    def __init__(self, capture: Capture, *, fixed: bool, ints: bool) -> None:
        self._capture = capture
        self._fixed = fixed
        self._ints = ints
        auto = capture.spell("torch.export.Dim.AUTO")
        self._auto = auto.text
        self._rewrites = [] if fixed else list(auto.imports)

    def arguments(self, example: dict[str, Any]) -> ExportArguments:
        args, kwargs = example.get("args", []), example.get("kwargs", {})
        if len(kwargs) > 1:
            raise CannotExport("its example has several keywords, whose order in `dynamic_shapes` is not recorded")
        shapes = Template(_tuple([self._shape(item) for item in (*args, *kwargs.values())]))
        made = ExportArguments(
            Template(_tuple([self._value(item) for item in args])),
            None if self._fixed else shapes,
            Template(_dict({name: self._value(item) for name, item in kwargs.items()})) if kwargs else None,
        )
        made.rewrites += self._rewrites
        return made

    def _value(self, tree: Any) -> str:
        match tree:
            case str():
                return self._tensor(tree)
            case None | bool() | int() | float():
                return repr(tree)
            case list():
                return f"[{', '.join(map(self._value, tree))}]"
            case {"tuple": list() as items}:
                return _tuple(list(map(self._value, items)))
            case {"dict": dict() as items}:
                return _dict({key: self._value(item) for key, item in items.items()})
            case {"str": str() as text}:
                return repr(text)
        raise CannotExport("its example holds what cannot be written out")

    def _shape(self, tree: Any) -> str:
        match tree:
            case str():
                return f"[{self._auto}] * {len(_sizes(tree))}" if _sizes(tree) else "[]"
            case int() if self._ints and not isinstance(tree, bool):
                return self._auto
            case list():
                return f"[{', '.join(map(self._shape, tree))}]"
            case {"tuple": list() as items}:
                return _tuple(list(map(self._shape, items)))
            case {"dict": dict() as items}:
                return _dict({key: self._shape(item) for key, item in items.items()})
        return "None"

    def _tensor(self, text: str) -> str:
        found = _TENSOR.fullmatch(text)
        if found is None:
            raise CannotExport(f"its example is on another device than the CPU ({text})")
        zeros = self._capture.spell("torch.zeros")
        self._rewrites += zeros.imports
        dtype = ""
        if found[1] != "float32":
            spelled = self._capture.spell(f"torch.{found[1]}")
            self._rewrites += spelled.imports
            dtype = f", dtype={spelled.text}"
        return f"{zeros.text}({', '.join(_sizes(text)) or '()'}{dtype})"


def _sizes(text: str) -> list[str]:
    found = _TENSOR.fullmatch(text)
    return [size for size in found[2].split(",") if size] if found is not None else []


def _tuple(elements: list[str]) -> str:
    return f"({elements[0]},)" if len(elements) == 1 else f"({', '.join(elements)})"


def _dict(items: dict[str, str]) -> str:
    return f"{{{', '.join(f'{key!r}: {item}'.replace(chr(39), chr(34), 2) for key, item in items.items())}}}"
