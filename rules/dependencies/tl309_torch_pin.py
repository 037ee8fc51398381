"""Pins that keep a project below the torch that it moves to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlift.dependencies.commands import is_command, loose_indexes, loose_pins
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.finding import Finding, Severity
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.dependencies.installed.in_code import LISTS, commands_in_code, lists_in_code
from torchlift.rules.dependencies.installed.reading import (
    INSTALLING,
    SETUP,
    is_expectation,
    script_of,
    session_install,
    sets_of,
    setup_of,
)
from torchlift.rules.dependencies.installed.said_for import is_remedy
from torchlift.rules.dependencies.moves.compiled_files import OWN_WHEEL, compiled_for, made_for_one_torch
from torchlift.rules.dependencies.moves.holding import (
    groups_of,
    held_in,
    holds,
    lists_of,
    newest_of_series,
    older_under_conditions,
)
from torchlift.rules.dependencies.moves.offered import by_hand, of_its_own, offered
from torchlift.rules.dependencies.moves.said_of_pins import LAST_OF_TORCHTEXT, ended, is_excluded, told
from torchlift.rules.dependencies.wheels.builds import Line, spelled, target_line
from torchlift.rules.dependencies.wheels.hardware import wheel_for
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext
from torchlift.versions import TorchVersion
from torchlift.view import Use
from torchlift.view.text import TextKind, TextView
from torchlift.wheels.machine import Device, Machine

RULE = Rule(
    code="TL309",
    name="torch-pin",
    summary="torch, or a package made for one torch, is pinned below the release that the project moves to",
    why=(
        "An exact version or an upper bound decides what is installed, whatever the code is ready for: `torch==2.3.1` stays "
        "at 2.3.1 without a word. torchvision up to 0.28 and torchaudio up to 2.10 require one exact torch, so that their pins "
        "hold torch as well; a wheel whose name says `torch2.2` was compiled for that release. A warning stands where "
        "the pin keeps the project from the target, an info where only a test, a job or a page is older than it."
    ),
    fix=(
        "`--target` says where the project is to get, so exact pins of torch, and of torchvision, torchaudio and triton by the "
        "table of what belongs together, are set to it. That is safe where the GPUs are named (`--gpus`, `--facts`), where "
        "the build has no CUDA, or where the new wheel needs no newer driver and runs on all GPUs of the old one, and no newer Python. It needs "
        "review otherwise, and always for upper bounds (they may know of a break), under conditions, and in jobs that may "
        "test an older torch on purpose, and on pages. A Python below what the new torch has wheels for (`requires-python`, "
        "an image, a job, a row of a matrix) goes up with it, for review; where it cannot, torch stays. What one project is built "
        "with and what it requires move together, and so do a file of requirements and the lists that include it; where another "
        "list of the project holds the old torch (a companion in an extra, a second command), it needs review. Nothing is rewritten beside hashes, variables and packages bound to one torch."
    ),
    targets=(*SETUP, "*.install"),
    triggers=(
        "install_requires & torch",
        "nox & torch",
        "pip & torch==",
        "/// script & torch",
        *(f"{word} & torch==" for word in LISTS),
    ),
    text_triggers=(
        *(
            "torch & ==",
            # Not any `<`: pages are full of tags.
            *(f"torch & <{blank}{start}" for blank in ("", " ") for start in "=012v${"),
            "torch & ~=",
            "poetry & torch",
            "packages & torch",
            "torchvision",
            "torchaudio",
            "torchtext",
        ),
        *(
            "pytorch & =",
            "triton & torch",
            "whl & torch",
            "whl & pt2",
            "mmcv/dist",
            "detectron2/wheels",
            "data.dgl.ai",
            "autogptq-index",
        ),
    ),
    text_kinds=INSTALLING,
    sources=("METADATA and file lists of torch, torchvision and torchaudio on PyPI, 2026-11-21",),
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    sets = sets_of(view)
    elsewhere = next(iter(loose_indexes(view, list(sets))), None) is not None if sets else False
    settings = _reaching(context.settings)
    for item in sets:
        if not is_remedy(view, item.span):
            yield from _in_set(view, item, settings, context.project, elsewhere=elsewhere)
    target = target_line(settings.target)
    yield from _compiled(view, target)
    for pin in loose_pins(view, sets) if not is_expectation(view) else ():
        if holds(pin, target) and not is_shown(view, pin.span.start) and not is_excluded(view, pin.span.start):
            severity, message = told(view, pin, target)
            yield Finding(
                "TL309",
                view.path,
                pin.span,
                message,
                severity,
                f"Raise it to torch {spelled(target)}, with what goes with it.",
            )


def check(use: Use, context: Context) -> Iterable[Finding]:
    # Of the kinds of text setup.py is most like one in which nothing but pins and comments has a meaning.
    kinds: tuple[tuple[TextKind, PinSet | None], ...] = (
        ("cmake", setup_of(use, context)),
        ("makefile", session_install(use, context)),
    )
    for kind, read in kinds:
        if read is not None:
            view = TextView(context.view.path, kind, context.view.source)
            yield from _in_set(view, read, _reaching(context.settings), context.project)


def whole(context: Context) -> Iterator[Finding]:
    """What a script asks for in a comment, lists of packages in code, and commands in its strings."""
    view, settings = context.view, _reaching(context.settings)
    if (script := script_of(context)) is not None:
        yield from _in_set(*script, settings, context.project)
    if is_test_file(view.path):
        return
    read = [(TextView(view.path, "shell", view.source), item) for item in lists_in_code(view)]
    commands = commands_in_code(view)
    read += [(commands, item) for item in sets_of(commands)] if commands is not None else []
    for text, item in read:
        for finding in _in_set(text, item, settings, context.project):
            yield replace(finding.without_fix("Strings of code are not edited."), severity=Severity.INFO, groups=())


def _reaching(settings: Settings) -> Settings:
    """The settings with the newest release that runs on the GPUs named as the target, where that is older."""
    if settings.machine is None:
        return settings
    wheel = wheel_for(settings.machine, target_line(settings.target))
    if isinstance(wheel, str) or wheel.line >= target_line(settings.target):
        return settings
    return replace(settings, target=TorchVersion(*wheel.line))


def _in_set(
    view: TextView, item: PinSet, settings: Settings, project: Project, *, elsewhere: bool = False
) -> Iterator[Finding]:
    target = target_line(settings.target)
    for pin in item.named("torchtext") if target > LAST_OF_TORCHTEXT else ():
        yield ended(view, pin, target)
    for pins in lists_of(item):
        held = newest_of_series(held_in(pins, target), item, target)
        if not held:
            continue
        apart = older_under_conditions(held)
        together = [pin for pin in pins if pin not in apart]
        moved = offered(view, replace(item, pins=together), held, settings, project, elsewhere=elsewhere)
        led = _led(view, [pin for pin in held if pin not in apart])
        told_with_torch = {pin for others in led.values() for pin in others}
        groups = groups_of(view.path, pins, settings, project) if not moved.of_index else ()
        for pin in held:
            if pin in told_with_torch:
                continue
            severity, message = told(view, pin, target)
            message += _beside(led.get(pin, []))
            if pin in apart:
                yield Finding("TL309", view.path, pin.span, message, severity, by_hand(pin))
            else:
                help = (of_its_own(pin, target) if moved.of_index else "") or moved.help
                yield Finding("TL309", view.path, pin.span, message, severity, help, moved.fix, groups=groups)
                groups = tuple(replace(group, covers=0) for group in groups)


def _led(view: TextView, held: list[Pin]) -> dict[Pin, list[Pin]]:
    """The companions on the line of a pin of torch, which one finding speaks of together, by that pin."""
    found: dict[Pin, list[Pin]] = {}
    for torch in (pin for pin in held if pin.is_torch):
        line = view.source.location(torch.span.start)[0]
        found[torch] = [pin for pin in held if not pin.is_torch and view.source.location(pin.span.start)[0] == line]
    return found


def _beside(pins: list[Pin]) -> str:
    """A sentence about the companions that a pin of torch leads."""
    if not pins:
        return ""
    named = " and ".join(f"`{' '.join(pin.text.partition(';')[0].split())}`" for pin in pins)
    return f" {named} on the same line {'goes' if len(pins) == 1 else 'go'} with it."


def _compiled(view: TextView, target: Line) -> Iterator[Finding]:
    """Files and pages of files whose names say for which torch, or which of its CUDAs, they were compiled."""
    for span in made_for_one_torch(view.code):
        message, line = compiled_for(view.source.slice(span), span, target), view.line_at(span.start)
        if not message or line is None or not is_command(view, line, span.start) or is_shown(view, span.start):
            continue
        severity = Severity.INFO if view.kind == "markdown" else Severity.WARNING
        own = message.startswith(OWN_WHEEL)
        help = f"Take {'that of' if own else 'the one for'} torch {spelled(target)}{'' if own else ' if its makers have one, or build it from source'}."
        yield Finding("TL309", view.path, span, message, severity, help)


_H100 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
_V100 = Machine((Device("V100", (7, 0)),), driver="595.58.03")

EXAMPLES = (
    Bad(
        "pip install mmcv-full -f https://download.openmmlab.com/mmcv/dist/cu101/${TORCH}/index.html\n",
        why="a page of wheels for a CUDA that ended",
        path="extensions.sh",
    ),
    Bad(
        "sympy==1.12\ntorch==2.1.0\n",
        why="a requirement of torch's own that stands at an older release",
        path="sympy/requirements.txt",
    ),
    Bad(
        "sympy==1.14.0\ntorch==2.1.0\ntyping_extensions==4.14.0\n",
        "sympy==1.14.0\ntorch==2.15.0\ntyping_extensions==4.14.0\n",
        "unsafe",
        why="requirements of torch's own that fit",
        path="requirements/new.txt",
    ),
    Bad(
        "import os\n\nINDEX = ''\ncommand = os.environ.get('TORCH_COMMAND', f'pip install torch==2.0.1 torchvision==0.15.2 --index-url {INDEX}')\n",
        why="a command in a string of code",
        path="launch.py",
    ),
    Bad(
        '# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "torch==2.9.1",  # as tested\n# ]\n# ///\nimport torch\n',
        '# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "torch==2.15.0",  # as tested\n# ]\n# ///\nimport torch\n',
        "unsafe",
        why="a script of one file",
        path="run.py",
    ),
    Bad(
        'import modal\n\nimage = modal.Image.debian_slim().pip_install("torch==2.1.0", "torchvision==0.16.0")\n',
        why="packages of an image that code builds",
        path="app.py",
    ),
    Bad("torchtext\n", why="what ended", path="text/requirements.txt"),
    Bad(
        '[tool.poetry.dependencies]\npython = "^3.11"\ntorch = "^2.0.0"\ntorchvision = "^0.15.1"\n',
        '[tool.poetry.dependencies]\npython = "^3.11"\ntorch = "^2.0.0"\ntorchvision = "^0.29.2"\n',
        "unsafe",
        why="a companion that holds a torch that is free",
        path="poetry/pyproject.toml",
    ),
    Bad(
        '[project.optional-dependencies]\n"torch2.4" = ["torch==2.4.1"]\n"torch2.5" = ["torch==2.5.1"]\n',
        why="extras named after their torch, of which the newest is told",
        path="extras/pyproject.toml",
    ),
    Bad(
        "Install it:\n\n    $ pip install torch==2.1.0\n",
        "Install it:\n\n    $ pip install torch==2.15.0\n",
        "unsafe",
        why="a page whose code is set in by four columns",
        path="README.MD",
    ),
    Ok(
        "Users of older cards\n    who ran pip install torch==2.1.0 may stay.\n",
        "a sentence that is set in",
        path="docs/cards.md",
    ),
    Bad(
        'import nox\n\n\n@nox.session(python="3.9")\ndef tests(session):\n    session.install("torch==2.1.0", "pytest")\n',
        'import nox\n\n\n@nox.session(python="3.11")\ndef tests(session):\n    session.install("torch==2.15.0", "pytest")\n',
        "unsafe",
        why="a session of nox with a Python that goes up with it",
        path="noxfile.py",
    ),
    Bad(
        "[tox]\nenvlist = py{38,312}\n\n[testenv]\ndeps =\n    torch==2.1.0\n",
        why="environments of tox of which one has no wheel",
        path="tox.ini",
    ),
    Bad(
        "[tox]\nenvlist = py{311,312}\n\n[testenv]\ndeps =\n    torch==2.1.0\n",
        "[tox]\nenvlist = py{311,312}\n\n[testenv]\ndeps =\n    torch==2.15.0\n",
        "unsafe",
        why="environments of tox that all have one",
        path="python/tox.ini",
    ),
    Bad(
        "numpy\ntorch==2.3.1  # as on the cluster\ntorchvision==0.18.1\n",
        "numpy\ntorch==2.15.0  # as on the cluster\ntorchvision==0.29.2\n",
        why="exact pins, for GPUs that are known",
        path="requirements.txt",
        machine=_H100,
    ),
    Bad(
        "torch==2.3.1\ntorchvision==0.18.1\n",
        "torch==2.15.0\ntorchvision==0.29.2\n",
        "unsafe",
        why="exact pins, for GPUs that nobody named",
        path="requirements/base.txt",
    ),
    Bad(
        "FROM python:3.12\nRUN pip install torch==2.3.1+cpu --index-url https://download.pytorch.org/whl/cpu\n",
        "FROM python:3.12\nRUN pip install torch==2.15.0+cpu --index-url https://download.pytorch.org/whl/cpu\n",
        why="a build without CUDA",
        path="Dockerfile",
    ),
    Bad(
        '[project]\nname = "a"\nrequires-python = ">=3.11"\ndependencies = ["torch>=2.0,<2.9", "numpy"]\n',
        '[project]\nname = "a"\nrequires-python = ">=3.11"\ndependencies = ["torch>=2.0,<2.16", "numpy"]\n',
        "unsafe",
        why="an upper bound, which may know of a break",
        path="pyproject.toml",
    ),
    Bad(
        '[project]\nname = "a"\nrequires-python = ">=3.8,<4"\ndependencies = ["torch==1.13.1", "torchvision==0.14.1"]\n',
        '[project]\nname = "a"\nrequires-python = ">=3.11,<4"\ndependencies = ["torch==2.15.0", "torchvision==0.29.2"]\n',
        "unsafe",
        why="a pin and the Pythons that its successor has no wheels for",
        path="pyproject.toml",
    ),
    Bad(
        'from setuptools import setup\n\nsetup(name="a", install_requires=["torch>=2.1,<2.9", "torchvision<=0.23"])\n',
        'from setuptools import setup\n\nsetup(name="a", install_requires=["torch>=2.1,<2.16", "torchvision<=0.29.2"])\n',
        "unsafe",
        why="upper bounds in setup.py",
        path="setup.py",
    ),
    Bad(
        '[tool.poetry.dependencies]\npython = "^3.11"\ntorch = "~2.4.0"\n',
        '[tool.poetry.dependencies]\npython = "^3.11"\ntorch = "~2.15.0"\n',
        "unsafe",
        why="Poetry's notation",
        path="pyproject.toml",
    ),
    Bad(
        "[options]\ninstall_requires =\n    torch ~= 2.4.0\n",
        "[options]\ninstall_requires =\n    torch ~= 2.15.0\n",
        "unsafe",
        why="a compatible release in setup.cfg",
        path="setup.cfg",
    ),
    Bad(
        "jobs:\n  test:\n    steps:\n      - run: pip install torch==2.5.1\n",
        "jobs:\n  test:\n    steps:\n      - run: pip install torch==2.15.0\n",
        "unsafe",
        why="a job, which may test an older torch on purpose",
        path=".github/workflows/test.yml",
    ),
    Bad(
        'import nox\n\n\n@nox.session\ndef tests(session):\n    session.install("torch==2.3.1")\n',
        'import nox\n\n\n@nox.session\ndef tests(session):\n    session.install("torch==2.15.0")\n',
        "unsafe",
        why="a session of nox",
        path="noxfile.py",
    ),
    Bad(
        "torch==2.3.1 --hash=sha256:0123456789abcdef\n",
        why="hashes of the old files",
        path="requirements.txt",
    ),
    Bad(
        'torch==2.3.1 ; sys_platform == "linux"\ntorch==2.2.2 ; sys_platform == "darwin"\n',
        'torch==2.15.0 ; sys_platform == "linux"\ntorch==2.2.2 ; sys_platform == "darwin"\n',
        "unsafe",
        why="two versions under conditions",
        path="requirements.txt",
    ),
    Bad(
        "FROM python:3.12\nRUN pip install torch==2.3.1+cpu torchaudio==2.3.1+cpu --index-url https://download.pytorch.org/whl/cpu\n",
        "FROM python:3.12\nRUN pip install torch==2.15.0+cpu torchaudio==2.11.0+cpu --index-url https://download.pytorch.org/whl/cpu\n",
        why="torchaudio, of which 2.11 is the last",
        path="Dockerfile",
    ),
    Bad(
        "name: a\nchannels:\n  - conda-forge\ndependencies:\n  - pytorch=2.4\n",
        why="a conda package",
        path="environment.yml",
    ),
    Bad(
        "pip install auto-gptq --extra-index-url https://huggingface.github.io/autogptq-index/whl/cu118/\n",
        why="an index of kernels for a CUDA that ended",
        path="kernels.sh",
    ),
    Bad(
        "torch\nhttps://github.com/a/b/releases/download/v2.6.3/flash_attn-2.6.3+cu122torch2.2.2cxx11abiFALSE-cp311-cp311-linux_x86_64.whl\n",
        why="a wheel that was compiled for one torch",
        path="requirements.txt",
    ),
    Bad(
        '[project]\nname = "a"\n[project.optional-dependencies]\ngpu = [\n'
        '  "xformers @ https://download.pytorch.org/whl/cu118/xformers-0.0.27-cp312-cp312-manylinux2014_x86_64.whl",\n  "torch"\n]\n',
        why="a wheel of an index that ended",
        path="pyproject.toml",
    ),
    Bad(
        "torch==2.0.0 torchvision==0.15.1 -f https://download.pytorch.org/whl/cpu/torch_stable.html\n",
        why="several on one line, as only somebody's own reader takes them",
        path="requirements_macos.txt",
    ),
    Bad(
        "# Set up\n\n```bash\nconda install pytorch==1.8.0 torchvision==0.9.0 -c pytorch\n```\n",
        why="the conda channel that ended",
        path="README.md",
    ),
    Bad("torch==2.4.0\n", why="a file of the lowest releases", path="requirements/oldest.txt"),
    Ok("torch>=2.0\ntorchvision>=0.15,<1\n", "lower bounds", "requirements.txt"),
    Ok("torch>=2.0,<3\ntorchaudio\n", "a bound that lets the target in", "requirements.txt"),
    Ok('[tool.poetry.dependencies]\ntorch = "^2.1"\n', "Poetry's caret, which lets the target in", "pyproject.toml"),
    Ok(
        "torch!=2.4.0\ntorch-fidelity==0.3.0\ntorchmetrics<1.5\n",
        "a release left out, and other packages",
        "requirements.txt",
    ),
    Ok("torch==2.15.0\ntorchaudio==2.11.0\n", "the target, with the last torchaudio", "requirements.txt"),
    Ok("torch==2.16.0\n", "a release after the target", "requirements.txt"),
    Ok("torch==2.14.1\n", "the last release for the GPUs named", "requirements.txt", machine=_V100),
    Ok("# torch==2.3.1\n", "a comment", "requirements.txt"),
    Ok('echo "pip install torch==2.3.1"\ngrep -q "pip install torch==2.3.1" log\n', "texts", "a.sh"),
    Ok('pip install "torch==${TORCH}"\n', "a version that a variable fills in", "b.sh"),
    Ok('assert_eq "$(pin)" "torch==2.3.1"\nWANT="torch<2.9"\n', "what a test expects", "tests/sh/test_pin.sh"),
    Ok("# Tool\n\nIt was made with torch==2.3.1.\n", "prose", "README.md"),
)
