"""`torchlift server` as an editor sees it: a real client, once with a real process, else with the server in a thread."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor import Editor, applied, edited
from lsprotocol import types

GER = "import torch\nx = torch.ger(a, b)\n"
WRITER = (
    "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n\n"
    "net = Net().eval()\ntraced = torch.jit.trace(net, torch.rand(4, 3))\ntraced.save('net.pt')\n"
)
READER = "import torch\nnet = torch.jit.load('net.pt')\nprint(net(torch.rand(2, 3)))\n"
LINE = types.Range(types.Position(1, 0), types.Position(1, 1))


def project(folder: Path, **files: str) -> Path:
    for name, text in {"pyproject": '[project]\nname = "p"\ndependencies = ["torch>=2.13"]\n', **files}.items():
        path = folder / (name.replace("__", "/") + (".toml" if name == "pyproject" else ".py"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder.resolve()


def codes(found: list[types.Diagnostic]) -> list[object]:
    return [one.code for one in found]


def test_findings_come_while_a_text_is_typed_and_go_with_it(tmp_path: Path) -> None:
    folder = project(tmp_path, a="x = 1\n")

    async def scene(editor: Editor) -> None:
        assert await editor.open(folder / "a.py") == []
        (found,) = await editor.type(folder / "a.py", GER)
        assert found.code == "TL401" and found.source == "torchlift" and "torch.outer" in found.message
        assert found.severity == types.DiagnosticSeverity.Warning
        assert found.range == types.Range(types.Position(1, 4), types.Position(1, 13))
        assert codes(await editor.type(folder / "a.py", "import torch\nx = torch.ger(\n")) == ["TL902"]
        assert await editor.type(folder / "a.py", "x = 2\n") == []
        assert editor.watched == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]

    edited(scene, folder, apart=True)


def test_a_safe_fix_is_preferred_says_so_and_is_meant_for_one_version(tmp_path: Path) -> None:
    folder = project(tmp_path, a=GER)

    async def scene(editor: Editor) -> None:
        await editor.open(folder / "a.py")
        await editor.type(folder / "a.py", f"# one\n{GER}")
        fix, ignore = await editor.actions(folder / "a.py", types.Range(types.Position(2, 6), types.Position(2, 6)))
        assert fix.title.endswith("(safe)") and fix.is_preferred and fix.kind == types.CodeActionKind.QuickFix
        uri = (folder / "a.py").as_uri()
        assert applied(fix.edit, {uri: f"# one\n{GER}"}) == {uri: "# one\nimport torch\nx = torch.outer(a, b)\n"}
        assert fix.edit is not None and fix.edit.document_changes is not None
        assert fix.edit.document_changes[0].text_document.version == 2  # type: ignore[union-attr]
        assert ignore.edit is not None and ignore.edit.changes is not None
        (edit,) = ignore.edit.changes[uri]
        assert edit.new_text == "  # torchlift: ignore[TL401]" and edit.range.start == types.Position(2, 19)
        assert await editor.actions(folder / "a.py", types.Range(types.Position(0, 0), types.Position(0, 2))) == []

    edited(scene, folder)


def test_all_safe_fixes_of_a_file_are_one_action_that_is_asked_for(tmp_path: Path) -> None:
    text = f"{GER}y = torch.symeig(x)\nz = torch.ger(x, x)\n"
    folder = project(tmp_path, a=text)

    async def scene(editor: Editor) -> None:
        path, uri = folder / "a.py", (folder / "a.py").as_uri()
        await editor.open(path)
        (action,) = await editor.actions(path, LINE, ["source.fixAll"])
        assert action.kind == "source.fixAll.torchlift"
        new = applied(action.edit, {uri: text})[uri]
        assert new.count("torch.outer") == 2 and "torch.ger" not in new
        await editor.type(path, new)
        assert await editor.actions(path, LINE, ["source.fixAll.torchlift"]) == []
        assert await editor.actions(path, LINE, ["refactor"]) == []

    edited(scene, folder)


def test_what_is_not_saved_in_one_file_counts_in_another(tmp_path: Path) -> None:
    folder = project(tmp_path, writer="", reader=READER)
    reader, writer = folder / "reader.py", folder / "writer.py"

    def told(editor: Editor) -> str:
        return " ".join(one.message for one in editor.published[reader.as_uri()][1])

    async def scene(editor: Editor) -> None:
        (alone,) = await editor.open(reader)
        assert alone.code == "TL103" and alone.code_description is not None
        await editor.open(writer)
        await editor.type(writer, WRITER)
        await editor.until(lambda: told(editor) != alone.message)
        editor.close(writer)
        await editor.until(lambda: told(editor) == alone.message)
        writer.write_text(WRITER)
        editor.saved(writer)
        await editor.until(lambda: told(editor) != alone.message)

    edited(scene, folder)


def test_a_fix_that_goes_with_others_edits_all_their_files(tmp_path: Path) -> None:
    folder = project(tmp_path, writer=WRITER, reader=READER)

    async def scene(editor: Editor) -> None:
        found = await editor.open(folder / "writer.py")
        place = next(one.range for one in found if one.code == "TL101")
        action = next(one for one in await editor.actions(folder / "writer.py", place) if "Ignore" not in one.title)
        texts = {(folder / "writer.py").as_uri(): WRITER, (folder / "reader.py").as_uri(): READER}
        new = applied(action.edit, texts)
        assert "torch.export.save" in new[(folder / "writer.py").as_uri()]
        assert "torch.export.load" in new[(folder / "reader.py").as_uri()]
        assert action.edit is not None and action.edit.document_changes is not None
        versions = {one.text_document.uri: one.text_document.version for one in action.edit.document_changes}  # type: ignore[union-attr]
        assert versions == {(folder / "writer.py").as_uri(): 1, (folder / "reader.py").as_uri(): None}

    edited(scene, folder)


def test_what_a_rule_says_is_shown_over_its_finding(tmp_path: Path) -> None:
    folder = project(tmp_path, a=GER)

    async def scene(editor: Editor) -> None:
        await editor.open(folder / "a.py")
        text = await editor.hover(folder / "a.py", types.Position(1, 8))
        assert "**TL401**" in text and "Fix (safe)" in text and "torch.outer" in text
        assert await editor.hover(folder / "a.py", types.Position(0, 0)) == ""

    edited(scene, folder)


def test_configuration_counts_as_soon_as_it_is_saved_or_set(tmp_path: Path) -> None:
    folder = project(tmp_path, a=GER)

    async def scene(editor: Editor) -> None:
        path, config = folder / "a.py", folder / "torchlift.toml"
        assert codes(await editor.open(path)) == ["TL401"]
        config.write_text('ignore = ["TL401"]\n')
        assert await editor.anew(path, lambda: editor.saved(config)) == []
        config.unlink()
        assert codes(await editor.anew(path, lambda: editor.saved(config))) == ["TL401"]
        assert await editor.anew(path, lambda: editor.set({"select": ["TL1"]})) == []
        editor.set({"target": "soon"})
        await editor.until(lambda: bool(editor.told))
        assert "`torchlift.target` must be a release of torch such as `2.15`, not 'soon'" in editor.told[0]
        config.write_text("nonsense = 1\n")
        editor.saved(config)
        await editor.until(lambda: len(editor.told) == 2)
        assert "nonsense" in editor.told[1]
        config.unlink()
        assert codes(await editor.anew(path, lambda: editor.set({}))) == ["TL401"]

    edited(scene, folder)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_columns_are_counted_as_the_editor_wants_them(encoding: str, tmp_path: Path) -> None:
    folder = project(tmp_path, a="x = 1\n")

    async def scene(editor: Editor) -> None:
        assert editor.encoding == encoding
        # A form feed and a line separator end no line for an editor.
        text = 'import torch\n\x0c\ny = "\u2028"\ns = "\U0001f525"; torch.ger(a, b)\n'
        (found,) = await editor.open(folder / "a.py", text)
        assert found.range.start == types.Position(3, {"utf-8": 12, "utf-16": 10}[encoding])

    edited(scene, folder, encodings=[encoding])


def test_each_folder_of_a_workspace_has_its_own_configuration(tmp_path: Path) -> None:
    one, two = project(tmp_path / "one", a=GER), project(tmp_path / "two", a=GER)
    (two / "torchlift.toml").write_text('ignore = ["TL4"]\n')

    async def scene(editor: Editor) -> None:
        assert codes(await editor.open(one / "a.py")) == ["TL401"]
        assert await editor.open(two / "a.py") == []

    edited(scene, one, two)


def test_a_file_that_is_new_or_excluded_is_told_so(tmp_path: Path) -> None:
    folder = project(tmp_path, a="x = 1\n", build__b=GER)

    async def scene(editor: Editor) -> None:
        await editor.open(folder / "a.py")
        (folder / "new.py").write_text(GER)
        editor.saved(folder / "new.py")
        assert codes(await editor.open(folder / "new.py")) == ["TL401"]

    edited(scene, folder)
