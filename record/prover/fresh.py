"""Proves one spooled capture: `python fresh.py PROOF`, under the interpreter of the recorded program, without torchlift."""

from __future__ import annotations

import sys


def prove_spooled(spool_path: str) -> None:
    """Reads what was spooled, and writes the proof."""
    from .keeper import proved, write_proof
    from .spooled import read_course, read_subject

    try:
        import torch

        torch.set_num_threads(1)
        subject, limits = read_subject(spool_path)
    except BaseException as error:
        reason = f"fresh process: what was captured cannot be loaded there: {type(error).__name__}: {error}"
        write_proof(spool_path, {"unproved": reason[:300]})
        return
    write_proof(spool_path, proved(subject, read_course(spool_path), limits))


if __name__ == "__main__":
    import os
    from importlib.util import module_from_spec, spec_from_file_location

    _FOLDER, _NAME = os.path.dirname(os.path.abspath(__file__)), "_torchlift_prover"
    _SPEC = spec_from_file_location(_NAME, os.path.join(_FOLDER, "__init__.py"), submodule_search_locations=[_FOLDER])
    assert _SPEC is not None and _SPEC.loader is not None
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _FOLDER]
    sys.modules[_NAME] = _PACKAGE = module_from_spec(_SPEC)
    _SPEC.loader.exec_module(_PACKAGE)
    from _torchlift_prover.fresh import prove_spooled as run  # type: ignore[import-not-found,unused-ignore]

    run(sys.argv[1])
