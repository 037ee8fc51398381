"""The data set of a survey: one SQLite file, written row by row, so that whatever stops a survey costs no more than that."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from pathlib import Path

from torchlift import __version__
from torchlift.survey.distribution_name import normalised
from torchlift.survey.record import Needs, PlannedWork, Surveyed, SurveyedFinding

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE repositories (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, status TEXT NOT NULL, problem TEXT NOT NULL,
    notes TEXT NOT NULL, state TEXT NOT NULL, commit_id TEXT, looked_at TEXT NOT NULL, target TEXT NOT NULL, lowest TEXT NOT NULL,
    lowest_source TEXT, files INTEGER NOT NULL, analysed INTEGER NOT NULL, safe INTEGER NOT NULL, review INTEGER NOT NULL,
    by_hand INTEGER NOT NULL, roots INTEGER NOT NULL, hints INTEGER NOT NULL, fixable INTEGER NOT NULL, decided INTEGER NOT NULL,
    questions INTEGER NOT NULL, torch_asked TEXT NOT NULL, python_asked TEXT, torch_newest TEXT, build TEXT, driver TEXT,
    capability TEXT, seconds REAL NOT NULL, cpu_seconds REAL NOT NULL, peak_bytes INTEGER NOT NULL
);
CREATE TABLE findings (
    repository INTEGER NOT NULL REFERENCES repositories(id) ON DELETE CASCADE, code TEXT NOT NULL, rule TEXT NOT NULL,
    severity TEXT NOT NULL, safety TEXT NOT NULL, release TEXT, path TEXT NOT NULL, line INTEGER NOT NULL, message TEXT NOT NULL
);
CREATE INDEX findings_by_repository ON findings(repository);
CREATE TABLE indexes (repository INTEGER NOT NULL REFERENCES repositories(id) ON DELETE CASCADE, url TEXT NOT NULL);
CREATE TABLE requires (repository INTEGER NOT NULL REFERENCES repositories(id) ON DELETE CASCADE, package TEXT NOT NULL);
"""
TABLES = ("repositories", "findings", "indexes", "requires")


class WrongDataSet(Exception):
    """A file is no data set of a survey, or cannot be written; the message is a sentence."""


