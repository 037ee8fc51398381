"""Runs a program that uses torch.distributed as one rank, on stand-ins that write down what is posted and waited for."""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from torchlift.rules.distributed.p2p.program import Operation, Post, RankProgram, Wait

_MOST_LINES = 100_000


class _Tensor:
    """Takes part in anything without having a value."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **keywords: self

    def __getitem__(self, index: object) -> _Tensor:
        return self

    def __setitem__(self, index: object, value: object) -> None:
        pass


class _Work:
    def __init__(self, recorder: Recorder, number: int) -> None:
        self.recorder = recorder
        self.number = number
        self.waited = False

    def wait(self) -> None:
        if not self.waited:
            self.waited = True
            self.recorder.program.append(Wait(self.number, 0))


class _Group:
    def __init__(self, members: tuple[int, ...], rank: int) -> None:
        self.members = members
        self._rank = rank

    def rank(self) -> int:
        return self.members.index(self._rank) if self._rank in self.members else -1

    def size(self) -> int:
        return len(self.members) if self._rank in self.members else -1


class _P2POp:
    def __init__(
        self, recorder: Recorder, op: Any, peer: int | None, group: _Group | None, group_peer: int | None
    ) -> None:
        self.kind = op.__name__.removeprefix("i")
        self.members = recorder.members(group)
        if recorder.rank not in self.members:
            raise ValueError("not in the group")
        self.peer = recorder.peer(peer, group_peer, self.members, batched=True)


class Recorder:
    """torch.distributed for one rank of a world that consists of nobody else.

    Groups are told apart by their members, lines are 0.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        self.world = tuple(range(size))
        self.program: list[Post | Wait] = []
        self.works = 0

    def module(self) -> ModuleType:
        """The stand-in for the module."""
        module = ModuleType("torch.distributed")
        for name in dir(Recorder):
            if name.startswith("do_"):
                setattr(module, name[3:], getattr(self, name))
        module.isend, module.irecv = self._named("isend"), self._named("irecv")  # type: ignore[attr-defined]
        return module

    def _named(self, name: str) -> Any:
        bound = getattr(self, f"post_{name}")

        def call(*arguments: Any, **keywords: Any) -> Any:
            return bound(*arguments, **keywords)

        call.__name__ = name
        return call

    def members(self, group: _Group | None) -> tuple[int, ...]:
        return self.world if group is None else group.members

    def peer(self, given: int | None, relative: int | None, members: tuple[int, ...], *, batched: bool = False) -> int:
        if given is None:
            assert relative is not None
            if not 0 <= relative < len(members):
                raise ValueError("no such member")
            given = members[relative]
        if given not in members or (given == self.rank and not batched):
            raise ValueError("no such peer")
        return given

    def post(self, operations: list[tuple[str, tuple[int, ...], int]], batched: bool = False) -> _Work:
        found = tuple(Operation(kind, str(members), 0, peer) for kind, members, peer in operations)  # type: ignore[arg-type]
        self.program.append(Post(found, self.works, batched))
        self.works += 1
        return _Work(self, self.works - 1)

    def post_isend(
        self,
        tensor: object,
        dst: int | None = None,
        group: _Group | None = None,
        tag: int = 0,
        group_dst: int | None = None,
    ) -> _Work | None:
        members = self.members(group)
        if self.rank not in members:
            return None
        return self.post([("send", members, self.peer(dst, group_dst, members))])

    def post_irecv(
        self,
        tensor: object,
        src: int | None = None,
        group: _Group | None = None,
        tag: int = 0,
        group_src: int | None = None,
    ) -> _Work | None:
        members = self.members(group)
        if self.rank not in members:
            return None
        return self.post([("recv", members, self.peer(src, group_src, members))])

    def do_send(self, *arguments: Any, **keywords: Any) -> None:
        work = self.post_isend(*arguments, **keywords)
        if work is not None:
            work.wait()

    def do_recv(self, *arguments: Any, **keywords: Any) -> int | None:
        work = self.post_irecv(*arguments, **keywords)
        if work is None:
            return None
        work.wait()
        return self._last_peer()

    def _last_peer(self) -> int:
        post = next(step for step in reversed(self.program) if isinstance(step, Post))
        return post.operations[0].peer

    def _collective(self, group: _Group | None, async_op: bool) -> _Work | None:
        members = self.members(group)
        if self.rank not in members:
            return None
        work = self.post([("collective", members, -1)])
        if async_op:
            return work
        work.wait()
        return None

    def do_all_reduce(
        self, tensor: object, op: object = None, group: _Group | None = None, async_op: bool = False
    ) -> _Work | None:
        return self._collective(group, async_op)

    def do_barrier(self, group: _Group | None = None, async_op: bool = False) -> _Work | None:
        return self._collective(group, async_op)

    def do_broadcast(
        self, tensor: object, src: int, group: _Group | None = None, async_op: bool = False
    ) -> _Work | None:
        return self._collective(group, async_op)

    def do_P2POp(
        self,
        op: Any,
        tensor: object,
        peer: int | None = None,
        group: _Group | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> _P2POp:
        return _P2POp(self, op, peer, group, group_peer)

    def do_batch_isend_irecv(self, operations: list[_P2POp]) -> list[_Work]:
        if not operations:
            raise IndexError
        if len({operation.members for operation in operations}) > 1:
            raise ValueError
        return [self.post([(o.kind, o.members, o.peer) for o in operations], True)] * len(operations)

    def do_get_rank(self, group: _Group | None = None) -> int:
        return self.rank if group is None else group.rank()

    def do_get_world_size(self, group: _Group | None = None) -> int:
        return len(self.world) if group is None else group.size()

    def do_new_group(self, ranks: list[int] | None = None, **keywords: Any) -> _Group:
        chosen = self.world if ranks is None else tuple(sorted(ranks))
        if not set(chosen) <= set(self.world):
            raise RuntimeError
        return _Group(chosen, self.rank)

    def do_get_process_group_ranks(self, group: _Group | None = None) -> list[int]:
        return list(self.members(group))

    def do_get_global_rank(self, group: _Group, group_rank: int) -> int:
        members = self.members(group)
        if not 0 <= group_rank < len(members):
            raise ValueError
        return members[group_rank]

    def do_get_group_rank(self, group: _Group, global_rank: int) -> int:
        return self.members(group).index(global_rank)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    old = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Endless(BaseException):
    """A program has run more lines than any that ends."""


@contextmanager
def _limited() -> Iterator[None]:
    """Stop a program that does not end: an inner loop may count the outer one's counter up again."""
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != "program.py":
            return None
        lines += event == "line"
        if lines > _MOST_LINES:
            raise _Endless
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def recorded(source: str, entry: str, rank: int, size: int, *arguments: object) -> RankProgram | None:
    """What one rank does when it runs `entry(tensor, *arguments)` of a module with this source.

    None if that raises an exception or does not come to an end.
    """
    recorder = Recorder(rank, size)
    distributed = recorder.module()
    torch = ModuleType("torch")
    torch.distributed = distributed  # type: ignore[attr-defined]
    torch.empty_like = torch.zeros = torch.empty = lambda *a, **k: _Tensor()  # type: ignore[attr-defined]

    def import_(
        name: str, globals_: Any = None, locals_: Any = None, fromlist: tuple[str, ...] = (), level: int = 0
    ) -> ModuleType:
        if name == "torch":
            return torch
        if name == "torch.distributed":
            return distributed if fromlist else torch
        return builtins.__import__(name, globals_, locals_, fromlist, level)

    names: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": import_}, "__name__": "program"}
    with _environment({"RANK": str(rank), "WORLD_SIZE": str(size)}):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # `0 is not None` is odd, and may be read all the same
                code = compile(source, "program.py", "exec")
            with _limited():
                exec(code, names)  # the source is the test's own
                names[entry](_Tensor(), *arguments)
        except _Endless:
            return None
        except (ValueError, IndexError, KeyError, TypeError, ZeroDivisionError, AssertionError, RuntimeError):
            return None
    return tuple(recorder.program)
