"""TorchScript on phones: the lite interpreter, flatbuffers, mobile passes and delegates."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.use_places import place_of, whole_name
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.facts.c_bindings import bindings
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.view import Use

_SAVERS = ("*._save_for_lite_interpreter", "*._save_to_buffer_for_lite_interpreter")
_FLATBUFFER = ("torch.jit.save_jit_module_to_flatbuffer", "torch.jit.jit_module_from_flatbuffer")
_TARGETS = (
    *_SAVERS,
    *_FLATBUFFER,
    "torch.jit.mobile",
    "torch.utils.mobile_optimizer",
    "torch.utils.bundled_inputs",
    "torch.backends._nnapi",
    "torch.backends._coreml",
    *bindings("mobile"),
)

RULE = Rule(
    code="TL134",
    name="torchscript-mobile",
    summary="TorchScript's mobile runtime, which ExecuTorch takes the place of",
    why=(
        "`_save_for_lite_interpreter` warns since torch 2.10 (`FutureWarning` since 2.14) and points at ExecuTorch; the "
        "mobile optimizer, bundled inputs, flatbuffers, NNAPI and Core ML delegates never warn and go with TorchScript."
    ),
    fix=(
        "None: the program is lowered for a device and read by another runtime, so the app changes with the file. The "
        "finding shows the ExecuTorch code for its step. Export in eval mode."
    ),
    targets=_TARGETS,
    triggers=(
        "jit",
        "mobile_optimizer & torch.utils",
        "bundled_inputs & torch.utils",
        "_nnapi & torch",
        "_coreml & torch",
        *(name[2:] for name in _SAVERS),
        "_C & lite_interpreter",
        "_C & mobile",
        "_C & to_backend",
        "_C & flatbuffer",
        "_C & bytecode",
        "_C & jit_module",
        "_C & LiteScriptModule",
    ),
    sources=(
        "https://docs.pytorch.org/executorch/stable/using-executorch-export.html",
        *SOURCES,
        "torch/jit/_script.py of the wheels 2.10-2.15: the warning of `_save_for_lite_interpreter`",
        "torch/jit/mobile, torch/utils/mobile_optimizer.py and bundled_inputs.py of the torch 2.13.0 wheel: no warning",
    ),
)

_WRITE = (
    "For inference write an ExecuTorch program: `to_edge_transform_and_lower(torch.export.export(module.eval(), args), "
    "partitioner=[XnnpackPartitioner()]).to_executorch().write_to_file(file)`, with `file` opened to write bytes and named "
    "`.pte` (`executorch.exir`, `executorch.backends.xnnpack.partition.xnnpack_partitioner`). The app that reads the file has "
    "to change to the ExecuTorch runtime with it: neither reads the other's files. Training on the device is not "
    "in such a program: ExecuTorch has an interface of its own for it."
)
_READ = (
    'A `.pte` program runs with `Runtime.get().load_program(path).load_method("forward").execute([x])` from '
    "`executorch.runtime`; its writer has to change at the same time."
)
_OPTIMIZE = (
    "Nothing takes its place for inference: the ExecuTorch partitioner that the program is lowered with "
    "(`partitioner=[XnnpackPartitioner()]`) folds, fuses and picks kernels. Drop the call where the file is written."
)
_BUNDLE = "ExecuTorch keeps test inputs beside the program as a bundled program (`executorch.devtools`), not inside the module."
_DELEGATE = (
    "ExecuTorch reaches the device's own accelerators through a partitioner given to `to_edge_transform_and_lower`."
)
_BACKEND = "A backend is given programs of torch.fx now, by `torch.compile(backend=...)` or as a delegate of ExecuTorch: it has to be written for that."
_MODEL_FILE = "In one process or on a server, a saved program (`torch.export.save`) takes its place; on a phone an ExecuTorch `.pte`."


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    name = use.target.rpartition(".")[2] if use.target in _SAVERS else use.name.rpartition(".")[2]
    if use.target in _SAVERS:
        if "torch" not in view.source.text and use.kind != "call":
            return
        message = f"`{name}` writes for the lite interpreter: `DeprecationWarning` since torch 2.10, `FutureWarning` since 2.14."
        yield Finding("TL134", view.path, view.span(whole_name(use, view)), message, Severity.WARNING, _WRITE)
        return
    place = place_of(use, context)
    if place is None:
        return
    part = "way to backends of other makers" if "to_backend" in name else "mobile runtime"
    message = f"`{use.name}` belongs to TorchScript's {part} and goes with it; it does not warn."
    advice = _advice(use.target, name)
    if place == "string":
        advice = "The name stands in a string: take it out together with the use it means."
    yield Finding("TL134", view.path, view.span(whole_name(use, view)), message, Severity.WARNING, advice)


def _advice(target: str, name: str) -> str:
    if target == "torch.utils.bundled_inputs":
        return _BUNDLE
    if target == "torch.utils.mobile_optimizer" or "_pass_" in name:
        return _OPTIMIZE
    if "to_backend" in name:
        return _BACKEND
    if target.startswith("torch.backends."):
        return _DELEGATE
    if "jit_module" in name:
        return _MODEL_FILE
    return _WRITE if "save" in name or "backport" in name or "to_mobile" in name else _READ


EXAMPLES = (
    Bad(
        "import torch\nfrom torch.utils.mobile_optimizer import optimize_for_mobile\n\n\ndef write(net):\n"
        "    fast = optimize_for_mobile(net)\n    fast._save_for_lite_interpreter('net.ptl')\n",
        why="optimized and saved",
    ),
    Bad(
        "def write(net):\n    return net._save_to_buffer_for_lite_interpreter()\n",
        why="a value that came from anywhere",
    ),
    Bad(
        "from torch.jit.mobile import _load_for_lite_interpreter as load\n\n\ndef read(path):\n    return load(path)\n",
        why="loaded back",
    ),
    Bad(
        "import torch\nimport torch.utils.bundled_inputs as bundled\n\n\ndef bundle(net, x):\n"
        "    bundled.augment_model_with_bundled_inputs(net, [(x,)])\n",
        why="bundled inputs",
    ),
    Bad(
        "import torch\n\n\ndef write(net):\n    torch.jit.save_jit_module_to_flatbuffer(net, 'net.ff')\n",
        why="a flatbuffer",
    ),
    Bad(
        "import torch\n\n\ndef lower(net, spec):\n    return torch._C._jit_to_backend('coreml', net, spec)\n",
        why="a delegate",
    ),
    Bad(
        "from torch.backends._nnapi.prepare import convert_model_to_nnapi\n\n\ndef lower(net, x):\n    return convert_model_to_nnapi(net, x)\n",
        why="NNAPI",
    ),
    Ok("from tensorflow import lite\n\njit = lite.Interpreter('x')\n", "TensorFlow Lite"),
    Ok(
        "from executorch.exir import to_edge_transform_and_lower\n\njit = to_edge_transform_and_lower\n",
        "ExecuTorch itself",
    ),
    Ok("def optimize_for_mobile(net):\n    return net\n\n\njit = optimize_for_mobile(1)\n", "an own function"),
    Ok(
        "from mylib import mobile_optimizer\n\nmobile_optimizer.optimize_for_mobile(1)\n",
        "another library's optimizer",
    ),
    Ok("print('call _save_for_lite_interpreter')\n", "a string"),
)
