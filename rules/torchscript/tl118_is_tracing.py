"""`torch.jit.is_tracing()` and its relatives: False under torch.export, so another branch is captured than was traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.outside_users import outside_compiler
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTOR
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.annotated_values import takes_any
from torchlift.rules.torchscript.hints.hint_branches import FlagDifference, difference
from torchlift.rules.torchscript.hints.hint_conditions import asks_export, condition_of, is_truth, settle, world
from torchlift.rules.torchscript.hints.hint_folding import unasked
from torchlift.rules.torchscript.hints.hint_questions import asking_too
from torchlift.rules.torchscript.hints.hint_removal import (
    IS_TRACING,
    compiler_of,
    dead_questions,
    removal,
    traces_until,
)
from torchlift.rules.torchscript.hints.stray_uses import Hint
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_TRACING_STATE = "torch._C._get_tracing_state"
_STATE = frozenset({_TRACING_STATE, "torch._C._is_tracing"})

RULE = Rule(
    code="TL118",
    name="torchscript-is-tracing",
    summary="`torch.jit.is_tracing()` and its relatives, which are False under export",
    why=(
        "Code under `if torch.jit.is_tracing():` was captured by `torch.jit.trace`, and by the ONNX exporter built on it. "
        "Under `torch.export` the question is answered with False, so the branch for eager mode is captured, and nothing "
        "says so. `torch._C._get_tracing_state()` is None there."
    ),
    fix=(
        "`or torch.compiler.is_exporting()` (torch 2.7) beside `is_tracing()` makes export do what a trace did; where nothing "
        "in the project traces any more it takes the place of the question. That needs review, because it may be exactly "
        "what export should not do. Not offered while the project scripts, which cannot compile `is_exporting()`, and not "
        "where the traced branch only turns sizes into tensors or numbers: export keeps sizes symbolic. Where the branches "
        "only check or report, and where the condition asks for export already, the question is taken out: safe when "
        "nothing in the project traces or scripts and nothing says that others do; until then it is reported and stays. Where "
        "the user says that TorchScript is dropped, and nothing left compiles or traces the code, every question is taken out."
    ),
    targets=(IS_TRACING, *sorted(_STATE)),
    triggers=("jit", "_jit_internal", "_get_tracing_state", "_is_tracing"),
    collectors=(COLLECTOR,),
    sources=(
        *SOURCES,
        "called in eager mode, under export (strict and not), compile and trace: torch 2.13.0 and 2.15.0",
        "torch.compiler.is_exporting exists since torch 2.7",
    ),
)

_EXPORTING = "torch.compiler.is_exporting"
_NEEDS = TorchVersion(2, 7)

# What a traced branch does to a size so that the trace keeps it variable, or gives up on it.
_CONVERSIONS = frozenset(
    "int float item tensor as_tensor scalar_tensor _shape_as_tensor LongTensor IntTensor tolist".split()
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    message = _message(use)
    otherwise = "Not called here: under export it has to be combined with `torch.compiler.is_exporting()` (torch>=2.7)."
    stray = Hint("TL118", message, otherwise).stray(use, context)
    if stray is not None or use.call is None:
        yield from stray or ()
        return
    view = context.view
    span = view.span(use.node)
    test, owner = condition_of(view, use.call)
    what = context.once(_difference, test, owner)
    dead = dead_questions(context, use.node)
    rewrites = _without(context, use, use.call, dead)[0] if IS_TRACING in dead else ()
    answer = removal(context, use.node, tracing=True)
    if drops(context) and answer.safety is Safety.UNSAFE and (unsure := _without(context, use, use.call)[0]):
        fix = Fix("Take the question out", Safety.UNSAFE, unsure)
        yield Finding("TL118", view.path, span, message, Severity.INFO, answer.reason, fix)
    elif rewrites:
        fix = Fix("Take the question out", Safety.SAFE, rewrites)
        yield Finding("TL118", view.path, span, message, Severity.INFO, None, fix)
    elif context.once(_asks_export, test):
        yield _settled(use, context, use.call, message, what)
    elif context.once(_converts_sizes, test, owner):
        advice = (
            f"{what.sentence} Export keeps sizes symbolic without a conversion: where that is what the traced side is for, its branch is the right one; the "
            "question can go once nothing traces."
        )
        yield Finding("TL118", view.path, span, message, Severity.WARNING, advice.strip())
    elif what.harmless:
        yield _harmless(use, context, use.call, message, what)
    else:
        yield _deciding(use, context, use.call, message, what)


def _difference(context: Context, test: ast.expr, owner: ast.AST | None) -> FlagDifference:
    """What follows from a condition, the same for all that ask in it."""
    return difference(context.view, test, owner, world(compiling=True), world(tracing=True), "a trace")


def _settled(use: Use, context: Context, call: ast.Call, message: str, what: FlagDifference) -> Finding:
    """The finding for a condition that asks for export already: nothing is lost, and one day its older half can go."""
    view = context.view
    span = view.span(use.node)
    test, owner = condition_of(view, call)
    answer = removal(context, use.node, tracing=True)
    rewrites, refusal = _without(context, use, call) if answer.safety is Safety.SAFE else ((), None)
    if rewrites:
        fix = Fix("Take the question out", Safety.SAFE, rewrites)
        return Finding("TL118", view.path, span, message, Severity.INFO, None, fix)
    new, old = (settle(test, world(**flags)).constant for flags in ({"compiling": True}, {"tracing": True}))
    told = f" It tells an export from a trace. {what.sentence}" if is_truth(owner, test) and new != old else ""
    half = f"`{' '.join(view.text(call).split())}`"
    if answer.place is not None:
        reason = (answer.reason or "").replace("Keep it", f"Keep {half}", 1)
        later = f"{reason}{traces_until(context.project, answer.place)}"
    elif answer.reason is not None:
        later = f"{half} can go once nothing traces or scripts: {answer.reason.removeprefix('Needs review: ')}"
    else:
        later = f"Nothing in the project is seen to trace any more, so {half} can go; not rewritten because {refusal}."
    advice = f"The condition already asks for export too.{told} {later}"
    return Finding("TL118", view.path, span, message, Severity.INFO, advice, waits_for=answer.root)


def _harmless(use: Use, context: Context, call: ast.Call, message: str, what: FlagDifference) -> Finding:
    """The finding for a condition that does not decide about results."""
    view = context.view
    span = view.span(use.node)
    answer = removal(context, use.node, tracing=True)
    rewrites, refusal = _without(context, use, call) if answer.safety is not Safety.MANUAL else ((), None)
    if rewrites:
        fix = Fix("Take the question out", answer.safety, rewrites)
        return Finding("TL118", view.path, span, message, Severity.INFO, answer.reason, fix)
    later = answer.reason or ""
    if refusal is not None:
        later = f"Nothing in the project is seen to trace any more, so the question can go; not rewritten because {refusal}."
    advice = f"{what.sentence} {what.why_harmless} Nothing to do for export. {later}".strip()
    return Finding("TL118", view.path, span, message, Severity.INFO, advice, waits_for=answer.root)


def _deciding(use: Use, context: Context, call: ast.Call, message: str, what: FlagDifference) -> Finding:
    """The finding for a condition that an export may have to answer as a trace did."""
    view = context.view
    span = view.span(use.node)
    scripted = compiler_of(context, use.node)
    if use.target != IS_TRACING or scripted is not None:
        asked = asking_too(view, call, _EXPORTING)
        advice = f"Where an export should do what a trace did, write `{asked}` (torch>=2.7)."
        if scripted is not None:
            advice += " TorchScript can compile `torch.compiler.is_compiling()` only: use that as long as something may script this code."
        return Finding("TL118", view.path, span, message, Severity.WARNING, f"{what.sentence} {advice}".strip())
    spelling = view.spell(_EXPORTING, use.node, use)
    if spelling is None:
        asked = asking_too(view, call, _EXPORTING)
        advice = f"Where an export should do what a trace did, write `{asked}`. {what.sentence}".rstrip()
        return Finding("TL118", view.path, span, message, Severity.WARNING, advice)
    review = f"Needs review: right where an export should do what a trace did, on torch>=2.7. {what.sentence}".rstrip()
    if removal(context, use.node, tracing=True).safety is Safety.SAFE:
        replaced = ReplaceExpression(view.span(call), Template(f"{spelling.text}()"))
        fix = Fix("Ask for export instead", Safety.UNSAFE, (replaced, *spelling.imports), needs=_NEEDS)
        return Finding("TL118", view.path, span, message, Severity.WARNING, review, fix)
    if drops(context):  # it would be asked as long as something traces, and that is what goes
        advice = (
            f"Where an export should do what a trace did, write `{asking_too(view, call, _EXPORTING)}` (torch>=2.7)."
        )
        return Finding("TL118", view.path, span, message, Severity.WARNING, f"{advice} {what.sentence}".rstrip())
    if outside_compiler(context) is not None:
        review += " Whoever scripts this code cannot compile `is_exporting()`."
    outer = f"$call or {spelling.text}()"
    if not _may_stand_alone(view, call):
        outer = f"({outer})"
    rewrites: tuple[Rewrite, ...] = (EditCall(view.span(call), outer=outer), *spelling.imports)
    fix = Fix("Ask for export too", Safety.UNSAFE, rewrites, needs=_NEEDS, still_reported=True)
    return Finding("TL118", view.path, span, message, Severity.WARNING, review, fix)


def _without(
    context: Context, use: Use, call: ast.Call, dead: frozenset[str] = frozenset()
) -> tuple[tuple[Rewrite, ...], str | None]:
    """What takes the question out where nothing traces any more, or a clause that says why that cannot be written."""
    test, owner = condition_of(context.view, call)
    if use.target == _TRACING_STATE and not is_truth(owner, test):
        return (), "the tracer's state is more than a yes or no here"
    return context.once(unasked, test, owner, frozenset({IS_TRACING, *_STATE, *dead}))


def _message(use: Use) -> str:
    if use.target in _STATE:
        empty = "None" if use.target.endswith("_state") else "False"
        return f"`{use.target}()` goes with TorchScript's tracer: under `torch.export` it is {empty}, as in eager mode."
    return (
        "`torch.jit.is_tracing()` goes with TorchScript's tracer: under `torch.export` it is False, as in eager mode."
    )


def _asks_export(context: Context, test: ast.expr) -> bool:
    return asks_export(test)


def _converts_sizes(context: Context, test: ast.expr, owner: ast.AST | None) -> bool:
    """Whether the traced side turns sizes into other things, which only a trace needs."""
    traced = settle(test, world(tracing=True)).constant
    if traced is None or not is_truth(owner, test) or not isinstance(owner, (ast.If, ast.IfExp)):
        return False
    side = owner.body if traced else owner.orelse
    nodes: list[ast.AST] = [*side] if isinstance(side, list) else [side]
    for root in nodes:
        for node in walk(root):
            if isinstance(node, ast.Call):
                function = node.func
                name = last_name(function)
                if name in _CONVERSIONS:
                    return True
    return False


def _may_stand_alone(view: ModuleView, call: ast.Call) -> bool:
    match view.parent(call):
        case ast.BoolOp(op=op):
            return isinstance(op, ast.Or)
        case ast.IfExp(test=condition):
            return condition is call
        case ast.comprehension():
            return True
        case _:
            return takes_any(view, call)


_NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        if {}:
            return x * 2
        return x * 3
"""
_TRACED = "\n\ncapture = torch.jit.trace\n"
_RUN = "net = Net()\nresult = net(torch.ones(2)), torch.jit.trace(net, torch.ones(2))(torch.ones(2))"

