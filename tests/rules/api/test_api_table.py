"""The table of torch's changing API: its shape, what it says held against the installed torch, and the rules over it."""

from __future__ import annotations

import ast
import importlib.util
import json
import mmap
import re
import sys
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files
from torch_programs import TorchPrograms

from torchlift.api_changes import changes
from torchlift.api_changes.before_the_table import EARLIER
from torchlift.api_changes.deprecated_in_c import SAID_IN_C
from torchlift.api_changes.successors import ADVICE
from torchlift.finding import Severity
from torchlift.rules.api.tables.moved_names import MOVED_NAMES
from torchlift.rules.distributed.facts.distributed_names import DISTRIBUTED_NAMES
from torchlift.rules.registry import all_rules
from torchlift.search.prefilter import Prefilter
from torchlift.torch_names import public_name
from torchlift.versions import LATEST, TorchVersion
from torchlift.view.names import longest_target
from torchlift.wheels.tables import table

DATA = Path(changes.__file__).parent / "data"
FILES = ("gone", "deprecated", "arguments", "added")
TABLE_RULES = ("TL402", "TL403", "TL404")
INSTALLED = TorchVersion(2, 13)
_ASK = """
import contextlib, importlib, io, json, warnings
warnings.simplefilter("ignore")

def has(name):
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            if not ".".join(parts[:end]).startswith(error.name or "?"):
                return "needs " + str(error.name)
            continue
        except (ImportError, RuntimeError, SystemExit) as error:
            return f"cannot be imported here: {type(error).__name__}"
        for part in parts[end:]:
            try:
                found = getattr(found, part)
            except AttributeError:
                return "no"
            except ModuleNotFoundError as error:
                return "needs " + str(error.name)
        return "yes"
    return "no"

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    answers = {name: has(name) for name in NAMES}
result = json.dumps(answers)
"""


def ask(names: list[str], folder: Path, programs: TorchPrograms) -> dict[str, str]:
    kind, answers = programs.run(folder, {}, f"NAMES = {names!r}\n{_ASK}")
    assert kind == "str"
    found: dict[str, str] = json.loads(answers)
    assert len(found) == len(set(names)) > 0
    return found


def content(name: str) -> dict[str, object]:
    read: dict[str, object] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return read


def rows(name: str) -> list[list[str]]:
    found = content(name)["rows"]
    assert isinstance(found, list) and len(found) > 50
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_file_covers_every_release_and_all_were_written_together(name: str) -> None:
    found, first = content(name), content("gone")
    assert {key: found[key] for key in ("date", "wheels", "asked_by_import")} == {
        key: first[key] for key in ("date", "wheels", "asked_by_import")
    }
    assert isinstance(found["wheels"], dict)
    releases = [TorchVersion.parse(release) for release in found["wheels"]]
    assert releases == [TorchVersion(2, minor) for minor in range(LATEST.minor + 1)]
    for release, wheel in found["wheels"].items():
        assert re.match(rf"torch-{re.escape(release)}\.\d+(?:-\d+)?-cp3\d+-cp3\d+-manylinux\w*x86_64\.whl$", wheel)


def test_the_installed_files_are_small() -> None:
    assert sum((DATA / f"{name}.json").stat().st_size for name in FILES) < 1_000_000


def test_releases_follow_each_other() -> None:
    known = [TorchVersion(2, minor) for minor in range(LATEST.minor + 1)]
    companions = content("companions_gone")["wheels"]
    assert isinstance(companions, dict) and tuple(companions) == changes.COMPANIONS
    order = {"torch": list(map(str, known)), **{package: list(wheels) for package, wheels in companions.items()}}
    for row in changes.gone_names().values():
        releases = order[row.release.package]
        before = releases[releases.index(row.release.version) - 1]
        assert (row.last is None and row.raises) or row.last == changes.release_of(row.name, before), row
    for deprecated in changes.deprecated_names().values():
        assert deprecated.release.version in order[deprecated.release.package]
        assert deprecated.until is None or deprecated.since <= deprecated.until < LATEST
    for parameters in changes.changed_parameters().values():
        for parameter in parameters:
            if parameter.since <= TorchVersion(2, 0) and parameter.release.package == "torch":
                continue  # kept by hand
            assert parameter.release.version in order[parameter.release.package][1:]
    assert set(changes.added_names().values()) <= set(known[1:])


def test_a_companion_goes_with_the_torch_that_its_wheel_asks_for() -> None:
    goes_with = content("companions_gone")["torch"]
    assert isinstance(goes_with, dict)
    compared = 0
    for row in table("companions")["rows"]:
        for package in ("torchvision", "torchaudio"):
            torch, how = goes_with[package][str(row[package]).rpartition(".")[0]] if row[package] else ("", "")
            # From 0.29 on torchvision names the lowest torch only, and serves later ones as well.
            if how == "requires":
                assert row["torch"].startswith(f"{torch}.") or torch == "2.14", row
                compared += 1
    assert compared > 40
    assert goes_with["torchdata"]["0.10"] == ["2.5", "of its day"]


