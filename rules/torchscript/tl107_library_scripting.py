"""TorchScript reached through another library: `to_torchscript`, `compile_mode`, `scriptable=True`, `torchscript=True`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlift.finding import (
    DeleteStatement,
    DropDecorator,
    EditCall,
    Finding,
    Fix,
    KeepBranch,
    ReplaceExpression,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.rules.torchscript.examples import library_test_examples
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS, SINCE
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.scripting_tests.scripted_values import E3NN_COMPILERS, MAKERS
from torchlift.rules.torchscript.scripting_tests.verdict import in_scripting_test
from torchlift.torchscript_intent import DROP
from torchlift.view import Use

_E3NN_MODE = "e3nn.util.jit.compile_mode"
_TIMM_SWITCHES = (
    "timm.set_scriptable",
    *(
        f"timm.{home}.{name}"
        for home in ("layers", "models.layers", "layers.config", "models.layers.config")
        for name in ("set_scriptable", "set_layer_config")
    ),
)
_DETECTRON2 = tuple(
    f"detectron2.export.{name}"
    for name in (
        "scripting_with_instances",
        "dump_torchscript_IR",
        "torchscript.scripting_with_instances",
        "torchscript.dump_torchscript_IR",
        "torchscript_patch.patch_builtin_len",
        "torchscript_patch.patch_nonscriptable_classes",
        "torchscript_patch.freeze_training_mode",
    )
)
_MONAI = ("monai.networks.utils.convert_to_torchscript", "monai.networks.convert_to_torchscript")
_SOUND = frozenset({"*.export_to_ts", "neutone_sdk.utils.save_neutone_model"})
_WITH_FLAG = ("*.from_pretrained", "*.from_config", "timm.create_model", "timm.models.create_model")

RULE = Rule(
    code="TL107",
    name="torchscript-library",
    summary="TorchScript made through another library",
    why=(
        f"{SINCE}. Libraries that script or trace what they are given go the same way: Lightning deprecates "
        "`to_torchscript` in 2.7 and removes it in 2.8, transformers 5 knows no `torchscript` flag, PyG's "
        "`jittable()` does nothing since 2.5, e3nn 0.6 compiles nothing by default from torch 2.10 on."
    ),
    fix=(
        "Where the user says that the project drops TorchScript (`--torchscript drop`): `@compile_mode` of e3nn goes, safely "
        "once nothing in the project calls `e3nn.util.jit`, which alone reads it; `.jittable()` (which PyG before 2.5 needs "
        "where it still scripts) and timm's `scriptable=` (which chooses activations of equal value but another rounding) "
        "go after review. Everything else is told with what takes its place: it says what becomes of a file or of outputs."
    ),
    targets=(
        *sorted(E3NN_COMPILERS),
        _E3NN_MODE,
        *_TIMM_SWITCHES,
        *_DETECTRON2,
        *_MONAI,
        *_WITH_FLAG,
        *sorted(_SOUND),
        "*.to_torchscript",
        "*.jittable",
    ),
    triggers=(
        "e3nn & jit",
        "timm & scriptable",
        "set_layer_config",
        "detectron2 & torchscript",
        "detectron2 & scripting_with_instances",
        "convert_to_torchscript",
        "from_pretrained & torchscript",
        "from_config & torchscript",
        "to_torchscript",
        "export_to_ts",
        "save_neutone_model",
        "jittable",
    ),
    sources=(
        EXPORT_DOCS,
        "lightning/pytorch/core/module.py of the lightning 2.6.6 wheel: deprecation of `to_torchscript`, read 2026-11-22",
        "e3nn/util/jit.py and e3nn/__init__.py of the e3nn 0.6.0 wheel, read 2026-11-22",
        "torch_geometric/nn/conv/message_passing.py of the torch_geometric 2.8.1 wheel, read 2026-11-22",
        "timm/layers/config.py and timm/models/_factory.py of the timm 1.0.31 wheel, read 2026-11-22",
        "transformers/configuration_utils.py of the 4.57.3 wheel has the flag (tuples, untied weights), 5.23.0 has not",
        "nn_tilde/module.py of the nn_tilde 1.6.0 wheel (`export_to_ts` scripts `self`), read 2026-11-26",
        "neutone_sdk/utils.py at github.com/QosmoInc/neutone_sdk, read 2026-11-26",
        "monai/networks/utils.py of the monai 1.6.1 wheel, read 2026-11-22",
        "detectron2/export/torchscript.py at github.com/facebookresearch/detectron2, 02b5c4e2",
    ),
)


@dataclass(frozen=True)
class _Way:
    """One library's way to TorchScript.

    Attributes:
        message: what it does.
        advice: what takes its place.
        rewrite: what takes it out where TorchScript is dropped, if that can be written.
        doubt: what that rests on, a clause; empty if on nothing.
    """

    message: str
    advice: str
    rewrite: Callable[[Use, Context], Rewrite | None] = lambda use, context: None
    doubt: str = ""


def _flag(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword argument `name`, unless it is written out as False or None."""
    given = next((keyword for keyword in call.keywords if keyword.arg == name), None)
    off = given is not None and isinstance(given.value, ast.Constant) and given.value.value in (False, None)
    return None if off else given


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    if target in ("*.from_pretrained", "*.from_config"):
        return _flag(call, "torchscript") is not None
    return not target.endswith(("create_model", "set_layer_config")) or _flag(call, "scriptable") is not None


