"""Code that reads like torch.distributed and is something else: no rule of this kind says anything about it.

Every example that a rule reports is disguised, so that the same words mean another library, a parameter, a loop variable,
text, or a branch for another release. Then come programs that were written to be mistaken.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Callable
from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Rule

RULES = [rule for code, rule in all_rules().items() if code.startswith("TL2")]
CODES = frozenset(rule.code for rule in RULES)


def sources(rule: Rule) -> list[str]:
    """The Python files of everything that a rule reports."""
    found = []
    for example in rule.examples:
        if isinstance(example, Bad):
            files = {example.path: example.before, **dict(example.files)}
            found += [text for path, text in files.items() if path.endswith(".py")]
    return found


def found_in(folder: Path, *texts: str, more: dict[str, str] | None = None) -> list[str]:
    files = {f"part{number}.py": text for number, text in enumerate(texts)}
    result = analyse_files(folder, {**files, **(more or {})}, codes=CODES)
    assert not result.failures
    return [
        f"{finding.code} {finding.message}\n{outcome.path}:{finding.span.line}\n{files.get(outcome.path)}"
        for outcome in result.outcomes
        for finding in (*outcome.left, *outcome.fixed)
    ]


def without_torch(code: str) -> tuple[str, list[str]]:
    """The code without its imports from torch, and the names that these bound."""
    lines, names = code.splitlines(), []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        if not any(module.partition(".")[0] == "torch" for module in modules):
            continue
        names += [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        assert node.end_lineno is not None
        for number in range(node.lineno, node.end_lineno + 1):
            lines[number - 1] = " " * node.col_offset + "pass"
    return "\n".join(lines) + "\n", list(dict.fromkeys(names)) or ["dist"]


def within(head: str) -> Callable[[str], str]:
    """A disguise that puts the code behind `head`, which binds the names that torch's imports bound."""

    def disguised(code: str) -> str:
        rest, names = without_torch(code)
        line = head.format(names=", ".join(names))
        return f"{line}\n{textwrap.indent(rest, '    ')}" if line.endswith(":") else f"{line}\n{rest}"

    return disguised


def as_another_library(code: str) -> str:
    return re.sub(r"\btorch\b", "comms", code)


def as_a_docstring(code: str) -> str:
    return '"""' + code.replace("\\", "/").replace('"""', "'''").replace('"', "'") + '"""\n'


def as_comments(code: str) -> str:
    return textwrap.indent(code, "# ", lambda line: True) + "\nimport torch.distributed as dist\n"


def as_a_method(code: str) -> str:
    """All functions of torch that are called belong to `self`."""
    rest, names = without_torch(code)
    fixed = re.sub(rf"(?<![.\w])({'|'.join(names)})\b(?!\s*=[^=])", r"self.\1", rest)
    return f"class Comm:\n    def example(self):\n{textwrap.indent(fixed, '        ')}"


NAMES_HIDDEN: dict[str, Callable[[str], str]] = {
    "another library": as_another_library,
    "another library under the same names": within("from comms import {names}"),
    "a parameter": within("def example({names}):"),
    "a keyword parameter": within("def example(*, {names}):"),
    "a loop variable": within("for {names} in candidates():"),
    "a with statement": within("with library() as ({names}):"),
    "a walrus": within("if values := [[{names}] for {names} in candidates()]:"),
    "own objects": within("{names} = own()"),
    "an attribute": as_a_method,
}
TEXT: dict[str, Callable[[str], str]] = {"a docstring": as_a_docstring, "comments": as_comments}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
@pytest.mark.parametrize("hidden", NAMES_HIDDEN)
def test_names_that_are_not_torchs_are_left_alone(hidden: str, rule: Rule, tmp_path: Path) -> None:
    texts = []
    for text in sources(rule):
        try:
            disguised = NAMES_HIDDEN[hidden](text)
            ast.parse(disguised)
        except SyntaxError:
            continue
        texts.append(disguised)
    print("\n\n".join(found_in(tmp_path, *texts)))
    assert found_in(tmp_path, *texts) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
@pytest.mark.parametrize("hidden", TEXT)
def test_text_is_left_alone(hidden: str, rule: Rule, tmp_path: Path) -> None:
    texts = [TEXT[hidden](text) for text in sources(rule)]
    print("\n\n".join(found_in(tmp_path, *texts)))
    assert found_in(tmp_path, *texts) == []
