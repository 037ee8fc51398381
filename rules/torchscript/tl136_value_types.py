"""TorchScript's classes as types: in `isinstance`, in annotations, as values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.use_places import UsePlace, place_of, whole_name
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.captures.switched_names import switched_name
from torchlift.rules.torchscript.compilers import runtime_uses, scripting_uses
from torchlift.rules.torchscript.facts import c_bindings
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.dropped_types import OF_CPP, TypeAdvice, in_annotation, in_type_test
from torchlift.torchscript_intent import DROP
from torchlift.view import ModuleView, Use

_MODULES = "ScriptModule RecursiveScriptModule TracedModule TopLevelTracedModule".split()
_CLASSES = ("RecursiveScriptClass",)
_C_NAMES = c_bindings.NAMES["type"]
_TARGETS = (
    *(f"torch.jit.{name}" for name in (*_MODULES, "ScriptFunction", *_CLASSES)),
    # `torch` has the classes of `torch._C` under the same names.
    *(f"{home}.{name}" for home in ("torch", "torch._C") for name in _C_NAMES),
)

RULE = Rule(
    code="TL136",
    name="torchscript-type",
    summary="A class of TorchScript values used as a type",
    why=(
        "`torch.export.ExportedProgram`, the `torch.fx.GraphModule` of its `.module()` and modules of `torch.compile` are no "
        "`ScriptModule`: `isinstance` is False for all of them, so a branch flips without any message. The classes never "
        "warn."
    ),
    fix=(
        "None: what a branch or an annotation is for decides which class takes its place. Subclasses of `ScriptModule` are "
        "TL105's. Where TorchScript is dropped, annotations are widened to `torch.nn.Module` or `Callable`, and type tests, "
        "which are false, are taken out once nothing in the project makes or loads TorchScript."
    ),
    targets=_TARGETS,
    collectors=(*scripting_uses.COLLECTORS, runtime_uses.COLLECTOR),
    triggers=(
        "jit",
        *(f"_C & {name}" for name in _C_NAMES),
        *(f"torch.{name}" for name in _C_NAMES),
        *(f"import {name} & torch" for name in _C_NAMES),
    ),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "`isinstance` of programs, their modules and compiled modules on torch 2.13.0 and 2.15.0: False for each class",
    ),
)

# Derived from `torch.nn.Module` (torch 2.13.0); those of `torch._C` are not.
_OF_NN = frozenset(f"torch.jit.{name}" for name in _MODULES)
_PROGRAM = "`torch.export.ExportedProgram` for a program"
_CALLABLE = "`torch.fx.GraphModule` for what `.module()` and `torch.export.load(...).module()` return"
_NEITHER = "a module of `torch.compile` is a `torch.nn.Module`"


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    place = place_of(use, context)
    if place is None or _belongs_to_subclass(use, place) or _said_before(use, place, context):
        return
    whole = whole_name(use, view)
    span = view.span(whole)
    shown = f"`{use.name}`"
    beside = _beside(use.node, view) if place == "test" else []
    covered = "torch.nn.Module" in beside and use.target in _OF_NN and _in_isinstance(use.node, view)
    if covered:
        message = f"{shown} derives from `torch.nn.Module`, which this test asks for as well: it changes nothing here."
    elif place == "test":
        so = "the other classes of the test decide" if beside else _consequence(use.node, view)
        message = (
            f"This type test for {shown} changes its answer without a word: nothing made by `torch.export` or "
            f"`torch.compile` is one, so {so} for a migrated model."
        )
    elif use.name != use.target:
        message = f"{shown} is a member of TorchScript values and goes with TorchScript."
    else:
        message = f"{shown} is a class of TorchScript values and goes with TorchScript; it does not warn."
    if (switched := switched_name(use, context, "TL136", message)) is not None:
        yield switched
        return
    said = None
    if drops(context) and isinstance(whole, ast.expr) and use.name == use.target:
        if place == "annotation" or (place == "value" and _is_alias(whole, view)):
            said = in_annotation(use, whole, context)
        elif place == "test":
            said = in_type_test(use, whole, frozenset(_TARGETS), context)
    said = said or TypeAdvice("Take it out of the test." if covered else _advice(use, place))
    severity = Severity.INFO if covered else Severity.WARNING
    yield Finding("TL136", view.path, span, message, severity, said.help, said.fix, waits_for=said.waits_for)


def _is_alias(node: ast.expr, view: ModuleView) -> bool:
    """Whether a class is a member of a union, wherever that stands."""
    parent = view.parent(node)
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.BitOr)
    union = view.parent(parent) if isinstance(parent, ast.Tuple) else parent
    return isinstance(union, ast.Subscript) and view.certain_name(union.value) in {"typing.Union", "typing.Optional"}


def _belongs_to_subclass(use: Use, place: UsePlace) -> bool:
    """Whether the use is part of a subclass of ScriptModule, which is another rule's."""
    return use.target == "torch.jit.ScriptModule" and (place == "base" or use.name.endswith(".__init__"))


