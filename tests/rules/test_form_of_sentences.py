"""What no sentence of a rule says: claims that nothing which a rule checks can bear out, whatever the place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

import torchlift.rules
from torchlift.versions import TorchVersion

_NEVER = {
    r"\bnot (?:all )?visible\b": "it may be visible to a reader: say what was not read",
    r"\bcannot be written here\b": "somebody else may know how: say that the spelling is not certain",
    r"\bmakes it fast\b": "nobody measured it",
    r"\bnothing (?:else|but \w+) (?:uses|needs|reads|tries)\b": "not all users are seen",
    r"\bfor all that is known here\b": "it names a guess",
    r"\bthe project uses\b": "a repository may hold several programs: name the place",
}
_DECLARED = {"RULE", "EXAMPLES", "SOURCES", "_SOURCES"}


def test_no_rule_claims_what_it_cannot_know() -> None:
    (folder,) = torchlift.rules.__path__
    said = [
        (path, text) for path in sorted(Path(folder).rglob("*.py")) for text in _texts(ast.parse(path.read_bytes()))
    ]
    assert len(said) > 2000
    for never, why in _NEVER.items():
        assert [(path.name, text) for path, text in said if re.search(never, text)] == [], why


def _texts(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.Assign) and any(getattr(target, "id", "") in _DECLARED for target in child.targets):
            continue
        if isinstance(child, ast.Call) and getattr(child.func, "id", "") in {"Bad", "Ok"}:
            continue
        if isinstance(child, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in child.values)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        yield from _texts(child)


@pytest.mark.parametrize(
    ("source", "lowest", "told"),
    [
        ("import torch\n\nf = torch.jit.script(g)\n", "1.11", "`torch.compile` needs torch 2.0."),
        ("import torch\n\nf = torch.jit.script(g)\n", "2.0", ""),
        ("import torch\n\ntorch.jit.save(m, p)\n", "2.0", "`torch.export.export` needs torch 2.1."),
        ("import torch\n\ntorch.jit.save(m, p)\n", "2.1", ""),
    ],
)
def test_advice_says_which_torch_it_needs_that_the_project_may_lack(
    source: str, lowest: str, told: str, tmp_path: Path
) -> None:
    (found,) = all_findings(analyse_files(tmp_path, {"m.py": source}, min_torch=TorchVersion.parse(lowest)))
    assert ("needs torch" in (found.help or "")) == bool(told) and told in (found.help or "")
