"""torch is of the environment, not of the per-user folder."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.paths import within
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    folder = facts.python.user_site
    if facts.torch is None or folder is None:
        return
    evidence = Evidence("torch", facts.torch.path, f"outside of {folder or 'the per-user folder'}", "sys.path")
    if not folder or not within(facts.torch.path, folder):
        yield Result("ok", "torch is not taken from the per-user folder", (evidence,))
    elif facts.torch.other_copies:
        yield Result(
            "warning",
            f"The torch of the per-user folder {folder} hides the one of the environment",
            (evidence,),
            Remedy("Keep the per-user folder out, or uninstall the torch there", "export PYTHONNOUSERSITE=1"),
        )
    else:
        yield Result(
            "note",
            f"torch is in the per-user folder {folder}: every Python of this version and user sees it",
            (evidence,),
        )


CHECK = Check(
    "user-site-torch",
    "environment",
    "torch is not taken from the per-user folder",
    "`pip install --user`, or pip without write permission, installs below ~/.local, which comes before the packages of "
    "the system and of containers: another torch than the image's own is imported.",
    look,
    (
        "https://docs.python.org/3/library/site.html",
        "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONNOUSERSITE",
    ),
)
