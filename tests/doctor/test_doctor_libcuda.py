"""The probe of the CUDA driver library reads a library built from fixtures/drivers/fake_cuda.c."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from fake_drivers import A100, GB10, GIB, H100, K80, UNKNOWN, V100, FakeDrivers, is_installed, uuid_of

from torchlift.doctor.facts import CudaDevice, Facts
from torchlift.doctor.facts.facts_json import from_json, to_json
from torchlift.doctor.probes import libcuda, libcuda_child
from torchlift.doctor.probes.child import ChildResult


def look(environment: Mapping[str, str], timeout: float = 60) -> Facts:
    facts = Facts()
    libcuda.read(libcuda.start(environment, timeout).result(), facts)
    return facts


def test_devices_are_described_in_cudas_order(fake_drivers: FakeDrivers) -> None:
    environment = fake_drivers.machine([V100, H100], values={"cuda_order": (1, 0)})
    facts = look(environment)
    assert facts.failures == []
    assert (facts.libcuda.outcome, facts.libcuda.code, facts.libcuda.version) == ("ok", 0, 13000)
    assert facts.libcuda.devices == [
        CudaDevice(0, H100.name, "9.0", uuid_of(1), 80 * GIB, False),
        CudaDevice(1, V100.name, "7.0", uuid_of(0), 16 * GIB, False),
    ]


def test_the_file_really_loaded_is_named_behind_its_links(fake_drivers: FakeDrivers) -> None:
    environment = fake_drivers.machine([H100], driver="595.58.03", cuda=13020)
    facts = look(environment)
    assert facts.libcuda.path == f"{environment['LD_LIBRARY_PATH']}/libcuda.so.595.58.03"
    assert facts.libcuda.version == 13020


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        (3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"),
        (34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"),
        (46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"),
        (100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"),
        (101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"),
        (304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"),
        (802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"),
        (
            803,
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "system has unsupported display driver / cuda driver combination",
        ),
        (
            804,
            "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            "forward compatibility was attempted on non supported HW",
        ),
        (999, "CUDA_ERROR_UNKNOWN", "unknown error"),
    ],
)
def test_a_refused_initialisation_is_named_as_cuda_and_torch_name_it(
    fake_drivers: FakeDrivers, code: int, name: str, text: str
) -> None:
    facts = look(fake_drivers.machine([H100], cuInit=code))
    assert facts.libcuda.outcome == "error"
    assert (facts.libcuda.code, facts.libcuda.name, facts.libcuda.text) == (code, name, text)
    assert facts.libcuda.version == 13000
    assert facts.libcuda.devices == []
    assert facts.failures == []


def test_a_code_of_a_later_cuda_is_named_by_the_library_itself(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100], cuInit=4321, values={"error_name": "CUDA_ERROR_NEWER"}))
    assert (facts.libcuda.code, facts.libcuda.name, facts.libcuda.text) == (4321, "CUDA_ERROR_NEWER", None)


def test_an_old_driver_says_its_version_and_devices(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([K80], driver="440.33.01", cuda=10020, old=True))
    assert facts.libcuda.version == 10020
    assert facts.libcuda.devices == [CudaDevice(0, "Tesla K80", "3.7", uuid_of(0), 12 * GIB, False)]


@pytest.mark.parametrize(("visible", "code"), [("", 100), ("-1", 100), ("7", 100)])
def test_no_device_is_left_when_the_environment_hides_them_all(
    fake_drivers: FakeDrivers, visible: str, code: int
) -> None:
    facts = look(fake_drivers.machine([H100], environment={"CUDA_VISIBLE_DEVICES": visible}))
    assert (facts.libcuda.code, facts.libcuda.name) == (code, "CUDA_ERROR_NO_DEVICE")


@pytest.mark.parametrize(("visible", "seen"), [("1", [1]), ("1,0", [1, 0]), ("0,9,1", [0]), ("GPU-00000001", [1])])
def test_the_devices_are_those_the_environment_leaves_visible(
    fake_drivers: FakeDrivers, visible: str, seen: list[int]
) -> None:
    facts = look(fake_drivers.machine([V100, H100], environment={"CUDA_VISIBLE_DEVICES": visible}))
    assert [device.uuid for device in facts.libcuda.devices] == [uuid_of(index) for index in seen]


def test_an_integrated_gpu_says_so(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([GB10]))
    assert (facts.libcuda.devices[0].integrated, facts.libcuda.devices[0].compute_capability) == (True, "12.1")


def test_an_unknown_architecture_is_reported_as_it_is(fake_drivers: FakeDrivers) -> None:
    assert look(fake_drivers.machine([UNKNOWN])).libcuda.devices[0].compute_capability == "13.7"


def test_a_mig_slice_has_the_uuid_of_a_slice(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([A100.having(name=f"{A100.name} MIG 1g.5gb")]))
    assert facts.libcuda.devices[0].uuid == uuid_of(0).replace("GPU", "MIG")


def test_sixteen_devices_are_all_described(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100] * 16))
    assert [device.uuid for device in facts.libcuda.devices] == [uuid_of(index) for index in range(16)]


DEVICE_CALLS = (
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetUuid_v2",
)


@pytest.mark.parametrize("call", DEVICE_CALLS)
def test_a_refused_question_leaves_its_answer_unknown(fake_drivers: FakeDrivers, call: str) -> None:
    facts = look(fake_drivers.machine([H100], values={call: 999}))
    assert facts.failures == []
    assert facts.libcuda.outcome == "ok"
    (device,) = facts.libcuda.devices
    assert (device.name is None) == (call in ("cuDeviceGet", "cuDeviceGetName"))
    assert (device.compute_capability is None) == (call in ("cuDeviceGet", "cuDeviceGetAttribute"))
    assert (device.memory_total is None) == (call in ("cuDeviceGet", "cuDeviceTotalMem_v2"))


def test_a_driver_that_does_not_say_its_version_is_asked_further(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100], cuDriverGetVersion=999))
    assert (facts.libcuda.outcome, facts.libcuda.version, len(facts.libcuda.devices)) == ("ok", None, 1)


def test_the_loaders_own_words_about_an_empty_library_are_kept(fake_drivers: FakeDrivers) -> None:
    environment = fake_drivers.machine([H100], libcuda=b"")
    facts = look(environment)
    assert facts.libcuda.outcome == "missing"
    assert facts.libcuda.library_error == f"{environment['LD_LIBRARY_PATH']}/libcuda.so.1: file too short"


def test_a_library_that_is_none_of_cuda_is_an_error(fake_drivers: FakeDrivers) -> None:
    library = (fake_drivers.built / "fake_nvml.so").read_bytes()
    facts = look(fake_drivers.machine([H100], libcuda=library))
    assert (facts.libcuda.outcome, facts.libcuda.code) == ("error", None)
    assert facts.libcuda.text == "The library that was loaded has no cuInit"


def test_a_machine_without_the_library_is_told_apart_from_a_broken_one(fake_drivers: FakeDrivers) -> None:
    if is_installed("libcuda.so.1"):
        pytest.skip("this machine has an NVIDIA driver of its own")
    facts = look(fake_drivers.machine(libcuda=False))
    assert facts.libcuda.outcome == "missing"
    assert "No such file or directory" in (facts.libcuda.library_error or "")


def test_a_hang_leaves_what_was_found_and_names_the_call(fake_drivers: FakeDrivers) -> None:
    environment = fake_drivers.machine([H100], cuInit="hang")
    facts = look(environment, timeout=5)
    assert facts.libcuda.outcome == "timeout"
    assert facts.libcuda.version == 13000
    assert (facts.libcuda.path or "").startswith(environment["LD_LIBRARY_PATH"])
    (failure,) = facts.failures
    assert (failure.probe, failure.outcome, failure.detail) == ("libcuda", "timeout", "No answer within 5 s in cuInit")


def test_a_crash_leaves_what_was_found_and_names_the_call(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100, V100.having(capability=(7, 0))], cuDeviceTotalMem_v2="crash"))
    assert (facts.libcuda.outcome, facts.libcuda.code, facts.libcuda.version) == ("crashed", 0, 13000)
    (failure,) = facts.failures
    assert (failure.outcome, failure.signal) == ("crashed", 11)
    assert failure.detail == "Killed by SIGSEGV in cuDeviceTotalMem_v2 of device 0"


def test_a_crash_in_cuinit_is_a_fact(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100], cuInit="crash"))
    assert (facts.libcuda.outcome, facts.libcuda.version) == ("crashed", 13000)
    assert facts.libcuda.text == "Killed by SIGSEGV in cuInit"


def test_a_library_that_crashes_while_it_is_loaded_is_a_fact(fake_drivers: FakeDrivers, tmp_path: Path) -> None:
    source = tmp_path / "crash.c"
    source.write_text("#include <signal.h>\n__attribute__((constructor)) static void f(void) { raise(SIGABRT); }\n")
    built = tmp_path / "crash.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(built), str(source)], check=True)
    facts = look(fake_drivers.machine([H100], libcuda=built.read_bytes()))
    assert facts.libcuda.outcome == "crashed"
    assert facts.failures[0].detail == "Killed by SIGABRT in loading the library"


def test_the_facts_go_through_json_unharmed(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100, V100]))
    assert from_json(to_json(facts)) == facts


def test_an_examined_interpreter_of_an_old_release_can_run_the_child() -> None:
    source = Path(libcuda_child.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "collections.abc", "ctypes", "json", "os", "sys", "typing"}


def test_an_interpreter_that_is_none_is_a_failure_of_the_probe(fake_drivers: FakeDrivers) -> None:
    facts = Facts()
    libcuda.read(libcuda.start(fake_drivers.machine([H100]), 60, python="/bin/false").result(), facts)
    assert facts.libcuda.outcome == "not-run"
    assert facts.failures[0].outcome == "error"


@pytest.mark.parametrize("value", [None, [], {}, {"complete": True}, {"complete": True, "libcuda": {"version": "x"}}])
def test_an_answer_of_another_shape_is_a_failure_of_the_probe(value: object) -> None:
    facts = Facts()
    libcuda.read(ChildResult("ok", value), facts)
    assert facts.libcuda == Facts().libcuda
    assert [failure.outcome for failure in facts.failures] == ["error"]
