"""What every place that scripts is given, and so what it compiles."""

from __future__ import annotations

import ast
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.torchscript.compilers.certain_steps import certainly_given
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS, digest, digest_of, outline
from torchlift.rules.torchscript.compilers.known_uses import known_uses
from torchlift.rules.torchscript.compilers.modules_reach import may_be_compiled
from torchlift.rules.torchscript.compilers.reached_code import Key, Reach, Reached, Reacher
from torchlift.rules.torchscript.compilers.scripting_uses import (
    COLLECTOR,
    CONDITIONAL,
    EXPORTING,
    ONNX_EXPORTERS,
    TRACING,
    ScriptingSite,
    acts,
    scripting_sites,
)
from torchlift.rules.torchscript.compilers.value_sources import Origin, ValueSources
from torchlift.view import Binding, ModuleView

# Methods that are run and not compiled, for what the class says of itself.
DESCRIBING = frozenset({"__init__", "__new__", "__post_init__"})
_CLASSES = frozenset({"torch.jit.ScriptModule", "torch.jit.RecursiveScriptModule"})
# Run on torch 2.13.0, 2026-11-23: a method marked with `torch.jit.export` that cannot be compiled does not keep these from
# tracing its module, as it does `torch.jit.trace`.
_GRAPHS = ONNX_EXPORTERS | {"torch.jit._get_trace_graph"}
_SCRIPTS = frozenset({"torch.jit.script", "torch.jit.script_method"})


def reached_code(project: Project) -> Reached:
    """What anything in the project compiles; shared by all who ask."""
    return project.once(_reached)


def compiled_by(project: Project, keys: tuple[Key, ...]) -> Reach | None:
    """The root that compiles one of some functions and classes, as far as it was followed; None if none does.

    The first is a function or class, the others are around it.
    """
    return project.once(_compiled_by, keys)


def unknown_root(project: Project) -> Reach | None:
    """The first root of which it is not known what it is given; None if there is none."""
    return project.once(_unknown_root)


def run_by(project: Project, view: ModuleView, node: ast.expr) -> Reached:
    """What a trace of a value runs, or may."""
    reacher = Reacher(project, runs=True)
    _Root(project, reacher, f"{view.path}:{node.lineno}").value(view, node, node)
    return reacher.reached


def traced_by(project: Project, path: str, keys: tuple[Key, ...], *, compiling: bool = False) -> Reach | None:
    """The trace that runs one of some functions and classes of a file, or may; None if none does.

    With `compiling` only traces count that make a module, and compile the methods of it that are marked: an ONNX exporter
    takes the graph alone.
    """
    return project.once(_traced_by, path, keys, compiling)


def _traced_by(project: Project, path: str, keys: tuple[Key, ...], compiling: bool) -> Reach | None:
    reached = project.once(_run_by_traces, _is_marked(project, compiling))[compiling]
    found = _reach(project, reached, keys)
    if found is not None:
        return found
    handed = [Reach(place, lost=place) for place in sorted(reached.anything)]
    asked = not keys or any(may_be_compiled(project, key) for key in keys)
    lost = [Reach(root, lost=place) for root, place in sorted(reached.unknown.items())] if asked else []
    return next((one for one in (*handed, *lost) if in_one_program(project, path, one.root.rpartition(":")[0])), None)


def waits_for_trace(project: Project, path: str, keys: tuple[Key, ...], *, compiling: bool = False) -> Reach | None:
    """The same for those to whom what a trace may reach is no other than what it loses.

    The one root of a project that is lost before anything else is followed is the answer for all that it does not run for
    certain: what else it may run need not be known.
    """
    return project.once(_waits_for_trace, path, keys, compiling)


def _waits_for_trace(project: Project, path: str, keys: tuple[Key, ...], compiling: bool) -> Reach | None:
    first = project.once(_surely_run_by_traces, _is_marked(project, compiling))[compiling]
    if any(key in first.found.by for key in keys[:1]):
        return _reach(project, first.found, keys)
    root = next(iter(first.roots), "") if len(first.roots) == 1 else ""
    if root not in first.found.unknown or first.found.anything or any(key in first.found.by for key in keys):
        return traced_by(project, path, keys, compiling=compiling)
    meets = in_one_program(project, path, root.rpartition(":")[0])
    if meets and (not keys or any(may_be_compiled(project, key) for key in keys)):
        return Reach(root, lost=first.found.unknown[root])
    return traced_by(project, path, keys, compiling=compiling)


