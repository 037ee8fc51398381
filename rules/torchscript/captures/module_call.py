"""One call of `torch.jit.script` with a module: what is known of it, and what is said about it."""

from __future__ import annotations

import ast

from torchlift.finding import Fix, Group, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.export_draft import Draft
from torchlift.rules.torchscript.facts.script_only import OF_MODULES
from torchlift.rules.torchscript.modules.scripted_module import ScriptedModule
from torchlift.rules.torchscript.values.value_life import Obstacle, ValueLife
from torchlift.view import ModuleView, Use

_IGNORED = frozenset({"optimize", "example_inputs"})


@dataclass
class ModuleCall:
    """One `torch.jit.script(module)` call and what is known of it.

    Attributes:
        use, context: the use and its file.
        call: the call.
        node: the module expression.
        module: what is known of the module.
        life: what becomes of the value.
        draft: the export call that would capture the module.
    """

    use: Use
    context: Context
    call: ast.Call
    node: ast.expr
    module: ScriptedModule
    life: ValueLife
    draft: Draft

    @property
    def view(self) -> ModuleView:
        """The file."""
        return self.context.view


@dataclass(frozen=True)
class ModuleVerdict:
    """Help text, fix, groups and notes of a finding."""

    help: str
    fix: Fix | None = None
    groups: tuple[Group, ...] = ()
    notes: tuple[str, ...] = ()


def unreadable(call: ast.Call) -> str | None:
    """Why the call cannot be replaced by what it is given, a clause; None if it can."""
    keywords = {keyword.arg for keyword in call.keywords}
    given, ignored = call.args[:1], call.args[1:]  # the second argument is `optimize`, too
    read = (
        len(given) == 1
        and len(ignored) <= 1
        and all(isinstance(one, (ast.Name, ast.Attribute, ast.Constant)) for one in ignored)
    )
    if None in keywords or not read or isinstance(given[0], ast.Starred):
        return "its arguments were not all read"
    unknown = sorted(str(name) for name in keywords - _IGNORED)
    return f"it passes `{unknown[0]}`, which only the TorchScript compiler understands" if unknown else None


def attributes_used(life: ValueLife) -> set[str]:
    """Attributes that are read from the value."""
    found = set()
    for obstacle in life.obstacles:
        attribute = attribute_at(life, obstacle)
        if attribute is not None:
            found.add(attribute.attr)
    for binding in life.bindings:
        for read, _ in life.view.reads_of(binding):
            parent = life.view.parent(read)
            if isinstance(parent, ast.Attribute):
                found.add(parent.attr)
    if life.evals or life.outer is not life.origin:
        found.add("eval")
    return found


def attribute_at(life: ValueLife, obstacle: Obstacle) -> ast.Attribute | None:
    """The attribute that is read from the value where an obstacle is."""
    parent = life.home(obstacle.node).parent(obstacle.node)
    return parent if isinstance(parent, ast.Attribute) and parent.value is obstacle.node else None


def sorted_obstacles(about: ModuleCall) -> tuple[list[str], list[str]]:
    """Uses that only a scripted module serves, and ways by which the value leaves what was read."""
    inspected, escaping = [], []
    life = about.life
    for obstacle in sorted(life.obstacles, key=_weight):
        place = life.place(obstacle.node)
        attribute = attribute_at(life, obstacle)
        if attribute is not None and attribute.attr in OF_MODULES and not isinstance(attribute.ctx, ast.Store):
            inspected.append(f"is asked for `.{attribute.attr}` ({place})")
        elif attribute is not None or obstacle.node is life.attribute:
            continue  # the module has it too
        elif "is asked about with `setattr`" in obstacle.reason:
            escaping.append(f"is put on another object with `setattr` ({place})")
        elif "is asked about with" in obstacle.reason:
            inspected.append(f"{obstacle.reason.partition(',')[0]} ({place})")
        else:
            escaping.append(f"{obstacle.reason} ({place})")
    return inspected, escaping


def _weight(obstacle: Obstacle) -> tuple[bool, bool]:
    """Sorts what decides to the front: a file that is left behind, then what no module serves."""
    return not obstacle.reason.startswith("is saved"), obstacle.safety is not Safety.MANUAL
