"""Names of functions that a fresh process can find: `package.module:function`, `file.py:function`, or the function."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Reference:
    """Where a function is.

    Attributes:
        text: as it is called in reports.
        where: dotted name of a module, or path of a Python file.
        name: dotted name inside it.
    """

    text: str
    where: str
    name: str

    def load(self) -> Any:
        """Imports the function, in the process that calls this.

        Raises:
            ImportError: if there is no such name in the module; an error of the module itself is passed on.
        """
        module = (
            _module_of_file(Path(self.where)) if self.where.endswith(".py") else importlib.import_module(self.where)
        )
        found: Any = module
        for part in self.name.split("."):
            if not hasattr(found, part):
                raise ImportError(f"there is no {self.name!r} in {self.where}")
            found = getattr(found, part)
        return found


def reference(given: Callable[..., Any] | str) -> Reference:
    """The reference of a function at the top of a module, or of its name.

    Raises:
        ValueError: if a fresh process could not find it.
    """
    if isinstance(given, str):
        where, colon, name = given.rpartition(":")
        if not colon or not where or not name:
            raise ValueError(f"{given!r} is not of the form 'package.module:function' or 'file.py:function'.")
        return Reference(given, str(Path(where).resolve()) if where.endswith(".py") else where, name)
    name = getattr(given, "__qualname__", "")
    module = getattr(given, "__module__", None)
    if not name or not module or "<" in name:
        raise ValueError(
            f"{given!r} cannot be run in a fresh process: give a function at the top level of a module, or its name as "
            "'package.module:function'."
        )
    return Reference(f"{name}()", _where(module, name), name)


def _where(module: str, name: str) -> str:
    """The name of a module, if importing it gives the same file in another process, else the path of its file."""
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if module == "__main__" and (spec := getattr(loaded, "__spec__", None)) is not None:
        module = spec.name
    if module != "__main__":
        if file is None:
            return module
        inside = module.replace(".", "/")
        for entry in sys.path:
            if file in (
                str(Path(entry).resolve() / f"{inside}.py"),
                str(Path(entry).resolve() / inside / "__init__.py"),
            ):
                return module
    if file is None:
        raise ValueError(
            f"{name}() is defined in an interactive session: put it into a file, where a fresh process finds it."
        )
    return str(Path(file).resolve())


def _module_of_file(path: Path) -> ModuleType:
    name = "".join(letter if letter.isalnum() else "_" for letter in path.stem)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if loaded is not None:
        name = f"{name}_in_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
