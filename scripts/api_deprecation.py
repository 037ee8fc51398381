"""What says that a definition of torch is deprecated, or that it was removed: marks, warnings, errors, documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from api_definitions import Function, body_of

Lookup = Callable[[str], ast.expr | None]
WARNS = re.compile(r"\b(?:Deprecation|Future|PendingDeprecation)Warning\b")
DEPRECATED_CALL = re.compile(r"deprecat|^dropping_\w*support$", re.IGNORECASE)
_SAYS_SO = re.compile(
    r"deprecat|renamed|has (?:been )?moved|removed|in favor of|(?:please|should) use\b", re.IGNORECASE
)
_OF_AN_ARGUMENT = re.compile(r"(?:argument|parameter)s?\b[^.]*\b(?:deprecat|renamed|removed)", re.IGNORECASE)
_GONE = re.compile(
    r"(?:is|was|been) (?:now )?removed|is no longer (?:supported|available)|has been deprecated and removed",
    re.IGNORECASE,
)
_SELF = r"(?:this (?:function|class|method|api|module|decorator|operator|context manager)|:(?:func|class|meth|attr):`[^`]*\b{0}`|`+(?:\w+\.)*{0}(?:\(\))?`+|(?:torch\.)?(?:\w+\.)*{0}(?:\(\))?)"
_DOC_SAYS = r"\s+(?:is|has been|was|will be) (?:now )?deprecated"
_SECTIONS = re.compile(
    r"\n\s*(?:Args|Arguments|Parameters|Keyword args|Keyword arguments|Kwargs|Attributes|Returns|Example|Examples)\s*:",
    re.IGNORECASE,
)


def removal_message(node: Function) -> str:
    """The message of a function that does nothing but fail because it was removed."""
    *before, last = body_of(node) or [ast.Pass()]
    if (
        isinstance(last, ast.Raise)
        and last.exc is not None
        and all(isinstance(item, (ast.Assign, ast.Import)) for item in before)
    ):
        text = " ".join(all_strings(last.exc).split())
        if _GONE.search(text):
            return text
    return ""


def deprecation_of(node: Function | ast.ClassDef, name: str, path: str, lookup: Lookup) -> str:
    """What marks a definition as deprecated in every use, with file and line; empty where nothing does."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if re.search(r"(?:^|[._])deprecated$|^_?deprecate|^dropping_\w*support$", ast.unparse(called)):
            return f"{path}:{decorator.lineno} is marked: {words_of(decorator, lookup)}"
    if isinstance(node, Function) and not DEPRECATED_CALL.search(name):
        call = warning_in(body_of(node), name, _with_locals(node, lookup))
        if call is not None:
            return f"{path}:{call.lineno} warns: {words_of(call, _with_locals(node, lookup))}"
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(statement, ast.FunctionDef) and statement.name in {"__init__", "__new__"}:
            found = deprecation_of(statement, name, path, lookup)
            if found:
                return found
    says = said_by_doc(ast.get_docstring(node) or "", name)
    return f"{path}:{node.lineno} documents: {says}" if says else ""


def of_setting(call: ast.Call, at: str, name: str) -> str:
    """What marks a setting made by `torch.utils._config_module.Config(...)` as deprecated, with its place; empty where nothing does."""
    given = {item.arg: item.value for item in call.keywords}
    mark = given.get("deprecated")
    if not (isinstance(mark, ast.Constant) and mark.value is True):
        return ""
    message = all_strings(given["deprecation_message"]) if "deprecation_message" in given else ""
    alias = all_strings(given["alias"]) if "alias" in given else ""
    said = f"`{name}` is deprecated{f' and {message}' if message else ''}"
    return f"{at} is marked: {said}{f'; it is `{alias}` now' if alias and alias not in said else ''}"


