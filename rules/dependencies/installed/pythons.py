"""The Pythons that packages of one list are installed into, as far as the file tells, and how each is raised."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.dependencies.assignments import assignments
from torchlift.dependencies.images import ImageLine, place_of_system, read_images, spans_on, stages
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.systems import system_of
from torchlift.dependencies.yaml_blocks import job_of, outside_jobs, row_of
from torchlift.finding import ReplaceText
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.dependencies.installed.reading import script_names, scripts_in, sets_of
from torchlift.rules.dependencies.installed.session_pythons import NAMES, session_pythons
from torchlift.rules.dependencies.wheels.builds import minors_in
from torchlift.source import Span
from torchlift.view.text import TextView

_KEY = lazy_pattern(r"py(?:thon)?(?:[-_. ]?ver(?:sion)?s?)?", re.IGNORECASE)
_VALUE = lazy_pattern(r"(?:python|py)?[- ]?(?P<version>3\.(?P<minor>\d+)(?:\.(?:\d+|x|\*))?)")
_PLAIN = lazy_pattern(r"3\.\d+(?:\.\d+)?")
# Tags that Docker's official image has for each of 3.10 to 3.14: `library/python` of github.com/docker-library/official-images at 01732a4, read 2026-11-26.
_SUFFIX = lazy_pattern(r"(?:-slim)?(?:-(?:bookworm|trixie))?")
# What makes another Python than the system's, or than that of conda's base.
_OTHER_PYTHONS = lazy_pattern(
    r"conda|mamba|miniforge|pyenv|\b(?:uv|pixi|rye|asdf|mise|nix)\b|[Pp]ython[-_/][23$]|setup-python|python-version|COPY[ \t]+--from"
)
_NUMBERED = lazy_pattern(r"\bpython(?:(?P<version>3\.\d+)|3?\.?\$\{?(?P<variable>\w+)\}?)")
_INSTALLS = r"\b(?:apt|apt-get|aptitude|yum|dnf)\b[^\n]*\binstall\b[^\n]*[ \t]"
_NUMBERED_PACKAGE = lazy_pattern(rf"{_INSTALLS}python(?:3\.\d|3?\.?\$)")
_ENVIRONMENTS = lazy_pattern(
    r"(?:conda|mamba)[ \t]+(?:-\S+[ \t]+)*(?:create|env|update|activate)\b|--file\b|\S+\.ya?ml\b|\bpython[ \t]*[=<>]+[ \t]*[\"']?[\d$]|\buv\b|pyenv|COPY[ \t]+--from"
)
_OF_THE_SYSTEM = lazy_pattern(r"(?:^|/)(?:ubuntu|debian|centos|nvidia/(?:cuda|cudagl|opengl))(?:[:@]|\Z)")
_PYTHON_PACKAGE = lazy_pattern(rf"{_INSTALLS}python3(?:-[a-z][\w-]*)?(?=[\s;&=]|\Z)")


@dataclass(frozen=True)
class AskedPython:
    """A Python, or a range of them, that something is installed into.

    Attributes:
        text: as it is told: "`>=3.8`", "Python 3.8".
        span: what says so.
        minors: the minor numbers that it allows.
        place: where the version stands that can be exchanged; None where that is a choice.
        listed: whether it is one of several that are all tried.
        floor: whether it is a range: a release without a wheel for its lowest Python cannot be locked for it.
    """

    text: str
    span: Span
    minors: tuple[int, ...]
    place: Span | None = None
    listed: bool = False
    floor: bool = False

    def fits(self, wheels: frozenset[int]) -> bool:
        """Whether a release with wheels for these Pythons can be installed wherever this is asked for."""
        if not self.minors or not wheels:
            return True
        return self.minors[0] >= min(wheels) if self.floor else self.minors[0] in wheels

    def raised(self, view: TextView, minor: int) -> ReplaceText | None:
        """What sets it to another minor number, or begins its range there; None where no edit is plain."""
        quoted = self.place is not None and view.source.text[self.place.start - 1 : self.place.start] in {'"', "'"}
        # YAML takes a bare 3.10 for the number 3.1
        if self.place is None or (view.kind == "yaml" and minor % 10 == 0 and not quoted):
            return None
        return ReplaceText(self.place, f"3.{minor}")


def pythons_for(view: TextView, item: PinSet, place: Span, project: Project | None = None) -> list[AskedPython]:
    """The Pythons that what stands at `place`, in a set or beside it, is installed into; each once. `project` is where scripts are read."""
    found = [python for pin in item.python if (python := required(pin)) is not None]
    if view.kind == "yaml" and not (item.conda and item.named("python")):
        found += _of_job(view, place)
        found += [
            python
            for image in read_images(view)
            if image.kind != "python" and (python := of_stage(view, image, place, project))
        ]
    elif view.kind == "dockerfile" and not item.conda:
        found += [
            python for image in read_images(view) if (python := of_stage(view, image, place, project)) is not None
        ]
    elif view.path.rpartition("/")[2] in NAMES:
        found += [
            AskedPython(f"Python 3.{minor}", span, (minor,), None if listed else span, listed)
            for span, minor, listed in session_pythons(view, place)
        ]
    near = [other for other in sets_of(view) if other is item or (other.conda and _together(view, other.span, place))]
    found += [python for other in near for pin in other.named("python") if (python := _exact(pin)) is not None]
    return list(dict.fromkeys(found))


def required(pin: Pin) -> AskedPython | None:
    """The range of Pythons that metadata asks for."""
    if not pin.clauses or pin.specifier is None or pin.conditional:
        return None
    lower = [clause for clause in pin.clauses if clause.operator in {">=", "^"}]
    plain = len(lower) == 1 and not pin.opaque and _PLAIN.fullmatch(lower[0].version) is not None
    return AskedPython(
        f"`{pin.text}`", pin.span, tuple(minors_in(pin.specifier)), lower[0].span if plain else None, floor=True
    )


def _exact(pin: Pin) -> AskedPython | None:
    """The Python of a conda environment."""
    exact = re.match(r"==3\.(\d+)", pin.specifier or "")
    if exact is None or pin.conditional:
        return None
    clause = pin.clauses[0] if len(pin.clauses) == 1 and not pin.opaque else None
    place = clause.span if clause is not None and re.fullmatch(r"3\.\d+", clause.version) else None
    return AskedPython(f"Python 3.{exact[1]}", pin.span, (int(exact[1]),), place)


def of_stage(view: TextView, image: ImageLine, place: Span, project: Project | None = None) -> AskedPython | None:
    """The Python of what runs in an image, where a place stands in it: that of the image, or the one that its system's packages install.

    Where a script may install another one that is not read, because it is not in the project or none is given, nothing is known.
    """
    spans = spans_on(view, image)
    if not any(span.contains(place) for span in spans):
        return None
    if image.kind == "python":
        return _of_image(image)
    stage = "\n".join(view.code[span.start : span.end] for span in spans)
    named = {name.rpartition("/")[2] for name in script_names(stage)}
    scripts = list(scripts_in(stage, view, project)) if project is not None and named else []
    if named - {script.path.rpartition("/")[2] for script in scripts}:
        return None
    further = "\n".join(script.code for script in scripts)
    if image.kind == "conda":
        minor = int((image.python or "3.0").partition(".")[2])
        asked = AskedPython(f"Python 3.{minor}, which the image has,", image.told or image.span, (minor,))
        return None if _ENVIRONMENTS.search(f"{stage}\n{further}") else asked
    system = system_of(image.name)
    if image.kind not in {"cuda", "system"} or system is None or _OF_THE_SYSTEM.search(image.name) is None:
        return None
    if _OTHER_PYTHONS.search(f"{stage}\n{further}") or _NUMBERED.search(further) or "deadsnakes" in further:
        return None
    if _NUMBERED.search(stage) or "deadsnakes" in stage:
        return _numbered(view, spans)
    if _PYTHON_PACKAGE.search(f"{stage}\n{further}") is None:
        return None
    said = f"Python 3.{system.python}, which is the `python3` of {system.name},"
    return AskedPython(said, place_of_system(view, image), (system.python,))


def _numbered(view: TextView, spans: list[Span]) -> AskedPython | None:
    """The only Python that packages of a system with its number in their names install, or the value of a variable in them."""
    found: dict[str, Span] = {}
    for match in (match for span in spans for match in _NUMBERED.finditer(view.code, span.start, span.end)):
        given = [item for item in assignments(view) if item.name == match["variable"]]
        if match["variable"] and len(given) != 1:
            return None
        version, span = (given[0].value, given[0].span) if given else (match["version"], Span(*match.span()))
        found.setdefault(".".join(version.split(".")[:2]), span)
    if not found:
        return None
    (version, span), *more = found.items()
    if (
        more
        or re.fullmatch(r"3\.\d+", version) is None
        or all(_NUMBERED_PACKAGE.search(view.code, one.start, one.end) is None for one in spans)
    ):
        return None
    return AskedPython(f"Python {version}", span, (int(version[2:]),))


def _of_image(image: ImageLine) -> AskedPython:
    if image.told is not None:
        minor = int((image.python or "3.0").partition(".")[2])
        return AskedPython(f"Python 3.{minor}", image.told, (minor,))
    name, _, tag = image.name.rpartition(":")
    version = _PLAIN.match(tag)
    start = image.span.start + len(name) + 1
    plain = version is not None and _SUFFIX.fullmatch(tag[version.end() :]) is not None
    place = Span(start, start + version.end()) if version is not None and plain else None
    minor = int((image.python or "3.0").partition(".")[2])
    return AskedPython(f"Python 3.{minor}", image.span, (minor,), place)


def _stage(view: TextView, place: Span) -> int:
    return sum(start < place.start for start in stages(view)) - 1


_OF_ANOTHER = lazy_pattern(r"^#{1,6}[ \t].*\benvironments?\b", re.MULTILINE | re.IGNORECASE)
"""A heading of a page with which another environment begins."""


def _together(view: TextView, one: Span, other: Span) -> bool:
    """Whether a command that makes an environment stands where another one may install into it."""
    if view.kind == "yaml":
        return job_of(view, one).contains(other)
    if view.kind == "dockerfile":
        return _stage(view, one) == _stage(view, other)
    if view.kind == "markdown":
        between = view.source.text[min(one.end, other.end) : max(one.start, other.start)]
        return _OF_ANOTHER.search(between) is None
    return True


def _of_job(view: TextView, place: Span) -> list[AskedPython]:
    """The Pythons of the row of a matrix that a place stands in, else those of its job, else those of all jobs."""
    row, job = row_of(view, place), job_of(view, place)
    named = list(_named(view))
    if row is not None and (own := [python for python in named if row.contains(python.span)]):
        return own
    inside = [python for python in named if job.contains(python.span)]
    return inside or [python for python in named if outside_jobs(view, python.span)]


def _named(view: TextView) -> Iterator[AskedPython]:
    """Every Python that keys, lists and images of YAML name."""
    for item in assignments(view):
        match = _VALUE.fullmatch(item.value) if _KEY.fullmatch(item.name) else None
        if match is not None and (not item.row or _is_asked(view, item.name)):
            start = item.span.start + match.start("version")
            place = Span(start, start + len(match["version"]))
            minor = int(match["minor"])
            yield AskedPython(
                f"Python 3.{minor}", item.span, (minor,), None if item.listed else place, listed=item.listed
            )
    for image in read_images(view):
        if image.python:
            yield _of_image(image)


def _is_asked(view: TextView, name: str) -> bool:
    """Whether anything reads a key of a matrix."""
    return re.search(rf"\bmatrix(?:\.|\[[\"'])\s*{re.escape(name)}\b", view.code) is not None


def barred(asked: list[AskedPython], wheels: frozenset[int]) -> list[AskedPython]:
    """Those of the Pythons for which a release with these wheels has none."""
    return [python for python in asked if not python.fits(wheels)]


def moved_with(view: TextView, asked: list[AskedPython], wheels: frozenset[int]) -> list[ReplaceText] | str:
    """What raises the Pythons that are left out to the lowest that has a wheel, or the sentence that says why nothing does."""
    out = barred(asked, wheels)
    if not out:
        return []
    lowest = min(wheels)
    needs = f"It needs Python 3.{lowest}, and "
    listed = [python for python in out if python.listed]
    if listed:
        minors = ", ".join(f"3.{python.minors[0]}" for python in listed)
        return f"{needs}jobs here run with {minors}: those keep the old torch, or go, or take another Python."
    if len([python for python in out if not python.floor]) > 1:
        return f"{needs}several Pythons here are older: choose first which of them go."
    found = []
    for python in out:
        edit = python.raised(view, lowest) if python.minors[0] < lowest else None
        if edit is None or (python.floor and lowest not in python.minors):
            older = python.floor and len(python.minors) > 1
            says = f"{python.text} here allows older ones" if older else f"{python.text.rstrip(',')} is asked for here"
            return f"{needs}{says}; raise that first."
        found.append(edit)
    return found
