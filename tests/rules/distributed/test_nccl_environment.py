"""The table of environment variables of NCCL groups."""

from __future__ import annotations

import pytest

from torchlift.rules.distributed.facts.nccl_environment import (
    ENVIRONMENT_VARIABLES,
    nccl_variable,
    read_when_the_group_is_made,
)


def test_every_variable_is_found_by_its_name_and_named_in_its_fact() -> None:
    for variable in ENVIRONMENT_VARIABLES:
        assert nccl_variable(variable.name) is variable
        assert f"`{variable.name}`" in variable.fact and variable.fact.endswith(".") and variable.source


def test_a_variable_that_lost_its_meaning_says_what_to_do_and_one_that_kept_it_does_not() -> None:
    assert all(bool(variable.advice) == variable.matters for variable in ENVIRONMENT_VARIABLES)


@pytest.mark.parametrize(("value", "is_off"), [("0", True), ("False", True), ("1", False), ("", False), (None, False)])
def test_streams_that_shall_be_recorded_are_not_promised_to_be(value: str | None, is_off: bool) -> None:
    variable = nccl_variable("TORCH_NCCL_AVOID_RECORD_STREAMS")
    assert variable is not None
    advice = variable.advice_for(value)
    assert ("asks torch to record streams" in advice) is is_off
    assert ("does no harm" in advice) is not is_off


def test_nothing_is_said_about_an_unknown_variable() -> None:
    assert nccl_variable("NCCL_DEBUG") is None
    assert nccl_variable("torch_nccl_nan_check") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NCCL_DEBUG", True),
        ("TORCH_NCCL_BLOCKING_WAIT", True),
        ("TORCH_NCCL_TRACE_BUFFER_SIZE", False),
        ("TORCH_DISTRIBUTED_DEBUG", False),
        ("MY_NCCL_DEBUG", False),
    ],
)
def test_what_configures_a_communicator_is_told_by_its_prefix(name: str, expected: bool) -> None:
    assert read_when_the_group_is_made(name) is expected
