"""What a machine's driver can do, be it known by its version or by the CUDA it supports."""

from __future__ import annotations

from torchlift.lazy_dataclass import dataclass
from torchlift.wheels import drivers
from torchlift.wheels.machine import Machine


@dataclass(frozen=True)
class DriverView:
    """The driver of a machine; one that is not known is taken to do everything."""

    version: str | None
    cuda: int | None
    """The CUDA it supports, 13000 for 13.0, where its version is not known."""
    os: str

    @property
    def known(self) -> bool:
        """Whether anything is known of it."""
        return self.version is not None or self.cuda is not None

    @property
    def text(self) -> str:
        """For messages: "driver 580.95.05"."""
        if self.version is not None:
            return f"driver {self.version}"
        if self.cuda is not None:
            return f"a driver for CUDA {self.cuda // 1000}.{self.cuda % 1000 // 10}"
        return "an unknown driver"

    @property
    def _release(self) -> bool:
        """ "595" alone, as people say it, is the branch and no release of it in particular."""
        return len(drivers.parts(self.version)) > 1

    def meets_floor(self, cuda_major: int) -> bool:
        """Whether programs of this CUDA major version start (minor-version compatibility)."""
        if self.version is not None:
            needed = drivers.floor(cuda_major, self.os)
            if self.os == "windows" and self._release and drivers.branch(self.version) == drivers.branch(needed):
                # The floor names a branch; its first driver for Windows is the one that came with that CUDA.
                needed = drivers.lowest(cuda_major, self.os)
            return needed is not None and drivers.meets(self.version, needed)
        return self.cuda is None or self.cuda // 1000 >= cuda_major

    def meets_pair(self, cuda: tuple[int, int]) -> bool:
        """Whether it knows all of this CUDA, so that PTX of this toolkit compiles too."""
        if self.version is not None:
            exact = drivers.paired(cuda, self.os) if self._release else None
            # Most rows of the Windows column were not checked against NVIDIA's page.
            if exact is not None and (self.os == "linux" or cuda >= (13, 0)):
                return drivers.meets(self.version, exact)
            # The Windows column is incomplete, but branch numbers are common to both systems.
            first = drivers.paired_branch(cuda)
            return first is not None and drivers.branch(self.version) >= first
        return self.cuda is None or self.cuda >= cuda[0] * 1000 + cuda[1] * 10

    def meets_branch(self, cuda: tuple[int, int]) -> bool:
        """Whether it is of the branch that belongs to this CUDA, or newer: Thor's 580.00 is older than 580.65.06, but
        nearer to CUDA 13.0 than to 13.2."""
        first = drivers.paired_branch(cuda)
        if self.version is None:
            return self.meets_pair(cuda)
        return first is not None and drivers.branch(self.version) >= first

    def knows(self, capability: tuple[int, int]) -> bool:
        """Whether it is new enough for a GPU of this compute capability, as far as a source says."""
        if self.version is not None:
            first = drivers.first_branch(capability)
            return first is None or drivers.branch(self.version) >= first
        needed = drivers.first_cuda(capability)
        return self.cuda is None or needed is None or self.cuda >= needed[0] * 1000 + needed[1] * 10

    def outgrew(self, capability: tuple[int, int]) -> bool:
        """Whether its branch no longer supports a GPU of this compute capability."""
        last = drivers.last_branch(capability)
        return self.version is not None and last is not None and drivers.branch(self.version) > last


def driver_view(machine: Machine) -> DriverView:
    """The view of a machine's driver; an unreadable version counts as unknown."""
    version = machine.driver if drivers.parts(machine.driver) else None
    os = "windows" if machine.os == "windows" or machine.windows_driver else "linux"
    return DriverView(version, machine.cuda_driver if version is None else None, os)


def lowest_driver(cuda_major: int, capabilities: list[tuple[int, int]], os: str) -> str | None:
    """The oldest driver release that runs a CUDA major version on all these GPUs; None when the tables do not say."""
    found = drivers.lowest(cuda_major, "windows" if os == "windows" else "linux")
    for capability in capabilities:
        first = drivers.first_cuda(capability)
        branch = drivers.first_branch(capability)
        if found is not None and first is not None and branch is not None and drivers.branch(found) < branch:
            found = drivers.paired(first, "linux") if os != "windows" else str(branch)
    return found
