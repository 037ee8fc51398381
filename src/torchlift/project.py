"""The files of one project, seen together: which file is which module, and what a name of the project is bound to.

Files are read and parsed when something asks about them, never all at once. A project is made anew whenever the text of
a file changes, so every answer is about one consistent state.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from torchlift.notebook import read_source
from torchlift.search.asked import Asked, Ear, Earlier, Knowledge, Question
from torchlift.search.module_files import ModuleFiles
from torchlift.search.project_files import ProjectFiles, changed_texts
from torchlift.search.reads import STAR, Reads, has_one_source, holds_attribute, reads_of, starred
from torchlift.search.records import Collector, Deferred, Records
from torchlift.search.shared_answers import SharedAnswers
from torchlift.search.translations import Translations
from torchlift.search.view_answers import ViewAnswers
from torchlift.search.view_cache import ViewCache
from torchlift.search.vocabulary import Needle, encoded
from torchlift.source import SourceText, UnreadableSource
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk
from torchlift.wrappers import Wrappers

if TYPE_CHECKING:
    from torchlift.search.changes import Changes

__all__ = ["Collector", "Deferred", "Project"]

Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")
_IMPORT = Needle(b"import", whole=True)
# Files that are searched one by one.
_FEW = 100


class Project:
    """One project.

    Args:
        root, files, overlay, wrappers: as below.
        indexed: records that are already known, as for `search.records`.
        before: an earlier state; what rests on nothing that has changed since is taken over from it.

    Attributes:
        root: its folder.
        files: its Python files, relative to `root`, sorted.
        overlay: new texts of files that have been changed but not written.
        wrappers: modules that mirror modules of torch.
    """

    def __init__(
        self,
        root: Path,
        files: Sequence[str],
        overlay: Mapping[str, SourceText] | None = None,
        indexed: Mapping[str, Mapping[str, Any]] | None = None,
        wrappers: Wrappers | None = None,
        before: Project | None = None,
    ) -> None:
        self.root = root
        self.files = tuple(files)
        self.overlay = dict(overlay or {})
        self.wrappers = wrappers or Wrappers()
        same = before if before is not None and (before.files, before.wrappers) == (self.files, self.wrappers) else None
        self._older: Project | None = same._richer_state() if same is not None else None
        self._states: tuple[Project, ...] = tuple(state for state in (same, self._older) if state is not None)
        self._changes: dict[Project, Changes] = {}
        self._changed = changed_texts(same.overlay, self.overlay) if same is not None else frozenset()
        self._modules: ModuleFiles = same._modules if same is not None else ModuleFiles(self.files)
        self._files: ProjectFiles = ProjectFiles(
            root, self.files, self.overlay, before._files if before is not None else None
        )
        self._views: ViewCache = before._views if before is not None else ViewCache()
        read = self.wrappers.triggers, self.data, self.source, self.view
        before_them = getattr(same, "_records", None)
        self._records: Records = Records(self.files, indexed or {}, *read, before_them, self._changed)
        self._ear = Ear()
        known = [(state, partial(self._still, state)) for state in self._states]
        self._answers: SharedAnswers = SharedAnswers(self._ear, [(state._answers, still) for state, still in known])
        self._of_views: ViewAnswers = ViewAnswers(self._ear, [(state._of_views, still) for state, still in known])
        names = self.wrappers, self._modules, self.view, self._files.data, self._files.holds, self._ear
        self._translations = Translations(*names, getattr(same, "_translations", None), self._changed)
        self._reads: dict[str, Reads | None] = {}
        self._stars: dict[str, frozenset[bytes]] | None = None
        if same is not None:
            self._reads = {path: reads for path, reads in same._reads.items() if path not in self._changed}
            same._forget_before()

    def _still(self, before: Project, asked: Asked) -> bool:
        """Whether what was asked in an earlier state has the same answers now."""
        if before not in self._changes:
            from torchlift.search.changes import Changes

            self._changes[before] = Changes(before, self, self._records.collectors)
        return not self._changes[before].concern(asked)

    def _richer_state(self) -> Project | None:
        """The earlier state that answered more than was asked in this one: what is not asked for a while is not worked out again."""
        richest = max(self._states, key=lambda state: len(state._answers.known), default=None)
        return richest if richest is not None and len(richest._answers.known) > len(self._answers.known) else None

    def take_over(self, earlier: Earlier) -> None:
        """Ask an earlier run before anything is worked out; states that come of this one ask this one."""
        self._records.earlier = self._answers.earlier = self._translations.earlier = earlier
        self._answers.taken_from = earlier

    @property
    def knowledge(self) -> Knowledge:
        """What is known by now that a later run may take over."""
        return Knowledge(self._records.read, self._translations.exports)

    @property
    def answers(self) -> Mapping[Question, tuple[Any, Asked]]:
        """The shared answers, and what each was made from."""
        return self._answers.known

    def _forget_before(self) -> None:
        self._states, self._older, self._changes = (), None, {}
        self._answers.forget_before()
        self._of_views.forget_before()

    def listening(self) -> AbstractContextManager[Asked]:
        """Note what is asked until the end of the block; it counts as asked around the block, too."""
        return self._ear.listening()

    def all_asked(self, asked: Asked) -> Asked:
        """`asked`, with what the meaning of names in the files read rests on."""
        return self._translations.all_asked(asked)

    @property
    def taken_from(self) -> Earlier | None:
        """The earlier run that this state, or one that it comes of, takes answers from."""
        return self._answers.taken_from

    def asked_earlier(self, key: str) -> Asked:
        """All that something rests on that was taken over from an earlier run."""
        if self.taken_from is not None:
            return self.taken_from.beneath(key)
        asked = Asked()
        asked.unbounded = True
        return asked

    def once(
        self,
        answer: Callable[Concatenate[Project, Arguments], Answer],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Answer:
        """`answer(project, *arguments)`, worked out once for all who ask.

        Answers of two states of the project are compared with `==`.
        """
        assert not named
        return self._answers.once((answer, arguments), lambda: answer(self, *arguments, **named))

    def of_view(self, answer: Callable[[Project, ModuleView], Answer], view: ModuleView) -> Answer:
        """`answer(project, view)`, worked out once as long as the view of the file is kept: it may name nodes of its tree."""
        return self._of_views.once(answer, view, lambda: answer(self, view))

    # Files

    def data(self, path: str) -> bytes:
        """Current bytes of a file.

        Raises:
            OSError: it cannot be read.
        """
        self._ear.asked.files.add(path)
        return self._files.data(path)

    def size(self, path: str) -> int:
        """Bytes of a file.

        Raises:
            OSError: it cannot be read.
        """
        self._ear.asked.files.add(path)
        return self._files.size(path)

    def source(self, path: str) -> SourceText:
        """Current text of a file.

        Raises:
            OSError, UnreadableSource: it cannot be read or decoded.
        """
        self._ear.asked.files.add(path)
        return self.overlay.get(path) or read_source(path, self._files.on_disk(path))

    def parse(self, path: str) -> ModuleView:
        """The view of one file.

        Raises:
            OSError, UnreadableSource, SyntaxError, RecursionError, MemoryError: it cannot be read or parsed.
        """
        self._ear.asked.files.add(path)
        new = self.overlay.get(path)
        view = self._views.get(path, new)
        if view is None:
            source = self.source(path)
            view = ModuleView(path, source, source.parse(), self.module_name(path), self.wrappers)
            self._views.add(path, view, new)
        return view

    def view(self, path: str) -> ModuleView | None:
        """The view of one file; None if it cannot be read or parsed (which is reported where the file is analysed)."""
        try:
            return self.parse(path)
        except (OSError, UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def expect(self, paths: Iterable[str]) -> None:
        """These files are going to be checked, in order."""
        self._views.expect(paths)

    def done(self, path: str) -> None:
        """A file has been checked."""
        self._views.done(path)

    def remember_words(self, path: str, words: bytes) -> None:
        """Search the vocabulary of a Python file, and not the file itself."""
        self._files.remember(path, words)

    def with_texts(self, texts: Mapping[str, SourceText]) -> Project:
        """The project after changes of files."""
        known = {path: records for path, records in self._records.indexed.items() if path not in texts}
        return Project(self.root, self.files, {**self.overlay, **texts}, known, self.wrappers, self)

    def may_have_records(self, path: str, collectors: Iterable[str]) -> None:
        """A file was looked at for all collectors: only these may have a record of it."""
        self._records.indexed[path] = dict.fromkeys(collectors, Deferred.DEFERRED)

    def without_views(self) -> Project:
        """The same state of the project, for another process."""
        project = self.with_texts({})
        project._forget_before()
        project._views = ViewCache()
        project._answers.taken_from = None
        return project

    def with_records(self, files: Sequence[str], indexed: Mapping[str, Mapping[str, Any]]) -> Project:
        """The same state of the project with records and, perhaps, more files."""
        return Project(self.root, files, self.overlay, indexed, self.wrappers, self)

    # Modules

    def is_python(self, path: str) -> bool:
        """Whether a file is one of the project's Python files."""
        return path in self._modules

    @property
    def modules(self) -> Mapping[str, list[str]]:
        """Files by dotted module name; scripts in different folders may share one."""
        return self._modules.by_name

    def module_name(self, path: str) -> str:
        """Dotted name of a file, from the outermost folder that is a package."""
        return self._modules.name(path)

    def may_own(self, head: str, importer: str) -> bool:
        """Whether `find_module` may find a module whose name begins with `head`."""
        return self._modules.may_own(head, importer)

    def find_module(self, name: str, importer: str) -> str | None:
        """The file that `import name` in `importer` loads; None if it is not the project's or not certain."""
        return self._modules.find(name, importer)

    def translate(self, name: str, importer: str) -> str | None:
        """What a name of the project is bound to: `compat.jit.trace` may be `torch.jit.trace`; None if unknown."""
        return self._translations.translate(name, importer)

    def split_name(self, name: str, importer: str) -> tuple[str, list[str]] | None:
        """The file of the longest module prefix of `name`, and the attributes behind it; None if it is not the project's."""
        return self._modules.split(name, importer)

    def binding(self, name: str, importer: str) -> tuple[ModuleView, Binding] | None:
        """The one module-level binding that defines a qualified name of the project, with its file."""
        name = self.translate(name, importer) or name
        found = self._modules.split(name, importer)
        if found is None or len(found[1]) != 1:
            return None
        view = self.view(found[0])
        bindings = view.scopes.module.bindings.get(found[1][0], ()) if view is not None else ()
        return (view, bindings[0]) if view is not None and len(bindings) == 1 else None

    def mentions(self, word: str, skip: Iterable[str] = ()) -> list[str]:
        """`path:line` of every place in the project's text files that holds `word`, leaving out files in `skip`.

        Folders that never hold a project's own text (version control, environments, build output) are not entered.
        """
        skipped = frozenset(skip)
        return [place for place in self.places((word,))[word] if place.rpartition(":")[0] not in skipped]

    def places(self, words: tuple[str, ...]) -> dict[str, list[str]]:
        """The same for several words at once, by word, reading every file once."""
        self._ear.asked.places.update(encoded(word) for word in words)
        return self._files.places(words)

    def files_holding(self, *words: str, whole: bool = False) -> list[str]:
        """Python files in which any of `words` stands, wherever or as a word: a quick look before a closer one."""
        self._ear.asked.texts.update((encoded(word), whole) for word in words)
        return self._files.holding(words, whole)

    def uses_elsewhere(self, view: ModuleView, name: str) -> list[tuple[ModuleView, Use]] | None:
        """Uses, in other files of the project, of a module-level name of `view`; None if they cannot all be known.

        A file counts if it names the module together with the name or a star import, or another module that imports the
        name and keeps it. One that gets it under a new name from there is found as the import there.
        """

        def search() -> tuple[str, ...] | None:
            self._ear.asked.files.add(view.path)
            return _search_users(self, view, name)

        is_its_view = self.is_python(view.path) and view.module == self.module_name(view.path)
        paths = self._answers.once((_users, (view.path, name)), search) if is_its_view else search()
        target = frozenset((self.wrappers.mirrored(f"{view.module}.{name}"),))
        views = [other for other in map(self.view, paths or ()) if other is not None]
        found = [(other, use) for other in views for use in other.uses(target, self.translate)]
        return found if paths is not None else None

    def noted(self, fact: Callable[[str, bytes], Answer]) -> Mapping[str, Answer]:
        """What `fact(path, data)`, which asks for nothing else, tells of every Python file, by path: of most as before."""
        self._ear.asked.facts.add(fact)
        return self._files.noted(fact)

    def files_with_attribute(self, name: str, skip: Iterable[str] = ()) -> list[str]:
        """Python files in which `.name` or the string `name` stands: the places that may reach an attribute."""
        skipped = frozenset(skip)
        word = encoded(name)
        self._ear.asked.texts.add((word, True))
        return [
            path for path in self._files.naming(name) if path not in skipped and holds_attribute(word, self.data(path))
        ]

    def may_be_imported(self, view: ModuleView, binding: Binding) -> bool:
        """Whether other code may read a module-level name of `view`.

        True in a package's `__init__`, for names in `__all__`, and when another file imports the name from a module called
        like this one, reads it as an attribute of one, or may do so by a star import."""
        if view.is_package or binding.scope.kind != "module":
            return view.is_package
        for listed in view.scopes.module.bindings.get("__all__", ()):
            if listed.value is None or any(
                isinstance(node, ast.Constant) and node.value == binding.name for node in walk(listed.value)
            ):
                return True
        module = view.module.rpartition(".")[2]
        read = re.compile(encoded(rf"(?<!\w){re.escape(module)}\s*\.\s*{re.escape(binding.name)}\b"))
        for path in self.importers(view, binding.name):
            if read.search(self.data(path)):
                return True
            reads = self._reads_in(path)
            if reads is None or reads.member(module, binding.name):
                by_star = reads is not None and any(star.rpartition(".")[2] == module for star in reads.stars)
                return not (by_star and binding.imported and has_one_source(self, view, binding))
        return False

    def importers(self, view: ModuleView, name: str) -> list[str]:
        """Other files that may import a name of `view`: they name its module, and the name or all names of such a module."""
        word = Needle(encoded(name), whole=True)
        module = view.module.rpartition(".")[2]
        starring = self._starring(encoded(module))
        self._ear.asked.texts.update(((encoded(module), True), (word.text, True), (_IMPORT.text, True)))
        others = [path for path in self._files.naming(module) if path != view.path]
        if len(others) > _FEW:  # then files are searched for a word together, and the next state knows most of it
            named = starring.union(self._files.naming(name)).intersection(self._files.naming("import"))
            return [path for path in others if path in named]
        holds = self._files.holds
        return [path for path in others if holds(path, _IMPORT) and (holds(path, word) or path in starring)]

    def _starring(self, module: bytes) -> frozenset[str]:
        """Files that import all names of a module that is called like this, wherever it stands, or of their own package."""
        self._ear.asked.facts.add(_starred_in)
        if self._stars is None:
            known = (self._states[0]._stars if self._states else None) or {}
            known = {path: stars for path, stars in known.items() if path not in self._changed}
            self._stars = self._ear.unheard(
                lambda: {
                    path: known[path] if path in known else _starred_in(path, self.data(path))
                    for path in self.files_holding(STAR.decode())
                }
            )
        return frozenset(path for path, modules in self._stars.items() if module in modules or b"" in modules)

    def _reads_in(self, path: str) -> Reads | None:
        self._ear.asked.files.add(path)
        if path not in self._reads:
            view = self.view(path)
            self._reads[path] = reads_of(view) if view is not None else None
        return self._reads[path]

    def bound_in(self, path: str) -> object:
        """What the names of a file mean to others, for comparison with what they do in another state; None if it cannot be read."""
        return self._ear.unheard(partial(self._translations.bound_in, path))

    # Facts that cross files

    def collect_together(self, collectors: Iterable[Collector]) -> None:
        """A file that is parsed for the record of one of these is read for all of them."""
        self._records.collect_together(collectors)

    def records(self, collector: Collector) -> Mapping[str, Any]:
        """Records of all files that have one, by path."""
        self._ear.asked.records.add(collector.name)
        return self._ear.unheard(partial(self._records.of_all, collector))

    def record(self, collector: Collector, path: str) -> Any:
        """What a collector records of one file; None if nothing."""
        self._ear.asked.files.add(path)
        return self._records.of(collector, path)


def _users(project: Project, path: str, name: str) -> tuple[str, ...] | None:
    view = project.view(path)
    return _search_users(project, view, name) if view is not None else None


def _search_users(project: Project, view: ModuleView, name: str) -> tuple[str, ...] | None:
    from torchlift.search.users import users_of  # a run that checks nothing has no use for it

    return users_of(project, view, name)


def _starred_in(path: str, data: bytes) -> frozenset[bytes]:
    """The modules of which a file imports all names."""
    return frozenset(starred(data))