def test_every_row_has_evidence_in_a_file_of_the_wheel() -> None:
    place = re.compile(r"(?:torch|functorch|torchvision|torchaudio|torchtext|torchdata|torchao)/[\w/]+\.pyi?:\d+\b")
    for row in changes.gone_names().values():
        assert place.match(row.evidence), row
    for deprecated in changes.deprecated_names().values():
        if deprecated.name in SAID_IN_C:
            continue
        assert place.match(deprecated.evidence) and len(deprecated.evidence) > 30, deprecated
    for parameters in changes.changed_parameters().values():
        assert all(place.match(row.evidence) or row.since <= TorchVersion(2, 0) for row in parameters)


@pytest.mark.skipif(sys.platform != "linux", reason="libraries of other systems have other names")
def test_what_c_is_said_to_warn_of_stands_in_the_libraries_of_torch() -> None:
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None
    for name, evidence in SAID_IN_C.items():
        library, said, _ = evidence.removeprefix("torch/lib/").partition(" warns: ")
        if not said:
            continue
        place = Path(found.origin).parent / "lib" / library
        words = rf"{name.rpartition('.')[2]}(?:\(\w*\))? is deprecated"
        with place.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            assert re.search(words.encode(), text), name


def test_parameters_can_be_read_and_hold_what_the_row_speaks_of() -> None:
    for name, found in changes.changed_parameters().items():
        for row in found:
            if row.before or row.after:
                before, after = (
                    {argument.arg for argument in ast.walk(changes.parameters(text)) if isinstance(argument, ast.arg)}
                    for text in (row.before, row.after)
                )
                assert (row.parameter in before) == (row.change != "added-required"), (name, row)
                # A parameter that is taken by position only may have another name as well.
                assert (row.renamed or row.parameter) in after or row.change in {"removed", "positional-only"}, (
                    name,
                    row,
                )


