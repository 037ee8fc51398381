"""Asking whether a rank is outside of a group by `is None`: since torch 2.14 the value is a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.distributed.groups.group_identity import is_local, new_group_arguments
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.guards import decisive_release, is_guarded
from torchlift.view.walk import walk

_TARGETS = ("torch.distributed.new_group", "torch.distributed.split_group")

RULE = Rule(
    code="TL232",
    name="non-member-is-none",
    summary="`is None` asked of a group that this rank may be outside of",
    why=(
        "On ranks that are not part of it, `new_group(use_local_synchronization=True)` and `split_group` returned None up to "
        "torch 2.13. Since 2.14 they return `GroupMember.NON_GROUP_MEMBER` like `new_group` always did: the number -100, "
        "which is not None and counts as true. `if group is None: return` then goes on: collectives warn and do nothing, "
        "and `group.size()` is asked of a number."
    ),
    fix=(
        "Safe when the value tested can only be such a group or None: `group in (None, dist.GroupMember.NON_GROUP_MEMBER)`, "
        "or a plain comparison when the project supports torch 2.14 and later only. Manual when the name may hold something "
        "else."
    ),
    since=TorchVersion(2, 14),
    targets=_TARGETS,
    severity=Severity.ERROR,
    triggers=("use_local_synchronization", "split_group"),
    sources=(
        "torch 2.14 release notes: https://github.com/pytorch/pytorch/pull/190588, "
        "https://github.com/pytorch/pytorch/pull/190725",
        "Measured with gloo on torch 2.13.0 (None) and 2.15.0 (-100)",
    ),
)

_CHANGED = TorchVersion(2, 14)


@dataclass(frozen=True)
class _Question:
    """A test of the group: the whole expression, the group in it, and whether it is true outside of the group."""

    whole: ast.expr
    group: ast.expr
    outside: bool


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call" or not _returns_none(call, use.target):
        return
    statement = view.parent(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        reads = _reads_of_name(view, target)
    elif isinstance(target, ast.Attribute) and self_attribute(target) is not None:
        reads = _reads_of_attribute(view, target)
    else:
        return
    function = use.target.rpartition(".")[2]
    how = "new_group(use_local_synchronization=True)" if function == "new_group" else "split_group"
    decisive = decisive_release(_CHANGED, context.settings.min_torch, context.settings.target)
    for read, values in reads:
        question = _question(view, read)
        if (
            question is None
            or is_guarded(view, read, decisive, context.project.binding)
            or _knows_the_number(view, question.whole)
        ):
            continue
        if any(value is not None and _is_made_none(view, value) for value in values):
            continue
        yield _finding(view, use, context, question, values, how)


def _finding(
    view: ModuleView, use: Use, context: Context, question: _Question, values: list[ast.expr | None], how: str
) -> Finding:
    group = view.text(question.group)
    says = "is never true" if question.outside else "is always true"
    message = (
        f"Outside of its ranks `{how}` returns None up to torch 2.13, and `GroupMember.NON_GROUP_MEMBER` (the number -100) "
        f"since 2.14: `{view.text(question.whole)}` {says} then."
    )
    span = view.span(question.whole)
    statement = view.simple_statement_span(question.whole)
    spelled = view.spell("torch.distributed.GroupMember", question.whole, use)
    only_new = context.settings.min_torch >= _CHANGED and all(isinstance(value, ast.Call) for value in values)
    constant = "GroupMember.NON_GROUP_MEMBER"
    if only_new:
        new = f"{'==' if question.outside else '!='} {constant}"
    else:
        new = f"{'in' if question.outside else 'not in'} (None, {constant})"
    known = all(_is_group(view, value) for value in values)
    if isinstance(question.group, ast.Attribute):
        # A class that builds on this one may store another value.
        known = known and set(context.project.files_holding(f"self.{question.group.attr} =")) <= {view.path}
    if spelled is None or not known:
        advice = f"Write `{group} {new}`."
        return Finding("TL232", view.path, span, message, Severity.ERROR, advice, statement=statement)
    # The group is a plain name or attribute, which may be all there is to replace.
    template = Template(f"{group} {new.replace('GroupMember', spelled.text, 1)}")
    fix = Fix("Compare with NON_GROUP_MEMBER", Safety.SAFE, (*spelled.imports, ReplaceExpression(span, template)))
    return Finding("TL232", view.path, span, message, Severity.ERROR, fix=fix, statement=statement)


def _returns_none(call: ast.Call, function: str) -> bool:
    """Whether a call gave None to ranks outside of the group up to torch 2.13."""
    if function.endswith("split_group"):
        return True
    return is_local(new_group_arguments(call) or {})


def _is_group(view: ModuleView, value: ast.expr | None) -> bool:
    """Whether a value that a name may have is a group, None or a non-member, for which both questions are the same."""
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.Call):
        name = view.certain_name(value.func)
        # A plain `new_group` returned the number always: the old test was false for it.
        return name in _TARGETS and _returns_none(value, name)
    return False


def _reads_of_name(view: ModuleView, target: ast.Name) -> Iterator[tuple[ast.expr, list[ast.expr | None]]]:
    binding = view.bound_by(target)
    for read, _ in view.reads_of(binding) if binding is not None else ():
        bindings = view.bindings_of(read, view.scope_at(read))
        yield read, [other.value if other.kind == "assign" else None for other in bindings]


def _reads_of_attribute(view: ModuleView, target: ast.Attribute) -> Iterator[tuple[ast.expr, list[ast.expr | None]]]:
    """Reads of `self.name` in the class, with everything the file stores under that name."""
    around = view.class_of(target)
    if around is None:
        return
    same = [node for node in view.parents if isinstance(node, ast.Attribute) and node.attr == target.attr]
    values: list[ast.expr | None] = []
    for node in same:
        if not isinstance(node.ctx, ast.Load):
            statement = view.parent(node)
            plain = isinstance(statement, (ast.Assign, ast.AnnAssign))
            values.append(statement.value if plain and isinstance(statement, (ast.Assign, ast.AnnAssign)) else None)
    for child in walk(around):
        if (
            isinstance(child, ast.Attribute)
            and self_attribute(child) == target.attr
            and isinstance(child.ctx, ast.Load)
        ):
            yield child, values


def _question(view: ModuleView, read: ast.expr) -> _Question | None:
    """The test that a read of the group is part of: `is None`, `not g`, or the bare name where a condition stands."""
    parent = view.parent(read)
    if isinstance(parent, ast.Compare) and parent.left is read and len(parent.ops) == 1:
        none = isinstance(parent.comparators[0], ast.Constant) and parent.comparators[0].value is None
        if none and isinstance(parent.ops[0], (ast.Is, ast.Eq)):
            return _Question(parent, read, outside=True)
        if none and isinstance(parent.ops[0], (ast.IsNot, ast.NotEq)):
            return _Question(parent, read, outside=False)
        return None
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return _Question(parent, read, outside=True)
    child, around = read, parent
    while isinstance(around, ast.BoolOp):
        child, around = around, view.parent(around)
    if isinstance(around, (ast.If, ast.While, ast.IfExp, ast.Assert)) and around.test is child:
        return _Question(read, read, outside=False)
    return None


def _knows_the_number(view: ModuleView, whole: ast.expr) -> bool:
    """Whether the condition around the question, or one inside of it, deals with the number already."""
    top: ast.AST = whole
    for ancestor in view.ancestors(whole):
        if not isinstance(ancestor, (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            break
        top = ancestor
    return any(isinstance(node, ast.Attribute) and node.attr == "NON_GROUP_MEMBER" for node in walk(top))


def _is_made_none(view: ModuleView, value: ast.expr) -> bool:
    """Whether a value is the None that a test for the number puts in its place: `if g == NON_GROUP_MEMBER: g = None`."""
    if not isinstance(value, ast.Constant) or value.value is not None:
        return False
    return any(
        isinstance(ancestor, ast.If)
        and any(isinstance(node, ast.Attribute) and node.attr == "NON_GROUP_MEMBER" for node in walk(ancestor.test))
        for ancestor in view.ancestors(value)
    )


_START = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
_LOCAL = "group = dist.new_group([0, 1], use_local_synchronization=True)\n"
_USE = "    dist.all_reduce(total, group=group)\n    result = total\n"

EXAMPLES = (
    Bad(
        _START
        + _LOCAL
        + "total = torch.arange(3.0) + dist.get_rank()\nif group is None:\n    result = total\nelse:\n"
        + _USE,
        _START + _LOCAL + "total = torch.arange(3.0) + dist.get_rank()\n"
        "if group in (None, dist.GroupMember.NON_GROUP_MEMBER):\n    result = total\nelse:\n" + _USE,
        why="is None",
        run="result = [result]",
        ranks=(2, 3, 4),
    ),
    Bad(
        _START + _LOCAL + "result = total = torch.arange(3.0) + dist.get_rank()\nif group is not None:\n" + _USE,
        _START + _LOCAL + "result = total = torch.arange(3.0) + dist.get_rank()\n"
        "if group not in (None, dist.GroupMember.NON_GROUP_MEMBER):\n" + _USE,
        why="is not None",
        run="result = [result]",
        ranks=(2, 3, 4),
    ),
    Bad(
        "import torch\nfrom torch.distributed import all_reduce, get_rank, init_process_group, new_group\n\n"
        'init_process_group("gloo")\n\n\nclass Part:\n    def __init__(self):\n        self.group = None\n'
        "        self.group = new_group([0], use_local_synchronization=True)\n\n    def total(self):\n"
        "        total = torch.ones(2) + get_rank()\n        if not self.group:\n            return total\n"
        "        all_reduce(total, group=self.group)\n        return total\n",
        "import torch\nfrom torch.distributed import all_reduce, get_rank, init_process_group, new_group\n\n"
        'init_process_group("gloo")\n\n\nclass Part:\n    def __init__(self):\n        self.group = None\n'
        "        self.group = new_group([0], use_local_synchronization=True)\n\n    def total(self):\n"
        "        total = torch.ones(2) + get_rank()\n"
        "        if self.group in (None, torch.distributed.GroupMember.NON_GROUP_MEMBER):\n"
        "            return total\n        all_reduce(total, group=self.group)\n        return total\n",
        why="not, on an attribute, names imported one by one",
        run="result = Part().total()",
        ranks=(2, 3),
    ),
    Bad(
        _START + _LOCAL + "result = total = torch.arange(3.0) + dist.get_rank()\n"
        "if group and total.numel() == 3:\n" + _USE,
        _START + _LOCAL + "result = total = torch.arange(3.0) + dist.get_rank()\n"
        "if group not in (None, dist.GroupMember.NON_GROUP_MEMBER) and total.numel() == 3:\n" + _USE,
        why="the bare name as a condition",
        run="result = [result]",
        ranks=(2, 3, 4),
    ),
    Bad(
        _START + _LOCAL + "result = total = torch.arange(3.0) + dist.get_rank()\nif group is not None:\n" + _USE,
        _START + _LOCAL + "result = total = torch.arange(3.0) + dist.get_rank()\n"
        "if group != dist.GroupMember.NON_GROUP_MEMBER:\n" + _USE,
        why="a project that starts at torch 2.14 (run with members only, as 2.13 returns None to others)",
        min_torch=TorchVersion(2, 14),
        run="result = [result]",
        ranks=(2,),
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef part(parent):\n    group = dist.split_group(parent, [[0, 1]])\n"
        "    if group is None:\n        return 0\n    return dist.get_rank(group)\n",
        "import torch.distributed as dist\n\n\ndef part(parent):\n    group = dist.split_group(parent, [[0, 1]])\n"
        "    if group in (None, dist.GroupMember.NON_GROUP_MEMBER):\n        return 0\n    return dist.get_rank(group)\n",
        why="split_group, with what both releases return to others standing in for it",
        run="dist.get_rank = lambda group: 1\nresult = []\nfor value in (None, dist.ProcessGroup(0, 1)):\n"
        "    dist.split_group = lambda parent, ranks: value\n    result.append(part(None))",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef part(group, ranks):\n    if ranks:\n"
        "        group = dist.new_group(ranks, use_local_synchronization=True)\n    if group is None:\n"
        "        return 0\n    return dist.get_rank(group)\n",
        why="the name may hold something else",
    ),
    Bad(
        _START
        + "if dist.get_world_size() > 2:\n    group = dist.new_group([0, 1])\nelse:\n    "
        + _LOCAL
        + "if group is None:\n    print('outside')\n",
        why="a plain new_group never returned None",
    ),
    Ok(_START + "group = dist.new_group([0, 1])\nif group is None:\n    print('never')\n", "always was the number"),
    Ok(
        _START + _LOCAL + "if group is None or group == dist.GroupMember.NON_GROUP_MEMBER:\n    print('outside')\n",
        "both are asked for",
    ),
    Ok(
        _START + _LOCAL + "if group == dist.GroupMember.NON_GROUP_MEMBER:\n    group = None\n"
        "if group is None:\n    print('outside')\n",
        "the number is made None first",
    ),
    Ok(_START + _LOCAL + "group = load()\nif group is None:\n    print('no group')\n", "another value by then"),
    Ok(_START + _LOCAL + "other = group or dist.group.WORLD\n", "a value, not a question"),
    Ok(
        "from h5py import h5 as dist\n\ngroup = dist.split_group('a')\nif group is None:\n    print('no group')\n",
        "another library",
    ),
)
