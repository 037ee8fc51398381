"""`doctor --repo`: whether this machine can run what a project's metadata asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.metadata import Declaration, Metadata, PackageIndex, read_metadata
from torchlift.dependencies.strength import Strength
from torchlift.doctor.check import Evidence, Remedy, Result, Status, note, ok, problem
from torchlift.doctor.derived.machine_of import machine_of
from torchlift.doctor.derived.requirements_met import marker_environment
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.wheel_remedy import remedy_of, wheel_answer
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.answer import Answer
from torchlift.wheels.host import host_of
from torchlift.wheels.offers import Offer, line_of, offers
from torchlift.wheels.tables import data_date
from torchlift.wheels.wish import Wish, read_wish

_TORCH_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:test/|nightly/)?(cu\d{2,3}|cpu|xpu|rocm[\d.]+)")
_USER = re.compile(r"(?<=://)[^/\s@]+@")


class ProjectError(ValueError):
    """There is no project to read; the text is a sentence without a full stop."""


@dataclass(frozen=True)
class ProjectReport:
    """What the project asks for and whether this machine can give it.

    Attributes:
        root: the folder.
        results: one for each thing that was asked for.
        notes: sentences about what was not understood.
        indexes: addresses of package indexes that the project names.
    """

    root: str
    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


def examine_project(path: str, facts: Facts) -> ProjectReport:
    """Read the metadata of the project in a folder and hold it against the machine.

    Raises:
        ProjectError: there is no such folder.
    """
    folder = Path(path)
    try:
        if folder.is_file():
            folder = folder.parent
        if not folder.is_dir():
            raise ProjectError(f"There is no folder {path}")
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror or error}") from None
    metadata = read_metadata(folder, folder)
    results = [*_python(metadata, facts), *_torch(metadata, facts), *_indexes(metadata, facts)]
    return ProjectReport(
        str(folder.absolute()), tuple(results), tuple(metadata.notes), tuple(index.url for index in metadata.indexes)
    )


def _python(metadata: Metadata, facts: Facts) -> Iterator[Result]:
    for item in metadata.python:
        pin = item.pin
        evidence = (Evidence("Python", facts.python.version or "not known", needed=pin.text, source=item.place),)
        wanted = pin.text if pin.unread else pin.specifier
        if wanted is None or pin.conditional:
            continue
        try:
            fits = not facts.python.version or SpecifierSet(wanted).contains(facts.python.version, prereleases=True)
        except (InvalidSpecifier, InvalidVersion):
            yield note(f"The Python requirement {pin.text!r} in {item.place} is not understood", evidence=evidence)
            continue
        if fits:
            continue
        yield problem(
            f"The project requires Python {pin.text} ({item.place}), this is Python {facts.python.version}",
            evidence=evidence,
            remedy=Remedy("Use an environment with a Python that the project supports"),
        )


def _torch(metadata: Metadata, facts: Facts) -> Iterator[Result]:
    declarations = [item for item in metadata.declarations if _applies(item, facts)]
    if not declarations:
        yield note("The metadata says nothing about torch")
        return
    # What the distribution itself requires decides; what developers install matters where it says nothing.
    strongest = min(item.strength for item in declarations)
    seen = set()
    for item in declarations:
        wanted = _requirement(item)
        if item.strength == strongest and wanted is not None and wanted not in seen:
            seen.add(wanted)
            yield _judged(item, wanted, facts)


def _judged(item: Declaration, wanted: str, facts: Facts) -> Result:
    answer = wheel_answer(facts, wanted)
    evidence = (Evidence("torch", _installed(facts), needed=_written(item), source=item.place),)
    if answer.kind == "unknown":
        return note(f"{_asked(item)}: {answer.summary}", evidence=evidence, confidence="table")
    if answer.kind != "wheel" or answer.choice is None:
        return problem(
            f"{_asked(item)}: {answer.summary}", evidence=evidence, remedy=_way_out(facts, answer), confidence="table"
        )
    if facts.torch is not None and _installed_fits(facts, wanted) is False:
        summary = f"{_asked(item)}, but torch {facts.torch.version} is installed"
        # An extra is asked for by some users only.
        status: Status = "note" if item.strength is Strength.EXTRA else "warning"
        return Result(status, summary, evidence=evidence, remedy=remedy_of(facts, answer), confidence="table")
    return ok(f"{_asked(item)}: {answer.summary}", evidence=evidence, confidence="table")


def _way_out(facts: Facts, answer: Answer) -> Remedy:
    if answer.kind == "none" and answer.alternatives:
        other = answer.alternatives[0]
        return Remedy(f"Let the project accept torch {other.torch} ({other.build}), which runs here", other.pip)
    return remedy_of(facts, answer)


def _indexes(metadata: Metadata, facts: Facts) -> Iterator[Result]:
    machine = machine_of(facts)
    host = host_of(machine)
    if isinstance(host, str):
        return
    wanted = _strictest(metadata, facts)
    wish = read_wish(wanted) or Wish.any()
    seen = set()
    for index in metadata.indexes:
        found = _TORCH_INDEX.search(index.url)
        if found is None or found[1] in seen:
            continue
        seen.add(found[1])
        held = [offer for offer in offers(host.platform) if offer.build == found[1]]
        yield _index(found[1], index, held, wish, facts)


def _index(build: str, index: PackageIndex, held: list[Offer], wish: Wish, facts: Facts) -> Result:
    evidence = (Evidence("index", _USER.sub("", index.url), source=index.place),)
    name = f"The index {build} ({index.place})"
    if not held:
        text = f"{name} is not in torchlift's tables for this platform (of {data_date()})"
        return note(text, evidence=evidence, confidence="table")
    versions = [release.version for offer in held for release in offer.releases if wish.allows(release.version)]
    if not versions:
        last = max(line_of(offer.torch) for offer in held)
        text = f"{name} has no torch that satisfies {wish}; its last is {last[0]}.{last[1]}"
        remedy = _way_out(facts, wheel_answer(facts, str(wish)))
        return problem(text, evidence=evidence, remedy=remedy, confidence="table")
    newest_first = sorted(versions, key=Version, reverse=True)
    answers = (wheel_answer(facts, f"torch=={version}+{build}") for version in newest_first)
    first = next(answers)
    fitting = first if first.kind == "wheel" else next((answer for answer in answers if answer.kind == "wheel"), None)
    if fitting is not None:
        return ok(f"{name}: {fitting.summary}", evidence=evidence, confidence="table")
    if first.kind == "unknown":
        return note(f"{name}: {first.summary}", evidence=evidence, confidence="table")
    remedy = _way_out(facts, wheel_answer(facts, str(wish)))
    return problem(f"{name}: {first.summary}", evidence=evidence, remedy=remedy, confidence="table")


def _strictest(metadata: Metadata, facts: Facts) -> str | None:
    items = [item for item in metadata.declarations if _applies(item, facts)]
    items.sort(key=lambda item: item.strength)
    return next((wanted for item in items if (wanted := _requirement(item)) not in (None, "torch")), None)


def _applies(item: Declaration, facts: Facts) -> bool:
    if item.pin.notation != "pip":
        return True
    try:
        marker = Requirement(item.pin.text).marker
        return marker is None or marker.evaluate({**marker_environment(facts), "extra": ""})
    except (InvalidRequirement, UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
        return True


def _requirement(item: Declaration) -> str | None:
    """The declaration in pip's notation; for an address the release of the wheel, for a choice its lower bound."""
    pin, lowest = item.pin, lowest_release(item.pin)
    if pin.notation == "pip":
        try:
            requirement = Requirement(pin.text)
        except InvalidRequirement:
            requirement = None
        if requirement is None or requirement.url is not None:
            return None if lowest is None else f"torch=={lowest}"
        return f"torch{requirement.specifier}"
    if pin.specifier is not None:
        return f"torch{pin.specifier}"
    return "torch" if lowest is None else f"torch>={lowest}"


def _written(item: Declaration) -> str:
    text = item.pin.text
    return _USER.sub("", text if item.pin.notation != "poetry" else f"torch {text}")


def _asked(item: Declaration) -> str:
    return f"The project requires {_written(item)} ({item.place})"


def _installed(facts: Facts) -> str:
    return facts.torch.version if facts.torch is not None else "not installed"


def _installed_fits(facts: Facts, wanted: str) -> bool | None:
    assert facts.torch is not None
    try:
        return Requirement(wanted).specifier.contains(Version(facts.torch.version), prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return None
