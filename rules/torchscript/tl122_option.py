"""An option that chose TorchScript and that nothing reads any more: a parameter, an argument of a command."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding
from torchlift.rules.rule import Bad, Context, Ok, Rule, TextContext
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import dropping, drops
from torchlift.rules.torchscript.options.empty_selection import empty_selections
from torchlift.rules.torchscript.options.unread_option import unread_options
from torchlift.rules.torchscript.options.unread_parameter import NAMES, unread_parameters
from torchlift.torchscript_intent import DROP
from torchlift.view.text import SCRIPTS, TextView

RULE = Rule(
    code="TL122",
    name="torchscript-option",
    summary="A parameter or option that chose TorchScript, in a project that drops it",
    why=(
        "Once nothing is scripted or traced, an option that chose it does nothing, and whoever sets it is not told. It is "
        "looked for by its name (`jit`, `torchscript`, `traced`, ...) where the user says that TorchScript goes, and reported "
        "where nothing reads it."
    ),
    fix=(
        "The parameter goes with its entry in the docstring and with what callers pass, whichever file they stand in: safe "
        "when all of them were found and nobody else can call the function. An `add_argument` is for review, since people and "
        "scripts may pass the option; those that the project holds are named. A marker of pytest that no test has any more is told "
        "where commands select by it and where it is declared."
    ),
    targets=(),
    triggers=tuple(NAMES),
    wants=dropping,
    text_triggers=("pytest", "py.test"),
    text_kinds=SCRIPTS | {"toml", "ini"},
    sources=(*SOURCES, "https://docs.python.org/3/library/argparse.html"),
)


def whole(context: Context) -> Iterator[Finding]:
    if drops(context):
        yield from unread_parameters(context, RULE.code)
        yield from unread_options(context, RULE.code)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if context.settings.torchscript.drops(view.path):
        yield from empty_selections(view, context, RULE.code)


_HEAD = "import torch\n\n\n"
_MODEL = (
    "def load(net, jit=False):\n    if jit:\n        net = torch.jit.script(net)\n    return net.to(torch.float64)\n"
)
_LOADED = "def load(net):\n    return net.to(torch.float64)\n"
_RUN = "result = use(torch.nn.ReLU())(torch.ones(2))"
_SETUP = (("setup.py", "import setuptools\n"),)
_READS = "def load(net, jit=False):\n    return net if jit else None\n"

EXAMPLES = (
    Bad(
        f"{_HEAD}{_MODEL}\n\ndef use(net, jit=True):\n    return load(net, jit=jit)\n\n\ndef main():\n    return use(torch.nn.ReLU())\n",
        f"{_HEAD}{_LOADED}\n\ndef use(net):\n    return load(net)\n\n\ndef main():\n    return use(torch.nn.ReLU())\n",
        why="a parameter, and that of its caller",
        run=_RUN,
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}def load(\n    net,\n    jit: bool = False,\n    scale: float = 1.0,\n):\n"
        '    """Load it.\n\n    Args:\n        net: the module.\n        jit: whether to script it,\n            which is slow.\n'
        '        scale: a factor.\n    """\n    return torch.nn.Sequential(net), scale\n\n\n'
        "def use(net):\n    return load(net, False, 2.0)[0]\n",
        f"{_HEAD}def load(\n    net,\n    scale: float = 1.0,\n):\n"
        '    """Load it.\n\n    Args:\n        net: the module.\n        scale: a factor.\n    """\n'
        "    return torch.nn.Sequential(net), scale\n\n\ndef use(net):\n    return load(net, 2.0)[0]\n",
        why="between others, told in the docstring and passed by its place",
        run=_RUN,
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}def load(net, *, wide=False, torchscript=False):\n    return torch.nn.Sequential(net) if wide else net\n\n\n"
        "def use(net):\n    return load(net, wide=True)\n",
        f"{_HEAD}def load(net, *, wide=False):\n    return torch.nn.Sequential(net) if wide else net\n\n\n"
        "def use(net):\n    return load(net, wide=True)\n",
        why="the last one, by keyword only",
        run=_RUN,
        torchscript=DROP,
    ),
    Bad(
        "from loading import load\n\n\ndef use(net, jit=False):\n    return load(net, jit)\n",
        "from loading import load\n\n\ndef use(net):\n    return load(net)\n",
        why="a caller in another file",
        run="import torch\nresult = use(torch.nn.ReLU())(torch.ones(2))",
        files=(("loading.py", f"{_HEAD}{_MODEL}"),),
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_LOADED.replace('net)', 'net, jit=False)', 1)}",
        f"{_HEAD}{_LOADED}",
        safety="unsafe",
        why="others may install it and pass the option",
        files=_SETUP,
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}def load(net, jit=False):\n    return net.to(torch.float64)\n\n\ndef use(net, c):\n    return load(net, jit=c.pop())\n",
        f"{_HEAD}{_LOADED}\n\ndef use(net, c):\n    return load(net)\n",
        safety="unsafe",
        why="what is passed does something",
        run="result = use(torch.nn.ReLU(), [True])(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}def load(net, jit=False):\n    return net.to(torch.float64)\n\n\ndef use(net, **rest):\n    return load(net, **rest)\n",
        why="what is passed is not known",
        torchscript=DROP,
    ),
    Bad(
        "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--wide', action='store_true')\n"
        "# As TorchScript, which is faster.\nparser.add_argument('--use-jit', dest='jit', action='store_true')\n\n\n"
        "def main(args):\n    net = torch.nn.ReLU()\n    return net(torch.ones(2)), args.wide\n",
        "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--wide', action='store_true')\n"
        "\n\ndef main(args):\n    net = torch.nn.ReLU()\n    return net(torch.ones(2)), args.wide\n",
        safety="unsafe",
        why="an option of a command, which a script passes",
        run="result = main(parser.parse_args([]))",
        files=(("run.sh", "python example.py --use-jit\n"),),
        torchscript=DROP,
    ),
    Bad(
        "jobs:\n  test:\n    steps:\n    - run: python -m pytest -v -m 'torch_script'\n",
        why="a job that runs tests of scripting only, of which there are none",
        path=".github/workflows/tests.yml",
        files=(("test_net.py", "def test_net():\n    assert 1\n"),),
        torchscript=DROP,
    ),
    Bad(
        "[tool.pytest.ini_options]\nmarkers = [\n    'slow',\n    'jit: scripts the model',\n]\n",
        why="a marker that no test has",
        path="pyproject.toml",
        files=(("test_net.py", "def test_net():\n    assert 1\n"),),
        torchscript=DROP,
    ),
    Ok(
        "test:\n\tpytest -m jit\n",
        "a test has the marker",
        path="Makefile",
        files=(("test_net.py", "import pytest\n\n\n@pytest.mark.jit\ndef test_net():\n    assert 1\n"),),
        torchscript=DROP,
    ),
    Ok(
        "test:\n\tpytest -m 'not jit'\n\tpytest -k jit\n\tpytest -m slow\n",
        "something else is selected",
        path="Makefile",
        torchscript=DROP,
    ),
    Ok("test:\n\tpytest -m jit\n", "nobody says that TorchScript is gone", path="Makefile"),
    Ok(f"{_HEAD}{_READS}", "something reads it", torchscript=DROP),
    Ok(f"{_HEAD}def load(net, jit=False):\n    return net\n", "nobody says that TorchScript goes"),
    Ok(
        f"{_HEAD}def load(net, jit=False):\n    raise NotImplementedError\n",
        "others write what it does",
        torchscript=DROP,
    ),
    Ok(
        f"{_HEAD}def load(net, jit=False):\n    return net\n\n\ntorch.nn.ReLU().apply(load)\n",
        "whoever it is handed to decides on its parameters",
        torchscript=DROP,
    ),
    Ok(
        f"{_HEAD}def load(net, jit=False):\n    return dict(locals())\n", "it is read by another name", torchscript=DROP
    ),
    Ok(
        f"{_HEAD}def load(net, jitter=False, script=None):\n    return net\n",
        "names that mean something else",
        torchscript=DROP,
    ),
    Ok(
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--jit', action='store_true')\n",
        "another file reads the option",
        files=(("run.py", "from example import parser\n\nprint(parser.parse_args().jit)\n"),),
        torchscript=DROP,
    ),
    Ok(
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--jit', action='store_true')\n"
        "print(dict(**vars(parser.parse_args())))\n",
        "all options are handed on",
        torchscript=DROP,
    ),
    Ok(
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--jit', dest='fast', action='store_true')\n"
        "print(parser.parse_args().fast)\n",
        "the option is read by another name",
        torchscript=DROP,
    ),
    Ok(
        "def test_net(jit):\n    assert True\n",
        "pytest passes what a test asks for",
        path="test_net.py",
        torchscript=DROP,
    ),
)
