"""What the order of sends and receives tells, whatever else of an exchange is unknown."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.distributed.p2p.calls import RECV_PARAMETERS, SEND_PARAMETERS
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name

_RANK = lazy_pattern(r"(?:[\w.]*\.)?(?:get_)?(?:\w+_)?rank(?:\(\))?")
_SENDS = {"send": True, "isend": True, "recv": False, "irecv": False}


def goes_one_way(view: ModuleView, calls: Sequence[ast.Call]) -> bool:
    """Whether all messages go from one rank to one other, each under a test for that rank: both post them in one order; or
    from one rank to all others, or back; or between all pairs in turn, the lower rank of each first."""
    if _is_star(view, calls) or _is_pair_by_pair(view, calls):
        return True
    sides: set[tuple[int, bool, int]] = set()
    for call in calls:
        name = last_name(call.func)
        rank = _rank_of(view, call)
        if name not in _SENDS or rank is None:
            return False
        arguments = named_arguments(call, SEND_PARAMETERS if _SENDS[name] else RECV_PARAMETERS) or {}
        peer = arguments.get("dst" if _SENDS[name] else "src")
        if not isinstance(peer, ast.Constant) or type(peer.value) is not int:
            return False
        sides.add((rank, _SENDS[name], peer.value))
    match sorted(sides, key=lambda side: not side[1]):
        case [(sender, True, to), (receiver, False, source)]:
            return (sender, receiver) == (source, to) and sender != receiver
        case _:
            return False


def _is_star(view: ModuleView, calls: Sequence[ast.Call]) -> bool:
    """Whether under one `if rank == src:` all is sent and behind its `else` all is received from `src`, or the other way round."""
    choices: set[ast.If] = set()
    directions: dict[bool, set[bool]] = {True: set(), False: set()}
    for call in calls:
        name = last_name(call.func)
        found = _choice_around(view, call)
        if name not in _SENDS or found is None:
            return False
        choice, one, inside = found
        choices.add(choice)
        directions[inside].add(_SENDS[name])
        if not (peer := _peer(call)) or (not inside and peer != one):
            return False
    return len(choices) == 1 and sorted(map(list, directions.values())) == [[False], [True]]


def _is_pair_by_pair(view: ModuleView, calls: Sequence[ast.Call]) -> bool:
    """Whether every rank goes through its peers upwards, and under `if rank < peer:` sends before it receives, else after it.

    Pairs come in one order everywhere then, and what one side of a pair posts first meets the first of the other, as long as as
    many messages are received as were sent.
    """
    choices = {_comparison_around(view, call) for call in calls}
    choice = choices.pop() if len(choices) == 1 else None
    loop = view.parent(choice) if choice is not None else None
    if choice is None or not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    upwards = isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range" and len(loop.iter.args) < 3
    peers = {loop.target.id}
    for statement in loop.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = statement.value
            if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("get_global_rank"):
                peers |= {statement.targets[0].id} if ast.unparse(value.args[-1]) in peers else set()
    orders: list[list[bool]] = []
    for branch in (choice.body, choice.orelse):
        inside = [call for call in calls if any(one in (call, *view.ancestors(call)) for one in branch)]
        names = [last_name(call.func) for call in sorted(inside, key=lambda one: one.lineno)]
        if not all(name in _SENDS for name in names) or not all(_peer(call) in peers for call in inside):
            return False
        turns = [_SENDS[name] for name in names]
        orders.append([turn for number, turn in enumerate(turns) if not number or turn is not turns[number - 1]])
    return upwards and sorted(orders) == [[False, True], [True, False]]


def _comparison_around(view: ModuleView, call: ast.Call) -> ast.If | None:
    """The `if rank < peer:` around a call, whichever way it is written."""
    for above in view.ancestors(call):
        if isinstance(above, ast.If) and isinstance(above.test, ast.Compare) and len(above.test.ops) == 1:
            sides = (above.test.left, above.test.comparators[0])
            if isinstance(above.test.ops[0], (ast.Lt, ast.Gt)) and any(
                _RANK.fullmatch(ast.unparse(one)) for one in sides
            ):
                return above
    return None


def _peer(call: ast.Call) -> str:
    name = last_name(call.func)
    arguments = named_arguments(call, SEND_PARAMETERS if _SENDS[name] else RECV_PARAMETERS) or {}
    peer = arguments.get("dst" if _SENDS[name] else "src")
    return ast.unparse(peer) if peer is not None else ""


def _choice_around(view: ModuleView, call: ast.Call) -> tuple[ast.If, str, bool] | None:
    """The `if rank == src:` around a call, what the rank is compared with, and whether the call stands in its body."""
    for child, above in view.upwards(call):
        if isinstance(above, ast.If) and child is not above.test:
            match above.test:
                case ast.Compare(left=left, ops=[ast.Eq()], comparators=[one]) if _RANK.fullmatch(ast.unparse(left)):
                    return above, ast.unparse(one), any(child is statement for statement in above.body)
    return None


def sends_first(view: ModuleView, calls: Sequence[ast.Call]) -> bool:
    """Whether a function posts a single send before it receives anything, whichever rank runs it."""
    names = [call.func.attr if isinstance(call.func, ast.Attribute) else "" for call in calls]
    if names[:1] != ["isend"] or not {"irecv", "recv"} & set(names):
        return False
    tests = [above.test for call in calls for above in view.ancestors(call) if isinstance(above, (ast.If, ast.IfExp))]
    return not any("rank" in ast.unparse(test) or "%" in ast.unparse(test) for test in tests)


def _rank_of(view: ModuleView, call: ast.Call) -> int | None:
    """The rank that alone runs a call, by the `if rank == 0:` around it."""
    for child, above in view.upwards(call):
        if isinstance(above, ast.If) and any(child is statement for statement in above.body):
            match above.test:
                case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=int(rank))]):
                    if _RANK.fullmatch(ast.unparse(left)):
                        return rank
    return None
