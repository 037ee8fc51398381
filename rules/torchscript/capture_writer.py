"""Writes the export of a module in the place of a call that made a TorchScript value, with the saves of that value."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Elsewhere,
    Fix,
    Group,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.artifacts import read_artifact
from torchlift.rules.torchscript.export_arguments import CannotExport, ExportArguments
from torchlift.rules.torchscript.foreign_readers import foreign_readers
from torchlift.rules.torchscript.value_life import Save, ValueLife
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Spelling, Use

_NEEDS = TorchVersion(2, 5)  # Dim.AUTO
_NON_STRICT_BY_DEFAULT = TorchVersion(2, 8)


@dataclass
class Capture:
    """The migration of one call, while it is being put together.

    Attributes:
        use: the use whose call is rewritten.
        context: the file and its project.
        life: the life of the value that the call makes.
        rewrites, elsewhere, groups: what the fix consists of.
        assumptions: clauses; any of them makes the fix unsafe.
        notes: clauses to show whatever the safety.
    """

    use: Use
    context: Context
    life: ValueLife
    rewrites: list[Rewrite] = field(default_factory=list)
    elsewhere: list[Elsewhere] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def view(self) -> ModuleView:
        """The file."""
        return self.context.view

    @property
    def call(self) -> ast.Call:
        """The call that is rewritten."""
        assert self.use.call is not None
        return self.use.call

    def spell(self, name: str, at: ast.AST | None = None) -> Spelling:
        """How to write a qualified name at the call, or at another node.

        Raises:
            CannotExport: it cannot be written there.
        """
        spelling = self.view.spell(name, at or self.call, self.use)
        if spelling is None:
            raise CannotExport(f"`{name}` cannot be written here, because another name stands in its way")
        return spelling

    def fix(self, title: str) -> Fix:
        """The fix as it has been put together."""
        safety = Safety.UNSAFE if self.assumptions else Safety.SAFE
        return Fix(title, safety, tuple(self.rewrites), _NEEDS, tuple(self.elsewhere))


@dataclass(frozen=True)
class Given:
    """How the arguments of the old call become those of `torch.export.export`.

    Attributes:
        module: what replaces the first argument; None to keep it.
        inputs: position of the argument that the example inputs replace; None to add them.
        dropped: arguments that go.
    """

    module: Template | None
    inputs: int | None
    dropped: tuple[int | str, ...] = ()


def write_capture(capture: Capture, given: Given, arguments: ExportArguments) -> None:
    """Add the rewrites of the call and of everything that is done with its value.

    Raises:
        CannotExport: there is no form that is right.
    """
    view, call, life = capture.view, capture.call, capture.life
    export = capture.spell("torch.export.export")
    capture.rewrites += [*export.imports, *arguments.rewrites]
    called = bool(life.calls) or life.as_module or not life.saves
    both = bool(life.saves) and called
    if both and life.name is None:
        raise CannotExport("the value is both saved and called, and has no variable of its own")
    if arguments.before:
        capture.rewrites.append(InsertStatements(view.span(life.statement), arguments.before, "before"))
    replaced: list[tuple[int | str, Template]] = [(0, given.module)] if given.module is not None else []
    added: list[tuple[str, Template]] = []
    if given.inputs is not None:
        replaced.append((given.inputs, arguments.args))
    else:
        added.append(("args", arguments.args))
    added.append(("dynamic_shapes", arguments.shapes))
    if capture.context.settings.min_torch < _NON_STRICT_BY_DEFAULT:
        added.append(("strict", Template("False")))
    capture.rewrites.append(
        EditCall(
            view.span(call),
            function=Template(export.text),
            callee=view.span(call.func),
            arguments=tuple(replaced),
            drop=given.dropped,
            add=tuple(added),
            outer=None if both or not called else "$call.module()",
        )
    )
    if life.outer is not call:
        capture.rewrites.append(
            ReplaceExpression(view.span(life.outer), Template("$value", (("value", view.span(call)),)))
        )
    capture.rewrites += [DeleteStatement(view.span(statement)) for statement in life.evals]
    program = _name_program(capture) if both else None
    for save in life.saves:
        _write_save(capture, save, program)


def _name_program(capture: Capture) -> str:
    view, life = capture.view, capture.life
    assert life.name is not None
    scope = view.scope_at(life.name)
    if any(view.scope_at(save.call).frame is not scope.frame for save in life.saves):
        raise CannotExport("the value is called, and saved in another function than the one that makes it")
    program = view.fresh_name(f"{life.name.id}_program", capture.call)
    capture.rewrites += [
        ReplaceExpression(view.span(life.name), Template(program)),
        InsertStatements(view.span(life.statement), (f"{life.name.id} = {program}.module()",)),
    ]
    return program


def _write_save(capture: Capture, save: Save, program: str | None) -> None:
    view = capture.view
    if save.extra_files is not None:
        raise CannotExport(
            "it is saved with extra files, which `torch.export.save` takes as text and gives back as text"
        )
    artifact = read_artifact(view, save.path, capture.context.project)
    capture.groups += artifact.group()
    reason = artifact.obstacle()
    if reason is not None:
        capture.assumptions.append(reason.rstrip("."))
    capture.assumptions += [
        f"{reader.title} at {reader.place} cannot read the new file: {reader.advice}"
        for reader in foreign_readers(capture.context.project)[:1]
    ]
    writer = capture.spell("torch.export.save", save.call)
    here, elsewhere = artifact.new_suffix(view, save.path)
    capture.rewrites += [*writer.imports, *here]
    capture.elsewhere += elsewhere
    if (here or elsewhere) and artifact.documents:
        capture.notes.append(
            f"{artifact.title} becomes a .pt2 file; {', '.join(artifact.documents[:3])} still names it"
        )
    value = Template(program) if program else Template("$v", (("v", view.span(save.value)),))
    if save.method:
        hole = value.text if program else "$v"
        capture.rewrites.append(
            ReplaceExpression(
                view.span(save.call),
                Template(f"{writer.text}({hole}, $path)", (*value.parts, ("path", view.span(save.path)))),
            )
        )
        return
    capture.rewrites.append(
        EditCall(
            view.span(save.call),
            function=Template(writer.text),
            callee=view.span(save.call.func),
            arguments=((0, value),) if program else (),
        )
    )
