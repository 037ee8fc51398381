"""What the user said about TorchScript, for the file in view."""

from __future__ import annotations

from torchlift.rules.rule import Context, Settings


def drops(context: Context) -> bool:
    """Whether nobody scripts, traces or loads TorchScript from the file in view any more: the user said so."""
    return context.settings.torchscript.drops(context.view.path)


def dropping(settings: Settings) -> bool:
    """Whether the user says that TorchScript goes, from wherever it is not said to stay."""
    return settings.torchscript.support == "drop"
