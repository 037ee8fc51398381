"""What torch's wheels require of ordinary packages, where a pin beside torch can stand against it.

Source: `Requires-Dist` in METADATA of the Linux wheels 2.0.1 to 2.15.0 on PyPI, the newest of each minor release, for Python 3.9 and
newer, read 2026-11-26.
"""

from __future__ import annotations

from torchlift.rules.dependencies.builds import Line

_SINCE: tuple[tuple[Line, dict[str, str]], ...] = (
    ((2, 2), {"typing-extensions": ">=4.8.0"}),
    ((2, 5), {"sympy": "==1.13.1"}),
    ((2, 6), {"typing-extensions": ">=4.10.0"}),
    ((2, 7), {"sympy": ">=1.13.3"}),
    ((2, 9), {"networkx": ">=2.5.1", "fsspec": ">=0.8.5"}),
    ((2, 11), {"setuptools": "<82"}),
    ((2, 13), {"setuptools": ">=77.0.3"}),
    ((2, 15), {"typing-extensions": ">=4.13.0"}),
)


def required_by_torch(line: Line, name: str) -> str | None:
    """The versions of a package, by its normalised name, that torch of a line can be installed with; None where all will do."""
    return next((asked[name] for since, asked in reversed(_SINCE) if since <= line and name in asked), None)
