"""Types of parameters in comments, as the TorchScript compiler reads them (`# type: (Tensor, int) -> Tensor`).

In such a comment `Tensor` is `torch.Tensor` whatever the file binds to that name: run on torch 2.13.0, 2026-11-21. The
forms of comments: `get_type_line` in torch/jit/annotations.py of torch 2.13.0, read 2026-11-21.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping

from torchlift.lazy_pattern import lazy_pattern
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_COMMENT = lazy_pattern(r"#\s*type:(?!\s*ignore)")
_TENSORS = frozenset({"Tensor", "torch.Tensor"})
_NOTHING: Mapping[str, str] = {}


def comment_types(view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Mapping[str, str] | None:
    """Types other than tensors that comments give to the parameters of a function, by name.

    Empty without such comments, too; None if they were not understood: they do not cover every parameter, stand elsewhere, or
    stand beside annotations.
    """
    source = view.source.slice(view.span(node))
    comments = len(_COMMENT.findall(source))
    if not comments:
        return _NOTHING
    indent = " " * node.col_offset
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in user code are not ours to report
            tree = ast.parse(f"if 1:\n{indent}{source}" if indent else source, type_comments=True)
    except (SyntaxError, ValueError):
        return None
    parsed = next((child for child in walk(tree) if isinstance(child, type(node))), None)
    if parsed is None:
        return None
    parameters = [*parsed.args.posonlyargs, *parsed.args.args]
    if parsed.returns is not None or any(parameter.annotation is not None for parameter in parameters):
        return None
    own = {parameter.arg: parameter.type_comment for parameter in parameters if parameter.type_comment}
    if comments != len(own) + (1 if parsed.type_comment else 0):
        return None
    return _joined([parameter.arg for parameter in parameters], own, parsed.type_comment or "")


def _joined(names: list[str], own: dict[str, str], signature: str) -> Mapping[str, str] | None:
    """The types of both kinds of comments; one for every parameter but `self`."""
    try:
        function = ast.parse(signature, mode="func_type")
        given = [ast.unparse(argument) for argument in function.argtypes]
    except (SyntaxError, ValueError):
        return None
    if given in (["..."], ["Ellipsis"]):
        types = own
    elif own:
        return None
    elif len(given) in {len(names), len(names) - 1}:
        types = dict(zip(names[len(names) - len(given) :], given, strict=True))
    else:
        return None
    if any(name not in types for name in names[1:]) or (names and names[0] not in types and names[0] != "self"):
        return None
    return {name: written for name, written in types.items() if written not in _TENSORS}
