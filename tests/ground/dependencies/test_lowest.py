from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement

from torchlift.dependencies.grammar import read_pin, read_versions
from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.pin import Notation, Pin
from torchlift.versions import TorchVersion

NOTATIONS: tuple[Notation, ...] = ("pip", "poetry", "conda")


def torch_in(text: str, notation: Notation = "pip") -> Pin | None:
    pin = read_versions("torch", text, 0) if notation == "poetry" else read_pin(text, 0, notation)
    return pin if pin is not None and pin.is_torch else None


def lowest_in(text: str, notation: Notation = "pip") -> str | None:
    pin = torch_in(text, notation)
    assert pin is not None and not pin.unread
    lowest = lowest_release(pin)
    return str(lowest) if lowest else None


@pytest.mark.parametrize(
    ("text", "lowest"),
    [
        ("torch", None),
        ("Torch>=2.1", "2.1"),
        ("torch>=2.1", "2.1"),
        ("torch >= 2.1.2 , < 3", "2.1.2"),
        ("torch<3,>=2.0,!=2.0.1", "2.0"),
        ("torch>=1.13,>=2.1", "2.1"),
        ("torch~=2.1", "2.1"),
        ("torch~=2.1.3", "2.1.3"),
        ("torch==2.1.0+cu118", "2.1"),
        ("torch===2.1.0", "2.1"),
        ("torch==2.1.*", "2.1"),
        ("torch==2.*", "2.0"),
        ("torch>=1.10.*", "1.10"),
        ("torch>2.1", "2.1.1"),
        ("torch>2.1.2", "2.1.3"),
        ("torch>=2", "2.0"),
        ("torch==v2.1", "2.1"),
        ("torch>=2.1.0rc1", "2.1"),
        ("torch>=0.0.0a1", None),
        ("torch>=0", None),
        ("torch>=2.2.0.dev20231010+cu121", "2.2"),
        ("torch==1.13.1.post200", "1.13.1"),
        ("torch<3", None),
        ("torch<=2.4", None),
        ("torch!=2.1", None),
        ("torch (>=2.1)", "2.1"),
        ("torch[opt-einsum]>=2.2", "2.2"),
        ("torch [a,b] >= 2.2", "2.2"),
        ("torch>=2.1; python_version < '3.12'", "2.1"),
        ("torch ; sys_platform == 'darwin'", None),
        ("torch>=2.1,", "2.1"),
        ("torch @ https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl", "2.1"),
        ("torch@https://example.org/torch-2.3.1-cp310-none-macosx_11_0_arm64.whl#sha256=0 ; sys_platform", "2.3.1"),
        ("torch @ git+https://github.com/pytorch/pytorch@v2.1.0", None),
        ("https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl", "2.1"),
        ("./wheels/torch-2.0.1+cpu-cp311-cp311-linux_x86_64.whl", "2.0.1"),
        ("torch-2.0.1-cp311-cp311-win_amd64.whl", "2.0.1"),
    ],
)
def test_pip_requirements(text: str, lowest: str | None) -> None:
    assert lowest_in(text) == lowest
    assert lowest_in(f"  {text} ") == lowest


@pytest.mark.parametrize(
    "text",
    [
        "torchvision>=0.15",
        "torch-geometric>=2",
        "torch_scatter==2",
        "torch.fx>=1",
        "pytorch>=2.1",
        "pytorch-lightning>=2",
        "torch2>=1",
        "lightning",
        "",
        "numpy; extra == 'torch'",
        "https://example.org/torchvision-0.15.0-cp310-cp310-linux_x86_64.whl",
        "https://example.org/pytorch-2.1.0.tar.gz",
        "https://example.org/my_torch-2.1.0-py3-none-any.whl",
    ],
)
def test_other_packages_are_not_torch(text: str) -> None:
    assert torch_in(text) is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("torch=2.1", "=2.1"),
        ("torch=>2.1", "=>2.1"),
        ("torch 2.1", "2.1"),
        ("torch^2.1", "^2.1"),
        ("torch>=${TORCH}", ">=${TORCH}"),
        ("torch>={{ version }}", ">={{"),
        ("torch>=two", ">=two"),
    ],
)
def test_requirements_that_mean_nothing_are_told(text: str, part: str) -> None:
    pin = torch_in(text)
    assert pin is not None and (pin.unread, pin.alternatives, lowest_release(pin)) == (part, (), None)


