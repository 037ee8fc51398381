"""What compilers and traces reach is followed through some hundred files, and told to be unknown behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Safety

HELPER = "import torch\n\n\ndef helper(x):\n    if not torch.jit.is_scripting():\n        print(x)\n    return x\n"


@pytest.mark.parametrize("root", ["torch.jit.script(first)", "torch.jit.trace(first, torch.ones(2))"])
def test_what_was_not_followed_to_its_end_is_not_known_to_be_free(root: str, tmp_path: Path) -> None:
    """What stands behind the last file that is followed may be compiled, and the place that may do it is named."""
    last = 300
    files = {
        f"pkg/m{number}.py": f"from pkg.m{number + 1} import helper as g\n\n\ndef helper(x):\n    f = g\n    return f(x)\n"
        for number in range(last)
    }
    files |= {
        "pkg/__init__.py": "",
        f"pkg/m{last}.py": HELPER.replace("is_scripting", "is_tracing" if "trace" in root else "is_scripting"),
    }
    main = f"import torch\nfrom pkg.m0 import helper as first\n\n{root}\n"
    codes = frozenset({"TL117", "TL118"})
    near = analyse_files(tmp_path / "near", {**files, "main.py": main.replace("m0", "m299")}, codes=codes)
    far = analyse_files(tmp_path / "far", {**files, "main.py": main}, codes=codes)
    for result in (near, far):
        (found,) = (one for one in all_findings(result) if one.path == f"pkg/m{last}.py")
        assert found.safety is Safety.MANUAL
        assert "main.py:4" in (found.help or ""), found.help
    (free,) = (
        one
        for one in all_findings(
            analyse_files(tmp_path / "free", {**files, "main.py": main.replace(root, "first(1)")}, codes=codes)
        )
        if one.path == f"pkg/m{last}.py"
    )
    assert free.safety is not Safety.MANUAL
