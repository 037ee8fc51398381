"""The examined interpreter can import a torch."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, skipped
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned
from torchlift.doctor.remedies.wheel_remedy import remedy_of, wheel_answer

CHECK = Check(
    id="torch-missing",
    group="torch",
    title="torch is installed",
    why=(
        "Without it every program stops with `ModuleNotFoundError: No module named 'torch'`. The usual reason is another "
        "environment than the one torch went to: `--python` examines another interpreter."
    ),
    sources=("https://docs.python.org/3/reference/import.html", "https://pytorch.org/get-started/locally/"),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is not None:
        yield ok(f"torch {facts.torch.version} is installed", evidence=(_seen(facts.torch.path),))
        return
    leftover = next((failure for failure in facts.failures if failure.probe == "torch-folder"), None)
    if leftover is not None:
        yield problem(
            "There is a folder named torch, and no torch in it",
            evidence=(Evidence("torch's folder", leftover.detail, needed="__init__.py", source="sys.path"),),
            remedy=remedy_of(facts, wheel_answer(facts)),
        )
        return
    if not facts.python.executable or any(
        failure.probe.startswith(("torch", "packages")) for failure in facts.failures
    ):
        yield skipped("It is not known what the Python environment holds")
        return
    recorded = facts.package("torch")
    if recorded is not None:
        yield problem(
            f"torch {recorded.version} is recorded as installed, but its files are gone",
            evidence=(Evidence("torch's folder", "missing", needed=recorded.version, source=recorded.metadata_path),),
            remedy=Remedy("Install it again", install(facts, pinned("torch", recorded.version), reinstall=True)),
        )
        return
    yield problem(
        f"There is no torch for {facts.python.executable}",
        evidence=(Evidence("torch", "not installed", needed="a torch on sys.path", source=facts.python.executable),),
        remedy=remedy_of(facts, wheel_answer(facts)),
        # Where no wheel of torch can be installed at all, that is the one thing to say.
        cause="musl" if facts.system.libc == "musl" else "glibc-too-old",
    )


def _seen(path: str) -> Evidence:
    return Evidence("torch", path, source="sys.path")
