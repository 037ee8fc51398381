"""What is read in the files that name packages, each part with its place."""

from __future__ import annotations

import ast

import pytest

from torchlift.dependencies.commands import read_commands
from torchlift.dependencies.conda_file import read_conda
from torchlift.dependencies.ini_file import read_ini
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.pyproject_file import read_pyproject
from torchlift.dependencies.requirements_file import read_requirements
from torchlift.dependencies.setup_file import read_setup, setup_calls
from torchlift.dependencies.toml_strings import toml_strings
from torchlift.source import SourceText
from torchlift.view.text import TextView, text_kind

CU = "https://download.pytorch.org/whl/"


def view(path: str, text: str) -> TextView:
    kind = text_kind(path)
    assert kind is not None
    return TextView(path, kind, SourceText(text))


def spelled(item: PinSet, text: str) -> list[tuple[str, str | None, str]]:
    return [(pin.name, pin.specifier, text[pin.span.start : pin.span.end]) for pin in item.pins]


def test_every_part_of_a_requirement_file_has_its_place() -> None:
    text = (
        f"# top\n-r base.txt\n--extra-index-url={CU}cu118  # ours\nTorch_Vision [extra] == 0.18.1 ; python_version<'3.9'\n"
        "torch==2.3.1+cu118 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n-e .\ngit+https://example.org/x\n"
        "foo @ https://example.org/foo.whl\nbar>=1,<2\n"
    )
    found = read_requirements(view("requirements.txt", text))
    assert spelled(found, text) == [
        ("torch-vision", "==0.18.1", "Torch_Vision [extra] == 0.18.1 ; python_version<'3.9'"),
        ("torch", "==2.3.1", "torch==2.3.1+cu118"),
        ("foo", None, "foo @ https://example.org/foo.whl"),
        ("bar", ">=1,<2", "bar>=1,<2"),
    ]
    assert [(pin.conditional, pin.hashed, pin.opaque) for pin in found.pins[:3]] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    clause = found.pins[1].clauses[0]
    assert (clause.public, clause.build, text[clause.span.start : clause.span.end]) == ("2.3.1", "cu118", "2.3.1+cu118")
    assert [include.path for include in found.includes] == ["base.txt"]
    assert [text[index.place.start : index.place.end] for index in found.indexes] == ["cu118"]


def test_a_conda_environment_keeps_what_pip_installs_apart() -> None:
    text = (
        "name: a\nchannels:\n  - pytorch\n  - nvidia\ndependencies:\n  - python=3.10\n  - pytorch=2.1.0=py3.10_cuda11.8_0\n"
        f"  - conda-forge::numpy >=1.2\n  - pip\n  - pip:\n    - --extra-index-url {CU}cu118\n    - torchaudio==2.1.0+cu118\n"
    )
    found = read_conda(view("environment.yml", text))
    assert found is not None and [name for name, _ in found.channels] == ["pytorch", "nvidia"]
    assert [(pin.name, pin.group, pin.specifier) for pin in found.pins] == [
        ("python", "conda", "==3.10.*"),
        ("pytorch", "conda", "==2.1.0"),
        ("numpy", "conda", ">=1.2"),
        ("pip", "conda", ""),
        ("torchaudio", "pip", "==2.1.0"),
    ]
    assert [index.build for index in found.indexes] == ["cu118"]
    assert read_conda(view("environment.yml", "steps:\n  - pytorch=2.1\n")) is None


def test_lists_of_pyproject_are_groups_and_conditions_are_seen() -> None:
    text = (
        '[project]\nname = "cu118-tool"\ndependencies = [\n  "torch>=2.1",  # why\n  \'numpy\',\n]\n'
        "[project.optional-dependencies]\ngpu = [\"torch==2.3.1+cu118; sys_platform == 'linux'\"]\n"
        '[dependency-groups]\ndev = ["torchvision", {include-group = "x"}]\nx = []\n'
        '[tool.poetry.dependencies]\npython = "^3.9"\ntorch = [{version = "2.3.1", platform = "linux"}]\n'
        'torchvision = {version = "^0.18", source = "gpu-cu118"}\n'
        f'[[tool.poetry.source]]\nname = "gpu-cu118"\nurl = "{CU}cu118"\n'
    )
    found = read_pyproject(view("pyproject.toml", text))
    assert [(pin.name, pin.group, pin.specifier, pin.conditional) for pin in found.pins] == [
        ("torch", "project.dependencies", ">=2.1", False),
        ("numpy", "project.dependencies", "", False),
        ("torch", "project.optional-dependencies.gpu", "==2.3.1", True),
        ("torchvision", "dependency-groups.dev", "", False),
        ("torch", "tool.poetry.dependencies", "==2.3.1", True),
        ("torchvision", "tool.poetry.dependencies", ">=0.18,<0.19", False),
    ]
    assert [pin.text for pin in found.python] == ["^3.9"]
    assert [build for build, _ in found.names] == ["cu118", "cu118"], "the name of the project is none of an index"


