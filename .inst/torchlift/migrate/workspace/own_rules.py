"""Which files of rules outside torchlift may run: those that a person asked for.

A configuration is part of a repository, and rules are code. Whoever runs torchlift over a repository to see what is in it
must not thereby run what is in it, so the configuration only says where the rules are.
"""

from __future__ import annotations

from pathlib import Path

from torchlift.migrate.workspace.config import Config, ConfigError


def own_rule_paths(config: Config) -> tuple[Path, ...]:
    """The files and folders that `extend_rules` names, absolute.

    Raises:
        ConfigError: nobody allowed to run them.
    """
    if config.extend_rules and not config.allow_own_rules:
        named = ", ".join(config.extend_rules)
        raise ConfigError(
            f"{config.source} names rules of the project's own ({named}), and rules are code that would run here. "
            "If you trust it, say --allow-own-rules; --isolated goes without the configuration."
        )
    base = config.source.parent if config.source is not None else Path()
    return tuple((base / path).absolute() for path in config.extend_rules)
