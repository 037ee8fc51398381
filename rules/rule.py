"""The shape of a rule and of its examples.

A rule is plain data around one pure function. The engine finds the uses of the rule's targets, whatever they are called
in the file, and hands them over one by one. Scripts, container files and YAML have no names to resolve: a rule that knows
something about them gets a whole file.

A rule file says first what it is about, in its `RULE`, then how, then shows it, in its `EXAMPLES`. The register binds the
functions and examples of the file to its declaration (`registry.rule_in`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from torchlift.finding import Finding, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.torchscript_intent import UNSTATED, TorchScriptIntent
from torchlift.versions import LATEST, TorchVersion
from torchlift.wrappers import DEFAULT_WRAPPERS, Wrapper

if TYPE_CHECKING:
    import ast

    from torchlift.evidence.known import KnownRuns
    from torchlift.project import Collector, Project
    from torchlift.view import ModuleView, Use
    from torchlift.view.text import TextKind, TextView
    from torchlift.wheels.machine import Machine


@dataclass(frozen=True)
class InnerProject:
    """A folder whose own requirements say with which torch its files run.

    Attributes:
        folder: its path from the root, with a slash at the end.
        min_torch: the lowest release there.
        place: what says so.
        pinned: whether the place asks for that release exactly.
        at_least: whether newer ones may be all that it runs with.
    """

    folder: str
    min_torch: TorchVersion
    place: str
    pinned: bool = False
    at_least: bool = False


@dataclass(frozen=True)
class Settings:
    """What the user wants, as far as rules may depend on it.

    Attributes:
        target: torch release the project moves to.
        min_torch: lowest torch release the migrated project must still run on.
        batch_example: size to give to first dimensions of size 1 in the examples of a capture; None keeps them.
        wrappers: modules that mirror modules of torch.
        machine: what the migrated project is installed on; None where nobody said.
        torchscript: what the user says about TorchScript in the project.
        min_torch_pinned: the place of the exact pin that says it; empty where no such pin does.
        torchfix: whether rules were selected by TorchFix's codes.
        min_torch_at_least: whether nothing says that it must run on a release as old as that, only on no older one.
        evidence: what recorded runs of the project did; None where the user names none.
        inner: folders with a lowest torch of their own, the innermost first.
        min_torch_inner: the place that says the lowest torch of such a folder; empty for other files.
    """

    target: TorchVersion = LATEST
    min_torch: TorchVersion = LATEST
    batch_example: int | None = None
    wrappers: tuple[Wrapper, ...] = DEFAULT_WRAPPERS
    machine: Machine | None = None
    torchscript: TorchScriptIntent = UNSTATED
    min_torch_at_least: bool = False
    min_torch_pinned: str = ""
    torchfix: bool = False
    evidence: KnownRuns | None = None
    inner: tuple[InnerProject, ...] = ()
    min_torch_inner: str = ""

    @property
    def supports(self) -> str:
        """ "supports torch 2.6", or that it may, where nothing says so."""
        place = f" ({self.min_torch_inner})" if self.min_torch_inner else ""
        return f"{'may support' if self.min_torch_at_least else 'supports'} torch {self.min_torch}{place}"

    def at(self, path: str) -> Settings:
        """The settings for one file: those of the innermost folder with a lowest torch of its own that it lies in."""
        for inner in self.inner:
            if path.startswith(inner.folder):
                return replace(
                    self,
                    min_torch=inner.min_torch,
                    min_torch_at_least=inner.at_least,
                    min_torch_pinned=inner.place if inner.pinned else "",
                    min_torch_inner=inner.place,
                )
        return self

    @property
    def widest(self) -> Settings:
        """The settings with the lowest torch of all files."""
        return (
            replace(self, min_torch=min(self.min_torch, *(inner.min_torch for inner in self.inner)))
            if self.inner
            else self
        )


Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Context:
    """What a rule sees besides the use it is asked about.

    Attributes:
        view: the file.
        project: the project it belongs to.
        settings: what the user wants.
        rules: every rule by its code, for `says`.
        answers: what `once` has worked out.
    """

    view: ModuleView
    project: Project
    settings: Settings
    rules: Mapping[str, Rule] = field(default_factory=dict)
    answers: dict[Hashable, Any] = field(default_factory=dict)

    def says(self, code: str, use: Use) -> tuple[Finding, ...]:
        """What the rule `code` finds at `use`, selected or not: for a rule that leaves a place to one that knows more."""
        return self.once(_said, code, use)

    def once(
        self,
        question: Callable[Concatenate[Context, Arguments], Answer],
        *about: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Answer:
        """The answer of `question(self, ...)`, worked out once for all uses in the file; `Project.once` for all files."""
        key = question, about, tuple(named.items())
        if key not in self.answers:
            self.answers[key] = question(self, *about, **named)
        answer: Answer = self.answers[key]
        return answer


def _said(context: Context, code: str, use: Use) -> tuple[Finding, ...]:
    return tuple(context.rules[code].check(use, context))


@dataclass(frozen=True)
class TextContext:
    """What a rule sees besides the text file it is asked about."""

    project: Project
    settings: Settings


# The release that the examples are run with.
_RUN_HERE = TorchVersion(2, 13)

Check = Callable[["Use", Context], Iterable[Finding]]
TextCheck = Callable[["TextView", TextContext], Iterable[Finding]]
WholeCheck = Callable[[Context], Iterable[Finding]]


def nothing(use: Use, context: Context) -> Iterable[Finding]:
    """The check of a rule that asks about no Python, or whose findings the engine makes."""
    return ()


def unbound(use: Use, context: Context) -> Iterable[Finding]:
    """The check of a declaration that was not taken from the register.

    Raises:
        LookupError: always.
    """
    raise LookupError(
        "This is a rule's declaration only: `torchlift.rules.registry` binds its functions and examples to it."
    )


@dataclass(frozen=True)
class Bad:
    """An example that the rule reports.

    Attributes:
        before: the code, a whole module.
        after: the module after applying the fix; None where the finding must have none.
        safety: what the fix must be.
        why: a few words that tell this example from the others; used as the test's name.
        run: statements executed in fresh processes after `before`, after `before` with TorchScript switched off, and after
            `after`. They assign `result`, and the three results are compared: structure, Python types, dtype, shape,
            values. `result = observe(traced, torch.ones(4, 3))` calls twice, with other values and other batch sizes, and
            compares errors and changed inputs too. Every safe fix needs one.
        differs: why `run` may give another result after the fix, empty if it must not. For a safe fix: why TorchScript was
            the odd one out; the new result must then be that of eager. For an unsafe one: the assumption that `run` breaks.
        files: further files of the example project, by path.
        min_torch: lowest torch of the example project.
        batch_example: as in `Settings`.
        path: name of the file, which tells its language.
        machine: what the example is installed on, as in `Settings`.
        torchscript: what its user says about TorchScript, as in `Settings`.
        ranks: world sizes to run with: every rank is a process of its own with the environment that torchrun sets, and the
            results are compared rank by rank. `run` (or the code) creates the group, on gloo.
    """

    before: str
    after: str | None = None
    safety: Literal["safe", "unsafe"] = "safe"
    why: str = ""
    run: str | None = None
    differs: str = ""
    files: tuple[tuple[str, str], ...] = ()
    min_torch: TorchVersion = _RUN_HERE
    batch_example: int | None = None
    ranks: tuple[int, ...] = ()
    path: str = "example.py"
    machine: Machine | None = None
    torchscript: TorchScriptIntent = UNSTATED

    @property
    def kind(self) -> Literal["safe", "unsafe", "manual"]:
        """What the finding must be."""
        return self.safety if self.after is not None else "manual"


@dataclass(frozen=True)
class Ok:
    """A look-alike that the rule must not report; `why` says why not and names the test, the rest is as for `Bad`."""

    code: str
    why: str
    path: str = "example.py"
    files: tuple[tuple[str, str], ...] = ()
    machine: Machine | None = None
    torchscript: TorchScriptIntent = UNSTATED


@dataclass(frozen=True)
class Rule:
    """One thing torchlift knows.

    The functions, `collectors` and `examples` are usually left out of a declaration: the register takes them from the
    module's `check`, `text`, `matters`, `applies`, `COLLECTORS` and `EXAMPLES`.

    Attributes:
        code: stable code, `TL101`.
        name: kebab-case name of the bad pattern, also accepted in suppressions and configuration.
        summary: one line.
        why: what breaks and since when; Markdown.
        fix: when the fix is safe, when it needs review, when there is none; Markdown.
        targets: qualified names whose uses are handed to `check`; `*.name` is the attribute `name` of any value.
        sources: where the facts come from.
        check: the rule's function.
        examples: at least one `Bad` and three `Ok`.
        severity: default severity.
        deprecated: release that deprecated the pattern, if any.
        removed: release that removed it, if any.
        since: the first release that has what the rule is about; it is not asked where the target is an older one.
        triggers: words searched in the raw bytes of a file before anything else; the last part of each target unless
            given. `rare & other` stands for both together. A file without any trigger of any rule is never decoded.
        matters: set where the check reports nothing but calls, and of those only some: whether a call of a target may be
            reported, by its arguments. The call stands in no module, so nothing else is known of it; True if in doubt.
        applies: what has to hold of the project for the check to report anything; asked once, before files are parsed for it.
        aliases: codes of other tools that select this rule.
        default: whether it runs where no rules are selected; otherwise it has to be selected by its code, its name,
            `ALL`, or another tool's name for it.
        collectors: facts the check wants from every file of the project.
        sees_guarded: whether the check is also asked about uses under a version test, `hasattr` or an import fallback,
            which already handle both releases.
        changed_in: for a table, the release that changed a target; of branches on the release, the rule is then asked about
            those that the torch the project moves to runs.
        gives_way: set where names that another rule has as targets, and names below those, are left to that rule: it
            makes the triggers of the targets that remain.
        text: the rule's function for files that are no Python. Its fixes are made of `ReplaceText`.
        text_triggers: words searched in the raw bytes of such a file, as `triggers` in those of Python; a rule with `text`
            needs some, and they alone decide: a file without any is never decoded.
        text_kinds: the languages that `text` is asked about; empty for scripts (`view.text.SCRIPTS`).
        whole: the rule's function for whole files of Python, for what no name of torch leads to; its triggers decide which.
        whole_triggers: triggers of `whole` alone, set where names do lead to all else that the rule reports.
        wants: which settings leave `whole` and `text` anything to report; all unless given.
    """

    code: str
    name: str
    summary: str
    why: str
    fix: str
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    check: Check = unbound
    examples: tuple[Bad | Ok, ...] = ()
    severity: Severity = Severity.WARNING
    deprecated: TorchVersion | None = None
    removed: TorchVersion | None = None
    since: TorchVersion | None = None
    triggers: tuple[str, ...] = ()
    matters: Callable[[str, ast.Call, Settings], bool] | None = None
    applies: Callable[[Project], bool] | None = None
    aliases: tuple[str, ...] = ()
    default: bool = True
    collectors: tuple[Collector, ...] = ()
    sees_guarded: bool = False
    changed_in: Callable[[str], TorchVersion | None] | None = None
    gives_way: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None
    text: TextCheck | None = None
    text_triggers: tuple[str, ...] = ()
    text_kinds: frozenset[TextKind] = frozenset()
    whole: WholeCheck | None = None
    whole_triggers: tuple[str, ...] = ()
    wants: Callable[[Settings], bool] | None = None

    def __hash__(self) -> int:
        # Runs look for what they made of the same rules before: all fields of all rules would take longer than a small file.
        return hash(self.code)

    @property
    def words(self) -> tuple[str, ...]:
        """Words of which at least one stands in every file the rule can match."""
        return self.triggers or tuple(sorted({target.rpartition(".")[2] for target in self.targets}))

    @property
    def has_names(self) -> bool:
        """Whether names lead to what it reports of Python, or, beside a function for whole files, to some of it."""
        return self.whole is None or bool(self.whole_triggers)
