"""Sentences of findings that say no more than was looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion

_SCRIPT = "import torch\n\n\ndef f(net, x, jit):\n{}    return net(x)\n"
_INIT = "import torch\nimport torch.distributed as dist\n\n\n"

_SAYS = {
    "a filter of the tracer's warnings where only scripts are made": (
        "TL137", "import torch\n\nfor w in (torch.jit.TracerWarning,):\n    ignore(w)\n\nf = torch.jit.script(g)\n", "No call of either was seen", "traces or scripts",
    ),
    "a script that nothing reads": (
        "TL102", _SCRIPT.format("    tried = torch.jit.script(net)\n"), "Nothing is seen to read the result", "only called",
    ),
    "a script that the other branch alone names": (
        "TL102", _SCRIPT.format("    if jit == 1:\n        s = torch.jit.script(net)\n    else:\n        s = net\n        net = s\n"), "Nothing is seen to read", "only called",
    ),
    "a script that the next turn reads": (
        "TL102", _SCRIPT.format("    for _ in range(2):\n        if jit:\n            s = torch.jit.script(net)\n        else:\n            s(x)\n"), "the value is only called", "Nothing is seen",
    ),
    "a handler for other errors than the compiler's": (
        "TL102", _SCRIPT.format("    try:\n        net = torch.jit.script(net)\n    except ValueError as e:\n        raise TypeError from e\n"), "For speed", "cannot be scripted",
    ),
    "a handler for the compiler's errors": (
        "TL102", _SCRIPT.format("    try:\n        net = torch.jit.script(net)\n    except RuntimeError as e:\n        raise TypeError from e\n"),
        "raises where `net` cannot be scripted", "handler below",
    ),
    "a condition that is no option": (
        "TL102", _SCRIPT.format("    if not isinstance(net, torch.jit.ScriptModule):\n        net = torch.jit.script(net)\n"), "Only where `not isinstance", "option",
    ),
    "a build for a machine without a GPU": ("TL301", "torch_page", "Without a GPU it is the one for cpu", "depends on the GPUs"),
    "a name of the main program that a spawned process lacks": (
        "TL201", f'{_INIT}def setup(rank):\n    dist.init_process_group("nccl", rank=rank)\n\n\ndef work(rank, ids):\n    torch.cuda.set_device(ids[rank])\n\n\n'
        'if __name__ == "__main__":\n    ids = [3, 4]\n', "device_id=", "ids[rank]",
    ),
    "a dtype that is given": (
        "TL423", "import torch\n\n\n@torch.cuda.amp.autocast(dtype=torch.float32)\ndef f(x):\n    return x @ x\n", '`torch.amp.autocast("cuda", dtype=torch.float32)`', "float16",
    ),
    "an argument that a traced function stores into": (
        "TL101", "import torch\nfrom p import Tensor\n\n\ndef f(x: Tensor):\n    x[0] = 1\n    return x\n\n\ng = torch.jit.trace(f, (torch.ones(3),))\n",
        "what export makes of that was not followed", "such state",
    ),
    "a type under another name": (
        "TL101", "import torch\nfrom p import Tensor\n\n\ndef f(x: Tensor):\n    return x + 1\n\n\ng = torch.jit.trace(f, (torch.ones(3),))\n", "is not seen to be", "is not annotated",
    ),
    "a loop that scripting drops": (
        "TL111", "import torch\n\n\n@torch.jit.script_if_tracing\ndef f(xs):\n    if torch.jit.is_scripting():\n        n = 0\n    else:\n        n = sum(1 for x in xs)\n"
        "    for x in xs:\n        n += 1\n    return n\n\n\ndef g(m, x):\n    return torch.jit.trace(m, x), f([x])\n", "the loop on line 10", "line 9",
    ),
    "what a program was captured without": (
        "TL102", "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None):\n        return x\n\n\n"
        "def save(path):\n    torch.jit.script(Net()).save(path)\n", "has no use for it", "ignores it later",
    ),
    "a package that only keeps its modules scriptable": (
        "TL112", "import torch\nimport fairseq\n\n\nclass Net(fairseq.Model):\n    @torch.jit.export\n    def f(self, x):\n        return x if torch.jit.is_scripting() else x\n",
        "keeps its modules scriptable", "can script",
    ),
    "a word that only a text says": (
        "TL101", '"""Without autocast."""\nimport torch\n\n\nclass N(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x  # inference_mode\n\n\nn = N()\n'
        "m = torch.jit.trace(n, (torch.ones(2, 3),))\n", "Capture with", "uses `",
    ),
    "a name that only some release had": (
        "TL402", "from torch.fx.experimental.proxy_tensor import maybe_disable_fake_tensor_mode\n", "No successor is known here", "nothing in its place",
    ),
    "what a model raises": (
        "TL137", "import pytest\nimport torch\n\n\ndef test(m, x):\n    with pytest.raises(torch.jit.Error):\n        m(x)\n", "while it is captured", "keeps its class",
    ),
    "a device without an accelerator": (
        "TL511", "import torch\n\ntorch.cuda.empty_cache()\n", "it raises RuntimeError, where `torch.cuda.empty_cache` does not", "ROCm only",
    ),
    "a file that is written": (
        "TL433", "import torchaudio\n\ntorchaudio.save(p, x, 8000)\n", "Add `torchcodec`", "file objects",
    ),
    "a rank that is a constant here": (
        "TL201", _INIT + "def main(rank):\n    torch.cuda.set_device(rank % torch.cuda.device_count())\n\n\nif __name__ == '__main__':\n    rank = 0\n"
        "    dist.init_process_group('nccl')\n    rank = dist.get_rank()\n    main(rank)\n", 'int(os.environ["LOCAL_RANK"])', '"cuda", rank',
    ),
    "a collective with gradients": (
        "TL403", "from torch.distributed.nn.functional import all_reduce\n", "gradients pass through it since torch 2.11; the group has to be given", "It needs torch",
    ),
    "the size of an element": (
        "TL437", "import torch\n\n\ndef f(m: torch.Tensor):\n    return m.storage().element_size()\n", "`m.element_size()` is the same", "sizes, indices",
    ),
    "a flag of another value": (
        "TL439", "from torch.autograd import Variable\n\n\ndef f(x, y):\n    return Variable(x, volatile=y.volatile)\n", "always False", "set_grad_enabled",
    ),
    "an export of any release": (
        "TL504", "import torch\n\nep = torch.export.export(m, (x,))\n", "up to torch 2.7", "two captures",
    ),
    "a class that moved and changed": (
        "TL402", "from torch.distributed.fsdp.flat_param import FlatParamHandle\n", "Torch 2.2 has it as `torch.distributed.fsdp._flat_param.FlatParamHandle`", "same definition",
    ),
    "a test that asks for modules as well": (
        "TL136", "import torch\n\n\ndef f(m):\n    if not isinstance(m, (torch.nn.Module, torch.jit.ScriptModule)):\n        raise TypeError\n", "it changes nothing here", "always taken",
    ),
    "a test for the very class": (
        "TL136", "import torch\n\n\ndef f(m):\n    return type(m) in (torch.jit.ScriptModule, torch.nn.Module)\n", "the other classes of the test decide", "it changes nothing",
    ),
    "a test for a class that C++ has": (
        "TL136", "import torch\n\n\ndef f(m):\n    return isinstance(m, (torch._C.ScriptModule, torch.nn.Module))\n", "the other classes of the test decide", "it changes nothing",
    ),
    "a test that asks for another class as well": (
        "TL136", "import torch\n\n\ndef f(m):\n    return isinstance(m, torch.fx.GraphModule | torch.jit.ScriptModule)\n", "the other classes of the test decide", "it is false",
    ),
    "a test that asks for TorchScript's classes alone": (
        "TL136", "import torch\n\n\ndef f(m):\n    return isinstance(m, (torch.jit.ScriptFunction, torch.jit.ScriptModule))\n", "it is false", "the other classes",
    ),
    "a default that is kept": (
        "TL205", "import argparse\nimport torch\n\ntorch.distributed.init_process_group('nccl')\np = argparse.ArgumentParser()\np.add_argument('--local_rank', default=-1)\ntorch.cuda.set_device(p.parse_args().local_rank)\n",
        'default=os.environ.get("LOCAL_RANK", -1)', '"LOCAL_RANK", 0',
    ),
    "another function of a module under another name": (
        "TL443", "import torch as th\n\n\ndef f(a, b):\n    return a / th.sqrt(b)\n", "`a * th.rsqrt(b)`", "* torch.",
    ),
    "a class without compiled methods": (
        "TL105", "import torch\n\n\nclass Gelu(torch.jit.ScriptModule):\n    def forward(self, x: torch.Tensor):\n        return x * 2\n", "is for compiled methods", "is compiled when",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "source", "said", "unsaid"), _SAYS.values(), ids=_SAYS)
def test_a_finding_knows_what_it_says(code: str, source: str, said: str, unsaid: str, tmp_path: Path) -> None:
    files = {"m.py": source}
    if source == "torch_page":
        files = {"a.sh": "pip install torch==1.7.1+cu92 -f https://download.pytorch.org/whl/torch_stable.html\n"}
    texts = [
        f"{item.message} {item.help}"
        for item in all_findings(analyse_files(tmp_path, files, min_torch=TorchVersion(1, 10)))
        if item.code == code
    ]
    assert any(said in text for text in texts), texts
    assert not any(unsaid in text for text in texts), texts


@pytest.mark.parametrize(
    ("table", "told"),
    [('{"cpu": "gloo", "qaic": "qccl"}', False), ('{"cpu": "gloo", "cuda": "nccl"}', True), ("read()", True)],
)
def test_a_backend_out_of_a_table_without_nccl_is_no_nccl(table: str, told: bool, tmp_path: Path) -> None:
    source = f"{_INIT}def setup(kind, rank):\n    names = {table}\n    dist.init_process_group(names[kind], rank=rank, world_size=2)\n"
    assert ("TL201" in {item.code for item in all_findings(analyse_files(tmp_path, {"m.py": source}))}) == told


@pytest.mark.parametrize(
    ("options", "told"),
    [("", True), (", backend='gloo'", True), (", pg_options={'xla_pg_options': {'mesh': [ranks]}}", False)],
)
def test_groups_of_xla_are_made_by_their_members(options: str, told: bool, tmp_path: Path) -> None:
    source = (
        "import torch.distributed as dist\n\n\ndef setup(ranks):\n    dist.init_process_group()\n"
        f"    if dist.get_rank() in ranks:\n        return dist.new_group(ranks{options})\n"
    )
    assert ("TL230" in {item.code for item in all_findings(analyse_files(tmp_path, {"m.py": source}))}) == told


@pytest.mark.parametrize(
    ("around", "told"),
    [("safe_globals()", False), ("torch.serialization.safe_globals([dict])", False), ("open(p)", True)],
)
def test_a_load_under_classes_that_are_allowed_is_no_load_that_changed(around: str, told: bool, tmp_path: Path) -> None:
    source = f"import torch\n\n\ndef f(p):\n    with {around}:\n        return torch.load(p)\n"
    result = analyse_files(tmp_path, {"m.py": source}, min_torch=TorchVersion(2, 0))
    assert ("TL501" in {item.code for item in all_findings(result)}) == told


def test_flags_of_a_branch_that_builds_for_another_framework_are_not_torchs(tmp_path: Path) -> None:
    source = (
        "from torch.utils.cpp_extension import CUDAExtension\n\nif kind == 'parrots':\n    flags = ['-std=c++14']\n    e = Own('x', flags)\n"
        "elif kind == 'pytorch':\n    flags = ['-O3']\n    e = CUDAExtension('x', ['x.cu'], extra_compile_args=flags)\n"
    )
    both = source.replace("elif kind == 'pytorch':", "if kind == 'pytorch':")
    for text, told in ((source, False), (both, True)):
        assert ("TL508" in {item.code for item in all_findings(analyse_files(tmp_path, {"setup.py": text}))}) == told


@pytest.mark.parametrize(("lowest", "told"), [(TorchVersion(1, 4), True), (TorchVersion(1, 7), False)])
def test_what_only_torch_of_before_the_projects_lowest_imports_is_not_told(
    lowest: TorchVersion, told: bool, tmp_path: Path
) -> None:
    source = (
        "import torch\nfrom packaging import version\n\nif version.parse(torch.__version__) < version.parse('1.6'):\n"
        "    from apex import amp\nelse:\n    amp = None\n"
    )
    result = analyse_files(tmp_path, {"m.py": source}, min_torch=lowest)
    assert ("TL448" in {item.code for item in all_findings(result)}) == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("use_autocast(True)", True),
        ("go(autocast=1)", True),
        ("go('torch.autocast')", True),
        ("go('no autocast here')", False),
    ],
)
def test_every_name_with_autocast_in_it_is_a_doubt_about_a_capture(line: str, told: bool, tmp_path: Path) -> None:
    source = (
        "import torch\n\n\nclass N(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x\n\n\nn = N()\n"
        f"{line}\nm = torch.jit.trace(n, (torch.ones(2, 3),))\n"
    )
    texts = [
        item.help or "" for item in all_findings(analyse_files(tmp_path, {"m.py": source})) if item.code == "TL101"
    ]
    assert any("uses `autocast`" in text for text in texts) == told


@pytest.mark.parametrize(
    ("before", "package", "told"),
    [
        ("case $PYTORCH_VERSION in 2.1.2)\n", "xformers==0.0.23.post1", False),
        ("pip install torch==2.1.2\n", "xformers==0.0.23.post1", False),
        ("ls\n", "xformers==0.0.23.post1", True),
        ("ls\n", "xformers==0.0.23.post1 torch==2.1.2", True),
        ("import torch\n", "torchmetrics", True),
    ],
)
def test_the_index_of_what_is_made_for_one_torch_goes_with_that_torch(
    before: str, package: str, told: bool, tmp_path: Path
) -> None:
    text = f"{before}pip install {package} --index-url https://download.pytorch.org/whl/cu118\n"
    assert ("TL301" in {item.code for item in all_findings(analyse_files(tmp_path, {"a.sh": text}))}) == told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("model.eval()", False),
        ("model.eval()\n    size = model.visual.size", False),
        ("model.eval()\n    keys = model.state_dict()", False),
        ("model.eval()\n    model.visual.train()", True),
        ("model.eval()\n    model.train()", True),
        ("model.eval()\n    change(model)", True),
        ("model.eval()\n    model.visual = other", True),
        ("if size:\n        model.eval()", True),
        ("size = 1", True),
    ],
)
def test_a_module_that_was_passed_is_in_evaluation_where_the_function_says_so(
    lines: str, told: bool, tmp_path: Path
) -> None:
    code = f"import torch\n\n\ndef traced(model, x, size=0, other=None):\n    {lines}\n    return torch.jit.trace(model, x)\n"
    found = all_findings(analyse_files(tmp_path, {"a.py": code}, torchscript=DROP))
    assert ["`.eval()` on `model` was not seen" in (item.help or "") for item in found if item.code == "TL101"] == [
        told
    ]
