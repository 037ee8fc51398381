"""The resolver's answer as the one thing to do."""

from __future__ import annotations

from functools import lru_cache

from torchlift.doctor.check import Remedy
from torchlift.doctor.facts import Facts
from torchlift.doctor.machine_of import machine_of
from torchlift.doctor.package_commands import uninstall
from torchlift.doctor.requirements_met import satisfies
from torchlift.doctor.torch_build import torch_build
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.machine import Machine
from torchlift.wheels.resolver import resolve

_COMPANIONS = ("torchvision", "torchaudio")


def is_companion(name: str) -> bool:
    """Whether a distribution is released with torch and chosen together with it."""
    return name in _COMPANIONS


def wheel_answer(facts: Facts, requirement: str | None = None) -> Answer:
    """The resolver's answer for this machine with the companions that are installed."""
    installed = tuple(name for name in _COMPANIONS if facts.package(name) is not None)
    return _resolved(machine_of(facts), requirement, installed)


def wheel_remedy(facts: Facts) -> Remedy:
    """The right torch for this machine: the installed release from another index where that works, else the best one."""
    if facts.torch is not None:
        public = torch_build(facts.torch).public
        same = wheel_answer(facts, f"torch=={public}") if public else None
        if same is not None and same.kind == "wheel" and same.choice is not None:
            return _install(facts, same.choice)
    return remedy_of(facts, wheel_answer(facts))


@lru_cache(maxsize=64)
def _resolved(machine: Machine, requirement: str | None, companions: tuple[str, ...]) -> Answer:
    # Several checks ask the same question about the same machine.
    return resolve(machine, requirement, companions=companions)


def remedy_of(facts: Facts, answer: Answer) -> Remedy:
    """An answer of any kind as a remedy; the command is None where no single command helps."""
    if answer.kind == "wheel" and answer.choice is not None:
        return _install(facts, answer.choice)
    if answer.kind == "upgrade-driver":
        return Remedy(answer.summary, _command(facts, answer.then) if answer.then else None)
    if answer.kind == "split":
        lines = "; ".join(f"{', '.join(gpus)}: {_command(facts, choice)}" for gpus, choice in answer.parts)
        return Remedy(f"{answer.summary}. {lines}" if lines else answer.summary)
    return Remedy(answer.summary)


def _install(facts: Facts, choice: Choice) -> Remedy:
    why = "; ".join([*choice.reasons, *choice.warnings])
    text = f"Install torch {choice.torch} built for {choice.build}"
    return Remedy(f"{text}: {why}" if why else text, _command(facts, choice))


def _command(facts: Facts, choice: Choice) -> str:
    torch = facts.package("torch")
    line = choice.uv if torch is not None and torch.installer == "uv" else choice.pip
    if torch is None:
        return line
    if not satisfies(torch.version, f"=={choice.torch}.*"):
        # "torch" alone is satisfied by whatever torch is there.
        return line.replace(" install ", " install --upgrade ", 1)
    # Another build of the same release counts as installed already, and the line alone would change nothing.
    present = [name for name in ("torch", *_COMPANIONS) if facts.package(name) is not None]
    return f"{uninstall(facts, *present)} && {line}"
