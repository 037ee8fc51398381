"""Looking into TorchScript: its graphs, passes over them, its parser and its settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.analysis.places.use_places import UsePlace, place_of, whole_name
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_FX = "`ep.graph` (an FX graph), `ep.graph_signature` and `ep.module().code`"

_ADVICE = {
    "torch.jit.export_opnames": (
        'Operators of an exported program: `{str(node.target) for node in ep.graph.nodes if node.op == "call_function"}`; for a '
        "mobile build ExecuTorch selects kernels from the `.pte` file itself."
    ),
    "torch.jit.last_executed_optimized_graph": (
        'What `torch.compile` runs is printed by `TORCH_LOGS="output_code"`, and what it captured by `TORCH_LOGS="graph_code"`.'
    ),
    "torch.jit._get_trace_graph": f"`ep = torch.export.export(module, args)` captures the same call; read {_FX}.",
    "torch.jit._unique_state_dict": (
        "`module.state_dict(keep_vars=True)` gives the same tensors; shared ones stand in it under each of their names."
    ),
    "torch.jit._flatten": "`torch.utils._pytree.tree_leaves(value)` flattens nested inputs the way `torch.export` does.",
    "torch.jit.frontend": (
        "It parses source for the TorchScript compiler; `torch.export` and `torch.compile` never read source. Use `ast` and "
        "`inspect.getsource` for other purposes."
    ),
    "torch.jit.supported_ops": (
        "It lists what the TorchScript compiler knows. `torch.export` takes every operator below `torch.ops`, custom ones "
        "from `torch.library` included."
    ),
    "torch._C.Graph": ("The type of TorchScript graphs: that of an exported program is `torch.fx.Graph` (`ep.graph`)."),
    "torch._C.parse_ir": (
        "It makes a graph of text in TorchScript's language. Where that is one operator, call it: "
        f"`torch.ops.<namespace>.<operator>`; a larger graph is written anew with `torch.fx.Graph`. {EXPORT_DOCS}"
    ),
    "*.save_to_buffer": (
        "`torch.export.save(program, buffer)` writes a program to an `io.BytesIO`, whose `.getvalue()` gives the bytes."
    ),
    "*.graph_for": 'What `torch.compile` runs is printed by `TORCH_LOGS="output_code"`.',
}
_LEAVES_REVIEW = (
    "Needs review: a None or a string among the values is a leaf from now on, and a number stays a number; of tensors in "
    "tuples, lists and dictionaries the same leaves come in the same order."
)
_METHODS = ("*.graph_for", "*.inlined_graph", "*.code_with_constants", "*.save_to_buffer")

_TARGETS = (
    *(name for name in _ADVICE if name not in {"torch._C.Graph", "torch._C.parse_ir", *_METHODS}),
    *_METHODS,
    *bindings("graph", "state"),
    "torch.Graph",
)

RULE = Rule(
    code="TL132",
    name="torchscript-inspection",
    summary="Code that looks into TorchScript's graphs, passes, parser or settings",
    why=(
        "None of these names warns, and none has a counterpart of the same kind: TorchScript's graphs are in its own "
        "language, exported programs are FX graphs of ATen operators."
    ),
    fix=(
        "None: code that reads one graph language cannot be rewritten for the other by rule. The finding names where the "
        "same question is answered. Where TorchScript is dropped, `torch.jit._flatten` becomes the `tree_flatten` of `torch.export`, for review."
    ),
    targets=_TARGETS,
    triggers=(
        "jit",
        "_jit_internal",
        "_C & _jit_",
        "_C & Graph",
        "_C & graph",
        "_C & parse_ir",
        "_C & _export_opnames",
        "_C & _propagate",
        "_C & import_ir_module",
        "torch.Graph",
        *(f"{name[2:]} & torch" for name in _METHODS),
    ),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "torch/jit/_trace.py, frontend.py, supported_ops.py of the torch 2.13.0 wheel",
        "leaves of `torch.jit._flatten` and `tree_flatten` compared for nested values: run on torch 2.13.0, 2026-11-26",
    ),
)

_GRAPH = (
    f"A program made by `ep = torch.export.export(module, args)` shows itself as {_FX}: another language with ATen "
    "operators as nodes, so code that reads or rewrites the graph is written anew. `torch.fx` has passes and pattern "
    f"replacement for it. {EXPORT_DOCS}"
)
_SYMBOLIC = (
    " ONNX symbolic functions serve the TorchScript-based exporter only; the one that is the default since torch 2.9 takes "
    "`custom_translation_table=`."
)
_STATE = "It reads a setting of the TorchScript compiler: drop it together with the code that restores the setting."
_STATE_NAMES = frozenset(bindings("state"))


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target in _METHODS:
        if _is_own_method(view, use.target[2:]):
            return
        message = f"`.{use.target[2:]}` is an attribute of TorchScript values, which an exported program does not have."
        place: UsePlace | None = "value"
    else:
        place = place_of(use, context)
        message = f"`{use.name}` looks into TorchScript and goes with it."
    if place is None:
        return
    target = "torch._C.Graph" if use.target == "torch.Graph" else use.target
    advice = _ADVICE.get(target) or (_STATE if target in _STATE_NAMES else _GRAPH)
    if place == "string":
        advice = f"The name stands in a string: take it out together with the use it means. {advice}"
    if target == "torch._C.Graph" and "onnx" in view.source.text.lower():
        advice += _SYMBOLIC
    severity = Severity.INFO if target == "torch._C.Graph" else Severity.WARNING
    fix = _leaves(use, view) if drops(context) else None
    advice = _LEAVES_REVIEW if fix is not None else advice
    yield Finding("TL132", view.path, view.span(whole_name(use, view)), message, severity, advice, fix)


def _leaves(use: Use, view: ModuleView) -> Fix | None:
    """The leaves that `torch.export` sees, where only the leaves of `torch.jit._flatten(value)` are read."""
    call = view.parent(use.node)
    if use.target != "torch.jit._flatten" or not isinstance(call, ast.Call) or call.func is not use.node:
        return None
    match view.parent(call):
        case ast.Subscript(slice=ast.Constant(value=0)):
            alone = True
        case ast.Assign(targets=[ast.Tuple(elts=[_, ast.Name() as rest])]):
            bound = view.bound_by(rest)
            alone = bound is not None and not view.reads_of(bound)
        case _:
            alone = False
    spelling = view.spell("torch.utils._pytree.tree_flatten", use.node, use) if alone else None
    if spelling is None:
        return None
    rewrite = ReplaceExpression(view.span(use.node), Template(spelling.text))
    return Fix("Flatten as `torch.export` does", Safety.UNSAFE, (rewrite, *spelling.imports), TorchVersion(1, 8))


def _is_own_method(view: ModuleView, name: str) -> bool:
    """Whether the file defines an attribute of this name, or never speaks of torch."""
    if "torch" not in view.source.text:
        return True
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name for node in view.parents
    ) or any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for node in view.parents
    )


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef as_bytes(net):\n    return net.save_to_buffer()\n",
        why="a value from anywhere, written to bytes",
    ),
    Bad(
        "import torch\n\n\ndef names(net):\n    return torch.jit.export_opnames(net)\n",
        why="operators of a scripted module",
    ),
    Bad(
        "import torch\n\n\ndef clean(graph):\n    torch._C._jit_pass_inline(graph)\n    torch._C._jit_pass_lint(graph)\n",
        why="passes over a graph",
    ),
    Bad(
        "from torch.jit import _get_trace_graph\n\n\ndef graph(net, x):\n    return _get_trace_graph(net, (x,))[0]\n",
        why="a traced graph",
    ),
    Bad(
        "from torch.jit.frontend import get_jit_def\n\n\ndef parse(f):\n    return get_jit_def(f, f.__name__)\n",
        why="the parser",
    ),
    Bad("import torch\n\nold = torch._C._jit_texpr_fuser_enabled()\n", why="a setting is read"),
    Bad(
        "import torch\n\n\ndef show(net, x):\n    print(net.graph_for(x))\n    return net.inlined_graph\n",
        why="attributes of scripted values",
    ),
    Bad(
        "import torch\n\n\ndef symbolic(g: torch._C.Graph, x):\n    return g.op('Abs', x)\n",
        why="the graph type of an ONNX symbolic function",
    ),
    Bad(
        "import torch\n\n\ndef inputs_of(images):\n    inputs, _ = torch.jit._flatten(images)\n    return inputs\n",
        "import torch\n\n\ndef inputs_of(images):\n    inputs, _ = torch.utils._pytree.tree_flatten(images)\n    return inputs\n",
        safety="unsafe",
        why="the leaves of nested inputs",
        run="result = inputs_of([torch.ones(1), {'b': torch.ones(2), 'a': (torch.ones(3),)}])",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef described(images):\n    inputs, shape = torch.jit._flatten(images)\n    return inputs, shape\n",
        why="the leaves with what describes them",
        torchscript=DROP,
    ),
    Bad("import torch\n\nunique = torch.jit._unique_state_dict\n", why="a private helper as a value"),
    Ok("import torch\n\nprint(torch.fx.Graph(), 'jit')\n", "an FX graph"),
    Ok(
        "import torch\n\n\nclass Store:\n    def graph_for(self, key):\n        return key\n\n\nStore().graph_for(1)\n",
        "an own method named graph_for",
    ),
    Ok("def plot(store):\n    return store.graph_for('sales')\n", "a file that has nothing to do with torch"),
    Ok("import frontend\n\njit = frontend.get_jit_def()\n", "a module named frontend"),
    Ok("import torch\n\njit = torch._C._get_default_device()\n", "another name of torch._C"),
)
