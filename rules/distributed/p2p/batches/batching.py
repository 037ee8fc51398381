"""The rewrite of unbatched point-to-point operations into one `batch_isend_irecv`.

`h = dist.isend(t, dst=p)` becomes `h = dist.P2POp(dist.isend, t, peer=p)` where it stands, so everything is evaluated in the
old order; the operations are posted together where the last one was (or where the first wait is, if nothing happens in
between), and one loop takes the place of the first wait. All other waits go: waiting twice for a request of gloo hangs
(measured, torch 2.13 and 2.15).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Fix,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.distributed.p2p.batches.batch_surroundings import Surroundings
from torchlift.rules.distributed.p2p.batches.requests import (
    PlacedOperation,
    Refused,
    RequestReader,
    Waits,
    statement_of,
)
from torchlift.rules.distributed.p2p.calls import POINT_TO_POINT
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk

_RENAMED = {"dst": "peer", "src": "peer", "group_dst": "group_peer", "group_src": "group_peer"}
_DIRECTIVES = lazy_pattern(r"#\s*(?:noqa|type:|pylint:|fmt:|pragma|mypy:|pyright:)", re.IGNORECASE)
CLOSED = (
    "every rank of the group has to run this exchange, with at least one operation, and every send in it has to be received "
    "in it"
)
"""What `plan_batch` assumes unless the caller has checked it."""


@dataclass(frozen=True)
class BatchPlan:
    """How an exchange is batched.

    Attributes:
        fix: the rewrites; safe if nothing is assumed.
        assumptions: clauses for "Needs review: ...".
    """

    fix: Fix
    assumptions: tuple[str, ...]


def plan_batch(
    view: ModuleView, calls: Sequence[ast.Call], *, safe: bool = False, gloo: bool = False
) -> BatchPlan | str:
    """How the operations of one exchange are batched, or the sentence why they are not.

    Args:
        view: the file.
        calls: every `isend`, `irecv` and blocking `recv` of the exchange, or of exchanges that follow each other, all in
            one function.
        safe: whether the caller knows, from running the exchange for several numbers of ranks, that every send among
            `calls` meets a receive among `calls` and the other way round, and that every rank of the group that gets there
            posts at least one of them. Otherwise it is assumed, and the fix needs review.
        gloo: whether the group surely is on gloo, which is the only backend that keeps tags apart.
    """
    ordered = sorted(dict.fromkeys(calls), key=lambda call: (call.lineno, call.col_offset))
    try:
        return _Rewriting(view, ordered, gloo).plan(safe)
    except Refused as refusal:
        reason = f"Not rewritten: {refusal}"
    parts = _one_after_the_other(view, ordered)
    if len(parts) < 2 or len({view.function_of(call) for call in ordered}) != 1:
        return reason
    # Several exchanges, each waited for before the next: all of them become batches, or none does.
    try:
        plans = [_Rewriting(view, part, gloo).plan(safe) for part in parts]
    except Refused:
        return reason
    rewrites = dict.fromkeys(rewrite for plan in plans for rewrite in plan.fix.rewrites)
    assumptions = tuple(dict.fromkeys(assumption for plan in plans for assumption in plan.assumptions))
    safety = Safety.UNSAFE if assumptions else Safety.SAFE
    return BatchPlan(Fix("Post the operations of each exchange as one batch", safety, tuple(rewrites)), assumptions)


def _one_after_the_other(view: ModuleView, calls: Sequence[ast.Call]) -> list[list[ast.Call]]:
    """The calls of one function, parted where a request is waited for before the next operation, and by block."""
    parts: list[list[ast.Call]] = []
    waited: list[int] = []
    for call in calls:
        block = view.block(view.statement(call))
        joins = bool(parts) and view.block(view.statement(parts[-1][0])) is block
        if not joins or min(waited, default=call.lineno) < call.lineno:
            parts.append([])
            waited = []
        parts[-1].append(call)
        parent = view.parent(call)
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            binding = view.bound_by(parent.targets[0])
            waited += [read.lineno for read, _ in view.reads_of(binding)] if binding is not None else []
    return parts


class _Rewriting:
    def __init__(self, view: ModuleView, calls: list[ast.Call], gloo: bool) -> None:
        self.view = view
        self.uses = {use.call: use for use in view.uses(POINT_TO_POINT) if use.call is not None}
        self.reader = RequestReader(view)
        self.operations = self.reader.read(calls, gloo)
        self.calls = calls
        self.around = Surroundings(view, self.operations)
        self.rewrites: dict[Rewrite, None] = {}

    def plan(self, safe: bool) -> BatchPlan:
        if any(call not in self.uses for call in self.calls):
            raise Refused("an operation is reached through another file of the project.")
        self.around.check_operations()
        blocking = [operation for operation in self.operations if operation.function == "recv"]
        waits = self.reader.waits()
        self.around.check_branches(waits.block)
        tops = [statement_of(self.view, operation.statement, waits.block) for operation in self.operations]
        self.around.check_before_last(waits.block, tops, blocking)
        if waits.requests is not None or waits.looped is not None:
            self._write_loop(waits, tops)
        else:
            self._write_singles(waits, tops, blocking)
        assumptions = (*(() if safe else (CLOSED,)), *self.around.assumptions)
        fix = Fix(
            "Post the operations as one batch", Safety.UNSAFE if assumptions else Safety.SAFE, tuple(self.rewrites)
        )
        return BatchPlan(fix, assumptions)

    def _spell(self, name: str, at: ast.AST, like: Use | None = None) -> str:
        spelling = self.view.spell(name, at, like or self.uses[self.calls[0]])
        if spelling is None:
            raise Refused(f"how `{name}` is spelled here is not certain.")
        self._add(*spelling.imports)
        return spelling.text

    def _add(self, *rewrites: Rewrite) -> None:
        self.rewrites.update(dict.fromkeys(rewrites))

    def _write_operation(self, one: PlacedOperation, outer: str | None = None) -> None:
        view, call = self.view, one.call
        use = self.uses[call]
        op = self._spell("torch.distributed.irecv", call, use) if one.function == "recv" else view.text(call.func)
        written = {keyword.arg for keyword in call.keywords}
        self._add(
            EditCall(
                view.span(call),
                function=Template(self._spell("torch.distributed.P2POp", call, use)),
                callee=view.span(call.func),
                rename=tuple((old, new) for old, new in _RENAMED.items() if old in written),
                first=Template(op),
                outer=outer,
            )
        )

    def _write_singles(self, waits: Waits, tops: list[ast.stmt], blocking: list[PlacedOperation]) -> None:
        view, block, singles = self.view, waits.block, waits.singles
        last = block.index(tops[-1])
        places = [block.index(wait) for wait in singles]
        if min(places) < last:
            raise Refused("a request is waited for before the last operation is posted.")
        first = singles[places.index(min(places))]
        names: list[str] = []
        taken: set[str] = set()
        for one in self.operations:
            if one.handle is not None:
                names.append(one.handle.name)
                self._write_operation(one)
            else:
                name = self._fresh("receiving", taken)
                names.append(name)
                self._write_operation(one, outer=f"{name} = $call")
        if len(set(names)) != len(names):
            raise Refused("one name is bound to several requests.")
        self._annotations()
        here = tops[-1] if blocking else first
        batch = f"{self._spell('torch.distributed.batch_isend_irecv', here)}([{', '.join(names)}])"
        request = self._fresh("req", taken)
        if blocking:
            self.around.check_waiting((), block[last + 1 : max(places)], singles)
            self._own_lines(tops[-1])
            self._own_lines(blocking[0].statement)
            lines = (
                f"for {request} in {batch}:",
                f"{self.view.step_of_indentation(self.view.statement(here))}{request}.wait()",
            )
            self._add(InsertStatements(view.span(tops[-1]), lines))
            self._delete(singles)
            return
        if self.around.check_waiting(block[last + 1 : min(places)], block[min(places) + 1 : max(places) + 1], singles):
            source = batch
        else:
            source = self._fresh("requests", taken)
            self._own_lines(tops[-1])
            self._add(InsertStatements(view.span(tops[-1]), (f"{source} = {batch}",)))
        self._own_lines(first, singles)
        lines = (
            f"for {request} in {source}:",
            f"{self.view.step_of_indentation(self.view.statement(here))}{request}.wait()",
        )
        self._add(InsertStatements(view.span(first), lines))
        self._add(DeleteStatement(view.span(first)))
        self._delete([wait for wait in singles if wait is not first])

    def _write_loop(self, waits: Waits, tops: list[ast.stmt]) -> None:
        view, block = self.view, waits.block
        assert waits.loop is not None and waits.looped is not None
        last, place = block.index(tops[-1]), block.index(waits.loop)
        if place <= last:
            raise Refused("the requests are waited for before the last operation is posted.")
        for one in self.operations:
            self._write_operation(one)
        self._annotations(waits.requests)
        batch = self._spell("torch.distributed.batch_isend_irecv", waits.looped)
        quiet = self.around.check_waiting(block[last + 1 : place], (), ())
        if waits.requests is None:
            names = [one.handle.name for one in self.operations if one.handle is not None]
            text = f"{batch}([{', '.join(names)}])"
        else:
            never_empty = any(one.statement is top for one, top in zip(self.operations, tops, strict=True))
            text = f"{batch}({waits.requests.name})"
            if not never_empty and not (waits.guarded and quiet):
                text += f" if {waits.requests.name} else []"
                if quiet and isinstance(view.parent(waits.looped), ast.comprehension):
                    text = f"({text})"
        if quiet:
            self._add(ReplaceExpression(view.span(waits.looped), Template(text), bare=True))
            return
        source = self._fresh("works", set())
        self._own_lines(tops[-1])
        self._add(InsertStatements(view.span(tops[-1]), (f"{source} = {text}",)))
        self._add(ReplaceExpression(view.span(waits.looped), Template(source)))

    def _annotations(self, requests: Binding | None = None) -> None:
        """`Work` in the annotations of names that now hold operations becomes `P2POp`."""
        bound = [one.handle for one in self.operations if one.handle is not None] + ([requests] if requests else [])
        for binding in bound:
            if isinstance(binding.statement, ast.AnnAssign):
                for node in self._works(binding.statement.annotation):
                    self._add(
                        ReplaceExpression(self.view.span(node), Template(self._spell("torch.distributed.P2POp", node)))
                    )

    def _works(self, annotation: ast.expr) -> Iterator[ast.expr]:
        for node in walk(annotation):
            if isinstance(node, ast.expr) and self.view.possible_name(node) == "torch.distributed.Work":
                yield node

    def _fresh(self, base: str, taken: set[str]) -> str:
        """A name that the function does not use for anything yet."""
        function = self.view.function_of(self.calls[0])
        assert function is not None
        for node in walk(function):
            match node:
                case ast.Name(id="locals" | "vars" | "eval" | "exec" as name):
                    raise Refused(f"`{name}` may look at the names of the function.")
                case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                    taken.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    taken.add(name)
                case ast.alias():
                    taken.add((node.asname or node.name).partition(".")[0])
                case _:
                    pass
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        return name

    def _own_lines(self, statement: ast.stmt, others: Sequence[ast.stmt] = ()) -> None:
        """Refuse a statement that shares its lines with other code than `others`."""
        view, source = self.view, self.view.source
        span = view.span(statement)
        start = source.line_starts[source.location(span.start)[0] - 1]
        end_line = source.location(span.end)[0]
        end = source.line_starts[end_line] if end_line < len(source.line_starts) else len(source.text)
        before, after = source.text[start : span.start], source.text[span.end : end]
        for other in others:
            if other is not statement and span.end <= view.span(other).start < end:
                after = after.replace(view.text(other), "")
        after = after.strip("; \t\f\r\n")
        if before.strip() or (after and not after.startswith("#")):
            raise Refused(f"line {statement.lineno} holds other code too.")

    def _delete(self, statements: Sequence[ast.stmt]) -> None:
        """Remove waits; what a comment behind one of them says stays."""
        source = self.view.source
        for statement in statements:
            span = self.view.span(statement)
            line = source.location(span.end)[0]
            end = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
            behind = source.text[span.end : end].strip()
            alone = not source.text[source.line_starts[line - 1] : span.start].strip()
            if alone and behind.startswith("#") and not _DIRECTIVES.match(behind):
                self._add(InsertStatements(span, (behind,), "before"))
            self._add(DeleteStatement(span))
