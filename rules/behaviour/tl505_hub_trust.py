"""`torch.hub` functions without `trust_repo`, whose default changed in torch 2.11."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_NAMES = ("torch.hub.load", "torch.hub.list", "torch.hub.help")

RULE = Rule(
    code="TL505",
    name="hub-trust-default",
    summary="`torch.hub.load`, `list` or `help` without `trust_repo`, which ask before they download since torch 2.11",
    why=(
        "Up to torch 2.10 `trust_repo` was None: a warning, and the repository was downloaded and run. Since 2.11 it is "
        '"check": for a repository that is neither of a trusted owner (facebookresearch, facebookincubator, pytorch, '
        "fairinternal), nor downloaded, nor answered for before, `input()` asks. Without a terminal that is EOFError, in CI, "
        "containers and batch jobs, and only where the cache is empty."
    ),
    fix=(
        "For review: `trust_repo=True` (torch 1.12 and later) does what was done up to 2.10, without the warning. Whether the "
        "repository deserves it is yours to say."
    ),
    targets=_NAMES,
    since=TorchVersion(2, 11),
    triggers=("hub.load", "hub.list", "hub.help", "torch.hub import", "torch.hub as"),
    severity=Severity.WARNING,
    sources=(
        "torch/hub.py:354-392, 463, 526, 581 of torch 2.11.0 and 2.15.0; :334 of 2.10.0 (the warning)",
        "https://github.com/pytorch/pytorch/pull/174101",
        "https://github.com/unitaryai/detoxify/pull/130 (a daily build that failed from the day 2.11 came out)",
    ),
)

_PARAMETER_SINCE = TorchVersion(1, 12)
# torch/hub.py: repositories of these owners are trusted without asking.
_TRUSTED_OWNERS = frozenset({"facebookresearch", "facebookincubator", "pytorch", "fairinternal"})

# How many arguments come before `trust_repo` by position; it is keyword-only in `load`.
_BEFORE = {"list": 3, "help": 4}


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None:
        return
    short = use.target.rpartition(".")[2]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if "trust_repo" in given or None in given or any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    if len(call.args) > _BEFORE.get(short, len(call.args)):
        return
    if "source" in given and not _is(given["source"], "github"):
        return  # a folder of this machine is not asked about
    parameter = "repo_or_dir" if short == "load" else "github"
    repository = call.args[0] if call.args else given.get(parameter)
    if repository is None:
        return
    bound = context.view.definition(repository)
    written = bound.value if bound is not None and bound.kind == "assign" else repository
    known = str(written.value) if isinstance(written, ast.Constant) else ""
    owner = known.partition("/")[0] if "/" in known else ""
    if owner in _TRUSTED_OWNERS:
        return
    what = f"`{known}`" if owner else "a repository"
    message = (
        f"`torch.hub.{short}` of {what} without `trust_repo` asks on the terminal since torch 2.11, unless the repository is "
        "trusted or downloaded already: a job that nobody answers fails there."
    )
    if not owner:
        message = message.replace("is trusted or", "is of a trusted owner, listed as trusted or")
    review = (
        "Needs review: `trust_repo=True` downloads and runs the repository's `hubconf.py` without asking, as it was up to 2.10 "
        "(with a warning), so it is for repositories that you trust."
    )
    if ":" not in known:
        review += (
            " Name a tag, `owner/name:tag`, so that what you looked at is what runs (a commit needs `skip_validation=True` "
            "unless a branch or a tag ends with it)."
        )
    edit = EditCall(view.span(call), add=(("trust_repo", Template("True")),))
    fix = Fix("Say `trust_repo=True`", Safety.UNSAFE, (edit,), _PARAMETER_SINCE)
    severity = Severity.WARNING if owner else Severity.INFO
    yield Finding("TL505", view.path, view.span(call), message, severity, review, fix)


def _is(node: ast.expr, value: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


# A download that needs no network, of a repository that nobody has trusted yet.
_RUN = (
    "import zipfile\n\n\ndef download(url, path, *args, **options):\n    with zipfile.ZipFile(path, 'w') as archive:\n"
    "        archive.writestr('tools-v1/hubconf.py', 'def net():\\n    return 3\\n')\n\n\n"
    "torch.hub.set_dir('hub')\ntorch.hub.download_url_to_file = download\n"
    "torch.hub._validate_not_a_forked_repo = lambda *args: None\n"
    "import builtins\nbuiltins.input = lambda question: 'n'\n"
    "try:\n    result = {}\nexcept Exception as error:\n    result = str(error)\n"
)
_ASKS = "Run on a torch that asks, with the answer no, the old call fails; up to 2.10 it warned and went on."

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef load():\n    return torch.hub.load('someone/tools:v1', 'net')\n",
        "import torch\n\n\ndef load():\n    return torch.hub.load('someone/tools:v1', 'net', trust_repo=True)\n",
        safety="unsafe",
        why="a repository",
        run=_RUN.format("load()"),
        differs=_ASKS,
    ),
    Bad(
        "from torch import hub\n\n\ndef names():\n    return hub.list('someone/tools:v1')\n",
        "from torch import hub\n\n\ndef names():\n    return hub.list('someone/tools:v1', trust_repo=True)\n",
        safety="unsafe",
        why="a list of its models",
        run="import torch\n" + _RUN.format("names()"),
        differs=_ASKS,
    ),
    Bad(
        "from torch.hub import load\n\n\ndef net(repository):\n    return load(repository, 'net', pretrained=True)\n",
        "from torch.hub import load\n\n\ndef net(repository):\n"
        "    return load(repository, 'net', pretrained=True, trust_repo=True)\n",
        safety="unsafe",
        why="a repository that is not known here",
    ),
    Ok("import torch\n\nnet = torch.hub.load('pytorch/vision:v0.11.0', 'resnet18')\n", "a trusted owner"),
    Ok("import torch\n\nnet = torch.hub.load('someone/tools', 'net', trust_repo='check')\n", "it is said"),
    Ok("import torch\n\nnet = torch.hub.load('.', 'net', source='local')\n", "a folder"),
    Ok(
        "import torch\n\n\ndef net(**options):\n    return torch.hub.load('someone/tools', 'net', **options)\n",
        "it may be said",
    ),
    Ok("from mylib import hub\n\nnet = hub.load('someone/tools', 'net')\n", "another hub"),
    Ok("import torch\n\nweights = torch.hub.load_state_dict_from_url('https://example.org/w.pt')\n", "only weights"),
)
