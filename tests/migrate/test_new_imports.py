"""New imports stand with their like, in the order that isort and ruff keep."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlift.finding import AddImport, EditImport
from torchlift.migrate.document import PythonDocument
from torchlift.migrate.fix.rewrite.build import apply_edits, build_edits
from torchlift.migrate.fix.rewrite.imports import edit_import
from torchlift.project import Project
from torchlift.source import SourceText, Span
from torchlift.view import ModuleView

# (statement, what stands there, what comes out); the anchor is the import of torch.
PLACED = {
    "grouped with its like": (
        "from typing import Final", "from typing import List\n\nimport torch\n", "from typing import Final, List\n\nimport torch\n",
    ),
    "as the last of unsorted names": (
        "from typing import Final", "from typing import List, Any\nimport torch\n", "from typing import List, Any, Final\nimport torch\n",
    ),
    "between brackets": (
        "from typing import Final", "from typing import (\n    Any,\n    List,\n)\n\nimport torch\n",
        "from typing import (\n    Any,\n    Final,\n    List,\n)\n\nimport torch\n",
    ),
    "at the end of brackets": (
        "from typing import overload", "from typing import (\n    Any,\n    List\n)\nimport torch\n",
        "from typing import (\n    Any,\n    List,\n    overload\n)\nimport torch\n",
    ),
    "with an alias": (
        "from typing import Final", "from typing import Any as A\nimport torch\n", "from typing import Any as A, Final\nimport torch\n",
    ),
    "one name a line, as force-single-line has it": (
        "from typing import Final", "from typing import Any\nfrom typing import List\n\nimport torch\n",
        "from typing import Any\nfrom typing import List\nfrom typing import Final\n\nimport torch\n",
    ),
    "behind plain imports": (
        "from typing import Final", "import os\nimport sys\n\nimport numpy\nimport torch\n",
        "import os\nimport sys\nfrom typing import Final\n\nimport numpy\nimport torch\n",
    ),
    "in order of the modules": (
        "from typing import Final", "import os\nfrom unittest import mock\n\nimport torch\n",
        "import os\nfrom typing import Final\nfrom unittest import mock\n\nimport torch\n",
    ),
    "sorted within sections": (
        "from contextlib import nullcontext", "from abc import ABC\nimport os\n\nimport torch\n",
        "from abc import ABC\nfrom contextlib import nullcontext\nimport os\n\nimport torch\n",
    ),
    "in a section of its own": (
        "from typing import Final", '"""Words."""\n\nfrom __future__ import annotations\n\nimport torch\n',
        '"""Words."""\n\nfrom __future__ import annotations\n\nfrom typing import Final\n\nimport torch\n',
    ),
    "in lines that end otherwise": (
        "from typing import Final", "import os\r\n\r\nimport torch\r\n", "import os\r\nfrom typing import Final\r\n\r\nimport torch\r\n",
    ),
    "in an earlier block": (
        "from typing import Final", "from typing import Any\n\nX = 1\nimport torch\n", "from typing import Any, Final\n\nX = 1\nimport torch\n",
    ),
    "not from a star": (
        "from typing import Final", "from typing import *\nimport torch\n", "from typing import *\nimport torch\nfrom typing import Final\n",
    ),
    "under a condition as before": (
        "from typing import Final", "if x:\n    import torch\n", "if x:\n    import torch\n    from typing import Final\n",
    ),
    "behind code on the same line as before": (
        "from typing import Final", "import os; import torch\nimport torch\n", "import os; import torch\nimport torch\nfrom typing import Final\n",
    ),
    "another package's stands behind": ("from mylib import a", "import os\n\nimport torch\n", "import os\n\nimport torch\nfrom mylib import a\n"),
}  # fmt: skip


# (what stands there, what comes out when `from torch.jit import Final` is one of `typing`'s)
MOVED = {
    "behind torch": ("import torch\nfrom torch.jit import Final\n", "from typing import Final\n\nimport torch\n"),
    "with other imports of the standard library": (
        "import os\nfrom abc import ABC\n\nimport torch\nfrom torch.jit import Final\n\nfrom . import a\n",
        "import os\nfrom abc import ABC\nfrom typing import Final\n\nimport torch\n\nfrom . import a\n",
    ),
    "with its like": (
        "from typing import Any, List\n\nfrom torch.jit import Final\n\nx = 1\n", "from typing import Any, Final, List\n\nx = 1\n",
    ),
    "under another name": (
        "import os\n\nimport torch\nfrom torch.jit import Final as F\n", "import os\nfrom typing import Final as F\n\nimport torch\n",
    ),
    "with a comment it stays": (
        "import torch\nfrom torch.jit import Final  # for scripts\n", "import torch\nfrom typing import Final  # for scripts\n",
    ),
    "below a comment it stays": ("import torch\n# why\nfrom torch.jit import Final\n", "import torch\n# why\nfrom typing import Final\n"),
    "in a function it stays": (
        "def f():\n    import torch\n    from torch.jit import Final\n", "def f():\n    import torch\n    from typing import Final\n",
    ),
    "alone it stays": ("from torch.jit import Final\n\nx = 1\n", "from typing import Final\n\nx = 1\n"),
    "in lines that end otherwise": (
        "import os\r\n\r\nimport torch\r\nfrom torch.jit import Final\r\n", "import os\r\nfrom typing import Final\r\n\r\nimport torch\r\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), MOVED.values(), ids=MOVED)
def test_an_import_from_another_module_stands_with_its_like(before: str, after: str) -> None:
    source = SourceText(before)
    view = ModuleView("m.py", source, source.parse())
    [alias] = [node for node in ast.walk(view.tree) if isinstance(node, ast.alias) and node.name == "Final"]
    statement = view.parent(alias)
    bound = alias.asname or "Final"
    change = EditImport(view.span(statement), "Final", bound, "typing", "Final", bound)
    assert apply_edits(before, build_edits(view, [change])) == after


# The names before, the new one in the place of `old`, and after.
NAMES = {
    "classes before functions": ("all_reduce, old", "ReduceOp", "ReduceOp, all_reduce"),
    "by letters": ("alpha, Beta, old", "Gamma", "alpha, Beta, Gamma"),
    "in no order": ("old, beta, alpha", "zeta", "zeta, beta, alpha"),
    "with another name": ("ger, old as o, zeros", "abs", "abs as o, ger, zeros"),
    "with comments": ("(\n    alpha,  # one\n    old,\n)", "aaa", "(\n    alpha,  # one\n    aaa,\n)"),
    "one a line": ("(\n    alpha,\n    old,\n)", "aaa", "(\n    aaa,\n    alpha,\n)"),
}


@pytest.mark.parametrize(("before", "new", "after"), NAMES.values(), ids=NAMES)
def test_a_new_name_stands_where_the_order_of_the_names_wants_it(before: str, new: str, after: str) -> None:
    bound = "o" if " as " in before else "old"
    change = EditImport(Span(0, 0), "old", bound, "torch", new, "o" if bound == "o" else new)
    assert edit_import(f"from torch import {before}", [change]).text == f"from torch import {after}"


@pytest.mark.parametrize(
    ("settings", "after"),
    [
        ("[tool.isort]\nforce_sort_within_sections = true\n", "from contextlib import suppress\nimport os\n"),
        ("[tool.ruff.lint.isort]\nforce-sort-within-sections = true\n", "from contextlib import suppress\nimport os\n"),
        ("[tool.isort]\nforce_sort_within_sections = false\n", "import os\nfrom contextlib import suppress\n"),
        ("", "import os\nfrom contextlib import suppress\n"),
    ],
)
def test_the_projects_configuration_says_how_imports_are_sorted(settings: str, after: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(settings)
    before = "import os\n\nimport torch\n"
    document = PythonDocument(Project(tmp_path, ("m.py",), {"m.py": SourceText(before)}), "m.py")
    anchor = document.view.span(document.view.tree.body[-1])
    edits = document.edits([AddImport("from contextlib import suppress", anchor)])
    assert apply_edits(before, edits) == f"{after}\nimport torch\n"


@pytest.mark.parametrize(("statement", "before", "after"), PLACED.values(), ids=PLACED)
def test_a_new_import_stands(statement: str, before: str, after: str) -> None:
    source = SourceText(before)
    view = ModuleView("m.py", source, source.parse())
    anchor = view.scopes.module.bindings["torch"][-1].statement
    assert anchor is not None
    edits = build_edits(view, [AddImport(statement, view.span(anchor))])
    assert apply_edits(before, edits) == after
