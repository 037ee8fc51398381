"""Scales of blocks of numbers, in the layout that tensor cores read."""

from __future__ import annotations

from typing import Any


def swizzled(scales: Any) -> Any:
    """A matrix of scales as cuBLAS takes it: tiles of 128 rows by 4 columns, in each the rows 32 apart side by side.

    Sizes must be multiples of 128 and 4. The layout is the one in cuBLAS's documentation, "1D block scaling factors
    layout" (docs.nvidia.com/cuda/cublas, 2026-11).
    """
    rows, columns = scales.shape
    tiles = scales.reshape(rows // 128, 4, 32, columns // 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(-1).contiguous()
