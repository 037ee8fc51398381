"""What the server answers to, by the names of the protocol."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from torchlift.server.language_server import FIX_ALL, TorchliftServer

_WATCHED = ("**/*.py", "**/*.pyi", "**/pyproject.toml", "**/torchlift.toml", "**/setup.cfg", "**/*requirements*.txt",
            "**/*requirements*.in", "**/environment*.y*ml", "**/*.lock", "**/.gitignore", "**/*.ipynb", "**/*baseline*.json")  # fmt: skip


def make_server() -> TorchliftServer:
    """A server with everything that it answers to."""
    server = TorchliftServer()

    @server.feature(types.INITIALIZED)
    async def _(ls: TorchliftServer, params: types.InitializedParams) -> None:
        watching = ls.client_capabilities.workspace and ls.client_capabilities.workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in _WATCHED])
            registered = types.Registration("watched", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await ls.client_register_capability_async(types.RegistrationParams([registered]))

    @server.feature(types.INITIALIZE)
    def _(ls: TorchliftServer, params: types.InitializeParams) -> None:
        ls.configure(params.initialization_options)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _(ls: TorchliftServer, params: types.HoverParams) -> types.Hover | None:
        return ls.hover(params)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def _(ls: TorchliftServer, params: types.CodeActionParams) -> list[types.CodeAction]:
        return await ls.actions(params)

    _hear_of_documents(server)
    _hear_of_notebooks(server)
    _hear_of_the_workspace(server)
    return server


def _hear_of_documents(server: TorchliftServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _(ls: TorchliftServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.opened(params.text_document.uri, params.text_document.text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def _(ls: TorchliftServer, params: types.DidChangeTextDocumentParams) -> None:
        text = ls.workspace.get_text_document(params.text_document.uri).source
        ls.opened(params.text_document.uri, text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def _(ls: TorchliftServer, params: types.DidCloseTextDocumentParams) -> None:
        ls.closed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def _(ls: TorchliftServer, params: types.DidSaveTextDocumentParams) -> None:
        ls.written(_paths([params.text_document.uri]))


def _hear_of_notebooks(server: TorchliftServer) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def _(ls: TorchliftServer, params: types.DidOpenNotebookDocumentParams) -> None:
        ls.notebook_opened(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def _(ls: TorchliftServer, params: types.DidChangeNotebookDocumentParams) -> None:
        ls.notebook_opened(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def _(ls: TorchliftServer, params: types.DidCloseNotebookDocumentParams) -> None:
        ls.closed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    async def _(ls: TorchliftServer, params: types.DidSaveNotebookDocumentParams) -> None:
        ls.written(_paths([params.notebook_document.uri]))


def _hear_of_the_workspace(server: TorchliftServer) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def _(ls: TorchliftServer, params: types.DidChangeWatchedFilesParams) -> None:
        ls.written(_paths([change.uri for change in params.changes]))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def _(ls: TorchliftServer, params: types.DidChangeConfigurationParams) -> None:
        sent = params.settings
        ls.configure(sent.get("torchlift") if isinstance(sent, dict) and "torchlift" in sent else sent)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def _(ls: TorchliftServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
        ls.removed(_paths([folder.uri for folder in params.event.removed]))
        for document in list(ls.documents.values()):
            ls.look(ls._folder_of(document.path))


def _paths(uris: list[str]) -> list[Path]:
    return [Path(name).resolve() for uri in uris if (name := to_fs_path(uri)) is not None]
