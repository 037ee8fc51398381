"""Many machines at once: real processes that meet over real sockets, with facts recorded on other machines."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from torchlift.doctor.cli import doctor
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts, Gpu
from torchlift.doctor.facts.facts_json import from_json
from torchlift.doctor.fleet.exchange import FactsExchange, Patience
from torchlift.doctor.fleet.fleet import fleet_of
from torchlift.doctor.fleet.json_report import render as as_json
from torchlift.doctor.fleet.launch import Launch
from torchlift.doctor.fleet.rates import slow_ranks
from torchlift.doctor.fleet.record import Record
from torchlift.doctor.fleet.redact import redacted
from torchlift.doctor.schemas import fleet_schema
from torchlift.json_records.schema import schema_text

pytestmark = pytest.mark.xdist_group("fleet")

FIXTURES = Path(__file__).parents[2] / "fixtures"
MACHINES = FIXTURES / "machines"
HEALTHY, MANY, OLD = (MACHINES / f"{name}.json" for name in ("healthy_h100", "healthy_8xh100", "healthy_v100"))
ILL = FIXTURES / "ill_machines" / "v100_torch_2_15.json"
DOCTOR = [sys.executable, "-m", "torchlift", "doctor"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def environment(**variables: object) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "TORCHELASTIC_"))}
    return {**kept, **{name: str(value) for name, value in variables.items()}}


def ranks_of(files: list[Path], *arguments: str, world: int | None = None) -> list[subprocess.CompletedProcess[str]]:
    """Start one rank for each file, as a launcher would; `world` is larger when some are never started."""
    port = free_port()
    started = [
        subprocess.Popen(
            [*DOCTOR, "--fleet", "--facts", str(file), *arguments],
            env=environment(
                RANK=rank, LOCAL_RANK=0, WORLD_SIZE=world or len(files), MASTER_ADDR="127.0.0.1", MASTER_PORT=port
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, file in enumerate(files)
    ]
    done = []
    for process in started:
        out, err = process.communicate(timeout=240)
        done.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    return done


def run(*arguments: object, **variables: object) -> subprocess.CompletedProcess[str]:
    command = [*DOCTOR, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(**variables), timeout=240, check=False
    )


@pytest.fixture(scope="module")
def four() -> list[subprocess.CompletedProcess[str]]:
    return ranks_of([HEALTHY, MANY, OLD, ILL], "--json")


def test_four_ranks_with_differing_machines_give_one_report_on_rank_zero(
    four: list[subprocess.CompletedProcess[str]],
) -> None:
    report = json.loads(four[0].stdout)
    assert [machine["name"] for machine in report["machines"]] == [path.stem for path in (HEALTHY, MANY, OLD, ILL)]
    assert [machine["ranks"] for machine in report["machines"]] == [[0], [1], [2], [3]]
    assert [machine["fit"] for machine in report["machines"]] == [True, True, True, False]
    assert report["missing"] == [] and report["error"] is None


def test_the_report_fits_the_published_schema_which_is_up_to_date(
    four: list[subprocess.CompletedProcess[str]],
) -> None:
    jsonschema.validate(json.loads(four[0].stdout), fleet_schema())
    assert (FIXTURES.parent / "doctor/fleet.schema.json").read_text(encoding="utf-8") == schema_text(fleet_schema()), (
        "run: python -m torchlift.doctor.schemas fleet > doctor/fleet.schema.json"
    )


def test_only_rank_zero_speaks_and_decides_the_exit_status(four: list[subprocess.CompletedProcess[str]]) -> None:
    assert [done.returncode for done in four] == [1, 0, 0, 0]
    assert all(done.stdout == "" for done in four[1:])


def test_a_driver_that_three_of_four_have_is_the_majority(four: list[subprocess.CompletedProcess[str]]) -> None:
    (driver,) = (item for item in json.loads(four[0].stdout)["differences"] if item["aspect"] == "driver")
    assert driver["majority"] == "580.95.05"
    assert driver["others"] == [{"value": "595.58.03", "machines": ["healthy_h100"]}]


def test_a_sum_over_all_ranks_is_tried_on_gloo_and_not_on_the_gpus_of_other_machines(
    four: list[subprocess.CompletedProcess[str]],
) -> None:
    assert [
        (tried["backend"], tried["ranks"], tried["failed"]) for tried in json.loads(four[0].stdout)["collectives"]
    ] == [("gloo", 4, [])]


def test_a_rank_that_never_starts_is_reported_and_the_others_are_not_kept() -> None:
    (first,) = ranks_of([HEALTHY], "--fleet-timeout", "8", world=2)
    assert first.returncode == 1, first.stderr
    assert "1 rank missing (1)" in first.stdout
    assert "never joined within 8 s" in first.stdout
    assert "not tried, because ranks are missing" in first.stdout


def test_without_rank_zero_every_rank_says_so_itself() -> None:
    done = run(
        "--fleet", "--facts", HEALTHY, "--fleet-timeout", 3,
        RANK=1, LOCAL_RANK=1, WORLD_SIZE=2, MASTER_ADDR="127.0.0.1", MASTER_PORT=free_port(),
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == ""
    assert "Rank 1 of 2: rank 0 cannot be reached at 127.0.0.1" in done.stderr and "Traceback" not in done.stderr


def exchanges(world: int, started: list[int], patience: Patience) -> dict[int, FactsExchange]:
    port = free_port()
    return {
        rank: FactsExchange(
            Launch(rank, world, rank, world, "127.0.0.1", port, "environment"), sys.executable, environment(), patience
        )
        for rank in started
    }


def test_of_four_ranks_the_slow_the_lost_and_the_different_one_are_told_apart() -> None:
    """Rank 1 computes slowly and comes late, rank 2 dies once it has joined, rank 3 has another driver."""
    facts = [from_json(json.loads(HEALTHY.read_text(encoding="utf-8"))) for _ in range(4)]
    facts[3].nvml.driver_version = "580.95.05"
    rates = [700e12, 287e12, 700e12, 690e12]

    def record(rank: int) -> Record:
        smoke = {"id": "bf16-rate", "device": "cuda:0", "outcome": "pass", "details": {"rate": rates[rank]}}
        return Record("abcd"[rank], rank, facts[rank], [smoke])

    joined = exchanges(4, [0, 1, 2, 3], Patience(join=60, silent=4, examination=60, collective=30))
    with ThreadPoolExecutor() as pool:
        first = pool.submit(joined[0].finish, record(0))
        pool.submit(joined[3].finish, record(3))
        until = time.monotonic() + 60
        while time.monotonic() < until and not (_has_joined(joined[1]) and _has_joined(joined[2])):
            time.sleep(0.2)
        joined[2].stop()
        time.sleep(8)  # twice as long as a silent rank is waited for: this one gives signs of life
        pool.submit(joined[1].finish, record(1))
        gathered = first.result()
    assert joined[2]._child.result().outcome == "crashed"
    assert list(gathered.missing) == [2] and gathered.collectives == []
    fleet = fleet_of(
        gathered.records,
        lambda facts: Examination(facts, ()),
        missing=gathered.missing,
        collectives=gathered.collectives,
    )
    said = json.loads(as_json(fleet))
    assert [(rank["rank"], "no sign of life" in rank["reason"]) for rank in said["missing"]] == [(2, True)]
    assert [machine["name"] for machine in said["machines"]] == ["a", "b", "d"]
    told = {item["aspect"]: item["others"] for item in said["differences"]}
    assert told["driver"] == [{"value": "580.95.05", "machines": ["d"]}]
    assert told["rate-bf16-rate"] == [{"value": "42% of the others' (rank 1, cuda:0)", "machines": ["b"]}]
    assert "machines differ in" in said["verdict"] and "1 rank missing (2)" in said["verdict"]
    assert said["health"] == "problems"
    hidden = json.loads(as_json(redacted(fleet)))["differences"]
    assert [item["others"][0]["value"] for item in hidden if item["aspect"] == "rate-bf16-rate"] == [
        "42% of the others', rank 1"
    ]


def test_two_gpus_that_differ_and_gpus_of_other_models_are_not_said_to_be_slow() -> None:
    def record(rank: int, rate: float) -> Record:
        smoke = {"id": "bf16-rate", "device": "cuda:0", "outcome": "pass", "details": {"rate": rate}}
        return Record(f"m{rank}", rank, None, [smoke])

    def kind(name: str) -> Facts:
        return Facts(gpus=[Gpu(0, name=name)])

    assert slow_ranks([record(0, 1.0), record(1, 9.0)], {}) == ()
    records = [record(0, 9.0), record(1, 9.0), record(2, 9.0), record(3, 1.0)]
    mixed = {"m0": kind("H100"), "m1": kind("H100"), "m2": kind("H100"), "m3": kind("L4")}
    assert slow_ranks(records, mixed) == ()
    assert [deviation.deviating for deviation in slow_ranks(records, dict.fromkeys(mixed, kind("H100")))] == [("m3",)]
    assert slow_ranks([*records[:3], record(3, 7.5)], {}) == ()


def test_a_redacted_report_names_no_slow_device_by_its_uuid() -> None:
    def record(node: str, rate: float) -> Record:
        smoke = {"id": "bandwidth", "device": "MIG-secret", "outcome": "pass", "details": {"rate": rate}}
        return Record(node, None, Facts(), [smoke])

    fleet = fleet_of([record(*pair) for pair in (("a", 9.0), ("b", 9.0), ("c", 1.0))], Examination)
    assert "MIG-secret" in as_json(fleet) and "MIG-secret" not in as_json(redacted(fleet))


def _has_joined(exchange: FactsExchange) -> bool:
    # It waits for its record only once it has met the others; it shares its position in the file with us.
    return b"waiting for this machine" in os.pread(exchange._child._out.fileno(), 1 << 20, 0)


@pytest.fixture(scope="module")
def launched() -> dict[str, Any]:
    """What two ranks say that torchrun started, without being told of a fleet, after a burn of their links."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d",
               "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "-m", "torchlift", "doctor",
               "--smoke=burn", "--smoke-only=alloc", "--device=cpu", "--burn-seconds=1", "--json"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_ranks_that_torchrun_starts_are_a_fleet_without_being_told(launched: dict[str, Any]) -> None:
    (machine,) = launched["machines"]
    assert machine["ranks"] == [0, 1] and machine["report"]["facts"]["torch"]["version"]
    # Without a GPU for each, one rank speaks for the processor.
    assert [(smoke["rank"], smoke["id"], smoke["outcome"]) for smoke in machine["smokes"]] == [(0, "alloc", "pass")]


