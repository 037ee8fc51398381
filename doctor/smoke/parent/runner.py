"""Run smokes on devices, one result at a time; this process never imports torch and never waits for a driver."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.loading import own_smokes, smokes_below
from torchlift.doctor.smoke.parent.floor import judge
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.torch_process import TorchProcess, TorchUnavailable
from torchlift.doctor.smoke.signatures import find_signature
from torchlift.doctor.smoke.smoke import BURN_SECONDS, TIERS, Signature, Smoke, tiers_of
from torchlift.lazy_dataclass import dataclass

READY_TIMEOUT = 30.0
"""Seconds for the answer to "is the device still there?", which starts a CUDA context."""

_WATCH_EVERY = 0.3


class SmokeError(ValueError):
    """What was asked for does not exist; the message is for the user."""


@dataclass(frozen=True)
class Target:
    """A device to run on. `environment` is what makes it visible, such as CUDA_VISIBLE_DEVICES for a MIG slice."""

    name: str
    device: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)
    gpu: Gpu | None = None
    """The same device as NVML describes it, when it is known which."""


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
        gpus: what NVML says, to find MIG slices and to judge rates.
        read_gpus: reads that again: it is called while a smoke that measures a rate runs.
        share: (which, of how many) processes of this machine that divide the devices among themselves.
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
    read_gpus: Callable[[], Sequence[Gpu]] | None = None
    share: tuple[int, int] = (0, 1)


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
        """Called before each smoke."""

    def results(self) -> Iterator[SmokeResult]:
        """Run and give each result as it comes. Ends all processes when it ends or is closed.

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
            with TorchProcess(self.plan.python, fork=self.plan.fork, environment=environment) as process:
                process.start()
                self.torch, self.import_seconds = process.torch, process.import_seconds
                self.targets = self._find_targets(process)
                yield from self._all(process)

    def _all(self, process: TorchProcess) -> Iterator[SmokeResult]:
        done_once: set[str] = set()
        for target in self.targets:
            gone: SmokeResult | None = None
            for chosen in self.chosen:
                if chosen.smoke.once:
                    if chosen.smoke.id in done_once or self.plan.share[0]:
                        continue
                    done_once.add(chosen.smoke.id)
                if gone is not None:
                    why = "is stuck in the driver" if gone.outcome == "stuck" else "no longer answers"
                    yield _result(
                        chosen.smoke, target, "lost", reason=f"not run: {target.name} {why} (since {gone.id})"
                    )
                    continue
                self.on_start(chosen.smoke, target)
                result, lost = self._one(process, chosen, target)
                yield result
                if lost:
                    gone = result

    def _one(self, process: TorchProcess, chosen: ChosenSmoke, target: Target) -> tuple[SmokeResult, bool]:
        """The result, and whether the device is lost."""
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
        with self._watching(smoke, target) as gpu:
            try:
                answer = process.ask(request, timeout)
            except TorchUnavailable as error:  # it worked before: whatever ran last has broken the machine or the files
                answer = {"outcome": "fail", "reason": str(error)}
        result, signature = _read_answer(smoke, target, answer, timeout)
        if smoke.loads:
            judge(result, target.device, gpu[-1] if gpu else target.gpu, reasons_of(gpu or [target.gpu]))
        if not result.failed:
            return result, False
        if result.outcome == "stuck" or (signature is not None and signature.lost):
            return result, True
        lost = not (_harmless(answer) or self._ready(process, target))
        if result.outcome == "lost" and not lost:
            result.outcome = "fail"  # it did not answer before the smoke, and does again
        return result, lost

    def _ready(self, process: TorchProcess, target: Target) -> bool:
        """Whether the device still answers."""
        request = {"do": "ready", "device": target.device, "environment": target.environment}
        try:
            return bool(process.ask(request, READY_TIMEOUT).get("outcome") == "pass")
        except TorchUnavailable:
            return False

    @contextlib.contextmanager
    def _watching(self, smoke: Smoke, target: Target) -> Iterator[list[Gpu]]:
        """Reads the GPU again and again while a smoke that loads it runs: clocks fall under load, not before."""
        seen: list[Gpu] = []
        read = self.plan.read_gpus
        if not smoke.loads or read is None or target.gpu is None:
            yield seen
            return
        done, uuid, index = threading.Event(), target.gpu.uuid, target.gpu.index

        def watch() -> None:
            while not done.wait(_WATCH_EVERY):
                with contextlib.suppress(Exception):
                    seen.extend(gpu for gpu in read() if (gpu.uuid == uuid if uuid else gpu.index == index))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            done.set()
            thread.join(READY_TIMEOUT)

    def _find_targets(self, process: TorchProcess) -> list[Target]:
        asked = list(self.plan.devices)
        found = process.ask({"do": "devices"}, READY_TIMEOUT)
        problem = found.get("problem") or found.get("reason")
        if found.get("outcome") in ("timeout", "stuck"):
            problem = f"the driver did not answer within {READY_TIMEOUT:g} s"
        devices = {device["name"]: device for device in found.get("devices", [])}
        devices.setdefault("cpu", {"name": "cpu", "kind": "cpu", "title": "CPU", "count": os.cpu_count() or 1})
        gpus = [device for device in devices.values() if device["kind"] != "cpu"]
        slices = {slice.uuid: gpu for gpu in self.plan.gpus for slice in gpu.mig_slices if slice.uuid}
        if not asked:
            if slices and "CUDA_VISIBLE_DEVICES" not in os.environ:
                # One process sees one MIG slice: each is made visible by itself. GPUs that are not sliced come along.
                whole = [gpu.uuid for gpu in self.plan.gpus if gpu.uuid and not gpu.mig_enabled]
                asked = [*whole, *(uuid for uuid in slices)]
            elif gpus:
                asked = [device["name"] for device in gpus]
            elif problem and self.plan.gpus:
                self.note = f"torch finds no GPU although NVML does: {problem}"
                asked = ["cuda:0"]
            else:
                self.note = f"no GPU: {problem}" if problem else "torch finds no GPU; running on the CPU"
                asked = ["cpu"]
        asked = _own_part(asked, *self.plan.share)
        return [self._target(process, name, devices, slices) for name in dict.fromkeys(asked)]

    def _target(self, process: TorchProcess, name: str, devices: dict[str, Any], slices: dict[str, Gpu]) -> Target:
        if name.startswith(("GPU-", "MIG-")):
            visible = {"CUDA_VISIBLE_DEVICES": name}
            found = process.ask({"do": "devices", "environment": visible}, READY_TIMEOUT)
            shown = [device for device in found.get("devices", []) if device["kind"] != "cpu"]
            device = shown[0] if shown else _unknown("cuda:0")
            gpu = slices.get(name) or next((gpu for gpu in self.plan.gpus if gpu.uuid == name), None)
            return Target(name, device, visible, gpu)
        name = f"{name}:0" if name in ("cuda", "xpu", "mps") else name
        if name in devices:
            return Target(name, devices[name], gpu=_as_nvml(devices[name], self.plan.gpus))
        kind = name.partition(":")[0]
        if kind in ("cuda", "xpu", "mps") and not any(each.startswith(kind) for each in devices):
            return Target(name, _unknown(name))  # the first smoke will tell why it is not there
        raise SmokeError(f"There is no device {name!r}. Devices: {', '.join(devices)}.")


