"""Functions of torch that TorchScript calls as methods of a tensor, which a tensor in Python does not have.

TorchScript looks a method up among all operators whose first argument is a tensor: `x.zeros_like()` compiles, and raises
AttributeError in Python (run on torch 2.13.0, 2026-11-23).
"""

from __future__ import annotations

import ast

from torchlift.rules.torchscript.facts.value_kinds import is_tensor_annotation
from torchlift.rules.torchscript.functions.scripted_expressions import FunctionNode
from torchlift.view import ModuleView
from torchlift.view.walk import walk

SCRIPT_ONLY_METHODS = frozenset(
    """zeros_like ones_like empty_like full_like rand_like randn_like randint_like std_mean var_mean gelu silu mish elu selu
    celu leaky_relu relu6 softplus dropout layer_norm group_norm one_hot pad linear conv1d conv2d conv3d avg_pool2d
    max_pool2d mse_loss l1_loss cosine_similarity cdist tensordot view_as_real view_as_complex""".split()
)


def script_only_methods(view: ModuleView, node: FunctionNode) -> list[str]:
    """Clauses about methods that a tensor has in TorchScript only, called on parameters that are tensors."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    tensors = {
        argument.arg
        for argument in arguments
        if argument.arg not in {"self", "cls"}
        and (argument.annotation is None or is_tensor_annotation(view, argument.annotation))
    }
    return [
        f"line {call.lineno} calls `{name}.{method}()`, which a tensor has in TorchScript only: write "
        f"`torch.{method}({name})` or its like in `torch.nn.functional` first"
        for call in walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and (name := call.func.value.id) in tensors
        and (method := call.func.attr) in SCRIPT_ONLY_METHODS
    ][:1]
