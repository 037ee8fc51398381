"""Tests and outputs of projects before and after they leave TorchScript: `python bench/leaving_outputs.py FOLDER ...`.

Each folder, one of those that `fetch_corpus.py DEST --listed bench/leaving.tsv` makes, is copied into a fresh git repository.
There its tests run, and a program that prints digests of what its models give; then again with the safe fixes of
`--torchscript drop`, and with all. Tests are compared one by one, digests byte by byte. The environment of `--python` has
what the projects import; their code is run, with your rights. Exit code 1 when something that stays gives another result.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus_run import MODES
from scratch import as_repository, snapshot
from suite_run import restore, run_suite
from suites import Suite
from torchlift_command import DEFAULT, migrate

HEAD = """
import hashlib, sys
import torch

sys.path.insert(0, ".")
torch.manual_seed(0)


def show(name, value):
    if isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            show(f"{name}[{index}]", item)
    else:
        print(name, value.dtype, tuple(value.shape), hashlib.sha256(value.detach().contiguous().numpy().tobytes()).hexdigest())


"""
PIQA = """
import piqa

x, y = torch.rand(4, 3, 192, 192, requires_grad=True), torch.rand(4, 3, 192, 192)
for name in ("TV", "PSNR", "SSIM", "MS_SSIM", "GMSD", "MS_GMSD", "MDSI", "HaarPSI", "VSI", "FSIM"):
    metric = getattr(piqa, name)()
    value = metric(x) if name == "TV" else metric(x, y)
    show(name, value)
    show(f"{name}.grad", torch.autograd.grad(value, x)[0])
"""
RBMS = """
import importlib, inspect

for kind in ("bernoulli_bernoulli", "potts_bernoulli"):
    module = importlib.import_module(f"rbms.{kind}.implement")
    visible = torch.bernoulli(torch.rand(8, 6))
    tensors = dict(v=visible, h=torch.bernoulli(torch.rand(8, 5)), weight_matrix=torch.randn(6, 5), vbias=torch.randn(6), hbias=torch.randn(5))
    if kind.startswith("potts"):
        tensors |= dict(v=torch.randint(0, 3, (8, 6)), weight_matrix=torch.randn(6, 3, 5), vbias=torch.randn(6, 3))
    for name, function in sorted(vars(module).items()):
        given = {"_sample_hiddens": "v weight_matrix hbias", "_sample_visibles": "h weight_matrix vbias",
                 "_compute_energy": "v h vbias hbias weight_matrix", "_compute_energy_visibles": "v vbias hbias weight_matrix",
                 "_compute_energy_hiddens": "h vbias hbias weight_matrix"}.get(name)
        if given is not None:
            torch.manual_seed(1)
            show(f"{kind}.{name}", function(**{part: tensors[part] for part in given.split()}))
"""
RSL_RL = """
from tensordict import TensorDict
from rsl_rl.models import MLPModel, RNNModel

obs = TensorDict({"policy": torch.randn(2, 8)}, batch_size=[2])
for name, made in (
    ("mlp", lambda: MLPModel(obs, {"actor": ["policy"]}, "actor", 4, hidden_dims=[32, 32])),
    ("gru", lambda: RNNModel(obs, {"actor": ["policy"]}, "actor", 4, hidden_dims=[32], rnn_type="gru", rnn_hidden_dim=16, rnn_num_layers=1)),
):
    torch.manual_seed(2)
    model = made().eval()
    show(name, model(obs))
    show(f"{name}.exported", model.as_jit()(obs["policy"][:1]))
"""
TORCHLAYERS = """
import torchlayers

layers = torch.nn.Sequential(torchlayers.Conv(8), torchlayers.BatchNorm(), torch.nn.ReLU(), torchlayers.GlobalAvgPool(), torchlayers.Linear(4))
built = torchlayers.build(layers, torch.rand(2, 3, 16, 16)).eval()
show("layers", built(torch.rand(2, 3, 16, 16)))
"""
JULIUS = """
import julius

wave = torch.randn(2, 1, 4000, requires_grad=True)
for name, made in (
    ("resample", julius.ResampleFrac(3, 4)), ("lowpass", julius.LowPassFilter(0.2)), ("highpass", julius.HighPassFilter(0.1)),
    ("bandpass", julius.BandPassFilter(0.1, 0.3)), ("bands", julius.SplitBands(8000, 4)), ("fft", julius.FFTConv1d(1, 3, 64)),
):
    value = made(wave)
    show(name, value)
    show(f"{name}.grad", torch.autograd.grad(value.sum(), wave)[0])
"""
GEOOPT = """
from geoopt.manifolds.lorentz import math as lorentz
from geoopt.manifolds.stereographic import math as ball

