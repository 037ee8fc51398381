"""The first line of a report."""

from __future__ import annotations

from torchlift.doctor.check import Result
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts
from torchlift.doctor.report.words import count, gpus, sentence, shown_vendor


def verdict(examination: Examination) -> str:
    """One sentence that answers the question that was asked."""
    if examination.is_plan:
        return _plan(examination)
    if examination.smokes is not None and examination.smokes.failed:
        checked = _checked(examination)
        if checked.startswith("Healthy"):
            return f"{examination.smokes.summary()} The checks themselves found no problem: {_together(examination)}"
        return f"{examination.smokes.summary()} {checked}"
    return _checked(examination)


def _checked(examination: Examination) -> str:
    problems = examination.independent("problem")
    warnings = examination.independent("warning")
    failed = [result for result in examination.results() if result.status == "failed"]
    parts = [count(len(found), noun) for found, noun in ((problems, "problem"), (warnings, "warning")) if found]
    if failed:
        parts.append(f"{count(len(failed), 'check')} of torchlift failed")
    if problems or (warnings and examination.strict):
        return f"{', '.join(parts)}: {sentence(_first(problems or warnings))}"
    if failed:
        return f"Not certain: {', '.join(parts)}. {_together(examination)}"
    if warnings:
        return f"Healthy, with {', '.join(parts)}: {_together(examination)}"
    return f"Healthy: {_together(examination)}"


def _plan(examination: Examination) -> str:
    asked = f"torch for {gpus(examination.facts) or 'this machine'}"
    if examination.wanted is not None:
        asked = examination.wanted
    answer = examination.answer
    if answer is None:
        return f"No plan for {asked}: torchlift could not work it out."
    text = sentence(answer.summary)
    problems = examination.independent("problem")
    if problems:
        text += f" But first: {count(len(problems), 'problem')} of the machine, {sentence(_first(problems))}"
    return text


def _first(results: list[Result]) -> str:
    return results[0].summary


def _together(examination: Examination) -> str:
    facts = examination.facts
    cards, version = gpus(facts) if _uses_them(facts) else "", driver_version(facts)
    torch = f"torch {facts.torch.version}" if facts.torch is not None else None
    hardware = [part for part in (cards, f"driver {version}" if cards and version else None) if part]
    if torch is None:
        machine = " + ".join(hardware) if hardware else "no GPU was found"
        return f"{machine}; torch is not installed, so there is nothing more to check."
    if not cards and facts.other.mps:
        return f"Apple GPU (Metal) + {torch} work together."
    if not cards and facts.torch is not None and (facts.torch.cuda or facts.torch.hip or facts.torch.xpu):
        return f"{torch} runs on the CPU only, for no GPU was found that it could use."
    others = gpus(facts)
    if not cards and others:
        return f"{torch} runs on the CPU, and not on {others}."
    if not cards:
        return f"{torch} runs on the CPU; no GPU was found."
    return f"{' + '.join([*hardware, torch])} work together."


def _uses_them(facts: Facts) -> bool:
    """Whether the GPUs that the report names are of the vendor that torch is built for."""
    if facts.torch is None or facts.system.os == "darwin":
        return True
    return torch_build(facts.torch).vendor == shown_vendor(facts)
