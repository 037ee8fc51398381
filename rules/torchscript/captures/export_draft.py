"""The export call that would capture a module, drafted for messages from its class and from calls that are visible."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.modules.scripted_module import ScriptedModule
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_AUTO = "torch.export.Dim.AUTO"
_NUMBERS = frozenset({"int", "float", "bool", "str"})
_CONTAINERS = lazy_pattern(r"\b(?:List|list|Dict|dict|Tuple|tuple)\b")
_TEXT = lazy_pattern(r"\bstr\b(?!\s*,)")
_NUMBER_LIST = lazy_pattern(r"\b[Ll]ist\[(?:[Ll]ist\[)?(?:int|float|bool)\b")
_DEPTH = 4
_EMPTY = "Its `forward` takes no inputs: what is called in its place needs a program of its own."
_UNREAD = (
    "Which inputs are tensors was not worked out: `inputs` is the tuple of example inputs, of batch size 2 or more (a size of 1 becomes "
    f"fixed), and `shapes` a list `[{_AUTO}] * tensor.dim()` for every tensor in it."
)


@dataclass(frozen=True)
class Draft:
    """An export call for a module whose example inputs have to be written.

    Attributes:
        code: the call, with the arguments of a visible call or the names of forward's parameters for example inputs.
        remarks: what to know about its inputs, sentences.
        plain: `strings` or `numbers` where all inputs visibly are made of them, which a capture would fix; else empty.
    """

    code: str
    remarks: str
    plain: str = ""


@dataclass(frozen=True)
class _Input:
    """One input.

    Attributes:
        shown: how the draft writes it.
        what: `tensor`, `number`, `container`, `text` or `numbers`.
        name: the parameter it is for; empty if that is not known.
        keyword: its keyword, if it has one.
        told: whether an annotation or the value says what it is, and it is not only taken for a tensor.
    """

    shown: str
    what: str
    name: str = ""
    keyword: str | None = None
    told: bool = True


def draft_export(module: ScriptedModule, calls: Sequence[tuple[ModuleView, ast.Call]] = ()) -> Draft:
    """The export call that would capture `module`.

    Args:
        module: the module.
        calls: calls of the module or of its scripted form, the most telling one first.
    """
    forward = module.forward
    parameters = [*forward.args.posonlyargs, *forward.args.args][1:] if forward is not None else []
    required = len(parameters) - (len(forward.args.defaults) if forward is not None else 0)
    fixed_number = forward is not None and forward.args.vararg is None
    call = next((item for item in calls if _plain(item[1], len(parameters) if fixed_number else None)), None)
    if call is not None:
        inputs = list(_of_call(*call, parameters, forward))
    else:
        inputs = [_Input(p.arg, _of_parameter(p, forward), p.arg, told=_is_told(p)) for p in parameters[:required]]
    given = {item.keyword for item in inputs if item.keyword} | {
        p.arg for p in parameters[: sum(item.keyword is None for item in inputs)]
    }
    left = [p for p in parameters if p.arg not in given]
    optional = [p.arg for p in left if _is_optional(p) or p.annotation is None]
    optional += [p.arg for p in parameters if call is None and p.arg in given and _is_optional(p)]
    plain_inputs = [item for item in inputs if item.what in {"number", "text", "numbers"}]
    fixed = [item.name or item.shown for item in plain_inputs if item.name or item.shown.isidentifier()]
    fixed += [p.arg for p in left if p.arg not in optional]
    if not inputs:
        inputs = [_Input(p.arg, _of_parameter(p, forward), p.arg, told=_is_told(p)) for p in parameters[:1]]
    shapes = f", dynamic_shapes={_shapes(inputs)}" if inputs else ""
    code = f"torch.export.export({_evaluated(module)}, {_arguments(inputs)}{shapes})"
    whats = [item.what for item in inputs]
    plain = ""
    if {"tensor", "container"}.isdisjoint(whats):
        plain = "strings" if "text" in whats else "numbers" if "numbers" in whats else ""
    unread = not inputs and (forward is None or forward.args.vararg is not None)
    if unread or any(item.what == "tensor" and not item.told for item in inputs):
        return Draft(f"torch.export.export({_evaluated(module)}, inputs, dynamic_shapes=shapes)", _UNREAD, plain)
    remarks = " ".join(_remarks(inputs, fixed, optional)) if inputs else _EMPTY
    return Draft(code, remarks, plain)


def _plain(call: ast.Call, most: int | None) -> bool:
    """Whether a call writes its arguments out, and no more than `forward` takes."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        return False
    count = len(call.args) + len(call.keywords)
    return count > 0 and (most is None or len(call.args) <= most)


def _of_call(
    view: ModuleView, call: ast.Call, parameters: list[ast.arg], forward: ast.FunctionDef | None
) -> Iterator[_Input]:
    by_name = {parameter.arg: parameter for parameter in parameters}
    used: set[str] = set()
    values: list[tuple[str | None, ast.expr]] = [(None, argument) for argument in call.args]
    values += [(keyword.arg, keyword.value) for keyword in call.keywords]
    for index, (keyword, value) in enumerate(values):
        parameter = by_name.get(keyword) if keyword else (parameters[index] if index < len(parameters) else None)
        declared = _of_parameter(parameter, forward) if parameter is not None else "tensor"
        seen = _of_value(view, value, _DEPTH)
        what = seen if seen != "tensor" else declared
        shown = _shown(view, value, keyword or (parameter.arg if parameter is not None else "x"), used)
        used.add(shown)
        name = parameter.arg if parameter is not None else keyword or ""
        told = (parameter is not None and _is_told(parameter)) or _is_made_by_torch(view, value)
        yield _Input(shown, what, name, keyword, told)


