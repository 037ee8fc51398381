"""What to write instead of names that torchvision, torchaudio, torchtext, torchdata and torchao dropped: kept by hand.

Read in the wheels of the releases that the table names (src/torchlift/api_changes/data/companions_gone.json) and of torchcodec 0.17.0, 2026-11-23.
A name covers everything below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.versions import TorchVersion

_DECODER = (
    "TorchCodec (the package `torchcodec`, with FFmpeg) takes its place: `torchcodec.decoders.AudioDecoder(path)` has "
    "`.metadata.sample_rate`, `.metadata.num_channels` and `.metadata.duration_seconds`."
)
_NO_BACKENDS = "There is nothing to choose any more: drop it. TorchCodec decodes and encodes."
_BACKEND = "Call `torchaudio.load` and `torchaudio.save`, which go through TorchCodec since torchaudio 2.9. What `info` told is the `metadata` of `torchcodec.decoders.AudioDecoder(path)`."
_VIDEO = (
    "TorchCodec (the package `torchcodec`, with FFmpeg) takes its place: `torchcodec.decoders.VideoDecoder(path)` gives frames, "
    "channels before height and width unless `dimension_order='NHWC'` is said, and `AudioDecoder` the sound."
)
_WRITE_VIDEO = (
    "TorchCodec (the package `torchcodec`, with FFmpeg) takes its place: "
    "`torchcodec.encoders.VideoEncoder(frames, frame_rate=fps).to_file(path)` with frames as (N, C, H, W)."
)
_STREAM = "TorchCodec takes its place: `AudioDecoder` and `VideoDecoder` of `torchcodec.decoders`, the encoders of `torchcodec.encoders`."
_SOX = (
    "torchaudio has no chain of sox effects any more. `torchaudio.functional` has many of them one by one (`speed`, `resample`, `gain`, "
    "`lowpass_biquad`, `pitch_shift`); the `sox` program has all."
)
_KALDI = "It only called the package `kaldi_io`: call that, and `torch.from_numpy` on the arrays it yields."
_WEIGHTS = (
    "The addresses are in the enumerations of weights, as `ResNet18_Weights.IMAGENET1K_V1.url` of `torchvision.models`; a model made with "
    "`weights=` loads them itself."
)
_LEGACY = (
    "`Field`, `BucketIterator` and their kin went to the part `legacy` in 0.9 and with it in 0.12. Tokenize in a dataset of "
    "your own, build the vocabulary with a dictionary, and batch with `collate_fn=` of `torch.utils.data.DataLoader`."
)
_DATAPIPES = (
    "`torch.utils.data` has `IterDataPipe` and the basic pipes still; else write a `Dataset` or `IterableDataset`, or use "
    "`torchdata.nodes` (torchdata 0.10 and newer). torchdata 0.9 is the last release with it; METADATA lets it be installed beside any torch from 2.0 on."
)
_LOADER = (
    "`torchdata.stateful_dataloader.StatefulDataLoader`, of torchdata 0.8 and newer, takes the place of what it could save; "
    "`torch.utils.data.DataLoader` does the rest."
)
_TENSOR_FUNCTIONS = (
    "The functions of the same names in `torchvision.transforms.functional` take tensors too. Private helpers are in "
    "`torchvision.transforms._functional_tensor`, which may move again."
)
_AO_CONFIG = "Pass a configuration to `torchao.quantization.quantize_(model, config)`: `{0}`."
_AO_CONFIGS = {
    "int4_weight_only": "Int4WeightOnlyConfig()",
    "int8_weight_only": "Int8WeightOnlyConfig()",
    "int8_dynamic_activation_int8_weight": "Int8DynamicActivationInt8WeightConfig()",
    "float8_weight_only": "Float8WeightOnlyConfig()",
    "float8_dynamic_activation_float8_weight": "Float8DynamicActivationFloat8WeightConfig()",
}


ENDED = {
    "torchtext": (
        "`torchtext` ended with 0.18 (for torch 2.3), and its compiled library need not load under a later torch: under 2.13 importing it "
        "is an OSError, an undefined symbol.",
        "Tokenizers and vocabularies of the package `tokenizers` or `sentencepiece`, data of the package `datasets`, and `collate_fn=` of "
        "`torch.utils.data.DataLoader` do what it did; `torchmetrics.text.BLEUScore` scores translations.",
        TorchVersion(2, 4),
    )
}
"""Packages without a release for later torch: what to say, what to write, and the first torch beyond. Tried with the wheel of
torchtext 0.18.0 and torch 2.13.0+cpu on Linux, 2026-11-23."""


def companion_advice() -> Iterator[tuple[str, str]]:
    """Names and sentences about them; what a sentence names is there in the newest release."""
    yield from _of_audio()
    yield from _of_vision()
    yield from _of_others()


def _of_audio() -> Iterator[tuple[str, str]]:
    for name in ("info", "AudioMetaData"):
        yield f"torchaudio.{name}", _DECODER
    for name in ("get_audio_backend", "set_audio_backend", "list_audio_backends"):
        yield f"torchaudio.{name}", _NO_BACKENDS
        yield f"torchaudio.backend.{name}", _NO_BACKENDS
    yield "torchaudio.backend", _BACKEND
    yield "torchaudio._backend", _BACKEND
    yield "torchaudio.io", _STREAM
    for name in ("io.AudioEffector", "functional.apply_codec", "functional.functional.apply_codec"):
        yield f"torchaudio.{name}", "Nothing takes its place: run FFmpeg on the file."
    yield "torchaudio.sox_effects", _SOX
    yield "torchaudio.utils.sox_utils", _SOX
    yield "torchaudio.kaldi_io", _KALDI
    for name in ("load_wav", "backend.sox_io_backend.load_wav", "backend.soundfile_backend.load_wav"):
        yield (
            f"torchaudio.{name}",
            "`torchaudio.load(path)` returns samples between -1 and 1: scale them where integers are wanted.",
        )


def _of_vision() -> Iterator[tuple[str, str]]:
    for name in ("read_video", "read_video_timestamps", "VideoReader"):
        yield f"torchvision.io.{name}", _VIDEO
    yield "torchvision.io.video.read_video", _VIDEO
    yield "torchvision.io.video.read_video_timestamps", _VIDEO
    yield "torchvision.io.video_reader", _VIDEO
    yield "torchvision.io.write_video", _WRITE_VIDEO
    yield "torchvision.io.video.write_video", _WRITE_VIDEO
    yield "torchvision.transforms.functional_tensor", _TENSOR_FUNCTIONS
    yield (
        "torchvision.datapoints",
        "It is called `torchvision.tv_tensors` now, and `BoundingBox` is `BoundingBoxes` there, with `canvas_size=` for `spatial_size=`.",
    )
    for module in (
        "resnet",
        "vgg",
        "densenet",
        "alexnet",
        "inception",
        "googlenet",
        "squeezenet",
        "mobilenet",
        "mobilenetv2",
        "shufflenetv2",
    ):
        yield f"torchvision.models.{module}.model_urls", _WEIGHTS


def _of_others() -> Iterator[tuple[str, str]]:
    yield "torchtext.legacy", _LEGACY
    for name in (
        "Field",
        "LabelField",
        "NestedField",
        "RawField",
        "SubwordField",
        "ReversibleField",
        "Iterator",
        "BucketIterator",
        "BPTTIterator",
        "TabularDataset",
        "Dataset",
        "Example",
        "Batch",
        "Pipeline",
    ):
        yield f"torchtext.data.{name}", _LEGACY
    yield "torchdata.datapipes", _DATAPIPES
    yield "torchdata.dataloader2", _LOADER
    for old, config in _AO_CONFIGS.items():
        for module in ("torchao.quantization", "torchao.quantization.quant_api"):
            yield f"{module}.{old}", _AO_CONFIG.format(config)
