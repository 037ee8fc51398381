"""Machines for the examples of the rules."""

from __future__ import annotations

from torchlift.wheels.machine import Device, Machine

H100 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
H100_LTS = Machine((Device("H100", (9, 0)),), driver="580.95.05")
V100 = Machine((Device("V100", (7, 0)),), driver="580.95.05")
MIXED = Machine((Device("GTX 1080", (6, 1)), Device("RTX 5090", (12, 0))), driver="580.95.05")
