"""Calls of torch.distributed, which are what everything else is run for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from torchlift.rules.analysis.wording.messages import shortened
from torchlift.rules.distributed.p2p.interpreter.communication import (
    COLLECTIVES,
    GROUP_QUERIES,
    NEW_GROUPS,
    arguments_of,
    is_quiet,
    likely_communicates,
    parameters_of,
    transfer_kind,
)
from torchlift.rules.distributed.p2p.interpreter.keys import condition_key, node_text
from torchlift.rules.distributed.p2p.interpreter.operators import Unworkable, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    CodeRaises,
    External,
    Handle,
    Level,
    Open,
    ProcessGroup,
    Transfer,
    Unknown,
    Value,
    parts,
)
from torchlift.rules.distributed.p2p.program import Operation


class Messages(RankState):
    """Calls of torch.distributed, which are what everything else is run for."""

    def _handle_method(self, handle: Handle, name: str, node: ast.Call) -> Value:
        if name == "wait":
            self._certain(node.lineno)
            self.communication.wait(handle, node.lineno)
            return True
        if name == "get_future":
            return handle
        if name in {"is_completed", "then", "done", "query"}:
            self._open(node.lineno, f"line {node.lineno} asks whether an operation is done, or what to do then")
        return Unknown(Level.RANK, condition_key(node, ()), f"`{node_text(node)}` is received")

    def _group_method(
        self, group: ProcessGroup, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        if name in {"rank", "size"} and not positional:
            return self.communication.query(
                "get_rank" if name == "rank" else "get_world_size", {"group": group}, node.lineno
            )
        return self._call_unknown_method(
            Unknown(Level.GIVEN, f"{group.text}.{name}", f"`{name}` of a group is not followed"),
            positional,
            keywords,
            node,
            None,
        )

    def _call_distributed(
        self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call, *, complete: bool
    ) -> Value:
        parameters = parameters_of(name)
        if parameters is None:
            if name == "_get_default_group":
                return self.communication.world
            concerned = not is_quiet(name) or name.startswith(("group.", "GroupMember."))
            if name == "split_group" or (concerned and likely_communicates(name.rpartition(".")[2])):
                self._open(node.lineno, f"`torch.distributed.{name}` in line {node.lineno} is not modelled")
            return self._opaque(External(f"torch.distributed.{name}"), positional, keywords, node)
        if not complete:
            self._open(node.lineno, f"the arguments in line {node.lineno} are not known")
        given = arguments_of(node, parameters, positional, keywords)
        if name in GROUP_QUERIES:
            try:
                return self.communication.query(name, given, node.lineno)
            except Unworkable:
                values = list(given.values())
                return self._computed(values, [ast.Constant(None)] * len(values), node)
        self._certain(node.lineno)
        if name in NEW_GROUPS:
            return self._make_groups(name, given, node)
        if name == "P2POp":
            return self._transfer(given, node)
        if name == "batch_isend_irecv":
            return self._batch(given, node)
        if name == "_coalescing_manager":
            wanted = self._truth(given.get("async_ops", False))
            if wanted is None:
                self._choose(given["async_ops"], node.lineno)
                raise Open(f"whether line {node.lineno} waits is not known: {given['async_ops'].why}")
            return self.communication.open_manager(blocking=not wanted)
        if name in COLLECTIVES:
            return self._collective(name, given, node)
        return self._point_to_point(name, given, node)

    def _make_groups(self, name: str, given: Mapping[str, Value], node: ast.Call) -> Value:
        site = f"line {self._line(node)}"
        if name == "new_group":
            return self.communication.new_group(given.get("ranks"), site, given.get("backend"))
        if name == "new_subgroups":
            size = given.get("group_size")
            if type(size) is not int or size <= 0:
                raise Open(f"the size of the groups made in {site} is not known")
            if self.size % size:
                raise CodeRaises(f"{site}: {self.size} ranks cannot be divided by {size}")
            lists: list[Value] = [list(range(start, start + size)) for start in range(0, self.size, size)]
        else:
            try:
                lists = elements(given.get("ranks_per_subgroup_list"))
            except Unworkable:
                raise Open(f"the groups made in {site} are not known") from None
        groups = [self.communication.new_group(ranks, site, given.get("backend")) for ranks in lists]
        own = next((group for group in groups if self.rank in group.members), None)
        return own, groups

    def _group(self, given: Mapping[str, Value], line: int) -> ProcessGroup:
        value = given.get("group")
        self._settle(value, line)
        return self.communication.group(value, line)

    def _receive(self, *values: Value) -> None:
        """Mark what other ranks write into."""
        for value in values:
            for part in list(parts(value)):
                if isinstance(part, Unknown):
                    part.receive()
            if isinstance(value, list):
                value[:] = [
                    item
                    if isinstance(item, Unknown)
                    else Unknown(Level.RANK, "received", "it is received from another rank")
                    for item in value
                ]

    def _peer(
        self, given: Mapping[str, Value], names: tuple[str, str], node: ast.Call, group: ProcessGroup, *, alone: bool
    ) -> int:
        """The other side of an operation, from `dst` or `group_dst` and the like."""
        plain, relative = names
        line = self._line(node)
        in_group = given.get(plain) is None and given.get(relative) is not None
        number = given.get(relative if in_group else plain)
        if number is None:
            if plain == "src":
                raise Open(f"line {line} receives from any rank")
            raise CodeRaises(f"line {line}: no peer")
        self._settle(number, line)
        number = self._as_rank(number)
        if number is None:
            raise CodeRaises(f"line {line}: no peer")
        return self.communication.peer(
            _peer_text(node, plain, relative), number, group, line, relative=in_group, alone=alone
        )

    def _operation(self, name: str, kind: Any, peer: int, group: ProcessGroup, node: ast.Call) -> Operation:
        return Operation(kind, group.key, self._line(node), peer, name)

    def _transfer(self, given: Mapping[str, Value], node: ast.Call) -> Value:
        self.communication.events += 1
        line = self._line(node)
        function = given.get("op")
        self._settle(function, line)
        kind = transfer_kind(function)
        if kind is None:
            raise Open(f"what the `P2POp` in line {line} does is not known")
        group = self._group(given, line)
        if self.rank not in group.members:
            raise CodeRaises(f"line {line}: rank {self.rank} is not in the group")
        peer = self._peer(given, ("peer", "group_peer"), node, group, alone=False) if not group.elsewhere else self.rank
        if not group.elsewhere:
            self._note(node)
        if kind == "recv":
            self._receive(given.get("tensor"))
        return Transfer(kind, peer, group, line, node)

    def _batch(self, given: Mapping[str, Value], node: ast.Call) -> Value:
        line = self._line(node)
        listed = given.get("p2p_op_list")
        self._settle(listed, line)
        try:
            transfers = elements(listed)
        except Unworkable:
            why = listed.why if isinstance(listed, Unknown) else "it is not followed"
            raise Open(f"what is in the batch in line {line} is not known: {why}") from None
        if not transfers:
            raise CodeRaises(f"line {line}: a batch of nothing")
        if not all(isinstance(transfer, Transfer) for transfer in transfers):
            raise Open(f"what is in the batch in line {line} is not known")
        if len({transfer.group for transfer in transfers}) > 1:
            raise CodeRaises(f"line {line}: a batch of several groups")
        if transfers[0].group.elsewhere:
            return [self.communication.elsewhere(line)] * len(transfers)
        self._note(node)
        operations = [
            Operation(t.kind, t.group.key, t.line, t.peer, "isend" if t.kind == "send" else "irecv") for t in transfers
        ]
        handle = self.communication.post(operations, batched=True)
        return [handle] * len(operations)

    def _collective(self, name: str, given: Mapping[str, Value], node: ast.Call) -> Value:
        line = self._line(node)
        group = self._group(given, line)
        wanted = self._truth(given.get("async_op", False))
        if wanted is None:
            unknown = given["async_op"]
            self._choose(unknown, line)
            raise Open(f"whether line {line} waits is not known: {unknown.why}")
        self._receive(*(value for key, value in given.items() if key not in {"group", "op", "async_op"}))
        if self.rank not in group.members:
            return None
        if group.elsewhere:
            return self.communication.elsewhere(line) if wanted else None
        handle = self.communication.post([Operation("collective", group.key, line, -1, name)])
        if wanted:
            return handle
        self._wait_at_once(handle, line)
        return None

    def _wait_at_once(self, handle: Handle, line: int) -> None:
        if not handle.waited and not self.communication.is_collecting:
            self.communication.wait(handle, line)

    def _point_to_point(self, name: str, given: Mapping[str, Value], node: ast.Call) -> Value:
        sends = "send" in name
        line = self._line(node)
        group = self._group(given, line)
        if given.get("use_batch"):
            raise Open(f"`use_batch` in line {line} is not modelled")
        if self.rank not in group.members:
            return None
        if group.elsewhere:
            if not sends:
                self._receive(given.get("tensor", given.get("object_list")))
            return self.communication.elsewhere(line) if name in {"isend", "irecv"} else None
        peer = self._peer(given, ("dst", "group_dst") if sends else ("src", "group_src"), node, group, alone=True)
        self._note(node)
        if not sends:
            self._receive(given.get("tensor", given.get("object_list")))
        operation = self._operation(name, "send" if sends else "recv", peer, group, node)
        if name in {"isend", "irecv"}:
            return self.communication.post([operation])
        for _ in range(2 if name.endswith("object_list") else 1):
            self._wait_at_once(self.communication.post([operation]), line)
        return None if sends else peer


def _peer_text(node: ast.Call, plain: str, relative: str) -> str:
    for keyword in node.keywords:
        if keyword.arg in {plain, relative}:
            return shortened(node_text(keyword.value))
    index = 2 if plain == "peer" else 1
    return shortened(node_text(node.args[index])) if len(node.args) > index else plain
