"""`torch.jit.load`: the reader of an artifact changes together with its writer, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Finding,
    Fix,
    Group,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.project import Project
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.artifacts import COLLECTOR, Artifact, read_artifact
from torchlift.rules.torchscript.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.example_inputs import visible_sizes
from torchlift.rules.torchscript.value_life import ValueLife, follow
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_MESSAGE = f"`torch.jit.load`: {SINCE}. `torch.export.load` reads what `torch.export.save` wrote."
_NEEDS = TorchVersion(2, 5)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias):
        return
    span = view.span(use.node)
    if use.call is None or not use.call.args or isinstance(use.call.args[0], ast.Starred):
        advice = "Replace this use by hand; only calls with a path are looked at."
        yield Finding("TL103", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    call = use.call
    life = follow(view, call)
    artifact = read_artifact(view, call.args[0], context.project)
    groups: tuple[Group, ...] = artifact.group()
    refusals, assumptions = _weigh(view, call, life, artifact, context.project)
    spelling = view.spell("torch.export.load", call, use)
    if spelling is None:
        refusals.append("`torch.export.load` cannot be written here, because another name stands in its way")
    if refusals or spelling is None:
        advice = f"Not rewritten: {'; '.join(refusals)}. See {EXPORT_DOCS}"
        yield Finding("TL103", view.path, span, _MESSAGE, Severity.WARNING, advice, groups=groups)
        return
    here, elsewhere = artifact.new_suffix(view, call.args[0])
    rewrites: list[Rewrite] = [
        *spelling.imports,
        *here,
        EditCall(
            view.span(call),
            function=Template(spelling.text),
            callee=view.span(call.func),
            drop=tuple(key for key in (1, "map_location") if _has(call, key)),
            outer="$call.module()",
        ),
        *(DeleteStatement(view.span(statement)) for statement in life.evals),
    ]
    if life.outer is not call:
        rewrites.append(ReplaceExpression(view.span(life.outer), Template("$value", (("value", view.span(call)),))))
    safety = Safety.UNSAFE if assumptions else Safety.SAFE
    advice_text = f"Needs review: {'; '.join(dict.fromkeys(assumptions))}." if assumptions else None
    fix = Fix("Load the exported program", safety, tuple(rewrites), _NEEDS, elsewhere)
    yield Finding("TL103", view.path, span, _MESSAGE, Severity.WARNING, advice_text, fix, groups=groups)


def _has(call: ast.Call, key: int | str) -> bool:
    if isinstance(key, int):
        return len(call.args) > key
    return any(keyword.arg == key for keyword in call.keywords)


def _weigh(
    view: ModuleView, call: ast.Call, life: ValueLife, artifact: Artifact, project: Project
) -> tuple[list[str], list[str]]:
    """Reasons against a rewrite, and assumptions it needs."""
    refusals: list[str] = []
    assumptions: list[str] = []
    obstacle = artifact.obstacle()
    if obstacle is not None:
        assumptions.append(obstacle.rstrip("."))
    if any(not site.traced for _, site in artifact.writers):
        path, site = next((path, site) for path, site in artifact.writers if not site.traced)
        refusals.append(f"{artifact.title} is written as TorchScript at {path}:{site.line}, and not from a trace")
    extra = [keyword.arg for keyword in call.keywords if keyword.arg != "map_location"]
    if extra or len(call.args) > 2:
        refusals.append(
            f"it passes `{extra[0] if extra else 'a third argument'}`; `torch.export.load` gives extra files back as "
            "text, not as bytes"
        )
    location = next((k.value for k in call.keywords if k.arg == "map_location"), None)
    if location is None and len(call.args) > 1:
        location = call.args[1]
    if location is not None:
        if not _is_cpu(view, location):
            refusals.append(
                "`torch.export.load` has no `map_location`; use `torch.export.passes.move_to_device_pass` on the program"
            )
        elif not artifact.writers or any(site.moved for _, site in artifact.writers):
            assumptions.append("`map_location` can be dropped only if the program was exported on the CPU")
    if (life.evals or life.outer is not call) and not artifact.writers:
        assumptions.append("`.eval()` is dropped; the program has to be exported in eval mode")
    for item in life.obstacles:
        target = refusals if item.safety is Safety.MANUAL else assumptions
        target.append(f"the loaded value {item.reason} (line {item.node.lineno})")
    if life.saves:
        refusals.append(f"the loaded value is saved again (line {life.saves[0].call.lineno})")
    for binding in life.bindings:
        if project.may_be_imported(view, binding):
            assumptions.append(f"other files may use `{binding.name}` in ways that were not read")
    ranks = {site.ranks for _, site in artifact.writers}
    for called in life.calls:
        if called.keywords:
            refusals.append(f"the loaded value is called with keywords (line {called.lineno}), which export rejects")
        elif any(isinstance(argument, ast.Starred) for argument in called.args):
            assumptions.append(f"the number of arguments at line {called.lineno} is not known")
        elif artifact.writers and not _matches(view, called, ranks):
            assumptions.append(f"the call at line {called.lineno} may not match the exported inputs")
    return refusals, assumptions


def _matches(view: ModuleView, call: ast.Call, written: set[tuple[int | None, ...] | None]) -> bool:
    """Whether the number of arguments, and their ranks as far as visible, are those of every writer."""
    for ranks in written:
        if ranks is None or len(ranks) != len(call.args):
            return False
        for argument, rank in zip(call.args, ranks, strict=True):
            sizes = visible_sizes(view, argument)
            if sizes is not None and rank is not None and len(sizes) != rank:
                return False
    return True


def _is_cpu(view: ModuleView, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        resolution = view.resolve(node.func)
        if resolution is not None and resolution.name == "torch.device":
            return _is_cpu(view, node.args[0])
    return isinstance(node, ast.Constant) and node.value == "cpu"


_HEAD = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


def save():
    torch.manual_seed(0)
    net = Net().eval()
    example = torch.rand(4, 3)
"""
_RUN = "save()\nresult = [serve(torch.ones(n, 3)) for n in (4, 7, 4)]"
_EXPORT = "torch.export.export(net, (example,), dynamic_shapes=([torch.export.Dim.AUTO] * 2,))"

