"""What is looked for in files is the same whether it comes from the index or is put together for the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from torchlift.api_changes.newer_names import last_words
from torchlift.migrate.find.check import Dispatcher
from torchlift.migrate.find.selection import Sieves
from torchlift.project import Project
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.rules.rule_index import indexed_rules, newer_words, search_terms
from torchlift.rules.search_terms import terms_of
from torchlift.search.prefilter import Words
from torchlift.search.vocabulary import words_in
from torchlift.wrappers import DEFAULT_WRAPPERS, Wrapper, Wrappers


def test_the_index_has_the_terms_of_all_rules_and_all_words_of_newer_names() -> None:
    kept = search_terms(frozenset(indexed_rules()), DEFAULT_WRAPPERS)
    made = terms_of(all_rules().values(), Wrappers())
    assert kept is not None and kept.words == made.words
    assert newer_words() == last_words() and len(newer_words()) > 1000
    for rule in all_rules().values():
        for example in rule.examples:
            data = example.before.encode() if hasattr(example, "before") else example.code.encode()
            words = Words(data, words_in(data))
            assert kept.prefilter.found_among(words) == made.prefilter.found_among(words)


@pytest.mark.parametrize("codes", [{"TL401"}, {"TL101", "TL402"}, {"TL210", "TL501"}])
def test_who_runs_some_rules_is_not_told_of_the_others(codes: set[str]) -> None:
    some = [rule for code, rule in indexed_rules().items() if code in codes]
    sieves, alone = Sieves(some, Settings()), terms_of(some, Wrappers())
    for rule in all_rules().values():
        for example in rule.examples:
            data = example.before.encode() if hasattr(example, "before") else example.code.encode()
            words = Words(data, words_in(data))
            together, others = sieves.found(words)
            assert together | others == alone.prefilter.found_among(words)


def test_own_rules_and_wrappers_have_terms_of_their_own() -> None:
    assert search_terms(frozenset({"X100"}), DEFAULT_WRAPPERS) is None
    assert search_terms(frozenset({"TL401"}), (Wrapper("mylib.dist", "torch.distributed"),)) is None


def test_a_rule_about_whole_files_is_asked_where_all_words_of_a_trigger_stand(tmp_path: Path) -> None:
    asked: list[str] = []
    rule = replace(all_rules()["TL606"], whole=lambda context: asked.append(context.view.path) or ())
    texts = {
        "other.py": "import torch\n",
        "flag.py": "import torch\nflags = ['-D_GLIBCXX_USE_CXX11_ABI=0']\n",
        "half.py": "flags = ['-D_GLIBCXX_USE_CXX11_ABI=0']\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    project = Project(tmp_path, tuple(sorted(texts)))
    for name in texts:
        Dispatcher([rule]).check(project, project.parse(name), Settings())
    assert asked == ["flag.py"]
