"""Everything of `torch.jit` that no other rule knows, and `torch.jit` itself as an object."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, Safety, Severity
from torchlift.rules.analysis.places.use_places import UsePlace, place_of, whole_name
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SOURCES
from torchlift.rules.torchscript.facts.typing_aliases import follows_import, to_typing, typing_alias
from torchlift.view import ModuleView, Use

_SCHEMA_NAMES = frozenset(bindings("schema"))
_OTHER_BINDINGS = frozenset(bindings("other")) | _SCHEMA_NAMES

RULE = Rule(
    code="TL139",
    name="torchscript-internals",
    summary="A part of the TorchScript compiler, or `torch.jit` as an object",
    why=(
        "`torch.jit` and the `_jit_*` functions of `torch._C` go with TorchScript as a whole. This rule reports what no "
        "other rule knows by name: compiler internals, look-ups by name, patches, and the module passed around."
    ),
    fix=(
        "Names of `typing` that are imported from `torch.jit.annotations` are taken from `typing`, which is safe: they are the "
        "same objects. For the rest there is none: the finding names what takes its place, or that nothing has to."
    ),
    # `torch._jit_internal` is another spelling of `torch.jit`; as a target it only makes names from it be looked at.
    targets=("torch.jit", "torch._jit_internal", "torch._C", *sorted(_OTHER_BINDINGS)),
    triggers=(
        "jit",
        "_jit_internal",
        "_C & _jit_",
        "_C & _create",
        "_C & Script",
        "_C & CompilationUnit",
        "_C & ConcreteModuleType",
        "_C & FileCheck",
        "_C & StaticModule",
        "_C & TracingState",
        "_C & _await",
        "_C & fork",
        "_C & wait",
        "_C & _tracer",
        "_C & _value_trace",
        "_C & parse_type_comment",
    ),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "dir(torch.jit) and dir(torch._C) of the torch 2.13.0 wheel, and the sources of torch/jit in it",
    ),
)

_LAZY = "Call the function itself: eager mode and `torch.export` compute its value on the spot."
_FX = f"Edit an FX graph instead: `torch.export.export(module, args).graph_module`, with `torch.fx`. {EXPORT_DOCS}"
_HINTS = (
    "It reads type hints or marks the way the TorchScript compiler does; `torch.export` and `torch.compile` look at "
    "neither. Use `typing.get_type_hints` or `inspect` for other purposes."
)
_COMPILE = (
    "It makes TorchScript of source or of a graph. For speed in this process use `torch.compile(function)`; to leave Python capture a "
    f"module with `torch.export.export`. {EXPORT_DOCS}"
)
_UNIT = f"Where what it is given is one operator, call that: `torch.ops.<namespace>.<operator>`. {_COMPILE}"
_WRAP = (
    "It builds TorchScript modules from their C++ half. An exported program is changed through `ep.graph_module` and saved "
    f"with `torch.export.save`. {EXPORT_DOCS}"
)
_DECOMPOSE = (
    "TorchScript compiles these decompositions. An exported program takes decompositions as a table: "
    "`ep.run_decompositions(table)`."
)
_BROADCAST = (
    "The hint makes scripted code accept one number for a list. Once nothing scripts the function annotate `int | list[int]`; "
    "until then it has to stay."
)
_CACHES = "It is the compiler's own book-keeping: drop it together with the last use of TorchScript."

# Names of `torch._jit_internal` that `torch.jit` does not have: dir() of both in the torch 2.13.0 wheel, 2026-11-23.
_INTERNAL = frozenset(
    "_copy_to_script_wrapper BroadcastingList1 BroadcastingList2 BroadcastingList3 FunctionModifiers "
    "get_torchscript_modifier is_ignored_fn module_has_exports should_drop _qualified_name".split()
)

# Not in dir(torch.jit) of the torch 2.13.0 wheel, 2026-11-26.
_GONE = frozenset(
    f"torch.jit.{name}" for name in ("get_trace_graph", "weak_module", "weak_script", "weak_script_method")
)

# By the name behind `torch.jit.`; the longest prefix counts.
_ADVICE = {
    "boolean_dispatched": "`torch.fx` looks here for the two functions behind one with a switch; code that does the same follows torch's own "
    "`torch/fx/operator_schemas.py`.",
    "__name__": "Write the string itself where only the word is meant.",
    "CompilationUnit": _UNIT,
    "ONNXTracedModule": "`torch.onnx.export(module, args)` takes the eager module and traces nothing since torch 2.9.",
    "_Await": _LAZY,
    "_await": _LAZY,
    "_awaitable": _LAZY,
    "_awaitable_nowait": _LAZY,
    "_awaitable_wait": _LAZY,
    "_ScriptProfile": "`torch.profiler.profile(with_stack=True)` shows where eager and compiled code spend their time.",
    "_InsertPoint": _FX,
    "_ir_utils": _FX,
    "_passes": _FX,
    "_hide_source_ranges": "It only shapes how TorchScript graphs are printed: drop it.",
    "_register_decomposition": _DECOMPOSE,
    "_decompositions": _DECOMPOSE,
    "_decomposition_utils": _DECOMPOSE,
    "_shape_functions": "Shapes of an operator under export come from its fake: `torch.library.register_fake`.",
    "get_trace_graph": "`torch.export.export(module, args).graph` is the graph of the same call in torch.fx, another language.",
    "weak_module": "Remove the decorator: modules need no mark.",
    "weak_script": "Remove the decorator: functions need no mark.",
    "weak_script_method": "Remove the decorator: methods need no mark.",
    "_drop": "Remove the decorator: eager mode and `torch.export` never look at it.",
    "_isinstance": "Write `isinstance(x, list) and all(...)` for a container; for a plain class `isinstance(x, C)`.",
    "_monkeytype_config": "It infers types for scripting.",
    "_dataclass_impls": "Dataclasses go through export after `torch.export.register_dataclass(C)`.",
    "_recursive": _WRAP,
    "_recursive.concrete_type_store": _CACHES,
    "_builtins": (
        "It teaches the TorchScript compiler a function. `torch.export` follows Python code by itself, and takes an operator "
        "made with `torch.library.custom_op` as it is."
    ),
    "_check": _CACHES,
    "_state": _CACHES,
    "_state._enabled": "It says whether scripting and tracing are switched on (`PYTORCH_JIT`): drop it with them.",
    "_logging": 'Counters of `torch.compile` are in `torch._dynamo.utils.counters`; its log is `TORCH_LOGS="+dynamo"`.',
    "_copy_to_script_wrapper": "Remove the decorator: only scripted containers look at it.",
    "annotations": _HINTS,
    "annotations.BroadcastingList1": _BROADCAST,
    "annotations.BroadcastingList2": _BROADCAST,
    "annotations.BroadcastingList3": _BROADCAST,
    "generate_bytecode": _CACHES,
    "unsupported_tensor_ops": "It lists what the TorchScript compiler cannot do; `torch.export` takes every operator of `torch.ops`.",
    "BroadcastingList1": _BROADCAST,
    "BroadcastingList2": _BROADCAST,
    "BroadcastingList3": _BROADCAST,
    "FunctionModifiers": _HINTS,
    "get_torchscript_modifier": _HINTS,
    "is_ignored_fn": _HINTS,
    "module_has_exports": _HINTS,
    "should_drop": _HINTS,
    "_qualified_name": 'It names classes for the TorchScript compiler: `f"{c.__module__}.{c.__qualname__}"` names them in Python.',
}
_SCHEMA = (
    "It reads the operator registry, which stays: `torch.ops.aten.add.Tensor` is an operator to call, `._schema` its schema, and "
    "`torch._C._dispatch_get_all_op_names()` lists all, without TorchScript's names."
)
_C_ADVICE = dict.fromkeys(bindings("schema"), _SCHEMA) | {
    "torch._C.CompilationUnit": _UNIT,
    "torch._C.fork": _LAZY,
    "torch._C.wait": _LAZY,
    "torch._C._Await": _LAZY,
    "torch._C.FileCheck": "`torch.testing.FileCheck` is the same class under a public name, and takes any text: import it from there.",
    "torch._C._jit_flatten": "`torch.utils._pytree.tree_flatten(value)` flattens inputs the way `torch.export` does.",
    "torch._C._jit_unflatten": "`torch.utils._pytree.tree_unflatten(leaves, spec)` is the inverse in `torch.export`.",
    "torch._C._jit_script_compile": _COMPILE,
    "torch._C._jit_script_class_compile": _COMPILE,
    "torch._C._jit_try_infer_type": _HINTS,
}

_BY_NAME = frozenset(
    "__import__ delattr find_spec getattr import_module importorskip locate object patch resolve_name setattr".split()
)
# These names are TorchScript's whatever release they are of; not all of them are in torch 2.13.
_PREFIX = "torch._C._jit_"


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target == "torch._C" and not use.name.startswith(_PREFIX):
        return
    if typing_alias(use) is not None and use.kind != "string":
        yield from _of_typing(use, view)
        return
    place = place_of(use, context)
    if place is None:
        return
    if use.target == "torch.jit" and use.name == "torch.jit":
        yield from _of_module(use, place, context)
        return
    severity = Severity.INFO if use.target in _SCHEMA_NAMES | {"torch._C.FileCheck"} else Severity.WARNING
    dunder = use.target == "torch.jit" and use.name.rpartition(".")[2].startswith("__")
    message = f"`{_shown(use)}` is a part of the TorchScript compiler and goes with it; it does not warn."
    if use.name in _GONE:
        message = f"`{_shown(use)}` was a part of the TorchScript compiler, and current releases have no such name: AttributeError."
    if dunder:
        message = f"`{use.name}` reads an attribute of the module, which goes with TorchScript."
    if severity is Severity.INFO:
        message = f"`{use.target}` is a TorchScript name for something that is not TorchScript's."
    whole = whole_name(use, view)
    if isinstance(getattr(whole, "ctx", None), ast.Store):
        place = "store"
    yield Finding("TL139", view.path, view.span(whole), message, severity, _advice(use, place))


def _of_typing(use: Use, view: ModuleView) -> Iterator[Finding]:
    """The finding for a name of `typing` that is taken from TorchScript's modules."""
    if follows_import(use):
        return
    whole = whole_name(use, view)
    name = typing_alias(use)
    message = f"`{name}` comes from TorchScript's modules here, where it is `typing.{name}`."
    rewrites = to_typing(use, whole, view)
    fix = Fix("Take it from `typing`", Safety.SAFE, rewrites) if rewrites else None
    advice = None if rewrites else f"Write `typing.{name}` here."
    yield Finding("TL139", view.path, view.span(whole), message, Severity.WARNING, advice, fix)


