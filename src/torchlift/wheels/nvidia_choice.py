"""The wheel for NVIDIA GPUs.

The order of preference: the newest release that has code for every GPU and whose driver floor is met; of its builds the
one that PyPI has by default where the driver knows all of that CUDA, else the newest CUDA that the driver knows all of,
else the newest that starts at all.
"""

from __future__ import annotations

from collections import Counter

from torchlift.lazy_dataclass import dataclass
from torchlift.wheels import drivers, gpus
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.choosing import choice_of
from torchlift.wheels.compatibility import renamed
from torchlift.wheels.driver_view import DriverView, lowest_driver
from torchlift.wheels.host import Host
from torchlift.wheels.install_line import install_lines
from torchlift.wheels.offers import Offer, known_versions, line_of, offers
from torchlift.wheels.tables import data_date, table
from torchlift.wheels.wish import Wish

ORIN = (8, 7)
_TRITON = (7, 0)
_ANY = Wish.any()


@dataclass(frozen=True)
class NvidiaGpu:
    """A GPU whose compute capability is known."""

    name: str
    capability: tuple[int, int]

    @property
    def label(self) -> str:
        """ "V100 (7.0)"."""
        return f"{self.name} ({self.capability[0]}.{self.capability[1]})"


@dataclass(frozen=True)
class Case:
    """All that the choice depends on."""

    host: Host
    driver: DriverView
    gpus: tuple[NvidiaGpu, ...]
    wish: Wish
    companions: tuple[str, ...]
    jetson: bool = False

    def with_gpus(self, gpus: tuple[NvidiaGpu, ...]) -> Case:
        """The same case for some of the GPUs."""
        return Case(self.host, self.driver, gpus, self.wish, self.companions, self.jetson)

    def with_wish(self, wish: Wish) -> Case:
        """The same case for another requirement."""
        return Case(self.host, self.driver, self.gpus, wish, self.companions, self.jetson)

    def with_driver(self, version: str | None) -> Case:
        """The same case with another driver, None for any."""
        driver = DriverView(version, None, self.driver.os)
        return Case(self.host, driver, self.gpus, self.wish, self.companions, self.jetson)

    @property
    def names(self) -> str:
        """ "2x H100 (9.0), V100 (7.0)"."""
        return ", ".join(
            f"{number}x {label}" if number > 1 else label
            for label, number in Counter(gpu.label for gpu in self.gpus).items()
        )

    def covered(self) -> list[Offer]:
        """Offers with code for every GPU, whatever the driver, the host and the wish say."""
        return [offer for offer in _cuda_offers(self.host) if all(offer.runs_on(gpu.capability) for gpu in self.gpus)]

    def usable(self) -> list[Offer]:
        """Offers that can be installed here and run now, best first."""
        if not all(self.driver.knows(gpu.capability) for gpu in self.gpus):
            return []
        found = [
            offer
            for offer in self.covered()
            if offer.cuda
            and self.driver.meets_floor(offer.cuda[0])
            and self.host.versions(offer, self.wish)
            and (self.wish.build is None or self.wish.build == offer.build)
            # What only a secondary source knows is never chosen unasked.
            and (not offer.secondary or self.wish.build == offer.build)
        ]
        return sorted(found, key=self._rank, reverse=True)

    def _rank(self, offer: Offer) -> tuple[object, ...]:
        cuda = offer.cuda or (0, 0)
        paired, same_branch = self.driver.meets_pair(cuda), self.driver.meets_branch(cuda)
        return (offer.line, paired, same_branch, same_branch and offer.main, cuda)


def for_nvidia(case: Case) -> Answer:
    """The answer for GPUs whose compute capabilities are all known."""
    conflict = _no_common_driver(case)
    if conflict is not None:
        return conflict
    if case.usable():
        return _wheel(case)
    if case.jetson and all(gpu.capability == ORIN for gpu in case.gpus):
        older = _jetson_index(case)
        if older is not None:
            return older
    return _after_upgrade(case) or _split(case) or _without(case)


