"""`torch.library.Library` in tests."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL446",
    name="library-in-tests",
    summary="`torch.library.Library` made by a test",
    why="A rule of PyTorch's own tests, kept for projects that come from TorchFix.",
    fix="None: the `with` statement has to hold what uses the library.",
    targets=("torch.library.Library",),
    triggers=("Library & torch",),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR901",),
    sources=("https://github.com/pytorch/pytorch/pull/118318",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None:
        return
    # A library of the whole file is there for its operators; TorchFix reports every one, in any file.
    if not context.settings.torchfix and (not is_test_file(view.path) or view.function_of(call) is None):
        return
    message = "A `Library` that a test makes stays registered until it is collected, and other tests see its operators."
    advice = "Write `with torch.library._scoped_library(...) as lib:`, as PyTorch's own tests do; the name is private."
    yield Finding("TL446", view.path, view.span(call), message, Severity.INFO, advice)


EXAMPLES = (
    Bad(
        'from torch.library import Library\n\n\ndef test():\n    lib = Library("mine", "DEF")\n    return lib\n',
        why="in a test file",
        path="tests/test_ops.py",
    ),
    Ok('from torch.library import Library\n\nlib = Library("mine", "DEF")\n', "in the package itself"),
    Ok(
        'import torch\n\nlib = torch.library.Library("mine", "DEF")\nlib.define("f(Tensor x) -> Tensor")\n\n\ndef test():\n'
        "    assert torch.ops.mine.f\n",
        "operators for all tests of a file",
        "tests/test_ops.py",
    ),
    Ok("import torch\n\n\nclass Library:\n    pass\n\n\ndef test():\n    return Library()\n", "an own class"),
    Ok(
        'import torch\n\n\ndef test():\n    with torch.library._scoped_library("mine", "DEF") as lib:\n        return lib\n',
        "the scoped form",
    ),
)
