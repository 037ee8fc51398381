"""Follows a TorchScript value in whose place the plain module is put, which has every method that a module has."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.torchscript.facts.trusted_operations import SELF_RETURNING
from torchlift.rules.torchscript.values.value_follower import Follower
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.view import ModuleView


def follow_plain(view: ModuleView, origin: ast.Call, project: Project) -> ValueLife:
    """The life of the value that `origin` creates, where what it is made from can take its place.

    Unlike for an exported module, `.eval()`, `.train()` and moves give the value back, which is followed further.
    """
    return _PlainFollower(view, origin, project).life


class _PlainFollower(Follower):
    def _attribute(
        self, view: ModuleView, node: ast.expr, attribute: ast.Attribute, *, alone: bool, depth: int
    ) -> None:
        call = view.parent(attribute)
        if attribute.attr in SELF_RETURNING and isinstance(call, ast.Call) and call.func is attribute:
            self._obstacle(view, node, f"is changed with `.{attribute.attr}()`")
            self._flow(view, call, alone=alone, depth=depth)
        else:
            super()._attribute(view, node, attribute, alone=alone, depth=depth)