def test_options_of_setup_cfg_and_factors_of_tox_are_told_apart() -> None:
    text = (
        "[options]\npython_requires = >=3.9\ninstall_requires =\n    torch==2.1.0\n    numpy  # any\n"
        "[options.extras_require]\nall = torchvision\n[testenv]\ndeps =\n    torch21: torch==2.1.0\n    -r requirements.txt\n"
        "commands = pytest\n"
    )
    found = read_ini(view("setup.cfg", text))
    assert [text[pin.span.start : pin.span.end] for pin in found.pins][:2] == ["torch==2.1.0", "numpy"]
    below = text.replace(">=3.9", "\n    >=3.9")
    (python,) = read_ini(view("setup.cfg", below)).python
    assert below[python.span.start : python.span.end] == ">=3.9"
    assert [pin.text for pin in found.python] == [">=3.9"]
    assert [(pin.name, pin.group, pin.conditional) for pin in found.pins] == [
        ("torch", "options.install_requires", False),
        ("numpy", "options.install_requires", False),
        ("torchvision", "options.extras_require.all", False),
        ("torch", "testenv.deps", True),
    ]
    assert [include.path for include in found.includes] == ["requirements.txt"]


COMMANDS = {
    "pip install torch==2.1.0 && rm x": [["torch==2.1.0"]],
    "python -m pip install \"torch>=2.1\" 'numpy<2' -q": [["torch>=2.1", "numpy<2"]],
    "uv pip install --system torch; uv add torchvision": [["torch"], ["torchvision"]],
    "sudo pip3.11 install --no-deps -t /x torch > log 2>&1": [["torch"]],
    "conda install -y pytorch=2.1 -c pytorch -n env": [["pytorch=2.1"]],
    "pip install -e . ./dist/x.whl git+https://example.org torch": [["torch"]],
    "pip download torch": [],
    "pip uninstall torch && pip install $PACKAGES": [[]],
    "equip install torch": [],
}


@pytest.mark.parametrize(("command", "expected"), COMMANDS.items())
def test_install_commands_are_read_word_by_word(command: str, expected: list[list[str]]) -> None:
    found = read_commands(view("a.sh", command + "\n"))
    assert [[command[pin.span.start : pin.span.end] for pin in item.pins] for item in found] == expected


def test_a_command_over_several_lines_is_one_set() -> None:
    text = f'FROM a\nRUN pip install \\\n    torch==2.3.1+cu118 \\\n    # a comment\n    "torchvision" \\\n    --index-url {CU}cu118\n'
    (found,) = read_commands(view("Dockerfile", text))
    assert [pin.name for pin in found.pins] == ["torch", "torchvision"] and found.indexes[0].build == "cu118"


def test_the_code_of_a_readme_is_its_fenced_blocks() -> None:
    text = (
        "pip install torch==1\n\n```bash\n# pip install torch==2\npip install torch==3\n```\n\npip install torch==4\n"
    )
    found = read_commands(view("README.md", text))
    assert [text[item.span.start : item.span.end] for item in found] == ["pip install torch==3"]


@pytest.mark.parametrize(
    "text",
    [
        'a = "x"\nb.c = \'y\'\n[t."q.r"]\nd = ["1", "2", # c\n  "3"]\ne = {f = "g", h = ["i"]}\n[[u]]\nn = "o"\n[[u]]\nn = "p"\n'
        '[u.v]\nw = "deep"\nm = """\nlong # no comment\n"""\nk = "esc\\u0041"\nz = 2020-01-01 10:00:00\n',
        'a = "x"\r\n[t]\r\nb = "y"  # c\r\n',
        "",
    ],
)
def test_strings_of_toml_have_the_places_of_their_values(text: str) -> None:
    found = toml_strings(text)
    assert all(text[item.span.start : item.span.end] == item.value for item in found if item.plain)
    assert [item.value for item in found if not item.plain] == (
        ["long # no comment\n", "escA"] if "deep" in text else []
    )
    assert {item.value for item in found} >= ({"x", "y"} if text else set())
    if "deep" in text:
        assert [item.path for item in found if item.value in {"p", "deep"}] == [("u", 1, "n"), ("u", 1, "v", "w")]


