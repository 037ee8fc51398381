"""`torch.jit.freeze` and its relatives: an exported program has nothing left to freeze."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, Finding, Fix, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.rules.analysis.places.use_places import place_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers import runtime_uses, scripting_uses
from torchlift.rules.torchscript.compilers.runtime_uses import first_runtime_use
from torchlift.rules.torchscript.compilers.scripting_uses import scripting_sites
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.values.made_by import maker_of
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_WARNS = frozenset({"torch.jit.freeze", "torch.jit.optimize_for_inference"})
_TARGETS = (*sorted(_WARNS), "torch.jit.run_frozen_optimizations", *bindings("freeze"))

RULE = Rule(
    code="TL130",
    name="torchscript-freeze",
    summary="`torch.jit.freeze`, `optimize_for_inference` or `run_frozen_optimizations` of a value that is not traced here",
    why=(
        "`torch.jit.freeze` and `torch.jit.optimize_for_inference` warn since torch 2.11 (`FutureWarning` since 2.14); "
        "`run_frozen_optimizations` never warns. All three take TorchScript values only. `torch.export.export` captures "
        "the graph of the mode the module is in, so there is nothing to freeze afterwards."
    ),
    fix=(
        "None: the call goes when the value it freezes is migrated, and which capture that is stands elsewhere. Results "
        "change in the last digits with it, because freezing folds convolutions with batch norms. A traced value that is "
        "frozen in the same scope belongs to TL101. Where TorchScript is dropped, the call goes from values that are made "
        "elsewhere, for review while something in the project still runs TorchScript."
    ),
    targets=_TARGETS,
    triggers=("jit", "_C & _freeze_module"),
    deprecated=TorchVersion(2, 11),
    collectors=(*scripting_uses.COLLECTORS, runtime_uses.COLLECTOR),
    sources=(
        *SOURCES,
        "torch/jit/_freeze.py of the torch 2.13.0 wheel: what each of them runs",
        "conv + batch norm frozen and not frozen on torch 2.13.0: differences of 2e-7 to 5e-7",
    ),
)

_SPEED = (
    "for the speed it gave use `torch.compile(module)`, or compile the program with AOTInductor under "
    "`TORCHINDUCTOR_FREEZING=1`"
)
_DIGITS = "Freezing folds weights, so results differ in the last digits (2e-7 to 5e-7 were measured)."


_STEPS = 12


def _origin(view: ModuleView, call: ast.Call, at: ast.Call) -> ast.Call | None:
    """The call that makes the value frozen by `call`, through names of the scope of `at` and earlier freezes."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        return None
    value: ast.expr = call.args[0]
    # `model = freeze(model)` may be all that binds the name.
    for _ in range(_STEPS):
        match value:
            case ast.Name():
                binding = view.definition(value)
                if binding is None or binding.value is None or binding.scope is not view.scope_at(at):
                    return None
                value = binding.value
            case (
                ast.Attribute(value=inner, attr="_c")
                | ast.Call(func=ast.Attribute(value=inner, attr="eval"), args=[], keywords=[])
            ):
                value = inner
            case ast.Call(args=[ast.expr() as inner, *_]) if _name(view, value) in _TARGETS:
                value = inner
            case ast.Call():
                return value if _name(view, value) not in _TARGETS else None
            case _:
                return None
    return None


def _name(view: ModuleView, call: ast.Call) -> str:
    return view.certain_name(call.func)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    place = place_of(use, context)
    if place is None:
        return
    maker = maker_of(use.call, context) if use.call is not None and place == "call" else None
    if maker is not None and maker.rewritten:
        return
    if use.target in _WARNS:
        message = f"`{use.target}`: `DeprecationWarning` since torch 2.11, `FutureWarning` since 2.14."
    else:
        message = f"`{use.target}` works on TorchScript values only and goes with them."
    dropped = _dropped(use.call, context) if use.call is not None and place == "call" and maker is None else None
    if dropped is not None:
        yield Finding("TL130", view.path, view.span(use.node), message, Severity.WARNING, dropped[0], dropped[1])
        return
    advice = _advice_for_call(use.call, view) if use.call is not None and place == "call" else _ADVICE.get(place, _DROP)
    yield Finding("TL130", view.path, view.span(use.node), message, Severity.WARNING, advice)


def _by_library(view: ModuleView, call: ast.Call) -> ast.expr | None:
    """The compiler of another package that makes what is frozen, under the name it is frozen by."""
    frozen = call.args[0]
    for site in scripting_sites(view):
        made = view.parent(site.node)
        if site.use is not None or not isinstance(site.node, ast.expr) or not isinstance(made, ast.Call):
            continue
        match view.parent(made):
            case ast.Assign(targets=[ast.Name(id=name)]) if isinstance(frozen, ast.Name) and frozen.id == name:
                if view.function_of(made) is view.function_of(call):
                    return site.node
        if made is frozen:
            return site.node
    return None


def _dropped(call: ast.Call, context: Context) -> tuple[str | None, Fix | None] | None:
    """Where TorchScript goes: the value itself, in the place of the frozen one."""
    view = context.view
    if not drops(context) or not call.args or isinstance(call.args[0], ast.Starred):
        return None
    origin = _origin(view, call, call)
    if (origin is not None and _name(view, origin).startswith("torch.jit.")) or _name(view, call).startswith(
        "torch._C"
    ):
        return None
    library = _by_library(view, call)
    if library is not None:
        return f"It goes together with the `{view.text(library)}` on line {library.lineno}. {_DIGITS}", None
    kept = _name(view, call) == "torch.jit.run_frozen_optimizations"
    statement = view.parent(call)
    rewrite: Rewrite
    if isinstance(statement, ast.Expr):
        rewrite = DeleteStatement(view.span(statement))
    elif kept:
        return None
    else:
        rewrite = ReplaceExpression(view.span(call), Template("$value", (("value", view.span(call.args[0])),)))
    left = first_runtime_use(context.project, view.path)
    review = (
        f"Needs review: {left} may still run TorchScript, whose values may be frozen here. {_DIGITS}" if left else None
    )
    return review, Fix("Leave the value as it is", Safety.UNSAFE if left else Safety.SAFE, (rewrite,))