def warning_in(body: list[ast.stmt], name: str, lookup: Lookup) -> ast.Call | None:
    """The call in `body` that tells every caller of `name` that it is deprecated.

    A warning that some callers do not reach speaks of a form of the call, not of the name.
    """
    for statement in body:
        found = None
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            found = statement.value if _calls_deprecated(statement.value, name, lookup) else None
        elif isinstance(statement, ast.With):
            found = warning_in(statement.body, name, lookup)
        elif isinstance(statement, ast.If):
            branches = [warning_in(part, name, lookup) for part in (statement.body, statement.orelse)]
            # Where the Python decides, the other branch says that it does not work at all.
            if all(branches) or "sys.version_info" in ast.unparse(statement.test):
                found = next((call for call in reversed(branches) if call is not None), None)
        if found is not None:
            return found
        if _may_return(statement) and "has_torch_function" not in ast.unparse(statement):
            return None
    return None


def _may_return(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return isinstance(statement, ast.Return) or any(
        _may_return(inner) for inner in ast.iter_child_nodes(statement) if isinstance(inner, ast.stmt)
    )


def _calls_deprecated(call: ast.Call, name: str, lookup: Lookup) -> bool:
    called, text = ast.unparse(call.func), ast.unparse(call)
    if not called.endswith("warn"):
        return bool(re.match(r"(?!_?check)[\w.]*deprecat(?!\w*(?:arg|param))\w*$", called))
    words = _message(call, lookup)
    if _OF_AN_ARGUMENT.search(words) and name not in words:
        return False
    if WARNS.search(text):
        return not words or bool(_SAYS_SO.search(words))
    return bool(DEPRECATED_CALL.search(words))


def said_by_doc(text: str, name: str) -> str:
    """The sentence of a documentation that calls the whole of `name` deprecated, or empty."""
    if "deprecated" not in text.lower():
        return ""
    flat = " ".join(_SECTIONS.split(text, maxsplit=1)[0].split())
    if re.match(r"[\W_]*deprecated\b[\W_]*[:.!]", flat, re.IGNORECASE):
        return flat.partition(". ")[0][:200]
    directive = re.search(r"\.\. deprecated::\s*(.*?)(?:\.(?:\s|$)|$)", flat)
    if directive:
        return f".. deprecated:: {directive[1]}"[:200]
    found = re.search(_SELF.format(re.escape(name)) + _DOC_SAYS + r"[^.]*(?:\.(?!\s)[^.]*)*", flat, re.IGNORECASE)
    return found[0][:200] if found else ""


def all_strings(node: ast.AST) -> str:
    """Every text below a node, in the order of the source."""
    parts = [item for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    parts.sort(key=lambda item: (item.lineno, item.col_offset))
    return "".join(str(item.value) for item in parts)


def words_of(node: ast.AST, lookup: Lookup) -> str:
    """The message of a call, or the call where it has none that can be read."""
    inner = node
    while isinstance(inner, ast.Call):  # deprecated("...")(function)
        text = _message(inner, lookup)
        if text:
            return text[:300]
        inner = inner.func
    return " ".join(ast.unparse(node).split())[:120]


def _message(call: ast.Call, lookup: Lookup) -> str:
    """The longest text among the arguments of a call that is a sentence rather than a name; empty where there is none."""
    given = [*call.args, *(item.value for item in call.keywords if item.arg not in {"category", "stacklevel"})]
    texts = [" ".join(_text(argument, lookup).split()) for argument in given]
    return max((text for text in texts if text.count(" ") > 1), key=len, default="")


def _text(node: ast.expr, lookup: Lookup, depth: int = 0) -> str:
    """What an expression of text says, with `...` for what only running it would show; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part.value if isinstance(part, ast.FormattedValue) else part, lookup, depth) or "..."
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, lookup, depth) + _text(node.right, lookup, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.sub(r"%[sdr]", "...", _text(node.left, lookup, depth))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"format", "strip"}:
            return re.sub(r"\{[^{}]*\}", "...", _text(node.func.value, lookup, depth))
        if node.func.attr == "dedent" and node.args:
            return _text(node.args[0], lookup, depth)
    if isinstance(node, ast.Name) and depth < 3:
        value = lookup(node.id)
        return _text(value, lookup, depth + 1) if value is not None else ""
    return ""


def _with_locals(function: Function, lookup: Lookup) -> Lookup:
    """`lookup` that also knows what the function assigns at the start of its own body."""
    own = {
        target.id: statement.value
        for statement in reversed(body_of(function))
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return lambda name: own[name] if name in own else lookup(name)
