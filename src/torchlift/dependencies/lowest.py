"""The lowest release that a requirement allows."""

from __future__ import annotations

from torchlift.dependencies.pin import Clause, Pin
from torchlift.versions import TorchVersion

_WITHOUT_LOWER_BOUND = frozenset({"!=", "<", "<="})


def lowest_release(pin: Pin) -> TorchVersion | None:
    """The lowest release of torch that a requirement of it allows; None if it names none.

    An alternative without a lower bound does not lift the bounds of the others: the lowest release that is named at all
    is what the project is known to care about.
    """
    if pin.file:
        return TorchVersion.parse(pin.file)
    choices = [[bound for clause in choice if (bound := _bound(clause)) is not None] for choice in pin.alternatives]
    return min((max(bounds) for bounds in choices if bounds), default=None)


def _bound(clause: Clause) -> TorchVersion | None:
    if clause.operator in _WITHOUT_LOWER_BOUND or clause.version == "*":
        return None
    bound = TorchVersion.parse(clause.version)
    if bound[:2] == (0, 0):
        return None  # `>=0.0.0a1` lets releases before the final one in, and names none
    return bound._replace(patch=bound.patch + 1) if clause.operator == ">" else bound
