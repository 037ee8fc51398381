"""Names of `torch::jit` that are not TorchScript's own, and what is said of code that works on its graphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files


def said(folder: Path, code: str) -> str:
    found = [item for item in all_findings(analyse_files(folder, {"a.cpp": code})) if item.code == "TL601"]
    return " ".join(f"{item.message} {item.help}" for item in found)


@pytest.mark.parametrize(
    "line",
    [
        'std::unordered_map<torch::jit::Symbol, int> loaders;',
        "struct Spec : public torch::jit::CustomClassHolder {};",
        "torch::jit::Stack stack;",
        'auto s = torch::jit::Symbol::fromQualString("aten::add");',
        "std::vector<torch::jit::IValue> arguments;",
    ],
)  # fmt: skip
def test_names_that_torch_jit_only_passes_on_are_no_torchscript(line: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"#include <torch/script.h>\n{line}\n") == ""


@pytest.mark.parametrize(
    ("line", "graphs"),
    [
        ("void fuse(torch::jit::Graph &graph);", True),
        ("for (torch::jit::Node *n : nodes) visit(n);", True),
        ("torch::jit::script::Module model;", False),
    ],
)
def test_code_for_graphs_is_not_told_to_load_a_package(line: str, graphs: bool, tmp_path: Path) -> None:
    words = said(tmp_path, f"#include <torch/script.h>\n{line}\n")
    assert ("reads or makes graphs of TorchScript" in words) is graphs
    assert ("AOTIModelPackageLoader" in words) is not graphs


def test_a_removed_name_that_the_project_defines_itself_is_its_own(tmp_path: Path) -> None:
    use = "#include <torch/torch.h>\ntorch::deploy::InterpreterManager manager(4);\n"
    own = "#include <torch/torch.h>\nnamespace torch { namespace deploy {\nstruct InterpreterManager {};\n}}\n"
    alone, beside = tmp_path / "alone", tmp_path / "beside"
    alone.mkdir()
    beside.mkdir()
    assert [item.code for item in all_findings(analyse_files(alone, {"a.cpp": use}))] == ["TL602"]
    assert all_findings(analyse_files(beside, {"a.cpp": use, "deploy.h": own})) == []
    another = own.replace("namespace torch {", "namespace mine {")
    assert [item.code for item in all_findings(analyse_files(alone, {"a.cpp": use, "mine.h": another}))] == ["TL602"]
