"""`torch.jit.script` as a value, where TorchScript goes: another name for it, an option, an argument, a re-export."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, EditImport, Fix, ReplaceExpression, Rewrite, Safety, Template
from torchlift.rules.analysis.places.own_names import means_its_own
from torchlift.rules.analysis.places.use_places import UsePlace
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.repeatable import is_repeatable
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.functions.use_advice import UseAdvice
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk

_AS_IT_IS = "lambda function: function"
_NOT_READ = "what it is given runs as Python from now on, and was not read here"


def dropped_value(use: Use, place: UsePlace, context: Context) -> UseAdvice | None:
    """What to say about `torch.jit.script` that is neither called nor a decorator; None where nothing better is known."""
    view = context.view
    if isinstance(use.node, ast.alias):
        return _import(use, context)
    if place == "store":
        statement = view.parent(use.node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        review = "Needs review: it stood in the way of scripting for everything in the process, other packages as well."
        return UseAdvice(review, _delete(view, statement, Safety.UNSAFE))
    if place != "value" or not isinstance(use.node, ast.expr):
        return None
    parent = view.parent(use.node)
    match parent:
        case ast.Assign(targets=[ast.Name() as target]):
            return _alias(use, target, parent, context)
        case ast.IfExp(test=test) if test is not use.node and is_repeatable(view, test):
            other = parent.orelse if parent.body is use.node else parent.body
            bare = isinstance(view.parent(parent), (ast.Assign, ast.Return, ast.keyword))
            rewrite = ReplaceExpression(
                view.span(parent), Template("$other", (("other", view.span(other)),)), bare=bare
            )
            fix = Fix(f"Keep `{one_line(view, other)}`", Safety.UNSAFE, (rewrite,))
            return UseAdvice(f"Needs review: {_NOT_READ}.", fix)
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            return _in_its_place(use, context)
        case ast.Call() | ast.keyword() if (said := _more_than_called(view, use.node, parent, context)) is not None:
            return UseAdvice(f"Not rewritten: {said}.")
        case ast.Call() | ast.keyword() | ast.Dict() | ast.arguments() | ast.List() | ast.Tuple() | ast.Return():
            return _in_its_place(use, context)
    return None


def _more_than_called(view: ModuleView, node: ast.expr, parent: ast.Call | ast.keyword, context: Context) -> str | None:
    """A clause about a function of the project that does more with what it is handed than to call it with one argument."""
    call = parent if isinstance(parent, ast.Call) else view.parent(parent)
    found = definition_of(view, call.func, context.project, ast.FunctionDef) if isinstance(call, ast.Call) else None
    if found is None or not isinstance(call, ast.Call):
        return None
    home, function = found
    given = (
        named_arguments(call, [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]) or {}
    )
    name = next((name for name, value in given.items() if value is node), None)
    if name is None and isinstance(parent, ast.keyword):
        name = parent.arg
    reads = [item for item in walk(function) if isinstance(item, ast.Name) and item.id == name] if name else []
    for read in reads:
        around = home.parent(read)
        if not (isinstance(around, ast.Call) and around.func is read and len(around.args) == 1 and not around.keywords):
            return f"`{function.name}` does more with it than to call it with one argument ({home.path}:{read.lineno})"
    return None if reads else f"what `{function.name}` does with it was not read ({home.path}:{function.lineno})"


def _alias(use: Use, target: ast.Name, statement: ast.Assign, context: Context) -> UseAdvice | None:
    view = context.view
    binding = view.bound_by(target)
    if binding is None or binding.scope.kind == "class":
        return None
    bound = binding.scope.bindings[target.id]
    if not any(is_used(view, item, context) for item in bound):
        return UseAdvice(None, _delete(view, statement, Safety.SAFE))
    if len(bound) == 1:
        return UseAdvice(f"It goes with the last use of `{target.id}`; each is reported where it stands.")
    # Beside `name = torch.compile` this is the way without it: for an older torch, or for who switched it off.
    compiles = any(item.value is not None and view.certain_name(item.value) == "torch.compile" for item in bound)
    return _in_its_place(use, context, compiles=not compiles)


def is_used(view: ModuleView, binding: Binding, context: Context) -> bool:
    """Whether anything reads what a name is bound to, may import it, or binds it from elsewhere."""
    home = binding.scope.node if binding.scope.kind == "function" else None
    if view.reads_of(binding) or view.function_of(binding.node) is not home:
        return True
    # By its text: not every way to import a module is followed, those through folders without `__init__.py` are not.
    name, project = binding.name, context.project
    others = (path for path in project.files_holding(name) if path != view.path)
    return binding.scope.kind == "module" and any(not means_its_own(project, path, name) for path in others)


def _in_its_place(use: Use, context: Context, *, compiles: bool = True) -> UseAdvice:
    """A function that gives back what it is given, or `torch.compile`."""
    view = context.view
    assert isinstance(use.node, ast.expr)
    imports: tuple[Rewrite, ...] = ()
    text, title = _AS_IT_IS, "Put a function in its place that gives back what it is given"
    if compiles and context.settings.torchscript.speed == "compile":
        spelling = view.spell("torch.compile", use.node, use)
        if spelling is not None:
            text, title, imports = spelling.text, "Put `torch.compile` in its place", tuple(spelling.imports)
    rewrite = ReplaceExpression(view.span(use.node), Template(text), bare=True)
    return UseAdvice(f"Needs review: {_NOT_READ}.", Fix(title, Safety.UNSAFE, (rewrite, *imports)))


def _import(use: Use, context: Context) -> UseAdvice | None:
    """An import that other files may take the name from, once none does."""
    view = context.view
    binding = use.resolution.binding if use.resolution is not None else None
    alias = use.node
    statement = view.parent(alias)
    if binding is None or not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return None
    if is_used(view, binding, context):
        return None
    rewrite = EditImport(view.span(statement), alias.name, alias.asname or alias.name)
    return UseAdvice(None, Fix("Remove the import", Safety.SAFE, (rewrite,)))


def _delete(view: ModuleView, statement: ast.stmt, safety: Safety) -> Fix:
    return Fix("Remove the statement", safety, (DeleteStatement(view.span(statement)),))
