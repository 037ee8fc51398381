"""What the user says about TorchScript in a project, which no analysis of its code could tell."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.search.globs import PathPatterns

Support = Literal["drop", "keep"]
Tests = Literal["successor", "delete"]
Speed = Literal["eager", "compile"]


@dataclass(frozen=True)
class TorchScriptIntent:
    """`[tool.torchlift.torchscript]`, and the options of the same names.

    Attributes:
        support: `drop` if nobody scripts, traces or loads TorchScript from this project any more, in it or outside;
            `keep` if somebody does; None where nobody said.
        tests: what becomes of a test that tests nothing but scripting and has no twin without: a test of the successor,
            or nothing. None where nobody said.
        speed: what takes the place of scripting for speed: the plain code, or `torch.compile` of it, which compiles anew
            for every new shape. None where nobody said, which is the plain code.
        keep: patterns of files and artifacts that stay TorchScript, with everything that they reach.
    """

    support: Support | None = None
    tests: Tests | None = None
    speed: Speed | None = None
    keep: tuple[str, ...] = ()

    @cached_property
    def _kept(self) -> PathPatterns:
        return PathPatterns(self.keep)

    def keeps(self, path: str) -> bool:
        """Whether the file or artifact `path` (relative to the project, forward slashes) stays TorchScript."""
        return self.support == "keep" or self._kept.covers(path)

    def drops(self, path: str) -> bool:
        """Whether TorchScript goes from the file `path`."""
        return self.support == "drop" and not self._kept.covers(path)


UNSTATED = TorchScriptIntent()
DROP = TorchScriptIntent("drop")
UNDECIDED = "tests nothing but scripting, and no test without it was found that tests"
"""Stands in the help about a test of which the user has to say what becomes of it."""
