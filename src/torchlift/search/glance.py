"""Whether a file can use a name, decided on its bytes: what its imports bind, and what is written with these names.

A syntax tree costs ten times as much. The answer errs on one side only: a file that does use a name is never refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

from torchlift.lazy_pattern import lazy_pattern
from torchlift.search.parties import Party, Sighting, Wanted
from torchlift.search.vocabulary import encoded
from torchlift.torch_names import public_name
from torchlift.view.names import longest_target
from torchlift.wrappers import Wrappers

_FROM = lazy_pattern(rb"(?<!\w)from[ \t\f]+([\w. \t\f]*?)[ \t\f]*\Z")
# Comments reach to the end of their line, or matching could try every length of each of them.
LISTED = lazy_pattern(rb"[\s\\]*(\((?:[^)#]|#[^\r\n]*(?=[\r\n]|\Z))*\)|(?:[^\r\n;#(\\]|\\(?:\r?\n|\r)?)*)")
_COMMENT = lazy_pattern(rb"#[^\r\n]*")
_AROUND_DOT = lazy_pattern(rb"[\s\\]*\.[\s\\]*")
_IMPORTED = lazy_pattern(rb"[\s\\()]*([\w.]+|\*)(?:[\s\\]+as[\s\\]+(\w+))?")
# A dotted name alone to the right of an equals sign gets another name there.
_ALIAS = lazy_pattern(
    rb"=[\s\\(]*([A-Za-z_]\w*)(?=[\s\\.)=;#]|\Z)((?:[\s\\]*\.[\s\\]*\w+)*)(?!\w)[\s\\)]*(?=[=;#\r\n]|\Z)"
)
_OTHER_OPERATORS = frozenset(b"=!<>+-*/%&|^@:")
_WORDS = lazy_pattern(rb"\w+")
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789")
_BLANK = frozenset(b" \t\f\v\\")
_NEWLINE = frozenset(b"\r\n")
_FURTHER = lazy_pattern(rb"(?:[\s\\]*\.[\s\\]*[A-Za-z_]\w*)*")
_CALL = lazy_pattern(rb"((?:[\s\\)]|#[^\r\n]*[\r\n])*)\(")
_DOT_AT_END = lazy_pattern(rb"(?<!\.)\.\s*(?:#|\Z)")
_NUMBER = lazy_pattern(rb"(?<!\w)\d[\d_]*\.\Z")
_MAYBE_CODE = frozenset(b"'\"{")
_MOST_ARGUMENTS = 4000
_LONGEST_LINE = 2000
_LONGEST_CHAIN = 50
_MOST_MEANINGS = 200
_MOST_PARTS = 12
_TOKEN = lazy_pattern(
    rb'#[^\r\n]*|"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\r\n]|\\.)*"|\'(?:[^\'\\\r\n]|\\.)*\'|[()\[\]{}]',
    re.DOTALL,
)


class Glance:
    """Looks for uses of targets in the bytes of a file.

    Args:
        parties: who looks, by name.
        wrappers: modules that mirror modules of torch.
    """

    def __init__(self, parties: Mapping[str, Party], wrappers: Wrappers) -> None:
        self.parties = dict(parties)
        self._wrappers = wrappers
        self._public: dict[str, str] = {}
        self._targets: dict[str, tuple[tuple[str, str], ...]] = {}
        targets = {target for party in parties.values() for target in party.askers}
        self.attributes = frozenset(encoded(target[2:]) for target in targets if target.startswith("*."))
        self.heads = frozenset(encoded(target.partition(".")[0]) for target in targets)

    def served(
        self,
        data: bytes,
        present: Set[bytes],
        asking: Mapping[str, Collection[str]],
        is_own: Callable[[str], bool],
    ) -> frozenset[str]:
        """The parties for which a file may hold a use that matters.

        Args:
            data: its bytes.
            present: the words of the file, or those of them that are in `words`.
            asking: names of those who ask, by their party.
            is_own: whether a qualified name may be one that the project gives to a target.
        """
        left = {
            name: frozenset(askers)
            for name, askers in asking.items()
            if askers and not self.parties[name].has_text(askers, data)
        }
        if left:
            words = {name: self.parties[name].words(askers).intersection(present) for name, askers in left.items()}
            try:
                _File(self, data, left, words, is_own).look()
            except _Unclear:
                left.clear()
        return frozenset(name for name, askers in asking.items() if askers and name not in left)

    def public(self, name: str) -> str:
        """The name under which targets know a qualified name."""
        known = self._public.get(name)
        if known is None:
            known = self._public[name] = public_name(self._wrappers.mirrored(name))
        return known

    def targets(self, name: str) -> tuple[tuple[str, str], ...]:
        """What a use of a name would be a use of: target by party. Files use the same names again and again."""
        known = self._targets.get(name)
        if known is None:
            found = ((party, longest_target(name, self.parties[party].askers)) for party in self.parties)
            known = self._targets[name] = tuple((party, target) for party, target in found if target is not None)
        return known


class _Unclear(Exception):
    """Only a syntax tree can tell."""


class _File:
    """One file under a glance. Parties that are served are taken out of `left`."""

    def __init__(
        self,
        glance: Glance,
        data: bytes,
        left: dict[str, frozenset[str]],
        words: Mapping[str, frozenset[bytes]],
        is_own: Callable[[str], bool],
    ) -> None:
        self._glance = glance
        self._data = data
        self._left = left
        self._words = words
        self._present = frozenset().union(*words.values())
        self._is_own = is_own
        self._meanings: dict[bytes, set[bytes]] = {}

    def look(self) -> None:
        if b"importorskip" in self._data:
            raise _Unclear
        self._read_imports()
        for meaning in set().union(*self._meanings.values()):
            self._see(meaning, None)
        if not self._left:
            return
        self._follow_aliases()
        renamed = {
            name
            for name, meanings in self._meanings.items()
            if any(not self._present.isdisjoint(meaning.split(b".")) for meaning in meanings)
        }
        for word in sorted(self._present | renamed):
            self._see_all(word)
            if not self._left:
                return

    # What names stand for

    def _read_imports(self) -> None:
        data = self._data
        # What looks like an import in a comment may go on over a real one, so every word counts.
        for start in occurrences(b"import", data):
            line = _line_start(data, start)
            before = data[line:start]
            if data[max(0, line - 3) : line].rstrip(b"\r\n").endswith(b"\\"):
                raise _Unclear
            module = _FROM.search(before)
            match = LISTED.match(data, start + len(b"import"))
            assert match is not None
            listed = _AROUND_DOT.sub(b".", _COMMENT.sub(b"", match[1]))
            for item in listed.split(b","):
                imported = _IMPORTED.match(item)
                if imported is None:
                    continue
                name, other = imported[1], imported[2]
                if name == b"*":
                    raise _Unclear
                if module is None:
                    bound, meaning = (other, name) if other else (name.partition(b".")[0],) * 2
                else:
                    path = b"".join(module[1].split())
                    bound, meaning = other or name, (path if path.endswith(b".") else path + b".") + name
                self._meanings.setdefault(bound, set()).add(meaning)

    def _follow_aliases(self) -> None:
        """Add what names stand for that are assigned from dotted names."""
        for head in self._glance.heads:
            self._meanings.setdefault(head, set()).add(head)
        places = self._aliases()
        pending = list(self._meanings)
        while pending:
            root = pending.pop()
            for name, rest in self._assigned_from(root, places.get(root, ())):
                known = self._meanings.setdefault(name, set())
                # A name that is assigned from itself would grow for ever; no target is as long as this.
                new = {
                    b".".join((meaning + rest).split(b".")[:_MOST_PARTS]) for meaning in self._meanings[root]
                } - known
                if new:
                    known |= new
                    pending.append(name)
                if len(known) > _MOST_MEANINGS:
                    raise _Unclear

    def _aliases(self) -> dict[bytes, list[re.Match[bytes]]]:
        """Where names may be assigned from dotted names, by the root of those."""
        places: dict[bytes, list[re.Match[bytes]]] = {}
        for match in _ALIAS.finditer(self._data):
            places.setdefault(match[1], []).append(match)
        return places

    def _assigned_from(self, root: bytes, places: Iterable[re.Match[bytes]]) -> Iterator[tuple[bytes, bytes]]:
        """Names that are assigned from `root` or its attributes, with what follows the root."""
        data = self._data
        for match in places:
            start = match.start()
            if start and data[start - 1] in _OTHER_OPERATORS:
                continue
            rest = _AROUND_DOT.sub(b".", match[2])
            for name in _assigned(data[_line_start(data, start) : start]):
                if name != root:
                    yield name, rest

    # What is written with them

    def _see_all(self, word: bytes) -> None:
        is_attribute = word in self._glance.attributes
        for start in occurrences(word, self._data):
            if self._is_in_comment(start):
                continue
            chain = self._chain(start, word)
            end = start + len(word)
            if is_attribute and len(chain) != 1:
                self._see_name(f"*.{word.decode()}", end)
            meanings = self._meanings.get(chain[0], ()) if chain else ()
            if meanings:
                further = _FURTHER.match(self._data, end)
                assert further is not None
                if further.end() - end > _LONGEST_LINE:
                    raise _Unclear
                rest = b"".join(b"." + part for part in chain[1:]) + _AROUND_DOT.sub(b".", further[0])
                for meaning in meanings:
                    self._see(meaning + rest, further.end())
            if not self._left:
                return

    def _see(self, name: bytes, end: int | None) -> None:
        """Take out the parties to which a qualified name that ends at `end` (None for an import) matters."""
        text = name.decode("utf-8", "replace")
        parts = name.split(b".")
        served = [party for party in self._left if not self._words[party].isdisjoint(parts)]
        if served and (text.startswith(".") or self._is_own(text)):
            for party in served:
                del self._left[party]
            return
        self._see_name(self._glance.public(text), end)

    def _see_name(self, name: str, end: int | None) -> None:
        for party, target in self._glance.targets(name):
            names = self._left.get(party)
            if names is None:
                continue
            asked = [wanted for asker, wanted in self._glance.parties[party].askers[target] if asker in names]
            if any(wanted.test is None for wanted in asked) or (asked and self._matters(name, target, end, asked)):
                del self._left[party]

    def _matters(self, name: str, target: str, end: int | None, asked: Sequence[Wanted]) -> bool:
        # Where the name is longer, an attribute of the target is called, and not the target.
        call = self._call(end) if end is not None and name == target else None
        sighting = Sighting(target, "import" if end is None else "other" if call is None else "call", call)
        return any(wanted.test(sighting) for wanted in asked if wanted.test is not None)

    def _is_in_comment(self, at: int) -> bool:
        """Whether a place is in a comment, or in a string that is no name: behind a `#`.

        A quote may have closed a string with a `#` in it, and a brace may have opened code in a formatted one.
        """
        before = self._data[_line_start(self._data, at) : at]
        return b"#" in before and _MAYBE_CODE.isdisjoint(before)

    def _chain(self, start: int, word: bytes) -> list[bytes]:
        """The dotted name that ends with the `word` at `start`; empty where it hangs on something that is no name."""
        data = self._data
        parts = [word]
        while True:
            at = self._before(start, only_a_dot=True)
            if at < 0 or data[at] != 0x2E:
                return parts
            at = self._before(at, only_a_dot=False)
            if at < 0 or data[at] not in _WORD:
                return []
            end = at + 1
            while at >= 0 and data[at] in _WORD:
                at -= 1
            start = at + 1
            parts.insert(0, data[start:end])
            if len(parts) > _LONGEST_CHAIN:
                raise _Unclear

    def _before(self, at: int, *, only_a_dot: bool) -> int:
        """The place of the last character of code before `at`; -1 where that is on a line that does not go on here.

        A name goes on over the end of a line where the line ends, or the next begins, with a dot.
        """
        data = self._data
        at -= 1
        while at >= 0 and data[at] in _BLANK:
            at -= 1
        while at >= 0 and data[at] in _NEWLINE:
            line = _line_start(data, at)
            code = data[line:at].strip(b" \t\f\v\\")
            if not code or code.startswith(b"#"):
                at = line - 1
                continue
            if only_a_dot and not _DOT_AT_END.search(code):
                return -1
            if b"#" in code:
                raise _Unclear
            at = line + data[line:at].rindex(code) + len(code) - 1
            if only_a_dot and code[-2:-1].isdigit() and _NUMBER.search(code):
                return -1
        return at

    def _call(self, end: int) -> ast.Call | None:
        """The call of what ends at `end`, if it is called."""
        data = self._data
        match = _CALL.match(data, end)
        if match is None:
            return None
        between = match[1]
        if between.strip(b" \t\f\\"):
            raise _Unclear  # parentheses around the name, or comments and ends of lines behind it
        start, depth = match.end() - 1, 0
        for token in _TOKEN.finditer(data, start, start + _MOST_ARGUMENTS):
            kind = token[0]
            depth += 1 if kind in b"([{" else -1 if kind in b")]}" else 0
            if not depth:
                return _parsed(data[start : token.end()])
        raise _Unclear


def _parsed(arguments: bytes) -> ast.Call:
    try:
        call = ast.parse(b"f" + arguments, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _Unclear from None
    if not isinstance(call, ast.Call):
        raise _Unclear
    return call


def occurrences(word: bytes, data: bytes) -> Iterator[int]:
    """Where `word` stands as a word of its own."""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        if (at == 0 or data[at - 1] not in _WORD) and (end == len(data) or data[end] not in _WORD):
            yield at
        at = data.find(word, end)


def _assigned(before: bytes) -> list[bytes]:
    """Names that an equals sign may assign to, from the line before it."""
    before = before.rstrip(b" \t\f\\")
    if b":" in before:
        names = _WORDS.findall(before)  # an annotation, or the colon of a compound statement
    elif before.endswith((b"]", b")")):
        opened = before.rfind(b"[" if before.endswith(b"]") else b"(")
        if opened >= 0 and (before.endswith(b"]") or b"," in before[opened:]):
            return []  # an item of something, or several names at once
        names = _WORDS.findall(before[opened:]) if opened >= 0 else []
    elif before.endswith(b"("):
        return []  # no code
    else:
        start = len(before)
        while start and before[start - 1] in _WORD:
            start -= 1
        if before[:start].rstrip(b" \t\f\\").endswith(b"."):
            return []  # an attribute of something
        names = [before[start:]] if start < len(before) else []
    if not names or before.count(b"]") > before.count(b"["):
        raise _Unclear
    return names


def _line_start(data: bytes, at: int) -> int:
    """Where the line of a place begins; lines that nobody writes by hand are unclear."""
    first = max(0, at - _LONGEST_LINE)
    # Carriage returns alone end lines, too.
    newline = max(data.rfind(b"\n", first, at), data.rfind(b"\r", first, at))
    if newline < 0 < first:
        raise _Unclear
    return newline + 1