def test_a_burn_of_many_ranks_tells_the_bandwidth_of_their_links(launched: dict[str, Any]) -> None:
    (tried,) = launched["collectives"]
    assert (tried["backend"], tried["failed"]) == ("gloo", [])
    assert 1e6 < tried["bus_bandwidth"] < 1e12


def test_no_fleet_examines_one_machine_under_a_launcher_too() -> None:
    done = run("--no-fleet", "--facts", HEALTHY, TORCHELASTIC_RUN_ID="x", RANK=0, WORLD_SIZE=2)
    assert done.returncode == 0 and done.stdout.startswith("Healthy: NVIDIA H100")


def test_a_launch_that_makes_no_sense_is_named() -> None:
    done = run("--facts", HEALTHY, TORCHELASTIC_RUN_ID="x", RANK=7, WORLD_SIZE=2, MASTER_ADDR="a", MASTER_PORT=1)
    assert done.returncode == 2 and "Rank 7 does not exist among 2 ranks" in done.stderr


def merge(*arguments: object) -> Result:
    return CliRunner().invoke(
        doctor, [str(argument) for argument in ("merge", *arguments)], prog_name="torchlift doctor"
    )


def merged(*arguments: object) -> dict[str, Any]:
    done = merge(*arguments, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(found, fleet_schema())
    assert done.exit_code == found["exit_code"]
    return found


def test_files_of_equal_machines_merge_to_a_healthy_fleet(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.json").write_bytes(HEALTHY.read_bytes())
    done = merge(*sorted(tmp_path.iterdir()))
    assert done.exit_code == 0 and done.stdout.startswith("Healthy: 3 machines, all alike.")


def test_differences_are_warnings_unless_strict(tmp_path: Path) -> None:
    other = json.loads(HEALTHY.read_text())
    other["nvml"]["driver_version"] = "590.48.01"
    (tmp_path / "other.json").write_text(json.dumps(other))
    found = merged(HEALTHY, MANY, tmp_path / "other.json")
    assert found["exit_code"] == 0 and "driver" in [item["aspect"] for item in found["differences"]]
    assert merge(HEALTHY, tmp_path / "other.json", "--strict").exit_code == 1


def test_reports_merge_like_facts_and_bring_their_smokes(tmp_path: Path) -> None:
    report = json.loads(run("--facts", HEALTHY, "--json").stdout)
    report["smokes"] = {"results": [{"id": "alloc", "device": "cuda:0", "outcome": "fail", "reason": "wrong numbers"}]}
    (tmp_path / "node.json").write_text(json.dumps(report))
    done = merge(tmp_path / "node.json", HEALTHY)
    assert done.exit_code == 1 and "node: smoke alloc on cuda:0: fail: wrong numbers" in done.stdout


def test_files_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("east", "west"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "facts.json").write_bytes(HEALTHY.read_bytes())
    found = merged(tmp_path / "east" / "facts.json", tmp_path / "west" / "facts.json")
    assert [machine["name"] for machine in found["machines"]] == ["east/facts", "west/facts"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema": 99}', b"\xff\xfe\x00"])
def test_a_file_that_holds_no_facts_is_named_with_the_reason(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    done = merge(HEALTHY, tmp_path / "bad.json")
    assert done.exit_code == 2 and "bad.json" in done.stderr and "Traceback" not in done.stderr


def test_options_before_merge_are_refused_because_they_would_do_nothing() -> None:
    done = run("--strict", "merge", HEALTHY)
    assert done.returncode == 2 and "--strict stands before merge" in done.stderr


def test_a_redacted_fleet_names_no_machine_and_no_address(tmp_path: Path) -> None:
    facts = json.loads(HEALTHY.read_text())
    facts["environment"]["NCCL_SOCKET_IFNAME"] = "secretnic0"
    (tmp_path / "secretnode.json").write_text(json.dumps(facts))
    for arguments in ((), ("--json",), ("-v",)):
        done = merge(tmp_path / "secretnode.json", HEALTHY, "--redact", *arguments)
        assert "machine-1" in done.stdout and "secret" not in done.stdout


def test_without_a_burn_nobody_waits_for_rates(four: list[subprocess.CompletedProcess[str]]) -> None:
    assert [tried["bus_bandwidth"] for tried in json.loads(four[0].stdout)["collectives"]] == [None]