def _said_before(use: Use, place: UsePlace, context: Context) -> bool:
    """Whether an earlier class in the same test or annotation has been reported with the same advice."""
    if place not in {"test", "annotation"}:
        return False
    whole: ast.AST = use.node
    for ancestor in context.view.ancestors(use.node):
        if isinstance(ancestor, (ast.stmt, ast.arg, ast.Call, ast.Compare, ast.match_case)):
            break
        whole = ancestor
    seen = context.once(_said)
    if whole is use.node:
        return False
    if whole in seen:
        return True
    seen.add(whole)
    return False


def _said(context: Context) -> set[ast.AST]:
    """Tests and annotations of the file in which a class has been reported."""
    return set()


def _in_isinstance(node: ast.AST, view: ModuleView) -> bool:
    """Whether a class is asked for by `isinstance` or `issubclass`, which take what derives from it, too."""
    call = next((above for above in view.ancestors(node) if not isinstance(above, (ast.Tuple, ast.BinOp))), None)
    return (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"isinstance", "issubclass"}
    )


def _beside(node: ast.AST, view: ModuleView) -> list[str]:
    """The names of the other classes that a test asks for together with `node`, those that are TorchScript's left out."""
    whole = view.parent(node)
    while isinstance(above := view.parent(whole) if whole is not None else None, ast.Tuple | ast.BinOp):
        whole = above
    if not isinstance(whole, ast.Tuple | ast.BinOp):
        return []
    names = [view.possible_name(part) or view.text(part) for part in _classes(whole)]
    return [name for name in names if name not in _TARGETS]


def _classes(node: ast.expr) -> Iterator[ast.expr]:
    """The classes in a tuple or union, however deep."""
    match node:
        case ast.Tuple(elts=parts):
            for part in parts:
                yield from _classes(part)
        case ast.BinOp(left=left, right=right):
            yield from _classes(left)
            yield from _classes(right)
        case _:
            yield node


def _consequence(node: ast.AST, view: ModuleView) -> str:
    """What happens where the type test is false, as far as its surroundings show it."""
    negated = False
    for child, ancestor in view.upwards(node):
        match ancestor:
            case ast.UnaryOp(op=ast.Not()):
                negated = not negated
            case ast.Compare(ops=[ast.IsNot() | ast.NotEq() | ast.NotIn()]):
                negated = not negated
            case ast.BoolOp():
                break
            case ast.If() | ast.IfExp() if ancestor.test is child:
                return f"the branch behind it is {'always' if negated else 'never'} taken"
            case ast.Assert() if not negated:
                return "the assertion fails"
            case ast.match_case():
                return "the case is never taken"
            case ast.stmt():
                break
    return f"it is {'true' if negated else 'false'}"


def _advice(use: Use, place: UsePlace) -> str:
    name = use.target.rpartition(".")[2]
    if use.name.endswith(".save"):
        return (
            f"Write the program instead: `torch.export.save(program, path)`, read by `torch.export.load`. {EXPORT_DOCS}"
        )
    if name in {"ScriptFunction", "ScriptMethod"}:
        why = (
            "Functions are not captured by themselves any more: an exported function is a module, and one under "
            "`torch.compile` is a plain Python function"
        )
        if place == "test":
            return (
                f"{why}. What is for scripted code alone goes with the last script; for a function of another kind let the caller "
                "say so, with an argument of its own."
            )
        kind = (
            "`collections.abc.Callable`"
            if place == "annotation"
            else "the function itself, or the module that holds it"
        )
        return f"{why}. {'Annotate' if place == 'annotation' else 'Use'} {kind}."
    if name == "ScriptClass":
        return OF_CPP
    if name == "RecursiveScriptClass":
        return "Without scripting an instance is of its own Python class: name that class here."
    match place:
        case "test":
            return (
                f"Decide what the branch is for and test for that: {_PROGRAM}, {_CALLABLE}; {_NEITHER}. {EXPORT_DOCS}"
            )
        case "annotation":
            return f"Annotate {_PROGRAM}, {_CALLABLE}, or `torch.nn.Module` for either of them and for eager modules."
        case "base":
            return (
                "Derive from `torch.nn.Module`: `torch.export.export` takes plain modules and rejects TorchScript ones."
            )
        case "import":
            return "Stop passing the class on: nothing that replaces TorchScript makes instances of it."
        case "string":
            return f"The name stands in a string: write what is meant now: {_PROGRAM}, {_CALLABLE}."
        case "call":
            return f"Build a `torch.nn.Module` instead and capture it with `torch.export.export`. {EXPORT_DOCS}"
        case _:
            return f"Name what takes its place here: {_PROGRAM}, {_CALLABLE}; {_NEITHER}."


