"""Conditions on hints: what is settled leaves what Python ran."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest
from example_project import analyse_files, new_bytes
from hint_findings import found, rewritten

from torchlift.finding import Safety
from torchlift.rules.torchscript.hints.hint_conditions import settle
from torchlift.versions import TorchVersion


class Fold(ast.NodeTransformer):
    """Fills `is_scripting()` in with False: another way to the same end, on trees."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Constant(False) if ast.unparse(node) == "torch.jit.is_scripting()" else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        known = isinstance(node.operand, ast.Constant) and isinstance(node.op, ast.Not)
        return ast.Constant(not node.operand.value) if known else node  # type: ignore[attr-defined]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        values = []
        for value in node.values:
            if isinstance(value, ast.Constant) and value.value is not neutral:
                return value
            if not isinstance(value, ast.Constant):
                values.append(value)
        if not values:
            return ast.Constant(neutral)
        return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)

    def visit_If(self, node: ast.If) -> object:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        leaves = [index for index, statement in enumerate(node.body) if isinstance(statement, ast.Continue)]
        node.body = node.body[: leaves[0] + 1] if leaves else node.body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


FLAG = "torch.jit.is_scripting()"
CONDITIONS = (
    FLAG, f"not {FLAG}", f"{FLAG} and a", f"a and {FLAG}", f"not {FLAG} and a", f"a and not {FLAG}", f"a or {FLAG}",
    f"{FLAG} or a", f"not {FLAG} or a", f"a and not {FLAG} and b", f"a and (b or {FLAG})", f"not (a or {FLAG})",
    f"(a) and (not ({FLAG}))", f"a and not (b and not {FLAG})", f"not {FLAG} and not {FLAG}", f"{FLAG} or a or {FLAG}",
)  # fmt: skip
SHAPES = (
    "    if {c}:\n        log('yes')\n",
    "    if {c}:  # why\n        # inside\n        log('yes')\n    else:\n        log('''no\n    no''')\n",
    "    if a:\n        log('first')\n    elif {c}:\n        log('yes')\n    log('end')\n",
    "    if a:\n        log('first')\n    elif {c}:\n        log('yes')\n    else:\n        log('no')\n",
    "    if {c}:\n        log('yes')\n    elif b:\n        if a:\n            log('b',\n                'c')\n    else:\n        log('no')\n",
    "    if (\n        {c}\n    ):\n        log('yes')\n\n        # last\n    # else\n    else:\n\n        log('no')\n",
    "    for a in (0, 1):\n        if {c}:\n            log('yes')\n            continue\n        log(a)\n",
    "    if b:\n        if {c}:\n            log('yes')\n        else:\n            if not torch.jit.is_scripting():\n                log('no')\n",
)  # fmt: skip
CASES = list(itertools.product(CONDITIONS, SHAPES))


def test_a_settled_condition_leaves_what_python_ran(tmp_path: Path) -> None:
    head = "import torch\n\n\ndef run(a, b, log):\n"
    files = {f"c{number}.py": head + shape.format(c=condition) for number, (condition, shape) in enumerate(CASES)}
    result = analyse_files(tmp_path, files, codes=frozenset({"TL117"}), unsafe=True)
    assert not [failure.detail or failure.reason for failure in result.failures]
    for name, old in files.items():
        data = new_bytes(result, name)
        assert data is not None, old
        new = data.decode()
        assert FLAG not in new, f"{old}\nbecame\n{new}"
        folded = ast.parse(ast.unparse(Fold().visit(ast.parse(old))))
        assert ast.dump(Fold().visit(ast.parse(new))) == ast.dump(Fold().visit(folded)), f"{old}\nbecame\n{new}"
        for a, b in itertools.product((False, True), repeat=2):
            assert calls(old, a, b) == calls(new, a, b)
        comments = [line.strip() for line in new.splitlines() if "#" in line]
        assert len(comments) <= sum("#" in line for line in old.splitlines())


def calls(code: str, a: bool, b: bool) -> list[object]:
    """What a program logs in Python."""
    import types

    torch = types.ModuleType("torch")
    torch.jit = types.SimpleNamespace(is_scripting=lambda: False)  # type: ignore[attr-defined]
    seen: list[object] = []
    names: dict[str, object] = {}
    exec(code.replace("import torch\n", ""), {"torch": torch}, names)
    names["run"](a, b, lambda *args: seen.append(args))  # type: ignore[operator]
    return seen


