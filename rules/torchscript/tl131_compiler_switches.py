"""Switches of the TorchScript compiler: fusers, executors, logging, environment variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import (
    DeleteStatement,
    DropDecorator,
    Finding,
    Fix,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.analysis.places.use_places import UsePlace, place_of
from torchlift.rules.analysis.project.foreign_packages import assumption
from torchlift.rules.analysis.values.literals import is_plain_value
from torchlift.rules.analysis.wording.nearest_place import place_alone
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers import runtime_uses, scripting_uses
from torchlift.rules.torchscript.compilers.outside_users import outside_compiler
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.hints.decorator_uses import decorator_of
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_CONTEXTS = frozenset({"torch.jit.fuser", "torch.jit.optimized_execution", "torch.jit.strict_fusion"})
_FUSION_STRATEGY = frozenset({"torch.jit.set_fusion_strategy", "torch.jit._set_fusion_strategy"})
_READS = frozenset({"torch.jit.onednn_fusion_enabled"})
_WHOLE_COMPILER = frozenset({"torch.jit._state.disable", "torch.jit._state.enable"})
_SETTERS = _FUSION_STRATEGY | {"torch.jit.enable_onednn_fusion"} | set(bindings("switch"))

# Read by torch/jit/_state.py, torch/jit/_trace.py, or named in libtorch_cpu.so of the 2.13.0 wheel.
_ENVIRONMENT = {
    "PYTORCH_JIT": (
        "`PYTORCH_JIT=0` makes `torch.jit.script` and `trace` return their argument",
        "Keep it as long as something scripts or traces. Afterwards only forward-mode differentiation reads it: with any "
        "value but 1, `torch.autograd.forward_ad` and `torch.func` leave their decompositions out.",
    ),
    "PYTORCH_JIT_DISABLE": ("`PYTORCH_JIT_DISABLE` is read by the tracer only", "Remove it with the last trace."),
    "PYTORCH_JIT_TIME": ("`PYTORCH_JIT_TIME` is read by the tracer only", "Remove it with the last trace."),
    "PYTORCH_JIT_STATS": ("`PYTORCH_JIT_STATS` is read by the tracer only", "Remove it with the last trace."),
    "PYTORCH_JIT_LOG_LEVEL": (
        "`PYTORCH_JIT_LOG_LEVEL` prints what the TorchScript compiler does",
        'For `torch.compile` and `torch.export` write `TORCH_LOGS="+dynamo,graph_breaks"` or `torch._logging.set_logs(...)`.',
    ),
}
_ENVIRONMENT |= {
    name: (f"`{name}` is read by the TorchScript compiler only", "Remove it with the last use of TorchScript.")
    for name in (
        "PYTORCH_JIT_OPT_LIMIT",
        "PYTORCH_JIT_TYPE_VERBOSITY",
        "PYTORCH_JIT_ENABLE_LARGE_SOURCE_LOCATION",
        "PYTORCH_FUSION_DEBUG",
        "PYTORCH_TENSOREXPR",
        "PYTORCH_TENSOREXPR_DONT_FUSE",
        "PYTORCH_TENSOREXPR_FALLBACK",
        "PYTORCH_TENSOREXPR_RANDOM_TRANSFORM_SEED",
    )
}
_ENVIRONMENT |= {
    name: (
        f"Nothing in the torch 2.13 wheel for CPUs names `{name}` any more",
        "Remove it with the last use of TorchScript.",
    )
    for name in ("PYTORCH_JIT_ENABLE_NVFUSER", "PYTORCH_JIT_USE_NNC_NOT_NVFUSER")
}

RULE = Rule(
    code="TL131",
    name="torchscript-switch",
    summary="A switch of the TorchScript compiler",
    why=(
        "Fusers, executors and logging of TorchScript have no counterpart for `torch.compile` and `torch.export`, and "
        "nothing else listens to them. `torch.jit.set_fusion_strategy` warns since torch 2.11; the others never warn and "
        "go with TorchScript."
    ),
    fix=(
        "A setting that is a statement of its own is removed, and a context manager becomes `contextlib.nullcontext()`, "
        "once nothing in the project scripts, traces or loads TorchScript. Safe when the project imports no package that "
        "could run TorchScript in the same process; otherwise the finding names those packages. Switches of nvFuser are "
        "removed anyway: on torch 2.13 they do nothing. Environment variables are reported only."
    ),
    targets=(*sorted(_CONTEXTS | _SETTERS | _READS | _WHOLE_COMPILER), *_ENVIRONMENT),
    triggers=("jit", "_C & _jit_", "_C & _set_graph_executor_optimize", "_C & _debug_set_", *_ENVIRONMENT),
    severity=Severity.WARNING,
    collectors=(*scripting_uses.COLLECTORS, runtime_uses.COLLECTOR),
    sources=(
        *SOURCES,
        "torch/jit/_fuser.py, _state.py, _trace.py of the torch 2.13.0 wheel; the strings of its libtorch_cpu.so",
        "every nvFuser switch called on torch 2.13.0: a warning and None",
    ),
)

# torch 2.13.0: "nvfuser is no longer supported in torch script, use ... is deprecated and a no-op".
_WITHOUT_EFFECT = frozenset(name for name in bindings("switch") if "_jit_set_nvfuser_" in name)
_WITHOUT_EFFECT_SINCE = TorchVersion(2, 13)  # the oldest release that was run


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    place = place_of(use, context)
    if place is None:
        return
    span = view.span(use.node)
    if use.target in _ENVIRONMENT:
        message, advice = _ENVIRONMENT[use.target]
        yield Finding("TL131", view.path, span, f"{message}.", Severity.INFO, advice)
        return
    message = _message(use.target, context)
    blocker = _blocker(use.target, context)
    if blocker is not None:
        reason, root = blocker
        yield Finding("TL131", view.path, span, message, Severity.WARNING, reason, waits_for=root)
        return
    tried = _tried(use, view)
    if tried is not None:
        advice = f"Nothing else is in the `try` on line {tried.lineno}: remove the whole statement, handlers included."
        yield Finding("TL131", view.path, span, message, Severity.WARNING, advice)
        return
    rewrite = _rewrite(use, place, view)
    if rewrite is None:
        yield Finding("TL131", view.path, span, message, Severity.WARNING, _advice(use, place))
        return
    title, rewrites = rewrite
    doubt = _doubt(use.target, context)
    safety = Safety.SAFE if doubt is None else Safety.UNSAFE
    review = None if doubt is None else f"Needs review: {doubt}."
    yield Finding("TL131", view.path, span, message, Severity.WARNING, review, Fix(title, safety, rewrites))


def _message(name: str, context: Context) -> str:
    if _is_without_effect(name, context):
        return f"`{name}` does nothing but warn: TorchScript has no nvFuser any more (seen on torch 2.13)."
    if name in _WITHOUT_EFFECT:
        return f"`{name}` does nothing but warn on torch 2.13: TorchScript has no nvFuser any more."
    if name in _FUSION_STRATEGY:
        return (
            "`torch.jit.set_fusion_strategy` only tunes TorchScript code, and warns since torch 2.11 "
            "(`DeprecationWarning`)."
        )
    if name == "torch.jit.strict_fusion":
        return (
            "`torch.jit.strict_fusion` acts in scripted code only; eager code gets a warning from it and nothing else."
        )
    if name in _WHOLE_COMPILER:
        return f"`{name}` turns scripting and tracing {'off' if name.endswith('disable') else 'on'}, and nothing else."
    if name in _READS:
        return f"`{name}` reads a setting of the TorchScript compiler, which goes with it."
    return f"`{name}` only steers the TorchScript compiler and goes with it."


def _blocker(name: str, context: Context) -> tuple[str, str] | None:
    """Why the switch has to stay for now, and what it waits for; None if nothing in the project listens to it."""
    if _is_without_effect(name, context):
        return None
    if name == "torch.jit.strict_fusion":
        place = scripting_uses.first_compilation(context.project, context.view.path)
    else:
        place = runtime_uses.first_runtime_use(context.project, context.view.path)
    if place is None:
        return None
    if name in _WITHOUT_EFFECT:
        reason = (
            f"The project {context.settings.supports} as well, where it may still act on TorchScript code, "
            f"which {place} runs: it can go when the lower bound is {_WITHOUT_EFFECT_SINCE} or nothing runs TorchScript."
        )
    else:
        reason = f"It has to stay as long as {place} runs TorchScript; migrate that first."
    return reason, place_alone(place)


def _is_without_effect(name: str, context: Context) -> bool:
    """Whether every release that the project supports ignores the setting."""
    return name in _WITHOUT_EFFECT and context.settings.min_torch >= _WITHOUT_EFFECT_SINCE


def _doubt(name: str, context: Context) -> str | None:
    """What has to hold beyond this project for the switch to be without effect."""
    if _is_without_effect(name, context):
        return None
    expected = scripting_uses.first_expectation(context.project, context.view.path)
    if expected is not None:
        return f"{expected} expects to be compiled, so users of this project may script it and need the setting"
    outside = outside_compiler(context, tracing=name != "torch.jit.strict_fusion")
    if outside is not None:
        return f"{outside} and need the setting"
    return None if name == "torch.jit.strict_fusion" else assumption(context.project)


def _tried(use: Use, view: ModuleView) -> ast.Try | None:
    """The `try` whose body holds nothing but settings like this one, so that it would guard an empty body without them."""
    statement = view.parent(use.call) if use.call is not None else None
    around = view.parent(statement) if isinstance(statement, ast.Expr) else None
    if not isinstance(around, ast.Try) or not any(item is statement for item in around.body):
        return None
    return around if all(_is_setting(item, view) for item in around.body) else None


def _is_setting(statement: ast.stmt, view: ModuleView) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return view.possible_name(statement.value.func) in _SETTERS | _WHOLE_COMPILER


def _rewrite(use: Use, place: UsePlace, view: ModuleView) -> tuple[str, tuple[Rewrite, ...]] | None:
    """Title and rewrites that take the switch out; None where its value is used."""
    decorator = decorator_of(use, view)
    if decorator is not None and use.target in _CONTEXTS:
        return "Remove the decorator", (DropDecorator(view.span(decorator)),)
    if place != "call" or use.call is None or not _is_harmless(use.call):
        return None
    parent = view.parent(use.call)
    if isinstance(parent, ast.Expr) and use.target not in _READS:
        return "Remove the setting", (DeleteStatement(view.span(parent)),)
    if isinstance(parent, ast.withitem) and use.target in _CONTEXTS:
        spelling = view.spell("contextlib.nullcontext", use.call, use)
        if spelling is not None:
            replaced = ReplaceExpression(view.span(use.call), Template(f"{spelling.text}()"))
            return "Use a context manager that does nothing", (replaced, *spelling.imports)
    return None


def _is_harmless(call: ast.Call) -> bool:
    """Whether evaluating the arguments does nothing that is missed when the call goes."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(is_plain_value(value) or isinstance(value, (ast.Name, ast.Attribute)) for value in values)


