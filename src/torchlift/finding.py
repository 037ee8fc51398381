"""What a rule says: findings, and fixes described as rewrites of the syntax.

All of it is plain, picklable data. Rewrites name spans of the original text and templates; the text that replaces them
is built later, and only for files that are written or shown as a patch.

In a template, `$name` stands for the source text of a part (a span of the user's own code, comments included).
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.source import Span
from torchlift.versions import TorchVersion


class Safety(Enum):
    """How far a fix can be trusted; the values are the names used in every output format."""

    SAFE = "safe"
    """Every precondition was checked: for this program the new code does what the old did."""
    PROVEN = "proven"
    """A recorded run gave equal results with the new code, and what no run can tell was checked; needs `--evidence`."""
    UNSAFE = "unsafe"
    """Right under an assumption that the message names; applied with `--unsafe-fixes` only."""
    MANUAL = "manual"
    """Nothing to apply: the message says what to do."""

    @property
    def rank(self) -> int:
        """0 for the safest."""
        return _RANKS[self]


_RANKS = {safety: rank for rank, safety in enumerate(Safety)}


def applied(*, unsafe_fixes: bool) -> frozenset[Safety]:
    """The fixes that a run applies. Only a run that was given evidence has proven ones."""
    return frozenset({Safety.SAFE, Safety.PROVEN, *([Safety.UNSAFE] if unsafe_fixes else [])})


class Severity(Enum):
    """How much a finding matters when the project moves to the target release."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


Parts = tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class Template:
    """Source text with `$name` holes filled from spans of the original file."""

    text: str
    parts: Parts = ()


@dataclass(frozen=True, slots=True)
class ReplaceExpression:
    """Put `template` in the place of the expression at `span`.

    Attributes:
        span: the expression.
        template: what replaces it.
        bare: whether any expression may stand there, so that a part that is the whole template needs no brackets.
    """

    span: Span
    template: Template
    bare: bool = False

    def loses_comment(self, text: str) -> bool:
        """Whether a comment in `text`, the file, stands in what it replaces and in none of the parts that stay."""
        start = self.span.start
        for part in [*sorted(part for _, part in self.template.parts), Span(self.span.end, self.span.end)]:
            if "#" in text[start : part.start]:
                return True
            start = max(start, part.end)
        return False


