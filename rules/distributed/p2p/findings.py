"""The point-to-point functions of a file with their verdicts, worked out once for all rules that report on them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from torchlift.finding import Finding, Fix, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.distributed.facts.cpu_tensors import made_on_cpu
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE, LAZY
from torchlift.rules.distributed.facts.recorded_jobs import recorded_exchange
from torchlift.rules.distributed.groups.backends import may_use_nccl
from torchlift.rules.distributed.groups.group_identity import surely_without_nccl
from torchlift.rules.distributed.p2p.at_their_word import at_their_word
from torchlift.rules.distributed.p2p.batches.batch_surroundings import says_cpu
from torchlift.rules.distributed.p2p.batches.batching import plan_batch
from torchlift.rules.distributed.p2p.calls import OVERLAPPING, function_of_call, written_operation
from torchlift.rules.distributed.p2p.engines.explanation import rank_by_rank
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict, Judgement, judge
from torchlift.rules.distributed.p2p.interpreter.code import Code
from torchlift.rules.distributed.p2p.interpreter.reading import Reading, exchanges_of
from torchlift.rules.distributed.p2p.one_way import goes_one_way
from torchlift.rules.distributed.p2p.program import Post
from torchlift.rules.rule import Context
from torchlift.view import ModuleView, Use

TARGETS = ("torch.distributed.isend", "torch.distributed.irecv", "torch.distributed.batch_isend_irecv")
"""Calls that may stand first in an exchange that overlaps anything; blocking calls alone run in the same order on every
engine."""

_LARGEST = 8
_ORDER = (
    "Wait for the message before the collective, post both of its sides on the same side of the collective, or give the "
    "messages a group of their own."
)

TRIGGERS = ("isend & distributed", "irecv & distributed")


_ORDER_OF_VERDICTS = (
    ExchangeVerdict.HANGS_NOW,
    ExchangeVerdict.HUNG_BEFORE,
    None,
    ExchangeVerdict.SERIALISED,
    ExchangeVerdict.OPEN,
    ExchangeVerdict.FINE,
)


@dataclass(frozen=True)
class Judged:
    """One function and what the simulation says of it.

    Attributes:
        reading: how it was read.
        judgement: its verdict; None where no world size could be read.
        taken: what names were taken for, as clauses, where that was needed to read it.
        why: why it stays open though names are taken at their word, as a clause.
    """

    reading: Reading
    judgement: Judgement | None
    taken: tuple[str, ...] = ()
    why: str = ""

    @property
    def urgency(self) -> int:
        """Smaller for what matters more."""
        if self.judgement is None:
            return _ORDER_OF_VERDICTS.index(None)
        return _ORDER_OF_VERDICTS.index(self.judgement.verdict)

    def at(self, size: int) -> Judgement:
        """The verdict for one world size that was read."""
        judgement = judge({size: self.reading.exchanges[size]})
        assert judgement is not None
        return judgement


def judged_at(use: Use, context: Context) -> Judged | None:
    """The function whose first overlapping call is `use`, if there is something to say of it.

    A function that can run in several ways is reported for the worst of them. Nothing is said where the project surely has
    no NCCL group.
    """
    if use.call is None or use.kind != "call":
        return None
    return context.once(_judge_all).get(use.call)


_OTHER_CHIPS = frozenset({"torch_npu", "habana_frameworks", "torch_xla", "torch_mlu", "torch_musa"})
"""Modules that bring a backend of another chip; what a file that imports one posts is not NCCL's."""


def _is_for_other_chips(view: ModuleView) -> bool:
    imported = (binding.imported for bound in view.scopes.module.bindings.values() for binding in bound)
    return any(name is not None and name.partition(".")[0] in _OTHER_CHIPS for name in imported)


def _judge_all(context: Context) -> Mapping[ast.Call, Judged]:
    found: dict[ast.Call, Judged] = {}
    view = context.view
    elsewhere = surely_without_nccl(view, None) and "nccl" not in view.source.text.lower()
    if may_use_nccl(context.project) and not elsewhere and not _is_for_other_chips(view):
        for reading in context.project.of_view(exchanges_of, context.view):
            first = next((call for call in reading.calls if _may_overlap(context.view, call)), None)
            if first is None or (reading.unknown and not _order_may_matter(context.view, reading)):
                continue
            if _all_on_cpu(context, reading):
                continue  # gloo's, or an error of another kind
            if reading.unknown and goes_one_way(view, reading.calls):
                continue
            judged = Judged(reading, judge(reading.exchanges))
            if reading.unknown:
                word = at_their_word(context.once(_code_of), context.project, reading)
                if word.ends:
                    continue
                judged = Judged(word.reading, word.judgement, word.taken, word.why)
                first = next(call for call in word.reading.calls if _may_overlap(context.view, call))
            if first not in found or judged.urgency < found[first].urgency:
                found[first] = judged
    return found


def _code_of(context: Context) -> Code:
    return Code(context.view, context.project)


def _all_on_cpu(context: Context, reading: Reading) -> bool:
    """Whether all that is sent and received surely are tensors on the CPU."""
    view = context.view
    found: list[bool] = []
    for call in reading.calls:
        one = written_operation(view, call)
        tensor = one.arguments.get("tensor") if one is not None and not one.batched else None
        found.append(
            tensor is not None and (says_cpu(view, tensor) or made_on_cpu(view, context.project, tensor) is not None)
        )
    return all(found)


