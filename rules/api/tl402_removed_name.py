"""Names that torch has removed: a rule over the table of changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.api_changes.before_the_table import EARLIER, OLDEST_READ
from torchlift.api_changes.changes import Gone, PackageRelease, gone_names
from torchlift.api_changes.companion_advice import ENDED
from torchlift.api_changes.successors import advice_for
from torchlift.finding import Finding, Severity
from torchlift.rules.api.uses.absence import copes_without
from torchlift.rules.api.uses.table_rule import is_plain_use, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion
from torchlift.view import Use
from torchlift.view.guards import is_guarded
from torchlift.view.names import longest_target
from torchlift.view.walk import statements

_TARGETS = tuple(sorted({*gone_names(), *EARLIER, *ENDED}))
_MODULES = frozenset({name for name, row in gone_names().items() if row.kind == "module"} | EARLIER.keys())

RULE = Rule(
    code="TL402",
    name="removed-name",
    summary="A name that the torch you move to, or a package that goes with it, no longer has",
    why=(
        "Importing it is an ImportError, reading it an AttributeError; a few names stay and raise when they are called. "
        "The table behind this rule was read from the wheels of torch 2.0 to 2.15, one of each minor release, and knows for each "
        "name the release that dropped it; private names that projects use are in it too. The same is known of torchvision (0.8 to 0.29), "
        "torchaudio (0.7 to 2.11), torchtext (0.8 to 0.18, its last), torchdata (0.4 to 0.11) and torchao (0.4 to 0.18), each release "
        "with the torch that it goes with; where nothing but the day ties it to one, an older release may stay and it is a warning."
    ),
    fix=(
        "Manual: the advice names the place a definition moved to, or what replaces it, and the release that has it. Names with a "
        "rule of their own (moved names, process groups, TorchScript, the linear algebra functions) are left to that."
    ),
    targets=_TARGETS,
    gives_way=triggers,
    whole_triggers=tuple(sorted(_MODULES)),
    severity=Severity.ERROR,
    sources=(
        "src/torchlift/api_changes/data/gone.json and companions_gone.json, written by scripts/api_table.py from the wheels, with the file and line of each",
        "src/torchlift/api_changes/successors.py and companion_advice.py for the replacements",
    ),
)


def changed_in(target: str) -> TorchVersion | None:
    if target in ENDED:
        return ENDED[target][2]
    return EARLIER[target].since if target in EARLIER else gone_names()[target].since


def check(use: Use, context: Context) -> Iterator[Finding]:
    settings = context.settings
    if use.target in ENDED:
        message, advice, beyond = ENDED[use.target]
        imported = context.view.parent(use.node) if isinstance(use.node, ast.alias) else None
        first = isinstance(imported, (ast.Import, ast.ImportFrom)) and imported.names[0] is use.node
        if beyond <= settings.target and first and is_plain_use(use, context):
            yield Finding("TL402", context.view.path, context.view.span(use.node), message, Severity.ERROR, advice)
        return
    earlier = EARLIER.get(use.target)
    row = gone_names().get(use.target)
    since = earlier.since if earlier is not None else row.since if row is not None else None
    if since is None or since > settings.target or not is_plain_use(use, context):
        return
    if earlier is not None:
        message, advice = _gone_earlier(use.target, since), earlier.advice
    else:
        assert row is not None
        message, advice = _message(row), _advice(row, settings)
    severity = Severity.WARNING if row is not None and row.release.of_its_day else Severity.ERROR
    yield Finding("TL402", context.view.path, context.view.span(use.node), message, severity, advice)


def whole(context: Context) -> Iterator[Finding]:
    """`import torch.gone`, which binds `torch` alone and fails all the same; where its names are used, these are reported."""
    view, target = context.view, context.settings.target
    for node in statements(view.tree):
        for alias in node.names if isinstance(node, ast.Import) else ():
            name = longest_target(public_name(alias.name), _MODULES) if alias.asname is None else None
            if name is None:
                continue
            row, earlier = gone_names().get(name), EARLIER.get(name)
            found = earlier or row
            if found is None or "." not in alias.name or found.since > target:
                continue
            if is_guarded(view, alias, target) or copes_without(view, alias, target):
                continue
            if any(use.target.startswith(name) for use in view.uses(frozenset(_TARGETS)) if use.kind != "string"):
                continue
            if earlier is not None:
                message, advice = _gone_earlier(name, earlier.since), earlier.advice
            else:
                assert row is not None
                message, advice = _message(row), _advice(row, context.settings)
            yield Finding("TL402", view.path, view.span(alias), message, Severity.ERROR, advice)


def _gone_earlier(name: str, since: TorchVersion) -> str:
    return f"`{name}` was removed in torch {since}{' or before' if since == OLDEST_READ else ''}."


def _message(row: Gone) -> str:
    if row.raises:
        when = f"since {row.release}" if row.last is not None else f"in {row.release} and later"
        return f"`{row.name}` is there in name only: every call raises {when}."
    private = "private " if "._" in row.name else ""
    return f"The {private}name `{row.name}` was removed in {row.release}."


def _advice(row: Gone, settings: Settings) -> str:
    known = advice_for(row.name)
    if known is not None:
        return known.said(row.name, settings.min_torch)
    relation, since, successor = _successor(row, settings)
    if relation == "re-exported":
        return f"It was an import of `{public_name(successor)}`, which is still there: import that."
    if relation in {"moved", "renamed"}:
        hidden = " That name is private and may move again." if "._" in successor else ""
        return f"{since.opening} has it as `{successor}`.{hidden}"
    package = row.release.package
    if row.last is None:
        return f"It says: {row.evidence.partition(' raises: ')[2]}"
    private = f"It was private to {package}. " if "._" in row.name else ""
    return f"{private}No successor is known here. {row.last.opening} is the last release with it."


def _successor(row: Gone, settings: Settings) -> tuple[str, PackageRelease, str]:
    """How the name is related to what the target has in its place, since when, and its name; that may have moved on."""
    relation, since, successor = row.relation, row.release, row.successor
    later = gone_names().get(public_name(successor))
    while later is not None and later.since <= settings.target:
        relation, since, successor = later.relation and "moved", later.release, later.successor
        later = gone_names().get(public_name(successor))
    return relation, since, successor


EXAMPLES = (
    Bad(
        "import torch\nimport torch.distributed.deprecated\nimport torchaudio.kaldi_io\n\nprint(torch.ones(1))\n",
        why="modules that bind no name of their own",
    ),
    Ok("try:\n    import torch._six\nexcept ImportError:\n    pass\n", "a module that may be missing"),
    Bad(
        "import torch\n\n\ndef largest(a):\n    return torch.eig(a).eigenvalues[:, 0].max()\n",
        why="a function that only raises",
    ),
    Bad("from torch.utils import bottleneck\n\nprint(bottleneck)\n", why="a module"),
    Bad(
        "from torch.distributed.tensor.parallel import PairwiseParallel, parallelize_module\n\n\n"
        "def split(model, mesh):\n    return parallelize_module(model, mesh, PairwiseParallel())\n",
        why="one of two imported names",
    ),
    Bad(
        "from torch.ao.quantization.quantize_pt2e import prepare_pt2e\n\n\ndef prepare(model, quantizer):\n"
        "    return prepare_pt2e(model, quantizer)\n",
        why="a deprecated name that went with its module",
    ),
    Bad(
        "import torch._dynamo as dynamo\n\ndynamo.config.log_level = 10\ndynamo.config.suppress_errors = True\n",
        why="a setting, which a configuration module refuses to take",
    ),
    Bad(
        "import torch\n\n\ndef pool(allocator):\n    return torch.cuda.MemPoolContext(allocator)\n",
        why="an attribute",
    ),
    Bad(
        "from torch._six import container_abcs, string_classes\n\n\ndef is_text(x):\n"
        "    return isinstance(x, string_classes) or isinstance(x, container_abcs.Sequence)\n",
        why="a module that was gone before torch 2.0",
    ),
    Bad(
        "import torch.fx.experimental.symbolic_shapes as shapes\n\n\ndef certainly(x):\n"
        "    return shapes.definitely_true(x == 1)\n",
        why="a name of a module with an alias",
    ),
    Bad(
        "import torch\n\nif torch.cuda.is_available():\n    torch.cuda.tunable.write_file()\n",
        why="under a condition about something else",
    ),
    Bad(
        "import torchaudio\n\n\ndef rate(path):\n    return torchaudio.info(path).sample_rate\n",
        why="a function that torchaudio dropped",
    ),
    Bad(
        "from torchdata.datapipes.iter import IterableWrapper\n\npipe = IterableWrapper(range(3))\n",
        why="a package that a later torchdata has not, which no torch asks for",
    ),
    Bad(
        "from torchtext.data import Field\n\nTEXT = Field()\n",
        why="a class of torchtext that went long before the package ended",
    ),
    Bad(
        "import torchtext\n\ntokenize = torchtext.data.utils.get_tokenizer('basic_english')\n",
        why="a package that ended",
    ),
    Ok(
        "try:\n    from torchvision.transforms.functional_tensor import _max_value\nexcept ImportError:\n"
        "    from torchvision.transforms._functional_tensor import _max_value\n",
        "a fallback for another torchvision",
    ),
    Ok(
        "import torch\n\nif hasattr(torch.cuda, 'MemPoolContext'):\n    context = torch.cuda.MemPoolContext\n",
        "hasattr asks first",
    ),
    Ok(
        "try:\n    from torch._six import string_classes\nexcept ImportError:\n    string_classes = (str, bytes)\n",
        "an import fallback",
    ),
    Ok(
        "try:\n    from torch._six import string_classes\nexcept:\n    string_classes = (str, bytes)\n",
        "an import fallback for any error",
    ),
    Ok(
        "import torch\n\nTORCH_VERSION = tuple(int(x) for x in torch.__version__.split('.')[:2])\n\n\n"
        "def strict():\n    if TORCH_VERSION >= (1, 8):\n        return torch.use_deterministic_algorithms(True)\n"
        "    return torch.set_deterministic(True)\n",
        "the other release has returned before",
    ),
    Ok(
        "import torch\n\nTORCH_MAJOR = int(torch.__version__.split('.')[0])\n"
        "TORCH_MINOR = int(torch.__version__.split('.')[1])\n\nif TORCH_MAJOR == 1 and TORCH_MINOR < 8:\n"
        "    from torch._six import container_abcs\nelse:\n    import collections.abc as container_abcs\n",
        "a branch on the parts of a release",
    ),
    Ok(
        "import torch\n\n\ndef pool(allocator):\n    assert hasattr(torch.cuda, 'MemPoolContext'), 'torch 2.5 to 2.7'\n"
        "    return torch.cuda.MemPoolContext(allocator)\n",
        "an assert asks first",
    ),
    Ok(
        "from typing import TYPE_CHECKING\n\nVERSION_2_6 = True\nif TYPE_CHECKING:\n    if VERSION_2_6:\n"
        "        from torch.onnx import ONNXProgram\n    else:\n"
        "        from torch.onnx._internal.exporter import ONNXProgram\n\n\ndef export() -> 'ONNXProgram': ...\n",
        "an annotation in quotes",
    ),
    Ok("import torchy as torch\n\ntorch.utils.bottleneck()\n", "another library"),
    Ok(
        "class Export:\n    def dynamic_dim(self, x):\n        return x\n\n\ndef export(torch):\n"
        "    return torch.export.dynamic_dim(torch, 0)\n",
        "a parameter called torch",
    ),
    Ok("import torch\n\nx = torch.ones(3)\nx.rfft(1)\n", "a method of a value"),
    Ok(
        "try:\n    from torch._six import inf\n\n    HAS_SIX = True\nexcept ImportError:\n    HAS_SIX = False\n\n\n"
        "def limit():\n    if HAS_SIX:\n        import torch._six\n\n        return torch._six.nan\n    return float('inf')\n",
        "a flag that says whether the import worked",
    ),
    Bad(
        "try:\n    import torch.distributed\n\n    HAS = True\nexcept ImportError:\n    HAS = False\n\n\n"
        "def limit():\n    if HAS:\n        import torch._six\n\n        return torch._six.nan\n",
        why="a flag of another import",
    ),
    Ok("import torch.utils\n\ntorch.utils.bottleneck = None\n", "a store to a module that takes any name"),
    Ok(
        '"""torch.utils.bottleneck and torch.cuda.MemPoolContext are gone."""\nNAMES = ["torch.utils.bottleneck"]\n',
        "text",
    ),
)
