"""`torch.jit.ScriptModule` as a base class, and `torch.jit.script_method`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import (
    DeleteStatement,
    DropDecorator,
    Finding,
    Fix,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.rules.analysis.places.use_places import place_of
from torchlift.rules.analysis.project.torchscript_elsewhere import cpp_runtime
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context, Rule
from torchlift.rules.torchscript.captures.switched_names import switched_name
from torchlift.rules.torchscript.compilers import scripting_uses
from torchlift.rules.torchscript.compilers.compiled_context import context_doubts, surroundings, symbolic_trace
from torchlift.rules.torchscript.compilers.scripted_classes import first_trace
from torchlift.rules.torchscript.examples.script_module_examples import EXAMPLES
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED, SINCE, SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.functions.script_module_class import ScriptClass, is_script_base, read_script_class
from torchlift.rules.torchscript.functions.trace_doubts import tracer_of
from torchlift.rules.torchscript.hints.annotated_values import is_plain_type, read_as_pair, without_hint
from torchlift.rules.torchscript.values.stale_comments import stale_above
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL105",
    name="torchscript-script-module",
    summary="A class derived from `torch.jit.ScriptModule`, or `torch.jit.script_method`",
    why=(
        "Such a class compiles its methods when an instance is made. `torch.export.export` raises ValueError for it, so it "
        f"has to become a plain module before anything else. `script_method`: {SINCE}; the class itself never warns."
    ),
    fix=(
        "The base becomes `torch.nn.Module` and the `script_method` decorators of the class go with it. Safe when "
        "`__init__` sets up known layers, parameters, buffers and constants, every compiled method takes tensors and holds "
        "only operations that were run compiled and plain with the same outcome, no other method uses the compiled ones, and "
        "every instance in the project is only called or used as a module. Needs review when some of this was not read. Not "
        "rewritten when an instance is saved, inspected, frozen or scripted, or when another class derives from it. "
        "`__constants__` means nothing to a plain module and stays. Values leave their `torch.jit.Attribute` with it. Where TorchScript is dropped, what was not read runs as it is "
        "written, `__constants__` goes where nothing reads it, and classes of the same file that derive from it change with it; not rewritten where C++ of the project runs "
        "TorchScript modules."
    ),
    targets=("torch.jit.ScriptModule", "torch.jit.script_method"),
    triggers=("jit", "_jit_internal"),
    deprecated=DEPRECATED,
    collectors=scripting_uses.COLLECTORS,
    sources=(
        *SOURCES,
        "torch/jit/_script.py of torch 2.13.0: ScriptMeta compiles the script methods after `__init__`, read 2026-11-21",
        "torch.export.export(ScriptModule) raises ValueError: run on torch 2.13.0 and 2.15.0",
    ),
    examples=EXAMPLES,
)

_BASE = (
    "A class derived from `torch.jit.ScriptModule` is for compiled methods, and `torch.export.export` rejects its "
    "instances with ValueError. It goes with TorchScript and does not warn itself."
)
_METHOD = f"`torch.jit.script_method`: {SINCE}."
_ADVICE = (
    "Derive from `torch.nn.Module` and delete `@torch.jit.script_method`; capture instances with `torch.export.export` where "
    "they are saved."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target == "torch.jit.ScriptModule":
        if use.kind == "base" and use.name == use.target and isinstance(use.node, ast.expr):
            node = view.parent(use.node)
            assert isinstance(node, ast.ClassDef)
            yield _class_finding(use, view, node, context)
        elif use.name.endswith(".__init__") and isinstance(use.node, ast.expr) and not _inside(view, use.node):
            yield _finding(use, view, _BASE, "Call `torch.nn.Module.__init__` once the class derives from it.")
        return
    place = place_of(use, context)
    if place is None:
        return
    if (switched := switched_name(use, context, "TL105", _METHOD)) is not None:
        yield switched
        return
    if place == "decorator" and isinstance(use.node, ast.expr):
        function = view.parent(use.node)
        owner = view.parent(function) if function is not None else None
        if isinstance(owner, ast.ClassDef):
            if is_script_base(view, owner):
                return  # reported with the class
            yield _finding(use, view, _METHOD, _without_script_base(view, owner))
            return
    advice = {
        "import": "This file only passes the name on: take it out together with the classes that use it.",
        "string": "The string names `torch.jit.script_method`: it can go together with the code that it means.",
        "store": "What is put in its place here can go with the last class that uses it.",
    }.get(place, "Methods of a plain `torch.nn.Module` need nothing of the kind: use the method as it is.")
    yield _finding(use, view, _METHOD, advice)


def _without_script_base(view: ModuleView, owner: ast.ClassDef) -> str:
    """What to do with the mark of a method whose class names no `torch.jit.ScriptModule`."""
    names = [view.possible_name(base) for base in owner.bases]
    if all(name == "object" or name.startswith("torch.nn.") for name in names):
        return f"Take it out: `{owner.name}` is no `torch.jit.ScriptModule`, and a method under it cannot be called on a plain class."
    bases = ", ".join(f"`{view.text(base)}`" for base in owner.bases)
    return (
        f"It stays as long as `{owner.name}` is a `torch.jit.ScriptModule` through {bases}: on a plain module a method under it "
        "cannot be called. Where it is none, take it out."
    )


def _inside(view: ModuleView, node: ast.expr) -> bool:
    return any(isinstance(a, ast.ClassDef) and is_script_base(view, a) for a in view.ancestors(node))


def _finding(use: Use, view: ModuleView, message: str, help: str, fix: Fix | None = None) -> Finding:
    return Finding("TL105", view.path, view.span(use.node), message, Severity.WARNING, help, fix)


def _class_finding(use: Use, view: ModuleView, node: ast.ClassDef, context: Context) -> Finding:
    dropped = drops(context)
    facts = read_script_class(view, node, context.project, drops=dropped)
    if dropped and (runtime := cpp_runtime(context.project)) is not None:
        facts.refusals.append(
            f"{runtime} runs TorchScript modules in C++, and may be given instances of `{node.name}`, which are none any more"
        )
    unwrapped = _unwrapped(view, facts)
    spelling = view.spell("torch.nn.Module", use.node, use)
    if spelling is None:
        facts.refusals.append("how `torch.nn.Module` is spelled here is not certain")
    if facts.refusals or spelling is None:
        return _finding(
            use,
            view,
            _BASE,
            f"Not rewritten: a plain module does not serve every use: {sentence(facts.refusals)} {_ADVICE}",
        )
    doubts = [*facts.doubts, *_traced(facts, node, context)]
    doubts = doubts or (surroundings if dropped else context_doubts)(context.project, view, node)
    rewrites: list[Rewrite] = [ReplaceExpression(view.span(use.node), Template(spelling.text)), *spelling.imports]
    rewrites += [DropDecorator(view.span(decorator)) for decorator in facts.methods]
    rewrites += [ReplaceExpression(view.span(base), Template(spelling.text)) for base in facts.inits]
    rewrites += unwrapped
    rewrites += [DeleteStatement(view.span(item), stale_above(view, item)) for item in facts.constants]
    safety = Safety.UNSAFE if doubts else Safety.SAFE
    fix = Fix("Derive from `torch.nn.Module`", safety, tuple(rewrites))
    review = None
    if doubts:
        review = f"Needs review: whatever was compiled runs as Python from now on: {sentence(doubts)}"
    return Finding("TL105", view.path, view.span(use.node), _BASE, Severity.WARNING, review, fix)


def _unwrapped(view: ModuleView, facts: ScriptClass) -> list[Rewrite]:
    """Rewrites that take the values of the class out of their pairs; where one cannot be, that is a refusal."""
    rewrites: list[Rewrite] = []
    for call in facts.wrapped:
        given = named_arguments(call, ("value", "type")) or {}
        value, kind = given.get("value"), given.get("type")
        match view.parent(call):
            case ast.Assign(targets=[ast.Attribute() as target]) | ast.AnnAssign(target=ast.Attribute() as target):
                name = self_attribute(target)
            case _:
                name = None
        if value is None or kind is None or name is None or not is_plain_type(kind) or read_as_pair(view, name):
            facts.refusals.append(
                f"the `torch.jit.Attribute` on line {call.lineno} is a pair of value and type to a plain module"
            )
            continue
        rewrites += without_hint(view, call, kind, value).rewrites
        if not (isinstance(value, ast.Constant) and type(value.value).__name__ == view.text(kind)):
            facts.doubts.append(
                f"`self.{name}` is `{view.text(value)}` itself from now on, of which scripting kept a copy as "
                f"`{view.text(kind)}` (line {call.lineno})"
            )
    return rewrites


def _traced(facts: ScriptClass, node: ast.ClassDef, context: Context) -> list[str]:
    if facts.branches is None:
        return []
    if drops(context):
        place = tracer_of(context.project, context.view, node)
    else:
        place = symbolic_trace(context.project) or first_trace(context.project)
    if place is None:
        return []
    return [
        f"{place} traces, and a trace keeps the branches and loops of compiled methods but not those of plain ones "
        f"(`{node.name}` has one on line {facts.branches})"
    ]
