"""Writes the export of a module in the place of a call that made a TorchScript value, with the saves of that value.

The value becomes two things where it is both saved and called: the program, and its module under the old name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from torchlift.finding import (
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
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.project.torchscript_elsewhere import AOTI, cpp_naming, foreign_doubt, foreign_readers
from torchlift.rules.analysis.wording.messages import sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.artifacts import Artifact, read_artifact
from torchlift.rules.torchscript.captures.export_arguments import CannotExport, ExportArguments
from torchlift.rules.torchscript.captures.export_beside import export_beside
from torchlift.rules.torchscript.captures.handed_files import handed_on
from torchlift.rules.torchscript.modules.export_obstacles import export_obstacle
from torchlift.rules.torchscript.proofs.recorded_capture import (
    Asks,
    Assumption,
    Recorded,
    clauses,
    recorded_export,
    recorded_group,
    safety_of,
)
from torchlift.rules.torchscript.values.dropped_calls import FREEZE_NOTE, drop_calls, gradient_doubt
from torchlift.rules.torchscript.values.value_life import Save, ValueLife
from torchlift.search.vocabulary import encoded
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
        assumptions: any of them makes the fix unsafe, unless recorded runs settle it.
        refusals: clauses; any of them means there is no fix.
        notes: clauses to show whatever the safety.
        leaves: as of the fix.
        recorded: what recorded runs say about exporting it.
    """

    use: Use
    context: Context
    life: ValueLife
    rewrites: list[Rewrite] = field(default_factory=list)
    elsewhere: list[Elsewhere] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    leaves: str = ""
    recorded: Recorded | None = None

    def __post_init__(self) -> None:
        self.recorded = recorded_export(self.use, self.context)
        # The groups have to be known even where the call cannot be rewritten: they hold back the readers.
        for save in self.life.saves:
            self.groups += read_artifact(self.view, save.path, self.context.project).group()

    @property
    def view(self) -> ModuleView:
        """The file."""
        return self.context.view

    @property
    def call(self) -> ast.Call:
        """The call that is rewritten."""
        assert self.use.call is not None
        return self.use.call

    @property
    def was_training(self) -> bool:
        """Whether the module was in train mode in a recorded run, or nothing is known of that."""
        return self.recorded is None or any(value.training for value in self.recorded.known.site.values)

    def weigh(self, reason: str, safety: Safety) -> None:
        """Take a reason for a refusal or for an assumption, as its safety says."""
        if safety is Safety.MANUAL:
            self.refusals.append(reason)
        else:
            self.assume(reason)

    def assume(self, *reasons: str, asks: Asks = "run") -> None:
        """Take clauses for assumptions; a run that reaches the place could settle those that ask it."""
        self.assumptions += [Assumption(reason, asks) for reason in reasons]

    def weigh_exporting(self, module: ast.expr) -> None:
        """Refuse what no program can be made of, unless recorded runs made one.

        Raises:
            CannotExport: the module visibly is of that kind, or is not visible.
        """
        if self.recorded is None or not self.recorded.proved:
            obstacle = export_obstacle(self.view, module, self.context.project)
            if obstacle is not None:
                raise CannotExport(obstacle)

    def spell(self, name: str, at: ast.AST | None = None) -> Spelling:
        """How to write a qualified name at the call, or at another node.

        Raises:
            CannotExport: it cannot be written there.
        """
        spelling = self.view.spell(name, at or self.call, self.use)
        if spelling is None:
            raise CannotExport(f"how `{name}` is spelled here is not certain")
        return spelling

    def fix(self, title: str) -> Fix:
        """The fix as it has been put together."""
        safety = safety_of(self.assumptions, self.recorded)[0]
        return Fix(title, safety, tuple(self.rewrites), _NEEDS, tuple(self.elsewhere), leaves=self.leaves)

    def recorded_notes(self) -> tuple[str, ...]:
        """What a finding says about recorded runs."""
        return self.recorded.notes() if self.recorded is not None else ()

    def review(self) -> str | None:
        """Everything a finding with this fix says besides its message."""
        return " ".join(self._sentences()) or None

    def _sentences(self) -> Iterator[str]:
        if left := safety_of(self.assumptions, self.recorded)[1]:
            yield f"Needs review: {sentence(clauses(left))}"
        if self.notes:
            yield sentence(self.notes)
        if self.leaves:
            yield self.leaves