def _shown(use: Use) -> str:
    name = use.name
    last = name.removeprefix("torch.jit.")
    if last.partition(".")[0] in _INTERNAL:
        return f"torch._jit_internal.{last}"
    if use.target == "torch.jit" and "." not in last and last not in _ADVICE:
        return last  # a public name may come from torch._jit_internal, where it has another prefix
    return name


def _advice(use: Use, place: UsePlace) -> str:
    if use.target == "torch.jit":
        known = use.name.removeprefix("torch.jit.")
        while known and known not in _ADVICE:
            known = known.rpartition(".")[0]
        advice = _ADVICE.get(known, f"Nothing is known to take its place: drop it with what it is for. {EXPORT_DOCS}")
    else:
        advice = _C_ADVICE.get(use.target, _CACHES)
    if place == "string":
        return f"The name stands in a string: take it out together with the use it means. {advice}"
    if place == "store":
        return (
            "It is set here for the whole process, for code that looks for it there: drop the assignment together with that "
            "code, and at the latest when `torch.jit` is gone, because then it fails."
        )
    if place == "import":
        return f"Stop passing the name on. {advice}"
    return advice


def _of_module(use: Use, place: UsePlace, context: Context) -> Iterator[Finding]:
    """Findings for `torch.jit` itself: looked into by name, patched, passed around, named in a string."""
    view = context.view
    node = use.node
    span = view.span(node)
    severity = Severity.WARNING
    parent = view.parent(node)
    if isinstance(node, ast.expr) and _is_followed_alias(node, view):
        return
    message = "`torch.jit` is used as an object here; the whole module goes with TorchScript."
    name = _named_member(parent, node) if isinstance(parent, ast.Call) else None
    if name is not None:
        message = f"`torch.jit.{name}` is reached by its name here and goes with TorchScript."
        advice = (
            f"Change it together with the direct uses of `torch.jit.{name}`; a patch or look-up that is left fails."
        )
    elif place == "string":
        if not _looks_up(node, view):
            return
        message = "`torch.jit` is looked up by its name here."
        advice = "Take the look-up or patch out together with the uses of TorchScript that it is for."
    elif place == "import":
        advice = "Stop passing the module on, and let the files that need it import it until they are migrated."
    elif isinstance(parent, ast.Call):
        advice = (
            "Which members are used behind this call is not known here: look there, and migrate each by its own advice."
        )
    else:
        advice = "Which members are used through it is not known here: name them directly, and migrate each by its own advice."
    yield Finding("TL139", view.path, span, message, severity, advice)


