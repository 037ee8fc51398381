"""CUDA times and memory of profiler events, which are called those of the device since torch 2.4."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_SINCE = TorchVersion(2, 4)
_RENAMED = {
    "cuda_time_total": "device_time_total",
    "self_cuda_time_total": "self_device_time_total",
    "cuda_memory_usage": "device_memory_usage",
    "self_cuda_memory_usage": "self_device_memory_usage",
    "cuda_time_str": "device_time_str",
    "cuda_time_total_str": "device_time_total_str",
    "self_cuda_time_total_str": "self_device_time_total_str",
}

RULE = Rule(
    code="TL507",
    name="profiler-device-times",
    summary="`cuda_time_total` and its like of profiler events, which are called `device_...` since torch 2.4",
    why=(
        "torch 2.4 renamed the CUDA times and memory of profiler events after the device. Entries of `key_averages()` have the "
        "new names only: `cuda_time_total` is AttributeError. Single events keep three of the old names, which warn. "
        '`sort_by="cuda_time_total"` goes on working.'
    ),
    fix=(
        "Safe where the value is an event of `function_events` that still has the old name; for review where the old name raises "
        "and for what `events()` returns. Needs torch 2.4. Values that are not seen to come from the profiler are not reported."
    ),
    targets=tuple(f"*.{name}" for name in _RENAMED),
    triggers=tuple(f"{name} & {source}" for name in _RENAMED for source in ("key_averages", "events", "total_average")),
    deprecated=_SINCE,
    sources=(
        "torch/autograd/profiler_util.py of torch 2.3.1 and 2.4.1 (class FunctionEventAvg), :539-549, 915-995, 1015-1090 of 2.15.0",
        "run with torch 2.13.0 and 2.15.0",
    ),
)

# What a single event still has under its old name, with a FutureWarning.
_KEPT_BY_EVENTS = frozenset({"cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage"})
_PASSING_ON = frozenset({"sorted", "list", "tuple", "reversed", "filter"})
_Kind = Literal["event", "called event", "average"]


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, node = context.view, use.node
    if use.kind in {"store", "delete"} or not isinstance(node, ast.Attribute) or context.settings.target < _SINCE:
        return
    kind = _kind(view, node.value)
    if kind is None:
        return
    new = _RENAMED[node.attr]
    kept = kind != "average" and node.attr in _KEPT_BY_EVENTS
    where = "an entry of `key_averages()`" if kind == "average" else "an event of the profiler"
    template = Template(f"$value.{new}", (("value", view.span(node.value)),))
    rewrite = ReplaceExpression(view.span(node), template)
    title = f"Use `{new}`"
    if kept:
        message = f"`{node.attr}` of {where} is deprecated since torch 2.4 and forwards to `{new}`."
        # Other classes have a method of that name too.
        review = None if kind == "event" else "Needs review: `events()` has to be the profiler's."
        fix = Fix(title, Safety.UNSAFE if review else Safety.SAFE, (rewrite,), _SINCE)
        yield Finding("TL507", view.path, view.span(node), message, Severity.WARNING, review, fix)
        return
    message = f"`{node.attr}` of {where} is gone since torch 2.4 (AttributeError): it is called `{new}`."
    review = "Needs review: it is the same number, but that was not run, because the old name raises."
    fix = Fix(title, Safety.UNSAFE, (rewrite,), _SINCE)
    yield Finding("TL507", view.path, view.span(node), message, Severity.ERROR, review, fix)


def _kind(view: ModuleView, value: ast.expr) -> _Kind | None:
    """What the profiler gave to the loop that `value` is the variable of; None where that is not seen."""
    if isinstance(value, ast.Subscript):
        return _of_list(view, value.value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "total_average":
        return "average"
    if not isinstance(value, ast.Name):
        return None
    for ancestor in view.ancestors(value):
        loops: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(ancestor, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            loops = [(generator.target, generator.iter) for generator in ancestor.generators]
        elif isinstance(ancestor, (ast.For, ast.AsyncFor)):
            loops = [(ancestor.target, ancestor.iter)]
        elif isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return None
        for target, iterated in loops:
            if isinstance(target, ast.Name) and target.id == value.id:
                return _of_list(view, iterated)
    return None


def _of_list(view: ModuleView, values: ast.expr) -> _Kind | None:
    if isinstance(values, ast.Name):
        binding = view.definition(values)
        if binding is None or binding.kind != "assign" or binding.value is None or isinstance(binding.value, ast.Name):
            return None
        values = binding.value
    if isinstance(values, ast.Subscript):
        values = values.value
    if (
        isinstance(values, ast.Call)
        and isinstance(values.func, ast.Name)
        and values.func.id in _PASSING_ON
        and values.args
    ):
        return _of_list(view, values.args[-1 if values.func.id == "filter" else 0])
    if isinstance(values, ast.Call) and isinstance(values.func, ast.Attribute):
        if values.func.attr == "key_averages":
            return "average"
        return "called event" if values.func.attr == "events" else None
    return "event" if isinstance(values, ast.Attribute) and values.attr == "function_events" else None


_TIMES = "import torch\n\n\ndef times(prof):\n    return [event.{} for event in prof.{}]\n"
_RUN = "with torch.autograd.profiler.profile() as prof:\n    torch.ones(3) + 1\n"

EXAMPLES = (
    Bad(
        _TIMES.format("self_cuda_time_total", "function_events"),
        _TIMES.format("self_device_time_total", "function_events"),
        why="an event",
        run=f"{_RUN}result = times(prof)",
    ),
    Bad(
        "def longest(prof):\n    averages = prof.key_averages()\n"
        "    for entry in sorted(averages, key=str):\n        print(entry.cuda_time_total / 1000)  # ms\n",
        "def longest(prof):\n    averages = prof.key_averages()\n"
        "    for entry in sorted(averages, key=str):\n        print(entry.device_time_total / 1000)  # ms\n",
        safety="unsafe",
        why="an entry of the table",
    ),
    Bad(
        _TIMES.format("cuda_memory_usage", "key_averages(group_by_input_shape=True)"),
        _TIMES.format("device_memory_usage", "key_averages(group_by_input_shape=True)"),
        safety="unsafe",
        why="memory",
        run=f"{_RUN}try:\n    result = times(prof)[:1]\nexcept AttributeError as error:\n    result = str(error)",
        differs="The old name raises AttributeError.",
    ),
    Bad(
        _TIMES.format("cuda_time_total", "events()"),
        _TIMES.format("device_time_total", "events()"),
        safety="unsafe",
        why="an event that a method returns",
        run="with torch.profiler.profile() as prof:\n    torch.ones(3) + 1\nresult = sum(times(prof))",
    ),
    Ok("def table(prof):\n    return prof.key_averages().table(sort_by='cuda_time_total')\n", "a name of a column"),
    Ok(
        "class Meter:\n    def __init__(self, events):\n        self.cuda_time_total = len(events)\n\n"
        "    def key_averages(self):\n        return self.cuda_time_total\n",
        "an attribute of one's own",
    ),
    Ok(
        "def total(prof):\n    return [entry.cpu_time_total for entry in prof.key_averages()]  # cuda_time_total\n",
        "times of the CPU",
    ),
    Ok(
        "def total(records, events):\n    return sum(record.cuda_time_total for record in records)\n",
        "values that come from elsewhere",
    ),
)
