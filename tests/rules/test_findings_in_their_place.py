"""Findings that a reader found wrong where they stood: what is said in such a place now, and where nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.torchscript_intent import TorchScriptIntent

_RANK = """\
import argparse
import os

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
args = parser.parse_args()
{}
    os.environ["LOCAL_RANK"] = str(args.local_rank)
"""


@pytest.mark.parametrize(
    ("test", "reported"),
    [("if 'LOCAL_RANK' not in os.environ:", False), ("if not 'LOCAL_RANK' in os.environ:", False), ("if True:", True)],
)
def test_an_option_that_only_fills_the_variable_where_it_is_missing_is_right(
    test: str, reported: bool, tmp_path: Path
) -> None:
    found = all_findings(analyse_files(tmp_path, {"m.py": _RANK.format(test)}))
    assert ("TL205" in {item.code for item in found}) == reported


@pytest.mark.parametrize("name", ["CUDA_VER", "cuda_ver", "CUDA_VERSION", "CU_VERSION", "CUVER"])
def test_a_list_of_architectures_that_a_script_chooses_by_its_toolkit_is_left_alone(name: str, tmp_path: Path) -> None:
    script = 'pip install torch\ncase "$%s" in\n  101)\n    TORCH_CUDA_ARCH_LIST="3.5;7.0"\n    ;;\nesac\n'
    found = all_findings(analyse_files(tmp_path, {"a.sh": script % name, "b.sh": script % "KIND"}))
    assert [(item.path, item.code) for item in found if item.code == "TL305"] == [("b.sh", "TL305")]


def test_a_command_is_not_told_to_write_into_an_environment_file(tmp_path: Path) -> None:
    install = "conda install pytorch=1.7.1 -c pytorch\n"
    files = {"a.sh": install, "job.yml": f"jobs:\n  test:\n    steps:\n      - run: {install}"}
    files["environment.yml"] = "name: a\nchannels:\n  - pytorch\ndependencies:\n  - pytorch=1.7.1\n"
    words = {
        item.path: item.help or "" for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL308"
    }
    for path in "a.sh", "job.yml":
        assert "pip install" in words[path] and "- pip:" not in words[path]
    assert "- pip:" in words["environment.yml"]


_SCRIPTED = "import torch\n\n\ndef shape(x):\n    if torch.jit.is_scripting():\n        return x + 1\n    return x\n"
_TEST = "import torch\nfrom pkg.ops import shape\n\nf = torch.jit.script(shape)\nprint(f.graph)\n"


def test_of_two_copies_of_a_package_the_one_around_a_file_is_meant(tmp_path: Path) -> None:
    files = {f"{root}/pkg/ops.py": _SCRIPTED for root in ("one", "two")}
    files |= {f"{root}/pkg/__init__.py": "" for root in ("one", "two")}
    files["one/tests/test_ops.py"] = _TEST
    found = [item for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL117"]
    held = {item.path: item.fix is None and "one/tests/test_ops.py" in (item.help or "") for item in found}
    assert held == {"one/pkg/ops.py": True, "two/pkg/ops.py": False}


def test_detectron2_is_not_told_to_use_detectron2(tmp_path: Path) -> None:
    use = "from detectron2.export.torchscript_patch import patch_builtin_len\n\nwith patch_builtin_len():\n    pass\n"
    own = {"detectron2/__init__.py": "", "detectron2/export/__init__.py": "", "detectron2/export/flatten.py": use}
    own["detectron2/export/torchscript_patch.py"] = "def patch_builtin_len(): ...\n"
    assert "TL107" not in {item.code for item in all_findings(analyse_files(tmp_path, own))}
    assert "TL107" in {item.code for item in all_findings(analyse_files(tmp_path / "user", {"m.py": use}))}


def test_a_sentence_that_a_repeated_check_reads_is_no_file_that_the_check_writes(tmp_path: Path) -> None:
    source = """import unittest

import torch
from unknown import processor


class TestIt(unittest.TestCase):
    def test_it(self):
        plain = processor()
        scripted = torch.jit.script(plain)
        sample = "a sentence with words"
        self.assertEqual(plain(sample), [1])
        self.assertEqual(scripted(sample), [1])
        self.assertEqual(plain.decode([1]), sample)
