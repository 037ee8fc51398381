"""Which statements of a test check something, and which of them would only compare a value with itself."""

from __future__ import annotations

import ast
import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.scripting_tests.same_values import SameValues
from torchlift.rules.torchscript.scripting_tests.scripted_values import ScriptedValues, called_function, stem
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

COMPARES = lazy_pattern(r"(?i)equal|close|same|match|compare|almost|expected$")
_CHECKS = lazy_pattern(r"(?i)assert|check|expect|verif|valid|equal|close|compare|match|raises|warns|fail|test")
_EXPECTS = lazy_pattern(r"(?i)assert|expect|raises|warns|fail|error")
# Packages whose functions check nothing unless their names say so.
_LIBRARIES = frozenset(
    """torch numpy random os sys io tempfile shutil warnings logging math copy json pickle time gc pathlib itertools
    functools""".split()
)
_BUILTINS = frozenset("print setattr getattr next len list dict set del exec".split())
STEPS_ASIDE = frozenset({"skipTest", "skip", "xfail", "importorskip"})
"""Calls by which a test stops without having checked anything."""
_CAPTURES = lazy_pattern(r"(?:symbolic_trace|GraphModule|Tracer|make_fx|(?:prepare|prepare_qat|convert)_fx)$")
_WRAPS = frozenset({"bool", "all", "assertTrue", "assert_", "assert_true"})
_METHODS = frozenset({"all", "item", "any"})


def called_name(node: ast.Call) -> str:
    """The last name of what is called."""
    return last_name(node.func)


def expects(statement: ast.stmt) -> bool:
    """Whether a statement is a `with` that wants to see an error or a warning."""
    return isinstance(statement, (ast.With, ast.AsyncWith)) and any(
        isinstance(item.context_expr, ast.Call) and _EXPECTS.search(called_name(item.context_expr))
        for item in statement.items
    )


def asserts(statement: ast.stmt) -> bool:
    """Whether a statement says in so many words that it checks something."""
    named = (called_name(node).lower() for node in walk(statement) if isinstance(node, ast.Call))
    return isinstance(statement, ast.Assert) or expects(statement) or any("assert" in name for name in named)


def captures_otherwise(node: ast.AST, view: ModuleView) -> bool:
    """Whether code captures a module by other means than TorchScript, which fails by itself where that is impossible."""
    return any(
        isinstance(call, ast.Call)
        and (
            _CAPTURES.match(called_name(call)) is not None or view.possible_name(call.func).startswith("torch.export.")
        )
        for call in walk(node)
    )


def is_check(statement: ast.stmt, values: ScriptedValues) -> bool:
    """Whether a statement may check something: a call of unknown code is taken for one that does."""
    if isinstance(statement, (ast.Assign, ast.Expr)) and captures_otherwise(statement, values.view):
        return True
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant):
        return not statement.test.value
    if isinstance(statement, (ast.Assert, ast.Raise)) or expects(statement):
        return True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _checks(statement.value, values)
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)):
        return any(isinstance(node, ast.Call) and "assert" in called_name(node).lower() for node in walk(statement))
    return False


def _checks(call: ast.Call, values: ScriptedValues) -> bool:
    name = called_name(call)
    if name in STEPS_ASIDE:
        return False
    if _CHECKS.search(name):
        return True
    view = values.view
    found = called_function(view, call, values.project)
    if found is not None:
        return any(
            isinstance(node, (ast.Assert, ast.Raise))
            or (isinstance(node, ast.Call) and _CHECKS.search(called_name(node)))
            for node in walk(found[1])
        )
    qualified = view.possible_name(call.func)
    if qualified.partition(".")[0] in _LIBRARIES or name in _BUILTINS:
        return False
    # A method of what the test has made does something to it; a bare function of unknown code may do anything.
    return not isinstance(call.func, ast.Attribute) and not qualified and values.original(call.func) is None


