"""The smokes' part of a report: one line each as they come, and the count at the end."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Final, Literal

from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.smoke import TIERS, Smoke
from torchlift.json_records import FLATTENED
from torchlift.lazy_dataclass import dataclass
from torchlift.terminal.style import Style

if TYPE_CHECKING:
    from torchlift.doctor.smoke.parent.targets import Target
    from torchlift.doctor.smoke.parent.torch_process import TorchUnavailable

SMOKE_SCHEMA: Final = 1
"""Version of the JSON form. Added keys do not change it; removed or re-interpreted ones do."""

_WORDS = {
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
    "timeout": "timed out",
    "crash": "crashed",
    "stuck": "stuck in the driver",
    "lost": "not run because the device is gone",
}
_STATUS = {"pass": "ok", "skip": "skipped", "lost": "failed"}
_ID_WIDTH = 20


@dataclass
class SmokeReport:
    """All that a run of smokes found out."""

    tier: Annotated[str | None, {"enum": [*TIERS, None]}]
    """What was asked for, None when smokes were named."""
    python: str
    """The interpreter."""
    torch: str | None = None
    """Its version of torch, None when it cannot be imported: then `problem` says why."""
    import_seconds: float | None = None
    devices: dict[str, str | None] = field(default_factory=dict)
    """What the devices are called, by name."""
    note: str | None = None
    problem: str | None = None
    signature: str | None = None
    cause: str | None = None
    remedy: str | None = None
    results: list[SmokeResult] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether anything failed, the import of torch included."""
        return self.problem is not None or any(result.failed for result in self.results)

    @property
    def exit_code(self) -> int:
        """1 when something failed, else 0."""
        return 1 if self.failed else 0

    def summary(self) -> str:
        """One sentence about what failed; empty when nothing did."""
        if self.problem is not None:
            return f"No smoke could run: {self.problem}."
        failed = [result for result in self.results if result.failed]
        if not failed:
            return ""
        reason = (failed[0].reason or _WORDS[failed[0].outcome]).strip().splitlines()[0].rstrip(".")
        return (
            f"{len(failed)} of {len(self.results)} smokes failed, first {failed[0].id} on {failed[0].device}: {reason}."
        )

    def unavailable(self, error: TorchUnavailable) -> None:
        """Note that torch cannot be imported."""
        from torchlift.doctor.smoke.parent.signatures import find_signature

        self.problem = str(error)
        found = find_signature(error.detail)
        if found is not None:
            self.signature, self.cause, self.remedy = found.id, found.cause, found.remedy
        elif error.missing:
            self.remedy = "Install torch there; `torchlift doctor` prints the command for this machine"

    def reported(self) -> ReportedSmokes:
        """As the machine format has it."""
        return ReportedSmokes(SMOKE_SCHEMA, self, self.failed)


@dataclass(frozen=True)
class ReportedSmokes:
    """What a run of smokes found out, and whether anything failed."""

    schema: Literal[1]
    run: SmokeReport = field(metadata=FLATTENED)
    failed: bool


