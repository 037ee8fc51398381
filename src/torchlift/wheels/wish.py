"""What a requirement on torch allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern

# `packaging` compiles patterns as it is imported, for as long as three small files are checked: most who come by here
# have no requirement.
if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

_BARE = lazy_pattern(r"\s*v?(\d+(?:\.\d+)*)\s*")
_LOCAL = lazy_pattern(r"(==\s*[^,+\s]+)\+([A-Za-z0-9][A-Za-z0-9._-]*)")


@dataclass(frozen=True)
class Wish:
    """A torch requirement; everything is allowed when `specifier` is empty or None."""

    specifier: SpecifierSet | None = None
    build: str | None = None
    """The build named by a local version, "cu126" of "==2.15.0+cu126"."""

    @classmethod
    def any(cls) -> Wish:
        """No requirement at all."""
        return cls()

    @property
    def narrow(self) -> bool:
        """It excludes anything."""
        return bool(self.specifier) or self.build is not None

    def allows(self, version: str) -> bool:
        """Whether a release satisfies it; the build is not looked at."""
        return self.specifier is None or self.specifier.contains(version, prereleases=True)

    @property
    def pinned(self) -> str | None:
        """The one version it names, None for anything wider."""
        exact = [
            item.version for item in self.specifier or () if item.operator == "==" and not item.version.endswith(".*")
        ]
        return exact[0] if exact else None

    @property
    def beyond(self) -> Version | None:
        """The highest version that it names as allowed or as a lower bound."""
        from packaging.version import InvalidVersion, Version

        named = []
        for item in self.specifier or ():
            if item.operator in ("==", "===", ">=", ">", "~="):
                try:
                    named.append(Version(item.version.removesuffix(".*")))
                except InvalidVersion:
                    continue
        return max(named, default=None)

    def __str__(self) -> str:
        wanted = str(self.specifier or "") + (f"+{self.build}" if self.build else "")
        return f"torch{wanted}"


def read_wish(text: str | None) -> Wish | None:
    """A wish from "torch==2.15", ">=2.6,<2.9", "2.15" (any 2.15) or "torch==2.15.0+cu126"; None when it is no
    requirement on torch."""
    stripped = (text or "").strip()
    if not stripped or stripped == "torch":
        return Wish.any()
    bare = _BARE.fullmatch(stripped)
    if bare:
        stripped = f"=={bare[1]}" + ("" if bare[1].count(".") >= 2 else ".*")
    local = _LOCAL.search(stripped)
    if local:
        stripped = _LOCAL.sub(r"\1", stripped)
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        if stripped[0] in "=<>!~":
            specifier = SpecifierSet(stripped)
        else:
            requirement = Requirement(stripped)
            if requirement.name.lower() != "torch" or requirement.url:
                return None
            specifier = requirement.specifier
    except (InvalidRequirement, InvalidSpecifier):
        return None
    return Wish(specifier, local[2].lower() if local else None)