@dataclass(frozen=True)
class Given:
    """How the arguments of the old call become those of `torch.export.export`.

    Attributes:
        module: what replaces the module; None to keep it.
        inputs: position or keyword of the argument that the example inputs replace; None to add them.
        dropped: arguments that go, by position or keyword.
        module_keyword: the module's expression, where it is passed by the keyword `func`.
        before: statements to put in front: classes that the new module is made of.
        inputs_first: whether the inputs are written, and so evaluated, before the module.
    """

    module: Template | None
    inputs: int | str | None
    dropped: tuple[int | str, ...] = ()
    module_keyword: ast.expr | None = None
    before: tuple[str, ...] = ()
    inputs_first: bool = False


def write_capture(capture: Capture, given: Given, arguments: ExportArguments) -> None:
    """Add the rewrites of the call and of everything that is done with its value.

    Raises:
        CannotExport: there is no form that is right.
    """
    view, call, life = capture.view, capture.call, capture.life
    if (beside := export_beside(view, call)) is not None:
        raise CannotExport(beside)
    export = capture.spell("torch.export.export")
    capture.rewrites += [*export.imports, *arguments.rewrites]
    called = bool(life.calls) or life.as_module or not life.saves
    both = bool(life.saves) and called
    if both and life.name is None and life.attribute is None:
        raise CannotExport("the value is both saved and called, and has no variable of its own")
    if before := (*_spelled(capture, given.before), *arguments.before):
        capture.rewrites.append(InsertStatements(view.span(life.statement), before, "before"))
    replaced, dropped, added = _arguments(capture, given, arguments)
    capture.rewrites.append(
        EditCall(
            view.span(call),
            function=Template(export.text),
            callee=view.span(call.func),
            arguments=tuple(replaced),
            drop=tuple(dropped),
            add=tuple(added),
            outer=None if both or not called else "$call.module()",
        )
    )
    capture.rewrites += drop_calls(life)
    if (doubt := gradient_doubt(life)) is not None:
        capture.assume(doubt, asks="project")
    if life.frozen:
        capture.notes.append(FREEZE_NOTE)
    program = _name_program(capture) if both else None
    for save in life.saves:
        _write_save(capture, save, program)
    if life.saves:
        _weigh_foreign_readers(capture)


def _weigh_foreign_readers(capture: Capture) -> None:
    """Readers in other languages: the first thing to say about a file, and a refusal where one names the file.

    Raises:
        CannotExport: one of them opens a file of that name.
    """
    project = capture.context.project
    readers = foreign_readers(project)
    for save in capture.life.saves:
        name = read_artifact(capture.view, save.path, project).title.strip("`").rpartition("/")[2]
        for reader in readers if "." in name else ():
            if encoded(name) in project.data(reader.place.rpartition(":")[0]):
                raise CannotExport(
                    f"`{name}` is read by {reader.title} at {reader.place}, which cannot read an exported program: "
                    f"{reader.advice}, under another name"
                )
        for place in cpp_naming(project, name):
            raise CannotExport(
                f"`{name}` is named in C++ at {place}, where nothing can read an exported program: {AOTI}, under another name"
            )
    doubt = foreign_doubt(project)
    if doubt is not None:
        capture.assumptions.insert(0, Assumption(doubt, "project"))


def _spelled(capture: Capture, lines: tuple[str, ...]) -> tuple[str, ...]:
    if not lines:
        return ()
    module_class = capture.spell("torch.nn.Module")
    capture.rewrites += module_class.imports
    return (lines[0].replace("torch.nn.Module", module_class.text), *lines[1:])


_Changes = tuple[list[tuple[int | str, Template]], list[int | str], list[tuple[str, Template]]]


def _arguments(capture: Capture, given: Given, arguments: ExportArguments) -> _Changes:
    """Arguments to replace, to drop and to add."""
    replaced: list[tuple[int | str, Template]] = []
    dropped = list(given.dropped)
    added: list[tuple[str, Template]] = []
    if given.module_keyword is not None:
        dropped.append("func")
        kept = Template("$module", (("module", capture.view.span(given.module_keyword)),))
        added.append(("mod", given.module or kept))
    elif given.module is not None:
        replaced.append((0, given.module))
    if isinstance(given.inputs, int):
        replaced.append((given.inputs, arguments.args))
    else:
        if given.inputs is not None:
            dropped.append(given.inputs)
        added.append(("args", arguments.args))
    if given.inputs_first:
        added.reverse()
    if arguments.kwargs is not None:
        added.insert(0 if given.inputs_first else len(added), ("kwargs", arguments.kwargs))
    if arguments.shapes is not None:
        added.append(("dynamic_shapes", arguments.shapes))
    if capture.context.settings.min_torch < _NON_STRICT_BY_DEFAULT:
        added.append(("strict", Template("False")))
    return replaced, dropped, added


