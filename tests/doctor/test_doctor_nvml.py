"""The NVML probe drives the real nvidia-ml-py through a library built from fixtures/drivers/fake_nvml.c."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_drivers import (
    A100,
    B200,
    GB10,
    GIB,
    GTX_1080_TI,
    H100,
    K80,
    P100,
    RTX_4090,
    RTX_5090,
    T4,
    UNKNOWN,
    V100,
    FakeDrivers,
    FakeGpu,
    Value,
    is_installed,
    uuid_of,
)
from nvml_probe import look, look_at, refusals

from torchlift.doctor.facts import CallError, Facts, MigSlice, SpareRows, SramEcc
from torchlift.doctor.facts.facts_json import from_json, to_json
from torchlift.doctor.probes import nvml
from torchlift.doctor.probes.child import ChildResult


def test_mixed_healthy_gpus_are_described_one_by_one(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([V100, H100], values={"branch": "r580_00"}))
    assert facts.failures == []
    assert facts.nvml.outcome == "ok"
    assert (facts.nvml.driver_version, facts.nvml.cuda_version, facts.nvml.driver_branch) == (
        "580.95.05",
        13000,
        "r580_00",
    )
    assert facts.nvml.gpu_count == 2
    old, new = facts.gpus
    assert (old.name, old.compute_capability, old.pci_device, old.brand) == (V100.name, "7.0", "1db1", "tesla")
    assert (new.name, new.compute_capability, new.pci_device, new.brand) == (H100.name, "9.0", "2330", "nvidia")
    assert [gpu.pci_address for gpu in facts.gpus] == ["0000:10:00.0", "0000:11:00.0"]
    assert [gpu.uuid for gpu in facts.gpus] == [uuid_of(0), uuid_of(1)]
    assert [gpu.memory_total for gpu in facts.gpus] == [16 * GIB, 80 * GIB]
    assert (new.power_limit, new.power_limit_default) == (300.0, 300.0)
    assert (new.sm_clock, new.sm_clock_max, new.memory_clock_max) == (1410, 1980, 2619)
    assert (new.persistence, new.compute_mode, new.virtualization) == (True, "default", "none")
    assert (new.nvlinks_active, new.nvlinks_inactive, old.nvlinks_active) == (18, 0, 6)
    assert (new.gsp_firmware, new.processes, new.temperature) == ("580.95.05", 0, 41)


def test_counted_errors_spare_rows_and_what_the_gpu_needs_are_told(fake_drivers: FakeDrivers) -> None:
    values: dict[str, Value] = {
        "ecc_uncorrected_ever": 3,
        "ecc_corrected_ever": 41,
        "sram": (1, 2, 5, 1, 0, 4, 1),
        "spare_rows": (638, 0, 0, 1, 1),
        "recovery_action": 4,
    }
    gpu = look_at(fake_drivers, H100.having(**values))
    assert (gpu.ecc_uncorrected, gpu.ecc_uncorrected_ever, gpu.ecc_corrected_ever) == (0, 3, 41)
    assert gpu.sram_ecc == SramEcc(1, 3, 5, True)
    assert gpu.spare_rows == SpareRows(638, 0, 0, 1, 1)
    assert gpu.recovery_action == "drain-and-reset"
    assert look_at(fake_drivers, H100.having(recovery_action=9)).recovery_action == "9"


def test_a_card_that_does_not_count_them_says_so(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, H100)
    assert (gpu.sram_ecc, gpu.spare_rows, gpu.recovery_action, gpu.ecc_uncorrected_ever) == (None,) * 4
    assert refusals(gpu)["nvmlDeviceGetSramEccErrorStatus"] == "NotSupported"


@pytest.mark.parametrize(
    ("mask", "faults"),
    [
        # Every pair of bits says 2: it is not so; the configuration says 1: none is wrong.
        (0b10 << 14 | 0b10 << 12 | 0x1 << 8 | 0b10101010, []),
        (0b01, ["degraded-bandwidth"]),
        (0b0101 << 4, ["route-unhealthy", "access-timeout-recovery"]),
        (0x4 << 8, ["no-partition"]),
    ],
)
def test_the_fabrics_health_is_read_from_its_mask(fake_drivers: FakeDrivers, mask: int, faults: list[str]) -> None:
    gpu = look_at(fake_drivers, B200.having(fabric_health=mask))
    assert (gpu.fabric_faults, gpu.fabric_cluster) == (faults, None)


def test_a_gpu_of_a_rack_knows_its_nvlink_domain(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, B200.having(fabric_cluster=0x5A, fabric_clique=32766))
    assert (gpu.fabric_cluster, gpu.fabric_clique) == ("5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a", 32766)


@pytest.mark.parametrize("call", ["nvmlDeviceGetSramEccErrorStatus", "nvmlDeviceGetRowRemapperHistogram"])
@pytest.mark.parametrize("how", ["crash", "hang"])
def test_a_health_call_that_dies_or_hangs_takes_no_other_facts_along(
    fake_drivers: FakeDrivers, call: str, how: str
) -> None:
    facts = look(fake_drivers.machine([H100.having(**{call: how}), T4]), timeout=3)
    assert [gpu.name for gpu in facts.gpus] == [H100.name, T4.name]
    (failure,) = facts.failures
    assert failure.outcome == ("crashed" if how == "crash" else "timeout") and call in failure.detail


def test_a_feature_the_card_lacks_is_unknown_and_a_refusal(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, GTX_1080_TI)
    assert (gpu.ecc_enabled, gpu.mig_enabled, gpu.remapping_pending, gpu.nvlinks_active) == (None,) * 4
    assert refusals(gpu)["nvmlDeviceGetEccMode"] == "NotSupported"
    assert CallError("nvmlDeviceGetMigMode", 3, "NotSupported") in gpu.errors
    assert not gpu.lost


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        (4, "NoPermission", "Insufficient Permissions"),
        (9, "DriverNotLoaded", "Driver Not Loaded"),
        (17, "OperatingSystem", "The operating system has blocked the request."),
        (18, "LibRmVersionMismatch", "RM has detected an NVML/RM version mismatch."),
        (999, "Unknown", "Unknown Error"),
        (777, "NVMLError", "Fake error 777"),
    ],
)
def test_a_refused_initialisation_keeps_code_name_and_text(
    fake_drivers: FakeDrivers, code: int, name: str, text: str
) -> None:
    facts = look(fake_drivers.machine([H100], nvmlInitWithFlags=code))
    assert facts.nvml.outcome == "error"
    assert (facts.nvml.code, facts.nvml.name) == (code, name)
    assert facts.nvml.text == text
    assert facts.gpus == []
    assert facts.failures == []


def test_a_driver_without_gpus_is_no_error(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([]))
    assert (facts.nvml.outcome, facts.nvml.gpu_count, facts.gpus, facts.peers) == ("ok", 0, [], [])


def test_the_loaders_own_words_about_an_empty_library_are_kept(fake_drivers: FakeDrivers) -> None:
    environment = fake_drivers.machine([H100], nvml=b"")
    facts = look(environment)
    assert facts.nvml.outcome == "missing"
    assert (facts.nvml.code, facts.nvml.name) == (12, "LibraryNotFound")
    assert facts.nvml.library_error == f"{environment['LD_LIBRARY_PATH']}/libnvidia-ml.so.1: file too short"


def test_the_loaders_own_words_about_a_library_of_another_kind_are_kept(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100], nvml=b"<html>404 not found</html>" * 100))
    assert facts.nvml.outcome == "missing"
    assert "invalid ELF header" in (facts.nvml.library_error or "")


def test_a_machine_without_the_library_is_told_apart_from_a_broken_one(fake_drivers: FakeDrivers) -> None:
    if is_installed("libnvidia-ml.so.1"):
        pytest.skip("this machine has an NVIDIA driver of its own")
    facts = look(fake_drivers.machine(nvml=False))
    assert facts.nvml.outcome == "missing"
    assert "No such file or directory" in (facts.nvml.library_error or "")


def test_a_lost_gpu_does_not_hide_the_others(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100, H100.having(lost=1), H100]))
    assert [gpu.lost for gpu in facts.gpus] == [False, True, False]
    assert [gpu.name for gpu in facts.gpus] == [H100.name, None, H100.name]
    assert CallError("nvmlDeviceGetHandleByIndex", 15, "GpuIsLost") in facts.gpus[1].errors
    assert [(link.source, link.target) for link in facts.peers] == [(0, 2), (2, 0)]


def test_a_gpu_lost_between_two_calls_keeps_what_was_known_of_it(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100.having(nvmlDeviceGetEccMode=15), H100]))
    assert [gpu.lost for gpu in facts.gpus] == [True, False]
    assert facts.gpus[0].name == H100.name
    assert facts.gpus[0].ecc_enabled is None
    assert facts.gpus[1].ecc_enabled is True


def test_a_gpu_that_needs_a_reset_is_a_refusal_of_that_gpu(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100.having(nvmlDeviceGetHandleByIndex_v2=16), H100]))
    assert CallError("nvmlDeviceGetHandleByIndex", 16, "ResetRequired") in facts.gpus[0].errors
    assert facts.gpus[1].name == H100.name


def test_one_gpu_that_must_not_be_seen_is_a_refusal_of_that_gpu(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([RTX_4090.having(nvmlDeviceGetHandleByIndex_v2=4), RTX_4090]))
    assert refusals(facts.gpus[0]) == {"nvmlDeviceGetHandleByIndex": "NoPermission"}
    assert facts.gpus[1].compute_capability == "8.9"


def test_an_old_driver_is_asked_by_the_old_names(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([K80.having(throttle=4)], driver="440.33.01", cuda=10020, old=True))
    assert facts.nvml.outcome == "ok"
    assert (facts.nvml.driver_version, facts.nvml.cuda_version) == ("440.33.01", 10020)
    (gpu,) = facts.gpus
    assert (gpu.name, gpu.compute_capability) == ("Tesla K80", "3.7")
    assert gpu.throttle_reasons == ["sw-power-cap"]
    assert (gpu.processes, gpu.mig_enabled, gpu.gsp_firmware, gpu.fabric_state) == (None,) * 4
    assert refusals(gpu)["nvmlDeviceGetMigMode"] == "FunctionNotFound"
    assert "nvmlSystemGetCudaDriverVersion_v2" not in {error.call for error in facts.nvml.errors}
    assert facts.failures == []


def test_sixteen_gpus_are_all_described_with_all_their_pairs(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100] * 16))
    assert [gpu.index for gpu in facts.gpus] == list(range(16))
    assert {gpu.compute_capability for gpu in facts.gpus} == {"9.0"}
    assert {(link.source, link.target) for link in facts.peers} == {
        (a, b) for a in range(16) for b in range(16) if a != b
    }


def test_pairs_are_left_out_beyond_sixteen_gpus(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([A100] * 17))
    assert len(facts.gpus) == 17
    assert facts.peers == []


def test_mig_slices_are_listed(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, H100.mig([("1g.10gb", 10 * GIB), ("3g.40gb", 40 * GIB)]))
    assert gpu.mig_enabled is True
    assert gpu.mig_slices == [
        MigSlice("MIG-00000000-0000-5000-8000-000000000000", f"{H100.name} MIG 1g.10gb", 10 * GIB),
        MigSlice("MIG-00000001-0000-5000-8000-000000000000", f"{H100.name} MIG 3g.40gb", 40 * GIB),
    ]
    assert "nvmlDeviceGetMigDeviceHandleByIndex" not in refusals(gpu)


def test_mig_mode_without_a_slice_is_an_empty_list(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, A100.mig([]))
    assert (gpu.mig_enabled, gpu.mig_slices) == (True, [])


def test_what_a_mig_slice_may_not_ask_is_a_refusal(fake_drivers: FakeDrivers) -> None:
    inside = H100.mig([("1g.10gb", 10 * GIB)]).having(
        nvmlDeviceGetMemoryInfo=4, nvmlDeviceGetComputeRunningProcesses_v3=4, nvmlDeviceGetMaxMigDeviceCount=4
    )
    gpu = look_at(fake_drivers, inside)
    assert (gpu.mig_enabled, gpu.mig_slices, gpu.memory_total, gpu.processes) == (True, [], None, None)
    assert refusals(gpu)["nvmlDeviceGetMemoryInfo"] == "NoPermission"
    assert gpu.compute_capability == "9.0"


def test_a_hang_leaves_everything_found_before_it_and_names_the_call(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100, V100.having(nvmlDeviceGetEccMode="hang"), H100]), timeout=6)
    assert facts.nvml.outcome == "timeout"
    assert facts.nvml.driver_version == "580.95.05"
    assert [gpu.name for gpu in facts.gpus] == [H100.name, V100.name, H100.name]
    assert facts.gpus[0].ecc_enabled is True
    (failure,) = facts.failures
    assert (failure.probe, failure.outcome) == ("nvml", "timeout")
    assert failure.detail == "No answer within 6 s in nvmlDeviceGetEccMode of GPU 1"


def test_a_hang_in_the_initialisation_ends_at_the_time_limit(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100], nvmlInitWithFlags="hang"), timeout=1)
    assert facts.nvml.outcome == "timeout"
    assert facts.gpus == []
    assert [failure.outcome for failure in facts.failures] == ["timeout"]


def test_a_crash_leaves_everything_found_before_it_and_names_the_call(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100, H100.having(nvmlDeviceGetRemappedRows="crash")]))
    assert facts.nvml.outcome == "crashed"
    assert facts.nvml.gpu_count == 2
    assert [gpu.compute_capability for gpu in facts.gpus] == ["9.0", "9.0"]
    (failure,) = facts.failures
    assert (failure.outcome, failure.signal) == ("crashed", 11)
    assert failure.detail == "Killed by SIGSEGV in nvmlDeviceGetRemappedRows of GPU 1"


def test_a_crash_in_the_initialisation_is_a_fact(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100], nvmlInitWithFlags="crash"))
    assert facts.nvml.outcome == "crashed"
    assert facts.failures[0].detail == "Killed by SIGSEGV in nvmlInitWithFlags"


@pytest.mark.parametrize(
    ("gpu", "capability"),
    [(UNKNOWN, "13.7"), (T4, "7.5"), (P100, "6.0"), (B200, "10.0"), (RTX_5090, "12.0"), (GB10, "12.1")],
)
def test_any_architecture_is_reported_as_it_is(fake_drivers: FakeDrivers, gpu: FakeGpu, capability: str) -> None:
    seen = look_at(fake_drivers, gpu)
    assert (seen.name, seen.compute_capability) == (gpu.name, capability)


def test_a_name_of_weird_bytes_is_a_refusal_and_not_a_crash(fake_drivers: FakeDrivers) -> None:
    environment = fake_drivers.machine([H100.having(name="NVIDIA XX")])
    script = Path(environment["TORCHLIFT_FAKE_DRIVER"])
    script.write_bytes(script.read_bytes().replace(b"NVIDIA XX", b"NVIDIA \xff\xfe"))
    facts = look(environment)
    assert facts.gpus[0].compute_capability == "9.0"
    assert facts.gpus[0].name is None
    assert refusals(facts.gpus[0])["nvmlDeviceGetName"] == "UnicodeDecodeError"


@pytest.mark.parametrize("code", [15, 999])
@pytest.mark.parametrize("call", ["nvmlSystemGetDriverVersion", "nvmlDeviceGetCount_v2", "nvmlSystemGetDriverBranch"])
def test_a_refused_question_about_the_system_is_noted(fake_drivers: FakeDrivers, call: str, code: int) -> None:
    facts = look(fake_drivers.machine([H100], values={call: code}))
    assert facts.failures == []
    assert facts.nvml.outcome == "ok"
    assert [error.code for error in facts.nvml.errors if error.call.startswith(call.removesuffix("_v2"))] == [code]


EVERY_CALL = (
    "nvmlDeviceGetName nvmlDeviceGetUUID nvmlDeviceGetPciInfo_v3 nvmlDeviceGetCudaComputeCapability nvmlDeviceGetBrand "
    "nvmlDeviceGetMemoryInfo nvmlDeviceGetMigMode nvmlDeviceGetComputeMode nvmlDeviceGetPersistenceMode "
    "nvmlDeviceGetVirtualizationMode nvmlDeviceGetEccMode nvmlDeviceGetTotalEccErrors "
    "nvmlDeviceGetRetiredPagesPendingStatus nvmlDeviceGetRemappedRows nvmlDeviceGetCurrentClocksEventReasons "
    "nvmlDeviceGetCurrPcieLinkGeneration nvmlDeviceGetMaxPcieLinkGeneration nvmlDeviceGetCurrPcieLinkWidth "
    "nvmlDeviceGetMaxPcieLinkWidth nvmlDeviceGetNvLinkState nvmlDeviceGetGspFirmwareVersion nvmlDeviceGetGpuFabricInfoV "
    "nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetTemperature nvmlDeviceGetEnforcedPowerLimit "
    "nvmlDeviceGetPowerManagementDefaultLimit nvmlDeviceGetClockInfo nvmlDeviceGetMaxClockInfo "
    "nvmlDeviceGetSramEccErrorStatus nvmlDeviceGetRowRemapperHistogram nvmlDeviceGetFieldValues"
).split()


def test_no_refusal_of_one_call_stops_the_others(fake_drivers: FakeDrivers) -> None:
    # One GPU per call: each has all its answers but one.
    facts = look(fake_drivers.machine([H100.having(**{call: 999}) for call in EVERY_CALL]))
    assert facts.failures == []
    for gpu, call in zip(facts.gpus, EVERY_CALL, strict=True):
        assert call in {error.call for error in gpu.errors if error.code == 999}, call
        assert {error.call for error in gpu.errors if error.code == 999} == {call}
        assert gpu.temperature == 41 or call == "nvmlDeviceGetTemperature"
        assert gpu.name == H100.name or call == "nvmlDeviceGetName"


def test_the_facts_go_through_json_unharmed(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([H100.mig([("1g.10gb", 10 * GIB)]), V100]))
    assert from_json(to_json(facts)) == facts


def test_the_old_pynvml_package_does_not_shadow_nvidia_ml_py(
    fake_drivers: FakeDrivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "pynvml"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def nvmlInit(): raise RuntimeError('the wrong module')\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    facts = look(fake_drivers.machine([H100]))
    assert (facts.nvml.outcome, facts.gpus[0].name) == ("ok", H100.name)


def test_a_missing_nvidia_ml_py_is_said(
    fake_drivers: FakeDrivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pynvml.py").write_text("import nothing_of_this_name\n")
    paths = [path for path in sys.path if not Path(path, "pynvml.py").is_file()]
    # Where torchlift is installed, nvidia-ml-py lies beside it.
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "torchlift").symlink_to(Path(nvml.__file__).parents[2])
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(alone), *paths])
    start = nvml.start(fake_drivers.machine([H100]), 60)
    facts = Facts()
    nvml.read(start.result(), facts)
    assert facts.nvml.outcome == "not-run"
    (failure,) = facts.failures
    assert failure.outcome == "error"
    assert "pynvml" in failure.detail


@pytest.mark.parametrize(
    "value",
    [None, [], "text", {}, {"complete": True}, {"complete": True, "nvml": {"outcome": 3}, "gpus": [], "peers": []}],
)
def test_an_answer_of_another_shape_is_a_failure_of_the_probe(value: object) -> None:
    facts = Facts()
    nvml.read(ChildResult("ok", value), facts)
    assert facts.nvml == Facts().nvml
    assert [failure.outcome for failure in facts.failures] == ["error"]


def test_an_interpreter_that_cannot_be_started_is_a_failure_of_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    facts = look({})
    assert facts.nvml.outcome == "not-run"
    assert "/nowhere/python could not be started" in facts.failures[0].detail


TORCH_COUNTS = """
import warnings
warnings.simplefilter("ignore")
import torch
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(torch.cuda._raw_device_count_nvml(), torch.cuda._raw_device_uuid_nvml(), [str(w.message) for w in told])
"""


def test_torch_itself_reads_the_same_machine(fake_drivers: FakeDrivers) -> None:
    healthy = fake_drivers.machine([V100, H100])
    mismatch = fake_drivers.machine([V100, H100], nvmlInitWithFlags=18)
    said = [
        subprocess.run([sys.executable, "-c", TORCH_COUNTS], env=env, capture_output=True, text=True, check=True).stdout
        for env in (healthy, mismatch)
    ]
    uuids = [gpu.uuid for gpu in look(healthy).gpus]
    assert said[0] == f"2 {uuids} []\n"
    assert said[1] == """-1 None ["Can't initialize NVML", "Can't initialize NVML"]\n"""
