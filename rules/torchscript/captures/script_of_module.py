"""`torch.jit.script` of a module, by what becomes of the scripted value: called, trained, saved, inspected, handed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

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
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.purpose import enclosing_test, is_test_file
from torchlift.rules.analysis.project.module_base import is_module_class
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.artifacts import Artifact, read_artifact
from torchlift.rules.torchscript.captures.capture_writer import Capture, Given, write_capture
from torchlift.rules.torchscript.captures.export_arguments import ArgumentBuilder, CannotExport, fixed_dimensions
from torchlift.rules.torchscript.captures.export_draft import Draft, draft_export
from torchlift.rules.torchscript.captures.visible_inputs import visible_calls, visible_inputs
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS
from torchlift.rules.torchscript.facts.foreign_readers import foreign_readers
from torchlift.rules.torchscript.functions.script_module_class import SCRIPT_ONLY
from torchlift.rules.torchscript.modules.captured_module import read_captured_module
from torchlift.rules.torchscript.modules.scripted_kind import MODULE_ATTRIBUTES
from torchlift.rules.torchscript.modules.scripted_module import ScriptedModule, read_scripted_module
from torchlift.rules.torchscript.values.example_inputs import ExampleInputs
from torchlift.rules.torchscript.values.kept_entry import kept_entry
from torchlift.rules.torchscript.values.value_life import Obstacle, ValueLife, follow
from torchlift.view import ModuleView, Use

_COPIES = frozenset({"to", "cuda", "cpu", "half", "float", "double", "train", "eval", "requires_grad_"})
_TRAINS = frozenset({"train", "parameters", "named_parameters", "zero_grad", "requires_grad_"})
_HINTS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.jit.Attribute"})
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
    if module.kind == "unknown" and _attributes_used(life) & MODULE_ATTRIBUTES:
        module = replace(module, kind="module")
    draft = draft_export(module, visible_calls(view, call, life))
    about = ModuleCall(use, context, call, node, module, life, draft)
    if life.saves:
        return _saved(about)
    refusal = _unreadable(call)
    if refusal is not None:
        return ModuleVerdict(f"Not rewritten: {refusal}. {_both_ways(about)}")
    if (test := enclosing_test(view, call)) is not None:
        return ModuleVerdict(_for_test(about, test))
    if life.form == "discarded":
        return ModuleVerdict(
            f"The result is thrown away, so the call only checks that `{module.text}` can be scripted: delete it"
            f"{_successor(about, 'check')}."
        )
    inspected, escaping = _sorted_obstacles(about)
    if inspected:
        return ModuleVerdict(
            f"Not rewritten: the scripted value {sentence(inspected)} A plain module has nothing of the kind. {_both_ways(about)}"
        )
    conditional = _conditional(about)
    if conditional is not None:
        return ModuleVerdict(conditional)
    if isinstance(life.statement, ast.Assign) and isinstance(life.statement.targets[0], ast.Subscript):
        return ModuleVerdict(kept_entry(view, life.statement.targets[0], about.node))
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
    review = f"Needs review: the value is only {what}, so {thing} can take its place: {sentence(reasons)}"
    return ModuleVerdict(f"{review} {_speed(about)}", fix)


def _speed(about: ModuleCall) -> str:
    text = about.module.text
    if about.draft.plain:
        return f"It takes {about.draft.plain} and stays plain Python, which `torch.compile` makes no faster."
    match about.module.kind:
        case "function":
            return f"For speed use `torch.compile({text})`."
        case "unknown":
            return (
                f"For speed use `torch.compile({text})`; if it is a module, `{text}.compile()` leaves the keys of its "
                "state_dict as they are."
            )
    compiled = f"`torch.compile({text})`, which puts `_orig_mod.` in front of the keys of its state_dict"
    if not isinstance(about.node, (ast.Name, ast.Attribute, ast.Subscript)):
        return f"For speed use {compiled}."
    return f"For speed call `{text}.compile()`, or use {compiled}."


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
        if about.module.kind == "module":
            yield f"the class of `{about.module.text}` is not visible, so its `forward` was not searched for `is_scripting()`"
        elif about.module.kind == "unknown":
            yield f"the code of `{about.module.text}` is not visible, so it was not searched for `is_scripting()`"
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
        if attribute is not None and attribute.attr in SCRIPT_ONLY:
            inspected.append(f"is asked for `.{attribute.attr}` ({place})")
        elif attribute is not None or obstacle.node is life.attribute:
            continue  # the module has it too
        elif "is asked about with `setattr`" in obstacle.reason:
            escaping.append(f"is put on another object with `setattr` ({place})")
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
            f"Scripting is an option here, and `{text}` works without. Drop this branch with the option "
            f"`{one_line(view, around.test)}`{'' if about.draft.plain else f', or {faster} in it'}."
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
    path = one_line(about.view, about.life.saves[0].path)
    successor = "make it from that again" if about.draft.plain else "become `torch.export.load(path).module()` with it"
    readers = [
        f"`torch.jit.load` at {place}:{site.line} has to {successor}"
        for artifact in artifacts
        for place, site in artifact.readers[:2]
    ]
    foreign = _foreign(about, artifacts) if not about.draft.plain else []
    return " ".join(
        [
            f"Not rewritten: {reason}. {_file_left(about, path)}",
            *([sentence(readers)] if readers else []),
            *([f"Code that may read the file: {sentence(foreign)}"] if foreign else []),
            EXPORT_DOCS,
        ]
    )


def _foreign(about: ModuleCall, artifacts: list[Artifact]) -> list[str]:
    """Readers in other languages; nothing but this program knows a buffer, a path made up here, or a test's file."""
    view = about.view
    local = all(artifact.buffer or (artifact.key or "").startswith("local ") for artifact in artifacts) or all(
        isinstance(save.path, ast.Call)
        and (name := view.resolve(save.path.func)) is not None
        and name.name == "io.BytesIO"
        for save in about.life.saves
    )
    if local or is_test_file(about.view.path):
        return []
    return [f"{r.title} at {r.place}: {r.advice}" for r in foreign_readers(about.context.project)[:2]]


