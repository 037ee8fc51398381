"""Properties that hold for any valid module."""

from __future__ import annotations

import tempfile
from pathlib import Path

from example_project import all_findings, analyse_files, new_bytes
from exhaustive import tried
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# hypothesmith throws away what does not compile, at times most of what it makes.
SLOW = settings(
    max_examples=tried(15, 40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
PIECES = (
    "import torch",
    "import torch as th",
    "from torch import ger",
    "from torch import ger as g, ones",
    "from torch.jit import Final, script",
    "try:\n    import torch\nexcept ImportError:\n    torch = None",
    "x = torch.ger(a, b)",
    "y = th.ger(torch.ger(a, b), b)  # both",
    "z = ger(a, b)",
    "w: torch.jit.Final[int] = 3",
    "def f(torch):\n    return torch.ger(1, 2)",
    "def h():\n    import torch\n    return torch.ger(1, 2)",
    "class C(torch.nn.Module):\n    n: Final[int] = 1\n\n    @torch.jit.unused\n    def m(self):\n        pass",
    "if True: torch.jit.trace(m, torch.rand(2, 3)).save('m.pt')",
    "t = torch.jit.trace(torch.nn.ReLU(), torch.rand(2, 3)); t.eval()",
    "t = torch.jit.load('m.pt').eval()",
    "del torch",
    "outer = 3",
    "# torchlift: ignore[TL401] because",
    "for torch in range(3): pass",
    "lambda ger: ger(1, 2)",
    "[torch.ger(i, i) for i in range(3)]",
    "match x:\n    case torch.ger: pass",
    "global_torch = torch",
    "torch.distributed.init_process_group('nccl')",
    '"""torch.ger"""',
)


def any_module() -> st.SearchStrategy[str]:
    import hypothesmith  # builds the tables of its parser, which takes a second, and only one worker needs them

    return hypothesmith.from_grammar() | hypothesmith.from_node()


@given(source=st.deferred(any_module))
@SLOW
def test_any_valid_module_without_findings_is_left_alone(source: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = analyse_files(Path(folder), {"a.py": "import torch.jit\n" + source})
    assert result.failures == ()
    if not all_findings(result):
        assert new_bytes(result, "a.py") is None


@given(
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=8),
    newline=st.sampled_from(["\n", "\r\n"]),
    unsafe=st.booleans(),
)
@settings(max_examples=tried(60, 150), suppress_health_check=[HealthCheck.too_slow])
def test_any_mixture_of_patterns_is_rewritten_to_valid_code_once_and_for_all(
    pieces: list[str], newline: str, unsafe: bool
) -> None:
    code = "\n".join(pieces) + "\n"
    data = code.replace("\n", newline).encode()
    with tempfile.TemporaryDirectory() as folder:
        result = analyse_files(Path(folder), {"a.py": data}, unsafe=unsafe)
        assert [failure.detail or failure.reason for failure in result.failures] == []
        new = new_bytes(result, "a.py")
        if new is None:
            return
        compile(new, "a.py", "exec")
        assert new.count(b"\n") == new.count(newline.encode())
        again = analyse_files(Path(folder), {"a.py": new}, unsafe=unsafe)
        assert again.failures == ()
        assert new_bytes(again, "a.py") is None
