"""Ask the CUDA driver library everything, in a process of its own: run as a script by `torchlift.doctor.probes.libcuda`.

The interpreter is the one examined, so nothing but an old standard library is used. Reads `{"mark", "at"}` (see
`torchlift.doctor.probes.child`), answers `{"libcuda", "complete"}` in the shape of `torchlift.doctor.facts`. No context
is created: that would take memory on every GPU and fail where all of them are in use.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

# The module that has the real one takes as long to import as all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ERRORS = {
    1: ("CUDA_ERROR_INVALID_VALUE", "invalid argument"),
    2: ("CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
    3: ("CUDA_ERROR_NOT_INITIALIZED", "initialization error"),
    4: ("CUDA_ERROR_DEINITIALIZED", "driver shutting down"),
    34: ("CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"),
    36: ("CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "API call is not supported in the installed CUDA driver"),
    46: ("CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"),
    100: ("CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"),
    101: ("CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"),
    102: ("CUDA_ERROR_DEVICE_NOT_LICENSED", "device doesn't have valid Grid license"),
    304: ("CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"),
    500: ("CUDA_ERROR_NOT_FOUND", "named symbol not found"),
    719: ("CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"),
    800: ("CUDA_ERROR_NOT_PERMITTED", "operation not permitted"),
    801: ("CUDA_ERROR_NOT_SUPPORTED", "operation not supported"),
    802: ("CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"),
    803: (
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "system has unsupported display driver / cuda driver combination",
    ),
    804: (
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "forward compatibility was attempted on non supported HW",
    ),
    805: (
        "CUDA_ERROR_MPS_CONNECTION_FAILED",
        "MPS client failed to connect to the MPS control daemon or the MPS server",
    ),
    806: (
        "CUDA_ERROR_MPS_RPC_FAILURE",
        "the remote procedural call between the MPS server and the MPS client failed",
    ),
    807: ("CUDA_ERROR_MPS_SERVER_NOT_READY", "MPS server is not ready to accept new MPS client requests"),
    808: (
        "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
        "the hardware resources required to create MPS client have been exhausted",
    ),
    809: (
        "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
        "the hardware resources required to support device connections have been exhausted",
    ),
    810: ("CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS client has been terminated by the server"),
    999: ("CUDA_ERROR_UNKNOWN", "unknown error"),
}
"""Names of the driver's codes (cuda.h) and the texts that torch prints for them, which are the CUDA runtime's
(`cudaGetErrorString`): both measured with nvidia-cuda-runtime 13.5.37, 2026-11-21. The library itself is asked only for
others, since it has not been initialised when it refuses to be."""

INTEGRATED, MAJOR, MINOR = 18, 75, 76
"""`CU_DEVICE_ATTRIBUTE_...` of cuda.h."""


def load() -> Any:
    """The driver library. Raises `OSError`."""
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def loaded_path(library: Any) -> str | None:
    """The file that the library's code comes from."""
    if sys.platform == "win32":
        buffer = ctypes.create_unicode_buffer(32768)
        found = ctypes.windll.kernel32.GetModuleFileNameW(ctypes.c_void_p(library._handle), buffer, len(buffer))
        return buffer.value if found else None
    address = ctypes.cast(library.cuInit, ctypes.c_void_p).value or 0
    try:
        with open("/proc/self/maps", "rb") as maps:  # noqa: PTH123
            for line in maps:
                fields = line.split(None, 5)
                first, _, last = fields[0].partition(b"-")
                if len(fields) == 6 and int(first, 16) <= address < int(last, 16):
                    return os.fsdecode(fields[5].rstrip(b"\n"))
    except (OSError, ValueError):
        pass
    return None


def describe(library: Any, code: int, announce: Callable[[str], None]) -> tuple[str | None, str | None]:
    """Name and text of an error code."""
    if code in ERRORS:
        return ERRORS[code]
    told: list[str | None] = []
    for name in ("cuGetErrorName", "cuGetErrorString"):
        function = getattr(library, name, None)
        said = ctypes.c_char_p()
        if function is not None:
            announce(name)
            function(code, ctypes.byref(said))
        told.append(said.value.decode(errors="replace") if said.value else None)
    return told[0], told[1]