class SmokeProgress:
    """Writes what happens, line by line; on a terminal also what runs now."""

    def __init__(self, style: Style, *, live: bool, out: Callable[[str], None] | None, total: int) -> None:
        self._style = style
        self._out = out or (lambda text: None)
        self._live = live and out is not None
        self._total = total
        self._begun = False
        self._device = ""
        self._done = 0
        if self._live:
            self._say_now("importing torch")

    def start(self, smoke: Smoke, target: Target) -> None:
        """A smoke begins."""
        if self._live:
            self._say_now(f"{target.name}: {smoke.id} ({self._done + 1} of {self._total})")

    def result(self, result: SmokeResult, report: SmokeReport) -> None:
        """A smoke has ended."""
        self._wipe()
        if not self._begun:
            self._begun = True
            self._head(report)
        if result.device != self._device:
            self._device, self._done = result.device, 0
            title = report.devices.get(result.device)
            shown = f"{result.device} ({title})" if title and title.casefold() != result.device else result.device
            self._line("  " + self._style.heading(shown))
        self._done += 1
        for line in lines_of(result, self._style):
            self._line(line)

    def end(self, report: SmokeReport) -> None:
        """The run is over."""
        self._wipe()
        if report.problem is not None:
            self._line(self._style.heading("Smokes"))
            for line in _block(f"{self._style.mark('problem')} {report.problem}", self._style, "  "):
                self._line(line)
            for line in _help(report.cause, report.remedy, False, self._style):
                self._line(line)
            return
        counts = Counter[str](result.outcome for result in report.results)
        said = ", ".join(f"{counts[outcome]} {word}" for outcome, word in _WORDS.items() if counts[outcome])
        status = "problem" if report.failed else "ok"
        self._line("  " + self._style.verdict(f"{said or 'nothing to run'}", status))

    def _head(self, report: SmokeReport) -> None:
        self._line(self._style.heading("Smokes"))
        seconds = f", imported in {report.import_seconds:.1f} s" if report.import_seconds is not None else ""
        self._line(self._style.faint(f"  torch {report.torch}{seconds}"))
        if report.note:
            for line in _block(report.note, self._style, "  "):
                self._line(line)

    def _line(self, text: str) -> None:
        self._out(text + "\n")

    def _say_now(self, text: str) -> None:
        self._out(f"\r\x1b[2K  {self._style.faint(text[: self._style.width - 3])}")

    def _wipe(self) -> None:
        if self._live:
            self._out("\r\x1b[2K")


def render_smokes(report: SmokeReport, style: Style) -> str:
    """The whole part of the report at once."""
    parts: list[str] = []
    progress = SmokeProgress(style, live=False, out=parts.append, total=len(report.results))
    for result in report.results:
        progress.result(result, report)
    progress.end(report)
    return "".join(parts)


def lines_of(result: SmokeResult, style: Style) -> list[str]:
    """One result: a line when it is well, with reason, cause and remedy below when it is not."""
    status = _STATUS.get(result.outcome, "problem")
    if result.outcome == "pass" and result.details.get("warning"):
        status = "warning"
    mark = " " * (3 - min(style.mark_width(status), 3)) + style.mark(status)
    parts = [f"{result.id:<{_ID_WIDTH}}"]
    if result.outcome == "pass":
        parts.append(f"{result.seconds or 0.0:6.2f} s")
        if result.error is not None and result.limit:
            parts.append(style.faint(f"error {result.error:.1e}, limit {result.limit:.0e}"))
        if result.reason and result.tier != "burn":
            parts.append(result.reason)
        if "faster_than_loop" in result.details:
            parts.append(f"{result.details['faster_than_loop']} times as fast as a loop")
        # A burn says much: a line for each thing.
        more = (result.reason or "").split("; ") if result.tier == "burn" else []
        return [f"    {mark} {'  '.join(parts)}", *(f"           {line}" for line in more if line)]
    if result.outcome == "skip":
        return [f"    {mark} {parts[0]}  {style.faint(result.reason or 'skipped')}"]
    first, *rest = (result.reason or "no reason given").strip().splitlines()
    lines = [f"    {mark} {parts[0]}  {_WORDS[result.outcome]}: {first}"]
    lines += [f"           {line}" for line in rest[:3]]
    return lines + _help(result.cause, result.remedy, result.likely, style)


def list_smokes(smokes: Sequence[Smoke], *, as_json: bool = False) -> str:
    """All smokes, for `--list-smokes`."""
    if as_json:
        rows = [
            {"id": each.id, "tier": each.tier, "title": each.title, "devices": list(each.kinds), "needs": each.needs}
            for each in smokes
        ]
        return json.dumps(rows, indent=2) + "\n"
    return "".join(f"{each.tier:<8} {each.id:<{_ID_WIDTH}} {each.title}\n" for each in smokes)


def _help(cause: str | None, remedy: str | None, likely: bool, style: Style) -> list[str]:
    lines = []
    if cause:
        lines += _block(f"{'likely ' if likely else ''}cause: {cause}", style, "           ")
    if remedy:
        lines += _block(f"do: {remedy}", style, "           ")
    return lines


def _block(text: str, style: Style, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        style.width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
