"""When TorchScript was deprecated, in the words every finding uses.

Source: warnings in the torch sources of 2.9.1 to 2.15.0, read and called release by release, 2026-11-21.
"""

from torchlift.versions import TorchVersion

DEPRECATED = TorchVersion(2, 10)
SINCE = "TorchScript is deprecated: `DeprecationWarning` since torch 2.10, `FutureWarning` since 2.14"
SOURCES = (
    "torch/jit/_script.py, _trace.py, _serialization.py of the wheels 2.9.1-2.15.0 (warnings), read 2026-11-21",
    "https://docs.pytorch.org/docs/stable/jit.html",
)
EXPORT_DOCS = "https://docs.pytorch.org/docs/stable/export.html"
