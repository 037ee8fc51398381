"""`torch.jit.save` of a value that TL101 does not already follow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.captures.artifact_sites import COLLECTOR
from torchlift.rules.torchscript.captures.writing_program import or_whole_file
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.scripting_tests.verdict import in_scripting_test
from torchlift.rules.torchscript.values.made_by import maker_of
from torchlift.view import Use

RULE = Rule(
    code="TL104",
    name="torchscript-save",
    summary="`torch.jit.save` of a value that is not made in the same file",
    why=f"{SINCE}. The file it writes can be read by `torch.jit.load` only.",
    fix=(
        "None here: where the value comes from `torch.jit.trace` or `torch.jit.script` in the same file, TL101 and TL102 "
        "change both together or say why not."
    ),
    targets=("torch.jit.save",),
    triggers=("jit", "_jit_internal"),
    deprecated=DEPRECATED,
    collectors=(COLLECTOR,),
    sources=(*SOURCES, EXPORT_DOCS),
)

_MESSAGE = f"`torch.jit.save`: {SINCE}. `torch.export.save` writes an `ExportedProgram`, not a TorchScript value."


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from or_whole_file(_check(use, context), use, context)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias):
        return
    if (tested := in_scripting_test(use, context, "TL104", _MESSAGE)) is not None:
        yield tested
        return
    maker = maker_of(use.call, context) if use.call is not None else None
    if maker is not None:
        if not maker.rewritten:
            advice = (
                f"It goes together with the `{maker.name}` on line {maker.line}, which says what stands in the way."
            )
            yield Finding("TL104", view.path, view.span(use.node), _MESSAGE, Severity.WARNING, advice)
        return
    advice = (
        "Where the module that the value was made from can be captured, save its program (`torch.export.export` takes no TorchScript); every reader has to "
        f"change to `torch.export.load` at the same time.{' Extra files are text there, not bytes.' if _extra_files(use.call) else ''} {EXPORT_DOCS}"
    )
    yield Finding("TL104", view.path, view.span(use.node), _MESSAGE, Severity.WARNING, advice)


def _extra_files(call: ast.Call | None) -> bool:
    """Whether a call writes extra files, or may."""
    return call is not None and (len(call.args) > 2 or any(k.arg in {"_extra_files", None} for k in call.keywords))


EXAMPLES = (
    Bad("import torch\n\n\ndef write(net, path):\n    torch.jit.save(net, path)\n", why="a parameter"),
    Bad(
        "import torch\n\nfrom nets import make\n\ntorch.jit.save(make(), 'x')\n",
        why="a value that another module makes",
    ),
    Bad("from torch import jit as J\n\nsaver = J.save\n", why="passed as a function"),
    Ok("import torch\n\njit = {}\ntorch.save(jit, 'x')\n", "torch.save"),
    Ok("class jit:\n    @staticmethod\n    def save(a, b): ...\n\n\njit.save(1, 2)\n", "an own class named jit"),
    Ok(
        "import torch\n\nt = torch.jit.trace(torch.nn.ReLU(), torch.rand(2))\ntorch.jit.save(t, 'x')\n",
        "TL101 rewrites the trace and its save",
    ),
    Bad(
        "import torch\n\ntorch.jit.save(torch.jit.script(object()), 'x')\n",
        why="a scripted value that is not rewritten",
    ),
)
