"""What keeps `torch.export` from capturing a module, seen in all code that the module runs; one clause, or none.

Measured on torch 2.13.0 with `Dim.AUTO`, 2026-11-26: fake quantization raises UnsupportedOperatorException or
`GuardOnDataDependentSymNode`, a part that `torch.jit.script` or `torch.jit.load` makes TypeError, one that `quantize_dynamic` packs
AttributeError; an observer, a traced part and a scripted function without branches are captured.
"""

from __future__ import annotations

import ast

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS
from torchlift.rules.torchscript.compilers.scripting_roots import run_by
from torchlift.rules.torchscript.compilers.value_sources import ValueSources
from torchlift.rules.torchscript.modules.data_branches import BRANCHES, data_branch
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_QUANTIZERS = ("torch.ao.quantization", "torch.quantization", "torch.fake_quantize_", "pytorch_quantization")
# Run on torch 2.13.0, 2026-11-26: fused modules and stubs are captured like others, modules with observers and converted ones
# raise, one of `prepare_qat` was captured.
_PLAIN = frozenset({"fuse_modules", "QuantStub", "DeQuantStub", "QuantWrapper"})
_FAILS = "`torch.export` fails on many quantized modules and observers"
_FAKE = lazy_pattern(r"(?i)fake_?quant")
_COND = (
    "`torch.cond(predicate, true_fn, false_fn, (x,))` there, whose branches return new tensors of one shape and dtype"
)
_TRY = "and many cannot be captured: try `torch.export` on it"
_MOST_TRACES = 8
"""Of what is traced already; nobody follows longer ones by eye either."""
_COMPILED = frozenset({"torch.jit.script", "torch.jit.load"})


def export_obstacle(view: ModuleView, node: ast.expr, project: Project) -> str | None:
    """A clause about why `torch.export.export` of the module `node` raises, or may do so for all that is known of it."""
    for _ in range(_MOST_TRACES):
        before = _traced(view, node)
        if before is None:
            return _obstacle(view, node, project)
        node = before
    return f"`{one_line(view, node)}` is traced more than {_MOST_TRACES} times, one after another"


def _traced(view: ModuleView, node: ast.expr) -> ast.expr | None:
    """The module that was traced to make what a name stands for."""
    binding = view.definition(node) if isinstance(node, ast.Name) else None
    match binding.value if binding is not None and binding.kind == "assign" else None:
        case ast.Call(func=function, args=[ast.Name() as module, *_]) if (
            view.certain_name(function) == "torch.jit.trace"
        ):
            return module
    return None


def _obstacle(view: ModuleView, node: ast.expr, project: Project) -> str | None:
    sources = ValueSources(project)
    sources.follow(view, node)
    shown = one_line(view, node)
    if sources.unknown is not None:
        return f"which module `{shown}` is was not followed to its end, {_TRY}"
    for origin in sources.found:
        made = origin.node
        if isinstance(made, ast.expr) and _quantizes(origin.view.possible_name(made)):
            place = f"{origin.view.path}:{made.lineno}"
            return f"`{one_line(origin.view, made)}` prepares or quantizes it ({place}), and {_FAILS}"
    reached = run_by(project, view, node)
    # What is reached for certain comes first: of the rest it is not known whether this module runs it.
    for path, line in sorted(reached.by, key=lambda key: (bool(reached.beyond.get(key)), key)):
        home = project.view(path)
        function = project.once(_definitions, path).get(line) if home is not None else None
        if home is not None and function is not None and (why := _rejected(home, function)) is not None:
            if getattr(function, "name", "").startswith(
                "test"
            ):  # no module runs a test: the way there was not read right
                return f"what `{shown}` runs was not followed to its end, {_TRY}"
            return f"where it runs that, {why}"
    if reached.stopped:
        return (
            f"what `{shown}` runs was followed only as far as {min(reached.stopped.values())}: try `torch.export` on it"
        )
    return None


def _definitions(project: Project, path: str) -> dict[int, ast.AST]:
    view = project.view(path)
    return {node.lineno: node for node in walk(view.tree) if isinstance(node, DEFINITIONS)} if view is not None else {}


def _rejected(view: ModuleView, node: ast.AST) -> str | None:
    """A clause about code of one function, or about what a class is and makes."""
    if isinstance(node, ast.ClassDef):
        if any(_FAKE.search(name) for name in (node.name, *map(ast.unparse, node.bases))):
            return f"`{node.name}` ({view.path}:{node.lineno}) quantizes for training, and {_FAILS}"
        init = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
        return _made(view, init, node.name) if init is not None else None
    name = getattr(node, "name", "")
    found = data_branch(view, node)
    if found is not None:
        remedy = f"write {_COND}" if found.what == BRANCHES else "it raises there"
        return f"`{name}` {found.what} ({view.path}:{found.line}), which `torch.export` cannot follow: {remedy}"
    return _made(view, node, name)


def _quantizes(name: str) -> bool:
    return name.startswith(_QUANTIZERS) and name.rpartition(".")[2] not in _PLAIN


def _made(view: ModuleView, function: ast.AST, name: str) -> str | None:
    """A clause about the first call in a function that makes or runs what no program can hold."""
    for child in walk(function):
        if not isinstance(child, ast.Call):
            continue
        called = view.possible_name(child.func)
        place = f"({view.path}:{child.lineno})"
        if called in _COMPILED:
            return f"`{name}` makes a part with `{called}` {place}, which `torch.export` rejects: that has to go first"
        if _quantizes(called) or _FAKE.search(called or ast.unparse(child.func)):
            return f"`{name}` calls `{one_line(view, child.func)}` {place}, and {_FAILS}"
    return None
