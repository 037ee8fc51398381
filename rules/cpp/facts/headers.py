"""What torch's headers lost and deprecate, and which C++ they need: the table in data/, read when asked for.

`scripts/cpp_table.py` reads it from the wheels and says how.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pkgutil import get_data

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.versions import TorchVersion

USERS_OF_HEADERS = ("include & torch/", "include & ATen/", "include & c10/", "torch & torch::", "Tensor & at::")
"""Words of C++, some of which stand wherever a name of torch's headers that is no macro is used."""


@dataclass(frozen=True)
class DeprecatedInCpp:
    """A deprecated name.

    Attributes:
        since: the first release that says so.
        said: what the newest one says; may be empty.
    """

    since: TorchVersion
    said: str


@dataclass(frozen=True)
class HeaderTable:
    """Names of C++ by what became of them.

    Attributes:
        files: files that may no longer be included, with the first release without each.
        macros: macros that no header has, likewise.
        names: qualified names of which no header has the last part, likewise.
        pasted: functions of TH and THC by the macro that puts their names together (`THTensor_(add)`), likewise.
        deprecated: qualified names that are still there.
    """

    files: Mapping[str, TorchVersion]
    macros: Mapping[str, TorchVersion]
    names: Mapping[str, TorchVersion]
    pasted: Mapping[str, TorchVersion]
    deprecated: Mapping[str, DeprecatedInCpp]

    def gone(self, spellings: Iterable[str]) -> tuple[str, TorchVersion] | None:
        """The first of several spellings that is gone, or stands below a name that is."""
        for name in spellings:
            parts = name.split("::")
            for length in range(2, len(parts) + 1):
                known = "::".join(parts[:length])
                if known in self.names:
                    return known, self.names[known]
        return None

    def gone_with_its_macro(self, name: str) -> TorchVersion | None:
        """The first release without a function of which no header spells the name: `THFloatTensor_add`."""
        match = _PASTED.fullmatch(name)
        if match is None:
            return None
        macro = f"TH{(match['cuda'] and 'C') or ''}{match['kind']}_"
        return self.pasted.get(f"{macro}({match['function']})") or self.names.get(macro)


# `TH_CONCAT_4(TH, Real, Tensor_, add)`
_PASTED = lazy_pattern(
    r"TH(?P<cuda>C(?:uda)?)?(?:Byte|Char|Short|Int|Long|Half|Float|Double|Bool|BFloat16|ComplexFloat|ComplexDouble)?"
    r"(?P<kind>Tensor|Storage|Blas|Lapack|Vector)_(?P<function>\w+)"
)


@cache
def header_table() -> HeaderTable:
    """The table."""
    data = get_data("torchlift.rules.cpp", "data/headers.json")
    assert data is not None
    table = json.loads(data)

    def releases(kind: str) -> dict[str, TorchVersion]:
        return {name: TorchVersion.parse(release) for name, release in table[kind].items()}

    deprecated = {
        name: DeprecatedInCpp(TorchVersion.parse(since), said) for name, (since, said) in table["deprecated"].items()
    }
    return HeaderTable(releases("files"), releases("macros"), releases("names"), releases("pasted"), deprecated)
