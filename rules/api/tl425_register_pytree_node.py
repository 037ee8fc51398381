"""`torch.utils._pytree._register_pytree_node`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from torchlift.finding import Finding
from torchlift.rules.renaming import MovedName, Renaming
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_ROW = MovedName(
    "torch.utils._pytree._register_pytree_node",
    "torch.utils._pytree.register_pytree_node",
    TorchVersion(2, 2),
    "torch/utils/_pytree.py:538",
    deprecated=TorchVersion(2, 2),
    review=(
        "the new function raises ValueError for a class that is registered already, where the old one warned and registered it "
        "again, and it registers with the C++ pytree too."
    ),
)
_RENAMING = Renaming("TL425", (_ROW,))

RULE = Rule(
    code="TL425",
    name="register-pytree-node",
    summary="`_register_pytree_node`, deprecated in favour of `register_pytree_node`",
    why=(
        "The private name warns since 2.2. The new one is stricter: a second registration of a class, which importing a module twice "
        "brings about, raises."
    ),
    fix="For review: right where each class is registered once.",
    targets=_RENAMING.targets,
    triggers=_RENAMING.triggers,
    collectors=(_RENAMING.patches,),
    deprecated=TorchVersion(2, 2),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/utils/_pytree.py:216 of torch 2.2.2 and :538 of 2.13.0 (FutureWarning); https://github.com/pytorch/pytorch/pull/112111",
    ),
)

# Parameters of the old function alone, or of the new one by keyword only.
_BEHIND = ("to_str_fn", "maybe_from_str_fn")
# Registered by torch/utils/_pytree.py of torch 2.13.0, so that the new function raises ValueError for them (run 2026-11-27).
_REGISTERED = frozenset(
    {
        "dict",
        "list",
        "tuple",
        *(f"collections.{name}" for name in ("OrderedDict", "defaultdict", "deque", "namedtuple")),
    }
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    for finding in _RENAMING.check(use, context):
        registered = _registered(view) if finding.fix is not None else None
        if registered is not None:
            advice = (
                f"Torch registers `{registered}` itself, and `register_pytree_node` raises ValueError for what is registered: drop the "
                "call where torch's own way will do."
            )
            yield dataclasses.replace(finding, fix=None, help=advice)
        elif finding.fix is not None and any(word in view.source.text for word in _BEHIND):
            yield dataclasses.replace(
                finding,
                fix=None,
                help="Write `register_pytree_node(cls, flatten_fn, unflatten_fn)`; it has neither `to_str_fn` nor "
                "`maybe_from_str_fn`, use `serialized_type_name`, `to_dumpable_context` and `from_dumpable_context`.",
            )
        else:
            yield finding


def _registered(view: ModuleView) -> str | None:
    """What the file registers by the old name although torch does so itself; None if nothing."""
    for node in walk(view.tree):
        if isinstance(node, ast.Call) and node.args and view.possible_name(node.func) == _ROW.old:
            name = view.possible_name(node.args[0]) or view.text(node.args[0])
            if name in _REGISTERED:
                return name
    return None


EXAMPLES = (
    Bad(
        "import torch\n\n\nclass Pair(list):\n    pass\n\n\n"
        "torch.utils._pytree._register_pytree_node(Pair, lambda p: (list(p), None), lambda v, _: Pair(v))\n",
        "import torch\n\n\nclass Pair(list):\n    pass\n\n\n"
        "torch.utils._pytree.register_pytree_node(Pair, lambda p: (list(p), None), lambda v, _: Pair(v))\n",
        safety="unsafe",
        why="one class",
        run="result = torch.utils._pytree.tree_map(lambda v: v + 1, {'a': Pair([1, 2])})['a'][1]",
    ),
    Bad(
        "from torch.utils._pytree import _register_pytree_node\n\n\nclass Pair(list):\n    pass\n\n\n"
        "_register_pytree_node(Pair, lambda p: (list(p), None), lambda v, _: Pair(v), lambda context: '')\nto_str_fn = None\n",
        why="how a context is written as text",
    ),
    Bad(
        "from torch.utils._pytree import _register_pytree_node\n\n_register_pytree_node(dict, lambda d: (list(d), None), lambda v, _: dict(v))\n",
        why="what torch registers itself",
    ),
    Ok(
        "from torch.utils import _pytree as pytree\n\npytree.register_pytree_node(set, list, lambda v, _: set(v))\n",
        "the new name",
    ),
    Ok(
        "import torch\n\ntry:\n    from torch.utils._pytree import register_pytree_node\nexcept ImportError:\n"
        "    from torch.utils._pytree import _register_pytree_node as register_pytree_node\n",
        "a fallback for old releases",
    ),
    Ok("from optree import _register_pytree_node\n\n_register_pytree_node(1)\n", "another library's"),
)
