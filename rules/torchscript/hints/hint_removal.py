"""Whether a hint for the TorchScript compiler can go: what every rule about such hints asks first."""

from __future__ import annotations

import ast

from torchlift.finding import Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.wording.nearest_place import place_alone
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS, digest, digest_of, is_left_out
from torchlift.rules.torchscript.compilers.modules_reach import may_be_compiled
from torchlift.rules.torchscript.compilers.outside_users import outside_compiler
from torchlift.rules.torchscript.compilers.reached_code import Key, Reach
from torchlift.rules.torchscript.compilers.scripting_roots import (
    DESCRIBING,
    compiled_by,
    handed_on,
    unknown_root,
    waits_for_trace,
)
from torchlift.rules.torchscript.compilers.scripting_uses import first_compilation, first_skipped, first_watch
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.view import ModuleView

IS_SCRIPTING = "torch.jit.is_scripting"
IS_TRACING = "torch.jit.is_tracing"


@dataclass(frozen=True)
class Removal:
    """The answer.

    Attributes:
        safety: of removing the hint: `MANUAL` while something in the project compiles the code it stands in.
        reason: a sentence about what stands against it; None if nothing does.
        place: what still compiles, as `path:line`, if anything.
    """

    safety: Safety
    reason: str | None = None
    place: str | None = None

    @property
    def root(self) -> str:
        """What the hint waits for, as `path:line`; empty if nothing still compiles."""
        return place_alone(self.place or "")

    @property
    def also(self) -> str:
        """The reason as one more sentence of a review; empty if there is none."""
        return f" Also, {self.reason.removeprefix('Needs review: ')}" if self.reason is not None else ""


def removal(context: Context, node: ast.AST, *, tracing: bool = False) -> Removal:
    """Whether a hint may go.

    It is dead when nothing that the project still scripts compiles the code around it. In code that others install or
    run, that they do not either is an assumption, unless the user says so.

    Args:
        context: the file and its project.
        node: the hint; a decorator, a call, an annotation.
        tracing: whether the hint matters to a trace too.
    """
    keys = _keys(context, node)
    held = context.once(_held, keys)
    if held is None and tracing:
        held = context.once(_traced, _run(context, node, keys))
    return held if held is not None else context.once(_unheld, tracing)


def compiler_of(context: Context, node: ast.AST) -> str | None:
    """`path:line` of what compiles the code around `node`, or may; None if nothing in the project does."""
    held = context.once(_held, _keys(context, node))
    return held.place if held is not None else None


def dead_questions(context: Context, node: ast.AST) -> frozenset[str]:
    """Questions about TorchScript's compilers that the code around `node` asks for nobody, as the user says."""
    if not drops(context) or removal(context, node).safety is not Safety.SAFE:
        return frozenset()
    traced = removal(context, node, tracing=True).safety is not Safety.SAFE
    return frozenset({IS_SCRIPTING}) if traced else frozenset({IS_SCRIPTING, IS_TRACING})


def traces_until(project: Project, place: str) -> str:
    """A sentence where the place at `path:line` exports to ONNX by default, which is no trace since torch 2.9."""
    path, _, line = place.rpartition(":")
    view = project.view(path)
    uses = view.uses(frozenset({"torch.onnx.export"})) if view is not None else ()
    calls = [use.call for use in uses if use.call is not None and str(use.node.lineno) == line]
    by_default = any(not any(keyword.arg in {"dynamo", None} for keyword in call.keywords) for call in calls)
    return " Without `dynamo`, `torch.onnx.export` traces up to torch 2.8 only." if by_default else ""


def _held(context: Context, keys: tuple[Key, ...] | None) -> Removal | None:
    """The answer where something in the project compiles one of some functions and classes; None if nothing does."""
    project = context.project
    place = handed_on(project, within=drops(context)) if keys else None
    if place is not None:
        reason = f"Keep it as long as something may compile it: {place} hands a compiler on, and what that compiles was not followed."
        return Removal(Safety.MANUAL, reason, place)
    if keys is None:
        place = first_compilation(project, context.view.path)
        if place is None:
            return None
        reason = f"Keep it as long as this project scripts, nearest at {place}; migrate that first."
        return Removal(Safety.MANUAL, reason, place)
    reach = compiled_by(project, keys)
    if reach is None:
        reach = unknown_root(project)
        if reach is None or not any(may_be_compiled(project, key) for key in keys):
            return None
    return _waits(reach, "compile")


