"""Process groups, and what ranks send to each other: rank, peer, shape and place, in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from . import inside
from .describe import described
from .guard import guarded
from .places import caller
from .spool import SPOOL

_MOST = 2000
_PEER = {"isend": "dst", "send": "dst", "irecv": "src", "recv": "src"}
_OTHERS = (
    "batch_isend_irecv",
    "new_group",
    "all_reduce",
    "broadcast",
    "barrier",
    "all_gather",
    "destroy_process_group",
)
_state = {"told": 0, "cut": 0, "pid": 0, "groups": 0}


def watch() -> Iterator[str]:
    """Place the hooks. Yields what could not be watched, as a sentence each."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available():
        return
    names = ["init_process_group", *_PEER, *_OTHERS]
    for name in names:
        try:
            function = getattr(distributed, name)
            entered = _beginning if name == "init_process_group" else _entered(name, 1 + _layers(function))
            inside.watch(function, entered, _begun if name == "init_process_group" else _nothing, _nothing)
        except (inside.NotWatched, AttributeError) as error:
            yield f"torch.distributed.{name} is not watched: {error}"


def _nothing(*_: Any) -> None:
    pass


@guarded("init_process_group")
def _beginning(arguments: dict[str, Any]) -> Any:
    return caller(1).place, arguments["init_method"]


@guarded("the process group that was made")
def _begun(token: Any, _: Any) -> None:
    place, method = token
    distributed = sys.modules["torch.distributed"]
    _state["groups"] += 1
    names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID")
    SPOOL.write(
        {
            "e": "group",
            "job": [str(method), *(os.environ.get(name, "") for name in names), _state["groups"]],
            "rank": distributed.get_rank(),
            "world": distributed.get_world_size(),
            "backend": str(distributed.get_backend()),
            "place": place,
        }
    )


def _layers(function: Any) -> int:
    """Decorators around a function, each with a frame of its own."""
    layers = 0
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        layers += 1
    return layers


def _entered(name: str, frames: int) -> Any:
    @guarded(f"torch.distributed.{name}")
    def entered(arguments: dict[str, Any]) -> None:
        where = caller(frames)
        if not where.direct or not sys.modules["torch.distributed"].is_initialized():
            return
        if _state["told"] >= _MOST:
            _state["cut"] += 1
            return
        _state["told"] += 1
        event = _transfer(name, arguments)
        event["place"] = where.place
        event["number"] = _state["told"]
        SPOOL.write(event)

    return entered


def _transfer(name: str, arguments: dict[str, Any]) -> Any:
    distributed = sys.modules["torch.distributed"]
    event = {"e": "transfer", "api": name, "rank": distributed.get_rank(), "group": _ranks(arguments.get("group"))}
    if name in _PEER:
        event["peer"] = _peer(_PEER[name], arguments)
    if name == "new_group":
        ranks = arguments["ranks"]
        event["group"] = None if ranks is None else [int(rank) for rank in ranks]
    tensor = arguments.get("tensor")
    if tensor is not None:
        event["tensor"] = described(tensor)
        event["device"] = tensor.device.type
    if name == "batch_isend_irecv":
        event["parts"] = [_part(one) for one in arguments["p2p_op_list"]]
    return event


def _part(one: Any) -> Any:
    tensor = one.tensor
    return {"api": one.op.__name__, "peer": one.peer, "tensor": described(tensor), "device": tensor.device.type}


def _peer(name: str, arguments: dict[str, Any]) -> Any:
    if arguments.get(name) is not None:
        return int(arguments[name])
    inner = arguments.get(f"group_{name}")
    if inner is None:
        return None
    group = arguments.get("group")
    return int(inner) if group is None else int(sys.modules["torch.distributed"].get_global_rank(group, inner))


def _ranks(group: Any) -> Any:
    distributed = sys.modules["torch.distributed"]
    if group is None or group is distributed.group.WORLD or not isinstance(group, distributed.ProcessGroup):
        return None
    return [int(rank) for rank in distributed.get_process_group_ranks(group)]


def tell_cut() -> None:
    """Say how many calls are missing at the end of the sequence."""
    if _state["cut"]:
        SPOOL.write({"e": "cut", "count": _state["cut"]})
