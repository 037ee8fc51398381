"""What one rank does with torch.distributed: the groups it makes, and what it posts and waits for, in order.

Sources: signatures and behaviour of `torch/distributed/distributed_c10d.py` of the torch 2.13.0 wheel, read 2026-11-21.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.distributed.groups.group_identity import says_without_nccl
from torchlift.rules.distributed.p2p.calls import OP_PARAMETERS, RECV_PARAMETERS, SEND_PARAMETERS
from torchlift.rules.distributed.p2p.interpreter.operators import Unworkable, elements
from torchlift.rules.distributed.p2p.interpreter.values import (
    Coalescing,
    CodeRaises,
    External,
    Handle,
    Level,
    Open,
    ProcessGroup,
    Unknown,
    Value,
    unknown_in,
)
from torchlift.rules.distributed.p2p.program import Operation, Post, Wait

MOST_OPERATIONS = 512
"""A rank that posts more is not read any further."""

_POINT_TO_POINT = ("isend", "irecv", "send", "recv", "send_object_list", "recv_object_list")
_BATCHES = ("batch_isend_irecv", "P2POp")

COLLECTIVES: Mapping[str, tuple[str, ...]] = {
    "all_gather": ("tensor_list", "tensor", "group", "async_op"),
    "all_gather_coalesced": ("output_tensor_lists", "input_tensor_list", "group", "async_op"),
    "all_gather_into_tensor": ("output_tensor", "input_tensor", "group", "async_op"),
    "_all_gather_base": ("output_tensor", "input_tensor", "group", "async_op"),
    "all_gather_object": ("object_list", "obj", "group"),
    "all_reduce": ("tensor", "op", "group", "async_op"),
    "all_reduce_coalesced": ("tensors", "op", "group", "async_op"),
    "all_to_all": ("output_tensor_list", "input_tensor_list", "group", "async_op"),
    "all_to_all_single": ("output", "input", "output_split_sizes", "input_split_sizes", "group", "async_op"),
    "barrier": ("group", "async_op", "device_ids"),
    "broadcast": ("tensor", "src", "group", "async_op", "group_src"),
    "broadcast_object_list": ("object_list", "src", "group", "device", "group_src"),
    "gather": ("tensor", "gather_list", "dst", "group", "async_op", "group_dst"),
    "gather_object": ("obj", "object_gather_list", "dst", "group", "group_dst"),
    "monitored_barrier": ("group", "timeout", "wait_all_ranks"),
    "reduce": ("tensor", "dst", "op", "group", "async_op", "group_dst"),
    "reduce_scatter": ("output", "input_list", "op", "group", "async_op"),
    "reduce_scatter_tensor": ("output", "input", "op", "group", "async_op"),
    "_reduce_scatter_base": ("output", "input", "op", "group", "async_op"),
    "scatter": ("tensor", "scatter_list", "src", "group", "async_op", "group_src"),
    "scatter_object_list": ("scatter_object_output_list", "scatter_object_input_list", "src", "group", "group_src"),
}
"""What every member of a group takes part in: the parameters up to the last one that is looked at, group and async_op."""

GROUP_QUERIES: Mapping[str, tuple[str, ...]] = {
    "get_rank": ("group",),
    "get_world_size": ("group",),
    "get_backend": ("group",),
    "get_process_group_ranks": ("group",),
    "get_global_rank": ("group", "group_rank"),
    "_get_global_rank": ("group", "group_rank"),
    "get_group_rank": ("group", "global_rank"),
}
"""What answers from what is known about a group."""

NEW_GROUPS: Mapping[str, tuple[str, ...]] = {
    "new_group": ("ranks", "timeout", "backend", "pg_options", "use_local_synchronization"),
    "new_subgroups": ("group_size", "group"),
    "new_subgroups_by_enumeration": ("ranks_per_subgroup_list",),
}
"""What makes groups."""

_QUIET = frozenset(
    """init_process_group destroy_process_group is_available is_initialized is_nccl_available is_gloo_available
    is_mpi_available is_torchelastic_launched get_node_local_rank get_default_backend_for_device set_timeout
    set_debug_level get_debug_level get_debug_level_from_env default_pg_timeout is_backend_available get_pg_count supports_complex
    is_ucc_available is_xccl_available get_backend_config abort_process_group Backend ReduceOp reduce_op TCPStore FileStore
    HashStore PrefixStore Store Work ProcessGroup ProcessGroupNCCL ProcessGroupGloo DeviceMesh init_device_mesh group
    GroupMember constants rpc tensor device_mesh fsdp checkpoint elastic launcher run""".split()
)
_WORLDS = frozenset(
    f"torch.distributed.{name}"
    for name in ("group.WORLD", "GroupMember.WORLD", "_get_default_group()", "_world.default_pg")
)
_NO_MEMBER = frozenset(
    f"torch.distributed.{name}" for name in ("GroupMember.NON_GROUP_MEMBER", "group.NON_GROUP_MEMBER")
)
_HANDLED = frozenset((*_POINT_TO_POINT, *_BATCHES, *COLLECTIVES, "_coalescing_manager"))

COMMUNICATION = frozenset(f"torch.distributed.{name}" for name in _HANDLED)
"""Functions that talk to other ranks, and what describes such talk."""

WORTH_READING = frozenset(f"torch.distributed.{name}" for name in (*_POINT_TO_POINT, *_BATCHES))
"""Those of them that make a function worth reading."""

_LIKELY = lazy_pattern(
    r"(?:^|_)(?:i?send|i?recv|receive|exchange|barrier|all_?reduce|broadcast|all_?gather|reduce_scatter|all_?to_?all"
    r"|communicate|p2p|sendrecv|wait_?all|flush|(?:start|end)_?coalescing|group_(?:start|end))(?:$|_)"
)
"""Names of functions that most likely communicate, whoever defines them."""


_OLD_ENGINE = lazy_pattern(r"nccl_?(?:lazy|legacy)", re.IGNORECASE)


def _is_other(backend: Value) -> bool:
    """Whether a group made with this backend surely has nothing to do with the engine behind `"nccl"`."""
    if isinstance(backend, External) and backend.name.startswith("torch.distributed.Backend."):
        return not backend.name.endswith((".NCCL", ".UNDEFINED"))
    return isinstance(backend, str) and re.search(r"(?:^|:)nccl2?(?:$|,)", backend.lower()) is None


def likely_communicates(name: str) -> bool:
    """Whether a function that nothing else is known of is called like one that communicates."""
    return _LIKELY.search(name.lower()) is not None


class Communication:
    """Everything one rank has done so far.

    Attributes:
        rank: its number.
        size: how many ranks there are.
        program: what it posted and waited for.
        groups: the groups it knows, by key.
        assumed: what was assumed about groups, as clauses.
        events: counts everything that happened, also operations that are only prepared.
        trusting: whether groups that come from outside are different ones that all hold all ranks, where they have other
            names.
    """

    def __init__(self, rank: int, size: int, *, trusting: bool = False) -> None:
        self.trusting = trusting
        self.rank = rank
        self.size = size
        self.world = ProcessGroup("", tuple(range(size)), "the default group")
        self.program: list[Post | Wait] = []
        self.groups: dict[str, ProcessGroup] = {"": self.world}
        self.assumed: dict[str, str] = {}
        self.handles: list[Handle] = []
        self.events = 0
        self.silent = False
        self._coalescing: list[tuple[Coalescing, list[Operation]]] = []
        self._made: dict[str, int] = {}
        self._guessed: str | None = None
        self._unsure: dict[str, str] = {}

    # Groups

    def group(self, value: Value, line: int) -> ProcessGroup:
        """The group that an argument stands for.

        A group that comes from outside the file is taken to hold all ranks: what is done in it is done relative to it.

        Raises:
            Open: nothing can be said about it.
        """
        if value is None or (isinstance(value, External) and value.name in _WORLDS):
            return self.world
        if isinstance(value, ProcessGroup):
            if value.key in self._unsure:
                self.assumed[value.key] = f"the group in line {line} is on NCCL ({self._unsure[value.key]})"
            return value
        if isinstance(value, External) and value.name in _NO_MEMBER:
            return ProcessGroup("none", ())
        if not isinstance(value, Unknown):
            raise Open(f"the group in line {line} is not understood")
        if (value.level is Level.RANK and not self.trusting) or value.choice is not None:
            raise Open(f"which group is meant in line {line} is not known: {value.why}")
        if says_without_nccl(value.key) or _OLD_ENGINE.search(value.key):
            return ProcessGroup(value.key, self.world.members, value.key, elsewhere=True)
        if self._guessed not in {None, value.key} and not self.trusting:
            raise Open(f"line {line} uses a second group whose members are not known: {value.why}")
        self._guessed = value.key
        self.groups.setdefault(value.key, ProcessGroup(value.key, self.world.members, value.key))
        self.assumed[value.key] = f"the group in line {line} is on NCCL and holds all ranks ({value.why})"
        return self.groups[value.key]

    def new_group(self, ranks: Value, site: str, backend: Value = None) -> ProcessGroup:
        """A new group; all ranks that make it with the same members at the same place get the same one."""
        if ranks is None:
            members = self.world.members
        else:
            try:
                numbers = elements(ranks)
            except Unworkable:
                numbers = [ranks]
            if unknown_in(numbers) is not None or not all(type(number) is int for number in numbers):
                raise Open(f"the members of the group made in {site} are not known")
            members = tuple(sorted(numbers))
        if any(member not in self.world.members for member in members) or len(set(members)) != len(members):
            raise CodeRaises(f"{site}: no such ranks")
        name = f"{site}:{members}"
        self._made[name] = self._made.get(name, 0) + 1
        key = f"{name}#{self._made[name]}"
        self.groups[key] = ProcessGroup(key, members, f"new_group({list(members)})", elsewhere=_is_other(backend))
        if isinstance(backend, Unknown):
            self._unsure[key] = backend.why
        return self.groups[key]

    def query(self, name: str, given: Mapping[str, Value], line: int) -> Value:
        """What `get_rank`, `get_world_size` and their like return.

        Raises:
            Unworkable: the rank asked about is not known.
            Open: the group is not known.
            CodeRaises: the group has no such member.
        """
        group = self.group(given.get("group"), line)
        if name == "get_backend":
            return "nccl"
        if name == "get_process_group_ranks":
            return list(group.members)
        if name == "get_rank":
            return group.members.index(self.rank) if self.rank in group.members else -1
        if name == "get_world_size":
            return len(group.members) if self.rank in group.members else -1
        asked = given.get("global_rank" if name == "get_group_rank" else "group_rank")
        if type(asked) is not int:
            raise Unworkable
        if name == "get_group_rank":
            if asked not in group.members:
                raise CodeRaises(f"line {line}: no such rank")
            return group.members.index(asked)
        return self._global_rank(group, asked, line)

    @staticmethod
    def _global_rank(group: ProcessGroup, number: int, line: int) -> int:
        if not 0 <= number < len(group.members):
            raise CodeRaises(f"line {line}: no such rank")
        return group.members[number]

    # Posting and waiting

    def post(self, operations: Sequence[Operation], *, batched: bool = False) -> Handle:
        """Hand operations to the backend, or to the coalescing manager that is open.

        Raises:
            Open: there are too many of them.
        """
        self.events += 1
        if self._coalescing:
            self._coalescing[-1][1].extend(operations)
            return self._coalescing[-1][0].handle
        handle = Handle(len(self.handles), operations[0].line if operations else 0)
        self.handles.append(handle)
        if not operations or self.silent:
            handle.waited = True
            return handle
        if len(self.program) >= MOST_OPERATIONS:
            raise Open(f"it is too long: {MOST_OPERATIONS} operations by line {operations[0].line}")
        self.program.append(Post(tuple(operations), handle.number, batched))
        return handle

    @staticmethod
    def elsewhere(line: int) -> Handle:
        """What an operation returns that another backend carries out; it is not followed any further."""
        return Handle(-1, line, waited=True)

    def wait(self, handle: Handle, line: int) -> None:
        """Wait for a handle; waiting again does nothing."""
        if any(open_manager.handle is handle for open_manager, _ in self._coalescing):
            raise Open(f"line {line} waits inside a coalescing manager")
        self.events += 1
        if not handle.waited:
            handle.waited = True
            self.program.append(Wait(handle.number, line))

    def synchronize(self, line: int) -> None:
        """Wait for everything that is under way, as `torch.cuda.synchronize` does."""
        for handle in self.handles:
            if not handle.waited and not self._coalescing:
                self.wait(handle, line)

    @property
    def is_collecting(self) -> bool:
        """Whether a coalescing manager is open."""
        return bool(self._coalescing)

    def open_manager(self, blocking: bool) -> Coalescing:
        """Start to collect operations."""
        handle = Handle(len(self.handles), 0)
        self.handles.append(handle)
        manager = Coalescing(handle, blocking)
        self._coalescing.append((manager, []))
        return manager

    def close_manager(self, line: int) -> None:
        """Post what was collected as one."""
        manager, operations = self._coalescing.pop()
        if not operations or self.silent:
            manager.handle.waited = True
            return
        manager.handle.line = operations[0].line
        self.program.append(Post(tuple(operations), manager.handle.number, True))
        if manager.blocking:
            self.wait(manager.handle, line)

    def peer(self, text: str, number: Value, group: ProcessGroup, line: int, *, relative: bool, alone: bool) -> int:
        """The global rank of the other side.

        Args:
            text: how the code calls it.
            number: the rank as given.
            group: the group.
            line: line of the call.
            relative: whether it counts within the group.
            alone: whether the operation is not part of a batch, where a rank cannot be its own peer.

        Raises:
            Open: it is not known.
            CodeRaises: torch refuses it.
        """
        if not isinstance(number, int) or isinstance(number, bool):
            why = number.why if isinstance(number, Unknown) else "not a number"
            raise Open(f"peer `{text}` in line {line} is not known: {why}")
        peer: int = self._global_rank(group, number, line) if relative else number
        if peer not in group.members or (alone and peer == self.rank):
            raise CodeRaises(f"line {line}: rank {self.rank} has no peer {peer}")
        return peer


def arguments_of(
    call: ast.Call, parameters: Sequence[str], positional: Sequence[Value], keywords: Mapping[str, Value]
) -> dict[str, Value]:
    """Arguments by parameter name.

    Raises:
        CodeRaises: there are more than the function takes.
    """
    if len(positional) > len(parameters):
        raise CodeRaises(f"line {call.lineno}: too many arguments")
    return dict(zip(parameters, positional, strict=False)) | dict(keywords)


def distributed_name(name: str) -> str | None:
    """The function of torch.distributed that a qualified name is, without the module."""
    return name[18:] if name.startswith("torch.distributed.") else None


def parameters_of(name: str) -> tuple[str, ...] | None:
    """Positional parameters of a function of torch.distributed that talks to other ranks or knows about groups."""
    if name in {"isend", "send"}:
        return SEND_PARAMETERS
    if name in {"irecv", "recv"}:
        return RECV_PARAMETERS
    if name == "P2POp":
        return OP_PARAMETERS
    special = {
        "batch_isend_irecv": ("p2p_op_list",),
        "send_object_list": ("object_list", "dst", "group", "device", "group_dst", "use_batch"),
        "recv_object_list": ("object_list", "src", "group", "device", "group_src", "use_batch"),
        "_coalescing_manager": ("group", "device", "async_ops"),
    }
    return special.get(name) or COLLECTIVES.get(name) or GROUP_QUERIES.get(name) or NEW_GROUPS.get(name)


def is_quiet(name: str) -> bool:
    """Whether a name of torch.distributed has nothing to do with the order of messages."""
    return name.partition(".")[0] in _QUIET


def transfer_kind(value: Value) -> Literal["send", "recv"] | None:
    """What a `P2POp` made with this function does."""
    if isinstance(value, External):
        return {"torch.distributed.isend": "send", "torch.distributed.irecv": "recv"}.get(value.name)  # type: ignore[return-value]
    return None


def may_be_group(value: Unknown) -> bool:
    """Whether the code calls an unknown value a group."""
    return re.search(r"(?:^|[._])(?:process_)?(?:group|pg)(?:\(\))?$", value.key) is not None


def is_no_member(value: Value) -> bool:
    """Whether it is what torch gives to ranks that are not in a group."""
    return isinstance(value, External) and value.name in _NO_MEMBER
