"""The wheel tables: sourced, dated, and in agreement with each other."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from importlib.resources import files
from typing import Any

import pytest

from torchlift.wheels import drivers, gpus
from torchlift.wheels.compatibility import capability, jit_runs_on, renamed, runs_on
from torchlift.wheels.install_line import install_lines
from torchlift.wheels.offers import cuda_of, known_versions, line_of, offers
from torchlift.wheels.tables import data_date, table, text
from torchlift.wheels.wish import read_wish

DAY = re.compile(r"20\d\d-[01]\d-[0-3]\d")
PLATFORMS = {"linux_x86_64", "linux_aarch64", "windows_amd64", "darwin_arm64", "darwin_x86_64"}


def rows() -> list[tuple[str, dict[str, Any]]]:
    """Every row of every JSON table with a name for messages."""
    found = []
    for name in ("releases", "wheels", "companions", "indexes", "rocm", "ngc"):
        found += [(f"{name}: {row}", row) for row in table(name)["rows"]]
    for part in ("floors", "toolkits", "architectures", "branches"):
        found += [(f"drivers/{part}: {row}", row) for row in table("drivers")[part]]
    return found


def test_every_row_names_its_source_and_its_day() -> None:
    assert len(rows()) > 250
    for name, row in rows():
        assert len(row["source"]) > 3, name
        assert DAY.fullmatch(row["date"]), name


def test_every_table_has_a_day_and_so_has_the_list_of_gpus() -> None:
    for name in ("releases", "wheels", "companions", "indexes", "rocm", "ngc", "drivers"):
        assert DAY.fullmatch(table(name)["date"]), name
    assert data_date() == table("releases")["date"]
    head = [line for line in text("gpus.tsv").splitlines() if line.startswith("#")]
    assert any("source:" in line for line in head) and any(DAY.search(line) for line in head)


def test_tables_hold_nothing_of_the_machine_that_made_them() -> None:
    for entry in (files("torchlift.wheels") / "data").iterdir():
        content = entry.read_text(encoding="utf-8")
        hosts = set(re.findall(r"https?://([^/\s\"]+)", content))
        public = {"download.pytorch.org", "docs.nvidia.com", "developer.nvidia.com", "pytorch.org"}
        assert hosts <= public | {"pypi.jetson-ai-lab.io"}, entry.name
        assert not re.search(r"(?<![\w.])/(work|tmp|home|root)/", content), entry.name


def test_a_wheel_belongs_to_a_release_on_its_platform_and_stands_there_once() -> None:
    released = {(row["torch"], row["platform"]) for row in table("releases")["rows"]}
    seen = set()
    for row in table("wheels")["rows"]:
        key = (row["torch"], row["build"], row["platform"])
        assert (row["torch"], row["platform"]) in released, key
        assert key not in seen
        seen.add(key)
        assert row["sass"] and all(capability(image) for image in row["sass"] + row["ptx"]), key
        assert cuda_of(row["build"]) is not None, key


def test_what_pypi_gives_by_default_is_a_wheel_that_the_table_has() -> None:
    wheels = {(row["torch"], row["build"], row["platform"]): row for row in table("wheels")["rows"]}
    for row in table("releases")["rows"]:
        assert row["platform"] in PLATFORMS
        if row["build"] != "cpu":
            assert (row["torch"], row["build"], row["platform"]) in wheels, row
            assert not wheels[row["torch"], row["build"], row["platform"]].get("secondary"), row


def test_every_default_cuda_wheel_for_linux_on_x86_64_was_measured() -> None:
    measured = {(row["torch"], row["build"]) for row in table("wheels")["rows"] if row["measured"]}
    for row in table("releases")["rows"]:
        if row["platform"] == "linux_x86_64":
            assert (row["torch"], row["build"]) in measured, row


def test_a_measured_wheel_lists_what_most_of_its_kernels_were_built_for() -> None:
    for row in table("wheels")["rows"]:
        if row["measured"]:
            most = max(row["images"].values())
            assert row["sass"] == [name for name, count in row["images"].items() if count * 2 > most], row
            assert line_of(row["version"]) == line_of(row["torch"])
            assert row["version"] in known_versions()


def test_no_linux_release_wheel_relies_on_ptx() -> None:
    assert all(row["ptx"] == [] for row in table("wheels")["rows"] if row["platform"].startswith("linux"))


def test_indexes_agree_with_the_wheels() -> None:
    by_build = {row["build"]: row for row in table("indexes")["rows"]}
    for row in table("wheels")["rows"]:
        index = by_build[row["build"]]
        lines = index["torch_secondary"] if row.get("secondary") else index["torch"]
        assert row["torch"] in lines, row
    assert "2.15" not in by_build["cu126"]["torch"]
    assert by_build["cu126"]["torch"][-1] == "2.14"
    assert by_build["cu132"]["default_of"] == ["2.15"]


def test_every_cuda_of_a_wheel_has_a_floor_and_a_paired_driver_above_it() -> None:
    for row in table("wheels")["rows"]:
        cuda = cuda_of(row["build"])
        assert cuda is not None
        for os in ("linux", "windows"):
            assert drivers.floor(cuda[0], os) is not None, row["build"]
        pair = drivers.paired(cuda, "linux")
        assert pair is not None and drivers.meets(pair, drivers.floor(cuda[0], "linux")), row["build"]


def test_the_newest_release_is_what_torchlift_itself_calls_the_latest() -> None:
    from torchlift.versions import LATEST

    assert known_versions()[-1].startswith(str(LATEST))


def test_every_release_has_companions_and_pins_of_its_own() -> None:
    listed = {row["torch"]: row for row in table("companions")["rows"]}
    assert set(listed) == set(known_versions())
    assert listed["2.14.0"]["torchvision"] == "0.29.0" and listed["2.14.0"]["torchaudio"] is None
    assert listed["2.7.1"]["torchaudio"] == "2.7.1"
    assert listed["2.15.0"]["pins"]["triton"] == "~=3.9.0"
    assert listed["2.15.0"]["pins"]["nvidia-cudnn-cu13"].startswith("==9.26.")


def test_gpus_of_one_chip_have_one_compute_capability_and_one_architecture() -> None:
    lines = [line for line in text("gpus.tsv").splitlines() if not line.startswith("#")]
    found: dict[str, set[tuple[str, str]]] = {}
    generations: dict[str, set[str]] = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        assert re.fullmatch(r"([0-9a-f]{4})?", row["pci_device_id"]), row
        assert capability(row["compute_capability"]) is not None, row
        found.setdefault(row["chip"], set()).add((row["compute_capability"], row["architecture"]))
        generations.setdefault(row["compute_capability"], set()).add(row["architecture"].partition(" (")[0])
    assert len(found) > 100
    assert {chip: seen for chip, seen in found.items() if len(seen) > 1} == {}
    assert {number: seen for number, seen in generations.items() if len(seen) > 1} == {}


def test_no_pci_device_stands_in_the_list_twice() -> None:
    lines = [line for line in text("gpus.tsv").splitlines() if not line.startswith("#")]
    ids = [row["pci_device_id"] for row in csv.DictReader(lines, delimiter="\t") if row["pci_device_id"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("V100", (7, 0)), ("Tesla V100-SXM2-32GB", (7, 0)), ("RTX 4090", (8, 9)), ("NVIDIA GeForce RTX 4090", (8, 9)),
        ("rtx4090", (8, 9)), ("H200", (9, 0)), ("NVIDIA H100 80GB HBM3", (9, 0)), ("T4", (7, 5)), ("T4G", (7, 5)),
        ("GTX 1080 Ti", (6, 1)), ("gtx1080ti", (6, 1)), ("B300", (10, 3)), ("B200", (10, 0)), ("GB10", (12, 1)),
        ("DGX Spark", (12, 1)), ("Thor", (11, 0)), ("Orin", (8, 7)), ("Orin Nano", (8, 7)), ("K80", (3, 7)),
        ("A100-SXM4-80GB", (8, 0)), ("RTX A6000", (8, 6)), ("RTX 5090", (12, 0)), ("sm_90", (9, 0)), ("8.6", (8, 6)),
    ],
)  # fmt: skip
def test_a_marketing_name_gives_the_compute_capability(name: str, number: tuple[int, int]) -> None:
    found = gpus.by_name(name)
    assert found.gpu is not None and found.gpu.capability == number


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("RTX 4000", {(7, 5), (8, 9), (12, 0)}), ("Titan X", {(5, 2), (6, 1)}), ("GTX 860M", {(3, 0), (5, 0)}),
     ("Nano", {(5, 3), (8, 7)})],
)  # fmt: skip
def test_a_name_of_several_generations_is_said_to_be_ambiguous(name: str, numbers: set[tuple[int, int]]) -> None:
    found = gpus.by_name(name)
    assert found.gpu is None
    assert {gpu.capability for gpu in found.ambiguous} == numbers


def test_an_unknown_name_brings_close_ones_and_nonsense_none() -> None:
    assert "GeForce RTX 4090" in gpus.by_name("RTX 4900").suggestions
    nothing = gpus.by_name("qqqqqqqqqqqq")
    assert (nothing.gpu, nothing.ambiguous, nothing.suggestions) == (None, (), ())


def test_names_of_other_vendors_are_told_apart() -> None:
    for name, vendor in (("MI300X", "amd"), ("Radeon RX 7900 XTX", "amd"), ("Arc A770", "intel"), ("M3 Max", "apple")):
        found = gpus.by_name(name).gpu
        assert found is not None and (found.vendor, found.capability) == (vendor, None), name


def test_a_pci_device_gives_the_gpu() -> None:
    for written in ("1db6", "0x1DB6", " 1DB6\n"):
        found = gpus.by_pci_device(written)
        assert found is not None and (found.capability, found.chip) == ((7, 0), "GV100GL")
    assert gpus.by_pci_device("ffff") is None and gpus.by_pci_device("") is None


@pytest.mark.parametrize(
    ("image", "number", "toolkit", "runs"),
    [
        ("86", (8, 9), (13, 0), True), ("80", (8, 6), (13, 0), True), ("86", (8, 0), (13, 0), False),
        ("100", (10, 3), (13, 0), True), ("120", (12, 1), (13, 0), True), ("90", (10, 0), (13, 0), False),
        ("80", (8, 7), (13, 0), False), ("80", (8, 7), (13, 2), True), ("86", (8, 7), (13, 2), True),
        ("87", (8, 7), (12, 6), True), ("87", (8, 9), (13, 2), False), ("80", (8, 7), None, False),
        ("60", (6, 2), (12, 6), False), ("50", (5, 3), (12, 6), False), ("70", (7, 2), (12, 6), False),
        ("70", (7, 5), (12, 6), True), ("72", (7, 5), (12, 6), False), ("110", (11, 0), (13, 0), True),
        ("101", (11, 0), (12, 8), True), ("110", (10, 1), (13, 0), True), ("100", (10, 1), (12, 8), False),
        ("100", (11, 0), (13, 0), False), ("90a", (9, 0), (13, 0), True), ("100a", (10, 3), (13, 0), False),
        ("100f", (10, 3), (13, 0), True), ("103f", (10, 0), (13, 0), False), ("103f", (10, 3), (13, 0), True),
        ("120f", (12, 1), (13, 0), True), ("121f", (12, 0), (13, 0), False), ("sm_90", (9, 0), None, True),
        ("weird", (9, 0), None, False), ("", (9, 0), None, False),
    ],
)  # fmt: skip
def test_a_cubin_runs_where_nvidia_and_torch_say(
    image: str, number: tuple[int, int], toolkit: tuple[int, int] | None, runs: bool
) -> None:
    assert runs_on(image, number, toolkit) is runs


def test_ptx_compiles_for_what_comes_later() -> None:
    assert jit_runs_on("70", (12, 0)) and jit_runs_on("100f", (10, 3)) and jit_runs_on("90a", (9, 0))
    assert not jit_runs_on("90", (8, 9)) and not jit_runs_on("90a", (10, 0)) and not jit_runs_on("?", (9, 0))


def test_a_capability_is_read_from_its_usual_spellings() -> None:
    spellings = {"9.0": (9, 0), "sm_90": (9, 0), "90a": (9, 0), "12.1": (12, 1), "121": (12, 1), "compute_75": (7, 5)}
    assert {spelling: capability(spelling) for spelling in spellings} == spellings
    assert [capability(text) for text in ("", "x", "9.0.1", None)] == [None] * 4
    assert renamed((10, 1)) == (11, 0)


def test_drivers_compare_number_by_number() -> None:
    assert drivers.meets("580.95.05", "580") and drivers.meets("580", "580.00") and drivers.meets("1000.1", "595.45.04")
    assert not drivers.meets("575.99", "580") and not drivers.meets("525.60", "525.60.13")
    assert drivers.meets("1.2", None) and not drivers.meets(None, "580") and not drivers.meets("unknown", "1")
    assert drivers.branch("580.95.05") == 580 and drivers.branch("") == 0 and drivers.branch(None) == 0


def test_driver_facts_are_those_of_nvidia() -> None:
    assert drivers.paired((13, 2), "linux") == "595.45.04" and drivers.paired((13, 2), "windows") is None
    assert drivers.paired((13, 0), "linux") == "580.65.06" and drivers.paired((13, 0), "windows") == "580.88"
    assert drivers.lowest(13, "linux") == "580.65.06" and drivers.lowest(12, "linux") == "525.60.13"
    assert drivers.floor(14, "linux") is None and drivers.paired((14, 0), "linux") is None
    assert drivers.last_branch((7, 0)) == 580 and drivers.last_branch((3, 7)) == 470
    assert drivers.last_branch((7, 5)) is None and drivers.last_branch((13, 0)) is None
    assert drivers.first_branch((12, 0)) == 570 and drivers.first_branch((8, 6)) is None
    assert drivers.end_of_life(535) == "2026-06" and drivers.end_of_life(1) is None


def test_requirements_are_read_as_pip_reads_them() -> None:
    for text_, allowed in {
        "torch==2.15": ["2.15.0"],
        "2.14": ["2.14.0", "2.14.1"],
        "torch>=2.12,<2.13": ["2.12.0", "2.12.1"],
        "==2.14.1+cu126": ["2.14.1"],
        "torch[opt]~=2.14.1; sys_platform == 'linux'": ["2.14.1"],
    }.items():
        wish = read_wish(text_)
        assert wish is not None and [version for version in known_versions() if wish.allows(version)] == allowed, text_
    named = read_wish("torch==2.14.1+cu126")
    assert named is not None and named.build == "cu126" and str(named) == "torch==2.14.1+cu126"
    assert read_wish("torchvision==0.20") is None and read_wish("==x") is None
    assert read_wish("torch @ https://example.org/torch.whl") is None


def test_every_offer_names_an_index_unless_pypi_has_it() -> None:
    default = {(row["torch"], row["platform"], row["build"]) for row in table("releases")["rows"]}
    for platform in PLATFORMS:
        assert offers(platform), platform
        for offer in offers(platform):
            assert (offer.index is None) == ((offer.torch, platform, offer.build) in default), offer
            assert offer.index is None or offer.index.endswith("/" + offer.build)


def test_command_lines_quote_what_a_shell_would_change() -> None:
    pip, uv = install_lines("torch==2.14.*", "https://download.pytorch.org/whl/cu126", (), "2.14.1")
    assert pip == 'pip install "torch==2.14.*" --index-url https://download.pytorch.org/whl/cu126'
    assert uv == f"uv {pip}"


def test_importing_the_resolver_reads_no_table() -> None:
    program = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "import torchlift.wheels.resolver, torchlift.wheels.gpus\n"
        "sys.exit(any('wheels' in name and name.endswith(('.json', '.tsv')) for name in opened))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
