"""The static probes on machines made of real files, and on this one."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import jsonschema
import pytest
from machine_files import loader_cache, machine, pci_device

from torchlift.doctor.facts import DeviceNode, Facts, KernelDriver, OtherAccelerators, RocmDevice, System, Toolkit
from torchlift.doctor.facts.facts_json import from_json, to_json
from torchlift.doctor.probes.container import container
from torchlift.doctor.probes.distributions import distributions_of
from torchlift.doctor.probes.environment import environment
from torchlift.doctor.probes.kernel_driver import kernel_driver
from torchlift.doctor.probes.loader_cache import CACHE, cached_libraries
from torchlift.doctor.probes.other_accelerators import other_accelerators
from torchlift.doctor.probes.pci import pci_cards
from torchlift.doctor.probes.system import system
from torchlift.doctor.probes.toolkits import toolkits
from torchlift.doctor.probes.torch_files import read_torch
from torchlift.doctor.probes.world import World
from torchlift.doctor.schemas import facts_schema

pytestmark = pytest.mark.skipif(os.name != "posix", reason="roots hold symbolic links and names of POSIX")

LIB = "/usr/lib/x86_64-linux-gnu"
UBUNTU = {
    "/etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n',
    "/proc/sys/kernel/osrelease": "6.8.0-49-generic\n",
    "/proc/version": "Linux version 6.8.0-49-generic (buildd@lcy02) (gcc) #49-Ubuntu SMP\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1 ro intel_iommu=on iommu=pt quiet\n",
    "/proc/meminfo": "MemTotal:       65673216 kB\nMemFree:  1 kB\n",
    "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-1.scope\n",
    "/proc/1/cgroup": "0::/init.scope\n",
    "/proc/1/comm": "systemd\n",
    "/proc/self/mountinfo": "29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n",
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": b"\x06\0\0\0\x01",
    "/lib/x86_64-linux-gnu/libc.so.6": b"\x7fELF...GNU C Library (Ubuntu GLIBC 2.39-0ubuntu8.3) stable release version 2.39.\n",
}  # fmt: skip
H100 = pci_device(
    "0000:17:00.0", "10de", "2330", "030200", current_link_width="16\n", max_link_width="16\n",
    current_link_speed="2.5 GT/s PCIe\n", max_link_speed="32.0 GT/s PCIe\n", numa_node="0\n",
)  # fmt: skip
BRIDGE = pci_device("0000:00:00.0", "8086", "09a2", "088000")
DRIVER = {
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)  Tue Sep 23 09:55:41 UTC 2025\nGCC version:  gcc version 13.3.0\n",
    "/proc/modules": "nvidia_uvm 2076672 0 - Live 0x0\nnvidia_drm 135168 0 - Live 0x0\nnvidia 1 2 nvidia_uvm, Live 0x0\nsnd 1 0 - Live 0\n",
    "/proc/612/comm": "nvidia-persiste\n",
    "/proc/700/comm": "nv-fabricmanage\n",
    "/dev/nvidia0": "",
    "/dev/nvidiactl": "",
    "/dev/nvidia-uvm": "",
    f"{LIB}/libcuda.so.580.95.05": b"x" * 7,
    f"{LIB}/libnvidia-ml.so.580.95.05": b"y",
    CACHE: loader_cache([
        ("libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", "x86_64"),
        ("libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1", "i386"),
        ("libcuda.so.1", f"{LIB}/libcuda.so.1", "x86_64"),
        ("libnvidia-ml.so.1", f"{LIB}/libnvidia-ml.so.1", "x86_64"),
    ]),
    "/usr/lib/i386-linux-gnu/libcuda.so.1": b"32",
}  # fmt: skip
LINKS = {
    f"{LIB}/libcuda.so.1": "libcuda.so.580.95.05",
    f"{LIB}/libnvidia-ml.so.1": "libnvidia-ml.so.580.95.05",
    "/sys/bus/pci/devices/0000:17:00.0/driver": "../../../../bus/pci/drivers/nvidia",
}


def everything(world: World) -> Facts:
    facts = Facts(
        system=system(world),
        pci=pci_cards(world),
        kernel_driver=kernel_driver(world),
        toolkits=toolkits(world),
        other=other_accelerators(world),
        environment=environment(world.environment),
    )
    jsonschema.Draft202012Validator(facts_schema()).validate(json.loads(json.dumps(to_json(facts))))
    return facts


def test_an_ubuntu_workstation_with_the_driver(tmp_path: Path) -> None:
    facts = everything(machine(tmp_path, UBUNTU | H100 | BRIDGE | DRIVER, LINKS))
    found = facts.system
    assert (found.os, found.machine, found.kernel) == ("linux", "x86_64", "6.8.0-49-generic")
    assert (found.distribution, found.distribution_version) == ("ubuntu", "24.04")
    assert (found.libc, found.libc_version) == ("glibc", "2.39")
    assert (found.wsl, found.container, found.jetson_release) == (0, "", "")
    assert found.iommu_parameters == ["intel_iommu=on", "iommu=pt"]
    assert found.memory == 65673216 * 1024
    assert found.secure_boot is True

    assert facts.pci is not None
    (card,) = facts.pci
    assert (card.address, card.vendor, card.device, card.pci_class) == ("0000:17:00.0", "10de", "2330", "0302")
    assert (card.driver, card.link_width, card.link_width_max, card.numa_node) == ("nvidia", 16, 16, 0)
    assert (card.link_speed, card.link_speed_max) == ("2.5 GT/s PCIe", "32.0 GT/s PCIe")

    driver = facts.kernel_driver
    assert (driver.version, driver.open_module) == ("580.95.05", True)
    assert driver.modules == ["nvidia", "nvidia_uvm", "nvidia_drm"]
    assert [node.path for node in driver.device_nodes] == ["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"]
    assert (driver.fabric_manager_running, driver.persistence_daemon_running) == (True, True)
    cuda, nvml = driver.libraries
    assert (cuda.path, cuda.real_path) == (f"{LIB}/libcuda.so.1", f"{LIB}/libcuda.so.580.95.05")
    assert (cuda.version, cuda.size, cuda.found_by, cuda.stub, cuda.compat) == (
        "580.95.05", 7, "ldconfig", False, False,
    )  # fmt: skip
    assert (nvml.name, nvml.version) == ("libnvidia-ml.so.1", "580.95.05")


def test_a_card_served_by_nouveau(tmp_path: Path) -> None:
    links = {"/sys/bus/pci/devices/0000:01:00.0/driver": "../../../../bus/pci/drivers/nouveau"}
    card = pci_device("0000:01:00.0", "10de", "1b06", "030000", current_link_width="255", current_link_speed="Unknown")
    facts = everything(machine(tmp_path, UBUNTU | card | {"/proc/modules": "nouveau 1 0 - Live 0\n"}, links))
    assert facts.pci is not None
    assert [(card.driver, card.link_width, card.link_speed) for card in facts.pci] == [("nouveau", None, None)]
    assert facts.kernel_driver == KernelDriver(
        modules=["nouveau"], fabric_manager_running=False, persistence_daemon_running=False, imex_running=False
    )


def test_a_card_without_any_driver_and_one_given_to_a_virtual_machine(tmp_path: Path) -> None:
    links = {"/sys/bus/pci/devices/0000:02:00.0/driver": "../../../drivers/vfio-pci"}
    files = pci_device("0000:01:00.0", "10de", "2684", "030000") | pci_device("0000:02:00.0", "1002", "744c", "030000")
    assert [card.driver for card in pci_cards(machine(tmp_path, files, links)) or []] == ["", "vfio-pci"]


@pytest.mark.parametrize(
    ("line", "version", "is_open"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023", "535.104.05", False),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12 09:19:07 UTC 2022", "390.157", False),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build  (buildbrain)", "540.4.0", True),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build", "570.86.15", True),
        ("something new", None, None),
    ],
)  # fmt: skip
def test_the_loaded_module_says_its_version_and_whether_it_is_open(
    tmp_path: Path, line: str, version: str | None, is_open: bool | None
) -> None:
    driver = kernel_driver(machine(tmp_path, {"/proc/driver/nvidia/version": line + "\nGCC version: 12.1.0\n"}))
    assert (driver.version, driver.open_module) == (version, is_open)


def test_a_module_without_its_proc_file_still_has_a_version(tmp_path: Path) -> None:
    files = {"/sys/module/nvidia/version": "595.58.03\n", "/sys/module/nvidia/initstate": "live\n"}
    driver = kernel_driver(machine(tmp_path, files))
    assert (driver.version, driver.open_module, driver.modules) == ("595.58.03", None, ["nvidia"])


def test_libraries_are_listed_in_the_order_of_the_loader_with_stubs_and_compat_packages_marked(tmp_path: Path) -> None:
    files = {
        "/usr/local/cuda-12.4/targets/lib/stubs/libcuda.so": "stub",
        "/usr/local/cuda-12.8/compat/libcuda.so.570.86.10": "compat",
        "/opt/bad/libcuda.so.1": "",
        f"{LIB}/libcuda.so.535.104.05": "real",
        CACHE: loader_cache([("libcuda.so.1", f"{LIB}/libcuda.so.1", "x86_64")], old_format=True),
    }
    links = {
        "/opt/stubs/libcuda.so.1": "../../usr/local/cuda-12.4/targets/lib/stubs/libcuda.so",
        "/usr/local/cuda-12.8/compat/libcuda.so.1": "libcuda.so.570.86.10",
        "/usr/local/cuda": "cuda-12.8",
        f"{LIB}/libcuda.so.1": "libcuda.so.535.104.05",
        "/opt/dangling/libcuda.so.1": "nowhere.so",
    }
    variables = {"LD_LIBRARY_PATH": "/opt/dangling:/opt/bad/:relative::/opt/stubs"}
    found = kernel_driver(machine(tmp_path, files, links, variables)).libraries
    assert [(lib.path, lib.found_by, lib.version, lib.size, lib.stub, lib.compat) for lib in found] == [
        ("/opt/bad/libcuda.so.1", "LD_LIBRARY_PATH", None, 0, False, False),
        ("/opt/stubs/libcuda.so.1", "LD_LIBRARY_PATH", None, 4, True, False),
        (f"{LIB}/libcuda.so.1", "ldconfig", "535.104.05", 4, False, False),
        ("/usr/local/cuda/compat/libcuda.so.1", "directory", "570.86.10", 6, False, True),
    ]


def test_the_cache_is_read_as_ldconfig_prints_it() -> None:
    ldconfig = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    if ldconfig is None or not Path(CACHE).exists() or platform.machine() != "x86_64":
        pytest.skip("no glibc on x86_64")
    printed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=True).stdout.splitlines()
    expected = [(line.split()[0], line.split(" => ")[1]) for line in printed if " => " in line and "x86-64" in line]
    assert expected
    assert list(cached_libraries(Path(CACHE).read_bytes(), "x86_64")) == expected


@pytest.mark.parametrize("length", [0, 3, 21, 40, 60, 90, 130])
def test_a_cut_cache_gives_what_is_left_of_it(length: int) -> None:
    whole = loader_cache([("liba.so", "/a/liba.so", "x86_64"), ("libb.so", "/b/libb.so", "x86_64")])
    assert len(list(cached_libraries(whole[:length], "x86_64"))) <= 2
    assert list(cached_libraries(whole, "x86_64")) == [("liba.so", "/a/liba.so"), ("libb.so", "/b/libb.so")]


def test_a_container_of_docker_shows_neither_the_daemons_nor_a_driver(tmp_path: Path) -> None:
    inside = UBUNTU | {
        "/.dockerenv": "",
        "/proc/self/cgroup": "0::/\n",
        "/proc/1/cgroup": "0::/\n",
        "/proc/1/comm": "bash\n",
    }
    facts = everything(machine(tmp_path, inside | H100, LINKS))
    assert facts.system.container == "docker"
    assert facts.pci is not None and [card.device for card in facts.pci] == ["2330"]
    assert facts.kernel_driver == KernelDriver()


def test_a_container_is_given_the_socket_of_the_persistence_daemon(tmp_path: Path) -> None:
    files = {"/.dockerenv": "", "/proc/1/comm": "bash\n", "/run/nvidia-persistenced/socket": ""}
    assert kernel_driver(machine(tmp_path, files)).persistence_daemon_running is True


@pytest.mark.parametrize(
    ("files", "variables", "kind"),
    [
        ({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"/proc/self/cgroup": "1:memory:/kubepods/burstable/pod1/2\n"}, {}, "kubernetes"),
        ({"/run/secrets/kubernetes.io/serviceaccount/namespace": "x"}, {}, "kubernetes"),
        ({"/run/.containerenv": 'engine="podman"'}, {}, "podman"),
        ({"/proc/self/cgroup": "4:cpu:/docker/0123abcd\n"}, {}, "docker"),
        ({"/proc/1/cgroup": "0::/lxc.payload.web/init.scope\n"}, {}, "lxc"),
        ({"/run/systemd/container": "lxc"}, {}, "lxc"),
        ({"/run/systemd/container": "systemd-nspawn"}, {}, "unknown"),
        ({"/run/systemd/container": "wsl", "/proc/self/cgroup": "0::/\n"}, {}, ""),
        ({"/.singularity.d/runscript": "", "/.dockerenv": ""}, {}, "singularity"),
        ({}, {"APPTAINER_CONTAINER": "/images/torch.sif"}, "singularity"),
        ({"/proc/self/mountinfo": "1 0 0:1 / / rw - overlay overlay rw,lowerdir=/var/lib/containerd/io\n"}, {}, "unknown"),
        ({"/proc/self/mountinfo": "1 0 0:1 / / rw - overlay overlay rw,lowerdir=/cow/live\n"}, {}, ""),
        ({}, {}, None),
    ],
)  # fmt: skip
def test_the_kind_of_container(
    tmp_path: Path, files: dict[str, str], variables: dict[str, str], kind: str | None
) -> None:
    assert container(machine(tmp_path, files, environment=variables)) == kind


def test_wsl_2_has_its_driver_from_the_host_and_no_cards_on_the_bus(tmp_path: Path) -> None:
    files = {
        "/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n",
        "/proc/self/cgroup": "0::/\n",
        "/dev/dxg": "",
        "/usr/lib/wsl/lib/libcuda.so.1": "host",
    } | pci_device("0000:00:00.0", "1414", "008e", "030200")
    facts = everything(machine(tmp_path, files))
    assert (facts.system.wsl, facts.system.container, facts.pci) == (2, "", None)
    assert facts.kernel_driver.device_nodes == [DeviceNode("/dev/dxg", True, True)]
    (library,) = facts.kernel_driver.libraries
    assert (library.path, library.version, library.found_by) == ("/usr/lib/wsl/lib/libcuda.so.1", None, "directory")


@pytest.mark.parametrize(
    ("release", "version"),
    [("4.4.0-19041-Microsoft", 1), ("4.19.84-microsoft-standard", 2), ("6.8.0-1-azure", 0), (None, None)],
)
def test_the_version_of_wsl(tmp_path: Path, release: str | None, version: int | None) -> None:
    files = {} if release is None else {"/proc/sys/kernel/osrelease": release + "\n"}
    assert system(machine(tmp_path, files)).wsl == version


ORIN = {
    "/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8 01:49:37 UTC 2025\n# KERNEL_VARIANT: oot\n",
    "/proc/sys/kernel/osrelease": "5.15.148-tegra\n",
    "/proc/device-tree/model": b"NVIDIA Jetson AGX Orin Developer Kit\0",
    "/proc/device-tree/compatible": b"nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0",
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build\n",
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1.1": "jetson",
    "/dev/nvmap": "",
}  # fmt: skip


def test_a_jetson_orin(tmp_path: Path) -> None:
    links = {"/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1": "libcuda.so.1.1"}
    facts = everything(machine(tmp_path, ORIN, links, architecture="aarch64"))
    assert facts.system.machine == "aarch64"
    assert facts.system.jetson_release == "R36.4.3"
    assert facts.system.jetson_model == "NVIDIA Jetson AGX Orin Developer Kit"
    assert facts.kernel_driver.version == "540.4.0"
    assert [(lib.path, lib.version) for lib in facts.kernel_driver.libraries] == [
        ("/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", None)
    ]


def test_a_container_on_a_jetson_knows_the_board_but_not_the_release(tmp_path: Path) -> None:
    files = {name: text for name, text in ORIN.items() if name != "/etc/nv_tegra_release"}
    found = system(machine(tmp_path, files | {"/.dockerenv": ""}, architecture="aarch64"))
    assert (found.jetson_release, found.jetson_model) == (None, "NVIDIA Jetson AGX Orin Developer Kit")


def test_an_arm_server_is_no_jetson(tmp_path: Path) -> None:
    found = system(machine(tmp_path, {"/proc/device-tree/model": b"Ampere Altra\0"}, architecture="arm64"))
    assert (found.machine, found.jetson_release) == ("aarch64", "")


def test_centos_7(tmp_path: Path) -> None:
    files = {
        "/etc/os-release": 'NAME="CentOS Linux"\nID="centos"\nVERSION_ID="7"\n',
        "/proc/sys/kernel/osrelease": "3.10.0-1160.el7.x86_64\n",
        "/lib64/libc-2.17.so": "GNU C Library (GNU libc) stable release version 2.17, by Roland McGrath et al.\n",
        CACHE: loader_cache([("libc.so.6", "/lib64/libc.so.6", "x86_64")], old_format=True),
    }
    found = system(machine(tmp_path, files, {"/lib64/libc.so.6": "libc-2.17.so"}))
    assert (found.distribution, found.distribution_version) == ("centos", "7")
    assert (found.libc, found.libc_version) == ("glibc", "2.17")


def test_alpine_is_musl_even_with_the_shim_for_glibc(tmp_path: Path) -> None:
    files = {
        "/etc/os-release": "ID=alpine\nVERSION_ID=3.20.3\n",
        "/lib/ld-musl-x86_64.so.1": "musl",
        "/lib/libc.so.6": "GNU C Library shim version 2.39",
        "/lib/apk/db/installed": "C:Q1abc\nP:busybox\nV:1.36.1-r29\n\nC:Q1def\nP:musl\nV:1.2.5-r0\nA:x86_64\n",
    }
    found = system(machine(tmp_path, files))
    assert (found.distribution, found.libc, found.libc_version) == ("alpine", "musl", "1.2.5")


def test_amd_gpus_are_named_by_the_topology_of_the_kernel(tmp_path: Path) -> None:
    nodes = "/sys/class/kfd/kfd/topology/nodes"
    gpu = "simd_count 1216\ngfx_target_version {}\ndevice_id 29857\n"
    files = {
        f"{nodes}/0/properties": "cpu_cores_count 96\ngfx_target_version 0\n",
        f"{nodes}/0/name": "\n",
        f"{nodes}/2/properties": gpu.format(90402),
        f"{nodes}/2/name": "ip discovery\n",
        f"{nodes}/10/properties": gpu.format(90010),
        f"{nodes}/11/properties": gpu.format(110001),
        f"{nodes}/12/properties": gpu.format(120100),
        f"{nodes}/13/properties": b"gfx_target_version \xff\n",
        "/opt/rocm-6.2.4/.info/version": "6.2.4-120\n",
        "/dev/kfd": "",
        "/dev/dri/renderD128": "",
    }
    facts = everything(machine(tmp_path, files | pci_device("0000:05:00.0", "1002", "74a1", "120000")))
    assert facts.other == OtherAccelerators(
        "6.2.4",
        [RocmDevice(2, "gfx942", "ip discovery"), RocmDevice(10, "gfx90a"), RocmDevice(11, "gfx1101"), RocmDevice(12, "gfx1210")],
        mps=False,
    )  # fmt: skip
    assert facts.pci is not None and [card.pci_class for card in facts.pci] == ["1200"]
    assert [node.path for node in facts.kernel_driver.device_nodes] == ["/dev/kfd", "/dev/dri/renderD128"]


def test_level_zero_is_found_where_the_loader_finds_it(tmp_path: Path) -> None:
    files = {
        "/usr/lib64/libze_loader.so.1.18.5": "ze",
        CACHE: loader_cache([("libze_loader.so.1", "/usr/lib64/libze_loader.so.1", "x86_64")]),
    }
    world = machine(tmp_path, files, {"/usr/lib64/libze_loader.so.1": "libze_loader.so.1.18.5"})
    assert other_accelerators(world).level_zero == "/usr/lib64/libze_loader.so.1"


@pytest.mark.parametrize(
    ("platform_name", "machine_name", "mps"), [("darwin", "arm64", True), ("darwin", "x86_64", False)]
)
def test_a_mac_has_mps_with_an_apple_processor_and_nothing_of_linux(
    tmp_path: Path, platform_name: str, machine_name: str, mps: bool
) -> None:
    facts = everything(machine(tmp_path, {}, architecture=machine_name, system=platform_name))
    assert facts.other.mps is mps
    assert (facts.system.os, facts.system.wsl, facts.system.container) == ("darwin", 0, "")
    assert (facts.pci, facts.kernel_driver, facts.system.libc) == (None, KernelDriver(), None)


def test_toolkits_are_listed_once_with_the_one_on_path_marked(tmp_path: Path) -> None:
    files = {
        "/usr/local/cuda-13.2/version.json": '{"cuda": {"name": "CUDA SDK", "version": "13.2.0"}}',
        "/usr/local/cuda-13.2/bin/nvcc": "#!/bin/sh\n",
        "/usr/local/cuda-10.2/version.txt": "CUDA Version 10.2.89\n",
        "/usr/local/cuda-12.8/compat/libcuda.so.1": "only a compat package",
        "/usr/local/cuda-9.9/version.json": "{broken",
        "/opt/conda/targets/x86_64-linux/include/cuda.h": "#ifndef X\n#define CUDA_VERSION 12060\n",
    }
    variables = {"PATH": "/nowhere:/usr/local/cuda/bin", "CUDA_HOME": "/opt/conda"}
    world = machine(tmp_path, files, {"/usr/local/cuda": "cuda-13.2"}, variables)
    (tmp_path / "usr/local/cuda-13.2/bin/nvcc").chmod(0o755)
    assert toolkits(world) == [
        Toolkit("/usr/local/cuda-13.2", "13.2.0", on_path=True),
        Toolkit("/opt/conda", "12.6"),
        Toolkit("/usr/local/cuda-10.2", "10.2.89"),
    ]


def test_an_nvcc_outside_any_toolkit_is_asked_for_its_version(tmp_path: Path) -> None:
    script = "#!/bin/sh\necho 'Cuda compilation tools, release 12.0, V12.0.140'\n"
    world = machine(tmp_path, {"/usr/bin/nvcc": script}, environment={"PATH": "/usr/bin"})
    (tmp_path / "usr/bin/nvcc").chmod(0o755)
    assert toolkits(world) == [Toolkit("/usr", "12.0", on_path=True)]


def test_the_fabric_manager_says_its_version(tmp_path: Path) -> None:
    script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Fabric Manager version is : 580.95.05'\n"
    world = machine(tmp_path, {"/usr/bin/nv-fabricmanager": script})
    (tmp_path / "usr/bin/nv-fabricmanager").chmod(0o755)
    assert kernel_driver(world).fabric_manager_version == "580.95.05"


def test_compilers_are_the_first_executable_ones_on_path(tmp_path: Path) -> None:
    files = {"/a/gcc": "not executable", "/b/gcc": "", "/b/clang": "", "/c/gcc": ""}
    world = machine(tmp_path, files, environment={"PATH": "/a:/b::relative:/c"})
    for name in ("b/gcc", "b/clang", "c/gcc"):
        (tmp_path / name).chmod(0o755)
    assert system(world).compilers == {"gcc": "/b/gcc", "clang": "/b/clang"}


def test_variables_that_matter_are_kept_and_secrets_are_not() -> None:
    kept = {
        "CUDA_VISIBLE_DEVICES": "", "NCCL_IB_PKEY": "1", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        "LD_LIBRARY_PATH": "/x", "PATH": "/bin", "HSA_OVERRIDE_GFX_VERSION": "10.3.0", "ZE_AFFINITY_MASK": "0",
        "TRITON_PTXAS_PATH": "/p", "OMP_NUM_THREADS": "4", "VIRTUAL_ENV": "/v",
    }  # fmt: skip
    dropped = {
        "NVIDIA_API_KEY": "nvapi-1", "HF_TOKEN": "hf", "TORCH_HUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s", "HOME": "/h",
        "NCCL_AUTH": "x", "CUDA_DB_PASSWORD": "p", "LDFLAGS": "", "TORCH_CREDENTIALS": "c", "PIP_INDEX_URL": "u",
    }  # fmt: skip
    found = environment(kept | dropped | {"TORCH_MIRROR": "https://user:pa55@mirror.example/whl?x=a@b"})
    assert found == kept | {"TORCH_MIRROR": "https://mirror.example/whl?x=a@b"}


def test_a_machine_without_proc_or_sys_is_mostly_unknown(tmp_path: Path) -> None:
    facts = everything(machine(tmp_path, {}))
    expected = system(World(tmp_path, {}))
    assert facts.pci is None and facts.kernel_driver == KernelDriver() and facts.toolkits == []
    assert facts.system == expected
    assert facts.system == System(
        os="linux",
        machine="x86_64",
        jetson_release="",
        cpu_count=expected.cpu_count,
        memlock_limit=expected.memlock_limit,
        open_files_limit=expected.open_files_limit,
    )


def test_a_root_that_is_not_there_or_is_a_file_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "absent", tmp_path / "file", tmp_path / ("x" * 300)):
        assert everything(World(root, {"PATH": "/bin", "LD_LIBRARY_PATH": "/a\0b"})).pci is None


def test_files_of_weird_bytes_broken_links_and_folders_in_place_of_files_raise_nothing(tmp_path: Path) -> None:
    texts = [name for name in UBUNTU | H100 | DRIVER | ORIN if not name.startswith(("/usr", "/dev"))]
    weird = {name: bytes(range(255, 0, -1)) for name in texts}
    everything(machine(tmp_path / "bytes", weird))
    everything(machine(tmp_path / "links", {}, dict.fromkeys(texts, "nowhere")))
    loops = {name: name.rpartition("/")[2] for name in texts}
    everything(machine(tmp_path / "loops", {}, loops))
    everything(machine(tmp_path / "folders", {f"{name}/inside": "" for name in texts}))


def test_files_that_this_user_may_not_read_are_unknown(tmp_path: Path) -> None:
    world = machine(tmp_path, UBUNTU | DRIVER, LINKS)
    for name in ("proc/driver/nvidia/version", "dev/nvidia0", "etc/os-release", "etc/ld.so.cache", "proc/self"):
        (tmp_path / name).chmod(0)
    try:
        facts = as_a_common_user(world)
    finally:
        (tmp_path / "proc/self").chmod(0o755)
    assert (facts.kernel_driver.version, facts.system.distribution) == (None, None)
    assert facts.kernel_driver.device_nodes[0] == DeviceNode("/dev/nvidia0", False, False)
    assert {library.found_by for library in facts.kernel_driver.libraries} == {"directory"}


def as_a_common_user(world: World) -> Facts:
    """What is seen by a user whom file permissions hold back, which they do not if this is root."""
    if os.geteuid() != 0:
        return everything(world)
    for folder in (world.root, *world.root.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Of a fork beside threads: the child does nothing that they could hold a lock for.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            os.write(writing, json.dumps(to_json(everything(world))).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return from_json(json.loads(answer))


def test_this_machine_is_described_in_accordance_with_the_schema() -> None:
    found = everything(World()).system
    assert found.os in ("linux", "darwin")
    assert found.cpu_count and found.memory and found.machine
    if found.os == "linux":
        assert (found.libc, found.libc_version) == tuple(platform.libc_ver()) or found.libc == "musl"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize(
    "name", ["torch/version.py", "torch-2.13.0.dist-info/METADATA", "torch-2.13.0.dist-info/RECORD"]
)
def test_a_pipe_among_the_files_of_torch_is_not_waited_for(tmp_path: Path, name: str) -> None:
    for folder in ("torch", "torch-2.13.0.dist-info"):
        (tmp_path / folder).mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    os.mkfifo(tmp_path / name)
    (found,) = distributions_of([(str(tmp_path), ["torch-2.13.0.dist-info"])])
    package = found.package()
    assert found.record() == b"" and package.name == "torch"
    assert read_torch(str(tmp_path / "torch"), (), [package]).version == "2.13.0"
    assert World(tmp_path).text(f"/{name}") == ""
