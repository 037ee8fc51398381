"""The resolver's answer as the one thing to do."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from torchlift.doctor.check import Remedy
from torchlift.doctor.derived.installing import chosen_way, ways_shown
from torchlift.doctor.derived.machine_of import machine_of
from torchlift.doctor.derived.naming import spelled
from torchlift.doctor.derived.requirements_met import satisfies
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.torch_origin import image_of, torch_origin
from torchlift.doctor.derived.visible_gpus import visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import (
    Tool,
    from_conda,
    installing,
    installing_anew,
    refuses_pip,
    tool_of,
    uninstall,
)
from torchlift.doctor.remedies.ways import command, wanted_of
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.machine import Machine
from torchlift.wheels.resolver import resolve

_COMPANIONS = ("torchvision", "torchaudio")


def is_companion(name: str) -> bool:
    """Whether a distribution is released with torch and chosen together with it."""
    return name in _COMPANIONS


def wheel_answer(facts: Facts, requirement: str | None = None) -> Answer:
    """The resolver's answer for this machine with the companions that are installed."""
    return _resolved(machine_of(facts), requirement, companions_of(facts))


def companions_of(facts: Facts) -> tuple[str, ...]:
    """The companions that are installed, and so chosen together with torch."""
    return tuple(name for name in _COMPANIONS if facts.package(name) is not None)


def wheel_remedy(facts: Facts) -> Remedy:
    """The right torch for this machine: the installed release from another index where that works, else the best one."""
    if facts.torch is not None:
        origin = torch_origin(facts)
        if origin == "source":
            return _build_again(facts)
        public = torch_build(facts.torch).public
        same = wheel_answer(facts, f"torch=={public}") if public and origin != "nightly" else None
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
        parts = _parts(facts, answer)
        lines = [choice.uv if tool_of(facts) == "uv" else choice.pip for _, choice in parts]
        shown = "; ".join(f"{', '.join(gpus)}: {'; '.join(choice.reasons[-1:])}" for gpus, choice in parts)
        return Remedy(f"{answer.summary}. {shown}", "\n".join(lines))
    return Remedy(answer.summary)


def fitted(facts: Facts, answer: Answer) -> Answer:
    """The answer with lines that do what they say in the examined environment; those of a split make new ones."""
    answer = replace(answer, parts=_parts(facts, answer))
    if facts.hypothetical and facts.installing.chosen is None:
        return answer
    return replace(
        answer,
        choice=_fitted(facts, answer.choice) if answer.choice else None,
        alternatives=tuple(_fitted(facts, choice) for choice in answer.alternatives),
        then=_fitted(facts, answer.then) if answer.then else None,
    )


def _parts(facts: Facts, answer: Answer) -> tuple[tuple[tuple[str, ...], Choice], ...]:
    """The wheels of a split, each with lines that make its environment and the GPUs that it is started with."""
    return tuple((gpus, _apart(facts, gpus, choice)) for gpus, choice in answer.parts)


def _apart(facts: Facts, gpus: tuple[str, ...], choice: Choice) -> Choice:
    folder = f".venv-{choice.build}"
    wanted = choice.pip.partition(" install ")[2]
    own = [gpu.uuid for gpu in facts.gpus if gpu.name in gpus]
    known = own and None not in own
    value = f"={','.join(uuid for uuid in own if uuid)}" if known else " set to the numbers of these GPUs"
    return replace(
        choice,
        pip=f"{installing_anew(facts, 'pip', folder)} {wanted}",
        uv=f"{installing_anew(facts, 'uv', folder)} {wanted}",
        reasons=(*choice.reasons, f"start its programs with CUDA_VISIBLE_DEVICES{value}"),
    )


def _fitted(facts: Facts, choice: Choice) -> Choice:
    notes = tuple(dict.fromkeys(note for tool in ("pip", "uv") for note in wanted_of(facts, choice, tool).notes))
    shown = [way for way in ways_shown(facts) if way not in ("pip", "uv")]
    return replace(
        choice,
        pip=_line(facts, choice, "pip"),
        uv=_line(facts, choice, "uv"),
        reasons=(*choice.reasons, *notes),
        ways=tuple((way, command(facts, choice, way)) for way in shown),
    )


def _build_again(facts: Facts) -> Remedy:
    gpus = visible_gpus(facts).gpus
    wanted = ";".join(sorted({spelled(gpu.capability) for gpu in gpus if gpu.capability is not None}))
    text = "This torch was built from source: build it again, in the folder of its source"
    setting = f'TORCH_CUDA_ARCH_LIST="{wanted}" ' if wanted and facts.system.os != "windows" else ""
    cuda = "" if (facts.torch is not None and facts.torch.cuda) or not setting else "USE_CUDA=1 "
    return Remedy(text, f"{cuda}{setting}{installing(facts, tool_of(facts))} --no-build-isolation -v -e .")


def _install(facts: Facts, choice: Choice) -> Remedy:
    why = "; ".join([*choice.reasons, *choice.warnings])
    text = f"Install torch {choice.torch} built for {choice.build}"
    image = image_of(facts) if torch_origin(facts) == "nvidia" else None
    if image is not None:
        # Their pip is told by PIP_CONSTRAINT to keep NVIDIA's torch.
        return Remedy(
            f"This torch is NVIDIA's own build, of its container image {image}, which pip cannot replace there: take an "
            f"image that supports this GPU and driver, or a plain one and in it torch {choice.torch} built for "
            f"{choice.build}"
        )
    return Remedy(f"{text}: {why}" if why else text, _command(facts, choice))


def _command(facts: Facts, choice: Choice) -> str:
    way = chosen_way(facts)
    if way is not None and way not in ("pip", "uv"):
        return command(facts, choice, way)
    return _line(facts, choice, tool_of(facts))


def _line(facts: Facts, choice: Choice, tool: Tool) -> str:
    wanted = wanted_of(facts, choice, tool).arguments
    torch = facts.package("torch")
    # An operating system's own packages are not for pip to replace.
    if refuses_pip(facts) and (torch is None or torch.installer not in ("pip", "uv")):
        return f"{installing_anew(facts, tool)} {wanted}"
    plain = f"{installing(facts, tool)} {wanted}"
    if torch is None or facts.torch is None:
        return plain
    present = [name for name in ("torch", *_COMPANIONS) if facts.package(name) is not None]
    if any(from_conda(facts, name) for name in present):
        return f"{uninstall(facts, *present, tool=tool)} && {plain}"
    if not satisfies(torch.version, f"=={choice.torch}.*"):
        # "torch" alone is satisfied by whatever torch is there.
        return f"{installing(facts, tool)} --upgrade {wanted}"
    if torch_build(facts.torch).tag == choice.build:
        return plain
    # Another build of the same release counts as installed already, and the line alone would change nothing.
    if facts.system.os == "windows":
        # Windows PowerShell has no &&; on Windows all builds of a release have the same requirements.
        return f"{installing(facts, tool)} {'--reinstall' if tool == 'uv' else '--force-reinstall'} --no-deps {wanted}"
    return f"{uninstall(facts, *present, tool=tool)} && {plain}"
