"""A program that does nothing but write TorchScript: where nothing of the project loads any, the whole file may go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import DeleteStatement, Finding, Fix, Safety
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.named_files import documents_naming, is_named_elsewhere
from torchlift.rules.analysis.places.purpose import is_test_file, runs_by_itself
from torchlift.rules.analysis.project.torchscript_elsewhere import foreign_readers
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

# What a call does by its last name: it makes, reads, asks or says something, and leaves nothing behind.
_ONLY_MAKES = frozenset(
    "print len range str int float bool list tuple dict set zip enumerate sorted min max sum super isinstance getattr hasattr "
    "info warning debug basicConfig getLogger ArgumentParser add_argument add_argument_group add_mutually_exclusive_group "
    "parse_args parse_known_args format join split strip replace lower upper items keys values get append extend deepcopy "
    "update next iter __init__ glob listdir safe_load makedirs mkdir dirname basename splitext exists abspath expanduser resolve joinpath with_suffix Path eval to cuda cpu float "
    "half double bfloat16 requires_grad_ state_dict load_state_dict parameters modules named_parameters children no_grad "
    "inference_mode set_grad_enabled manual_seed device is_available rand randn randint zeros ones full empty arange tensor "
    "zeros_like ones_like size view reshape permute transpose unsqueeze squeeze contiguous detach numel "
    "script trace freeze optimize_for_inference".split()
)
# What nobody takes the result of does something, whatever its name says, but for what fills a module from a file.
_FILLS = lazy_pattern(r"load_(?:state_dict|weights?|checkpoint|pretrained|params|model)$")
_MAKES = lazy_pattern(r"(?:get|build|create|load|make|parse|read|from)(?:_|$)|_?[A-Z]\w*[a-z]")
_MAKERS = frozenset({"torch.jit.script", "torch.jit.trace", "torch.jit.freeze"})


def or_whole_file(found: Iterator[Finding], use: Use, context: Context) -> Iterator[Finding]:
    """The findings about a use; where none has a fix and it stands in such a program, they offer the removal of the file."""
    for finding in found:
        if finding.fix is not None or not drops(context) or not context.once(_only_writes):
            yield finding
            continue
        view = context.view
        named = ", ".join(documents_naming(context.project, view))
        about = (
            "as far as its calls tell by their names, this file does nothing but write TorchScript; no program of the project names it or calls `torch.jit.load`: "
            f"whoever runs it by hand misses it{f', and it is named in {named}' * bool(named)}"
        )
        rewrites = tuple(DeleteStatement(view.span(statement)) for statement in view.tree.body)
        fix = Fix("Delete the file", Safety.UNSAFE, rewrites)
        yield replace(finding, help=f"Needs review: {about}.", fix=fix, waits_for="")


def _only_writes(context: Context) -> bool:
    view = context.view
    if is_test_file(view.path) or view.is_package or not runs_by_itself(view) or _is_needed(context):
        return False
    calls = [node for node in walk(view.tree) if isinstance(node, ast.Call)]
    saves = [call for call in calls if _writes(view, call)]
    own = {node.name for node in walk(view.tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return bool(saves) and not any(_does_more(context, call, own) for call in calls if call not in saves)


def _is_needed(context: Context) -> bool:
    """Whether other code names the file or loads what it may have written, or it may be imported as part of a package."""
    view, project = context.view, context.project
    folder = view.path.rpartition("/")[0]
    packaged = bool(folder) and project.view(f"{folder}/__init__.py") is not None
    return packaged or is_named_elsewhere(project, view, in_documents=False) or project.once(_is_loaded)


def _is_loaded(project: Project) -> bool:
    """Whether anything in the project loads TorchScript, in whatever language and from whatever file."""
    views = (project.view(path) for path in project.files_holding("jit"))
    loads = frozenset({"torch.jit.load"})
    return bool(foreign_readers(project)) or any(
        next(iter(view.uses(loads)), None) for view in views if view is not None
    )


def _writes(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call writes a scripted or traced value to a file."""
    if view.certain_name(call.func) == "torch.jit.save":
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "save":
        return False
    value: ast.expr | None = call.func.value
    binding = view.definition(value) if isinstance(value, ast.Name) else None
    value = binding.value if binding is not None else value
    return isinstance(value, ast.Call) and view.certain_name(value.func) in _MAKERS


def _does_more(context: Context, call: ast.Call, own: set[str]) -> bool:
    """Whether a call may do something that is wanted besides; functions of the file are read with it."""
    view = context.view
    called = last_name(call.func)
    function = view.function_of(call)
    if function is not None and function.name == "forward" and isinstance(view.parent(function), ast.ClassDef):
        return False  # it computes what is written
    if called == "open":
        return not _only_reads(call)
    if not isinstance(view.parent(call), ast.Expr):
        return called not in _ONLY_MAKES | own and _MAKES.match(called) is None
    found = definition_of(view, call.func, context.project, ast.FunctionDef)
    if found is not None and found[0] is not view:
        return True
    return called not in _ONLY_MAKES | own and _FILLS.match(called) is None


def _only_reads(call: ast.Call) -> bool:
    """Whether `open(...)` opens a file to read it."""
    modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    return all(isinstance(mode, ast.Constant) and mode.value in {"r", "rb", "rt"} for mode in modes)
