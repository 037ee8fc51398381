"""Random programs that send and receive, for hypothesis: arithmetic on ranks, branches, loops, lists, helpers, groups."""

from __future__ import annotations

import re
from textwrap import indent

from hypothesis import strategies as st

_NAMES = ("a", "b", "c")
_HEAD = """\
import os
import torch
import torch.distributed as dist
from torch.distributed import isend, irecv as take

LIMIT = 3


def helper(first, second=2, *rest, scale=1):
    if first % 2:
        return first - second
    found = [scale * item + first for item in rest]
    return found[-1] if found else second * scale


def gone(x, peers, group=None):
    started = []
    for peer in peers:
        if peer == dist.get_rank():
            continue
        started.append(dist.isend(x, peer, group=group))
    return started


class Neighbours:
    count = 2

    def __init__(self, rank, world, step=1):
        self.rank = rank
        self.world = world
        self.step = step

    def other(self, offset):
        return (self.rank + offset * self.step) % self.world

    @property
    def last(self):
        return self.rank == self.world - 1


def program(x):
    rank, world = int(os.environ["RANK"]), dist.get_world_size()
    everyone = dist.new_group()
    even = dist.new_group([r for r in range(world) if r % 2 == 0])
    near = Neighbours(rank, world)
    add = lambda value, amount=1: value + amount + rank
    a = b = c = 0
    numbers = [rank, world]
    table = {0: rank, "w": world}
    open_ = []
    ops = []
"""