def _wheel(case: Case) -> Answer:
    ranked = case.usable()
    best = ranked[0]
    choice = _choice(case, best)
    reasons = _limits(case, best)
    upgrade, then = _better_driver(case, best)
    if upgrade is not None and then is not None:
        reasons.append(f"with driver {upgrade} or newer torch {then.torch} ({then.build}) would run")
    summary = f"torch {choice.torch} ({choice.build}) runs on {case.names}"
    summary += f" with {case.driver.text}" if case.driver.known else "; the driver is not known"
    gone = [gpu.label for gpu in case.gpus if case.driver.outgrew(gpu.capability)]
    if gone:
        last = min(last for gpu in case.gpus if (last := drivers.last_branch(gpu.capability)))
        summary += f", but only after going back to driver branch {last}, the last for {', '.join(dict.fromkeys(gone))}"
    others = [offer for offer in ranked[1:] if offer.line == best.line][:2]
    alternatives = tuple(_choice(case, offer) for offer in others)
    return Answer("wheel", summary, choice, alternatives, upgrade, then, reasons=tuple(reasons))


def _after_upgrade(case: Case) -> Answer | None:
    """What a newer driver would make possible; None when the driver is not what is missing."""
    ideal = case.with_driver(None)
    if not case.driver.known or not ideal.usable():
        return None
    upgrade, then = _upgrade_to(case, ideal.usable())
    if upgrade is None or then is None:
        return None
    too_old = [gpu.label for gpu in case.gpus if not case.driver.knows(gpu.capability)]
    reasons = _limits(ideal, ideal.usable()[0])
    if too_old:
        first = max(branch for gpu in case.gpus if (branch := drivers.first_branch(gpu.capability)))
        names = ", ".join(dict.fromkeys(too_old))
        summary = f"{_capital(case.driver.text)} is too old for {names}, which needs branch {first} or newer"
        reasons.append(f"no torch wheel can mend that: driver branches before {first} do not know the GPU")
    else:
        summary = f"No wheel of {case.wish} for {case.names} runs with {case.driver.text}"
    now = case.with_wish(_ANY).usable() if case.wish.narrow else []
    alternatives = tuple(_choice(case.with_wish(_ANY), offer) for offer in now[:1])
    summary += f": upgrade it to {upgrade} or newer, then torch {then.torch} ({then.build}) runs"
    return Answer("upgrade-driver", summary, None, alternatives, upgrade, then, reasons=tuple(reasons))


def _better_driver(case: Case, best: Offer) -> tuple[str | None, Choice | None]:
    if not case.driver.known:
        return None, None
    newer = [offer for offer in case.with_driver(None).usable() if offer.line > best.line]
    return _upgrade_to(case, newer)


def _upgrade_to(case: Case, wanted: list[Offer]) -> tuple[str | None, Choice | None]:
    """The lowest driver for the newest release in `wanted`, and what to install with it."""
    capabilities = [gpu.capability for gpu in case.gpus]
    newest = [offer for offer in wanted if offer.line == wanted[0].line]
    needs = [
        needed for offer in newest if (needed := lowest_driver((offer.cuda or (0, 0))[0], capabilities, case.driver.os))
    ]
    upgrade = min(needs, key=drivers.parts, default=None)
    if upgrade is None:
        return None, None
    after = case.with_driver(upgrade)
    return (upgrade, _choice(after, after.usable()[0])) if after.usable() else (None, None)


