"""Compare torchlift's reader of device code with NVIDIA's cuobjdump on every library of wheels.

    python bench/fatbin_against_cuobjdump.py --cuobjdump cuobjdump torch-2.15.0-cp311-*.whl ...

cuobjdump is in the wheel nvidia-cuda-cuobjdump; wheels come from `pip download --no-deps torch==2.15.0`. Ends with status 1
where the two differ. cuobjdump names no family-specific cubin (it prints sm_103 for one of sm_103f), so the `f` of cubins
is not compared; that of PTX is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from torchlift.doctor.native.fatbin import read_device_code

_LISTED = re.compile(r"^(ELF|PTX) file +\d+: .*\.sm_(\w+)\.(?:cubin|ptx)$", re.MULTILINE)
_KINDS = {"ELF": "sass", "PTX": "ptx"}

Codes = Counter[tuple[str, str]]


def ours(library: Path) -> tuple[Codes, float, str | None]:
    """Images by kind and architecture, seconds, and what our reader complains of."""
    started = time.perf_counter()
    code = read_device_code(str(library))
    seconds = time.perf_counter() - started
    counts: Codes = Counter()
    for image, count in code.images.items():
        name = image.architecture.rstrip("f") if image.kind == "sass" else image.architecture
        counts[(image.kind, name)] += count
    return counts, seconds, code.error


def theirs(library: Path, cuobjdump: str) -> tuple[Codes, float]:
    """The same from cuobjdump, relocatable code included."""
    counts: Codes = Counter()
    started = time.perf_counter()
    command = [cuobjdump, "-all", "--list-elf", "--list-ptx", str(library)]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    counts.update((_KINDS[kind], name) for kind, name in _LISTED.findall(listing))
    return counts, time.perf_counter() - started


def libraries(wheel: Path, folder: Path) -> Iterator[Path]:
    """The wheel's shared libraries, unpacked one at a time."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if ".so" in Path(entry.filename).name:
                path = Path(archive.extract(entry, folder))
                yield path
                path.unlink()


def main() -> int:
    """Print a row of a Markdown table for each library with device code; 1 where a row differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("wheels", nargs="+", type=Path)
    arguments = parser.parse_args()
    differ = 0
    print("| wheel | library | MB | images | ours s | cuobjdump s | |\n|---|---|--:|--:|--:|--:|---|")
    for wheel in arguments.wheels:
        with tempfile.TemporaryDirectory() as folder:
            for library in libraries(wheel, Path(folder)):
                mine, seconds, error = ours(library)
                other, other_seconds = theirs(library, arguments.cuobjdump)
                if not mine and not other and not error:
                    continue
                verdict = "same" if mine == other and error is None else "DIFFERS"
                differ += verdict != "same"
                size = library.stat().st_size / 1e6
                print(
                    f"| {wheel.name} | {library.name} | {size:.0f} | {sum(mine.values())} | {seconds:.2f} "
                    f"| {other_seconds:.1f} | {verdict} |",
                    flush=True,
                )
                if verdict != "same":
                    print(f"only ours: {mine - other}; only cuobjdump: {other - mine}; {error}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
