"""`torch.jit.script` of a module, by what becomes of the scripted value: called, trained, saved, inspected, handed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import (
    DeleteStatement,
    Finding,
    Fix,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.analysis.places.order import excludes
from torchlift.rules.analysis.places.purpose import enclosing_test
from torchlift.rules.analysis.project.module_base import is_module_class
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.export_draft import draft_export
from torchlift.rules.torchscript.captures.module_call import (
    ModuleCall,
    ModuleVerdict,
    attributes_used,
    sorted_obstacles,
    unreadable,
)
from torchlift.rules.torchscript.captures.plain_module import plain_module
from torchlift.rules.torchscript.captures.saved_module import saved
from torchlift.rules.torchscript.captures.script_advice import both_ways, handed_on, of_test, speed, successor
from torchlift.rules.torchscript.captures.visible_inputs import visible_calls
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.modules.scripted_kind import MODULE_ATTRIBUTES
from torchlift.rules.torchscript.modules.scripted_module import read_scripted_module
from torchlift.rules.torchscript.proofs.recorded_capture import recorded_eager
from torchlift.rules.torchscript.values.kept_entry import kept_entry
from torchlift.rules.torchscript.values.takers import saved_later
from torchlift.rules.torchscript.values.value_life import follow
from torchlift.view import ModuleView, Use
from torchlift.view.handlers import NOT_SCRIPTABLE, may_be_for, tried_around
from torchlift.view.walk import walk

_COPIES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "train", "eval", "requires_grad_"})
_HINTS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.jit.Attribute"})


def script_of_module(use: Use, context: Context) -> ModuleVerdict:
    """What to say about `torch.jit.script(module)`."""
    assert use.call is not None
    view, call = context.view, use.call
    node = call.args[0]
    recorded = recorded_eager(use, context)
    proved = recorded is not None and recorded.proved
    if (proved or drops(context)) and unreadable(call) is None:
        plain = plain_module(use, context, node, traced=False)
        if plain is not None:
            return plain
    module = read_scripted_module(view, node, context.project)
    life = follow(view, _origin(view, call), context.project)
    if module.kind == "unknown" and attributes_used(life) & MODULE_ATTRIBUTES:
        module = replace(module, kind="module")
    draft = draft_export(module, visible_calls(view, call, life))
    about = ModuleCall(use, context, call, node, module, life, draft)
    if life.saves:
        return saved(about)
    if recorded is None:
        return _static(about)
    if recorded.refuted:
        return ModuleVerdict(f"Not rewritten: {recorded.refuted}. {both_ways(about)}", notes=recorded.notes())
    return replace(_static(about), notes=recorded.notes())


def _static(about: ModuleCall) -> ModuleVerdict:
    """What the analyses say about a module that is not written to a file."""
    view, life, call, module = about.view, about.life, about.call, about.module
    refusal = unreadable(call)
    if refusal is not None:
        return ModuleVerdict(f"Not rewritten: {refusal}. {both_ways(about)}")
    if (test := enclosing_test(view, call)) is not None:
        return ModuleVerdict(of_test(about, test))
    if (line := _told_as_error(view, call)) is not None:
        return ModuleVerdict(
            f"Not rewritten: line {line} raises where `{module.text}` cannot be scripted, and would not any more. {both_ways(about)}"
        )
    if life.form == "discarded":
        return ModuleVerdict(
            f"The result is thrown away, so the call only checks that `{module.text}` can be scripted: delete it"
            f"{successor(about, 'check')}."
        )
    if _is_never_read(about):
        return ModuleVerdict(
            f"Nothing is seen to read the result: if this only checks that `{module.text}` can be scripted, delete it."
        )
    inspected, escaping = sorted_obstacles(about)
    if inspected:
        only_asked = all(clause.startswith("is asked about with") for clause in inspected)
        plain = "may answer differently" if only_asked else "has nothing of the kind"
        return ModuleVerdict(
            f"Not rewritten: the scripted value {sentence(inspected)} A plain module {plain}. {both_ways(about)}"
        )
    conditional = _conditional(about)
    if conditional is not None:
        return ModuleVerdict(conditional)
    if isinstance(life.statement, ast.Assign) and isinstance(life.statement.targets[0], ast.Subscript):
        return ModuleVerdict(kept_entry(view, life.statement.targets[0], about.node))
    if escaping:
        taken = any("is passed to `" in clause for clause in escaping)  # by what is known to take no module
        advice = f"Not rewritten: the scripted value {sentence(escaping)}"
        return ModuleVerdict(advice if taken else f"{advice} {handed_on(about)}")
    if life.frozen:
        return ModuleVerdict(
            "Drop the freezing together with the scripting and call the module itself in eval mode. "
            f"{speed(about)} {EXPORT_DOCS}"
        )
    if (later := saved_later(life, about.context.project)) is not None:
        return ModuleVerdict(f"Not rewritten: the scripted value {later}. {handed_on(about)}")
    return _dropped(about)


def _is_never_read(about: ModuleCall) -> bool:
    """Whether the value is given a name under which nothing that may run behind it reads it; others may read a module's own names."""
    view, name = about.view, about.life.name
    binding = view.bound_by(name) if about.life.form == "bound" and name is not None else None
    if binding is None or about.context.project.may_be_imported(view, binding):
        return False
    reads = [read for read, _ in view.reads_of(binding)]
    if not reads:
        return binding.scope.kind != "module"
    looped = any(isinstance(ancestor, (ast.For, ast.While, ast.AsyncFor)) for ancestor in view.ancestors(about.call))
    return not looped and all(excludes(view, read, about.call) for read in reads)


