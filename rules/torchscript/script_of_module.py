"""`torch.jit.script` of a module, by what becomes of the scripted value: called, trained, saved, inspected, handed on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlift.finding import (
    DeleteStatement,
    Finding,
    Fix,
    Group,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.artifacts import Artifact, read_artifact
from torchlift.rules.torchscript.capture_writer import Capture, Given, write_capture
from torchlift.rules.torchscript.captured_module import read_captured_module
from torchlift.rules.torchscript.deprecation import EXPORT_DOCS
from torchlift.rules.torchscript.enclosing_test import enclosing_test
from torchlift.rules.torchscript.example_inputs import ExampleInputs
from torchlift.rules.torchscript.export_arguments import ArgumentBuilder, CannotExport, fixed_dimensions
from torchlift.rules.torchscript.foreign_readers import foreign_readers
from torchlift.rules.torchscript.module_base import is_module_class
from torchlift.rules.torchscript.reasons import sentence
from torchlift.rules.torchscript.scripted_module import Draft, ScriptedModule, draft_export, read_scripted_module
from torchlift.rules.torchscript.value_life import Obstacle, ValueLife, follow
from torchlift.rules.torchscript.visible_inputs import visible_inputs
from torchlift.view import ModuleView, Use

# What a scripted module offers and a plain one does not.
_SCRIPT_ONLY = frozenset(
    """save save_to_buffer _save_for_lite_interpreter _save_to_buffer_for_lite_interpreter graph inlined_graph code
    code_with_constants graph_for get_debug_state define original_name _c forward_magic_method""".split()
)
_COPIES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "train", "eval", "requires_grad_"})
_TRAINS = frozenset({"train", "parameters", "named_parameters", "zero_grad", "requires_grad_"})
_HINTS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.jit.Attribute"})
_FUNCTION_NAMES = frozenset({"f", "fn", "func", "function", "method", "callable"})
_IGNORED = frozenset({"optimize", "example_inputs"})


@dataclass
class ModuleCall:
    """One `torch.jit.script(module)` call and what is known of it.

    Attributes:
        use, context: the use and its file.
        call: the call.
        node: the module expression.
        module: what is known of the module.
        life: what becomes of the value.
        draft: the export call that would capture the module.
    """

    use: Use
    context: Context
    call: ast.Call
    node: ast.expr
    module: ScriptedModule
    life: ValueLife
    draft: Draft

    @property
    def view(self) -> ModuleView:
        """The file."""
        return self.context.view


@dataclass(frozen=True)
class ModuleVerdict:
    """Help text, fix and groups of a finding."""

    help: str
    fix: Fix | None = None
    groups: tuple[Group, ...] = ()


def script_of_module(use: Use, context: Context) -> ModuleVerdict:
    """What to say about `torch.jit.script(module)`."""
    assert use.call is not None
    view, call = context.view, use.call
    node = call.args[0]
    module = read_scripted_module(view, node, context.project)
    life = follow(view, _origin(view, call), context.project)
    about = ModuleCall(use, context, call, node, module, life, draft_export(module))
    if life.saves:
        return _saved(about)
    refusal = _unreadable(call)
    if refusal is not None:
        return ModuleVerdict(f"Not rewritten: {refusal}. {_both_ways(about)}")
    if (test := enclosing_test(view, call)) is not None:
        return ModuleVerdict(_for_test(about, test))
    if life.form == "discarded":
        return ModuleVerdict(
            f"The result is thrown away, so the call only checks that `{module.text}` can be scripted: delete it, or check "
            f"its successor: `{about.draft.code}`."
        )
    inspected, escaping = _sorted_obstacles(about)
    if inspected:
        return ModuleVerdict(
            f"Not rewritten: the scripted value {sentence(inspected)} A plain module has nothing of the kind. {_both_ways(about)}"
        )
    conditional = _conditional(about)
    if conditional is not None:
        return ModuleVerdict(conditional)
    if escaping:
        return ModuleVerdict(f"Not rewritten: the scripted value {sentence(escaping)} {_handed_on(about)}")
    if life.frozen:
        return ModuleVerdict(
            "Drop the freezing together with the scripting and call the module itself in eval mode. "
            f"{_speed(about)} {EXPORT_DOCS}"
        )
    return _dropped(about)


def _origin(view: ModuleView, call: ast.Call) -> ast.Call:
    """The call, or the `typing.cast` around it, which gives the same value."""
    parent = view.parent(call)
    if isinstance(parent, ast.Call) and len(parent.args) == 2 and parent.args[1] is call:
        resolution = view.resolve(parent.func)
        if resolution is not None and resolution.name == "typing.cast":
            return parent
    return call


def _unreadable(call: ast.Call) -> str | None:
    keywords = {keyword.arg for keyword in call.keywords}
    if None in keywords or len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return "its arguments are not all visible"
    unknown = sorted(str(name) for name in keywords - _IGNORED)
    return f"it passes `{unknown[0]}`, which only the TorchScript compiler understands" if unknown else None


# Only used in Python


def _dropped(about: ModuleCall) -> ModuleVerdict:
    """The module itself in the place of the scripted one."""
    view, life, call = about.view, about.life, about.call
    if not isinstance(about.node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        return ModuleVerdict(f"The scripted value is only used in Python: drop the call. {_speed(about)}")
    used = _attributes_used(life)
    subject = "it" if _is_function(about) else "its `forward`"
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
    thing = "function" if _is_function(about) else "module"
    fix = Fix(f"Use the {thing} itself", Safety.UNSAFE, (rewrite,))
    review = f"Needs review: the value is only {what}, so the {thing} can take its place: {sentence(reasons)}"
    return ModuleVerdict(f"{review} {_speed(about)}", fix)


def _is_function(about: ModuleCall) -> bool:
    """Whether it is a function or method that is scripted and no module, as far as names tell."""
    node = about.node
    if about.module.owner is not None or not isinstance(node, (ast.Attribute, ast.Name)):
        return False
    if isinstance(node, ast.Name):
        return node.id in _FUNCTION_NAMES
    pattern = re.compile(rb"\bdef\s+" + re.escape(node.attr.encode()) + rb"\s*\(")
    project = about.context.project
    return any(pattern.search(project.data(path)) for path in project.files_holding(f"def {node.attr}"))


def _speed(about: ModuleCall) -> str:
    text = about.module.text
    shown = text if text.isidentifier() else "module"
    if _is_function(about):
        return f"For speed use `torch.compile({text})`."
    return (
        f"For speed call `{shown}.compile()`, or use `torch.compile({shown})`, which puts `_orig_mod.` in front of the keys "
        "of its state_dict."
    )


def _attributes_used(life: ValueLife) -> set[str]:
    """Attributes that are read from the value."""
    found = set()
    for obstacle in life.obstacles:
        attribute = _attribute_at(life, obstacle)
        if attribute is not None:
            found.add(attribute.attr)
    for binding in life.bindings:
        for read, _ in life.view.reads_of(binding):
            parent = life.view.parent(read)
            if isinstance(parent, ast.Attribute):
                found.add(parent.attr)
    if life.evals or life.outer is not life.origin:
        found.add("eval")
    return found


def _again(about: ModuleCall, used: set[str]) -> Iterator[str]:
    """Clauses about the module's own name, which means the same object as the value from now on."""
    view, node = about.view, about.node
    target = about.life.name or about.life.attribute
    if not isinstance(node, ast.Name) or (target is not None and view.text(target) == node.id):
        return
    binding = view.definition(node)
    if binding is None:
        return
    later = [read.lineno for read, _ in view.reads_of(binding) if read.lineno > about.call.lineno]
    modes = sorted(used & _COPIES)
    if later:
        also = f", and `.{modes[0]}()` of one changes the other" if modes else ""
        yield f"`{node.id}` is used again on line {later[0]} and is the same object{also}"


