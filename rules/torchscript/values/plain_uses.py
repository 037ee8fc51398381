"""What is done with a TorchScript value that a plain module in its place serves otherwise, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.project.torchscript_elsewhere import cpp_runtime
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.compilers import scripting_uses
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.rules.torchscript.facts.value_consumers import takes_torchscript
from torchlift.rules.torchscript.modules.export_obstacles import export_obstacle
from torchlift.rules.torchscript.modules.submodule_walks import first_walk
from torchlift.rules.torchscript.values.script_readers import script_reader
from torchlift.rules.torchscript.values.scripted_whole import given_to_scripted, part_of_scripted
from torchlift.rules.torchscript.values.takers import first_taker, name_on, taker_by
from torchlift.rules.torchscript.values.value_life import Obstacle, ValueLife
from torchlift.rules.torchscript.values.value_shapes import FREEZERS, save_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_TAKES_MODULES = frozenset(
    """torch.compile torch.nn.DataParallel torch.nn.parallel.DataParallel torch.nn.parallel.DistributedDataParallel
    torch.nn.Sequential torch.nn.ModuleList copy.copy copy.deepcopy torch.save
    pickle.dump pickle.dumps torch.export.export torch.nn.utils.clip_grad_norm_""".split()
)
"""What does the same with a plain module, or raises for a scripted one."""
_COMPILERS = frozenset({"torch.jit.script", "torch.jit.trace", "torch.jit.trace_module"})
_SHOWS = frozenset({"str", "repr", "dir", "len", "list", "tuple", "print"})
_TESTS = frozenset({"isinstance", "issubclass", "type"})
_LOOKS_UP = frozenset({"hasattr", "getattr", "delattr", "setattr"})
_WALKS = frozenset({"modules", "named_modules", "children", "named_children", "apply", "get_submodule"})
_ADDS = frozenset({"append", "add", "insert", "extend", "update", "setdefault", "add_module", "register_module", "put"})


@dataclass(frozen=True)
class PlainUse:
    """One use that stands in the way.

    Attributes:
        kind: `script_only` if only a TorchScript value serves it, `doubt` if a module may.
        clause: end of the sentence "the value ...", with its place.
        node: where.
    """

    kind: Literal["script_only", "doubt"]
    clause: str
    node: ast.AST


def plain_uses(life: ValueLife, project: Project, parts: frozenset[str] | None = None) -> Iterator[PlainUse]:
    """Uses of a value, followed by `follow_plain`, that speak against the plain module in its place.

    Args:
        life: what becomes of the value.
        project: the project.
        parts: names of the classes that the module is made of; None if they are not known.
    """
    for obstacle in life.obstacles:
        found = _judged(life, obstacle, project, parts)
        if found is not None:
            kind, clause = found
            yield PlainUse(kind, f"{clause} ({life.place(obstacle.node)})", obstacle.node)


_Judged = tuple[Literal["script_only", "doubt"], str]


def _judged(life: ValueLife, obstacle: Obstacle, project: Project, parts: frozenset[str] | None) -> _Judged | None:
    node, view = obstacle.node, life.home(obstacle.node)
    parent = view.parent(node)
    if isinstance(node, ast.expr) and save_of(view, node) is not None:
        return "script_only", "is saved"
    if isinstance(parent, ast.Attribute) and parent.value is node:
        return _asked_for(view, parent)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call) and isinstance(node, ast.expr) and call.func is not node:
        return _passed(view, node, call, life, project)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Del):
        return None
    owner = view.class_of(node) if isinstance(node, ast.Attribute) else None
    if owner is not None and _is_script_module(view, owner, project):
        return "script_only", f"becomes a part of `{owner.name}`, a `torch.jit.ScriptModule` that has to go first"
    return _not_followed(life, view, obstacle, project, parts)


def _is_script_module(view: ModuleView, owner: ast.ClassDef, project: Project, steps: int = 4) -> bool:
    for base in owner.bases:
        if view.possible_name(base) == "torch.jit.ScriptModule":
            return True
        found = definition_of(view, base, project, ast.ClassDef) if steps else None
        if found is not None and _is_script_module(*found, project, steps - 1):
            return True
    return False


def _asked_for(view: ModuleView, attribute: ast.Attribute) -> _Judged | None:
    if isinstance(attribute.ctx, ast.Store):
        return "doubt", f"gets a new `.{attribute.attr}`, which a scripted module may take for a constant"
    if attribute.attr in OF_MODULES:
        return "script_only", f"is asked for `.{attribute.attr}`"
    if attribute.attr in _WALKS:
        return "doubt", (
            f"is asked for its parts with `.{attribute.attr}`, and `isinstance` finds `torch.nn` classes among those of a "
            "plain module only"
        )
    return None


def _passed(view: ModuleView, node: ast.expr, call: ast.Call, life: ValueLife, project: Project) -> _Judged | None:
    resolution = view.resolve(call.func)
    name = view.possible_name(call.func)
    plain = call.func.id if isinstance(call.func, ast.Name) and resolution is None else ""
    if plain in _SHOWS or name in _TAKES_MODULES or name in FREEZERS:
        return None
    if plain in _TESTS:
        return "doubt", f"is asked about with `{plain}`"
    if plain in _LOOKS_UP:
        named = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], ast.Constant) else None
        if call.args[0] is node and isinstance(named, str):
            return ("script_only", f"is asked for `.{named}`") if named in OF_MODULES else None
        return "doubt", f"is asked about with `{plain}`"
    if name == "torch.jit.script" and life.view.possible_name(life.origin.func) == name:
        return None  # scripts what is plain as well as what is scripted already
    if name in _COMPILERS:
        return "script_only", f"is passed to `{name}`, which has to go first"
    if takes_torchscript(name):
        return "script_only", f"is passed to `{name}`, which may want TorchScript"
    if isinstance(call.func, ast.Attribute) and call.func.attr in _ADDS:
        return _kept(f"is put into `{_short(view, call.func.value)}`", project, call.func.attr)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "add_graph":
        return "script_only", "is passed to `add_graph`, which traces a plain module with the inputs it is given"
    if name == "torch.onnx.export":
        kept = _kept_by_scripting(life, project)
        if kept is not None:
            return (
                "script_only",
                f"is passed to `torch.onnx.export`, which keeps all branches of a scripted module only: {kept}",
            )
        return _exported(view, call)
    if (part := given_to_scripted(life, project, view, call)) is not None:
        return "script_only", part
    where = f"is passed on to `{_short(view, call.func)}`"
    called = name_on(view, node)
    if called is not None and (taker := taker_by(project, called)) is not None:
        return "script_only", f"{where}, and {taker} needs it as TorchScript"
    if (reader := script_reader(view, call, node, project)) is not None:
        return "script_only", f"{where}, and {reader} asks it for what only TorchScript has"
    if (line := _scripted_around(view, call)) is not None:
        return "script_only", f"{where}, and line {line} scripts what that belongs to, with this part in it"
    if (runtime := cpp_runtime(project)) is not None:
        return "script_only", f"{where}, and {runtime} runs TorchScript modules in C++, which may get it"
    return "doubt", f"{where}, which was not read"


def _exported(view: ModuleView, call: ast.Call) -> _Judged:
    """What an exporter to ONNX makes of the module itself: a list of inputs is one argument then."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "args"), None)
    inputs = call.args[1] if len(call.args) > 1 else given
    bound = view.bindings_of(inputs, view.scope_at(inputs)) if isinstance(inputs, ast.Name) else ()
    values = [one.value for one in bound] if bound else [inputs]
    if any(isinstance(value, (ast.List, ast.ListComp)) for value in values):
        return (
            "script_only",
            "is passed to `torch.onnx.export` with a list of inputs, which it takes apart for a captured value only",
        )
    known = all(isinstance(value, ast.Tuple) for value in values)
    more = "" if known else ", and takes a list of inputs for one argument"
    return "doubt", f"is passed to `torch.onnx.export`, which captures the module itself from now on{more}"