@dataclass(frozen=True, slots=True)
class EditCall:
    """Change parts of one call and leave the layout and comments of everything else as they are.

    Attributes:
        span: the whole call expression.
        function: what replaces the called expression, if anything.
        callee: the called expression, when `function` is given.
        arguments: replacement values, by position (`0`) or keyword name.
        drop: arguments to remove, by position or keyword name.
        add: keyword arguments to append, in order.
        rename: keyword arguments that get another name, old and new.
        first: positional argument to put in front of all others.
        outer: template around the finished call, with `$call` for the call itself.
        outer_parts: further holes of `outer`.
    """

    span: Span
    function: Template | None = None
    callee: Span | None = None
    arguments: tuple[tuple[int | str, Template], ...] = ()
    drop: tuple[int | str, ...] = ()
    add: tuple[tuple[str, Template], ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    first: Template | None = None
    outer: str | None = None
    outer_parts: Parts = ()


@dataclass(frozen=True, slots=True)
class DeleteStatement:
    """Remove a statement with its lines, its trailing comment and the blank lines that set it apart; a block is not left empty.

    Attributes:
        span: the statement; that of a definition begins at its `def` or `class`, and its decorators go, too.
        comments: number of comment lines right above that go with it.
    """

    span: Span
    comments: int = 0


@dataclass(frozen=True, slots=True)
class InsertStatements:
    """Put whole statements on lines of their own before or after the statement at `span`, with its indentation."""

    span: Span
    lines: tuple[str, ...]
    where: Literal["before", "after"] = "after"


@dataclass(frozen=True, slots=True)
class DropDecorator:
    """Remove the decorator whose expression (without the `@`) is at `span`."""

    span: Span


@dataclass(frozen=True, slots=True)
class EditImport:
    """Change one imported name of the `from ... import ...` statement at `span`.

    Attributes:
        span: the whole statement.
        name: the imported name as written.
        bound: the local name it binds (its `as` name, or the name itself).
        module: new module, or None to remove the name.
        new_name: new imported name.
        new_bound: new local name.
    """

    span: Span
    name: str
    bound: str
    module: str | None = None
    new_name: str | None = None
    new_bound: str | None = None


@dataclass(frozen=True, slots=True)
class AddImport:
    """Write the import `statement` right behind the statement at `anchor`, once however many fixes ask for it."""

    statement: str
    anchor: Span


@dataclass(frozen=True, slots=True)
class EditComment:
    """Put `text` in the place of the comment at `span`; with no text, its line goes too if it holds nothing else."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class KeepBranch:
    """Put the statements of one branch of the `if` at `span` in its place, as far in as the `if` stood.

    Attributes:
        span: the whole statement; an `elif` counts as one, up to the end of what hangs below it; of a `with` or `try` there is the body only.
        branch: the branch to keep; None removes the statement.
    """

    span: Span
    branch: Literal["body", "orelse"] | None


@dataclass(frozen=True, slots=True)
class DropOperand:
    """Remove the operand at `span`, with its `and` or `or`, from the Boolean operation it stands in."""

    span: Span


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Put `text` in the place of `span`, in a file that is no Python or inside a string of one that is.

    Neither holds a line break.
    """

    span: Span
    text: str


Rewrite = (
    EditComment
    | KeepBranch
    | DropOperand
    | ReplaceExpression
    | EditCall
    | DeleteStatement
    | InsertStatements
    | DropDecorator
    | EditImport
    | AddImport
    | ReplaceText
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A rewrite in another file than the finding's; `path` has to be among the paths of one of the finding's groups."""

    path: str
    rewrite: Rewrite


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that makes a finding go away.

    Attributes:
        title: what applying it does, in the imperative.
        safety: `SAFE`, `PROVEN` or `UNSAFE`.
        rewrites: syntax changes, all of them applied or none.
        needs: lowest torch release the new code runs on, if any.
        elsewhere: rewrites in other files that belong to it.
        still_reported: whether the place is reported again afterwards, without a fix, for what can only be done later.
        leaves: a sentence on what else speaks of what it changes, and stays as it is; for whoever applies it.
    """

    title: str
    safety: Safety
    rewrites: tuple[Rewrite, ...]
    needs: TorchVersion | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    still_reported: bool = False
    leaves: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings whose fixes are applied together or not at all.

    A finding of the group that has no applicable fix holds back all the others.

    Attributes:
        key: what they share, in words a user understands: `the artifact model.pt`.
        paths: every file known to hold a finding of the group.
        sites: number of places in the project that have to change together.
        covers: how many of them the finding that carries this group covers. If the findings of a group cover fewer
            than all sites (one is suppressed, its rule is not selected), none of the fixes is applied.
        artifact: the file that it is about, as the code spells it; empty if it is about none.
    """

    key: str
    paths: tuple[str, ...]
    sites: int = 1
    covers: int = 1
    artifact: str = ""


@dataclass(frozen=True, slots=True)
class DroppedFix:
    """What stands against a fix that was tried on the project and left out.

    Attributes:
        by: what fails with it: a test, a function that returns something else, or the command that was run.
        error: the line that says how.
    """

    by: str
    error: str

    @property
    def sentence(self) -> str:
        """What is said of it in the place of the fix."""
        return f"It was tried and left out because of {self.by}: {self.error}."


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that breaks, or will.

    Attributes:
        code: rule code, such as `TL101`.
        path: path relative to the project root, with forward slashes.
        span: where, in the file as it was read.
        message: what is wrong and why, one or two sentences.
        severity: how much it matters at the target release.
        help: what to do, when there is no fix or the fix needs review.
        fix: the change offered, if any.
        statement: span of the whole statement, which is what a suppression comment covers.
        groups: fixes that go together with this one's.
        notes: what the message rests on, step by step, such as what each rank of a deadlock waits for.
        waits_for: `path:line` of the place that has to change before anything can be done here; empty if there is none.
        dropped: what stands against its fix, if that was tried on the project and left out.
    """

    code: str
    path: str
    span: Span
    message: str
    severity: Severity = Severity.WARNING
    help: str | None = None
    fix: Fix | None = None
    statement: Span | None = None
    groups: tuple[Group, ...] = ()
    notes: tuple[str, ...] = ()
    waits_for: str = ""
    dropped: DroppedFix | None = None

    @property
    def safety(self) -> Safety:
        """Safety of the fix, `MANUAL` where there is none."""
        return self.fix.safety if self.fix else Safety.MANUAL

    def without_fix(self, why: str) -> Finding:
        """The same finding with its fix withheld, and in its help what the fix would have done and the reason."""
        parts = (self.help, f"{self.fix.title}." if self.fix is not None else None, why)
        return replace(self, fix=None, help=" ".join(part for part in parts if part))

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order of every report: by file, place, code."""
        return (self.path, self.span.start, self.span.end, self.code, self.message)


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Characters to put in the place of `span`."""

    span: Span
    text: str


@dataclass(frozen=True)
class FileFailure:
    """Something torchlift could not do with one file; never an exception that ends a run.

    Attributes:
        path: the file.
        stage: which stage failed (`read`, `parse`, `rule TL101`, `verify`, `write`).
        reason: a sentence.
        ours: whether it is a defect of torchlift and not of the input.
        detail: traceback, for reports of defects.
    """

    path: str
    stage: str
    reason: str
    ours: bool = False
    detail: str = ""
