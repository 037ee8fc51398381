"""Is killed and does not end, like a process that waits inside a driver: a tracer holds its exit back."""

import ctypes
import os
import time

from torchlift_smoke.smoke import Skip, Smoke

_SET_PTRACER, _ANY = 0x59616D61, ctypes.c_ulong(2**64 - 1)
_SEIZE, _TRACE_EXIT = 0x4206, 0x40


def _run(bench):
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_PTRACER, _ANY, 0, 0, 0)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    traced = os.getpid()
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(write, b"y" if libc.ptrace(_SEIZE, traced, None, _TRACE_EXIT) == 0 else b"n")
        time.sleep(15)
        os._exit(0)
    if os.read(read, 1) != b"y":
        raise Skip("this system does not let one process trace another")
    while True:
        time.sleep(60)


SMOKE = Smoke(id="stuck-in-the-driver", tier="quick", title="Stuck", run=_run, timeout=1.0)
