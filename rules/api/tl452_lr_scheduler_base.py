"""`_LRScheduler`, of which torch's own schedulers are no longer since torch 2.0."""

from __future__ import annotations

from torchlift.rules.renaming import MovedName, Renaming
from torchlift.rules.rule import Bad, Ok, Rule
from torchlift.versions import TorchVersion

_RENAMING = Renaming(
    "TL452",
    (
        MovedName(
            "torch.optim.lr_scheduler._LRScheduler",
            "torch.optim.lr_scheduler.LRScheduler",
            TorchVersion(2, 0),
            "torch/optim/lr_scheduler.py: `class _LRScheduler(LRScheduler)`, empty; torch's schedulers inherit from `LRScheduler`",
            review=(
                "whatever asks for the one class by `isinstance` has to mean the other. Where such a test decides what a checkpoint "
                "holds, those written with torch 2 so far lack the state of torch's schedulers."
            ),
            note="No scheduler of torch is a `_LRScheduler` since torch 2.0, so `isinstance` answers False for all of them.",
        ),
    ),
)

RULE = Rule(
    code="TL452",
    name="lr-scheduler-base",
    summary="`_LRScheduler`, which is no base of torch's schedulers any more since torch 2.0: `isinstance` answers False",
    why=(
        "Torch 2.0 made `LRScheduler` the base of its schedulers and left `_LRScheduler` behind as an empty class below it. "
        "`isinstance(scheduler, _LRScheduler)` is False for every scheduler of torch since, silently."
    ),
    fix=(
        "Needs review: `LRScheduler` is written. In a test the answer becomes True again, as it was before torch 2.0; a base class and an "
        "annotation change nothing but what such tests say."
    ),
    targets=_RENAMING.targets,
    triggers=_RENAMING.triggers,
    check=_RENAMING.check,
    changed_in=_RENAMING.changed_in,
    collectors=(_RENAMING.patches,),
    sources=(
        "torch/optim/lr_scheduler.py of torch 2.13.0, and `isinstance(StepLR(...), _LRScheduler)` run there, 2026-11-26",
    ),
)

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef step(scheduler):\n"
        "    if isinstance(scheduler, torch.optim.lr_scheduler._LRScheduler):\n        scheduler.step()\n",
        "import torch\n\n\ndef step(scheduler):\n"
        "    if isinstance(scheduler, torch.optim.lr_scheduler.LRScheduler):\n        scheduler.step()\n",
        "unsafe",
        why="a test",
    ),
    Bad(
        "from torch.optim.lr_scheduler import _LRScheduler\n\n\nclass Warmup(_LRScheduler):\n    def get_lr(self):\n        return [0.1]\n",
        "from torch.optim.lr_scheduler import LRScheduler\n\n\nclass Warmup(LRScheduler):\n    def get_lr(self):\n        return [0.1]\n",
        "unsafe",
        why="a base class",
    ),
    Bad(
        "import torch\n\n\ndef build(optimizer) -> torch.optim.lr_scheduler._LRScheduler:\n    return torch.optim.lr_scheduler.StepLR(optimizer, 1)\n",
        "import torch\n\n\ndef build(optimizer) -> torch.optim.lr_scheduler.LRScheduler:\n    return torch.optim.lr_scheduler.StepLR(optimizer, 1)\n",
        "unsafe",
        why="an annotation",
    ),
    Ok(
        "try:\n    from torch.optim.lr_scheduler import LRScheduler\nexcept ImportError:\n    from torch.optim.lr_scheduler import _LRScheduler as LRScheduler\n\n\n"
        "class Warmup(LRScheduler):\n    pass\n",
        "an import fallback",
    ),
    Ok("from torch.optim.lr_scheduler import LRScheduler\n\n\nclass Warmup(LRScheduler):\n    pass\n", "the new base"),
    Ok("class _LRScheduler:\n    pass\n\n\nclass Warmup(_LRScheduler):\n    pass\n", "a class of the project's"),
)