def _advice(use: Use, place: UsePlace) -> str:
    match place:
        case "string":
            return "The name stands in a string: take it out together with the setting it means."
        case "import":
            return "Stop passing the name on; nothing in the project needs it any more."
        case "store":
            return "The patch can go: nothing in the project runs TorchScript any more."
        case "call" | "decorator" if use.target in _READS:
            return "Nothing in the project runs TorchScript any more, so take the branch for `False` and drop the question."
        case "call":
            return (
                "Nothing in the project runs TorchScript any more, so the call can go; its value is used here, so drop what "
                "uses it as well."
            )
        case _:
            return "Nothing in the project runs TorchScript any more: drop this use together with the setting."


_BODY = "def total(x):\n    return (x * 2 + 1).sum()\n"
_RUN = "result = total(torch.arange(3.0))"
_SCRIPTED = f"import torch\n\n\n{_BODY}\n\nunit = torch.jit.CompilationUnit('')\n"

EXAMPLES = (
    Bad(
        f'import torch\n\ntorch.jit.set_fusion_strategy([("STATIC", 2)])\n\n\n{_BODY}',
        f"import torch\n\n\n\n{_BODY}",
        why="a setting nothing listens to",
        run=_RUN,
    ),
    Bad(
        f"import torch\n\n\ndef setup():\n    torch._C._jit_set_profiling_executor(False)\n\n\n{_BODY}",
        f"import torch\n\n\ndef setup():\n    pass\n\n\n{_BODY}",
        why="a C++ setting alone in a function",
        run=f"setup()\n{_RUN}",
    ),
    Bad(
        "import torch as th\n\n\ndef run(x):\n    with th.no_grad(), th.jit.fuser('fuser1'):\n        return x + 1\n",
        "import torch as th\nfrom contextlib import nullcontext\n\n\ndef run(x):\n    with th.no_grad(), nullcontext():\n        return x + 1\n",
        why="a fuser among other context managers",
        run="result = run(th.ones(2))",
    ),
    Bad(
        "import contextlib\n\nimport torch\nfrom torch.jit import optimized_execution\n\n\n"
        "def run(x):\n    with optimized_execution(False):\n        return x + 1\n",
        "import contextlib\n\nimport torch\n\n\ndef run(x):\n    with contextlib.nullcontext():\n        return x + 1\n",
        why="optimized_execution, its import goes with it",
        run="result = run(torch.ones(2))",
    ),
    Bad(
        "import torch\n\n\n@torch.jit.fuser('fuser1')\ndef run(x):\n    return x + 1\n",
        "import torch\n\n\ndef run(x):\n    return x + 1\n",
        why="a fuser as a decorator",
        run="result = run(torch.ones(2))",
    ),
    Bad(
        "import warnings\n\nimport torch\n\nwarnings.simplefilter('ignore')\n\n\n"
        "def run(x):\n    with torch.jit.strict_fusion():\n        return x + x\n",
        "import warnings\n\nimport torch\nfrom contextlib import nullcontext\n\nwarnings.simplefilter('ignore')\n\n\n"
        "def run(x):\n    with nullcontext():\n        return x + x\n",
        why="strict_fusion outside scripted code",
        run="result = run(torch.ones(2))",
    ),
    Bad(
        f"{_SCRIPTED}torch._C._jit_set_nvfuser_enabled(False)\n",
        _SCRIPTED,
        why="nvFuser is gone, whatever is scripted",
        run=_RUN,
    ),
    Bad(
        f"import e3nn\nimport torch\n\ntorch.jit.enable_onednn_fusion(True)\n\n\n{_BODY}",
        f"import e3nn\nimport torch\n\n\n\n{_BODY}",
        safety="unsafe",
        why="an imported package may run TorchScript",
    ),
    Bad(
        f"import torch\n\ntorch._C._jit_override_can_fuse_on_gpu(False)\n\n\n{_BODY}",
        f"import torch\n\n\n\n{_BODY}",
        safety="unsafe",
        why="users of the project may script it",
        files=(("README.md", "Use `torch.jit.script(total)` for speed.\n"),),
        run=_RUN,
    ),
    Bad(f"{_SCRIPTED}torch._C._jit_set_profiling_mode(False)\n", why="the project still scripts"),
    Bad(
        f"{_SCRIPTED}torch._C._jit_set_nvfuser_enabled(False)\n",
        why="nvFuser, in a project that supports torch 2.6",
        min_torch=TorchVersion(2, 6),
    ),
    Bad(
        "import torch\n\ntry:\n    torch._C._jit_set_nvfuser_enabled(False)\nexcept Exception:\n    pass\n",
        why="alone in a try statement",
    ),
    Bad("import torch\n\nold = torch._C._jit_set_profiling_executor(False)\n", why="the old setting is kept"),
    Bad("import torch\n\nfused = torch.jit.onednn_fusion_enabled()\n", why="a setting is read"),
    Bad(
        "import torch\n\ntorch.jit._state.disable()\nunit = torch.jit.CompilationUnit('')\n",
        why="the whole compiler",
    ),
    Bad("import os\n\nos.environ['PYTORCH_JIT'] = '0'\n", why="an environment variable is set"),
    Bad(
        "def test(monkeypatch):\n    monkeypatch.setenv('PYTORCH_JIT_LOG_LEVEL', 'dead_code_elimination')\n",
        why="an environment variable in a test",
    ),
    Ok("import os\n\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n", "another compiler's variable"),
    Ok('print("PYTORCH_JIT is not set")\n', "a sentence about the variable"),
    Ok("class jit:\n    fuser = open\n\n\nwith jit.fuser('x'):\n    pass\n", "an own class named jit"),
    Ok(
        "import torch\n\nif torch.__version__ < '2':\n    torch._C._jit_set_profiling_executor(False)\n",
        "under a version test",
    ),
    Ok("import torch\n\ntorch._C._set_grad_enabled(False)\njit = 1\n", "another switch of torch._C"),
)
