"""Rewrite the wheel tables in src/torchlift/wheels/data/ from a package index. For maintainers.

How to use it
-------------
    python scripts/wheel_tables.py                     # list, read METADATA, rewrite the data files
    python scripts/wheel_tables.py --check             # the same, but only say what would change (exit 1 if anything)
    python scripts/wheel_tables.py --scan FILE...      # also measure the architectures inside downloaded torch wheels

It lists torch, torchvision and torchaudio on the index that pip is configured for (`--index-url` overrides; without
either the public PyPI), and reads the METADATA of one wheel per release and platform: the `.metadata` file next to the
wheel where the index offers it, else the few kilobytes of the zip archive that hold it, by range requests. Nothing is
downloaded whole. `--scan` reads wheels that are already on the disk with torchlift's own fatbin reader; what an
earlier scan measured is kept.

What no wheel says (NVIDIA's driver tables, wheels of other indexes, ROCm versions) is in wheel_facts.json next to this
script: kept by hand, every row with its source and date. A measured row beats a hand-kept one. gpus.tsv is hand-kept
in the data folder itself.

After a new torch release: run it, look at the difference, add the hand-kept rows for the new line's other indexes,
download the new Linux wheels and scan them, run tests/ground/test_wheel_tables.py.

Needs: packaging, and torchlift importable for `--scan`.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from package_index import PUBLIC_INDEX, RemoteFile, Wheel, configured_index, listing, opened, platform_of
from packaging.metadata import parse_email
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename
from packaging.version import Version

FACTS = Path(__file__).with_name("wheel_facts.json")
DATA = Path(__file__).resolve().parent.parent / "src" / "torchlift" / "wheels" / "data"
OLDEST = Version("2.0")
NEIGHBOURS = (
    *(
        "numpy",
        "scipy",
        "pandas",
        "scikit-learn",
        "pillow",
        "matplotlib",
        "numba",
        "scikit-image",
        "h5py",
        "pyyaml",
        "shapely",
    ),
    *("pyarrow", "lxml", "grpcio", "statsmodels", "pywavelets", "llvmlite", "tensorflow", "onnx", "onnxruntime"),
    *("sentencepiece", "tokenizers", "numexpr", "tables", "spacy", "gensim", "aiohttp"),
)
FROM_PYTHON = Version("3.9")

_PINNED = re.compile(r"nvidia-|cuda-|triton$")


def main(arguments: list[str] | None = None) -> int:
    """Rewrite the tables; 0 when done, 1 when `--check` found something to change, 2 when the index is unreachable."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--index-url", help="simple index to read; default: pip's, else the public PyPI")
    parser.add_argument("--check", action="store_true", help="write nothing, say what would change")
    parser.add_argument("--scan", nargs="+", type=Path, default=[], metavar="WHEEL", help="torch wheels to measure")
    options = parser.parse_args(arguments)
    index = (options.index_url or configured_index() or PUBLIC_INDEX).rstrip("/")
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    try:
        new = _tables(index, facts, options.scan)
    except OSError as error:
        print(f"The index could not be read: {error}.", file=sys.stderr)
        return 2
    changed = [name for name, content in new.items() if _differs(DATA / name, content)]
    for name in changed:
        print(f"{name}: {'would change' if options.check else 'rewritten'}")
        if not options.check:
            (DATA / name).write_text(_text(new[name]), encoding="utf-8", newline="\n")
    if not changed:
        print("Nothing changed.")
    return 1 if options.check and changed else 0


def _tables(index: str, facts: dict[str, Any], scanned: list[Path]) -> dict[str, dict[str, Any]]:
    today = datetime.date.today().isoformat()
    torch = [wheel for wheel in listing(index, "torch") if wheel.version >= OLDEST]
    metadata = _first_metadata(torch)
    releases = _releases(torch, metadata, today)
    defaults = {(row["torch"], row["platform"]): row["build"] for row in releases}
    measured = _measured(scanned, metadata, today)
    return {
        "releases.json": {"date": today, "rows": releases, "uploads": facts["uploads"]},
        "wheels.json": {"date": today, "rows": _wheel_rows(facts, measured)},
        "companions.json": {
            "date": today,
            "rows": _companions(index, torch, metadata, today),
            "torchaudio": facts["torchaudio"],
        },
        "indexes.json": {"date": today, "root": facts["index_root"], "rows": _indexes(facts, measured, defaults)},
        "rocm.json": {"date": today, "rows": facts["rocm"]},
        "ngc.json": {"date": today, "rows": facts["ngc"]},
        "triton.json": {"date": today, "rows": facts["triton"]},
        "drivers.json": facts["drivers"],
        "neighbours.json": {"date": today, "rows": _neighbours(index, today)},
    }


