"""The device that advice names for an `init_process_group` which no fix is offered for."""

from __future__ import annotations

import ast
import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.values.environment_reads import environment_read, environment_variable
from torchlift.rules.analysis.wording.messages import spelled_out
from torchlift.rules.distributed.devices.device_value import device_kind
from torchlift.rules.distributed.devices.init_call import InitCall
from torchlift.rules.distributed.devices.local_rank import customary_device, reads_local_rank, visible_rank
from torchlift.rules.distributed.devices.process_device import ProcessDevice
from torchlift.rules.distributed.facts.launchers import SET_BY_TORCHRUN
from torchlift.view import ModuleView
from torchlift.view.walk import walk

NUMBER = lazy_pattern(r"(?:rank|gpu|gpu_id|index|idx|device_id)$", re.IGNORECASE)
"""How names of numbers end; it only decides between two spellings of what somebody reviews anyway."""


def advised_device(view: ModuleView, project: Project, init: InitCall, found: ProcessDevice | None) -> tuple[str, str]:
    """A device for `init` and the rest of the sentence that says where it comes from, as of `_advised`.

    What the text names beside that, and the file does not have, is said with it.
    """
    device, note = _advised(view, project, init, found)
    missing = [
        name
        for name in ("torch", "os")
        if device.find(f"{name}.") >= 0 and view.scope_at(init.call).lookup(name) is None
    ]
    return device, f" (`import {', '.join(missing)}` first){note}" if missing else note


def _advised(view: ModuleView, project: Project, init: InitCall, found: ProcessDevice | None) -> tuple[str, str]:
    """A device for `init` and the rest of the sentence that says where it comes from, for text that is not checked.

    `found` is the `set_device` that belongs to `init`, if any. Without one the device is given in the words that this
    project uses, where they mean something at the call. `LOCAL_RANK` is named only where torchrun may have set it.
    """
    if found is not None and not found.obstacle:
        moved = {_target(statement): statement.value for statement in found.moved}
        device = spelled_out(view, found.device, lambda name: moved.get(name.id))
        note = f", the device that `set_device` gets on line {found.call.lineno}" if found.moved else ""
        return as_device(view, project, found.device, device, init.call), note
    if found is not None and (not found.after or isinstance(found.device, ast.Subscript)):
        device = as_device(view, project, found.device, view.text(found.device), init.call)
        late = " is worked out before this call" if found.after else ""
        return device, f", {'once ' * found.after}the device that `set_device` gets on line {found.call.lineno}{late}"
    if found is None:
        known = _known_here(view, project, init)
        if known is not None:
            return known
    index = _index_at_hand(view, project, init) if found is None else None
    if index is not None:
        return index
    if _own_launcher(view, project, init):
        return 'torch.device("cuda", own_gpu)', ", with the index of this rank's own GPU for `own_gpu`"
    instead = "; under another launcher take this rank's own GPU" if found is None else ""
    return 'torch.device("cuda", int(os.environ["LOCAL_RANK"]))', f" (torchrun sets `LOCAL_RANK`{instead})"


def as_device(view: ModuleView, project: Project, node: ast.expr, text: str, at: ast.Call) -> str:
    """How to write a `torch.device` for the device expression `node`, which may be spelled as `text`."""
    kind = device_kind(view, project, node, at)
    if kind == "device" or (kind == "unknown" and text.endswith("device")):
        return text
    if kind == "integer" or (kind == "unknown" and NUMBER.search(view.text(node))):
        return f'torch.device("cuda", {text})'
    return f"torch.device({text})"


def _known_here(view: ModuleView, project: Project, init: InitCall) -> tuple[str, str] | None:
    call = init.call
    rank = visible_rank(view, init)
    if rank is not None:
        text = rank.text if rank.is_device else f'torch.device("cuda", {rank.text})'
        return text, f", assuming that {rank.why}"
    device = _typed_device(view, call)
    if device is not None:
        return device, ", where that is a GPU with its index"
    function = view.function_of(call)
    lines = range(function.lineno, (function.end_lineno or function.lineno) + 1) if function is not None else range(0)
    customary = customary_device(project, view.path, lines, lambda text: _means_something(view, text, call))
    if customary is None:
        return None
    text, line = customary
    if text.startswith(("f'", 'f"', "'", '"')):
        text = f"torch.device({text})"
    elif not text.startswith(("torch.device(", "device")) and not text.endswith("device"):
        text = f'torch.device("cuda", {text})'
    return text, f", the device that `set_device` gets on line {line}"


