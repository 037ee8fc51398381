"""What loads together in an environment: libraries that lack others or their symbols, and torch when it is imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_environments import TORCH, Environment

from torchlift.doctor.facts import Facts, Library
from torchlift.doctor.probes import torch_import

pytestmark = pytest.mark.skipif(os.name != "posix", reason="environments are laid out as on POSIX")
CC = shutil.which("cc")
needs_loader = pytest.mark.skipif(CC is None or sys.platform != "linux", reason="no C compiler for Linux libraries")


@pytest.fixture
def built(environment: Environment, tmp_path: Path) -> Callable[..., bytes]:
    """Compiles a library against earlier ones, as bytes to install."""

    def build(name: str, code: str, against: tuple[Path, ...] = (), flags: tuple[str, ...] = ()) -> bytes:
        assert CC is not None
        source = tmp_path / f"{name}.c"
        source.write_text(code)
        target = tmp_path / name
        command = [
            CC,
            "-shared",
            "-fPIC",
            f"-Wl,-soname,{name}",
            "-o",
            target,
            source,
            "-Wl,--no-as-needed",
            *against,
            *flags,
        ]
        subprocess.run(command, check=True)
        return target.read_bytes()

    return build


@needs_loader
def test_an_extension_built_for_another_torch_names_the_symbols_that_this_one_lacks(
    environment: Environment, tmp_path: Path, built: Callable[..., bytes]
) -> None:
    c10 = built("libc10.so", "void _ZN3c105ErrorD1Ev(void) {}")
    own = built("libown.so", "void _ZN2at6helperEv(void) {}")
    code = (
        "void _ZN3c105ErrorD1Ev(void); void _ZN3c106WarnerEv(void); void _ZN2at6helperEv(void); void elsewhere(void);"
        "extern void _ZNK2at6Tensor3newEv(void) __attribute__((weak));"
        "void go(void) { _ZN3c105ErrorD1Ev(); _ZN3c106WarnerEv(); _ZN2at6helperEv(); elsewhere();"
        " if (_ZNK2at6Tensor3newEv) _ZNK2at6Tensor3newEv(); }"
    )
    flags = ("-Wl,-rpath,$ORIGIN/lib", "-Wl,--unresolved-symbols=ignore-all")
    extension = built("_C.so", code, (tmp_path / "libc10.so", tmp_path / "libown.so"), flags)
    environment.install("torch", "2.15.0", {**TORCH, "torch/lib/libc10.so": c10})
    environment.install("my-kernels", "0.1", {"my_kernels/_C.so": extension, "my_kernels/lib/libown.so": own})
    library = next(one for one in environment.facts().libraries if one.package == "my-kernels")
    assert library.needed[:2] == ["libc10.so", "libown.so"]
    assert library.undefined_torch_symbols == ["_ZN3c106WarnerEv"]
    assert library.missing_needed == []


@needs_loader
def test_a_missing_cuda_library_is_named_and_one_that_a_sibling_package_brings_is_not(
    environment: Environment, tmp_path: Path, built: Callable[..., bytes]
) -> None:
    names = ("libcudnn.so.99", "libnccl.so.98", "libcuda.so.1", "libmpi.so.97", "libcublas.so.96")
    libraries = {name: built(name, f"int v{number};") for number, name in enumerate(names)}
    cuda = built("libtorch_cuda.so", "int x;", tuple(tmp_path / name for name in names))
    plugin = built("libplugin.so.1", "int y;", (tmp_path / "libmpi.so.97",))
    environment.install("torch", "2.15.0", {**TORCH, "torch/lib/libtorch_cuda.so": cuda})
    environment.install("nvidia-nccl-cu13", files={"nvidia/nccl/lib/libnccl.so.98": libraries["libnccl.so.98"]})
    environment.install("nvidia-nvshmem-cu13", files={"nvidia/nvshmem/lib/libplugin.so.1": plugin})
    environment.write({"libcublas.so.96": libraries["libcublas.so.96"]}, tmp_path / "told")
    environment.variables["LD_LIBRARY_PATH"] = str(tmp_path / "told")
    found: dict[str, Library] = {Path(one.path).name: one for one in environment.facts().libraries}
    assert found["libtorch_cuda.so"].missing_needed == ["libcudnn.so.99", "libmpi.so.97"]
    assert "libplugin.so.1" not in found


def imported(environment: Environment, code: str, **options: object) -> Facts:
    environment.install("torch", "2.15.0", {**TORCH, "torch/__init__.py": code})
    return environment.facts(import_torch=True, **options)


def test_an_import_that_works_is_recorded_with_its_answer_about_cuda(environment: Environment) -> None:
    torch = imported(
        environment, "print('noise', end='')\nclass cuda:\n    is_available = staticmethod(lambda: True)\n"
    ).torch
    assert torch is not None
    assert (torch.import_outcome, torch.import_error, torch.cuda_available) == ("ok", None, True)
    assert torch.import_seconds is not None


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "raise ImportError('libcudnn.so.9: cannot open shared object file')",
            "ImportError: libcudnn.so.9: cannot open",
        ),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os._exit(4)", ""),
    ],
)
def test_an_import_that_fails_is_recorded_with_its_text(environment: Environment, code: str, error: str) -> None:
    torch = imported(environment, code).torch
    assert torch is not None
    assert torch.import_outcome == "error"
    assert (torch.import_error or "").startswith(error)
    assert torch.cuda_available is None


def test_an_import_that_crashes_is_recorded_as_a_crash(environment: Environment) -> None:
    torch = imported(environment, "import os; os.abort()").torch
    assert torch is not None
    assert torch.import_outcome == "crashed"
    assert "SIGABRT" in (torch.import_error or "")


def test_a_crash_in_the_question_about_cuda_leaves_the_import_good(environment: Environment) -> None:
    facts = imported(environment, "import os\nclass cuda:\n    is_available = staticmethod(os.abort)\n")
    assert facts.torch is not None
    assert (facts.torch.import_outcome, facts.torch.cuda_available) == ("ok", None)
    assert [(failure.probe, failure.outcome) for failure in facts.failures] == [("torch-import", "crashed")]
    assert "torch.cuda.is_available()" in facts.failures[0].detail


def test_an_import_that_hangs_is_ended(environment: Environment) -> None:
    environment.install("torch", "2.15.0", {**TORCH, "torch/__init__.py": "import time; time.sleep(600)"})
    facts = environment.facts()
    torch_import.read(torch_import.start(environment.python, timeout=2.0).result(), facts)
    assert facts.torch is not None
    assert facts.torch.import_outcome == "timeout"


@needs_loader
def test_cuda_libraries_from_outside_the_environment_are_named(
    environment: Environment, tmp_path: Path, built: Callable[..., bytes]
) -> None:
    foreign, own = built("libcudart.so.13", "int a;"), built("libnccl.so.2", "int b;")
    environment.write({"libcudart.so.13": foreign}, tmp_path / "toolkit")
    environment.install("nvidia-nccl-cu13", files={"nvidia/nccl/lib/libnccl.so.2": own})
    paths = [str(tmp_path / "toolkit/libcudart.so.13"), str(environment.site / "nvidia/nccl/lib/libnccl.so.2")]
    torch = imported(environment, f"import ctypes\nkept = [ctypes.CDLL(path) for path in {paths!r}]\n").torch
    assert torch is not None
    assert torch.foreign_libraries == [str(tmp_path / "toolkit/libcudart.so.13")]
