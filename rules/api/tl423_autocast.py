"""`torch.cuda.amp.autocast` and `torch.cpu.amp.autocast`: the order of arguments and the defaults differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_amp import CACHE, DTYPES, may_choose_dtype, touches_cache, triggers
from torchlift.rules.api.uses.old_call import Argument, CallAdvice, OldName, bind, changed, old_uses, spelled, value_of
from torchlift.rules.api.uses.old_class_tests import (
    asks_for_new,
    class_tests,
    finding_about_annotation,
    finding_about_test,
    first_test,
    is_class_test,
    waits,
)
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_DEVICES = {
    "torch.cuda.amp.autocast": ("cuda", "float16"),
    "torch.cuda.amp.autocast_mode.autocast": ("cuda", "float16"),
    "torch.cpu.amp.autocast": ("cpu", "bfloat16"),
    "torch.cpu.amp.autocast_mode.autocast": ("cpu", "bfloat16"),
}

_TRIGGERS = triggers(("autocast",))
_TESTS = class_tests("old_autocast_tests", _DEVICES, _TRIGGERS)
_BASE = "torch.amp.autocast"

RULE = Rule(
    code="TL423",
    name="amp-autocast",
    summary="`torch.cuda.amp.autocast` or `torch.cpu.amp.autocast`, deprecated in favour of `torch.amp.autocast`",
    why=(
        "Both warn since 2.4. The advice in the warning, `torch.amp.autocast('cuda', args...)`, is wrong for arguments by "
        "position: there the second parameter is `dtype`, so `autocast(False)` would stay enabled, silently. And without `dtype` the new "
        "one takes the dtype of the autocast around it, where the old ones always meant float16 on CUDA and bfloat16 on the CPU."
    ),
    fix=(
        "Safe: arguments become keywords, and the dtype that the old default meant is written out, unless the project can have no other, or autocast is off and nothing below can switch it on. `cache_enabled=True` is "
        "written out too where the project touches that setting anywhere. Where the project asks for an instance of the old class, "
        "that test is offered for review first, to ask for the base class; what only `with` gets to see is not held back by it."
    ),
    targets=tuple(_DEVICES),
    triggers=_TRIGGERS,
    collectors=(CACHE, DTYPES, _TESTS),
    deprecated=TorchVersion(2, 4),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/cuda/amp/autocast_mode.py:18-56, torch/cpu/amp/autocast_mode.py:17, torch/amp/autocast_mode.py of torch 2.13.0",
        "run on 2.13.0: an inner `torch.amp.autocast` takes the dtype of the outer one, the old classes do not",
    ),
)

_SINCE = TorchVersion(1, 12)


def _old(name: str) -> OldName:
    device, dtype = _DEVICES[name]
    advice = (
        f'Write `torch.amp.autocast("{device}", dtype=torch.{dtype}, enabled=...)`, with keywords: the second parameter of the '
        f'new one is the dtype, so `autocast("{device}", True)` would not do what `autocast(True)` did. Without `dtype` it takes '
        f"that of the autocast around it, which was {dtype} always."
    )
    return OldName(f"torch.{device}.amp.autocast", ("torch.amp.autocast", "torch.autocast"), advice, TorchVersion(2, 4))


_NAMES = {name: _old(name) for name in _DEVICES}


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, old = context.view, _NAMES[use.target]
    device, dtype = _DEVICES[use.target]

    def answer(call: ast.Call) -> CallAdvice:
        if (test := first_test(context, _TESTS)) is not None and not _is_entered_unseen(view, call):
            return waits(test, _BASE)
        given = bind(call, ("enabled", "dtype", "cache_enabled"))
        name = spelled(view, use, "torch.amp.autocast")
        kind = spelled(view, use, f"torch.{dtype}")
        if given is None and not call.args and any(keyword.arg is None for keyword in call.keywords):
            arguments = ", ".join(
                [
                    f'"{device}"',
                    *(
                        (f"{keyword.arg}=" if keyword.arg else "**") + view.text(keyword.value)
                        for keyword in call.keywords
                    ),
                ]
            )
            return CallAdvice(
                f"Write `torch.amp.autocast({arguments})`. Where no `dtype` is in what is spread, add `dtype=torch.{dtype}`, which the old "
                "one took always."
            )
        if given is None or name is None or kind is None:
            return CallAdvice(old.advice)
        positional = [(key, argument) for key, argument in given.items() if argument.key != key]
        add = [(key, value_of(view, argument)) for key, argument in positional]
        written = (
            "dtype" not in given and not _is_off(view, call, given) and may_choose_dtype(context.project, view.path)
        )
        if written:
            add.append(("dtype", Template(kind[0])))
        if "cache_enabled" not in given and touches_cache(context.project):
            add.append(("cache_enabled", Template("True")))
        edit = EditCall(
            view.span(call),
            Template(name[0]),
            view.span(call.func),
            drop=tuple(argument.key for _, argument in positional),
            add=tuple(add),
            first=Template(f'"{device}"'),
        )
        imports = (*name[1], *(item for item in kind[1] if written and item not in name[1]))
        rest = ", ".join(f"{key}=..." for key, _ in positional) or "..."
        texts = [f"{key}={view.text(argument.value)}" for key, argument in given.items()]
        call_now = ", ".join([f'"{device}"', *texts, *([f"dtype={kind[0]}"] if written else [])])
        answered = changed(f'Use `torch.amp.autocast("{device}", {rest})`', (edit, *imports), _SINCE)
        return replace(answered, recipe=f"Write `torch.amp.autocast({call_now})`.")

    if use.kind == "annotation":
        said = f"`{old.name}` is deprecated since torch 2.4."
        yield from finding_about_annotation("TL423", use, context, said, _BASE, _SINCE)
    elif asks_for_new(view, use):
        return
    elif is_class_test(view, use):
        yield finding_about_test("TL423", use, context, f"`{old.name}` is deprecated since torch 2.4.", _BASE, _SINCE)
    else:
        yield from old_uses("TL423", use, context, old, answer)


def _is_entered_unseen(view: ModuleView, call: ast.Call) -> bool:
    """Whether nothing but `with` or the decorated function gets the object, so that nothing can ask for its class."""
    above = view.parent(call)
    if isinstance(above, ast.withitem):
        return above.optional_vars is None
    return isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and call in above.decorator_list


def _is_off(view: ModuleView, call: ast.Call, given: Mapping[str, Argument]) -> bool:
    """Whether autocast is off in the code that a call is for, and nothing there can turn it on again."""
    enabled = given.get("enabled")
    if enabled is None or enabled.constant is not False:
        return False
    above = view.parent(call)
    with_statement = view.parent(above) if isinstance(above, ast.withitem) else None
    if not isinstance(with_statement, (ast.With, ast.AsyncWith)):
        return False
    calls = [node for statement in with_statement.body for node in walk(statement) if isinstance(node, ast.Call)]
    return all(_opens_no_autocast(view, one) for one in calls)


def _opens_no_autocast(view: ModuleView, call: ast.Call) -> bool:
    name = view.certain_name(call.func)
    if name.startswith("torch."):
        if "autocast" in name:
            return False
        return name.startswith(("torch.nn.functional.", "torch.linalg.", "torch.special.")) or name.count(".") == 1
    if isinstance(call.func, ast.Name):
        return view.resolve(call.func) is None and call.func.id in _PLAIN_FUNCTIONS
    return isinstance(call.func, ast.Attribute) and call.func.attr in _OF_TENSORS


# What tensors have and modules do not, or do without computing anything.
_OF_TENSORS = frozenset(
    "abs argmax argmin bool clamp contiguous cos cpu cuda cumsum detach dim div double exp expand expand_as flatten float gather half "
    "int item log log_softmax long matmul max mean min mm mul norm numel numpy permute pow prod repeat reshape round sigmoid sin size "
    "softmax sqrt squeeze std sub sum t tanh to tolist topk transpose type type_as unbind unsqueeze var view".split()
)
_PLAIN_FUNCTIONS = frozenset({"abs", "float", "int", "len", "max", "min", "range", "sum", "zip"})

_SEEN = """import torch
def seen(context):
    return [context.device, str(context.fast_dtype), context._enabled, context._cache_enabled]
