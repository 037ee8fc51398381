"""Opens NVML and keeps it open: run as a script by `torchlift.doctor.smoke.parent.nvml_watch`.

Reads one JSON line, `{"path": sys.path of the parent, "every": seconds between two samples}`, then "watch" and "rest" lines; while it watches, it prints one
`nvml_watch.Sample` a line of each GPU. The names of the calls are those that `probes.nvml_child` uses.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

_SM, _MEMORY = 1, 2


def main() -> None:
    """Serve until standard input ends."""
    # The folder of this script is not on the path (`-I`): it has modules whose names others may want.
    job = json.loads(sys.stdin.readline())
    sys.path[:] = job["path"]
    from torchlift.doctor.probes.nvml_child import NvmlCalls, clock_reasons, import_pynvml, watts, whole

    pynvml = import_pynvml()
    pynvml.nvmlInitWithFlags(0)
    calls = NvmlCalls(pynvml, lambda call: None)
    ignored: list[dict[str, Any]] = []
    count = whole(calls.ask(ignored, "nvmlDeviceGetCount")) or 0
    handles = {index: calls.ask(ignored, "nvmlDeviceGetHandleByIndex", index) for index in range(count)}

    def look(index: int, handle: Any) -> dict[str, Any]:
        def ask(names: str, *arguments: Any) -> Any:
            return calls.ask(ignored, names, handle, *arguments)

        return {
            "time": time.monotonic(),
            "index": index,
            "reasons": clock_reasons(
                ask("nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons")
            ),
            "sm_clock": whole(ask("nvmlDeviceGetClockInfo", _SM)),
            "memory_clock": whole(ask("nvmlDeviceGetClockInfo", _MEMORY)),
            "memory_clock_max": whole(ask("nvmlDeviceGetMaxClockInfo", _MEMORY)),
            "power": watts(ask("nvmlDeviceGetPowerUsage")),
            "temperature": whole(ask("nvmlDeviceGetTemperature", 0)),
            "pcie_generation": whole(ask("nvmlDeviceGetCurrPcieLinkGeneration")),
            "pcie_width": whole(ask("nvmlDeviceGetCurrPcieLinkWidth")),
        }

    wanted = threading.Event()

    def sample() -> None:
        while True:
            wanted.wait()
            for index, handle in handles.items():
                if handle is not None:
                    print(json.dumps(look(index, handle)), flush=True)
            ignored.clear()
            time.sleep(job["every"])

    threading.Thread(target=sample, daemon=True).start()
    for line in sys.stdin:
        (wanted.set if line.strip() == "watch" else wanted.clear)()


if __name__ == "__main__":
    try:
        main()
    finally:
        # Without the libraries' own clean-up, which can crash or hang.
        os._exit(0)