def _origin(view: ModuleView, call: ast.Call) -> ast.Call:
    """The call, or the `typing.cast` around it, which gives the same value."""
    parent = view.parent(call)
    if isinstance(parent, ast.Call) and len(parent.args) == 2 and parent.args[1] is call:
        return parent if view.possible_name(parent.func) == "typing.cast" else call
    return call


def _dropped(about: ModuleCall) -> ModuleVerdict:
    """The module itself in the place of the scripted one."""
    view, life, call = about.view, about.life, about.call
    if not isinstance(about.node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        return ModuleVerdict(f"The scripted value is only used in Python: drop the call. {speed(about)}")
    used = attributes_used(life)
    kind = about.module.kind
    subject = "its `forward`" if kind == "module" else "it"
    reasons = [f"{subject} is ordinary Python from now on: it sees attributes that are changed later, and ints and floats "
               "that it is given are no longer converted"]  # fmt: skip
    reasons += _again(about, used)
    reasons += _hints(about)
    if life.attribute is not None:
        reasons += _kept(about)
    rewrite: Rewrite = ReplaceExpression(view.span(call), Template("$module", (("module", view.span(about.node)),)))
    target = life.name or life.attribute
    if target is not None and life.outer is call and view.text(target) == view.text(about.node):
        rewrite = DeleteStatement(view.span(life.statement))
    trained = bool(used & {"train", "parameters", "named_parameters"})
    what = "trained and called" if trained else "called"
    thing = "what is scripted" if kind == "unknown" else f"the {kind}"
    fix = Fix(
        f"Use `{about.module.text}` itself" if kind == "unknown" else f"Use the {kind} itself",
        Safety.UNSAFE,
        (rewrite,),
    )
    seen = f"the value is only {what}" if life.calls or used else "no use of the value was seen"
    review = f"Needs review: {seen}, so {thing} can take its place: {sentence(reasons)}"
    return ModuleVerdict(f"{review} {speed(about)}", fix)


def _told_as_error(view: ModuleView, call: ast.Call) -> int | None:
    """Line of a `raise` that tells whoever calls this that scripting failed: a check of it then, whatever else it is."""
    function = view.function_of(call)
    tried = (around for around in tried_around(view, call) if view.function_of(around) is function)
    catching = (one for around in tried for one in around.handlers if may_be_for(one, NOT_SCRIPTABLE))
    raised = (node.lineno for handler in catching for node in walk(handler) if isinstance(node, ast.Raise))
    return next(raised, None)


def _again(about: ModuleCall, used: set[str]) -> Iterator[str]:
    """Clauses about the module's own name, which means the same object as the value from now on."""
    view, node = about.view, about.node
    target = about.life.name or about.life.attribute
    if not isinstance(node, ast.Name) or (target is not None and view.text(target) == node.id):
        return
    binding = view.definition(node)
    if binding is None:
        return
    behind = about.call.end_lineno or 0
    reads = [read for read, _ in view.reads_of(binding) if read.lineno > behind]
    later = [read.lineno for read in reads if not excludes(view, read, about.call)]
    modes = sorted(used & _COPIES)
    if later:
        also = f", and `.{modes[0]}()` of one changes the other" if modes else ""
        yield f"`{node.id}` is used again on line {later[0]} and is the same object{also}"


def _hints(about: ModuleCall) -> Iterator[str]:
    """Clauses about code of the class that runs otherwise when it is not scripted."""
    if about.module.owner is None:
        if about.module.kind == "module":
            yield f"the class of `{about.module.text}` was not found, so its `forward` was not searched for `is_scripting()`"
        elif about.module.kind == "unknown":
            yield f"the code of `{about.module.text}` was not found, so it was not searched for `is_scripting()`"
        return
    owner, definition = about.module.owner
    last = definition.end_lineno or definition.lineno
    for use in owner.uses(_HINTS, about.context.project.translate):
        if definition.lineno <= use.node.lineno <= last:
            what = "asks" if use.target != "torch.jit.Attribute" else "makes a"
            name = f"`{use.target.rpartition('.')[2]}{'()' if what == 'asks' else ''}`"
            yield f"`{definition.name}` {what} {name} at {owner.path}:{use.node.lineno}, which means something else there"


def _kept(about: ModuleCall) -> Iterator[str]:
    life = about.life
    assert life.attribute is not None
    owner = about.view.class_of(life.attribute)
    name = life.attribute.attr
    if (
        owner is not None
        and about.module.kind != "function"
        and is_module_class(about.view, owner, about.context.project)
    ):
        yield (
            f"`self.{name}` is a scripted part of `{owner.name}`, and left as it is `torch.export.export` of the whole fails "
            "with a TypeError that names neither"
        )
    others = about.context.project.files_with_attribute(name, (about.view.path,))
    if others:
        yield f"`.{name}` may be used by {others[0]}, which was not looked at"


def _conditional(about: ModuleCall) -> str | None:
    """Advice for scripting that is switched on by an option."""
    view, life = about.view, about.life
    parent = view.parent(life.outer)
    if isinstance(parent, ast.IfExp) and life.outer in (parent.body, parent.orelse):
        other = parent.orelse if life.outer is parent.body else parent.body
        return (
            f"Scripting is an option here. Keep the other arm, `{one_line(view, other)}`, and drop the option "
            f"`{one_line(view, parent.test)}`, or put `torch.compile({about.module.text})` in this one."
        )
    around = view.parent(life.statement)
    target = life.name or life.attribute
    same = target is not None and view.text(target) == view.text(about.node)
    if isinstance(around, ast.If) and same and around.body == [life.statement] and not around.orelse:
        text = about.module.text
        faster = f"call `{text}.compile()`" if about.module.kind == "module" else f"use `torch.compile({text})`"
        return (
            f"Only where `{one_line(view, around.test)}` it is scripted here, and what follows takes `{text}` as it is otherwise. Drop this "
            f"branch{'' if about.draft.plain else f', or {faster} in it'}."
        )
    if (
        isinstance(around, ast.Try)
        and life.statement in around.body
        and any(may_be_for(handler, NOT_SCRIPTABLE) for handler in around.handlers)
    ):
        return (
            "Where scripting fails, the handler below goes on: keep only what it does, or call "
            f"`torch.compile({about.module.text})` here."
        )
    return None


def finding_of(verdict: ModuleVerdict, code: str, message: str, use: Use, view: ModuleView) -> Finding:
    """The finding that says `verdict`."""
    assert isinstance(use.node, ast.expr)
    return Finding(
        code,
        view.path,
        view.span(use.node),
        message,
        Severity.WARNING,
        verdict.help or None,
        verdict.fix,
        groups=verdict.groups,
        notes=verdict.notes,
    )
