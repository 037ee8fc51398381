"""`default_collate` and `default_convert` by their private path."""

from __future__ import annotations

from torchlift.rules.api.tables.moved_names import PRIVATE_COLLATE_NAMES
from torchlift.rules.renaming import Renaming
from torchlift.rules.rule import Bad, Ok, Rule
from torchlift.versions import TorchVersion

_RENAMING = Renaming("TL426", PRIVATE_COLLATE_NAMES)

RULE = Rule(
    code="TL426",
    name="private-collate",
    summary="`default_collate` or `default_convert` imported from the private `torch.utils.data._utils`",
    why="Private modules move without notice. Both functions have been public in `torch.utils.data` since 1.11.",
    fix="Safe: the same functions.",
    targets=_RENAMING.targets,
    triggers=_RENAMING.triggers,
    check=_RENAMING.check,
    collectors=(_RENAMING.patches,),
    aliases=("TOR104", "TOR105"),
    sources=(
        "torch/utils/data/dataloader.py:71-72 of torch 2.13.0; https://github.com/pytorch/pytorch/pull/69862",
        "the table in rules/api/tables/moved_names.py has the evidence of each row",
    ),
)

EXAMPLES = (
    Bad(
        "from torch.utils.data._utils.collate import default_collate\n\n\ndef f(batch):\n    return default_collate(batch)\n",
        "from torch.utils.data import default_collate\n\n\ndef f(batch):\n    return default_collate(batch)\n",
        why="imported by name",
        run="result = f([1.0, 2.0])",
    ),
    Bad(
        "import torch\nfrom torch.utils.data import _utils\n\n\ndef f(batch):\n"
        "    return _utils.collate.default_collate(batch), torch.utils.data._utils.collate.default_convert(batch)\n",
        "import torch\n\n\ndef f(batch):\n"
        "    return torch.utils.data.default_collate(batch), torch.utils.data.default_convert(batch)\n",
        why="through the modules",
        run="result = f([1.0, 2.0])",
    ),
    Bad(
        "from torch.utils.data._utils.collate import default_collate\n\n\ndef f(batch):\n    return default_collate(batch)\n",
        why="the project supports a torch without the public name",
        min_torch=TorchVersion(1, 10),
    ),
    Ok(
        "from torch.utils.data import default_collate\n\n\ndef f(b):\n    return default_collate(b)\n",
        "the public name",
    ),
    Ok(
        "from torch.utils.data._utils import collate, pin_memory\n\nm = collate.default_collate_fn_map\n",
        "another name",
    ),
    Ok("def default_collate(batch):\n    return batch\n\n\nprint(default_collate([1]))\n", "an own function"),
)
