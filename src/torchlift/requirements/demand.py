"""What one requirement says about torch, in the notations of pip, Poetry and conda.

Only the lower bound matters, so the full grammars are not needed; importing `packaging` for it would cost more than all
the rest of a run that finds nothing. Sources: PEP 440 and PEP 508 for pip, "Dependency specification" in Poetry's
documentation, "Package match specifications" in conda's.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import unquote

from torchlift.lazy_dataclass import dataclass
from torchlift.versions import TorchVersion

# A name goes on as long as letters, digits and separators do: torchvision, torch-geometric and torch.fx are others.
_PIP = re.compile(r"torch(?![\w.-]*\w)\s*(?:\[[^\]]*\])?\s*(.*)", re.IGNORECASE | re.DOTALL)
_CONDA = re.compile(r"(?:[\w./-]+::)?pytorch(?:-cpu|-gpu)?(?![\w.-])\s*(.*)", re.IGNORECASE | re.DOTALL)
_CONDA_KEYWORD = re.compile(r"""\[.*?\bversion\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\]]*))""")
_WHEEL = re.compile(r"(?:^|[/\\])torch-(\d[^-/\\]*)-[^/\\]+\.whl", re.IGNORECASE)

_OPERATOR = re.compile(r"(===|==|~=|>=|<=|!=|>|<|=|\^|~)\s+")
_CLAUSE = re.compile(
    r"(===|==|~=|>=|<=|!=|>|<|=|\^|~|)(\*|v?\d+(?:\.\d+)*(?:\.?\*|(?:[-_.]?[a-z][\w.-]*)?(?:\+[\w.-]+)?))",
    re.IGNORECASE,
)
_PIP_OPERATORS = frozenset({"===", "==", "~=", ">=", "<=", "!=", ">", "<"})
_OTHER_OPERATORS = _PIP_OPERATORS | {"=", "^", "~", ""}
_WITHOUT_LOWER_BOUND = frozenset({"!=", "<", "<="})


class NotUnderstood(Exception):
    """The requirement is about torch, but its version part has no meaning; the message is that part."""


@dataclass(frozen=True)
class Demand:
    """A requirement of torch.

    Attributes:
        lowest: lowest release it allows, or None if it names none.
    """

    lowest: TorchVersion | None


def pip_demand(text: str) -> Demand | None:
    """Read a PEP 508 requirement, or the URL or path of a wheel; None if it is not about torch.

    Raises:
        NotUnderstood: its version part is malformed.
    """
    text = text.strip()
    match = _PIP.fullmatch(text)
    if match is None:
        return _wheel(text) if ".whl" in text.lower() else None
    rest = match[1]
    if rest.startswith("@"):
        return _wheel(rest[1:]) or Demand(None)
    versions = rest.partition(";")[0].strip()
    if versions.startswith("(") and versions.endswith(")"):
        versions = versions[1:-1]
    return Demand(_lowest(versions, _PIP_OPERATORS))


def poetry_demand(versions: str) -> Demand:
    """Read Poetry's constraint for torch: `^2.1`, `~2.1`, `2.1.*`, `>=2.1,<3`, `^1.13 || ^2.0`.

    Raises:
        NotUnderstood: it is malformed.
    """
    return Demand(_lowest(versions, _OTHER_OPERATORS))


def conda_demand(text: str) -> Demand | None:
    """Read a conda match specification; None if it is not about PyTorch.

    Raises:
        NotUnderstood: its version part is malformed.
    """
    match = _CONDA.fullmatch(text.strip())
    if match is None:
        return None
    rest = match[1]
    keyword = _CONDA_KEYWORD.match(rest)
    if keyword:
        return Demand(_lowest(next(filter(None, keyword.groups()), ""), _OTHER_OPERATORS))
    # Behind the version stands the build: `=2.1.0=py3.10_cuda11.8_0` or `2.1.0 py3.10_cuda11.8_0`.
    version, *_ = _tight(rest).split() or [""]
    fuzzy = re.fullmatch(r"(={1,2}[^=]+)(?:=.*)?", version)
    return Demand(_lowest(fuzzy[1] if fuzzy else version, _OTHER_OPERATORS))


def _wheel(address: str) -> Demand | None:
    match = _WHEEL.search(unquote(address.partition(";")[0].strip().partition("#")[0]))
    return Demand(TorchVersion.parse(match[1])) if match else None


def _tight(versions: str) -> str:
    """Without the blanks behind operators and around commas, so that the ones left separate clauses."""
    return re.sub(r"\s*,\s*", ",", _OPERATOR.sub(r"\1", versions.strip()))


def _lowest(versions: str, operators: Collection[str]) -> TorchVersion | None:
    """Lower bound of alternatives, each of which is a list of clauses that hold together.

    An alternative without a lower bound does not lift the bounds of the others: the lowest release that is named at all
    is what the project is known to care about.
    """
    bounds = []
    for alternative in re.split(r"\|\|?", _tight(versions)):
        clauses = [clause for clause in re.split(r"[,\s]+", alternative) if clause]
        lower = [bound for clause in clauses if (bound := _clause(clause, operators)) is not None]
        if lower:
            bounds.append(max(lower))
    return min(bounds, default=None)


def _clause(clause: str, operators: Collection[str]) -> TorchVersion | None:
    match = _CLAUSE.fullmatch(clause)
    if match is None or match[1] not in operators:
        raise NotUnderstood(clause)
    operator, version = match.groups()
    if operator in _WITHOUT_LOWER_BOUND or version == "*":
        return None
    bound = TorchVersion.parse(version)
    return bound._replace(patch=bound.patch + 1) if operator == ">" else bound