@st.composite
def numbers(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression for a number."""
    leaves = ["rank", "world", *_NAMES, "LIMIT", "len(numbers)", "table['w']", "near.count", "near.other(1)", "number"]
    if depth == 0 or draw(st.booleans()):
        leaf = draw(st.sampled_from(leaves))
        return str(draw(st.integers(-3, 5))) if leaf == "number" else leaf
    left, right = draw(numbers(depth - 1)), draw(numbers(depth - 1))
    shape = draw(
        st.sampled_from(
            [
                "({0} + {1})",
                "({0} - {1})",
                "({0} * {1})",
                "({0} // {1})",
                "({0} % {1})",
                "-{0}",
                "abs({0})",
                "min({0}, {1})",
                "max([{0}, {1}])",
                "sum([{0}, {1}])",
                "({0} ^ 1)",
                "({0} & {1})",
                "helper({0}, {1})",
                "helper({0}, {1}, rank, scale=2)",
                "helper(second={0}, first={1})",
                "({0} or {1})",
                "({0} and {1})",
                "({0} if {1} > 1 else rank)",
                "numbers[{0} % len(numbers)]",
                "table.get({0}, {1})",
                "divmod({0}, 3)[1]",
                "(lambda value: value + {0})({1})",
                "add({0})",
                "add({0}, amount={1})",
                "sum(r for r in range({0}) if r != {1})",
                "len([r for r in range(world) for s in range(r) if s + {0} > {1}])",
                "int({0} < {1})",
                "round({0} / 2)",
                "near.other({0})",
            ]
        )
    )
    return shape.format(left, right)


@st.composite
def tests(draw: st.DrawFn, depth: int = 1) -> str:
    """A condition."""
    left, right = draw(numbers(1)), draw(numbers(1))
    shapes = [
        "{0} == {1}",
        "{0} < {1}",
        "{0} <= {1} < 4",
        "{0} in numbers",
        "rank % 2 == 0",
        "rank > 0",
        "rank != world - 1",
    ]
    shapes += [
        "near.last",
        "({0}) + 0 is not None",
        "any(n == {0} for n in numbers)",
        "isinstance({0}, int)",
        "numbers",
        "not open_",
    ]
    shape = draw(st.sampled_from(shapes)).format(left, right)
    if depth and draw(st.booleans()):
        other = draw(tests(depth - 1))
        shape = draw(st.sampled_from(["({0} and {1})", "({0} or {1})", "not ({0})"])).format(shape, other)
    return shape


@st.composite
def statements(draw: st.DrawFn, depth: int, in_loop: bool = False) -> str:
    """One statement, or a few that belong together."""
    kinds = [
        "assign",
        "augment",
        "swap",
        "walrus",
        "list",
        "append",
        "change",
        "table",
        "send",
        "send",
        "receive",
        "batch",
        "wait",
        "drain",
    ]
    kinds += ["collective", "blocking", "grouped", "sent", "even"]
    if depth:
        kinds += ["if", "if", "if", "for", "for", "while", "try", "nested", "return", "with"]
    if in_loop:
        kinds += ["break", "continue"]
    kind = draw(st.sampled_from(kinds))
    name = draw(st.sampled_from(_NAMES))
    number = draw(numbers())
    peer = draw(st.sampled_from(["(rank + 1) % world", "(rank - 1) % world", "world - 1 - rank", f"{number} % world"]))
    group = draw(st.sampled_from(["", ", group=everyone", ", None"]))
    guard = f"if {peer} != rank:\n    " if draw(st.integers(0, 9)) else ""
    match kind:
        case "assign":
            return f"{name} = {number} % 7"
        case "augment":
            return f"{name} {draw(st.sampled_from(['+=', '-=', '//=', '%=']))} {number}\n{name} %= 9"
        case "walrus":
            return f"if ({name} := {number} % 5) > 1:\n    numbers = [v for n in numbers if (v := n % 6) != 2] + [rank]"
        case "swap":
            return "a, b = b, a\n(c, *numbers) = [rank, *numbers[:5]]"
        case "list":
            test = draw(tests())
            return f"{name} = 6\nnumbers = [{name} + rank for {name} in range({number} % 5) if {test}] or [1]"
        case "append":
            return f"numbers.append({number})\nnumbers = numbers[-{draw(st.integers(1, 4))}:]"
        case "change":
            return draw(st.sampled_from(["numbers[0] = {0}", "numbers.insert(1, {0})", "numbers += [{0}]", "numbers = sorted(numbers)[:4]", "numbers = list(reversed(numbers))"])).format(number)  # fmt: skip
        case "table":
            return (
                f"table[{number} % 3] = {draw(numbers(1))}\n{name} = sum(v for k, v in table.items() if k != 'w') % 5"
            )
        case "send":
            return f"{guard}open_.append(dist.isend(x, {peer}{group}))"
        case "receive":
            return f"{guard}open_.append(take(x, {peer}{group}))"
        case "batch":
            kind = draw(st.sampled_from(["dist.isend", "take"]))
            more = f"{guard}ops.append(dist.P2POp({kind}, x, {peer}))"
            return f"{more}\nif ops:\n    for request in dist.batch_isend_irecv(ops):\n        request.wait()\n    ops = []"
        case "wait":
            return "if open_:\n    open_.pop(0).wait()"
        case "drain":
            return "for request in open_:\n    request.wait()\nopen_.clear()"
        case "collective":
            return draw(
                st.sampled_from(
                    ["dist.all_reduce(x)", "open_.append(dist.all_reduce(x, async_op=True))", "dist.barrier(everyone)"]
                )
            )
        case "blocking":
            return f"{guard}dist.{draw(st.sampled_from(['send', 'recv']))}(x, {peer})"
        case "grouped":
            return (
                "if dist.get_rank(even) >= 0 and dist.get_world_size(even) > 1:\n"
                "    other = (dist.get_rank(even) + 1) % even.size()\n"
                "    open_.append(dist.isend(x, group=even, group_dst=other))\n"
                "    open_.append(dist.irecv(x, dist.get_global_rank(even, other), even))"
            )
        case "even":
            return "dist.all_reduce(x, group=even)"
        case "sent":
            return f"open_ += gone(x, [r for r in range(world) if r != {number}])"
        case "break" | "continue":
            return f"if {draw(tests())}:\n    {kind}"
        case "return":
            return f"if {draw(tests(0))}:\n    return"
        case "with":
            return "with open(os.devnull) as file:\n" + indent(draw(blocks(depth - 1, in_loop)), "    ")
        case "if":
            text = f"if {draw(tests())}:\n" + indent(draw(blocks(depth - 1, in_loop)), "    ")
            if draw(st.booleans()):
                text += f"\nelif {draw(tests())}:\n" + indent(draw(blocks(depth - 1, in_loop)), "    ")
            if draw(st.booleans()):
                text += "\nelse:\n" + indent(draw(blocks(depth - 1, in_loop)), "    ")
            return text
        case "for":
            head = draw(
                st.sampled_from(
                    [
                        "for a in range({0} % 4):",
                        "for b in range(world):",
                        "for i, c in enumerate(numbers[:4]):",
                        "for a, b in zip(numbers[:3], range(world)):",
                        "for a in reversed(range(3)):",
                        "for b in sorted({{rank, world, 1}}):",
                        "for c in (rank, -1, world):",
                        "for c in [n for n in range(world) if n != rank]:",
                    ]
                )
            ).format(number)
            tail = f"\nelse:\n    {name} = 1" if draw(st.booleans()) else ""
            return f"{head}\n" + indent(draw(blocks(depth - 1, True)), "    ") + tail
        case "while":
            body = indent(draw(blocks(depth - 1, True)), "    ")
            return f"left = {number} % 4\nwhile left > 0:\n    left -= 1\n{body}"
        case "try":
            return f"try:\n{indent(draw(blocks(depth - 1, in_loop)), '    ')}\nfinally:\n    {name} = 2"
        case _:
            return f"def inner(value, {name}={number}):\n    return value + {name} + rank\n{name} = inner({name}) % 6"


@st.composite
def blocks(draw: st.DrawFn, depth: int, in_loop: bool = False) -> str:
    """A few statements."""
    return "\n".join(draw(st.lists(statements(depth, in_loop), min_size=1, max_size=4)))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The source of a module whose function `program(x)` sends and receives."""
    return draw(_whole_programs())


@st.composite
def open_programs(draw: st.DrawFn) -> str:
    """The same with a number `k` that nobody knows, in a few places."""
    source = draw(_whole_programs()).replace("def program(x):", "def program(x, k):")
    head, body = source[: len(_HEAD) + 3], source[len(_HEAD) + 3 :]
    places = [found.start() for found in re.finditer(r"\b(?:[abc]|world|-?\d)\b(?! =| [+%/-]+=|,| in )", body)]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True)) if places else []
    for place in sorted(chosen, reverse=True):
        body = body[:place] + re.sub(r"^(?:-?\d|\w+)", "k", body[place:])
    return head + body


@st.composite
def _whole_programs(draw: st.DrawFn) -> str:
    ending = "for request in open_:\n    request.wait()" if draw(st.booleans()) else "pass"
    body = "\n".join([draw(blocks(2)), draw(blocks(2)), ending])
    return _HEAD + indent(body, "    ") + "\n"
