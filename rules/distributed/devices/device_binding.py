"""What can be done about an `init_process_group` that says nothing about its device: the fix, or advice for this very call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field, replace

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Finding,
    Fix,
    InsertStatements,
    Parts,
    Rewrite,
    Safety,
    Template,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.literals import integer
from torchlift.rules.analysis.values.parameter_values import is_spawned_index
from torchlift.rules.analysis.values.repeatable import is_repeatable, is_unchanged
from torchlift.rules.distributed.devices.advised_device import NUMBER, advised_device
from torchlift.rules.distributed.devices.device_guess import (
    LOCAL_RANK_SET,
    VISIBLE_DEVICES,
    Guess,
    compare_with_guess,
    stores,
)
from torchlift.rules.distributed.devices.device_value import device_kind
from torchlift.rules.distributed.devices.group_facts import COLLECTOR, sensitive_place
from torchlift.rules.distributed.devices.init_call import InitCall, NcclWhen, read_init_call
from torchlift.rules.distributed.devices.local_rank import LOCAL_RANKS, visible_rank
from torchlift.rules.distributed.devices.process_device import ProcessDevice, barrier_between, process_device
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.groups.backends import is_never_nccl
from torchlift.rules.rule import Context
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.handlers import ABSENT_PARAMETER, FAILED_CALL, stands_in_for

COLLECTORS = (COLLECTOR, LOCAL_RANKS, LOCAL_RANK_SET, VISIBLE_DEVICES)
"""What a rule that calls `unbound_init` lists among its collectors."""

# device_id exists since torch 2.3 (DeepSpeed's deepspeed/comm/torch.py says so and checks the signature).
_NEEDS = TorchVersion(2, 3)
_EAGER_BY_DEFAULT = TorchVersion(2, 15)
# pytorch#153960: with device_id, NCCL of torch 2.6.0-2.7.0 can hang; fixed in 2.7.1.
_HANG_FIXED = TorchVersion(2, 7, 1)

# They make "cuda" and "nccl" mean the devices of another maker.
_OTHER_DEVICES = lazy_pattern(r"\b(?:transfer_to_\w+|gpu_migration|torch_npu|torch_musa|torch_mlu|torch_gcu)\b")

_SPAWNED = (
    "In a process made by `mp.spawn`, a `LOCAL_RANK` inherited from the launcher of the parent wins over the index that "
    "is passed."
)


@dataclass(frozen=True)
class UnboundInit:
    """A call of `init_process_group` without `device_id`.

    Attributes:
        init: the call.
        found: the `set_device` that belongs to it, if any.
        guess: how its device compares with what torch 2.15 picks.
    """

    init: InitCall
    found: ProcessDevice | None = None
    guess: Guess = field(default_factory=lambda: Guess("unknown"))


def unbound_init(use: Use, context: Context) -> UnboundInit | None:
    """Read the call behind a use of `init_process_group`; None where it binds a device, or may do so.

    Two rules ask about the same call and report it under different names, so the answer is kept.
    """
    return context.once(_read, use)


def _read(context: Context, use: Use) -> UnboundInit | None:
    view = context.view
    if use.call is None or use.kind != "call" or use.wrapper is not None:
        return None  # a library that wraps the function chooses the device itself
    init = read_init_call(view, use.call)
    if init is None or init.backend == "other" or _knows_older_torch(view, use.call):
        return None
    if init.backend == "unknown" and is_never_nccl(view, context.project, init.call, init.arguments["backend"]):
        return None
    found = process_device(view, init)
    if init.single and (found is None or integer(found.device) == 0):
        return None  # GPU 0, as it always was
    if init.backend != "nccl" or found is None:
        return UnboundInit(init, found)
    guess = compare_with_guess(view, context.project, found.device, use.call)
    if init.single and guess.same == "maybe":
        guess = Guess("unknown")
    return UnboundInit(init, found, guess)


def _knows_older_torch(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call is the one for a torch without `device_id`: beside a test for it, or behind a `TypeError`."""
    if stands_in_for(view, call, _gives_device, ABSENT_PARAMETER | FAILED_CALL):
        return True
    return any("device_id" in ast.unparse(choice.test) for choice, _ in view.choices(call))


