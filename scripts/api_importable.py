"""Asks an installed torch, by importing, which of many names it has. For `api_table.py --import` and the sample of rows."""

from __future__ import annotations

import json
import subprocess

_ASK = """
import importlib, io, json, sys, warnings, contextlib
warnings.simplefilter("ignore")
names = json.load(sys.stdin)
answer = {}

def find(name):
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if not ".".join(parts[:end]).startswith(missing):
                return f"needs {missing}"
            continue
        except BaseException as error:
            return f"not importable here: {type(error).__name__}"
        for part in parts[end:]:
            try:
                found = getattr(found, part)
            except AttributeError:
                return "no"
            except BaseException as error:
                return f"not importable here: {type(error).__name__}"
        return "yes"
    return "no"

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for name in names:
        answer[name] = find(name)
import torch
sys.__stdout__.write("ANSWER" + json.dumps([torch.__version__, answer]))
sys.__stdout__.flush()
import os
os._exit(0)
"""


def importable(python: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """The version of torch that `python` imports, and for every name "yes", "no" or why it cannot tell.

    Raises:
        RuntimeError: that Python cannot import torch.
    """
    asked = subprocess.run(
        [python, "-c", _ASK], input=json.dumps(names), capture_output=True, text=True, check=False, cwd="/"
    )
    _, found, text = asked.stdout.rpartition("ANSWER")
    if not found:
        raise RuntimeError(f"{python} cannot import torch: {asked.stderr[-500:]}")
    version, answer = json.loads(text)
    return str(version), dict(answer)
