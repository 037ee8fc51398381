"""`torch.jit._overload` and what else picks an implementation for the TorchScript compiler."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from torchlift.finding import DeleteStatement, Finding, Fix, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import DECORATED, Hint
from torchlift.torchscript_intent import DROP
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_OVERLOADS = frozenset({"torch.jit._overload", "torch.jit._overload_method"})
_DISPATCH = "torch.jit.boolean_dispatch"
_BLOCK = "torch.jit._IgnoreContextManager"

RULE = Rule(
    code="TL121",
    name="torchscript-overload",
    summary="`torch.jit._overload` and other ways to choose code for the TorchScript compiler",
    why=(
        "`_overload` and `_overload_method` declare signatures, `boolean_dispatch` chooses between two functions at compile "
        "time, and `_IgnoreContextManager` hides a block from the compiler. In Python the first two do nothing, the third is "
        "an `if`, and the last is an empty context. All are private, give no warning, and go with TorchScript."
    ),
    fix=(
        "`typing.overload` takes the place of the overload decorators: safe when the implementation follows in the same "
        "block, nothing in the project compiles TorchScript and the code is not installable. Where the user says that "
        "TorchScript is dropped, a stub goes that has its types in a comment. The others are left to you, with what to write."
    ),
    targets=(*sorted(_OVERLOADS), _DISPATCH, _BLOCK),
    triggers=("jit", "_jit_internal"),
    collectors=COLLECTORS,
    sources=(*SOURCES, "torch/_jit_internal.py of torch 2.13.0"),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    name = use.target.rpartition(".")[2]
    if use.target == _DISPATCH:
        message = "`torch._jit_internal.boolean_dispatch` is private to TorchScript and goes with it."
        otherwise = "Not called here: write a function that asks its flag."
    elif use.target == _BLOCK:
        message = (
            "`torch.jit._IgnoreContextManager` is private to TorchScript and goes with it; in Python it does nothing."
        )
        otherwise = "Not called here: `contextlib.nullcontext` does nothing, too."
    else:
        message = f"`torch.jit.{name}` declares a signature for the TorchScript compiler, and goes with it."
        otherwise = "Not used as a decorator here: `typing.overload` declares signatures for type checkers."
    stray = Hint("TL121", message, otherwise, places=DECORATED).stray(use, context)
    if stray is not None:
        yield from stray
        return
    view = context.view
    span = view.span(use.node)
    answer = removal(context, use.node)
    if use.target in _OVERLOADS:
        yield from _overload(use, context, message)
        return
    advice = (
        _dispatch(view, use.call) if use.target == _DISPATCH else "Take the block out of the `with`: it runs as it is."
    )
    if answer.safety is Safety.MANUAL:
        advice = f"{answer.reason} {advice}"
    yield Finding("TL121", view.path, span, message, Severity.WARNING, advice, waits_for=answer.root)


def _overload(use: Use, context: Context, message: str) -> Iterator[Finding]:
    view = context.view
    span = view.span(use.node)
    answer = removal(context, use.node)
    if answer.safety is Safety.MANUAL:
        advice = f"{answer.reason} Then `typing.overload` keeps the signatures for type checkers."
        yield Finding("TL121", view.path, span, message, Severity.INFO, advice, waits_for=answer.root)
        return
    function = view.parent(use.node)
    implemented = (
        use.kind == "decorator"
        and isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        and _is_implemented(view, function)
    )
    if implemented and drops(context) and _speaks_in_comments(function):
        fix = Fix("Delete the stub", answer.safety, (_without_stub(view, function),))
        yield Finding("TL121", view.path, span, message, Severity.INFO, answer.reason, fix)
        return
    spelling = view.spell("typing.overload", use.node, use) if implemented and isinstance(use.node, ast.expr) else None
    if spelling is None:
        reason = (
            "`overload` means something else here" if implemented else "no implementation follows in the same block"
        )
        advice = f"Use `typing.overload`, or drop the stub; not rewritten because {reason}."
        yield Finding("TL121", view.path, span, message, Severity.INFO, advice)
        return
    rewrites: tuple[Rewrite, ...] = (ReplaceExpression(span, Template(spelling.text)), *spelling.imports)
    fix = Fix("Use `typing.overload`", answer.safety, rewrites)
    yield Finding("TL121", view.path, span, message, Severity.INFO, answer.reason, fix)


def _speaks_in_comments(stub: ast.AST | None) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Whether the signature that a stub declares is not written where Python sees it."""
    if not isinstance(stub, (ast.FunctionDef, ast.AsyncFunctionDef)) or len(stub.decorator_list) > 1:
        return False
    return stub.returns is None and all(
        node.annotation is None for node in walk(stub.args) if isinstance(node, ast.arg)
    )


def _without_stub(view: ModuleView, stub: ast.FunctionDef | ast.AsyncFunctionDef) -> Rewrite:
    return DeleteStatement(view.span(stub), len(comments_above(view, stub)))