def _gives_device(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "device_id"


def _is_replaced(view: ModuleView, target: str) -> bool:
    """Whether the file puts a function of its own in the place of `target`."""
    return any(use.kind == "store" for use in view.uses(frozenset({target})))


def binding_finding(unbound: UnboundInit, use: Use, context: Context, finding: Finding) -> Iterator[Finding]:
    """`finding` completed with the fix for its call, or with advice."""
    view, init, found = context.view, unbound.init, unbound.found
    note = f" {_SPAWNED}" if _inherits_local_rank(view, init.call) else ""
    finding = replace(finding, message=finding.message + note)
    if init.backend != "nccl" and not _can_ask_the_backend(view, init, found):
        yield replace(finding, help=_dynamic_advice(view, context, init, found))
        return
    if found is None or found.obstacle:
        yield _without_setting(unbound, use, context, finding)
        return
    assumptions = list(found.assumptions)
    if _is_replaced(view, use.target):
        assumptions.append(f"what this file puts in the place of `{use.target}` has to take `device_id`")
    if unbound.guess.constant:
        assumptions.append(
            f"this has to be the only GPU that each process works on, with one process per host, or with others hidden from it; "
            f"`{view.text(found.device)}` is the same one in all of them"
        )
    other = _OTHER_DEVICES.search(view.source.text)
    if other is not None:
        assumptions.append(f"`{other[0]}` must not put another backend in the place of NCCL")
    written = _device_text(view, context, use, found.device, assumptions)
    if written is None:
        advice = (
            f"Not rewritten: how `torch.device` is spelled here is not certain. Pass `{view.text(found.device)}` as `device_id`"
            f"{', where this holds: ' if assumptions else ''}{'; '.join(assumptions)}."
        )
        yield replace(finding, help=f"{advice} {ESCAPE}")
        return
    text, imports = written
    moved = _moved(view, found)
    title = "Pass the device this rank already set" if not found.after else "Pass the device this rank sets afterwards"
    parts: Parts = (("device", view.span(found.device)),)
    yield _offer(unbound, context, finding, title, Template(text, parts), (*imports, *moved), assumptions)


def _can_ask_the_backend(view: ModuleView, init: InitCall, found: ProcessDevice | None) -> bool:
    """Whether a device is at hand, and the backend can be asked, in the call, whether it is NCCL."""
    node = init.arguments.get("backend")
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or "\n" in view.text(node):
        return False
    if not is_repeatable(view, node):
        return False
    return not found.obstacle if found is not None else visible_rank(view, init) is not None


def _offer(
    unbound: UnboundInit,
    context: Context,
    finding: Finding,
    title: str,
    value: Template,
    others: tuple[Rewrite, ...],
    assumptions: list[str],
) -> Finding:
    """`finding` with a fix that passes `value`, unless the project's lowest torch forbids it."""
    view, init = context.view, unbound.init
    if init.when is not None:
        conditional = _conditional(view, init.when, value, init.call)
        if conditional is None:
            advice = (
                f"Not rewritten: `{view.text(init.when.test)}` decides whether NCCL is used, and may do more than that."
            )
            return replace(finding, help=f"{advice} {ESCAPE}")
        value = conditional
    elif init.backend != "nccl":
        node = init.arguments["backend"]
        value = Template(f'{value.text} if "nccl" in $backend else None', (*value.parts, ("backend", view.span(node))))
        assumptions = [*assumptions, f"`{view.text(node)}` has to be the name of a backend, and not None"]
    if context.settings.min_torch < _EAGER_BY_DEFAULT:
        place = sensitive_place(context.project, view.path)
        if place is not None:
            return replace(
                finding,
                help=f"Not rewritten: the project {context.settings.supports}. From torch {_NEEDS} to 2.14 it is `device_id` that makes "
                f"group creation eager, which may serialise or hang {place}. Look at that first, or let the project run on torch "
                f"{_EAGER_BY_DEFAULT} and newer alone (`--min-torch {_EAGER_BY_DEFAULT}`), where every group is eager.",
            )
    if context.settings.min_torch < _HANG_FIXED:
        assumptions = [
            *assumptions,
            "torch 2.6.0-2.7.0 can hang with `device_id` (pytorch#153960), so those releases must not be used",
        ]
    edit = EditCall(view.span(init.call), add=(("device_id", value),))
    safety = Safety.UNSAFE if assumptions else Safety.SAFE
    help_text = f"Needs review: {'; '.join(assumptions)}." if assumptions else None
    found = unbound.found
    barrier = barrier_between(view, init.call, found.call) if found is not None and found.after else None
    if barrier is not None:
        finding = replace(finding, message=f"{finding.message} {_barrier_note(barrier)}")
    return replace(finding, help=help_text, fix=Fix(title, safety, (*others, edit), needs=_NEEDS))


def _conditional(view: ModuleView, when: NcclWhen, value: Template, call: ast.Call) -> Template | None:
    """`value` where NCCL is chosen, `None` otherwise."""
    if not is_unchanged(view, when.test, when.test, call) and when.variable is None:
        return None
    if when.variable is not None:
        return Template(f"{value.text} if {when.variable} == {when.nccl} else None", value.parts)
    if not is_repeatable(view, when.test):
        return None
    parts = (*value.parts, ("test", view.span(when.test)))
    return Template(f"{value.text} if $test else None" if when.holds else f"None if $test else {value.text}", parts)


def _device_text(
    view: ModuleView, context: Context, use: Use, device: ast.expr, assumptions: list[str]
) -> tuple[str, tuple[Rewrite, ...]] | None:
    """How to write `device` as a `torch.device`, with `$device` for it, and the imports this needs."""
    kind = device_kind(view, context.project, device, unbound_call(use))
    if kind == "device":
        return "$device", ()
    spelling = view.spell("torch.device", unbound_call(use), use)
    if spelling is None:
        return None
    if kind == "integer":
        return f'{spelling.text}("cuda", $device)', spelling.imports
    if kind == "unknown" and NUMBER.search(view.text(device)):
        assumptions.append(f"`{view.text(device)}` has to be a number, and not negative (which `set_device` ignores)")
        return f'{spelling.text}("cuda", $device)', spelling.imports
    if kind == "unknown":
        assumptions.append(
            f"`{view.text(device)}` has to be a device, its name or its index, and not negative (which `set_device` ignores)"
        )
    return f"{spelling.text}($device)", spelling.imports


def unbound_call(use: Use) -> ast.Call:
    """The call of a use that is one."""
    assert use.call is not None
    return use.call


def _moved(view: ModuleView, found: ProcessDevice) -> tuple[Rewrite, ...]:
    if not found.moved or found.front is None:
        return ()
    lines = tuple(_line_of(view, statement) for statement in found.moved)
    return (
        InsertStatements(view.span(found.front), lines, "before"),
        *(DeleteStatement(view.span(statement)) for statement in found.moved),
    )


def _line_of(view: ModuleView, statement: ast.stmt) -> str:
    """A one-line statement with the comment behind it."""
    end = view.span(statement).end
    rest = view.source.line(view.source.location(end)[0])[view.source.location(end)[1] - 1 :].rstrip()
    return view.text(statement) + (rest if rest.lstrip().startswith("#") else "")


# Advice


def _without_setting(unbound: UnboundInit, use: Use, context: Context, finding: Finding) -> Finding:
    """A finding for a call whose device is not set next to it, or not in a way that can be repeated."""
    view, init, found = context.view, unbound.init, unbound.found
    if found is None:
        rank = visible_rank(view, init)
        if rank is not None:
            spelling = view.spell("torch.device", init.call, use)
            if rank.is_device or spelling is not None:
                text = rank.text if spelling is None or rank.is_device else f'{spelling.text}("cuda", {rank.text})'
                imports = spelling.imports if spelling is not None and not rank.is_device else ()
                title = f"Pass `{rank.text}` as this rank's device"
                return _offer(
                    unbound, context, finding, title, Template(text), imports, [f"this assumes that {rank.why}"]
                )
        reason = "no `torch.cuda.set_device(...)` surely runs next to it in this function"
    else:
        reason = f"`{view.text(found.call)}` on line {found.call.lineno} cannot be repeated here: {found.obstacle}"
    device, note = advised_device(view, context.project, init, found)
    note += _barrier_in_between(view, init.call, found)
    advice = (
        f"Not rewritten: {reason}. Pass `device_id={_guarded(view, init, device)}`{note}. {_since(context)}{ESCAPE}"
    )
    return replace(finding, help=advice)


def device_advice(unbound: UnboundInit, context: Context) -> tuple[str, str]:
    """A device to write into the call, for text that cannot be checked, and where it comes from."""
    return advised_device(context.view, context.project, unbound.init, unbound.found)


def _operand(node: ast.expr, text: str) -> str:
    # "cpu:gloo,cuda:nccl" is a backend as well.
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({text})"


def _dynamic_advice(view: ModuleView, context: Context, init: InitCall, found: ProcessDevice | None) -> str:
    node = init.arguments.get("backend")
    device, note = device_advice(UnboundInit(init, found), context)
    note += _barrier_in_between(view, init.call, found)
    text = view.text(node) if node is not None else ""
    if node is None or "\n" in text or len(text) > 60 or not is_repeatable(view, node):
        return (
            f"Not rewritten: which backend this is was not worked out. Where it is NCCL pass `device_id={device}`{note}; a CPU "
            f"group must get None. {_since(context)}{ESCAPE}"
        )
    return (
        f"Not rewritten: which backend this is was not worked out, and a CPU group must not get a device. Pass "
        f'`device_id={device} if "nccl" in {_operand(node, text)} else None`{note}. {_since(context)}{ESCAPE}'
    )


def _since(context: Context) -> str:
    """What a project that supports older releases has to know before it passes a device."""
    return f"`device_id` exists since torch {_NEEDS}. " if context.settings.min_torch < _NEEDS else ""


def _guarded(view: ModuleView, init: InitCall, device: str) -> str:
    if init.when is None:
        return device
    conditional = _conditional(view, init.when, Template(device), init.call)
    if conditional is None:
        return f"{device} if NCCL is used else None"
    return conditional.text.replace("$test", view.text(init.when.test))


def _barrier_in_between(view: ModuleView, call: ast.Call, found: ProcessDevice | None) -> str:
    if found is None or not found.after:
        return ""
    barrier = barrier_between(view, call, found.call)
    return f". {_barrier_note(barrier)[:-1]}" if barrier is not None else ""


def _barrier_note(barrier: ast.Call) -> str:
    return (
        f"The `barrier` on line {barrier.lineno} runs before the device is set; up to torch 2.14 it uses a guessed GPU unless "
        "the group has a `device_id`."
    )


def _inherits_local_rank(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call runs in a process of `mp.spawn` that does not set `LOCAL_RANK` before it."""
    function = view.function_of(call)
    if function is None or not function.args.args or not is_spawned_index(view, function.args.args[0]):
        return False
    return not any(stores(item, "LOCAL_RANK") for item in function.body if item.lineno < call.lineno)