def _hints(about: ModuleCall) -> Iterator[str]:
    """Clauses about code of the class that runs otherwise when it is not scripted."""
    if about.module.owner is None:
        if _is_function(about):
            return
        yield f"the class of `{about.module.text}` is not visible, so its `forward` was not searched for `is_scripting()`"
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
    owner = next((a for a in about.view.ancestors(life.attribute) if isinstance(a, ast.ClassDef)), None)
    name = life.attribute.attr
    if owner is not None and not _is_function(about) and is_module_class(about.view, owner, about.context.project):
        yield (
            f"`self.{name}` is a scripted part of `{owner.name}`, and left as it is `torch.export.export` of the whole fails "
            "with a TypeError that names neither"
        )
    others = about.context.project.files_with_attribute(name, (about.view.path,))
    if others:
        yield f"`.{name}` may be used by {others[0]}, which was not looked at"


def _attribute_at(life: ValueLife, obstacle: Obstacle) -> ast.Attribute | None:
    parent = life.home(obstacle.node).parent(obstacle.node)
    return parent if isinstance(parent, ast.Attribute) and parent.value is obstacle.node else None


def _sorted_obstacles(about: ModuleCall) -> tuple[list[str], list[str]]:
    """Uses that only a scripted module serves, and ways by which the value leaves what was read."""
    inspected, escaping = [], []
    life = about.life
    for obstacle in life.obstacles:
        place = life.place(obstacle.node)
        attribute = _attribute_at(life, obstacle)
        if attribute is not None and attribute.attr in _SCRIPT_ONLY:
            inspected.append(f"is asked for `.{attribute.attr}` ({place})")
        elif attribute is not None or obstacle.node is life.attribute:
            continue  # the module has it too
        elif "is asked about with" in obstacle.reason:
            inspected.append(f"{obstacle.reason.partition(',')[0]} ({place})")
        else:
            escaping.append(f"{obstacle.reason} ({place})")
    return inspected, escaping


