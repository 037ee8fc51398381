"""`pretrained=` of torchvision's models."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import AddImport, EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.api.tables.torchvision_builders import BUILDERS, Builder
from torchlift.rules.api.uses.old_call import Argument, filled, spelled
from torchlift.rules.api.uses.torchvision_by_hand import BY_HAND
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.handlers import ABSENT_NAME, ABSENT_PARAMETER, stands_in_for

# torchvision 0.13, which brought `weights`, is the one for torch 1.12.
_SINCE = TorchVersion(1, 12)
# What `pretrained=True` means for most models of a package: torchvision 0.28.0.
_WEIGHTS = {
    "": "IMAGENET1K_V1",
    ".detection": "COCO_V1",
    ".segmentation": "COCO_WITH_VOC_LABELS_V1",
    ".video": "KINETICS400_V1",
    ".quantization": "IMAGENET1K_V1",
    ".optical_flow": "C_T_V2",
}
_TABLES = {f"torchvision.models{package}.__dict__": weights for package, weights in _WEIGHTS.items()}

RULE = Rule(
    code="TL430",
    name="pretrained",
    summary="`pretrained=` of a torchvision model, deprecated in favour of `weights=`",
    why=(
        "torchvision warns since 0.13 and may remove the parameter. `weights=` names the weights: an enumeration, whose first "
        "version is what `pretrained=True` loads; `DEFAULT` may be another one with other accuracy and preprocessing."
    ),
    fix=(
        "Safe: the weights that torchvision itself takes for the old value, from its own table; a value that is known at run time only "
        "becomes a choice. Needs torchvision 0.13. Only reported where the model is chosen by name, where there are no such weights, "
        "and where `quantize` is not written out."
    ),
    targets=(*BUILDERS, *_TABLES),
    triggers=("torchvision.models", "models & from torchvision import ", "models & torchvision as "),
    deprecated=_SINCE,
    aliases=("TOR201",),
    sources=(
        "torchvision/models/_utils.py, `handle_legacy_interface`, and its uses in torchvision 0.28.0: all 121 models",
        "https://pytorch.org/vision/stable/models.html",
    ),
)

_OLD = ("pretrained", "pretrained_backbone")


@dataclass(frozen=True)
class _Given:
    """One old argument of a call: the new parameter, and the weights that True stands for, empty if there are none."""

    parameter: str
    argument: Argument
    package: str
    weights: str


def _given(builder: Builder, call: ast.Call) -> list[_Given] | None:
    """The old arguments of a call; None where it cannot be told which weights are meant."""
    quantize = next((item.value for item in call.keywords if item.arg == "quantize"), None)
    if len(call.args) > 2 and builder.quantized:
        quantize = call.args[2]
    if quantize is not None and not isinstance(quantize, ast.Constant):
        return None
    quantized = bool(builder.quantized) and isinstance(quantize, ast.Constant) and bool(quantize.value)
    plain = "torchvision.models" if builder.quantized else builder.home
    found = []
    for parameter, old, position in (("weights", _OLD[0], 0), ("weights_backbone", _OLD[1], builder.backbone_position)):
        if parameter == "weights_backbone" and not builder.backbone:
            continue
        if parameter == "weights":
            package, weights = (builder.home, builder.quantized) if quantized else (plain, builder.weights)
        else:
            package, weights = "torchvision.models", builder.backbone
        if len(call.args) > position and _is_old_value(call.args[position], old):
            found.append(_Given(parameter, Argument(position, call.args[position]), package, weights))
        for keyword in call.keywords:
            if keyword.arg == old:
                found.append(_Given(parameter, Argument(old, keyword.value), package, weights))
    return found


def _is_old_value(value: ast.expr, old: str) -> bool:
    """Whether a positional argument is surely a flag and no weights."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, bool)
    return (
        isinstance(value, (ast.Name, ast.Attribute))
        and (value.id if isinstance(value, ast.Name) else value.attr) == old
    )


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target in _TABLES:
        yield from _from_table(use, view)
        return
    builder = BUILDERS[use.target]
    if use.name != use.target:
        return
    parent = view.parent(use.node)
    if use.kind == "reference" and isinstance(parent, ast.Call) and any(item.arg in _OLD for item in parent.keywords):
        if view.possible_name(parent.func) == "functools.partial":
            yield _finding(view, parent, _message(builder.name, _OLD[0]), _advice(builder))
        return
    call = use.call
    if call is None or any(map(_gives_weights, call.keywords)):
        return
    if stands_in_for(view, call, lambda tried: _is_new_form(view, tried, call), ABSENT_PARAMETER | ABSENT_NAME):
        return
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        if any(item.arg in _OLD for item in call.keywords):
            yield _finding(view, call, _message(builder.name, _OLD[0]), _advice(builder))
        return
    given = _given(builder, call)
    if given is None:
        if any(item.arg in _OLD for item in call.keywords):
            yield _finding(view, call, _message(builder.name, _OLD[0]), _advice(builder))
        return
    if not given:
        return
    names = " and ".join(_OLD[item.parameter == "weights_backbone"] for item in given)
    yield _finding(view, call, _message(builder.name, names), *_rewritten(view, use, call, builder, given))