def _split(case: Case) -> Answer | None:
    """Several wheels for several kinds of GPU; None where that serves no GPU or there is one kind only."""
    if len({gpu.capability for gpu in case.gpus}) < 2:
        return None
    parts, left = _parts(case)
    upgrade = None
    if left and case.driver.known:
        later, later_left = _parts(case.with_driver(None))
        if len(later_left) < len(left):
            upgrade = _driver_for(case, later)
            if upgrade is not None:
                parts, left = _parts(case.with_driver(upgrade))
    if not parts:
        return None
    shown = tuple((tuple(gpu.name for gpu in part.gpus), _choice(part, part.usable()[0])) for part in parts)
    reasons = [
        f"{part.names}: torch {choice.torch} ({choice.build})" for part, (_, choice) in zip(parts, shown, strict=True)
    ]
    reasons.append("CUDA_VISIBLE_DEVICES shows each environment its own GPUs and no others")
    if left:
        names = ", ".join(dict.fromkeys(gpu.label for gpu in left))
        reasons.append(f"no wheel of {case.wish} serves {names}: hide it with CUDA_VISIBLE_DEVICES")
    environments = f"{len(parts)} environments" if len(parts) > 1 else "one environment without the others"
    summary = f"No single wheel of {case.wish} runs on all of {case.names}: use {environments} and CUDA_VISIBLE_DEVICES"
    if upgrade is not None:
        summary += f", after an upgrade from {case.driver.text} to {upgrade} or newer"
        return Answer("upgrade-driver", summary, upgrade_driver=upgrade, parts=shown, reasons=tuple(reasons))
    return Answer("split", summary, parts=shown, reasons=tuple(reasons))


def _parts(case: Case) -> tuple[list[Case], list[NvidiaGpu]]:
    """Groups of GPUs, each with a wheel, and the GPUs without one: the best wheel takes all that it can."""
    left = list(case.gpus)
    parts: list[Case] = []
    without: list[NvidiaGpu] = []
    while left:
        alone = {gpu: case.with_gpus((gpu,)).usable() for gpu in left}
        without += [gpu for gpu in left if not alone[gpu]]
        left = [gpu for gpu in left if alone[gpu]]
        if left:
            best = max((alone[gpu][0] for gpu in left), key=case._rank)
            group = tuple(gpu for gpu in left if best in alone[gpu])
            parts.append(case.with_gpus(group))
            left = [gpu for gpu in left if gpu not in group]
    return parts, without


def _driver_for(case: Case, parts: list[Case]) -> str | None:
    needs = [_upgrade_to(case.with_gpus(part.gpus), part.usable())[0] for part in parts]
    return max((needed for needed in needs if needed), key=drivers.parts, default=None)


def _without(case: Case) -> Answer:
    """No wheel: why, and what else there is."""
    covered = [offer for offer in case.covered() if not offer.secondary]
    where = case.host.label
    if not covered:
        summary = f"No torch 2.x wheel for {where} has code for {case.names}"
        reasons = ["no driver and no index changes that: build torch from source, or use the CPU build"]
        if case.jetson:
            reasons = ["torch's wheels leave this Jetson out: NVIDIA's JetPack has torch wheels of its own for it"]
        return Answer("none", summary, reasons=tuple(reasons))
    last = max(covered, key=lambda offer: offer.line)
    allowed = [
        offer
        for offer in covered
        if any(case.wish.allows(release.version) for release in offer.releases)
        and case.wish.build in (None, offer.build)
    ]
    free = case.with_wish(_ANY)
    alternatives = tuple(_choice(free, offer) for offer in free.usable()[:1]) if case.wish.narrow else ()
    later: tuple[Choice, ...] = ()
    if case.wish.narrow and not alternatives:
        answer = _after_upgrade(free)
        later = (answer.then,) if answer and answer.then else ()
    reasons = []
    if allowed:
        newest = max(allowed, key=lambda offer: offer.line)
        obstacle = case.host.obstacle(newest) or "has no wheel that fits"
        summary = f"torch {newest.torch}, which has code for {case.names}, {obstacle}"
        other = _with_any_python(case)
        if other is not None:
            reasons.append(f"with another Python: {other.pip}")
    elif case.wish.build is not None and not _exists(case):
        summary, reasons = _no_such_build(case)
    else:
        secondary = [offer for offer in case.covered() if offer.secondary]
        asked = _asked_line(case)
        summary = f"torch {asked} has no wheel for {where} with code for {case.names}"
        if last.line < line_of(known_versions()[-1]) or last.torch != asked:
            summary += f"; the last release with one is {last.torch} ({last.build})"
        if any(case.host.versions(offer, case.wish) for offer in secondary):
            reasons.append("a secondary source knows of a cu129 wheel; ask for it by torch==VERSION+cu129")
    return Answer("none", summary, None, alternatives + later, reasons=tuple(reasons))


