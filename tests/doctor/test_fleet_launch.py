"""Which rank of which job a process is."""

from __future__ import annotations

import pytest

from torchlift.doctor.fleet.launch import LaunchError, first_host, from_variables, launched

TORCHRUN = {
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "29511",
}
SRUN = {
    "SLURM_STEP_ID": "0",
    "SLURM_NTASKS": "4",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_JOB_ID": "7042",
    "SLURM_STEP_NODELIST": "gpu[07-08],login1",
}


def test_a_process_of_its_own_is_no_launch() -> None:
    assert launched({}) is None


def test_rank_and_world_size_alone_are_no_launch_because_training_containers_set_them_in_every_shell() -> None:
    assert launched({"RANK": "0", "WORLD_SIZE": "8", "MASTER_ADDR": "x", "MASTER_PORT": "1"}) is None


def test_a_batch_script_of_slurm_is_no_launch_though_it_has_a_number_of_tasks() -> None:
    assert launched({name: value for name, value in SRUN.items() if name != "SLURM_STEP_ID"}) is None


def test_a_single_task_of_srun_is_no_launch() -> None:
    assert launched({**SRUN, "SLURM_NTASKS": "1"}) is None


def test_torchrun_says_everything_and_its_agent_serves_the_store() -> None:
    found = launched(TORCHRUN)
    assert found is not None
    assert (found.rank, found.world_size, found.local_rank, found.host, found.port) == (5, 8, 1, "10.0.0.1", 29511)
    assert found.store_is_up and found.launcher == "torchrun"


def test_a_restarted_job_does_not_meet_the_keys_of_its_first_start() -> None:
    first, second = launched(TORCHRUN), launched({**TORCHRUN, "TORCHELASTIC_RESTART_COUNT": "1"})
    assert first is not None and second is not None and first.run != second.run


def test_srun_ranks_meet_at_the_first_machine_of_the_step_on_a_port_of_the_job() -> None:
    found, other = launched(SRUN), launched({**SRUN, "SLURM_JOB_ID": "7043"})
    assert found is not None and other is not None
    assert (found.rank, found.world_size, found.local_rank, found.host) == (3, 4, 1, "gpu07")
    assert not found.store_is_up and found.port != other.port


def test_master_variables_outrank_what_srun_suggests() -> None:
    found = launched({**SRUN, "MASTER_ADDR": "head", "MASTER_PORT": "4000"})
    assert found is not None and (found.host, found.port) == ("head", 4000)


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("n1", "n1"),
        ("n1,n2", "n1"),
        ("gpu[07-12,20],login1", "gpu07"),
        ("gpu[3]", "gpu3"),
        ("rack1-[001-004]-ib", "rack1-001-ib"),
        ("a.b.c,d", "a.b.c"),
        ("", ""),
    ],
)
def test_the_first_host_of_a_node_list(nodes: str, first: str) -> None:
    assert first_host(nodes) == first


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"RANK": ""}, "RANK"),
        ({"RANK": "one"}, "'one'"),
        ({"RANK": "8"}, "Rank 8"),
        ({"WORLD_SIZE": "-1"}, "'-1'"),
        ({"MASTER_ADDR": ""}, "MASTER_ADDR"),
        ({"MASTER_PORT": "http"}, "MASTER_PORT"),
    ],
)
def test_variables_that_make_no_sense_are_named(change: dict[str, str], names: str) -> None:
    with pytest.raises(LaunchError, match=names):
        from_variables({**TORCHRUN, **change})