def _scripted_around(view: ModuleView, call: ast.Call) -> int | None:
    """Line on which the function around a call `a.b.set(value)` scripts `a` or a part of it."""
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    function = view.function_of(call)
    if root is call.func or not isinstance(root, ast.Name) or function is None:
        return None
    for node in walk(function):
        if isinstance(node, ast.Call) and view.possible_name(node.func) in _COMPILERS and node.args:
            named = {part.id for part in walk(node.args[0]) if isinstance(part, ast.Name)}
            if root.id in named and node.lineno > call.lineno:
                return node.lineno
    return None


def _kept_by_scripting(life: ValueLife, project: Project) -> str | None:
    """Why a module that is scripted for an exporter may not be given to it as it is, a clause; None if it may."""
    view, origin = life.view, life.origin
    if view.possible_name(origin.func) != "torch.jit.script" or not origin.args:
        return None
    return export_obstacle(view, origin.args[0], project)


def _not_followed(
    life: ValueLife, view: ModuleView, obstacle: Obstacle, project: Project, parts: frozenset[str] | None
) -> _Judged | None:
    """A value that is stored, returned or offered where its uses were not looked at."""
    if isinstance(obstacle.node, ast.Attribute) and "becomes a part of" in obstacle.reason:
        owner = view.class_of(obstacle.node)
        part = part_of_scripted(life, project, view.path, owner) if owner is not None else None
        if part is not None:
            return "script_only", part
        place = first_walk(project, parts, view.path)
        if place is None:
            scripts = _compiled_whole(view, obstacle.node, project)
            if scripts is None:
                return None
            return (
                "doubt",
                f"becomes a part of an `nn.Module`, which {scripts} may script as a whole, with this part then",
            )
        return "doubt", (
            f"becomes a part of an `nn.Module`, and {place} asks something for its class, which `isinstance` finds among "
            "the parts of a plain module only"
        )
    reason = obstacle.reason.partition(",")[0].partition(":")[0]
    name = name_on(view, obstacle.node)
    line = _exported_as(view, name)
    if line is not None and life.view.possible_name(life.origin.func) != "torch.jit.trace":
        return (
            "script_only",
            f"{reason}, and line {line} passes it to `torch.onnx.export`, which keeps all branches and loops of a scripted module only",
        )
    return _kept(reason, project, name)


