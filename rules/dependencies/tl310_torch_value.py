"""Releases of torch and builds of CUDA in variables, matrices and inputs that are older than what the project moves to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.dependencies.assignments import assignments
from torchlift.dependencies.images import old_systems
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.version_values import VersionValue, version_values
from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.dependencies.installed.in_code import releases_in_code, releases_of_sessions
from torchlift.rules.dependencies.installed.pythons import moved_with, pythons_for
from torchlift.rules.dependencies.installed.reading import NAMING, is_expectation, part_of_image, sets_of
from torchlift.rules.dependencies.moves.bound_packages import bound_beside
from torchlift.rules.dependencies.wheels.builds import FOR_GLIBC_228, is_named_in, pythons_of, spelled, target_line
from torchlift.rules.dependencies.wheels.companions import companion_of, torch_for
from torchlift.rules.dependencies.wheels.hardware import advice
from torchlift.rules.dependencies.wheels.index_problem import problem_of
from torchlift.rules.dependencies.wheels.succession import release_of
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext, nothing
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view.text import TextView

RULE = Rule(
    code="TL310",
    name="torch-value",
    summary="A variable, a matrix or an input names a torch or a CUDA that the project moves away from",
    why=(
        "`torch==${TORCH_VERSION}` and `whl/cu${CUDA}` take what stands somewhere else in the file: `ARG` and `ENV` of a container "
        "file, a variable of a script, a matrix or an input of a workflow. What keeps the target out there is a warning; where "
        "only jobs try older releases, nothing breaks, and nothing tries the target: an info."
    ),
    fix=(
        "Needs review: where one value of torch fills its commands in, it is set to the target, with those of torchvision and "
        "torchaudio. Longer lists stay: whether the target is added or takes a place is a choice. Builds of CUDA depend on the GPUs."
    ),
    targets=(),
    check=nothing,
    triggers=(
        "install & torch=={",
        "pip & torch=={",
        "packages & torch=={",
        "pip & torch==$",
        "pip & whl/torch-",
        "nox & torch",
    ),
    text_triggers=(
        "ARG & TORCH",
        "ENV & TORCH",
        "ARG & torch",
        "matrix & torch",
        "include & torch",
        "inputs & torch",
        "env & torch",
        "default & torch",
        "pip & TORCH",
        "pip & torch",
        "whl & pytorch",
        "TORCH_VERSION",
        "PYTORCH_VERSION",
        "PYTORCH",
        "torch_version",
        "TORCH",
        "torch: ",
        'torch": ',
    ),
    text_kinds=NAMING,
    sources=("File lists of torch, torchvision and torchaudio on PyPI, 2026-11-21",),
)


# What stands there fills pages in.
_IS_OF_A_SITE = lazy_pattern(r"(?:^|/)(?:mkdocs|_config)\.ya?ml\Z")
_TOOLKIT = lazy_pattern(r"(?:cuda|cudnn)(?:[-_.]?ver(?:sion)?)?", re.IGNORECASE)
# What a script hands to others that install torch into it.
_PYTHON = lazy_pattern(
    r"^[ \t]*(?:export[ \t]+|ARG[ \t]+|ENV[ \t]+)?(\w*python\w*)=[\"']?3\.(\d+)", re.IGNORECASE | re.MULTILINE
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if is_expectation(view) or _IS_OF_A_SITE.search(view.path):
        return
    settings = context.settings
    target = target_line(settings.target)
    values = [value for value in version_values(view) if not is_shown(view, value.span.start)]
    cuda = [value for value in values if value.package == "cuda"]
    newest = max((_cuda_of(value) for value in cuda if value.row), default=0)
    for value in cuda:
        if not value.row or _cuda_of(value) == newest:  # the other rows stay for older releases
            yield from _cuda(view, value, settings)
    torch = [value for value in values if value.package == "torch" and not _is_data(view, value)]
    if not torch:
        return
    fix, help = _fix(view, values, settings)
    for name in dict.fromkeys(value.name for value in torch):
        named = [value for value in torch if value.name == name]
        if any(is_named_in(view.path, value.value) for value in named) or _is_idle(view, name, named):
            continue
        if any(value.further or (_line(value) > target if value.below else _line(value) >= target) for value in named):
            continue
        for value in _telling(named):
            yield Finding("TL310", view.path, value.span, _message(value, target), _severity(view, value), help, fix)


def whole(context: Context) -> Iterator[Finding]:
    """Releases in code that makes requirements with them."""
    view, target = context.view, target_line(context.settings.target)
    for value in [*releases_in_code(view), *releases_of_sessions(view)] if not is_test_file(view.path) else ():
        if _line(value) < target:
            help = _by_hand([value], release_of(context.settings) or spelled(target))
            yield Finding("TL310", view.path, value.span, _message(value, target), Severity.INFO, help)


def _is_data(view: TextView, value: VersionValue) -> bool:
    """Whether a value belongs to the record of a run, which says which torch ran: an entry with its time."""
    text = view.code
    end = text.find("\n", value.span.end)
    line = text[text.rfind("\n", 0, value.span.start) + 1 : end if end >= 0 else len(text)]
    return view.kind == "yaml" and "timestamp" in line


def _is_idle(view: TextView, name: str, named: list[VersionValue]) -> bool:
    """Whether a matrix of a workflow has the values, and nothing in the workflow reads its `name`."""
    if not all(value.listed or value.row for value in named) or "matrix:" not in view.source.text:
        return False
    if re.search(rf"^[ \t]*(?:-[ \t]+)?{re.escape(name)}[ \t]*:", view.source.text, re.MULTILINE) is None:
        return False  # a loop that writes one
    if not view.path.startswith(".github/workflows/") or any(value.use for value in named):
        return False
    return (
        re.search(
            rf"matrix\.{re.escape(name)}\b|matrix\[|toJSON\(\s*matrix|\bmatrix\s*\}}\}}",
            view.source.text,
            re.IGNORECASE,
        )
        is None
    )


def _telling(named: list[VersionValue]) -> list[VersionValue]:
    """Values of one name that something has to be said of: single ones, and the newest of each list.

    Of the rows that matrices include those are told that have the newest release of all: the others stay for an older one.
    """
    found = [value for value in named if value.list_at < 0 and not value.row]
    lists: dict[int, list[VersionValue]] = {}
    for value in named:
        if value.list_at >= 0:
            lists.setdefault(value.list_at, []).append(value)
    newest = max(map(_line, named))
    found += [value for value in named if value.row and value.list_at < 0 and _line(value) == newest]
    return sorted([*found, *(max(one, key=_line) for one in lists.values())], key=lambda value: value.span)


def _line(value: VersionValue) -> tuple[int, int]:
    found = TorchVersion.parse(value.value)
    return found.major, found.minor


def _cuda_of(value: VersionValue) -> int:
    return int(value.value.removeprefix("cu"))


def _severity(view: TextView, value: VersionValue) -> Severity:
    decides = view.kind != "yaml" and value.use and not value.listed
    return Severity.WARNING if decides else Severity.INFO


def _message(value: VersionValue, target: tuple[int, int]) -> str:
    moves = f"torch {spelled(target)}, which this project moves to"
    if value.listed or value.row:
        return f"`{value.name}` goes up to torch {value.value}, and not to {moves}."
    taken = f", which `{value.use}` takes," if value.use else ""
    if value.below:
        return f"`{value.name}` is <{value.value} here{taken} and keeps out {moves}."
    return f"`{value.name}` is {value.value} here{taken} and older than {moves}."


def _cuda(view: TextView, value: VersionValue, settings: Settings) -> Iterator[Finding]:
    problem = problem_of(value.value, None, settings)
    if problem is not None:
        severity = Severity.INFO if value.listed or view.kind == "yaml" else problem.severity
        message = f"`{value.use}` takes {value.value} from `{value.name}`. {problem.message}"
        yield Finding("TL310", view.path, value.span, message, severity, advice(settings, view.path))


def _fix(view: TextView, values: list[VersionValue], settings: Settings) -> tuple[Fix | None, str]:
    """The fix where each package has one value, none of them in a list, and no index is in the way."""
    release = release_of(settings)
    by_package = {
        name: [value for value in values if value.package == name] for name in ("torch", "torchvision", "torchaudio")
    }
    cuda = [value for value in values if value.package == "cuda"]
    newest = release or spelled(target_line(settings.target))
    help = _by_hand(values, f"=={newest}" if any(_has_operator(view, value) for value in values) else newest)
    if (
        release is None
        or cuda
        or any(len(found) > 1 or any(value.below for value in found) for found in by_package.values())
    ):
        return None, help
    if any(item.indexes or pin.clauses for item in sets_of(view) for pin in item.pins if pin.is_torch):
        return None, help
    of_image = next(filter(None, (part_of_image(view, value) for value in by_package["torch"])), None)
    if of_image is not None:
        return None, of_image
    other = bound_beside(view)
    if other is not None:
        return None, f"{help} Not rewritten, because {other} in this file is."
    toolkit = next((item for item in assignments(view) if _TOOLKIT.fullmatch(item.name)), None)
    if toolkit is not None:
        return (
            None,
            f"{help} `{toolkit.name}` is {toolkit.value} beside it, and may have to go with it.",
        )
    systems = old_systems(view, [value.span for value in values])
    if systems and target_line(settings.target) >= FOR_GLIBC_228:
        return (
            None,
            f"{help} The image's system, {systems[0]}, and wheels of torch {release} ask for 2.28: take another image first.",
        )
    if not all(value.use or _goes_on(view, value) for value in by_package["torch"]):
        return None, f"Where torch is installed by it: {help[0].lower()}{help[1:]}"
    rewrites = []
    for package, found in by_package.items():
        version = release if package == "torch" else companion_of(package, release)
        for value in found:
            if (
                version is None
                or _has_build(view, value)
                or (package != "torch" and torch_for(package, value.value) is None)
            ):
                return None, help
            rewrites.append(ReplaceText(value.span, ".".join(version.split(".")[: value.value.count(".") + 1])))
    pythons = _pythons(view, by_package["torch"], release)
    if not pythons and (held := _other_python(view, release)) is not None:
        return None, f"{help} {held}"
    if isinstance(pythons, str):
        return None, f"{help} {pythons}"
    rewrites += pythons
    with_it = f"Python becomes {pythons[0].text} with it. " if pythons else ""
    help = f"{with_it}Needs review: the GPUs, and everything else that reads the value, are taken to go with torch {release}."
    return Fix(f"Take torch {release}", Safety.UNSAFE, tuple(rewrites)), help


def _goes_on(view: TextView, value: VersionValue) -> bool:
    """Whether a value goes to others: the default of an input, and a variable that is read on another line."""
    text = view.code
    start, end = text.rfind("\n", 0, value.span.start) + 1, text.find("\n", value.span.end)
    if "default:" in text[start : value.span.start]:
        return True
    return bool(re.search(rf"\b{re.escape(value.name)}\b", text[:start] + text[end:] if end >= 0 else text[:start]))


def _has_operator(view: TextView, value: VersionValue) -> bool:
    """Whether a value of a list is written with its operator, `==2.3`."""
    return (value.listed or value.row) and view.source.text[value.span.start - 1] in "=~<"


def _has_build(view: TextView, value: VersionValue) -> bool:
    """Whether a build stands behind a version: which one the new torch has, and where, its index decides."""
    return view.source.text[value.span.end : value.span.end + 1] == "+"


def _other_python(view: TextView, release: str) -> str | None:
    """A variable beside it that names a Python without a wheel of the release, and that nothing raises with it, as a sentence."""
    wheels = pythons_of(release)
    for found in _PYTHON.finditer(view.code):
        if wheels and int(found[2]) not in wheels:
            line = view.source.location(found.start(1))[0]
            return f"`{found[1]}` on line {line} is 3.{found[2]}, and torch {release} is for Python 3.{min(wheels)} to 3.{max(wheels)}."
    return None


def _pythons(view: TextView, values: list[VersionValue], release: str) -> list[ReplaceText] | str:
    """What raises the Pythons that the release is installed into then, or why nothing does."""
    asked = [python for value in values for python in pythons_for(view, PinSet(value.span), value.span)]
    return moved_with(view, list(dict.fromkeys(asked)), pythons_of(release))


def _by_hand(values: list[VersionValue], release: str) -> str:
    """What to write where nothing is rewritten; a list of releases to try gets one more."""
    if any(value.listed or value.row for value in values if value.package == "torch"):
        pythons = sorted(pythons_of(release))
        reach = (
            f" Its wheels are for Python 3.{pythons[0]} to 3.{pythons[-1]}: such a job needs one of these."
            if pythons
            else ""
        )
        rows = not any(value.listed for value in values if value.package == "torch")
        added = (
            f"{'a row with ' if rows else ''}{release}{'' if rows else ' to the list'}, with what belongs to it beside"
        )
        return f"Where torch is installed by it, add {added}.{reach}"
    if any(value.below for value in values):
        major, minor = _line(VersionValue("torch", "", release, Span(0, 0), listed=False))
        return f"Let it reach further: <{major}.{minor + 1} lets torch {release} in."
    return f"Where it chooses torch, {release} takes its place, with all else that is built for this torch."


EXAMPLES = (
    Bad(
        'import subprocess\n\nTORCH = "2.1.0"\nsubprocess.run(f"pip install torch=={TORCH}", shell=True)\n',
        why="a release in code",
        path="install.py",
    ),
    Bad(
        "jobs:\n  matrix:\n    steps:\n      - shell: python\n        run: |\n          for torch_version in ['2.5.1', '2.6.0']:\n"
        "            print(torch_version)\n",
        why="a loop of Python that writes a matrix",
        path=".github/workflows/wheels.yml",
    ),
    Bad(
        'export TORCH_VERSION=${TORCH_VERSION:-"2.8.0"}\ndocker build . --build-arg TORCH_VERSION=$TORCH_VERSION\n',
        'export TORCH_VERSION=${TORCH_VERSION:-"2.15.0"}\ndocker build . --build-arg TORCH_VERSION=$TORCH_VERSION\n',
        "unsafe",
        why="a default in quotes",
        path="image_build.sh",
    ),
    Bad(
        "jobs:\n  test:\n    strategy:\n      matrix:\n        python: ['3.11', '3.12']\n        torch: ['2.4.1']\n    steps:\n"
        "      - run: pip install torch==${{ matrix.torch }}\n",
        "jobs:\n  test:\n    strategy:\n      matrix:\n        python: ['3.11', '3.12']\n        torch: ['2.15.0']\n    steps:\n"
        "      - run: pip install torch==${{ matrix.torch }}\n",
        "unsafe",
        why="a list of one, with Pythons that have a wheel",
        path=".github/workflows/ci.yml",
    ),
    Bad(
        "jobs:\n  test:\n    strategy:\n      matrix:\n        python: ['3.8', '3.12']\n        torch: ['2.4.1']\n    steps:\n"
        "      - run: pip install torch==${{ matrix.torch }}\n",
        why="a list of one beside a Python without a wheel",
        path=".github/workflows/test.yml",
    ),
    Bad(
        "jobs:\n  c:\n    strategy:\n      matrix:\n        include:\n          - torch: 2.5.1\n            python: '3.12'\n"
        "          - torch: 2.4.1\n            python: '3.11'\n    steps:\n      - run: pip install torch==${{ matrix.torch }}\n",
        why="a matrix of rows alone",
        path=".github/workflows/rows.yml",
    ),
    Bad(
        "cuda: [13.1.0]\ninclude:\n  - torch: 2.9.1\n    vision: 0.24.1\n",
        why="rows of a matrix in a file of its own",
        path=".github/configurations/base.yml",
    ),
    Bad(
        "docker build -f docker/Dockerfile --build-arg PYTORCH=1.9.0 --build-arg CUDA=11.1 --build-arg CUDNN=8 .\n",
        why="a CUDA beside it",
        path="docker/build.sh",
    ),
    Ok(
        "jobs:\n  docs:\n    strategy:\n      matrix:\n        torch: ['1.13.1']\n        python: ['3.8']\n    steps:\n"
        "      - run: pip install sphinx  # ${{ matrix.python }}\n",
        "a list of a matrix that nothing reads",
        path=".github/workflows/doc.yml",
    ),
    Ok(
        "jobs:\n  test:\n    strategy:\n      matrix:\n        python-version: ['3.11', '3.12']\n        torch: ['2.4.1', '2.15.0']\n"
        "        exclude:\n          - torch: 2.4.1\n            python-version: '3.7'\n    steps:\n      - run: pip install torch==${{ matrix.torch }}\n",
        "what a matrix excludes",
        path=".github/workflows/excluded.yml",
    ),
    Bad(
        "FROM nvidia/cuda:11.8.0-base-ubuntu18.04\nARG TORCH_VERSION=2.3.1\nRUN pip install torch==${TORCH_VERSION}\n",
        why="an image whose system is too old",
        path="Dockerfile",
    ),
    Bad(
        "FROM ubuntu:24.04\nARG TORCH_VERSION=2.3.1\nRUN pip install torch==${TORCH_VERSION}\n",
        "FROM ubuntu:24.04\nARG TORCH_VERSION=2.15.0\nRUN pip install torch==${TORCH_VERSION}\n",
        "unsafe",
        why="an argument of a container file",
        path="Dockerfile",
    ),
    Bad(
        'TORCH="2.3.1"\nVISION=0.18.1\npip install "torch==$TORCH" "torchvision==$VISION"\n',
        'TORCH="2.15.0"\nVISION=0.29.2\npip install "torch==$TORCH" "torchvision==$VISION"\n',
        "unsafe",
        why="variables of a script",
        path="install.sh",
    ),
    Bad(
        "ARG CUDA=121\nRUN pip install torch --index-url https://download.pytorch.org/whl/cu${CUDA}\n",
        why="an index that a variable fills in",
        path="Dockerfile",
    ),
    Bad(
        "on: push\njobs:\n  test:\n    strategy:\n      matrix:\n        torch: ['2.1.2', '2.4.1']\n"
        "    steps:\n      - run: pip install torch==${{ matrix.torch }}\n",
        why="a matrix",
        path=".github/workflows/test.yml",
    ),
    Bad(
        "on:\n  workflow_dispatch:\n    inputs:\n      torch-version:\n        default: '2.4.1'\n",
        "on:\n  workflow_dispatch:\n    inputs:\n      torch-version:\n        default: '2.15.0'\n",
        "unsafe",
        why="the default of an input",
        path=".github/workflows/release.yml",
    ),
    Bad(
        "inputs:\n  torch-version:\n    default: '<2.2'\nruns:\n  using: composite\n  steps:\n"
        "    - run: pip install 'torch${{ inputs.torch-version }}'\n",
        why="a bound that is not reached itself",
        path=".github/actions/setup/action.yml",
    ),
    Bad(
        "set TORCH_VERSION=2.3.1\npip install torch==%TORCH_VERSION%\n",
        "set TORCH_VERSION=2.15.0\npip install torch==%TORCH_VERSION%\n",
        "unsafe",
        why="a batch file",
        path="install.bat",
    ),
    Bad(
        "$cuda = 'cu118'\npip install torch --index-url https://download.pytorch.org/whl/$cuda\n",
        why="PowerShell",
        path="install.ps1",
    ),
    Ok(
        "jobs:\n  test:\n    strategy:\n      matrix:\n        torch: ['2.1.2', '2.15.0']\n",
        "a matrix that has the target",
        ".github/workflows/test.yml",
    ),
    Ok("ARG TORCH_VERSION=2.15.0\nRUN pip install torch==${TORCH_VERSION}\n", "the target", "Dockerfile"),
    Ok(
        "ARG CUDA=130\nRUN pip install torch --index-url https://download.pytorch.org/whl/cu${CUDA}\n",
        "an index that has it",
        "Dockerfile",
    ),
    Ok("ARG APP_VERSION=2.3.1\nRUN pip install app==${APP_VERSION} torch\n", "another package", "Dockerfile"),
    Ok('echo "TORCH_VERSION=2.3.1"\n# TORCH_VERSION=2.3.1\n', "texts", "a.sh"),
)
