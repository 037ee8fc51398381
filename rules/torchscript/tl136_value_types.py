"""TorchScript's classes as types: in `isinstance`, in annotations, as values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.use_places import UsePlace, place_of, whole_name
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts import c_bindings
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SOURCES
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
        "TL105's."
    ),
    targets=_TARGETS,
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

_PROGRAM = "`torch.export.ExportedProgram` for a program"
_CALLABLE = "`torch.fx.GraphModule` for what `.module()` and `torch.export.load(...).module()` return"
_NEITHER = "a module of `torch.compile` is a `torch.nn.Module`"


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    place = place_of(use, context)
    if place is None or _belongs_to_subclass(use, place) or _said_before(use, place, context):
        return
    span = view.span(whole_name(use, view))
    shown = f"`{use.name}`"
    if place == "test":
        message = (
            f"This type test for {shown} changes its answer without a word: nothing made by `torch.export` or "
            f"`torch.compile` is one, so {_consequence(use.node, view)} for a migrated model."
        )
    elif use.name != use.target:
        message = f"{shown} is a member of TorchScript values and goes with TorchScript."
    else:
        message = f"{shown} is a class of TorchScript values and goes with TorchScript; it does not warn."
    yield Finding("TL136", view.path, span, message, Severity.WARNING, _advice(use, place))


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


def _consequence(node: ast.AST, view: ModuleView) -> str:
    """What happens where the type test is false, as far as its surroundings show it."""
    negated = False
    child: ast.AST = node
    for ancestor in view.ancestors(node):
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
        child = ancestor
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
                f"{why}, which no test tells from any other function. If the branch is for scripted code, it goes with the "
                "last script; if it is for a function of another kind, let the caller say so, with an argument of its own."
            )
        kind = (
            "`collections.abc.Callable`"
            if place == "annotation"
            else "the function itself, or the module that holds it"
        )
        return f"{why}. {'Annotate' if place == 'annotation' else 'Use'} {kind}."
    if name in {"RecursiveScriptClass", "ScriptClass"}:
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


EXAMPLES = (
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
