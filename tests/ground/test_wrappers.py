"""Modules that mirror torch's: what is reached through them is reported under torch's name, and left as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from torchlift.migrate.cli import migrate
from torchlift.migrate.workspace.config import Config, ConfigError, load_config
from torchlift.project import Project
from torchlift.search.prefilter import Prefilter
from torchlift.view import Use
from torchlift.wrappers import DEFAULT_WRAPPERS, Wrapper, Wrappers

OLD = "\n\ndef f(t):\n    return init.uniform(t)\n"
CONFIGURED = '[tool.torchlift.wrappers]\n"mylib.init" = "torch.nn.init"\n'
REWRITTEN = '[tool.torchlift.wrappers]\n"mylib.init" = {mirrors = "torch.nn.init", rewrite = true}\n'

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def write(configuration: str = CONFIGURED, **files: str) -> Path:
        (tmp_path / "pyproject.toml").write_text(configuration)
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(migrate, [str(folder), "--allow-no-vcs", "--min-torch", "2.15", *arguments])


def findings(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    done = run(folder, "--check", "--output-format", "json", *arguments)
    assert done.exit_code in {0, 1}, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


@pytest.mark.parametrize(
    "how",
    [
        "import mylib.init as init",
        "from mylib import init",
        "from mylib import init as other\n\ninit = other",
        "try:\n    import mylib.init as init\nexcept ImportError:\n    init = None",
        "try:\n    import mylib.init as init\nexcept ImportError:\n    import torch.nn.init as init",
    ],
    ids=["import as", "from", "alias", "optional", "or torch itself"],
)
def test_a_use_through_a_wrapper_is_reported_and_left_as_it_is(put: Put, how: str) -> None:
    folder = put(a=how + OLD)
    (finding,) = findings(folder)
    assert finding["code"] == "TL401" and finding["fix"] is None
    assert "torch.nn.init.uniform" in finding["message"]
    assert finding["message"].endswith("(Reached through `mylib.init`.)")
    assert "not rewritten unless" in finding["help"] and "rewrite = true" in finding["help"]
    assert run(folder).exit_code == 1 and (folder / "a.py").read_text() == how + OLD


def test_without_configuration_the_module_is_nobody(put: Put) -> None:
    folder = put("", a="from mylib import init" + OLD, b="from torch.nn import init" + OLD)
    (finding,) = findings(folder)
    assert finding["filename"] == "b.py" and "Reached" not in finding["message"]


def test_the_command_line_names_a_wrapper_too(put: Put) -> None:
    folder = put("", a="from mylib import init" + OLD)
    (finding,) = findings(folder, "--wrapper", "mylib.init=torch.nn.init")
    assert "`mylib.init`" in finding["message"] and finding["fix"] is None


@pytest.mark.parametrize("code", ["from mylib import init" + OLD, "import mylib.init as init" + OLD])
def test_a_wrapper_that_may_be_rewritten_keeps_its_name(put: Put, code: str) -> None:
    folder = put(REWRITTEN, a=code)
    assert run(folder).exit_code == 0
    assert (folder / "a.py").read_text() == code.replace("init.uniform(", "init.uniform_(")


def test_a_module_of_the_project_may_pass_the_wrapper_on(put: Put) -> None:
    folder = put(
        pkg__compat="from mylib import init\n",
        pkg__stars="from mylib.init import *\n",
        a="from pkg.compat import init" + OLD,
        b="from pkg.stars import uniform\n\n\ndef f(t):\n    return uniform(t)  # was init.uniform\n",
    )
    (folder / "pkg" / "__init__.py").write_text("")
    found = findings(folder)
    assert {item["filename"] for item in found} == {"a.py", "b.py"}
    assert all("`mylib.init`" in item["message"] and item["fix"] is None for item in found)


def test_a_wrapper_may_be_part_of_the_project(put: Put) -> None:
    folder = put(
        mylib__init="def uniform(t):\n    return t\n\n\ndef twice(t):\n    return uniform(uniform(t))\n",
        mylib__user="from mylib import init\n" + OLD,
    )
    (folder / "mylib" / "__init__.py").write_text("")
    assert [(item["filename"], item["location"]["row"]) for item in findings(folder)] == [("mylib/user.py", 5)]


def test_a_module_inside_a_wrapper_of_the_project_is_a_module(put: Put) -> None:
    folder = put(
        '[tool.torchlift.wrappers]\n"mylib" = "torch.distributed"\n',
        mylib__inner="import torch\n",
        mylib__user="from .inner import *\n\n\ndef f(t):\n    return torch.nn.init.uniform(t)\n",
    )
    (folder / "mylib" / "__init__.py").write_text("")
    (finding,) = findings(folder)
    assert finding["filename"] == "mylib/user.py" and "Reached" not in finding["message"]


@pytest.mark.parametrize(
    "code",
    [
        "def f(init, t):\n    return init.uniform(t)\n",
        "from mylib import initialise as init" + OLD,
        "from mylib.init.more import init" + OLD,
        '"""mylib.init.uniform"""\n',
    ],
    ids=["a parameter", "another module", "a deeper module", "a docstring"],
)
def test_what_only_looks_like_the_wrapper_is_not_reported(put: Put, code: str) -> None:
    assert findings(put(a=code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import deepspeed.comm as dist\n\ndist.new_group([0])\n",
        "from deepspeed import comm as dist\n\ndist.new_group([0])\n",
        "from deepspeed.comm import new_group\n\nnew_group([0])\n",
        "import deepspeed\n\ndeepspeed.comm.new_group([0])\n",
        "from deepspeed.comm.comm import *\n\nnew_group([0])\n",
    ],
)
def test_deepspeed_comm_is_known_without_configuration(tmp_path: Path, code: str) -> None:
    (tmp_path / "a.py").write_text(code)
    target = "torch.distributed.new_group"

    def calls(project: Project) -> list[Use]:
        view = project.view("a.py")
        assert view is not None
        return [use for use in view.uses(frozenset({target}), project.translate) if use.kind == "call"]

    (use,) = calls(Project(tmp_path, ["a.py"]))
    assert use.target == use.name == target and use.wrapper in DEFAULT_WRAPPERS
    assert use.resolution is not None and use.resolution.name == target
    assert use.resolution.plain_name.startswith("deepspeed.comm")
    assert calls(Project(tmp_path, ["a.py"], wrappers=Wrappers(()))) == []


def test_a_file_that_only_names_the_wrapper_passes_the_byte_search() -> None:
    data = b"import mylib.dist as d\nd.send(t, 1)\n"
    words = ("send & distributed",)
    assert not Prefilter(words).matches(data)
    assert Prefilter(Wrappers([Wrapper("mylib.dist", "torch.distributed")]).triggers(words)).matches(data)
    assert Prefilter(Wrappers().triggers(words)).matches(b"from deepspeed import comm as d\nd.send(t, 1)\n")
    assert not Prefilter(Wrappers().triggers(words)).matches(b"# comment\nsocket.send(t)\n")
    dotted = Wrappers([Wrapper("mylib.dist", "torch.distributed")]).triggers(("distributed._tensor", "_x.distributed"))
    assert set(dotted) == {"distributed._tensor", "dist._tensor", "_x.distributed"}


def test_a_name_below_a_wrapper_is_not_looked_up_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "dist.py").write_text("from .inner import send\n")
    (tmp_path / "mylib" / "inner.py").write_text("def send(t): ...\n")
    (tmp_path / "mylib" / "__init__.py").write_text("")
    files = ["mylib/__init__.py", "mylib/dist.py", "mylib/inner.py"]
    wrappers = Wrappers([Wrapper("mylib.dist", "torch.distributed")])
    assert Project(tmp_path, files).translate("mylib.dist.send", "a.py") == "mylib.inner.send"
    assert Project(tmp_path, files, wrappers=wrappers).translate("mylib.dist.send", "a.py") == "mylib.dist.send"


def test_the_longest_module_counts() -> None:
    wrappers = Wrappers([Wrapper("a", "torch.distributed"), Wrapper("a.rpc", "torch.distributed.rpc")])
    assert wrappers.mirrored("a.send") == "torch.distributed.send"
    assert wrappers.mirrored("a.rpc.sync") == "torch.distributed.rpc.sync"
    assert wrappers.mirrored("ab.send") == "ab.send"


def test_what_is_said_about_a_known_wrapper_holds_for_its_inner_module() -> None:
    changed = Config(wrappers={"deepspeed.comm": Wrapper("deepspeed.comm", "torch.distributed", rewrite=True)})
    assert {(wrapper.module, wrapper.rewrite) for wrapper in changed.all_wrappers} == {
        ("deepspeed.comm", True),
        ("deepspeed.comm.comm", True),
    }
    assert Config(wrappers={"deepspeed.comm": None}).all_wrappers == ()
    assert Config().all_wrappers == DEFAULT_WRAPPERS


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('wrappers = "mylib"', "`wrappers` must be a table of torch modules by the module that mirrors them"),
        ('wrappers = {"mylib.dist" = "numpy"}', "`numpy` is not a module of torch; write one such as"),
        ('wrappers = {"mylib.dist" = "torch"}', "`torch` is not a module of torch; write one such as"),
        ('wrappers = {"my-lib" = "torch.distributed"}', "`my-lib` is not the dotted name of a module"),
        ('wrappers = {"torch.jit" = "torch.distributed"}', "`torch.jit` is torch's own"),
        ('wrappers = {"mylib" = 3}', 'a table that has an integer for "mylib"'),
        ('wrappers = {"mylib" = true}', 'a table that has a boolean for "mylib"'),
        ('wrappers = {"mylib" = {rewrite = true}}', "a table without `mirrors`"),
        ('wrappers = {"mylib" = {mirrors = 3}}', "a table with an integer for `mirrors`"),
        ('wrappers = {"mylib" = {mirrors = "torch.nn", rewrite = 1}}', "a table with an integer for `rewrite`"),
        ('wrappers = {mylib.dist = "torch.nn"}', "unknown key `dist` (a dotted name of a module stands in quotes)"),
    ],
)
def test_a_wrong_wrapper_is_an_error_that_says_what_is_wrong(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "torchlift.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert "torchlift.toml:1: `wrappers` must be" in str(caught.value) and part in str(caught.value)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("mylib.dist", "names no module of torch; write mylib.dist=torch.distributed"),
        ("my-lib=torch.nn", "is not the dotted name of a module"),
        ("mylib=numpy.linalg", "is not a module of torch"),
    ],
)
def test_a_wrong_wrapper_on_the_command_line_is_answered_with_a_sentence(put: Put, value: str, part: str) -> None:
    done = run(put(""), "--wrapper", value)
    assert done.exit_code == 2 and part in " ".join(done.output.replace("\u2502", " ").split())


RENAMED = "from {where} import _get_global_rank\n\nrank = _get_global_rank(None, rank=1)\n"
OF_DISTRIBUTED = '[tool.torchlift.wrappers]\n"mylib.d" = {mirrors = "torch.distributed", rewrite = true}\n'


def test_a_rewritten_import_stays_with_the_wrapper_it_was_from(put: Put) -> None:
    """A wrapper has a reason: importing the new name from torch would go around it."""
    folder = put(OF_DISTRIBUTED, user=RENAMED.format(where="mylib.d"))
    assert run(folder).exit_code == 0
    text = (folder / "user.py").read_text()
    assert text == "from mylib.d import get_global_rank\n\nrank = get_global_rank(None, group_rank=1)\n"


def test_a_wrapper_that_is_a_module_of_the_project_keeps_its_own_functions(put: Put) -> None:
    own = "def _get_global_rank(group, rank):\n    return rank\n\n\nfirst = _get_global_rank(None, rank=0)\n"
    folder = put(OF_DISTRIBUTED, mylib__d=own, user="import mylib.d as dist\n\nprint(dist.first)\n")
    assert findings(folder) == []
