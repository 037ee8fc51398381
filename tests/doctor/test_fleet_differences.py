"""Where machines differ from the majority."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from torchlift.doctor.facts import Facts, Gpu, Nvml, Package
from torchlift.doctor.fleet.aspects import ASPECTS
from torchlift.doctor.fleet.differences import UNKNOWN, differences

DRIVERS = ["595.58.03", "580.95.05", "570.124.06", None]


def machine(driver: str | None = "595.58.03", gpus: int = 8, nccl: str = "2.30.7", **variables: str) -> Facts:
    return Facts(
        nvml=Nvml(outcome="ok", driver_version=driver),
        gpus=[
            Gpu(index=index, name="NVIDIA H100 80GB HBM3", pcie_width=16, nvlinks_active=18) for index in range(gpus)
        ],
        packages=[Package("nvidia-nccl-cu13", nccl, "")],
        environment=dict(variables),
    )


def test_equal_machines_do_not_differ() -> None:
    assert differences([("a", machine()), ("b", machine()), ("c", machine())]) == ()


def test_the_odd_one_out_is_named_with_its_value_and_that_of_the_majority() -> None:
    found = differences([("a", machine()), ("b", machine(driver="580.95.05")), ("c", machine())])
    assert [difference.aspect.id for difference in found] == ["driver"]
    assert found[0].majority == "595.58.03" and found[0].machines == ("a", "c")
    assert found[0].others == (("580.95.05", ("b",)),) and found[0].deviating == ("b",)


def test_two_machines_that_differ_accuse_each_other() -> None:
    (found,) = differences([("a", machine()), ("b", machine(driver="580.95.05"))])
    assert found.majority is None and set(found.deviating) == {"a", "b"}


def test_a_machine_that_lost_a_gpu_or_a_link_is_seen() -> None:
    broken = machine()
    broken.gpus[3] = replace(broken.gpus[3], nvlinks_active=17, nvlinks_inactive=1, pcie_width=8)
    found = {
        item.aspect.id: item
        for item in differences([("a", machine()), ("b", machine(gpus=7)), ("c", broken), ("d", machine())])
    }
    assert found["gpus"].others[0][0] == "7 x NVIDIA H100 80GB HBM3"
    assert "17 up, 1 down (1 GPUs)" in found["nvlinks"].others[0][0]
    assert "x8 (1 GPUs)" in found["pcie"].others[0][0]


def test_an_unknown_value_is_a_difference_where_others_know_it_and_never_the_majority() -> None:
    (found,) = differences([("a", machine(driver=None)), ("b", machine(driver=None)), ("c", machine())])
    assert found.majority is None
    assert (UNKNOWN, ("a", "b")) in found.others


def test_variables_of_nccl_are_compared_and_others_are_not() -> None:
    (found,) = differences(
        [("a", machine(HOME="/a", NCCL_P2P_DISABLE="1")), ("b", machine(HOME="/b")), ("c", machine(HOME="/c"))]
    )
    assert found.aspect.id == "variables" and found.others == (("NCCL_P2P_DISABLE=1", ("a",)),)


@given(st.lists(st.sampled_from(DRIVERS), min_size=1, max_size=9))
def test_every_machine_is_on_exactly_one_side_of_a_difference(drivers: list[str | None]) -> None:
    machines = [(f"n{index}", machine(driver=driver)) for index, driver in enumerate(drivers)]
    found = differences(machines)
    assert bool(found) == (len(set(drivers)) > 1)
    for difference in found:
        assert sorted([*difference.machines, *difference.deviating]) == sorted(name for name, _ in machines)
        if difference.majority is not None:
            assert 2 * len(difference.machines) > len(machines)


def test_no_aspect_stumbles_over_a_machine_of_which_nothing_is_known() -> None:
    for aspect in ASPECTS:
        assert aspect.read(Facts()) in (None, "none"), aspect.id