def test_what_is_no_toml_has_no_strings() -> None:
    with pytest.raises(ValueError, match="line 2"):
        toml_strings('a = "x"\n[broken\n')


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_conda_environment_with_any_newlines_is_one(newline: str) -> None:
    text = newline.join(["dependencies:  # ours", "  - pytorch=2.1", ""])
    found = read_conda(view("environment.yml", text))
    assert found is not None and [pin.specifier for pin in found.pins] == ["==2.1.*"]


def test_a_build_of_conda_is_left_out_wherever_it_stands() -> None:
    text = (
        "dependencies:\n  - pytorch=2.1.0=py3.10_cuda11.8_0\n  - pytorch 2.1.0 py3.10_cuda11.8_0\n"
        "  - pytorch[version='2.1.0',build=*cuda*]\n  - numpy\n"
    )
    found = read_conda(view("environment.yml", text))
    assert found is not None
    assert [(pin.specifier, pin.opaque) for pin in found.pins] == [*[("==2.1.0", True)] * 3, ("", False)]


def test_a_choice_of_versions_is_no_plain_requirement() -> None:
    text = '[tool.poetry.dependencies]\ntorch = "^1.13 || ^2.0"\nnumpy = ">=1.2 <2"\n'
    torch, numpy = read_pyproject(view("pyproject.toml", text)).pins
    assert torch.opaque and torch.specifier is None and len(torch.alternatives) == 2
    assert not numpy.opaque and numpy.specifier == ">=1.2,<2"


def test_an_escaped_string_is_a_requirement_that_nobody_edits() -> None:
    text = '[project]\ndependencies = ["torch==2.1; sys_platform == \\"linux\\"", """\ntorchvision>=0.16"""]\n'
    torch, torchvision = read_pyproject(view("pyproject.toml", text)).pins
    assert (torch.specifier, torch.conditional, torch.opaque) == ("==2.1", True, True)
    assert (torchvision.name, torchvision.specifier, torchvision.opaque) == ("torchvision", ">=0.16", True)
    assert text[torch.clauses[0].span.start : torch.clauses[0].span.end].startswith("torch==2.1;")


TOML = {
    '[a."b\\"\\u0041"]\nc = "d"\n': [(("a", 'b"A', "c"), "d")],
    "a = [\n['b'],\n['c']]\n": [(("a", 0, 0), "b"), (("a", 1, 0), "c")],
    "[['a b']]\nc = 'd'\n  [['a b']] # 'e'\nc = 'f'\n": [(("a b", 0, "c"), "d"), (("a b", 1, "c"), "f")],
    "a = {'b' = 'c', d.'e' = ['f']}\n'g'.h = 'i'": [(("a", "b"), "c"), (("a", "d", "e", 0), "f"), (("g", "h"), "i")],
    "[b.c]\nx = 'one'\n[a]\nx = 'two'\n[b]\nx = 'three'\n": [
        (("b", "c", "x"), "one"),
        (("a", "x"), "two"),
        (("b", "x"), "three"),
    ],
    'a = \'b\' # "c\nd = "#"\ne = 1\n': [(("a",), "b"), (("d",), "#")],
    'a = """b\'\'\'c"d"""\n': [(("a",), "b'''c\"d")],
}


@pytest.mark.parametrize(("text", "expected"), TOML.items())
def test_strings_of_toml_are_found_under_their_keys_in_their_order(
    text: str, expected: list[tuple[tuple[str | int, ...], str]]
) -> None:
    found = toml_strings(text)
    assert [(item.path, item.value) for item in found] == expected
    assert all(item.plain and text[item.span.start : item.span.end] == item.value for item in found)