"""
    (finding,) = all_findings(
        analyse_files(tmp_path, {"test_it.py": source}, torchscript=TorchScriptIntent(support="drop"))
    )
    assert "still looks there" not in str(finding)


_SHARES = {
    "listed names": ("__all__ = ['helper']\n", False),
    "names that are listed, this one too": ("__all__ = ['helper', 'flag']\n", True),
    "a list that grows": ("__all__ = ['helper']\n__all__ += more\n", True),
    "nothing listed": ("", True),
}


@pytest.mark.parametrize(("listed", "shared"), _SHARES.values(), ids=_SHARES)
def test_a_compiler_under_another_name_goes_where_a_star_import_takes_it(
    listed: str, shared: bool, tmp_path: Path
) -> None:
    files = {
        "p/__init__.py": "from .ops import *\n",
        "p/ops.py": f"import torch\n\n{listed}flag = torch.jit.script\n\n\n@flag\ndef helper(x):\n    return x\n",
        "p/m.py": "import torch\n\n\ndef f(x):\n    return torch.jit.annotate(int, x)\n",
        "t.py": "import torch\n\nfrom p import ops\n\nassert ops.flag == torch.jit.script\nassert torch.jit.script is not None\n",
    }
    found = [item for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL113"]
    assert ["hands a compiler on" in f"{item.help}" for item in found] == [shared]


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ('PYTHON_VERSION="3.8"', True),
        ("export PYTHON=3.9", True),
        ('PYTHON_VERSION="3.12"', False),
        ("# PYTHON_VERSION=3.8", False),
    ],
)
def test_a_torch_that_a_script_hands_on_stays_beside_a_python_without_it(line: str, held: bool, tmp_path: Path) -> None:
    script = f'{line}\nTORCH="2.3.1"\ndocker build --build-arg V=$PYTHON_VERSION .\npip install "torch==$TORCH"\n'
    (found,) = [item for item in all_findings(analyse_files(tmp_path, {"go.sh": script})) if item.code == "TL310"]
    assert (found.fix is None) == held


def test_wrapping_a_compiled_module_anew_hands_no_compiler_on(tmp_path: Path) -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\ndef again(m):\n    return torch.jit._recursive.wrap_cpp_module(m._c)\n\n\n"
        "class Net(nn.Module):\n    @torch.jit.export\n    def collect(self, x):\n        return x\n"
    )
    found = [item for item in all_findings(analyse_files(tmp_path, {"m.py": source})) if item.code == "TL112"]
    assert len(found) == 1 and "hands a compiler on" not in f"{found[0].help}"


@pytest.mark.parametrize("build", ["rocm6.1", "rocm5.4.2"])
def test_builds_for_amd_are_not_told_of_nvidias(build: str, tmp_path: Path) -> None:
    script = f"pip install torch==2.4.0 torchvision --index-url https://download.pytorch.org/whl/{build}\n"
    (found,) = [item for item in all_findings(analyse_files(tmp_path, {"a.sh": script})) if item.code == "TL309"]
    assert found.help is not None and "AMD" in found.help and "compute capability" not in found.help


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("make_grid(x, range=(-1, 1), normalize=True)", "make_grid(x, value_range=(-1, 1), normalize=True)"),
        ("make_grid(x, nrow=2)", None),
        ("make_grid(x, **named)", None),
    ],
)
def test_a_parameter_that_was_only_renamed_gets_its_new_name(call: str, written: str | None, tmp_path: Path) -> None:
    source = f"from torchvision.utils import make_grid\n\ny = {call}\n"
    (outcome,) = analyse_files(tmp_path, {"m.py": source}).outcomes or (None,)
    assert (outcome.new_text if outcome else None) == (source.replace(call, written) if written else None)


def test_a_program_for_phones_is_not_told_of_the_loader_for_servers(tmp_path: Path) -> None:
    load = "#include <torch/csrc/jit/mobile/import.h>\nauto m = torch::jit::{}(path);\n"
    files = {"phone.cpp": load.format("_load_for_mobile"), "server.cpp": load.format("load")}
    found = {item.path: f"{item.help}" for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL601"}
    assert "ExecuTorch" in found["phone.cpp"] and "IValue" not in found["phone.cpp"]
    assert "IValue" in found["server.cpp"]


def test_the_advice_for_a_few_names_of_thc_is_that_of_each(tmp_path: Path) -> None:
    source = "int f(int n) { THCudaCheck(cudaGetLastError()); return THCCeilDiv(n, 512); }\n"
    (found,) = [item for item in all_findings(analyse_files(tmp_path, {"a.cu": source})) if item.code == "TL602"]
    assert "at::ceil_div" in f"{found.help}" and "C10_CUDA_CHECK" in f"{found.help}"


@pytest.mark.parametrize(("other", "said"), [("self.run = module", "of one class here and holds a value in another"), ("pass", "it traces the method `run`")])  # fmt: skip
def test_a_name_that_is_a_method_and_holds_a_value_too_is_not_called_a_method(
    other: str, said: str, tmp_path: Path
) -> None:
    source = (
        "import torch\n\n\nclass A:\n    def run(self, x):\n        return x\n\n\nclass B:\n    def __init__(self, module):\n"
        f"        {other}\n\n    def export(self, x):\n        return torch.jit.trace(self.run, (x,))\n"
    )
    (found,) = [item for item in all_findings(analyse_files(tmp_path, {"m.py": source})) if item.code == "TL101"]
    assert said in f"{found.help}"


@pytest.mark.parametrize(("line", "said"), [('"""The ``\'weight_g\'`` of it."""', False), ("print(m.weight_g)", True)])
def test_a_docstring_works_on_no_weight_norm(line: str, said: bool, tmp_path: Path) -> None:
    source = f"import torch\n\n\ndef f(m):\n    {line}\n    return torch.nn.utils.weight_norm(m)\n"
    found = [item for item in all_findings(analyse_files(tmp_path, {"m.py": source})) if item.code == "TL421"]
    assert found and any("know the old form alone" in f"{item.help}" for item in found) is said