RULE = Rule(
    code="TL103",
    name="torchscript-load",
    summary="`torch.jit.load` instead of `torch.export.load`",
    why=(
        f"{SINCE}. A file written by `torch.jit.save` can be read only by `torch.jit.load`, and one written by "
        "`torch.export.save` only by `torch.export.load`, so both ends have to change together."
    ),
    fix=(
        "Safe when the path is a constant, every writer of the file in the project is a trace that TL101 rewrites, "
        "nothing else mentions the file, and every use of the loaded value is a positional call with the exported "
        "number of inputs or `.eval()` (a no-op on a trace). Then writer and reader are changed together and, where both "
        "spell the path out or share a constant that does, the suffix becomes `.pt2`, so that old and new files are never "
        "mixed up. Run the writer "
        "once more before the reader: existing TorchScript files cannot be opened by the new code. "
        "`map_location` is dropped only for the CPU."
    ),
    targets=("torch.jit.load",),
    triggers=("jit", "_jit_internal"),
    check=_check,
    deprecated=DEPRECATED,
    collectors=(COLLECTOR,),
    sources=(*SOURCES, EXPORT_DOCS),
    examples=(
        Bad(
            _HEAD
            + '    torch.jit.trace(net, example).save("net.pt")\n\n\n'
            + 'def serve(x):\n    net = torch.jit.load("net.pt")\n    net.eval()\n    return net(x)\n',
            _HEAD
            + f'    torch.export.save({_EXPORT}, "net.pt2")\n\n\n'
            + 'def serve(x):\n    net = torch.export.load("net.pt2").module()\n    return net(x)\n',
            why="writer and reader in one file, literal path",
            run=_RUN,
        ),
        Bad(
            "import torch\n\nfrom train import PATH, save\n\nMODEL = None\n\n\ndef serve(x):\n    model = "
            "torch.jit.load(PATH, map_location=torch.device('cpu')).eval()  # on the CPU\n    return model(x)\n",
            "import torch\n\nfrom train import PATH, save\n\nMODEL = None\n\n\ndef serve(x):\n    model = "
            "torch.export.load(PATH).module()  # on the CPU\n    return model(x)\n",
            why="path constant of another file, CPU location",
            files=(
                (
                    "train.py",
                    _HEAD.replace("import torch\n", 'import torch\n\nPATH = "net.pt"\n', 1)
                    + "    traced = torch.jit.trace(net, example)\n    torch.jit.save(traced, PATH)\n",
                ),
            ),
            run=_RUN,
        ),
        Bad(
            "import torch\n\n\ndef serve(path, x):\n    return torch.jit.load(path)(x)\n",
            "import torch\n\n\ndef serve(path, x):\n    return torch.export.load(path).module()(x)\n",
            safety="unsafe",
            why="the path is a parameter: nobody knows who writes the file",
        ),
        Bad(
            'import torch\n\n\ndef serve(x):\n    model = torch.jit.load("net.pt", map_location="cuda:0")\n    return model(x)\n',
            safety="manual",
            why="map_location to a GPU has no counterpart in load",
        ),
        Bad(
            _HEAD
            + '    torch.jit.script(net).save("net.pt")\n\n\n'
            + 'def serve(x):\n    net = torch.jit.load("net.pt")\n    return net(x)\n',
            safety="manual",
            why="the writer scripts the model",
        ),
        Bad(
            'import torch\n\nfiles = {"info": ""}\nnet = torch.jit.load("net.pt", _extra_files=files)\n',
            safety="manual",
            why="extra files come back as another type",
        ),
        Ok('import json\n\nwith open("x") as jit:\n    json.load(jit)\n', "another load"),
        Ok('import torch\n\ncheckpoint = torch.load("jit.pt")\n', "torch.load"),
        Ok("class torch:\n    class jit:\n        load = open\n\n\ntorch.jit.load('x')\n", "a class named torch"),
        Ok("def main(torch):\n    return torch.jit.load('x')\n", "a parameter named torch"),
    ),
)
