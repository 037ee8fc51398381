"""`torch.jit.fork` and `torch.jit.wait`: a call that runs at once, and its result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import (
    EditCall,
    EditImport,
    Finding,
    Fix,
    Group,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.trusted_operations import PURE_FUNCTIONS
from torchlift.rules.torchscript.hints.annotated_values import takes_any
from torchlift.rules.torchscript.hints.future_groups import FORKS, FUTURE, WAITS, FutureGroup, Futures
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import Hint
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_TARGETS = frozenset({*FORKS, *WAITS, FUTURE})

RULE = Rule(
    code="TL119",
    name="torchscript-fork",
    summary="`torch.jit.fork` and `torch.jit.wait`, which are a plain call outside TorchScript",
    why=(
        "Only compiled TorchScript runs forked tasks in parallel. In Python `fork(f, *args)` calls `f(*args)` on the spot, in "
        "the same thread, and lets its exceptions out; `wait` only unpacks the result. Both warn: `DeprecationWarning` since "
        "torch 2.11, `FutureWarning` since 2.14. Strict export and `torch.compile(fullgraph=True)` stop at them."
    ),
    fix=(
        "Safe when nothing in the project scripts or traces, the code is not installable, every future is only waited for in "
        "the function that makes it (also through a list), and the forked function is annotated to return a tensor. With "
        "other results it needs review: they passed through TorchScript's types. All forks and waits of a future change "
        "together. `torch.jit.Future` is renamed to `torch.futures.Future`, the same class, which is always safe."
    ),
    targets=tuple(sorted(_TARGETS)),
    triggers=("jit", "_jit_internal"),
    deprecated=TorchVersion(2, 11),
    collectors=COLLECTORS,
    sources=(
        *SOURCES,
        "torch/jit/_async.py of torch 2.13.0; order, thread, exceptions and types of results measured on torch 2.13.0",
        "`torch.jit.Future is torch.futures.Future` evaluated on torch 2.13.0",
    ),
)

_SINCE = "`DeprecationWarning` since torch 2.11, `FutureWarning` since 2.14"
_FORK = f"`torch.jit.fork` runs in parallel in compiled TorchScript only; in Python it is a plain call. {_SINCE}."
_WAIT = f"`torch.jit.wait` gives the result of a `torch.jit.fork`, which in Python is there already. {_SINCE}."
_FUTURE = "`torch.jit.Future` is `torch.futures.Future` under a name that goes with TorchScript."


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.target == FUTURE:
        yield from _of_future(use, context)
        return
    message = _FORK if use.target in FORKS else _WAIT
    otherwise = "Not called here: in Python `fork(f, *args)` is `f(*args)` and `wait(x)` is `x`."
    stray = Hint("TL119", message, otherwise).stray(use, context)
    if stray is not None or use.call is None:
        yield from stray or ()
        return
    view = context.view
    span = view.span(use.node)
    group = context.once(_futures).group_of(use.call)
    if group is None:
        advice = "Write the value for the call once what it waits for is a plain result; where it comes from was not followed."
        yield Finding("TL119", view.path, span, message, Severity.WARNING, advice)
        return
    yield _finding(context, use, span_of=use.node, node=use.call, group=group, message=message)


def _finding(
    context: Context, use: Use, *, span_of: ast.expr | ast.alias, node: ast.expr, group: FutureGroup, message: str
) -> Finding:
    view = context.view
    span = view.span(span_of)
    answer = removal(context, use.node, tracing=True)
    plain = "Write `f(*args)` for `fork(f, *args)` and the result for `wait(future)`; `concurrent.futures` runs in parallel."
    if answer.safety is Safety.MANUAL:
        return Finding(
            "TL119", view.path, span, message, Severity.WARNING, f"{answer.reason} {plain}", waits_for=answer.root
        )
    if group.obstacle is not None:
        advice = f"{plain} Not rewritten because {group.obstacle}."
        return Finding("TL119", view.path, span, message, Severity.WARNING, advice)
    safety, review = answer.safety, answer.reason
    unknown = [call for call in group.forks if not _returns_tensor(context, call.args[0])]
    if unknown:
        safety = Safety.UNSAFE
        name = view.text(unknown[0].args[0]).splitlines()[0]
        review = (
            f"Needs review: right where `{name}` returns a tensor or a number; other results passed through TorchScript's "
            "types, which made plain tuples of named ones and refused empty lists."
        )
        if answer.reason is not None:
            review += f" Also, {answer.reason.removeprefix('Needs review: ')}"
    rewrites = [_rewrite(view, node, group)]
    title = "Call the function" if isinstance(rewrites[0], EditCall) else "Use the result"
    if node is group.forks[0]:
        # The method `wait` is no name of TorchScript's, so no finding of its own carries its rewrite.
        rewrites += [_rewrite(view, call, group) for call, value in group.waits if value not in call.args]
    groups: tuple[Group, ...] = ()
    if group.sites() > 1:
        key = f"the future of line {min(call.lineno for call in group.forks)} in {view.path}"
        groups = (Group(key, (view.path,), group.sites(), len(rewrites)),)
    fix = Fix(title, safety, tuple(rewrites))
    return Finding("TL119", view.path, span, message, Severity.WARNING, review, fix, groups=groups)


def _rewrite(view: ModuleView, node: ast.expr, group: FutureGroup) -> Rewrite:
    for call in group.forks:
        if call is node:
            function = Template("$function", (("function", view.span(call.args[0])),))
            return EditCall(view.span(call), function=function, callee=view.span(call.func), drop=(0,))
    for call, value in group.waits:
        if call is node:
            template = Template("$value", (("value", view.span(value)),))
            return ReplaceExpression(view.span(call), template, bare=takes_any(view, call, value))
    for annotation, kind in group.annotations:
        if annotation is node:
            return ReplaceExpression(view.span(annotation), Template("$kind", (("kind", view.span(kind)),)), bare=True)
    raise LookupError("the node does not belong to the group")


def _futures(context: Context) -> Futures:
    return Futures(context.view, context.view.uses(_TARGETS, context.project.translate))


def _returns_tensor(context: Context, function: ast.expr) -> bool:
    """Whether a function surely returns a tensor: it is annotated so, or known."""
    view = context.view
    resolution = view.resolve(function)
    if resolution is None or not resolution.certain:
        return False
    if resolution.name in PURE_FUNCTIONS:
        return True
    binding, home = view.definition(function), view
    if binding is None or binding.imported is not None:
        found = context.project.binding(resolution.name, view.path)
        if found is None:
            return False
        home, binding = found
    node = binding.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or node.returns is None:
        return False
    kind = home.resolve(node.returns)
    return kind is not None and kind.certain and kind.name == "torch.Tensor"


def _of_future(use: Use, context: Context) -> Iterator[Finding]:
    """`torch.jit.Future`: the same class as `torch.futures.Future`, so only the name changes."""
    view, node = context.view, use.node
    span = view.span(node)
    if isinstance(node, ast.alias):
        yield from _of_import(use, context)
        return
    parent = view.parent(node)
    group = context.once(_futures).group_of(parent) if parent is not None else None
    if group is not None and isinstance(parent, ast.Subscript) and group.obstacle is None:
        answer = removal(context, use.node, tracing=True)
        if answer.safety is not Safety.MANUAL:
            yield _finding(context, use, span_of=node, node=parent, group=group, message=_FUTURE)
            return
    if use.kind in {"string", "store", "delete"}:
        renamed = "Name `torch.futures.Future` here."
        yield from Hint("TL119", _FUTURE, renamed, Severity.INFO, frozenset()).stray(use, context) or ()
        return
    if isinstance(node, ast.Name) and use.resolution is not None and use.resolution.binding is not None:
        return  # the import it comes through is reported
    spelling = view.spell("torch.futures.Future", node, use)
    fix = None
    if spelling is not None:
        rewrites: tuple[Rewrite, ...] = (ReplaceExpression(span, Template(spelling.text)), *spelling.imports)
        fix = Fix("Use `torch.futures.Future`", Safety.SAFE, rewrites)
    advice = None if fix is not None else "Write `torch.futures.Future` here."
    yield Finding("TL119", view.path, span, _FUTURE, Severity.INFO, advice, fix)


def _of_import(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    binding = use.resolution.binding if use.resolution is not None else None
    if binding is None or not isinstance(binding.statement, ast.ImportFrom) or not isinstance(use.node, ast.alias):
        return
    futures = context.once(_futures)
    reads = [view.parent(read) for read, _ in view.reads_of(binding)]
    going = [futures.group_of(parent) for parent in reads if parent is not None]
    replaced = bool(reads) and all(group is not None and group.obstacle is None for group in going)
    stays = binding.scope.kind == "module" and context.project.may_be_imported(view, binding)
    held = any(removal(context, read, tracing=True).safety is Safety.MANUAL for read in reads if read is not None)
    if replaced and not stays and not held:
        return  # it goes with its last use
    edit = EditImport(
        view.span(binding.statement), use.node.name, binding.name, "torch.futures", "Future", binding.name
    )
    fix = Fix("Import it from `torch.futures`", Safety.SAFE, (edit,))
    yield Finding("TL119", view.path, view.span(use.node), _FUTURE, Severity.INFO, fix=fix)


_TWO = """\
import torch


