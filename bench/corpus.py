"""The real projects torchlift is tried on: name, version, and the exact archive or commit, pinned by its digest.

All of it is public code under its own licences. It is fetched into a scratch folder and never committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Form = Literal["sdist", "wheel", "installed", "repository"]


@dataclass(frozen=True)
class Project:
    """One code base.

    Attributes:
        name: distribution name on the package index; `owner/name` on GitHub for a `repository`.
        version: exact version; the start of the commit for a `repository`.
        form: `sdist` (often with tests and examples), `wheel` (the Linux x86-64, Python 3.11 one where there are
            several), `installed`: copied out of an environment that has it, for distributions too big to fetch for
            their sources alone, or `repository`: one commit, for what is not on the index, or not with its tests.
        digest: SHA-256 of the archive; of the copied sources, as `fetch_corpus.tree_digest` makes it, when `installed`;
            the full commit of a `repository`.
    """

    name: str
    version: str
    form: Form
    digest: str

    @property
    def folder(self) -> str:
        """Name of the folder that holds the unpacked sources."""
        return f"{self.name.rpartition('/')[2]}-{self.version}"


def repository(name: str, commit: str) -> Project:
    """The row of a repository `owner/name` on GitHub at the full `commit`."""
    return Project(name, commit[:8], "repository", commit)


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
    repository("acids-ircam/nn_tilde", "ca97f8259442649fe7b5acacd8d9cdd8757098dd"),
    repository("acids-ircam/RAVE", "f048ec4569afba7c6ba38d590be8a07b8ab24840"),
    repository("aqlaboratory/openfold", "ce0029e1199b65fd834fe822be50d936cfe57fd4"),
    repository("aws-neuron/aws-neuron-samples", "2015d650cd89e4c671ae5bd1b5f1d4499d94d4dd"),
    repository("deepspeedai/DeepSpeed", "edaa7221267243c7be7fb49c5d5f5c4fb97b4641"),
    repository("facebookresearch/detectron2", "02b5c4e295e990042a714712c21dc79b731e8833"),
    repository("facebookresearch/fairscale", "146f160241651e1211c4247979f159a4ef43b54a"),
    repository("facebookresearch/fairseq", "3d262bb25690e4eb2e7d3c1309b1e9c406ca4b99"),
    repository("facebookresearch/pytorch3d", "9381c4016376345bb795b97c45a6c2de66db354a"),
    repository("feifeibear/long-context-attention", "56118e0d8fe377d43441226dd8bdd07135c92c22"),
    repository("hpcaitech/ColossalAI", "4f9953be335ef371b3848719ddafe596c01ecd37"),
    repository("huggingface/trl", "f2cd57710ae345ea6428ae95363267fcf38a3dc8"),
    repository("isaac-sim/IsaacGymEnvs", "aeed298638a1f7b5421b38f5f3cc2d1079b6d9c3"),
    repository("k2-fsa/icefall", "36e0420c7e3e849a25b3d24dbf913c424f3d23c9"),
    repository("Lightning-AI/pytorch-lightning", "7f0c3436cd3f6ad3753125672024fc415cbcb414"),
    repository("meta-pytorch/torchft", "7eb7087885f7ffaf51148a9df3289d73b8709fbd"),
    repository("microsoft/hummingbird", "4f280ab705e72bf9319ae53f0cca3b703710977a"),
    repository("NVIDIA/DeepLearningExamples", "729963dd47e7c8bd462ad10bfac7a7b0b604e6dd"),
    repository("NVIDIA/Megatron-LM", "d98e8a64ddf34856e74b24714e3bedb2f5a39553"),
    repository("NVIDIA/TransformerEngine", "d0067d0da6cb01811b8072a7d304f0e00344ce2b"),
    repository("OpenRLHF/OpenRLHF", "3c3be6234e0cb353e76bb8019947db9dfe99fca7"),
    repository("pyro-ppl/pyro", "ff6ae1c9572591791aae8842bcd702fcf0b46fd6"),
    repository("pytorch/benchmark", "0e83c440a51cd63464fee34724d01b7c814ce39b"),
    repository("pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8"),
    repository("pytorch/ios-demo-app", "b8f52b772b98a48f4d3bb14e8eb977724a66836b"),
    repository("pytorch/PiPPy", "1bcb2bfb2d6cc4ac2125c0edb37c35585bb9695f"),
    repository("pytorch/text", "a5e610638ea47b4412a29cdb708ac5f2fabb1286"),
    repository("pytorch/torchtitan", "b5bcd76c66d0acb1a08b176d9639425bc55e0b2a"),
    repository("speechbrain/speechbrain", "9c826ef3937bac885c8a6ca86c6889a30f256fb5"),
    repository("ultralytics/yolov5", "5081342f04fb287fc2e5f2b5a4e06752b7937b1c"),
    repository("volcengine/verl", "b178a3cd56f58b2d502255daba591e92833930a7"),
    repository("wenet-e2e/wenet", "015469960db73eb19c49a48c020d5ac9db69bae5"),
    repository("WongKinYiu/yolov7", "a207844b1ce82d204ab36d87d496728d3d2348e7"),
    repository("xdit-project/xDiT", "175e0bfec974d0b44a0be9fa511df2f9f5ead080"),
    repository("zhuzilin/ring-flash-attention", "899628238f2f5bb8c028579c89b7cd56ea451d2a"),
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