def _is_marked(project: Project, compiling: bool) -> bool:
    return compiling or any(record.exports for record in project.records(COLLECTOR).values())


def _reach(project: Project, reached: Reached, keys: tuple[Key, ...]) -> Reach | None:
    for key in keys:
        if key in reached.by:
            root, beyond = reached.by[key], reached.beyond.get(key, "")
            unit = outline(project, keys[0][0]).units.get(keys[0][1])
            # That a class is compiled says of its methods only that they may be.
            around = key != keys[0] and unit is not None and not unit.is_class and unit.name not in DESCRIBING
            return Reach(root, beyond or (f"{key[0]}:{key[1]}" if around else ""))
    if reached.stopped and (not keys or any(may_be_compiled(project, key) for key in keys)):
        return Reach(*min(reached.stopped.items()))
    return None


@dataclass(frozen=True)
class _Traces:
    """What traces run for certain.

    Attributes:
        found: what that is, and what is lost on the way.
        roots: all places that trace.
        reacher: what goes on from there, in the same state of the project.
    """

    found: Reached
    roots: frozenset[str]
    reacher: Reacher = field(compare=False)


def _run_by_traces(project: Project, marked: bool) -> tuple[Reached, ...]:
    """What anything that traces runs, and the same of traces that make a module where methods are marked for these."""
    known = project.once(_surely_run_by_traces, marked)
    if any(one.reacher.project is not project for one in known):
        known = _surely_run_by_traces(project, marked)
    return tuple(one.reacher.reached for one in known)


def _surely_run_by_traces(project: Project, marked: bool) -> tuple[_Traces, ...]:
    """The beginning of it.

    A library that scripts or traces may do either. Each file is looked at for both at once.
    """
    kinds = (TRACING, TRACING - _GRAPHS) if marked else (TRACING,)
    reachers = [Reacher(project, runs=True) for _ in kinds]
    for path, record in sorted(project.records(COLLECTOR).items()):
        view = project.view(path) if record.traces or record.scripts else None
        if view is None:
            continue
        for reacher, traces in zip(reachers, kinds, strict=True):
            for use in view.uses(traces):
                if acts(use, view):
                    root = _Root(project, reacher, f"{path}:{use.node.lineno}")
                    if isinstance(use.node, ast.alias):
                        root.imported(view, use.node)
                    elif isinstance(use.node, ast.expr):
                        root.used(view, use.node, ())
            for site in scripting_sites(view):
                if site.use is None:
                    _Root(project, reacher, f"{path}:{site.node.lineno}").site(view, site)
    return tuple(_Traces(one.surely_reached, frozenset(one.roots), one) for one in reachers)


def handed_on(project: Project, *, within: bool = False) -> str | None:
    """`path:line` of the first place that hands a compiler to somebody, who may compile anything; None if none does.

    With `within` only such places count that hand it to code of the project.
    """
    return project.once(_handed_on)[within]


def _handed_on(project: Project) -> tuple[str | None, str | None]:
    found = _followed(project, _Giver)
    return min(found.anything, default=None), min(found.anything - found.offered, default=None)


def _compiled_by(project: Project, keys: tuple[Key, ...]) -> Reach | None:
    return _reach(project, reached_code(project), keys)


def _unknown_root(project: Project) -> Reach | None:
    found = min(reached_code(project).unknown.items(), default=None)
    return Reach(found[0], lost=found[1]) if found is not None else None


def _reached(project: Project) -> Reached:
    return _followed(project, _Root)


def _followed(project: Project, kind: type[_Root]) -> Reached:
    """What comes of every place that compiles, each seen as a root of this kind."""
    reacher = Reacher(project)
    records = sorted(project.records(COLLECTOR).items())
    traces = [f"{path}:{line}" for path, record in records for line in record.traces]
    for path, record in records:
        view = project.view(path) if record.scripts or (traces and (record.exports or record.conditional)) else None
        if view is None:
            continue
        for site in scripting_sites(view):
            kind(project, reacher, f"{path}:{site.node.lineno}").site(view, site)
        if traces:
            scripts = [f"{path}:{line}" for line in record.scripts]
            _traced(project, reacher, view, _first_in_one_program(project, path, [*scripts, *traces]), kind)
    return reacher.reached


def _first_in_one_program(project: Project, path: str, places: list[str]) -> str:
    """The first place that runs in a program with the file `path`, as far as imports tell; else the first of all."""
    return next((one for one in places if in_one_program(project, path, one.rpartition(":")[0])), places[0])


