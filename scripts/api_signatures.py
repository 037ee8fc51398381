"""What changed about how a thing is called: which change, of which parameter, from what, to what."""

from __future__ import annotations

from collections.abc import Iterator

from api_definitions import Parameter
from api_surface import Thing


def changes_of_signature(old: Thing, new: Thing) -> Iterator[tuple[str, str, str, str]]:
    """Kind of change, parameter, and what stood and stands there: the default, or the whole list of parameters."""
    if not old.signatures or not new.signatures or old.stub != new.stub:
        return
    if old.stub and not old.home.startswith("torch._C._VariableFunctions."):
        return  # the other stubs are written by hand: what changes there is often the stub alone
    if len(old.signatures) > 1 or len(new.signatures) > 1 or old.stub:
        yield from _compared_overloads(old, new)
        return
    yield from _compared_one(old.signatures[0], new.signatures[0])


def _compared_overloads(old: Thing, new: Thing) -> Iterator[tuple[str, str, str, str]]:
    before = {p.name for signature in old.signatures for p in signature if p.kind not in {"*", "**", "positional"}}
    after = {p.name for signature in new.signatures for p in signature if p.kind not in {"*", "**", "positional"}}
    catches = any(p.kind == "**" for signature in new.signatures for p in signature)
    caught = any(p.kind == "**" for signature in old.signatures for p in signature)
    for name in sorted(after - before) if not caught else ():
        yield "added", name, "", ""
    for name in sorted(before - after) if not catches else ():
        yield "removed", name, "", ""


def _signature(parameters: tuple[Parameter, ...]) -> str:
    """Parameters as they stand between the brackets of a `def`."""
    written: list[str] = []
    starred = False
    for index, parameter in enumerate(parameters):
        if parameter.kind == "keyword" and not starred:
            written.append("*")
            starred = True
        starred = starred or parameter.kind == "*"
        star = parameter.kind if parameter.kind in {"*", "**"} else ""
        written.append(star + parameter.name + (f"={parameter.default}" if parameter.default is not None else ""))
        following = parameters[index + 1].kind if index + 1 < len(parameters) else ""
        if parameter.kind == "positional" and following != "positional":
            written.append("/")
    return ", ".join(written)


def _compared_one(old: tuple[Parameter, ...], new: tuple[Parameter, ...]) -> Iterator[tuple[str, str, str, str]]:
    before, after = {p.name: p for p in old}, {p.name: p for p in new}
    whole = _signature(old), _signature(new)
    rest = any(p.kind == "**" for p in new)
    had_rest = any(p.kind == "**" for p in old)
    placed_old = [p.name for p in old if p.kind in {"normal", "positional"}]
    placed_new = [p.name for p in new if p.kind in {"normal", "positional"}]
    renamed: dict[str, str] = {}
    for index, name in enumerate(placed_old):
        if (
            name in after
            or index >= len(placed_new)
            or placed_new[index] in before
            or placed_new[:index] != [renamed.get(n, n) for n in placed_old[:index]]
        ):
            continue
        one, other = before[name], after[placed_new[index]]
        if (
            one.kind == "normal"
            and other.kind in {"normal", "positional"}
            and (one.default == other.default)
            and len(placed_new) == len(placed_old)
        ):
            renamed[name] = other.name
            if other.kind == "positional":
                yield "positional-only", name, *whole
            else:
                yield "renamed", f"{name} -> {other.name}", *whole
    for parameter in old:
        name = parameter.name
        if parameter.kind in {"*", "**"} or name in renamed:
            continue
        now = after.get(name)
        if now is None or now.kind in {"*", "**"}:
            if parameter.kind == "positional":
                continue
            if not rest:
                yield "removed", name, *whole
            continue
        if parameter.kind == "normal" and now.kind == "keyword":
            yield "keyword-only", name, *whole
        elif parameter.kind == "normal" and now.kind == "positional":
            yield "positional-only", name, *whole
        if parameter.default != now.default and "..." not in {parameter.default, now.default}:
            if now.default is None:
                yield "required", name, *whole
            elif parameter.default is not None:
                yield "default", name, parameter.default, now.default
    kept_old = [renamed.get(name, name) for name in placed_old]
    kept = [name for name in kept_old if name in placed_new]
    if (
        [name for name in placed_new if name in kept] != kept
        or placed_new[: len(kept)] != kept
        or kept_old[: len(kept)] != kept
    ):
        moved = [name for name in kept if kept_old.index(name) != placed_new.index(name)]
        if moved:
            yield "order", moved[0], *whole
    for parameter in new:
        if parameter.kind in {"*", "**"} or parameter.name in before or parameter.name in renamed.values() or had_rest:
            continue
        if parameter.default is not None:
            yield "added", parameter.name, "", parameter.default
        else:
            yield "added-required", parameter.name, *whole
