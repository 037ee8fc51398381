"""An editor: a real client of the Language Server Protocol that speaks with a server, in a thread or a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from torchlift.server.features import make_server

Answer = TypeVar("Answer")
PATIENCE = 60.0


class Editor:
    """An editor with one or more folders open.

    Attributes:
        client: the client below.
        published: the last diagnostics of each file, and the version they are about.
        on_news: called whenever diagnostics come, also with those that are not all yet.
        told: what was shown to the user; `logged`: what was written into the log.
    """

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.published: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self.on_news: Callable[[], None] = lambda: None
        self.told: list[str] = []
        self.logged: list[str] = []
        self.watched: list[str] = []
        self.encoding = ""
        self._texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._news = asyncio.Event()
        self._server: threading.Thread | None = None

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = (params.version, list(params.diagnostics))
            self.on_news()
            self._news.set()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def _(params: types.ShowMessageParams) -> None:
            self.told.append(params.message)
            self._news.set()

        @client.feature(types.WINDOW_LOG_MESSAGE)
        def _(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(params: types.RegistrationParams) -> None:
            self.watched += [one.method for one in params.registrations]

    async def start(
        self, folders: list[Path], settings: Any = None, encodings: list[str] | None = None, *, apart: bool = False
    ) -> None:
        """Start the server with some folders open; `apart`: as editors do, `torchlift server` in a process of its own."""
        if apart:
            await self.client.start_io(sys.executable, "-m", "torchlift", "server", "--stdio")
        else:
            await self._start_here()
        workspace = types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        )
        kinds = [types.PositionEncodingKind(one) for one in encodings or ["utf-16"]]
        general = types.GeneralClientCapabilities(position_encodings=kinds)
        result = await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(workspace=workspace, general=general),
                workspace_folders=[types.WorkspaceFolder(path.as_uri(), path.name) for path in folders],
                initialization_options=settings,
            )
        )
        chosen = result.capabilities.position_encoding
        self.encoding = str(getattr(chosen, "value", chosen))
        self.client.initialized(types.InitializedParams())

    async def _start_here(self) -> None:
        """Run the server in a thread: what a process imports for it, a second of work, was imported by the first test."""
        (its_input, our_output), (our_input, its_output) = os.pipe(), os.pipe()
        stdin, stdout = os.fdopen(its_input, "rb"), os.fdopen(its_output, "wb")

        def serve() -> None:
            with stdin, stdout:
                make_server().start_io(stdin, stdout)

        self._server = threading.Thread(target=serve, daemon=True)
        self._server.start()
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(our_input, "rb"))
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(our_output, "wb")
        )
        self.client.protocol.set_writer(asyncio.StreamWriter(transport, protocol, None, loop))
        listening = run_async(stop_event=self.client._stop_event, reader=reader, protocol=self.client.protocol)
        self.client._async_tasks.append(asyncio.create_task(listening))

    async def open(self, path: Path, text: str | None = None) -> list[types.Diagnostic]:
        """Open a file; its diagnostics."""
        uri = path.as_uri()
        self._texts[uri], self._versions[uri] = path.read_text() if text is None else text, 1
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, self._texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.found(path)

    async def type(self, path: Path, text: str, *, wait: bool = True) -> list[types.Diagnostic]:
        """Give an open file another text; its diagnostics, if they are to be waited for."""
        uri = path.as_uri()
        self._versions[uri] += 1
        self._texts[uri] = text
        identifier = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        return await self.found(path) if wait else []

    async def open_notebook(self, path: Path, cells: list[tuple[str, str]]) -> list[str]:
        """Open a notebook with cells of some languages; the addresses of their documents, once something is known of them."""
        uris = [f"vscode-notebook-cell:{path.as_posix()}#{number}" for number in range(len(cells))]
        kinds = [
            types.NotebookCellKind.Markup if language == "markdown" else types.NotebookCellKind.Code
            for language, _ in cells
        ]
        notebook = types.NotebookDocument(
            path.as_uri(), "jupyter-notebook", 1,
            [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)],
        )  # fmt: skip
        documents = [types.TextDocumentItem(uri, one[0], 1, one[1]) for uri, one in zip(uris, cells, strict=True)]
        self._versions[path.as_uri()] = 1
        self._versions |= dict.fromkeys(uris, 1)
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, documents))
        await self.found_in_cells([uri for uri, (language, _) in zip(uris, cells, strict=True) if language == "python"])
        return uris

    async def type_in_cell(self, path: Path, uri: str, text: str) -> list[types.Diagnostic]:
        """Give a cell of an open notebook another text; its diagnostics."""
        self._versions[path.as_uri()] += 1
        self._versions[uri] += 1
        changes = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(self._versions[uri], uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self._versions[path.as_uri()], path.as_uri()),
                types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[changes])),
            )
        )
        await self.found_in_cells([uri])
        return self.published[uri][1]

    def remove_cell(self, path: Path, uri: str, at: int) -> None:
        """Take a cell out of an open notebook."""
        self._versions[path.as_uri()] += 1
        structure = types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(at, 1), did_close=[types.TextDocumentIdentifier(uri)]
        )
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self._versions[path.as_uri()], path.as_uri()),
                types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure)),
            )
        )

    async def found_in_cells(self, uris: list[str]) -> None:
        """Wait for diagnostics of the present versions of cells."""
        await self.until(lambda: all(self.published.get(uri, (None,))[0] == self._versions[uri] for uri in uris))

    async def found(self, path: Path) -> list[types.Diagnostic]:
        """Diagnostics of the present version of a file."""
        uri = path.as_uri()
        await self.until(lambda: uri in self.published and self.published[uri][0] == self._versions[uri])
        return self.published[uri][1]

    async def anew(self, path: Path, act: Callable[[], None]) -> list[types.Diagnostic]:
        """Diagnostics of an open file that come after something else has happened."""
        self.published.pop(path.as_uri(), None)
        act()
        return await self.found(path)

    def close(self, path: Path) -> None:
        """Close a file."""
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri()))
        )

    def saved(self, path: Path) -> None:
        """Tell that a file was written to disk, by whom ever."""
        change = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))

    def set(self, settings: Any) -> None:
        """Change settings."""
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"torchlift": settings}))

    async def actions(self, path: Path | str, at: types.Range, only: list[str] | None = None) -> list[types.CodeAction]:
        """What is offered for a part of a file, or of the cell with that address."""
        uri = path if isinstance(path, str) else path.as_uri()
        context = types.CodeActionContext([], list(only) if only else None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), at, context)
        found = await self.client.text_document_code_action_async(params)
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    async def hover(self, path: Path, at: types.Position) -> str:
        """What is shown over a place."""
        params = types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), at)
        found = await self.client.text_document_hover_async(params)
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return found.contents.value if found is not None else ""

    async def until(self, what: Callable[[], bool]) -> None:
        """Wait for something that the server tells."""

        async def wait() -> None:
            while not what():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), PATIENCE)

    async def stop(self) -> None:
        """End the server as the protocol wants it."""
        await asyncio.wait_for(self.client.shutdown_async(None), PATIENCE)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), PATIENCE)
        if self._server is not None:
            await asyncio.to_thread(self._server.join, PATIENCE)
            assert not self._server.is_alive(), "the server does not end"


def applied(edit: types.WorkspaceEdit | None, texts: dict[str, str]) -> dict[str, str]:
    """Texts by address after an edit, whose positions count UTF-16."""
    assert edit is not None and edit.document_changes is not None
    new = dict(texts)
    for change in edit.document_changes:
        assert isinstance(change, types.TextDocumentEdit)
        uri = change.text_document.uri
        lines = new[uri].split("\n")
        for one in sorted(
            change.edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True
        ):  # type: ignore[union-attr]
            start, end = one.range.start, one.range.end  # type: ignore[union-attr]
            lines.append("") if end.line >= len(lines) else None
            first = lines[start.line].encode("utf-16-le")[: 2 * start.character].decode("utf-16-le")
            last = lines[end.line].encode("utf-16-le")[2 * end.character :].decode("utf-16-le")
            lines[start.line : end.line + 1] = (first + one.new_text + last).split("\n")  # type: ignore[union-attr]
        new[uri] = "\n".join(lines)
    return new


def edited(
    scene: Callable[[Editor], Awaitable[Answer]],
    *folders: Path,
    settings: Any = None,
    encodings: list[str] | None = None,
    apart: bool = False,
) -> Answer:
    """What a scene with an editor comes to; see `Editor.start`."""

    async def play() -> Answer:
        editor = Editor(LanguageClient("test-editor", "1"))
        await editor.start(list(folders), settings, encodings, apart=apart)
        try:
            return await scene(editor)
        finally:
            await editor.stop()

    return asyncio.run(play())