def test_a_branch_moves_in_files_with_tabs_carriage_returns_and_long_strings(tmp_path: Path) -> None:
    old = (
        "import torch\r\n\r\n\r\ndef f(a):\r\n\tif torch.jit.is_scripting():\r\n\t\tpass\r\n\telse:\r\n"
        '\t\ta = """x\r\n\t\ty""" + a\r\n\t\tb = (1 +\r\n\t2)\r\n\treturn a, b\r\n'
    )
    result = analyse_files(tmp_path, {"a.py": old.encode()}, codes=frozenset({"TL117"}), unsafe=True)
    assert new_bytes(result, "a.py") == (
        b'import torch\r\n\r\n\r\ndef f(a):\r\n\ta = """x\r\n\t\ty""" + a\r\n\tb = (1 +\r\n\t2)\r\n\treturn a, b\r\n'
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("    if f() and torch.jit.is_scripting():\n        return 1\n", "may have an effect"),
        ("    if torch.jit.is_scripting():\n        yield x\n", "holds a `yield`"),
        ("    if torch.jit.is_scripting():\n        y = 1\n    return y\n", "`y` is only bound"),
        ("    while not torch.jit.is_scripting():\n        return 1\n", "a loop"),
        ("    y = x and not torch.jit.is_scripting()\n    return y\n", "may be no bool"),
    ],
)
def test_a_condition_that_cannot_be_settled_says_why(body: str, reason: str, tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {"a.py": f"import torch\n\n\ndef f(x):\n{body}"}, "TL117")
    assert finding.safety is Safety.MANUAL
    assert reason in (finding.help or "")


def test_a_comment_beside_the_operand_that_stays_stays_where_it_was(tmp_path: Path) -> None:
    code = "import torch\n\n\ndef f(x, a, b):\n    if (\n        a  # why a\n        {}b\n    ):\n        return x + 1\n    return x\n"
    assert rewritten(tmp_path, code.format("and not torch.jit.is_scripting() and ")) == code.format(" and ")


def test_two_rules_rewrite_one_condition_together(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    if not torch.jit.is_scripting() and not torch.jit.is_tracing():\n"
        "        x = x + 1\n    return torch.jit.annotate(torch.Tensor, x)\n"
    )
    assert rewritten(tmp_path, code) == (
        "import torch\n\n\ndef f(x):\n    if not torch.compiler.is_exporting():\n        x = x + 1\n    return x\n"
    )


def test_a_moved_branch_takes_other_rewrites_along(tmp_path: Path) -> None:
    code = (
        "import torch\nfrom torch.jit import annotate\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n"
        "        y = annotate(int, 1)\n    else:\n        y = annotate(\n            int,\n            2)  # two\n"
        "        z = annotate(int, 3)\n        y = y + z\n    return y\n"
    )
    assert rewritten(tmp_path, code) == (
        "import torch\n\n\ndef f(x):\n    y = 2  # two\n    z: int = 3\n    y = y + z\n    return y\n"
    )


def test_the_branches_are_told_apart_in_the_advice(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    if torch.jit.is_scripting():\n        return x + 1\n    return x + 2\n\n\n"
        "torch.jit.script(f).save('f.pt')\n"
    )
    (finding,) = found(tmp_path, {"a.py": code}, "TL117")
    assert "Where an export gets here, it skips line 6 (`return x + 1`), where TorchScript returned." in (
        finding.help or ""
    )
    assert "`torch.jit.is_scripting() or torch.compiler.is_exporting()`" in (finding.help or "")
    older = found(tmp_path, {"a.py": code}, "TL117", min_torch=TorchVersion(2, 6))
    assert "is_exporting" not in (older[0].help or "")


@pytest.mark.parametrize(
    ("condition", "constant", "quiet"),
    [
        ("ON and OFF", False, True),
        ("(loud() or ON) and ON", True, False),
        ("ON and (loud() or ON)", True, False),
        ("(quiet or ON) and ON", True, True),
        ("(loud() or ON) and OFF", False, False),
        ("not (loud() or ON)", False, False),
    ],
)
def test_a_condition_is_quiet_when_nothing_that_has_an_effect_goes_with_it(
    condition: str, constant: bool, quiet: bool
) -> None:
    def flag(node: ast.expr) -> bool | None:
        return {"ON": True, "OFF": False}.get(node.id) if isinstance(node, ast.Name) else None

    found = settle(ast.parse(condition, mode="eval").body, flag)
    assert (found.constant, found.quiet) == (constant, quiet)