def _with_any_python(case: Case) -> Choice | None:
    host = Host(case.host.platform, None, case.host.system)
    free = Case(host, case.driver, case.gpus, case.wish, case.companions, case.jetson)
    return _choice(free, free.usable()[0]) if free.usable() else None


def _exists(case: Case) -> bool:
    return any(
        offer.build == case.wish.build and any(case.wish.allows(release.version) for release in offer.releases)
        for offer in offers(case.host.platform)
    )


def _no_such_build(case: Case) -> tuple[str, list[str]]:
    same = [offer for offer in offers(case.host.platform) if offer.build == case.wish.build]
    summary = f"{case.wish} does not exist for {case.host.label}"
    if same:
        last = max(same, key=lambda offer: offer.line)
        summary += f": the last release with a {case.wish.build} build is {last.torch}"
    else:
        summary += f": no release has a {case.wish.build} build"
    reasons = []
    if case.wish.build == "cu126" and case.wish.allows("2.15.0"):
        reasons.append("torch 2.15.0's own warning still names this build, which is announced as not published")
    return summary, reasons


def _no_common_driver(case: Case) -> Answer | None:
    """GPUs of which the newer ones need a driver branch that no longer knows the older ones."""
    ends = {gpu: last for gpu in case.gpus if (last := drivers.last_branch(gpu.capability))}
    starts = {gpu: first for gpu in case.gpus if (first := drivers.first_branch(gpu.capability))}
    if not ends or not starts:
        return None
    oldest, newest = min(ends, key=lambda gpu: ends[gpu]), max(starts, key=lambda gpu: starts[gpu])
    if ends[oldest] >= starts[newest]:
        return None
    return Answer(
        "none",
        f"No driver serves {oldest.label} and {newest.label} together: branch {ends[oldest]} is the last for the one and "
        f"{starts[newest]} the first for the other",
        reasons=("take one of them out of the machine, or hand it to a virtual machine with a driver of its own",),
    )


def _jetson_index(case: Case) -> Answer | None:
    row = next(row for row in table("indexes")["rows"] if row["build"] == "jetson")
    if case.wish.build is not None:
        return None
    pin = f"torch{case.wish.specifier}" if case.wish.narrow else f"torch=={row['torch_named']}.*"
    pip, uv = install_lines(pin, row["url"], case.companions, "")
    choice = Choice(
        torch=str(case.wish.specifier) if case.wish.narrow else row["torch_named"],
        build="jetson",
        index=row["url"],
        pip=pip,
        uv=uv,
        reasons=("PyTorch's own wheels run on Orin only when built with CUDA 13.2 or newer, which needs driver 580",),
        warnings=("which releases this index has is known from public install guides only",),
        sources=(f"{row['source']} ({row['date']})",),
        measured=False,
    )
    ideal = case.with_driver(None).usable()
    upgrade, then = _upgrade_to(case, ideal) if ideal else (None, None)
    summary = f"Orin with {case.driver.text} takes torch from NVIDIA's Jetson index"
    if then is not None:
        summary += f"; with JetPack's driver {upgrade} or newer torch {then.torch} ({then.build}) would run"
    return Answer("wheel", summary, choice, (), upgrade, then)


