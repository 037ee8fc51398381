"""A Python that changes modules as soon as they are imported: how tests break torch, or lend it devices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_SITE = """\
import importlib.util, sys

AFTER = {after!r}


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in AFTER:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            exec(compile(AFTER[name], "<broken " + name + ">", "exec"), module.__dict__)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())
"""


_STAND_IN = """\
from types import SimpleNamespace

__version__ = "2.13.0"
version = SimpleNamespace(cuda=None, hip=None, xpu=None)
backends = SimpleNamespace(mps=None)
accelerator = SimpleNamespace(is_available=lambda: False)
cuda = SimpleNamespace(set_device=lambda index: None, synchronize=lambda device=None: None)
get_num_threads = lambda: 1
set_num_threads = lambda number: None


def ones(*shape, **options):
    return None


zeros = ones
"""


def with_stand_in(folder: Path) -> Path:
    """The folder, which gets as much of torch as smokes need that compute nothing: to import the real one takes two seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "torch.py").write_text(_STAND_IN, encoding="utf-8")
    return folder


def python_path(folder: Path, after: Mapping[str, str]) -> str:
    """PYTHONPATH of an interpreter that runs code in a module's namespace when it has imported the module.

    `folder` gets a sitecustomize.py, which `python -I` does not read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(_SITE.format(after=dict(after)), encoding="utf-8")
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
