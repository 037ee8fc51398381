"""Scripts, container files, YAML, makefiles and environment files as inputs of `migrate`."""

from __future__ import annotations

import codecs
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from torchlift.finding import Finding
from torchlift.migrate import document
from torchlift.migrate.cli import migrate
from torchlift.migrate.find import selection
from torchlift.migrate.workspace.discover import Discovery, discover
from torchlift.source import SourceText, Span, UnreadableSource
from torchlift.view.text import TextKind, TextView, is_shell_script, is_text_name, read_text, text_kind

LAUNCH = "python -m torch.distributed.launch train.py\n"

Files = dict[str, "str | bytes"]
Make = Callable[[Files], Path]


@pytest.fixture(params=["git", "walk"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes a project that is listed by git, or an equal one that is walked."""

    def write(files: Files) -> Path:
        if request.param == "git":
            subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, capture_output=True)
        return put(tmp_path, files)

    return write


def put(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def found(folder: Path, *names: str, **options: Any) -> Discovery:
    return discover([folder / name for name in names] or [folder], folder, **options)


def run(folder: Path, *arguments: str, stdin: bytes | None = None) -> Result:
    where = arguments if "-" in arguments else (str(folder), *arguments)
    return CliRunner().invoke(migrate, ["--allow-no-vcs", *where], input=stdin)


def report(folder: Path, *arguments: str) -> Any:
    done = run(folder, "--check", "--output-format", "json", *arguments)
    assert done.exit_code in {0, 1}, done.output
    return json.loads(done.stdout)


def places(folder: Path, *arguments: str) -> list[tuple[str, str, int, int]]:
    return [
        (item["code"], item["filename"], item["location"]["row"], item["location"]["column"])
        for item in report(folder, *arguments)["findings"]
    ]


def view(text: str, kind: TextKind = "shell") -> TextView:
    return TextView("x", kind, SourceText(text))


# Which files


NAMES = {
    "train.sh": "shell",
    "a/run.bash": "shell",
    "job.slurm": "shell",
    "job.sbatch": "shell",
    "job.pbs": "shell",
    "x.lsf": "shell",
    "nightly.job": "shell",
    "Dockerfile": "dockerfile",
    "docker/Dockerfile.gpu": "dockerfile",
    "Dockerfile-dev": "dockerfile",
    "Containerfile": "dockerfile",
    "gpu.dockerfile": "dockerfile",
    "gpu.Dockerfile": "dockerfile",
    ".github/workflows/ci.yml": "yaml",
    "conf/a.b.yaml": "yaml",
    "Makefile": "makefile",
    "GNUmakefile": "makefile",
    "rules.mk": "makefile",
    ".env": "env",
    ".env.gpu": "env",
    "gpu.env": "env",
    "requirements.txt": "requirements",
    "requirements-dev.in": "requirements",
    "dev_requirements.txt": "requirements",
    "requirements/base.txt": "requirements",
    "constraints.txt": "requirements",
    "pyproject.toml": "toml",
    "Pipfile": "toml",
    "setup.cfg": "ini",
    "tox.ini": "ini",
    "src/CMakeLists.txt": "cmake",
    "README.md": "markdown",
    "docs/install.rst": "markdown",
}
OTHERS = [
    "a.py",
    "a.pyi",
    "CHANGES.md",
    "my_requirements.txt.bak",
    "sh",
    "yaml",
    "a.yaml.txt",
    "MyDockerfile",
    "Makefile.py.in",
    "environment",
    "a.toml",
]


@pytest.mark.parametrize(("name", "kind"), NAMES.items())
def test_a_name_tells_the_kind(name: str, kind: str) -> None:
    assert text_kind(name) == kind and is_text_name(name.encode())


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_tell_nothing(name: str) -> None:
    assert text_kind(name) is None and not is_text_name(name.encode())


@pytest.mark.parametrize(
    "line", ["#!/bin/sh", "#!/bin/bash -e", "#! /usr/bin/env bash", "#!/usr/bin/env -S bash -x", "#!/bin/zsh"]
)
def test_a_first_line_tells_a_shell_script(line: str) -> None:
    assert is_shell_script(f"{line}\nls\n".encode()) and text_kind("tool", f"{line}\n".encode()) == "shell"


@pytest.mark.parametrize(
    "line", ["#!/usr/bin/env python", "#!/usr/bin/fish", "# /bin/sh", "#!/usr/bin/env shx", "", "\x7fELF"]
)
def test_other_first_lines_do_not(line: str) -> None:
    assert not is_shell_script(line.encode()) and text_kind("tool", line.encode()) is None


def test_text_files_are_listed_beside_python(make: Make) -> None:
    folder = make({**dict.fromkeys([*NAMES, *OTHERS], "x\n"), ".venv/a.sh": "x\n", "build/b.yml": "x\n"})
    listed = found(folder)
    assert set(listed.texts) == set(NAMES) and listed.files == ("a.py", "a.pyi") and listed.named == ()


def test_ignored_and_excluded_text_is_left_out_unless_it_is_named(make: Make) -> None:
    folder = make({".gitignore": "local.sh\n", "local.sh": "x\n", "gen/a.yml": "x\n", "b.yml": "x\n"})
    assert found(folder, extend_exclude=["gen"]).texts == ("b.yml",)
    named = found(folder, "local.sh", "gen/a.yml", extend_exclude=["gen"])
    assert named.texts == named.named == ("gen/a.yml", "local.sh")
    assert found(folder, "gen/a.yml", extend_exclude=["gen"], force_exclude=True).texts == ()


def test_a_script_without_a_suffix_counts_if_it_may_be_run(make: Make) -> None:
    folder = make({"bin/go": "#!/bin/sh\n", "bin/data": "#!/bin/sh\n", "bin/tool": "#!/usr/bin/env python\n"})
    for name in ("go", "tool"):
        (folder / "bin" / name).chmod(0o755)
    assert found(folder).texts == ("bin/go",)
    assert found(folder, "bin/data").texts == ("bin/data",)


def test_large_text_is_data_unless_it_is_named(make: Make) -> None:
    folder = make({"cassette.yaml": b"- x\n" * 300_000, "b.yaml": b"x\n"})
    assert found(folder).texts == ("b.yaml",)
    assert found(folder, "cassette.yaml").texts == ("cassette.yaml",)


def test_a_named_file_of_no_known_kind_is_python_as_before(make: Make) -> None:
    folder = make({"notes.me": "x = 1\n"})
    assert found(folder, "notes.me").files == ("notes.me",)


# Code and comments


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("a # b\nc\n", "shell", ["a", "c"]),
        ("a#b ${#c} $# 'd # e' \"f # g\"\n", "shell", ["a#b ${#c} $# 'd # e' \"f # g\""]),
        ("a \\\n  b \\\n  c\nd", "shell", ["a     b     c", "d"]),
        ("a \\\\\nb\n", "shell", ["a \\\\", "b"]),
        ("a # b \\\nc\n", "shell", ["a", "c"]),
        ("#SBATCH --export=A\n# SBATCH no\n#!/bin/sh\n", "shell", ["#SBATCH --export=A"]),
        ("it's # no\n", "shell", ["it's"]),
        ('echo "don\'t # yes"\n', "shell", ['echo "don\'t # yes"']),
        ("RUN a \\\n  # why\n  && b\n", "dockerfile", ["RUN a             && b"]),
        ("# escape=`\nRUN a `\n  b\n", "dockerfile", ["RUN a     b"]),
        ("k: don't # no\n", "yaml", ["k: don't"]),
        ("k: 'a # b' # no\n", "yaml", ["k: 'a # b'"]),
        ("A=b\\\nC=d # e\n", "env", ["A=b\\", "C=d"]),
        ("x: \\# a # b\n", "makefile", ["x: \\# a"]),
    ],
)
def test_comments_are_no_code_and_continuations_are_joined(text: str, kind: TextKind, code: list[str]) -> None:
    seen = view(text, kind)
    assert [line.text.strip() for line in seen.lines] == code


@given(
    st.text(st.sampled_from("ab#'\"\\ \t\n\r;=`$"), max_size=60),
    st.sampled_from(["shell", "dockerfile", "yaml", "makefile", "env"]),
)
def test_every_character_keeps_its_place(text: str, kind: TextKind) -> None:
    seen = view(text, kind)
    assert len(seen.code) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, seen.code, strict=True))
    for line in seen.lines:
        assert seen.code[line.start : line.start + len(line.text)] == line.text
        assert seen.line_at(line.start) == line
    for comment in seen.comments:
        assert text[comment.start] == "#" and not seen.code[comment.start : comment.end].strip()


def test_a_line_is_found_by_any_of_its_characters() -> None:
    seen = view("a\n\nb \\\n c # d\ne\n")
    line = seen.line_at(6)
    assert line is not None and line.start == 3 and seen.line_at(2) is None
    assert seen.statement(Span(8, 9)) == Span(3, 9)


@pytest.mark.parametrize(
    "data",
    [
        b"a\r\nb\r\n",
        codecs.BOM_UTF8 + b"a\n",
        "stra\u00dfe".encode("latin-1"),
        "\u00e4".encode(),
        b"# coding: cp1252\n\x80\n",
        b"",
    ],
)
def test_reading_loses_nothing(data: bytes) -> None:
    assert read_text(data).to_bytes() == data


def test_what_is_no_text_is_not_read() -> None:
    with pytest.raises(UnreadableSource):
        read_text("a\n".encode("utf-16"))


# A run


def test_a_finding_has_file_line_and_column_in_every_format(tmp_path: Path) -> None:
    put(tmp_path, {"train.sh": f"#!/bin/bash\nset -e\n{LAUNCH}"})
    assert places(tmp_path) == [("TL206", "train.sh", 3, 11)]
    concise = run(tmp_path, "--check", "--output-format", "concise").stdout
    assert "train.sh:3:11: TL206 `torch.distributed.launch`" in concise
    full = run(tmp_path, "--check").stdout
    assert "3 | python -m torch.distributed.launch train.py" in full and "help: Write `torchrun`" in full
    assert "^" * len("torch.distributed.launch") in full
    assert "TL206" in run(tmp_path, "--check", "--statistics").stdout


@pytest.mark.parametrize("mode", [[], ["--diff"], ["--check"]])
def test_nothing_is_written_into_text_files(tmp_path: Path, mode: list[str]) -> None:
    data = codecs.BOM_UTF8 + LAUNCH.replace("\n", "\r\n").encode()
    put(tmp_path, {"train.sh": data, "model.py": "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n"})
    assert run(tmp_path, *mode).exit_code == 1
    assert (tmp_path / "train.sh").read_bytes() == data
    assert ("outer" in (tmp_path / "model.py").read_text()) is (mode == [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tox.ini", "envlist = py311\n\n[testenv]\ndeps =\n    torch==2.1.0\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch ~= 2.4.0\n[options\nx = 1\n"),
        ("requirements.txt", 'torch==2.1.0 ; torch < "3.9"\ntorchvision==0.16.0 ; x\n'),
        ("pyproject.toml", '[project]\nname = "a"\n<<<<<<< ours\ndependencies = ["torch==2.4.0"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.11"\ntorch = "~2.4.0"\ntorch = "~2.5.0"\n'),
    ],
)
def test_what_its_own_reader_refuses_is_reported_and_stays(tmp_path: Path, name: str, text: str) -> None:
    put(tmp_path, {name: text})
    for mode in ("--check", "--diff"):
        done = run(tmp_path, mode, "--unsafe-fixes", "--min-torch", "2.13")
        assert done.exit_code in {0, 1} and "defect" not in done.output, done.output
    assert (tmp_path / name).read_text() == text


def test_findings_of_a_file_are_suppressed_by_comments(tmp_path: Path) -> None:
    put(tmp_path, {
        "a.sh": f"{LAUNCH.strip()}  # torchlift: ignore[TL206] old cluster\n",
        "b.sh": f"# torchlift: ignore[TL206] old cluster\n\n{LAUNCH}",
        "c.sh": f"# torchlift: file-ignore[TL206] old cluster\n{LAUNCH}{LAUNCH}",
        "Dockerfile": f"RUN x && \\\n    # torchlift: ignore[distributed-launch] old\n    {LAUNCH}",
        "d.yml": "command:\n  - -m  # torchlift: ignore[TL206] old\n  - torch.distributed.launch\n",
        "e.sh": f"# torchlift: ignore[TL206] the next line only\nls\n{LAUNCH}",
    })  # fmt: skip
    done = report(tmp_path)
    assert [(item["code"], item["filename"]) for item in done["findings"]] == [
        ("TL901", "e.sh"),
        ("TL206", "e.sh"),
    ]
    assert done["summary"]["suppressed"] == 6


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("# torchlift: ignore[TL206] old", "TL901"),
        ("# torchlift: ignore[TL9999] no rule", "TL901"),
        ("# torchlift: ignore", "TL901"),
        ("echo '# torchlift: ignore[TL206] in quotes'", None),
        ("x: 1\ntorchlift: 2", None),
    ],
)
def test_suppressions_without_effect_are_reported_and_left_in_place(
    tmp_path: Path, comment: str, code: str | None
) -> None:
    put(tmp_path, {"a.sh": f"ls\n{comment}\n"})
    done = report(tmp_path)
    assert [item["code"] for item in done["findings"]] == ([code] if code else [])
    assert all(item["fix"] is None and item["help"] for item in done["findings"])
    run(tmp_path)
    assert (tmp_path / "a.sh").read_text() == f"ls\n{comment}\n"


def test_a_suppression_without_a_reason_is_reported(tmp_path: Path) -> None:
    put(tmp_path, {"a.sh": f"{LAUNCH.strip()} # torchlift: ignore[TL206]\n"})
    assert [code for code, *_ in places(tmp_path)] == ["TL903"]


def test_selection_and_configuration_hold_for_text(tmp_path: Path) -> None:
    put(tmp_path, {"a.sh": LAUNCH, "old/b.sh": LAUNCH, "c.yml": "TORCH_NCCL_NAN_CHECK: 1\n"})
    assert {code for code, *_ in places(tmp_path)} == {"TL206", "TL245"}
    assert {code for code, *_ in places(tmp_path, "--select", "TL245")} == {"TL245"}
    assert {code for code, *_ in places(tmp_path, "--ignore", "TL245")} == {"TL206"}
    assert {path for _, path, *_ in places(tmp_path, "--exclude", "old")} == {"a.sh", "c.yml"}
    put(tmp_path, {"torchlift.toml": 'per-file-ignores = {"old/**" = ["TL206"]}\n'})
    assert {path for _, path, *_ in places(tmp_path)} == {"a.sh", "c.yml"}


def test_standard_input_is_text_if_its_name_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        tmp_path, "-", "--stdin-filename", "a.sh", "--check", "--output-format", "concise", stdin=LAUNCH.encode()
    )
    assert done.exit_code == 1 and "a.sh:1:11: TL206" in done.stdout
    done = run(tmp_path, "-", "--stdin-filename", "a.sh", stdin=LAUNCH.encode())
    assert done.exit_code == 1 and done.stdout_bytes == LAUNCH.encode()


@pytest.mark.parametrize("data", [LAUNCH.encode() + b"\0", LAUNCH.encode("utf-16")])
def test_what_is_no_text_is_reported_only_if_it_was_named(tmp_path: Path, data: bytes) -> None:
    put(tmp_path, {"a.sh": data})
    assert places(tmp_path) == []
    done = CliRunner().invoke(migrate, ["--check", "--output-format", "concise", str(tmp_path / "a.sh")])
    assert done.exit_code == 1 and "TL902 Not analysed: it contains NUL bytes" in done.stdout


def test_text_in_another_encoding_is_read_all_the_same(tmp_path: Path) -> None:
    put(tmp_path, {"a.sh": "# Gr\u00f6\u00dfe\n".encode("latin-1") + LAUNCH.encode()})
    assert places(tmp_path) == [("TL206", "a.sh", 2, 11)]


def test_a_file_without_a_word_of_a_rule_is_never_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def read(data: bytes) -> SourceText:
        decoded.append(data)
        return read_text(data)

    for module in (selection, document):
        monkeypatch.setattr(module, "read_text", read)
    put(tmp_path, {"a.sh": "python -m torch.distributed.run\n", "b.yml": "x: 1\n", "c.sh": LAUNCH})
    done = report(tmp_path)
    assert set(decoded) == {LAUNCH.encode()}
    assert done["summary"]["files_seen"] == 3 and done["summary"]["files_analysed"] == 1


def test_a_rule_that_fails_on_a_text_file_takes_nothing_else_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchlift.rules.rule_index import indexed_rules

    def fail(*arguments: object) -> list[Finding]:
        raise ValueError("broken")

    rule = indexed_rules()["TL206"]
    monkeypatch.setitem(rule.__dict__, "text", fail)
    put(tmp_path, {"a.sh": f"{LAUNCH}export TORCH_NCCL_NAN_CHECK=1\n"})
    done = run(tmp_path, "--check", "--output-format", "json")
    told = json.loads(done.stdout)
    assert done.exit_code == 2 and [item["code"] for item in told["findings"]] == ["TL245"]
    assert [(item["stage"], item["ours"]) for item in told["failures"]] == [("rule TL206", True)]


def test_several_processes_find_the_same(tmp_path: Path) -> None:
    files: Files = {f"m{number}.py": "import torch\n\nx = torch.ger(a, b)\n" for number in range(8)}
    put(tmp_path, {**files, "a.sh": LAUNCH})
    assert places(tmp_path, "-j", "2") == places(tmp_path, "-j", "1")
    assert len(places(tmp_path)) == 9


def test_only_projects_that_may_use_nccl_hear_of_its_variables(tmp_path: Path) -> None:
    put(tmp_path, {"a.sh": "export TORCH_NCCL_NAN_CHECK=1\n", "pyproject.toml": ""})
    put(tmp_path, {"t.py": 'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'})
    assert [code for code, *_ in places(tmp_path, "--select", "TL245")] == []
    put(tmp_path, {"t.py": 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'})
    assert [code for code, *_ in places(tmp_path, "--select", "TL245")] == ["TL245"]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("docker run -e TORCH_NCCL_NAN_CHECK=1 img\n", "a.sh", 1),
        ("mpirun -x TORCH_NCCL_NAN_CHECK=1 python x\n", "a.sh", 1),
        ("sbatch --export=ALL,TORCH_NCCL_NAN_CHECK=1 job\n", "a.sh", 1),
        ("cat > job.sh <<EOF\nexport TORCH_NCCL_NAN_CHECK=1\nEOF\n", "a.sh", 1),
        ("echo export TORCH_NCCL_NAN_CHECK=1 >> job.sh\n", "a.sh", 1),
        ("echo ${TORCH_NCCL_NAN_CHECK:-0} $TORCH_NCCL_NAN_CHECK\n", "a.sh", 0),
        ('if [ "$TORCH_NCCL_NAN_CHECK" = 1 ]; then ls; fi\n', "a.sh", 0),
        ("env: {TORCH_NCCL_NAN_CHECK: 1}\n", "a.yml", 1),
        ('env: {"TORCH_NCCL_NAN_CHECK": "1"}\n', "a.yml", 1),
        ("run: TORCH_NCCL_NAN_CHECK=1 make\n", "a.yml", 1),
        ("env:\n- {name: TORCH_NCCL_NAN_CHECK, value: '1'}\n", "a.yml", 1),
        ("ifeq ($(TORCH_NCCL_NAN_CHECK),1)\nendif\n", "Makefile", 0),
        ("RUN echo 'TORCH_NCCL_NAN_CHECK=1' >> /etc/environment\n", "Dockerfile", 1),
        ("ARG TORCH_NCCL_NAN_CHECK=1\n", "Dockerfile", 1),
        ("export TORCH_DISTRIBUTED_USE_TORCHCOMMS=0\n", "a.sh", 0),
        ("export TORCH_DISTRIBUTED_USE_TORCHCOMMS=1\n", "a.sh", 1),
        ("export TORCH_DIST_USE_NCCL2=0\n", "a.sh", 0),
    ],
)
def test_a_variable_counts_where_it_is_set(tmp_path: Path, text: str, name: str, expected: int) -> None:
    put(tmp_path, {name: text})
    assert [code for code, *_ in places(tmp_path)] == ["TL245"] * expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('command: ["python", "-m", "torch.distributed.launch"]\n', "a.yml", 1),
        ("command: [python, -m, torch.distributed.launch]\n", "a.yml", 1),
        ("CMD python3 -u -m torch.distributed.launch x.py\n", "Dockerfile", 1),
        (": ${RUN:='-m torch.distributed.launch'}\n", "a.sh", 1),
        ("module: torch.distributed.launch\n", "a.yml", 1),
        ("train:\n\t@echo python -m torch.distributed.launch\n", "Makefile", 0),
        ("see: https://pytorch.org/docs#module-torch.distributed.launch\n", "a.yml", 0),
        ("pip install torch.distributed.launch\n", "a.sh", 0),
        ("echo 'python -m torch.distributed.launch x' | bash\n", "a.sh", 1),
        ("ls && echo \"python -m torch.distributed.launch 'x'\"\n", "a.sh", 0),
    ],
)
def test_a_launcher_counts_where_it_is_run(tmp_path: Path, text: str, name: str, expected: int) -> None:
    put(tmp_path, {name: text})
    assert [code for code, *_ in places(tmp_path)] == ["TL206"] * expected


def test_the_advice_fits_the_options(tmp_path: Path) -> None:
    command = "python -m torch.distributed.launch"
    put(tmp_path, {"a.sh": f"{command} --use_env x.py\n{command} x.py\n{command} $MORE x.py\n"})
    with_env, without, unseen = (item["help"] for item in report(tmp_path)["findings"])
    assert "Drop `--use_env`" in with_env and "LOCAL_RANK" not in with_env
    assert "LOCAL_RANK" in without and "rop" not in without
    assert "with the dash" in without and "with the dash" not in with_env
    assert "drop it" in unseen


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"x.py": 'p.add_argument("--local_rank", type=int)\n'},
            "x.py:1 takes it: unless that script does so already, it has to find its GPU",
        ),
        (
            {"x.py": "import os\n\np.add_argument('--local-rank')\n"},
            "x.py:3 takes it: unless that script does so already, it has to find its GPU",
        ),
        ({"run/x.py": "p.add_argument('--local-rank')\n"}, "run/x.py:1 takes it: unless"),
        (
            {"x.py": "from p.util import parse\n", "p/util.py": "a.add_argument('--local_rank')\n"},
            "p/util.py:1 takes it, in a module that x.py names",
        ),
        (
            {"y.py": "p.add_argument('--local-rank')\n"},
            "A script that takes such an option has to find its GPU without it",
        ),
        (
            {"y.py": "p.add_argument('--local-rank')\n", "x.py": "main()\n"},
            "x.py does not spell that option out: unless a file",
        ),
        ({"x.py": "rank = int(os.environ['LOCAL_RANK'])\n"}, "x.py does not spell that option out: unless a file"),
        (
            {"y.py": "rank = int(os.environ['LOCAL_RANK'])\n"},
            "A script that takes such an option has to find its GPU without it",
        ),
        ({"README.md": '`"--local_rank"`\n'}, "A script that takes such an option has to find its GPU without it"),
    ],
)
def test_the_advice_says_where_the_project_takes_the_option(
    files: dict[str, str], expected: str, tmp_path: Path
) -> None:
    put(tmp_path, {"a.sh": "python -m torch.distributed.launch --nproc_per_node 2 x.py --local\n", **files})
    (found,) = (item for item in report(tmp_path)["findings"] if item["code"] == "TL206")
    assert expected in found["help"]
