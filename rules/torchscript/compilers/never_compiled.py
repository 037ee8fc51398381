"""Code that the TorchScript compiler cannot take, so that nothing scripts it whatever else the project scripts.

Source: each kind of function given to `torch.jit.script` on torch 2.13.0, by itself and called by a scripted function
(`tests/rules/torchscript/test_compiler_hints.py`).
"""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.walk import walk


def never_compiled(view: ModuleView, node: ast.AST) -> bool:
    """Whether no function stands around `node`, or one that takes any number of arguments or passes `**` arguments on."""
    function = view.function_of(node)
    if function is None or function.args.vararg is not None or function.args.kwarg is not None:
        return True
    calls = (child for child in walk(function) if isinstance(child, ast.Call))
    return any(keyword.arg is None for call in calls for keyword in call.keywords)
