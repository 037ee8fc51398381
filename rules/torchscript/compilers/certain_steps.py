"""What is known for certain of a compilation: calls that no branch leaves out, and what a compiler is given."""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.view import ModuleView
from torchlift.view.walk import statements, walk

Certainty = Literal["", "compiled", "run"]
"""Whether a call is part of a function: always, whenever that is compiled, or in no way that is known here."""

_LEAVES_OUT = (
    ast.Try, ast.Match, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Raise, ast.ClassDef,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Methods of a module that give it back.
_ITSELF = frozenset("eval train to cpu cuda half float double bfloat16 requires_grad_".split())
_MOST_NAMES = 8
_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList"})
_ASKED_EARLY = frozenset({"isinstance", "hasattr", "getattr", "is_scripting", "is_tracing", "is_compiling"})


EarlyEnds = tuple[int, int]
"""Lines behind which a function may have ended: when it is run, and when a compiler reads it."""

_NEVER = 1 << 60


def early_ends(view: ModuleView, function: ast.AST) -> EarlyEnds:
    """Where a function may return before its last statement."""
    run = compiled = _NEVER
    for node in statements(function) if isinstance(function, _FUNCTIONS) else ():
        if isinstance(node, ast.Return) and view.parent(node) is not function:
            end = node.end_lineno or node.lineno
            run = min(run, end)
            tests = (around.test for around in view.ancestors(node) if isinstance(around, ast.If))
            if any(map(is_decided_early, tests)):
                compiled = min(compiled, end)
    return run, compiled


def certainty(view: ModuleView, node: ast.expr, function: ast.AST, ends: EarlyEnds) -> Certainty:
    """How certain it is that `function` makes the call at `node`; it is not where `function` is no function."""
    if not isinstance(function, _FUNCTIONS) or node.lineno > ends[1]:
        return ""
    answer: Certainty = "run" if node.lineno <= ends[0] else "compiled"
    for child, around in view.upwards(node):
        if around is function:
            return answer if isinstance(child, ast.stmt) else ""
        if isinstance(around, (*_LEAVES_OUT, *_FUNCTIONS)):
            return ""
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            if is_decided_early(around.test):
                return ""
            answer = "compiled"
        elif isinstance(around, ast.BoolOp) and child is not around.values[0]:
            if any(map(is_decided_early, around.values)):
                return ""
            answer = "compiled"
        elif isinstance(around, (ast.For, ast.While)) and isinstance(child, ast.stmt):
            answer = "compiled"
    return ""


def made_by(view: ModuleView, value: ast.expr) -> list[ast.expr]:
    """What is called to make the modules that a value consists of, through containers of torch."""
    if not isinstance(value, ast.Call):
        return []
    if view.certain_name(value.func) not in _CONTAINERS:
        return [value.func]
    found = []
    for argument in value.args:
        items = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
        for item in items:
            if isinstance(item, (ast.ListComp, ast.GeneratorExp)) and not item.generators[0].ifs:
                found += made_by(view, item.elt)
            else:
                found += made_by(view, item)
    return found


def is_decided_early(test: ast.expr) -> bool:
    """Whether the compiler may decide a condition itself, and then reads one branch only."""
    for node in walk(test):
        match node:
            case ast.Compare(ops=ops) if any(isinstance(op, (ast.Is, ast.IsNot)) for op in ops):
                return True
            case ast.Attribute(value=ast.Name(id="self")):
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _ASKED_EARLY:
                return True
            case _:
                pass
    return isinstance(test, (ast.Name, ast.Constant)) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.operand, (ast.Name, ast.Constant))
    )


def certainly_given(view: ModuleView, node: ast.expr, project: Project) -> list[tuple[ModuleView, ast.AST]]:
    """Functions that a value is, and classes that it is made of, where nothing else can stand there; empty if that is unknown."""
    for _ in range(_MOST_NAMES):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _ITSELF:
                node = value
            case ast.Call():
                made = [definition_of(view, one, project, ast.ClassDef) for one in made_by(view, node)]
                return [found for found in made if found is not None]
            case ast.Name() | ast.Attribute():
                function = definition_of(view, node, project, ast.FunctionDef)
                binding = view.definition(node)
                if function is not None:
                    return [function]
                if binding is None or binding.value is None or binding.kind != "assign":
                    return []
                node = binding.value
            case _:
                return []
    return []
