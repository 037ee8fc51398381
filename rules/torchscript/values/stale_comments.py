"""Comments that speak of scripting and of nothing else, right above what is not scripted any more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.finding import EditComment
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.source import Span
from torchlift.view import ModuleView

SPEAKS = lazy_pattern(r"(?i)\b(?:torch\s*script\w*|jit\w*|script(?:ed|ing|able|ability|s)?|trac(?:e|ed|ing|eable))\b")
_SAYS_MORE = lazy_pattern(
    r"(?i)\b(?:and|but|check|verify|ensure|assert|that|because|since|so|test|compare|not|todo|fixme)\b"
)
_MOST_WORDS = 8
_NEEDS = lazy_pattern(
    r"(?i)\bonly (?:works?|runs?|valid|correct|true|possible)\b[^.]*\b(?:script|jit|trac)"
    r"|\b(?:has|have|needs?|must) (?:to )?be (?:script|trac|compil)|\brequires? (?:torch ?script|script|jit|trac)"
)
_TYPED = lazy_pattern(r"\s*(#\s*type:\s*(?:torch\.jit\.)?(?:ScriptModule|ScriptFunction)\s*)")
_OF_COMPILER = lazy_pattern(r"(?i)torch[ -]?script|torch\.jit\b|\bjit\b")
_UNTIL = lazy_pattern(
    r"(?i)\b(?:remove|drop|delete)\b[^.]*\b(?:once|when|until|after)\b[^.]*\b(?:torch ?script|script(?:ing)?|jit)\b[^.]*\bsupport"
)
_OF_MORE = lazy_pattern(
    r"(?i)\b(?:todo|fixme|xxx|hack|onnx|export\w*|dynamo|inductor|torch\.compile|trac(?:e|ed|ing)|xla|http\w*|issues?)\b|[.!?;:] +\w"
)


def stale_above(view: ModuleView, statement: ast.stmt, *, captured: bool = True) -> int:
    """Number of the comment lines right above a statement that speak of scripting and of nothing else.

    All of them, or the last ones, where a sentence begins on a line of its own. With `captured` the statement made or used
    what was scripted or traced, and short comments about either count; else it spoke to the compiler.
    """
    comments = [comment.lstrip("# ").rstrip() for comment in comments_above(view, statement)]
    for count in range(len(comments), 0, -1):
        begins = count == len(comments) or comments[count].endswith((".", "!", "?"))
        text = " ".join(reversed(comments[:count]))
        if begins and (_of_compiler(text) or (captured and count == len(comments) and _is_label(text))):
            return count
    return 0


def needed_as_said(view: ModuleView, statement: ast.stmt) -> str | None:
    """A clause about a comment above a statement that says it works scripted only; None if none does."""
    said = " ".join(reversed([comment.lstrip("# ").rstrip() for comment in comments_above(view, statement)]))
    if _NEEDS.search(said) is None:
        return None
    return f'the comment above line {statement.lineno} says that scripting is needed there ("{said[:80]}")'


def without_type_comment(view: ModuleView, statement: ast.AST | None) -> tuple[EditComment, ...]:
    """The removal of a comment behind an assignment that gives its value a type of TorchScript: `# type: torch.jit.ScriptModule`."""
    if not isinstance(statement, ast.Assign):
        return ()
    end = view.span(statement).end
    line, _ = view.source.location(end)
    rest = view.source.line(line).rstrip("\r\n")[end - view.source.line_starts[line - 1] :]
    found = _TYPED.fullmatch(rest)
    return (EditComment(Span(end + found.start(1), end + found.end(1))),) if found is not None else ()


def _of_compiler(text: str) -> bool:
    """Whether a comment is one sentence about the compiler."""
    if _UNTIL.search(text) is not None:
        return True
    return _OF_COMPILER.search(text) is not None and _OF_MORE.search(text.rstrip(".")) is None


def _is_label(text: str) -> bool:
    return SPEAKS.search(text) is not None and _SAYS_MORE.search(text) is None and len(text.split()) < _MOST_WORDS


def without_stale_comments(
    view: ModuleView, statements: Iterable[ast.stmt], *, captured: bool = True
) -> Iterator[EditComment]:
    """Removals of such comments above statements that stay."""
    for statement in dict.fromkeys(statements):
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        first = min([view.span(statement).start, *(view.span(node).start for node in decorators)])
        last = view.source.location(first)[0]
        for number in range(last - stale_above(view, statement, captured=captured), last):
            line = view.source.line(number)
            start = view.source.line_starts[number - 1] + line.index("#")
            yield EditComment(Span(start, start + len(line.lstrip().rstrip("\r\n"))))


def comments_on_operand(view: ModuleView, statement: ast.stmt, operand: Span) -> Iterator[EditComment]:
    """Removals of the comment lines inside a statement right above a part of its condition, if they name the compiler."""
    source = view.source
    number, top = source.location(operand.start)[0], source.location(view.span(statement).start)[0]
    found: list[EditComment] = []
    text = ""
    for above in range(number - 1, top, -1):
        line = source.line(above)
        if not line.lstrip().startswith("#"):
            break
        start = source.line_starts[above - 1] + line.index("#")
        found.append(EditComment(Span(start, start + len(line.strip()))))
        text = f"{line.strip()} {text}"
    before = source.line(number)[: operand.start - source.line_starts[number - 1]]
    if _OF_COMPILER.search(text) and before.strip() in {"", "and", "or", "and not", "or not", "not"}:
        yield from found
