from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from torchlift.migrate.workspace.config import OUTPUT_FORMATS, Config, ConfigError, check_codes, load_config
from torchlift.torchscript_intent import TorchScriptIntent
from torchlift.versions import TorchVersion
from torchlift.wrappers import Wrapper

EVERYTHING = """
select = ["TL1", "trace"]
ignore = ["TL103"]
exclude = ["gen"]
extend-exclude = ["*_pb2.py"]
target = "2.15"
min-torch = "2.5.1"
batch-example = 2
unsafe-fixes = true
evidence = "runs/e.json"
baseline = "known.json"
output-format = "json"
per-file-ignores = {"tests/*" = ["TL101", "TL2"], "__init__.py" = ["TL4"]}
jobs = 3
respect-gitignore = false
force-exclude = true
allow-dirty = false
allow-no-vcs = false
wrappers = {"mylib.dist" = "torch.distributed"}
extend-rules = ["tools/rules"]
torchscript = {support = "drop", tests = "delete", speed = "compile", keep = ["export/**", "model.pt"]}
"""


TORCHSCRIPT = 'a table such as {support = "drop", tests = "successor", speed = "eager", keep = ["export/**"]}, or "drop" or "keep"'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def problem(path: Path, text: str) -> str:
    put(path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path.parent)
    return str(caught.value)


def test_without_a_file_the_defaults_hold(here: Path) -> None:
    config = load_config(here)
    assert config == Config()
    assert config.source is None
    assert config.exclude is None


@pytest.mark.parametrize("name", ["torchlift.toml", "pyproject.toml"])
def test_every_key_is_read(here: Path, name: str) -> None:
    header = "[tool.torchlift]" if name == "pyproject.toml" else ""
    source = put(here / name, header + EVERYTHING)
    assert load_config(here) == Config(
        select=("TL1", "trace"),
        ignore=("TL103",),
        exclude=("gen",),
        extend_exclude=("*_pb2.py",),
        target=TorchVersion(2, 15),
        min_torch=TorchVersion(2, 5, 1),
        batch_example=2,
        unsafe_fixes=True,
        evidence="runs/e.json",
        baseline="known.json",
        output_format="json",
        per_file_ignores={"tests/*": ("TL101", "TL2"), "__init__.py": ("TL4",)},
        jobs=3,
        respect_gitignore=False,
        force_exclude=True,
        allow_dirty=False,
        allow_no_vcs=False,
        wrappers={"mylib.dist": Wrapper("mylib.dist", "torch.distributed")},
        extend_rules=("tools/rules",),
        torchscript=TorchScriptIntent("drop", "delete", "compile", ("export/**", "model.pt")),
        source=source,
    )


def test_every_field_has_a_key() -> None:
    keys = {line.partition(" =")[0].replace("-", "_") for line in EVERYTHING.strip().splitlines()}
    assert keys | {"source", "allow_own_rules"} == set(Config.__dataclass_fields__)


def test_one_word_says_what_becomes_of_torchscript(here: Path) -> None:
    put(here / "torchlift.toml", 'torchscript = "keep"')
    assert load_config(here).torchscript == TorchScriptIntent("keep")


def test_what_is_kept_is_named_by_patterns() -> None:
    intent = TorchScriptIntent("drop", keep=("export/**", "model.pt"))
    assert intent.keeps("export/a.py") and intent.keeps("out/model.pt") and intent.drops("a.py")
    assert not intent.drops("export/a.py") and not intent.keeps("a.py")
    assert TorchScriptIntent("keep").keeps("a.py") and not TorchScriptIntent().drops("a.py")


def test_an_empty_table_is_a_configuration(here: Path) -> None:
    put(here / "torchlift.toml", 'target = "2.9"')
    source = put(here / "in" / "pyproject.toml", "[tool.torchlift]\n")
    assert load_config(here / "in") == Config(source=source)
    source = put(here / "in" / "deeper" / "torchlift.toml", "")
    assert load_config(here / "in" / "deeper") == Config(source=source)


def test_the_nearest_file_decides_alone(here: Path) -> None:
    put(here / "pyproject.toml", '[tool.torchlift]\njobs = 2\ntarget = "2.9"')
    put(here / "a" / "torchlift.toml", "jobs = 5")
    (here / "a" / "b").mkdir()
    config = load_config(here / "a" / "b")
    assert config.jobs == 5
    assert config.target is None