def _looks_up(node: ast.AST, view: ModuleView) -> bool:
    """Whether a string is given to something that imports, patches or makes what it names; elsewhere it may be any word."""
    for child, ancestor in view.upwards(node):
        match ancestor:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                return child is not ancestor.func and name in _BY_NAME
            case ast.Dict():
                keys = [key for key, value in zip(ancestor.keys, ancestor.values, strict=True) if value is child]
                return any(isinstance(key, ast.Constant) and key.value == "_target_" for key in keys)
            case ast.keyword(arg="_target_") | ast.Subscript(value=ast.Attribute(attr="modules")):
                return True
            case ast.stmt():
                return False
    return False


def _named_member(call: ast.Call, node: ast.expr | ast.alias) -> str | None:
    """The literal name behind `torch.jit` in `getattr(torch.jit, "load")`, `mock.patch.object(torch.jit, "load")`, ..."""
    for first, second in zip(call.args, call.args[1:], strict=False):
        if first is node and isinstance(second, ast.Constant) and isinstance(second.value, str):
            return second.value
    return None


def _is_followed_alias(node: ast.expr, view: ModuleView) -> bool:
    """Whether `node` is given a name whose reads are known to mean `torch.jit`, and are reported themselves."""
    statement = view.parent(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    binding = view.bound_by(statement.targets[0])
    return binding is not None and any(alone for _, alone in view.reads_of(binding))


EXAMPLES = (
    Bad(
        "import torch\nfrom torch.jit.annotations import Dict, List as L\n\n\ndef f(x: L[torch.Tensor]) -> Dict[str, int]:\n    return {'n': len(x)}\n",
        "from typing import Dict, List as L\n\nimport torch\n\n\ndef f(x: L[torch.Tensor]) -> Dict[str, int]:\n    return {'n': len(x)}\n",
        why="names of typing imported from TorchScript",
        run="import typing\nresult = (f([torch.ones(2)]), typing.get_type_hints(f) == {'x': typing.List[torch.Tensor], 'return': typing.Dict[str, int]})",
    ),
    Bad(
        "import torch\n\n\ndef f(x: torch.jit.annotations.Optional[int] = None):\n    return x or 3\n",
        "from typing import Optional\n\nimport torch\n\n\ndef f(x: Optional[int] = None):\n    return x or 3\n",
        why="a name of typing as an attribute",
        run="import typing\nresult = (f(), str(typing.get_type_hints(f)['x']))",
    ),
    Bad(
        "import torch\n\nunit = torch.jit.CompilationUnit('def f(x): return x')\n",
        why="source compiled from a string",
    ),
    Bad(
        "from torch.jit._recursive import wrap_cpp_module as wrap\n\n\ndef clone(net):\n    return wrap(net._c._clone())\n",
        why="a private module",
    ),
    Bad(
        "import torch\n\n\ndef choose(name):\n    return getattr(torch.jit, 'script' if name else 'trace')\n",
        why="a look-up with a name that is computed",
    ),
    Bad(
        "from unittest import mock\n\nimport torch\n\nwith mock.patch.object(torch.jit, 'load'):\n    pass\n",
        why="a patched member",
    ),
    Bad(
        "from unittest import mock\n\nwith mock.patch('torch.jit._recursive.wrap_cpp_module'):\n    pass\n",
        why="a patch target in a string",
    ),
    Bad("import torch\n\nbackends = {'script': torch.jit, 'eager': None}\n", why="the module as a value"),
    Bad(
        "import torch\n\ntorch._C._jit_set_something_new(True)\ntorch._C._jit_clear_class_registry()\n",
        why="a function of the compiler that torch 2.13 does not have",
    ),
    Bad(
        "from torch._jit_internal import _copy_to_script_wrapper\n\n\nclass Box:\n    @_copy_to_script_wrapper\n    def size(self):\n        return 1\n",
        why="a decorator of the internal module",
    ),
    Ok("from torch import jit\n\nnet = jit.load('x')\n", "an import whose use is reported"),
    Ok(
        "import torch\n\njit = torch.jit\nnet = jit.load('x')\n",
        "another name for the module, whose use is reported",
    ),
    Ok("import torch\n\nhas = hasattr(torch.jit, 'script')\n", "a question whether a member is there"),
    Ok("from numba import jit\n\n\n@jit\ndef f(x):\n    return x\n", "numba's jit"),
    Ok("import jax\n\nf = jax.jit(lambda x: x)\n", "jax's jit"),
    Ok("import torch\n\njit = torch._C._get_default_device()\n", "another name of torch._C"),
    Bad(
        "import torch.jit.annotations\n\ntorch.jit.annotations.compiler_flag = None\n",
        why="an attribute set for another package",
    ),
    Bad("import importlib\n\njit = importlib.import_module('torch.jit')\n", why="the module imported by its name"),
    Ok(
        "backends = ['torch', 'torch.jit']\n\n\ndef convert(x, backend='torch.jit'):\n    return x\n",
        "a name of the project's own",
    ),
    Ok("import torch\n\nraise ValueError('torch.jit. Use export.')\n", "a sentence that begins with the name"),
)
