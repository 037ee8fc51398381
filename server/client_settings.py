"""What an editor may say about how to work; what it does not say is for the project's own configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate import load_config, project_config
from torchlift.migrate.workspace.config import Config, ConfigError
from torchlift.torchscript_intent import Support, TorchScriptIntent
from torchlift.versions import TorchVersion


@dataclass(frozen=True)
class ClientSettings:
    """Settings of an editor.

    Attributes:
        configuration: file to read in the place of the project's `pyproject.toml` or `torchlift.toml`.
        select, ignore: rules, in the place of those of the configuration.
        target, min_torch: releases, likewise.
        torchscript: `drop` or `keep`, likewise.
        allow_own_rules: whether the code of the configuration's `extend-rules` may run. Only a setting of the user's own can
            say so: whoever opens a folder must not thereby run what is in it.
    """

    configuration: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    target: TorchVersion | None = None
    min_torch: TorchVersion | None = None
    torchscript: Support | None = None
    allow_own_rules: bool = False

    @classmethod
    def read(cls, sent: Any) -> ClientSettings:
        """The settings in what an editor has sent: an object, or nothing.

        Raises:
            ConfigError: something in it is no setting, or has a wrong value.
        """
        if sent is None:
            return cls()
        if not isinstance(sent, Mapping):
            raise ConfigError(f"The editor's settings for torchlift must be an object, not {sent!r}.")
        known = {
            "configuration": ("configuration", _text),
            "select": ("select", _names),
            "ignore": ("ignore", _names),
            "target": ("target", _release),
            "minTorch": ("min_torch", _release),
            "torchscript": ("torchscript", _support),
            "allowOwnRules": ("allow_own_rules", _switch),
        }
        read: dict[str, Any] = {}
        for key, value in sent.items():
            if key in known and value is not None and value != "":
                name, reader = known[key]
                read[name] = reader(f"torchlift.{key}", value)
        return cls(**read)

    def config_of(self, folder: Path) -> Config:
        """How to work in a folder.

        Raises:
            ConfigError: the configuration cannot be used.
        """
        if self.configuration is not None:
            config = load_config(folder, explicit=folder / self.configuration)
        else:
            config = project_config([folder])
        changes: dict[str, Any] = {
            name: value
            for name in ("select", "ignore", "target", "min_torch")
            if (value := getattr(self, name)) not in ((), None)
        }
        if self.torchscript is not None:
            intent: TorchScriptIntent = replace(config.torchscript, support=self.torchscript)
            changes["torchscript"] = intent
        return replace(config, allow_own_rules=self.allow_own_rules, **changes)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"`{key}` must be text, not {value!r}.")
    return value


def _names(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"`{key}` must be a list of rules such as `TL401`, not {value!r}.")
    return tuple(value)


def _release(key: str, value: Any) -> TorchVersion:
    try:
        return TorchVersion.parse(_text(key, value))
    except ValueError:
        raise ConfigError(f"`{key}` must be a release of torch such as `2.15`, not {value!r}.") from None


def _support(key: str, value: Any) -> Support:
    for support in get_args(Support):
        if value == support:
            return cast("Support", support)
    raise ConfigError(f"`{key}` must be `drop` or `keep`, not {value!r}.")


def _switch(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"`{key}` must be true or false, not {value!r}.")
    return value