def _own_part(names: list[str], which: int, number: int) -> list[str]:
    """The devices of one of several processes of a machine, each of which sees all of them or only its own."""
    if names == ["cpu"]:
        return names if which == 0 else []
    # Fewer than processes: a scheduler that gives each its own GPUs and hides the others.
    return names[which::number] if len(names) >= number else names


def reasons_of(gpus: Iterable[Gpu | None]) -> list[str]:
    """Every clock event reason that was seen, without the ones of a GPU at rest."""
    reasons = dict.fromkeys(reason for gpu in gpus if gpu is not None for reason in gpu.throttle_reasons)
    return [reason for reason in reasons if reason != "idle"]


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
    return SmokeResult(smoke.id, target.name, smoke.tier, smoke.title, outcome, **values)


def _unknown(name: str) -> dict[str, Any]:
    return {"name": name, "kind": name.partition(":")[0], "title": None, "count": 1}


def _as_nvml(device: dict[str, Any], gpus: Sequence[Gpu]) -> Gpu | None:
    """The same GPU as NVML knows it: CUDA may count in another order, so the UUID or the PCI address decides."""
    if device["kind"] != "cuda":
        return None
    uuid, pci = device.get("uuid"), device.get("pci")
    for gpu in gpus:
        if uuid and gpu.uuid and gpu.uuid.removeprefix("GPU-") == str(uuid).removeprefix("GPU-"):
            return gpu
        if pci and gpu.pci_address and gpu.pci_address.lower() == pci:
            return gpu
    return gpus[0] if len(gpus) == 1 and device.get("count") == 1 and not (uuid or pci) else None


def _suggestion(id: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(id, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
