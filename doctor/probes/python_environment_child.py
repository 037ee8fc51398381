"""Runs under the examined interpreter, as a file: what that Python is and what lies on its path.

Only the standard library, down to Python 3.8. Each answer on a line of its own is complete as far as it goes, so that a
path hook of the environment that crashes or hangs costs only what comes after it.
"""

# ruff: noqa: PTH100, PTH109, PTH112, PTH113, PTH118, PTH120, PTH123, PTH208
# Names that are not UTF-8 and 3.8 both go through os.path.

from __future__ import annotations

import json
import os
import sys

# The module that has the real one takes as long to import as all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "torchlift-probe-answer:"
AT = "torchlift-probe-at:"
"""The same as in `child.py`, which the examined interpreter cannot import."""


def leave_own_folder() -> None:
    """Take this script's folder off `sys.path`: no program of the user's has it there."""
    own = os.path.dirname(os.path.realpath(__file__))
    if sys.path and os.path.realpath(sys.path[0]) == own:
        del sys.path[0]


def version() -> str:
    """As `platform.python_version`, which takes long to import: "3.15.0a1+" keeps its sign."""
    first = sys.version.split(None, 1)[0]
    if sys.implementation.name == "cpython" and first.startswith(".".join(map(str, sys.version_info[:3]))):
        return first
    import platform

    return platform.python_version()


def machine() -> str:
    """As `platform.machine`."""
    if sys.platform == "win32":
        import platform

        return platform.machine()
    return os.uname().machine


def free_threaded() -> bool:
    """Whether it was built without the global lock."""
    # There is no such Python before 3.13, and reading how Python was built takes a fifth of the time to start.
    if sys.version_info >= (3, 13):
        import sysconfig

        return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return False


def describe() -> dict[str, Any]:
    """The fields of `facts.Python`; one that cannot be had is None."""
    import site

    def user_site() -> str:
        folder = site.getusersitepackages()
        return folder if folder in sys.path else ""

    def conda() -> str:
        folders = (sys.prefix, sys.base_prefix)
        return next((folder for folder in folders if os.path.isdir(os.path.join(folder, "conda-meta"))), "")

    def externally_managed() -> bool:
        # pip asks only outside virtual environments (PEP 668).
        if sys.prefix != sys.base_prefix:
            return False
        import sysconfig

        return os.path.isfile(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))

    def made_by_uv() -> bool:
        # `home = ...` and the like; uv adds a line `uv = 0.9.1`.
        try:
            with open(os.path.join(sys.prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
                return any(line.partition("=")[0].strip() == "uv" for line in file)
        except OSError:
            return False

    questions: dict[str, Any] = {
        "executable": lambda: sys.executable,
        "version": version,
        "implementation": lambda: sys.implementation.name,
        "free_threaded": free_threaded,
        "machine": machine,
        "bits": lambda: 64 if sys.maxsize > 2**32 else 32,
        "prefix": lambda: sys.prefix,
        "virtual_environment": lambda: sys.prefix != sys.base_prefix,
        "conda_environment": conda,
        "path": lambda: [entry for entry in sys.path if isinstance(entry, str)],
        "user_site": user_site,
        "externally_managed": externally_managed,
        "made_by_uv": made_by_uv,
    }
    answers = {}
    for name, question in questions.items():
        try:
            answers[name] = question()
        except Exception:
            answers[name] = None
    return answers


def list_path(path: list[str]) -> list[dict[str, Any]]:
    """What each folder on the path holds of distributions and torch, in the order of the path and without repetition."""
    folders = []
    seen = set()
    for entry in path:
        folder = os.path.realpath(entry or os.getcwd())
        if folder in seen:
            continue
        seen.add(folder)
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        metadata = sorted(name for name in names if name.endswith((".dist-info", ".egg-info")) or name == "EGG-INFO")
        torch = [name for name in ("torch", "torch.py") if name in names]
        if metadata or torch:
            folders.append({"path": os.path.abspath(entry), "metadata": metadata, "torch": torch})
    return folders


def find_torch() -> dict[str, Any]:
    """Where `import torch` would take it from, by the import system itself; nothing of torch is executed."""
    import importlib.util

    try:
        spec = importlib.util.find_spec("torch")
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    if spec is None:
        return {}
    locations = list(spec.submodule_search_locations or [])
    return {"origin": spec.origin if spec.has_location else None, "locations": [str(place) for place in locations]}


def main() -> None:
    """Print the answers, each more complete than the one before."""
    leave_own_folder()
    options = json.load(sys.stdin)
    # Back to who reads the answer: libraries are searched for, and torch is imported, in the same environment.
    answer: dict[str, Any] = {"options": options, "environment": dict(os.environ), "python": describe()}
    tell("listing the folders of sys.path", answer)
    answer["folders"] = list_path(answer["python"]["path"] or [])
    tell("looking for torch", answer)
    answer["torch"] = find_torch()
    answer["complete"] = True
    tell("ending", answer)


def tell(next_step: str, answer: dict[str, Any]) -> None:
    """Print the answer so far and what comes next."""
    print("\n" + MARK + json.dumps(answer) + "\n" + AT + next_step, flush=True)


if __name__ == "__main__":
    main()
