"""Whether anything in the project still runs TorchScript code: scripts, traces, or loads it."""

from __future__ import annotations

import ast

from torchlift.project import Collector, Project
from torchlift.rules.analysis.wording.nearest_place import nearest
from torchlift.rules.torchscript.compilers.scripting_uses import uses
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.search.parties import Sighting
from torchlift.view import ModuleView

# What opens TorchScript among other files.
_MIXED = frozenset({"torch.hub.load", "torch.package.PackageImporter", "torch.load"})
_ALONE = frozenset(
    {
        "torch.jit.load",
        "torch.jit.jit_module_from_flatbuffer",
        "torch.jit.mobile",
        "torch.jit.script_if_tracing",
        "torch.jit._script_if_tracing",
        *bindings("mobile"),
    }
)
_LOADING = _ALONE | _MIXED


def _collect(view: ModuleView, targets: frozenset[str] = _LOADING) -> int | None:
    """Line of the first place in one file that may load TorchScript code."""
    for use in view.uses(targets) if not view.is_stub else ():
        if use.kind in {"import", "annotation", "isinstance", "string"}:
            continue
        if use.target != "torch.load" or (use.call is not None and _may_be_torchscript(use.call)):
            return use.node.lineno
    return None


def _collect_alone(view: ModuleView) -> int | None:
    return _collect(view, _ALONE)


def _may_be_torchscript(call: ast.Call) -> bool:
    """Whether a `torch.load` call opens TorchScript archives too: it does unless `weights_only` is true."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "weights_only"), None)
    return given is not None and not (isinstance(given, ast.Constant) and given.value is True)


def _matters(seen: Sighting) -> bool:
    return seen.target != "torch.load" or (seen.call is not None and _may_be_torchscript(seen.call))


COLLECTOR = Collector(
    "torchscript.loading",
    ("jit", "torch.load & weights_only", "hub & torch", "PackageImporter", "_C & load"),
    _collect,
    _LOADING,
    _matters,
)


ALONE = Collector("torchscript.loading alone", ("jit", "_C & load"), _collect_alone, _ALONE)


def first_runtime_use(project: Project, near: str) -> str | None:
    """The place in the project, nearest to the file `near`, that scripts, traces or loads TorchScript code."""
    return nearest((*uses(project, tracing=True), *project.records(COLLECTOR).items()), near)


def first_torchscript_use(project: Project, near: str) -> str | None:
    """As `first_runtime_use`, without what opens TorchScript among other files."""
    return nearest((*uses(project, tracing=True), *project.records(ALONE).items()), near)
