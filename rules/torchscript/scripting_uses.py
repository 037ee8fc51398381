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


# Code that asks for the compiler, or helps it, expects to be compiled by somebody.
EXPECTING = frozenset(
    f"torch.jit.{name}"
    for name in ("is_scripting", "is_tracing", "annotate", "Attribute", "isinstance", "_overload", "_overload_method")
)


_EXPORT = "torch.jit.export"


@dataclass(frozen=True)
class ScriptingRecord:
    """Lines of one file that script or trace something, or expect to be scripted."""

    scripts: tuple[int, ...]
    traces: tuple[int, ...]
    expects: tuple[int, ...] = ()
    exports: tuple[int, ...] = ()


def _collect(view: ModuleView) -> ScriptingRecord | None:
    scripts: list[int] = []
    traces: list[int] = []
    expects: list[int] = []
    exports: list[int] = []
    for use in view.uses(SCRIPTING | TRACING | EXPECTING | {_EXPORT}):
        if use.kind in {"import", "annotation", "isinstance", "string"}:
            continue
        kind = scripts if use.target in SCRIPTING else traces if use.target in TRACING else expects
        if use.target == _EXPORT:
            kind = exports
        kind.append(use.node.lineno)
    if not scripts and not traces and not expects and not exports:
        return None
    return ScriptingRecord(tuple(scripts), tuple(traces), tuple(expects), tuple(exports))


COLLECTOR = Collector("torchscript.scripting", ("jit", "onnx", "SummaryWriter"), _collect)


def first_use(project: Project, *, tracing: bool) -> str | None:
    """`path:line` of the first place in the project that scripts (or, with `tracing`, scripts or traces)."""
    for path, record in sorted(project.records(COLLECTOR).items()):
        assert isinstance(record, ScriptingRecord)
        lines = [*record.scripts, *(record.traces if tracing else ())]
        if lines:
            return f"{path}:{min(lines)}"
    return None


def first_expectation(project: Project) -> str | None:
    """`path:line` of the first place in the project that expects to be compiled to TorchScript."""
    for path, record in sorted(project.records(COLLECTOR).items()):
        assert isinstance(record, ScriptingRecord)
        if record.expects:
            return f"{path}:{min(record.expects)}"
    return None


def has_exported_methods(project: Project) -> bool:
    """Whether a method is marked with `torch.jit.export`, which makes a trace of its class compile it."""
    return any(record.exports for record in project.records(COLLECTOR).values())