def _choice(case: Case, offer: Offer) -> Choice:
    cuda = offer.cuda or (0, 0)
    reasons = [f"has code for {case.names}"]
    warnings = []
    pair, floor = drivers.paired(cuda, case.driver.os), drivers.floor(cuda[0], case.driver.os)
    toolkit = f"CUDA {cuda[0]}.{cuda[1]}"
    if not case.driver.known:
        complete = f", {pair} for all that {toolkit} can do" if pair else ""
        warnings.append(f"the driver is not known: this build needs {floor} or newer{complete}")
    elif case.driver.meets_pair(cuda):
        reasons.append(f"{case.driver.text} knows all of {toolkit}" + (f" (needs {pair})" if pair else ""))
    else:
        warnings.append(
            f"{case.driver.text} is older than the {pair or f'branch {drivers.paired_branch(cuda)}'} that belongs to "
            f"{toolkit}: kernels run (minor-version compatibility from {floor} on), but newer PTX, as from NVRTC or "
            "extensions, is refused with error 222"
        )
    warnings += [
        f"driver branch {drivers.last_branch(gpu.capability)} is the last for {gpu.label}, so {case.driver.text} does not "
        "drive it"
        for gpu in dict.fromkeys(case.gpus)
        if case.driver.outgrew(gpu.capability)
    ]
    old = [gpu.label for gpu in dict.fromkeys(case.gpus) if gpu.capability < _TRITON]
    if old:
        warnings.append(f"torch.compile's Triton needs compute capability 7.0: {', '.join(old)} runs eager code only")
    if any(gpu.capability == ORIN for gpu in case.gpus):
        warnings.append(
            "torch's own table allows CUDA 13.2 builds on Orin, but torchlift's data has no run that shows it; JetPack 6 "
            "has an older driver and takes torch from https://pypi.jetson-ai-lab.io"
        )
    if _uv_would_err(case):
        warnings.append("uv's --torch-backend=auto looks at the driver only and would take a build without code for it")
    return choice_of(offer, case.host, case.wish, case.companions, reasons, warnings)


def _uv_would_err(case: Case) -> bool:
    """What uv would take by the driver alone lacks code for a GPU.

    Source: uv's backend.rs and astral-sh/uv#14742, read 2026-11-21.
    """
    newest = [
        offer
        for offer in _cuda_offers(case.host)
        if offer.cuda
        and not offer.secondary
        and case.driver.meets_floor(offer.cuda[0])
        and case.host.versions(offer, case.wish)
    ]
    taken = max(newest, key=lambda offer: (offer.cuda or (0, 0), offer.line), default=None)
    return taken is not None and not all(taken.runs_on(gpu.capability) for gpu in case.gpus)


def _limits(case: Case, best: Offer) -> list[str]:
    """Why not a newer release: one sentence for each thing that keeps it away."""
    newest = line_of(known_versions()[-1])
    if best.line >= newest:
        return []
    found = []
    covered = [offer for offer in case.covered() if not offer.secondary]
    last = max(covered, key=lambda offer: offer.line, default=best)
    if last.line < newest:
        found.append(
            f"torch {last.torch} is the last release with code for {case.names}; {known_versions()[-1]} has none"
        )
    blocked = [(offer, case.host.obstacle(offer)) for offer in covered if offer.line > best.line]
    newest_blocked = max((item for item in blocked if item[1]), key=lambda item: item[0].line, default=None)
    if newest_blocked is not None:
        found.append(f"torch {newest_blocked[0].torch} {newest_blocked[1]}")
    return found


def _asked_line(case: Case) -> str:
    allowed = [version for version in known_versions() if case.wish.allows(version)]
    return ".".join(allowed[-1].split(".")[:2]) if allowed else known_versions()[-1]


def _cuda_offers(host: Host) -> list[Offer]:
    return [offer for offer in offers(host.platform) if offer.cuda is not None]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def unknown_capability(name: str, capability: tuple[int, int] | None) -> tuple[str, str | None] | None:
    """A sentence, and a note about the data, on a GPU that the tables cannot place; None for known ones."""
    if capability is None:
        return f"The compute capability of {name} is not known", None
    if gpus.is_known(renamed(capability)) or capability < (3, 0):
        return None
    number = f"{capability[0]}.{capability[1]}"
    return (
        f"Compute capability {number} ({name}) is not in torchlift's data",
        f"compute capability {number} is newer than torchlift's data (of {data_date()})",
    )
