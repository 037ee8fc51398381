"""`torch.jit.Attribute(v, T)`: a pair of value and type wherever nothing scripts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Template
from torchlift.rules.analysis.values.literals import is_plain_value
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.annotated_values import is_plain_type, read_as_pair, without_hint
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import HelpAndFix, Hint
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL114",
    name="torchscript-attribute",
    summary="`torch.jit.Attribute`, which is a pair of value and type outside scripting",
    why=(
        "The TorchScript compiler takes the value out of the pair. A module that is not scripted any more keeps the pair: "
        "`len(self.names)` is 2 whatever it holds, and nothing warns. The name goes with TorchScript."
    ),
    fix=(
        "Safe when nothing in the project compiles TorchScript, the code is not installable and nothing reads the "
        "attribute. Where it is read, the fix needs review, because it changes the pair that plain Python sees into the "
        "value that scripted code saw. Not offered while the project still scripts, or where code takes the pair apart."
    ),
    targets=("torch.jit.Attribute",),
    triggers=("jit", "_jit_internal"),
    collectors=COLLECTORS,
    sources=(*SOURCES, "`len(torch.jit.Attribute({}, dict))` is 2 in a plain module: torch 2.13.0 and 2.15.0"),
)

_HINT = Hint(
    "TL114",
    "`torch.jit.Attribute` is unwrapped by the TorchScript compiler only: anywhere else the attribute is the pair of "
    "value and type, and its `len()` is 2.",
    "Not called here: drop it together with the code that scripts.",
)
_AS_TYPE = replace(
    _HINT,
    message="`torch.jit.Attribute` is no type: as an annotation it means nothing to type checkers, and it goes with TorchScript.",
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.call is not None and _is_annotation(context.view, use.call):
        return _AS_TYPE.findings(use, context, _as_type)
    return _HINT.findings(use, context, _as_value)


def _as_value(use: Use, context: Context) -> HelpAndFix:
    view, call = context.view, use.call
    assert call is not None
    answer = removal(context, use.node)
    given = named_arguments(call, ("value", "type")) or {}
    value, kind = given.get("value"), given.get("type")
    if value is None or kind is None or not is_plain_type(kind):
        return "Write the value alone and its type as an annotation; the arguments here were not understood.", None
    written = f"{_shown(view, call)}{view.text(kind)} = {view.text(value)}"
    if "\n" in written:
        written = "name: Type = value"
    if answer.place is not None:
        return (
            (
                f"{answer.reason} Write `{written}` in the same change that "
                "ends the scripting, not later: without it this goes wrong in silence."
            ),
            None,
            answer.root,
        )
    name = self_attribute(_target(view, call))
    pair = read_as_pair(view, name) if name is not None else None
    if name is None or pair is not None:
        seen = f"line {pair} reads it as the pair" if pair is not None else "it is not stored as an attribute of `self`"
        return f"Write `{written}` where the value is meant; not rewritten because {seen}.", None
    plain = is_plain_value(value) or (isinstance(value, ast.Dict) and not value.keys)
    expected = _is_never_read(context, name) if not drops(context) else _is_read_as_value(context, name)
    safe = answer.safety is Safety.SAFE and plain and expected
    review = None
    if not safe:
        review = f"Needs review: code that reads `self.{name}` has to expect the value, as scripted code did, and not the pair."
        review += answer.also
    rewrites = without_hint(view, call, kind, value)
    return review, Fix(rewrites.title, Safety.SAFE if safe else Safety.UNSAFE, rewrites.rewrites)


def _as_type(use: Use, context: Context) -> HelpAndFix:
    """`self.x: torch.jit.Attribute(T) = v`: the type belongs there without the call."""
    view, call, answer = context.view, use.call, removal(context, use.node)
    assert call is not None
    kind = call.args[-1] if call.args and not call.keywords and len(call.args) <= 2 else None
    in_function = view.scope_at(call).kind == "function"
    if kind is not None and answer.safety is not Safety.MANUAL and in_function and is_plain_type(kind):
        # An annotation inside a function is never evaluated.
        template = Template("$kind", (("kind", view.span(kind)),))
        rewrite = ReplaceExpression(view.span(call), template, bare=True)
        return answer.reason, Fix("Annotate with the type itself", answer.safety, (rewrite,))
    shown = " ".join(view.text(kind).split()) if kind is not None else None
    written = f"`{_annotated(view, call)}{shown}`" if shown is not None else "the type itself as the annotation"
    return f"Write {written}." if answer.place is None else f"{answer.reason} Then write {written}.", None, answer.root


def _annotated(view: ModuleView, call: ast.Call) -> str:
    """What the annotation is for, as far as one line shows it: `self.x: `, `x: `, nothing for a part of a type."""
    match view.parent(call):
        case ast.AnnAssign(target=target):
            return f"{' '.join(view.text(target).split())}: "
        case ast.arg(arg=name):
            return f"{name}: "
        case _:
            return ""


def _is_annotation(view: ModuleView, call: ast.Call) -> bool:
    for child, ancestor in view.upwards(call):
        if isinstance(ancestor, (ast.AnnAssign, ast.arg)):
            return ancestor.annotation is child
        if isinstance(ancestor, ast.stmt):
            return False
    return False


def _target(view: ModuleView, call: ast.Call) -> ast.expr | None:
    match view.parent(call):
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return target
        case _:
            return None


def _shown(view: ModuleView, call: ast.Call) -> str:
    target = _target(view, call)
    return f"{view.text(target)}: " if target is not None else "name: "


def _is_read_as_value(context: Context, name: str) -> bool:
    """Whether the project takes the attribute for the value wherever it reads it, as code for a compiler does."""
    project = context.project
    for path in project.files_with_attribute(name):
        view = project.view(path)
        if view is None or read_as_pair(view, name) is not None:
            return False
        if any(isinstance(node, ast.Constant) and node.value == name for node in view.parents):
            return False
    return True


def _is_never_read(context: Context, name: str) -> bool:
    view = context.view
    for node in view.parents:
        if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Constant) and node.value == name:
            return False
    return not context.project.files_with_attribute(name, skip=(view.path,))


def _module(line: str, body: str = "return x") -> str:
    return (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        {line}\n\n    def forward(self, x):\n        {body}\n"
    )


_CALL = "self.seen = torch.jit.Attribute({}, dict[str, int])"
_RUN = "result = Net()(torch.ones(2))"

EXAMPLES = (
    Bad(_module(_CALL), _module("self.seen: dict[str, int] = {}"), why="an attribute that nothing reads", run=_RUN),
    Bad(
        _module(_CALL, "return x + len(self.seen)"),
        _module("self.seen: dict[str, int] = {}", "return x + len(self.seen)"),
        safety="unsafe",
        why="an attribute that forward reads",
    ),
    Bad(
        "import torch\nfrom torch.jit import Attribute\n\n\nclass Net(torch.nn.Module):\n    scale: float\n\n"
        "    def __init__(self):\n        super().__init__()\n        self.scale = Attribute(0.5, float)\n\n"
        "    def forward(self, x):\n        return x * self.scale\n",
        "import torch\n\n\nclass Net(torch.nn.Module):\n    scale: float\n\n"
        "    def __init__(self):\n        super().__init__()\n        self.scale = 0.5\n\n"
        "    def forward(self, x):\n        return x * self.scale\n",
        safety="unsafe",
        why="annotated in the class already",
    ),
    Bad(
        _module("self.seen = torch.jit.Attribute(made(x), int)"),
        _module("self.seen = made(x)"),
        safety="unsafe",
        why="a value that a call gives",
    ),
    Bad(
        _module("self.flag: torch.jit.Attribute(bool) = None"),
        _module("self.flag: bool = None"),
        why="used as an annotation",
        run=_RUN,
    ),
    Bad(
        _module(_CALL, "return x + len(self.seen)") + "\n\ntorch.jit.script(Net()).save('x.pt')\n",
        why="the module is still scripted",
    ),
    Bad(_module(_CALL, "return x + len(self.seen.value)"), why="code that takes the value out of the pair"),
    Bad("import torch\n\npair = torch.jit.Attribute(1, int)\n", why="not an attribute of a module"),
    Bad(
        "import torch\n\n\ndef unwrap(x):\n    return x.value if isinstance(x, torch.jit.Attribute) else x\n",
        why="a type test",
    ),
    Ok("from xml.dom.minidom import Attr as Attribute\n\njit = Attribute('a')\n", "another class"),
    Ok("from torchgen import jit\n\njit.Attribute(1, int)\n", "another package's jit"),
    Ok("class Attribute:\n    pass\n\n\njit = Attribute()\n", "an own class"),
    Ok("# torch.jit.Attribute(v, T)\njit = 1\n", "a comment"),
)
