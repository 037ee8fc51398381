"""What the text of a file after its fixes holds that no maintainer would have left, and that was not there before.

Branches that have become empty or alike, names that nothing reads any more, a file of tests without a test. Each shape is
looked for in the file before and after, and only what is new is taken out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import DeleteStatement, EditComment, EditImport, KeepBranch, Rewrite
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.conflicts import agree
from torchlift.migrate.fix.rewrite.build import apply_edits, build_edits
from torchlift.migrate.fix.rewrite.idle_statements import idle
from torchlift.migrate.fix.rewrite.leftovers import does_nothing_when_loaded
from torchlift.migrate.fix.verify import problem_with
from torchlift.project import Project
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.named_files import is_named_elsewhere
from torchlift.rules.analysis.places.purpose import is_test_file, runs_by_itself
from torchlift.source import SourceText, Span
from torchlift.view import Binding, ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_ROUNDS = 5
_ASKS = frozenset({"isinstance", "hasattr", "getattr", "len", "bool", "int", "str", "is_available"})
_COMPILED = lazy_pattern(r"(?i)(?:^|[._])(?:_?c|ext|cuda|cpp|native|ops|kernels?)(?:[._]|$)")
_REDEFINED = lazy_pattern(r"#\s*noqa:\s*F811\s*$")
_RUNS_TESTS = lazy_pattern(r"(?:unittest|pytest|absltest)\.main$|run_tests$")

Shape = tuple[str, tuple[Rewrite, ...]]


def tidied(project: Project, before: ModuleView, new: SourceText) -> SourceText:
    """`new`, which `before` has become, without what the fixes have left behind."""
    known = {key for key, _ in _shapes(project, before)}
    for _ in range(_ROUNDS):
        view = ModuleView(before.path, new, new.parse(), before.module, project.wrappers)
        if _lost_its_tests(project, before, view):
            return replace(new, text="")
        if before.tree.body and not view.tree.body:
            needed = is_named_elsewhere(project, before, in_documents=not runs_by_itself(before))
            return replace(new, text=new.text.strip("\n") + "\n" if needed else "")
        found = [rewrites for key, rewrites in _shapes(project, view) if key not in known]
        agreed = agree(found, lambda rewrites: build_edits(view, rewrites))  # noqa: B023 - it is called in this round
        if not agreed.edits:
            break
        newer = view.source.replaced(apply_edits(new.text, agreed.edits))
        if problem_with(view, agreed.edits, newer) is not None:
            break
        new = newer
    return new


def _shapes(project: Project, view: ModuleView) -> Iterator[Shape]:
    """What nobody would write, each with a key that tells it from what was there before, and the rewrites that mend it."""
    for node in walk(view.tree):
        yield from idle(view, node)
        match node:
            case ast.If():
                yield from _settled(view, node)
            case ast.Try(body=[ast.Pass()], orelse=[], finalbody=[]):
                yield ast.dump(node), (DeleteStatement(view.span(node)),)
            case ast.Try(handlers=[], finalbody=[ast.Pass()]):
                yield f"finally {ast.dump(node)}", (KeepBranch(view.span(node), "body"),)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() as value) if name in {"_", value.id}:
                yield ast.dump(node), (DeleteStatement(view.span(node)),)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _silenced_for_nothing(view, node)
            case ast.Import(names=[ast.alias(name="torch.jit", asname=None)]):
                yield from _imported_for_nothing(view, node)
    yield from _unread_names(project, view)
    yield from _unread_attributes(project, view)


def _settled(view: ModuleView, node: ast.If) -> Iterator[Shape]:
    """A condition that decides nothing."""
    if not _only_asks(node.test):
        return
    body, orelse = ([ast.dump(item) for item in block] for block in (node.body, node.orelse))
    span = view.span(node)
    block = view.block(node)
    behind = block[block.index(node) + 1 :][:1]
    if orelse and body == orelse:
        yield f"alike {ast.dump(node)}", (KeepBranch(span, "body"),)
    elif not orelse and (_is_empty(node.body) or (_returns(node.body) and [ast.dump(item) for item in behind] == body)):
        yield f"empty {ast.dump(node)}", (KeepBranch(span, None),)
    elif _is_empty(node.orelse):
        yield f"else {ast.dump(node)}", (DeleteStatement(view.span(node.orelse[0])),)


def _is_empty(block: list[ast.stmt]) -> bool:
    return bool(block) and all(isinstance(item, ast.Pass) for item in block)


def _returns(block: list[ast.stmt]) -> bool:
    return len(block) == 1 and isinstance(block[0], ast.Return)


def _only_asks(test: ast.expr) -> bool:
    """Whether evaluating an expression does nothing but give its value."""
    for child in walk(test):
        if isinstance(child, (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(child, ast.Call):
            name = last_name(child.func)
            if name not in _ASKS and not name.startswith(("is_", "has_", "can_")):
                return False
    return True


def _silenced_for_nothing(view: ModuleView, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Shape]:
    """A comment that silences a linter about a definition of the same name above, of which there is none."""
    start = view.span(node).start
    line = view.source.line(view.source.location(start)[0]).rstrip("\r\n")
    found = _REDEFINED.search(line)
    same = [item for item in view.block(node) if getattr(item, "name", None) == node.name]
    if found is not None and len(same) == 1 and len(view.scope_at(node).bindings.get(node.name, ())) == 1:
        begin = start - view.source.location(start)[1] + 1
        comment = Span(begin + found.start(), begin + found.end())
        yield f"silenced {node.name} {ast.dump(node.args)}", (EditComment(comment),)


def _imported_for_nothing(view: ModuleView, node: ast.Import) -> Iterator[Shape]:
    """An import of `torch.jit` beside one of torch, which loads it, in a file that says no more of it."""
    beside = any(
        isinstance(item, ast.Import) and any(alias.name == "torch" and alias.asname is None for alias in item.names)
        for item in view.block(node)
    )
    if beside and view.source.text.count("torch.jit") == 1:
        yield f"torch.jit {ast.dump(node)}", (DeleteStatement(view.span(node)),)


# Names


def _unread_names(project: Project, view: ModuleView) -> Iterator[Shape]:
    """Imports of the module and local values that nothing reads."""
    read = {node.id for node in walk(view.tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    if not read.isdisjoint({"locals", "globals", "eval", "exec"}):
        return
    for scope in view.scopes.scope_of.values():
        for name, bound in scope.bindings.items():
            binding, statement = bound[0], bound[0].statement
            if len(bound) != 1 or statement is None or view.reads_of(binding):
                continue
            place = f"unread {getattr(scope.node, 'name', '')} {name}"
            match statement:
                case ast.Import() | ast.ImportFrom() if scope.kind == "module":
                    if name not in read and _may_go(project, view, binding):
                        yield place, (_without_import(view, statement, binding.node, name),)
                case ast.Assign(targets=[ast.Name()], value=value) if scope.kind == "function" and _only_asks(value):
                    yield place, (DeleteStatement(view.span(statement), len(comments_above(view, statement))),)


def _without_import(
    view: ModuleView, statement: ast.Import | ast.ImportFrom, alias: ast.AST, name: str
) -> DeleteStatement | EditImport:
    if isinstance(statement, ast.ImportFrom) and isinstance(alias, ast.alias):
        return EditImport(view.span(statement), alias.name, name)
    return DeleteStatement(view.span(statement))


def _may_go(project: Project, view: ModuleView, binding: Binding) -> bool:
    """Whether an import that nothing in the file reads is of no use to anybody."""
    statement = binding.statement
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    if view.parent(statement) is not view.tree or view.path.rpartition("/")[2] == "conftest.py":
        return False
    if isinstance(statement, ast.Import) and (len(statement.names) > 1 or "." in binding.name):
        return False
    last = view.source.line(view.source.location(view.span(statement).end)[0])
    if "#" in last or comments_above(view, statement) or _is_spoken_of(view, binding.name):
        return False
    module = view.absolute(binding.imported or "") or ""
    if isinstance(statement, ast.ImportFrom):
        quiet = f"{view.module}.".startswith(f"{_module_of(view, statement)}.") or does_nothing_when_loaded(
            project, view, statement
        )
    elif module.partition(".")[0] == "torch":
        quiet = not _needs_torch_loaded(project, view, statement)
    else:
        quiet = module.partition(".")[0] in sys.stdlib_module_names
    return quiet and not project.may_be_imported(view, binding)


def _module_of(view: ModuleView, statement: ast.ImportFrom) -> str | None:
    return view.absolute("." * statement.level + (statement.module or ""))


def _is_spoken_of(view: ModuleView, name: str) -> bool:
    """Whether a string that is code, or a comment on a type, names it: an annotation in quotes, an example in a docstring."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for node in walk(view.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and word.search(node.value):
            if "\n" not in node.value and " " not in node.value.strip():
                return True
            if any(word.search(line) for line in node.value.splitlines() if line.lstrip().startswith((">>>", "..."))):
                return True
    return re.search(rf"#\s*type:.*\b{re.escape(name)}\b", view.source.text) is not None


