"""Whether anything in the project still scripts or traces: what keeps decorators and scripted helpers alive."""

from __future__ import annotations

from dataclasses import dataclass

from torchlift.project import Collector, Project
from torchlift.view import ModuleView

SCRIPTING = frozenset(
    f"torch.jit.{name}"
    for name in (
        "script",
        "script_method",
        "ScriptModule",
        "RecursiveScriptModule",
        "CompilationUnit",
        "interface",
        "_recursive",
    )
)
TRACING = frozenset(f"torch.jit.{name}" for name in ("trace", "trace_module", "_get_trace_graph")) | {
    "torch.onnx.export",
    "torch.utils.tensorboard.SummaryWriter",
}


@dataclass(frozen=True)
class ScriptingRecord:
    """Lines of one file that script or trace something."""

    scripts: tuple[int, ...]
    traces: tuple[int, ...]


def _collect(view: ModuleView) -> ScriptingRecord | None:
    scripts: list[int] = []
    traces: list[int] = []
    for use in view.uses(SCRIPTING | TRACING):
        if use.kind in {"import", "annotation", "isinstance", "string"}:
            continue
        (scripts if use.target in SCRIPTING else traces).append(use.node.lineno)
    return ScriptingRecord(tuple(scripts), tuple(traces)) if scripts or traces else None


COLLECTOR = Collector("torchscript.scripting", ("jit", "onnx", "SummaryWriter"), _collect)


def first_use(project: Project, *, tracing: bool) -> str | None:
    """`path:line` of the first place in the project that scripts (or, with `tracing`, scripts or traces)."""
    for path, record in sorted(project.records(COLLECTOR).items()):
        assert isinstance(record, ScriptingRecord)
        lines = [*record.scripts, *(record.traces if tracing else ())]
        if lines:
            return f"{path}:{min(lines)}"
    return None
