"""Run smokes on devices, one result at a time; this process never imports torch and never waits for a driver."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.loading import own_smokes, smokes_below
from torchlift.doctor.smoke.parent.burn_verdict import judge_burn
from torchlift.doctor.smoke.parent.floor import judge
from torchlift.doctor.smoke.parent.lanes import side_by_side
from torchlift.doctor.smoke.parent.nvml_watch import NvmlWatch
from torchlift.doctor.smoke.parent.outcome import Outcome, SmokeResult
from torchlift.doctor.smoke.parent.signatures import find_signature
from torchlift.doctor.smoke.parent.targets import Target, TargetError, alone, find_targets, ready_timeout
from torchlift.doctor.smoke.parent.torch_process import TorchProcess, TorchUnavailable
from torchlift.doctor.smoke.smoke import BURN_SECONDS, TIERS, Signature, Smoke, tiers_of
from torchlift.documentation import page_of
from torchlift.lazy_dataclass import dataclass

_CORES_A_DEVICE = 4
"""A reference on the CPU takes up to four threads: so many cores each, or devices take turns."""


_LOOK_EVERY, _MOST_LOOKS = 0.1, 600
"""Seconds between two looks at the clocks, and how many of them a burn needs at most."""


class SmokeError(ValueError):
    """What was asked for does not exist; the message is for the user."""


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        python: the interpreter to examine.
        tier: runs smokes of this tier and of those that it contains, see `tiers_of`; None for all there are.
        only: ids; when given, exactly these run and `tier` does not matter.
        devices: names ("cuda:0", "cpu"), or UUIDs of GPUs and MIG slices as CUDA_VISIBLE_DEVICES takes them; none for
            all visible GPUs, or the CPU.
        timeout: seconds for every smoke instead of its own.
        burn_seconds: how long a burn loads each device.
        folders: further folders of smokes.
        fork: None decides by the system.
        gpus: what NVML says, to find MIG slices and to judge rates. NVML is held open while they run.
        share: (which, of how many) processes of this machine that divide the devices among themselves.
        at_once: devices that work side by side; None decides by the number of cores.
    """

    python: str
    tier: str | None = "default"
    only: Sequence[str] = ()
    devices: Sequence[str] = ()
    timeout: float | None = None
    burn_seconds: float = BURN_SECONDS
    folders: Sequence[Path] = ()
    fork: bool | None = None
    gpus: Sequence[Gpu] = ()
    share: tuple[int, int] = (0, 1)
    at_once: int | None = None


@dataclass(frozen=True)
class ChosenSmoke:
    """A smoke and, when it is not torchlift's own, the file it is in."""

    smoke: Smoke
    file: Path | None = None


def choose(plan: Plan) -> list[ChosenSmoke]:
    """The smokes that the plan names, those of a lower tier first.

    Raises:
        SmokeError: if an id does not exist, or a file in a folder is no smoke.
    """
    found = {id: ChosenSmoke(smoke) for id, smoke in own_smokes().items()}
    try:
        found.update({id: ChosenSmoke(smoke, path) for id, (smoke, path) in smokes_below(plan.folders).items()})
    except ValueError as error:
        raise SmokeError(str(error)) from error
    for id in plan.only:
        if id not in found:
            raise SmokeError(f"There is no smoke {id!r}.{_suggestion(id, found)} --list-smokes names all.")
    if plan.only:
        chosen = [found[id] for id in dict.fromkeys(plan.only)]
    else:
        tiers = TIERS if plan.tier is None else tiers_of(plan.tier)
        chosen = [each for each in found.values() if each.smoke.tier in tiers]
    return sorted(chosen, key=lambda each: TIERS.index(each.smoke.tier))


