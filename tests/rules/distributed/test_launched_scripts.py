"""Which script a command with the old launcher starts: the one that it names from where it stands, and no other of that name."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

SCRIPT = "import argparse\n\nimport torch\n\np = argparse.ArgumentParser()\np.add_argument('--local_rank', type=int)\np.parse_args()\n"
COMMAND = "python -m torch.distributed.launch --nproc_per_node 2 "


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"one/train.py": SCRIPT, "two/train.py": SCRIPT, "one/go.sh": f"{COMMAND}train.py\n"}, ["one/train.py"]),
        ({"one/train.py": SCRIPT, "two/train.py": SCRIPT, "go.sh": f"{COMMAND}two/train.py\n"}, ["two/train.py"]),
        ({"one/train.py": SCRIPT, "train.py": SCRIPT, "one/go.sh": f"{COMMAND}../train.py\n"}, ["train.py"]),
        ({"one/train.py": SCRIPT, "two/train.py": SCRIPT, "one/README.md": f"```sh\n{COMMAND}train.py\n```\n"}, ["one/train.py"]),
        ({"one/train.py": SCRIPT, "bin/go.sh": f"{COMMAND}$HERE/train.py\n"}, ["one/train.py"]),
        ({"one/train.py": SCRIPT, "two/train.py": SCRIPT, "bin/go.sh": f"{COMMAND}$HERE/train.py\n"}, []),
        ({"one/train.py": SCRIPT, "one/go.sh": f"{COMMAND}$SCRIPT\n"}, ["one/train.py"]),
        ({"one/train.py": SCRIPT, "two/go.sh": f"{COMMAND}$SCRIPT\n"}, []),
        ({"one/train.py": SCRIPT, "one/go.sh": f"{COMMAND}--use_env train.py\n"}, []),
    ],
)  # fmt: skip
def test_a_parser_is_told_of_a_command_that_starts_its_own_script(
    files: dict[str, str], told: list[str], tmp_path: Path
) -> None:
    result = analyse_files(tmp_path, files, codes=frozenset({"TL205"}))
    assert (
        sorted(finding.path for finding in all_findings(result) if "passes `--local-rank`" in finding.message) == told
    )


STRICT = "which this parser does not know: it ends every process with exit status 2."
LENIENT = "which this parser does not know and passes over."


@pytest.mark.parametrize(
    ("option", "parsed", "told"),
    [
        ("type=int", "p.parse_args()", STRICT),
        ("type=int", "p.parse_known_args()", LENIENT),
        ("type=int, required=True", "p.parse_known_args()", STRICT),
        ("type=int, required=False", "p.parse_known_args()", LENIENT),
        (
            "type=int",
            "p.parse_known_args()[0].debug\np.parse_args()",
            "which this parser does not know: `parse_known_args` passes over it, and `parse_args` ends every process with exit status 2.",
        ),
        ("type=int", "other.parse_known_args()\np.parse_args()", STRICT),
        ("type=int", "other.parse_args()\np.parse_known_args()", LENIENT),
        ("type=int", "parser().parse_known_args()", LENIENT),
        ("type=int", "parser().parse_args()", STRICT),
    ],
)
def test_what_becomes_of_a_spelling_that_is_not_known_depends_on_the_parser(
    option: str, parsed: str, told: str, tmp_path: Path
) -> None:
    script = SCRIPT.replace("type=int", option).replace("p.parse_args()", parsed)
    result = analyse_files(tmp_path, {"train.py": script, "go.sh": f"{COMMAND}train.py\n"}, codes=frozenset({"TL205"}))
    assert [finding.message.rpartition("with a dash, ")[2] for finding in all_findings(result)] == [told]


@pytest.mark.parametrize(
    ("command", "says", "never"),
    [
        ("train.py", "passes no `--local-rank`", "If `--use_env` comes"),
        ("$MORE train.py", "If `--use_env` comes with the rest of the command, drop it", "Drop `--use_env`, which"),
        ("--use_env train.py", "Drop `--use_env`, which torchrun always does", "If `--use_env` comes"),
    ],
)
def test_an_option_that_may_come_with_the_rest_of_a_command_is_told_where_there_is_a_rest(
    command: str, says: str, never: str, tmp_path: Path
) -> None:
    found = all_findings(analyse_files(tmp_path, {"go.sh": f"{COMMAND}{command}\n"}))
    helps = [
        finding.help or "" for finding in found if "torch.distributed.launch" in finding.message + (finding.help or "")
    ]
    assert any(says in text for text in helps) and not any(never in text for text in helps), helps
