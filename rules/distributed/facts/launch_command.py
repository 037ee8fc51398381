"""Commands that start `torch.distributed.launch`, and what torchrun makes of their options.

Source: `torch/distributed/launch.py` and `torch/distributed/run.py` of the torch 2.10.0-2.15.0 wheels, read 2026-11-21; the
dash of `--local-rank`: launch.py of 2.13.0, lines 101-113, and run.py, line 966. Deprecated since torch 1.9:
https://github.com/pytorch/pytorch/issues/60262, read 2026-11-26. torchelastic:
https://pytorch.org/elastic/latest, https://github.com/pytorch/elastic (archived 2023-01-06), its releases on PyPI, 2026-11-26.
"""

from __future__ import annotations

import posixpath
import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.search.vocabulary import encoded

MODULE = "torch.distributed.launch"
ELASTIC = "torchelastic.distributed.launch"

_MODULE = re.escape(MODULE) + r"(?![\w.])"
# Blanks, the comma between two items of a list, or the line break and dash between two items of a YAML list.
_BETWEEN = r"[\"']?(?:\s*,\s*|[ \t]*\r?\n[ \t]*-[ \t]+|[ \t]*)[\"']?"

RUN = lazy_pattern(rf"(?<![\w-])-m{_BETWEEN}{_MODULE}")
"""Where a command runs the module; the match ends behind its name."""

VALUE = lazy_pattern(
    rf"(?:=|:[ \t])[ \t]*[\"']?(?P<module>{_MODULE})(?=[\"']?[ \t]*(?:$|[\r\n])|[ \t]+-)", re.MULTILINE
)
"""Where the value of a variable or a key is the module, or begins with it and goes on with options."""

MESSAGE = "`torch.distributed.launch` is deprecated since torch 1.9; torch 2.10 to 2.15 warn that it will be removed."

RUN_ELASTIC = lazy_pattern(rf"(?<![\w-])-m{_BETWEEN}{re.escape(ELASTIC)}(?![\w.])")
"""Where a command runs the launcher of the package that became part of torch; the match ends behind its name."""

ELASTIC_MESSAGE = (
    "`torchelastic` is part of torch since 1.9, as `torch.distributed.run` and `torch.distributed.elastic`; the package of its "
    "own ended with 0.2.2."
)
ELASTIC_HELP = (
    "Write `torchrun` for `python -m torchelastic.distributed.launch`, or `torch.distributed.run` for the module; the options "
    "stay. Requirements leave torchelastic out."
)
INSTALLED = lazy_pattern(
    r"(?:^[ \t]*(?:-[ \t]+)?[\"']?|\bpip3?[ \t]+install[ \t][^\r\n;&|]*?[ \t][\"']?)(?P<package>torchelastic)"
    r"(?:\[\w,]*\])?(?=[ \t]*(?:[<>=!~;,\"'&|\r\n]|\Z)|[ \t]+[-\w])",
    re.MULTILINE,
)
"""Where a list of requirements or a command asks for the package."""

_USE_ENV = lazy_pattern(r"(?<![\w-])--use[-_]env\b")
_SCRIPT = lazy_pattern(r"[\w./${}-]*\.py\b")
_VARIABLE = lazy_pattern(r"\$|\{\w|%\w")
_OPTIONS = tuple(f"{quote}--local{mark}rank{quote}" for quote in "\"'" for mark in "_-")
_COMMAND = 600
"""Characters behind the module in which a command with its options and its script ends, on one line or on several."""


def passes_local_rank(project: Project, script: str) -> str | None:
    """`path:line` of a command that starts `script` by the old launcher, which hands it `--local-rank`; None if there is none.

    A command that names no script, as where that is a variable, may start one of the folder around it.
    """
    for place in project.mentions(MODULE):
        path, _, line = place.rpartition(":")
        lines = project.data(path).decode("utf-8", "replace").splitlines()[int(line) - 1 :]
        command = "\n".join(lines)[:_COMMAND].partition(MODULE)[2]
        started = _SCRIPT.search(command)
        if lines[0].lstrip().startswith(("#", ">>>")) or RUN.search(lines[0]) is None or "--help" in lines[0]:
            continue  # what only shows how the launcher is called starts no script
        if _USE_ENV.search(command[: started.start() if started is not None else None]):
            continue
        if _starts(project, path, started[0] if started is not None else None, script):
            return place
    return None


