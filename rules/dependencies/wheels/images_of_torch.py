"""Images that hold a torch older than the one that a project moves to."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.dependencies.images import ImageLine
from torchlift.finding import Finding, Severity
from torchlift.rules.dependencies.wheels.builds import is_older_than_all, lines_of, spelled, target_line
from torchlift.rules.rule import Settings
from torchlift.wheels.offers import line_of
from torchlift.wheels.tables import table


def of_a_night(path: str, image: ImageLine, settings: Settings) -> Iterator[Finding]:
    """An image of a night: it is no newer than the last release for its CUDA."""
    if image.cuda is None:
        return
    build, target = f"cu{image.cuda[0]}{image.cuda[1]}", target_line(settings.target)
    lines = lines_of(build)
    if is_older_than_all(build):
        last = "from before torch 2"
    elif lines and lines[-1] < target:
        last = f"no newer than {spelled(lines[-1])}"
    else:
        return
    message = (
        f"The image holds a nightly build of torch for CUDA {spelled(image.cuda)}, so one {last}; this project moves to torch "
        f"{spelled(target)}."
    )
    help = f"Take an image of torch {spelled(target)}, or install torch {spelled(target)} into an image without it."
    yield Finding("TL302", path, image.span, message, Severity.INFO, help)


def of_ngc(path: str, image: ImageLine, settings: Settings) -> Iterator[Finding]:
    """An image of NGC, whose torch is from between two releases."""
    row = next((row for row in table("ngc")["rows"] if row["tag"] == image.release), None)
    first, target = table("ngc")["rows"][0], target_line(settings.target)
    if row is None and (image.release or "") < first["tag"]:
        held = f"torch from before {first['torch']}"
    elif row is not None and line_of(row["torch"]) < target:
        held = f"torch {row['version']}"
    else:
        return
    fit = next((row["tag"] for row in table("ngc")["rows"] if line_of(row["torch"]) >= target), None)
    newest = table("ngc")["rows"][-1]
    help = (
        f"Take {fit} or newer."
        if fit
        else f"None that is known has torch {spelled(target)}: the newest, {newest['tag']}, has {newest['version']}. Stay with that torch, or "
        f"install torch {spelled(target)} by pip into an image of CUDA without torch."
    )
    message = f"NGC's image {image.release} holds {held}; this project moves to torch {spelled(target)}."
    yield Finding(
        "TL302",
        path,
        image.told or image.span,
        message,
        Severity.INFO,
        f"{help} pip keeps the torch of the image unless a requirement, such as that of another torchaudio, asks for another.",
    )


def of_an_older_torch(path: str, image: ImageLine, settings: Settings) -> Finding:
    """An image of an older torch that is used as it is."""
    target = spelled(target_line(settings.target))
    held = held_by(image)
    help = f"Take an image of torch {target}, or install torch {target} into an image without it."
    return Finding("TL302", path, image.span, f"{held}; this project moves to torch {target}.", Severity.INFO, help)


def held_by(image: ImageLine) -> str:
    """The start of a sentence about an image with a torch."""
    return f"The image holds torch {image.torch}" + (
        f" for CUDA {spelled(image.cuda)}" if image.cuda else ", by its name"
    )
