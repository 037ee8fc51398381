"""`@torch.jit.ignore`, `@torch.jit.unused`, `@torch.jit.export`: marks for a compiler that no longer looks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, Finding, Fix, Rewrite, Safety, Severity
from torchlift.rules.analysis.project.module_base import is_module_class
from torchlift.rules.analysis.values.self_attributes import method_of
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.decorator_uses import decorator_of, without_decorator
from torchlift.rules.torchscript.hints.hint_removal import Removal, removal
from torchlift.rules.torchscript.hints.stray_uses import DECORATED, HelpAndFix, Hint
from torchlift.torchscript_intent import DROP
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

RULE = Rule(
    code="TL112",
    name="torchscript-method-decorator",
    summary="`@torch.jit.ignore`, `unused` or `export` although nothing compiles the class",
    why=(
        "The decorators mark methods for `torch.jit.script` (and `export` also for `torch.jit.trace`). Once nothing in "
        "the project compiles TorchScript they do nothing: eager mode, `torch.compile` and `torch.export` ignore them. They "
        "give no warning and go with TorchScript."
    ),
    fix=(
        "Safe when no file of the project uses `torch.jit.script`, `ScriptModule` or a relative of theirs (where methods are "
        "under `export`: nor `torch.jit.trace`), and nothing says that others compile the code. Otherwise the finding names the "
        "place that has to go first, or what says so (a notebook that scripts; code that is installable and asks for the "
        "compiler in other places, by `export`, `is_scripting()` and the like), and needs review. It also says where export does something else "
        "with the method than TorchScript did: it runs an ignored body once, and captures no method but `forward`."
    ),
    targets=("torch.jit.ignore", "torch.jit.unused", "torch.jit.export"),
    triggers=("jit", "_jit_internal"),
    severity=Severity.INFO,
    collectors=COLLECTORS,
    sources=(*SOURCES, "measured on torch 2.13.0 and 2.15.0: harmless in eager, strict and non-strict export, compile"),
)

_PLAIN_BASES = ("torch.", "torchvision.", "transformers.", "timm.", "torch_geometric.")

# What a body does to the world, or asks of values, by the last part of the called name.
_EFFECTS = frozenset(
    """print item tolist numpy cpu save write open warn warning info debug error log append extend update setattr
    time perf_counter choice randint random seed""".split()
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    name = use.target.rpartition(".")[2]
    message = f"`@torch.jit.{name}` only speaks to the TorchScript compiler."
    otherwise = "Not used as a decorator here: outside TorchScript the function itself does the same."
    return Hint("TL112", message, otherwise, Severity.INFO, DECORATED).findings(use, context, _judged)


def _judged(use: Use, context: Context) -> HelpAndFix:
    view = context.view
    decorator = decorator_of(use, view)
    definition = view.parent(decorator) if decorator is not None else None
    answer = removal(context, use.node)
    if answer.safety is Safety.SAFE and use.target == "torch.jit.export":
        answer = _of_unseen_base(context, definition) or answer
    rewrite = _rewrite(use, view)
    note = _note(context, use.target.rpartition(".")[2], definition, answer.place)
    if answer.safety is Safety.MANUAL or rewrite is None:
        return f"{answer.reason or 'Use the function itself.'} {note}".rstrip(), None, answer.root
    return f"{answer.reason or ''} {note}".strip() or None, Fix("Remove the decorator", answer.safety, (rewrite,))


def _of_unseen_base(context: Context, method: ast.AST | None) -> Removal | None:
    """The answer for a method of a class whose base nobody read: what is marked for export may be compiled by that."""
    view = context.view
    owner = view.parent(method) if method is not None else None
    if not isinstance(owner, ast.ClassDef) or is_module_class(view, owner, context.project) is not None:
        return None
    named = [base.value if isinstance(base, ast.Subscript) else base for base in owner.bases]
    base = next((base for base in named if view.definition(base) is None), named[0])
    if view.possible_name(base).startswith(_PLAIN_BASES):
        return None
    about = (
        f"`{one_line(view, base)}`, from which `{owner.name}` derives, was not found, and may compile what is marked"
    )
    return Removal(Safety.UNSAFE, f"Needs review: {about}.")


def _rewrite(use: Use, view: ModuleView) -> Rewrite | None:
    if decorator_of(use, view) is None and use.call is not None and use.target == "torch.jit.ignore":
        # `ignore(x)` hands `x` back if it is a function, and a decorator if it is an option.
        marked = use.call.args[0] if use.call.args else None
        if isinstance(marked, ast.Attribute):
            return _of_method(view, use.call, marked)
        binding = view.definition(marked) if marked is not None else None
        if binding is None or binding.kind != "def":
            return None
    return without_decorator(use, view)


def _of_method(view: ModuleView, call: ast.Call, marked: ast.Attribute) -> Rewrite | None:
    """What takes `C.f = ignore(C.f)` out, where `f` is a method: a function of another kind would come out changed."""
    statement = view.parent(call)
    owner = view.definition(marked.value)
    method = method_of(owner.node, marked.attr) if owner is not None and isinstance(owner.node, ast.ClassDef) else None
    if method is None or method.decorator_list or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    itself = ast.unparse(statement.targets[0]) == ast.unparse(marked)
    return DeleteStatement(view.span(statement)) if itself else None


def _note(context: Context, name: str, definition: ast.AST | None, place: str | None) -> str:
    """What export makes of the marked method, where that is not what TorchScript made of it."""
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ""
    view = context.view
    exports = not drops(context) or any(map(context.project.is_python, context.project.files_holding("torch.export")))
    if name == "ignore" and exports and _is_captured(context, definition) and (line := _effect(definition)) is not None:
        return (
            f"Scripted code ran its body in Python at every call; `torch.export` runs it once, while capturing, on tensors "
            f"without values (line {line})."
        )
    if name == "export" and definition.name != "forward" and place is not None:
        called = definition.name
        if _takes_no_tensor(view, definition):
            return f"By its annotations `{called}` neither takes nor returns a tensor: call it in Python, as it is."
        if not isinstance(view.parent(definition), ast.ClassDef):
            return (
                f"`torch.export` captures `{called}` wherever a `forward` calls it; by itself it needs a small module whose "
                f"`forward` calls `{called}`."
            )
        given = definition.args
        if len([*given.posonlyargs, *given.args]) == 1 and not (given.vararg or given.kwonlyargs or given.kwarg):
            return (
                f"`torch.export` captures `forward` only, and `{called}` takes no inputs: call it in Python, as it is."
            )
        line = _effect(definition)
        once = f", where what line {line} does may happen once, while capturing" if line is not None else ""
        return (
            f"`torch.export` captures `forward` only. Where it takes what `{called}` does, a small module whose "
            f"`forward` calls `self.net.{called}` gives that a program{once}."
        )
    return ""


def _is_captured(context: Context, definition: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether `forward` of the same class reaches a method by calls on `self`, or for a function any code of the file."""
    view = context.view
    owner = view.parent(definition)
    if not isinstance(owner, ast.ClassDef):
        calls = (node for node in walk(view.tree) if isinstance(node, ast.Call))
        return any(
            last_name(node.func) == definition.name and view.function_of(node) is not definition for node in calls
        )
    return definition.name in context.once(_called_from_forward, owner)


