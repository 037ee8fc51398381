"""The pins of an answer as a file: requirements, uv, pixi, a line of a Dockerfile."""

from __future__ import annotations

from typing import Literal

from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.ways import wanted_of
from torchlift.wheels.answer import Choice
from torchlift.wheels.install_line import pins
from torchlift.wheels.tables import data_date

PinFormat = Literal["requirements", "uv", "pixi", "dockerfile"]


def pin_set(facts: Facts, choice: Choice, companions: tuple[str, ...], summary: str, kind: PinFormat) -> str:
    """The text of the file, ending in a line feed; one of uv and of pixi is a part to be put into the project's own."""
    tool = "uv" if kind == "uv" else "pip"
    wanted = wanted_of(facts, choice, tool)
    pinned = pins(choice.version, companions)
    notes = [f"torchlift doctor: {summary} (wheel data of {data_date()})", *choice.warnings, *wanted.notes]
    head = "".join(f"# {note}\n" for note in notes)
    if kind == "requirements":
        return head + _requirements(choice, wanted.index, pinned)
    if kind == "dockerfile":
        words = " ".join(f'"{name}=={version}"' if version else name for name, version in pinned)
        index = f" --index-url {wanted.index}" if wanted.index else ""
        return f"{head}RUN pip install --no-cache-dir {words}{index}\n"
    return head + (_uv if kind == "uv" else _pixi)(choice, wanted.index, pinned)


def _requirements(choice: Choice, index: str | None, pinned: list[tuple[str, str]]) -> str:
    lines = [f"--extra-index-url {index}"] if index else []
    # Of equal versions pip takes the one with a build; naming it leaves no other.
    build = f"+{choice.build}" if index else ""
    lines += [f"{name}=={version}{build if name == 'torch' else ''}" if version else name for name, version in pinned]
    return "\n".join(lines) + "\n"


def _uv(choice: Choice, index: str | None, pinned: list[tuple[str, str]]) -> str:
    listed = ", ".join(f'"{name}=={version}"' if version else f'"{name}"' for name, version in pinned)
    text = f"[project]\ndependencies = [{listed}]\n"
    if index is None:
        return text
    name = f"pytorch-{choice.build}"
    sources = "".join(f'{package} = {{ index = "{name}" }}\n' for package, _ in pinned)
    return (
        f'{text}\n[tool.uv.sources]\n{sources}\n[[tool.uv.index]]\nname = "{name}"\nurl = "{index}"\nexplicit = true\n'
    )


def _pixi(choice: Choice, index: str | None, pinned: list[tuple[str, str]]) -> str:
    lines = []
    for name, version in pinned:
        wanted = f"=={version}" if version else "*"
        lines.append(f'{name} = {{ version = "{wanted}", index = "{index}" }}' if index else f'{name} = "{wanted}"')
    return "[pypi-dependencies]\n" + "\n".join(lines) + "\n"
