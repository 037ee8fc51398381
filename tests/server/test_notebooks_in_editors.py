"""Notebooks and baselines as an editor sees them: a real client, a document for each cell."""

from __future__ import annotations

import json
from pathlib import Path

from commands import told
from editor import Editor, applied, edited
from lsprotocol import types

from torchlift.migrate import load_config
from torchlift.server.open_project import OpenProject

REQUIRES = '[project]\nname = "p"\ndependencies = ["torch>=2.13"]\n'
CELLS = [
    ("markdown", "# torch.ger"),
    ("python", "import torch\n"),
    ("python", "# 🙂🙂\ns = '🙂'; x = torch.ger(a, b)\n!pip install torch==1.13.1+cu116\n"),
    ("r", "torch.ger(1)"),
    ("python", "y = torch.ger(c, d)"),
]


def project(folder: Path, cells: list[tuple[str, str]]) -> Path:
    (folder / "pyproject.toml").write_text(REQUIRES)
    written = [
        {"cell_type": "code" if language == "python" else "markdown", "metadata": {}, "source": text, "outputs": []}
        for language, text in cells
    ]
    (folder / "nb.ipynb").write_text(json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return folder.resolve()


def places(found: list[types.Diagnostic]) -> list[tuple[object, int, int, int, int]]:
    at = (one.range for one in found)
    codes = [one.code for one in found]
    return [
        (code, r.start.line, r.start.character, r.end.line, r.end.character) for code, r in zip(codes, at, strict=True)
    ]


def test_findings_stand_in_their_cells_in_the_units_of_the_editor(tmp_path: Path) -> None:
    folder = project(tmp_path, CELLS)

    async def scene(editor: Editor) -> None:
        uris = await editor.open_notebook(folder / "nb.ipynb", CELLS)
        found = [places(editor.published[uri][1]) if uri in editor.published else None for uri in uris]
        assert found[:2] == [None, []] and found[3:] == [None, [("TL401", 0, 4, 0, 13)]]
        first, *pins = found[2] or ()
        assert first == ("TL401", 1, len("s = '12'; x = "), 1, len("s = '12'; x = torch.ger"))
        assert pins and all(pin[1] == 2 and pin[2] >= len("!pip install ") for pin in pins)
        moved = await editor.type_in_cell(folder / "nb.ipynb", uris[4], "\ny = torch.ger(c, d)")
        assert places(moved) == [("TL401", 1, 4, 1, 13)]
        assert await editor.type_in_cell(folder / "nb.ipynb", uris[4], "y = 1") == []
        assert await editor.type_in_cell(folder / "nb.ipynb", uris[4], "y = 1\r\x00\ud800") == []
        editor.remove_cell(folder / "nb.ipynb", uris[2], 2)
        await editor.until(lambda: editor.published[uris[2]] == (None, []))
        assert not editor.logged and not editor.told

    edited(scene, folder)


def test_findings_of_an_open_notebook_are_those_of_the_command(tmp_path: Path) -> None:
    folder = project(tmp_path, CELLS)
    done = told(folder, "migrate", "--check", "--output-format", "json", ".")
    fresh = [(one["code"], one["cell"], one["location"]) for one in json.loads(done.stdout)["findings"]]

    async def scene(editor: Editor) -> None:
        uris = await editor.open_notebook(folder / "nb.ipynb", CELLS)
        seen = [
            (one.code, number, one.range.start.line + 1)
            for number, uri in enumerate(uris, 1)
            for one in editor.published.get(uri, (None, []))[1]
        ]
        assert seen == [(code, cell, place["row"]) for code, cell, place in fresh]

    edited(scene, folder)


def test_a_fix_edits_the_document_of_its_cell_and_fix_all_those_of_all_cells(tmp_path: Path) -> None:
    folder = project(tmp_path, CELLS)

    async def scene(editor: Editor) -> None:
        uris = await editor.open_notebook(folder / "nb.ipynb", CELLS)
        texts = {uri: text for uri, (_, text) in zip(uris, CELLS, strict=True)}
        at = types.Position(1, 16)
        fix = (await editor.actions(uris[2], types.Range(at, at)))[0]
        new = applied(fix.edit, texts)
        assert new[uris[2]] == CELLS[2][1].replace("torch.ger", "torch.outer")
        assert {uri: text for uri, text in new.items() if uri != uris[2]} == {
            uri: text for uri, text in texts.items() if uri != uris[2]
        }
        (everything,) = await editor.actions(uris[4], types.Range(at, at), ["source.fixAll"])
        new = applied(everything.edit, texts)
        assert [("torch.ger" in new[uri], "torch.outer" in new[uri]) for uri in uris] == [
            (True, False), (False, False), (False, True), (True, False), (False, True),
        ]  # fmt: skip

    edited(scene, folder)


def test_known_findings_are_not_shown_and_those_of_a_new_baseline_go_when_it_is_written(tmp_path: Path) -> None:
    folder = project(tmp_path, [])
    known = "import torch\nx = torch.ger(a, b)\n"
    (folder / "a.py").write_text(known)
    told(folder, "migrate", "--check", ".", "--write-baseline")
    (folder / "pyproject.toml").write_text(f'{REQUIRES}\n[tool.torchlift]\nbaseline = ".torchlift-baseline.json"\n')

    async def scene(editor: Editor) -> None:
        assert await editor.open(folder / "a.py") == []
        more = f"# moved\n{known}y = torch.ger(c, d)\n"
        (new,) = await editor.type(folder / "a.py", more)
        assert new.range.start.line == 3
        (folder / "a.py").write_text(more)
        told(folder, "migrate", "--check", ".", "--write-baseline")
        path = folder / ".torchlift-baseline.json"
        assert await editor.anew(folder / "a.py", lambda: editor.saved(path)) == []

    edited(scene, folder)


def test_a_notebook_is_checked_as_it_is_in_the_editor_and_on_disk_again_once_closed(tmp_path: Path) -> None:
    folder = project(tmp_path, CELLS)
    opened = OpenProject(folder, load_config(folder))
    empty = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    report = opened.report({"nb.ipynb": empty})
    assert report is not None and report.findings == {"nb.ipynb": ()}
    assert opened.report({}) is not None
    again = opened.report({"nb.ipynb": (folder / "nb.ipynb").read_text()})
    assert again is not None and [one.code for one in again.findings["nb.ipynb"]].count("TL401") == 2