def _neighbours(index: str, today: str) -> list[dict[str, Any]]:
    """From which release on packages that stand beside torch have wheels for a Python, under Linux on x86_64."""
    rows = []
    for name in NEIGHBOURS:
        first: dict[str, Version] = {}
        for wheel in listing(index, name):
            if wheel.platform == "linux_x86_64" and re.fullmatch(r"3\.\d+", wheel.python):
                first[wheel.python] = min(wheel.version, first.get(wheel.python, wheel.version))
        pythons = {
            python: str(first[python]) for python in sorted(first, key=Version) if Version(python) >= FROM_PYTHON
        }
        rows.append({"package": name, "first": pythons, "source": "PyPI file list", "date": today})
    return rows


def _releases(
    torch: list[Wheel], metadata: dict[tuple[Version, str], list[Requirement]], today: str
) -> list[dict[str, Any]]:
    rows: dict[tuple[Version, str, str], dict[str, Any]] = {}
    for wheel in torch:
        row = rows.setdefault(
            (wheel.version, wheel.platform, wheel.tag),
            {
                "torch": _line(wheel.version),
                "version": str(wheel.version),
                "platform": wheel.platform,
                "tag": wheel.tag,
                "floor": _floor(wheel.tag),
                "pythons": [],
                "build": _build(metadata[wheel.version, wheel.platform], wheel.platform),
                "source": "PyPI file list and METADATA",
                "date": today,
            },
        )
        if wheel.python not in row["pythons"]:
            row["pythons"].append(wheel.python)
    for row in rows.values():
        row["pythons"].sort(key=lambda python: (Version(python.rstrip("t")), python))
    return [rows[key] for key in sorted(rows)]