def call(library: Any, announce: Callable[[str], None], name: str, value: Any, *arguments: Any) -> Any:
    """What a function writes into `value`; None when the library has no such function or it refuses."""
    function = getattr(library, name, None)
    if function is None:
        return None
    announce(name)
    return value if function(ctypes.byref(value), *arguments) == 0 else None


def number(value: Any) -> int | None:
    """The plain number of an answer."""
    return None if value is None else int(value.value)


def device_facts(library: Any, announce: Callable[[str], None], ordinal: int) -> dict[str, Any]:
    """A device in CUDA's order."""
    facts: dict[str, Any] = {"ordinal": ordinal}

    def announce_here(name: str) -> None:
        announce("{} of device {}".format(name, ordinal))  # noqa: UP032

    def ask(name: str, value: Any, *arguments: Any) -> Any:
        return call(library, announce_here, name, value, *arguments)

    device = ask("cuDeviceGet", ctypes.c_int(), ordinal)
    if device is None:
        return facts
    name = ask("cuDeviceGetName", ctypes.create_string_buffer(256), 256, device)
    facts["name"] = name.value.decode(errors="replace") if name is not None else None
    major = number(ask("cuDeviceGetAttribute", ctypes.c_int(), MAJOR, device))
    minor = number(ask("cuDeviceGetAttribute", ctypes.c_int(), MINOR, device))
    if major is not None and minor is not None:
        facts["compute_capability"] = str(major) + "." + str(minor)
    integrated = number(ask("cuDeviceGetAttribute", ctypes.c_int(), INTEGRATED, device))
    facts["integrated"] = None if integrated is None else bool(integrated)
    facts["memory_total"] = number(ask("cuDeviceTotalMem_v2", ctypes.c_size_t(), device))
    for function in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid"):
        raw = ask(function, (ctypes.c_ubyte * 16)(), device)
        if raw is not None:
            digits = bytes(raw).hex()
            # A MIG slice has an UUID of its own, and its profile stands in its name.
            kind = "MIG" if " MIG " in (facts["name"] or "") else "GPU"
            parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
            facts["uuid"] = kind + "-" + "-".join(parts)
            break
    return facts


def main() -> None:
    """Answer on standard output."""
    payload = json.load(sys.stdin)
    libcuda: dict[str, Any] = {"outcome": "error", "devices": []}
    answer = {"libcuda": libcuda, "complete": False}

    def announce(what: str) -> None:
        print(payload["at"] + what, flush=True)

    def tell(complete: bool) -> None:
        answer["complete"] = complete
        print("\n" + payload["mark"] + json.dumps(answer), flush=True)

    announce("loading the library")
    try:
        library = load()
    except OSError as error:
        libcuda.update(outcome="missing", library_error=str(error))
        return tell(True)
    if not hasattr(library, "cuInit"):
        libcuda.update(text="The library that was loaded has no cuInit")
        return tell(True)
    libcuda["path"] = loaded_path(library)
    libcuda["version"] = number(call(library, announce, "cuDriverGetVersion", ctypes.c_int()))
    tell(False)

    announce("cuInit")
    code = library.cuInit(0)
    if code != 0:
        libcuda["code"] = code
        tell(False)
        libcuda["name"], libcuda["text"] = describe(library, code, announce)
        return tell(True)
    libcuda.update(outcome="ok", code=0)
    count = number(call(library, announce, "cuDeviceGetCount", ctypes.c_int())) or 0
    tell(False)
    for ordinal in range(count):
        libcuda["devices"].append(device_facts(library, announce, ordinal))
        tell(False)
    return tell(True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Without the libraries' own clean-up, which can crash or hang after everything has been said.
    os._exit(0)
