"""Names that torch says it will remove: a rule over the table of changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.api_changes.changes import Deprecated, deprecated_names, first_releases, gone_names, must_be_newer
from torchlift.api_changes.successors import advice_for
from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.api.uses.table_rule import is_plain_use, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion
from torchlift.view import Use

_NAMED_RELEASE = lazy_pattern(r"deprecated (?:as of|since) (?:PyTorch |torch |version )?v?(\d+\.\d+)\b")
_TARGETS = tuple(sorted(deprecated_names()))

RULE = Rule(
    code="TL403",
    name="deprecated-name",
    summary="A name that torch or a package that goes with it has deprecated",
    why=(
        "It still works in the torch you move to, and warns or says so in its documentation; one of the next releases may remove "
        "it. The table behind this rule was read from the wheels of torch 2.0 to 2.15, and of torchvision, torchaudio, torchtext, torchdata and torchao. What a later release took back is not "
        "reported."
    ),
    fix=(
        "Manual: the advice is torch's own, where the table of successors does not know better. Names with a rule of their own "
        "are left to that; a deprecation that is only documented is an info."
    ),
    targets=_TARGETS,
    gives_way=triggers,
    sources=(
        "src/torchlift/api_changes/data/deprecated.json and companions_deprecated.json, written by scripts/api_table.py from the wheels, with the file, line and text",
        "src/torchlift/api_changes/successors.py for replacements that the text does not name",
    ),
)


def changed_in(target: str) -> TorchVersion | None:
    return deprecated_names()[target].since


def check(use: Use, context: Context) -> Iterator[Finding]:
    settings = context.settings
    row = deprecated_names()[use.target]
    if row.since > settings.target or (row.until is not None and row.until < settings.target):
        return
    gone = gone_names().get(use.target)
    if (gone is not None and gone.since <= settings.target) or not is_plain_use(use, context):
        return
    message = f"`{row.name}` {_since(row)}."
    severity = Severity.INFO if " documents: " in row.evidence else Severity.WARNING
    advice = advice_for(row.name)
    text = advice.said(row.name, settings.min_torch) if advice is not None else _own_words(row)
    if text is not None and advice is None:
        for name in dict.fromkeys(re.findall(r"torch(?:\.\w+)+", text)):
            since = first_releases().get(public_name(name))
            if public_name(name) != row.name and must_be_newer(since, row.name, settings.min_torch):
                text += f" `{name}` needs torch {since}."
    yield Finding("TL403", context.view.path, context.view.span(use.node), message, severity, text)


def _since(row: Deprecated) -> str:
    """That it is deprecated, and since which release where that is known; torch's own words may name an earlier one than the first that was found to say so."""
    named = _NAMED_RELEASE.search(row.evidence) if row.release.package == "torch" else None
    if named is not None and TorchVersion.parse(named[1]) < row.since:
        return f"was deprecated in torch {named[1]}"
    if not row.oldest:
        return f"was deprecated in {row.release}"
    return f"is deprecated, as {row.release} says"


def _own_words(row: Deprecated) -> str | None:
    """What torch itself says, where that is a text and not a call."""
    _, _, words = row.evidence.partition(": ")
    words = re.sub(r"^\.\. deprecated:: *", "", words.strip())
    if re.match(r"[\w.]+\(", words):  # a call: the last dotted name in it is what torch wants in its place
        named = [name for name in re.findall(r"'([\w.]+)'", words) if "." in name and name != row.name]
        return f"{row.release.package.capitalize()} names `{named[-1]}` in its place." if named else None
    if words.count(" ") < 2:
        return None
    words = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", words.replace("``", "`")).rstrip(". ")
    return f"{row.release.package.capitalize()} says: {words}."


EXAMPLES = (
    Bad(
        "from torch.utils.data.graph import traverse\n\n\ndef nodes(pipe):\n    return traverse(pipe)\n",
        why="a function that warns",
    ),
    Bad(
        "import torch\n\ntorch.set_default_tensor_type(torch.DoubleTensor)\n",
        why="a function whose documentation says so",
    ),
    Bad(
        "from functorch import make_functional\n\n\ndef split(model):\n    return make_functional(model)\n",
        why="a function that became a way of calling",
    ),
    Bad(
        "import torch.distributed.checkpoint as dcp\n\n\ndef save(state, writer):\n"
        "    dcp.save_state_dict(state, writer)\n",
        why="a module with an alias",
    ),
    Bad(
        "import torch\n\ntorch._dynamo.config.inline_inbuilt_nn_modules = False\n",
        why="a setting that does nothing any more",
    ),
    Ok("import torch\n\ntorch.set_default_dtype(torch.float64)\n", "the new function"),
    Ok("import torch\n\nmodel = torch.nn.Linear(2, 2)\nmodel.save_state_dict = None\n", "an attribute of a value"),
    Ok(
        "import torch.distributed as dist\n\n\ndef gather(whole, part):\n    dist.all_gather_into_tensor(whole, part)\n",
        "a deprecation that a later release took back",
    ),
    Ok(
        "try:\n    from torch.utils.data.graph import traverse_dps\nexcept ImportError:\n"
        "    from torch.utils.data.graph import traverse as traverse_dps\n",
        "an import fallback",
    ),
    Ok(
        "from mylib import set_default_tensor_type\n\nset_default_tensor_type('torch.DoubleTensor')\n",
        "another library's function",
    ),
)
