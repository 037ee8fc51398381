"""Environment variables of NCCL groups: which the engine of torch 2.15 reads, which it does not, which chose an engine.

Sources, read 2026-11-21: pytorch#192280 (variables honoured by the new engine); the names and messages in
`libtorch_cuda.so` and the headers `c10d/nccl2/*.hpp` of the 2.14.1 and 2.15.0 wheels; `torch/distributed/config.py` and
`distributed_c10d.py` of the 2.10-2.15 wheels; the torchcomms 0.0.1 wheel on PyPI.
"""

from __future__ import annotations

from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.versions import TorchVersion

ESCAPE = (
    "If the new engine misbehaves, `TORCH_DIST_USE_NCCL2=0` (2.15) or "
    'backend="nccl-legacy" (2.14+) bring the old one back.'
)
"""For anything that the new engine does in another way."""

LAZY = 'backend="nccl-lazy" (2.14+) gives a group its own communicator per peer for unbatched point-to-point.'
"""For groups that only do point-to-point."""

VariableStatus = Literal["read", "replaced", "gone", "unproven", "switch", "torchcomms"]
"""`read`: the new engine honours it; `replaced`: only the old engine reads it and another name took over; `gone`: no engine
of 2.15 knows it; `unproven`: nothing in the new engine's headers belongs to it, so it is probably ignored; `switch`: chooses
the engine; `torchcomms`: turns on the opt-in torchcomms mode."""


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """What is known about one environment variable.

    Attributes:
        name: its name.
        status: what the default NCCL engine of torch 2.15 makes of it.
        since: release of torch since when `status` holds.
        fact: one or two sentences for a message: what happens to it since when.
        advice: what to do, empty where nothing has to be done.
        source: where the fact comes from.
        off: what to do where the variable is switched off, if that asks for something too; else empty.
    """

    name: str
    status: VariableStatus
    since: TorchVersion
    fact: str
    advice: str
    source: str
    off: str = ""

    def advice_for(self, value: object) -> str:
        """What to do where the variable is set to `value`."""
        return self.off if self.off and str(value).lower() in _OFF_VALUES else self.advice

    @property
    def matters(self) -> bool:
        """Whether setting it no longer does what it did, so that it is worth a finding wherever it is written."""
        return self.status in {"replaced", "gone", "unproven", "torchcomms"}


_OFF_VALUES = frozenset({"0", "false", "off", "no", "n"})
_V215 = TorchVersion(2, 15)
_HONOURED = "https://github.com/pytorch/pytorch/pull/192280"
_LIBRARY = "libtorch_cuda.so of torch 2.14.1 and 2.15.0"
_HEADERS = "headers c10d/nccl2/*.hpp of torch 2.15.0"
_LEGACY = 'backend="nccl-legacy" (2.14+) or `TORCH_DIST_USE_NCCL2=0` (2.15)'


def _read(name: str, source: str = _HONOURED) -> EnvironmentVariable:
    return EnvironmentVariable(
        name, "read", _V215, f'`{name}` is honoured by the "nccl" of torch 2.15 too.', "", source
    )


def _unproven(name: str, what: str) -> EnvironmentVariable:
    fact = (
        f'`{name}` belongs to {what} of the old NCCL engine. Since torch 2.15 "nccl" is a new engine whose headers have '
        "none, so it is probably ignored."
    )
    advice = f"Nothing is known to replace it. If the behaviour is needed, {_LEGACY} brings the old engine back."
    return EnvironmentVariable(name, "unproven", _V215, fact, advice, _HEADERS)


_MONITOR = "the heartbeat monitor"

