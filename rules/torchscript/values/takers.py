"""Places of a project that take TorchScript values and nothing else, and the names by which values get there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.torchscript.facts.trusted_operations import SELF_RETURNING
from torchlift.rules.torchscript.facts.value_consumers import takes_torchscript
from torchlift.rules.torchscript.values.script_readers import script_reader
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_SPELLINGS = lazy_pattern(
    rb"jit\s*\.\s*(?:save|freeze|optimize_for_inference|run_frozen_optimizations)\b|\boptimize_for_mobile\b"
    rb"|\b(?:TorchForce|convert_model_to_nnapi|generate_mobile_module_lints)\b|\bbentoml\.torchscript\b"
    rb"|\.\s*(?:save_to_buffer|_save_for_lite_interpreter|inlined_graph|code_with_constants|graph_for)\b"
    rb"|\bisinstance\s*\([^()\n]*,\s*\(?[^()\n]*\b(?:(?:Recursive)?ScriptModule|TopLevelTracedModule|ScriptFunction)\b"
)
_WORDS = (
    "jit", "optimize_for_mobile", "save_to_buffer", "inlined_graph", "ScriptModule", "ScriptFunction", "TorchForce",
    "convert_model_to_nnapi", "generate_mobile_module_lints", "bentoml.torchscript",
)  # fmt: skip
_TORCH = ("torch.jit.", "torch._C.")
# What stands wherever `_taken` finds something: files without any of it are not parsed.
_TAKES = lazy_pattern(
    rb"\b(?:save|save_to_buffer|_save_for_lite_interpreter)\b|optimize_for_mobile|generate_mobile_module_lints|coremltools"
    rb"|_with_bundled_inputs|bundle_inputs|neuron|intel_extension|\bipex\b|torch2trt|_nnapi|TorchForce|from_pytorch|bentoml|qai_hub"
    rb"|_export\b|quantization\b|graph\s*\.\s*(?:nodes|inputs|outputs)\s*\("
)
_METHODS = frozenset({"save_to_buffer", "_save_for_lite_interpreter"})
_GRAPHS = frozenset({"graph", "inlined_graph"})
# Methods of a graph of TorchScript's; the nodes of one of `torch.fx` are no call.
_OF_GRAPHS = frozenset({"nodes", "inputs", "outputs"})
_MODEL = lazy_pattern(r"(?i)model|net|script|trac|module|jit")
_STEPS = 4


def first_taker(project: Project) -> str | None:
    """`path:line` of the first place in the project, tests aside, that takes TorchScript values and nothing else."""
    return project.once(_first)


def taker_by(project: Project, name: str) -> str | None:
    """`path:line` of a place, tests aside, that saves what it gets by `name`, or looks into its graph.

    That is a function which is given the value or returns it, or an attribute that holds it.
    """
    return project.once(_by_name).get(name)


def name_on(view: ModuleView, node: ast.AST) -> str | None:
    """The name by which a value at `node` goes on: the attribute that keeps it, the function that returns or gets it."""
    if isinstance(node, ast.Return):
        function = view.function_of(node)
        return function.name if function is not None else None
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call) and call.func is not node:
        return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    return node.attr if isinstance(node, ast.Attribute) else None


def saved_later(life: ValueLife, project: Project) -> str | None:
    """A clause about a place that saves a value which goes there by its name, and is not followed so far."""
    for obstacle in life.obstacles:
        name = name_on(life.home(obstacle.node), obstacle.node)
        taker = taker_by(project, name) if name is not None else None
        home, node = life.home(obstacle.node), obstacle.node
        given = home.parent(node)
        around = home.parent(given) if isinstance(given, ast.keyword) else given
        if taker is None and isinstance(around, ast.Call) and isinstance(node, ast.expr) and around.func is not node:
            taker = script_reader(home, around, node, project)
        if taker is not None:
            return f"goes on as `{name}` ({life.place(obstacle.node)}), and {taker} needs it as TorchScript"
    return None


def _files(project: Project) -> Iterator[str]:
    for path in sorted(project.files_holding(*_WORDS)):
        if path.endswith(".py") and not is_test_file(path):
            yield path


def _first(project: Project) -> str | None:
    for path in _files(project):
        data = project.data(path)
        for found in _SPELLINGS.finditer(data):
            if b"#" not in data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()]:
                line = data.count(b"\n", 0, found.start()) + 1
                return f"{path}:{line}"
    return None


def _by_name(project: Project) -> Mapping[str, str]:
    names: dict[str, str] = {}
    for path in _files(project):
        view = project.view(path) if _TAKES.search(project.data(path)) else None
        if view is None:
            continue
        for call in walk(view.tree):
            taken = _taken(view, call) if isinstance(call, ast.Call) else None
            if taken is not None:
                for name in _sources(view, taken):
                    names.setdefault(name, f"{path}:{taken.lineno}")
    return names


def _taken(view: ModuleView, call: ast.Call) -> ast.expr | None:
    """The value that a call saves, looks into, or hands to what takes TorchScript only."""
    name = view.possible_name(call.func)
    if name == "torch.jit.save" or (takes_torchscript(name) and not name.startswith(_TORCH)):
        return call.args[0] if call.args else None
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _METHODS:
        return call.func.value
    looked_at = call.func.value
    if call.func.attr in _OF_GRAPHS and isinstance(looked_at, ast.Attribute) and looked_at.attr in _GRAPHS:
        return looked_at.value
    saves = call.func.attr == "save" and len(call.args) == 1 and _MODEL.search(view.text(call.func.value)) is not None
    return call.func.value if saves and not view.possible_name(call.func) else None


def _sources(view: ModuleView, node: ast.expr, steps: int = 0) -> Iterator[str]:
    """Names by which a value comes to where it stands."""
    match node:
        case ast.Attribute(attr=attr):
            yield attr
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in SELF_RETURNING and steps < _STEPS:
            yield from _sources(view, value, steps + 1)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            yield name
        case ast.Name() if steps < _STEPS:
            for binding in view.bindings_of(node, view.scope_at(node)):
                function = view.function_of(binding.node)
                if binding.kind == "param" and function is not None:
                    yield function.name
                elif binding.value is not None:
                    yield from _sources(view, binding.value, steps + 1)
