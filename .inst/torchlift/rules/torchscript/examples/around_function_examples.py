"""Examples of TL102 on functions that run, or do not run, where the project makes compiled and plain code differ."""

from __future__ import annotations

from torchlift.rules.rule import Bad
from torchlift.torchscript_intent import DROP

_HEAD = "import torch\n\n\n"
_SWISH = "def swish(x: torch.Tensor) -> torch.Tensor:\n    return x * torch.sigmoid(x)\n"
_HALF = "x = torch.ones(3, dtype=torch.bfloat16)\n"
_CAST = "torch.autocast('cpu', dtype=torch.bfloat16)"
_CASTS = "TorchScript casts on its own under autocast"


def _around(after: str, why: str, run: str, *, head: str = _HEAD, differs: str = "", **rest: object) -> Bad:
    """A scripted function, and what stands behind it; with `differs` for review."""
    return Bad(
        f"{head}@torch.jit.script\n{_SWISH}{after}",
        f"{head}{_SWISH}{after}",
        why=why,
        run=run,
        torchscript=DROP,
        safety="unsafe" if differs else "safe",
        differs=differs,
        **rest,  # type: ignore[arg-type]
    )


EXAMPLES = (
    _around(
        f"\n\ndef run(x):\n    y = swish(x)\n    with {_CAST}:\n        return torch.mm(y, y)\n",
        "autocast around other calls",
        "result = run(torch.ones(3, 3))",
    ),
    _around(
        "\n\ndef run(x):\n    with torch.autocast('cpu', enabled=False):\n        return swish(x)\n",
        "autocast that is switched off",
        f"{_HALF}result = run(x)",
    ),
    _around(
        "\n\ny = swish(torch.ones(3))\n",
        "autocast in a program of its own",
        f"{_HALF}result = swish(x)",
        files=(("other/train.py", f"import torch\n\nwith {_CAST}:\n    y = torch.ones(3) * 2\n"),),
    ),
    _around(
        f"\n\ndef step(x):\n    return swish(x)\n\n\ndef run(x):\n    with {_CAST}:\n        return step(x)\n",
        "a caller of a caller under autocast",
        f"{_HALF}result = run(x)",
        differs=_CASTS,
    ),
    _around(
        f"\n\n@{_CAST}\ndef run(x):\n    return swish(x)\n",
        "a caller that is decorated with autocast",
        f"{_HALF}result = run(x)",
        differs=_CASTS,
    ),
    _around(
        f"\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return swish(x)\n\n\ndef run(net, x):\n    with {_CAST}:\n"
        "        return net(x)\n",
        "a module that somebody runs under autocast",
        f"{_HALF}result = run(Net(), x)",
        differs=_CASTS,
    ),
    _around(
        f"\n\nACTIVATIONS = {{'swish': swish}}\n\n\ndef run(name, x):\n    with {_CAST}:\n        return ACTIVATIONS[name](x)\n",
        "a function that is handed on",
        f"{_HALF}result = run('swish', x)",
        differs=_CASTS,
    ),
    _around(
        f"\n\ncast = {_CAST}\n\n\ndef run(x):\n    with cast:\n        return swish(x)\n",
        "autocast made somewhere else",
        f"{_HALF}result = run(x)",
        differs=_CASTS,
    ),
    _around(
        f"\n\nlater = swish\n\n\ndef run(x):\n    with {_CAST}:\n        return later(x)\n",
        "autocast around another name of the function",
        f"{_HALF}result = run(x)",
        differs=_CASTS,
    ),
    _around(
        "\n\nclass Images(list[torch.Tensor]):\n    pass\n\n\ny = swish(torch.ones(3))\n",
        "a list of tensors is no subclass of Tensor",
        "result = swish(torch.ones(3))",
    ),
    _around(
        "\n\nclass Image(torch.Tensor):\n    pass\n\n\ny = swish(torch.ones(3))\n",
        "a subclass of Tensor in the same file",
        "result = swish(torch.ones(3).as_subclass(Image))",
        differs="a scripted function gives back a plain Tensor",
    ),
    _around(
        "\n\ny = swish(torch.ones(3))\n",
        "a subclass of Tensor in another program",
        "result = swish(torch.ones(3))",
        files=(("other/images.py", "import torch\n\n\nclass Image(torch.Tensor):\n    pass\n"),),
    ),
)
