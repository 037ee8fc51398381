"""What a choice for NVIDIA GPUs depends on, and the offers that it leaves.

The order of preference: the newest release that has code for every GPU and whose driver floor is met; of its builds the
one that PyPI has by default where the driver knows all of that CUDA, else the newest CUDA that the driver knows all of,
else the oldest, which is the nearest to the driver.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.driver_view import DriverView
from torchlift.wheels.host import Host
from torchlift.wheels.offers import Offer, offers
from torchlift.wheels.wish import Wish

ORIN = (8, 7)


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
class NvidiaCase:
    """All that the choice depends on."""

    host: Host
    driver: DriverView
    gpus: tuple[NvidiaGpu, ...]
    wish: Wish
    companions: tuple[str, ...]
    jetson: bool = False

    def with_gpus(self, gpus: tuple[NvidiaGpu, ...]) -> NvidiaCase:
        """The same case for some of the GPUs."""
        return replace(self, gpus=gpus)

    def with_wish(self, wish: Wish) -> NvidiaCase:
        """The same case for another requirement."""
        return replace(self, wish=wish)

    def with_driver(self, version: str | None) -> NvidiaCase:
        """The same case with another driver, None for any."""
        return replace(self, driver=DriverView(version, None, self.driver.os))

    @property
    def names(self) -> str:
        """ "2x H100 (9.0), V100 (7.0)"."""
        return ", ".join(
            f"{number}x {label}" if number > 1 else label
            for label, number in Counter(gpu.label for gpu in self.gpus).items()
        )

    def covered(self) -> list[Offer]:
        """Offers with code for every GPU, whatever the driver, the host and the wish say."""
        return [offer for offer in cuda_offers(self.host) if all(offer.runs_on(gpu.capability) for gpu in self.gpus)]

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
        return sorted(found, key=self.rank, reverse=True)

    def rank(self, offer: Offer) -> tuple[object, ...]:
        """Better offers are greater."""
        cuda = offer.cuda or (0, 0)
        paired, same_branch = self.driver.meets_pair(cuda), self.driver.meets_branch(cuda)
        near = cuda if paired or same_branch else (-cuda[0], -cuda[1])
        return (offer.line, paired, same_branch, same_branch and offer.main, near)


def cuda_offers(host: Host) -> list[Offer]:
    """The offers with code for NVIDIA GPUs."""
    return [offer for offer in offers(host.platform) if offer.cuda is not None]