def _file_left(about: ModuleCall, path: str) -> str:
    """How to leave a file behind."""
    draft = about.draft
    if draft.plain:
        return (
            f"It takes {draft.plain}, and `torch.export` captures tensors: keep it as Python code, and save what it is made "
            "from (`torch.save` of its vocabulary or `state_dict()`) in the place of the program."
        )
    entry = {
        "module": "",
        "function": " A function has to stand in the `forward` of a module first.",
        "unknown": " If it is a function, it has to stand in the `forward` of a module first.",
    }[about.module.kind]
    return f"To leave a file behind: `torch.export.save({draft.code}, {path})`.{entry} {draft.remarks}"


# Texts


def _both_ways(about: ModuleCall) -> str:
    draft = about.draft
    if about.module.kind == "function" or draft.plain:
        return _speed(about)
    leave = "To leave Python" if about.module.kind == "module" else "To leave Python, if it is a module"
    return f"{_speed(about)} {leave}: `{draft.code}`. {draft.remarks} {EXPORT_DOCS}"


def _handed_on(about: ModuleCall) -> str:
    text, draft = about.module.text, about.draft
    if draft.plain:
        return f"Hand on `{text}` itself: it takes {draft.plain} and stays plain Python, which `torch.export` cannot capture."
    if about.module.kind == "function":
        return f"Hand on `{text}` itself, or `torch.compile({text})` for speed."
    condition = "Where it" if about.module.kind == "module" else "If it is a module and"
    return (
        f"Hand on `{text}` itself where it is only called there; `torch.compile({text})` makes it fast. {condition} is "
        f"written to a file, export it instead: `{draft.code}`. {draft.remarks}"
    )


def _for_test(about: ModuleCall, test: str) -> str:
    return (
        f"Not rewritten: `{test}` tests that `{about.module.text}` can be scripted. Delete the test"
        f"{_successor(about, 'test')}."
    )


def _successor(about: ModuleCall, verb: str) -> str:
    """The end of a sentence that advises to delete a check: what else can be checked."""
    text, draft = about.module.text, about.draft
    if draft.plain:
        return f": it takes {draft.plain} and stays plain Python, which `torch.export` cannot capture"
    compiled = f"`torch.compile({text}, fullgraph=True)`"
    exported = f"`{draft.code}`, whose `.module()` is called like the module"
    if "..." in draft.code.partition("dynamic_shapes=")[2]:
        exported += (
            " (`...` in `dynamic_shapes`: a list `[torch.export.Dim.AUTO] * t.dim()` for every tensor `t` inside)"
        )
    match about.module.kind:
        case "function":
            return f", or {verb} its successor: {compiled}"
        case "unknown":
            return f", or {verb} its successor: {compiled}, or, if it is a module, {exported}"
    return f", or {verb} its successor: {exported}"


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
