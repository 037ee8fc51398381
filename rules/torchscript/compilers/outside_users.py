"""Whether code outside the project may script or trace what is in it: packages are installed, notebooks are run.

What packages do was read 2026-11-27:
    composer/utils/inference.py:216 at mosaicml/composer 640518880; e3nn/util/jit.py:157 at e3nn/e3nn 2aa7f584
    fairseq/models/model_utils.py and its tests/test_export.py at facebookresearch/fairseq 3d262bb2
    lightning/pytorch/core/module.py:1558 of the lightning 2.6.6 wheel; mace/cli/create_lammps_model.py:109 of mace_torch 0.3.16
    monai/networks/utils.py:839 of the monai 1.6.1 wheel; nemo/core/classes/exportable.py:208 at NVIDIA/NeMo 8cfedd7203
    nequip/utils/compile.py:38 at mir-group/nequip e07489d4; speechbrain/core.py:1306 at speechbrain/speechbrain 9c826ef39
    torch_geometric/nn/conv/message_passing.py:743 of 2.2.0; torch_tensorrt/_compile.py:270 of the torch_tensorrt 2.14.0 wheel
"""

from __future__ import annotations

from torchlift.project import Project
from torchlift.rules.analysis.project.foreign_packages import foreign_packages
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.rules.analysis.wording.nearest_place import Place, nearest
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.scripting_uses import first_expectation

# What packages do that may compile modules of their users; pytorch-ignite, allennlp 2.10 and PyG 2.8 neither script nor trace.
_SCRIPTING_PACKAGES = {
    "composer": "`composer.utils.export_for_inference` scripts or traces modules",
    "e3nn": "`e3nn.util.jit.compile` scripts modules",
    "fairseq": "fairseq keeps its modules scriptable for whoever uses them",
    "lightning": "`to_torchscript` of its modules scripts them",
    "mace": "its commands compile models to TorchScript",
    "monai": "`monai.networks.utils.convert_to_torchscript` scripts modules",
    "nemo": "`export` of its modules traces them",
    "nequip": "it compiles models to TorchScript",
    "pytorch_lightning": "`to_torchscript` of its modules scripts them",
    "speechbrain": "`Brain` scripts the modules that `jit_module_keys` names",
    "torch_geometric": "layers of before PyG 2.5 are made scriptable by `jittable()`",
    "torch_tensorrt": '`torch_tensorrt.compile(ir="ts")` scripts modules',
}


def outside_compiler(context: Context, *, tracing: bool = False, expecting: bool = False) -> str | None:
    """Who else may compile the code of the file in view: a clause; None if nobody is known.

    Args:
        context: the file and its project.
        tracing: whether tracing matters too.
        expecting: whether being installable, or using packages that script, counts only where the project's code expects to
            be compiled: most projects that can be installed are nobody's library.
    """
    return context.once(_outside_compiler, tracing, expecting)


def _outside_compiler(context: Context, tracing: bool, expecting: bool) -> str | None:
    project, path = context.project, context.view.path
    use = "trace or script" if tracing else "script"
    expected = not expecting or first_expectation(project) is not None
    if expected:
        packaging = packaging_of(project, path)
        if packaging is not None:
            return f"others may use this code ({packaging}), and {use} it"
        versioned = _versioned(project, path)
        if versioned is not None:
            return f"others may use this package ({versioned} gives it a version), and {use} it"
    for word in ("jit.script", *(("jit.trace",) if tracing else ())):
        place = nearest(map(_place, project.mentions(word, skip=project.files)), path)
        if place is not None:
            return f"{place} mentions `{word}`"
    packages = sorted(_SCRIPTING_PACKAGES.keys() & foreign_packages(project)) if expected else []
    return (
        f"this repository names `{packages[0]}` in an import, and {_SCRIPTING_PACKAGES[packages[0]]}"
        if packages
        else None
    )


def _place(mention: str) -> Place:
    path, _, line = mention.rpartition(":")
    return path, int(line)


def _versioned(project: Project, path: str) -> str | None:
    """The `__init__` file of the package around `path`, if it gives the package a version: somebody releases it."""
    package, _, rest = path.partition("/")
    if package == "src" and rest:
        inner, _, rest = rest.partition("/")
        package = f"src/{inner}"
    init = f"{package}/__init__.py"
    if not rest:
        return None
    try:
        return init if b"__version__" in project.data(init) else None
    except OSError:
        return None
