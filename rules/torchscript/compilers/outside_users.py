"""Whether code outside the project may script or trace what is in it: packages are installed, notebooks are run."""

from __future__ import annotations

from torchlift.project import Project
from torchlift.rules.analysis.project.foreign_packages import foreign_packages
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.rules.analysis.wording.nearest_place import Place, nearest
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.compilers.scripting_uses import first_expectation

# Packages with a call that scripts the modules it is given, and fairseq, which keeps its modules scriptable for whoever does.
_SCRIPTING_PACKAGES = frozenset(
    "allennlp composer e3nn fairseq ignite lightning mace monai nemo nequip pytorch_lightning speechbrain "
    "torch_geometric torch_tensorrt".split()
)


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
    packages = sorted(_SCRIPTING_PACKAGES.intersection(foreign_packages(project))) if expected else []
    return (
        f"modules that `{packages[0]}` is given, which this repository names in an import, may be scripted"
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
