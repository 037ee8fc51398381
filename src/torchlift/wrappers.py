"""Modules that mirror a module of torch: what they are called with is what torch is called with.

`deepspeed.comm.new_group(...)` does what `torch.distributed.new_group(...)` does, so rules hear about it under torch's
name. Whether such a module also has the names a fix would write is not known, so nothing reached through one is
rewritten unless the user says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern

_DOTTED = lazy_pattern(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class Wrapper:
    """One module that mirrors another.

    Attributes:
        module: its dotted name.
        mirrors: the module of torch that has the same functions.
        rewrite: whether fixes may be applied to what is reached through it.
        sign: a word that stands in every file that uses it; the last part of its name unless given.
    """

    module: str
    mirrors: str
    rewrite: bool = False
    sign: str = ""

    @property
    def word(self) -> str:
        """The word to look for in the bytes of a file."""
        return self.sign or self.module.rpartition(".")[2]


# `deepspeed/comm/comm.py` of 0.19.8 defines the functions of torch.distributed with the same leading parameters, and
# `deepspeed/comm/__init__.py` exports them.
DEFAULT_WRAPPERS = (
    Wrapper("deepspeed.comm", "torch.distributed", sign="deepspeed"),
    Wrapper("deepspeed.comm.comm", "torch.distributed", sign="deepspeed"),
)
"""What is known without configuration."""


def problem_with_wrapper(module: str, mirrors: str) -> str | None:
    """What is wrong with a configured wrapper, as the end of a sentence about it; None if nothing is."""
    if not _DOTTED.fullmatch(module):
        return f"`{module}` is not the dotted name of a module"
    if module.partition(".")[0] == "torch":
        return f"`{module}` is torch's own"
    if not _DOTTED.fullmatch(mirrors):
        return f"`{mirrors}` is not the dotted name of a module"
    if not mirrors.startswith("torch."):
        return f"`{mirrors}` is not a module of torch; write one such as `torch.distributed`"
    return None


class Wrappers:
    """All wrappers of a run, by the names of their modules."""

    def __init__(self, wrappers: Iterable[Wrapper] = DEFAULT_WRAPPERS) -> None:
        self._by_module = {wrapper.module: wrapper for wrapper in wrappers}
        self._heads = frozenset(module.partition(".")[0] for module in self._by_module)
        # Of each, the last word of what it mirrors, and what a trigger may ask for there.
        self._mirrored = tuple(
            (wrapper, wrapper.mirrors.rpartition(".")[2], frozenset((wrapper.mirrors, *wrapper.mirrors.split("."))))
            for wrapper in self._by_module.values()
        )

    def of(self, name: str) -> Wrapper | None:
        """The wrapper that `name` is, or is reached through."""
        if name.partition(".")[0] not in self._heads:
            return None
        while name:
            wrapper = self._by_module.get(name)
            if wrapper is not None:
                return wrapper
            name = name.rpartition(".")[0]
        return None

    def mirrored(self, name: str) -> str:
        """Torch's name for what is reached through a wrapper; other names as they are."""
        wrapper = self.of(name)
        return name if wrapper is None else wrapper.mirrors + name[len(wrapper.module) :]

    def triggers(self, words: Iterable[str]) -> tuple[str, ...]:
        """Triggers as `Prefilter` takes them, with those that ask for a mirrored module asking for its wrappers, too."""
        found = dict.fromkeys(words)
        for trigger in tuple(found):
            word, _, companion = trigger.partition(" & ")
            for wrapper, mirrored, companions in self._mirrored:
                if mirrored in word or companion in companions:
                    name = wrapper.module.rpartition(".")[2]
                    called = re.sub(rf"(?<![\w.]){mirrored}(?=[. ])", name, word)
                    asked = wrapper.word if companion in companions else companion
                    found[f"{called} & {asked}" if asked else called] = None
        return tuple(found)
