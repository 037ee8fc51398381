"""`isinstance(backend, ProcessGroupNCCL)`: the NCCL groups of torch 2.15 are of another class."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.distributed.facts.missing_attributes import MISSING, missing_behind
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_TARGETS = ("torch.distributed.ProcessGroupNCCL", "torch._C._distributed_c10d.ProcessGroupNCCL")

RULE = Rule(
    code="TL235",
    name="isinstance-process-group-nccl",
    summary="`isinstance(..., ProcessGroupNCCL)`",
    why=(
        'Since torch 2.15 the plain name "nccl" makes a `ProcessGroupNCCL2`. It is a class of its own beside '
        "`ProcessGroupNCCL`, so tests for the old class are false and the code for NCCL is silently skipped. "
        "`ProcessGroupNCCL.Options` is the options class of both and needs no change."
    ),
    fix=(
        "Needs review: the test accepts both classes, through `getattr` so that releases before 2.14 go on working; what "
        "follows the test must not use attributes that only the old class has (TL236). Manual where it does, and for "
        "`type(x) is ...`."
    ),
    since=NEW_ENGINE,
    targets=_TARGETS,
    severity=Severity.ERROR,
    triggers=("ProcessGroupNCCL",),
    collectors=(BACKENDS,),
    sources=(
        "torch 2.15.0 wheel: issubclass(ProcessGroupNCCL2, ProcessGroupNCCL) is False, ProcessGroupNCCL2.Options is "
        "ProcessGroupNCCL.Options; measured",
        "https://github.com/pytorch/pytorch/pull/192281 (nccl2 is the default)",
    ),
)

_MESSAGE = (
    'Since torch 2.15 "nccl" makes a `ProcessGroupNCCL2`, which is not a subclass of `ProcessGroupNCCL`: this test is false '
    "for it."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.name != use.target or not isinstance(use.node, ast.expr) or not may_use_nccl(context.project):
        return
    test = _test_of_class(view, use.node)
    if test is None:
        return
    span = view.span(use.node)
    if "ProcessGroupNCCL2" in view.text(test):
        return
    module = "torch.distributed"
    spelled = view.spell(module, use.node, use) if isinstance(test, ast.Call) else None
    if spelled is None or not isinstance(test, ast.Call):
        advice = (
            'Test for both classes: `isinstance(x, (dist.ProcessGroupNCCL, getattr(dist, "ProcessGroupNCCL2", '
            f"dist.ProcessGroupNCCL)))`, or ask for the name of the backend. {ESCAPE}"
        )
        yield Finding("TL235", view.path, span, _MESSAGE, Severity.ERROR, advice)
        return
    used = missing_behind(view, test.args[0], test)
    if used:
        advice = (
            f"Not rewritten: the code behind this test uses {_listed(used)}, which `ProcessGroupNCCL2` has not. Test for both "
            "classes and do that part for the old one only, or do without it on torch 2.15. "
        )
        yield Finding("TL235", view.path, span, _MESSAGE, Severity.ERROR, advice + ESCAPE)
        return
    old = view.text(use.node)
    both = f'{old}, getattr({spelled.text}, "ProcessGroupNCCL2", {old})'
    inside = isinstance(view.parent(use.node), ast.Tuple)
    if inside:
        # A tuple of classes may hold further tuples.
        both = f"({both})"
    template = Template(both if inside else f"({both})")
    fix = Fix(
        "Accept the new class too", Safety.UNSAFE, (*spelled.imports, ReplaceExpression(span, template, bare=True))
    )
    review = f"Needs review: what follows has to work with both classes{_missing(used)}. {ESCAPE}"
    yield Finding("TL235", view.path, span, _MESSAGE, Severity.ERROR, review, fix)


def _missing(used: Collection[str] | None) -> str:
    """Whether the code behind a test is known to do without what the new class lacks, as the rest of a sentence."""
    if used is None:
        return f". `ProcessGroupNCCL2` has no {_listed(MISSING)}"
    return "; none of the attributes that `ProcessGroupNCCL2` is known to lack is used there"


def _listed(names: Iterable[str]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _test_of_class(view: ModuleView, node: ast.expr) -> ast.expr | None:
    """The `isinstance` call, or the comparison of a `type(...)`, that asks for the class."""
    parent = view.parent(node)
    if isinstance(parent, ast.Tuple):
        parent = view.parent(parent)
    if isinstance(parent, ast.Call):
        function = parent.func
        named = isinstance(function, ast.Name) and function.id in {"isinstance", "issubclass"}
        asked = len(parent.args) == 2 and any(child is node for child in walk(parent.args[1]))
        return parent if named and asked else None
    if isinstance(parent, ast.Compare):
        sides = [parent.left, *parent.comparators]
        types = [s for s in sides if isinstance(s, ast.Call) and isinstance(s.func, ast.Name) and s.func.id == "type"]
        return parent if types else None
    return None


EXAMPLES = (
    Bad(
        "import torch.distributed as dist\n\n\ndef is_nccl(backend):\n    return isinstance(backend, dist.ProcessGroupNCCL)\n",
        "import torch.distributed as dist\n\n\ndef is_nccl(backend):\n    return isinstance(backend, "
        '(dist.ProcessGroupNCCL, getattr(dist, "ProcessGroupNCCL2", dist.ProcessGroupNCCL)))\n',
        safety="unsafe",
        why="an attribute of the module",
    ),
    Bad(
        "import torch\nfrom torch.distributed import ProcessGroupGloo, ProcessGroupNCCL as Nccl\n\n\n"
        "def known(backend):\n    return isinstance(backend, (ProcessGroupGloo, Nccl))\n",
        "import torch\nfrom torch.distributed import ProcessGroupGloo, ProcessGroupNCCL as Nccl\n\n\n"
        "def known(backend):\n    return isinstance(backend, (ProcessGroupGloo, "
        '(Nccl, getattr(torch.distributed, "ProcessGroupNCCL2", Nccl))))\n',
        safety="unsafe",
        why="one of several classes, imported under another name",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef setup(backend, timeout):\n"
        "    if isinstance(backend, dist.ProcessGroupNCCL):\n        backend._set_default_timeout(timeout)\n",
        why="an attribute that only the old class has stands behind the test, and is named",
    ),
    Bad(
        "import torch.distributed.distributed_c10d as c10d\n\n\ndef is_nccl(backend):\n"
        "    return type(backend) is c10d.ProcessGroupNCCL\n",
        why="type(...) is, private module",
    ),
    Ok(
        "import torch.distributed as dist\n\noptions = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)\n"
        "print(isinstance(options, dist.ProcessGroupNCCL.Options))\n",
        "the options are shared by both classes",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef is_nccl(b):\n"
        "    return isinstance(b, (dist.ProcessGroupNCCL, dist.ProcessGroupNCCL2))\n",
        "asks for both classes",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
        "print(isinstance(dist.group.WORLD, dist.ProcessGroupNCCL))\n",
        "a gloo project",
    ),
    Ok(
        "import torch.distributed as dist\n\nprint(isinstance(dist.ProcessGroupNCCL, type))\n",
        "something is asked of the class",
    ),
    Ok("class ProcessGroupNCCL: ...\n\n\nprint(isinstance(1, ProcessGroupNCCL))\n", "own class"),
    Ok(
        "import torch.distributed as dist\n\n\nclass Mine(dist.ProcessGroupNCCL): ...\n",
        "a subclass keeps the old engine",
    ),
)
