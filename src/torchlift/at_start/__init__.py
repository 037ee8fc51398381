"""Code of torchlift inside every Python process of a command of the user's, from its start on.

Such code is a room: a folder whose file `arrival` has a function `arrive`. It becomes a package of a name of its own, in which
the files of `shared/` can be imported, too. All of it is also run by Python 3.9 and without torchlift. `startup/sitecustomize.py`
is what Python finds at its start.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_HERE = os.path.dirname(os.path.abspath(__file__))
STARTUP = os.path.join(_HERE, "startup", "sitecustomize.py")
"""What Python runs at its start."""
_ROOMS = "TORCHLIFT_AT_START"


def with_room(environment: Mapping[str, str], package: str, folder: str) -> dict[str, str]:
    """The environment of a command, with a room in each of its processes; rooms that it has already stay.

    Args:
        environment: the variables so far.
        package: the name that the room is imported by.
        folder: where it lies.
    """
    startup = os.path.dirname(STARTUP)
    inherited = environment.get("PYTHONPATH", "")
    paths = [entry for entry in inherited.split(os.pathsep) if entry != startup] if inherited else []
    others = [entry for entry in environment.get(_ROOMS, "").split(os.pathsep) if not entry.startswith(f"{package}=")]
    rooms = os.pathsep.join([*filter(None, others), f"{package}={folder}"])
    return {**environment, "PYTHONPATH": os.pathsep.join([startup, *paths]), _ROOMS: rooms}