@pytest.mark.parametrize(
    ("text", "lowest"),
    [
        ("^2.1", "2.1"),
        ("^2.1.2", "2.1.2"),
        ("~2.1", "2.1"),
        ("~=2.1", "2.1"),
        ("2.1.0", "2.1"),
        ("2.1.*", "2.1"),
        ("*", None),
        ("", None),
        (">=2.1,<3.0", "2.1"),
        (">=2.1 <3.0", "2.1"),
        (">= 2.1, < 3.0", "2.1"),
        ("^1.13 || ^2.0", "1.13"),
        ("<2.0 || >=2.2", "2.2"),
        ("==2.1.0+cpu", "2.1"),
    ],
)
def test_poetry_constraints(text: str, lowest: str | None) -> None:
    assert lowest_in(text, "poetry") == lowest


def test_poetry_constraints_that_mean_nothing_are_told() -> None:
    assert read_versions("torch", "newest", 0).unread == "newest"


@pytest.mark.parametrize(
    ("text", "lowest"),
    [
        ("pytorch", None),
        ("pytorch>=2.1", "2.1"),
        ("pytorch >=2.1,<2.3", "2.1"),
        ("pytorch >= 2.1, < 2.3", "2.1"),
        ("pytorch=2.1", "2.1"),
        ("pytorch==2.1.0", "2.1"),
        ("pytorch=2.1.0=py3.10_cuda11.8_cudnn8.7.0_0", "2.1"),
        ("pytorch==2.1.2=*cuda*", "2.1.2"),
        ("pytorch=2.1.*", "2.1"),
        ("pytorch=2.1*", "2.1"),
        ("pytorch 2.1.0 py3.10_cuda11.8_0", "2.1"),
        ("pytorch >=2.1 *cuda*", "2.1"),
        ("pytorch=2.1|2.2", "2.1"),
        ("pytorch<2", None),
        ("pytorch::pytorch=2.1", "2.1"),
        ("conda-forge::pytorch-gpu>=2.0.1", "2.0.1"),
        ("pytorch-cpu=1.13", "1.13"),
        ("pytorch[version='>=2.1,<3',build=*cuda*]", "2.1"),
        ('pytorch[build="cpu*", version="2.2"]', "2.2"),
        ("pytorch[version=2.2]", "2.2"),
    ],
)
def test_conda_specifications(text: str, lowest: str | None) -> None:
    assert lowest_in(text, "conda") == lowest


@pytest.mark.parametrize(
    "text", ["pytorch-cuda=11.8", "pytorch-lightning", "torch>=2", "pytorch_geometric=2", "pip", ""]
)
def test_other_conda_packages_are_not_pytorch(text: str) -> None:
    assert torch_in(text, "conda") is None


@given(
    st.from_regex(
        r"torch ?(\[[a-z]\])? ?((==|>=|~=|!=|<|>|<=) ?[0-9]\.[0-9]{1,2}(\.[0-9]|\.\*)?,? ?){0,3}(;.*)?", fullmatch=True
    )
)
def test_whatever_packaging_accepts_has_a_bound_its_specifiers_agree_with(text: str) -> None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return
    pin = torch_in(text)
    assert pin is not None
    lowest = lowest_release(pin)
    named = [s for s in requirement.specifier if TorchVersion.parse(s.version)[:2] != (0, 0)]
    lower = [s for s in named if s.operator in {"==", ">=", "~=", ">"}]
    assert (lowest is None) == (not lower)
    assert all(lowest is not None and TorchVersion.parse(specifier.version) <= lowest for specifier in lower)


@given(st.text(max_size=60))
def test_no_text_is_a_crash(text: str) -> None:
    for notation in NOTATIONS:
        for whole in (text, f"torch{text}", f"pytorch{text}"):
            pin = torch_in(whole, notation)
            assert pin is None or pin.span.end <= len(whole)
            assert pin is None or lowest_release(pin) is None or not pin.unread


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "2.1" + "a" * 50_000 + "!", ">=" * 20_000, "[" * 50_000, "/torch-1-" * 4000]
)
def test_long_nonsense_takes_no_time(text: str) -> None:
    begun = time.process_time()
    for notation in NOTATIONS:
        for whole in (text, f"torch>={text}", f"pytorch={text}", f"{text}.whl"):
            torch_in(whole, notation)
    assert time.process_time() - begun < 5
