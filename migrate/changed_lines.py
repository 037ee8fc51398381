"""Findings on lines that a pull request changed, and no others."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from torchlift.finding import Finding
from torchlift.migrate.result import RunResult
from torchlift.migrate.workspace.config import ConfigError
from torchlift.migrate.workspace.git import GitFailed, git, work_tree_of
from torchlift.notebook import read_source
from torchlift.source import SourceText, UnreadableSource


class ChangedLines:
    """What a project has that a revision of it had not.

    Args:
        root: the project.
        revision: what git calls it: a branch, a tag, a commit. Where it has gone on, what counts is where the two parted.

    Raises:
        ConfigError: git cannot tell.
    """

    def __init__(self, root: Path, revision: str) -> None:
        self._revision = revision
        self._root = root.resolve()
        tree = work_tree_of(str(self._root))
        if tree is None:
            raise ConfigError(f"--since {revision} asks git, and there is no git repository around {root}.")
        self._tree = tree
        try:
            commit = (
                git(["rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"], tree)[0].decode().strip()
            )
            common = git(["merge-base", commit, "HEAD"], tree, accept=(0, 1))[0].decode().strip()
            self._commit = common or commit
        except GitFailed as error:
            raise ConfigError(
                f"git does not know what --since {revision} means ({error}); a shallow clone may have to be fetched deeper."
            ) from None

    def only(self, result: RunResult) -> RunResult:
        """The result without findings that stand on lines which were there before.

        Raises:
            ConfigError: git cannot tell.
        """
        before = self._before([outcome.path for outcome in result.outcomes if outcome.left])
        kept, number = [], 0
        for outcome in result.outcomes:
            new = _changed(before.get(outcome.path), outcome.shown)
            indices = [
                index for index, item in enumerate(outcome.left) if not new.isdisjoint(_lines(item, outcome.shown))
            ]
            number += len(outcome.left) - len(indices)
            kept.append(outcome.keeping(indices))
        if not number:
            return result
        are = "finding is on lines that have" if number == 1 else "findings are on lines that have"
        note = f"{number} {are} not changed since {self._revision}, and not listed."
        left = tuple(outcome for outcome in kept if outcome.has_something_to_say)
        return replace(result, outcomes=left, unchanged=number, notes=(*result.notes, note))

    def _before(self, paths: Sequence[str]) -> dict[str, SourceText]:
        """The texts that files had, by path; a new file has none."""
        inside = {Path(os.path.relpath(self._root / path, self._tree)).as_posix(): path for path in paths}
        try:
            listed = git(["ls-tree", "-r", "-z", "--full-tree", self._commit], self._tree)[0]
            blobs = {}
            for entry in listed.split(b"\0"):
                head, _, name = entry.partition(b"\t")
                if (path := inside.get(os.fsdecode(name))) is not None and head.split(b" ")[1] == b"blob":
                    blobs[path] = head.split(b" ")[2]
            return self._texts(blobs)
        except GitFailed as error:
            raise ConfigError(f"git cannot read the files of {self._revision}: {error}.") from None

    def _texts(self, blobs: Mapping[str, bytes]) -> dict[str, SourceText]:
        asked = b"".join(blob + b"\n" for blob in blobs.values())
        answer = git(["cat-file", "--batch"], self._tree, stdin=asked)[0] if blobs else b""
        texts, at = {}, 0
        for path in blobs:
            head = answer[at : answer.index(b"\n", at)]
            at += len(head) + 1
            if head.endswith(b" missing"):
                raise GitFailed(f"it lacks what {path} was; fetch it")
            size = int(head.rpartition(b" ")[2])
            # What was no text is new as a text.
            with contextlib.suppress(UnreadableSource):
                texts[path] = read_source(path, answer[at : at + size])
            at += size + 1
        return texts


def _changed(before: SourceText | None, now: SourceText) -> set[int]:
    """Numbers of the lines of `now` that `before` had not."""
    numbers = set(range(1, len(now.line_starts) + 1))
    if before is None:
        return numbers
    old, new = ([text.line(number + 1) for number in range(len(text.line_starts))] for text in (before, now))
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return numbers - {line + 1 for block in blocks for line in range(block.b, block.b + block.size)}


def _lines(finding: Finding, text: SourceText) -> range:
    """The lines that a finding is about."""
    last = max(finding.span.start, finding.span.end - 1)
    return range(text.location(finding.span.start)[0], text.location(last)[0] + 1)
