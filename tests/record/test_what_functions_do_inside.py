"""Functions that only scripted ones call, and that write to gradients of what they are given, are proved on what happens there."""

from __future__ import annotations

import sys

import evidence_programs as programs
import pytest

from torchlift.evidence.conclusions import eager, exported

_PROGRAM = """
import torch


@torch.jit.script
def clamped(x, most: float):
    return torch.where(x > most, most, x)


@torch.jit.script
def phase(x, n: int):
    x %= n
    return x


@torch.jit.script
def halved(x):
    return clamped(x, 4.0) / 2


@torch.jit.script
def outer(x):
    return halved(x) + phase(-x, 3).abs().clamp(max=0)


@torch.jit.script
def kept(p, g):
    p.grad.set_(g * 2)


@torch.jit.script
def kept_phase(p, g, n: int):
    h = g.clone()
    h %= n
    p.grad.set_(h)


for rows in (3, 5, 8):
    outer(torch.arange(float(rows)))
    p = torch.zeros(rows, requires_grad=True)
    p.grad = torch.zeros(rows)
    kept(p, torch.ones(rows))
    kept_phase(p, torch.full((rows,), -1.0), 3)
    print(p.grad.tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_what_only_scripted_callers_do_with_a_function_is_a_call_of_it_and_written_gradients_are_compared() -> None:
    run = programs.recorded_text(_PROGRAM)
    found = {site.values[0].of.name.rpartition(":")[2]: site for site in run.sites}
    calls = {name: [(c.via, c.args) for c in site.values[0].calls] for name, site in found.items()}
    assert calls["clamped"] == [("inside", [f"float32[{rows}]", 4.0]) for rows in (3, 5, 8)]
    assert calls["halved"] == [("inside", [f"float32[{rows}]"]) for rows in (3, 5, 8)]
    assert {via for via, _ in calls["outer"]} == {"capture"}
    for name in ("clamped", "halved", "kept"):
        assert (eager(found[name]).variant, eager(found[name]).doubts) == ("eager", ()), name
    assert "3 calls came from the Python objects of scripted callers" in eager(found["halved"]).basis
    assert exported(found["halved"]).unknown == "scripted code alone calls it"
    # The caller hides what differs, and one that writes it to a gradient does not.
    assert eager(found["outer"]).variant == "eager"
    assert "the result is another" in eager(found["phase"]).refuted
    assert "in input `.grad` of 0 on call 1" in eager(found["kept_phase"]).refuted
