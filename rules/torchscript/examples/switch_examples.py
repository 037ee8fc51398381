"""Examples of settings of TorchScript's compiler."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion

_BODY = "def total(x):\n    return (x * 2 + 1).sum()\n"
_ROW = "torch._C._jit_set_profiling_executor(False)\ntorch._C._jit_set_profiling_mode(False)\n"
_RUN = "result = total(torch.arange(3.0))"
_SCRIPTED = f"import torch\n\n\n{_BODY}\n\nunit = torch.jit.CompilationUnit('')\n"

_MEGATRON = (
    "TORCH_MAJOR = int(torch.__version__.split('.')[0])\nTORCH_MINOR = int(torch.__version__.split('.')[1])\n"
    "if (TORCH_MAJOR > 1) or (TORCH_MAJOR == 1 and TORCH_MINOR >= 10):\n    {new}\nelse:\n    {old}\n"
)
_OLD_FUSER = "torch._C._jit_set_profiling_mode(False)"

EXAMPLES = (
    Bad(
        "import torch\n\n" + _MEGATRON.format(new="torch._C._jit_set_nvfuser_enabled(True)", old=_OLD_FUSER),
        "import torch\n\n" + _MEGATRON.format(new="pass", old=_OLD_FUSER),
        why="in the branch that the newer torch takes; the other one is not asked about",
        run="result = torch.arange(3.0).sum()",
    ),
    Bad(
        f'import torch\n\ntorch.jit.set_fusion_strategy([("STATIC", 2)])\n\n\n{_BODY}',
        f"import torch\n\n\n{_BODY}",
        why="a setting nothing listens to",
        run=_RUN,
    ),
    Bad(
        f"import torch\n\n\ndef setup():\n    torch._C._jit_set_profiling_executor(False)\n\n\n{_BODY}",
        f"import torch\n\n\ndef setup():\n    pass\n\n\n{_BODY}",
        why="a C++ setting alone in a function",
        run=f"setup()\n{_RUN}",
    ),
    Bad(
        "import torch as th\n\n\ndef run(x):\n    with th.no_grad(), th.jit.fuser('fuser1'):\n        return x + 1\n",
        "from contextlib import nullcontext\n\nimport torch as th\n\n\ndef run(x):\n    with th.no_grad(), nullcontext():\n        return x + 1\n",
        why="a fuser among other context managers",
        run="result = run(th.ones(2))",
    ),
    Bad(
        "import contextlib\n\nimport torch\nfrom torch.jit import optimized_execution\n\n\n"
        "def run(x):\n    with optimized_execution(False):\n        return x + 1\n",
        "import contextlib\n\nimport torch\n\n\ndef run(x):\n    return x + 1\n",
        why="optimized_execution, its import goes with it",
        run="result = run(torch.ones(2))",
    ),
    Bad(
        "import torch\n\n\n@torch.jit.fuser('fuser1')\ndef run(x):\n    return x + 1\n",
        "import torch\n\n\ndef run(x):\n    return x + 1\n",
        why="a fuser as a decorator",
        run="result = run(torch.ones(2))",
    ),
    Bad(
        "import warnings\n\nimport torch\n\nwarnings.simplefilter('ignore')\n\n\n"
        "def run(x):\n    with torch.jit.strict_fusion():\n        return x + x\n",
        "import warnings\n\nimport torch\n\nwarnings.simplefilter('ignore')\n\n\ndef run(x):\n    return x + x\n",
        why="strict_fusion outside scripted code",
        run="result = run(torch.ones(2))",
    ),
    Bad(
        f"{_SCRIPTED}torch._C._jit_set_nvfuser_enabled(False)\n",
        _SCRIPTED,
        why="nvFuser is gone, whatever is scripted",
        run=_RUN,
    ),
    Bad(
        f"import e3nn\nimport torch\n\ntorch.jit.enable_onednn_fusion(True)\n\n\n{_BODY}",
        f"import e3nn\nimport torch\n\n\n{_BODY}",
        safety="unsafe",
        why="an imported package may run TorchScript",
    ),
    Bad(
        f"import torch\n\ntorch._C._jit_override_can_fuse_on_gpu(False)\n\n\n{_BODY}",
        f"import torch\n\n\n{_BODY}",
        safety="unsafe",
        why="users of the project may script it",
        files=(("README.md", "Use `torch.jit.script(total)` for speed.\n"),),
        run=_RUN,
    ),
    Bad(f"{_SCRIPTED}torch._C._jit_set_profiling_mode(False)\n", why="the project still scripts"),
    Bad(
        f"import torch\n\n{_ROW}\n\n{_BODY}",
        _BODY,
        why="settings in a row, in a project that others install and that drops TorchScript",
        run=_RUN,
        files=(("setup.py", "import setuptools\n"), ("README.md", "Use `torch.jit.script(total)` for speed.\n")),
        torchscript=DROP,
    ),
    Bad(
        f"{_SCRIPTED}{_ROW}",
        why="settings in a row, while something is still scripted",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef run(x):\n    old = torch._C._jit_set_profiling_executor(False)\n    return x + 1\n",
        "def run(x):\n    return x + 1\n",
        why="what it was before, which nobody reads",
        run="result = run(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\ntorch._C._jit_set_profiling_executor(False)\n",
        why="C++ of the project runs TorchScript",
        files=(("csrc/serve.cpp", 'auto module = torch::jit::load("net.pt");\n'),),
        torchscript=DROP,
    ),
    Bad(
        f"{_SCRIPTED}torch._C._jit_set_nvfuser_enabled(False)\n",
        why="nvFuser, in a project that supports torch 2.6",
        min_torch=TorchVersion(2, 6),
    ),
    Bad(
        "import torch\n\ntry:\n    torch._C._jit_set_nvfuser_enabled(False)\nexcept Exception:\n    pass\n",
        why="alone in a try statement",
    ),
    Bad("import torch\n\nold = torch._C._jit_set_profiling_executor(False)\n", why="the old setting is kept"),
    Bad(
        "import torch\n\n\ndef mode():\n    old = torch._C._jit_set_profiling_executor(False)\n"
        "    torch._C._jit_set_profiling_executor(old)\n    return old\n",
        why="set to learn what it was",
    ),
    Bad(
        "import torch\n\n\ndef run(x):\n    old = torch._C._jit_set_profiling_executor(False)\n    y = x + 1\n"
        "    torch._C._jit_set_profiling_executor(old)\n    return y\n",
        "import torch\n\n\ndef run(x):\n    y = x + 1\n    return y\n",
        why="set and set back",
        run="result = run(torch.ones(2))",
    ),
    Bad("import torch\n\nfused = torch.jit.onednn_fusion_enabled()\n", why="a setting is read"),
    Bad(
        "import torch\n\ntorch.jit._state.disable()\nunit = torch.jit.CompilationUnit('')\n",
        why="the whole compiler",
    ),
    Bad("import os\n\nos.environ['PYTORCH_JIT'] = '0'\n", why="an environment variable is set"),
    Bad(
        "def test(monkeypatch):\n    monkeypatch.setenv('PYTORCH_JIT_LOG_LEVEL', 'dead_code_elimination')\n",
        why="an environment variable in a test",
    ),
    Ok("import os\n\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n", "another compiler's variable"),
    Ok('print("PYTORCH_JIT is not set")\n', "a sentence about the variable"),
    Ok("class jit:\n    fuser = open\n\n\nwith jit.fuser('x'):\n    pass\n", "an own class named jit"),
    Ok(
        "import torch\n\nif torch.__version__ < '2':\n    torch._C._jit_set_profiling_executor(False)\n",
        "under a version test",
    ),
    Ok("import torch\n\ntorch._C._set_grad_enabled(False)\njit = 1\n", "another switch of torch._C"),
)