def lines_that_may_hang(view: ModuleView, project: Project) -> list[int]:
    """Lines of one file with overlapping point-to-point calls that one queue hangs, or whose order is not known."""
    calls = {use.call: use.node.lineno for use in view.uses(OVERLAPPING) if use.call is not None and use.kind == "call"}
    fine: set[ast.Call] = set()
    hanging: set[ast.Call] = set()
    for reading in project.of_view(exchanges_of, view):
        judgement = judge(reading.exchanges)
        ends = judgement is not None and judgement.verdict in {ExchangeVerdict.FINE, ExchangeVerdict.SERIALISED}
        (fine if ends else hanging).update(reading.calls)
    open_calls = {call for call in calls if not _waited_at_once(view, call)}
    return sorted(calls[call] for call in open_calls if call in hanging or call not in fine)


def _may_overlap(view: ModuleView, call: ast.Call) -> bool:
    return view.possible_name(call.func) in TARGETS


def _order_may_matter(view: ModuleView, reading: Reading) -> bool:
    """Whether a function of unknown order both sends and receives and leaves an operation open while it does more."""
    functions = {call: function_of_call(view, call) for call in reading.calls}
    sends = any(name in {"isend", "send"} for name in functions.values())
    receives = any(name in {"irecv", "recv"} for name in functions.values())
    left_open = any(name in {"isend", "irecv"} and not _waited_at_once(view, call) for call, name in functions.items())
    return sends and receives and left_open


def _waited_at_once(view: ModuleView, call: ast.Call) -> bool:
    parent = view.parent(call)
    return isinstance(parent, ast.Attribute) and parent.attr == "wait"


def sizes_words(sizes: tuple[int, ...]) -> str:
    """`3 ranks or more`, `4, 6 or 8 ranks`."""
    if sizes == tuple(range(sizes[0], _LARGEST + 1)) and len(sizes) > 1:
        return f"{sizes[0]} ranks or more"
    listed = [str(size) for size in sizes]
    return " or ".join([*([", ".join(listed[:-1])] if len(listed) > 1 else []), listed[-1]]) + " ranks"


def spans_a_collective(judgement: Judgement) -> bool:
    """Whether a hang has to do with a collective that stands between a message and its other side."""
    return any(
        operation.kind == "collective"
        for blocked in judgement.now.blocked
        for operation in (*blocked.running, *blocked.behind)
    )


def conditions(judged: Judged) -> list[str]:
    """What had to be assumed to be the same on every rank, as one sentence, or nothing."""
    return [f"Assumed: {'; '.join(judged.reading.assumed)}."] if judged.reading.assumed else []


def batching(judged: Judged, context: Context, *, proven: bool) -> tuple[Fix | None, str]:
    """The change of a function to a batch, and what there is to say about it.

    Args:
        judged: the function.
        context: the file it is in.
        proven: whether the simulation has shown that its sends and receives pair up on all ranks.
    """
    view = context.view
    calls = [call for call in judged.reading.calls if function_of_call(view, call) is not None]
    closed = proven and len(calls) == len(judged.reading.calls) and _all_take_part(judged.reading)
    plan = plan_batch(view, calls, safe=closed and not judged.reading.assumed)
    if isinstance(plan, str):
        return None, f"{plan} Put the sends and receives that belong together into one `dist.batch_isend_irecv`."
    assumptions = [*plan.assumptions, *judged.reading.assumed]
    return plan.fix, f"Needs review: {'; '.join(assumptions)}." if assumptions else ""


def _all_take_part(reading: Reading) -> bool:
    """Whether every rank sends or receives something.

    The first batch of a group makes its communicator on the engine up to torch 2.14, and so needs all of its ranks.
    """
    return all(
        any(isinstance(step, Post) and step.operations[0].kind != "collective" for step in program)
        for exchange in reading.exchanges.values()
        for program in exchange.programs
    )


def hang(
    code: str,
    severity: Severity,
    use: Use,
    judged: Judged,
    judgement: Judgement,
    context: Context,
    *,
    rewrite: bool = True,
) -> Finding:
    """The finding for a function that hangs on the new engine and, with `HUNG_BEFORE`, on the old one too.

    Args:
        rewrite: whether a batch would help.
    """
    view, size = context.view, judgement.sizes[0]
    where = f"With {sizes_words(judgement.sizes)}"
    if judged.taken:
        where = f"If {', and '.join(judged.taken)}: with {sizes_words(judgement.sizes)}"
        severity = Severity.WARNING
    if judgement.verdict is ExchangeVerdict.HANGS_NOW:
        message = (
            f"{where} this exchange hangs on the NCCL engine of torch 2.15, where all of a group runs in one queue; the old "
            "engine had one per pair of ranks."
        )
        escape = f"{ESCAPE} {LAZY}"
    else:
        message = f"{where} this exchange hangs on the NCCL engines before and since torch 2.15."
        escape = ""
    if judgement.small_messages_pass:
        message += " Small messages are buffered, so a test with small tensors passes."
    fix, words = batching(judged, context, proven=True) if rewrite else (None, _ORDER)
    advice = " ".join(filter(None, [words, *(conditions(judged) if fix is None else ()), escape]))
    notes = rank_by_rank(judgement.now, size) + (recorded_exchange(use, context) if judged.taken else ())
    return Finding(code, view.path, view.span(use.node), message, severity, advice, fix, notes=notes)
