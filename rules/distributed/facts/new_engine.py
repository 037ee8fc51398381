"""The release in which `"nccl"` became the engine with one communicator.

Source: https://github.com/pytorch/pytorch/pull/192281, read 2026-11-21.
"""

from __future__ import annotations

from torchlift.versions import TorchVersion

NEW_ENGINE = TorchVersion(2, 15)
