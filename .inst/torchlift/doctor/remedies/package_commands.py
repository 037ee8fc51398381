"""Command lines for the package manager and the environment that were examined."""

from __future__ import annotations

import re
import shlex
from typing import Literal

from torchlift.doctor.derived.installing import indexes_of
from torchlift.doctor.derived.paths import path_entries, within
from torchlift.doctor.facts import Facts

Tool = Literal["pip", "uv"]

_SAFE = re.compile(r"[A-Za-z0-9._+!-]+", re.ASCII)
_CONDA_NAMES = {"torch": "pytorch"}


def install(facts: Facts, *arguments: str, reinstall: bool = False, without_dependencies: bool = False) -> str:
    """`pip install ...`, or `uv pip install ...` where uv installed torch, for the examined interpreter.

    `conda install ...` where the one package that is named is of conda: pip would write over conda's files.
    """
    names = [argument for argument in arguments if not argument.startswith("-")]
    if len(names) == 1 and from_conda(facts, re.split(r"[=<>!~]", names[0])[0]):
        return _conda_install(facts, names[0], reinstall=reinstall)
    tool = tool_of(facts)
    flags = []
    if reinstall:
        flags.append("--reinstall" if tool == "uv" else "--force-reinstall")
    if without_dependencies:
        flags.append("--no-deps")
    return " ".join([installing(facts, tool), *flags, *map(_quoted, arguments), *_index_of(facts, arguments)])


def uninstall(facts: Facts, *names: str, tool: Tool | None = None) -> str:
    """The line that removes these distributions without asking, each with the tool that it is of."""
    of_conda = [name for name in names if from_conda(facts, name)]
    others = [name for name in names if name not in of_conda]
    tool = tool or tool_of(facts)
    lines = []
    if of_conda:
        lines.append(" ".join([f"conda remove -y{_conda_prefix(facts)}", *(_CONDA_NAMES.get(n, n) for n in of_conda)]))
    if others:
        flags = ["-y"] if tool == "pip" else []
        lines.append(" ".join([_program(facts, tool, "uninstall"), *flags, *others]))
    return " && ".join(lines)


def installing(facts: Facts, tool: Tool) -> str:
    """How a line begins that installs into the examined environment: "pip install", "/opt/x/bin/python -m pip install"."""
    return _program(facts, tool, "install")


def installing_anew(facts: Facts, tool: Tool, folder: str = ".venv") -> str:
    """The same for an environment that the line itself makes, in the folder where it is run."""
    then = "; " if facts.system.os == "windows" else " && "
    if tool == "uv":
        if folder == ".venv":
            return f"uv venv{then}uv pip install"
        return f"uv venv {folder}{then}uv pip install --python {folder}"
    inside = rf"{folder}\Scripts\pip" if facts.system.os == "windows" else f"{folder}/bin/pip"
    python = _executable(facts) or ("py" if facts.system.os == "windows" else "python3")
    return f"{python} -m venv {folder}{then}{inside} install"


def tool_of(facts: Facts) -> Tool:
    """The tool to name: uv where it installed torch or made the environment, else pip."""
    if facts.installing.chosen in ("pip", "uv"):
        return "uv" if facts.installing.chosen == "uv" else "pip"
    torch = facts.package("torch")
    uses_uv = torch.installer == "uv" if torch is not None else bool(facts.python.made_by_uv)
    return "uv" if uses_uv else "pip"


def from_conda(facts: Facts, name: str) -> bool:
    """Whether the installed distribution of this name is a package of conda."""
    package = facts.package(name)
    return package is not None and package.installer == "conda"


def refuses_pip(facts: Facts) -> bool:
    """Whether pip refuses to install here because the interpreter is the operating system's (PEP 668)."""
    return bool(facts.python.externally_managed) and not facts.python.virtual_environment


def pinned(name: str, version: str) -> str:
    """ "name==version", or the bare name when the version is no version."""
    return f"{name}=={version}" if _SAFE.fullmatch(version) else name


def _index_of(facts: Facts, arguments: tuple[str, ...]) -> list[str]:
    """PyPI takes no local versions: "torch==2.14.1+cu126" is to be had from the index of cu126 alone."""
    for argument in arguments:
        found = re.search(r"==([^,+]*)\+(cu\d{3}|cpu|xpu|rocm[\d.]+)$", argument, re.ASCII)
        if found is not None:
            nightly = ".dev" in found[1]
            index = nightly_index(found[2]) if nightly else release_index(facts, found[2])
            return [*(["--pre"] if nightly else []), "--index-url", index]
    return []


def release_index(facts: Facts, build: str) -> str:
    """PyTorch's index of a build, or that of the mirror that is set here in its place."""
    root = indexes_of(facts, tool_of(facts)).pytorch or "https://download.pytorch.org/whl/"
    return f"{root}{build}"


def nightly_index(build: str) -> str:
    """PyTorch's index of nightly wheels for "cu132" and the like.

    Source: https://pytorch.org/get-started/locally/, 2026-11-21.
    """
    return f"https://download.pytorch.org/whl/nightly/{build}"


def _program(facts: Facts, tool: Tool, verb: str) -> str:
    python = None if _is_active(facts, tool) else _executable(facts)
    if tool == "uv":
        words = ["uv pip", verb, *(["--python", python] if python else [])]
    else:
        words = [f"{python} -m pip" if python else "pip", verb]
    if refuses_pip(facts):
        words.append("--break-system-packages")
    return " ".join(words)


def _is_active(facts: Facts, tool: Tool) -> bool:
    """Whether `pip` (`uv pip`) alone, typed where the doctor ran, acts on the examined interpreter."""
    python, variables = facts.python, facts.environment
    if not python.executable or not python.prefix or "PATH" not in variables:
        return True
    named = [folder for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (folder := variables.get(name))]
    if named:
        return within(python.prefix, named[0]) and within(named[0], python.prefix)
    if tool == "uv" and python.virtual_environment is False:
        return False
    first = next(iter(path_entries(facts, "PATH")), "")
    folder = re.sub(r"[\\/][^\\/]*$", "", python.executable)
    usual = folder in ("/usr/bin", "/usr/local/bin") and re.search(r"/python3?$", python.executable) is not None
    return usual or (within(folder, first) and within(first, folder)) or within(first, python.prefix)


def _executable(facts: Facts) -> str | None:
    path = facts.python.executable
    if not path:
        return None
    if facts.system.os == "windows":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)


def _conda_install(facts: Facts, requirement: str, *, reinstall: bool) -> str:
    name, _, version = requirement.partition("==")
    wanted = _CONDA_NAMES.get(name, name) + (f"={version.partition('+')[0]}" if version else "")
    flag = " --force-reinstall" if reinstall else ""
    return f"conda install -y{_conda_prefix(facts)}{flag} {_quoted(wanted)}"


def _conda_prefix(facts: Facts) -> str:
    folder = facts.python.conda_environment
    if not folder or facts.environment.get("CONDA_PREFIX", folder) == folder:
        return ""
    return f" -p {folder if facts.system.os == 'windows' else shlex.quote(folder)}"


def _quoted(argument: str) -> str:
    return argument if not re.search(r"[<>~!*;\[\] ]", argument) else f'"{argument}"'
