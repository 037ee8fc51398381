"""Files of weights and checkpoints."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_files import FILE_NOT_OPENED, NOT_A_PLAIN_PICKLE
from torchlift.doctor.errors.known.causes_of_loading import FILE_NOT_WHOLE, RAN_OUT_OF_INPUT
from torchlift.doctor.errors.known_error import KnownError, thread, torch_file

ROWS = (
    KnownError(
        id="weights-only-no-pickle",
        pattern=r"WeightsUnpickler error: Unsupported operand \d{1,3}|Weights only load failed[^\0]{0,900}?Unsupported operand \d{1,3}|WeightsUnpickler error: (?:invalid load key|Unsupported class|unexpected EOF)",
        cause="torch.load with weights_only=True (the default since 2.6) came upon a byte that no file of plain weights has: this is no file that torch.save wrote in its usual form",
        remedy="Look at its size and first bytes: ls -lL FILE; head -c 100 FILE | cat -v. Setting weights_only=False does not make a damaged file whole",
        command="ls -lL FILE; head -c 100 FILE | cat -v",
        causes=NOT_A_PLAIN_PICKLE,
        says=("_pickle.UnpicklingError: Weights only load failed. WeightsUnpickler error: Unsupported operand 118",),
        sources=(
            thread("fudan-generative-vision/champ", 144, "2024-07-15"),
            torch_file("torch/_weights_only_unpickler.py"),
        ),
    ),
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
        ),
        sources=(
            thread("sktime/pytorch-forecasting", 1998),
            thread("e3nn/e3nn", 519),
            torch_file("torch/serialization.py"),
        ),
    ),
    KnownError(
        id="checkpoint-damaged",
        causes=FILE_NOT_WHOLE,
        pattern=r"PytorchStreamReader failed|unexpected EOF, expected \d{1,20} more bytes|invalid load key, (?!'v')|HeaderTooLarge"
        r"|InvalidHeaderDeserialization|MetadataIncompleteBuffer|Invalid magic number; corrupt file"
        r"|Error while deserializing header|unregistered extension code \d{1,6}|UnpicklingError: (could not find MARK|pickle data was truncated|unpickling stack underflow)|load a PyTorch model from a TF 2\.0 checkpoint|Unable to load weights from pytorch checkpoint file|not a ZIP archive|invalid header or archive is corrupted"
        r"|storage has wrong size: expected|unexpected EOF, expected \d{1,14} more bytes",
        cause="The file cannot be read as what it should be",
        remedy="Look at its size and first bytes: ls -lL FILE; head -c 200 FILE | cat -v",
        says=(
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
            "RuntimeError: unexpected EOF, expected 3302200 more bytes. The file might be corrupted.",
            "_pickle.UnpicklingError: invalid load key, '<'.",
            "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        ),
        sources=(
            thread("CompVis/stable-diffusion", 93, "2022-08-30"),
            thread("gaomingqi/Track-Anything", 103, "2024-03-26"),
            torch_file("torch/lib/libtorch_python.so"),
        ),
    ),
    KnownError(
        id="file-newer-than-torch",
        pattern=r"Attempted to read a PyTorch file with version \d{1,3}|kMaxSupportedFileFormatVersion",
        cause="The file was written by a newer torch than this one reads",
        remedy="Upgrade torch; or write it again there with torch.save(..., _use_new_zipfile_serialization=False) for torch before 1.6",
        wheel=True,
        says=(
            "RuntimeError: version_ <= kMaxSupportedFileFormatVersion INTERNAL ASSERT FAILED at /pytorch/caffe2/serialize/"
            "inline_container.cc:132, please report a bug to PyTorch. Attempted to read a PyTorch file with version 3, but the maximum "
            "supported version for reading is 2.",
        ),
        sources=(thread("pytorch/pytorch", 47243, "2020-11-03"), thread("WongKinYiu/ScaledYOLOv4", 199, "2021-03-24")),
    ),
    KnownError(
        id="download-hash",
        pattern=r"invalid hash value \(expected",
        cause="The downloaded weights are not the file that they should be: the download was cut, or its address gives something else now",
        remedy="Delete the file from ~/.cache/torch/hub/checkpoints and load again, or get it by hand",
        command="rm -rf ~/.cache/torch/hub/checkpoints",
        says=(
            'RuntimeError: invalid hash value (expected "e012d006", got "7f29ab803d816cd5e7036edba138876058fe5b3c")',
        ),
        sources=(
            thread("pytorch/hub", 29, "2019-06-11"),
            thread("hobincar/pytorch-video-feature-extractor", 5, "2019-11-19"),
        ),
    ),
    KnownError(
        id="weights-only-remark",
        pattern=r"FutureWarning: You are using `torch\.load` with `weights_only=False`",
        cause="torch 2.4 and 2.5 announce here that torch.load will read plain weights only from 2.6 on (weights_only=True); the program goes on",
        remedy="Nothing now. Write weights_only=True where the file holds weights, or weights_only=False where it is trusted and holds more, so that 2.6 does not stop there: `torchlift migrate` finds these calls (TL501); a package's own call goes with its upgrade",
        says=(
            "FutureWarning: You are using `torch.load` with `weights_only=False` (the current default value), which uses the default pickle module implicitly.",
        ),
        sources=("torch 2.5.1, torch/serialization.py, by knowledge of it, 2026-11-26",),
        level="warning",
    ),
    KnownError(
        id="ran-out-of-input",
        pattern=r"EOFError: Ran out of input",
        cause="Something was unpickled that has no content: an empty file, or what a process that ended should have sent",
        remedy="The last File line of the trace tells: torch.load, pickle.load, joblib or a cache is a file; spawn.py, reduction.py or multiprocessing is a process",
        causes=RAN_OUT_OF_INPUT,
        says=("EOFError: Ran out of input",),
        sources=(thread("kkoutini/PaSST", 48, "2024-04-11"), thread("pytorch/pytorch", 51836, "2021-02-06")),
    ),
    KnownError(
        id="folder-to-save-in",
        pattern=r"Parent directory [^\n]{0,200} does not exist",
        cause="torch.save does not make folders: the one that it is to write into is not there (from where the program was started), or its path has characters that torch's C++ part does not take under Windows (Chinese names, for one)",
        remedy="mkdir -p that folder, in the place from which the program runs (print(os.getcwd())), or os.makedirs(os.path.dirname(path), exist_ok=True) before torch.save; several ranks: on each host. It exists and the message stays (Windows, non-Latin path): with open(path, 'wb') as f: torch.save(x, f)",
        says=("RuntimeError: Parent directory ./checkpoints does not exist.",),
        sources=(
            thread("thunlp/KnowledgeablePromptTuning", 24, "2023-04-25"),
            thread("twjiang/graphSAGE-pytorch", 35, "2023-09-12"),
            thread("RVC-Boss/GPT-SoVITS", 498, "2024-02-16"),
        ),
    ),
    KnownError(
        id="weights-not-mapped",
        pattern=r"unable to open file <[^>\n]{1,300}> in read-only mode|No such device \(os error 19\)",
        cause="The file of weights could not be opened or mapped into memory",
        remedy="ls -lL FILE, and where it lies: df -hT FILE",
        command="df -hT .",
        causes=FILE_NOT_OPENED,
        says=(
            "RuntimeError: unable to open file </root/.cache/huggingface/hub/models--bert-base-uncased/snapshots/86b5/model.safetensors> in read-only mode: No such file or directory (2)",
            "OSError: No such device (os error 19)",
        ),
        sources=(
            thread("stanford-futuredata/ColBERT", 342, "2024-05-09"),
            thread("safetensors/safetensors", 195, "2023-03-14"),
            thread("safetensors/safetensors", 485, "2024-08-05"),
        ),
    ),
    KnownError(
        id="backend-tokenizer",
        pattern=r"Couldn't instantiate the backend tokenizer from one of",
        cause="The folder has no tokenizer.json for the fast tokenizer, and the slow one cannot be converted: mostly sentencepiece (or tiktoken, protobuf) is not installed; else the tokenizer's files are not there or not whole",
        remedy="python -m pip install sentencepiece tiktoken protobuf with the Python that runs (a notebook: restart it; ComfyUI: its own python_embeded). If it stays: see that tokenizer.json, tokenizer.model or vocab files are in the folder, whole (no pointer of Git LFS; hf download NAME), in a release of transformers that the model asks for; or use_fast=False",
        command="python -m pip install sentencepiece tiktoken protobuf",
        says=(
            "ValueError: Couldn't instantiate the backend tokenizer from one of: (1) a `tokenizers` library serialization file, (2) a slow tokenizer instance to convert",
        ),
        sources=(
            thread("EvilBT/ComfyUI_SLK_joy_caption_two", 8, "2024-10-14"),
            thread("HRNPH/AIwaifu", 40, "2023-05-24"),
            thread("midrender/mamba-chat", 31, "2024-02-29"),
        ),
    ),
)
