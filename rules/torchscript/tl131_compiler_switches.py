"""Switches of the TorchScript compiler: fusers, executors, logging, environment variables."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from torchlift.finding import (
    DeleteStatement,
    DropDecorator,
    Finding,
    Fix,
    KeepBranch,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.analysis.places.use_places import UsePlace, place_of
from torchlift.rules.analysis.project.foreign_packages import assumption
from torchlift.rules.analysis.project.torchscript_elsewhere import cpp_runtime
from torchlift.rules.analysis.values.literals import is_plain_value
from torchlift.rules.analysis.wording.nearest_place import place_alone
from torchlift.rules.rule import Context, Rule
from torchlift.rules.torchscript.compilers import runtime_uses, scripting_uses
from torchlift.rules.torchscript.compilers.outside_users import outside_compiler
from torchlift.rules.torchscript.examples.switch_examples import EXAMPLES
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.environment import ENVIRONMENT
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.decorator_uses import decorator_of
from torchlift.rules.torchscript.values.stale_comments import stale_above
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_CONTEXTS = frozenset({"torch.jit.fuser", "torch.jit.optimized_execution", "torch.jit.strict_fusion"})
_FUSION_STRATEGY = frozenset({"torch.jit.set_fusion_strategy", "torch.jit._set_fusion_strategy"})
_READS = frozenset({"torch.jit.onednn_fusion_enabled"})
_WHOLE_COMPILER = frozenset({"torch.jit._state.disable", "torch.jit._state.enable"})
_SETTERS = _FUSION_STRATEGY | {"torch.jit.enable_onednn_fusion"} | set(bindings("switch"))

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
        "A setting that is a statement of its own is removed, and so is a context manager (among others it becomes "
        "`contextlib.nullcontext()`), once nothing in the project scripts, traces or loads TorchScript. Safe when the project imports no package that "
        "could run TorchScript in the same process; otherwise the finding names those packages. Switches of nvFuser are "
        "removed anyway: on torch 2.13 they do nothing. Environment variables are reported only. Where TorchScript is dropped, "
        "settings in a row are one finding, for review while something still runs TorchScript, and a question where C++ of "
        "the project does."
    ),
    targets=(*sorted(_CONTEXTS | _SETTERS | _READS | _WHOLE_COMPILER), *ENVIRONMENT),
    triggers=("jit", "_C & _jit_", "_C & _set_graph_executor_optimize", "_C & _debug_set_", *ENVIRONMENT),
    severity=Severity.WARNING,
    collectors=(*scripting_uses.COLLECTORS, runtime_uses.COLLECTOR, runtime_uses.ALONE),
    examples=EXAMPLES,
    sources=(
        *SOURCES,
        "torch/jit/_fuser.py, _state.py, _trace.py of the torch 2.13.0 wheel; the strings of its libtorch_cpu.so",
        "every nvFuser switch called on torch 2.13.0: a warning and None",
    ),
)

# torch 2.13.0: "nvfuser is no longer supported in torch script, use ... is deprecated and a no-op".
_REMOVE = "Remove the setting"
_WITHOUT_EFFECT = frozenset(name for name in bindings("switch") if "_jit_set_nvfuser_" in name)
_WITHOUT_EFFECT_SINCE = TorchVersion(2, 13)  # the oldest release that was run


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    place = place_of(use, context)
    if place is None:
        return
    span = view.span(use.node)
    if use.target in ENVIRONMENT:
        message, advice = ENVIRONMENT[use.target]
        yield Finding("TL131", view.path, span, f"{message}.", Severity.INFO, advice)
        return
    idle = _never_entered(use, view)
    if idle is not None:
        yield idle
        return
    message = _message(use.target, context)
    later = _imported_later(use, view)
    if later is not None:
        advice = (
            f"Not rewritten: it is said before line {later.lineno} imports what may script when it is imported. Take it out once "
            "that runs without."
        )
        yield Finding("TL131", view.path, span, message, Severity.WARNING, advice)
        return
    if drops(context) and not _is_without_effect(use.target, context):
        yield from _dropped(use, place, message, context)
        return
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


def _dropped(use: Use, place: UsePlace, message: str, context: Context) -> Iterator[Finding]:
    """The finding where TorchScript goes: one for all settings that stand in a row."""
    view, project = context.view, context.project
    span = view.span(use.node)
    runtime = cpp_runtime(project)
    if runtime is not None:
        advice = (
            f"{runtime} runs TorchScript in C++, and the setting may be for that: does it run in this process? If not, remove "
            "the setting."
        )
        yield Finding("TL131", view.path, span, message, Severity.WARNING, advice)
        return
    asked = project.mentions("torch.jit._state._enabled") if use.target in _WHOLE_COMPILER else ()
    if asked:
        advice = f"{asked[0]} asks whether they are on: take that out first."
        yield Finding("TL131", view.path, span, message, Severity.WARNING, advice)
        return
    left = runtime_uses.first_torchscript_use(project, view.path)
    if left is not None and use.target != "torch.jit.strict_fusion":
        advice = f"Keep it as long as {left} may run TorchScript; migrate that first."
        yield Finding("TL131", view.path, span, message, Severity.WARNING, advice, waits_for=place_alone(left))
        return
    rewrite = _rewrite(use, place, view) or _unread(use, view)
    if rewrite is None:
        yield Finding("TL131", view.path, span, message, Severity.WARNING, _advice(use, place))
        return
    title, rewrites = rewrite
    statement = view.parent(use.call) if use.call is not None else None
    if isinstance(statement, ast.Expr) and title == _REMOVE:
        row = _row(statement, view)
        if row[0] is not statement:
            return
        rewrites = tuple(DeleteStatement(view.span(item), stale_above(view, item)) for item in row)
        title = title if len(row) == 1 else f"Remove {len(row)} settings"
    left = runtime_uses.first_runtime_use(project, view.path)
    doubt = f"{left} may still run TorchScript, which then chooses as it does by itself" if left is not None else None
    doubt = doubt or (None if use.target == "torch.jit.strict_fusion" else assumption(project))
    safety = Safety.SAFE if doubt is None else Safety.UNSAFE
    review = None if doubt is None else f"Needs review: {doubt}."
    yield Finding("TL131", view.path, span, message, Severity.WARNING, review, Fix(title, safety, rewrites))


def _row(statement: ast.Expr, view: ModuleView) -> list[ast.stmt]:
    """The settings that stand in a row around `statement`, and can all be removed."""
    block = view.block(statement)
    at = next(index for index, item in enumerate(block) if item is statement)
    first = last = at
    while first > 0 and _is_removable(block[first - 1], view):
        first -= 1
    while last + 1 < len(block) and _is_removable(block[last + 1], view):
        last += 1
    return block[first : last + 1]


def _is_removable(statement: ast.stmt, view: ModuleView) -> bool:
    if not _is_setting(statement, view):
        return False
    assert isinstance(statement, ast.Expr)
    call = statement.value
    if not isinstance(call, ast.Call) or not view.certain_name(call.func):
        return False
    return _is_harmless(call) and _saved(call, view) == ()


def _saved(call: ast.Call, view: ModuleView) -> tuple[ast.stmt, ...] | None:
    """The statements `old = setting(...)` for what `call` sets back; None where such a value is used elsewhere, too."""
    saved: list[ast.stmt] = []
    for value in call.args:
        owner = view.scope_at(value).lookup(value.id) if isinstance(value, ast.Name) else None
        bindings = owner.bindings[value.id] if owner is not None and isinstance(value, ast.Name) else ()
        settings = [item for item in bindings if isinstance(item.value, ast.Call) and _sets(item.value, view)]
        for binding in settings:
            statement = view.parent(binding.value) if binding.value is not None else None
            alone = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            if len(bindings) > 1 or not alone or any(read is not value for read, _ in view.reads_of(binding)):
                return None
            assert isinstance(statement, ast.Assign)
            saved.append(statement)
    return tuple(saved)


def _unread(use: Use, view: ModuleView) -> tuple[str, tuple[Rewrite, ...]] | None:
    """`old = setting(...)`, where nobody reads `old` any more."""
    statement = view.parent(use.call) if use.call is not None else None
    if use.call is None or not isinstance(statement, ast.Assign) or not _is_harmless(use.call):
        return None
    target = statement.targets[0]
    binding = view.bound_by(target)
    if len(statement.targets) != 1 or binding is None or binding.scope.kind == "class" or view.reads_of(binding):
        return None
    if binding.scope.kind == "module" and not binding.name.startswith("_"):
        return None
    return "Remove the setting and the name for what it was before", (DeleteStatement(view.span(statement)),)


def _never_entered(use: Use, view: ModuleView) -> Finding | None:
    """The finding for a context manager that is made for nobody: it acts where a `with` enters it, and nowhere else."""
    if use.target not in _CONTEXTS or use.target == "torch.jit.strict_fusion" or use.call is None:
        return None
    name = use.target
    match view.parent(use.call):
        case ast.Expr() as statement if _is_harmless(use.call):
            rewrites: tuple[Rewrite, ...] = (DeleteStatement(view.span(statement)),)
        case ast.Assign(targets=[ast.Name() as target]):
            binding = view.bound_by(target)
            if binding is None or view.reads_of(binding):
                return None
            unread = _unread(use, view)
            rewrites = unread[1] if unread is not None else ()
        case _:
            return None
    message = (
        f"`{name}` makes a context manager, which does nothing until a `with` enters it, and this file never does."
    )
    span = view.span(use.node)
    if not rewrites:
        return Finding("TL131", view.path, span, message, Severity.WARNING, "Take the statement out.")
    return Finding("TL131", view.path, span, message, Severity.WARNING, None, Fix(_REMOVE, Safety.SAFE, rewrites))


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
        reason = f"Keep it as long as {place} may run TorchScript; migrate that first."
    return reason, place_alone(place)


def _is_without_effect(name: str, context: Context) -> bool:
    """Whether every release that the project supports ignores the setting."""
    return name in _WITHOUT_EFFECT and context.settings.min_torch >= _WITHOUT_EFFECT_SINCE


def _doubt(name: str, context: Context) -> str | None:
    """What has to hold beyond this project for the switch to be without effect."""
    if _is_without_effect(name, context):
        return None
    expected = scripting_uses.first_expectation(context.project, context.view.path)
    outside = outside_compiler(context, tracing=name != "torch.jit.strict_fusion")
    doubts = [
        f"{expected} expects to be compiled, so users of this project may script it and need the setting"
        if expected is not None
        else f"{outside} and need the setting"
        if outside is not None
        else None,
        None if name == "torch.jit.strict_fusion" else assumption(context.project),
    ]
    return "; ".join(filter(None, doubts)) or None


def _imported_later(use: Use, view: ModuleView) -> ast.stmt | None:
    """The first import behind the switch that turns the whole compiler off: decorators run when a module is imported."""
    if use.target not in _WHOLE_COMPILER:
        return None
    own = sys.stdlib_module_names | {"torch"}
    behind: list[ast.stmt] = []
    for node in walk(view.tree):
        match node:
            case ast.ImportFrom(module=module, level=level) if level or (module or "").partition(".")[0] not in own:
                behind.append(node)
            case ast.Import(names=names) if any(name.name.partition(".")[0] not in own for name in names):
                behind.append(node)
    return min((node for node in behind if node.lineno > use.node.lineno), key=lambda node: node.lineno, default=None)


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
    return _sets(statement.value, view)


def _sets(call: ast.Call, view: ModuleView) -> bool:
    return view.possible_name(call.func) in _SETTERS | _WHOLE_COMPILER


def _rewrite(use: Use, place: UsePlace, view: ModuleView) -> tuple[str, tuple[Rewrite, ...]] | None:
    """Title and rewrites that take the switch out; None where its value is used."""
    decorator = decorator_of(use, view)
    if decorator is not None and use.target in _CONTEXTS:
        return "Remove the decorator", (DropDecorator(view.span(decorator)),)
    if place != "call" or use.call is None or not _is_harmless(use.call):
        return None
    parent = view.parent(use.call)
    if isinstance(parent, ast.Expr) and use.target not in _READS:
        saved = _saved(use.call, view)
        if saved is None:
            return None
        title = "Remove the setting, and the name for what it was before" if saved else _REMOVE
        gone = (*saved, parent)
        return title, tuple(DeleteStatement(view.span(item), stale_above(view, item)) for item in gone)
    if isinstance(parent, ast.withitem) and use.target in _CONTEXTS:
        around = view.parent(parent)
        if isinstance(around, ast.With) and len(around.items) == 1 and parent.optional_vars is None:
            return "Take the context manager out", (KeepBranch(view.span(around), "body"),)
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
            return "Stop passing the name on; nothing in the project is seen to need it any more."
        case "store":
            return "The patch can go: nothing in the project is seen to run TorchScript any more."
        case "call" | "decorator" if use.target in _READS:
            return "Nothing in the project is seen to run TorchScript any more, so take the branch for `False` and drop the question."
        case "call":
            return (
                "Nothing in the project is seen to run TorchScript any more, so the call can go; its value is used here, so drop what "
                "uses it as well."
            )
        case _:
            return (
                "Nothing in the project is seen to run TorchScript any more: drop this use together with the setting."
            )