def test_torchlift_toml_beats_pyproject_beside_it(here: Path) -> None:
    put(here / "pyproject.toml", "[tool.torchlift]\njobs = 2")
    put(here / "torchlift.toml", "jobs = 5")
    assert load_config(here).jobs == 5


def test_a_pyproject_without_the_table_is_passed_over(here: Path) -> None:
    put(here / "pyproject.toml", "[tool.torchlift]\njobs = 2")
    put(here / "a" / "pyproject.toml", '[project]\nname = "a"\ndependencies = ["torchlift"]')
    put(here / "a" / "b" / "pyproject.toml", "[tool.ruff]")
    assert load_config(here / "a" / "b").jobs == 2


def test_a_broken_pyproject_that_does_not_mention_torchlift_is_somebody_elses(here: Path) -> None:
    put(here / "pyproject.toml", "[tool.ruff\nnonsense")
    assert load_config(here) == Config()


@pytest.mark.parametrize(
    "text",
    [
        "[tool . torchlift]\njobs = 2",
        '[tool."torchlift"]\njobs = 2',
        "tool = {torchlift = {jobs = 2}}",
        "[tool]\ntorchlift.jobs = 2",
        "\ufeff[tool.torchlift]\r\njobs = 2\r\n",
    ],
)
def test_any_spelling_of_the_table_is_found(here: Path, text: str) -> None:
    put(here / "pyproject.toml", text)
    assert load_config(here).jobs == 2


def test_a_relative_start_is_looked_up_from_the_working_directory(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here / "torchlift.toml", "jobs = 2")
    put(here / "a" / "x.py", "")
    monkeypatch.chdir(here / "a")
    assert load_config(Path()).jobs == 2


def test_a_configuration_survives_pickling(here: Path) -> None:
    put(here / "torchlift.toml", EVERYTHING)
    config = load_config(here)
    assert config.ignored_in("tests/a.py") == ("TL101", "TL2")
    assert pickle.loads(pickle.dumps(config)) == config
    assert hash(config) == hash(pickle.loads(pickle.dumps(config)))


# Explicit files


def test_a_named_file_is_read_instead(here: Path) -> None:
    put(here / "torchlift.toml", "jobs = 2")
    other = put(here / "other" / "lint.toml", "jobs = 7")
    pyproject = put(here / "third" / "pyproject.toml", "[tool.torchlift]\njobs = 8")
    assert load_config(here, explicit=other) == Config(jobs=7, source=other)
    assert load_config(here, explicit=pyproject).jobs == 8


def test_a_named_file_that_is_missing_is_an_error(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"The configuration no\.toml cannot be read \(No such file"):
        load_config(here, explicit=here / "no.toml")


def test_a_named_pyproject_without_the_table_is_an_error(here: Path) -> None:
    path = put(here / "pyproject.toml", "[tool.ruff]")
    with pytest.raises(ConfigError, match=r"pyproject\.toml has no `\[tool\.torchlift\]` table"):
        load_config(here, explicit=path)


# Mistakes


@pytest.mark.parametrize(
    ("key", "meant"),
    [("slect", "select"), ("extend_exclude", "extend-exclude"), ("Target", "target"), ("unsafe-fix", "unsafe-fixes")],
)
def test_an_unknown_key_is_an_error_with_a_suggestion(here: Path, key: str, meant: str) -> None:
    message = problem(here / "pyproject.toml", f"[tool.other]\n{key} = 1\n[tool.torchlift]\njobs = 1\n{key} = 1\n")
    assert message == f"pyproject.toml:5: torchlift has no setting `{key}`; did you mean `{meant}`?"


def test_an_unknown_key_like_no_other_gets_the_list(here: Path) -> None:
    message = problem(here / "torchlift.toml", "zzz = 1")
    assert message.startswith("torchlift.toml:1: torchlift has no setting `zzz`; the keys are allow-dirty, ")


