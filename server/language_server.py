"""The language server: documents and settings come in, findings and fixes go out; one thread at a time asks a project."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from torchlift import __version__
from torchlift.finding import Finding, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.workspace.config import ConfigError
from torchlift.migrate.workspace.root import project_root
from torchlift.rules.own_rules import rules_with
from torchlift.rules.registry import RuleFileError
from torchlift.server import messages
from torchlift.server.client_settings import ClientSettings
from torchlift.server.open_documents import OpenDocument, edited_parts, found_in, open_notebook, positions_in
from torchlift.server.open_project import CannotFix, OpenProject, Report

_PAUSE = 0.01
"""Seconds that are waited for further changes, of a replacement in many places, before a text is looked at. Keys of a person come
no faster than a look takes; what comes during one is looked at together after it."""
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.torchlift"

_NOTEBOOKS = types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterNotebookType("jupyter-notebook"))

Answer = TypeVar("Answer")


@dataclass
class Folder:
    """A folder that is open in the editor.

    Attributes:
        path: the folder.
        project: what is known of it; None as long as it was not read, and after what it rests on has changed.
        checking: the task that looks at its files.
        again: whether something came in since that task began.
        stop: set when nobody wants the findings any more that are being looked for.
        shown: by address, the document as it was looked at, what was found in it, and its name in the project.
    """

    path: Path
    project: OpenProject | None = None
    checking: asyncio.Task[None] | None = None
    again: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    shown: dict[str, tuple[OpenDocument, Report, str]] = field(default_factory=dict)


class TorchliftServer(LanguageServer):
    """Checks open files of any number of folders."""

    def __init__(self) -> None:
        # Whole texts: an edit of a part is told in lines that other line ends than the protocol's must not make.
        super().__init__(
            "torchlift",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=types.NotebookDocumentSyncOptions([_NOTEBOOKS]),
        )
        self.settings = ClientSettings()
        self.documents: dict[str, OpenDocument] = {}
        self.folders: dict[Path, Folder] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="torchlift")

    # Folders and documents

    def configure(self, sent: Any) -> None:
        """Take the settings of the editor; wrong ones are told and change nothing."""
        try:
            self.settings = ClientSettings.read(sent)
        except ConfigError as error:
            self.tell(str(error))
            return
        for folder in self.folders.values():
            folder.project = None
            self.look(folder)

    def opened(self, uri: str, text: str, version: int | None) -> None:
        """A document was opened or has another text now."""
        name = to_fs_path(uri) if uri.startswith("file:") else None
        if name is None:
            return  # it is no file yet
        self.taken(OpenDocument(uri, Path(name).resolve(), text, version))

    def notebook_opened(self, uri: str) -> None:
        """A notebook was opened or has other cells now."""
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        name = to_fs_path(uri) if uri.startswith("file:") else None
        if notebook is None or name is None:
            return

        def read(cell: str) -> tuple[str, str | None, int | None]:
            document = self.workspace.get_text_document(cell)
            return document.source, document.language_id, document.version

        self.taken(open_notebook(notebook, Path(name).resolve(), read))

    def taken(self, document: OpenDocument) -> None:
        """A document is open in that state now."""
        before = self.documents.get(document.uri)
        self.documents[document.uri] = document
        for cell in before.cells if before is not None else ():
            if document.cell(cell.uri) is None:
                self._publish(cell.uri, None, [])
        self.look(self._folder_of(document.path))

    def closed(self, uri: str) -> None:
        """A document is not open any more."""
        document = self.documents.pop(uri, None)
        if document is None:
            return
        folder = self._folder_of(document.path)
        folder.shown.pop(uri, None)
        for part, _, _ in document.parts():
            self._publish(part, None, [])
        self.look(folder)

    def written(self, paths: list[Path]) -> None:
        """Files were saved, made, changed or removed, here or elsewhere."""
        for folder in list(self.folders.values()):
            here = [path for path in paths if path.is_relative_to(folder.path)]
            project = folder.project
            for path in here if project is not None else ():
                assert project is not None
                if not path.is_relative_to(project.root):
                    continue
                name = path.relative_to(project.root).as_posix()
                if project.is_outdated_by(name):
                    folder.project = None
                    break
                project.was_written(name)
            if here:
                self.look(folder)

    def removed(self, paths: list[Path]) -> None:
        """Folders are not open any more."""
        for path in paths:
            folder = self.folders.pop(path.resolve(), None)
            if folder is not None:
                folder.stop.set()
                for document, _, _ in folder.shown.values():
                    for uri, _, _ in document.parts():
                        self._publish(uri, None, [])

    def _folder_of(self, path: Path) -> Folder:
        """The innermost folder of the workspace around a file, or the project that it belongs to."""
        open_ones = [
            Path(name).resolve() for one in self.workspace.folders.values() if (name := to_fs_path(one.uri)) is not None
        ]
        around = [folder for folder in open_ones if path.is_relative_to(folder)]
        found = max(around, key=lambda folder: len(folder.parts), default=None) or project_root([path])
        return self.folders.setdefault(found, Folder(found))

    # Checking

    def look(self, folder: Folder) -> None:
        """Look at the open files of a folder soon; what is under way for it is of no use any more."""
        folder.stop.set()
        folder.again = True
        if folder.checking is None or folder.checking.done():
            folder.checking = asyncio.ensure_future(self._look(folder))

    async def settled(self, uri: str) -> None:
        """Wait until what is found in a document is known."""
        document = self._document_of(uri)
        folder = self._folder_of(document.path) if document is not None else None
        while folder is not None and folder.checking is not None and not folder.checking.done():
            await asyncio.shield(folder.checking)

    async def _look(self, folder: Folder) -> None:
        while folder.again:
            await asyncio.sleep(_PAUSE)
            folder.again = False
            folder.stop.clear()
            documents = [one for one in self.documents.values() if self._folder_of(one.path) is folder]
            try:
                if folder.project is None:
                    folder.project = await self._in_worker(partial(self._read, folder.path))
                    self._tell_left_out(folder.project)
                loop, show = asyncio.get_running_loop(), partial(self._show_soon, folder, documents)

                def soon(
                    report: Report, loop: asyncio.AbstractEventLoop = loop, show: Callable[[Report], None] = show
                ) -> None:
                    loop.call_soon_threadsafe(show, report)

                report = await self._in_worker(partial(_report, folder.project, documents, folder.stop.is_set, soon))
                if report is not None:
                    self._show(folder, documents, report)
            except (ConfigError, RuleFileError) as error:
                self.tell(str(error))
            except Exception:
                folder.project = None
                self.log(f"A defect of torchlift: nothing is known about {folder.path}.\n{traceback.format_exc()}")

    def _tell_left_out(self, project: OpenProject) -> None:
        if project.left_out:
            self.tell(
                f"the rules of the project's own ({', '.join(project.left_out)}) are left out, since they are code that would "
                "run here. If you trust them, set `allowOwnRules`."
            )

    def _read(self, path: Path) -> OpenProject:
        return OpenProject(path, self.settings.config_of(path))

    def _show_soon(self, folder: Folder, documents: list[OpenDocument], report: Report) -> None:
        """Show what is not all yet: it is about no version, and no fixes are offered for it."""
        if folder.project is not None and not folder.stop.is_set():
            for document in documents:
                self._show_in(folder.project, document, report, is_all=False)

    def _show(self, folder: Folder, documents: list[OpenDocument], report: Report) -> None:
        project = folder.project
        assert project is not None
        for failure in report.failures:
            self.log(f"{failure.path}: {failure.reason}\n{failure.detail}")
        for document in documents:
            name = _name_in(project, document.path)
            if name in report.findings:
                folder.shown[document.uri] = (document, report, name)
                self._show_in(project, document, report)

    def _show_in(self, project: OpenProject, document: OpenDocument, report: Report, *, is_all: bool = True) -> None:
        name = _name_in(project, document.path)
        if name not in report.findings:
            return
        source, rules = report.sources[name], rules_with(project.options.own_rules)
        for uri, version, number in document.parts():
            positions = positions_in(source, document, uri, self.encoding)
            here = found_in(list(report.findings[name]), source, number)
            found = [messages.diagnostic(one, positions, project.root, rules) for one in here]
            self._publish(uri, version if is_all else None, found)

    async def _in_worker(self, work: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    # Answers

    @property
    def encoding(self) -> str:
        """How positions in a line are counted."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))

    def found_at(self, uri: str, range: types.Range) -> list[Finding]:
        """What was found in a part of a document, in its present text."""
        document = self._document_of(uri)
        folder = self._folder_of(document.path) if document is not None else None
        if document is None or folder is None or document.uri not in folder.shown:
            return []
        looked_at, report, name = folder.shown[document.uri]
        if looked_at is not document:
            return []
        positions = positions_in(report.sources[name], document, uri, self.encoding)
        start = positions.offset(range.start.line, range.start.character)
        end = positions.offset(range.end.line, range.end.character)
        return [one for one in report.findings[name] if one.span.start <= end and start <= one.span.end]

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What a finding below the pointer is about."""
        uri = params.text_document.uri
        found = self.found_at(uri, types.Range(params.position, params.position))
        document = self._document_of(uri)
        if not found or document is None:
            return None
        project = self._folder_of(document.path).project
        rules = rules_with(project.options.own_rules if project is not None else ())
        text = "\n\n---\n\n".join(messages.explained(one, rules.get(one.code)) for one in found)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Fixes of the findings in a part of a document, and what concerns all of it."""
        uri, only = params.text_document.uri, params.context.only
        await self.settled(uri)
        offered: list[types.CodeAction] = []
        if _wants(only, types.CodeActionKind.QuickFix.value):
            for finding in self.found_at(uri, params.range):
                offered += await self._fixes(uri, finding)
        # Editors that fix a file when it is saved ask for this alone; nobody wants it among the fixes of one place otherwise.
        if only and _wants(only, FIX_ALL):
            edit = await self._fix_all(uri)
            if edit is not None:
                offered.append(types.CodeAction("Apply all safe fixes of torchlift", FIX_ALL, edit=edit))
        return offered

    async def _fixes(self, uri: str, finding: Finding) -> list[types.CodeAction]:
        document = self._document_of(uri)
        folder = self._folder_of(document.path) if document is not None else None
        shown = folder.shown.get(document.uri) if document is not None and folder is not None else None
        if document is None or folder is None or shown is None or folder.project is None:
            return []
        _, report, name = shown
        project, source = folder.project, report.sources[name]
        positions = positions_in(source, document, uri, self.encoding)
        about = [messages.diagnostic(finding, positions, project.root, rules_with(project.options.own_rules))]
        offered = []
        if finding.fix is not None:
            title = f"{finding.fix.title} ({messages.SAFETY[finding.safety]})"
            try:
                texts = await self._in_worker(partial(project.fixed, name, finding))
            except CannotFix as error:
                self.log(f"{name}: {finding.fix.title}: {error}")
            else:
                offered.append(
                    types.CodeAction(
                        title, types.CodeActionKind.QuickFix, about,
                        is_preferred=finding.safety is Safety.SAFE, edit=self._edit(folder, project, texts),
                    )
                )  # fmt: skip
        silence = messages.suppression(finding, source, self.encoding) if name.endswith((".py", ".pyi")) else None
        if silence is not None:
            edit = types.WorkspaceEdit(changes={uri: [silence]})
            offered.append(
                types.CodeAction(f"Ignore {finding.code} here", types.CodeActionKind.QuickFix, about, edit=edit)
            )
        return offered

    async def _fix_all(self, uri: str) -> types.WorkspaceEdit | None:
        document = self._document_of(uri)
        folder = self._folder_of(document.path) if document is not None else None
        if document is None or folder is None or folder.project is None or document.uri not in folder.shown:
            return None
        name = folder.shown[document.uri][2]
        texts = await self._in_worker(partial(folder.project.all_fixed, name, frozenset({Safety.SAFE})))
        return self._edit(folder, folder.project, {name: texts}) if texts is not None else None

    def _edit(self, folder: Folder, project: OpenProject, texts: Any) -> types.WorkspaceEdit:
        """An edit for the texts as they were last looked at: where the editor has others by now, it refuses the edit."""
        open_ones = {_name_in(project, one.path): one for one in self.documents.values()}
        open_ones |= {_name_in(project, one.path): one for one, _, _ in folder.shown.values()}
        edited: dict[str, tuple[Any, Any]] = {}
        versions: dict[str, int | None] = {}
        for name, (before, after) in texts.items():
            document = open_ones.get(name)
            for part, old, new in edited_parts(before, after, document):
                uri = part or (document.uri if document is not None else from_fs_path(str(project.root / name)) or "")
                edited[uri] = (old, new)
                if document is not None:
                    cell = document.cell(uri)
                    versions[uri] = document.version if cell is None else cell.version
        edits = self.client_capabilities.workspace and self.client_capabilities.workspace.workspace_edit
        versioned = bool(edits and edits.document_changes)
        return messages.workspace_edit(edited, versions, self.encoding, versioned=versioned)

    def _document_of(self, uri: str) -> OpenDocument | None:
        """The open file with that address, or the one with a cell of that address."""
        found = self.documents.get(uri)
        return found or next((one for one in self.documents.values() if one.cell(uri) is not None), None)

    def tell(self, sentence: str) -> None:
        """Show the user a sentence."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"torchlift: {sentence}"))

    def log(self, text: str) -> None:
        """Write into the editor's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))


def _report(
    project: OpenProject, documents: list[OpenDocument], stop: Callable[[], bool], soon: Callable[[Report], None]
) -> Report | None:
    texts = {_name_in(project, one.path): one.text for one in documents if one.path.is_relative_to(project.root)}
    return project.report(texts, stop, soon)


def _name_in(project: OpenProject, path: Path) -> str:
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else ""


def _wants(only: Any, kind: str) -> bool:
    """Whether an editor that asks for some kinds of actions, or for all, wants one of this kind."""
    asked = [str(getattr(one, "value", one)) for one in only or ()]
    return not asked or any(kind == one or kind.startswith(f"{one}.") for one in asked)
