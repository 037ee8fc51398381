"""How a repository is read, changed and reported.

`migrate(paths, config)` is the whole of it as a library call; docs/library.md says how it is used.
"""

from typing import TYPE_CHECKING, Any

if __name__ != "torchlift.migrate":
    raise ImportError("import torchlift.migrate; the bare folder is not a package of its own")

if TYPE_CHECKING:
    from torchlift.migrate.library import migrate, project_config
    from torchlift.migrate.result import Mode, RunResult
    from torchlift.migrate.workspace.config import Config, load_config

__all__ = ["Config", "Mode", "RunResult", "load_config", "migrate", "project_config"]


def __getattr__(name: str) -> Any:
    """The names above, loaded when they are asked for: the commands import this package to show their help."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from torchlift.migrate import library

    return getattr(library, name)
