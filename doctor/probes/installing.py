"""How packages are installed here: files of tools in the working folder, and package indexes that are set.

Sources: pip's configuration files and variables, https://pip.pypa.io/en/stable/topics/configuration/; uv's, docs of uv
0.13, configuration/files and reference/environment. Read 2026-11-23.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torchlift.doctor.facts import IndexSetting, Installing
from torchlift.doctor.probes.world import World
from torchlift.toml_text import parsed_toml

_FILES = {
    "uv": ("uv.lock", "uv.toml"),
    "poetry": ("poetry.lock", "poetry.toml"),
    "pixi": ("pixi.toml", "pixi.lock"),
    "conda": ("environment.yml", "environment.yaml"),
    "docker": ("Dockerfile", "Containerfile"),
}
_TABLES = {"uv": "[tool.uv", "poetry": "[tool.poetry", "pixi": "[tool.pixi"}
_TOP = (".git", ".hg")
_DEEPEST = 12

_VARIABLES = {
    "PIP_INDEX_URL": ("pip", "index"),
    "PIP_EXTRA_INDEX_URL": ("pip", "extra"),
    "PIP_FIND_LINKS": ("pip", "links"),
    "PIP_NO_INDEX": ("pip", "none"),
    "UV_DEFAULT_INDEX": ("uv", "index"),
    "UV_INDEX_URL": ("uv", "index"),
    "UV_INDEX": ("uv", "extra"),
    "UV_EXTRA_INDEX_URL": ("uv", "extra"),
    "UV_FIND_LINKS": ("uv", "links"),
    "UV_NO_INDEX": ("uv", "none"),
    "UV_OFFLINE": ("uv", "none"),
}
_OPTIONS = {"index-url": "index", "extra-index-url": "extra", "find-links": "links", "no-index": "none"}
_OFF = frozenset(("", "0", "false", "no", "off", "n", "f"))
_USER = re.compile(r"(?<=://)[^/\s@]*@")


def installing(world: World, folder: Path | None = None) -> Installing:
    """What `folder`, by default the working folder, and the user's settings show."""
    found = Installing()
    here = folder or (Path.cwd() if world.is_here else None)
    if here is not None:
        found.folder, found.tools = _project(here)
    found.indexes = [*_variables(world.environment), *_pip_files(world), *_uv_files(world, found.folder)]
    return found


def _project(start: Path) -> tuple[str | None, list[str]]:
    for folder in [start, *start.parents][:_DEEPEST]:
        tools = [tool for tool, names in _FILES.items() if any((folder / name).is_file() for name in names)]
        text = _read(folder / "pyproject.toml") or ""
        tools += [tool for tool, head in _TABLES.items() if tool not in tools and head in text]
        if tools:
            return str(folder), [tool for tool in _FILES if tool in tools]
        if any((folder / name).exists() for name in _TOP):
            break
    return None, []


def _variables(environment: Mapping[str, str]) -> Iterator[IndexSetting]:
    for name, (tool, role) in _VARIABLES.items():
        if name in environment:
            yield from _settings(tool, role, environment[name], name)


def _pip_files(world: World) -> Iterator[IndexSetting]:
    # Later ones count more, and the environment's own most.
    for path in _pip_places(world):
        text = world.text(path)
        if text is None:
            continue
        import configparser

        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            continue
        for section in ("global", "install"):
            for option, role in _OPTIONS.items():
                if parser.has_option(section, option):
                    value = parser.get(section, option) or ""
                    yield from _settings("pip", role, value, f"{section}.{option} in {path}")


def _pip_places(world: World) -> list[str]:
    environment = world.environment
    home, prefix = environment.get("HOME", ""), environment.get("VIRTUAL_ENV") or environment.get("CONDA_PREFIX")
    if world.is_windows:
        places = [f"{environment[name]}\\pip\\pip.ini" for name in ("PROGRAMDATA", "APPDATA") if name in environment]
        return [*places, f"{prefix}\\pip.ini"] if prefix else places
    places = ["/etc/pip.conf", "/etc/xdg/pip/pip.conf"]
    if home:
        places += [f"{home}/.pip/pip.conf", f"{environment.get('XDG_CONFIG_HOME') or f'{home}/.config'}/pip/pip.conf"]
        if world.sys_platform == "darwin":
            places.append(f"{home}/Library/Application Support/pip/pip.conf")
    if prefix:
        places.append(f"{prefix}/pip.conf")
    named = environment.get("PIP_CONFIG_FILE")
    return places if named is None else [*places, named]


def _uv_files(world: World, folder: str | None) -> Iterator[IndexSetting]:
    environment = world.environment
    home = environment.get("XDG_CONFIG_HOME") or f"{environment.get('HOME', '')}/.config"
    places = ["/etc/uv/uv.toml", f"{home}/uv/uv.toml"]
    if world.is_windows:
        places = [f"{environment[name]}\\uv\\uv.toml" for name in ("PROGRAMDATA", "APPDATA") if name in environment]
    for path in places:
        yield from _uv_settings(_toml(world.text(path)), path)
    if folder is not None:
        own = _toml(_read(Path(folder) / "uv.toml"))
        project = _toml(_read(Path(folder) / "pyproject.toml"))
        tables = project.get("tool", {}).get("uv", {}) if isinstance(project.get("tool"), dict) else {}
        # uv.toml replaces the table in pyproject.toml.
        yield from _uv_settings(own, "uv.toml") if own else _uv_settings(tables, "[tool.uv] of pyproject.toml")


def _uv_settings(table: Any, place: str) -> Iterator[IndexSetting]:
    if not isinstance(table, dict):
        return
    pip = table.get("pip")
    for inner in (table, pip if isinstance(pip, dict) else {}):
        for option, role in (*_OPTIONS.items(), ("offline", "none")):
            value = inner.get(option)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, (str, bool)):
                    yield from _settings("uv", role, str(one), f"{option} in {place}")
    indexes = table.get("index")
    for index in indexes if isinstance(indexes, list) else []:
        # An explicit index is for packages that name it.
        if isinstance(index, dict) and isinstance(index.get("url"), str) and not index.get("explicit"):
            role = "index" if index.get("default") is True else "extra"
            yield from _settings("uv", role, index["url"], f"index in {place}")


def _settings(tool: str, role: str, value: str, source: str) -> Iterator[IndexSetting]:
    if role == "none":
        if value.strip().lower() not in _OFF:
            yield IndexSetting(tool, role, "", source)
        return
    for word in value.split():
        # uv's variables may name an index: mirror=https://...
        address = re.sub(r"^[\w.-]+=(?=[a-z]+://|/)", "", word)
        yield IndexSetting(tool, role, _USER.sub("", address).partition("?")[0], source)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[: 1 << 20] if path.is_file() else None
    except OSError:
        return None


def _toml(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        return parsed_toml(text)
    except (ValueError, RecursionError):
        return {}
