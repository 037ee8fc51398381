"""What names such as `next_rank` obviously mean, for a reading that takes them at their word.

A reader of `dist.isend(x, next_rank)` takes `next_rank` for the rank behind this one, wherever it comes from. A strict reading
never does; one with a `Layout` does, and says each time what it took for what, see `RankState.taken`.
"""

from __future__ import annotations

import ast
import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.distributed.p2p.interpreter.keys import node_text
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import MISSING, External, Frame, Layout, Level, Unknown, Value

_FIRST = frozenset({"first"})
_LAST = frozenset({"last"})
_NEXT = frozenset({"next", "succ", "successor", "following"})
_PREVIOUS = frozenset({"prev", "previous", "pred", "predecessor", "preceding"})
# What makes a name one of a rank, beside the words that say which.
_RANK = lazy_pattern(r"(?:rank|ranks|stage|stages|neighbou?rs?|peer|node|worker|process|device|pp|partition)")
_NOT_A_NUMBER = frozenset(
    """tensor tensors req reqs request requests shape shapes group groups buffer buffers grad grads data handle handles work
    works op ops input output inputs outputs name names queue stream event result comm model module""".split()
)

_OWN = lazy_pattern(
    r"(?:\w+_)?(?:rank|rankid)(?:_id|_in_group|_in_\w+|_idx)?|(?:my_?|this_|cur(?:rent)?_|pp_|pipeline_)?stage(?:_id|_idx|_index|_num)"
    r"|(?:my_|this_|cur(?:rent)?_)stage"
)
_SIZE = lazy_pattern(
    r"(?:\w+_)?(?:world_?size|nranks|nprocs|(?:n|num|number_of)_(?:of_)?(?:stages|ranks|procs|processes|workers|partitions|gpus|nodes))"
    r"|(?:pp|cp|sp|dp|tp|ep|pipeline|parallel|ring|group|comm|ulysses|\w+_parallel)_(?:size|degree)"
)
_RANKS = lazy_pattern(r"(?:\w+_)?ranks(?:_list|_in_group)?|rank_list")
_ZERO = lazy_pattern(
    r"(?:is_)?(?:main|master)_(?:process|rank|node)|is_(?:main|master|root|rank_zero|rank0|rank_0|leader)"
)
_ROOT = lazy_pattern(r"(?:root|master|leader|driver|main)(?:_rank)?|src_or_dst")
_OTHERS = lazy_pattern(r"(?:src|source|dst|dest|send|recv|target|other|worker)_ranks")
_ENDS = lazy_pattern(
    r"(?:\w+_)?is_(?:\w+_)?(?:first|last)(?:_(?:rank|stage|pp_rank|pp|node|worker|process|device|partition|peer))?"
)
_TO = lazy_pattern(
    r"send_?(?:to|rank|dst|dest|peer)(?:_rank)?|(?:dst|dest|destination|to|receiver|right)_(?:rank|stage|peer|id|neighbou?r)"
)
_FROM = lazy_pattern(
    r"(?:recv|receive)_?(?:from|rank|src|source|peer)(?:_rank)?|(?:src|source|from|sender|left)_(?:rank|stage|peer|id|neighbou?r)"
)
_PARTNER = lazy_pattern(r"(?:\w+_)?(?:peer|partner|buddy)(?:_rank|_id)?|other_rank|neighbou?r(?:_rank|_id)?")
_NEIGHBOURS = lazy_pattern(
    r"(?:\w+_)?(?:neighbou?rs?_?(?:ranks|ids|list)|neighbou?rs|neighbou?r_ranks|peers|peer_ranks)"
)
# Names of other things, too: taken for ranks only where a rank has to stand.
_WEAK_TO = lazy_pattern(r"to|dst|dest|destination|receiver|right|successor|next|following")
_WEAK_FROM = lazy_pattern(r"src|source|sender|left|predecessor|prev|previous|preceding")


def _bare(name: str) -> str:
    lower = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    return re.sub(r"^(?:get|fetch|compute|find)_|model_(?=parallel)", "", lower)


