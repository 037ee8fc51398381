"""`torch.load` of a file that the project writes as a TorchScript archive."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.project import Project
from torchlift.rules.analysis.places.never_run import is_skipped
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.rules.torchscript.captures.artifact_sites import COLLECTOR
from torchlift.rules.torchscript.captures.artifacts import Artifact, read_artifact
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL138",
    name="torchscript-archive-load",
    summary="`torch.load` of a TorchScript archive",
    why=(
        "With `weights_only=True`, the default since torch 2.6, `torch.load` raises `RuntimeError` for a TorchScript "
        "archive. With `weights_only=False` it warns and calls `torch.jit.load`. It opens no exported program either way."
    ),
    fix=(
        "None: which call is right depends on what the writer becomes. Reported where the project writes the same path with "
        "`torch.jit.save` or `.save()` of a traced or scripted value, and nothing else seems to write it."
    ),
    targets=("torch.load",),
    # Most files with `torch.load` read checkpoints; one that reads an archive and never speaks of jit is not worth
    # parsing all of them.
    triggers=("torch.load & jit",),
    severity=Severity.ERROR,
    collectors=(COLLECTOR,),
    sources=(
        "torch/serialization.py of the torch 2.13.0 wheel",
        "traced archive opened with `torch.load` on torch 2.13.0: `RuntimeError`; with `weights_only=False`: a warning",
        EXPORT_DOCS,
    ),
)

_WEIGHTS_ONLY_BY_DEFAULT = TorchVersion(2, 6)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    return _path(call) is not None


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    path = _path(call) if call is not None else None
    if call is None or path is None or is_skipped(view, call):
        return
    artifact = read_artifact(view, path, context.project)
    if not artifact.writers or _is_also_pickled(artifact, context.project):
        return
    writer, site = artifact.writers[0]
    what = f"`torch.load` of {artifact.title}, which {writer}:{site.line} writes as a TorchScript archive"
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "weights_only"), None)
    severity = Severity.WARNING
    if given is None and context.settings.target >= _WEIGHTS_ONLY_BY_DEFAULT:
        message = f"{what}: `RuntimeError` since torch 2.6, where `weights_only=True` became the default."
        severity = Severity.ERROR
    elif isinstance(given, ast.Constant) and given.value is True:
        message = f"{what}: `RuntimeError`, because `weights_only=True` rejects TorchScript."
        severity = Severity.ERROR
    else:
        message = f"{what}: it warns and hands the file to `torch.jit.load`, which goes with TorchScript."
    advice = (
        "Not rewritten: the reader changes together with the writer. As long as the file is TorchScript write "
        "`torch.jit.load(path)`; once it is written by `torch.export.save`, `torch.export.load(path).module()`. `torch.load` "
        f"opens the first only with `weights_only=False`, and the second not at all. {EXPORT_DOCS}"
    )
    yield Finding("TL138", view.path, view.span(use.node), message, severity, advice)


def _path(call: ast.Call) -> ast.expr | None:
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "f"), None)


def _is_also_pickled(artifact: Artifact, project: Project) -> bool:
    """Whether something else of the project seems to write the file too, so that it may hold a plain checkpoint."""
    for place in artifact.strangers:
        path, _, line = place.rpartition(":")
        text = project.data(path).split(b"\n")[int(line) - 1]
        if b"save" in text or b"dump" in text or b"copy" in text:
            return True
    return False


_WRITE = 'import torch\n\n\ndef write(net):\n    torch.jit.script(net).save("net.pt")\n'

EXAMPLES = (
    Bad(f'{_WRITE}\n\ndef read():\n    return torch.load("net.pt")\n', why="the default raises"),
    Bad(
        f'{_WRITE}\n\ndef read():\n    return torch.load(f="./net.pt", weights_only=False, map_location="cpu")\n',
        why="weights_only turned off",
    ),
    Bad(
        "import torch\n\nfrom train import PATH\n\nnet = torch.load(PATH, weights_only=True)  # written by torch.jit.save\n",
        why="a path constant of the file that writes it",
        files=(
            (
                "train.py",
                'import torch\n\nPATH = "net.pt"\n\n\ndef write(net):\n    torch.jit.save(torch.jit.script(net), PATH)\n',
            ),
        ),
    ),
    Ok('import torch\n\nstate = torch.load("jit.pt")\n', "nothing writes the file as TorchScript"),
    Ok(
        f'{_WRITE}\n\ndef keep(net):\n    torch.save(net.state_dict(), "net.pt")\n    return torch.load("net.pt")\n',
        "a checkpoint is written to the same path",
    ),
    Ok(f'{_WRITE}\n\ndef read():\n    return torch.load("weights.pt")\n', "another file"),
    Ok(
        "import pytest\nimport torch\n\n\n@pytest.mark.skip(reason='broken')\ndef test_file(net):\n"
        "    torch.jit.script(net).save('net.pt')\n    torch.load('net.pt')\n",
        "a test that is skipped",
    ),
    Ok("class torch:\n    load = open\n\n\ntorch.load('net.pt')  # jit\n", "a class named torch"),
)