point = (0.2 * torch.rand(6, 4, dtype=torch.float64)).requires_grad_()
other, step = 0.2 * torch.rand(6, 4, dtype=torch.float64), 0.1 * torch.rand(6, 4, dtype=torch.float64)
for curvature in (-1.0, 0.0, 1.0):
    k = torch.tensor(curvature, dtype=torch.float64)
    for name, given in (
        ("mobius_add", (point, other)), ("dist", (point, other)), ("dist0", (point,)), ("expmap", (point, step)), ("expmap0", (point,)),
        ("logmap", (point, other)), ("logmap0", (point,)), ("project", (point,)), ("parallel_transport", (point, other, step)),
    ):
        value = getattr(ball, name)(*given, k=k)
        show(f"{name}[{curvature}]", value)
        show(f"{name}[{curvature}].grad", torch.autograd.grad(value.sum(), point)[0])
k = torch.tensor(1.0, dtype=torch.float64)
on, there = lorentz.project(point, k=k), lorentz.project(other, k=k)
for name, given in (("dist", (on, there)), ("dist0", (on,)), ("logmap", (on, there)), ("expmap", (on, lorentz.project_u(on, step, k=k)))):
    value = getattr(lorentz, name)(*given, k=k)
    show(f"lorentz.{name}", value)
    show(f"lorentz.{name}.grad", torch.autograd.grad(value.sum(), point, retain_graph=True)[0])
"""
FILTERBANKS = """
import asteroid_filterbanks as fb

wave = torch.randn(2, 1, 4000, requires_grad=True)
for name in ("free", "analytic_free", "param_sinc", "stft", "torch_stft", "mpgtf"):
    torch.manual_seed(3)
    encoder, _ = fb.make_enc_dec(name, n_filters=256, kernel_size=255 if name == "param_sinc" else 256, stride=128)
    value = encoder(wave)
    show(name, value)
    show(f"{name}.grad", torch.autograd.grad(value.sum(), wave)[0])
    for transform in ("mag", "angle", "magphase"):
        show(f"{name}.{transform}", getattr(fb.transforms, transform)(value, dim=1))
"""
# The networks of torchvision would be downloaded; nothing that is scripted needs them.
STAND_INS = {"torchvision/__init__.py": "", "torchvision/models.py": ""}
OLD_LOAD = {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
PROGRAMS = {
    "asteroid-filterbanks": (FILTERBANKS, ("tests",)),
    "geoopt": (
        GEOOPT,
        ("tests/test_lorentz_math.py", "-W", "default::DeprecationWarning", "-W", "default::FutureWarning"),
    ),
    "julius": (JULIUS, ("tests",)),
    "piqa": (PIQA, ("piqa", "--doctest-modules")),
    "rbms": (RBMS, ("tests",)),
    "rsl_rl": (RSL_RL, ("tests",)),
    "torchlayers": (TORCHLAYERS, ("tests",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Tests and outputs before and after.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help=f"sources of {', '.join(PROGRAMS)}")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter that runs the projects")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    options = parser.parse_args()
    changed = False
    with tempfile.TemporaryDirectory(prefix="torchlift-outputs-") as scratch:
        for folder in options.folders:
            changed |= compare(options.torchlift, folder.resolve(), Path(scratch) / folder.name, options.python)
    raise SystemExit(changed)


def compare(program: str, folder: Path, scratch: Path, python: Path) -> bool:
    """Print what changed in one project; whether something did that stays."""
    source, tests = next((PROGRAMS[name] for name in PROGRAMS if folder.name.startswith(f"{name}-")), (None, ()))
    if source is None:
        raise SystemExit(f"{folder}: no program for it. There are some for {', '.join(PROGRAMS)}.")
    scratch.mkdir()
    repository = as_repository(folder, scratch / "sources")
    suite = Suite(
        folder.name, "", (), tests, environment=OLD_LOAD, stand_ins=STAND_INS if folder.name.startswith("piqa") else {}
    )
    start = snapshot(repository)
    before = run_suite(suite, repository, python, scratch).tests
    outputs = run(source, repository, python, scratch)
    passed = sum(outcome == "passed" for outcome in before.values())
    print(f"{folder.name}: {len(before)} tests, {passed} passed; {len(outputs)} outputs")
    changed = False
    for mode, flags in MODES.items():
        restore(repository, start)
        migrate(program, repository, "--select", "TL1", "--torchscript", "drop", *flags, "--output-format", "json")
        after, now = run_suite(suite, repository, python, scratch).tests, run(source, repository, python, scratch)
        gone = sorted(before.keys() - after.keys())
        others = sorted(test for test in after if after[test] != before.get(test))
        differ = sorted(name for name in outputs if now.get(name) != outputs[name])
        print(
            f"  {mode}: {len(after)} tests, {len(gone)} gone, {len(others)} other outcomes; {len(differ)} outputs differ"
        )
        for line in (*(f"gone: {test}" for test in gone), *(f"now {after[test]}: {test}" for test in others), *differ):
            print(f"    {line}")
        changed |= bool(others or differ)
    return changed


def run(source: str, repository: Path, python: Path, scratch: Path) -> dict[str, str]:
    """Digests that the program prints, by name.

    Raises:
        SystemExit: it failed.
    """
    variables = {**os.environ, **OLD_LOAD, "PYTHONPATH": str(scratch / "beside"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-c", HEAD + source]
    done = subprocess.run(command, cwd=repository, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{repository.parent.name}: the program failed.\n{done.stderr[-2000:]}")
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if line)


if __name__ == "__main__":
    main()
