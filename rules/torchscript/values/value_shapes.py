"""What the code right around a TorchScript value does with it, and what the file says of the names it is kept under."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.torchscript.values.value_life import Save
from torchlift.view import ModuleView, Scope
from torchlift.view.walk import walk

# Methods of `torch.nn.Module` that `ep.module()`, a `GraphModule`, has as well: dir() of both in torch 2.13.0, 2026-11-23.
_ABOUT_PARTS = frozenset(
    """add_module apply bfloat16 children compile cpu cuda double extra_repr float forward get_buffer get_extra_state get_parameter
    get_submodule half ipu modules mtia named_buffers named_children named_modules named_parameters parameters
    register_backward_hook register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_module register_parameter register_load_state_dict_post_hook register_load_state_dict_pre_hook register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule
    share_memory state_dict load_state_dict to to_empty type xpu zero_grad buffers""".split()
)
FREEZERS = frozenset({"torch.jit.freeze", "torch.jit.optimize_for_inference", "torch.jit.run_frozen_optimizations"})
_SHOWN_OTHERWISE = {
    "graph": "is asked for `.graph`: an `ExportedProgram` has a `.graph` too, of torch.fx and not of TorchScript",
    "code": "is asked for `.code`: `.module().code` is Python made by torch.fx, not TorchScript",
    "training": "is asked for `.training`, which is always True on an exported module, whatever mode was captured",
    "save_to_buffer": "is written with `.save_to_buffer()`; `torch.export.save(program, buffer)` writes to an `io.BytesIO`",
    "train": "is switched with `.train()`, which an exported module rejects with NotImplementedError",
    "_save_for_lite_interpreter": (
        "is written for the mobile interpreter; its successor is ExecuTorch: "
        "`to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()`"
    ),
}

# What an ExportedProgram's module offers under the same name; measured on torch 2.13.0 and 2.15.0, 2026-11-21.
SAME_ON_MODULE = frozenset(
    {"parameters", "named_parameters", "buffers", "named_buffers", "load_state_dict", "requires_grad_", "zero_grad"}
)


def wrapped(view: ModuleView, value: ast.expr) -> ast.Call | None:
    """The call around `value` that gives the same value: `.eval()`, `torch.jit.freeze(...)`."""
    parent = view.parent(value)
    if isinstance(parent, ast.Attribute) and parent.attr == "eval":
        call = view.parent(parent)
        if isinstance(call, ast.Call) and call.func is parent and not call.args and not call.keywords:
            return call
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is value:
        return parent if view.certain_name(parent.func) in FREEZERS else None
    return None


def save_of(view: ModuleView, value: ast.expr) -> Save | None:
    """The call that saves a value, if that is what is done with it, and it was understood."""
    parent = view.parent(value)
    if isinstance(parent, ast.Attribute) and parent.attr == "save":
        call = view.parent(parent)
        if isinstance(call, ast.Call) and call.func is parent:
            return _save(call, value, list(call.args), method=True)
    given = isinstance(parent, ast.Call) and parent.args and parent.args[0] is value
    if isinstance(parent, ast.Call) and given and view.certain_name(parent.func) == "torch.jit.save":
        return _save(parent, value, list(parent.args[1:]), method=False)
    return None


def _save(call: ast.Call, value: ast.expr, arguments: list[ast.expr], *, method: bool) -> Save | None:
    """A save call taken apart; None if it has arguments that are not understood."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if any(isinstance(argument, ast.Starred) for argument in arguments) or None in given:
        return None
    names = ["f", "_extra_files"][: len(arguments)]
    if len(arguments) > 2 or set(names) & set(given) or set(given) - {"f", "_extra_files"}:
        return None
    given |= dict(zip(names, arguments, strict=True))
    path = given.get("f")
    return Save(call, value, path, method, given.get("_extra_files")) if path is not None else None


def escape(parent: ast.AST | None) -> str:
    """A clause for a value that gets where it is not followed."""
    match parent:
        case ast.Yield() | ast.YieldFrom() | ast.Lambda():
            return "is handed out, and its users are not looked at"
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.Starred():
            return "is put into a container, where its uses are not followed"
        case _:
            return "is used in an expression that is not followed"


def missing(attribute: str) -> str:
    """A clause for a value that is asked for what an exported module has otherwise or not at all."""
    known = _SHOWN_OTHERWISE.get(attribute)
    if attribute in _ABOUT_PARTS:
        return f"is asked for `.{attribute}`, which an exported program has on its `.module()` alone, whose parts are others"
    return (
        known
        or f"is asked for `.{attribute}`, which an `ExportedProgram` does not have (its `.module()` keeps parameters and bare submodules, no methods)"
    )


def giver_of_more(view: ModuleView, statement: ast.Return) -> str:
    """The name of the function around a `return`, if it returns values of its own elsewhere, too; else empty."""
    function = view.function_of(statement)
    if function is None:
        return ""
    other = [node for node in walk(function) if isinstance(node, ast.Return) and node is not statement]
    return function.name if any(node.value is not None and not is_none(node.value) for node in other) else ""


def is_listed(view: ModuleView, name: str) -> bool:
    """Whether a file offers `name` in its `__all__`, or may do so."""
    return any(
        listed.value is None
        or any(isinstance(node, ast.Constant) and node.value == name for node in walk(listed.value))
        for listed in view.scopes.module.bindings.get("__all__", ())
    )


def read_in_functions_only(view: ModuleView, owner: Scope, name: str) -> bool:
    """Whether a global is never read while the module itself runs, where it is not known which function ran before."""
    return owner.kind == "module" and all(
        view.function_of(chain.root) is not None
        for chain in view.scopes.chains.get(name, ())
        if isinstance(chain.root.ctx, ast.Load)
    )


def is_quoted(view: ModuleView, name: str) -> bool:
    """Whether a string of the file is `name`."""
    if not any(f"{quote}{name}{quote}" in view.source.text for quote in "\"'"):
        return False
    return any(isinstance(node, ast.Constant) and node.value == name for node in walk(view.tree))


def is_placeholder(view: ModuleView, node: ast.Attribute) -> bool:
    """Whether a store only reserves the attribute: `self.net = None`."""
    parent = view.parent(node)
    value = parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
    return isinstance(value, ast.Constant) and value.value is None
