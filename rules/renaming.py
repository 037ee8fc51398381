"""Names of torch that got another name: the shape of a table of them, and the findings that it gives."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.finding import EditCall, EditImport, Finding, Fix, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.rule import Context, Settings
from torchlift.search.parties import Sighting
from torchlift.versions import TorchVersion
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.guards import is_last_resort_for
from torchlift.view.walk import walk

# Ways to read a name that no analysis of names sees.
_BY_NAME = ("globals(", "locals(", "vars(", "__dict__", "eval(", "exec(")
# Modules that `import torch` alone does not load (torch 2.13.0, fresh process).
_NOT_LOADED = ("torch.distributed.tensor.", "torch.distributed.fsdp.")
_NO_READ = frozenset({"string", "store", "delete"})


@dataclass(frozen=True)
class MovedName:
    """One moved name.

    Attributes:
        old: qualified old name.
        new: qualified new name.
        since: first release with the new name.
        source: where the old name says that it moved, in torch 2.13.0 unless noted.
        example: expression over `f` that calls it, with the same result for both names; empty where `old is new`.
        deprecated: release that deprecated the old name, if known.
        removed: release that removed the old name, if it is gone.
        triggers: text of which one stands in every file that uses the old name (see `Prefilter`); its last part unless
            given.
        newer: a third name and its first release, for projects that support no release without it.
        keywords: arguments that the new name calls otherwise, old and new.
        members: attributes of the old value that the new one has too; empty where the two are alike throughout.
        module: whether the old name is a module; only what is imported from it moves.
        stores: whether assigning to the name is how it is used, as with a setting. Elsewhere it is a patch.
        review: why the fix needs review, or empty. It ends the message.
        note: one more sentence for the message, or empty.
        older: one more where `new` is taken, and not `newer`, or empty.
    """

    old: str
    new: str
    since: TorchVersion
    source: str
    example: str = ""
    deprecated: TorchVersion | None = None
    removed: TorchVersion | None = None
    triggers: tuple[str, ...] = ()
    newer: tuple[str, TorchVersion] | None = None
    keywords: tuple[tuple[str, str], ...] = ()
    members: tuple[str, ...] = ()
    module: bool = False
    stores: bool = False
    review: str = ""
    note: str = ""
    older: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """What the prefilter looks for."""
        return self.triggers or (self.old.rpartition(".")[2],)

    def best(self, settings: Settings) -> tuple[str, TorchVersion]:
        """The new name for a project, and the release that it needs."""
        if self.newer is not None and self.newer[1] <= settings.min_torch:
            return self.newer
        return self.new, self.since


class Renaming:
    """The check of a rule that is a table of moved names.

    Attributes:
        targets, triggers: what the rule is asked about.
        patches: collector of the places that replace an old name; the rule lists it.
    """

    def __init__(self, code: str, rows: Iterable[MovedName]) -> None:
        self._code = code
        self._rows = {row.old: row for row in rows}
        self.targets = tuple(self._rows)
        self.triggers = tuple(sorted({word for row in self._rows.values() for word in row.words}))
        self.patches = Collector(
            f"patches.{code}", self.triggers, self._collect_patches, frozenset(self._rows), _may_replace
        )

    def changed_in(self, target: str) -> TorchVersion | None:
        """The release that changed an old name."""
        row = self._rows[target]
        return row.removed or row.deprecated or row.since

    def check(self, use: Use, context: Context) -> Iterator[Finding]:
        """The finding about one use of an old name, unless another place covers it or nothing is to be done yet."""
        row = self._rows[use.target]
        view, settings = context.view, context.settings
        if row.deprecated is not None and row.deprecated > settings.target:
            return
        if row.since > settings.target:
            return
        if use.wrapper is not None and row.members and use.name.rpartition(".")[2] not in row.members:
            return  # a module of the wrapper that happens to have the name
        known = {row.new, row.newer[0] if row.newer is not None else row.new}
        if is_last_resort_for(view, use.node, frozenset(known)) or _is_given_to(view, use.node, known):
            return
        if use.kind == "string" and any(name in view.source.text for name in known):
            return  # code that is told both names, as a table of converters is
        new, since = row.best(settings)
        new += use.name.removeprefix(row.old) if row.module else ""
        gone = row.removed is not None and row.removed <= settings.target
        severity = Severity.ERROR if gone else Severity.WARNING
        private = row.old.rpartition(".")[2] == new.rpartition(".")[2] and "._" in row.old
        old_name = (
            f"is a private path of `{new}`" if private and row.deprecated is None else f"is the old name of `{new}`"
        )
        package = row.old.partition(".")[0]
        release = f"the {package} for torch {row.removed}" if package == "torchvision" else f"torch {row.removed}"
        state = f"was removed in {release}; use `{new}`" if gone else old_name
        old = use.name if row.module else row.old
        older = row.older if row.newer is not None and since < row.newer[1] else ""
        message = " ".join(part for part in (f"`{old}` {state}.", row.note, older) if part)
        span = view.span(use.node)
        patched = None if row.stores else self._patched_at(context.project, row.old)
        if patched is not None and use.kind in {"store", "delete"}:
            advice = (
                f"This patches the old name only: patch `{new}` instead where that is the one that counts, or leave the old one "
                "alone."
            )
            yield Finding(self._code, view.path, span, message, severity, advice)
            return
        if patched is not None and use.kind not in _NO_READ:
            advice = (
                f"Not rewritten: `{row.old}` is replaced or patched at {patched}, which a renamed use would escape."
            )
            yield Finding(self._code, view.path, span, message, severity, advice)
            return
        if _is_put_back(view, use.node, row.old):
            advice = "Not rewritten: a table has it under its old name, under which `setattr` here may put it back."
            yield Finding(self._code, view.path, span, message, severity, advice)
            return
        rewrites = _rewrites(use, row, new, view, context.project)
        if rewrites is None:
            return
        if not rewrites:
            yield Finding(self._code, view.path, span, message, severity, _advice(row, new))
            return
        safety = Safety.UNSAFE if row.review else Safety.SAFE
        help_text = f"Needs review: {row.review}" if row.review else None
        fix = Fix(f"Use `{new}`", safety, rewrites, needs=since)
        yield Finding(self._code, view.path, span, message, severity, help_text, fix)

    def _collect_patches(self, view: ModuleView) -> tuple[tuple[str, int], ...] | None:
        """Old names that a file stores to, deletes, or names in a string, with the line."""
        found = [(use.target, use.node.lineno) for use in view.uses(frozenset(self._rows)) if use.kind in _NO_READ]
        return tuple(found) or None

    def _patched_at(self, project: Project, name: str) -> str | None:
        for path, patches in sorted(project.records(self.patches).items()):
            for target, line in patches:
                if target == name:
                    return f"{path}:{line}"
        return None


def _is_put_back(view: ModuleView, node: ast.AST, old: str) -> bool:
    """Whether a table has an old name's value under that name, in a file that sets attributes by such names."""
    table = view.parent(node)
    if not isinstance(table, ast.Dict) or "setattr(" not in view.source.text:
        return False
    key = next((key for key, value in zip(table.keys, table.values, strict=True) if value is node), None)
    return isinstance(key, ast.Constant) and key.value == old.rpartition(".")[2]


