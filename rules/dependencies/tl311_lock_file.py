"""Lock files that hold an older torch than the project moves to."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.dependencies.lock_file import locked_torch
from torchlift.finding import Finding, Severity
from torchlift.rules.dependencies.wheels.builds import is_named_in, spelled, target_line
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView

RULE = Rule(
    code="TL311",
    name="lock-file",
    summary="A lock file holds a torch that is older than what the project moves to",
    why=(
        "Whoever installs from a lock file gets what it holds, whatever the requirements allow: `uv sync` and `poetry install` stay "
        "at the old torch until it is made anew."
    ),
    fix="None: its hashes and everything that torch requires change with it, which only its own tool knows. The help names the command.",
    targets=(),
    check=nothing,
    text_triggers=("package & torch", "packages & torch", "_meta & torch", "default & torch", "develop & torch"),
    text_kinds=frozenset({"lock"}),
    sources=("The lock files of uv, Poetry, PDM, Pipenv, conda-lock and pixi, and PEP 751",),
)

_COMMANDS = (
    ("uv.lock", "`uv lock --upgrade-package torch`"),
    ("poetry.lock", "`poetry update torch`"),
    ("pdm.lock", "`pdm update torch`"),
    ("pixi.lock", "`pixi update`"),
    ("Pipfile.lock", "`pipenv update torch`"),
    ("conda-lock", "`conda-lock`"),
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    target = target_line(context.settings.target)
    found = list(locked_torch(view.source.text))
    if not found:
        return
    release, span = max(found, key=lambda pair: TorchVersion.parse(pair[0]))
    if TorchVersion.parse(release)[:2] >= target:
        return
    if is_named_in(view.path, release):
        return
    name = view.path.rpartition("/")[2]
    command = next((command for start, command in _COMMANDS if start in name), "the tool that wrote it")
    yield Finding(
        "TL311",
        view.path,
        span,
        f"{name} holds torch {release}: an installation from it stays below torch {spelled(target)}, which this project moves to.",
        Severity.WARNING,
        f"Once the requirements allow torch {spelled(target)}, make it anew with {command}; a package that is bound to one torch, such as "
        "xformers or vLLM, has to be named with it, or holds it where it is.",
    )


EXAMPLES = (
    Bad('version = 1\n\n[[package]]\nname = "torch"\nversion = "2.3.1"\n', why="uv and Poetry", path="uv.lock"),
    Bad("package:\n- name: pytorch\n  version: 2.4.0\n  manager: conda\n", why="conda-lock", path="conda-lock.yml"),
    Bad(
        '{\n    "default": {\n        "torch": {\n            "hashes": [],\n            "version": "==2.3.1+cu118"\n        }\n    }\n}\n',
        why="Pipenv",
        path="Pipfile.lock",
    ),
    Bad(
        "packages:\n- pypi: https://files.pythonhosted.org/packages/ab/torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl\n",
        why="pixi",
        path="pixi.lock",
    ),
    Ok('[[package]]\nname = "torch"\nversion = "2.15.0"\n', "the target", "poetry.lock"),
    Ok('[[package]]\nname = "torchmetrics"\nversion = "1.4.0"\n', "another package", "uv.lock"),
    Ok(
        '[[package]]\nname = "torch"\nversion = "2.2.2"\n\n[[package]]\nname = "torch"\nversion = "2.15.0"\n',
        "an older one for one system only",
        "uv.lock",
    ),
    Ok(
        '[[package]]\nname = "other"\nversion = "1.0"\ndependencies = [{ name = "torch" }]\n',
        "a requirement of another package",
        "uv.lock",
    ),
)
