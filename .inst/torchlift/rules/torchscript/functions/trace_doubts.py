"""What a trace of the project makes of a plain function where it kept a scripted one as it was."""

from __future__ import annotations

from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.compiled_context import symbolic_trace
from torchlift.rules.torchscript.compilers.scripted_classes import first_trace, first_tracer
from torchlift.rules.torchscript.facts.intent import drops


def trace_doubts(branches: int | None, shapes: int | None, name: str, context: Context) -> list[str]:
    """Clauses about traces that may reach the function `name`.

    Args:
        branches: line of its first branch or loop, if it has one.
        shapes: line of the first size that leaves the tensors, if one does.
        name: the function, for messages.
        context: the file and its project.
    """
    if branches is None and shapes is None:
        return []
    symbolic = symbolic_trace(context.project)
    if symbolic is not None:
        return [f"{symbolic} traces with torch.fx, which passes over a scripted function and goes into a plain one"]
    place = first_tracer(context.project) if drops(context) else first_trace(context.project)
    if place is None:
        return []
    if branches is not None:
        return [
            f"{place} traces or exports to ONNX, and a trace keeps the branches and loops of a scripted function but not "
            f"those of a plain one (`{name}` has one on line {branches})"
        ]
    return [f"{place} traces or exports to ONNX, which may fix the sizes that `{name}` reads on line {shapes}"]
