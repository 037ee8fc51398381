"""The real projects torchlift is tried on: name, version, and the exact archive, pinned by SHA-256.

All of it is public code under its own licences. It is fetched into a scratch folder and never committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Form = Literal["sdist", "wheel", "installed"]


@dataclass(frozen=True)
class Project:
    """One code base.

    Attributes:
        name: distribution name on the package index.
        version: exact version.
        form: `sdist` (often with tests and examples), `wheel` (the Linux x86-64, Python 3.11 one where there are
            several), or `installed`: copied out of an environment that has it, for distributions too big to fetch for
            their sources alone.
        sha256: digest of the archive; of the copied sources, as `fetch_corpus.tree_digest` makes it, when `installed`.
    """

    name: str
    version: str
    form: Form
    sha256: str

    @property
    def folder(self) -> str:
        """Name of the folder that holds the unpacked sources."""
        return f"{self.name}-{self.version}"


PROJECTS = (
    Project("accelerate", "1.15.0", "sdist", "5654f8c5eaa0d4fa68b33e287a97765da6849bf6d51dcac874e73fbbddfb6134"),
    Project("deepspeed", "0.19.8", "sdist", "9e491abd0827ea5c389dd702e15e11e13d83d904bac4a20d6c2a4cb37207a9af"),
    Project("e3nn", "0.6.0", "sdist", "5c2b414e9527aad27d755ae9546596e3f7706f45a21dae71c7deedb6c048e4de"),
    Project("espnet", "202511", "wheel", "4777fd8a121be9bfecd0db34fd8e14894a9b9dc8513db97d3bbded0c20ba886e"),
    Project("fairscale", "0.4.13", "sdist", "1b797825c427f5dba92253fd0d8daa574e8bd651a2423497775fab1b30cfb768"),
    Project("kornia", "0.9.0", "sdist", "65e82219b10e73289fb8cb3c739879d917e6908c0a977b1d65f388cba1741f71"),
    Project("megatron_core", "0.16.1", "wheel", "38f6bef63cd4ebc4c39c1eccbaf578596accba5c47d012faffa0670913aec131"),
    Project("mlflow", "3.18.0", "wheel", "be7d84ba0d0b12392f5b53260cdb3e6d7b7ef4b80c29da90a89b5a1f6db7102f"),
    Project("monai", "1.6.1", "wheel", "dbd3b1dd309e752e0477ed73fde03b92f80ac74bfb8a8c4260f018b5d6ab2b0b"),
    Project("nemo_toolkit", "3.0.0", "wheel", "f1d8238e35909464cf426e5792af3113a7060de419f194b83bedd81cbe909394"),
    Project("nequip", "0.19.1", "sdist", "0a6ccb5ec8b7691e6bc4ce74aa48ddffd70d5389f785a173929246d0ce64e0c2"),
    Project("pyro_ppl", "1.9.2", "sdist", "e4a4b089023777c0bc98c01db4c6ed5e39a1001985ebccfe210dc545bf5b24dd"),
    Project("pytorch_lightning", "2.6.6", "wheel", "71f95c7b22f25c4f91cc659e1734bcdc6c69c8b66543f2ed2d78dbe29ce2f167"),
    Project("speechbrain", "1.1.2", "sdist", "a49328b61f6e6caa0e01ab4e32bc15b564114953e30718b1379d2e1d764e426a"),
    Project("timm", "1.0.31", "sdist", "baa0b333339c46d3d6d4965d99b69f5053afed71210e8f433d7ea5ee6a18f0ec"),
    Project("torch", "2.13.0", "installed", "15dae47f7eb94ab2b7c78d5a79810732496925f735e269d996b1defb57a5909f"),
    Project("torch_geometric", "2.8.1", "sdist", "3d4431567fcf4865a29cfec25c52484382dd38fd46a45fb4f9d473545d64b812"),
    Project("torchani", "2.9.0", "sdist", "fc1ff7df470bf7ffed7e8d7f428db8051dd54622a178577960999a0618f5a297"),
    Project("torchaudio", "2.11.0", "wheel", "1a07ec72fd6f26a588c39b5f029e0130d16bb40bc4221635580bf8fb18fcbc80"),
    Project("torchvision", "0.28.0", "wheel", "7e80f543b22503d9415e126db5f0ff3917036925e38560ee6b9ae38c571a4002"),
    Project("transformers", "5.23.0", "wheel", "018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf"),
    Project("ultralytics", "8.4.190", "wheel", "bd309728efa168af64d39040136828edd2dbcb4aeceb4510bdff4f3ca0ea01b8"),
)


def chosen(names: Iterable[str]) -> list[Project]:
    """The named projects, or all of them when there is no name.

    Raises:
        SystemExit: a name is not in the list.
    """
    wanted = list(names)
    known = {project.name: project for project in PROJECTS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"The corpus has no project {', '.join(unknown)}. It has: {', '.join(known)}.")
    return [known[name] for name in wanted] if wanted else list(PROJECTS)


def fetched(root: Path, names: Iterable[str]) -> list[tuple[Project, Path]]:
    """The named projects with their folders below `root`; without a name, all that are there.

    Raises:
        SystemExit: a named project, or every project, is missing.
    """
    wanted = list(names)
    found = [(project, root / project.folder) for project in chosen(wanted)]
    missing = [project.name for project, folder in found if not folder.is_dir()]
    if missing and wanted:
        raise SystemExit(
            f"{root} holds no {', '.join(missing)}. Fetch it: python bench/fetch_corpus.py {root} {' '.join(missing)}"
        )
    there = [(project, folder) for project, folder in found if folder.is_dir()]
    if not there:
        raise SystemExit(f"{root} holds no project of the corpus. Fetch it: python bench/fetch_corpus.py {root}")
    return there


def python_files(folder: Path) -> list[Path]:
    """All `.py` and `.pyi` files below `folder`, sorted by their path."""
    return sorted(path for path in folder.rglob("*.py*") if path.suffix in {".py", ".pyi"} and path.is_file())
