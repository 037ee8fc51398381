"""Environment variables of the old NCCL engine in scripts, container files and YAML."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.project.environment_in_text import settings_in
from torchlift.rules.distributed.facts.nccl_environment import ENVIRONMENT_VARIABLES
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.view.text import TextView

_REPORTED = {variable.name: variable for variable in ENVIRONMENT_VARIABLES if variable.matters}

RULE = Rule(
    code="TL245",
    name="nccl-environment-in-text",
    summary="A script, container file or YAML file sets a variable that the NCCL engine of torch 2.15 does not read",
    why=(
        'Since torch 2.15 the backend "nccl" is a new engine. Some `TORCH_NCCL_*` variables were for the old one only, and '
        "a variable that nobody reads fails in silence. `TORCH_DISTRIBUTED_USE_TORCHCOMMS` does nothing unless a torchcomms "
        "build can be imported. Variables of the NCCL library (`NCCL_DEBUG`, `NCCL_SOCKET_IFNAME`, ...) mean what they "
        "meant and are not reported."
    ),
    fix=(
        "None: which behaviour is wanted is known to whoever wrote the script. The help names what took over, or how the old "
        "engine comes back."
    ),
    targets=(),
    check=nothing,
    text_triggers=tuple(_REPORTED),
    collectors=(BACKENDS,),
    sources=(
        "https://github.com/pytorch/pytorch/pull/192280",
        "The names in libtorch_cuda.so and the headers c10d/nccl2/*.hpp of torch 2.14.1 and 2.15.0",
        "torch/distributed/config.py of torch 2.12.1-2.15.0",
    ),
)

_SURE = frozenset({"replaced", "torchcomms"})
_OFF = frozenset({"", "0", "false", "off", "no", "n"})


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    for setting in settings_in(view, _REPORTED):
        variable = _REPORTED[setting.name]
        if context.settings.target < variable.since:
            continue
        if variable.status in _SURE and setting.value.lower() in _OFF:
            continue
        if not may_use_nccl(context.project):
            return
        severity = Severity.WARNING if variable.status in _SURE else Severity.INFO
        yield Finding(
            "TL245", view.path, setting.span, variable.fact, severity, variable.advice_for(setting.value) or None
        )


EXAMPLES = (
    Bad(
        "#!/bin/bash\nexport TORCH_NCCL_NAN_CHECK=1\ntorchrun --nproc_per_node 8 train.py\n",
        why="exported in a script",
        path="train.sh",
    ),
    Bad(
        "TORCH_NCCL_ENABLE_MONITORING=0 \\\n    torchrun --nproc_per_node 8 train.py\n",
        why="set for one command",
        path="run.sh",
    ),
    Bad(
        "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --export=ALL,TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=1800\nsrun train.sh\n",
        why="an option of Slurm",
        path="train.sbatch",
    ),
    Bad(
        "FROM pytorch/pytorch\nENV PYTHONUNBUFFERED=1 \\\n    TORCH_NCCL_AVOID_RECORD_STREAMS=1\n",
        why="an ENV instruction over two lines",
        path="Dockerfile",
    ),
    Bad(
        "FROM pytorch/pytorch\nENV TORCH_DISTRIBUTED_USE_TORCHCOMMS 1\n",
        why="an ENV instruction without an equals sign",
        path="docker/train.dockerfile",
    ),
    Bad(
        'services:\n  train:\n    environment:\n      TORCH_NCCL_NAN_CHECK: "1"\n',
        why="a map of variables",
        path="compose.yaml",
    ),
    Bad(
        'containers:\n  - env:\n      - name: TORCH_NCCL_DESYNC_DEBUG\n        value: "1"\n',
        why="a list of names and values",
        path="job.yaml",
    ),
    Bad(
        "services:\n  train:\n    environment:\n      - TORCH_NCCL_COORD_CHECK_MILSEC=500\n",
        why="a list of assignments",
        path="compose.yml",
    ),
    Bad("export TORCH_NCCL_PROPAGATE_ERROR := 1\n\ntrain:\n\ttorchrun train.py\n", why="a makefile", path="Makefile"),
    Bad(
        "env:\n  TORCH_NCCL_AVOID_RECORD_STREAMS: 0\n",
        why="asks for what torch does not do any more",
        path="model_config.yaml",
    ),
    Bad("TORCH_NCCL_RETHROW_CUDA_ERRORS=0\n", why="an environment file", path=".env"),
    Ok(
        "export NCCL_DEBUG=INFO\nexport NCCL_SOCKET_IFNAME=eth0\nexport TORCH_NCCL_BLOCKING_WAIT=1\n",
        "variables that are still read",
        "a.sh",
    ),
    Ok("# export TORCH_NCCL_NAN_CHECK=1\ntorchrun train.py  # TORCH_NCCL_NAN_CHECK=1\n", "a comment", "b.sh"),
    Ok(
        'echo "TORCH_NCCL_NAN_CHECK=$TORCH_NCCL_NAN_CHECK"\n[ "$TORCH_NCCL_NAN_CHECK" == 1 ] && exit\n',
        "a variable that is printed and read",
        "c.sh",
    ),
    Ok("unset TORCH_NCCL_NAN_CHECK\n", "a variable that is taken away", "d.sh"),
    Ok("export MY_TORCH_NCCL_NAN_CHECK=1\nTORCH_NCCL_NAN_CHECK_LOG=1 run\n", "names of somebody else", "e.sh"),
    Ok("steps:\n  - name: with TORCH_NCCL_NAN_CHECK=1\n    run: make\n", "a title", "t.yml"),
    Ok("env:\n  TORCH_DISTRIBUTED_USE_TORCHCOMMS: 0\n", "the torchcomms flag, switched off", "f.yml"),
    Ok("export TORCH_NCCL_NAN_CHECK=0\n", "a check that is off anyway", "i.sh"),
    Ok(": <<X\nexport TORCH_NCCL_NAN_CHECK=1\nX\n", "commented out as a here-document", "j.sh"),
    Ok(
        "export TORCH_NCCL_NAN_CHECK=1\n",
        "a project whose groups are all gloo",
        "g.sh",
        (("train.py", 'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'),),
    ),
    Ok('x = """\nexport TORCH_NCCL_NAN_CHECK=1\n"""\n', "a string in Python"),
)
