"""Exceptions and warnings of TorchScript: `except` clauses that miss, filters for warnings that never come."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, Finding, Fix, Safety, Severity
from torchlift.rules.analysis.places.use_places import UsePlace, place_of
from torchlift.rules.analysis.project.foreign_packages import assumption
from torchlift.rules.analysis.values.literals import is_plain_value
from torchlift.rules.analysis.wording.nearest_place import place_alone
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers import runtime_uses
from torchlift.rules.torchscript.compilers.runtime_uses import first_runtime_use
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTOR, first_trace, first_use
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.dropped_types import only_others
from torchlift.torchscript_intent import DROP
from torchlift.view import ModuleView, Use

_WARNINGS = ("torch.jit.TracerWarning", "torch.jit.ScriptWarning")
_RUN_TIME = ("torch.jit.Error", *bindings("error"), "torch.JITException")
_TRACING = ("torch.jit.TracingCheckError",)
_COMPILING = tuple(
    f"torch.jit.frontend.{name}"
    for name in ("FrontendError", "FrontendTypeError", "NotSupportedError", "UnsupportedNodeError")
)
# How pytest and `python -W` write a filter.
_FILTERS = tuple(
    f"{action}::{name}" for action in ("ignore", "error", "default", "always", "module", "once") for name in _WARNINGS
)

RULE = Rule(
    code="TL137",
    name="torchscript-exception",
    summary="An exception or warning class of TorchScript",
    why=(
        "`torch.jit.Error` and the errors of TorchScript's front end are raised by TorchScript only. Programs of "
        "`torch.export` raise other classes, so `except` clauses and `pytest.raises` miss them. Filters for `TracerWarning` "
        "have nothing left to filter."
    ),
    fix=(
        "A statement that only filters `TracerWarning` or `ScriptWarning` is removed once nothing in the project traces or "
        "scripts: safe when the project imports no package that could, otherwise the finding names those packages. For "
        "exceptions there is no fix: which of the new classes is meant depends on what the clause is for. Where TorchScript is "
        "dropped and nothing of it is left, its classes go from tuples of others."
    ),
    targets=(*_WARNINGS, *_RUN_TIME, *_TRACING, *_COMPILING, *_FILTERS),
    triggers=("jit", "_C & JITException", "torch.JITException"),
    collectors=(COLLECTOR, runtime_uses.COLLECTOR),
    sources=(
        *SOURCES,
        "a guard that fails, a wrong number of inputs, a branch on data and an exception in `forward`, each raised and "
        "caught on torch 2.13.0; guards on 2.6 to 2.15",
    ),
)

_FILTERING = frozenset({"warnings.filterwarnings", "warnings.simplefilter"})

_AT_RUN_TIME = (
    "an exported module raises `AssertionError` where a guard on its inputs fails (`RuntimeError` before torch 2.9) and "
    "`ValueError` for another number or nesting of inputs; what the model's own code raises comes with its own class, while it is captured"
)
_AT_CAPTURE = (
    "`torch.export.export` raises `torch._dynamo.exc.UserError` or `GuardOnDataDependentSymNode`, both of them "
    "`RuntimeError`, for what it cannot capture, and `ValueError` for inputs of the wrong form"
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    place = place_of(use, context)
    view = context.view
    if place is None or _is_read_of_variable(use):
        return
    span = view.span(use.node)
    name = use.target.rpartition("::")[2]
    if name in _WARNINGS:
        yield _of_warning(use, name, place, context)
        return
    if use.target in _COMPILING:
        message = f"`{use.target}` is raised by `torch.jit.script` only."
        when = _AT_CAPTURE
    elif use.target in _TRACING:
        message = f"`{use.target}` is raised by `torch.jit.trace(check_trace=True)` only."
        when = f"`torch.export.export` compares nothing after the capture, so call both and compare here; {_AT_CAPTURE}"
    else:
        message = f"`{use.target}` is raised by TorchScript code only, for anything that goes wrong in it."
        when = _AT_RUN_TIME
    advice: str | None = _advice(place, when)
    fix, waits_for = None, ""
    if drops(context) and isinstance(use.node, ast.expr) and place in {"except", "raises"}:
        left = first_runtime_use(context.project, view.path)
        if left is not None:
            advice = f"Keep it as long as {left} may run TorchScript; migrate that first."
            waits_for = place_alone(left)
        else:
            fix = _without(use.node, view)
            advice = (
                None
                if fix is not None
                else "Nothing in the project is seen to raise it any more: remove what waits for it."
            )
    yield Finding("TL137", view.path, span, message, Severity.WARNING, advice, fix, waits_for=waits_for)


def _without(node: ast.expr, view: ModuleView) -> Fix | None:
    """The tuple of classes around `node` without it, and without others that go with TorchScript."""
    parent = view.parent(node)
    if not isinstance(parent, ast.Tuple):
        return None
    gone = {*_RUN_TIME, *_TRACING, *_COMPILING}
    others = [item for item in parent.elts if item is not node and view.certain_name(item) not in gone]
    if not others or any(isinstance(item, ast.Starred) for item in others):
        return None
    return Fix("Wait for the other classes only", Safety.SAFE, (only_others(view, parent, others),))


def _is_read_of_variable(use: Use) -> bool:
    """Whether the class is reached through a variable of this file, whose assignment is reported."""
    binding = use.resolution.binding if use.resolution is not None else None
    return isinstance(use.node, ast.Name) and binding is not None and binding.kind == "assign"


def _advice(place: UsePlace, when: str) -> str:
    match place:
        case "except":
            return f"This clause does not catch what takes its place: {when}."
        case "raises":
            return f"Expect what takes its place: {when}."
        case "raise" | "call":
            return "Raise `RuntimeError` here: nothing outside TorchScript makes exceptions of this class."
        case "string":
            return f"The name stands in a string: write the class that is meant now: {when}."
        case "import":
            return f"Stop passing the class on: {when}."
        case _:
            return f"Name what takes its place: {when}."


def _of_warning(use: Use, name: str, place: UsePlace, context: Context) -> Finding:
    view = context.view
    span = view.span(use.node)
    traced = name == _WARNINGS[0]
    makers = "TorchScript's tracer only: of `torch.jit.trace` and of `torch.onnx.export(dynamo=False)`"
    message = f"`{name}` is a warning of {makers if traced else '`torch.jit.script` only'}."
    maker = first_use(context.project, view.path, tracing=True)
    blocker = first_trace(context.project, view.path) if traced else maker
    if blocker is not None:
        advice = f"It may have an effect as long as {blocker} {'may trace' if traced else 'traces or scripts'}; migrate that first."
        return Finding("TL137", view.path, span, message, Severity.INFO, advice, waits_for=place_alone(blocker))
    if maker is not None:
        advice = "No call of either was seen in this project. Where none of its libraries traces, this can go."
        return Finding("TL137", view.path, span, message, Severity.INFO, advice)
    statement = _filter_statement(use.node, view) if isinstance(use.node, ast.expr) and place != "string" else None
    if statement is not None:
        doubt = assumption(context.project)
        safety = Safety.SAFE if doubt is None else Safety.UNSAFE
        review = None if doubt is None else f"Needs review: {doubt}."
        fix = Fix("Remove the filter", safety, (DeleteStatement(view.span(statement)),))
        return Finding("TL137", view.path, span, message, Severity.INFO, review, fix)
    if place == "string":
        advice = "Nothing in the project is seen to trace or script any more: remove the filter."
    elif place in {"raises", "except"}:
        advice = "Nothing in the project is seen to trace or script any more, so it is never raised: remove what waits for it."
    elif place == "import":
        advice = "Stop passing the class on: nothing in the project is seen to trace or script any more."
    else:
        advice = "Nothing in the project is seen to trace or script any more: remove this use together with what it filters or reports."
    return Finding("TL137", view.path, span, message, Severity.INFO, advice)


def _filter_statement(node: ast.expr, view: ModuleView) -> ast.Expr | None:
    """The statement that does nothing but filter this warning class, if `node` stands in one."""
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) and parent.arg == "category" else parent
    if not isinstance(call, ast.Call):
        return None
    if view.certain_name(call.func) not in _FILTERING:
        return None
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(value is node or is_plain_value(value) for value in values):
        return None
    statement = view.parent(call)
    return statement if isinstance(statement, ast.Expr) else None


_HEAD = "import warnings\n\nimport torch\n\n"
_BODY = "\n\ndef f(x):\n    return x + 1\n"

EXAMPLES = (
    Bad(
        f'{_HEAD}warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)\n{_BODY}',
        f"import warnings\n\nimport torch\n{_BODY}",
        why="a filter for nothing",
        run="result = f(torch.ones(2))",
    ),
    Bad(
        "import warnings\n\nimport torch\nfrom torch.jit import TracerWarning\n\n\ndef quiet():\n"
        f'    warnings.simplefilter("ignore", TracerWarning)\n{_BODY}',
        f"import warnings\n\nimport torch\n\n\ndef quiet():\n    pass\n{_BODY}",
        why="a filter alone in a function, its import goes with it",
        run="quiet()\nresult = f(torch.ones(2))",
    ),
    Bad(
        f'import warnings\n\nimport ultralytics\nimport torch\n\nwarnings.filterwarnings("ignore", category=torch.jit.TracerWarning)\n{_BODY}',
        f"import warnings\n\nimport ultralytics\nimport torch\n{_BODY}",
        safety="unsafe",
        why="an imported package may trace",
    ),
    Bad(
        f'{_HEAD}warnings.filterwarnings("error", category=torch.jit.TracerWarning)\n{_BODY}\n\ncapture = torch.jit.trace\n',
        why="the project still traces",
    ),
    Bad(
        f'{_HEAD}warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)\n{_BODY}\n\ncompiler = torch.jit.script\n',
        why="the project scripts and traces nothing",
    ),
    Bad(
        "import warnings\n\nimport torch\n\ncategory = torch.jit.TracerWarning\nwarnings.filterwarnings('ignore', category=category)\n",
        why="a class under another name, reported where it gets it",
    ),
    Bad(
        "import pytest\nimport torch\n\n\n@pytest.mark.filterwarnings('ignore::torch.jit.TracerWarning')\ndef test():\n    pass\n",
        why="a filter in a pytest mark",
    ),
    Bad(
        "import torch\n\n\ndef run(net, x):\n    try:\n        return net(x)\n    except (RuntimeError, torch.jit.Error):\n        return None\n",
        why="an except clause",
    ),
    Bad(
        "import pytest\nimport torch\n\n\ndef test(net, x):\n    with pytest.raises(torch.jit.Error):\n        net(x)\n",
        why="an expected error",
    ),
    Bad(
        "from torch.jit.frontend import NotSupportedError\n\n\ndef compiles(f, compiler):\n    try:\n        compiler(f)\n    except NotSupportedError:\n        return False\n    return True\n",
        why="an error of the front end",
    ),
    Bad(
        "import torch\n\n\ndef check(ok):\n    if not ok:\n        raise torch.jit.TracingCheckError(None, None)\n",
        why="an error raised by hand",
    ),
    Bad(
        "import torch\n\n\ndef run(net, x):\n    try:\n        return net(x)\n    except (RuntimeError, torch.jit.Error):\n        return None\n",
        "def run(net, x):\n    try:\n        return net(x)\n    except RuntimeError:\n        return None\n",
        why="an except clause beside another class, and TorchScript goes",
        run="result = run(torch.relu, torch.ones(2)), run(torch.linalg.inv, torch.zeros(2, 2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef run(net, x):\n    try:\n        return net(x)\n    except torch.jit.Error:\n        return None\n",
        why="an except clause of its own, and TorchScript goes",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\nunit = torch.jit.CompilationUnit('')\ntry:\n    unit.f(1)\nexcept (RuntimeError, torch.jit.Error):\n    pass\n",
        why="an except clause while something is compiled",
        torchscript=DROP,
    ),
    Ok("import warnings\n\nwarnings.filterwarnings('ignore', category=UserWarning)  # jit\n", "another category"),
    Ok(
        "class jit:\n    Error = ValueError\n\n\ntry:\n    pass\nexcept jit.Error:\n    pass\n",
        "an own class named jit",
    ),
    Ok("import binascii\n\ntry:\n    jit = 1\nexcept binascii.Error:\n    pass\n", "another module's Error"),
    Ok("import torch\n\n\ndef f():\n    '''torch.jit.Error'''\n", "a docstring"),
)
