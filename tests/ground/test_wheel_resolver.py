"""Which wheel is recommended to which machine."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from exhaustive import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlift.wheels import drivers
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.compatibility import runs_on
from torchlift.wheels.gpus import by_name
from torchlift.wheels.machine import Device, Machine
from torchlift.wheels.resolver import resolve
from torchlift.wheels.tables import table

ROOT = "https://download.pytorch.org/whl/"


def device(name: str) -> Device:
    """An NVIDIA GPU by a name people use."""
    gpu = by_name(name).gpu
    assert gpu is not None and gpu.capability is not None, name
    return Device(name, gpu.capability)


def machine(*names: str, driver: str | None = "595.58.03", **others: Any) -> Machine:
    """A Linux machine with Python 3.12 and a new glibc, but for what `others` says."""
    settings: dict[str, Any] = {"python": (3, 12), "glibc": (2, 39), **others}
    return Machine(devices=tuple(map(device, names)), driver=driver, **settings)


@dataclass(frozen=True)
class Case:
    """A machine and a requirement, and what the answer must be."""

    title: str
    machine: Machine
    kind: str
    build: str | None = None
    torch: str | None = None
    pip: str | None = None
    wanted: str | None = None
    upgrade: str | None = None
    words: tuple[str, ...] = ()
    """All of them stand somewhere in the answer."""
    parts: dict[str, str] = field(default_factory=dict)
    """For splits: GPU -> build."""


CU126 = f'pip install "torch==2.14.*" --index-url {ROOT}cu126'
CU130 = f'pip install "torch==2.15.*" --index-url {ROOT}cu130'

CASES = [
    Case("H100 with R595", machine("H100"), "wheel", "cu132", "2.15", "pip install torch"),
    Case("RTX 4090 with R595", machine("RTX 4090"), "wheel", "cu132", "2.15", "pip install torch"),
    Case("H200 with R610", machine("H200", driver="610.43.02"), "wheel", "cu132", "2.15", "pip install torch"),
    Case("B300 with R595", machine("B300"), "wheel", "cu132", "2.15", "pip install torch"),
    Case("H100 with the R580 LTS", machine("H100", driver="580.95.05"), "wheel", "cu130", "2.15", CU130),
    Case("H100 with R590", machine("H100", driver="590.48.01"), "wheel", "cu130", "2.15", CU130),
    Case("T4 with R535", machine("T4", driver="535.104.05"), "wheel", "cu126", "2.14", CU126, upgrade="580.65.06"),
    Case("RTX 4090 with R525", machine("RTX 4090", driver="525.85.12"), "wheel", "cu126", "2.14", CU126),
    Case("H100 with R575", machine("H100", driver="575.57.08"), "wheel", "cu126", "2.14", upgrade="580.65.06"),
    Case("V100 with R580", machine("V100", driver="580.95.05"), "wheel", "cu126", "2.14", CU126,
         words=("2.14 is the last release with code for V100 (7.0)", "--torch-backend=auto")),
    Case("P100 with R580", machine("P100", driver="580.95.05"), "wheel", "cu126", "2.14", CU126,
         words=("eager code only",)),
    Case("GTX 1080 Ti with R580", machine("GTX 1080 Ti", driver="580.95.05"), "wheel", "cu126", "2.14", CU126),
    Case("GTX 980 with R535", machine("GTX 980", driver="535.183.01"), "wheel", "cu126", "2.14", CU126),
    Case("V100 with R470", machine("V100", driver="470.82.01"), "wheel", "cu118", "2.7", upgrade="525.60.13"),
    Case("K80 with R470", machine("K80", driver="470.82.01"), "wheel", "cu118", "2.7",
         f'pip install "torch==2.7.*" --index-url {ROOT}cu118'),
    Case("K80 with Python 3.14", machine("K80", driver="470.82.01", python=(3, 14)), "none",
         words=("Python 3.14", "with another Python", "cu118")),
    Case("GTX 680", machine("GTX 680", driver="470.82.01"), "none", words=("No torch 2.x wheel", "from source")),
    Case("RTX 5090 with R560", machine("RTX 5090", driver="560.35.05"), "upgrade-driver", upgrade="580.65.06",
         words=("too old for RTX 5090 (12.0)", "570", "560.35.05")),
    Case("RTX 5090 with R575", machine("RTX 5090", driver="575.57.08"), "wheel", "cu128", "2.11",
         f'pip install "torch==2.11.*" --index-url {ROOT}cu128', upgrade="580.65.06"),
    Case("RTX 5090 with R575 on Windows", machine("RTX 5090", driver="576.57", os="windows"), "wheel", "cu128", "2.11",
         f'pip install "torch==2.11.*" --index-url {ROOT}cu128', upgrade="580.88"),
    Case("RTX 5090 with R580", machine("RTX 5090", driver="580.65.06"), "wheel", "cu130", "2.15", CU130),
    Case("V100 beside H100", machine("V100", "H100", driver="580.95.05"), "wheel", "cu126", "2.14", CU126),
    Case("V100 beside B200", machine("V100", "B200", driver="580.95.05"), "wheel", "cu128", "2.10",
         'pip install "torch==2.10.*"'),
    Case("P100 beside RTX 5090", machine("P100", "RTX 5090", driver="580.95.05"), "split",
         parts={"RTX 5090": "cu130", "P100": "cu126"}, words=("2 environments", "CUDA_VISIBLE_DEVICES")),
    Case("P100 beside RTX 5090 with R560", machine("P100", "RTX 5090", driver="560.35.05"), "upgrade-driver",
         upgrade="580.65.06", parts={"RTX 5090": "cu130", "P100": "cu126"}),
    Case("K80 beside RTX 4090", machine("K80", "RTX 4090", driver="525.60.13"), "none",
         words=("No driver serves", "470", "520")),
    Case("GTX 680 beside GTX 1080 Ti", machine("GTX 680", "GTX 1080 Ti", driver="470.82.01"), "split",
         parts={"GTX 1080 Ti": "cu118"}, words=("hide it",)),
    Case("Thor", machine("Thor", driver="580.00", machine="aarch64", jetson=True), "wheel", "cu130", "2.15", CU130),
    Case("Thor with R595", machine("Thor", machine="aarch64", jetson=True), "wheel", "cu132", pip="pip install torch"),
    Case("DGX Spark with R580", machine("DGX Spark", driver="580.95.05", machine="aarch64"), "wheel", "cu130", "2.15"),
    Case("DGX Spark with R595", machine("DGX Spark", machine="aarch64"), "wheel", "cu132", pip="pip install torch"),
    Case("GH200 with R570", machine("GH200", driver="570.124.06", machine="aarch64"), "wheel", "cu126", "2.14", CU126),
    Case("Orin with JetPack 6", machine("Orin", driver="540.4.0", machine="aarch64", jetson=True), "wheel", "jetson",
         upgrade="580.65.06", words=("https://pypi.jetson-ai-lab.io/jp6/cu126", "CUDA 13.2")),
    Case("Orin with R595", machine("Orin", machine="aarch64", jetson=True), "wheel", "cu132", "2.15",
         words=("no run that shows it",)),
    Case("Xavier", machine("Xavier", driver=None, machine="aarch64", jetson=True), "none", words=("JetPack",)),
    Case("T4G", machine("T4G", machine="aarch64"), "none", words=("from source", "aarch64")),
    Case("RTX 4090 on Windows with R580", machine("RTX 4090", driver="581.42", os="windows"), "wheel", "cu130", "2.15",
         CU130),
    Case("RTX 4090 on Windows with R595", machine("RTX 4090", driver="595.97", os="windows"), "wheel", "cu132", "2.15",
         f'pip install "torch==2.15.*" --index-url {ROOT}cu132'),
    Case("RTX 4090 on Windows below CUDA 13's first driver", machine("RTX 4090", driver="580.61", os="windows"), "wheel",
         "cu126", "2.14", CU126, upgrade="580.88"),
    Case("RTX 4090 on Windows with CUDA 13's first driver", machine("RTX 4090", driver="580.88", os="windows"), "wheel",
         "cu130", "2.15", CU130),
    Case("RTX 4090 under WSL below CUDA 13's first driver",
         machine("RTX 4090", driver="580.61", windows_driver=True), "wheel", "cu126", "2.14"),
    Case("a driver older than every build of the release", machine("A10", driver="550.54.15"), "wheel", "cu126", "2.8.0",
         f'pip install "torch==2.8.0" --index-url {ROOT}cu126', wanted="torch==2.8.0"),
    Case("V100 on Windows", machine("V100", driver="581.42", os="windows"), "wheel", "cu126", "2.14", CU126),
    Case("Python 3.15", machine("RTX 4090", python=(3, 15)), "wheel", "cu132", "2.15", "pip install torch"),
    Case("Python 3.9", machine("RTX 4090", python=(3, 9)), "wheel", "cu128", "2.8", 'pip install "torch==2.8.*"',
         words=("has no wheel for Python 3.9",)),
    Case("free-threaded 3.13", machine("RTX 4090", python=(3, 13), free_threaded=True), "wheel", "cu130", "2.12",
         words=("3.13t",)),
    Case("free-threaded 3.14", machine("RTX 4090", python=(3, 14), free_threaded=True), "wheel", "cu132", "2.15"),
    Case("V100 with Python 3.15", machine("V100", driver="580.95.05", python=(3, 15)), "none",
         words=("no wheel for Python 3.15", CU126)),
    Case("CentOS 7", machine("RTX 4090", glibc=(2, 17)), "wheel", "cu124", "2.6", 'pip install "torch==2.6.*"',
         words=("glibc 2.28", "2.17")),
    Case("Alpine", machine("RTX 4090", glibc=None, musl=True), "none", words=("musl",)),
    Case("no GPU on Linux", machine(driver=None), "wheel", "cpu", "2.15", f"pip install torch --index-url {ROOT}cpu"),
    Case("no GPU on Linux aarch64", machine(driver=None, machine="aarch64"), "wheel", "cpu",
         pip=f"pip install torch --index-url {ROOT}cpu"),
    Case("no GPU on Windows", machine(driver=None, os="windows"), "wheel", "cpu", pip="pip install torch"),
    Case("Windows on ARM", machine(driver=None, os="windows", machine="aarch64"), "none", words=("Windows on ARM",)),
    Case("Apple silicon", Machine(os="darwin", machine="arm64", macos=(15, 1), python=(3, 12)), "wheel", "cpu", "2.15",
         "pip install torch", words=("MPS",)),
    Case("macOS 13", Machine(os="darwin", machine="aarch64", macos=(13, 6), python=(3, 12)), "wheel", "cpu", "2.11",
         words=("macOS 14",)),
    Case("Mac with Intel", Machine(os="darwin", machine="x86_64", macos=(13, 6), python=(3, 12)), "wheel", "cpu", "2.2",
         'pip install "torch==2.2.*"', words=("last release for macOS on Intel",)),
    Case("Mac with Intel and Python 3.13", Machine(os="darwin", machine="x86_64", python=(3, 13)), "none",
         words=("Python 3.13",)),
    Case("AMD", Machine((Device("MI300X", None, "amd", "gfx942"),), python=(3, 12)), "wheel", "rocm7.2", "2.14",
         f'pip install "torch==2.14.*" --index-url {ROOT}rocm7.2', words=("rocm7.14",)),
    Case("AMD and a torch whose ROCm builds are not known", Machine((Device("MI300X", None, "amd", "gfx942"),)), "unknown",
         wanted="torch==2.15", words=("ROCm builds torch 2.15 has is not in torchlift's data", "whl/rocm7.2")),
    Case("AMD and a torch before ROCm's index", Machine((Device("MI300X", None, "amd", "gfx942"),)), "none",
         wanted="torch==2.13+rocm7.14", words=("whl/rocm7.2",)),
    Case("an AMD GPU that users run on its sibling's code", Machine((Device("RX 6700", None, "amd", "gfx1031"),)), "wheel",
         "rocm7.2", words=("HSA_OVERRIDE_GFX_VERSION=10.3.0",)),
    Case("an AMD GPU without code", Machine((Device("Radeon", None, "amd", "gfx1036"),), python=(3, 12)), "wheel", "cpu",
         words=("ROCm wheels have no code for gfx1036",)),
    Case("AMD GPUs of which one has code",
         Machine((Device("MI300X", None, "amd", "gfx942"), Device("Radeon", None, "amd", "gfx1036"))), "wheel", "rocm7.2",
         words=("it has no code for gfx1036",)),
    Case("an AMD GPU of unknown architecture", Machine((Device("Radeon", None, "amd"),)), "wheel", "rocm7.2",
         words=("has code for Radeon is not in torchlift's data",)),
    Case("AMD on Windows", Machine((Device("RX 7900", None, "amd"),), os="windows"), "none", words=("ROCm", "Linux")),
    Case("Arc", Machine((Device("Arc B580", None, "intel"),), python=(3, 12)), "wheel", "xpu",
         "2.14",
         f"pip install torch --index-url {ROOT}xpu"),
    Case("Arc and a torch before XPU", Machine((Device("Arc B580", None, "intel"),)), "none", wanted="torch==2.5",
         words=("no xpu build", f"pip install torch --index-url {ROOT}xpu")),
    Case("Arc on Arm", Machine((Device("Arc B580", None, "intel"),), machine="aarch64"), "wheel", "cpu"),
    Case("old Intel graphics", Machine((Device("UHD Graphics 630", None, "intel"),), python=(3, 12)), "wheel", "cpu"),
    Case("NVIDIA beside integrated AMD graphics",
         replace(machine("RTX 4090"), devices=(Device("Radeon", None, "amd"), device("RTX 4090"))), "wheel", "cu132"),
    Case("torch 2.15 on V100", machine("V100", driver="580.95.05"), "none", wanted="torch==2.15",
         words=("torch 2.15 has no wheel", "V100 (7.0)", "last release with one is 2.14", CU126)),
    Case("torch 2.15 for cu126", machine("V100", driver="580.95.05"), "none", wanted="torch==2.15.0+cu126",
         words=("does not exist", "2.14", "announced as not published", CU126)),
    Case("torch 2.15 with R570", machine("H100", driver="570.124.06"), "upgrade-driver", wanted="torch==2.15",
         upgrade="580.65.06", words=(CU126,)),
    Case("torch 2.13 on RTX 5090 with R575", machine("RTX 5090", driver="575.57.08"), "upgrade-driver",
         wanted="torch==2.13.0", upgrade="580.65.06"),
    Case("cu129 asked for by name", machine("RTX 5090", driver="575.57.08"), "wheel", "cu129", "2.13.0",
         wanted="torch==2.13.0+cu129", words=("secondary source only",)),
    Case("a range", machine("H100"), "wheel", "cu128", "2.8", 'pip install "torch==2.8.*"', wanted=">=2.6,<2.9"),
    Case("a range inside a line", machine("H100"), "wheel", "cu130", "2.12.0", 'pip install "torch==2.12.0"',
         wanted="torch>=2.11,<2.12.1"),
    Case("a bare line", machine("H100"), "wheel", "cu130", "2.14", 'pip install "torch==2.14.*"', wanted="2.14"),
    Case("the CPU build beside a GPU", machine("H100"), "wheel", "cpu", "2.14.1", wanted="torch==2.14.1+cpu"),
    Case("a CUDA build without a GPU", machine(driver=None), "wheel", "cu126", "2.14.1", wanted="torch==2.14.1+cu126"),
    Case("a later torch", machine("H100"), "unknown", wanted="torch==2.16", words=("newer than torchlift's data (of",)),
    Case("a later patch release", machine("H100"), "unknown", wanted="torch==2.15.3", words=("newer than",)),
    Case("torch 1.13", machine("H100"), "unknown", wanted="torch==1.13.1", words=("older than torchlift's data",)),
    Case("no release before the first", machine("H100"), "none", wanted="torch>=2.0.0,<2.0.0", words=("No release",)),
    Case("nothing satisfies it", machine("H100"), "none", wanted="torch>2.6,<2.5", words=("No release",)),
    Case("a patch release that never came", machine("H100"), "none", wanted="torch==2.3.7", words=("No release",)),
    Case("no requirement on torch", machine("H100"), "unknown", wanted="numpy>=2", words=("not understood",)),
    Case("a later architecture", Machine((Device("R100", (13, 0)),), driver="650.1"), "unknown",
         words=("13.0", "newer than torchlift's data")),
    Case("ptxas knows 8.8, the table does not", Machine((Device("X", (8, 8)),), driver="595.58.03"), "unknown",
         words=("8.8",)),
    Case("an unknown capability", Machine((Device("X", None),), driver="595.58.03"), "unknown",
         words=("compute capability of X is not known",)),
    Case("a later driver", machine("H100", driver="700.10"), "wheel", "cu132", "2.15", "pip install torch",
         words=("newer than torchlift's data",)),
    Case("the driver is not known", machine("H100", driver=None), "wheel", "cu132",
         words=("driver is not known", "580 or newer")),
    Case("only the driver's CUDA is known", machine("H100", driver=None, cuda_driver=12080), "wheel", "cu126", "2.14"),
    Case("only CUDA 13.0 is known", machine("H100", driver=None, cuda_driver=13000), "wheel", "cu130", "2.15"),
    Case("V100 with a branch that left it", machine("V100", driver="595.58.03"), "wheel", "cu126",
         words=("back to driver branch 580",)),
    Case("10.1 is Thor's former number", Machine((Device("Thor", (10, 1)),), driver="595.58.03", machine="aarch64"),
         "wheel", "cu132"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_answer_is_the_right_one(case: Case) -> None:
    answer = resolve(case.machine, case.wanted)
    assert answer.kind == case.kind, answer
    if case.kind == "wheel":
        assert answer.choice is not None
        assert answer.choice.build == case.build
        assert case.torch in (None, answer.choice.torch)
        assert case.pip in (None, answer.choice.pip)
    else:
        assert answer.choice is None
    if case.upgrade is not None:
        assert answer.upgrade_driver == case.upgrade
    assert {name: choice.build for names, choice in answer.parts for name in names} == case.parts
    for word in case.words:
        assert word in repr(answer), word


def test_r580_is_told_that_the_default_wheel_runs_too_but_not_all_of_it() -> None:
    answer = resolve(machine("H100", driver="580.95.05"))
    default = answer.alternatives[0]
    assert default.pip == "pip install torch"
    assert "minor-version compatibility" in default.warnings[0] and "error 222" in default.warnings[0]


def test_after_the_driver_upgrade_comes_the_wheel_that_the_new_driver_knows_all_of() -> None:
    answer = resolve(machine("RTX 5090", driver="565.57.01"))
    assert answer.then is not None and answer.then.pip == CU130


def test_uv_and_pip_name_companions_of_the_same_release() -> None:
    answer = resolve(machine("V100", driver="580.95.05"), companions=("torchvision", "torchaudio"))
    assert answer.choice is not None
    assert answer.choice.pip == (
        f'pip install "torch==2.14.*" "torchvision==0.29.*" torchaudio --index-url {ROOT}cu126'
    )
    exact = resolve(
        machine("V100", driver="580.95.05"), "torch==2.7.1", companions=("torchvision", "torchaudio")
    ).choice
    assert exact is not None and '"torch==2.7.1" "torchvision==0.22.1" "torchaudio==2.7.1"' in exact.uv


def test_a_companion_that_is_no_package_name_stays_out_of_the_command() -> None:
    answer = resolve(machine("H100"), companions=("torchvision; rm -rf /", "$(id)", "--index-url"))
    assert answer.choice is not None and answer.choice.pip == "pip install torch"


def test_windows_never_gets_a_cuda_wheel_without_an_index() -> None:
    for line in (None, "torch==2.0.1", "torch==2.5.1", "torch==2.9", "torch==2.15"):
        choice = resolve(machine("T4", driver="595.97", os="windows", python=(3, 11)), line).choice
        assert choice is not None and choice.index is not None, line


NAMES = ("H100", "V100", "P100", "GTX 1080 Ti", "RTX 5090", "K80", "GTX 680", "B200", "B300", "RTX 4090", "T4", "Thor",
         "Orin", "GB10", "Xavier", "GTX 980", "RTX 3090", "A100")  # fmt: skip
DRIVERS = ("390.157", "450.80.02", "470.82.01", "515.43.04", "520.61.05", "525.60.13", "530.30.02", "535.104.05",
           "550.54.15", "560.28.03", "570.26", "575.57.08", "580.00", "580.65.06", "581.42", "590.44.01", "595.45.04",
           "610.1", "700.1")  # fmt: skip
REQUIREMENTS = st.one_of(
    st.none(),
    st.sampled_from(["torch==2.15", ">=2.6,<2.9", "torch==2.14.1+cu126", "torch<=2.10", "2.7", "torch==2.13.0+cu129"]),
)
SENSIBLE = st.builds(
    Machine,
    devices=st.lists(st.sampled_from([device(name) for name in NAMES]), max_size=3).map(tuple),
    driver=st.none() | st.sampled_from(DRIVERS),
    cuda_driver=st.none() | st.sampled_from([11040, 11080, 12000, 12020, 12080, 13000, 13010, 13020]),
    os=st.sampled_from(["linux", "linux", "windows", "darwin"]),
    machine=st.sampled_from(["x86_64", "x86_64", "aarch64"]),
    python=st.none() | st.sampled_from([(3, minor) for minor in range(8, 17)]),
    free_threaded=st.booleans(),
    glibc=st.none() | st.sampled_from([(2, 12), (2, 17), (2, 27), (2, 28), (2, 39)]),
    jetson=st.booleans(),
    macos=st.none() | st.sampled_from([(10, 15), (13, 0), (14, 0), (26, 0)]),
)
STRANGE = st.builds(
    Machine,
    devices=st.lists(
        st.builds(
            Device,
            name=st.text(max_size=8),
            capability=st.none() | st.tuples(st.integers(-1, 30), st.integers(-1, 12)),
            vendor=st.sampled_from(["nvidia", "amd", "intel", "apple", "", "NVIDIA", "x"]),
            architecture=st.none() | st.text(max_size=6),
        ),
        max_size=4,
    ).map(tuple),
    driver=st.none() | st.text(max_size=12) | st.from_regex(r"\d{1,20}(\.\d{1,4}){0,5}", fullmatch=True),
    cuda_driver=st.none() | st.integers(),
    os=st.sampled_from(["linux", "windows", "darwin"]) | st.text(max_size=6),
    machine=st.sampled_from(["x86_64", "aarch64", "AMD64", "ppc64le"]) | st.text(max_size=6),
    python=st.none() | st.tuples(st.integers(), st.integers()),
    free_threaded=st.booleans(),
    glibc=st.none() | st.tuples(st.integers(), st.integers()),
    musl=st.booleans(),
    jetson=st.booleans(),
    macos=st.none() | st.tuples(st.integers(), st.integers()),
)


def _check_choice(choice: Choice, on: Machine, devices: tuple[Device, ...], driver: str | None) -> None:
    """What must hold of any wheel that is recommended, by the tables alone."""
    assert shlex.split(choice.uv) == ["uv", *shlex.split(choice.pip)]
    assert (f" --index-url {choice.index}" in choice.pip) == (choice.index is not None)
    if choice.build == "jetson":
        assert not choice.measured  # what its index has is known from guides
        return
    system = {"linux": f"linux_{on.machine}", "windows": "windows_amd64"}.get(on.os) or (
        "darwin_arm64" if on.machine == "aarch64" else "darwin_x86_64"
    )
    pinned = re.search(r'torch==([\d.]+?)(\.\*)?"', choice.pip)
    line = ".".join((pinned[1] if pinned else table("releases")["rows"][-1]["torch"]).split(".")[:2])
    tag = f"{on.python[0]}.{on.python[1]}{'t' if on.free_threaded else ''}" if on.python else None
    floor_of = on.glibc if on.os == "linux" else on.macos if on.os == "darwin" else None
    assert any(
        row["torch"] == line
        and row["platform"] == system
        and (pinned is None or row["version"] == pinned[1] or bool(pinned[2]))
        and (tag is None or tag in row["pythons"])
        and (floor_of is None or row["floor"] is None or list(floor_of) >= row["floor"])
        for row in table("releases")["rows"]
    ), "no such file"
    if not choice.build.startswith("cu"):
        return
    row = next(
        row
        for row in table("wheels")["rows"]
        if (row["torch"], row["build"], row["platform"]) == (line, choice.build, system)
    )
    toolkit = (int(choice.build[2:4]), int(choice.build[4:]))
    for one in devices:
        assert one.capability is not None
        assert any(runs_on(image, one.capability, toolkit) for image in row["sass"]), "no code for a GPU"
    if driver is not None and devices:
        os = "windows" if on.os == "windows" else "linux"
        assert drivers.meets(driver, drivers.floor(toolkit[0], os)), "the driver is below the floor"
        for one in devices:
            first = drivers.first_branch(one.capability or (0, 0))
            assert first is None or drivers.branch(driver) >= first, "the driver does not know a GPU"
    elif on.cuda_driver is not None and devices:
        assert on.cuda_driver // 1000 >= toolkit[0]


@settings(max_examples=tried(130, 400))
@given(SENSIBLE, REQUIREMENTS)
def test_a_recommended_wheel_exists_and_has_code_for_every_gpu_and_a_driver_that_runs_it(
    on: Machine, requirement: str | None
) -> None:
    answer = resolve(on, requirement, companions=("torchvision",))
    devices = on.devices if on.os != "darwin" else ()
    for choice in [answer.choice] if answer.choice else []:
        _check_choice(choice, on, devices, on.driver)
    if answer.then is not None:
        _check_choice(answer.then, on, devices, answer.upgrade_driver or on.driver)
    for names, choice in answer.parts:
        part = tuple(one for one in devices if one.name in names)
        _check_choice(choice, on, part, answer.upgrade_driver or on.driver)
    if answer.kind == "split":
        assert len({one.capability for one in devices}) > 1


@settings(max_examples=tried(130, 400))
@given(STRANGE, st.none() | st.text(max_size=20) | REQUIREMENTS, st.lists(st.text(max_size=10), max_size=2).map(tuple))
def test_any_machine_and_any_requirement_get_an_answer(
    on: Machine, requirement: str | None, companions: tuple[str, ...]
) -> None:
    answer = resolve(on, requirement, companions=companions)
    assert isinstance(answer, Answer)
    assert answer.summary and not answer.summary.endswith(".")
    assert (answer.kind == "wheel") == (answer.choice is not None)


@settings(max_examples=tried(70, 200))
@given(SENSIBLE)
def test_a_newer_driver_never_makes_the_release_older(on: Machine) -> None:
    if on.driver is None or not on.devices:
        return
    now = resolve(on).choice
    later = resolve(replace(on, driver="615.1")).choice
    if now is not None and now.build != "jetson":
        assert later is not None
        assert _numbers(later.torch) >= _numbers(now.torch)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")[:2]]


def test_a_torchaudio_beside_a_torch_for_another_cuda_is_warned_of() -> None:
    machine = Machine(devices=(Device("H100", (9, 0)),), driver="595.58.03", python=(3, 12), glibc=(2, 39))
    with_audio = resolve(machine, "torch==2.15.0", companions=("torchaudio",)).choice
    without = resolve(machine, "torch==2.15.0", companions=("torchvision",)).choice
    assert with_audio is not None and without is not None and with_audio.build == "cu132"
    assert any("refuses to be imported" in warning for warning in with_audio.warnings)
    assert not any("torchaudio" in warning for warning in without.warnings)