def _is_given_to(view: ModuleView, node: ast.AST, names: set[str]) -> bool:
    """Whether the old value is put under one of the new `names`, for a torch that lacks it; renamed, it would be put under itself."""
    match view.parent(node):
        case ast.Assign(targets=targets, value=value) if value is node:
            return any(view.possible_name(target) in names for target in targets if isinstance(target, ast.Attribute))
        case ast.Call(func=ast.Name(id="setattr"), args=[module, ast.Constant(value=str(name)), value]) if (
            value is node
        ):
            return f"{view.possible_name(module)}.{name}" in names
    return False


def _may_replace(seen: Sighting) -> bool:
    return seen.kind == "other"


def _advice(row: MovedName, new: str) -> str:
    advice = f"Write `{new}` here."
    for old_keyword, new_keyword in row.keywords:
        advice += f" Its argument `{old_keyword}` is called `{new_keyword}` there."
    if row.members:
        advice += (
            f" It has no more than the operations themselves: {', '.join(f'`.{member}`' for member in row.members)}."
        )
    return advice


def _rewrites(use: Use, row: MovedName, new: str, view: ModuleView, project: Project) -> tuple[Rewrite, ...] | None:
    """Rewrites of one use; empty where it cannot be rewritten, None where another finding covers it."""
    node = use.node
    if isinstance(node, ast.alias):
        assert use.resolution is not None and use.resolution.binding is not None
        return _import_rewrites(use, use.resolution.binding, row, new, view, project)
    if isinstance(node, ast.Name):
        binding = use.resolution.binding if use.resolution is not None else None
        # Reads of an imported or assigned name follow the import or the assignment, which is reported itself.
        return None if binding is not None else ()
    if (
        isinstance(node, ast.Constant)
        and use.kind == "annotation"
        and row.old.rpartition(".")[2] == new.rpartition(".")[2]
    ):
        return None  # it keeps its name; only the import changes
    if use.kind in _NO_READ and not (row.stores and use.kind == "store"):
        return ()
    if row.module or not isinstance(node, ast.Attribute):
        return ()
    if row.new.startswith(_NOT_LOADED) and not _stays_imported(view, row.old):
        return ()
    spelling = view.spell(new, node, use)
    if spelling is None:
        return ()
    read = _read_rewrite(node, spelling.text, row, view)
    return () if read is None else (read, *spelling.imports)