def _without_decorator(use: Use, context: Context) -> Rewrite | None:
    call = use.call
    parent = context.view.parent(call) if call is not None else None
    decorators: list[ast.expr] = getattr(parent, "decorator_list", [])
    return DropDecorator(context.view.span(call)) if call is not None and call in decorators else None


def _receiver(use: Use, context: Context) -> Rewrite | None:
    view, call = context.view, use.call
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    return ReplaceExpression(view.span(call), Template("$module", (("module", view.span(call.func.value)),)))


def _without_scriptable(use: Use, context: Context) -> Rewrite | None:
    assert use.call is not None
    return EditCall(context.view.span(use.call), drop=("scriptable",))


def _without_switch(use: Use, context: Context) -> Rewrite | None:
    """timm's switch, as a statement, as a context of its own or as one of several settings."""
    view, call = context.view, use.call
    if call is None:
        return None
    parent = view.parent(call)
    others = [keyword for keyword in call.keywords if keyword.arg != "scriptable"]
    if use.target.endswith("set_layer_config") and (others or call.args):
        return EditCall(view.span(call), drop=("scriptable",))
    if isinstance(parent, ast.Expr):
        return DeleteStatement(view.span(parent))
    around = view.parent(parent) if isinstance(parent, ast.withitem) and parent.optional_vars is None else None
    alone = isinstance(around, ast.With) and len(around.items) == 1
    return KeepBranch(view.span(around), "body") if isinstance(around, ast.With) and alone else None