def _gives_weights(keyword: ast.keyword) -> bool:
    return keyword.arg in {"weights", "weights_backbone"}


def _is_new_form(view: ModuleView, node: ast.AST, old: ast.Call) -> bool:
    """Whether a call builds a model as torchvision does since it takes weights, or calls what `old` calls that way."""
    if not isinstance(node, ast.Call) or not any(map(_gives_weights, node.keywords)):
        return False
    return view.possible_name(node.func).startswith("torchvision.") or ast.dump(node.func) == ast.dump(old.func)


def _rewritten(
    view: ModuleView, use: Use, call: ast.Call, builder: Builder, given: list[_Given]
) -> tuple[str | None, Fix | None]:
    """The advice and the fix for one call."""
    replaced: list[tuple[int | str, Template]] = []
    renamed: list[tuple[str, str]] = []
    dropped: list[int | str] = []
    added: list[tuple[str, Template]] = []
    imports: list[AddImport] = []
    for item in given:
        template = _value(view, use, item, imports)
        if template is None:
            return _advice(builder), None
        key = item.argument.key
        if isinstance(key, str):
            replaced.append((key, template))
            renamed.append((key, item.parameter))
        elif len(call.args) == 1:
            dropped.append(key)
            added.append((item.parameter, template))
        else:
            replaced.append((key, template))
    edit = EditCall(
        view.span(call),
        arguments=tuple(replaced),
        drop=tuple(dropped),
        add=tuple(added),
        rename=tuple(renamed),
    )
    parameters = " and ".join(f"`{item.parameter}`" for item in given)
    return None, Fix(f"Say it with {parameters}", Safety.SAFE, (edit, *dict.fromkeys(imports)), _SINCE)


def _value(view: ModuleView, use: Use, item: _Given, imports: list[AddImport]) -> Template | None:
    """What the new parameter gets; None where it cannot be told."""
    value = item.argument.constant
    if value is not ... and not value:
        return Template("None")
    # `"legacy"` stands for older weights of one model; a name in its place may hold it too.
    if isinstance(value, str) or not item.weights or (value is ... and item.weights.startswith("Keypoint")):
        return None
    if value is ... and not isinstance(item.argument.key, str):
        return None
    enumeration, _, member = item.weights.partition(".")
    name = spelled(view, use, f"{item.package}.{enumeration}")
    if name is None:
        return None
    imports.extend(name[1])
    text = f"{name[0]}.{member}"
    if value is not ...:
        return Template(text)
    return filled(f"{text} if $value else None", view, value=item.argument.value)


def _from_table(use: Use, view: ModuleView) -> Iterator[Finding]:
    """`models.__dict__[name](pretrained=True)`: which model it is, is known at run time only."""
    chosen = view.parent(use.node)
    call = view.parent(chosen) if isinstance(chosen, ast.Subscript) else None
    if not isinstance(call, ast.Call) or call.func is not chosen or not any(item.arg in _OLD for item in call.keywords):
        return
    name = '"quantized_" + name' if ".quantization." in use.target else "name"
    advice = (
        f'Write `torchvision.models.get_model({name}, weights="{_TABLES[use.target]}")` where the model has weights of that name, '
        '`weights=None` for no weights; `"DEFAULT"` takes the best ones there are, which are other ones for some models. '
        "`get_model` is new in torchvision 0.14."
    )
    yield _finding(view, call, _message("torchvision's models", _OLD[0]), advice)


def _message(builder: str, names: str) -> str:
    shown = " and ".join(f"`{name}`" for name in names.split(" and "))
    model = builder if " " in builder else f"`{builder}`"
    return f"{shown} of {model} is deprecated since torchvision 0.13 and may be removed."


def _advice(builder: Builder) -> str:
    if not builder.weights:
        return (
            f"There are no weights for `{builder.name}` that `pretrained=True` could mean: it raises. Write `weights=`."
        )
    advice = f"`pretrained=True` is `weights={builder.weights}`, False is `weights=None`."
    if builder.quantized:
        advice += f" With `quantize=True` it is `{builder.quantized}`."
    if builder.backbone:
        advice += f" `pretrained_backbone=True` is `weights_backbone={builder.backbone}`."
    return advice


