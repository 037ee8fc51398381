"""What in the project compiles or traces TorchScript: what keeps decorators, hints and scripted helpers alive.

Compilers that other packages bring (`LightningModule.to_torchscript`, `e3nn.util.jit.script`) count by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Collector, Project
from torchlift.rules.analysis.places.never_run import is_skipped
from torchlift.rules.analysis.wording.nearest_place import Place, nearest
from torchlift.search.parties import Sighting
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name

_FUNCTIONS = frozenset(f"torch.jit.{name}" for name in ("script", "script_method", "CompilationUnit", "_recursive"))
_CLASSES = frozenset({"torch.jit.ScriptModule", "torch.jit.RecursiveScriptModule"})
SCRIPTING = _FUNCTIONS | _CLASSES
# What the exporter for ONNX that is built on the tracer is called, and what of it others call: torch 2.13.0, 2026-11-23.
ONNX_EXPORTERS = frozenset(
    f"torch.onnx.{name}"
    for name in """export export_to_pretty_string _export utils.export utils._export utils.export_to_pretty_string
    utils._model_to_graph utils._create_jit_graph utils._trace utils._trace_and_get_graph_from_model""".split()
) | {"*.to_onnx"}  # of a `LightningModule`
TRACING = (
    frozenset(f"torch.jit.{name}" for name in ("trace", "trace_module", "_get_trace_graph"))
    | ONNX_EXPORTERS
    | {"*.add_graph"}  # of a TensorBoard `SummaryWriter`
)
CONDITIONAL = frozenset({"torch.jit.script_if_tracing", "torch.jit._script_if_tracing"})

# Code that asks for the compiler, or helps it, was written to be compiled by somebody. Functions that are left out of a
# compilation (`ignore`, `unused`) are no such sign: they are marked for traces, too, where the mark does nothing.
EXPECTING = frozenset(
    f"torch.jit.{name}"
    for name in """annotate Attribute fork _fork interface is_scripting is_tracing isinstance wait _wait boolean_dispatch
    _IgnoreContextManager _overload _overload_method _unwrap_optional""".split()
)
_EXPORT = "torch.jit.export"
EXPORTING = frozenset({_EXPORT})
_MODULE = "torch.jit"
_NOT_RUN = frozenset({"string", "store", "delete", "import", "annotation", "isinstance"})
_MARKING = frozenset({_EXPORT, "torch.jit.ignore", "torch.jit.unused"})
_MARK_WORDS = (
    "_torchscript_modifier",
    "get_torchscript_modifier",
    "__script_if_tracing_wrapper",
    "__torch_script_interface__",
    "__original_fn",
)
_MARK = lazy_pattern(rf"\b(?:{'|'.join(_MARK_WORDS)})\b")

# Names under which other packages script what they are given.
_FOREIGN = frozenset(
    """to_torchscript convert_to_torchscript export_torchscript save_torchscript to_torch_script export_to_torchscript
    export_to_ts save_neutone_model jit_script jittable""".split()
)
_OTHER_WORDS = tuple(word.encode() for word in sorted((*_FOREIGN, *_MARK_WORDS)))
_FOREIGN_JIT = lazy_pattern(r"(?:^|\.)jit\.(?:script|compile)\w*$")


@dataclass(frozen=True)
class ScriptingRecord:
    """Lines of one file that script or trace something, or expect to be scripted.

    Attributes:
        scripts: places that compile what they are given.
        traces: places that trace.
        exports: methods marked with `torch.jit.export`, which a trace of their class compiles.
        conditional: functions that are compiled while something traces.
        watches: places that replace a hint, name it in a string, or read the marks that hints leave.
        skipped: places in tests that never run, which would script or trace.
    """

    scripts: tuple[int, ...]
    traces: tuple[int, ...]
    exports: tuple[int, ...] = ()
    conditional: tuple[int, ...] = ()
    watches: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()


def _collect(view: ModuleView) -> ScriptingRecord | None:
    if view.is_stub:
        return None
    members = list(_named_members(view))
    sites = list(_sites(view))
    skipped = [site.node.lineno for site in sites if is_skipped(view, site.node)]
    scripts = [site.node.lineno for site in sites if site.node.lineno not in skipped]
    traces: list[int] = []
    exports: list[int] = []
    conditional: list[int] = []
    watches = list(_watches(view, members))
    for use in view.uses(SCRIPTING | TRACING | EXPECTING | CONDITIONAL | _MARKING | {_MODULE}):
        line = use.node.lineno
        if use.target in TRACING:
            if is_skipped(view, use.node):
                skipped.append(line)
            elif acts(use, view):
                traces.append(line)
        elif use.target in SCRIPTING | {_MODULE}:
            continue
        elif use.kind in {"string", "store", "delete"}:
            if not _stands_in(view, use.node):
                watches.append(line)
        elif use.kind not in {"import", "annotation", "isinstance"}:
            if use.target in CONDITIONAL:
                conditional.append(line)
            elif use.target == _EXPORT:
                exports.append(line)
    lines = (scripts, traces, exports, conditional, watches, skipped)
    return ScriptingRecord(*map(tuple, lines)) if any(lines) else None


def _stands_in(view: ModuleView, node: ast.AST) -> bool:
    """Whether a store gives an old torch the hint that it lacks: `if not hasattr(torch.jit, "unused"): torch.jit.unused = ...`."""
    for child, ancestor in view.upwards(node):
        if isinstance(ancestor, ast.If) and child in ancestor.body:
            match ancestor.test:
                case ast.UnaryOp(
                    op=ast.Not(),
                    operand=ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value=str() as name)]),
                ) if isinstance(node, ast.Attribute):
                    return name == node.attr
    return False


@dataclass(frozen=True)
class ScriptingSite:
    """A place that compiles what it is given.

    Attributes:
        node: what stands for the compiler: a name, a call that looks it up, or an import that hands it on.
        use: the use of a compiler of torch's own; None for those of other packages, and for one found by a look-up.
    """

    node: ast.expr | ast.alias
    use: Use | None = None


def scripting_sites(view: ModuleView) -> Iterator[ScriptingSite]:
    """Every place in one file that compiles what it is given, without tests that never run."""
    return (site for site in _sites(view) if not is_skipped(view, site.node))


def _sites(view: ModuleView) -> Iterator[ScriptingSite]:
    yield from map(ScriptingSite, _foreign(view))
    yield from map(ScriptingSite, _by_name(_named_members(view)))
    for use in view.uses(SCRIPTING | TRACING | EXPECTING | CONDITIONAL | _MARKING | {_MODULE}):
        if use.target == _MODULE:
            # Whoever is handed the module itself may call any of its members.
            if use.name == _MODULE and use.kind == "reference" and _handed_on(view, use):
                yield ScriptingSite(use.node, use)
        elif use.target in SCRIPTING and _acts(use, view):
            yield ScriptingSite(use.node, use)


def _handed_on(view: ModuleView, use: Use) -> bool:
    """Whether `torch.jit` itself is an argument of a call other than the look-up or patch of a member."""
    call = view.parent(use.node)
    if not isinstance(call, ast.Call) or use.node not in call.args:
        return False
    name = last_name(call.func)
    return name not in {
        "getattr",
        "hasattr",
        "setattr",
        "delattr",
        "object",
        "print",
        "dir",
        "reload",
        "multiple",
        "isinstance",
    }


def acts(use: Use, view: ModuleView) -> bool:
    """Whether a use of a compiler may lead to a compilation, here or in a file that imports the name from here."""
    return _acts(use, view) and not is_skipped(view, use.node)


def _acts(use: Use, view: ModuleView) -> bool:
    if isinstance(use.node, ast.alias):
        binding = use.resolution.binding if use.resolution is not None else None
        return use.target not in _CLASSES and binding is not None and not view.reads_of(binding)
    if use.target in _CLASSES:
        return use.kind in {"call", "base", "decorator"}
    if (
        use.name.endswith(("ConcreteTypeStore", ".concrete_type_store", ".wrap_cpp_module"))
        or ".concrete_type_store." in use.name
    ):  # what was compiled before, which some forget on purpose or wrap anew
        return False
    return use.kind not in {"annotation", "isinstance"}


def _foreign(view: ModuleView) -> Iterator[ast.expr | ast.alias]:
    """Names and imports of a compiler of another package, by its name; what a project names so is read where it is."""
    own = view.module.partition(".")[0]
    bound_names = {name for scope in view.scopes.scope_of.values() for name in scope.bindings}
    for root, chains in view.scopes.chains.items():
        if root not in bound_names and not view.scopes.stars:
            continue  # it is nothing: code that no run gets past
        for chain in chains:
            words = (root, *chain.attributes)
            foreign = not _FOREIGN.isdisjoint(words) or (
                "jit" in words and any(_FOREIGN_JIT.search(".".join(words[:end])) for end in range(2, len(words) + 1))
            )
            if foreign:
                resolution = view.resolve(chain.top)
                if resolution is None or resolution.name.partition(".")[0] not in {own, "torch"}:
                    yield chain.top
    for top, _ in view.scopes.rootless:
        if top.attr in _FOREIGN:
            yield top
    for bound in (bound for scope in view.scopes.scope_of.values() for bound in scope.bindings.values()):
        for binding in bound:
            imported = binding.imported or ""
            if imported.rpartition(".")[2] in _FOREIGN or ("jit." in imported and _FOREIGN_JIT.search(imported)):
                assert isinstance(binding.node, ast.alias)
                if (view.absolute(imported) or imported).partition(".")[0] not in {own, "torch"}:
                    yield binding.node


_Member = tuple[ast.Call, "str | None"]


def _by_name(members: Iterable[_Member]) -> Iterator[ast.Call]:
    """Calls that look a compiler up with `getattr(torch.jit, name)`."""
    for call, name in members:
        looked_up = isinstance(call.func, ast.Name) and call.func.id == "getattr"
        if looked_up and (name is None or f"torch.jit.{name}" in SCRIPTING | CONDITIONAL):
            yield call


def _watches(view: ModuleView, members: Sequence[_Member]) -> Iterator[int]:
    """Lines that replace a hint by its name, as `patch.object(torch.jit, name)` does, or read a mark that hints leave."""
    for call, name in members:
        if not isinstance(call.func, ast.Name) and f"torch.jit.{name}" in EXPECTING | CONDITIONAL | _MARKING:
            yield call.lineno
    for match in _MARK.finditer(view.source.text):
        yield view.source.location(match.start())[0]


def _named_members(view: ModuleView) -> Iterator[_Member]:
    """Calls with `torch.jit` and the name of a member as their first arguments; None for a computed name."""
    names = {
        binding.name
        for scope in view.scopes.scope_of.values()
        for bound in scope.bindings.values()
        for binding in bound
        if binding.imported == "torch.jit" or (isinstance(binding.value, ast.Attribute) and binding.value.attr == "jit")
    }
    for root, chains in view.scopes.chains.items():
        for chain in chains:
            if (chain.attributes[-1] != "jit") if chain.attributes else (root not in names):
                continue
            call = view.parent(chain.top)
            about = isinstance(call, ast.Call) and len(call.args) >= 2 and call.args[0] is chain.top
            if isinstance(call, ast.Call) and about and view.possible_name(chain.top) == "torch.jit":
                name = call.args[1].value if isinstance(call.args[1], ast.Constant) else None
                yield call, name if isinstance(name, str) else None


def _matters(seen: Sighting) -> bool:
    # A hint that is called is neither replaced nor named in a string.
    return seen.target not in EXPECTING or seen.kind != "call"


# `torch.jit` itself, handed on or given another name, and compilers of other packages.
_ITSELF = lazy_pattern(
    rb"jit(?:\s*(?:[,)#]|as\b|\.\s*compile)|\s+import[^\n;]*(?:script|compile|\()|[ \t]*(?:[;\\\r\n]|\Z))"
    rb"|(?<!torch\.)jit\s*\.\s*script"
)


def _may_compile_otherwise(data: bytes) -> bool:
    if any(word in data for word in _OTHER_WORDS):
        return True
    for found in _ITSELF.finditer(data):
        before = data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()]
        # At the end of a line it is handed to nobody unless it is assigned.
        if found[0].strip(b" \t;\\\r\n") != b"jit" or b"=" in before:
            return True
    return False


COLLECTOR = Collector(
    "torchscript.scripting",
    ("jit", "_jit_internal", "onnx", "to_onnx", "add_graph", *sorted(_FOREIGN), *_MARK_WORDS),
    _collect,
    SCRIPTING | TRACING | EXPECTING | CONDITIONAL | _MARKING,
    _matters,
    _may_compile_otherwise,
)


def _collect_expectations(view: ModuleView) -> tuple[int, ...] | None:
    """Lines with hints for the compiler, questions about it, and methods marked for it."""
    uses = view.uses(EXPECTING | {_EXPORT}) if not view.is_stub else ()
    return tuple(use.node.lineno for use in uses if use.kind not in _NOT_RUN) or None


EXPECTATIONS = Collector(
    "torchscript.expectations", ("jit", "_jit_internal"), _collect_expectations, EXPECTING | {_EXPORT}
)
COLLECTORS = (COLLECTOR, EXPECTATIONS)
"""What a rule lists that asks whether anybody scripts, traces, or expects to be scripted."""


def _records(project: Project) -> Iterator[tuple[str, ScriptingRecord]]:
    for path, record in sorted(project.records(COLLECTOR).items()):
        assert isinstance(record, ScriptingRecord)
        yield path, record


def uses(project: Project, *, tracing: bool) -> Iterator[Place]:
    """Every place in the project that scripts (or, with `tracing`, scripts or traces)."""
    for path, record in _records(project):
        for line in (*record.scripts, *(record.traces if tracing else ())):
            yield path, line


def first_use(project: Project, near: str, *, tracing: bool) -> str | None:
    """The place in the project that scripts (or, with `tracing`, scripts or traces) nearest to the file `near`."""
    return nearest(uses(project, tracing=tracing), near)


def first_trace(project: Project, near: str) -> str | None:
    """The place in the project that traces, nearest to the file `near`; calls of other packages that may do either count as scripting."""
    return nearest(((path, line) for path, record in _records(project) for line in record.traces), near)


def first_compilation(project: Project, near: str) -> str | None:
    """The place in the project, nearest to the file `near`, that leads to a compilation of Python source.

    Tracing does where a method is marked with `torch.jit.export` or a function with `script_if_tracing`: both are
    compiled then, with everything they call.
    """
    place = first_use(project, near, tracing=False)
    if place is None and any(record.exports or record.conditional for _, record in _records(project)):
        place = first_use(project, near, tracing=True)
    return place


def first_expectation(project: Project, near: str = "") -> str | None:
    """The place in the project, nearest to the file `near`, that expects to be compiled to TorchScript."""
    return nearest(((path, line) for path, lines in project.records(EXPECTATIONS).items() for line in lines), near)


def first_skipped(project: Project, near: str) -> str | None:
    """The place nearest to `near` that would script or trace, in a test that never runs."""
    return nearest(((path, line) for path, record in _records(project) for line in record.skipped), near)


def first_watch(project: Project, near: str) -> str | None:
    """The place nearest to `near` that replaces a hint, names it in a string, or reads a mark that hints leave."""
    return nearest(((path, line) for path, record in _records(project) for line in record.watches), near)