_CAPTURE = "capture the module in eval mode with `torch.export.export(module, example_inputs)` and save that program"
_LIGHTNING = _Way(
    "`to_torchscript` scripts or traces the module: Lightning deprecates it, and says that 2.8 removes it.",
    f"Where a file or another runtime needs it, {_CAPTURE}: Lightning itself names `torch.export` as the successor.",
)
_E3NN = _Way(
    "`e3nn.util.jit` compiles the module and its parts to TorchScript, as their `@compile_mode` says.",
    'From e3nn 0.6 and torch 2.10 on nothing is compiled by default (`jit_mode` "eager"). Use the module itself, or '
    '`torch.compile` it; `e3nn.set_optimization_defaults(jit_mode="inductor")` compiles e3nn\'s own parts. For a file '
    f"{_CAPTURE}.",
)
_MODE = _Way(
    "`@compile_mode` only tells `e3nn.util.jit` how to make TorchScript of the class.",
    "Nothing but a call of `e3nn.util.jit` reads it.",
    _without_decorator,
)
_PYG = _Way(
    "`jittable()` prepares a layer for `torch.jit.script`: since PyG 2.5 it warns and returns the layer itself.",
    "Use the layer itself.",
    _receiver,
    "before PyG 2.5 it made another class of the layer, which computes the same",
)
_TIMM = _Way(
    "`scriptable` makes timm build layers that `torch.jit.script` can compile.",
    "Leave it out where nothing scripts the model.",
    _without_scriptable,
    "timm chooses other activations without it, which compute the same but may round otherwise and free memory earlier",
)
_SWITCH = _Way(
    "It makes timm build layers that `torch.jit.script` can compile.",
    "Drop the switch, or the `with` around what is built, where nothing scripts the model.",
    _without_switch,
    "timm chooses other activations without it, which compute the same but may round otherwise and free memory earlier",
)
_TRANSFORMERS = _Way(
    "`torchscript=True` unties weights and makes the model return tuples, up to transformers 4. In transformers 5 a configuration keeps the word "
    "without effect, and a model made with it raises TypeError.",
    "Where callers take tuples write `return_dict=False` in its place. `torch.export` and `torch.compile` need neither.",
)
_D2 = _Way(
    "It scripts a detectron2 model, or patches the library so that it can be scripted.",
    "`detectron2.export.TracingAdapter` gives a module of tensors alone, as `torch.export.export` takes it.",
)
_MONAI_WAY = _Way(
    "`convert_to_torchscript` scripts or traces the model, and writes it where it is given a file.",
    f"To write a file, {_CAPTURE}; its readers change to `torch.export.load` with it.",
)
_SOUND_WAY = _Way(
    "It scripts the module and writes it for a program for sound, which runs TorchScript in C++.",
    "nn~ (`nn_tilde`) and Neutone (`neutone_sdk`) open TorchScript alone: keep it, with all that the module is made of "
    "(`keep = [...]`), as long as users load the file there.",
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    way = _way(use, context)
    if way is None:
        return
    tested = in_scripting_test(use, context, "TL107", way.message) if use.target in MAKERS else None
    if tested is not None:
        yield tested
        return
    rewrite = way.rewrite(use, context) if drops(context) else None
    still = _compiles_with_e3nn(context) if way is _MODE else None
    fix, advice = None, way.advice
    if rewrite is not None and still is None:
        safety = Safety.UNSAFE if way.doubt else Safety.SAFE
        fix = Fix("Leave it out", safety, (rewrite,))
        advice = f"Needs review: {way.doubt}." if way.doubt else ""
    elif still is not None:
        advice = f"{advice} {still} calls it."
    severity = Severity.INFO if way is _MODE else Severity.WARNING
    yield Finding("TL107", view.path, view.span(use.node), way.message, severity, advice or None, fix)


def _way(use: Use, context: Context) -> _Way | None:
    """What a use is; None if it is something else, or no use by itself."""
    if use.kind in {"import", "string", "annotation", "store", "delete"} or isinstance(use.node, ast.alias):
        return None
    target, call = use.target, use.call
    text = context.view.source.text
    if target == _E3NN_MODE:
        return _MODE
    if target in E3NN_COMPILERS:
        return _E3NN
    if target in _DETECTRON2:
        inside = context.view.module.partition(".")[0] == "detectron2"
        vendored = context.project.find_module("detectron2.export", context.view.path) is not None
        return None if inside or (vendored and target not in MAKERS) else _D2  # what it does stands there
    if target in _MONAI:
        return _MONAI_WAY
    if target == "neutone_sdk.utils.save_neutone_model":
        return _SOUND_WAY
    if call is None:
        return None
    if target in ("*.from_pretrained", "*.from_config"):
        return _TRANSFORMERS if _flag(call, "torchscript") else None
    if target.endswith("create_model"):
        return _TIMM if _flag(call, "scriptable") else None
    if target in _TIMM_SWITCHES:
        return _SWITCH if target.endswith("set_scriptable") or _flag(call, "scriptable") else None
    own = f"def {target[2:]}" in text or context.project.files_holding(f"def {target[2:]}")
    if own:
        return None  # what it does stands there
    if target in _SOUND:
        return _SOUND_WAY
    if target == "*.to_torchscript":
        return _LIGHTNING
    return _PYG if "torch_geometric" in text and not call.args and not call.keywords else None


def _compiles_with_e3nn(context: Context) -> str | None:
    """The first file of the project that calls one of e3nn's compilers."""
    return context.once(_e3nn_caller)


def _e3nn_caller(context: Context) -> str | None:
    for path in sorted(context.project.files_holding("e3nn.util.jit", "from e3nn.util import jit")):
        view = context.project.view(path)
        uses = view.uses(E3NN_COMPILERS, context.project.translate) if view is not None else ()
        line = next((use.node.lineno for use in uses if use.kind != "import"), None)
        if line is not None:
            return f"{path}:{line}"
    return None


_LAYER = "import torch\nfrom e3nn.util.jit import compile_mode\n\n\n"
_SCALE = "class Scale(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n"

EXAMPLES = (
    *library_test_examples.LIGHTNING,
    Bad(
        "from lightning.pytorch import LightningModule\n\n\ndef write(net: LightningModule, path):\n"
        "    net.to_torchscript(path, method='trace')\n",
        why="lightning",
    ),
    Bad(f'{_LAYER}@compile_mode("script")\n{_SCALE}', why="a mode without an intent"),
    Bad(
        'import torch\nimport e3nn.util.jit\n\n\n@e3nn.util.jit.compile_mode("script")\n' + _SCALE,
        "import torch\nimport e3nn.util.jit\n\n\n" + _SCALE,
        why="a mode that nothing reads any more",
        run="result = Scale()(torch.ones(2))",
        files=(
            ("e3nn/__init__.py", ""),
            ("e3nn/util/__init__.py", ""),
            ("e3nn/util/jit.py", "compile_mode = lambda mode: lambda cls: cls\n"),
        ),
        torchscript=DROP,
    ),
    Bad(
        'import torch\nfrom e3nn.util import jit\n\n\n@jit.compile_mode("script")\n'
        + _SCALE
        + "\n\nfast = jit.script(Scale())\n",
        why="a mode that is still read",
        torchscript=DROP,
    ),
    Bad(
        "import timm\n\nnet = timm.create_model('resnet18', pretrained=False, scriptable=True)\n",
        "import timm\n\nnet = timm.create_model('resnet18', pretrained=False)\n",
        safety="unsafe",
        why="timm",
        torchscript=DROP,
    ),
    Bad(
        "from timm.layers import set_layer_config\n\nwith set_layer_config(scriptable=True):\n    pass\n",
        why="timm's switch",
    ),
    Bad(
        "import torch\nfrom timm.layers import set_layer_config\n\nwith set_layer_config(scriptable=True):\n    net = torch.nn.ReLU()\n",
        "import torch\n\nnet = torch.nn.ReLU()\n",
        safety="unsafe",
        why="timm's switch around what is built",
        torchscript=DROP,
    ),
    Bad(
        "from timm.layers import set_layer_config\n\nset_layer_config(scriptable=True, no_jit=True)\n",
        "from timm.layers import set_layer_config\n\nset_layer_config(no_jit=True)\n",
        safety="unsafe",
        why="timm's switch beside another one",
        torchscript=DROP,
    ),
    Bad(
        "from torch_geometric.nn import GCNConv\n\nconv = GCNConv(16, 64).jittable()\n",
        "from torch_geometric.nn import GCNConv\n\nconv = GCNConv(16, 64)\n",
        safety="unsafe",
        why="PyG",
        torchscript=DROP,
    ),
    Bad(
        "from transformers import BertModel\n\nnet = BertModel.from_pretrained('bert-base-uncased', torchscript=True)\n",
        why="transformers",
    ),
    Bad(
        "from detectron2.export import scripting_with_instances\n\nnet = scripting_with_instances(object(), {})\n",
        why="detectron2",
    ),
    Bad(
        "from monai.networks.utils import convert_to_torchscript\n\nconvert_to_torchscript(object(), 'net.ts')\n",
        why="monai",
    ),
    Bad("def publish(model, path):\n    model.export_to_ts(path)\n", why="nn~"),
    Ok("class Net:\n    def to_torchscript(self): ...\n\n\nNet().to_torchscript()\n", "a method of the project"),
    Ok("from transformers import BertModel\n\ntorchscript = BertModel.from_pretrained('x')\n", "no flag"),
    Ok("import timm\n\nnet = timm.create_model('resnet18', scriptable=False)\n", "switched off"),
    Ok("from torch_geometric.nn import GCNConv\n\njittable = GCNConv(16, 64)\n", "a name"),
)
