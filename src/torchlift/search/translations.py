"""What names of a project are bound to, through re-exports and star imports."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.search.asked import Asked, Ear, Earlier, Exports
from torchlift.search.module_files import ModuleFiles
from torchlift.search.vocabulary import Needle, encoded
from torchlift.view import Binding, ModuleView
from torchlift.wrappers import Wrappers

_NO_EXPORTS = Exports({})
_STAR = lazy_pattern(rb"\bimport[\s\\]*\*")
_NONE: frozenset[Any] = frozenset()
_MOST_PARTS = 40
"""Of a name: two modules that import it from each other make it longer each time."""
_Key = tuple[str, str]
"""A name, and the folder of the file that asks."""


@dataclass
class _Asking:
    """A name that is being translated.

    Attributes:
        number: how many others were being translated when it was asked for.
        reached: the least number of those of which it has asked again, its own if of none further out.
    """

    number: int
    reached: int


class Translations:
    """Answers of one state of a project.

    Args:
        wrappers: modules that mirror modules of torch.
        modules: which file is which module.
        view: the view of a file, None if there is none.
        data: the bytes of a file.
        holds: whether a text stands in a file.
        ear: notes which files an answer rests on.
        before: answers of an earlier state with the same files.
        changed: files that have other texts now.

    Attributes:
        asked_in: what the translations rest on that were asked for names in a file, by path.
        exports: what the names of modules are bound to, by path.
        earlier: what an earlier run knew.
    """

    def __init__(
        self,
        wrappers: Wrappers,
        modules: ModuleFiles,
        view: Callable[[str], ModuleView | None],
        data: Callable[[str], bytes],
        holds: Callable[[str, Needle], bool],
        ear: Ear,
        before: Translations | None = None,
        changed: frozenset[str] = frozenset(),
    ) -> None:
        self._wrappers = wrappers
        self._modules = modules
        self._view = view
        self._data = data
        self._holds = holds
        self._ear = ear
        self._stars: dict[str, bool] = {}
        self._defined: dict[tuple[str, str], bool] = {}
        self.exports: dict[str, Exports] = {}
        self.earlier: Earlier | None = None
        self._translated: dict[_Key, str | None] = {}
        self._asked: dict[_Key, Asked] = {}
        # Modules that import from each other ask in circles. There a name means what it means if it is asked for first, whoever
        # was: what others in its circle mean on the way, where the circle ends at the name, is forgotten with the answer.
        self._asking: dict[_Key, _Asking] = {}
        self._on_the_way: dict[_Key, tuple[str | None, int]] = {}
        self._circles: dict[_Key, frozenset[_Key]] = {}
        self.asked_in: dict[str, Asked] = {}
        if before is not None:
            self._take_over(before, changed)

    def _take_over(self, before: Translations, changed: frozenset[str]) -> None:
        self._stars = {path: star for path, star in before._stars.items() if path not in changed}
        self._defined = {key: defined for key, defined in before._defined.items() if key[0] not in changed}
        self.exports = {path: exports for path, exports in before.exports.items() if path not in changed}
        for key, meaning in before._translated.items():
            asked = before._asked[key]
            if key not in before._circles and asked.names.isdisjoint(changed):
                self._translated[key], self._asked[key] = meaning, asked

    def all_asked(self, asked: Asked) -> Asked:
        """`asked` with what the meaning of names in the files that were read rests on: a view remembers what they mean."""
        found, pending, names = Asked(), [asked], self.asked_in
        while pending:
            some = pending.pop()
            pending += [names[path] for path in some.files - found.files if path in names]
            found.add(some)
        return found

    def translate(self, name: str, importer: str) -> str | None:
        """What a name of the project is bound to: `compat.jit.trace` may be `torch.jit.trace`; None if unknown.

        What a wrapper mirrors is not looked up in it: its names stand for torch's. Modules inside a wrapper are modules.
        """
        wrapper = self._wrappers.of(name)
        if wrapper is not None:
            inner = name[len(wrapper.module) + 1 :].partition(".")[0]
            if not inner or self._modules.find(f"{wrapper.module}.{inner}", importer) is None:
                return name
        key = (name, importer.rpartition("/")[0])
        if key in self._translated and self._circles.get(key, _NONE).isdisjoint(self._asking):
            asked = self._asked[key]
            if asked.names:
                self._ear.asked.add(asked)
                self.asked_in.setdefault(importer, Asked()).add(asked)
            return self._translated[key]
        if key in self._asking:
            self._reach(self._asking[key].number)
            return None
        if key in self._on_the_way:
            meaning, reached = self._on_the_way[key]
            self._reach(reached)
            return meaning
        return self._ask(key, name, importer)

    def _ask(self, key: _Key, name: str, importer: str) -> str | None:
        this = self._asking[key] = _Asking(len(self._asking), len(self._asking))
        known = len(self._on_the_way)
        with self._ear.listening() as asked:
            meaning = self._translate(name, importer)
        del self._asking[key]
        if this.reached < this.number:
            self._on_the_way[key] = meaning, this.reached
            self._reach(this.reached)
        else:
            circle = list(self._on_the_way)[known:]
            for other in circle:
                del self._on_the_way[other]
            if circle:
                self._circles.update(dict.fromkeys((key, *circle), frozenset((key, *circle))))
            self._translated[key], self._asked[key] = meaning, asked
        if asked.names:
            self.asked_in.setdefault(importer, Asked()).add(asked)
        return meaning

    def _reach(self, number: int) -> None:
        """Note that the name asked for last rests on one further out."""
        last = next(reversed(self._asking.values()))
        last.reached = min(last.reached, number)

    def _translate(self, name: str, importer: str) -> str | None:
        found = self._modules.split(name, importer)
        if found is None:
            return None
        path, rest = found
        if not rest:
            return self._modules.name(path)
        own = f"{self._modules.name(path)}.{rest[0]}"
        if not self._may_export(path, rest[0]):
            return None
        if self._defines(path, rest[0]):
            return ".".join([own, *rest[1:]])
        exports = self._exports_of(path)
        meaning = exports.names.get(rest[0])
        if meaning is None and rest[0] not in exports.names:
            through_stars = {
                self.translate(f"{module}.{rest[0]}", path)
                or (f"{module}.{rest[0]}" if module.startswith("torch") else None)
                for module in exports.stars
                if not f"{module}.".startswith(f"{own}.")  # the import itself binds the submodule's name
            } - {None}
            meaning = through_stars.pop() if len(through_stars) == 1 else None
        if meaning is None:
            return None
        full = ".".join([meaning, *rest[1:]])
        if meaning == own or (meaning.startswith(f"{own}.") and self._is_in(path, full)) or len(rest) > _MOST_PARTS:
            return full
        return self.translate(full, path) or full

    def _is_in(self, path: str, name: str) -> bool:
        """Whether a name is looked up in the file itself: of `from .net import net` there may be no file `net.py` in the project."""
        found = self._modules.split(name, path)
        return found is not None and found[0] == path

    def _may_export(self, path: str, name: str) -> bool:
        """Whether a module may bind a name, told from its bytes: it holds the name, or imports everything from another."""
        self._ear.asked.names.add(path)
        if path in self.exports or self._known_before(path):
            return True
        try:
            if path not in self._stars:
                self._stars[path] = _STAR.search(self._data(path)) is not None
            return self._stars[path] or self._holds(path, Needle(encoded(name), whole=True))
        except OSError:
            return False

    def _defines(self, path: str, name: str) -> bool:
        """Whether it can be told without parsing a module that it defines a name, and what this means is the name itself."""
        if path in self.exports:
            return False
        key = path, name
        if key not in self._defined:
            from torchlift.search.own_names import surely_defines  # a run that checks nothing has no use for it

            try:
                self._defined[key] = surely_defines(self._data(path), encoded(name))
            except OSError:
                self._defined[key] = False
        return self._defined[key]

    def _known_before(self, path: str) -> bool:
        """Whether an earlier run knew what the names of a file are bound to."""
        known = self.earlier.exports(path) if self.earlier is not None else None
        if known is not None:
            self.exports[path] = known
        return known is not None

    def bound_in(self, path: str) -> Exports | None:
        """What the names of a file are bound to, all that they mean to others; None if it cannot be read."""
        view = self._view(path)
        return self._exports_of(path) if view is not None else None

    def _exports_of(self, path: str) -> Exports:
        self._ear.asked.names.add(path)
        if path not in self.exports and not self._known_before(path):
            view = self._ear.unheard(lambda: self._view(path))
            self.exports[path] = _NO_EXPORTS
            if view is not None:
                names = {
                    name: meanings.pop()
                    if len(meanings := {self._meaning(view, item) for item in bound}) == 1
                    else None
                    for name, bound in view.scopes.module.bindings.items()
                }
                stars = tuple(module for module in map(view.absolute, view.scopes.stars) if module)
                self.exports[path] = Exports(names, stars)
        return self.exports[path]

    @staticmethod
    def _meaning(view: ModuleView, binding: Binding) -> str | None:
        if binding.imported is not None:
            return view.absolute(binding.imported)
        if binding.kind == "assign" and isinstance(binding.value, (ast.Name, ast.Attribute)):
            resolution = view.resolve(binding.value)
            if resolution is not None and resolution.certain:
                return resolution.name
        return f"{view.module}.{binding.name}"
