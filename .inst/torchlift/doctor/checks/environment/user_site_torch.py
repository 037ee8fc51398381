"""torch is of the environment, not of the per-user folder."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.paths import within
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="user-site-torch",
    group="environment",
    title="torch is not taken from the per-user folder",
    why=(
        "`pip install --user`, or pip without write permission, installs below ~/.local, which comes before the packages of "
        "the system and of containers: another torch than the image's own is imported."
    ),
    sources=(
        "https://docs.python.org/3/library/site.html",
        "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONNOUSERSITE",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    folder = facts.python.user_site
    if facts.torch is None or folder is None:
        return
    evidence = Evidence(
        "torch", facts.torch.path, needed=f"outside of {folder or 'the per-user folder'}", source="sys.path"
    )
    if not folder or not within(facts.torch.path, folder):
        yield ok("torch is not taken from the per-user folder", evidence=(evidence,))
    elif facts.torch.other_copies:
        yield warning(
            f"The torch of the per-user folder {folder} hides the one of the environment",
            evidence=(evidence,),
            remedy=Remedy("Keep the per-user folder out, or uninstall the torch there", "export PYTHONNOUSERSITE=1"),
        )
    else:
        yield note(
            f"torch is in the per-user folder {folder}: every Python of this version and user sees it",
            evidence=(evidence,),
        )