def test_names_that_are_gone_by_now_are_not_in_the_installed_torch(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    names = [row[0] for row in rows("gone") if row[3] == "gone" and TorchVersion.parse(row[2]) <= INSTALLED]
    answers = ask(names, tmp_path, torch_programs)
    assert [name for name, answer in answers.items() if answer == "yes"] == []
    assert sum(answer == "no" for answer in answers.values()) > 0.9 * len(names)


def test_names_that_were_gone_before_the_table_begins_are_not_there(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    assert set(ask(list(EARLIER), tmp_path, torch_programs).values()) == {"no"}


def test_names_that_a_later_release_drops_are_still_there(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    later = [row for row in rows("gone") if TorchVersion.parse(row[2]) == TorchVersion(2, 14) and row[3] == "gone"]
    answers = ask([row[0] for row in later], tmp_path, torch_programs)
    # Builds without CUDA lack some; none may be lost for another reason.
    assert {name for name, answer in answers.items() if answer == "no"} <= {"torch.GreenContext"}


def test_names_that_were_added_are_there(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    lost = {row[0] for row in rows("gone")}
    modules = set(lost)
    names = [
        name
        for name, since in changes.added_names().items()
        if since <= INSTALLED and longest_target(name, frozenset(lost | modules)) is None
    ]
    answers = ask(names, tmp_path, torch_programs)
    missing = sorted(name for name, answer in answers.items() if answer == "no")
    # Other builds and installed packages (z3, fsspec, a compiler's backends) decide about these.
    elsewhere = re.compile(
        r"\.validator\.|\.benchmark\.utils\.compile\.|\.Fsspec|\.ProcessGroupXCCL$|\.python_native\.|\.gen_pyi\."
    )
    assert [name for name in missing if not elsewhere.search(name)] == []


def test_what_advice_names_is_there(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    named = {
        name: advice.since
        for advice in ADVICE.values()
        for name in re.findall(r"`(torch(?:\.[A-Za-z_]\w*)+)", advice.text)
    }
    answers = ask(
        [name for name, since in named.items() if since is None or since <= INSTALLED], tmp_path, torch_programs
    )
    assert len(answers) > 20
    assert [name for name, answer in answers.items() if answer == "no"] == []


def test_the_new_places_of_moved_names_are_there(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    lost = frozenset(row[0] for row in rows("gone"))
    found = [
        row.successor
        for row in changes.gone_names().values()
        if row.successor and row.since <= INSTALLED and row.release.package == "torch"
    ]
    answers = ask([name for name in found if longest_target(name, lost) is None], tmp_path, torch_programs)
    assert [name for name, answer in answers.items() if answer == "no"] == []


def test_functions_that_are_said_to_raise_do(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    names = [row[0] for row in rows("gone") if row[3] == "raises" and TorchVersion.parse(row[2]) <= INSTALLED]
    assert "torch.eig" in names
    code = f"""
import importlib, json
result = []
for name in {[name for name in names if name.count(".") == 1]!r}:
    module, _, last = name.rpartition(".")
    function = getattr(importlib.import_module(module), last)
    try:
        function(*[importlib.import_module("torch").eye(2)] * (2 if last in ("solve", "lstsq") else 1))
        result.append(name)
    except RuntimeError as error:
        if "removed" not in str(error):
            result.append(str(error))
result = json.dumps(result)
"""
    assert json.loads(torch_programs.run(tmp_path, {}, code)[1]) == []


def test_the_linear_algebra_functions_of_214_are_known_to_raise() -> None:
    for name in ("torch.cholesky", "torch.qr"):
        row = changes.gone_names()[name]
        assert row.raises and str(row.release) == "torch 2.14" and str(row.last) == "torch 2.13"


def test_no_row_contradicts_the_tables_of_moved_names() -> None:
    gone, deprecated = changes.gone_names(), changes.deprecated_names()
    for row in (*MOVED_NAMES, *DISTRIBUTED_NAMES):
        old = public_name(row.old)
        if old in gone:
            assert row.removed == gone[old].since, row.old
        if row.removed is not None and row.removed > TorchVersion(2, 0):
            assert old in gone, row.old
        if old in deprecated and row.deprecated is not None:
            assert row.deprecated <= deprecated[old].since, row.old
        # The new name has to outlive the table.
        assert public_name(row.new) not in gone, row.new


def test_advice_is_given_for_names_of_the_table_only() -> None:
    known = {*changes.gone_names(), *changes.deprecated_names()}
    for name in ADVICE:
        assert name in known or any(other.startswith(f"{name}.") for other in known), name


def test_the_rules_over_the_table_leave_names_with_a_rule_of_their_own_alone() -> None:
    rules = all_rules()
    told = {code: rule for code, rule in rules.items() if code not in TABLE_RULES and rule.default}
    others = frozenset(target for rule in told.values() for target in rule.targets)
    for code in TABLE_RULES:
        assert rules[code].targets
        both = {target: longest_target(target, others) for target in rules[code].targets}
        modules = {f"torchvision.models.{name}" for name in ("alexnet", "googlenet", "quantization.googlenet")}
        assert {other for other in both.values() if other} <= modules
        assert all(target != other for target, other in both.items())


@pytest.mark.parametrize(
    "package", ["models.resnet.model_urls", "models.alexnet.model_urls", "transforms.functional_tensor.resize"]
)
def test_a_rule_that_nobody_is_told_of_unasked_takes_no_name_away(package: str) -> None:
    # TL432 looks at `import torchvision.models`, and is off
    assert f"torchvision.{package}" in all_rules()["TL402"].targets


@pytest.mark.parametrize("code", ["TL402", "TL403"])
def test_every_usual_spelling_of_a_target_holds_a_trigger(code: str) -> None:
    rule = all_rules()[code]
    matches = Prefilter(rule.words).matches
    for target in rule.targets:
        module, _, name = target.rpartition(".")
        assert matches(f"import {module} as m\nm.{name}()\n".encode()), target
        assert matches(f"from {module} import {name}\n{name}()\n".encode()), target


def test_what_only_a_page_calls_deprecated_is_information_and_what_warns_is_a_warning(tmp_path: Path) -> None:
    rows = changes.deprecated_names()
    seen: dict[bool, set[Severity]] = {True: set(), False: set()}
    for documented in seen:
        names = [
            name for name, row in rows.items() if (" documents: " in row.evidence) is documented and row.until is None
        ]
        lines = "".join(f"x = {name}(y)\n" for name in names[:20])
        result = analyse_files(
            tmp_path / str(documented), {"a.py": f"import torch\n\n{lines}"}, codes=frozenset({"TL403"})
        )
        seen[documented] = {finding.severity for finding in all_findings(result)}
    assert seen == {True: {Severity.INFO}, False: {Severity.WARNING}}


def test_a_collective_that_was_renamed_is_told_by_the_name_that_the_lowest_torch_has() -> None:
    renamed = {name: advice for name, advice in ADVICE.items() if advice.older}
    assert renamed and all("_single(" in advice.text for advice in renamed.values())
    for name, advice in renamed.items():
        assert "_tensor(" in advice.said(name, TorchVersion(2, 5)) and "_single(" in advice.said(name, LATEST)
    others = [
        advice for name, advice in ADVICE.items() if name.startswith("torch.distributed.nn.") and not advice.older
    ]
    assert others and not any("_single(" in advice.text for advice in others)
