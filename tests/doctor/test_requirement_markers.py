"""The markers of requirements are judged for the examined interpreter, whatever machine it stands on."""

from __future__ import annotations

import platform
import sys

import pytest
from packaging.markers import Marker

from torchlift.doctor.derived.requirements_met import marker_environment
from torchlift.doctor.facts import Facts, Python, System


@pytest.mark.parametrize(
    ("os", "machine", "version", "marker"),
    [
        ("linux", "x86_64", "3.12.4", "platform_machine == 'x86_64' and sys_platform == 'linux' and os_name == 'posix'"),
        ("linux", "aarch64", "3.12.4", "platform_machine == 'aarch64' and platform_system == 'Linux'"),
        ("darwin", "aarch64", "3.9.6", "platform_machine == 'arm64' and platform_system == 'Darwin'"),
        ("darwin", "x86_64", "3.9.6", "platform_machine == 'x86_64' and sys_platform == 'darwin'"),
        ("windows", "x86_64", "3.14.0", "platform_machine == 'AMD64' and sys_platform == 'win32' and os_name == 'nt'"),
        ("windows", "aarch64", "3.14.0", "platform_machine == 'aarch64' and platform_system == 'Windows'"),
        ("linux", "x86_64", "3.10.2", "python_version == '3.10' and python_full_version == '3.10.2'"),
        ("linux", "x86_64", "unknown", "python_version >= '3' and python_version < '3.1'"),
    ],
)  # fmt: skip
def test_a_marker_means_what_it_means_on_that_machine(os: str, machine: str, version: str, marker: str) -> None:
    facts = Facts(system=System(os=os, machine=machine), python=Python(version=version, implementation="cpython"))
    assert Marker(marker).evaluate({**marker_environment(facts), "extra": ""})


def test_this_interpreter_is_described_as_packaging_describes_it() -> None:
    from packaging.markers import default_environment

    version = ".".join(map(str, sys.version_info[:3]))
    os = {"win32": "windows"}.get(sys.platform, sys.platform)
    facts = Facts(
        system=System(os=os, machine=platform.machine(), kernel=platform.release()),
        python=Python(version=version, implementation=sys.implementation.name),
    )
    found, real = marker_environment(facts), dict(default_environment())
    assert {name: found[name] for name in real if name != "platform_version"} == {
        name: real[name] for name in real if name != "platform_version"
    }