_DESCRIBE = (
    "import torch\n\n\ndef describe(net):\n    if isinstance(net, torch.jit.ScriptModule):\n        return 'script'\n"
    "    return 'eager'\n"
)

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef is_own(kind, x):\n    if isinstance(kind, torch.ScriptClass):\n        return True\n"
        "    return isinstance(x, kind)\n",
        why="classes that C++ registers, which stay",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef describe(net):\n    if isinstance(net, torch.jit.ScriptModule):\n        return 'script'\n    return 'eager'\n",
        why="a branch that is never taken any more",
    ),
    Bad(
        "from torch.jit import ScriptFunction, ScriptModule\n\n\ndef check(net):\n"
        "    if not isinstance(net, (ScriptModule, ScriptFunction)):\n        raise TypeError(net)\n",
        why="a test that always fails, reported once",
    ),
    Bad("import torch\n\n\ndef load(path: str) -> torch.jit.ScriptModule: ...\n", why="a return annotation"),
    Bad(
        "import torch.nn\n\n\ndef run(net: 'torch.jit.ScriptModule', x):\n    return net(x)\n",
        why="an annotation in quotes",
    ),
    Bad(
        "import typing\n\nimport torch\n\nModel = typing.Union[torch.nn.Module, torch.jit.ScriptModule]\n",
        why="part of a type alias",
    ),
    Bad(
        "import torch\n\n\ndef kind(net):\n    return type(net) is not torch.jit._trace.TopLevelTracedModule\n",
        why="a private spelling compared with `is not`",
    ),
    Bad("import torch\n\n\ndef kind(net):\n    return isinstance(net, torch._C.ScriptModule)\n", why="the C++ class"),
    Bad(
        "import torch\n\n\ndef kind(net):\n    match net:\n        case torch.jit.ScriptModule():\n            return 'script'\n    return ''\n",
        why="a class pattern",
    ),
    Bad(
        "import torch\n\n\nclass Net(torch.jit.RecursiveScriptModule):\n    pass\n",
        why="a subclass of a compiler's class",
    ),
    # Where TorchScript is dropped
    Bad(
        _DESCRIBE,
        "def describe(net):\n    return 'eager'\n",
        why="a type test, which is false now",
        run="result = describe(torch.nn.ReLU())",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef is_module(net):\n    return isinstance(net, (torch.nn.Module, torch.jit.ScriptModule))\n",
        "import torch\n\n\ndef is_module(net):\n    return isinstance(net, torch.nn.Module)\n",
        why="a class beside the one it derives from",
        run="result = is_module(torch.nn.ReLU()), is_module(1)",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef load(path: str) -> torch.jit.ScriptModule:\n    return torch.nn.ReLU()\n",
        "import torch\n\n\ndef load(path: str) -> torch.nn.Module:\n    return torch.nn.ReLU()\n",
        why="an annotation, widened",
        run="import typing\nresult = load('x')(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import typing\n\nimport torch\n\nModel = typing.Union[torch.nn.Module, torch.jit.ScriptModule]\n\n\n"
        "def run(net: 'Model', x):\n    return net(x)\n",
        "import torch\n\nModel = torch.nn.Module\n\n\ndef run(net: 'Model', x):\n    return net(x)\n",
        why="a member of a union that another one covers",
        run="result = run(torch.nn.ReLU(), torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef run(net: torch.jit.ScriptModule | torch.nn.Module | None, x):\n    return net(x)\n",
        "import torch\n\n\ndef run(net: torch.nn.Module | None, x):\n    return net(x)\n",
        why="the same with bars",
        run="result = run(torch.nn.ReLU(), torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_DESCRIBE}\n\nunit = torch.jit.CompilationUnit('')\n",
        why="a type test while something makes TorchScript values",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef run(net):\n    if not isinstance(net, torch.jit.ScriptModule):\n        raise TypeError(net)\n    return net\n",
        why="a check that would always raise",
        torchscript=DROP,
    ),
    Bad(
        "import functools\n\nimport torch\n\n\n@functools.singledispatch\ndef kind(net):\n    return 'other'\n\n\n"
        "@kind.register\ndef _(net: torch.jit.ScriptModule):\n    return 'script'\n",
        why="an annotation that chooses a function",
        torchscript=DROP,
    ),
    Ok("import torch\n\njit = isinstance(1, torch.nn.Module)\n", "a test for nn.Module"),
    Ok("class ScriptModule: ...\n\n\njit = isinstance(1, ScriptModule)\n", "an own class of that name"),
    Ok("import torch\n\njit = isinstance(1, torch.export.ExportedProgram)\n", "the class that takes its place"),
    Ok(
        "try:\n    from torch.jit import ScriptModule\nexcept ImportError:\n    ScriptModule = object\n",
        "an import fallback handles both",
    ),
    Ok('"""Returns a torch.jit.ScriptModule."""\n', "a docstring"),
    Ok(
        "import torch\n\njit = isinstance(1, torch.ScriptObject)\n",
        "the handle of a C++ custom class, which torch.export knows too",
    ),
)