def _traced(project: Project, reacher: Reacher, view: ModuleView, trace: str, kind: type[_Root]) -> None:
    """What traces compile: functions that are compiled while something traces, and methods marked for it."""
    for use in view.uses(CONDITIONAL):
        marked = view.parent(use.node)
        reach: Reach | None = Reach(trace, beyond=trace)
        if isinstance(marked, DEFINITIONS):
            reach = _traced_at(project, view, marked) if kind.follows else None
        if reach is not None and isinstance(use.node, ast.expr) and use.kind in {"decorator", "call", "reference"}:
            kind(project, reacher, reach.root, reach.root if reach.lost else reach.beyond).used(view, use.node, ())
    for use in view.uses(EXPORTING) if kind.follows else ():
        method = view.parent(use.node)
        owner = view.parent(method) if method is not None else None
        if isinstance(owner, ast.ClassDef):
            reach = _traced_at(project, view, owner, compiling=True)
            if reach is not None:
                kind(project, reacher, reach.root, reach.root if reach.lost else reach.beyond).definition(view, owner)
        elif use.kind not in {"import", "string", "annotation"}:
            kind(project, reacher, trace).lost(view, use.node)


def _traced_at(project: Project, view: ModuleView, node: ast.stmt, *, compiling: bool = False) -> Reach | None:
    """The trace that runs a function or class, or may; with `compiling` one that compiles methods marked for it."""
    return waits_for_trace(project, view.path, ((view.path, node.lineno),), compiling=compiling)


class _Root:
    """One place that compiles, or may where `beyond` names how far that is known.

    Attributes:
        follows: whether what is compiled is followed, and not only where the compiler goes.
    """

    follows = True

    def __init__(self, project: Project, reacher: Reacher, place: str, beyond: str = "") -> None:
        self.project = project
        self.reacher = reacher
        self.place = place
        self.beyond = beyond

    def at(self, view: ModuleView, node: ast.expr) -> _Root:
        """A place that compiles by another name for the compiler."""
        return type(self)(self.project, self.reacher, f"{view.path}:{node.lineno}")

    def given_away(self, view: ModuleView, node: ast.AST) -> None:
        """Whoever gets the compiler here may compile anything."""
        self.reacher.handed_on(f"{view.path}:{getattr(node, 'lineno', 1)}")

    def lost(self, view: ModuleView, node: ast.AST) -> None:
        """What is compiled is not known."""
        self.reacher.lost(self.place, f"{view.path}:{getattr(node, 'lineno', 1)}")

    def site(self, view: ModuleView, site: ScriptingSite) -> None:
        node, use = site.node, site.use
        if isinstance(node, ast.alias):
            self.imported(view, node)
            return
        parent = view.parent(node)
        if use is not None and use.target in _CLASSES:
            if isinstance(parent, ast.ClassDef):
                self.definition(view, parent)
        elif use is not None and use.target not in _SCRIPTS:
            (self.lost if use.kind == "call" else self.given_away)(view, node)
        elif use is None and isinstance(node, ast.Attribute) and isinstance(parent, ast.Call) and parent.func is node:
            resolution = view.resolve(node)
            known = resolution is not None and resolution.binding is not None and resolution.binding.imported
            self.value(view, _given(parent) if known else node.value, node)
        else:
            self.used(view, node, ())

    def used(self, view: ModuleView, node: ast.expr, seen: tuple[ast.AST, ...]) -> None:
        """A compiler, or another name for it, stands here."""
        parent = view.parent(node)
        if isinstance(parent, DEFINITIONS) and node in parent.decorator_list:
            self.definition(view, parent)
        elif isinstance(parent, ast.Call) and parent.func is node:
            self.value(view, _given(parent), node)
        elif not isinstance(parent, ast.Compare):  # who only asks which compiler it is gets nothing compiled
            top: ast.AST = node
            while parent is not None and (isinstance(parent, (ast.IfExp, ast.BoolOp)) or _falls_back(parent, top)):
                top, parent = parent, view.parent(parent)
            target = parent.targets[0] if isinstance(parent, ast.Assign) and parent.value is top else None
            binding = view.bound_by(target) if target is not None else None
            if binding is None or target in seen:
                self.given_away(view, node)
                return
            found, complete = known_uses(view, binding, self.project)
            for home, use in found:
                self.at(home, use).used(home, use, (*seen, binding.node))
            if not found or not complete:
                self.given_away(view, node)

    def imported(self, view: ModuleView, node: ast.alias) -> None:
        """A compiler is imported for others."""
        name = node.asname or node.name
        bindings = [one for one in view.scopes.module.bindings.get(name, ()) if one.node is node]
        found, complete = known_uses(view, bindings[0], self.project) if bindings else ([], ["elsewhere"])
        for home, use in found:
            self.at(home, use).used(home, use, ())
        if not found or not complete:
            outside = bool(bindings) and _stays_here(view, bindings[0], self.project)
            self.reacher.handed_on(f"{view.path}:{node.lineno}", outside=outside)

    def value(self, view: ModuleView, node: ast.expr | None, at: ast.AST) -> None:
        """A value is compiled."""
        sources = ValueSources(self.project)
        if node is None:
            self.lost(view, at)
            return
        for found in certainly_given(view, node, self.project):
            self.definition(*found)
        sources.follow(view, node)
        if self.reacher.runs:
            for source in [*sources.found]:
                definition = _definition_in(source)
                if definition is not None:
                    sources.closed_over(source.view, definition)
        for source in sources.found:
            if isinstance(source.node, DEFINITIONS):
                self.definition(source.view, source.node, makes=True)
                if self.reacher.runs:
                    self.around(source.view, source.node)
            else:
                unit = digest_of(self.project, source.view, source.node)
                self.reacher.build(unit, self.place)
                # No compiler takes a lambda, and a trace runs what stands in it.
                if source.names or (self.reacher.runs and isinstance(source.node, ast.Lambda)):
                    self.reacher.value(unit, self.place)
        if sources.unknown is not None:
            self.reacher.lost(self.place, sources.unknown)

    def around(self, view: ModuleView, node: ast.AST) -> None:
        """A function inside a method is run, which may call what else the class has."""
        method = view.function_of(node)
        owner = view.parent(method) if method is not None else None
        if isinstance(owner, ast.ClassDef):
            self.definition(view, owner)

    def definition(self, view: ModuleView, node: ast.AST, *, makes: bool = False) -> None:
        """A function or class is compiled, or with `makes` perhaps what it makes."""
        unit = digest(self.project, view.path).units.get(getattr(node, "lineno", 0))
        if unit is not None:
            self.reacher.compile(unit, self.place, self.place if makes else self.beyond)
            if makes and not unit.is_class:
                self.reacher.build(unit, self.place)


