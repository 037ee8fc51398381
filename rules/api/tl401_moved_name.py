"""Names that moved: the table path."""

from __future__ import annotations

from torchlift.rules.api.tables.companion_moves import COMPANION_MOVES
from torchlift.rules.api.tables.moved_names import MOVED_NAMES
from torchlift.rules.renaming import Renaming
from torchlift.rules.rule import Bad, Ok, Rule
from torchlift.versions import TorchVersion

_RENAMING = Renaming("TL401", (*MOVED_NAMES, *COMPANION_MOVES))

RULE = Rule(
    code="TL401",
    name="moved-name",
    summary="A name of torch or torchvision that has moved",
    why="The old names are aliases that warn, or are gone; the new ones are the same objects or do the same.",
    fix=(
        "Safe: each row of the table of torch was checked by calling both names. Needs review: names of torchvision, which were read in "
        "its wheels and not called. A fix is offered only if the lowest torch the "
        "project supports has the new name. Nothing is renamed while the project stores to the old name or names it in a string, as "
        "patches do. Imports keep their `as` names; where the imported name can be renamed "
        "throughout the file it is."
    ),
    targets=_RENAMING.targets,
    triggers=_RENAMING.triggers,
    check=_RENAMING.check,
    changed_in=_RENAMING.changed_in,
    collectors=(_RENAMING.patches,),
    sources=("the tables in rules/api/tables/moved_names.py and companion_moves.py have the evidence of each row",),
    aliases=("TOR101", "TOR103"),
)

_RUN = "result = f(torch.arange(3.0), torch.arange(2.0))"

EXAMPLES = (
    Bad(
        "import torch\n\nINITS = {'kaiming_normal': torch.nn.init.kaiming_normal}\n\n\ndef restore():\n    for name, function in INITS.items():\n"
        "        setattr(torch.nn.init, name, function)\n",
        why="a table that puts back what was patched",
    ),
    Bad(
        "import torch\n\n\ndef f(a, b):\n    return torch.ger(torch.ger(a, b)[0], b)\n",
        "import torch\n\n\ndef f(a, b):\n    return torch.outer(torch.outer(a, b)[0], b)\n",
        why="nested calls in one go",
        run=_RUN,
    ),
    Bad(
        "import torch as th\n\n\ndef f(a, b):\n    return th.ger(a, b)\n",
        "import torch as th\n\n\ndef f(a, b):\n    return th.outer(a, b)\n",
        why="aliased module",
        run="import torch\n" + _RUN,
    ),
    Bad(
        "from torch import ger\n\n\ndef f(a, b):\n    return ger(a, b)\n",
        "from torch import outer\n\n\ndef f(a, b):\n    return outer(a, b)\n",
        why="from-import renamed throughout",
        run="import torch\n" + _RUN,
    ),
    Bad(
        "from torch import ger as g, ones\n\n\ndef f(a, b):\n    return g(a, b) + ones(1)\n",
        "from torch import ones, outer as g\n\n\ndef f(a, b):\n    return g(a, b) + ones(1)\n",
        why="from-import with an as name",
        run="import torch\n" + _RUN,
    ),
    Bad(
        "from torch import ger\n\n\ndef f(a, b):\n    outer = ger\n    return outer(a, b)\n",
        "from torch import outer as ger\n\n\ndef f(a, b):\n    outer = ger\n    return outer(a, b)\n",
        why="the new name is taken",
        run="import torch\n" + _RUN,
    ),
    Bad(
        "import torch\n\ntable = {'ger': torch.ger}\n\n\ndef f(a, b, g=torch.ger):\n    return g(*(a, b)) + table['ger'](a, b)\n",
        "import torch\n\ntable = {'ger': torch.outer}\n\n\ndef f(a, b, g=torch.outer):\n    return g(*(a, b)) + table['ger'](a, b)\n",
        why="references that are not calls",
        run=_RUN,
    ),
    Bad(
        "import torch\n\n\ndef f(a, b):\n    return torch.ger(a, b)\n",
        why="the project supports a torch without the new name",
        min_torch=TorchVersion(1, 6),
    ),
    Bad(
        "import functorch\nimport torch\n\n\ndef f(a, b):\n    return functorch.vmap(torch.dot)(a, a)\n",
        "import torch\n\n\ndef f(a, b):\n    return torch.func.vmap(torch.dot)(a, a)\n",
        why="a module that is left without use",
        run="result = f(torch.ones(3, 2), None)",
    ),
    Bad(
        "import functorch as ft\nimport torch\nimport torch.nn.init as init\n\n\ndef f(a, b):\n"
        "    return ft.vmap(torch.dot)(init.constant(a, 3), a)\n",
        "import torch\nimport torch.nn.init as init\n\n\ndef f(a, b):\n"
        "    return torch.func.vmap(torch.dot)(init.constant_(a, 3), a)\n",
        why="a module under another name: it goes where nothing is left of it",
        run="result = f(torch.ones(3, 2), None)",
    ),
    Bad(
        "import torch\nfrom functorch import grad, vmap\n\n\ndef f(a, b):\n    return vmap(grad(torch.sin))(a)\n",
        "import torch\nfrom torch.func import grad, vmap\n\n\ndef f(a, b):\n    return vmap(grad(torch.sin))(a)\n",
        why="all names of an import move together",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.nn import init\n\n\ndef f(a, b):\n    return init.constant(a, 3)\n",
        "import torch\nfrom torch.nn import init\n\n\ndef f(a, b):\n    return init.constant_(a, 3)\n",
        why="an imported submodule",
        run=_RUN,
    ),
    Bad(
        "from torchvision.models.utils import load_state_dict_from_url\n\n\ndef f(url):\n    return load_state_dict_from_url(url)\n",
        "from torch.hub import load_state_dict_from_url\n\n\ndef f(url):\n    return load_state_dict_from_url(url)\n",
        why="a function of torch that torchvision only imported",
        safety="unsafe",
    ),
    Bad(
        "from torchvision.transforms.functional_tensor import rgb_to_grayscale\n\n\ndef grey(image):\n"
        "    return rgb_to_grayscale(image)\n",
        "from torchvision.transforms.functional import rgb_to_grayscale\n\n\ndef grey(image):\n"
        "    return rgb_to_grayscale(image)\n",
        safety="unsafe",
        why="a module of torchvision whose functions are called by public ones",
    ),
    Bad(
        "import torch\n\nold = torch.ger\ntorch.ger = lambda a, b: old(a, b)\n",
        why="the name is patched: a renamed use would miss the patch",
    ),
    Bad("from unittest import mock\n\nmock.patch('torch.ger')\n", why="a patch target"),
    Ok("import numpy as torch\n\ntorch.ger(1, 2)\n", "another module called torch"),
    Ok("import torch\n\n\ndef f(torch, a):\n    return torch.ger(a, a)\n", "a parameter shadows the module"),
    Ok(
        "import torch\n\nouter = torch.outer if hasattr(torch, 'outer') else torch.ger\n",
        "hasattr already handles both",
    ),
    Ok(
        "try:\n    from torch import outer\nexcept ImportError:\n    from torch import ger as outer\n",
        "an import fallback handles both",
    ),
    Ok("import torch\n\nx = torch.ones(2)\nx.ger(x)\n", "a method of the same name"),
    Ok('"""torch.ger(a, b) and ger"""\n', "a docstring"),
)