def _conditional(about: ModuleCall) -> str | None:
    """Advice for scripting that is switched on by an option."""
    view, life = about.view, about.life
    parent = view.parent(life.outer)
    if isinstance(parent, ast.IfExp) and life.outer in (parent.body, parent.orelse):
        other = parent.orelse if life.outer is parent.body else parent.body
        return (
            f"Scripting is an option here. Keep the other arm, `{_short(view, other)}`, and drop the option "
            f"`{_short(view, parent.test)}`, or put `torch.compile({about.module.text})` in this one."
        )
    around = view.parent(life.statement)
    target = life.name or life.attribute
    same = target is not None and view.text(target) == view.text(about.node)
    if isinstance(around, ast.If) and same and around.body == [life.statement] and not around.orelse:
        return (
            f"Scripting is an option here, and `{about.module.text}` works without. Drop this branch with the option "
            f"`{_short(view, around.test)}`, or call `{about.module.text}.compile()` in it."
        )
    if isinstance(around, ast.Try) and life.statement in around.body and around.handlers:
        return (
            f"The handler below already does without scripting: keep only what it does, or call "
            f"`torch.compile({about.module.text})` here."
        )
    return None


# Saved


def _saved(about: ModuleCall) -> ModuleVerdict:
    view, life, call = about.view, about.life, about.call
    capture = Capture(about.use, about.context, life)
    artifacts = [(save, read_artifact(view, save.path, about.context.project)) for save in life.saves]
    groups = tuple(group for _, artifact in artifacts for group in artifact.group())
    inputs = None
    refusal = _unreadable(call)
    try:
        if refusal is not None:
            raise CannotExport(refusal)
        inspected, escaping = _sorted_obstacles(about)
        other = [o.reason for o in life.obstacles if (a := _attribute_at(life, o)) is not None and a.attr != "eval"]
        if inspected or escaping or other:
            raise CannotExport(f"the scripted value {[*inspected, *escaping, *other][0]}")
        if life.origin is not call:
            raise CannotExport("it is saved under another type (`typing.cast`)")
        inputs = visible_inputs(view, call, [c for c in life.calls if life.home(c) is view])
        if inputs is None:
            raise CannotExport("no example inputs are visible here")
        _plan(capture, about, inputs)
    except CannotExport as refusal_found:
        return ModuleVerdict(_saved_by_hand(about, str(refusal_found), [a for _, a in artifacts]), None, groups)
    return ModuleVerdict(capture.review() or "", capture.fix("Capture with `torch.export.export`"), groups)


