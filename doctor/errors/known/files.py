"""Files of weights and checkpoints."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="weights-only",
        pattern=r"Weights only load failed|WeightsUnpickler error|was not an allowed global by default",
        cause="torch.load reads only plain weights since torch 2.6 (weights_only=True), and the file holds other Python objects",
        remedy="Allow the classes that are named with torch.serialization.add_safe_globals([...]); weights_only=False only for "
        "files from a source that you trust. `torchlift migrate` finds such calls (TL501)",
        says=(
            "_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the default value of the "
            "`weights_only` argument in `torch.load` from `False` to `True`.",
            "WeightsUnpickler error: Unsupported global: GLOBAL belt_nlp.bert.BertNN was not an allowed global by default.",
            "WeightsUnpickler error: Unsupported operand 118",
        ),
        sources=(
            thread("sktime/pytorch-forecasting", 1998),
            thread("e3nn/e3nn", 519),
            torch_file("torch/serialization.py"),
        ),
    ),
    KnownError(
        id="checkpoint-damaged",
        pattern=r"PytorchStreamReader failed|unexpected EOF, expected \d{1,20} more bytes|invalid load key, |HeaderTooLarge"
        r"|InvalidHeaderDeserialization|MetadataIncompleteBuffer|Invalid magic number; corrupt file"
        r"|Error while deserializing header|UnpicklingError: (could not find MARK|pickle data was truncated|unpickling stack underflow)|load a PyTorch model from a TF 2\.0 checkpoint|Unable to load weights from pytorch checkpoint file|not a ZIP archive|invalid header or archive is corrupted",
        cause="The file is not what it should be: a download that was cut, a Git LFS pointer or an error page in its place, or a "
        "checkpoint whose writer was stopped",
        remedy="Look at its size and first bytes, then get it again (git lfs pull, or delete it from the cache)",
        says=(
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
            "RuntimeError: unexpected EOF, expected 3302200 more bytes. The file might be corrupted.",
            "_pickle.UnpicklingError: invalid load key, 'v'.",
            "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        ),
        sources=(
            thread("CompVis/stable-diffusion", 93, "2022-08-30"),
            thread("gaomingqi/Track-Anything", 103, "2024-03-26"),
            torch_file("torch/lib/libtorch_python.so"),
        ),
    ),
)