def _wheel_rows(facts: dict[str, Any], measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    have = {(row["torch"], row["build"], row["platform"]) for row in measured}
    rows = measured + [row for row in facts["wheels"] if (row["torch"], row["build"], row["platform"]) not in have]
    floors = {(row["torch"], row["build"], row["platform"]): row["glibc"] for row in facts["glibc"]}
    for row in rows:
        floor = floors.get((row["torch"], row["build"], row["platform"]))
        row.update({"glibc": floor} if floor else {})
    return sorted(rows, key=lambda row: (Version(row["torch"]), row["platform"], row["build"]))


def _indexes(
    facts: dict[str, Any], measured: list[dict[str, Any]], defaults: dict[tuple[str, str], str]
) -> list[dict[str, Any]]:
    builds: dict[str, list[dict[str, Any]]] = {}
    for row in _wheel_rows(facts, measured):
        builds.setdefault(row["build"], []).append(row)
    rows = list(facts["indexes"])
    for build, of_build in sorted(builds.items()):
        lines = sorted({row["torch"] for row in of_build if not row.get("secondary")}, key=Version)
        rows.append(
            {
                "build": build,
                "url": facts["index_root"] + build,
                "torch": lines,
                "torch_secondary": sorted({row["torch"] for row in of_build if row.get("secondary")}, key=Version),
                "default_of": sorted({line for (line, _), value in defaults.items() if value == build}, key=Version),
                "source": "; ".join(sorted({row["source"] for row in of_build if not row["measured"]}))
                or "measured wheels on PyPI",
                "date": max(row["date"] for row in of_build),
            }
        )
    return rows


def _companions(
    index: str, torch: list[Wheel], metadata: dict[tuple[Version, str], list[Requirement]], today: str
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for version in sorted({wheel.version for wheel in torch}):
        requirements = metadata.get((version, "linux_x86_64"), [])
        pins = {
            requirement.name: str(requirement.specifier)
            for requirement in requirements
            if _PINNED.match(requirement.name) and _applies(requirement, "linux_x86_64")
        }
        rows.append({"torch": str(version), "pins": pins, "torchvision": None, "torchaudio": None})
    for package in ("torchvision", "torchaudio"):
        pinned: set[str] = set()
        wheels = [wheel for wheel in listing(index, package) if wheel.version >= Version("0.15")]
        for (version, _), requirements in sorted(_first_metadata(wheels, ("linux_x86_64",)).items()):
            wanted = next((item.specifier for item in requirements if item.name == "torch"), None)
            for row in rows:
                # A pin on one release decides over a lower bound; one that takes any torch pairs with none.
                if wanted and wanted.contains(row["torch"]) and (_is_pin(wanted) or row["torch"] not in pinned):
                    row[package] = str(version)
                    pinned.update([row["torch"]] if _is_pin(wanted) else [])
    for row in rows:
        row.update(source="METADATA of the Linux x86_64 wheels on PyPI", date=today)
    return rows


def _is_pin(wanted: SpecifierSet) -> bool:
    return any(item.operator == "==" for item in wanted)


def _measured(
    scanned: Iterable[Path], metadata: dict[tuple[Version, str], list[Requirement]], today: str
) -> list[dict[str, Any]]:
    """What earlier scans measured, with what these wheels say in its place."""
    path = DATA / "wheels.json"
    known = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    rows = {(row["torch"], row["build"], row["platform"]): row for row in known if row["measured"]}
    for wheel_path in scanned:
        row = _scan(wheel_path, metadata, today)
        rows[row["torch"], row["build"], row["platform"]] = row
    return list(rows.values())


def _scan(path: Path, metadata: dict[tuple[Version, str], list[Requirement]], today: str) -> dict[str, Any]:
    from torchlift.doctor.native.fatbin import read_device_code

    _, version, build_tag, tags = parse_wheel_filename(path.name)
    platform = next(filter(None, (platform_of(tag.platform) for tag in tags)), "")
    images: dict[str, dict[str, dict[str, int]]] = {}
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            if re.fullmatch(r"torch/lib/(lib)?torch_cuda(_linalg)?\.(so|dll)", name):
                library = Path(archive.extract(name, folder))
                found: dict[str, dict[str, int]] = {"sass": {}, "ptx": {}}
                for image, count in read_device_code(str(library)).images.items():
                    if image.kind in found and not image.relocatable:
                        found[image.kind][image.architecture] = count
                images[library.stem] = found
    nothing: dict[str, dict[str, int]] = {"sass": {}, "ptx": {}}
    main_library = next((images[name] for name in images if name.endswith("torch_cuda")), nothing)
    most = max(main_library["sass"].values(), default=0)
    linalg = next((images[name]["sass"] for name in images if name.endswith("linalg")), {})
    return {
        "torch": _line(version),
        "build": version.local or _build(metadata.get((version, platform), []), platform),
        "platform": platform,
        # An architecture that only a few kernel files were built for does not carry the library.
        "sass": [name for name in sorted(main_library["sass"], key=_order) if main_library["sass"][name] * 2 > most],
        "ptx": sorted(main_library["ptx"], key=_order),
        "images": {name: main_library["sass"][name] for name in sorted(main_library["sass"], key=_order)},
        "linalg": sorted(linalg, key=_order),
        "version": str(version),
        "build_tag": "".join(map(str, build_tag)),
        "measured": True,
        "source": f"device code read from libtorch_cuda of {path.name}",
        "date": today,
    }


def _order(architecture: str) -> tuple[int, str]:
    return int(architecture.rstrip("af")), architecture


def _build(requirements: list[Requirement], platform: str) -> str:
    """ "cu132" from the CUDA packages that the wheel requires on this platform, "cpu" when it requires none."""
    for requirement in requirements:
        if not _applies(requirement, platform):
            continue
        if requirement.name == "cuda-toolkit" or re.match(r"nvidia-cuda-runtime-cu\d+$", requirement.name):
            version = Version(next(iter(requirement.specifier)).version)
            return f"cu{version.major}{version.minor}"
    return "cpu"


def _applies(requirement: Requirement, platform: str) -> bool:
    system, _, machine = platform.partition("_")
    environment = {
        "platform_system": {"linux": "Linux", "windows": "Windows", "darwin": "Darwin"}[system],
        "sys_platform": {"linux": "linux", "windows": "win32", "darwin": "darwin"}[system],
        "platform_machine": {"amd64": "AMD64"}.get(machine, machine),
        "extra": "",
    }
    return requirement.marker is None or requirement.marker.evaluate(environment)


def _floor(tag: str) -> list[int] | None:
    """The oldest glibc or macOS for a platform tag; None where there is none."""
    legacy = {"manylinux1": [2, 16], "manylinux2014": [2, 17]}
    # manylinux1 promises glibc 2.5, but the libraries inside ask for GLIBC_2.16 (measured in 2.0 to 2.6).
    for prefix, found in legacy.items():
        if tag.startswith(prefix):
            return found
    match = re.match(r"(?:manylinux|macosx)_(\d+)_(\d+)_", tag)
    return [int(match[1]), int(match[2])] if match else None


def _line(version: Version) -> str:
    return f"{version.major}.{version.minor}"


def _first_metadata(
    wheels: list[Wheel], platforms: tuple[str, ...] | None = None
) -> dict[tuple[Version, str], list[Requirement]]:
    """The requirements of one wheel per version and platform."""
    chosen = {
        (wheel.version, wheel.platform): wheel for wheel in wheels if not platforms or wheel.platform in platforms
    }
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(chosen, pool.map(_requirements, chosen.values()), strict=True))


def _requirements(wheel: Wheel) -> list[Requirement]:
    if wheel.has_metadata:
        with opened(wheel.url + ".metadata", {}) as answer:
            text = answer.read()
    else:
        with zipfile.ZipFile(io.BufferedReader(RemoteFile(wheel.url), 1 << 16)) as archive:
            name = next(name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
            text = archive.read(name)
    raw, _ = parse_email(text)
    return [Requirement(line) for line in raw.get("requires_dist", [])]


def _text(content: dict[str, Any]) -> str:
    """JSON with one row a line, so that a difference shows rows."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list):
            rows = ",\n".join("    " + json.dumps(row) for row in value)
            lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _differs(path: Path, content: dict[str, Any]) -> bool:
    """Whether anything but the days differs."""
    if not path.exists():
        return True
    days = re.compile(r'"date": "[^"]*"')
    return days.sub("", path.read_text(encoding="utf-8")) != days.sub("", _text(content))


if __name__ == "__main__":
    sys.exit(main())
