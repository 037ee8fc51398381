"""`torch.jit.script`, by what it is applied to and what becomes of the result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.use_places import place_of
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.rule import Context, Rule
from torchlift.rules.torchscript.captures import artifact_sites
from torchlift.rules.torchscript.captures.dead_branch import dead_branch, is_silent
from torchlift.rules.torchscript.captures.script_of_module import finding_of, script_of_module
from torchlift.rules.torchscript.captures.switched_names import switched_name
from torchlift.rules.torchscript.captures.writing_program import or_whole_file
from torchlift.rules.torchscript.compilers import scripting_uses
from torchlift.rules.torchscript.compilers.scripted_classes import CLASSES
from torchlift.rules.torchscript.compilers.scripted_classes import scripted_class as class_of
from torchlift.rules.torchscript.examples import (
    around_function_examples,
    dropped_function_examples,
    library_test_examples,
    script_examples,
    scripting_test_examples,
)
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.functions.compiler_as_value import dropped_value
from torchlift.rules.torchscript.functions.dropped_function import without_call
from torchlift.rules.torchscript.functions.scripted_definition import (
    decorated_function,
    scripted_class,
    scripted_value,
)
from torchlift.rules.torchscript.functions.use_advice import UseAdvice
from torchlift.rules.torchscript.scripting_tests.verdict import in_scripting_test
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL102",
    name="torchscript-script",
    summary="`torch.jit.script` of a function, a class or a module",
    why=(
        f"{SINCE}. Scripting compiles Python source, keeps its control flow, and checks, converts and copies what the code "
        "is given. Nothing does all of that from now on: a function or class usually works without, `torch.compile` makes "
        "code fast in the process, and `torch.export` captures a call with example inputs for a file or another runtime."
    ),
    fix=(
        "A function loses its decorator (or the call around it): safe when all of its parameters are tensors, its body holds "
        "only operations that were run compiled and plain with the same outcome, every use in the project is a plain call, "
        "and nothing around it makes a difference (autocast, subclasses of Tensor, tracing of a function with branches). "
        "A class loses it safely once nothing in the project compiles code that uses it; the scripted class is the Python "
        "class. Needs review: a function with other parameters or with operations that were not checked; a module whose "
        "scripted value is only called or trained, which is replaced by the module itself; a module that is saved while "
        "example inputs are visible, which is captured with `torch.export.export` and all dimensions dynamic. Not rewritten "
        "otherwise: the finding shows the export call that would capture this module, with the inputs of its `forward`. Where "
        "TorchScript is dropped, a function loses it wherever it stands: safe unless something that was measured to differ is "
        "in the function or in what the project passes to it. The module itself takes the place of a scripted one that is only "
        "called, kept or handed on: safe when its classes were read and hold nothing that scripting does otherwise, or where "
        "an option switches scripting on. A branch that no supported torch reaches goes. A test calls the plain code then, comparisons of it with itself "
        "go, and so does a test of nothing but scripting: safe with a twin that tests the same without, or with "
        '`tests = "delete"`.'
    ),
    targets=("torch.jit.script",),
    triggers=("jit", "_jit_internal"),
    deprecated=DEPRECATED,
    sees_guarded=True,
    collectors=(*scripting_uses.COLLECTORS, CLASSES, artifact_sites.COLLECTOR),
    sources=(
        *SOURCES,
        EXPORT_DOCS,
        "operations run compiled and plain on torch 2.13.0, 2026-11-21: tests/rules/torchscript/test_scripted_operations.py",
        "66 programs run as TorchScript and as export on torch 2.13.0 and 2.15.0, 2026-11-21",
    ),
    examples=(
        *script_examples.EXAMPLES,
        *dropped_function_examples.EXAMPLES,
        *around_function_examples.EXAMPLES,
        *scripting_test_examples.EXAMPLES,
        *library_test_examples.BESIDE,
        *library_test_examples.PROGRAMS,
    ),
)

_FUNCTION = f"`torch.jit.script` on a function: {SINCE}."
_CLASS = f"`torch.jit.script` on a class: {SINCE}."
_MODULE = f"`torch.jit.script`: {SINCE}. It compiles source code; `torch.export` captures a call with example inputs."
_NAME = f"`torch.jit.script`: {SINCE}."


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from or_whole_file(_check(use, context), use, context)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if (dead := dead_branch(use, context, "TL102", _NAME)) is not None:
        yield dead
        return
    place = place_of(use, context)
    if place is None or is_silent(use, context):
        return
    if (switched := switched_name(use, context, "TL102", _NAME)) is not None:
        yield switched
        return
    if (tested := in_scripting_test(use, context, "TL102", _NAME)) is not None:
        yield tested
        return
    if isinstance(use.node, ast.alias) or place not in {"call", "decorator", "raise"}:
        said = dropped_value(use, place, context) if drops(context) else None
        yield _finding(use, view, _NAME, said or UseAdvice(_advice_for_name(use, view, place)))
        return
    found = class_of(view, use)
    if found is not None:
        definition, again = found
        yield _finding(use, view, _CLASS, scripted_class(view, definition, _decorator(use, view), again, context))
        return
    decorator = _decorator(use, view)
    if decorator is not None:
        function = view.parent(decorator)
        if decorator is use.node and isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _finding(use, view, _FUNCTION, decorated_function(use, function, decorator, context))
        else:
            advice = (
                "`torch.jit.script` takes the function itself and no options: write `@torch.jit.script`, or nothing."
            )
            yield _finding(use, view, _FUNCTION, UseAdvice(advice))
        return
    call = use.call
    if call is None or not call.args:
        advice = "Not rewritten: what is scripted was not found. Use it as it is; for speed there is `torch.compile`."
        yield _finding(use, view, _NAME, UseAdvice(advice))
        return
    defined = definition_of(view, call.args[0], context.project, ast.FunctionDef)
    if defined is not None and len(call.args) == 1:
        yield _finding(use, view, _FUNCTION, scripted_value(use, call, defined, context))
        return
    odd = _odd_value(view, call)
    if odd is not None:
        own = drops(context) and len(call.args) == 1 and not isinstance(call.args[0], (ast.Starred, ast.Lambda))
        yield _finding(use, view, _FUNCTION, without_call(use, call, None, context) if own else UseAdvice(odd))
        return
    yield finding_of(script_of_module(use, context), "TL102", _MODULE, use, view)


def _finding(use: Use, view: ModuleView, message: str, verdict: UseAdvice) -> Finding:
    return Finding(
        "TL102",
        view.path,
        view.span(use.node),
        message,
        Severity.WARNING,
        verdict.help,
        verdict.fix,
        notes=verdict.notes,
    )


def _decorator(use: Use, view: ModuleView) -> ast.expr | None:
    node = use.call or use.node
    parent = view.parent(node)
    decorators: list[ast.expr] = getattr(parent, "decorator_list", [])
    return next((item for item in decorators if item is node), None)


def _odd_value(view: ModuleView, call: ast.Call) -> str | None:
    """Advice where the argument is neither a module nor a function of the project."""
    node = call.args[0]
    if isinstance(node, ast.Starred):
        return "Not rewritten: what is scripted was not found. Use it as it is; for speed there is `torch.compile`."
    if isinstance(node, ast.Lambda):
        return "`torch.jit.script` cannot compile a lambda; use the lambda itself."
    resolution = view.resolve(node)
    if (
        resolution is not None
        and resolution.certain
        and resolution.name.startswith("torch.")
        and isinstance(node, ast.Attribute)
    ):
        return f"Use `{view.text(node)}` itself: it is torch's own code, and scripting it adds nothing but checks of its arguments."
    return None


def _advice_for_name(use: Use, view: ModuleView, place: str) -> str:
    match place:
        case "import":
            return (
                "This file only passes the name on: take it out together with the uses elsewhere, which are reported where "
                "they stand."
            )
        case "string":
            return "The string names `torch.jit.script`: it can go together with the code that it patches or looks up."
        case "store":
            return "What is put in the place of `torch.jit.script` here can go with the last code that calls it."
    parent = view.parent(use.node)
    match parent:
        case ast.Call(func=ast.Name(id="map")):
            others = ", ".join(view.text(argument) for argument in parent.args[1:]) or "..."
            return (
                f"Use the modules or functions as they are (`{others}`), or `map(torch.compile, {others})` for speed; to "
                f"leave Python, export each with its own example inputs. {EXPORT_DOCS}"
            )
        case ast.Call(func=function) if ast.unparse(function).rpartition(".")[2] == "partial":
            return (
                "Options of `torch.jit.script` mean nothing elsewhere: use the functions or modules as they are, or "
                "`torch.compile`."
            )
        case ast.IfExp():
            other = parent.orelse if parent.body is use.node else parent.body
            return f"Scripting is an option here. Keep the other arm, `{ast.unparse(other)}`, or put `torch.compile` in this one."
        case ast.Assign(targets=[ast.Name(id=name)]):
            return (
                f"`{name}` stands for `torch.jit.script` here. Bind it to `torch.compile`, or to a function that returns what "
                f"it is given (`def {name}(function): return function`): what is put under it is plain Python then, until something "
                "else compiles it, and is checked use by use where it is reported."
            )
        case _:
            return (
                "`torch.jit.script` is handed on here as a function. `torch.compile` is called the same way and runs what it "
                "is given in this process; nothing is needed if it is only called."
            )