_WEIGH = "def weigh(x):\n    if torch.jit.is_tracing():\n        return x\n    return x * 3\n\n\n"
_WEIGHED = "def weigh(x):\n    return x * 3\n\n\n"


def _stays(forward: str, *, given: str = "Net()", rest: str = "") -> str:
    """A module with a trace that somebody has to decide about."""
    return (
        f"class Net(torch.nn.Module):\n    def forward(self, x):\n        return {forward}\n{rest}\n\n"
        f"def show(net):\n    print(torch.jit.trace({given}, torch.ones(2)).graph)\n"
    )


_OWN_DECORATOR = """\
class Compiled:
    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args):
        def compiled(*args):
            return self.fn(*args)

        made = torch.jit.trace(compiled, args)
        print(made.graph)
        return made(*args)


def trace(fn=None, check=True):
    if fn is None:
        return lambda fn: trace(fn, check)
    return Compiled(fn)


class Loss:
    def weighed(self, x):
        return weigh(x)

    def run(self, x):
        @trace{}
        def loss(x):
            return self.weighed(x)

        return loss(x)
"""

EXAMPLES = (
    *(
        Bad(
            "import torch\n\n\n" + _WEIGH + _OWN_DECORATOR.format(given),
            why=f"a trace that a decorator of the project makes, written `@trace{given}`",
            torchscript=DROP,
        )
        for given in ("", "(check=False)")
    ),
    Bad(
        "import torch\n\n\n" + _WEIGH + _stays("x * 2"),
        "import torch\n\n\n" + _WEIGHED + _stays("x * 2"),
        why="a trace that stays, and does not run the function that asks",
        run="result = weigh(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\n" + _WEIGH + _stays("x * 2", given="net"),
        "import torch\n\n\n" + _WEIGHED + _stays("x * 2", given="net"),
        why="a trace of anything, and a function that no module calls",
        run="result = weigh(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\n" + _WEIGH + _stays("weigh(x)"),
        why="a trace that stays and runs the function",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\n" + _WEIGH + _stays("weigh(x)", given="net"),
        why="a trace of anything, and a module that calls the function",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef is_tracing():\n    return torch._C._is_tracing()\n",
        "def is_tracing():\n    return False\n",
        why="a question under another name",
        run="result = is_tracing()",
        torchscript=DROP,
    ),
    Bad(
        _NET.format("torch.jit.is_tracing()"),
        _NET.format("torch.compiler.is_exporting()"),
        safety="unsafe",
        why="a branch for tracing, in a project that traces nothing any more",
        run="result = Net()(torch.ones(2))",
    ),
    Bad(
        _NET.format("torch.jit.is_tracing()"),
        _NET.format("True").replace("        if True:\n            return x * 2\n", ""),
        why="a branch for tracing, and the user says that nobody traces any more",
        run="result = Net()(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef rows(x):\n    return int(x.shape[0]) if torch.jit.is_tracing() else x.shape[0]\n",
        "def rows(x):\n    return x.shape[0]\n",
        why="the traced branch turns a size into a number, and nobody traces any more",
        run="result = rows(torch.ones(2))",
        torchscript=DROP,
        min_torch=TorchVersion(2, 0),
    ),
    Bad(
        _NET.format("torch.jit.is_tracing()") + _TRACED,
        _NET.format("torch.jit.is_tracing() or torch.compiler.is_exporting()") + _TRACED,
        safety="unsafe",
        why="a branch for tracing, in a project that still traces",
        run=_RUN,
    ),
    Bad(
        _NET.format("x.dim() == 1 and not is_tracing()").replace(
            "import torch\n", "import torch\nfrom torch.jit import is_tracing\n"
        )
        + _TRACED,
        _NET.format("x.dim() == 1 and not (is_tracing() or torch.compiler.is_exporting())").replace(
            "import torch\n", "import torch\nfrom torch.jit import is_tracing\n"
        )
        + _TRACED,
        safety="unsafe",
        why="from-import, negated",
        run=_RUN,
    ),
    Bad(
        _NET.format("torch.jit.is_tracing() == (x.dim() == 1)") + _TRACED,
        _NET.format("(torch.jit.is_tracing() or torch.compiler.is_exporting()) == (x.dim() == 1)") + _TRACED,
        safety="unsafe",
        why="the answer is compared",
        run=_RUN,
    ),
    Bad(
        "from torch.jit._trace import is_tracing as traced\n\n\ndef in_capture():\n    return traced()\n",
        "import torch\nfrom torch.jit._trace import is_tracing as traced\n\n\ndef in_capture():\n"
        "    return traced() or torch.compiler.is_exporting()\n",
        safety="unsafe",
        why="the private module, a function that passes the answer on",
        run="result = in_capture()",
        files=(("README.md", "Compile it with `torch.jit.trace(net, x)`.\n"),),
    ),
    Bad(
        "import torch\n\n\ndef check(x):\n    assert not torch.jit.is_tracing(), 'no traces'\n"
        "    if not torch.jit.is_tracing() and not torch.jit.is_tracing():\n        assert x.dim() == 1\n    return x\n",
        "import torch\n\n\ndef check(x):\n    assert x.dim() == 1\n    return x\n",
        why="checks in eager mode, in a project that traces nothing",
        run="result = check(torch.ones(2))",
    ),
    Bad(
        "import torch\n\n\ndef check(x):\n    if torch._C._get_tracing_state() is None:\n        assert x.dim() == 1\n"
        "    return x\n",
        "import torch\n\n\ndef check(x):\n    assert x.dim() == 1\n    return x\n",
        why="the tracer's state compared with None around a check",
        run="result = check(torch.ones(2))",
    ),
    Bad(
        "import torch\n\n\ndef captured():\n    return torch.jit.is_tracing() or torch.compiler.is_exporting()\n",
        "import torch\n\n\ndef captured():\n    return torch.compiler.is_exporting()\n",
        why="export is asked for already, and nothing traces",
        run="result = captured()",
    ),
    Bad(
        "import torch\n\n\ndef fast(x):\n    return not torch.jit.is_tracing() and not torch.compiler.is_compiling()\n"
        "\n\ncapture = torch.jit.trace\n",
        why="export is asked for already, and something traces",
    ),
    Bad(_NET.format("torch.jit.is_tracing()"), why="a project that supports torch 2.6", min_torch=TorchVersion(2, 6)),
    Bad(
        _NET.format("torch.jit.is_tracing()") + "\n\ntorch.jit.script(Net()).save('x.pt')\n",
        why="the project still scripts",
    ),
    Bad(
        "import torch\n\n\ndef rows(x):\n    return int(x.shape[0]) if torch.jit.is_tracing() else x.shape[0]\n",
        why="the traced branch turns a size into a number",
    ),
    Bad(
        "import torch\n\n\ndef check(x):\n    if not torch._C._get_tracing_state():\n        assert x.dim() == 1\n"
        "\n\ncapture = torch.jit.trace\n",
        why="the tracer's state around a check, in a project that still traces",
    ),
    Bad(
        "import torch\n\n\ndef f(x):\n    return 2 * x if torch._C._get_tracing_state() is not None else x\n",
        why="the tracer's state compared with None",
    ),
    Ok(
        "import torch\n\njit = torch.compiler.is_exporting() or torch.compiler.is_compiling()\n",
        "questions that stay",
    ),
    Ok(
        "import torch\nfrom torch.onnx import is_in_onnx_export\n\n\ndef jit(x):\n    if is_in_onnx_export():\n"
        "        return x\n    return -x\n",
        "a branch for ONNX, which is no TorchScript",
    ),
    Ok("import jax\n\njax.jit.is_tracing()\n", "another package's jit"),
    Ok("def is_tracing():\n    return False\n\n\njit = is_tracing()\n", "an own function"),
    Ok("from onnx.utils import is_in_onnx_export\n\nis_in_onnx_export()\n", "another package's function"),
)