def test_an_unknown_table_is_an_error_with_its_line(here: Path) -> None:
    message = problem(here / "pyproject.toml", "\n[tool.torchlift]\njobs = 1\n[tool.torchlift.per-file-ignore]\na = 1")
    assert message == ("pyproject.toml:4: torchlift has no setting `per-file-ignore`; did you mean `per-file-ignores`?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('select = "TL1"', '`select` must be a list of strings, but is the string "TL1".'),
        ("ignore = [1]", "`ignore` must be a list of strings, but is a list that holds an integer."),
        ("exclude = {a = 1}", "`exclude` must be a list of strings, but is a table."),
        ("unsafe-fixes = 1", "`unsafe-fixes` must be true or false, but is an integer."),
        ('allow-dirty = "yes"', '`allow-dirty` must be true or false, but is the string "yes".'),
        ("jobs = true", "`jobs` must be a whole number, 0 or greater, but is a boolean."),
        ("jobs = -1", "`jobs` must be a whole number, 0 or greater, but is -1."),
        ("batch-example = 1", "`batch-example` must be a whole number, 2 or greater, but is 1."),
        ("batch-example = true", "`batch-example` must be a whole number, 2 or greater, but is a boolean."),
        ("jobs = 1.5", "`jobs` must be a whole number, 0 or greater, but is a float."),
        ("target = 2.15", '`target` must be a torch version in quotes, such as "2.9", but is a float.'),
        ('target = "newest"', '`target` must be a torch version in quotes, such as "2.9", but is "newest".'),
        ('min-torch = ">=2"', '`min-torch` must be a torch version in quotes, such as "2.9", but is ">=2".'),
        ('torchscript = "go"', f'`torchscript` must be {TORCHSCRIPT}, but is the string "go" for `support`.'),
        ("torchscript = true", f"`torchscript` must be {TORCHSCRIPT}, but is a boolean."),
        (
            "torchscript = {test = 1}",
            f"`torchscript` must be {TORCHSCRIPT}, but is a table with the unknown key `test`.",
        ),
        ("torchscript = {tests = []}", f"`torchscript` must be {TORCHSCRIPT}, but is a list for `tests`."),
        (
            "torchscript = {keep = 1}",
            f"`torchscript` must be {TORCHSCRIPT}, but is a table that has an integer for `keep`.",
        ),
        ('output-format = "xml"', f'`output-format` must be one of {", ".join(OUTPUT_FORMATS)}, but is "xml".'),
        ("output-format = [1]", f"`output-format` must be one of {', '.join(OUTPUT_FORMATS)}, but is a list."),
        ("force-exclude = 2020-01-01", "`force-exclude` must be true or false, but is a date or time."),
        (
            'per-file-ignores = ["a"]',
            "`per-file-ignores` must be a table of lists of rules by pattern, "
            'such as {"tests/**" = ["TL1"]}, but is a list.',
        ),
        (
            'per-file-ignores = {"a" = "TL1"}',
            "`per-file-ignores` must be a table of lists of rules by pattern, "
            'such as {"tests/**" = ["TL1"]}, but is a table that has the string "TL1" for "a".',
        ),
    ],
)
def test_a_value_of_the_wrong_kind_is_an_error_that_says_what_is_wanted(here: Path, text: str, message: str) -> None:
    assert problem(here / "torchlift.toml", f"\n{text}\n") == f"torchlift.toml:2: {message}"


@pytest.mark.parametrize("version", ["2", "2.15", "v2.5.1", "2.7.0+cu126", "2.9.0rc1", "2.9.0.dev20250101", " 2.6 "])
def test_versions_are_read_as_people_write_them(here: Path, version: str) -> None:
    put(here / "torchlift.toml", f'target = "{version}"')
    assert load_config(here).target == TorchVersion.parse(version)


@pytest.mark.parametrize("text", ["tool = 1 # torchlift", "[tool]\ntorchlift = 1"])
def test_a_table_that_is_none_is_an_error(here: Path, text: str) -> None:
    assert " must be a table, but is an integer." in problem(here / "pyproject.toml", text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.torchlift]\njobs = \n", 2),
        ("[tool.torchlift]\nselect = [\n", 3),
        ("[tool.torchlift]\njobs=1\njobs=2\n", 3),
    ],
)
def test_bad_toml_is_an_error_with_its_line(here: Path, text: str, line: int) -> None:
    message = problem(here / "pyproject.toml", text)
    assert message.startswith(f"pyproject.toml:{line}: this is not valid TOML (")
    assert "at line" not in message


