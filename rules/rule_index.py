"""The rules as a run needs them: what they look for, and their code as soon as it is called.

To import every rule takes several times as long as to look at a small change. A wheel therefore brings along what is known
about them; where torchlift runs from its sources it is kept beside Python's own compiled modules, as long as no file of
torchlift changes.
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torchlift
import torchlift.rules
from torchlift.code_files import code_files
from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector
from torchlift.rules.registry import loaded_rules, rule_in
from torchlift.rules.rule import Rule
from torchlift.wrappers import DEFAULT_WRAPPERS, Wrapper, Wrappers

if TYPE_CHECKING:
    from torchlift.rules.search_terms import SearchTerms

_IN_WHEEL = "rule_index.pickle"
_INSTALLING = 600
"""Seconds between the first and the last file of one installation, at most."""


@dataclass(frozen=True)
class _Index:
    """What is known of the rules; the parts that only some runs need are pickled for themselves.

    Attributes:
        rules: every rule by its code, in the order of the codes.
        terms: the `SearchTerms` of all rules, with the wrappers that are known without configuration.
        newer: `newer_names.last_words()`.
    """

    rules: dict[str, Rule]
    terms: bytes
    newer: bytes


def indexed_rules() -> Mapping[str, Rule]:
    """Every rule by its code, in the order of the codes: as `all_rules`, but without examples."""
    return _index().rules


@cache
def search_terms(codes: frozenset[str], wrappers: tuple[Wrapper, ...]) -> SearchTerms | None:
    """What the rules `codes`, and perhaps others, look for; None where they, or the wrappers, are not those of the index."""
    index = _index()
    if wrappers != DEFAULT_WRAPPERS or not codes <= index.rules.keys():
        return None
    terms: SearchTerms = pickle.loads(index.terms)
    return terms


@cache
def newer_words() -> frozenset[bytes]:
    """Last words of the names that are newer than the oldest release of the tables."""
    words: frozenset[bytes] = pickle.loads(_index().newer)
    return words


@cache
def _index() -> _Index:
    shipped = _shipped()
    if shipped is not None:
        return shipped
    state = _state()
    kept = Path(cache_from_source(__file__)).with_suffix(".pickle")
    if state is not None:
        with suppress(Exception):  # whatever is wrong with it, it is made anew
            found, index = pickle.loads(kept.read_bytes())
            if found == state and isinstance(index, _Index):
                return index
    index = _made()
    if state is not None and not sys.dont_write_bytecode:
        _keep(kept, pickle.dumps((state, index), protocol=pickle.HIGHEST_PROTOCOL))
    return index


def ship() -> None:
    """Write what is known about the rules beside this file: the wheel is built with it."""
    (Path(__file__).parent / _IN_WHEEL).write_bytes(pickle.dumps((_sizes(), _made()), protocol=4))


def _shipped() -> _Index | None:
    """What came with the wheel; None where torchlift does not run from one, or somebody has changed a file since."""
    path = Path(__file__).with_name(_IN_WHEEL)
    with suppress(Exception):  # whatever is wrong with it, it is made anew
        data, installed = path.read_bytes(), path.stat().st_mtime
        sizes, index = pickle.loads(data)
        if sizes == _sizes(written_before=installed + _INSTALLING) and isinstance(index, _Index):
            return index
    return None


def _sizes(written_before: float | None = None) -> frozenset[tuple[str, int]]:
    """The files that the rules are made of, with their sizes; without those that were written later."""
    (root,) = torchlift.__path__
    return frozenset(
        (path[len(root) :].replace(os.sep, "/"), size)
        for path, written, size in code_files(root, without="migrate")
        if not path.endswith(_IN_WHEEL) and (written_before is None or written < written_before * 1e9)
    )


def _made() -> _Index:
    from torchlift.api_changes.newer_names import last_words
    from torchlift.rules.search_terms import terms_of

    rules = {code: _described(rule, module) for code, (rule, module) in loaded_rules().items()}
    parts = terms_of(rules.values(), Wrappers()), last_words()
    return _Index(rules, *(pickle.dumps(part, protocol=4) for part in parts))


@dataclass(frozen=True)
class _Late:
    """A function of a rule that is found when it is called.

    Attributes:
        module: the module that defines the rule.
        field: which of its functions.
        collector: name of the collector that has the function, where it is one's.
    """

    module: str
    field: str
    collector: str = ""

    def __call__(self, *arguments: Any) -> Any:
        return _found(self)(*arguments)


@cache
def _found(late: _Late) -> Any:
    rule = rule_in(importlib.import_module(late.module))
    owner = next((c for c in rule.collectors if c.name == late.collector), rule) if late.collector else rule
    return getattr(owner, late.field)


@dataclass(frozen=True)
class _Table:
    """The triggers of each target of a rule that makes them one by one, pickled: `search_terms` has them for most runs."""

    triggers: bytes

    def __call__(self, targets: tuple[str, ...]) -> tuple[str, ...]:
        known = _unpacked(self)
        return tuple(sorted({trigger for target in targets for trigger in known[target]}))


@cache
def _unpacked(table: _Table) -> Mapping[str, tuple[str, ...]]:
    triggers: Mapping[str, tuple[str, ...]] = pickle.loads(table.triggers)
    return triggers


def _table(rule: Rule) -> _Table | None:
    if rule.gives_way is None:
        return None
    return _Table(pickle.dumps({target: rule.gives_way((target,)) for target in rule.targets}, protocol=4))


def _described(rule: Rule, module: str) -> Rule:
    def late(field: str, collector: str = "") -> _Late:
        return _Late(module, field, collector)

    def described(collector: Collector) -> Collector:
        return replace(
            collector,
            collect=late("collect", collector.name),
            matters=late("matters", collector.name) if collector.matters is not None else None,
            text=late("text", collector.name) if collector.text is not None else None,
        )

    return replace(
        rule,
        check=late("check"),
        text=late("text") if rule.text is not None else None,
        matters=late("matters") if rule.matters is not None else None,
        changed_in=late("changed_in") if rule.changed_in is not None else None,
        whole=late("whole") if rule.whole is not None else None,
        # Asked in every run: one that stands apart from the rule spares importing that.
        wants=late("wants") if rule.wants is not None and rule.wants.__module__ == module else rule.wants,
        applies=late("applies") if rule.applies is not None else None,
        gives_way=_table(rule),
        collectors=tuple(map(described, rule.collectors)),
        examples=(),
    )


def _state() -> tuple[object, ...] | None:
    """What tells one state of torchlift's files from another; None if they are no files."""
    try:
        return (sys.version, *code_files(*torchlift.__path__, *torchlift.rules.__path__))
    except OSError:
        return None


def _keep(path: Path, data: bytes) -> None:
    """Write a file that others may be reading. Where that is not allowed, the next run makes it again."""
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_bytes(data)
        unfinished.replace(path)
