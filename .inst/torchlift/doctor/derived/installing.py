"""How torch is installed in the examined environment: with which tool, and from which indexes."""

from __future__ import annotations

import re
from typing import Literal

from torchlift.doctor.derived.paths import within
from torchlift.doctor.facts import Facts, IndexSetting
from torchlift.lazy_dataclass import dataclass

Way = Literal["pip", "uv", "uv-project", "poetry", "pixi", "conda", "dockerfile"]
WAYS: tuple[Way, ...] = ("pip", "uv", "uv-project", "poetry", "pixi", "conda", "dockerfile")

_SHOWN: dict[str, Way] = {
    "uv": "uv-project",
    "poetry": "poetry",
    "pixi": "pixi",
    "conda": "conda",
    "docker": "dockerfile",
}
MIRROR_OF_PYTORCH = re.compile(r"(?P<root>.*/)(cu\d{2,3}|cpu|xpu|rocm[\d.]+)/?", re.ASCII)
"""The address of an index that is laid out as PyTorch's; `root` is what stands before the build."""
_PUBLIC = re.compile(r"https?://pypi\.org/simple/?")


def ways_shown(facts: Facts) -> list[Way]:
    """Ways beside pip and `uv pip` that the option names, or the folder and the environment show."""
    chosen = chosen_way(facts)
    found = [_SHOWN[tool] for tool in facts.installing.tools if tool in _SHOWN]
    if facts.python.conda_environment and chosen is None:
        found.append("conda")
    return list(dict.fromkeys([*([chosen] if chosen else []), *found]))


def chosen_way(facts: Facts) -> Way | None:
    """The way that the user named, or else the one whose tool made the examined environment; None for pip."""
    named = next((way for way in WAYS if way == facts.installing.chosen), None)
    if named is not None:
        return named
    prefix, folder, tools = facts.python.prefix or "", facts.installing.folder, facts.installing.tools
    plain = prefix.replace("\\", "/")
    inside = folder is not None and bool(prefix) and within(prefix, folder)
    if "/.pixi/envs/" in plain:
        return "pixi"
    if "uv" in tools and inside:
        return "uv-project"
    if "pypoetry/" in plain or ("poetry" in tools and inside):
        return "poetry"
    return None


@dataclass(frozen=True)
class Indexes:
    """Where a tool takes packages from; None where that is not set."""

    instead: IndexSetting | None = None
    """In the place of PyPI."""
    offline: IndexSetting | None = None
    links: IndexSetting | None = None
    extra: tuple[IndexSetting, ...] = ()

    @property
    def pytorch(self) -> str | None:
        """The address before "cu126" where PyPI's place is taken by a mirror of one of PyTorch's indexes."""
        match = MIRROR_OF_PYTORCH.fullmatch(self.instead.address) if self.instead is not None else None
        return match["root"] if match is not None else None


def indexes_of(facts: Facts, tool: str) -> Indexes:
    """What is set for "pip" or "uv". Variables come before files, and later files before earlier ones."""
    own = [setting for setting in facts.installing.indexes if setting.tool == tool]
    variables = [setting for setting in own if " in " not in setting.source]
    files = [setting for setting in own if " in " in setting.source]
    by_role: dict[str, list[IndexSetting]] = {}
    for setting in [*variables, *reversed(files)]:
        by_role.setdefault(setting.role, []).append(setting)
    instead = next(iter(by_role.get("index", ())), None)
    if instead is not None and _PUBLIC.fullmatch(instead.address):
        instead = None
    first = {role: next(iter(found), None) for role, found in by_role.items()}
    return Indexes(instead, first.get("none"), first.get("links"), tuple(by_role.get("extra", ())))
