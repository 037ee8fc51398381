"""Where a TorchScript value goes: what is known of one value, from the call that creates it to its last use."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from torchlift.finding import Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.view import Binding, ModuleView

if TYPE_CHECKING:
    from torchlift.project import Project


@dataclass(frozen=True)
class Obstacle:
    """A use of the value that the new value does not serve the same way.

    Attributes:
        node: where.
        reason: end of the sentence "the value ...".
        safety: `UNSAFE` if the rewrite is right under an assumption, `MANUAL` if it is surely wrong there.
        giver: name of a function on the way here that returns other values, too; empty if there is none.
        meant: an attribute on the way here that is the value only if its object is the right one; empty if there is none.
    """

    node: ast.AST
    reason: str
    safety: Safety
    giver: str = ""
    meant: str = ""

    @property
    def clause(self) -> str:
        """`reason`, behind "the value", with what else it may be about."""
        if self.meant:
            return f"(if {self.meant} is that) {self.reason}"
        return f"or what else `{self.giver}` returns {self.reason}" if self.giver else self.reason


@dataclass(frozen=True)
class Save:
    """One place that writes the value to a file.

    Attributes:
        call: `value.save(path)` or `torch.jit.save(value, path)`.
        value: the expression of the value in it.
        path: the path expression.
        method: whether it is the method form.
        extra_files: the `_extra_files` argument, if there is one.
    """

    call: ast.Call
    value: ast.expr
    path: ast.expr
    method: bool
    extra_files: ast.expr | None = None


@dataclass
class ValueLife:
    """One TorchScript value from its creation on.

    Attributes:
        view: the file that creates it.
        origin: the call that creates it.
        outer: `origin` with any `.eval()` and `torch.jit.freeze` around it.
        form: what is done with the created value at once; `kept` on an attribute of `self`.
        statement: the statement that creates it.
        name: the variable it is bound to, if any.
        attribute: the attribute of `self` it is kept on, if any.
        calls: calls of the value.
        saves: places that write it.
        evals: statements that only call `.eval()` on it, or only freeze it, and bind the result to the same name.
        obstacles: everything else.
        bindings: variables that hold it.
        as_module: whether module methods other than a call are used on it.
        frozen: calls of `torch.jit.freeze` and its relatives that it passes through.
    """

    view: ModuleView
    origin: ast.Call
    outer: ast.expr
    form: Literal["bound", "kept", "called", "saved", "discarded", "escapes"]
    statement: ast.stmt
    name: ast.Name | None = None
    attribute: ast.Attribute | None = None
    calls: list[ast.Call] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    evals: list[ast.stmt] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    as_module: bool = False
    frozen: list[ast.Call] = field(default_factory=list)
    homes: dict[ast.AST, ModuleView] = field(default_factory=dict)
    """Files of the nodes that are not in the file of the origin."""

    def home(self, node: ast.AST) -> ModuleView:
        """The file that `node`, one of the nodes above, stands in."""
        return self.homes.get(node, self.view)

    def place(self, node: ast.AST) -> str:
        """How messages name the place of `node`: `line 3`, or `serve.py:3` in another file."""
        home, line = self.home(node), getattr(node, "lineno", 0)
        return f"line {line}" if home is self.view else f"{home.path}:{line}"


def follow(view: ModuleView, origin: ast.Call, project: Project | None = None) -> ValueLife:
    """The life of the value that `origin` creates.

    With `project` it is followed into other files; without, what leaves the file is an obstacle.
    """
    from torchlift.rules.torchscript.values.value_follower import Follower

    return Follower(view, origin, project).life
