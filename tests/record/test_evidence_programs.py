"""Programs of all shapes, recorded: what may be applied is right, also where only the first call was seen; the rest is refused
for the reason that is true.

fixtures/evidence_programs/expected.tsv says what each program must come to; `python bench/proven.py` prints such lines.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter

import evidence_programs as programs
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

_QUICK = {
    "apps_rejects_bad_input",
    "script_is_scripting",
    "script_repeat_count",
    "trace_batch_of_one",
    "trace_called_by_name",
    "trace_loaded_to_double",
    "trace_mlp",
    "trace_python_counter",
    "trace_trained",
}
with (programs.FOLDER / "expected.tsv").open(encoding="utf-8", newline="") as _file:
    _ROWS = tuple(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))
_PROGRAMS = [
    pytest.param(row, id=row["program"], marks=() if row["program"] in _QUICK else pytest.mark.exhaustive)
    for row in _ROWS
]


def test_at_least_58_of_100_programs_of_the_shapes_that_were_studied_are_proven() -> None:
    assert [row["program"] for row in _ROWS] == list(programs.NAMES)
    studied = [row for row in _ROWS if not row["program"].startswith("apps_")]
    counted = Counter(row["all calls"].partition(":")[0] for row in studied)
    assert len(studied) >= 66
    assert counted["applied"] + counted["review"] >= 0.58 * len(studied)


@pytest.mark.parametrize("row", _PROGRAMS)
def test_a_program_comes_to_what_is_true_of_it(row: dict[str, str]) -> None:
    name = row["program"]
    run = programs.recorded(name)
    said = programs.conclusion(run.sites)
    assert said.startswith(row["all calls"])
    assert row["because"] in said
    assert run.left == []
    if said.startswith("applied"):
        assert programs.output_of(programs.migrated(name, run), name) == run.output


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", _PROGRAMS)
def test_nothing_that_the_first_call_alone_would_apply_is_wrong_on_the_others(row: dict[str, str]) -> None:
    run = programs.recorded(row["program"], first_call_only=True)
    said = programs.conclusion(run.sites)
    assert said.startswith(row["first call"])
    if said.startswith("applied"):
        assert said.partition(":")[2] == row["all calls"].partition(":")[2]