class Meanings(RankState):
    """Names at their word, where the run was started with a layout."""

    def _meant(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        """What `node` is taken for, whose value is not known; the value itself where its name says nothing."""
        if isinstance(value, Unknown) and (value.level is Level.RANK or value.handles):
            return value
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                parent = frame.view.parent(node)
                if isinstance(parent, ast.Call) and parent.func is node:
                    return value
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as function):
                if name in {"size", "rank"} and "mesh" in node_text(function):
                    name = "mesh_rank" if name == "rank" else "world_size"
                elif not name.startswith(("get_", "is_", "_get_", "_is_")) and not _SAYS_RANK.search(name):
                    return value
            case _:
                return value
        if isinstance(value, External) and value.name.startswith(("torch.", "builtins.", "sys.", "os.")):
            return value
        meaning = self._strong(_bare(name), node_text(node))
        return value if meaning is MISSING else meaning

    def _as_rank(self, value: Value) -> Value:
        """What a value is taken for that stands where a rank has to: the other side of a message, or beside a rank."""
        if self.layout is None or not isinstance(value, Unknown) or value.level is Level.RANK or value.handles:
            return value
        text = value.key
        if not re.fullmatch(r"[\w.]+", text):
            return value
        name = _bare(text.rpartition(".")[2])
        if _WEAK_TO.fullmatch(name):
            return self._next(text)
        if _WEAK_FROM.fullmatch(name):
            return self._previous(text)
        if _ROOT.fullmatch(name):
            return self._take(text, 0, "rank 0")
        if name in {"size", "world"}:
            return self._take(text, self.size, "the number of ranks")
        meaning = self._strong(name, text)
        return value if meaning is MISSING else meaning

    def _strong(self, name: str, text: str) -> Value:
        words = set(name.split("_"))
        if not words.isdisjoint(_NOT_A_NUMBER):
            return MISSING
        if _ZERO.fullmatch(name):
            return self._take(text, self.rank == 0, "rank == 0")
        if _ENDS.fullmatch(name):
            first = not words.isdisjoint(_FIRST)
            if first:
                return self._take(text, self.rank == 0, "rank == 0")
            return self._take(text, self.rank == self.size - 1, "rank == world - 1")
        if name.startswith("is_"):
            return MISSING
        if _SIZE.fullmatch(name):
            return self._take(text, self.size, "the number of ranks")
        if _NEIGHBOURS.fullmatch(name):
            return self._neighbours(text)
        if _OTHERS.fullmatch(name):
            return self._take(text, list(range(1, self.size)), "all ranks but 0")
        if _RANKS.fullmatch(name):
            return self._take(text, list(range(self.size)), "all ranks")
        if _RANK.search(name) and not words.isdisjoint(_NEXT):
            return self._next(text)
        if _RANK.search(name) and not words.isdisjoint(_PREVIOUS):
            return self._previous(text)
        if _TO.fullmatch(name):
            return self._next(text)
        if _FROM.fullmatch(name):
            return self._previous(text)
        if _PARTNER.fullmatch(name):
            partner = self.rank ^ 1
            return self._take(text, partner if partner < self.size else None, "the rank beside this one, `rank ^ 1`")
        if _OWN.fullmatch(name):
            if not words.isdisjoint(_FIRST) or _ROOT.fullmatch(name):
                return self._take(text, 0, "rank 0")
            if not words.isdisjoint(_LAST):
                return self._take(text, self.size - 1, "the last rank")
            return self._take(text, self.rank, "the rank")
        return MISSING

    def _take(self, text: str, value: Value, meaning: str) -> Value:
        self.taken[f"`{text}` is {meaning}"] = None
        return value

    def _next(self, text: str) -> Value:
        return self._beside(text, 1, self.size - 1, "the next rank")

    def _previous(self, text: str) -> Value:
        return self._beside(text, -1, 0, "the rank before")

    def _beside(self, text: str, step: int, end: int, meaning: str) -> Value:
        self.layout_matters = True
        number = self.rank + step
        match self.layout:
            case Layout.RING:
                return self._take(text, number % self.size, f"{meaning} in a ring")
            case Layout.PAIR:
                last = step > 0
                return self._take(text, self.size - 1 if last else 0, "the last rank" if last else "rank 0")
            case Layout.STAR:
                return self._take(text, 0, "rank 0")
            case Layout.ENDS if self.rank == end:
                return self._take(text, None, f"{meaning}, if there is one")
        return self._take(text, number, f"{meaning}, if there is one")

    def _neighbours(self, text: str) -> Value:
        self.layout_matters = True
        both = [self.rank - 1, self.rank + 1]
        if self.layout is Layout.RING:
            both = list(dict.fromkeys(number % self.size for number in both))
        return self._take(text, [n for n in both if 0 <= n < self.size and n != self.rank], "the ranks on both sides")


_SAYS_RANK = lazy_pattern(r"(?:^|_)(?:next|prev|first|last|my|local|global|world|own)_?(?:\w+_)?(?:rank|stage|size)")
