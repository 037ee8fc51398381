"""Options that chose TorchScript: dropped with all that is passed for them, or told; never where somebody may still read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.torchscript_intent import DROP

LOAD = "import torch\n\n\ndef load({}):\n    return torch.relu(net)\n"


def dropped(folder: Path, files: dict[str, str], *, unsafe: bool = True) -> tuple[dict[str, str], list[str]]:
    """The files that change, and the help texts of the findings."""
    result = analyse_files(folder, files, unsafe=unsafe, torchscript=DROP)
    assert not [failure.detail or failure.reason for failure in result.failures]
    changed = {path: new.decode() for path in files if (new := new_bytes(result, path)) is not None}
    return changed, [finding.help or "" for finding in all_findings(result) if finding.code == "TL122"]


@pytest.mark.parametrize(
    ("signature", "after"),
    [
        ("net, jit=False", "net"),
        ("jit, net", "net"),
        ("net, jit: bool = (False), wide=1", "net, wide=1"),
        ("net, jit=False,", "net"),
        ("net, *, wide=1, jit=False", "net, *, wide=1"),
        ("net, *rest, jit=False, **more", "net, *rest, **more"),
        ("\n    net,\n    jit=False,\n    wide=1,\n", "\n    net,\n    wide=1,\n"),
        ("\n    net,\n    jit: bool = False\n", "\n    net\n"),
        ("net,\n         jit=False, wide=1", "net,\n         wide=1"),
        ("net, *, jit=False", None),
        ("\n    net,\n    jit=False,  # slow\n", "\n    net,\n"),
        ("net,  # what\n         jit=False", None),
    ],
)
def test_a_parameter_goes_whatever_the_signature_looks_like(signature: str, after: str | None, tmp_path: Path) -> None:
    changed, helps = dropped(tmp_path, {"a.py": LOAD.format(signature)}, unsafe=False)
    if after is None:
        assert not changed
        assert "Not rewritten: the signature is written in a way" in helps[0]
    else:
        assert changed == {"a.py": LOAD.format(after)}


@pytest.mark.parametrize(
    "entry",
    [
        "    jit: whether to script\n",
        "    jit (bool): whether to script\n        the net\n",
        "    :param jit: whether to script\n",
        "    :param bool jit: whether to script\n",
        "    jit -- whether to script\n",
    ],
)
def test_the_entry_of_the_docstring_goes_with_it(entry: str, tmp_path: Path) -> None:
    code = 'import torch\n\n\ndef load({}):\n    """Load.\n\n    net: what\n{}    """\n    return torch.relu(net)\n'
    changed, _ = dropped(tmp_path, {"a.py": code.format("net, jit=False", entry)})
    assert changed == {"a.py": code.format("net", "")}


def test_nothing_changes_where_one_caller_cannot_be_followed(tmp_path: Path) -> None:
    files = {
        "a.py": LOAD.format("net, jit=False"),
        "b.py": "from a import load\n\n\ndef f(x):\n    return load(x, jit=True)\n",
        "c.py": "from a import load\n\n\ndef f(x, rest):\n    return load(*rest)\n",
    }
    changed, helps = dropped(tmp_path, files)
    assert not changed
    assert helps == ["Drop it from the signature and from every call. Not rewritten: what c.py:5 passes is not known."]


def test_it_is_found_by_a_second_run_too(tmp_path: Path) -> None:
    scripts = "import torch\n\n\ndef load(net, jit=False):\n    if jit:\n        net = torch.jit.script(net)\n    return torch.relu(net(1))\n"
    files = {"setup.py": "import setuptools\n", "a.py": scripts}
    once, _ = dropped(tmp_path, files, unsafe=False)
    again, helps = dropped(tmp_path, {**files, **once})
    assert "jit" not in again["a.py"]
    assert helps == ["Needs review: others may use this code (setup.py), and pass `jit`."]


def test_who_passes_an_option_is_named(tmp_path: Path) -> None:
    files = {
        "run.py": "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--jit', action='store_true')\n",
        "train.sh": "python run.py --jit\npython run.py --jit-dir x\n",
        "README.md": "Run it with `--jit`.\n",
    }
    changed, helps = dropped(tmp_path, files)
    assert changed == {"run.py": "import argparse\n\nparser = argparse.ArgumentParser()\n"}
    assert helps == [
        "Needs review: whoever passes `--jit` gets an error from now on; it is passed or described in README.md:1, train.sh:1."
    ]


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def load(self, jit=False):\n        return 1\n",
        "def load(net, jit=False):\n    def inner():\n        return jit\n    return inner\n",
        "def load(net, jit=False):\n    return [net for net in net if jit]\n",
        "def load(net, jit=False): ...\n",
        "def load(net, jit=False, /):\n    return net\n",
        "import functools\n\n\n@functools.cache\ndef load(net, jit=False):\n    return net\n",
        "import functools\n\n\ndef load(net, jit=False):\n    return net\n\n\nf = functools.partial(load, jit=True)\n",
        "if x:\n    def load(net, jit=False):\n        return net\nelse:\n    def load(net, jit=False):\n        return net, jit\n",
        "import click\n\n\n@click.command()\n@click.option('--jit')\ndef load(jit):\n    return 1\n",
    ],
)
def test_look_alikes_are_left_alone(code: str, tmp_path: Path) -> None:
    assert dropped(tmp_path, {"a.py": code}) == ({}, [])
