"""The command that installs a chosen wheel, for each way in which people install.

Sources of the syntax: uv 0.13.9 and Poetry 2.5.1, run on an empty project; docs of pixi 0.76, `pixi add`; docs of conda,
`conda run`. 2026-11-23.
"""

from __future__ import annotations

import shlex

from torchlift.doctor.derived.installing import Indexes, Way, indexes_of
from torchlift.doctor.facts import Facts
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.answer import Choice

_HOST = "download.pytorch.org"


@dataclass(frozen=True)
class InstallArguments:
    """What a line asks for: `packages` are words as a shell wants them, `flag` is how the index is named."""

    packages: str
    index: str | None
    flag: str = "--index-url"
    notes: tuple[str, ...] = ()
    """Sentences without a full stop about indexes that are set here."""

    @property
    def arguments(self) -> str:
        """For `pip install` and its like."""
        return f"{self.packages} {self.flag} {self.index}" if self.index else self.packages


def wanted_of(facts: Facts, choice: Choice, tool: str) -> InstallArguments:
    """What the line of "pip" or "uv" asks for where indexes are set for that tool: they are kept, and named."""
    packages, _, _ = choice.pip.partition(" install ")[2].partition(" --index-url ")
    plain = InstallArguments(packages, choice.index)
    settings = indexes_of(facts, tool)
    if settings.offline is not None:
        return _offline(choice, plain, settings, tool)
    if settings.instead is None:
        more = tuple(f"{tool} looks at {one.address} as well ({one.source})" for one in settings.extra)
        return InstallArguments(packages, choice.index, notes=more)
    address = f"{settings.instead.address} ({settings.instead.source})"
    if settings.pytorch is not None and choice.version:
        index = f"{settings.pytorch}{choice.build}"
        return InstallArguments(packages, index, notes=(f"from the same mirror as {address}",))
    if choice.index is None:
        return InstallArguments(packages, None, notes=(f"{tool} takes it from {address}",))
    note = f"{address} stays the index for all else; torch is from {_HOST}, or from your mirror of it: put its address there"
    if tool == "uv":
        # Indexes that are named so come first, and the first that has a package is the only one asked for it.
        return InstallArguments(packages, choice.index, "--index", (note,))
    return InstallArguments(_exact(choice, packages), choice.index, "--extra-index-url", (note,))


def command(facts: Facts, choice: Choice, way: Way) -> str:
    """The command of one way; for a Dockerfile its line."""
    # Poetry and pixi have indexes of their own, in the project.
    tool = {"uv-project": "uv", "conda": "pip", "dockerfile": "pip"}.get(way, way)
    wanted = wanted_of(facts, choice, tool)
    name = f"pytorch-{choice.build}"
    if way == "uv-project":
        return f"uv add {wanted.packages}" + (f" --index {name}={wanted.index}" if wanted.index else "")
    if way == "poetry":
        then = "; " if facts.system.os == "windows" else " && "
        source = f"poetry source add --priority=explicit {name} {wanted.index}{then}" if wanted.index else ""
        return f"{source}poetry add {f'--source {name} ' if wanted.index else ''}{wanted.packages}"
    if way == "pixi":
        return f"pixi add --pypi {wanted.packages}" + (f" --index {wanted.index}" if wanted.index else "")
    if way == "conda":
        return f"{_conda(facts)} python -m pip install {wanted.arguments}"
    if way == "dockerfile":
        return f"RUN pip install --no-cache-dir {wanted.arguments}"
    return f"{'uv pip' if way == 'uv' else 'pip'} install {wanted.arguments}"


def _conda(facts: Facts) -> str:
    folder = facts.python.conda_environment
    if folder:
        return f"conda run -p {folder if facts.system.os == 'windows' else shlex.quote(folder)}"
    then = "; " if facts.system.os == "windows" else " && "
    python = ".".join(facts.python.version.split(".")[:2]) or "3.12"
    return f"conda create -y -n torch python={python}{then}conda run -n torch"


def _offline(choice: Choice, plain: InstallArguments, settings: Indexes, tool: str) -> InstallArguments:
    assert settings.offline is not None
    where = f"in {settings.links.address}" if settings.links is not None else "in a folder that --find-links names"
    fetch = f"pip download {plain.arguments} -d wheels"
    note = (
        f"{tool} asks no index here ({settings.offline.source}): the wheels have to lie {where}. On a machine of the same "
        f"system and Python that reaches {_HOST}: {fetch}"
    )
    return InstallArguments(_exact(choice, plain.packages) if choice.index else plain.packages, None, notes=(note,))


def _exact(choice: Choice, packages: str) -> str:
    """The packages with torch pinned to one build, which only one index has."""
    if not choice.version:
        return packages
    _, _, others = packages.partition(" ")
    return " ".join([f'"torch=={choice.version}+{choice.build}"', *([others] if others else [])])
