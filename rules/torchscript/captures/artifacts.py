"""Files that TorchScript values are written to and read from, across the project.

Writer and readers of one file have to change together: `torch.export.load` cannot open a TorchScript archive, and
`torch.jit.load` cannot open an exported program.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from collections.abc import Iterable

from torchlift.finding import Elsewhere, Group, ReplaceExpression, Rewrite, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.wording.nearest_place import nearest
from torchlift.rules.torchscript.captures.artifact_sites import COLLECTOR, Site, deferred_key, path_key, sites_of
from torchlift.search.vocabulary import encoded
from torchlift.source import Span
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.text import is_document

_SUFFIXES = (".pt", ".pth", ".ts", ".jit", ".torchscript")
_FILE_NAME = lazy_pattern(r"""["']([\w./-]*\.\w+)["']""")


@dataclass(frozen=True)
class Artifact:
    """What the project knows about one artifact.

    Attributes:
        key: its key; None if the path is not understood.
        writers, readers, others: places, as `(path, site)`.
        constants: definitions of the constants that sites use as the path: file, span of the literal, its text.
        strangers: `path:line` of mentions that are not among those places and not in documents.
        documents: mentions in documents.
        unknown_readers: `path:line` of loads of TorchScript whose path is not known.
        looked_for: whether the project looks for files by the suffix of this one, so that it has to stay.
        buffer: whether it is a buffer in memory that nothing else gets hold of.
    """

    key: str | None
    writers: tuple[tuple[str, Site], ...] = ()
    readers: tuple[tuple[str, Site], ...] = ()
    others: tuple[tuple[str, Site], ...] = ()
    constants: tuple[tuple[str, Span, str], ...] = ()
    strangers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    unknown_readers: tuple[str, ...] = ()
    looked_for: bool = False
    buffer: bool = False

    @property
    def title(self) -> str:
        """How messages call it."""
        if self.key is None:
            return "the file"
        return f"`{self.key.partition(' ')[2] if self._is_file else self.key.split(' ', 2)[2]}`"

    @property
    def _is_file(self) -> bool:
        return self.key is not None and self.key.startswith("file ")

    def group(self) -> tuple[Group, ...]:
        """The group that ties all its sites together."""
        if self.key is None:
            return ()
        places = [*self.writers, *self.readers, *self.others]
        paths = tuple(sorted({path for path, _ in places} | {path for path, _, _ in self.constants}))
        where = "" if self._is_file else f" ({self.key.split(' ', 2)[1].rpartition(':')[0]})"
        artifact = self.key.removeprefix("file ") if self._is_file else ""
        return (Group(f"the artifact {self.title}{where}", paths, len(places), artifact=artifact),)

    def obstacle(self) -> str | None:
        """Why its sites cannot safely change together, a clause; None if they can."""
        if self.key is None or not (self._is_file or self.buffer):
            maybe = f": {self.unknown_readers[0]} may read TorchScript from it" if self.unknown_readers else ""
            return f"the path is not a constant, so it is not known who else reads or writes the file{maybe}"
        if self.others:
            path, site = self.others[0]
            return f"{self.title} is also read by `torch.load` at {path}:{site.line}"
        if not self.readers:
            return f"nothing in this project is seen to read {self.title}: whatever does has to call `torch.export.load` from now on"
        if self.strangers:
            return f"{self.title} is also mentioned at {', '.join(self.strangers)}"
        if self.unknown_readers:
            return (
                f"{self.unknown_readers[0]} loads TorchScript from a path that is not known, and may mean {self.title}"
            )
        return None

    def new_suffix(self, view: ModuleView, node: ast.expr) -> tuple[tuple[Rewrite, ...], tuple[Elsewhere, ...]]:
        """Edits that give the file the suffix `.pt2`, in this file and elsewhere; none unless all sites can follow.

        A site follows if it spells the path out, or is a module-level constant that spells it out. A path that is made up
        where it is written gets another end, if nothing is seen to read it.
        """
        if not self._is_file and not self.buffer:
            return _made_up(view, node, self), ()
        places = [*self.writers, *self.readers]
        spelled = {path for path, _, _ in self.constants}
        if (
            self.looked_for
            or self.obstacle()
            or not all(site.literal or (site.constant and spelled) for _, site in places)
        ):
            return (), ()
        literals = list(self.constants)
        if isinstance(node, ast.Constant):
            literals.append((view.path, view.span(node), view.text(node)))
        here: list[Rewrite] = []
        elsewhere: list[Elsewhere] = []
        for path, span, text in literals:
            renamed = _with_new_suffix(text)
            if renamed is None:
                return (), ()
            rewrite = ReplaceExpression(span, Template(renamed))
            if path == view.path:
                here.append(rewrite)
            else:
                elsewhere.append(Elsewhere(path, rewrite))
        return tuple(here), tuple(elsewhere)


def _made_up(view: ModuleView, node: ast.expr, artifact: Artifact) -> tuple[Rewrite, ...]:
    """The edit of the text that a path ends with: `f"{name}.pt"`, `folder + "/net.pt"`."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        node = node.right
    text = view.text(node)
    renamed = _with_new_suffix(text) if isinstance(node, (ast.JoinedStr, ast.Constant)) and "$" not in text else None
    if renamed is None or artifact.readers or artifact.others or artifact.looked_for or "\n" in text:
        return ()
    return (ReplaceExpression(view.span(node), Template(renamed)),)


def _with_new_suffix(literal: str) -> str | None:
    """The string literal with a TorchScript suffix replaced by `.pt2`; None if it has none."""
    for suffix in _SUFFIXES:
        for quote in ('"', "'"):
            if literal.endswith(suffix + quote):
                return literal.removesuffix(suffix + quote) + ".pt2" + quote
    return None


def read_artifact(view: ModuleView, path: ast.expr, project: Project) -> Artifact:
    """Everything known about the file that `path` names."""
    key = path_key(view, path, project)
    if key is None:
        return Artifact(None, unknown_readers=project.once(_unknown_readers))
    sites = sites_of(project, key)
    if not key.startswith("file "):
        roles = {role: tuple(site for site in sites if site[1].role == role) for role in ("save", "load", "other")}
        buffer = _only_a_buffer(view, path)
        looked_for = any(_looked_for(project, suffix) for suffix in _SUFFIXES if _ends_with(path, suffix))
        return Artifact(
            key,
            roles["save"],
            roles["load"],
            roles["other"],
            unknown_readers=() if roles["load"] else project.once(_unknown_readers),
            looked_for=looked_for,
            buffer=buffer,
        )
    name = posixpath.basename(key.removeprefix("file "))
    constants = tuple(sorted(_constants(project, sites)))
    known = Counter(f"{place}:{site.line}" for place, site in sites if site.literal)
    known.update(f"{place}:{_line(project, place, span)}" for place, span, _ in constants)
    mentions = _unknown_mentions(project, name, known) if "." in name else []
    for constant in sorted({site.constant.rpartition(".")[2] for _, site in sites if site.constant}):
        # Whoever else gets hold of the constant may open the file.
        known = Counter(f"{place}:{site.line}" for place, site in sites if site.constant)
        mentions += _unknown_mentions(project, constant, known, harmless=_harmless_use(constant))
    return Artifact(
        key,
        tuple(site for site in sites if site[1].role == "save"),
        tuple(site for site in sites if site[1].role == "load"),
        tuple(site for site in sites if site[1].role == "other"),
        constants,
        tuple(place for place in mentions if not is_document(place.rpartition(":")[0])),
        tuple(place for place in mentions if is_document(place.rpartition(":")[0])),
        tuple(place for place in project.once(_unknown_readers) if not _names_another(project, place, name)),
        _looked_for(project, posixpath.splitext(name)[1]),
    )


def _ends_with(path: ast.expr, suffix: str) -> bool:
    return ast.unparse(path).rstrip("\"'").endswith(suffix)


def _only_a_buffer(view: ModuleView, node: ast.expr) -> bool:
    """Whether a path is an `io.BytesIO` of the function around it that is only written, rewound and read."""
    binding = view.definition(node)
    if binding is None or binding.scope.kind == "module" or not isinstance(binding.value, ast.Call):
        return False
    if view.possible_name(binding.value.func) != "io.BytesIO" or binding.value.args or binding.value.keywords:
        return False
    for read, _ in view.reads_of(binding):
        parent = view.parent(read)
        if isinstance(parent, ast.Attribute) and parent.attr == "seek":
            continue
        if isinstance(parent, ast.Call) and parent.func is not read:
            if view.possible_name(parent.func) in {"torch.jit.save", "torch.jit.load"}:
                continue
            if isinstance(parent.func, ast.Attribute) and parent.func.attr == "save":
                continue
        return False
    return True


def _unknown_readers(project: Project) -> tuple[str, ...]:
    """Loads of TorchScript that may open any file: their path comes from elsewhere."""
    found = []
    for path, records in sorted(project.records(COLLECTOR).items()):
        written = {site.key for site, _ in records if site.role == "save" and site.key}
        for site, deferred in records:
            key = site.key or deferred_key(project, deferred, path) or ""
            if site.role == "load" and not key.startswith("file ") and key not in written:
                found.append(f"{path}:{site.line}")
    return tuple(found)


def _names_another(project: Project, place: str, name: str) -> bool:
    """Whether the line of a load ends its path with the name of another file."""
    text = _line_at(project, place)
    named = [posixpath.basename(found) for found in _FILE_NAME.findall(text)]
    return bool(named) and name not in named


def _line_at(project: Project, place: str) -> str:
    """The text of `path:line`, by the line ends that Python knows."""
    path, _, line = place.rpartition(":")
    return re.split(r"\r\n?|\n", project.data(path).decode("utf-8", "replace"))[int(line) - 1]


def unknown_writers(project: Project, near: str) -> str | None:
    """Places that write TorchScript to files of which the path is not known, as a finding in the file `near` names them."""
    places = [
        (path, site.line)
        for path, records in project.records(COLLECTOR).items()
        for site, deferred in records
        if site.role == "save" and not (site.key or deferred_key(project, deferred, path) or "").startswith("file ")
    ]
    return nearest(places, near)


def opened_path(view: ModuleView, node: ast.expr) -> ast.expr | None:
    """What `open` was given for the file object that a path argument is; None if it is none."""
    binding = view.definition(node)
    item = view.parent(binding.node) if binding is not None else None
    opened = item.context_expr if isinstance(item, ast.withitem) else None
    if not isinstance(opened, ast.Call) or not opened.args:
        return None
    name = last_name(opened.func)
    return opened.args[0] if name == "open" else None


def _looked_for(project: Project, suffix: str) -> bool:
    """Whether anything in the project looks for files by a suffix: a glob, a comparison, a rule of a build."""
    if not suffix:
        return False
    words = (f"*{suffix}", f'"{suffix}"', f"'{suffix}'", f'"{suffix[1:]}"', f"'{suffix[1:]}'")
    for word, places in project.places(words).items():
        exact = re.compile(re.escape(encoded(word)) + rb"(?![\w*])")
        for place in places:
            path, _, line = place.rpartition(":")
            # A file that git would now show as new is no reader.
            if is_document(path) or posixpath.basename(path) == ".gitignore":
                continue
            if exact.search(project.data(path).split(b"\n")[int(line) - 1]):
                return True
    return False


def _constants(project: Project, sites: Iterable[tuple[str, Site]]) -> set[tuple[str, Span, str]]:
    """Where the constants that the sites use are spelled out."""
    found = set()
    for path, site in sites:
        place = project.binding(site.constant, path) if site.constant else None
        if place is not None and isinstance(place[1].value, ast.Constant):
            view, value = place[0], place[1].value
            found.add((view.path, view.span(value), view.text(value)))
    return found


def _line(project: Project, path: str, span: Span) -> int:
    view = project.view(path)
    return view.source.location(span.start)[0] if view is not None else 0


def _unknown_mentions(
    project: Project, word: str, known: Counter[str], harmless: re.Pattern[str] | None = None
) -> list[str]:
    """Places that mention `word` more often than the known sites there, leaving out comments and harmless lines."""
    found = []
    for place in project.mentions(word):
        path = place.rpartition(":")[0]
        text = _line_at(project, place)
        is_python = path.endswith((".py", ".pyi"))
        if harmless is not None and (not is_python or harmless.search(text)):
            continue
        times = len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) if harmless is not None else text.count(word)
        if times > known[place] and not (is_python and text.lstrip().startswith("#")):
            found.append(place)
    return found


def _harmless_use(name: str) -> re.Pattern[str]:
    """Lines on which a path constant is defined, imported, shown or asked for its existence, and not opened."""
    word = re.escape(name)
    return re.compile(
        rf"^\s*(?:from|import)\b|^\s*{word}\s*(?::[^=]+)?=[^=]|^\s*{word}(?:\s+as\s+\w+)?,?\s*(?:#.*)?$"
        rf"|\b(?:print|exists|isfile)\([^()]*\b{word}\b[^()]*\)|\b{word}\)?\.(?:exists|is_file|name|stem|stat|unlink|seek)\b"
    )
