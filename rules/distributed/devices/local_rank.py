"""How a project writes the number of a process on its host."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Collector, Project
from torchlift.rules.analysis.places.order import has_surely_run, run_before
from torchlift.rules.analysis.values.environment_reads import environment_variable
from torchlift.rules.analysis.values.parameter_values import is_spawned_index
from torchlift.rules.analysis.values.repeatable import is_repeatable, is_unchanged
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.analysis.wording.messages import spelled_out
from torchlift.rules.distributed.devices.init_call import InitCall
from torchlift.rules.distributed.devices.known_conditions import branch_taken
from torchlift.rules.distributed.devices.process_device import argument_of, is_deferred, set_device_calls
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_LONGEST = 60


@dataclass(frozen=True)
class LocalRankRecord:
    """Devices that one file sets, with the line, and whether it reads `LOCAL_RANK` itself."""

    devices: tuple[tuple[str, int], ...]
    reads_variable: bool


def _collect(view: ModuleView) -> LocalRankRecord | None:
    devices = [
        (_spelled_out(view, argument_of(call)), call.lineno)
        for call in set_device_calls(view, view.tree)
        if is_repeatable(view, argument_of(call)) and not isinstance(argument_of(call), ast.Constant)
    ]
    reads = any(
        environment_variable(view, n) == "LOCAL_RANK"
        for n in walk(view.tree)
        if isinstance(n, (ast.Call, ast.Subscript))
    )
    return LocalRankRecord(tuple(devices), reads) if devices or reads else None


def _spelled_out(view: ModuleView, device: ast.expr) -> str:
    """A device with the local names in it replaced by what they are assigned, unless that is long or asks a group."""
    text = spelled_out(view, device, lambda name: _value_in_front(view, name))
    return text if len(text) <= _LONGEST else view.text(device)


def _value_in_front(view: ModuleView, name: ast.Name) -> ast.expr | None:
    """What a local name is assigned, if that can be evaluated before there is a group."""
    binding = view.definition(name)
    if binding is None or binding.kind != "assign" or binding.value is None or binding.scope.kind != "function":
        return None
    for call in (node for node in walk(binding.value) if isinstance(node, ast.Call)):
        called = view.definition(call.func)
        function = called.node if called is not None else None
        if isinstance(function, ast.FunctionDef) and not call.args and not call.keywords:
            if any(_asks_distributed(view, node) for node in walk(function)):
                return None
        elif not _is_integer(call) and not is_repeatable(view, ast.Call(call.func, [], call.keywords)):
            return None  # its arguments are looked at on their own
    return binding.value


def _asks_distributed(view: ModuleView, node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and view.possible_name(node).startswith("torch.distributed")


LOCAL_RANKS = Collector("distributed.local_ranks", ("set_device", "set_device_index", "LOCAL_RANK"), _collect)
"""Rules that call `customary_device` list it among their collectors."""


def reads_local_rank(project: Project, path: str) -> bool:
    """Whether a file, or another one in its folder, reads `LOCAL_RANK`."""
    folder = path.rpartition("/")[0]
    return any(
        record.reads_variable and other.rpartition("/")[0] == folder
        for other, record in project.records(LOCAL_RANKS).items()
    )


def customary_device(
    project: Project, path: str, lines: range, accept: Callable[[str], bool]
) -> tuple[str, int] | None:
    """The device that the file at `path` passes to `set_device` most often, and a line: `(text, line)`; None if there is none.

    What another file sets is another program's, as a rule. `lines` do not count, nor does a device that `accept` refuses.
    """
    record = project.records(LOCAL_RANKS).get(path)
    found = [
        (text, line)
        for text, line in (record.devices if record is not None else ())
        if len(text) <= _LONGEST and "\n" not in text and line not in lines and accept(text)
    ]
    if not found:
        return None
    text = Counter(text for text, _ in found).most_common(1)[0][0]
    return text, next(line for other, line in found if other == text)


@dataclass(frozen=True)
class VisibleRank:
    """An expression in scope at some place that names this process's GPU, and what speaks for it."""

    text: str
    is_device: bool
    why: str


