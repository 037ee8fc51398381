"""Which wheel is for which GPUs: exactly, where the user named them, else as advice by class."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.dependencies.wheels.builds import Line, known_line, newest_of, spelled, target_line
from torchlift.rules.rule import Settings
from torchlift.wheels import drivers
from torchlift.wheels.machine import Machine
from torchlift.wheels.offers import line_of, offers
from torchlift.wheels.resolver import resolve

_ON_WINDOWS = (".bat", ".cmd", ".ps1")
_OLDER = ((7, 0), (6, 1), (5, 2))


@dataclass(frozen=True)
class Wheel:
    """The wheel that a set of requirements is moved to.

    Attributes:
        version: "2.15.0".
        build: "cu130"; "" where it is whatever the default index has for the system.
        why: the reason, without a full stop.
        doubt: what it is right under, a sentence; "" where nothing is assumed.
        for_gpus: whether it was chosen for GPUs that the user named.
        default: whether the default index has it, so that none has to be named.
    """

    version: str
    build: str
    why: str
    doubt: str = ""
    for_gpus: bool = False
    default: bool = False

    @property
    def named(self) -> str:
        """For messages: "torch 2.15.0 for cu130"."""
        return f"torch {self.version} for {self.build}" if self.build else f"torch {self.version}"

    @property
    def told(self) -> str:
        """The sentence that says what the choice is and why."""
        return f"{'For the GPUs named, ' if self.for_gpus else ''}{self.named}: {self.why}."

    @property
    def line(self) -> Line:
        """(2, 15)."""
        return line_of(self.version)


@lru_cache(maxsize=64)
def wheel_for(machine: Machine, target: Line) -> Wheel | str:
    """The newest wheel up to the target for a machine, or the sentence that says why there is none to write down."""
    answer = resolve(machine, f"<{target[0]}.{target[1] + 1}")
    choice = answer.choice
    if answer.kind != "wheel" or choice is None:
        return f"{answer.summary}."
    if not choice.build.startswith("cu"):
        return f"For this machine the build is {choice.build}, which is no CUDA build: {choice.pip}"
    version = choice.torch if choice.torch.count(".") == 2 else newest_of(line_of(choice.torch))
    if version is None:
        return f"{answer.summary}."
    return Wheel(version, choice.build, "; ".join((*choice.reasons, *choice.warnings)), "", True, choice.index is None)


@lru_cache(maxsize=64)
def serves(machine: Machine, build: str, line: Line) -> bool:
    """Whether a build of a release line runs on a machine."""
    return resolve(machine, f"=={spelled(line)}.*+{build}").kind == "wheel"


def advice(settings: Settings, path: str) -> str:
    """What to write in a file instead: for the GPUs that the user named, else by class of hardware."""
    if settings.machine is not None:
        wheel = wheel_for(settings.machine, target_line(settings.target))
        return wheel if isinstance(wheel, str) else wheel.told
    os = "windows" if path.lower().endswith(_ON_WINDOWS) else "linux"
    return _advice(target_line(settings.target), os)


@lru_cache(maxsize=8)
def _advice(target: Line, os: Literal["linux", "windows"]) -> str:
    there = offers("windows_amd64" if os == "windows" else "linux_x86_64")
    plain = [offer for offer in there if offer.cuda and not offer.secondary and offer.line <= target]
    if not known_line(target) or not plain:
        return "Name the GPUs (`--gpus`) to have the line rewritten."
    newest = sorted({offer.cuda: offer for offer in plain if offer.line == target}.items())
    major = newest[-1][0][0] if newest and newest[-1][0] else 0
    told = [offer for _, offer in newest]
    if not any(offer.cuda and offer.cuda[0] < major for offer in told):
        before = [offer for offer in plain if offer.cuda and offer.cuda[0] == major - 1]
        told += [max(before, key=lambda offer: (offer.line, offer.cuda or (0, 0)))] if before else []
    alike: dict[tuple[str, str, str], list[str]] = {}
    for offer in told:
        floor = drivers.lowest(offer.cuda[0], os) if offer.cuda else None
        alike.setdefault((_capabilities(offer.sass), floor or "", offer.torch), []).append(offer.build)
    lines = [
        f"{reach}{f' with driver {floor} or newer' if floor else ''}: torch {torch} for {' or '.join(builds)}"
        for (reach, floor, torch), builds in alike.items()
    ]
    lines[0] = f"on {'Windows' if os == 'windows' else 'Linux on x86_64'}, GPUs of compute capability {lines[0]}"
    old = [offer for offer in plain if any(offer.runs_on(number) for number in _OLDER)]
    if old and not any(offer.line == target for offer in old):
        last = max(old, key=lambda offer: offer.line)
        lines.append(
            f"Volta, Pascal and Maxwell (V100, P100, GTX 10): torch {last.torch} for {last.build}, the last one"
        )
    return (
        f'Which build fits depends on the machine. Without a GPU it is the one for cpu; {"; ".join(lines)}. With `--gpus "H100,V100"` (and '
        "`--driver`) or `--facts FILE` of torchlift doctor it is chosen, and written where nothing else has to be."
    )


def _capabilities(images: tuple[str, ...]) -> str:
    """From the oldest to the newest GPU with finished code: "7.5 to 12.x", as code for 12.0 runs on 12.1, too."""
    numbers = sorted(int(image.rstrip("af")) for image in images)
    return f"{numbers[0] // 10}.{numbers[0] % 10} to {numbers[-1] // 10}.x"