def test_a_file_in_another_encoding_is_an_error(here: Path) -> None:
    (here / "torchlift.toml").write_bytes("# é\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_config(here)


@pytest.mark.parametrize("text", ["jobs = " + "[" * 5000, "jobs = " + "9" * 5000])
def test_monstrous_toml_is_an_error(here: Path, text: str) -> None:
    assert problem(here / "torchlift.toml", text).startswith("torchlift.toml")


def test_a_file_elsewhere_is_shown_with_its_whole_path(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "cwd").mkdir()
    monkeypatch.chdir(here / "cwd")
    path = here / "project" / "torchlift.toml"
    assert problem(path, "zzz = 1").startswith(f"{path}:1: ")


# Per-file ignores and codes


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("tests/a.py", ("TL101", "TL2")),
        ("tests/deep/er/a.py", ("TL101", "TL2")),
        ("tests/__init__.py", ("TL101", "TL2", "TL4")),
        ("src/pkg/__init__.py", ("TL4",)),
        ("src/tests/a.py", ()),
        ("a.py", ()),
    ],
)
def test_per_file_ignores_belong_to_paths(here: Path, path: str, names: tuple[str, ...]) -> None:
    put(here / "torchlift.toml", EVERYTHING)
    assert load_config(here).ignored_in(path) == names


def test_known_codes_pass() -> None:
    check_codes(["TL101", "TL1", "ALL", "trace"], {"TL101", "TL1", "trace"})
    check_codes([], [])


def test_of_a_wrong_number_all_codes_of_its_family_are_told_or_none() -> None:
    for name, hint in (("TL999", "of TL9 there are TL901, TL902."), ("TL555", "`torchlift rules` lists them.")):
        with pytest.raises(ConfigError) as caught:
            check_codes([name], ["TL9", "TL901", "TL902", "TL5", "TL50", *(f"TL5{n}" for n in range(10, 30))])
        assert str(caught.value).endswith(f"is no rule; {hint}")


@pytest.mark.parametrize(("name", "meant"), [("TL110", "TL101"), ("tl101", "TL101"), ("jit-trace", "jit-traces")])
def test_an_unknown_code_is_an_error_with_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_codes(["TL101", name], ["TL101", "TL1", "jit-traces"], "--select")
    assert str(caught.value) == f"`{name}` in --select is no rule; did you mean `{meant}`?"


def test_an_unknown_code_like_no_other_gets_the_command_that_lists_them() -> None:
    with pytest.raises(ConfigError, match=r"`E501` in the configuration is no rule; `torchlift rules` lists them\.$"):
        check_codes(["E501"], ["TL101"])


def test_a_project_that_does_not_mention_torchlift_costs_no_toml_parser(here: Path) -> None:
    put(here / "pyproject.toml", "[project]\nname = 'a'")
    code = (
        "import sys; from pathlib import Path; from torchlift.migrate.workspace.config import load_config\n"
        f"load_config(Path({os.fspath(here)!r}))\n"
        "assert not {'tomllib', 'tomli', 'packaging', 'click'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("name", "table"), [("pyproject.toml", "[tool.torchlift]\n"), ("torchlift.toml", "")])
@pytest.mark.parametrize("key", ["allow-dirty", "allow-no-vcs"])
def test_a_project_cannot_switch_off_what_protects_the_user(here: Path, key: str, name: str, table: str) -> None:
    message = problem(here / name, f"{table}{key} = true\n")
    assert message == (
        f"{name}:{1 + bool(table)}: `{key}` is not taken from a file that comes with the project, which could switch off what "
        f"protects the user; say `--{key}`, or name the file with `--config`."
    )
    config = load_config(here, explicit=here / name)
    assert (config.allow_dirty, config.allow_no_vcs) == (key == "allow-dirty", key == "allow-no-vcs")


@pytest.mark.parametrize("key", ["exclude", "extend-exclude", "per-file-ignores"])
def test_braces_that_stand_for_too_many_patterns_are_an_error(here: Path, key: str) -> None:
    braces = "{a,b}" * 18
    value = f'{{"{braces}" = ["TL1"]}}' if key == "per-file-ignores" else f'["{braces}"]'
    message = problem(here / "torchlift.toml", f"{key} = {value}\n")
    assert message.startswith(f"torchlift.toml:1: `{key}` must be a pattern that can be written out, but is")
    assert "more than 1000 patterns" in message
