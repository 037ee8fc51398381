"""CUDA indexes and `+cuNNN` pins that have no wheel of the torch asked for, or of the one the project moves to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlift.dependencies.commands import is_code, loose_indexes
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.dependencies.installed.reading import (
    FAMILY,
    INSTALLING,
    NAMING,
    included,
    is_expectation,
    script_of,
    session_install,
    sets_of,
    severity_in,
)
from torchlift.rules.dependencies.moves.bound_packages import is_bound
from torchlift.rules.dependencies.moves.holding import groups_of, holds
from torchlift.rules.dependencies.moves.moving import move, repair
from torchlift.rules.dependencies.wheels.builds import lines_of, spelled, target_line
from torchlift.rules.dependencies.wheels.hardware import advice
from torchlift.rules.dependencies.wheels.index_problem import builds_in, channel_problem, problem_of
from torchlift.rules.dependencies.wheels.succession import is_stable_page
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext
from torchlift.source import Span
from torchlift.view import Use
from torchlift.view.text import TextView
from torchlift.view.walk import walk
from torchlift.wheels.machine import Device, Machine
from torchlift.wheels.offers import cuda_of

RULE = Rule(
    code="TL301",
    name="cuda-index",
    summary="A CUDA index or a `+cuNNN` pin has no wheel of the torch asked for, or of the one the project moves to",
    why=(
        "Each release of torch is built for two or three CUDA versions, and each CUDA has an index of its own that ends "
        "with some release: cu118 with 2.7, cu124 with 2.6, cu128 with 2.11, cu126 with 2.14. pip says no more than `No "
        "matching distribution found`, or installs the last torch that the index has, for years. Data of 2026-11-21."
    ),
    fix=(
        "Which build is right depends on the GPUs and the driver. With `--gpus` (and `--driver`) or `--facts` the "
        "requirements that stand together move to the newest wheel for that machine: index, `+cuNNN`, exact pins of torch, "
        "torchvision and triton. Without them they move where one build needs no newer driver than the old one and runs on "
        "all of its GPUs; what cannot be installed at all gets such a build of the torch that it pins. It needs review "
        "where another file belongs to it, or where a CI job may test an older torch on purpose. Nothing is rewritten where a pin has a condition or hashes, where variables fill parts in, where "
        "several CUDA indexes are named, or where another package beside it is bound to one torch."
    ),
    targets=("*.install",),
    triggers=("nox & download.pytorch.org", "nox & +cu", "download.pytorch.org & whl/cu", "/// script & +cu"),
    text_triggers=("download.pytorch.org & whl/cu", "torch & +cu", "torch_stable"),
    text_kinds=INSTALLING | NAMING,
    sources=(
        "https://github.com/pytorch/pytorch/blob/main/RELEASE.md (release compatibility matrix)",
        ".ci/manywheel/build_env_setup.py and torch/cuda/__init__.py of pytorch/pytorch; wheels on PyPI, 2026-11-21",
    ),
)

# Lines of a script or a table of cases that compare with an address, and do not use it.
_EXPECTED = lazy_pattern(r"\bassert|\bexpect|\bgrep\b|(?<!\w)==(?!\d)", re.IGNORECASE)

_IN_CODE = lazy_pattern(r"download\.pytorch\.org/whl/(cu\d{2,3})(?!\d)")
_TORCH = lazy_pattern(r"(?<!download\.py)torch", re.IGNORECASE)
_LTS_PAGE = lazy_pattern(r"download\.pytorch\.org/whl/lts/([\d.]+)/torch_lts")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    settings = context.settings
    sets = sets_of(view)
    project = context.project
    for item in sets:
        others = [pin for _, pin in included(view, context.project)] if item.includes and item.indexes else []
        elsewhere = not item.indexes and next(iter(loose_indexes(view, list(sets))), None) is not None
        yield from _in_set(view, item, settings, project, others, elsewhere=elsewhere)
    if view.kind in {"requirements", "toml"} or is_expectation(view):
        return
    for index in loose_indexes(view, [item for item in sets if item.indexes]):
        line = view.line_at(index.span.start)
        if index.file or is_shown(view, index.span.start):
            continue
        if line is not None and _EXPECTED.search(view.source.slice(Span(line.start, index.span.start))):
            continue
        if view.kind == "markdown" and (line is None or not is_code(view, line)):
            continue
        problem = channel_problem(index, settings) if index.channel else problem_of(index.build, None, settings)
        if problem is not None:
            yield Finding("TL301", view.path, index.span, problem.message, Severity.INFO, advice(settings, view.path))


def check(use: Use, context: Context) -> Iterable[Finding]:
    """The commands of a noxfile."""
    item = session_install(use, context)
    if item is not None:
        # A makefile is what it is most like: its jobs may test an older torch on purpose.
        view = TextView(context.view.path, "makefile", context.view.source)
        yield from _in_set(view, item, context.settings, context.project)


def whole(context: Context) -> Iterator[Finding]:
    """Indexes of a script of one file; those in strings of code: the newest of them, where none has the target."""
    if (script := script_of(context)) is not None:
        yield from _in_set(*script, context.settings, context.project)
    view, target = context.view, target_line(context.settings.target)
    if not _IN_CODE.search(view.source.text) or is_test_file(view.path):
        return
    found: dict[ast.Constant, str] = {}
    for node in walk(view.tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not isinstance(view.parent(node), ast.Expr)
        ):
            found.update((node, match[1]) for match in _IN_CODE.finditer(node.value))
    if any(target in lines_of(build) for build in found.values()):
        return
    for node, build in found.items():
        problem = problem_of(build, None, context.settings)
        if problem is not None and build == max(found.values(), key=lambda one: cuda_of(one) or (0, 0)):
            yield Finding(
                "TL301", view.path, view.span(node), problem.message, Severity.INFO, advice(context.settings, view.path)
            )


def _in_set(
    view: TextView,
    item: PinSet,
    settings: Settings,
    project: Project,
    included: list[Pin] | None = None,
    *,
    elsewhere: bool = False,
) -> Iterator[Finding]:
    """Findings of requirements that stand together; `elsewhere`: their index stands at another place of the file."""
    torch = item.named("torch")
    asked = torch or [pin for pin in included or () if pin.name == "torch"]
    wanted = asked[0].specifier if len(asked) == 1 and not asked[0].opaque and not asked[0].conditional else None
    for index in item.indexes:
        problem = channel_problem(index, settings) if index.channel else None
        if problem is not None:
            severity = severity_in(view, problem.severity)
            yield Finding("TL301", view.path, index.span, problem.message, severity, advice(settings, view.path))
    yield from _stable_page(view, item, settings)
    for source in item.sources if not item.indexes else ():
        page = _LTS_PAGE.search(source.text)
        if page is not None:
            message = f"This page has torch {page[1]} of long-term support and nothing newer."
            yield Finding(
                "TL301",
                view.path,
                source.span,
                message,
                severity_in(view, Severity.WARNING),
                "Builds without CUDA are at `https://download.pytorch.org/whl/cpu`."
                if any(clause.build == "cpu" for pin in torch or () for clause in pin.clauses)
                else advice(settings, view.path),
            )
    groups = groups_of(view.path, item.pins, settings, project)
    for build, span in builds_in(item).items():
        problem = problem_of(build, wanted, settings)
        if problem is None or _goes_with_another(view, item):
            continue
        moved = move(view, item, settings, project)
        if moved.fix is None and problem.severity is Severity.ERROR and settings.machine is None:
            repaired = repair(view, item, settings, project)
            moved, groups = (repaired, ()) if repaired is not None else (moved, groups)
        severity = severity_in(view, problem.severity)
        finding = Finding("TL301", view.path, span, problem.message, severity, moved.help, moved.fix, groups=groups)
        groups = tuple(replace(group, covers=0) for group in groups)
        if elsewhere and finding.fix is not None:
            finding = finding.without_fix(
                "Not rewritten: the index is named elsewhere in this file, and both change together."
            )
        yield finding


def _goes_with_another(view: TextView, item: PinSet) -> bool:
    """Whether all that an index is for is made for one torch, of which the rest of the file speaks: the index goes with that torch."""
    rest = view.code[: item.span.start] + view.code[item.span.end :]
    return bool(item.pins) and all(map(is_bound, item.pins)) and _TORCH.search(rest) is not None


def _stable_page(view: TextView, item: PinSet, settings: Settings) -> Iterator[Finding]:
    """PyTorch's page of links, where no pin beside it is told of, with which it goes.

    Source: https://github.com/pytorch/pytorch/issues/136939, "updates to torch_stable finished around 2.4".
    """
    target = target_line(settings.target)
    pages = [source for source in item.sources if is_stable_page(source.text)] if not item.indexes else []
    if target < (2, 4) or any(holds(pin, target) for pin in item.named("torch")):
        return
    for source in pages:
        built = any(pin.opaque and "+" in pin.text for pin in item.named("torch"))
        message = f"PyTorch's page of links got nothing after torch 2.3, so torch {spelled(target)} is not on it."
        others = any(pin.name not in FAMILY for pin in item.pins) or item.includes
        option = "--extra-index-url" if others or view.kind == "requirements" else "--index-url"
        help = f"Name the index instead, as in `{option} https://download.pytorch.org/whl/cpu`."
        severity = severity_in(view, Severity.WARNING if built else Severity.INFO)
        yield Finding("TL301", view.path, source.span, message, severity, help)


_H100 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
_H100_LTS = Machine((Device("H100", (9, 0)),), driver="580.95.05")
_V100 = Machine((Device("V100", (7, 0)),), driver="580.95.05")
_MIXED = Machine((Device("GTX 1080", (6, 1)), Device("RTX 5090", (12, 0))), driver="580.95.05")

EXAMPLES = (
    Bad(
        "pip install torch==$TORCH_VERSION+cpu -f https://download.pytorch.org/whl/torch_stable.html\n",
        why="the page of links that ended, beside a version that a variable fills in",
        path="build.sh",
    ),
    Bad(
        "import os\n\nif os.name == 'nt':\n    url = 'https://download.pytorch.org/whl/cu121'\n",
        why="an index in a string of code",
        path="installer.py",
    ),
    Ok(
        "URLS = {'12.8': 'https://download.pytorch.org/whl/cu128', '13.0': 'https://download.pytorch.org/whl/cu130'}\n",
        "indexes of which one has the target",
        path="choose.py",
    ),
    Bad(
        "--extra-index-url https://download.pytorch.org/whl/cu118\n"
        "numpy\ntorch==2.3.1+cu118  # as on the cluster\ntorchvision==0.18.1+cu118\n",
        "--extra-index-url https://download.pytorch.org/whl/cu132\n"
        "numpy\ntorch==2.15.0+cu132  # as on the cluster\ntorchvision==0.29.2\n",
        why="requirements for GPUs that are known",
        path="requirements.txt",
        machine=_H100,
    ),
    Bad(
        'FROM ubuntu:24.04\nRUN pip install --no-cache-dir torch "torchvision" \\\n'
        "    --index-url https://download.pytorch.org/whl/cu124\n",
        'FROM ubuntu:24.04\nRUN pip install --no-cache-dir torch "torchvision" \\\n'
        "    --index-url https://download.pytorch.org/whl/cu126\n",
        why="a Volta GPU, for which torch 2.14 is the last",
        path="Dockerfile",
        machine=_V100,
    ),
    Bad(
        '[project]\nname = "a"\ndependencies = ["torch>=2.4"]\n\n[tool.uv.sources]\n'
        'torch = { index = "pytorch-cu121" }\n\n[[tool.uv.index]]\nname = "pytorch-cu121"  # ours\n'
        'url = "https://download.pytorch.org/whl/cu121"\nexplicit = true\n',
        '[project]\nname = "a"\ndependencies = ["torch>=2.4"]\n\n[tool.uv.sources]\n'
        'torch = { index = "pytorch-cu130" }\n\n[[tool.uv.index]]\nname = "pytorch-cu130"  # ours\n'
        'url = "https://download.pytorch.org/whl/cu130"\nexplicit = true\n',
        why="an index of uv, with its names",
        path="pyproject.toml",
        machine=_H100_LTS,
    ),
    Bad(
        "--index-url https://download.pytorch.org/whl/cu128\ntorch==2.13.0\n",
        why="a release that this index never had, for unknown GPUs",
        path="requirements.txt",
    ),
    Bad(
        "--index-url https://download.pytorch.org/whl/cu113\ntorch==2.6.0\n",
        "--index-url https://download.pytorch.org/whl/cu118\ntorch==2.6.0\n",
        why="an index that the pinned torch does not have, and one other of the same CUDA",
        path="requirements.txt",
    ),
    Bad(
        "pip install torch==2.3.1 torchvision==0.18.1 --index-url https://download.pytorch.org/whl/cu122\n",
        "pip install torch==2.3.1 torchvision==0.18.1 --index-url https://download.pytorch.org/whl/cu121\n",
        why="an index that never was",
        path="install.sh",
    ),
    Bad(
        "pip install torch --index-url https://download.pytorch.org/whl/cu125\n",
        why="an index that never was, for unknown GPUs",
        path="install.sh",
    ),
    Bad(
        "jobs:\n  test:\n    steps:\n      - run: pip install torch==2.5.1 --index-url "
        "https://download.pytorch.org/whl/cu124\n",
        "jobs:\n  test:\n    steps:\n      - run: pip install torch==2.15.0 --index-url "
        "https://download.pytorch.org/whl/cu132\n",
        "unsafe",
        why="a job that may test an older torch on purpose",
        path=".github/workflows/test.yml",
        machine=_H100,
    ),
    Bad(
        "-r base.txt\n--extra-index-url https://download.pytorch.org/whl/cu118\n",
        "-r base.txt\n--extra-index-url https://download.pytorch.org/whl/cu132\n",
        "unsafe",
        why="an index for requirements in another file",
        path="requirements.txt",
        machine=_H100,
    ),
    Bad(
        "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1+cu118\n",
        why="GPUs that no single wheel serves",
        path="requirements.txt",
        machine=_MIXED,
    ),
    Bad(
        "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1+cu118 --hash=sha256:0123456789abcdef\n",
        why="hashes of the old files",
        path="requirements.txt",
        machine=_H100,
    ),
    Bad(
        "--extra-index-url https://download.pytorch.org/whl/cu118\n"
        'torch==2.3.1+cu118 ; sys_platform == "linux"\ntorch==2.3.1 ; sys_platform == "darwin"\n',
        why="pins under conditions",
        path="requirements/gpu.txt",
        machine=_H100,
    ),
    Bad(
        "pip install torch==2.3.1+cu118 xformers==0.0.27 --index-url https://download.pytorch.org/whl/cu118\n",
        why="another package beside it that is built for one torch",
        path="install.sh",
        machine=_H100,
    ),
    Bad(
        "pip install torch==1.10.0+cu113 -f https://download.pytorch.org/whl/cu113/torch_stable.html\n",
        "pip install torch==2.15.0+cu132 --index-url https://download.pytorch.org/whl/cu132\n",
        "unsafe",
        why="a page of links from before torch 2, in whose place an index comes",
        path="setup.sh",
        machine=_H100,
    ),
    Bad(
        "pip install torch==1.10.0+cu113 -i https://pypi.org/simple -f https://download.pytorch.org/whl/torch_stable.html\n",
        "pip install torch==2.15.0+cu132 -i https://pypi.org/simple --extra-index-url https://download.pytorch.org/whl/cu132\n",
        "unsafe",
        why="the page of links beside an index of the user's",
        path="setup.sh",
        machine=_H100,
    ),
    Bad(
        "torch==1.10.0+cu113\nnumpy\n-f https://download.pytorch.org/whl/torch_stable.html\n",
        "torch==2.15.0+cu132\nnumpy\n--extra-index-url https://download.pytorch.org/whl/cu132\n",
        "unsafe",
        why="the page of links for all CUDAs, beside packages from elsewhere",
        path="requirements.txt",
        machine=_H100,
    ),
    Bad(
        "# Tool\n\nWith a driver for CUDA 9:\n`pip install torch==1.7.1+cu92 -f https://download.pytorch.org/whl/torch_stable.html`\n",
        why="a command that the page says is for an old driver",
        path="README.md",
        machine=_H100,
    ),
    Bad(
        "# Tool\n\n```bash\npip install torch --index-url https://download.pytorch.org/whl/cu121\n```\n",
        "# Tool\n\n```bash\npip install torch --index-url https://download.pytorch.org/whl/cu132\n```\n",
        "unsafe",
        why="a command on a page",
        path="README.md",
        machine=_H100,
    ),
    Bad(
        "pip install torch --index-url https://download.pytorch.org/whl/cu132\n",
        "pip install torch --index-url https://download.pytorch.org/whl/cu126\n",
        why="an index without code for the GPU",
        path="install.sh",
        machine=_V100,
    ),
    Bad(
        "import nox\n\n\n@nox.session\ndef tests(session):\n"
        '    session.install("torch==2.3.1", "--index-url", "https://download.pytorch.org/whl/cu121")\n',
        "import nox\n\n\n@nox.session\ndef tests(session):\n"
        '    session.install("torch==2.15.0", "--index-url", "https://download.pytorch.org/whl/cu132")\n',
        "unsafe",
        why="a session of nox",
        path="noxfile.py",
        machine=_H100,
    ),
    Bad(
        "pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu121\n",
        why="nightly builds for a CUDA that was given up",
        path="install.sh",
    ),
    Bad(
        "pip install torch==1.8.2+cu111 -f https://download.pytorch.org/whl/lts/1.8/torch_lts.html\n",
        why="the pages of long-term support",
        path="install.sh",
    ),
    Bad(
        "pip install torch -f https://download.pytorch.org/whl/lts/1.8/torch_lts.html\n",
        why="a page of long-term support",
        path="lts_page.sh",
    ),
    Bad(
        "pip install torch --extra-index-url https://download.pytorch.org/whl/lts/1.8/cu111\n",
        why="an index of long-term support",
        path="install.sh",
    ),
    Ok(
        "pip install torch torchvision --index-url https://download.pytorch.org/whl/cu130\n",
        "an index that has the target",
        "a.sh",
    ),
    Ok(
        "pip install torch==2.14.1 --index-url https://download.pytorch.org/whl/cu126\n",
        "the last torch for the GPU that is named",
        "b.sh",
        machine=_V100,
    ),
    Ok(
        "pip install torch --index-url https://download.pytorch.org/whl/cpu\n"
        "pip install torch --index-url https://download.pytorch.org/whl/rocm6.2\n",
        "builds without CUDA",
        "c.sh",
    ),
    Ok(
        "pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu130\n",
        "nightly builds for a CUDA that releases are built for",
        "d.sh",
    ),
    Ok(
        "pip install torch --index-url https://download.pytorch.org/whl/${CUDA}\n"
        'pip install "torch==${TORCH}" --index-url https://download.pytorch.org/whl/cu$CUDA_SHORT\n',
        "an index that a variable fills in",
        "e.sh",
    ),
    Ok("# pip install torch --index-url https://download.pytorch.org/whl/cu118\n", "a comment", "f.sh"),
    Ok(
        '[[ "$url" == https://download.pytorch.org/whl/cu118 ]]\ngrep -q https://download.pytorch.org/whl/cu118 log\n',
        "what a test expects",
        "tests/check.sh",
    ),
    Ok('echo "pip install torch --index-url https://download.pytorch.org/whl/cu118"\n', "a hint on screen", "g.sh"),
    Ok("jax[cuda12]==0.4.30\njaxlib==0.4.30+cuda12.cudnn89\ntorch\n", "somebody else's build", "requirements.txt"),
    Ok(
        "pip install torch --index-url https://download.pytorch.org/whl/cu140\n",
        "a CUDA newer than the data",
        "h.sh",
    ),
    Ok("# Tool\n\nThe index https://download.pytorch.org/whl/cu118 is gone.\n", "prose of a README", "README.md"),
)
