"""Python that pages show: names that are gone or deprecated are told by their line, and the page stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlift.migrate.cli import migrate
from torchlift.view.page_code import page_code

_OLD = "scaler = torch.cuda.amp.GradScaler()\n"


def _told(root: Path, name: str, page: str) -> list[str]:
    path = root / name
    path.write_text(page)
    result = CliRunner().invoke(migrate, ["--allow-no-vcs", "--output-format", "concise", str(path)])
    assert path.read_text() == page
    return [
        line.partition(" `")[0] for line in result.stdout.splitlines() if line.startswith(str(path)) or name in line
    ]


@pytest.mark.parametrize(
    ("name", "page", "place"),
    [
        ("README.md", f"Use\n\n```python\n{_OLD}```\n", "4:10: TL428"),
        ("README.MD", f"- in a list\n\n  ~~~py title=x\n  !pip install y\n  {_OLD}  ~~~\n", "5:12: TL428"),
        ("page.mdx", f"```{{.python .numberLines}}\n{_OLD}```\n", "2:10: TL428"),
        ("a.md", f"```\n{_OLD}```\n", "2:10: TL428"),
        ("a.md", ">>> for i in range(2):\n...     torch.lu(x)\ntensor(1)\n", "2:9: TL415"),
        ("a.rst", f".. code-block:: python\n   :linenos:\n\n   {_OLD}\nText.\n", "4:13: TL428"),
        ("a.md", f"To avoid copies, write:\n\n```python\n{_OLD}```\n", "4:10: TL428"),
        ("a.md", f"Instead of `x`, now write\n\n```python\n{_OLD}```\n", "4:10: TL428"),
        ("a.rst", f"So::\n\n    {_OLD}", "3:14: TL428"),
        ("a.md", "```py\nfrom torch._six import inf\n```\n", "2:24: TL402"),
        ("a.md", "```py\nimport torch\n\ntorch.jit.script(f)\n```\n", "4:1: TL102"),
        ("a.sh", 'python -u -c "import torch; torch.lu(1)"\n', "1:29: TL415"),
        ("a.sh", "python3 - <<'X'\n    import torch\n    torch.lu(1)\nX\n", "3:5: TL415"),
        ("a.yml", "a:\n  - run: |\n      python -c '\n      import torch\n      torch.lu(1)\n      '\n", "5:7: TL415"),
        ("Dockerfile", "RUN python3.11 -c 'import torch; torch.load(\"a.pt\")'\n", "1:34: TL501"),
    ],
)
def test_an_old_name_in_a_block_of_a_page_is_told_by_its_line(tmp_path: Path, name: str, page: str, place: str) -> None:
    (said,) = _told(tmp_path, name, page)
    assert said.endswith(f"{name}:{place}")


@pytest.mark.parametrize(
    "page",
    [
        f"```diff\n- {_OLD}```\n",
        f"```json\n{_OLD}```\n",
        f"Before:\n\n```python\n{_OLD}```\n",
        f"Avoid this:\n\n```python\n{_OLD}```\n",
        f"Instead of\n\n```python\n{_OLD}```\n",
        f"```python\n# Deprecated\n{_OLD}```\n",
        f"<!--\n```python\n{_OLD}```\n-->\n",
        f"```python\nthis is no Python\n{_OLD}```\n",
        f"Write {_OLD}",
        "```python\nmodel = torch.load('x.pt')\n```\n",
    ],
    ids=[
        "diff",
        "another language",
        "text says old",
        "text advises against it",
        "text names another",
        "comment says old",
        "hidden",
        "no Python",
        "prose",
        "behaviour",
    ],
)
def test_of_what_is_no_code_or_is_shown_as_old_nothing_is_told(tmp_path: Path, page: str) -> None:
    assert _told(tmp_path, "a.md", page) == []


def test_of_a_page_about_a_migration_neither_names_nor_comments_are_told(tmp_path: Path) -> None:
    assert _told(tmp_path, "migration.md", f"```python\n{_OLD.rstrip()}  # torchlift: ignore[TL428] y\n```\n") == []


def test_the_python_of_a_page_is_as_long_as_the_page_line_by_line() -> None:
    page = "# T\r\n\r\n  ```python\r\n  x = 1\r\n  if x:\r\n      y = 2\r\n  ```\r\n\n>>> z = 3\n3\n"
    code = page_code(page)
    assert [len(line) for line in code.text.split("\n")] == [len(line) for line in page.split("\n")]
    assert [line.strip() for line in code.text.split("\n") if line.strip()] == ["x = 1", "if x:", "y = 2", "z = 3"]


@pytest.mark.parametrize("comment", ["torchlift: ignore[TL428] shown", "torchlift: file-ignore[TL428] shown"])
@pytest.mark.parametrize("indent", ["", "   "])
def test_a_comment_in_the_python_of_a_page_silences_what_stands_on_its_line(
    tmp_path: Path, comment: str, indent: str
) -> None:
    block = f"{indent}```python\n{indent}{_OLD.rstrip()}  # {comment}\n{indent}{_OLD}{indent}```\n"
    told = _told(tmp_path, "a.md", block)
    assert [said.rpartition("a.md:")[2] for said in told] == (
        [] if "file-" in comment else [f"3:{10 + len(indent)}: TL428"]
    )
