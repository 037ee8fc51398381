"""Sentences of findings that a reader found wrong: what they say now, and no longer say."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import RUN_HERE, all_findings, analyse_files

from torchlift.versions import TorchVersion

# what it is about: (code, source, what it says, what it does not say)
SAID = {
    "a context manager that nobody enters": (
        "TL131", "import torch\n\nm = torch.jit.script(f)\nfast = torch.jit.optimized_execution(m)\n", "does nothing until a `with` enters it",
        "only steers",
    ),
    "one that is entered later": (
        "TL131", "import torch\n\n\ndef f(m):\n    fast = torch.jit.optimized_execution(True)\n    with fast:\n        return torch.jit.script(m)\n",
        "only steers", "enters it",
    ),
    "programs for phones, which may train there": (
        "TL134", "import torch\n\nm = torch.jit.script(f)\nm._save_for_lite_interpreter('a.ptl')\n", "For inference write an ExecuTorch program",
        "help: Write an ExecuTorch",
    ),
    "a branch that TorchScript is refused in": (
        "TL117", "import torch\n\n\n@torch.jit.script\ndef f(x):\n    if torch.jit.is_scripting():\n        raise RuntimeError('not here')\n    return x\n",
        "where TorchScript raised", "only checks or reports",
    ),
    "scripting whose failure is told": (
        "TL102", "import torch\n\n\ndef f(net, x):\n    try:\n        fast = torch.jit.script(net)\n    except RuntimeError as error:\n"
        "        raise ValueError('no') from error\n    return fast(x)\n", "line 8 raises where `net` cannot be scripted", "is only called",
    ),
    "a module that the other branch takes": (
        "TL102", "import torch\n\n\ndef f(net: torch.nn.Module, x, on):\n    if on:\n        fast = torch.jit.script(net)\n    else:\n        fast = other(net)\n"
        "    return fast(x)\n", "TorchScript", "is used again",
    ),
    "an exponential, which may be complex": (
        "TL441", "import torch\n\n\ndef f(x):\n    return torch.exp(x) - 1\n", "For real numbers `torch.expm1(x)`", "needs torch",
    ),
    "a condition that asks for dynamo, which an export need not run": (
        "TL117", "import torch\nfrom torch.compiler import is_dynamo_compiling\n\n\n@torch.jit.script\ndef f(x):\n"
        "    if not torch.jit.is_scripting() and is_dynamo_compiling():\n        x = g(x)\n    return x\n",
        "Keep it as long as", "which holds under export",
    ),
    "a scripted module that gets a method of its own": (
        "TL102", "import torch\n\nnet = torch.nn.Linear(1, 1)\nfast = torch.jit.script(net)\nfast.save = keep\nfast(x)\n", "Needs review",
        "is asked for `.save`",
    ),
    "a scripted class beside other scripts": (
        "TL102", "import torch\n\n\n@torch.jit.script\nclass Box:\n    def __init__(self, x):\n        self.x = x\n\n\nf = torch.jit.script(g)\n",
        "whether that uses it was not followed", "compiles code that may use",
    ),
    "TorchScript that Python cannot run": (
        "TL117", "import torch\n\n\n@torch.jit.script\ndef f(x):\n    if torch.jit.is_scripting():\n        x = x.slice(0, 1, 2)\n    else:\n"
        "        x = g(x)\n    return x\n", "and Python can run that side", "wanted, write",
    ),
    "a name for scripting beside one for its modules": (
        "TL102", "import torch\n\nscript = torch.jit.script\nBase = torch.jit.ScriptModule\n", "until something else compiles it", "everything under it",
    ),
    "code that is compiled beside a trace": (
        "TL118", "import torch\n\n\n@torch.jit.script\ndef f(x):\n    if torch.jit.is_tracing():\n        x = g(x)\n    return x\n",
        "as long as something may script this code", "marked for it",
    ),
    "an exported method that does more than compute": (
        "TL112", "import torch\n\n\nclass Net(torch.nn.Module):\n    @torch.jit.export\n    def collect(self, x):\n"
        "        self.seen.append(x)\n        return x\n\n\nm = torch.jit.script(Net())\n", "line 7 does may happen once", "`self.net.collect`.",
    ),
    "a rank that Slurm tells": (
        "TL201", "import os\n\nimport torch\nimport torch.distributed as dist\n\n\ndef f(rank, backend):\n    os.environ['RANK'] = str(rank)\n"
        "    dist.init_process_group(backend=backend)\n", "this rank's own GPU for `own_gpu`", "LOCAL_RANK\"]",
    ),
    "a device that is set before and cannot be written twice": (
        "TL201", "import torch\nimport torch.distributed as dist\n\n\ndef f(args, backend):\n    torch.cuda.set_device(pick(args))\n"
        "    dist.init_process_group(backend)\n", "the device that `set_device` gets on line 6", "LOCAL_RANK\"]",
    ),
    "strings, which an export fixes": (
        "TL102", "import torch\n\n\nclass Words(torch.nn.Module):\n    def forward(self, text: str):\n        return text.split()\n\n\n"
        "torch.jit.save(torch.jit.script(Words()), path)\n", "which `torch.export` would fix", "cannot capture",
    ),
    "apex's buckets": (
        "TL448", "from apex.parallel import DistributedDataParallel\n\nm = DistributedDataParallel(net, message_size=10)\n",
        "`bucket_cap_mb` is what", "`message_size` and `gradient_average` have no",
    ),
    "a loss by its name": (
        "TL447", "def f(loss):\n    return loss.data[0]\n", "where `loss` is one number", "a loss is",
    ),
    "a function that only older releases have": (
        "TL410", "import torch\n\nv, w = torch.symeig(a, eigenvectors=True)\n", "were not run side by side", "any more",
    ),
    "a detector that is chosen by its name": (
        "TL430", "from torchvision.models import detection\n\nm = detection.__dict__[name](pretrained=True)\n", 'weights="COCO_V1"', "IMAGENET1K_V1",
    ),
    "a quantized model that is chosen by its name": (
        "TL430", "from torchvision.models import quantization\n\nm = quantization.__dict__[name](pretrained=True)\n", '"quantized_" + name, weights=',
        "get_model(name",
    ),
    "a name of TorchScript that went long ago": (
        "TL139", "import torch\n\ntrace, _ = torch.jit.get_trace_graph(m, x)\n", "current releases have no such name", "does not warn",
    ),
    "a part of TorchScript that nobody knows": (
        "TL139", "import torch\n\ntorch.jit.warp(m)\n", "Nothing is known to take its place", "needs it",
    ),
    "a function that gives other values, too": (
        "TL103", "import onnx\nimport torch\n\n\ndef get(p, t):\n    if t:\n        return torch.jit.load(p)\n    return onnx.load(p)\n\n\n"
        "b = get(q, True).SerializeToString()\n", "the loaded value or what else `get` returns is asked for `.SerializeToString`", "the loaded value is asked",
    ),
    "a function that gives nothing else": (
        "TL103", "import torch\n\n\ndef get(p):\n    if not p:\n        return None\n    return torch.jit.load(p)\n\n\nb = get(q).graph_for(x)\n",
        "the loaded value is asked for", "or what else",
    ),
    "a switch before what may script when it is imported": (
        "TL131", "import torch\n\ntorch.jit._state.disable()\n\nimport net\n", "before line 5 imports what may script", "Needs review",
    ),
    "the same attributes that a program lacks": (
        "TL103", "import torch\n\nm = torch.jit.load(path)\nm.encode(x)\nm.visual(x)\n", "asked for `.encode` (line 4), `.visual` (line 5), which an",
        "the loaded value is asked for `.visual`",
    ),
    "a trace for a compiler of a maker": (
        "TL101", "import qai_hub as hub\nimport torch\n\nhub.submit_compile_job(model=torch.jit.trace(m, (torch.rand(2, 3),)), device=d)\n",
        "it also takes the `ExportedProgram`", "Needs review",
    ),
    "a trace for a library that runs TorchScript": (
        "TL101", "import intel_extension_for_pytorch as ipex\nimport torch\n\nt = torch.jit.trace(m, (torch.rand(2, 3),))\nipex.fast(t)\n",
        "it may want TorchScript", "Needs review",
    ),
    "a test that scripts on its way": (
        "TL102", "import torch\n\n\ndef test_lowering(x):\n    m = torch.nn.ReLU()\n    lowered = to_glow(torch.jit.script(m))\n    lowered(x)\n",
        "is a test and scripts `m`", "tests that",
    ),
    "a trace for somebody unknown": (
        "TL101", "import torch\n\nt = torch.jit.trace(torch.nn.ReLU(), (torch.rand(2, 3),))\nlower(t)\n", "which has to take the exported one too", "is passed on to `lower` (line 4);",
    ),
    "an exported method without inputs": (
        "TL112", "import torch\n\n\nclass Net(torch.nn.Module):\n    @torch.jit.export\n    def scale(self):\n        return self.w.norm()\n\n\n"
        "m = torch.jit.script(Net())\n", "takes no inputs", "a program of its own",
    ),
    "a backend of TorchScript": (
        "TL134", "import torch\n\nm = torch._C._jit_to_backend('glow', m, spec)\n", "backends of other makers", "mobile runtime",
    ),
    "an old reduction that may be None": (
        "TL435", "import torch.nn.functional as F\n\n\ndef f(x, y, average):\n    return F.l1_loss(x, y, size_average=average)\n", "warns where not None", "warns.",
    ),
    "an old reduction that is said": (
        "TL435", "import torch.nn.functional as F\n\n\ndef f(x, y):\n    return F.l1_loss(x, y, size_average=False)\n", "and warns.", "where not None",
    ),
    "a number for a function that takes one": (
        "TL102", "import torch\n\n\n@torch.jit.script\ndef f(x: torch.Tensor, n: int):\n    return x * n\n\n\ny = f(x, 3)\n", "whose type scripting checked", "rejects",
    ),
    "an expression of several lines": (
        "TL443", "import torch\n\ny = torch.exp(\n    x\n) / torch.sqrt(b)\n", "`torch.exp(x) * torch.rsqrt(b)`", "\n    x",
    ),
    "what torchao has now": (
        "TL402", "import torch\n\ntorch.ao.quantization.move_exported_model_to_eval(m)\n", "It lives in torchao now", "No successor",
    ),
    "a question in code that no compiler takes": (
        "TL117", "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        assert not torch.jit.is_scripting()\n\n\n"
        "m = torch.jit.script(Net())\n", "", "Keep it",
    ),
    "a state that is loaded": (
        "TL117", "import torch\n\n\nclass Net(torch.nn.Module):\n    def _load_from_state_dict(self, state, prefix):\n        if torch.jit.is_scripting():\n"
        "            self.w.copy_(state['w'])\n\n\nm = torch.jit.script(Net())\n", "", "which TorchScript ran",
    ),
    "a value that somebody made of a module": (
        "TL104", "import torch\n\n\ndef save(lowered, f):\n    torch.jit.save(lowered, f)\n", "the module that the value was made from", "Capture the module",
    ),
    "an import that nothing uses": (
        "TL423", "from torch.cuda.amp import autocast\n\nx = 1\n", "imported and not used here: drop the import", "with keywords: the second parameter of the old",
    ),
    "a reduction that is said twice": (
        "TL435", "import torch.nn.functional as F\n\n\ndef f(x, y, r):\n    return F.kl_div(x, y, size_average=False, reduction=r)\n",
        "`reduction` beside it is not looked at", "has to stay",
    ),
    "what a compiler is given that is not followed": (
        "TL112", "import torch\n\n\nclass Net(torch.nn.Module):\n    @torch.jit.ignore\n    def f(self, x):\n        return x\n\n\ndef build(name):\n"
        "    return torch.jit.script(make(name))\n", "as long as something may compile it: what m.py:11", "is not known",
    ),
    "a method that exported modules have": (
        "TL103", "import torch\n\nm = torch.jit.load(path)\nm.apply(f)\n", "on its `.module()` alone", "does not have",
    ),
    "a warning of the tracer": (
        "TL137", "import torch\n\nfor w in (torch.jit.TracerWarning,):\n    ignore(w)\n\nf = torch.jit.trace(g, x)\n", "`torch.onnx.export(dynamo=False)`",
        "torch.jit.trace` only",
    ),
    "the initialiser of an old base class": (
        "TL419", "import torch\n\n\nclass Up(torch.nn.UpsamplingNearest2d):\n    def __init__(self):\n        torch.nn.UpsamplingNearest2d.__init__(self, 2)\n",
        "Only its `__init__` is used here", "handed on",
    ),
    "another part of an old class": (
        "TL428", "import torch\n\nold = torch.cuda.amp.GradScaler.scale\n", "Only its `scale` is used here", "handed on",
    ),
    "what takes weight norm off": (
        "TL421", "import torch\n\ntorch.nn.utils.remove_weight_norm(layer)\n", "goes with `torch.nn.utils.weight_norm`, which is deprecated since torch 2.1",
        "remove_weight_norm` is deprecated",
    ),
    "a model of transformers 5": (
        "TL107", "from transformers import AutoModel\n\nm = AutoModel.from_pretrained(p, torchscript=True)\n", "raises TypeError", "ignores it",
    ),
    "the C++ value of a trace": (
        "TL130", "import torch\n\n\ndef f(m, x):\n    t = torch.jit.trace(m, x)\n    return torch._C._freeze_module(t._c)\n",
        "together with the `torch.jit.trace` before it", "not followed",
    ),
    "a value that a helper made": (
        "TL130", "import torch\n\n\ndef f(m, x):\n    t = helper(torch.jit.script(m))\n    return torch._C._freeze_module(t._c)\n",
        "what makes the value that it freezes was not followed", "not captured",
    ),
    "a device out of a list that is made too late": (
        "TL202", "import torch\nimport torch.distributed as dist\n\n\ndef main(args):\n    dist.init_process_group('nccl')\n"
        "    gpus = [int(g) for g in args.gpus.split(',')]\n    torch.cuda.set_device(gpus[args.rank])\n",
        "device_id=torch.device(gpus[args.rank])`, once the device that", "LOCAL_RANK\"]",
    ),
    "a path that another function was given before": (
        "TL103", "import torch\nfrom tools import write\n\n\ndef f(p, m):\n    path = p + '.x'\n    write(m, path)\n    return torch.jit.load(path)\n",
        "seen to write `path`, and what `write` does with it on line 7 was not read", "but what `write` does",
    ),
    "a path that is only asked for": (
        "TL103", "import os\n\nimport torch\n\n\ndef f(p):\n    path = p + '.x'\n    os.remove(path)\n    return torch.jit.load(path)\n",
        "nothing in this project is seen to write `path`", "does with it",
    ),
    "numbers that a trace takes from tensors": (
        "TL118", "import torch\n\n\ndef f(x, scale):\n    if not torch.jit.is_tracing():\n        y = g(x, scale)\n    else:\n"
        "        y = h(x, float(scale))\n    return y\n", "where that is what the traced side is for", "so its branch is the right one",
    ),
    "functions behind a switch, for torch.fx": (
        "TL139", "from torch._jit_internal import boolean_dispatched\n\nd = boolean_dispatched[f]\n", "`torch.fx` looks here", "Nothing in eager mode",
    ),
    "a path that is asked for its class": (
        "TL103", "import torch\n\n\ndef f(p):\n    path = p + '.x'\n    if isinstance(path, str):\n        return torch.jit.load(path)\n",
        "nothing in this project is seen to write `path`", "does with it",
    ),
    "two places that ask for the same": (
        "TL103", "import torch\n\nm = torch.jit.load(path)\nm.graph_for(x)\nm.graph_for(y)\n", "`.graph_for` (line 4, line 5), which an", "(line 4); ",
    ),
    "who may read a trace": (
        "TL101", "import torch\n\n\ndef write(x, path):\n    torch.jit.save(torch.jit.trace(torch.nn.ReLU(), (x,)), path)\n\n\ndef read(p):\n"
        "    return torch.jit.load(p)\n", "m.py:9 loads TorchScript from a path that is not known, and may mean the file", "writes the file;",
    ),
    "a trace that nothing here reads": (
        "TL101", "import torch\n\n\ndef write(x, path):\n    torch.jit.save(torch.jit.trace(torch.nn.ReLU(), (x,)), path)\n",
        "reads or writes the file", "may read TorchScript from it",
    ),
    "a part of `torch._jit_internal`": (
        "TL139", "import torch\n\nname = torch._jit_internal._qualified_name(C)\n", "`torch._jit_internal._qualified_name`",
        "torch.jit._qualified_name",
    ),
    "another one, imported by name": (
        "TL139", "from torch._jit_internal import get_torchscript_modifier\n\nget_torchscript_modifier(f)\n",
        "`torch._jit_internal.get_torchscript_modifier`", "torch.jit.get",
    ),
    "methods that are written out by `dict`": (
        "TL106", "import torch\n\nt = torch.jit.trace_module(net, inputs=dict(forward=(x,), encode=(y,)))\n", "self.net.encode",
        "not written out",
    ),
    "lists that are compared": (
        "TL420", "import torch\n\ntorch.testing.assert_allclose([1.0], [1.0])\n", "of one kind", "must be tensors",
    ),
    "a release that torch itself names": (
        "TL403", "import torch\n\ntorch.set_default_tensor_type(torch.FloatTensor)\n", "deprecated in torch 2.1", "in torch 2.2",
    ),
    "a switch that may be off": (
        "TL404", "import torch\n\np = torch.autograd.profiler.profile(use_cuda=on)\n", "where it is not", "Write `use_device='cuda'`",
    ),
    "a switch that is on": (
        "TL404", "import torch\n\np = torch.autograd.profiler.profile(use_cuda=True)\n", "exists since torch 2.1", "where it is not",
    ),
    "a class that is handed on": (
        "TL428", "import torch\n\ns = patch(value=torch.cuda.amp.GradScaler)\n", "handed on here, and not called: change what is handed on. For a call write",
        "deprecated since torch 2.4. Write",
    ),
    "a function that is handed on": (
        "TL417", "import torch\n\nnorms = {'l2': torch.norm}\n", "and not called: change what is handed on. For a call write", "1.7. Write",
    ),
    "a class that others derive from": (
        "TL428", "import torch\n\n\nclass Own(torch.cuda.amp.GradScaler):\n    pass\n", "It is a base class here. For a call write",
        "deprecated since torch 2.4. Write",
    ),
    "another module whose old bias is read": (
        "TL421", "import torch\n\n\ndef start(layer):\n    return torch.nn.utils.weight_norm(layer)\n\n\ndef other(net):\n    return net.bias_g\n",
        "may be that of a module from here", "which has to change with it",
    ),
    "another module whose old parameters are read": (
        "TL421", "import torch\n\n\ndef start(layer):\n    return torch.nn.utils.weight_norm(layer)\n\n\ndef other(net):\n    return net.weight_g\n",
        "`weight_g` at m.py:9 may be that of a module from here, and know the old form alone", "which has to change with it",
    ),
    "a function of the same file that gets more than tensors": (
        "TL102", "import torch\n\n\ndef add(x, p, on):\n    # type: (Tensor, float, bool) -> Tensor\n    return x + p if on else x\n\n\n@torch.jit.script\n"
        "def train(x, p):\n    # type: (Tensor, float) -> Tensor\n    return add(x, p, True)\n",
        "what `add` does with arguments like these was not followed", "`add` was not read",
    ),
    "a script of which calls show inputs": (
        "TL102", "import torch\nfrom nets import Net\n\n\ndef save(path):\n    a = torch.rand(1, 3)\n    net = Net()\n    jit = torch.jit.script(net)\n"
        "    torch.jit.save(jit, path)\n    return net(a, mode='x')\n",
        "what it would be exported with is not certain here", "are visible here",
    ),
    "an import that is missed with an error": (
        "TL448", "try:\n    from apex import amp\nexcept ImportError:\n    raise ImportError('install apex')\n", "was taken out of apex", "goes on",
    ),
    "an import that is not missed": (
        "TL448", "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n", "the `try` here goes on", "``",
    ),
    "a mark on a method of a plain module": (
        "TL105", "import torch\n\n\nclass Net(torch.nn.Module):\n    @torch.jit.script_method\n    def forward(self, x):\n        return x\n",
        "Take it out: `Net` is no `torch.jit.ScriptModule`", "inherits",
    ),
    "a mark on a method of a class with a base that is not known": (
        "TL105", "import torch\nfrom nets import Base\n\n\nclass Net(Base):\n    @torch.jit.script_method\n    def forward(self, x):\n        return x\n",
        "It stays as long as `Net` is a `torch.jit.ScriptModule` through `Base`", "is no `torch",
    ),
    "layers that are only fused": (
        "TL101", "import torch\nfrom torch.quantization import fuse_modules\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, body):\n"
        "        super().__init__()\n        self.body = fuse_modules(body, [['a', 'b']])\n\n    def forward(self, x):\n        return self.body(x)\n\n\n"
        "torch.jit.trace(Net(body), torch.rand(2, 3)).graph\n", "Not rewritten", "quantized modules",
    ),
    "a question behind one that export answers": (
        "TL117", "import torch\n\n\ndef f(x):\n    if torch.compiler.is_compiling():\n        return x\n    elif torch.jit.is_scripting():\n        return 2 * x\n"
        "    else:\n        return 3 * x\n\n\ntorch.jit.script(f)\n",
        "line 5 decides before it is asked", "or torch.compiler.is_compiling()",
    ),
    "a repository that names a tag": (
        "TL505", "import torch\n\ntorch.hub.load('some/where:v1', 'net')\n", "is for repositories that you trust", "Name a tag",
    ),
    "a level of apex": (
        "TL448", "from apex import amp\n\namp.initialize(model, optimizer, opt_level='O2')\n", "O2 and O3, which keep the model in half precision, have no counterpart", "yourself",
    ),
    "a quantizer that moved": (
        "TL402", "from torch.ao.quantization.quantizer.x86_inductor_quantizer import X86InductorQuantizer\n\nq = X86InductorQuantizer()\n",
        "`torchao.quantization.pt2e.quantizer` has modules of the same names", "with the same names: `torchao.quantization.pt2e`",
    ),
    "a trace that is moved, and put into eval mode": (
        "TL101", "import torch\n\nt = torch.jit.trace(torch.nn.ReLU(), torch.rand(2, 3)).to('cuda')\nt.eval()\n", "is moved with `.to()`",
        "it may be another value, as far as this was read",
    ),
    "a trace that is moved, and saved": (
        "TL101", "import torch\n\nt = torch.jit.trace(net, torch.rand(2, 3)).half()\nt.save('t.pt')\n", "is saved as what `.half()` made of it",
        "it may be another value, as far as this was read",
    ),
    "a file that is opened first": (
        "TL103", "import torch\n\n\ndef load(self):\n    with open(self.model_path, 'rb') as infile:\n        return torch.jit.load(infile)\n",
        "the file that `self.model_path` names", "write `infile`",
    ),
    "a file of a project that writes others": (
        "TL103", "import torch\n\n\ndef load(name):\n    return torch.jit.load(f'{name}/net.pt')\n\n\ndef save(net, name, out):\n"
        "    torch.jit.save(torch.jit.script(net), f'{out}/net.pt')\n",
        "where the TorchScript that m.py:9 made goes was not followed", "seen to write the file, and",
    ),
    "a class with a public name": (
        "TL139", "import torch\n\ncheck = torch._C.FileCheck\n", "is the same class under a public name", "goes with it",
    ),
    "a standard that keeps torch from passing its own": (
        "TL508", "from torch.utils.cpp_extension import CUDAExtension\n\nCUDAExtension('a', ['a.cu'], extra_compile_args={'nvcc': ['-std=c++14']})\n",
        "nvcc of CUDA 12", "overrides",
    ),
    "a module that is traced in train mode, and again by the checks of the trace": (
        "TL101", "import torch\n\n\nclass A(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = torch.nn.BatchNorm1d(3)\n\n"
        "    def forward(self, x):\n        return self.n(x)\n\n\nt = torch.jit.trace(A(), torch.rand(2, 3))\nt(torch.rand(2, 3))\n",
        "tracing in train mode runs the model (", "once",
    ),
    "what a plain module can be asked, too": (
        "TL102", "import torch\n\n\ndef layer(norm, names):\n    if names:\n        norm = torch.jit.script(norm)\n    return [getattr(norm, n, False) for n in names]\n",
        "A plain module may answer differently", "nothing of the kind",
    ),
    "a file that is saved and loaded": (
        "TL501", "import torch\n\n\ndef f(p, q, make):\n    torch.save(make(), p)\n    return torch.load(q)\n",
        "line 5 of this file calls `torch.save`.", "and may write it",
    ),
    "a keyword for the unpickler": (
        "TL501", "import torch\n\nm = torch.load(p, fix_imports=True)\n", "`weights_only=True` raises TypeError", "has an effect",
    ),
    "an encoding, which both unpicklers take": (
        "TL501", "import torch\n\nm = torch.load(p, encoding='latin1')\n", "was not worked out", "`encoding`",
    ),
    "a file with nothing but a program": (
        "TL104", "import torch\n\n\ndef write(net, path):\n    torch.jit.save(net, path)\n", "save its program", "Extra files",
    ),
    "inputs that a trace was checked with": (
        "TL101", "import torch\n\nnet = torch.nn.Linear(2, 3)\nt = torch.jit.trace(net, torch.rand(2, 2), check_inputs=more)\n",
        "`check_inputs`", "no longer evaluated",
    ),
    "a norm, deprecated with its first successor": (
        "TL417", "import torch\n\nn = torch.norm(x, 2)\n", "since torch 1.7", "1.9",
    ),
    "a bound of which no more is known": (
        "TL403", "import torch\n\nd = torch.get_autocast_gpu_dtype()\n", "is deprecated, as torch 2.13 says", "were not read",
    ),
    "a part of the module that was captured": (
        "TL101", "import torch\n\nm = torch.jit.trace(net, x)\nm.fc.weight.zero_()\n", "keeps parameters and bare submodules",
        "an exported module does not have",
    ),
    "a state that a class copies": (
        "TL421", "import torch\n\n\nclass EMA:\n    def load_state_dict(self, state):\n        for key, value in state.items():\n"
        "            self.state[key].copy_(value)\n\n\ndef norm(layer):\n    return torch.nn.utils.weight_norm(layer)\n",
        "`EMA` (m.py:5) copies a state key by key", "old ones load into the new one)",
    ),
    "settings in a checkpoint": (
        "TL501", "import torch\n\ntorch.save({'net': net.state_dict(), 'args': args}, new)\nstate = torch.load(old)\n",
        "`args` in them as it is (line 3)", "is not known here",
    ),
    "arguments that are spread": (
        "TL423", "import torch\n\nwith torch.cuda.amp.autocast(**options):\n    pass\n", 'autocast("cuda", **options)', "enabled=...",
    ),
    "a private path": (
        "TL426", "from torch.utils.data._utils.collate import default_collate\n", "is a private path of", "old name",
    ),
    "a module of which nothing is known": (
        "TL102", "import torch\n\nm = torch.jit.script(net)\ntorch.jit.save(m, path)\n", "`inputs` is the tuple of example inputs",
        "(x,)",
    ),
    "a module that takes nothing": (
        "TL102", "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self):\n        pass\n\n\n"
        "torch.jit.script(Net()).save(path)\n",
        "takes no inputs", "dynamic_shapes",
    ),
    "a question for something else's class": (
        "TL105", "import torch\n\n\nclass Net(torch.jit.ScriptModule):\n    def __init__(self, part):\n        super().__init__()\n"
        "        self.part = part\n\n    @torch.jit.script_method\n    def forward(self, x):\n        return self.part(x)\n\n\n"
        "net.apply(f)\nassert isinstance(batch, Output)\n",
        "asks something for its class", "asks parts of modules",
    ),
    "what may not run": (
        "TL131", "import torch\n\ntorch._C._jit_set_profiling_mode(False)\ntorch.onnx.export(net, x, path)\n", "may run TorchScript",
        "runs TorchScript",
    ),
    "what the compiler had before": (
        "TL118", "import torch\n\ntorch.jit._recursive.concrete_type_store = torch.jit._recursive.ConcreteTypeStore()\n"
        "if torch._C._get_tracing_state() is not None:\n    x = f(x)\n",
        "_get_tracing_state", "m.py:3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "source", "said", "unsaid"), SAID.values(), ids=SAID)
def test_a_finding_says(code: str, source: str, said: str, unsaid: str, tmp_path: Path) -> None:
    lowest = TorchVersion(2, 5) if code == "TL501" else RUN_HERE
    found = [
        item for item in all_findings(analyse_files(tmp_path, {"m.py": source}, min_torch=lowest)) if item.code == code
    ]
    words = " ".join(f"{item.message} {item.help}" for item in found)
    assert said in words
    assert unsaid not in words