def _exported_as(view: ModuleView, name: str | None) -> int | None:
    """Line of the first `torch.onnx.export` in a file that gets the attribute `name` of something."""
    for use in view.uses(frozenset({"torch.onnx.export"})):
        call = use.call
        if call is not None and call.args and isinstance(call.args[0], ast.Attribute) and call.args[0].attr == name:
            return call.lineno
    return None


def _compiled_whole(view: ModuleView, node: ast.Attribute, project: Project) -> str | None:
    """`path:line` of the first place outside of the class around that scripts, tests aside."""
    owner = view.class_of(node)
    for path, line in sorted(scripting_uses.uses(project, tracing=False)):
        inside = owner is not None and path == view.path and owner.lineno <= line <= (owner.end_lineno or line)
        if not inside and not is_test_file(path):
            return f"{path}:{line}"
    return None


def _kept(how: str, project: Project, name: str | None = None) -> _Judged | None:
    if name is not None and (taker := taker_by(project, name)) is not None:
        return "script_only", f"{how}, and {taker} needs it as TorchScript"
    if (runtime := cpp_runtime(project)) is not None:
        return "script_only", f"{how}, and {runtime} runs TorchScript modules in C++, which may get it"
    taker = first_taker(project)
    return ("doubt", f"{how}, and {taker} may get it from there") if taker is not None else None


def _short(view: ModuleView, node: ast.expr) -> str:
    text = view.text(node)
    return text if len(text) <= 40 and "\n" not in text else f"...{text.rpartition('.')[2][-30:]}"
