"""Where a project writes TorchScript values to files and reads them, and what identifies such a file."""

from __future__ import annotations

import ast
import posixpath
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.analysis.places.never_run import is_skipped
from torchlift.search.parties import Sighting
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_LOADERS = {"torch.jit.load": "load", "torch.load": "other"}
_MAKERS = ("torch.jit.trace", "torch.jit.script", "torch.jit.freeze")
_TARGETS = frozenset((*_LOADERS, *_MAKERS, "torch.jit.save"))


@dataclass(frozen=True)
class Site:
    """One place that writes or reads an artifact.

    Attributes:
        role: `save`, `load`, or `other` for uses that are never rewritten.
        key: what identifies the file, see `path_key`.
        line: 1-based line.
        literal: whether the path is a string literal right there.
        constant: qualified name of the module-level constant that the path is, if it is one.
        traced: for `save`, whether the value surely comes from `torch.jit.trace` in the same file.
        ranks: for `save` of a trace, the rank of each example input (None where unknown), if their number is known.
        moved: for `save`, whether the writer's file moves modules or tensors to other devices.
        extra_files: whether it writes or reads extra files.
        scripted: for `save`, whether the value surely comes from `torch.jit.script` in the same file.
    """

    role: Literal["save", "load", "other"]
    key: str
    line: int
    literal: bool
    constant: str | None = None
    traced: bool = False
    ranks: tuple[int | None, ...] | None = None
    moved: bool = False
    extra_files: bool = False
    scripted: bool = False


def path_key(view: ModuleView, node: ast.expr, project: Project | None) -> str | None:
    """What identifies the file that a path expression names; None if that is not certain.

    A literal is its normalised text, also through constants bound once; a module-level constant with any other value is
    its qualified name, and `CONSTANT / "name"` or `os.path.join(CONSTANT, "name")` are built from such parts. Any other
    expression is itself, inside one function, as long as its names have one meaning there.
    """
    return _file_key(view, node, project) or _local_key(view, node)


def _file_key(view: ModuleView, node: ast.expr, project: Project | None) -> str | None:
    match node:
        case ast.Constant(value=str() as text):
            return f"file {posixpath.normpath(text)}"
        case ast.Call(func=ast.Name(id="str"), args=[inner], keywords=[]):
            return _file_key(view, inner, project)
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=str() as text)):
            base = _constant_name(view, left, project)
            return f"file {base}/{text}" if base else None
        case ast.Call(args=[left, ast.Constant(value=str() as text)], keywords=[]):
            base = _constant_name(view, left, project) if view.possible_name(node.func) == "os.path.join" else None
            return f"file {base}/{text}" if base else None
        case ast.Name() | ast.Attribute():
            value = _constant_value(view, node, project)
            if value is not None and isinstance(value[1].value, ast.Constant):
                return _file_key(value[0], value[1].value, None)
            name = _constant_name(view, node, project)
            return f"file {name}" if name else None
        case _:
            return None