def _starts(project: Project, path: str, started: str | None, script: str) -> bool:
    """Whether a command in the file `path` starts `script`, by what it calls its script."""
    folder = posixpath.dirname(path)
    if started is None:
        return not folder or script.startswith(f"{folder}/") or folder.startswith(posixpath.dirname(script))
    if posixpath.basename(started) != posixpath.basename(script):
        return False
    meant = {posixpath.normpath(posixpath.join(folder, started)), posixpath.normpath(started)}
    if found := meant.intersection(project.files):
        return script in found
    same = [file for file in project.files if posixpath.basename(file) == posixpath.basename(script)]
    around = [file for file in same if f"{folder}/".startswith(f"{posixpath.dirname(file)}/")]
    if around:  # a command may be for the folder that its script lies in
        return script == max(around, key=len)
    return len(same) == 1 or posixpath.dirname(script) == folder


def advice_for(options: str, path: str, project: Project) -> str:
    """What to write instead of a command in the file `path` whose text behind the module is `options`."""
    replacement = (
        "Write `torchrun` for `python -m torch.distributed.launch`, or `torch.distributed.run` for the module; "
        "`--nproc_per_node`, `--nnodes`, `--node_rank`, `--master_addr` and `--master_port` stay."
    )
    if _USE_ENV.search(options):
        return f"{replacement} Drop `--use_env`, which torchrun always does."
    unseen = not options.strip() or _VARIABLE.search(options) is not None
    dropped = (
        " If `--use_env` comes with the rest of the command, drop it: torchrun knows no such option." if unseen else ""
    )
    return f"{replacement} {_about_the_script(options, path, project)}{dropped}"


def _about_the_script(options: str, path: str, project: Project) -> str:
    """What has to change in a script that the old module passed `--local-rank`, by who takes such an option in the project."""
    passed = (
        "torchrun passes no `--local-rank` to the script, as the old module does (since torch 2.0 with the dash, which a parser that "
        "only knows `--local_rank` refuses)."
    )
    read = 'has to find its GPU without it, by `int(os.environ["LOCAL_RANK"])` for example'
    takers = project.once(_takers)
    started = _SCRIPT.search(options)
    own = script = None
    if started is not None:
        own = next((place for place in takers if _starts(project, path, started[0], place.rpartition(":")[0])), None)
        script = next((file for file in project.files if _starts(project, path, started[0], file)), None)
    if own is not None:
        return f"{passed} {own} takes it: unless that script does so already, it {read}."
    named = next((place for place in takers if script is not None and _names(project, script, place)), None)
    if named is not None:
        return f"{passed} {named} takes it, in a module that {script} names: unless that is done already, it {read}."
    if script is not None:
        return (
            f"{passed} {script} does not spell that option out: unless a file that it imports, arguments of a library or a dataclass take "
            "it, the script needs no change. `LOCAL_RANK` is in the environment with both."
        )
    return f"{passed} A script that takes such an option {read}. `LOCAL_RANK` is in the environment with both."


def _names(project: Project, script: str, place: str) -> bool:
    """Whether a script has the dotted name of the module at `place` in its text."""
    module = place.rpartition(":")[0].removesuffix(".py").removeprefix("src/").replace("/", ".")
    return "." in module and encoded(module) in project.data(script)


def _takers(project: Project) -> tuple[str, ...]:
    """`path:line` of each place in Python that spells the option out."""
    found = {place for places in project.places(_OPTIONS).values() for place in places}
    python = [place for place in found if place.rpartition(":")[0].endswith(".py")]
    return tuple(sorted(python, key=lambda place: (place.rpartition(":")[0], int(place.rpartition(":")[2]))))
