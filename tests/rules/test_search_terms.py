"""What is looked for in files is the same whether it comes from the index or is put together for the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from torchlift.api_changes.newer_names import last_words
from torchlift.migrate.find.check import Dispatcher
from torchlift.migrate.find.selection import RULES, Selection, Sieves
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


def test_what_is_gone_has_a_file_parsed_where_it_is_torchs_and_not_where_its_word_stands(tmp_path: Path) -> None:
    files = {
        "other.py": "from torch.utils import data\n\n\ndef bottleneck(x):\n    return data, x\n",
        "gone.py": "from torch.utils import bottleneck\n\nprint(bottleneck)\n",
        "unbound.py": "import os, torch.distributed.deprecated\n",
        "below.py": "import torch.utils.bottleneck.__main__\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    selection = Selection(Project(tmp_path, sorted(files)), Sieves([all_rules()["TL402"]], Settings()))
    assert {name for name in files if RULES in selection.wanted_by(name)} == files.keys() - {"other.py"}


def test_a_rule_with_triggers_for_whole_files_is_asked_about_its_names_one_by_one() -> None:
    rule = all_rules()["TL402"]
    found = terms_of([rule], Wrappers()).prefilter.found(b"from torch.utils import bottleneck\n")
    assert found == {"TL402 torch.utils.bottleneck"}
    assert "TL402" in terms_of([rule], Wrappers()).prefilter.found(b"import torch.utils.bottleneck\n")
