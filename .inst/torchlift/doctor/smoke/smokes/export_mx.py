"""A program that holds MX scales (float8_e8m0fnu) is saved and loaded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..bench import Bench
from ..gates import torch_from
from ..smoke import Measurement, Smoke

SMOKE = Smoke(
    id="export-mx",
    tier="full",
    title="torch.export saves and loads a program with MX scales (float8_e8m0fnu)",
    gate=torch_from(2, 12, "float8_e8m0fnu"),
    needs="torch 2.12",
    limits=(("scales", 0.0), ("result", 1e-6)),
    kinds=("cuda", "rocm", "xpu", "cpu"),
)


def run(bench: Bench) -> Measurement:
    torch = bench.torch
    bits = torch.arange(120, 136, dtype=torch.uint8)

    class Scaled(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", bits.view(torch.float8_e8m0fnu))

        def forward(self, x: Any) -> Any:
            return x * self.scale.to(torch.float32)

    x = bench.random(4, 16)
    export = bench.module("torch.export")
    with tempfile.TemporaryDirectory(prefix="torchlift-export-") as folder:
        path = str(Path(folder, "scaled.pt2"))
        export.save(export.export(Scaled().to(bench.name), (bench.put(x),)), path)
        loaded = export.load(path)
    scale = loaded.state_dict["scale"]
    if scale.dtype != torch.float8_e8m0fnu:
        raise ValueError(f"the scales came back as {scale.dtype}")
    bench.exact("scales", scale.cpu().view(torch.uint8), bits)
    got = loaded.module()(bench.put(x))
    bench.compare("result", got, x.double() * torch.exp2(bits.double() - 127), 1e-6)
    return bench.measurement()