def _is_told(parameter: ast.arg) -> bool:
    return parameter.annotation is not None and "Tensor" in ast.unparse(parameter.annotation)


def _is_made_by_torch(view: ModuleView, value: ast.expr) -> bool:
    """Whether a value is what a function of torch gives, as far as one name leads."""
    binding = view.definition(value) if isinstance(value, ast.Name) else None
    made = binding.value if binding is not None and binding.kind == "assign" else value
    return isinstance(made, ast.Call) and view.certain_name(made.func).rpartition(".")[0] == "torch"


def _shown(view: ModuleView, value: ast.expr, name: str, used: set[str]) -> str:
    """How a draft writes one argument: a variable or constant as it is, for all else a name."""
    text = view.text(value)
    base = value
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(value, ast.Constant) or (isinstance(base, ast.Name) and len(text) <= 40 and "\n" not in text):
        # The same tensor twice would become one input of the program.
        return f"{text}.clone()" if text in used and not isinstance(value, ast.Constant) else text
    number = 2
    shown = name
    while shown in used:
        shown, number = f"{name}{number}", number + 1
    return shown


def _of_value(view: ModuleView, value: ast.expr, depth: int) -> str:
    match value:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return "text"
        case ast.Constant():
            return "number"
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            kinds = {_of_value(view, element, depth - 1) for element in elements} if depth else set()
            if kinds and kinds <= {"text", "number", "numbers"}:
                return "text" if "text" in kinds else "numbers"
            return "container"
        case ast.Dict():
            return "container"
    binding = view.definition(value)
    if depth and binding is not None and binding.kind == "assign" and binding.value is not None:
        return _of_value(view, binding.value, depth - 1)
    return "tensor"


def _of_parameter(parameter: ast.arg, forward: ast.FunctionDef | None) -> str:
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    if annotation in _NUMBERS - {"str"}:
        return "number"
    plain = _plain_kind(annotation)
    if plain is not None:
        return plain
    if _CONTAINERS.search(annotation):
        return "container"
    if forward is not None and annotation.rpartition(".")[2] in {"", "Any"}:
        return _plain_kind(" ".join(_asked_types(forward, parameter.arg))) or "tensor"
    return "tensor"


def _plain_kind(annotation: str) -> str | None:
    if "Tensor" in annotation:
        return None
    return "text" if _TEXT.search(annotation) else "numbers" if _NUMBER_LIST.search(annotation) else None


def _asked_types(forward: ast.FunctionDef, name: str) -> Iterator[str]:
    """The types for which `forward` tests a parameter."""
    for child in walk(forward):
        if (
            isinstance(child, ast.Call)
            and ast.unparse(child.func).rpartition(".")[2] == "isinstance"
            and len(child.args) == 2
            and isinstance(child.args[0], ast.Name)
            and child.args[0].id == name
        ):
            yield ast.unparse(child.args[1])


def _is_optional(parameter: ast.arg) -> bool:
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    return "Optional" in annotation or "None" in annotation


def _evaluated(module: ScriptedModule) -> str:
    """The module in eval mode; what may be a function has no mode."""
    if module.kind != "module" or module.text.endswith(".eval()"):
        return module.text
    return f"{module.text}.eval()"


def _arguments(inputs: list[_Input]) -> str:
    keywords = ", ".join(f'"{item.keyword}": {item.shown}' for item in inputs if item.keyword is not None)
    positional = _tuple([item.shown for item in inputs if item.keyword is None])
    return f"{positional}, {{{keywords}}}" if keywords else positional


def _shapes(inputs: list[_Input]) -> str:
    shapes = {"number": "None", "text": "None", "numbers": "None", "container": "..."}
    return _tuple([shapes.get(item.what, f"[{_AUTO}] * {item.shown}.dim()") for item in inputs])


def _remarks(inputs: list[_Input], fixed: list[str], optional: list[str]) -> Iterator[str]:
    tensors = [item.shown for item in inputs if item.what in {"tensor", "container"}]
    containers = [item.shown for item in inputs if item.what == "container"]
    if tensors:
        some = "an example tensor" if len(tensors) == 1 and not containers else "example inputs"
        yield f"Take {some} {_listed(tensors)} of batch size 2 or more: a size of 1 becomes fixed."
    if containers:
        yield f"`...` stands for a list `[{_AUTO}] * t.dim()` for every tensor `t` in {_listed(containers)}, in the same structure."
    if fixed:
        yield f"{_listed(fixed)} {'is' if len(fixed) == 1 else 'are'} fixed to the value it is exported with."
    if optional:
        them = "it" if len(optional) == 1 else "them"
        yield f"Capture with {_listed(optional)} where callers give {them}: a program captured without has no use for {them}."


def _tuple(elements: list[str]) -> str:
    return f"({elements[0]},)" if len(elements) == 1 else f"({', '.join(elements)})"


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