def _waits(reach: Reach, does: str) -> Removal:
    """The answer where something compiles or traces the code around the hint, or may."""
    if reach.certain:
        reason = f"Keep it as long as {reach.root} {does}s it; migrate that first, with whatever else does."
        return Removal(Safety.MANUAL, reason, reach.root)
    reason = f"Keep it as long as something may {does} it: what {reach.root} {does}s was not followed to its end."
    return Removal(Safety.MANUAL, reason, reach.root)


def _unheld(context: Context, tracing: bool) -> Removal:
    """The answer for all hints of a file that nothing in the project compiles."""
    project, near = context.project, context.view.path
    watch = first_watch(project, near)
    if watch is not None:
        return Removal(
            Safety.UNSAFE, f"Needs review: {watch} patches a hint like this, names one, or reads the mark it leaves."
        )
    outside = None if drops(context) else outside_compiler(context, tracing=tracing, expecting=True)
    if outside is not None:
        return Removal(Safety.UNSAFE, f"Needs review: {outside}.")
    skipped = None if drops(context) else first_skipped(project, near)
    if skipped is not None:
        return Removal(Safety.UNSAFE, f"Needs review: {skipped} would compile or trace, in a test that is skipped.")
    return Removal(Safety.SAFE)


def _traced(context: Context, keys: tuple[Key, ...]) -> Removal | None:
    """The answer where a trace of the project runs one of some functions and classes, or may; None if none does."""
    found = waits_for_trace(context.project, context.view.path, keys)
    return _waits(found, "trace") if found is not None else None


def _run(context: Context, node: ast.AST, keys: tuple[Key, ...] | None) -> tuple[Key, ...]:
    """The same with the function around the hint, which a trace runs where a compiler leaves it out."""
    function = context.view.function_of(node)
    around = ((context.view.path, function.lineno),) if function is not None else ()
    return tuple(dict.fromkeys((*(keys or ()), *around)))


def _keys(context: Context, node: ast.AST) -> tuple[Key, ...] | None:
    """The functions and classes of which one has to be compiled for the hint to matter; None if they are not known.

    For a hint in the body of a function that is the function, for one at its head the class, too.
    """
    view = context.view
    parent = view.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        node, parent = parent, view.parent(parent)
    if isinstance(node, ast.Call) and _is_mark(view, node) and not _decorates(node, parent):
        marked = _marked(context, node)
        if marked is not None:
            return marked
        if view.function_of(node) is None:
            return None
    keys: list[Key] = []
    child = node
    described = False
    for around in (node, *view.ancestors(node)):
        if isinstance(around, DEFINITIONS):
            inside = any(child is statement for statement in around.body)
            if isinstance(around, ast.ClassDef):
                if described or not keys or not inside:
                    keys.append((view.path, around.lineno))
                described = False
            else:
                if inside and is_left_out(view, around):
                    return ()
                keys.append((view.path, around.lineno))
                described = not inside or around.name in DESCRIBING
        child = around
    return tuple(keys)


def _decorates(node: ast.AST, parent: ast.AST | None) -> bool:
    return isinstance(parent, DEFINITIONS) and node in parent.decorator_list


def _is_mark(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call marks a function or class for the compiler, and does not speak to it about its own place."""
    name = view.possible_name(call.func).rpartition(".")[2]
    return name in {"ignore", "unused", "export", "interface", "_overload", "_overload_method", "script_if_tracing"}


def _marked(context: Context, call: ast.Call) -> tuple[Key, ...] | None:
    """What a call marks, and the classes around it; None if it is not read off the call."""
    if len(call.args) != 1 or not isinstance(call.args[0], (ast.Name, ast.Attribute)):
        return None
    unit = digest_of(context.project, context.view, call.args[0])
    keys: list[Key] = []
    for mention in unit.mentions:
        known = digest(context.project, mention.path)
        for line in (mention.line,) if mention.line else known.names.get(mention.name, ()):
            if line in known.units:
                found = known.units[line]
                keys.append((found.path, line))
                keys += [(found.path, method) for name in unit.attributes for method in found.methods.get(name, ())]
                keys += [(found.path, found.owner)] if found.owner else []
    return tuple(keys) or None