def _called_from_forward(_: Context, owner: ast.ClassDef) -> set[str]:
    methods = {item.name: item for item in owner.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))}
    pending, seen = ["forward"], {"forward"}
    while pending:
        method = methods.get(pending.pop())
        for node in walk(method) if method is not None else ():
            if isinstance(node, ast.Attribute) and node.attr in methods and node.attr not in seen:
                seen.add(node.attr)
                pending.append(node.attr)
    return seen


# Types that hold no tensor by themselves; TorchScript takes whatever has no annotation for a tensor.
_WITHOUT_TENSOR = frozenset(
    "int float bool str bytes complex None List Dict Tuple Optional Union Set Sequence Mapping list dict tuple set".split()
)


def _takes_no_tensor(view: ModuleView, definition: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the signature says that only plain Python values go in and come out."""
    arguments = definition.args
    taken = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if isinstance(view.parent(definition), ast.ClassDef):
        taken = taken[1:]
    kinds = [definition.returns, *(argument.annotation for argument in taken)]
    if arguments.vararg is not None or arguments.kwarg is not None:
        return False
    return all(kind is not None and _holds_no_tensor(kind) for kind in kinds)


def _holds_no_tensor(kind: ast.expr) -> bool:
    for node in walk(kind):
        if isinstance(node, ast.Constant) and node.value not in (None, ...):
            return False  # an annotation in quotes
        if isinstance(node, ast.Name) and node.id not in _WITHOUT_TENSOR | {"typing"}:
            return False
        if isinstance(node, ast.Attribute) and node.attr not in _WITHOUT_TENSOR:
            return False
    return True


def _effect(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """Line of the first thing in a body that should not happen once, or not on tensors without values."""
    for node in walk(definition):
        if isinstance(node, (ast.stmt, ast.expr)) and _has_effect(node):
            return node.lineno
    return None


def _has_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in _EFFECTS
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, (ast.Global, ast.Nonlocal))


_BODY = """\
class Net(torch.nn.Module):
    def forward(self, x):
        return self.helper(x)

    @{decorator}
    def helper(self, x):
        return x + 1
"""
_PLAIN_BODY = _BODY.replace("    @{decorator}\n", "")
_RUN = "result = Net()(torch.ones(2))"

EXAMPLES = (
    Bad(
        "import torch\n\n\n" + _BODY.format(decorator="torch.jit.unused"),
        "import torch\n\n\n" + _PLAIN_BODY,
        why="unused",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.jit import export\n\n\n" + _BODY.format(decorator="export"),
        "import torch\n\n\n" + _PLAIN_BODY,
        why="from-import goes with its last use",
        run=_RUN,
    ),
    Bad(
        "import torch\n\n\n" + _BODY.format(decorator="torch.jit.ignore(drop=False)  # keep in Python"),
        "import torch\n\n\n" + _BODY.replace("@{decorator}", "# keep in Python"),
        why="called decorator with a comment, which stays",
        run=_RUN,
    ),
    Bad(
        "import torch\n\n\n"
        + _BODY.format(decorator="torch.jit.ignore").replace("x + 1", "x + torch.jit.is_scripting()"),
        "import torch\n\n\n" + _PLAIN_BODY.replace("x + 1", "x + torch.jit.is_scripting()"),
        why="a question that nothing compiles either",
        run=_RUN,
    ),
    Bad(
        "import torch\nimport torch.jit as tj\n\n\ndef double(x):\n    return 2 * x\n\n\ndouble = tj.unused(double)\n"
        "helper = tj.ignore(double)\n",
        "import torch\n\n\ndef double(x):\n    return 2 * x\n\n\nhelper = double\n",
        safety="unsafe",
        why="called with a function",
        run="result = helper(torch.ones(2))",
        files=(("README.md", "Compile it with `torch.jit.script(double)`.\n"),),
    ),
    Bad(
        "import torch\n\n\n" + _BODY.format(decorator="torch.jit.export"),
        "import torch\n\n\n" + _PLAIN_BODY,
        safety="unsafe",
        why="an installable project, whose users may script it",
        run=_RUN,
        files=(("pyproject.toml", "[project]\nname = 'net'\n"),),
    ),
    Bad(
        "import torch\n\n\n" + _BODY.format(decorator="torch.jit.export"),
        "import torch\n\n\n" + _PLAIN_BODY,
        why="an installable project that drops TorchScript",
        run=_RUN,
        files=(("pyproject.toml", "[project]\nname = 'net'\n"),),
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\n"
        + _BODY.format(decorator="torch.jit.ignore")
        + "\n\ntorch.jit.script(Net()).save('net.pt')\n",
        why="the class is still scripted",
    ),
    Bad(
        "import torch\n\n\n@torch.jit.export\ndef pad(x: torch.Tensor, by: int) -> torch.Tensor:\n"
        "    return torch.nn.functional.pad(x, (0, by))\n\n\ntorch.jit.script(pad).save('x.pt')\n",
        why="a function at module level",
    ),
    Bad(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.log(2 * x)\n\n"
        "    def log(self, x):\n        return x\n\n\nNet.log = torch.jit.ignore(Net.log)\n",
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.log(2 * x)\n\n"
        "    def log(self, x):\n        return x\n",
        why="put on a method from outside",
        run="result = Net()(torch.ones(2))",
    ),
    Bad(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    @staticmethod\n    def log(x):\n        return x\n\n\n"
        "Net.log = torch.jit.ignore(Net.log)\n",
        why="a static method that becomes another kind of method by it",
    ),
    Bad(
        "import nn_tilde\nimport torch\n\n\n"
        + _BODY.format(decorator="torch.jit.export").replace("torch.nn.Module", "nn_tilde.Module"),
        "import nn_tilde\n\n\n" + _PLAIN_BODY.replace("torch.nn.Module", "nn_tilde.Module"),
        safety="unsafe",
        why="a base that compiles what is marked",
        torchscript=DROP,
    ),
    Bad("from unittest import mock\n\nmock.patch('torch.jit.ignore')\n", why="patch target"),
    Ok("import pytest\n\n\n@pytest.mark.ignore\ndef f():\n    pass\n", "another library's mark"),
    Ok("def export(f):\n    return f\n\n\n@export\ndef jit():\n    pass\n", "an own decorator named export"),
    Ok("import torch\n\n\n@torch.compiler.disable\ndef jit():\n    pass\n", "torch.compiler's own decorators"),
)