_DROP = f"An exported program is its eval-mode graph already, so nothing takes its place; {_SPEED}."
_ADVICE = {
    "import": f"Stop passing the name on: {_DROP[0].lower()}{_DROP[1:]}",
    "string": f"The name stands in a string: take it out together with the call it means. {_DROP}",
    "store": "The patch can go with the last call of the patched function.",
}


def _advice_for_call(call: ast.Call, view: ModuleView) -> str:
    origin = _origin(view, call, call)
    name = _name(view, origin) if origin is not None else ""
    kept = next(
        (k.arg for k in call.keywords if k.arg in {"preserved_attrs", "other_methods", "preserved_methods"}), ""
    )
    if kept:
        extra = (
            f" An exported program has no attributes or methods to keep (`{kept}`): export one program for each method."
        )
    else:
        extra = ""
    if name in {"torch.jit.trace", "torch.jit.script", "torch.jit.trace_module"}:
        return (
            f"Drop it together with the `{name}` before it: where `torch.export.export(module.eval(), args)` captures the module, that is the eval-mode graph; "
            f"{_SPEED}. {_DIGITS}{extra} {EXPORT_DOCS}"
        )
    if name == "torch.jit.load":
        return (
            "Drop it once the file is an exported program: `torch.export.load(path).module()` is the eval-mode graph it "
            f"was exported as; {_SPEED}. {_DIGITS}{extra}"
        )
    return (
        "Not rewritten: what makes the value that it freezes was not followed. Where that is captured, "
        f"`torch.export.export(module.eval(), args)` takes the place of both; {_SPEED}. {_DIGITS}{extra}"
    )


_NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\nnet = Net().eval()\n"

_PREPARE = "import torch\n\n\ndef prepare(net):\n    return net.eval()\n"

EXAMPLES = (
    Bad(_NET + "frozen = torch.jit.freeze(torch.jit.script(net))\n", why="a scripted module"),
    Bad(
        _NET + "scripted = torch.jit.script(net)\nfast = torch.jit.optimize_for_inference(scripted)\n",
        why="a scripted module in a variable",
    ),
    Bad(
        'import torch\n\n\ndef serve(x, **options):\n    net = torch.jit.load("net.pt", **options)\n    return torch.jit.freeze(net)(x)\n',
        why="a loaded module",
    ),
    Bad(
        'from torch import jit as J\n\n\ndef prepare(net):\n    return J.freeze(net.eval(), preserved_attrs=["scale"])\n',
        why="a parameter, with attributes to keep",
    ),
    Bad(
        "from torch.jit import run_frozen_optimizations as optimise\n\n\ndef prepare(net):\n    optimise(net)\n",
        why="run_frozen_optimizations under another name",
    ),
    Bad("import torch\n\nsteps = [torch.jit.freeze]\n", why="passed on as a function"),
    Bad("from unittest import mock\n\nwith mock.patch('torch.jit.freeze'):\n    pass\n", why="a patch target"),
    Bad("import torch\n\n\ndef prepare(net):\n    return torch._C._freeze_module(net._c)\n", why="the C++ function"),
    Bad(
        _PREPARE.replace("net.eval()", "torch.jit.freeze(net.eval())"),
        _PREPARE.removeprefix("import torch\n\n\n"),
        why="a parameter, and nothing makes TorchScript any more",
        run="result = prepare(torch.jit.script(torch.nn.ReLU()))(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef prepare(net):\n    torch.jit.run_frozen_optimizations(net)\n    return net\n",
        "def prepare(net):\n    return net\n",
        why="a statement, and nothing makes TorchScript any more",
        run="net = torch.jit.freeze(torch.jit.script(torch.nn.ReLU().eval()))\nresult = prepare(net)(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        _PREPARE.replace("net.eval()", "torch.jit.freeze(net.eval())") + "\n\nunit = torch.jit.CompilationUnit('')\n",
        _PREPARE + "\n\nunit = torch.jit.CompilationUnit('')\n",
        safety="unsafe",
        why="a parameter, while something is still compiled",
        run="result = 1",
        torchscript=DROP,
    ),
    Bad(
        "import e3nn.util.jit\nimport torch\n\n\ndef deploy(net, path):\n    net = e3nn.util.jit.script(net)\n"
        "    net = torch.jit.freeze(net)\n    torch.jit.save(net, path)\n",
        why="what another package scripts, and what is saved",
        torchscript=DROP,
    ),
    Ok(
        _NET + "traced = torch.jit.trace(net, torch.rand(3))\nfrozen = torch.jit.freeze(traced)\n",
        "a trace of the same scope: TL101 deals with both",
    ),
    Ok(
        _NET + "fast = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(net, torch.rand(3))))\n",
        "a trace frozen twice: TL101 deals with it",
    ),
    Ok("class Net:\n    def freeze(self): ...\n\n\nnet = Net()\njit = net.freeze()\n", "a method named freeze"),
    Ok("from flax.core import freeze\n\njit = freeze({})\n", "another library's freeze"),
    Ok('import torch\n\nprint("torch.jit.freeze was called", torch)\n', "a sentence that begins with the name"),
)
