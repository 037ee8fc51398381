"""Modules that nobody wrote: examples of rules with lines moved, wrapped, doubled, exchanged and cut, at random."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from functools import cache

from torchlift.rules.registry import all_rules

Change = Callable[[list[str], random.Random], None]


@cache
def seeds() -> tuple[str, ...]:
    """The Python examples of all rules, in the order of their codes."""
    examples = [example for _, rule in sorted(all_rules().items()) for example in rule.examples]
    sources = [getattr(example, "before", None) or getattr(example, "code", "") for example in examples]
    kept = [source for source, example in zip(sources, examples, strict=True) if example.path.endswith(".py")]
    return tuple(dict.fromkeys(source for source in kept if source.strip()))


def mutated(chance: random.Random) -> bytes:
    """One module: an example, or two in one, with up to five changes. One in ten need not parse."""
    must_parse = chance.random() < 0.9
    for _ in range(40):
        lines = chance.choice(seeds()).splitlines()
        if chance.random() < 0.3:
            lines += chance.choice(seeds()).splitlines()
        for _ in range(chance.randrange(6)):
            chance.choice(CHANGES)(lines, chance)
        data = encoded(lines, chance)
        if not must_parse or parses(data):
            return data
    return b"import torch\n"


def encoded(lines: list[str], chance: random.Random) -> bytes:
    """The lines with one of the newlines that there are, now and then behind a mark of their encoding."""
    newline = chance.choice(["\n", "\n", "\n", "\r\n", "\r"])
    data = (newline.join(lines) + newline * chance.randrange(3)).encode("utf-8", "surrogatepass")
    return b"\xef\xbb\xbf" * (chance.random() < 0.05) + data


def parses(data: bytes) -> bool:
    """Whether Python takes it."""
    try:
        compile(data, "a.py", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Lines of each statement of the module, at any depth, if it parses."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node.lineno - 1, node.end_lineno or node.lineno


def _some_block(lines: list[str], chance: random.Random) -> tuple[int, int]:
    blocks = list(_blocks(lines))
    if blocks:
        return chance.choice(blocks)
    at = chance.randrange(len(lines)) if lines else 0
    return at, min(at + 1, len(lines))


def _drop(lines: list[str], chance: random.Random) -> None:
    start, end = _some_block(lines, chance)
    del lines[start:end]


def _double(lines: list[str], chance: random.Random) -> None:
    start, end = _some_block(lines, chance)
    lines[end:end] = lines[start:end]


def _exchange(lines: list[str], chance: random.Random) -> None:
    first, second = sorted((_some_block(lines, chance), _some_block(lines, chance)))
    if first[1] <= second[0]:
        one, other = lines[slice(*first)], lines[slice(*second)]
        lines[slice(*second)] = one
        lines[slice(*first)] = other


_HEADS = (
    "if flag:",
    "if not torch.jit.is_scripting():",
    "while flag:",
    "for item in items:",
    "with torch.no_grad():",
    "with torch.cuda.amp.autocast():",
    "def inner(x, *rest, **named):",
    "class Inner(torch.nn.Module):",
    "async def later():",
    "try:",
)


def _wrap(lines: list[str], chance: random.Random) -> None:
    start, end = _some_block(lines, chance)
    block = lines[start:end]
    if not block:
        return
    indent = block[0][: len(block[0]) - len(block[0].lstrip())]
    head = chance.choice(_HEADS)
    behind = [f"{indent}except Exception:", f"{indent}    pass"] if head == "try:" else []
    if head.startswith("if ") and chance.random() < 0.4:
        behind = [f"{indent}else:", *(f"    {line}" for line in block)]
    lines[start:end] = [indent + head, *(f"    {line}" for line in block), *behind]


def _one_line(lines: list[str], chance: random.Random) -> None:
    start, end = _some_block(lines, chance)
    if end - start == 1 and start < len(lines) and start:
        lines[start - 1 : end] = [f"{lines[start - 1]}; {lines[start].strip()}"]


def _suite(lines: list[str], chance: random.Random) -> None:
    at = [number for number, line in enumerate(lines[:-1]) if line.rstrip().endswith(":")]
    if at:
        number = chance.choice(at)
        lines[number : number + 2] = [f"{lines[number]} {lines[number + 1].strip()}"]


def _rename(lines: list[str], chance: random.Random) -> None:
    names = sorted({name for line in lines for name in re.findall(r"[A-Za-z_]\w*", line)})
    if len(names) > 1:
        old, new = chance.sample(names, 2)
        for number, line in enumerate(lines):
            if chance.random() < 0.5:
                lines[number] = re.sub(rf"\b{old}\b", new, line)


_FORMS = (
    "({0})",
    "[{0}][0]",
    "(lambda: {0})()",
    "{0} if flag else None",
    "f'{{{0}}}'",
    "not ({0})",
    "(\n    {0}\n)",
    "(y := {0})",
)


def _reform(lines: list[str], chance: random.Random) -> None:
    """Put the value of an assignment, a `return` or a call statement into another expression."""
    at = [number for number, line in enumerate(lines) if re.match(r"\s*(?:\w+ = |return )\S", line)]
    if at:
        number = chance.choice(at)
        head, value = re.fullmatch(r"(\s*(?:\w+ = |return ))(.*)", lines[number]).groups()  # type: ignore[union-attr]
        lines[number : number + 1] = (head + chance.choice(_FORMS).format(value)).split("\n")


_REMARKS = (
    "  # why",
    "  # torchlift: ignore",
    "  # torchlift: ignore[TL101] why",
    "  # type: ignore",
    "  # é✓",
    " \\",
    "  # \x0c",
)


def _remark(lines: list[str], chance: random.Random) -> None:
    if lines:
        lines[chance.randrange(len(lines))] += chance.choice(_REMARKS)


_ADDED = (
    "",
    "import torch",
    "from torch import *",
    "import torch as th",
    "del torch",
    "torch = None",
    "pass",
    "...",
    "# on its own",
    "x = 1",
    "from m0 import *",
    "import m1 as other",
)


def _insert(lines: list[str], chance: random.Random) -> None:
    at = chance.randrange(len(lines) + 1)
    around = lines[at - 1] if at else ""
    indent = around[: len(around) - len(around.lstrip())] if chance.random() < 0.7 else ""
    lines.insert(at, indent + chance.choice(_ADDED))


def _tabs(lines: list[str], chance: random.Random) -> None:
    lines[:] = [line.replace("    ", "\t") for line in lines]


def _cut(lines: list[str], chance: random.Random) -> None:
    if lines:
        number = chance.randrange(len(lines))
        start = chance.randrange(len(lines[number]) + 1)
        lines[number] = lines[number][:start] + lines[number][start + chance.randrange(1, 8) :]


CHANGES: tuple[Change, ...] = (
    _drop, _drop, _double, _exchange, _exchange, _wrap, _wrap, _wrap, _one_line, _suite, _rename, _rename, _reform, _reform,
    _remark, _insert, _tabs, _cut,
)  # fmt: skip
