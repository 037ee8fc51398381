"""The conda channel of PyTorch, which ended with torch 2.5."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.installed.pythons import barred, pythons_for
from torchlift.rules.dependencies.installed.reading import INSTALLING, is_pytorch_channel, sets_of, severity_in
from torchlift.rules.dependencies.wheels.builds import (
    Line,
    allowed,
    newest_of,
    pythons_of,
    reaches_beyond,
    spelled,
    target_line,
)
from torchlift.rules.rule import Bad, Ok, Rule, TextContext, nothing
from torchlift.view.text import TextView
from torchlift.wheels.offers import line_of

RULE = Rule(
    code="TL308",
    name="conda-channel",
    summary="torch is taken from PyTorch's conda channel, which ended with torch 2.5",
    why=(
        "Nothing newer than torch 2.5 was published in the channel `pytorch`. An environment that names it stays at 2.5 "
        "without a word, or cannot be solved. `pytorch-cuda` and `cudatoolkit` chose a CUDA for the packages of that "
        "channel."
    ),
    fix="None: whether pip or conda-forge takes over depends on what else is in the environment.",
    targets=(),
    check=nothing,
    text_triggers=("pytorch-cuda", "channels & pytorch", "conda & pytorch", "mamba & pytorch", "micromamba & pytorch"),
    text_kinds=INSTALLING,
    sources=("https://github.com/pytorch/pytorch/issues/138506",),
)

_LAST = (2, 5)
_PACKAGES = ("pytorch", "torchvision", "torchaudio", "pytorch-cuda")
_CHANNEL = "pytorch"
# A command in YAML, such as a step of a job, and no environment.
_COMMAND = lazy_pattern(r"\b(?:conda|(?:micro)?mamba)\s+(?:install|create|update)\b")
_TOOLKITS = ("pytorch-cuda", "cudatoolkit")
# Packages that come from the channel nvidia for their own sake.
_NEED_NVIDIA = ("cuda", "cuda-toolkit", "cuda-nvcc", "cuda-compiler", "cuda-libraries-dev")


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if target_line(context.settings.target) <= _LAST:
        return
    for item in sets_of(view):
        if not item.conda:
            continue
        packages = [pin for name in _PACKAGES for pin in item.named(name) if pin.notation == "conda"]
        if not packages:
            continue
        channel = next((span for name, span in item.channels if is_pytorch_channel(name)), None)
        direct = next((pin for pin in packages if view.source.slice(pin.span).startswith(f"{_CHANNEL}::")), None)
        meta = item.named("pytorch-cuda")
        if channel is None and direct is None and not meta:
            continue
        span = direct.span if direct else channel if channel else meta[0].span
        torch = next(iter(item.named("pytorch")), None)
        severity = severity_in(view, Severity.ERROR if _impossible(torch, item) else Severity.WARNING)
        yield Finding("TL308", view.path, span, _message(torch, item, context), severity, _help(view, item, context))
        at = view.source.location(span.start)[0]
        for pin in meta if view.source.location(meta[0].span.start if meta else 0)[0] != at else ():
            message = f"`{pin.text}` is of PyTorch's conda channel, and chooses a CUDA for no torch after 2.5."
            help = "It goes with the channel: a wheel brings its CUDA, and conda-forge chooses it by `cuda-version`."
            yield Finding("TL308", view.path, pin.span, message, Severity.INFO, help)


def _impossible(torch: Pin | None, item: PinSet) -> bool:
    """Whether only this channel may serve a torch that it never had."""
    if (
        torch is None
        or torch.specifier is None
        or any("conda-forge" in name or name == "defaults" for name, _ in item.channels)
    ):
        return False
    found = allowed(torch.specifier)
    return bool(found) and all(line_of(version) > _LAST for version in found) and not reaches_beyond(torch.specifier)[0]


def _message(torch: Pin | None, item: PinSet, context: TextContext) -> str:
    target = f"{context.settings.target.major}.{context.settings.target.minor}"
    if _impossible(torch, item) and torch is not None:
        return f"PyTorch's conda channel ended with torch 2.5, so there is no pytorch {torch.specifier} in it."
    return f"PyTorch's conda channel ended with torch 2.5: torch {target}, which this project moves to, cannot come from it."


def _help(view: TextView, item: PinSet, context: TextContext) -> str:
    target = f"{context.settings.target.major}.{context.settings.target.minor}"
    toolkits = [pin.name for name in _TOOLKITS for pin in item.named(name)]
    in_environment = view.kind == "yaml" and _COMMAND.search(view.source.slice(item.span)) is None
    pin = f"`torch=={target}.*` below `- pip:`" if in_environment else f'`pip install "torch=={target}.*"`'
    index, forge = ("index `cpu`", "pytorch-cpu") if item.named("cpuonly") else ("index for the GPUs", "pytorch-gpu")
    advice = f"Install torch by pip ({pin}, with the {index}), or from conda-forge (`{forge}`)."
    advice += _python_first(view, item, target_line(context.settings.target))
    others = [pin.name for name in _NEED_NVIDIA for pin in item.named(name)]
    if toolkits and others:
        go = "go" if len(toolkits) > 1 else "goes"
        stay = "stay" if len(others) > 1 else "stays"
        advice += f" `{'` and `'.join(toolkits)}` {go} with the old channel's torch; `{'` and `'.join(others)}` {stay}, at the CUDA of the new wheel."
    elif toolkits:
        nvidia = " and the channel nvidia" if any(name == "nvidia" for name, _ in item.channels) else ""
        go = "go" if nvidia or len(toolkits) > 1 else "goes"
        advice += f" `{'` and `'.join(toolkits)}`{nvidia} {go} with the old channel's torch, unless something else here needs them."
    return advice


def _python_first(view: TextView, item: PinSet, line: Line) -> str:
    """What has to happen to the Python of the environment first, where the release has no wheel for it."""
    wheels = pythons_of(newest_of(line))
    old = [python for python in barred(pythons_for(view, item, item.span), wheels) if python.minors[0] < min(wheels)]
    if not old:
        return f" Torch {spelled(line)} needs Python 3.{min(wheels)} or newer."
    return f" Torch {spelled(line)} needs Python 3.{min(wheels)} or newer, and {old[0].text} is asked for here: raise that first."


EXAMPLES = (
    Bad(
        "name: a\nchannels:\n  - pytorch\n  - nvidia\n  - defaults\ndependencies:\n  - python=3.10\n  - pytorch=2.1\n"
        "  - torchvision\n  - pytorch-cuda=12.1\n",
        why="an environment file",
        path="environment.yml",
    ),
    Bad(
        "conda install -y pytorch==2.1.2 torchvision pytorch-cuda=12.1 -c pytorch -c nvidia\n",
        why="a command",
        path="install.sh",
    ),
    Bad(
        "name: a\nchannels: \n  - pytorch\ndependencies:\n  - pytorch=2.8\n",
        why="a release that the channel never had",
        path="environment-gpu.yaml",
    ),
    Bad("name: a\ndependencies:\n  - pytorch::pytorch\n", why="one package", path="environment.yml"),
    Ok(
        "name: a\nchannels:\n  - conda-forge\ndependencies:\n  - pytorch-gpu\n  - torchvision\n",
        "conda-forge",
        "environment.yml",
    ),
    Ok(
        "name: a\nchannels:\n  - pytorch\ndependencies:\n  - faiss-gpu\n  - pip:\n    - torch\n",
        "another package of the channel",
        "environment.yml",
    ),
    Ok("conda install -c conda-forge pytorch\n", "a command for conda-forge", "a.sh"),
    Ok("# conda install pytorch -c pytorch\necho 'conda install pytorch -c pytorch'\n", "no command", "b.sh"),
    Ok("conda remove pytorch\nconda create -n pytorch python=3.12\n", "the name of an environment", "c.sh"),
)