class Run:
    """One run of a plan. Iterate over `results()`; `note` and `torch` are known as soon as the first is there."""

    def __init__(self, plan: Plan) -> None:
        """Raises `SmokeError` if the plan names something that does not exist."""
        self.plan = plan
        self.chosen = choose(plan)
        self.torch: str | None = None
        self.import_seconds: float | None = None
        self.targets: list[Target] = []
        self.note: str | None = None
        """Why the devices are what they are, when that is not what one expects."""
        self.on_start: Callable[[Smoke, Target], None] = lambda smoke, target: None
        """Called before each smoke on the device of which the next result will be."""
        self.on_targets: Callable[[Sequence[Target]], None] = lambda targets: None
        """Called when it is known which devices there are, before anything runs on them."""
        self.watch = NvmlWatch(open=False)
        """What NVML sees of the GPUs now."""
        self._ready_timeout = ready_timeout(len(plan.gpus))
        self._answered: set[str] = set()
        """Devices that did something for torch in this run."""
        self._ended: dict[str, tuple[Outcome, str]] = {}
        """By device: what becomes of the rest of its smokes, and why."""
        self._shown = ""

    def results(self) -> Iterator[SmokeResult]:
        """Run and give each result as it comes, device by device. Ends all processes when it ends or is closed.

        Raises:
            TorchUnavailable: if torch cannot be imported.
            SmokeError: if a device does not exist.
        """
        with tempfile.TemporaryDirectory(prefix="torchlift-smoke-", ignore_cleanup_errors=True) as folder:
            environment = {
                **os.environ,
                # Compiled code of an earlier day would hide a compiler that no longer works.
                "TORCHINDUCTOR_CACHE_DIR": str(Path(folder, "inductor")),
                "TRITON_CACHE_DIR": str(Path(folder, "triton")),
                # No pool of compiling processes: they leave the session and outlive the smoke.
                "TORCHINDUCTOR_COMPILE_THREADS": "1",
            }
            every = max(_LOOK_EVERY, self.plan.burn_seconds / _MOST_LOOKS)
            with NvmlWatch(open=bool(self.plan.gpus), every=every) as self.watch, self._process(environment) as process:
                process.start()
                self.torch, self.import_seconds = process.torch, process.import_seconds
                try:
                    self.targets, self.note = find_targets(
                        self.plan.devices, self.plan.gpus, self.plan.share, self._asking(process)
                    )
                except TargetError as error:
                    raise SmokeError(str(error)) from error
                self.on_targets(self.targets)
                yield from self._all(process, environment)

    def _process(self, environment: dict[str, str]) -> TorchProcess:
        return TorchProcess(self.plan.python, fork=self.plan.fork, environment=environment)

    def _asking(self, process: TorchProcess) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda request: process.ask(request, self._ready_timeout)

    def _alone(self, process: TorchProcess, target: Target, environment: dict[str, str]) -> Target:
        try:
            return alone(target, environment, self._asking(process))
        except TorchUnavailable:  # the first smoke will tell
            return target

    def _all(self, process: TorchProcess, environment: dict[str, str]) -> Iterator[SmokeResult]:
        mine = [each for each in self.chosen if not (each.smoke.once and self.plan.share[0])]
        if len(self.targets) != 1:
            yield from self._several(process, environment, mine)
            return
        (target,) = self.targets
        by_itself = self._alone(process, target, environment)
        self._shown = target.name
        for each in mine:
            yield from self._on(process, target if each.smoke.once else by_itself, [each])

    def _several(
        self, process: TorchProcess, environment: dict[str, str], chosen: Sequence[ChosenSmoke]
    ) -> Iterator[SmokeResult]:
        """First what devices do side by side, then what each does while the others rest, then what all do together."""
        together = [each for each in chosen if each.smoke.once]
        apart = [each for each in chosen if each.smoke.alone and not each.smoke.once]
        beside = [each for each in chosen if not (each.smoke.alone or each.smoke.once)]
        by_itself: dict[str, Target] = {}

        def on_its_own(process: TorchProcess, target: Target) -> Iterator[SmokeResult]:
            by_itself[target.name] = self._alone(process, target, environment)
            yield from self._on(process, by_itself[target.name], beside)

        number = self.plan.at_once or (os.cpu_count() or 1) // _CORES_A_DEVICE
        processes = [process, *(self._process(environment) for _ in self.targets[1 : max(number, 1)])]
        for name, results in side_by_side(processes, self.targets, on_its_own):
            self._shown = name
            yield from results
        for target in self.targets if apart else ():
            self._shown = target.name
            yield from self._on(process, by_itself[target.name], apart)
        for target in self.targets[:1]:
            self._shown = target.name
            if self._ended:  # it takes all of them
                self._ended[target.name] = next(iter(self._ended.values()))
            yield from self._on(process, target, together)

    def _on(self, process: TorchProcess, target: Target, chosen: Iterable[ChosenSmoke]) -> Iterator[SmokeResult]:
        for each in chosen:
            if target.name in self._ended:
                outcome, why = self._ended[target.name]
                yield _result(each.smoke, target, outcome, reason=why)
                continue
            if target.name == self._shown:
                self.on_start(each.smoke, target)
            yield self._one(process, each, target)

    def _one(self, process: TorchProcess, chosen: ChosenSmoke, target: Target) -> SmokeResult:
        smoke = chosen.smoke
        request: dict[str, Any] = {
            "do": "smoke",
            "id": smoke.id,
            "device": target.device,
            "environment": target.environment,
            "seconds": self.plan.burn_seconds,
        }
        if chosen.file is not None:
            request["file"] = str(chosen.file)
        timeout = self.plan.timeout or smoke.timeout + smoke.lasts * self.plan.burn_seconds
        begun = time.monotonic()
        with self.watch.watching() if smoke.loads else nullcontext():
            try:
                answer = process.ask(request, timeout)
            except TorchUnavailable as error:  # it worked before: whatever ran last has broken the machine or the files
                answer = {"outcome": "fail", "reason": str(error)}
        result, signature = _read_answer(smoke, target, answer, timeout)
        if smoke.loads:
            busy = result.details.pop("busy", None) or (begun, time.monotonic())
            seen = self.watch.samples(target.gpu, *busy) if target.gpu is not None else []
            (judge_burn if smoke.tier == "burn" else judge)(result, target.device, target.gpu, seen)
        if result.outcome == "pass":
            self._answered.add(target.name)
        elif not result.failed:
            return result
        elif result.outcome == "stuck" or (signature is not None and signature.lost):
            how = "is stuck in the driver" if result.outcome == "stuck" else "no longer answers"
            self._ended[target.name] = ("lost", f"not run: {target.name} {how} (since {result.id})")
        elif _harmless(answer):
            self._answered.add(target.name)
        else:
            self._look_after(process, target, result)
        return result

    def _look_after(self, process: TorchProcess, target: Target, result: SmokeResult) -> None:
        """Whether the device still answers after a failure, and if not, whether it ever did."""
        request = {"do": "ready", "device": target.device, "environment": target.environment}
        try:
            ready = process.ask(request, self._ready_timeout)
        except TorchUnavailable:
            ready = {"outcome": "crash"}
        if ready["outcome"] == "pass":
            self._answered.add(target.name)
            if result.outcome == "lost":
                result.outcome = "fail"  # it did not answer before the smoke, and does again
            return
        said = find_signature(ready.get("reason") or "")
        if ready.get("raised") and target.name not in self._answered and not (said is not None and said.lost):
            # It is not gone: torch refuses it, as one without code for its architecture does.
            result.outcome = "fail" if result.outcome == "lost" else result.outcome
            why = f"torch {self.torch} cannot use {target.name} at all, see {result.id}; with one that can it runs"
            self._ended[target.name] = ("skip", why)
            return
        how = "no longer answers" if target.name in self._answered else "does not answer"
        self._ended[target.name] = ("lost", f"not run: {target.name} {how} (since {result.id})")


