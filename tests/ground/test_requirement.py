from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement

from torchlift.requirements.demand import Demand, NotUnderstood, conda_demand, pip_demand, poetry_demand
from torchlift.versions import TorchVersion


def release(text: str | None) -> Demand:
    return Demand(TorchVersion.parse(text) if text else None)


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
    assert pip_demand(text) == release(lowest)
    assert pip_demand(f"  {text} ") == release(lowest)


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
    assert pip_demand(text) is None


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
    with pytest.raises(NotUnderstood) as caught:
        pip_demand(text)
    assert str(caught.value) == part


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
    assert poetry_demand(text) == release(lowest)


def test_poetry_constraints_that_mean_nothing_are_told() -> None:
    with pytest.raises(NotUnderstood):
        poetry_demand("newest")


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
    assert conda_demand(text) == release(lowest)


@pytest.mark.parametrize(
    "text", ["pytorch-cuda=11.8", "pytorch-lightning", "torch>=2", "pytorch_geometric=2", "pip", ""]
)
def test_other_conda_packages_are_not_pytorch(text: str) -> None:
    assert conda_demand(text) is None


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
    demand = pip_demand(text)
    assert demand is not None
    lower = [s for s in requirement.specifier if s.operator in {"==", ">=", "~=", ">"}]
    assert (demand.lowest is None) == (not lower)
    if demand.lowest is not None:
        below = TorchVersion(demand.lowest.major, demand.lowest.minor, demand.lowest.patch)
        assert all(TorchVersion.parse(specifier.version) <= below for specifier in lower)


@given(st.text(max_size=60))
def test_no_text_is_a_crash(text: str) -> None:
    for read in (pip_demand, poetry_demand, conda_demand):
        for whole in (text, f"torch{text}", f"pytorch{text}"):
            with suppress(NotUnderstood):
                read(whole)


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "2.1" + "a" * 50_000 + "!", ">=" * 20_000, "[" * 50_000, "/torch-1-" * 4000]
)
def test_long_nonsense_takes_no_time(text: str) -> None:
    begun = time.process_time()
    for read in (pip_demand, poetry_demand, conda_demand):
        for whole in (text, f"torch>={text}", f"pytorch={text}", f"{text}.whl"):
            with suppress(NotUnderstood):
                read(whole)
    assert time.process_time() - begun < 5