def _name_program(capture: Capture) -> str:
    """Bind the exported program to a name of its own beside its module; returns how that name is written."""
    view, life = capture.view, capture.life
    target: ast.Name | ast.Attribute | None = life.name or life.attribute
    assert target is not None
    text = view.text(target)
    if isinstance(target, ast.Name):
        scope = view.scope_at(target)
        if any(view.scope_at(save.call).frame is not scope.frame for save in life.saves):
            raise CannotExport("the value is called, and saved in another function than the one that makes it")
        program = view.fresh_name(f"{text}_program", capture.call)
    else:
        if {_base_of(save.value) for save in life.saves} != {view.text(target.value)}:
            raise CannotExport("the value is saved through another name than the one it is kept on")
        program = f"{text}_program"
        while f".{program.rpartition('.')[2]}" in view.source.text:
            program += "_"
    capture.rewrites += [
        ReplaceExpression(view.span(target), Template(program)),
        InsertStatements(view.span(life.statement), (f"{text} = {program}.module()",)),
    ]
    return program


def _base_of(value: ast.expr) -> str | None:
    return value.value.id if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) else None


def _write_save(capture: Capture, save: Save, program: str | None) -> None:
    view = capture.view
    artifact = read_artifact(view, save.path, capture.context.project)
    if (taken := handed_on(view, save.path)) is not None:
        raise CannotExport(taken)
    proved = capture.recorded is not None and capture.recorded.proved
    if artifact.unknown_readers and not artifact.readers and not artifact.buffer and not proved:
        raise CannotExport(
            f"{artifact.unknown_readers[0]} loads TorchScript from a path that is not known, and may mean the file that is written here: "
            "move both at once"
        )
    reason = artifact.obstacle()
    if reason is not None:
        _weigh_readers(capture, artifact, reason)
    writer = capture.spell("torch.export.save", save.call)
    here, elsewhere = artifact.new_suffix(view, save.path)
    capture.rewrites += [*writer.imports, *here]
    capture.elsewhere += elsewhere
    if (here or elsewhere) and artifact.documents:
        capture.leaves = f"{artifact.title} becomes a .pt2 file, and is still named at {', '.join(artifact.documents)}."
    value = Template(program) if program else Template("$v", (("v", view.span(save.value)),))
    extra = save.extra_files
    if extra is None and not save.method and len(save.call.args) == 2:
        capture.rewrites.append(
            EditCall(
                view.span(save.call),
                function=Template(writer.text),
                callee=view.span(save.call.func),
                arguments=((0, value),) if program else (),
            )
        )
        return
    parts = [*value.parts, ("path", view.span(save.path))]
    tail = ""
    if extra is not None:
        if _holds_bytes(extra):
            raise CannotExport(
                "`torch.export.save` rejects extra files that are bytes, and gives them back as text: decode them here, and "
                "change what reads them"
            )
        if not _holds_text(extra):
            capture.assume(
                "the values of `_extra_files` have to be `str`: `torch.export.save` rejects bytes, and they are read back "
                "as text",
                asks="project",
            )
        elif artifact.readers and any(site.extra_files for _, site in artifact.readers):
            capture.assume("a reader takes the extra files as bytes, and gets text from now on", asks="project")
        parts.append(("extra", view.span(extra)))
        tail = ", extra_files=$extra"
    hole = program or "$v"
    template = Template(f"{writer.text}({hole}, $path{tail})", tuple(parts))
    capture.rewrites.append(ReplaceExpression(view.span(save.call), template))


def _weigh_readers(capture: Capture, artifact: Artifact, reason: str) -> None:
    """Who reads a file is not known from the code; a run may have seen it.

    Raises:
        CannotExport: a run wrote it, and nobody read it.
    """
    recorded, runs = capture.recorded, capture.context.settings.evidence
    if recorded is None or runs is None or not recorded.proved:
        capture.assume(reason, asks="project")
        return
    ends = runs.ends_of(recorded.known.site)
    if ends.readers:
        capture.groups += recorded_group(ends)
        return
    contents = [written.content[:12] for value in recorded.known.site.values for written in value.wrote]
    if contents and not artifact.readers:
        raise CannotExport(f"nobody read {artifact.title} ({contents[0]}) in the recorded runs, and {reason}")
    capture.assume(reason, asks="project")


def _holds_bytes(node: ast.expr) -> bool:
    """Whether a dict of extra files is written out and holds bytes."""
    return isinstance(node, ast.Dict) and any(
        (isinstance(value, ast.Constant) and isinstance(value.value, bytes))
        or (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "encode")
        for value in node.values
    )


def _holds_text(node: ast.expr) -> bool:
    """Whether a dict of extra files is written out and holds only text."""
    return isinstance(node, ast.Dict) and all(
        (isinstance(value, ast.Constant) and isinstance(value.value, str)) or isinstance(value, ast.JoinedStr)
        for value in node.values
    )