def _local_key(view: ModuleView, node: ast.expr) -> str | None:
    """What identifies a path that is made up in the function around it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
        node = node.args[0]
    if any(isinstance(child, (ast.Lambda, ast.NamedExpr, ast.Await, ast.comprehension)) for child in walk(node)):
        return None
    names = [child for child in walk(node) if isinstance(child, ast.Name)]
    places = []
    for name in names:
        binding = view.definition(name)
        if binding is None:
            if view.resolve(name) is None and view.scope_at(node).lookup(name.id) is not None:
                return None  # more than one meaning
            continue
        if binding.imported is not None and isinstance(node, ast.Call):
            continue  # `os` of `os.path.join(...)`
        if binding.scope.kind == "module" or binding.imported is not None:
            return None
        places.append(str(getattr(binding.node, "lineno", 0)))
    if not places:
        return None
    function = view.function_of(node)
    where = ",".join(sorted(set(places)))
    return f"local {view.path}:{function.lineno if function is not None else 0}:{where} {ast.unparse(node)}"


def _constant_value(view: ModuleView, node: ast.expr, project: Project | None) -> tuple[ModuleView, Binding] | None:
    binding = view.definition(node)
    if binding is not None and binding.kind == "assign":
        only = len(binding.scope.bindings[binding.name]) == 1
        return (view, binding) if only else None
    name = view.certain_name(node) if project is not None else ""
    found = project.binding(name, view.path) if project is not None and name else None
    return found if found is not None and found[1].kind == "assign" else None


def _constant_name(view: ModuleView, node: ast.expr, project: Project | None) -> str | None:
    found = _constant_value(view, node, project)
    if found is None or found[1].scope.kind != "module":
        return None
    return f"{found[0].module}.{found[1].name}"


def _collect(view: ModuleView) -> tuple[tuple[Site, str | None], ...] | None:
    """Sites of one file; where the path is an imported name, its qualified name, to be resolved in the project."""
    from torchlift.rules.torchscript.values.value_life import follow

    found = _Sites(view)
    uses = [use for use in view.uses(_TARGETS) if not is_skipped(view, use.node)]
    for use in (use for use in uses if use.target in _LOADERS):
        path = _path_argument(use.call, 0) if use.call is not None and use.certain else None
        if use.call is not None and path is not None:
            found.add("load" if use.target == "torch.jit.load" else "other", use.call, path)
    for maker in _MAKERS:
        for use in uses:
            if use.target == maker and use.call is not None and use.certain:
                for save in follow(view, use.call).saves:
                    found.add_save(save.call, save.path, use.call, maker)
    for use in uses:
        path = _path_argument(use.call, 1) if use.call is not None and use.target == "torch.jit.save" else None
        if use.call is not None and path is not None:
            found.add_save(use.call, path)
    loaded = {site.key for site, _ in found.sites if site.role == "load" and site.key}
    for node in walk(view.tree) if loaded else ():
        # Whatever is saved where the same function or file loads TorchScript is TorchScript, wherever it came from.
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "save":
            path = _path_argument(node, 0)
            if path is not None and path_key(view, path, None) in loaded:
                found.add_save(node, path)
    return tuple(found.sites) or None


class _Sites:
    """The sites of one file, while they are being found."""

    def __init__(self, view: ModuleView) -> None:
        self.view = view
        self.sites: list[tuple[Site, str | None]] = []
        self._saves: set[ast.Call] = set()
        self._moved = any(name in view.source.text for name in (".cuda(", ".to(", "device="))

    def add_save(self, call: ast.Call, path: ast.expr, made_by: ast.Call | None = None, maker: str = "") -> None:
        """A call that writes a file, unless it is among the sites already."""
        if call not in self._saves:
            self._saves.add(call)
            traced = made_by if maker == "torch.jit.trace" else None
            self.add("save", call, path, traced, scripted=maker == "torch.jit.script")

    def add(
        self,
        role: Literal["save", "load", "other"],
        call: ast.Call,
        path: ast.expr,
        trace: ast.Call | None = None,
        *,
        scripted: bool = False,
    ) -> None:
        """A call that writes or reads a file; of a `torch.load`, only if something is known of its path."""
        key = path_key(self.view, path, None)
        deferred = (self.view.certain_name(path) or None) if key is None else None
        if key is not None or deferred is not None or role != "other":
            constant = deferred or _constant_name(self.view, path, None)
            extra = any(keyword.arg == "_extra_files" for keyword in call.keywords)
            traced, ranks = trace is not None, self._ranks(trace)
            literal = isinstance(path, ast.Constant)
            site = Site(role, key or "", path.lineno, literal, constant, traced, ranks, self._moved, extra, scripted)
            self.sites.append((site, deferred))

    def _ranks(self, trace: ast.Call | None) -> tuple[int | None, ...] | None:
        from torchlift.rules.torchscript.values.example_inputs import read_example_inputs

        if trace is None or len(trace.args) < 2:
            return None
        found = read_example_inputs(self.view, trace.args[1])
        if found.form in {"unknown", "keywords"}:
            return None
        return tuple(len(tensor.sizes) if tensor.sizes is not None else None for tensor in found.tensors)


def _path_argument(call: ast.Call, position: int) -> ast.expr | None:
    """The path given to a load or save: by position, or as `f`."""
    if len(call.args) > position:
        argument = call.args[position]
        return None if isinstance(argument, ast.Starred) else argument
    return next((keyword.value for keyword in call.keywords if keyword.arg == "f"), None)


def _matters(seen: Sighting) -> bool:
    return seen.target not in _LOADERS or (seen.call is not None and _path_argument(seen.call, 0) is not None)


COLLECTOR = Collector(
    "torchscript.artifacts",
    ("jit", "torch.load"),
    _collect,
    _TARGETS,
    _matters,
)


def sites_of(project: Project, key: str) -> list[tuple[str, Site]]:
    """Every known site of one artifact, as `(path, site)`."""
    found = []
    for path, records in sorted(project.records(COLLECTOR).items()):
        for site, deferred in records:
            if (site.key or deferred_key(project, deferred, path)) == key:
                found.append((path, site))
    return found


def deferred_key(project: Project, name: str | None, importer: str) -> str | None:
    """What identifies the file whose path another file of the project binds to `name`."""
    found = project.binding(name, importer) if name else None
    if found is None or found[1].kind != "assign":
        return None
    view, binding = found
    if isinstance(binding.value, ast.Constant):
        return path_key(view, binding.value, None)
    return f"file {view.module}.{binding.name}"
