"""A package that brings a device is loaded with torch itself: the entry points "torch.backends"."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..bench import Bench
from ..gates import all_of, torch_from
from ..smoke import Measurement, Smoke

_SAYS = "torchlift-autoload-was-here"
_SECONDS = 150.0

SMOKE = Smoke(
    id="device-autoload",
    tier="full",
    title="A package that brings a device is loaded when torch is imported",
    needs="torch 2.5; TORCH_DEVICE_BACKEND_AUTOLOAD not 0",
    reference="what the package says when it is loaded",
    limits=(("packages that were not loaded", 0.0),),
    timeout=_SECONDS + 30.0,
    once=True,
)


def _switched_on(bench: Bench) -> str | None:
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
        return None
    return "TORCH_DEVICE_BACKEND_AUTOLOAD switches it off; without that variable this runs"


gate = all_of(torch_from(2, 5), _switched_on)


def run(bench: Bench) -> Measurement:
    with tempfile.TemporaryDirectory(prefix="torchlift-autoload-") as folder:
        about = Path(folder, "torchlift_autoload-1.0.dist-info")
        about.mkdir()
        Path(folder, "torchlift_autoload.py").write_text(f"def load(): print({_SAYS!r})\n", encoding="utf-8")
        about.joinpath("METADATA").write_text(
            "Metadata-Version: 2.1\nName: torchlift-autoload\nVersion: 1.0\n", "utf-8"
        )
        about.joinpath("entry_points.txt").write_text("[torch.backends]\nprobe = torchlift_autoload:load\n", "utf-8")
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))
        # Where torch lies is told by this process, which may have found it in other ways than PYTHONPATH.
        code = f"import sys; sys.path.append({str(Path(bench.torch.__file__).parents[1])!r}); import torch"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise RuntimeError(f"importing torch beside a package with an entry point: {said[0]}")
    bench.measured("packages that were not loaded", float(_SAYS not in done.stdout), 0.0)
    return bench.measurement()