_KNOWN = (
    _read("TORCH_NCCL_ASYNC_ERROR_HANDLING"),
    _read("TORCH_NCCL_BLOCKING_WAIT"),
    _read("TORCH_NCCL_HIGH_PRIORITY"),
    _read("TORCH_NCCL_USE_COMM_NONBLOCKING"),
    _read("TORCH_NCCL_ENABLE_TIMING"),
    _read("TORCH_NCCL_CUDA_EVENT_CACHE"),
    _read("TORCH_NCCL_RANKS_PER_ROOT", "libtorch_cuda.so of torch 2.15.0 (NCCLBootstrap)"),
    _read("TORCH_FR_BUFFER_SIZE", "torch/distributed/distributed_c10d.py of torch 2.15.0, _maybe_attach_flight_recorder"),
    _read(
        "TORCH_NCCL_TRACE_BUFFER_SIZE",
        "torch/distributed/distributed_c10d.py of torch 2.15.0, _maybe_attach_flight_recorder",
    ),
    EnvironmentVariable(
        "TORCH_NCCL_NAN_CHECK",
        "replaced",
        _V215,
        '`TORCH_NCCL_NAN_CHECK` is read by the old NCCL engine only; since torch 2.15 "nccl" is a new engine, and the check '
        "for any backend is turned on by `TORCH_DIST_NAN_CHECK=1`.",
        "Set `TORCH_DIST_NAN_CHECK=1` as well, or instead where only torch 2.15 and later are supported.",
        "torch/distributed/distributed_c10d.py of torch 2.15.0, line 3188",
    ),
    EnvironmentVariable(
        "TORCH_NCCL_AVOID_RECORD_STREAMS",
        "gone",
        _V215,
        "`TORCH_NCCL_AVOID_RECORD_STREAMS` is not read any more: torch 2.14 warns that it is the default and deprecated, and "
        "torch 2.15 does not contain the name.",
        "Remove it once only torch releases with that default are supported; it does no harm.",
        f"{_LIBRARY}; https://github.com/pytorch/pytorch/pull/194701 (ignored whatever its value, also by the old engine)",
        "Its value asks torch to record streams, which torch 2.14 and 2.15 do not do, whatever the value and whichever NCCL "
        "engine: nothing brings it back. Remove it once no release that reads it is supported.",
    ),
    _unproven("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", _MONITOR),
    _unproven("TORCH_NCCL_ENABLE_MONITORING", _MONITOR),
    _unproven("TORCH_NCCL_COORD_CHECK_MILSEC", _MONITOR),
    _unproven("TORCH_NCCL_PROPAGATE_ERROR", _MONITOR),
    _unproven("TORCH_NCCL_RETHROW_CUDA_ERRORS", _MONITOR),
    _unproven("TORCH_NCCL_DESYNC_DEBUG", "the desync debugger"),
    EnvironmentVariable(
        "TORCH_DIST_USE_NCCL2",
        "switch",
        TorchVersion(2, 14),
        "`TORCH_DIST_USE_NCCL2` chooses what \"nccl\" means: `1` is the new engine in torch 2.14, `0` the old one in 2.15; "
        "releases before 2.14 do not know it.",
        "",
        "torch/distributed/distributed_c10d.py: line 831 of 2.14.1, line 964 of 2.15.0",
    ),
    EnvironmentVariable(
        "TORCH_DISTRIBUTED_USE_TORCHCOMMS",
        "torchcomms",
        TorchVersion(2, 12),
        "`TORCH_DISTRIBUTED_USE_TORCHCOMMS` is opt-in and off by default in torch 2.12-2.15, and it does nothing, without "
        "a warning, unless `import torchcomms` works; the torchcomms 0.0.1 on PyPI raises ImportError when imported.",
        "The new NCCL engine of torch 2.15 comes without it. Drop the flag unless a torchcomms build from "
        "download.pytorch.org is installed.",
        "torch/distributed/config.py and distributed_c10d.py of torch 2.12.1-2.15.0; torchcomms 0.0.1 on PyPI",
    ),
)  # fmt: skip

_BY_NAME = {variable.name: variable for variable in _KNOWN}

ENVIRONMENT_VARIABLES: tuple[EnvironmentVariable, ...] = _KNOWN
"""Everything this file knows, in the order of the table."""

# Of the variables of the torch engine and of the NCCL library, those that are no part of creating a communicator.
_NOT_AT_CREATION = frozenset({"TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"})


def nccl_variable(name: str) -> EnvironmentVariable | None:
    """What is known about a variable; None for names this table says nothing about, which is no verdict on them."""
    return _BY_NAME.get(name)


def read_when_the_group_is_made(name: str) -> bool:
    """Whether the variable configures a communicator, which torch 2.15 makes inside `init_process_group`.

    True for every `NCCL_*` variable of the library and the `TORCH_NCCL_*` variables of torch's engines.
    """
    return name.startswith(("NCCL_", "TORCH_NCCL_")) and name not in _NOT_AT_CREATION
