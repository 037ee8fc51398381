"""Inputs in words: `float32[4,3] mask=bool[4] 'relu' true 4`, as a person gives them and evidence writes them.

`float32[4,3]+grad` is a tensor that asks for its gradient, as models take it that return forces.
"""

from __future__ import annotations

import json
import re
from typing import Any

from torchlift.convert.archive.torchscript import TorchScript, written
from torchlift.lazy_dataclass import dataclass

_TENSOR = re.compile(
    r"(?:float(?:16|32|64)|bfloat16|u?int(?:8|16|32|64)|bool|complex(?:64|128))\[[\d,\s]*\](?:@[\w:]+)?(?:<\d+)?(?:\+grad)?"
)
_NAME = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")
_KEY = re.compile(r'("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")\s*:\s*')
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'")


class InputsUnreadable(ValueError):
    """These are no inputs; the text is a sentence."""


@dataclass(frozen=True)
class GivenInputs:
    """Inputs of one call, as JSON: tensors are strings such as `float32[4,3]`, strings are `{"str": "relu"}`.

    Attributes:
        args, kwargs: positional and keyword arguments.
        source: where they are from: `user`, `evidence`, `trace`, `search`.
        said: what has to be said about them, as a sentence.
    """

    args: list[Any]
    kwargs: dict[str, Any]
    source: str
    said: str = ""

    def __str__(self) -> str:
        named = [f"{name}={in_words(value)}" for name, value in self.kwargs.items()]
        return ", ".join([*map(in_words, self.args), *named]) or "no arguments"


def in_words(value: Any) -> str:
    """One argument as `--inputs` takes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "str" in value:
        return repr(value["str"])
    if isinstance(value, dict) and "tuple" in value:
        return f"({', '.join(map(in_words, value['tuple']))})"
    if isinstance(value, dict):
        inner = value.get("dict", value)
        return "{" + ", ".join(f"{json.dumps(key)}: {in_words(item)}" for key, item in inner.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(in_words, value))}]"
    return json.dumps(value)


def given_by_user(text: str) -> GivenInputs:
    """Inputs as `--inputs` takes them, separated by blanks. Raises `InputsUnreadable`."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    rest = text.strip()
    while rest:
        name = _NAME.match(rest)
        if name is not None:
            rest = rest[name.end() :]
        value, rest = _one(rest)
        if name is not None:
            kwargs[name[1]] = value
        elif kwargs:
            raise InputsUnreadable(f"In --inputs {text!r} a positional argument stands behind a named one.")
        else:
            args.append(value)
        rest = rest.lstrip(" \t,")
    return GivenInputs(args, kwargs, "user")


def _one(text: str) -> tuple[Any, str]:
    tensor = _TENSOR.match(text)
    if tensor is not None:
        return re.sub(r"\s", "", tensor[0]), text[tensor.end() :]
    string = _TEXT.match(text)
    if string is not None:
        return {"str": string[1]}, text[string.end() :]
    if text[:1] == "(":
        items, rest = _items(text, ")")
        return {"tuple": items}, rest
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        if text[:1] == "[":
            return _items(text, "]")
        if text[:1] == "{":
            return _pairs(text)
        raise InputsUnreadable(
            f"{text!r} is no input: write tensors as float32[4,3], strings as 'text', and numbers, true, null, lists and "
            'dictionaries as JSON, in which tensors may stand with or without quotation marks: ["float32[4,3]"].'
        ) from None
    return _checked(value), text[end:]


def _items(text: str, end: str) -> tuple[list[Any], str]:
    """What stands between brackets, and what follows them."""
    items, rest = [], text[1:].lstrip()
    while rest and rest[0] != end:
        item, rest = _one(rest)
        items.append(item)
        rest = rest.lstrip(" \t,")
    return items, rest[1:]


def _pairs(text: str) -> tuple[Any, str]:
    """A dictionary whose values are words, as reports write it, and what follows it."""
    found: dict[str, Any] = {}
    rest = text[1:].lstrip()
    while rest and rest[0] != "}":
        key = _KEY.match(rest)
        if key is None:
            raise InputsUnreadable(f"{text!r} is no input: the keys of a dictionary are strings, as in JSON.")
        found[json.loads(key[1])], rest = _one(rest[key.end() :])
        rest = rest.lstrip(" \t,")
    return {"dict": found}, rest[1:]


def _checked(value: Any) -> Any:
    if isinstance(value, str) and not _TENSOR.fullmatch(value):
        return {"str": value}
    if isinstance(value, list):
        return [_checked(item) for item in value]
    if isinstance(value, dict) and set(value) == {"tuple"} and isinstance(value["tuple"], list):
        return {"tuple": [_checked(item) for item in value["tuple"]]}
    if isinstance(value, dict):
        return {"dict": {key: _checked(item) for key, item in value.get("dict", value).items()}}
    return value


def recorded(archive: TorchScript, method: str) -> list[GivenInputs]:
    """Example inputs that a trace carries; torch keeps their types and shapes, not their values, and no names."""
    if method not in archive.traced:
        return []
    values = [written(value) for value in archive.traced[method]]
    if any(_unknown(value) for value in values):
        return []
    return [GivenInputs(values, {}, "trace")]


def _unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return "object" in value or any(_unknown(item) for item in value.values())
    return any(map(_unknown, value)) if isinstance(value, list) else False


def from_evidence(evidence: Any, content: str, method: str) -> list[GivenInputs]:
    """Inputs of recorded calls of values that were written to this archive or loaded from it, most frequent first.

    Args:
        evidence: a `RecordedEvidence`.
        content: hash of the archive, as evidence names it.
        method: that was called.
    """
    found: dict[str, GivenInputs] = {}
    told = [
        (value.calls, f"{site.file}:{site.line}")
        for site in evidence.sites
        for value in site.values
        if any(one.content == content for one in value.wrote)
    ]
    told += [(load.calls, load.site.rpartition(":")[0]) for load in evidence.loads if load.content == content]
    for calls, place in told:
        for call in sorted(calls, key=lambda call: -call.count):
            if call.method == method:
                given = GivenInputs(call.args, call.kwargs, "evidence", f"recorded at {place}.")
                found.setdefault(str(given), given)
    return list(found.values())
