"""Findings that say the same of several GPUs, as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from torchlift.doctor.check import Remedy
from torchlift.doctor.diagnose import Diagnosed

_GPU = re.compile(r"GPU (\d+)\b")


def alike(findings: Sequence[Diagnosed]) -> list[Diagnosed]:
    """The findings, those of one check that differ in the number of the GPU only joined at the place of the first.

    What one of them has below itself stays apart.
    """
    groups: dict[object, list[Diagnosed]] = {}
    for index, finding in enumerate(findings):
        same = _GPU.match(finding.result.summary) and not finding.consequences
        key = (finding.check.id, finding.result.status, _GPU.sub("GPU", finding.result.summary)) if same else index
        groups.setdefault(key, []).append(finding)
    return [_joined(group) if len(group) > 1 else group[0] for group in groups.values()]


def _joined(group: Sequence[Diagnosed]) -> Diagnosed:
    first = group[0].result
    others = [found[1] for finding in group[1:] if (found := _GPU.match(finding.result.summary))]
    likewise = f"GPU {others[0]}" if len(others) == 1 else f"GPUs {', '.join(others)}"
    remedies = [finding.result.remedy for finding in group if finding.result.remedy is not None]
    commands = list(dict.fromkeys(remedy.command for remedy in remedies if remedy.command is not None))
    result = replace(
        first,
        summary=f"{first.summary}; {likewise} likewise",
        evidence=tuple(dict.fromkeys(item for finding in group for item in finding.result.evidence)),
        remedy=Remedy(remedies[0].text, "\n".join(commands) or None) if remedies else None,
    )
    return replace(group[0], result=result)
