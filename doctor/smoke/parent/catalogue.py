"""Writes `docs/smokes.md` from the smokes: `python -m torchlift.doctor.smoke.parent.catalogue > docs/smokes.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

from torchlift.doctor.smoke.loading import own_smokes
from torchlift.doctor.smoke.parent.burn_verdict import FALL, LINK_FAIL_BELOW, LINK_WARN_BELOW, THROTTLED, THROTTLING
from torchlift.doctor.smoke.parent.datasheet import cards
from torchlift.doctor.smoke.parent.desk_check import section
from torchlift.doctor.smoke.parent.floor import FAIL_BELOW, WARN_BELOW
from torchlift.doctor.smoke.parent.measured import described, measured
from torchlift.doctor.smoke.smoke import BURN_SECONDS, KINDS, TIERS, Signature, Smoke

_NAMES = {"cuda": "NVIDIA", "rocm": "AMD", "xpu": "Intel", "mps": "Apple", "cpu": "CPU"}

_HEAD = """\
# Smokes

`torchlift doctor --smoke` runs small programs on your devices, each in a process of its own, and compares what they
compute with the same in fp64 on the CPU, from the same rounded inputs. A smoke passes, fails, is skipped with the reason,
times out, or crashes; the others still run. Tiers: `quick` (the default tier's first part), `default`, `full`, which adds
compilers, profilers and rates, and `burn`: the quick tier, then a proof of the hardware under load (`--burn-seconds`).

**Where the limits come from.** The errors of fp32, fp16 and bf16 were measured on CPUs and on {measured}, and a limit is
about ten times that. Each smoke says where it was measured; broken on purpose there, in eleven places, all eleven failed. The
share of a datasheet's rate below which a card fails is a guess.

**Several devices.** A smoke of one GPU sees no other (CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ZE_AFFINITY_MASK; what is
hidden already stays hidden), and GPUs work side by side, one for every four cores. What is measured alone, and what all devices
do together, comes last. NVML is held open meanwhile, so that no GPU falls asleep, and sampled ten times a second while a rate is
measured: a rate below half of the datasheet's is read against the clock it had. A device that stops answering is gone and ends
its smokes; one that never answered to this torch is not gone: the first smoke fails with the reason, the others are skipped.

This page is written by `python -m torchlift.doctor.smoke.parent.catalogue`.
"""

_BURN = """\
`torchlift doctor --smoke burn` proves hardware: it loads every device for `--burn-seconds` ({seconds:g} by default), all devices side by side,
then tries what they share. Time and power are told before it begins, a line tells how far it is, Ctrl-C ends it and leaves nothing
running. Nothing is changed: no clock, no power limit.

A rate is read against the card's datasheet and against the clocks that NVML saw meanwhile. Below {warn:.0%} is said and below {fail:.0%} fails,
unless the clock explains it; a clock that is low for the card's power budget alone (`sw-power-cap`) is not held against it. Throttling
({throttling}) in more than {throttled:.0%} of the looks is said whatever the rate, and so is a rate that falls below {fall:.0%} of its best. A PCIe link
is judged by the generation and width that it has under load: below {link_warn:.0%} is said, below {link_fail:.0%} fails. Where torchlift has no datasheet
of a card there are numbers and no verdict. All of these shares are guesses; what a healthy card reached stands below.

Cards with a datasheet (`doctor/smoke/parent/datasheet.json`, each with its sources): {cards}.
"""


def catalogue() -> str:
    """The whole page."""
    smokes = own_smokes().values()
    return "\n".join([*_page(smokes)]) + "\n"


def explained(smoke: Smoke, *, as_json: bool = False) -> str:
    """All that there is to say about one smoke."""
    if as_json:
        limits = dict(smoke.limits)
        fields = ("id", "tier", "title", "kinds", "needs", "reference", "timeout")
        known = {
            **{name: getattr(smoke, name) for name in fields},
            "measured": measured(smoke),
            "guessed": smoke.guessed,
        }
        failures = [{"id": row.id, "cause": row.cause, "remedy": row.remedy} for row in smoke.signatures]
        return json.dumps({**known, "limits": limits, "failures": failures}, indent=2) + "\n"
    lines = [f"{smoke.id} (smoke, {smoke.tier}): {smoke.title}", ""]
    lines += [line for line in _entry(smoke) if line.startswith("- ")]
    for row in smoke.signatures:
        lines += ["", f"{row.id}: {'likely, ' if row.likely else ''}{row.cause}. {row.remedy}."]
    return "\n".join(lines) + "\n"


def _page(smokes: Iterable[Smoke]) -> Iterator[str]:
    yield _HEAD.format(measured=described())
    for tier in TIERS:
        yield f"## {tier}"
        yield ""
        if tier == "burn":
            yield from _about_burns()
        for smoke in smokes:
            if smoke.tier == tier:
                yield from _entry(smoke)
    yield from section(smokes, _NAMES)
    yield "## Failures that every smoke knows"
    yield ""
    yield "Beside its own, every smoke knows the failures of [errors.md](errors.md)."


def _about_burns() -> Iterator[str]:
    yield _BURN.format(
        seconds=BURN_SECONDS,
        warn=WARN_BELOW,
        fail=FAIL_BELOW,
        throttling=", ".join(THROTTLING),
        throttled=THROTTLED,
        fall=FALL,
        link_warn=LINK_WARN_BELOW,
        link_fail=LINK_FAIL_BELOW,
        cards=", ".join(card.name for card in cards()),
    )


def _entry(smoke: Smoke) -> Iterator[str]:
    yield f"### {smoke.id}"
    yield ""
    yield f"{smoke.title}."
    yield ""
    yield f"- Devices: {', '.join(_NAMES[kind] for kind in KINDS if kind in smoke.kinds)}{' (once for all)' if smoke.once else ''}."
    yield f"- Needs: {smoke.needs}."
    yield f"- Reference: {smoke.reference}."
    for limit, names in _by_limit(smoke):
        what = "exact" if limit == 0 else f"at most {limit:g}"
        yield f"- Limit: {what} ({', '.join(f'`{name}`' for name in names)})."
    yield f"- Killed after {smoke.timeout:g} s."
    yield f"- {measured(smoke)}."
    if smoke.guessed:
        yield f"- {smoke.guessed}."
    yield ""
    yield from _signatures(smoke.signatures)


def _by_limit(smoke: Smoke) -> Iterator[tuple[float, list[str]]]:
    for limit in sorted({limit for _, limit in smoke.limits}):
        yield limit, [name for name, each in smoke.limits if each == limit]


def _signatures(signatures: Iterable[Signature]) -> Iterator[str]:
    rows = list(signatures)
    if not rows:
        return
    yield "| Failure | Text | Cause | Remedy |"
    yield "|---|---|---|---|"
    for row in rows:
        cause = f"{'Likely: ' if row.likely else ''}{row.cause}"
        pattern = row.pattern.replace("|", "\\|")
        yield f"| {row.id} | `{pattern}` | {_cell(cause)} | {_cell(row.remedy)} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(catalogue())
