"""From what an instruction said of itself to the place in the source, as the evidence names places."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

from torchlift.evidence.places import PlacesOf, SourcePlace
from torchlift.evidence.records import SourceDefinition
from torchlift.source import SourceText, UnreadableSource


class SourcePlaces:
    """The files of one project.

    Args:
        root: of the project.
        since: modification time, in nanoseconds, from which on a file counts as changed during the run.
    """

    def __init__(self, root: Path, since: int) -> None:
        self.root = root
        self._since = since
        self.changed: set[str] = set()
        self._file = cache(self._read)

    def at(self, place: list[Any], api: str) -> SourcePlace | None:
        """The call or decorator of a capture; None if the source does not show a single one there."""
        file, line, column, end_line, end_column = place
        found = self._file(file)
        if found is None:
            return None
        if column is None:
            return found.on_line(line, api.rpartition(".")[2]) or found.at(line)
        return found.at(line, column, end_line, end_column)

    def shown(self, place: list[Any] | None) -> str | None:
        """`file:line:column`, counted from one; None for what stands in no file of the project."""
        if place is None:
            return None
        file, line, column, _, _ = place
        if column is None:
            return f"{file}:{line}"
        found = self._file(file)
        if found is None:
            return f"{file}:{line}:{column + 1}"
        text = found.text.splitlines()[line - 1 : line]
        characters = len(text[0].encode("utf-8")[:column].decode("utf-8", "ignore")) if text else column
        return f"{file}:{line}:{characters + 1}"

    def definition(self, told: dict[str, Any]) -> SourceDefinition:
        """A class or function that a hook named, with its place if that is in the project."""
        kind: Literal["class", "function"] = "function" if told.get("kind") == "function" else "class"
        found = SourceDefinition(told["name"], kind=kind)
        path = self._inside(told.get("path"))
        if path is None:
            return found
        found.file = path
        source = self._file(path)
        where = None if source is None else source.definition(told["name"].partition(":")[2], told.get("line"))
        if where is not None:
            found.line, found.source_sha = where
        return found

    def _inside(self, path: str | None) -> str | None:
        if path is None:
            return None
        try:
            inside = Path(path).resolve().relative_to(self.root)
        except (ValueError, OSError):
            return None
        return None if {"site-packages", "dist-packages"} & set(inside.parts) else inside.as_posix()

    def _read(self, file: str) -> PlacesOf | None:
        path = self.root / file
        try:
            if path.stat().st_mtime_ns > self._since:
                self.changed.add(file)
            return PlacesOf(SourceText.from_bytes(path.read_bytes()).text)
        except (OSError, UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
            return None
