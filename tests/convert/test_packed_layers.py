"""Archives whose layers `optimize_for_mobile` packed for XNNPACK, which no wheel of torch runs any more, are unpacked."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import types
import unittest.mock
import zipfile
from pathlib import Path
from typing import Any

import hostile_archives
import pytest
import torch
from click.testing import CliRunner
from torch.nn import functional as F

from torchlift.convert.inspection.cli import inspect
from torchlift.convert.road.converting import Converter, ConvertWish
from torchlift.convert.road.given_inputs import given_by_user
from torchlift.testing import FreshProcesses

_CLASSES = types.ModuleType("__torch__.torch.classes.xnnpack")
_LINES = (
    "a = ops.prepacked.conv2d_clamp_run(ops.prepacked.conv2d_clamp_run(x, CONSTANTS.c0), CONSTANTS.c1)",
    "b = ops.prepacked.conv2d_transpose_clamp_run(torch.mul(a, CONSTANTS.c2), CONSTANTS.c3)",
    "return ops.prepacked.linear_clamp_run(b, CONSTANTS.c4)",
)


def _packed(kind: str, *state: Any) -> Any:
    if not hasattr(_CLASSES, kind):
        own = {"__module__": _CLASSES.__name__, "__getstate__": lambda self: self.state}
        setattr(_CLASSES, kind, type(kind, (), own))
    made = getattr(_CLASSES, kind)()
    made.state = state
    return made


class _Pickler(pickle.Pickler):
    """Writes tensors as archives have them: their bytes apart."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=2)
        self.storages: dict[str, bytes] = {}

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, torch.UntypedStorage):
            key = f"{len(self.storages)}.storage"
            self.storages[key] = bytes(value)
            return ("storage", torch.FloatStorage, key, "cpu", len(self.storages[key]) // 4)
        return None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            sizes = (value.untyped_storage(), value.storage_offset(), tuple(value.shape), value.stride())
            return torch._utils._rebuild_tensor_v2, (*sizes, value.requires_grad, {})
        return NotImplemented


def _archive(path: Path, constants: tuple[Any, ...], lines: tuple[str, ...]) -> Path:
    file = io.BytesIO()
    writer = _Pickler(file)
    above = dict.fromkeys(("__torch__", "__torch__.torch", "__torch__.torch.classes"), types.ModuleType("above"))
    with unittest.mock.patch.dict(sys.modules, {**above, _CLASSES.__name__: _CLASSES}):
        writer.dump(constants)
    code = hostile_archives._CODE.format(body="x").replace("    return x", "\n".join(f"    {line}" for line in lines))
    with (
        zipfile.ZipFile(io.BytesIO(hostile_archives.torchscript(code=code))) as plain,
        zipfile.ZipFile(path, "w") as new,
    ):
        for name in plain.namelist():
            new.writestr(name, file.getvalue() if name.endswith("constants.pkl") else plain.read(name))
        for name, data in writer.storages.items():
            new.writestr(f"m/constants/{name}", data)
        new.writestr("m/bytecode.pkl", b"\x80\x02).")
    return path


@pytest.fixture
def weights() -> list[torch.Tensor]:
    torch.manual_seed(3)
    return [torch.randn(*shape) for shape in ((6, 3, 3, 3), (6,), (6, 3, 1, 1), (1,), (6, 2, 2, 2), (5, 7), (5,))]


def _model(path: Path, weights: list[torch.Tensor]) -> Path:
    first, bias, second, factor, transposed, last, last_bias = weights
    constants = (
        _packed("Conv2dOpContext", first, bias, [2, 2], [1, 1], [1, 1], 1, 0.0, 6),
        _packed("Conv2dOpContext", second, None, [1, 1], [0, 0], [1, 1], 2, None, None),
        factor,
        _packed("TransposeConv2dOpContext", transposed, None, [2, 2], [1, 1], [1, 1], [1, 1], 1, None, 1.5),
        _packed("LinearOpContext", last, last_bias, -0.5, float("inf")),
    )
    return _archive(path, constants, _LINES)


def _expected(x: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
    first, bias, second, factor, transposed, last, last_bias = weights
    x = F.conv2d(F.conv2d(x, first, bias, 2, 1).clamp(0.0, 6), second, None, groups=2) * factor
    x = F.conv_transpose2d(x, transposed, None, 2, 1, 1).clamp(max=1.5)
    return F.linear(x, last, last_bias).clamp(min=-0.5)


def test_packed_layers_become_the_layers_and_clamps_that_they_were_made_of(
    tmp_path: Path, processes: FreshProcesses, weights: list[torch.Tensor]
) -> None:
    path = _model(tmp_path / "phone.ptl", weights)
    (done,) = Converter(ConvertWish(given_by_user("float32[2,3,8,8]")), processes).convert(path, tmp_path / "phone.pt2")
    assert done.outcome == "converted", done.said
    assert "XNNPACK" in done.assumption
    x = torch.randn(2, 3, 8, 8)
    program = torch.export.load(tmp_path / "phone.pt2").module()
    torch.testing.assert_close(program(x), _expected(x, weights))


def test_layers_that_are_packed_where_they_are_used_become_ordinary_ones_too(
    tmp_path: Path, processes: FreshProcesses, weights: list[torch.Tensor]
) -> None:
    first, bias, *_, last, _ = weights
    lines = (
        "a = ops.prepacked.conv2d_clamp_prepack(CONSTANTS.c0, CONSTANTS.c1, [2, 2], [1, 1], [1, 1], 1, 0.)",
        "b = ops.prepacked.linear_clamp_prepack(CONSTANTS.c2, None, -0.5, 2)",
        "return ops.prepacked.linear_clamp_run(ops.prepacked.conv2d_clamp_run(x, a), b)",
    )
    path = _archive(tmp_path / "phone.ptl", (first, bias, last), lines)
    (done,) = Converter(ConvertWish(given_by_user("float32[2,3,8,14]")), processes).convert(
        path, tmp_path / "phone.pt2"
    )
    assert done.outcome == "converted", done.said
    x = torch.randn(2, 3, 8, 14)
    expected = F.linear(F.conv2d(x, first, bias, 2, 1).clamp(min=0.0), last).clamp(-0.5, 2)
    torch.testing.assert_close(torch.export.load(tmp_path / "phone.pt2").module()(x), expected)


def test_python_of_packed_layers_has_an_archive_beside_it_that_torch_can_load(
    tmp_path: Path, processes: FreshProcesses, weights: list[torch.Tensor]
) -> None:
    path = _model(tmp_path / "phone.ptl", weights)
    wish = ConvertWish(given_by_user("float32[2,3,8,8]"), emit_python=tmp_path / "out")
    (done,) = Converter(wish, processes).convert(path, tmp_path / "phone.pt2")
    assert done.outcome == "converted", done.said
    assert [Path(one).name for one in done.written] == [
        "phone.py",
        "test_phone.py",
        "phone.safetensors",
        "phone_unpacked.pt",
    ]
    command = [sys.executable, "-W", "ignore", "test_phone.py", "phone_unpacked.pt"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path / "out")
    assert ran.stdout.strip() == "same", ran.stderr
    x = torch.randn(2, 3, 8, 8)
    loaded = torch.jit.load(str(tmp_path / "out" / "phone_unpacked.pt"))
    torch.testing.assert_close(loaded(x), _expected(x, weights))


@pytest.mark.parametrize(
    ("constant", "line"),
    [
        (("Conv2dOpContext", 1, 2), "ops.prepacked.conv2d_clamp_run(x, CONSTANTS.c0)"),
        (("LinearOpContext", "weight", None, None, None), "ops.prepacked.linear_clamp_run(x, CONSTANTS.c0)"),
        (("LinearOpContext", torch.ones(2, 2), None, "torch.save(x)", None), "ops.prepacked.linear_clamp_run(x, CONSTANTS.c0)"),
        (("LinearOpContext", torch.ones(2, 2), None, None, None), "ops.prepacked.conv2d_clamp_run(x, CONSTANTS.c0)"),
        (("LinearOpContext", torch.ones(2, 2), None, None, None), "ops.prepacked.linear_clamp_run(x, x)"),
        (("LinearOpContext", torch.ones(2, 2), None, None, None), "ops.prepacked.linear_clamp_run(x, CONSTANTS.c7)"),
        (("LinearOpContext", torch.ones(2, 2), None, None, None), "ops.prepacked.unpack(CONSTANTS.c0)"),
        (("LinearOpContext", torch.ones(2, 2), None, None, None), "ops.prepacked.linear_clamp_run(x, ops.prepacked.linear_clamp_prepack(x, x))"),
        (("LinearOpContext", torch.ones(2, 2), None, None, None), "ops.prepacked.conv2d_clamp_prepack(x, x, [1, 1])"),
    ],
)  # fmt: skip
def test_what_is_packed_otherwise_is_refused(
    constant: Any, line: str, tmp_path: Path, processes: FreshProcesses
) -> None:
    path = _archive(tmp_path / "odd.ptl", (_packed(*constant),), (f"return {line}",))
    (done,) = Converter(ConvertWish(given_by_user("float32[2,2]")), processes).convert(path, tmp_path / "odd.pt2")
    assert done.outcome == "refused"
    assert "optimize_for_mobile" in done.said and done.said.endswith(".")


def test_inspect_says_that_nothing_loads_packed_layers_as_they_are(tmp_path: Path, weights: list[torch.Tensor]) -> None:
    said = CliRunner().invoke(inspect, [str(_model(tmp_path / "phone.ptl", weights))]).output
    assert "XNNPACK" in said and "unpacks them" in said