def _read_answer(
    smoke: Smoke, target: Target, answer: dict[str, Any], timeout: float
) -> tuple[SmokeResult, Signature | None]:
    outcome = answer["outcome"]
    reason = answer.get("reason")
    if outcome == "timeout":
        reason = f"not done within {timeout:g} s, and killed"
    elif outcome == "stuck":
        reason = f"not done within {timeout:g} s, and not gone when killed: it is stuck in the driver"
    result = _result(
        smoke,
        target,
        outcome,
        reason=reason,
        seconds=answer.get("seconds"),
        wall=answer.get("wall"),
        error=answer.get("error"),
        limit=answer.get("limit"),
        details=answer.get("details") or {},
        signal=answer.get("signal"),
    )
    if not result.failed:
        return result, None
    result.output = answer.get("output") or None
    signature = _signature(smoke, outcome, reason or "", answer.get("output") or "")
    if signature is not None:
        result.signature, result.cause, result.remedy = signature.id, signature.cause, signature.remedy
        result.likely = signature.likely
    return result, signature


def _signature(smoke: Smoke, outcome: str, reason: str, output: str) -> Signature | None:
    """What it printed counts less than what it raised: libraries warn of much that is not the reason."""
    found = next(
        (each for each in smoke.signatures if re.search(each.pattern, f"{reason}\n{output}", re.MULTILINE)), None
    )
    found = found or find_signature(reason)
    return found or (find_signature(output) if outcome != "fail" else None)


def _harmless(answer: dict[str, Any]) -> bool:
    """Wrong numbers say nothing against the device's presence."""
    return answer["outcome"] == "fail" and not answer.get("raised")


def _result(smoke: Smoke, target: Target, outcome: Any, **values: Any) -> SmokeResult:
    # A smoke of the user has no page.
    url = page_of("smokes", smoke.id) if smoke.run.__module__.startswith("torchlift.") else None
    return SmokeResult(smoke.id, target.name, smoke.tier, smoke.title, outcome, url=url, **values)


def _suggestion(id: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(id, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