def _is_implemented(view: ModuleView, stub: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the same block goes on to define the function, so that the stub never stays under its name."""
    block = view.block(stub)
    for statement in block[block.index(stub) + 1 :]:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == stub.name:
            names = [view.resolve(decorator) for decorator in statement.decorator_list]
            if not any(name is not None and name.name in _OVERLOADS | {"typing.overload"} for name in names):
                return True
    return False


def _dispatch(view: ModuleView, call: ast.Call | None) -> str:
    """What to write for a `boolean_dispatch`, with its own names where they are visible."""
    given: dict[str, ast.expr] = {}
    if call is not None:
        order = ("arg_name", "arg_index", "default", "if_true", "if_false", "module_name", "func_name")
        given = dict(zip(order, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    flag, default = given.get("arg_name"), given.get("default")
    chosen, other = given.get("if_true"), given.get("if_false")
    if (
        isinstance(flag, ast.Constant)
        and isinstance(flag.value, str)
        and isinstance(chosen, (ast.Name, ast.Attribute))
        and isinstance(other, (ast.Name, ast.Attribute))
    ):
        shown = f"{flag.value}={view.text(default)}" if default is not None else flag.value
        return (
            f"Write a function with the parameter `{shown}` that returns `{view.text(chosen)}(...)` if it is true and "
            f"`{view.text(other)}(...)` otherwise."
        )
    return "Write a function that asks its flag and calls one of the two."


_STUBS = """\
import torch
{imports}

@{name}
def double(x: int) -> int: ...  # numbers


@{name}
def double(x: float) -> float:
    pass


def double(x):
    return 2 * x
"""

_COMMENTED = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n\n"
    "{stubs}    # a tensor, or several\n    def forward(self, x):  # noqa: F811\n        return sum(x) if isinstance(x, list) else x\n"
)

EXAMPLES = (
    Bad(
        _COMMENTED.format(
            stubs="".join(
                f"    @torch.jit._overload_method  # noqa: F811\n    def forward(self, x):\n        # type: ({kind}) -> Tensor\n"
                "        pass\n\n"
                for kind in ("List[Tensor]", "Tensor")
            )
        ),
        _COMMENTED.format(stubs="").replace("  # noqa: F811", ""),
        why="stubs that have their types in a comment, which TorchScript alone read",
        run="result = Net()(torch.ones(2)), Net()([torch.ones(2), torch.ones(2)])",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\n@torch.jit._overload\ndef double(x):\n    # type: (int) -> int\n    pass\n",
        why="a stub that is the last definition of its name",
        torchscript=DROP,
    ),
    Bad(
        _STUBS.format(imports="", name="torch.jit._overload"),
        _STUBS.format(imports="from typing import overload\n", name="overload")
        .replace("\n\n\n\n", "\n\n\n")
        .removeprefix("import torch\n"),
        why="stubs that type checkers read",
        run="result = double(2), double(2.5)",
        torchscript=DROP,
    ),
    Bad(
        _STUBS.format(imports="", name="torch.jit._overload"),
        "from typing import overload\n\n" + _STUBS.format(imports="", name="overload").replace("\n\n\n\n", "\n\n\n"),
        why="stubs of a function",
        run="result = double(2), double(2.5)",
    ),
    Bad(
        "from typing import overload\n\nfrom torch.jit import _overload_method\n\n\nclass Net:\n"
        "    @_overload_method\n    def run(self, x: int) -> int:\n        pass\n\n"
        "    @_overload_method\n    def run(self, x: str) -> str:\n        pass\n\n"
        "    def run(self, x):\n        return x\n",
        "from typing import overload\n\n\nclass Net:\n"
        "    @overload\n    def run(self, x: int) -> int:\n        pass\n\n"
        "    @overload\n    def run(self, x: str) -> str:\n        pass\n\n"
        "    def run(self, x):\n        return x\n",
        why="stubs of a method, typing imported already",
        run="result = Net().run(2), Net().run('a')",
    ),
    Bad(
        "from torch._jit_internal import _overload as stub\n\n\n@stub\ndef double(x: int) -> int: ...\n",
        why="a stub without an implementation",
    ),
    Bad(
        _STUBS.format(imports="", name="torch.jit._overload") + "\n\ntorch.jit.script(double).save('x.pt')\n",
        why="the function is still scripted",
    ),
    Bad(
        "from torch._jit_internal import boolean_dispatch\n\n\ndef plain(x, both=False):\n    return x\n\n\n"
        "def pair(x, both=False):\n    return x, x\n\n\n"
        'take = boolean_dispatch(arg_name="both", arg_index=1, default=False, if_true=pair, if_false=plain, '
        'module_name=__name__, func_name="take")\n',
        why="a choice by a flag",
    ),
    Bad(
        "import torch\n\n\ndef f(x: int):\n    with torch.jit._IgnoreContextManager(x='inp:int'):\n        print(x)\n",
        why="a block hidden from the compiler",
    ),
    Ok("from typing import overload\n\n\n@overload\ndef jit(x: int) -> int: ...\n", "typing.overload"),
    Ok("def _overload(f):\n    return f\n\n\n@_overload\ndef jit(x):\n    return x\n", "an own decorator"),
    Ok("from numba import jit\n\njit._overload(print)\n", "another package's jit"),
    Ok("import contextlib\n\nwith contextlib.nullcontext():\n    jit = 1\n", "an empty context"),
)