def visible_rank(view: ModuleView, init: InitCall) -> VisibleRank | None:
    """The clearest expression for this process's GPU that surely has a value at `init`; None if nothing is clear."""
    at = init.call
    if is_deferred(view, at):
        return None
    made = _made_before(view, init)
    if made is not None:
        return made
    function = view.function_of(at)
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs] if function else []
    for parameter in parameters:
        if _rebound(view, parameter, at):
            continue
        if parameter.arg == "local_rank":
            return VisibleRank("local_rank", False, "the parameter `local_rank` is this process's GPU")
        if is_spawned_index(view, parameter):
            return VisibleRank(
                parameter.arg, False,
                f"`{parameter.arg}`, which `mp.spawn` counts, is this process's GPU",
            )  # fmt: skip
    read = _option_read(view, at)
    if read is not None:
        return VisibleRank(read, False, f"`{read}` is this process's GPU")
    if _is_test_of_processes(view, init):
        why = "all processes of a test run on one host, so that `self.rank` is this process's GPU"
        return VisibleRank("self.rank", False, why)
    return None


_TEST_BASES = lazy_pattern(
    r"(?:^|\.)(?:Multi(?:Process|Proc|Thread)\w*|\w*DTensor\w*|\w*Distributed\w*|FSDP\w*)Test\w*$"
)
"""Bases of tests in torch.testing._internal, and of what projects derive from them, that start a process for every rank."""


def _is_test_of_processes(view: ModuleView, init: InitCall) -> bool:
    """Whether a call that is given `self.rank` stands in a test that starts a process for every GPU of one host."""
    rank, owner = init.arguments.get("rank"), view.class_of(init.call)
    if not isinstance(rank, ast.Attribute) or view.text(rank) != "self.rank" or owner is None:
        return False
    return any(_TEST_BASES.search(view.text(base)) for base in owner.bases)


def _made_before(view: ModuleView, init: InitCall) -> VisibleRank | None:
    """A `torch.device("cuda", ...)` or a `LOCAL_RANK` that a name or an attribute surely holds at `init`."""
    for earlier, whole in _surely_run(view, init):
        if not isinstance(earlier, ast.Assign) or len(earlier.targets) != 1:
            continue
        target = earlier.targets[0]
        if not isinstance(target, (ast.Name, ast.Attribute)) or not is_repeatable(view, target):
            continue
        is_device = _is_own_device(view, earlier.value)
        is_rank = _is_integer(earlier.value) and environment_variable(view, earlier.value) == "LOCAL_RANK"
        if (is_device or is_rank) and is_unchanged(view, target, whole, init.call):
            text = view.text(target)
            return VisibleRank(text, is_device, f"`{text}` is the GPU that this process uses")
    return None


def _surely_run(view: ModuleView, init: InitCall) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Statements that surely ran before `init`, the last one first, each with the statement around it in their block.

    Of an `if` that is the last statement of the branch that was taken.
    """
    for statement in run_before(view, init.call):
        if isinstance(statement, ast.If):
            yield from ((inner, statement) for inner in branch_taken(view, init, statement)[-1:])
        yield statement, statement


def _is_own_device(view: ModuleView, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.keywords or view.possible_name(node.func) != "torch.device":
        return False
    match node.args:
        case [ast.Constant(value="cuda"), index]:
            return not isinstance(index, ast.Constant)
        case [ast.JoinedStr(values=[ast.Constant(value="cuda:"), ast.FormattedValue()])]:
            return True
    return False


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"


def _rebound(view: ModuleView, parameter: ast.arg, at: ast.Call) -> bool:
    bindings = view.scope_at(at).bindings.get(parameter.arg, ())
    return len(bindings) != 1 or bindings[0].node is not parameter


def _option_read(view: ModuleView, at: ast.Call) -> str | None:
    """`args.local_rank`, if the same function reads it too and `args` cannot have changed."""
    function = view.function_of(at)
    for node in view.attributes_named("local_rank"):
        if isinstance(node.ctx, ast.Load):
            root = node.value
            if view.function_of(node) is not function or not isinstance(root, ast.Name) or self_attribute(node):
                continue
            binding = view.definition(root)
            if binding is None:
                continue
            statement = binding.statement
            if binding.kind != "param" and (statement is None or not has_surely_run(view, statement, at)):
                continue
            if any(
                isinstance(other.ctx, ast.Store)
                and other.lineno >= at.lineno
                and (function is None or function in view.ancestors(other))
                for other in view.attributes_named("local_rank")
            ):
                continue
            return f"{root.id}.local_rank"
    return None
