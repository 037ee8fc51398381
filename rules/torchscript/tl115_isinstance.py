"""`torch.jit.isinstance(x, T)`: the built-in `isinstance`, with every element looked at where `T` is a container."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, ReplaceExpression, Safety, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.annotated_values import takes_any
from torchlift.rules.torchscript.hints.container_tests import CannotTest, ContainerTest, container_test
from torchlift.rules.torchscript.hints.hint_removal import Removal, removal
from torchlift.rules.torchscript.hints.stray_uses import HelpAndFix, Hint
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL115",
    name="torchscript-isinstance",
    summary="`torch.jit.isinstance` instead of Python's own test",
    why=(
        "The function exists because TorchScript refines the type of a value by it. In Python it is a slow `isinstance` "
        "that looks into containers; strict export and `torch.compile(fullgraph=True)` cannot follow it, non-strict "
        "export can. It is documented as deprecated since torch 2.11 and gives no warning."
    ),
    fix=(
        "For a plain class the built-in does the same: safe when nothing in the project compiles TorchScript and the code "
        "is not installable, and in functions that TorchScript cannot compile (`*args`, `**options`). For List, Dict, Tuple and Optional, nested once, a test of every element is written, which "
        "needs review because it does not warn about empty containers. Other types are left to you."
    ),
    targets=("torch.jit.isinstance",),
    triggers=("jit", "_jit_internal"),
    deprecated=TorchVersion(2, 11),
    collectors=COLLECTORS,
    sources=(*SOURCES, "`_isinstance` and `container_checker` in torch/_jit_internal.py of torch 2.13.0"),
)

_HINT = Hint(
    "TL115",
    "`torch.jit.isinstance` goes with TorchScript; `torch.compile(fullgraph=True)` and strict export stop at it already.",
    "Not called here: pass the built-in `isinstance`, or a function that tests the elements too.",
)
_ASSUMPTION = (
    "Needs review: the new test asks every element, as eager mode did, without its warning about an empty container; "
    "scripted code compared declared types, so there an empty container matched only its own."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    return _HINT.findings(use, context, _judged)


def _judged(use: Use, context: Context) -> HelpAndFix:
    view, call = context.view, use.call
    assert call is not None
    answer = Removal(Safety.SAFE) if _never_compiled(view, call) else removal(context, use.node)
    try:
        test = container_test(view, call)
    except CannotTest as reason:
        return (
            "Write a test of the container and of every element, `isinstance(x, list) and all(isinstance(item, T) for "
            f"item in x)`, by hand: {reason}."
        ), None
    if answer.safety is Safety.MANUAL:
        return f"{answer.reason} Then write `{test.shown(view)}`.", None, answer.root
    title = "Use the built-in `isinstance`" if test.simple else "Test the container and its elements"
    rewrite = _rewrite(view, call, test)
    if test.exact or (answer.safety is Safety.SAFE and drops(context)):  # what eager mode answers is what counts
        return answer.reason, Fix(title, answer.safety, (rewrite,))
    return _ASSUMPTION + answer.also, Fix(title, Safety.UNSAFE, (rewrite,))


def _rewrite(view: ModuleView, call: ast.Call, test: ContainerTest) -> EditCall | ReplaceExpression:
    if test.simple:
        return EditCall(view.span(call), function=Template("isinstance"), callee=view.span(call.func))
    text = f"({test.text})" if test.operator and not _may_stand_alone(view, call, test) else test.text
    return ReplaceExpression(view.span(call), Template(text, test.parts))


def _may_stand_alone(view: ModuleView, call: ast.Call, test: ContainerTest) -> bool:
    match view.parent(call):
        case ast.BoolOp(op=ast.And()):
            return test.operator == "and"
        case ast.BoolOp():
            return test.operator == "or"
        case ast.IfExp(test=condition):
            return condition is call
        case ast.comprehension():
            return True
        case _:
            return takes_any(view, call)


def _function(test: str) -> str:
    names = ", ".join(name for name in ("Dict", "List", "Optional", "Tuple") if f"{name}[" in test)
    imports = f"from typing import {names}\n" if names else ""
    return f"import torch\n{imports}\n\ndef f(x):\n    return {test}\n"


def _never_compiled(view: ModuleView, node: ast.AST) -> bool:
    """Whether no function stands around `node`, or one that takes any number of arguments or passes `**` arguments on.

    Such code TorchScript cannot take, so nothing scripts it whatever else the project scripts: each kind was given to
    `torch.jit.script` on torch 2.13.0, by itself and called by a scripted function (tests/rules/torchscript/
    test_what_hints_mean.py).
    """
    function = view.function_of(node)
    if function is None or function.args.vararg is not None or function.args.kwarg is not None:
        return True
    calls = (child for child in walk(function) if isinstance(child, ast.Call))
    return any(keyword.arg is None for call in calls for keyword in call.keywords)


EXAMPLES = (
    Bad(
        _function("torch.jit.isinstance(x, torch.Tensor)"),
        _function("isinstance(x, torch.Tensor)"),
        why="a plain class",
        run="result = f(torch.ones(1)), f(1)",
    ),
    Bad(
        "import torch\nfrom torch.jit import isinstance as is_a\n\n\ndef f(x):\n"
        "    return is_a(x, (int, str)) and not is_a(x, bool | None)\n",
        "import torch\n\n\ndef f(x):\n"
        "    return isinstance(x, (int, str)) and not (x is None or isinstance(x, bool))\n",
        why="from-import under another name, several classes, an Optional",
        run="result = f(1), f(True), f('a'), f(1.0)",
    ),
    Bad(
        _function("torch.jit.isinstance(x, List[int])"),
        _function("isinstance(x, list) and all(isinstance(item, int) for item in x)"),
        safety="unsafe",
        why="a list",
        run="result = f([1, 2]), f([1, 'a']), f((1,)), f([])",
    ),
    Bad(
        _function("not torch.jit.isinstance(x, Dict[str, torch.Tensor])"),
        _function(
            "not (isinstance(x, dict) and all(isinstance(key, str) and isinstance(value, torch.Tensor) for key, value "
            "in x.items()))"
        ),
        safety="unsafe",
        why="a dictionary, negated",
        run="result = f({'a': torch.ones(1)}), f({'a': 1}), f({1: torch.ones(1)}), f(3)",
    ),
    Bad(
        _function("torch.jit.isinstance(x, Tuple[int, Optional[str]])"),
        _function(
            "isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], int) and (x[1] is None or isinstance(x[1], str))"
        ),
        safety="unsafe",
        why="a tuple with an Optional in it",
        run="result = f((1, 'a')), f((1, None)), f((1, 2)), f((1,)), f([1, 'a'])",
    ),
    Bad(
        _function("torch.jit.isinstance(x, list[list[int]])"),
        _function(
            "isinstance(x, list) and all(isinstance(item, list) and all(isinstance(entry, int) for entry in item) for "
            "item in x)"
        ),
        safety="unsafe",
        why="a list of lists, with built-in types",
        run="result = f([[1], [2]]), f([[1], ['a']]), f([1])",
    ),
    Bad(
        "import torch\n\n\ndef load(x, read, **options):\n    if torch.jit.isinstance(x, (str, bytes)):\n"
        "        return read(x, **options)\n    return x\n\n\nrelu = torch.jit.script(torch.nn.ReLU())\n",
        "import torch\n\n\ndef load(x, read, **options):\n    if isinstance(x, (str, bytes)):\n"
        "        return read(x, **options)\n    return x\n\n\nrelu = torch.jit.script(torch.nn.ReLU())\n",
        why="a function that TorchScript cannot compile, in a project that scripts others",
        run="result = load('a', len), load(3, len)",
    ),
    Bad(
        _function("torch.jit.isinstance(x, List[int])"),
        _function("isinstance(x, list) and all(isinstance(item, int) for item in x)").removeprefix(
            "import torch\n\n\n"
        ),
        why="a list, where the user drops TorchScript",
        run="result = f([1, 2]), f([1, 'a']), f((1,)), f([])",
        torchscript=DROP,
    ),
    Bad(_function("torch.jit.isinstance(x, Tuple[int, ...])"), why="a tuple of any length"),
    Bad(
        _function("torch.jit.isinstance(x, List[int])") + "\n\ntorch.jit.script(f).save('x.pt')\n",
        why="the function is still scripted",
    ),
    Bad(
        "from torch.jit import isinstance\n\n\ndef f(x):\n    return isinstance(x, int)\n",
        why="imported over the built-in",
    ),
    Bad("import torch\n\ntest = torch.jit.isinstance\n", why="passed on as a function"),
    Ok("jit = isinstance(3, int)\n", "the built-in"),
    Ok("class jit:\n    isinstance = staticmethod(isinstance)\n\n\njit.isinstance(3, int)\n", "an own class"),
    Ok("import numpy as torch\n\ntorch.jit.isinstance(3, int)\n", "another module named torch"),
    Ok('"""torch.jit.isinstance(x, List[int]) refines types."""\n', "a docstring"),
)