def _means_something(view: ModuleView, text: str, call: ast.Call) -> bool:
    """Whether an expression of another function names the same thing at `call`: `args.local_rank` does, `self.rank` not."""
    names = {node.id for node in walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    return "self" not in names and all(name in {"int", "str"} or _has_value(view, name, call) for name in names)


def _has_value(view: ModuleView, name: str, call: ast.Call) -> bool:
    """Whether `name` is bound where `call` stands, and not only behind it, nor to a constant: no rank of every process."""
    scope = view.scope_at(call)
    owner = scope.lookup(name)
    if owner is None:
        return False
    if owner is scope:
        before = [b for b in owner.bindings[name] if getattr(b.node, "lineno", call.lineno) < call.lineno]
        return bool(before) and not any(isinstance(b.value, ast.Constant) for b in before)
    return not all(_of_program_alone(view, b.node) for b in owner.bindings[name])


def _of_program_alone(view: ModuleView, node: ast.AST) -> bool:
    """Whether a name is bound under `if __name__ == "__main__":`, which a process made by `mp.spawn` never runs."""
    return any(isinstance(one, ast.If) and "__main__" in ast.unparse(one.test) for one in view.ancestors(node))


def _typed_device(view: ModuleView, call: ast.Call) -> str | None:
    """A parameter, or an attribute of `self`, that is annotated as a `torch.device` and has its value at `call`."""
    function = view.function_of(call)
    if function is None:
        return None
    for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        bindings = view.scope_at(call).bindings.get(parameter.arg, ())
        if len(bindings) == 1 and bindings[0].node is parameter and _is_device(view, parameter.annotation):
            return parameter.arg
    owner = view.parent(function)
    if not isinstance(owner, ast.ClassDef) or not function.args.args or function.args.args[0].arg != "self":
        return None
    for node in walk(owner):
        if isinstance(node, ast.AnnAssign) and _is_device(view, node.annotation):
            match node.target:
                case ast.Name(id=name) if view.parent(node) is owner:
                    return f"self.{name}"
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    home = view.function_of(node)
                    first = home is not None and home is not function and home.name == "__init__"
                    if first or (home is function and node.lineno < call.lineno):
                        return f"self.{name}"
    return None


def _is_device(view: ModuleView, annotation: ast.expr | None) -> bool:
    return annotation is not None and view.possible_name(annotation) == "torch.device"


def _index_at_hand(view: ModuleView, project: Project, init: InitCall) -> tuple[str, str] | None:
    """A parameter that the function around `init` moves things to, `x.cuda(gpu)`, or that it gives as the rank."""
    function = view.function_of(init.call)
    if function is None:
        return None
    moves = project.of_view(_moves_known, view)
    if function not in moves:
        moves[function] = _moved_to(view, function)
    if moves[function] is not None:
        return moves[function]
    rank = init.arguments.get("rank")
    if isinstance(rank, ast.Name) and _is_parameter(view, rank):
        return f'torch.device("cuda", {rank.id})', ", if all processes run on one host"
    return None


def _moves_known(project: Project, view: ModuleView) -> dict[ast.AST, tuple[str, str] | None]:
    """Parameters that functions of a file move things to: a function may start many groups."""
    return {}


def _moved_to(view: ModuleView, function: ast.AST) -> tuple[str, str] | None:
    for node in walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="cuda" | "to"), args=[ast.Name(id=name) as index, *_]) if (
                NUMBER.search(name) and _is_parameter(view, index)
            ):
                return f'torch.device("cuda", {name})', f", to which line {node.lineno} moves what it computes with"
    return None


def _is_parameter(view: ModuleView, name: ast.Name) -> bool:
    binding = view.definition(name)
    return binding is not None and binding.kind == "param"


def _own_launcher(view: ModuleView, project: Project, init: InitCall) -> bool:
    """Whether the rank is passed by hand and neither it nor anything near by is read from what torchrun sets."""
    function = view.function_of(init.call)
    tells = project.of_view(_known, view)
    if function is not None and function not in tells:
        tells[function] = any(_tells_the_rank(view, node) for node in walk(function))
    if function is not None and tells[function]:
        return not reads_local_rank(project, view.path)
    rank = init.arguments.get("rank")
    if rank is None or environment_variable(view, rank) in SET_BY_TORCHRUN:
        return False
    if isinstance(rank, ast.UnaryOp) and isinstance(rank.op, ast.USub):
        return False  # -1, the default
    return not reads_local_rank(project, view.path)


def _known(project: Project, view: ModuleView) -> dict[ast.AST, bool]:
    """Whether functions of a file tell the rank: a function may start many groups."""
    return {}


def _tells_the_rank(view: ModuleView, node: ast.AST) -> bool:
    """Whether a node is `os.environ["RANK"]` that is stored to: no launcher of torch has set it then."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Store):
        return False
    read = environment_read(view, node)
    return read is not None and read.variable == "RANK"


def _target(statement: ast.Assign) -> str:
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""
