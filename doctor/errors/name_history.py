"""What torchlift's tables of releases say about a name or argument that the installed torch does not have."""

from __future__ import annotations

import re

from torchlift.doctor.errors.known_error import Cause, ValuesSay

_IMPORTED = re.compile(r"cannot import name '(?P<name>\w{1,80})' from '(?P<module>torch[\w.]{0,80})'")
_ASKED = re.compile(r"module '(?P<module>torch[\w.]{0,80})' has no attribute '(?P<name>\w{1,80})'")
_MODULE = re.compile(r"No module named '(?P<module>torch)[.](?P<name>[\w.]{1,80})'")
_COMPANION_MODULE = re.compile(r"No module named '(?P<module>torch(?:vision|audio|text|data))[.](?P<name>[\w.]{1,80})'")
_ARGUMENT = re.compile(r"(?P<function>[\w.<>]{1,80})\(\) got an unexpected keyword argument '(?P<name>\w{1,60})'")
_NAMED_BY_TORCH = re.compile(r"(?:use (?:the )?|in favor of )`?(torch\.[\w.]{1,80})`?")
"""In what a removed function says when it is called."""

CAUSES = (
    Cause(
        "The code, or a package that it imports, is older than this torch, which no longer has the name",
        "the traceback's last File lines name the code that asks: python -m pip show that PACKAGE gives a release from before this torch",
        "upgrade that package; your own code: `torchlift migrate --check` shows the place and what to write; until then the torch that it was written for, with its torchvision and torchaudio",
    ),
    Cause(
        "The code, or a package that it imports, is newer than this torch, which does not have the name yet",
        "python -c 'import torch; print(torch.__version__)' prints a release from before that package",
        "upgrade torch with torchvision and torchaudio (`torchlift doctor` prints the line), or install the release of the package that names this torch in its requirements",
    ),
    Cause(
        "Something else is imported as torch, or this torch was built without that part (distributed on a Jetson or Mac)",
        "python -c 'import torch; print(torch.__file__, torch.distributed.is_available())' names a folder that is not the environment's, or prints False",
        "rename or leave that folder, keep one torch; a build without distributed: `if torch.distributed.is_available()`, or another wheel (Jetson: NVIDIA's)",
        seen=r"\(unknown location\)|module 'torch\.distributed' has no attribute|partially initialized",
        checks=("several-torch-copies", "jetson-wheel"),
    ),
)
"""The order of `ValuesSay.chosen` below."""


def read_name(message: str) -> ValuesSay | None:
    """Whether a name of torch or a companion is gone or new, and since which release; None for names of which the tables say nothing."""
    found = next(
        (match for each in (_IMPORTED, _ASKED, _MODULE, _COMPANION_MODULE) if (match := each.search(message))), None
    )
    return None if found is None else _history(f"{found['module']}.{found['name']}")


def read_argument(message: str) -> ValuesSay | None:
    """The same of an argument, where exactly one function of torch of that name has or had it."""
    found = _ARGUMENT.search(message)
    if found is None:
        return None
    function = found["function"].removesuffix(".__init__").rpartition(".")[2]
    from torchlift.api_changes.changes import parameter_history

    changes = {(row.change, row.release, row.renamed) for row in parameter_history(function, found["name"])}
    if len(changes) != 1:
        return None
    ((change, release, renamed),) = changes
    said = f"{function} of {release.package} takes the argument {found['name']}"
    if change in ("added", "added-required"):
        return ValuesSay(f"{said} since {release}: the one that is installed is older", 1)
    instead = f"; it is called {renamed} now" if renamed else ""
    return ValuesSay(f"{said} no longer since {release}{instead}", 0)


def _history(name: str) -> ValuesSay | None:
    from torchlift.api_changes.before_the_table import EARLIER
    from torchlift.api_changes.changes import first_releases, gone_names
    from torchlift.api_changes.successors import advice_for
    from torchlift.torch_names import public_name

    asked = public_name(name)
    around = asked
    while "." in around:
        earlier, gone, first = EARLIER.get(around), gone_names().get(around), first_releases().get(around)
        if earlier is not None:
            return ValuesSay(f"{asked} went with torch {earlier.since}. {earlier.advice.rstrip('.')}", 0)
        if gone is not None:
            advice = advice_for(around)
            instead = f": it is {gone.successor} now" if gone.successor and around == asked else ""
            written = f". {advice.text.rstrip('.')}" if advice is not None and not instead else ""
            named = _NAMED_BY_TORCH.search(gone.evidence)
            if named and not instead and not written and around == asked:
                instead = f"; torch's own message names {named[1].rstrip('.')} in its place"
            return ValuesSay(f"{asked} went with {gone.release}{instead}{written}", 0)
        if first is not None:
            return ValuesSay(f"{asked} came with torch {first}: the torch that is installed is older", 1)
        around = around.rpartition(".")[0]
    return None