def _plan(capture: Capture, about: ModuleCall, inputs: ExampleInputs) -> None:
    view, life, call = about.view, about.life, about.call
    for called in life.calls:
        if called.keywords or any(isinstance(argument, ast.Starred) for argument in called.args):
            raise CannotExport(f"it is called with keywords or unpacked arguments ({life.place(called)})")
        if len(called.args) != inputs.count:
            raise CannotExport(
                f"it is called with {len(called.args)} arguments ({life.place(called)}), not {inputs.count}"
            )
    facts = read_captured_module(view, about.node, call, about.context.project)
    if facts.parameters is not None:
        required = facts.required if facts.required is not None else facts.parameters
        if not required <= inputs.count <= facts.parameters:
            raise CannotExport(f"`forward` takes {facts.parameters} inputs and {inputs.count} are visible")
    capture.assumptions.append(
        "branches and loops of `forward`, ints that it is given and arguments that are left out are fixed as these inputs "
        "take them, which scripting kept open"
    )
    evaluated = _eval_first(about)
    if evaluated:
        capture.assumptions.append(
            f"`.eval()` moves in front of the capture, so it now reaches `{about.module.text}` too"
        )
    elif facts.stateful and not facts.evaluated:
        capture.assumptions.append(f"`.eval()` on `{about.module.text}` was not seen, so it is captured in train mode")
    capture.assumptions += [doubt.reason for doubt in facts.doubts if doubt.safety is not Safety.MANUAL]
    refused = [doubt.reason for doubt in facts.doubts if doubt.safety is Safety.MANUAL]
    if refused:
        raise CannotExport(refused[0])
    builder = ArgumentBuilder(view, call, capture.spell, about.context.settings.batch_example)
    arguments = builder.build(inputs)
    capture.assumptions += arguments.assumptions
    capture.assumptions += fixed_dimensions(arguments, [(view, called) for called in life.calls], saved=True)
    simple = isinstance(about.node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    hole = "$module" if simple else "($module)"
    template = Template(f"{hole}.eval()", (("module", view.span(about.node)),)) if evaluated else None
    dropped = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
    write_capture(capture, Given(template, None, dropped), arguments)


def _eval_first(about: ModuleCall) -> bool:
    """Whether `.eval()` on the scripted value has to run before the capture: it is live on one, and no use on the other.

    Raises:
        CannotExport: the value is used before it is put into eval mode.
    """
    life, view = about.life, about.view
    if not life.evals:
        return life.outer is not about.call
    last = max(statement.lineno for statement in life.evals)
    used = [node.lineno for node in (*life.calls, *(save.call for save in life.saves))]
    block = view.block(life.statement)
    if min(used, default=last + 1) < last or any(statement not in block for statement in life.evals):
        raise CannotExport("it is used before `.eval()` is called on it, and an exported program has one mode only")
    return True


def _saved_by_hand(about: ModuleCall, reason: str, artifacts: list[Artifact]) -> str:
    path = _short(about.view, about.life.saves[0].path)
    readers = [
        f"`torch.jit.load` at {place}:{site.line} has to become `torch.export.load(path).module()` with it"
        for artifact in artifacts
        for place, site in artifact.readers[:2]
    ]
    foreign = [f"{r.title} at {r.place}: {r.advice}" for r in foreign_readers(about.context.project)[:2]]
    return " ".join(
        [
            f"Not rewritten: {reason}. To leave a file behind: `torch.export.save({about.draft.code}, {path})`.",
            about.draft.remarks,
            *([sentence(readers)] if readers else []),
            *([f"Read elsewhere: {sentence(foreign)}"] if foreign else []),
            EXPORT_DOCS,
        ]
    )


# Texts


def _both_ways(about: ModuleCall) -> str:
    if _is_function(about):
        return _speed(about)
    return f"{_speed(about)} To leave Python: `{about.draft.code}`. {about.draft.remarks} {EXPORT_DOCS}"


def _handed_on(about: ModuleCall) -> str:
    text = about.module.text
    if _is_function(about):
        return f"Hand on `{text}` itself, or `torch.compile({text})` for speed."
    return (
        f"Hand on `{text}` itself where it is only called there; `torch.compile({text})` makes it fast. Where it is written "
        f"to a file, export it instead: `{about.draft.code}`. {about.draft.remarks}"
    )


def _for_test(about: ModuleCall, test: str) -> str:
    return (
        f"Not rewritten: `{test}` tests that `{about.module.text}` can be scripted. Delete the test, or test its successor: "
        f"`{about.draft.code}`, whose `.module()` is called like the module."
    )


def _short(view: ModuleView, node: ast.expr) -> str:
    text = view.text(node)
    return text if len(text) <= 50 and "\n" not in text else f"{ast.unparse(node)[:47]}..."


def finding_of(verdict: ModuleVerdict, code: str, message: str, use: Use, view: ModuleView) -> Finding:
    """The finding that says `verdict`."""
    assert isinstance(use.node, ast.expr)
    return Finding(
        code,
        view.path,
        view.span(use.node),
        message,
        Severity.WARNING,
        verdict.help,
        verdict.fix,
        groups=verdict.groups,
    )
