"""`torch.distributed.pipeline`, which is gone."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_REMOVED = TorchVersion(2, 4)
_PACKAGE = "torch.distributed.pipeline"

RULE = Rule(
    code="TL251",
    name="removed-pipeline-package",
    summary="`torch.distributed.pipeline` (`Pipe`) is gone",
    why=(
        "torch 2.3 still had the package and warned that it was deprecated; since 2.4 importing it raises ModuleNotFoundError. An "
        "import inside a function fails only when the function runs, and tests seldom run that one."
    ),
    fix=(
        "None: `torch.distributed.pipelining` runs one process per stage, so that launching, splitting the model and the "
        "training step all change. Imports that catch the ImportError are not reported."
    ),
    targets=(_PACKAGE,),
    triggers=("distributed.pipeline", "pipeline & distributed import", "pipeline.sync & distributed"),
    severity=Severity.ERROR,
    removed=_REMOVED,
    sources=(
        "torch/distributed/pipeline/__init__.py of the 2.3.1 wheel; the 2.4.0 wheel has no such folder, read 2026-11-21",
        "torch/distributed/pipelining of the 2.13.0 wheel: `pipeline`, `Pipe.build_stage`, `ScheduleGPipe.step`",
    ),
)

_ADVICE = (
    "`torch.distributed.pipelining` (2.4+) took its place, with one process per stage instead of one process for all GPUs, "
    "and the loss in the schedule. For `Pipe(model, chunks=8)`: split the model with `pipe = pipeline(model, "
    'mb_args=(one_microbatch,), split_spec={"layer2": SplitPoint.BEGINNING})`, build the stage of this rank with `stage = '
    "pipe.build_stage(rank, device)` and run `schedule = ScheduleGPipe(stage, n_microbatches=8, loss_fn=loss_fn)`: "
    "`schedule.step(x)` on the first rank, `schedule.step(target=y)` on the last, `schedule.step()` between."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if context.settings.target < _REMOVED or use.kind != "import":
        return  # an import that fails is enough: nothing behind it runs
    view = context.view
    message = (
        f"`{use.name}` is gone: torch {_REMOVED} removed `{_PACKAGE}`, and importing it raises ModuleNotFoundError."
    )
    yield Finding("TL251", view.path, view.span(use.node), message, Severity.ERROR, _ADVICE)


EXAMPLES = (
    Bad(
        "from torch.distributed.pipeline.sync import Pipe\n\n\ndef parallel(model):\n    return Pipe(model, chunks=8)\n",
        why="Pipe",
    ),
    Bad(
        "def build(model):\n    from torch.distributed.pipeline.sync.utils import partition_model\n\n"
        "    return partition_model(model, [2, 2])\n",
        why="an import in a function, which fails late",
    ),
    Bad(
        "import torch.distributed.pipeline.sync as pipeline\n\nmake = pipeline.Pipe\n",
        why="the module under another name",
    ),
    Bad("from torch.distributed import pipeline\n\nmake = pipeline.sync.Pipe\n", why="the package"),
    Ok(
        "try:\n    from torch.distributed.pipeline.sync import Pipe\nexcept ImportError:\n    Pipe = None\n",
        "the import may fail",
    ),
    Ok(
        "import torch\nfrom packaging import version\n\nif version.parse(torch.__version__) < version.parse('2.4'):\n"
        "    from torch.distributed.pipeline.sync import Pipe\n",
        "a version test",
    ),
    Ok(
        "from torch.distributed.pipelining import pipeline\n\nsplit = pipeline\n",
        "its successor, whose name begins the same",
    ),
    Ok("from fairscale.nn import Pipe\nimport torch.distributed as dist\n\nmake = Pipe\n", "another library's Pipe"),
    Ok(
        "from transformers import pipeline\nimport torch.distributed as dist\n\nrun = pipeline('fill-mask')\n",
        "another pipeline in a distributed program",
    ),
    Ok('"""Like torch.distributed.pipeline.sync.Pipe, which is gone."""\n', "a docstring"),
)