def _read_rewrite(node: ast.expr, text: str | None, row: MovedName, view: ModuleView) -> Rewrite | None:
    """What makes one expression mean the new name; None if it cannot be done.

    `text` is how the new name is written; None if the expression itself stays and only what surrounds it changes. Then
    an edit that changes nothing is given where nothing surrounds it.
    """
    parent = view.parent(node)
    if row.members and not (isinstance(parent, ast.Attribute) and parent.attr in row.members):
        return None
    written = text or view.text(node)
    if not row.keywords:
        return ReplaceExpression(view.span(node), Template(written))
    if not isinstance(parent, ast.Call) or parent.func is not node:
        return None
    if any(keyword.arg is None for keyword in parent.keywords):
        return None
    given = {keyword.arg for keyword in parent.keywords}
    renamed = tuple((old, new) for old, new in row.keywords if old in given)
    if not renamed:
        return ReplaceExpression(view.span(node), Template(written))
    return EditCall(view.span(parent), Template(written), view.span(node), rename=renamed)


def _stays_imported(view: ModuleView, old: str) -> bool:
    """Whether a plain `import` of the old module, which no fix removes, loads the new one too."""
    module = old.rpartition(".")[0]
    return any(
        isinstance(node, ast.Import) and any(alias.name.startswith(module) for alias in node.names)
        for node in view.tree.body
    )


def _import_rewrites(
    use: Use, binding: Binding, row: MovedName, new: str, view: ModuleView, project: Project
) -> tuple[Rewrite, ...]:
    statement, alias = binding.statement, binding.node
    if not isinstance(statement, ast.ImportFrom) or statement.level or not isinstance(alias, ast.alias):
        return ()
    if row.module and use.name.count(".") != row.old.count(".") + 1:
        return ()  # the module itself, or a module in it, whose classes are other ones than those of the new place
    if not row.module:
        # `from old import X` keeps the part of the name behind the moved one.
        new += use.name.removeprefix(row.old)
    if use.wrapper is not None:
        # What a mirror of torch has under the new name is the mirror's own.
        if not new.startswith(f"{use.wrapper.mirrors}."):
            return ()
        new = use.wrapper.module + new.removeprefix(use.wrapper.mirrors)
    module, _, last = new.rpartition(".")
    reads = view.reads_of(binding)
    text: str | None = None
    bound = binding.name
    if alias.asname is None and last != alias.name and _may_rename(view, binding, last, project):
        bound = text = last
    changed: tuple[Rewrite | None, ...] = ()
    if row.members or row.keywords:
        if not all(alone for _, alone in reads) or _may_be_read_elsewhere(view, binding, project):
            return ()
        changed = tuple(_read_rewrite(read, text, row, view) for read, _ in reads)
    elif text is not None:
        changed = tuple(_read_rewrite(read, text, row, view) for read, _ in reads)
    rewrites = tuple(rewrite for rewrite in changed if rewrite is not None)
    if len(rewrites) != len(changed):
        return ()
    if text is None:
        rewrites = tuple(rewrite for rewrite in rewrites if isinstance(rewrite, EditCall))
    return (EditImport(view.span(statement), alias.name, binding.name, module, last, bound), *rewrites)


def _may_be_read_elsewhere(view: ModuleView, binding: Binding, project: Project) -> bool:
    return project.may_be_imported(view, binding) or any(word in view.source.text for word in _BY_NAME)


def _may_rename(view: ModuleView, binding: Binding, new: str, project: Project) -> bool:
    """Whether every use of the imported name can take the new name: all in this file, all certain, name free."""
    if _may_be_read_elsewhere(view, binding, project):
        return False
    if any(new in scope.bindings for scope in view.scopes.scope_of.values()):
        return False
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) and binding.name in node.names for node in walk(view.tree)):
        return False
    if new in view.scopes.chains or len(binding.scope.bindings[binding.name]) != 1:
        return False
    return all(alone for _, alone in view.reads_of(binding))
