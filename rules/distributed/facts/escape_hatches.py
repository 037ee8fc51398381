"""Ways back to the old NCCL engine, as messages print them.

Source: `torch/distributed/distributed_c10d.py` and `entry_points.txt` of the 2.14.1 and 2.15.0 wheels, read 2026-11-21.
"""

from __future__ import annotations

ESCAPE = (
    "If the new engine misbehaves, `TORCH_DIST_USE_NCCL2=0` (2.15) or "
    'backend="nccl-legacy" (2.14+) bring the old one back.'
)
"""For anything that the new engine does in another way."""

LAZY = 'backend="nccl-lazy" (2.14+) gives a group its own communicator per peer for unbatched point-to-point.'
"""For groups that only do point-to-point."""
