"""Places of a project that recorded runs can speak about, and those that they did."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.evidence.known import KnownRuns, KnownSite
from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.view import ModuleView, Use

CAPTURES = frozenset(
    {
        "torch.jit.trace",
        "torch.jit.trace_module",
        "torch.jit.script",
        "torch.jit.freeze",
        "torch.jit.optimize_for_inference",
    }
)
LOADS = frozenset({"torch.jit.load"})
TRANSFERS = frozenset(
    f"torch.distributed.{name}"
    for name in ("init_process_group", "send", "recv", "isend", "irecv", "batch_isend_irecv")
)
_TARGETS = CAPTURES | LOADS | TRANSFERS


@dataclass(frozen=True)
class KnownPlace:
    """One call or decorator that a run can reach.

    Attributes:
        path: its file.
        line, column: where, counted from one.
        api: what is used there.
        function: names of the functions and classes around it; empty at the top of the file.
        known: what was recorded of a capture there.
        reached: whether a run reached it.
    """

    path: str
    line: int
    column: int
    api: str
    function: str
    known: KnownSite | None
    reached: bool

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"


def places_in(project: Project, runs: KnownRuns) -> list[KnownPlace]:
    """The places of a project, by file and line, with what was recorded there."""
    found = []
    for path in project.files_holding("jit", "distributed", "dist"):
        view = project.view(path)
        if view is None or view.is_stub:
            continue
        for use in view.uses(_TARGETS, project.translate):
            node = _reached_by(view, use)
            if node is not None and use.name == use.target:
                found.append(_place(view, use, node, runs))
    return sorted(found, key=lambda place: (place.path, place.line, place.column))


def lost(runs: KnownRuns) -> Iterator[KnownSite]:
    """Recorded sites whose call stands nowhere any more."""
    return (known for known in runs if known.place is None)


def _reached_by(view: ModuleView, use: Use) -> ast.expr | None:
    """The expression that a run passes: the call, or a decorator without one."""
    if use.call is not None:
        return use.call
    if use.kind == "decorator" and isinstance(use.node, ast.expr):
        return use.node
    return None


def _place(view: ModuleView, use: Use, node: ast.expr, runs: KnownRuns) -> KnownPlace:
    line, column = view.source.location(view.span(node).start)
    here = f"{view.path}:{line}:{column}"
    around = [ancestor for ancestor in view.ancestors(node) if isinstance(ancestor, _NAMED)]
    decorated = next((item for item in around if node in item.decorator_list), None)
    function = ".".join(item.name for item in reversed(around) if item is not decorated)
    known = None
    if use.target in CAPTURES:
        known = runs.at(view.path, view.source, node, decorated if isinstance(decorated, _DECORATED) else None)
        reached = known is not None
    elif use.target in LOADS:
        reached = here in runs.loads or any(
            reader.startswith(f"{here}:") for archive in runs.files.values() for reader in archive.readers
        )
    else:
        reached = any(here in {job.site, *(transfer.site for transfer in job.sequence)} for job in runs.jobs)
    return KnownPlace(view.path, line, column, use.target, function, known, reached)


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DECORATED = (ast.FunctionDef, ast.ClassDef)
