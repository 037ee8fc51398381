"""Extensions were built for the installed torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned
from torchlift.doctor.remedies.wheel_remedy import is_companion, wheel_remedy

CHECK = Check(
    id="extension-abi",
    group="packages",
    title="Extensions were built for the installed torch",
    why=(
        "C++ extensions (flash-attn, xformers, own ones) are bound to the torch they were built with. After torch was "
        "upgraded, their import fails with `undefined symbol: _ZN3c10...`."
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/cpp_extension.html",
        "https://docs.pytorch.org/docs/stable/notes/libtorch_stable_abi.html",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None:
        return
    extensions = [library for library in facts.libraries if library.package != "torch"]
    broken = [library for library in extensions if library.undefined_torch_symbols]
    for name in sorted({library.package or "" for library in broken}):
        own = [library for library in broken if (library.package or "") == name]
        package = facts.package(name) if name else None
        told = f"{name} {package.version}" if package else (name or own[0].path)
        symbol = own[0].undefined_torch_symbols[0]
        yield problem(
            f"{told} was built for another torch than {facts.torch.version}: undefined symbol {symbol}",
            evidence=tuple(
                Evidence(
                    library.path,
                    f"needs {library.undefined_torch_symbols[0]}",
                    needed="defined by torch's libraries",
                    source="nm",
                )
                for library in own[:4]
            ),
            remedy=None if package is None else _rebuild(facts, package.name, package.version),
            cause="companion-mismatch",
        )
    if extensions and not broken:
        yield ok("Every symbol of torch that extensions need is there")


def _rebuild(facts: Facts, name: str, version: str) -> Remedy:
    if is_companion(name):
        return wheel_remedy(facts)
    return Remedy(
        "Build it again for this torch; without --no-cache-dir pip takes its earlier build",
        install(
            facts,
            "--no-build-isolation",
            "--no-cache-dir",
            pinned(name, version.partition("+")[0]),
            reinstall=True,
            without_dependencies=True,
        ),
    )