def may_only_run(statement: ast.stmt, values: ScriptedValues) -> bool:
    """Whether a statement is a call of unknown code that is taken for a check without being named like one."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if (
        not isinstance(call, ast.Call)
        or captures_otherwise(statement, values.view)
        or _CHECKS.search(called_name(call))
    ):
        return False
    return called_function(values.view, call, values.project) is None


def is_void(statement: ast.stmt, values: ScriptedValues, same: SameValues) -> bool:
    """Whether a statement checks nothing but that scripting changed nothing: that a value is what it is."""
    match statement:
        case ast.Assert(test=test):
            checked: ast.expr = test
        case ast.Expr(value=ast.Call() as call):
            checked = call
        case _:
            return False
    if not values.depends(statement):
        return False
    return holds(checked, values, same) or _is_there(checked, values) or _gets_both(checked, values, same)


def asks_for_own_file(statement: ast.stmt, values: ScriptedValues) -> bool:
    """Whether a check asks nothing but whether a file is there that the test has just written TorchScript to."""
    match statement:
        case ast.Assert(test=asked):
            pass
        case ast.Expr(value=ast.Call(args=[asked, *_]) as call) if called_name(call) in _WRAPS:
            pass
        case _:
            return False
    match asked:
        case ast.Call(func=ast.Attribute(attr="isfile" | "exists"), args=[path]):
            pass
        case ast.Call(func=ast.Attribute(attr="is_file" | "exists", value=path), args=[]):
            pass
        case _:
            return False
    block = values.view.block(statement)
    return any(
        ast.dump(stem(written)) == ast.dump(path) and values.view.statement(call) in block[: block.index(statement)]
        for call, _, written in values.saves()
    )


def holds(node: ast.expr, values: ScriptedValues, same: SameValues) -> bool:
    """Whether `node` compares a value with itself and nothing else, here or in a helper of tests."""
    inner = node.args[0] if isinstance(node, ast.Call) and called_name(node) in _WRAPS and node.args else node
    helper = values.helper(inner) if isinstance(inner, ast.Call) else None
    return _holds(node, same) or (helper is not None and helper.holds)


def _gets_both(node: ast.expr, values: ScriptedValues, same: SameValues) -> bool:
    """Whether a check is given a scripted value beside what it was made from: `assert_consistent(scripted, module, x)`."""
    if not isinstance(node, ast.Call) or not _CHECKS.search(called_name(node)):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    scripted = [item for item in given if values.original(item) is not None]
    return any(values.original(item) is None and same.same(item, other) for item in given for other in scripted)


def _is_there(node: ast.expr, values: ScriptedValues) -> bool:
    """Whether `node` asks nothing but whether scripting gave anything."""
    match node:
        case ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return values.original(asked) is not None
        case ast.Call(
            func=ast.Attribute(attr="assertIsNotNone" | "assertTrue") | ast.Name(id="callable"), args=[asked, *_]
        ):
            return values.original(asked) is not None
        case ast.Call(func=ast.Attribute(value=changed)) if values.original(changed) is not None:
            return False  # `scripted.to(device)` moves what is called later
    return values.original(node) is not None


def is_repeated(statement: ast.stmt, earlier: ast.stmt, same: SameValues) -> bool:
    """Whether a statement checks what an earlier one does."""
    match statement, earlier:
        case ast.Assert(test=one), ast.Assert(test=other):
            return same.same(one, other)
        case ast.Expr(value=ast.Call() as one), ast.Expr(value=ast.Call() as other):
            if ast.dump(one.func) != ast.dump(other.func) or len(one.args) != len(other.args) or not one.args:
                return False
            options, others = ({ast.dump(item) for item in call.keywords} for call in (one, other))
            return options == others and all(same.same(a, b) for a, b in zip(one.args, other.args, strict=True))
    return False


def _holds(node: ast.expr, same: SameValues) -> bool:
    """Whether `node` compares a value with itself and nothing else."""
    match node:
        case ast.BoolOp(op=ast.And(), values=operands):
            return all(_holds(operand, same) for operand in operands)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.LtE() | ast.GtE()], comparators=[right]):
            return same.same(left, right)
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[ast.Constant() | ast.Name()]):
            return _is_difference(left, same)
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if attr in _METHODS:
            return _holds(value, same)
        case ast.Call(args=[ast.GeneratorExp(elt=element) | ast.ListComp(elt=element), *_]) if (
            called_name(node) in _WRAPS
        ):
            return _holds(element, same)
        case ast.Call(args=[only, *_]) if called_name(node) in _WRAPS:
            return _holds(only, same)
        case ast.Call(args=[]):
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            pair = [named[name] for name in ("actual", "expected", "input", "other", "desired") if name in named]
            return len(pair) == 2 and bool(COMPARES.search(called_name(node))) and same.same(*pair)
        case ast.Call(func=ast.Attribute(value=value, attr="allclose" | "equal" | "eq" | "isclose"), args=[one]):
            return same.same(value, one)
        case ast.Call(args=[one, other, *_]):
            name = called_name(node)
            if re.search(r"(?i)not|less$|greater$", name.replace("notebook", "")):
                return name in {"assertLess", "assertLessEqual"} and _is_difference(one, same)
            return bool(COMPARES.search(name)) and same.same(one, other)
    return False


def _is_difference(node: ast.expr, same: SameValues) -> bool:
    """Whether `node` measures how far a value is from itself."""
    differences = [child for child in walk(node) if isinstance(child, ast.BinOp) and isinstance(child.op, ast.Sub)]
    return any(same.same(child.left, child.right) for child in differences)