def _needs_torch_loaded(project: Project, view: ModuleView, own: ast.stmt) -> bool:
    """Whether another import of the file may load compiled code, which finds torch's libraries once torch is loaded."""
    for node in walk(view.tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names if node is not own else []:
            absolute = view.absolute(name) or name
            found = project.split_name(absolute, view.path)
            rest = ".".join(found[1]) if found is not None else absolute
            if not absolute.startswith("torch.") and _COMPILED.search(rest):
                return True
    return False


def _unread_attributes(project: Project, view: ModuleView) -> Iterator[Shape]:
    """Private attributes that are given a constant and never read."""
    stored: dict[str, list[ast.Attribute]] = {}
    for node in walk(view.tree):
        if isinstance(node, ast.Attribute) and re.match(r"_[^_]", node.attr):
            stored.setdefault(node.attr, []).append(node)
    for name, nodes in stored.items():
        statements = [view.parent(node) for node in nodes]
        if any(
            not isinstance(item, ast.Assign) or item.targets != [node] or not isinstance(item.value, ast.Constant)
            for item, node in zip(statements, nodes, strict=True)
        ):
            continue
        word = re.compile(rf"""["'.]{re.escape(name)}\b(?!\s*=[^=])""")
        others = (project.data(path) for path in project.files_with_attribute(name, (view.path,)))
        texts = (view.source.text, *(data.decode("utf-8", "replace") for data in others))
        if not any(word.search(text) for text in texts):
            deletions = [DeleteStatement(view.span(item)) for item in statements if isinstance(item, ast.Assign)]
            yield f"attribute {name}", tuple(deletions)


# Files


def _lost_its_tests(project: Project, before: ModuleView, after: ModuleView) -> bool:
    """Whether a file of tests has none left, nor anything else that others could want."""
    file = before.path.rpartition("/")[2]
    if not is_test_file(before.path) or file in {"conftest.py", "__init__.py"}:
        return False
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    if not any(isinstance(node, definitions) for node in before.tree.body):
        return False
    return all(_is_shell(node) for node in after.tree.body) and not is_named_elsewhere(project, before)


def _is_shell(node: ast.stmt) -> bool:
    """Whether a statement of a module is there for others of its file only."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="pytestmark")]):
            return True
        case ast.Assign(value=value):
            return not any(isinstance(child, ast.Call) for child in walk(value)) or (
                isinstance(value, ast.Call) and ast.unparse(value.func).endswith("getLogger")
            )
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), body=body, orelse=[]):
            return all(
                isinstance(item, ast.Expr)
                and isinstance(item.value, ast.Call)
                and _RUNS_TESTS.search(ast.unparse(item.value.func))
                for item in body
            )
    return False
