"""Calls around a TorchScript value that go away with it: `.eval()`, which a trace ignores, and `torch.jit.freeze`."""

from __future__ import annotations

from torchlift.finding import DeleteStatement, ReplaceExpression, Rewrite, Template
from torchlift.rules.torchscript.values.gradient_mode import without_gradient
from torchlift.rules.torchscript.values.value_life import ValueLife

FREEZE_NOTE = (
    "`torch.jit.freeze` goes: export captures the eval graph, and without the folded weights results differ by rounding "
    "(about 5e-7 was measured); for its speed use `torch.compile` or AOTInductor"
)


def drop_calls(life: ValueLife) -> list[Rewrite]:
    """Rewrites that take those calls away; all of them stand in the file that makes the value."""
    view = life.view
    rewrites: list[Rewrite] = [DeleteStatement(view.span(statement)) for statement in life.evals]
    gone = [view.span(statement) for statement in life.evals]
    if life.outer is not life.origin:
        origin = Template("$value", (("value", view.span(life.origin)),))
        rewrites.append(ReplaceExpression(view.span(life.outer), origin))
        gone.append(view.span(life.outer))
    for frozen in life.frozen:
        span = view.span(frozen)
        if not any(other.contains(span) for other in gone):
            rewrites.append(ReplaceExpression(span, Template("$value", (("value", view.span(frozen.args[0])),))))
    return rewrites


def gradient_doubt(life: ValueLife) -> str | None:
    """What changes where a frozen value, whose results need no gradient, is used with gradients on; a clause."""
    if not life.frozen:
        return None
    if not life.saves and life.calls and all(without_gradient(life.home(call), call) for call in life.calls):
        return None
    return "results of the frozen module needed no gradient, and those of the program do outside `torch.no_grad()`"