def test_a_package_by_its_address_in_a_table_of_poetry_is_a_requirement() -> None:
    wheel = f"{CU}cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl"
    text = f'[tool.poetry.dependencies]\ntorch = {{url = "{wheel}"}}\nx = {{git = "https://example.org/x"}}\n'
    torch, other = read_pyproject(view("pyproject.toml", text)).pins
    assert (torch.file, torch.opaque, torch.specifier) == ("2.1.0+cu118", True, None)
    assert (other.name, other.file, other.opaque) == ("x", "", True)


def test_the_address_of_a_wheel_is_a_requirement_and_that_of_a_repository_none() -> None:
    text = (
        f"{CU}cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl\nhttps://example.org/a.tar.gz\n"
        "./b-1.0-py3-none-any.whl\n"
    )
    found = read_requirements(view("requirements.txt", text))
    assert [(pin.name, pin.file, pin.opaque) for pin in found.pins] == [
        ("torch", "2.1.0+cu118", True),
        ("b", "1.0", True),
    ]


def test_files_that_setup_cfg_names_are_no_packages() -> None:
    text = "[options]\ninstall_requires = file: a.txt,\n    b.txt\n[options.extras_require]\ndev = file: c.txt\n"
    found = read_ini(view("setup.cfg", text))
    assert [(item.path, item.group) for item in found.includes] == [
        ("a.txt", "options.install_requires"),
        ("b.txt", "options.install_requires"),
        ("c.txt", "options.extras_require.dev"),
    ]
    assert found.pins == []


def test_files_that_setuptools_reads_belong_to_the_list_that_they_fill() -> None:
    text = '[tool.setuptools.dynamic]\ndependencies = {file = ["a.txt"]}\noptional-dependencies.dev.file = "c.txt"\n'
    included = read_pyproject(view("pyproject.toml", text)).includes
    assert [(item.path, item.group) for item in included] == [
        ("a.txt", "project.dependencies"),
        ("c.txt", "project.optional-dependencies.dev"),
    ]


# Requirement as it stands there, list, whether it holds under a condition only, whether nobody edits it.
RUNTIME = "install_requires"
SETUPS = {
    "setup(install_requires=['torch==2.1'])": [("torch==2.1", RUNTIME, False, False)],
    "N = ['torch==2.1']\nsetup(install_requires=N)": [("torch==2.1", RUNTIME, False, False)],
    "N = ['a']\nsetup(install_requires=N + ['torch==2.1'])": [
        ("a", RUNTIME, False, False),
        ("torch==2.1", RUNTIME, False, False),
    ],
    "T = 'torch==2.1'\nsetup(install_requires=[T])": [("torch==2.1", RUNTIME, False, False)],
    "V = '2.1'\nsetup(install_requires=[f'torch=={V}'])": [("f'torch=={V}'", RUNTIME, False, True)],
    "N = []\nif X:\n    N.append('torch==2.1')\nsetup(install_requires=N)": [("torch==2.1", RUNTIME, True, False)],
    "setup(install_requires=['torch==2.1' if X else 'torch'])": [
        ("torch==2.1", RUNTIME, True, False),
        ("torch", RUNTIME, True, False),
    ],
    "N = ['torch==2.1']\nsetup(extras_require={'a': N, 'b': N})": [
        ("torch==2.1", "extras_require.a", False, False),
        ("torch==2.1", "extras_require.b", False, False),
    ],
    "N = 'a'\nsetup(extras_require={N: ['torch==2.1'], 1: ['torch==2.2']})": [
        ("torch==2.1", "extras_require.?", False, False),
        ("torch==2.2", "extras_require.?", False, False),
    ],
    "setup(install_requires='''\ntorch==2.1\n''')": [("'''\ntorch==2.1\n'''", RUNTIME, False, True)],
    "setup(**{'install_requires': ['torch==2.1']}, tests_require=['a'])": [
        ("torch==2.1", RUNTIME, False, False),
        ("a", "tests_require", False, False),
    ],
}


@pytest.mark.parametrize(("text", "expected"), SETUPS.items())
def test_what_setup_py_asks_for_is_followed_to_where_it_stands(
    text: str, expected: list[tuple[str, str, bool, bool]]
) -> None:
    tree = ast.parse(text)
    (call,) = setup_calls(tree)
    pins = read_setup(tree, SourceText(text), call).pins
    found = [(text[pin.span.start : pin.span.end], pin.group, pin.conditional, pin.opaque) for pin in pins]
    assert found == expected
