"""Examples of TL102 on functions of a project that drops TorchScript."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.torchscript_intent import DROP, TorchScriptIntent

_HEAD = "import torch\n\n\n"
_DECORATOR = "@torch.jit.script\n"
_COMPILE = TorchScriptIntent("drop", speed="compile")
_SWISH = "def swish(x: torch.Tensor) -> torch.Tensor:\n    return x * torch.sigmoid(x)\n"
_WRAPPING = (
    "import functools\n\nimport torch\n\n\ndef twice(f):\n    @functools.wraps(f)\n    def g(x):\n        return 2 * f(x)\n\n"
    "    return g\n\n\n"
)
_SETUP = (("setup.py", "import setuptools\n"),)
_SCALE = "def scale(x, by: float):\n    return x * by\n"
_DROPOUT = (
    "def add(x, residual, prob: float, training: bool):\n"
    "    return residual + torch.nn.functional.dropout(x, p=prob, training=training)\n"
)


def _dropped(code: str, why: str, run: str, *, calls: str = "", **rest: object) -> Bad:
    """A decorated function, and what else stands in the file, that loses its decorator."""
    return Bad(
        f"{_HEAD}{_DECORATOR}{code}{calls}",
        f"{_HEAD if 'torch' in code + calls else ''}{code}{calls}",
        why=why,
        run=run,
        torchscript=DROP,
        **rest,  # type: ignore[arg-type]
    )


_IDENTITY = "def identity(shape: list[int]):\n    return torch.zeros(shape + [3])\n"
_LIKE = "\n\ndef like(x):\n    return identity(x.shape)\n"
_LIKE_KNOWN = "\n\ndef like(x, n):\n    return known(x.shape, n)\n"
_OUTER = "def outer(shape: list[int]):\n    return identity(shape) + 1\n\n\ndef like(x):\n    return outer(x.shape)\n"
_MADE_LIST = "a tuple or a torch.Size is passed, of which TorchScript makes a list"

_LISTS: tuple[Bad | Ok, ...] = (
    Bad(
        f"{_HEAD}{_DECORATOR}{_IDENTITY}{_LIKE}",
        f"{_HEAD}{_IDENTITY.replace('shape +', 'list(shape) +')}{_LIKE}",
        why="a list that is added to, for which a call passes a shape",
        run="result = like(torch.ones(2)), identity([2]), identity((2, 1))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_DECORATOR}def known(shape: list[int], n: int):\n    if shape != [2, n]:\n        return [n]\n    return [2]\n{_LIKE_KNOWN}",
        f"def known(shape: list[int], n: int):\n    if list(shape) != [2, n]:\n        return [n]\n    return [2]\n{_LIKE_KNOWN}",
        why="a list that is compared, for which a call passes a shape",
        run="result = like(torch.ones(2, 3), 3), like(torch.ones(2, 3), 2)",
        torchscript=DROP,
    ),
    _dropped(
        "def known(shape: list[int]):\n    kept = shape\n    return 1 if kept == [2, 3] else 0\n",
        "a list that is compared under another name",
        "result = like(torch.ones(2, 3))",
        calls="\n\ndef like(x):\n    return known(x.shape)\n",
        safety="unsafe",
        differs=_MADE_LIST,
    ),
    Bad(
        f"{_HEAD}{_IDENTITY}\n\n{_DECORATOR}{_OUTER}",
        f"{_HEAD}{_IDENTITY}\n\n{_OUTER}",
        why="a list that another function adds to",
        run="result = like(torch.ones(2))",
        torchscript=DROP,
        safety="unsafe",
        differs=_MADE_LIST,
    ),
    _dropped(
        "def known(shape: list[int]):\n    return 1 if shape == [2, 3] else 0\n",
        "a list that is compared, for which nobody is seen to pass one",
        "result = known(torch.ones(2, 3).shape)",
        safety="unsafe",
        differs=_MADE_LIST,
    ),
    _dropped(
        _IDENTITY,
        "a list that is added to, for which every call passes one",
        "result = like(torch.ones(2)), two()",
        calls="\n\ndef like(x):\n    return identity(list(x.shape))\n\n\ndef two():\n    return identity([2])\n",
    ),
    _dropped(
        "def fill(x, shape: list[int]):\n    return x.new_zeros(shape) + torch.ones(shape) + shape[0] + len(shape)\n",
        "a list of which a tuple serves as well",
        "result = fill(torch.ones(2), torch.ones(2, 3).shape)",
        calls="\n\ndef like(x):\n    return fill(x, x.shape)\n",
    ),
    Bad(
        f"{_HEAD}{_DECORATOR}def empty(x):\n    return x.zeros_like()\n",
        why="a method that a tensor has in TorchScript only",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_DECORATOR}def inner(x):\n    return x.gelu()\n\n\n{_DECORATOR}def empty(x):\n    return inner(x) + 1\n",
        why="such a method in a function that is called",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}def empty(x):\n    return x.zeros_like()\n\n\nmade = torch.jit.script(empty)\n",
        why="such a method in a function that is passed",
    ),
)

EXAMPLES: tuple[Bad | Ok, ...] = (
    *_LISTS,
    # What the intent answers
    _dropped(
        "def f(x, k: int, mode: str = 'sum', bias: torch.Tensor | None = None):\n"
        "    if bias is not None:\n        x = x + bias\n    if mode == 'sum':\n        return x.sum(k)\n    return x.mean(k)\n",
        "parameters that scripting checked, a choice by text, in a project that others install",
        "result = f(torch.ones(2, 3), 1), f(torch.ones(2, 3), 0, 'mean', torch.ones(3))",
        files=_SETUP,
    ),
    _dropped(
        "def f(x, *, size: int):\n    parts = [part for part in x.split(size)]\n    return torch.stack(parts)\n",
        "a keyword parameter and statements that TorchScript was not compared for",
        "result = f(torch.ones(4, 3), size=2)",
    ),
    _dropped(
        "def f(x, n: int):\n    assert n > 0, 'no steps'\n    return x * n\n",
        "an error of its own, whose class nobody names",
        "result = f(torch.ones(3), 2)",
    ),
    _dropped(
        "def f(x, lengths):\n    out = torch.zeros((len(lengths), 4), dtype=x.dtype)\n    for i in range(len(lengths)):\n"
        "        n = int(lengths[i])\n        out[i, :n] = x[i, :n]\n    return out\n",
        "a loop that fills a tensor it does not bind again",
        "result = f(torch.rand(2, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([1, 3]))",
    ),
    _dropped(
        _SCALE,
        "a float parameter: the project passes floats",
        "result = double(torch.ones(3, dtype=torch.int64))",
        calls="\n\ndef double(x):\n    return scale(x, 2.0) + scale(x, by=-0.5)\n",
    ),
    _dropped(
        _DROPOUT,
        "a float parameter that may be an int, and makes no difference where it goes",
        "result = add(torch.ones(3), torch.ones(3), 0, True)",
    ),
    _dropped(
        "def f(xs: list[torch.Tensor]):\n    y = xs[0]\n    for x in xs[1:]:\n        y = y + x\n    return y\n",
        "a list that is only read",
        "result = f([torch.ones(2), torch.ones(2)])",
    ),
    _dropped(
        "def f(x):\n    return x + 1\n",
        "called where every error is taken",
        "result = g(torch.ones(2))",
        calls="\n\ndef g(x):\n    try:\n        return f(x)\n    except Exception:\n        return None\n",
    ),
    _dropped(
        _SWISH,
        "handed on as a function",
        "result = run(torch.ones(2))",
        calls="\n\ndef run(x, act=swish):\n    acts = {'swish': swish}\n    return acts['swish'](act(x))\n",
    ),
    Bad(
        f"{_HEAD}class Act(torch.nn.Module):\n    @torch.jit.script\n    def f(x):\n        return x + 1\n\n"
        "    def forward(self, x):\n        return self.f(x)\n",
        f"{_HEAD}class Act(torch.nn.Module):\n    @staticmethod\n    def f(x):\n        return x + 1\n\n"
        "    def forward(self, x):\n        return self.f(x)\n",
        why="in a class body, where it is called without self",
        run="result = observe(Act(), torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_DECORATOR}{_SWISH}\n\nclass Act(torch.nn.Module):\n    act = swish\n\n"
        "    def forward(self, x):\n        return self.act(x)\n",
        f"{_HEAD}{_SWISH}\n\nclass Act(torch.nn.Module):\n    act = staticmethod(swish)\n\n"
        "    def forward(self, x):\n        return self.act(x)\n",
        why="kept on a class",
        run="result = observe(Act(), torch.ones(2))",
        torchscript=DROP,
    ),
    # Calls
    Bad(
        f"{_HEAD}{_SWISH}\n\ndef make():\n    return torch.jit.script(swish)\n",
        f"{_HEAD}{_SWISH}\n\ndef make():\n    return swish\n",
        why="returned",
        run="result = make()(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\nacts = {{}}\nacts['swish'] = torch.jit.script(swish)\n",
        f"{_HEAD}{_SWISH}\n\nacts = {{}}\nacts['swish'] = swish\n",
        why="put into a dict",
        run="result = acts['swish'](torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\nclass Act:\n    pass\n\n\nAct.f = torch.jit.script(swish)\n",
        f"{_HEAD}{_SWISH}\n\nclass Act:\n    pass\n\n\nAct.f = staticmethod(swish)\n",
        why="put on a class",
        run="result = Act().f(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\nclass Act:\n    def __init__(self):\n        self.f = torch.jit.script(swish)\n",
        f"{_HEAD}{_SWISH}\n\nclass Act:\n    def __init__(self):\n        self.f = swish\n",
        why="kept on an instance",
        run="result = Act().f(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\nfast = torch.jit.script(swish) if torch.cuda.is_available() else swish\n",
        f"{_HEAD}{_SWISH}\n\nfast = swish\n",
        why="one arm of a choice between the scripted and the plain one",
        run="result = fast(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\ntorch.jit.script(swish)\n",
        f"{_HEAD}{_SWISH}",
        why="scripted only to see whether that works",
        run="result = swish(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}silu = torch.jit.script(torch.nn.functional.silu)\n",
        f"{_HEAD}silu = torch.nn.functional.silu\n",
        why="torch's own function",
        run="result = silu(torch.ones(2))",
        torchscript=DROP,
    ),
    # The compiler as a value
    Bad(
        f"{_HEAD}script = torch.jit.script\n\n\n{_SWISH}",
        f"{_HEAD}{_SWISH}",
        why="another name that nobody uses any more",
        run="result = swish(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}maybe = torch.jit.script if torch.cuda.is_available() else lambda f: f\n\n\n@maybe\n{_SWISH}",
        f"{_HEAD}maybe = lambda f: f\n\n\n@maybe\n{_SWISH}",
        safety="unsafe",
        why="one arm of a choice",
        run="result = swish(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}backend = {{}}\nbackend['script'] = torch.jit.script\n\n\n@backend['script']\n{_SWISH}",
        f"{_HEAD}backend = {{}}\nbackend['script'] = lambda function: function\n\n\n@backend['script']\n{_SWISH}",
        safety="unsafe",
        why="kept for others under a key",
        run="result = swish(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}fuser = torch.jit.script\nif torch.cuda.is_available():\n    fuser = torch.compile\n\n\n@fuser\n{_SWISH}",
        f"{_HEAD}fuser = lambda function: function\nif torch.cuda.is_available():\n    fuser = torch.compile\n\n\n@fuser\n{_SWISH}",
        safety="unsafe",
        why="a name that is bound again",
        run="result = swish(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\nfast = list(map(torch.jit.script, [swish]))\n",
        f"{_HEAD}{_SWISH}\n\nfast = list(map(torch.compile, [swish]))\n",
        safety="unsafe",
        why="an argument, compiled otherwise as the user wants it",
        run="torch._dynamo.config.disable = True\nresult = fast[0](torch.ones(2))",
        torchscript=_COMPILE,
    ),
    Bad(
        f"{_HEAD}fuser = torch.jit.script\n",
        why="another name that a file may use, which is imported in a way that is not followed",
        files=(("app/main.py", "from somewhere.example import fuser\n\n\n@fuser\ndef f(x):\n    return x\n"),),
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}fuser = torch.jit.script\n\n\ndef plain():\n    global fuser\n    fuser = print\n",
        "fuser = lambda function: function\n\n\ndef plain():\n    global fuser\n    fuser = print\n",
        safety="unsafe",
        why="a name that a function binds again",
        run="result = 1",
        torchscript=DROP,
    ),
    # Classes
    Bad(
        f"{_HEAD}{_DECORATOR}class Pair:\n    def __init__(self, x: torch.Tensor):\n        self.x = x\n\n\n"
        "unit = torch.jit.CompilationUnit('')\n",
        f"{_HEAD}class Pair:\n    def __init__(self, x: torch.Tensor):\n        self.x = x\n\n\n"
        "unit = torch.jit.CompilationUnit('')\n",
        safety="unsafe",
        why="a class, while something is still compiled",
        run="result = Pair(torch.ones(2)).x",
        torchscript=DROP,
    ),
    # For speed
    Bad(
        f"{_HEAD}{_DECORATOR}{_SWISH}",
        f"{_HEAD}@torch.compile\n{_SWISH}",
        why="compiled otherwise, as the user wants it",
        run="torch._dynamo.config.disable = True\nresult = swish(torch.ones(2))",
        torchscript=_COMPILE,
    ),
    Bad(
        f"{_HEAD}{_SWISH}\n\nswish = torch.jit.script(swish)\n",
        f"{_HEAD}{_SWISH}\n\nswish = torch.compile(swish)\n",
        why="a call, compiled otherwise",
        run="torch._dynamo.config.disable = True\nresult = swish(torch.ones(2))",
        torchscript=_COMPILE,
    ),
    # With review
    _dropped(
        _SCALE,
        "a float parameter that gets an int and scales what may be integers",
        "result = double(torch.ones(3, dtype=torch.int64))",
        calls="\n\ndef double(x):\n    return scale(x, 2)\n",
        safety="unsafe",
        differs="an int is passed, and the tensor holds ints",
    ),
    _dropped(
        _SCALE,
        "a float parameter, and a file names the function whose use was not found",
        "result = double(torch.ones(3, dtype=torch.int64))",
        calls="\n\ndef double(x):\n    return scale(x, 2.0)\n",
        safety="unsafe",
        files=(("app/main.py", "from somewhere.example import scale\n\nscale(1, 2)\n"),),
    ),
    _dropped(
        "def f(xs: list[torch.Tensor]):\n    xs.append(xs[0])\n    return torch.stack(xs)\n",
        "a list that is changed",
        "xs = [torch.ones(2)]\nresult = f(xs), len(xs)",
        safety="unsafe",
        differs="the list is looked at afterwards",
    ),
    _dropped(
        "def f(x, n: int):\n    n += 1\n    return x + n\n",
        "an int parameter that gets a tensor",
        "result = g(torch.ones(3))",
        calls="\n\ndef g(x):\n    return f(x, torch.argmax(x))\n",
        safety="unsafe",
    ),
    _dropped(
        "def f(x, n: float):\n    return x * (1 / n)\n",
        "a division that raises for zero in Python",
        "result = f(torch.ones(3), 2.0)",
        safety="unsafe",
    ),
    _dropped(
        "def f(x):\n    return x.chunk(2)\n",
        "a tuple, of which scripting made a list, that is not taken apart",
        "result = len(g(torch.ones(4)))",
        calls="\n\ndef g(x):\n    return f(x)\n",
        safety="unsafe",
    ),
    _dropped(
        "def f(x):\n    if x.dim() != 2:\n        raise ValueError(x)\n    return x\n",
        "an error of its own, and a handler for what TorchScript made of it",
        "result = f(torch.ones(2, 2))",
        safety="unsafe",
        files=(
            ("use.py", "import torch\n\nfrom example import f\n\ntry:\n    f(1)\nexcept torch.jit.Error:\n    pass\n"),
        ),
    ),
    _dropped(
        "def f(x):\n    return x + 1\n",
        "called where an error of one class is taken",
        "result = g(torch.ones(2))",
        calls="\n\ndef g(x):\n    try:\n        return f(x)\n    except RuntimeError:\n        return None\n",
        safety="unsafe",
    ),
    Bad(
        f"{_WRAPPING}{_DECORATOR}@twice\n{_SWISH}",
        f"{_WRAPPING}@twice\n{_SWISH}",
        safety="unsafe",
        why="a decorator below, which scripting left out",
        run="result = swish(torch.ones(2))",
        differs="the decorator changes what the function gives",
        torchscript=DROP,
    ),
    _dropped(
        "def kind(dtype: torch.dtype):\n    return dtype\n",
        "a dtype, of which TorchScript makes a number",
        "result = kind(torch.float32)",
        safety="unsafe",
        differs="TorchScript gives 6 for torch.float32",
    ),
    _dropped(
        "def ones(n: int, dtype: torch.dtype):\n    return torch.ones(n, dtype=dtype)\n",
        "a dtype that is only passed on",
        "result = ones(2, torch.float64)",
    ),
    Bad(
        f"import time\n\n{_HEAD}{_SWISH}\n\nfast = torch.jit.script(swish)\n\n\ndef measure(f, x):\n"
        "    start = time.perf_counter()\n    f(x)\n    return time.perf_counter() - start\n\n\n"
        "times = {'plain': measure(swish, torch.ones(2)), 'scripted': measure(fast, torch.ones(2))}\n",
        f"import time\n\n{_HEAD}{_SWISH}\n\nfast = swish\n\n\ndef measure(f, x):\n"
        "    start = time.perf_counter()\n    f(x)\n    return time.perf_counter() - start\n\n\n"
        "times = {'plain': measure(swish, torch.ones(2)), 'scripted': measure(fast, torch.ones(2))}\n",
        safety="unsafe",
        why="a measurement beside that of the plain function",
        run="result = sorted(times)",
        torchscript=DROP,
    ),
    Bad(
        f"{_HEAD}{_DECORATOR}{_SWISH}\n\nprint(swish.graph)\n",
        why="asked for its graph",
        torchscript=DROP,
    ),
)