def _finding(
    view: ModuleView, node: ast.expr, message: str, advice: str | None = None, fix: Fix | None = None
) -> Finding:
    return Finding("TL430", view.path, view.span(node), message, Severity.WARNING, advice, fix)


EXAMPLES = (
    Bad(
        "import torchvision\n\n\ndef build(flag):\n    a = torchvision.models.resnet50(pretrained=True)\n"
        "    b = torchvision.models.resnet50(False)\n    c = torchvision.models.resnet50(progress=False, pretrained=flag)\n"
        "    return a, b, c, torchvision.models.resnet50(True, False)\n",
        "import torchvision\n\n\ndef build(flag):\n    a = torchvision.models.resnet50(weights=torchvision.models.ResNet50_Weights.IMAGENET1K_V1)\n"
        "    b = torchvision.models.resnet50(weights=None)\n"
        "    c = torchvision.models.resnet50(progress=False, weights=torchvision.models.ResNet50_Weights.IMAGENET1K_V1 if flag else None)\n"
        "    return a, b, c, torchvision.models.resnet50(torchvision.models.ResNet50_Weights.IMAGENET1K_V1, False)\n",
        why="a classifier",
        files=BY_HAND,
        run="result = [build(True), build(False), build(1)]",
    ),
    Bad(
        "from torchvision.models.detection import ssd300_vgg16\n\n\ndef build():\n"
        "    return ssd300_vgg16(pretrained=True, pretrained_backbone=True), ssd300_vgg16(False, True, 91, True)\n",
        "from torchvision.models import VGG16_Weights\n"
        "from torchvision.models.detection import SSD300_VGG16_Weights, ssd300_vgg16\n"
        "\n\ndef build():\n"
        "    return ssd300_vgg16(weights=SSD300_VGG16_Weights.COCO_V1, weights_backbone=VGG16_Weights.IMAGENET1K_FEATURES), "
        "ssd300_vgg16(None, True, 91, VGG16_Weights.IMAGENET1K_FEATURES)\n",
        why="a detector with its backbone, imported by name",
        files=BY_HAND,
        run="result = build()",
    ),
    Bad(
        "from torchvision import models\n\n\ndef build(arch):\n    return models.__dict__[arch](pretrained=True)\n",
        why="a model chosen by its name",
    ),
    Bad(
        "from functools import partial\n\nfrom torchvision.models import resnet50\n\nmake = partial(resnet50, pretrained=True)\n",
        why="through functools.partial",
    ),
    Bad(
        "import torchvision.models.quantization as q\n\n\ndef build(quantize):\n    return q.resnet18(pretrained=True, quantize=quantize)\n",
        why="which weights depends on `quantize`",
    ),
    Bad(
        "from torchvision.models import vit_h_14\n\nmodel = vit_h_14(pretrained=True)\n",
        why="a model without such weights",
    ),
    Bad(
        "from torchvision.models import resnet50\n\nmodel = resnet50(pretrained=True)\n",
        why="the project supports a torchvision without `weights`",
        min_torch=TorchVersion(1, 11),
    ),
    Ok(
        "from torchvision.models import ResNet50_Weights, resnet50\n\nmodel = resnet50(weights=ResNet50_Weights.DEFAULT)\n",
        "the new parameter",
    ),
    Ok("import timm\n\nmodel = timm.create_model('resnet50', pretrained=True)  # not torchvision.models\n", "timm"),
    Ok(
        "from torchvision.models.vgg import cfgs, make_layers\n\nlayers = make_layers(cfgs['D'], False)\n",
        "no model builder",
    ),
    Ok(
        "from torchvision.models import resnet50\n\n\ndef build(weights):\n    return resnet50(weights)\n",
        "weights by position",
    ),
    Bad(
        "import numpy\nfrom torchvision.models import vit_h_14\n\n\ndef build(x, w):\n    try:\n        x = numpy.average(x, weights=w)\n"
        "    except TypeError:\n        return vit_h_14(pretrained=True), x\n",
        why="behind weights of something else",
    ),
    *(
        Ok(
            "from torchvision.models import resnet50\n\n\ndef build(weights):\n    try:\n        return resnet50(weights=weights)\n"
            f"    except{error}:\n        return resnet50(pretrained=True)\n",
            f"what is left where torchvision has no `weights`:{error}",
        )
        for error in (" TypeError", " (TypeError, ValueError)", " Exception")
    ),
    Ok(
        "from mymodels import resnet50\nimport torchvision.models\n\nm = resnet50(pretrained=True)\n",
        "an own model",
    ),
)
