"""The torch that the tests run on, and how programs find a name in it."""

from torchlift.versions import TorchVersion

INSTALLED = TorchVersion(2, 13)
FIND = """
import importlib, inspect, json, torch

def find(name):
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)
"""