class DataSet:
    """A data set that can be read and added to."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def state(self, path: str) -> str:
        """The state in which a repository was last looked at; empty if it was not, or in vain."""
        row = self._connection.execute(
            "SELECT state FROM repositories WHERE path = ? AND status IN ('looked at', 'refused')", (_printable(path),)
        ).fetchone()
        return str(row[0]) if row is not None else ""

    def put(self, one: Surveyed) -> None:
        """Take what is known of a repository, in the place of what was."""
        needs, plan = one.needs, one.plan
        row = {
            "path": one.path, "name": one.name, "status": one.status, "problem": one.problem, "notes": json.dumps(one.notes),
            "state": one.state, "commit_id": one.commit, "looked_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "target": one.target, "lowest": one.lowest, "lowest_source": one.lowest_source, "files": one.files,
            "analysed": one.analysed, "safe": one.counted("safe", "proven"), "review": one.counted("unsafe"),
            "by_hand": one.counted("manual"), "roots": plan.roots, "hints": plan.hints, "fixable": plan.fixable,
            "decided": plan.decided, "questions": plan.questions, "torch_asked": json.dumps(needs.asked),
            "python_asked": needs.python, "torch_newest": needs.newest, "build": needs.build, "driver": needs.driver,
            "capability": needs.capability, "seconds": one.seconds, "cpu_seconds": one.cpu_seconds, "peak_bytes": one.peak_bytes,
        }  # fmt: skip
        with self._connection:
            self._connection.execute("DELETE FROM repositories WHERE path = ?", (_printable(one.path),))
            cursor = self._connection.execute(
                f"INSERT INTO repositories ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})",
                _plain(row),
            )
            key = cursor.lastrowid
            self._connection.executemany(
                "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        key,
                        f.code,
                        f.rule,
                        f.severity,
                        f.safety,
                        f.release,
                        _printable(f.path),
                        f.line,
                        _printable(f.message),
                    )
                    for f in one.findings
                ],
            )
            self._connection.executemany(
                "INSERT INTO indexes VALUES (?, ?)", [(key, _printable(url)) for url in needs.indexes]
            )
            self._connection.executemany("INSERT INTO requires VALUES (?, ?)", [(key, name) for name in needs.packages])

    def only(self, paths: Sequence[str]) -> None:
        """Forget repositories that are not among these."""
        with self._connection:
            gone = {row[0] for row in self._connection.execute("SELECT path FROM repositories")} - set(
                map(_printable, paths)
            )
            self._connection.executemany("DELETE FROM repositories WHERE path = ?", [(path,) for path in gone])

    def all(self) -> Iterator[Surveyed]:
        """Everything that is known, by path."""
        self._connection.row_factory = sqlite3.Row
        for row in self._connection.execute("SELECT * FROM repositories ORDER BY path").fetchall():
            key = row["id"]
            found = self._connection.execute(
                "SELECT code, rule, severity, safety, release, path, line, message FROM findings WHERE repository = ? ORDER BY rowid",
                (key,),
            )
            urls = self._connection.execute("SELECT url FROM indexes WHERE repository = ?", (key,))
            packages = self._connection.execute("SELECT package FROM requires WHERE repository = ?", (key,))
            yield Surveyed(
                row["path"], row["name"], row["status"], row["problem"], tuple(json.loads(row["notes"])), row["state"],
                row["commit_id"], row["target"], row["lowest"], row["lowest_source"], row["files"], row["analysed"],
                tuple(SurveyedFinding(*one) for one in found),
                PlannedWork(row["roots"], row["hints"], row["fixable"], row["decided"], row["questions"]),
                Needs(
                    tuple(json.loads(row["torch_asked"])), row["python_asked"], row["torch_newest"], row["build"], row["driver"],
                    row["capability"], tuple(one[0] for one in urls), tuple(one[0] for one in packages),
                ),
                row["seconds"], row["cpu_seconds"], row["peak_bytes"],
            )  # fmt: skip

    def rows(self, table: str) -> tuple[list[str], list[tuple[object, ...]]]:
        """The columns and rows of one of `TABLES`."""
        self._connection.row_factory = None
        cursor = self._connection.execute(f"SELECT * FROM {table}")
        return [column[0] for column in cursor.description], cursor.fetchall()


@contextmanager
def opened(path: Path) -> Iterator[DataSet]:
    """The data set in a file, which is made where there is none.

    Raises:
        WrongDataSet: it is something else, or cannot be opened.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not names:
                with connection:
                    connection.executescript(_SCHEMA)
                    connection.executemany(
                        "INSERT INTO about VALUES (?, ?)",
                        [("schema_version", str(SCHEMA_VERSION)), ("torchlift_version", __version__)],
                    )
            elif "about" not in names:
                raise WrongDataSet(f"{path} is a database of something else; name another file.")
            version = connection.execute("SELECT value FROM about WHERE key = 'schema_version'").fetchone()
            if version is None or version[0] != str(SCHEMA_VERSION):
                raise WrongDataSet(f"{path} was written by another version of torchlift; name another file.")
            yield DataSet(connection)
    except sqlite3.Error as error:
        raise WrongDataSet(f"{path} cannot be used as a data set: {error}.") from None


def in_order(known: Sequence[Surveyed]) -> list[tuple[Surveyed, ...]]:
    """Repositories in the order to migrate them: first what others require; those that require each other stand together."""
    by_name: dict[str, list[int]] = {}
    for index, one in enumerate(known):
        by_name.setdefault(normalised(one.name), []).append(index)
    needs = [
        sorted({other for name in one.needs.packages for other in by_name.get(normalised(name), ()) if other != index})
        for index, one in enumerate(known)
    ]
    return [tuple(known[index] for index in sorted(group)) for group in _components(needs)]


def _components(needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components, what is needed first (Tarjan, without recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    for start in range(len(needs)):
        work = [(start, 0)] if start not in number else []
        while work:
            node, at = work.pop()
            if at == 0:
                number[node] = low[node] = len(number)
                stack.append(node)
            for position in range(at, len(needs[node])):
                other = needs[node][position]
                if other not in number:
                    work += [(node, position + 1), (other, 0)]
                    break
                if other in stack:
                    low[node] = min(low[node], number[other])
            else:
                if low[node] == number[node]:
                    cut = stack.index(node)
                    found.append(stack[cut:])
                    del stack[cut:]
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return found


def _plain(row: Mapping[str, object]) -> dict[str, object]:
    return {name: _printable(value) if isinstance(value, str) else value for name, value in row.items()}


def _printable(text: str) -> str:
    """Text that a database can hold: names of files need not be Unicode."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
