"""New imports stand with their like, in the order that isort and ruff keep."""

from __future__ import annotations

import pytest

from torchlift.finding import AddImport
from torchlift.migrate.fix.rewrite.build import apply_edits, build_edits
from torchlift.source import SourceText
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


@pytest.mark.parametrize(("statement", "before", "after"), PLACED.values(), ids=PLACED)
def test_a_new_import_stands(statement: str, before: str, after: str) -> None:
    source = SourceText(before)
    view = ModuleView("m.py", source, source.parse())
    anchor = view.scopes.module.bindings["torch"][-1].statement
    assert anchor is not None
    edits = build_edits(view, [AddImport(statement, view.span(anchor))])
    assert apply_edits(before, edits) == after