class _Giver(_Root):
    """One place that compiles, asked only whether the compiler is handed on there: that takes a part of the time."""

    follows = False

    def lost(self, view: ModuleView, node: ast.AST) -> None:
        """Nothing: what is compiled is not asked."""

    def value(self, view: ModuleView, node: ast.expr | None, at: ast.AST) -> None:
        """Nothing, as above."""

    def definition(self, view: ModuleView, node: ast.AST, *, makes: bool = False) -> None:
        """Nothing, as above."""


def _stays_here(view: ModuleView, binding: Binding, project: Project) -> bool:
    """Whether no other file gets an import from this one: those that name it import it from where this one does."""
    name = binding.name
    if view.is_package or "__all__" in view.scopes.module.bindings or project.files_with_attribute(name, (view.path,)):
        return False
    paths = (path for path in project.files_holding(name, whole=True) if path != view.path)
    others = [other.scopes.module.bindings.get(name, ()) if (other := project.view(path)) else () for path in paths]
    return all(any(one.imported == binding.imported for one in bound) for bound in others)


def _definition_in(source: Origin) -> ast.AST | None:
    """The function that a source is or names in its own file; None if it is none."""
    if isinstance(source.node, (*DEFINITIONS, ast.Lambda)):
        return source.node
    found = source.view.definition(source.node) if isinstance(source.node, ast.Name) else None
    if found is None and isinstance(source.node, ast.Name):
        bound = source.view.bindings_of(source.node, source.view.scope_at(source.node))
        found = next((one for one in bound if isinstance(one.node, DEFINITIONS)), None)
    return found.node if found is not None and isinstance(found.node, DEFINITIONS) else None


def _falls_back(call: ast.AST | None, node: ast.AST) -> bool:
    """Whether a call is `getattr(module, name, node)`."""
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "getattr"
        and node in call.args[2:]
    )


def _given(call: ast.Call) -> ast.expr | None:
    """What a compiler is called with."""
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return call.keywords[0].value if call.keywords and call.keywords[0].arg is not None else None