def test_a_wheel_of_torch_itself_is_not_compiled_for_a_torch(tmp_path: Path) -> None:
    line = "pip install https://example.org/jp/v50/torch-1.12.0a0+2c916ef.nv22.3-cp38-cp38-linux_aarch64.whl\n"
    (found,) = [item for item in all_findings(analyse_files(tmp_path, {"a.sh": line})) if item.code == "TL309"]
    assert found.message.startswith("This is a wheel of torch 1.12.0, older than torch 2.15")


def test_what_needs_a_newer_torch_is_a_sentence_of_its_own_behind_an_address(tmp_path: Path) -> None:
    found = all_findings(analyse_files(tmp_path, {"m.py": "import torch\n\nnet = torch.jit.load(path)\nnet(x)\n"}))
    assert all(".html `" not in f"{item.help}" for item in found)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("~=2.0", None),
        ("^2.1.2", None),
        ("~=2.0.1", "`torch-version` goes up to torch 2.0.1"),
        ("==2.0.1", "add ==2.15.0 to the list"),
    ],
)
def test_a_list_of_a_matrix_is_read_with_its_operators(value: str, told: str | None, tmp_path: Path) -> None:
    job = (
        f"jobs:\n  a:\n    strategy:\n      matrix:\n        torch-version: ['==1.13.1', '{value}']\n"
        '    steps:\n      - run: pip install "torch${{ matrix.torch-version }}"\n'
    )
    found = [
        item for item in all_findings(analyse_files(tmp_path, {".github/workflows/a.yml": job})) if item.code == "TL310"
    ]
    assert [told in f"{item.message} {item.help}" for item in found if told] == [True] * bool(told)
    assert bool(found) is bool(told)


def test_the_record_of_a_run_chooses_no_torch(tmp_path: Path) -> None:
    entry = "{event: job_created, timestamp: 1594708379.0, torch_version: 1.5.1}\n"
    assert all_findings(analyse_files(tmp_path, {"trace.yaml": entry})) == []