"""

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(x, use_amp):\n    with torch.cuda.amp.autocast(use_amp):\n        pass\n"
        "    return torch.cuda.amp.autocast(), torch.cuda.amp.autocast(enabled=use_amp, dtype=torch.bfloat16)\n",
        'import torch\n\n\ndef f(x, use_amp):\n    with torch.amp.autocast("cuda", enabled=use_amp, dtype=torch.float16):\n'
        "        pass\n"
        '    return torch.amp.autocast("cuda", dtype=torch.float16), '
        'torch.amp.autocast("cuda", enabled=use_amp, dtype=torch.bfloat16)\n',
        why="on CUDA",
        run=_SEEN + "result = [seen(context) for context in f(None, True)]",
    ),
    Bad(
        "import torch\nfrom torch.cpu.amp import autocast\n\n\n@autocast(False)\ndef f(x):\n    return x @ x\n\n\n"
        "def g(x):\n    with autocast():\n        return x @ x, f(x)\n",
        'import torch\n\n\n@torch.amp.autocast("cpu", enabled=False)\ndef f(x):\n    return x @ x\n\n\n'
        'def g(x):\n    with torch.amp.autocast("cpu"):\n        return x @ x, f(x)\n',
        why="on the CPU, as a decorator too, imported by name",
        run="x = torch.arange(4.0).reshape(2, 2).cos()\nresult = g(x)",
    ),
    Bad(
        "import torch\n\n\ndef f(x):\n    with torch.autocast('cpu', torch.float16, cache_enabled=False):\n"
        "        with torch.cpu.amp.autocast():\n            return x @ x\n",
        "import torch\n\n\ndef f(x):\n    with torch.autocast('cpu', torch.float16, cache_enabled=False):\n"
        '        with torch.amp.autocast("cpu", dtype=torch.bfloat16, cache_enabled=True):\n            return x @ x\n',
        why="inside another autocast",
        run="x = torch.arange(4.0).reshape(2, 2).cos()\nresult = f(x)",
    ),
    Bad(
        "import torch\nimport torch.nn.functional as F\n\nKIND = torch.bfloat16\n\n\ndef loss(x, y):\n    with torch.cuda.amp.autocast(enabled=False):\n"
        "        return F.mse_loss(x.float(), y).sum() / max(1.0, y.numel())\n\n\ndef run(net, x):\n"
        "    with torch.cuda.amp.autocast(enabled=False):\n        return net(x)\n",
        'import torch\nimport torch.nn.functional as F\n\nKIND = torch.bfloat16\n\n\ndef loss(x, y):\n    with torch.amp.autocast("cuda", enabled=False):\n'
        "        return F.mse_loss(x.float(), y).sum() / max(1.0, y.numel())\n\n\ndef run(net, x):\n"
        '    with torch.amp.autocast("cuda", enabled=False, dtype=torch.float16):\n        return net(x)\n',
        why="switched off, where nothing can switch it on again and where a module may",
        run="x = torch.arange(4.0)\nresult = [loss(x, x + 1), run(torch.sin, x)]",
    ),
    Bad(
        "import torch.cuda.amp as amp\n\n\ndef f():\n    return amp.autocast()\n",
        'import torch\n\n\ndef f():\n    return torch.amp.autocast("cuda")\n',
        why="a module that is not torch.amp",
        run=_SEEN + "result = seen(f())",
    ),
    Bad(
        "import torch\nfrom torch.cuda.amp import autocast\n\n\ndef f() -> autocast:\n    return autocast()\n",
        'import torch\n\n\ndef f() -> torch.amp.autocast:\n    return torch.amp.autocast("cuda")\n',
        why="an annotation, which moves with what it tells of",
        run=_SEEN + "result = seen(f())",
    ),
    Bad(
        "from functools import partial\n\nfrom torch.cuda.amp import autocast\n\nhalf = partial(autocast, enabled=True)\n",
        why="a reference that is no call",
    ),
    Bad(
        "import torch\n\n\ndef make():\n    return torch.cuda.amp.autocast()\n\n\ndef is_one(value):\n"
        "    return isinstance(value, (int, torch.cuda.amp.autocast))\n",
        'import torch\n\n\ndef make():\n    return torch.amp.autocast("cuda")\n\n\ndef is_one(value):\n'
        "    return isinstance(value, (int, torch.amp.autocast))\n",
        safety="unsafe",
        why="a test for the old class, which moves first",
        run="result = [is_one(make()), is_one(1), is_one('a')]",
    ),
    Ok("import torch\n\n\ndef f():\n    return torch.autocast('cuda')\n", "the new one"),
    Ok(
        "import torch\nfrom torch.amp import autocast\n\n\ndef f():\n    return autocast('cuda')\n",
        "the new one by its name",
    ),
    Ok("import torch\nfrom mylib.amp import autocast\n\nx = autocast()\n", "a function of that name elsewhere"),
    Ok(
        "import torch\n\n\ndef f():\n    if hasattr(torch, 'autocast'):\n        return torch.autocast('cuda')\n"
        "    return None\n\n\ntry:\n    from torch.amp import autocast\nexcept ImportError:\n    from torch.cuda.amp import autocast\n",
        "a fallback for old releases",
    ),
)