def half(x: torch.Tensor, by: int) -> torch.Tensor:
    return x / by


def both(x):
    {future} = {fork}
    rest = half(x, by=4)
    return {wait} + rest
"""
_LIST = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Sigmoid()])

    def forward(self, x):
        {kind} = []
        for part in self.parts:
            futures.append({fork})
        return [{wait} for future in futures]
"""
_RUN = "result = both(torch.ones(2))"

EXAMPLES = (
    Bad(
        _TWO.format(future="future", fork="torch.jit.fork(half, x, by=2)", wait="torch.jit.wait(future)"),
        _TWO.format(future="future", fork="half(x, by=2)", wait="future"),
        why="a future and its wait",
        run=_RUN,
    ),
    Bad(
        _TWO.format(future="future: Future[torch.Tensor]", fork="_fork(half, x, 2)", wait="future.wait()").replace(
            "import torch\n", "import torch\nfrom torch.jit import Future, _fork\n"
        ),
        _TWO.format(future="future: torch.Tensor", fork="half(x, 2)", wait="future"),
        why="from-imports, an annotated variable, the method `wait`",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch import jit\n\n\ndef both(x):\n    return jit._wait(jit._fork(torch.relu, x)) + x\n",
        "import torch\n\n\ndef both(x):\n    return torch.relu(x) + x\n",
        why="waited for at once, a function of torch",
        run=_RUN,
    ),
    Bad(
        _LIST.format(
            kind="futures: list[torch.jit.Future[torch.Tensor]]",
            fork="torch.jit.fork(part, x)",
            wait="torch.jit.wait(future)",
        ),
        _LIST.format(kind="futures: list[torch.Tensor]", fork="part(x)", wait="future"),
        safety="unsafe",
        why="a list of futures of submodules",
        run="result = Net()(torch.ones(2))",
    ),
    Bad(
        "import torch\n\n\ndef ready(future: torch.jit.Future[torch.Tensor]) -> bool:\n    return future.done()\n",
        "import torch\n\n\ndef ready(future: torch.futures.Future[torch.Tensor]) -> bool:\n    return future.done()\n",
        why="the class of futures in an annotation",
        run="future = torch.futures.Future()\nfuture.set_result(1)\nresult = ready(future)",
    ),
    Bad(
        "from torch.jit import Future as Later\n\n\ndef is_later(x):\n    return isinstance(x, Later)\n",
        "from torch.futures import Future as Later\n\n\ndef is_later(x):\n    return isinstance(x, Later)\n",
        why="the class of futures imported",
        run="result = is_later(Later()), is_later(3)",
    ),
    Bad(
        _TWO.format(future="future", fork="torch.jit.fork(half, x, by=2)", wait="torch.jit.wait(future)")
        + "\n\ntorch.jit.script(both).save('x.pt')\n",
        why="compiled code, where the tasks do run in parallel",
    ),
    Bad("import torch\n\n\ndef start(x):\n    return torch.jit.fork(torch.relu, x)\n", why="the future is returned"),
    Bad(
        "import torch\n\n\ndef results(futures):\n    return [torch.jit.wait(future) for future in futures]\n",
        why="waits for futures from elsewhere",
    ),
    Ok("import os\n\njit = os.fork\n", "the process function"),
    Ok("import torch\n\ntorch.futures.wait_all([])\njit = torch.futures.Future\n", "torch.futures itself"),
    Ok("from invoke import fork, wait\n\njit = wait(fork(3))\n", "another package's functions"),
    Ok("from concurrent.futures import Future\n\njit: Future = Future()\n", "another Future"),
)
