"""Lightning, accelerate and ONNX Runtime: classes of two packages or releases, and inputs of another kind than was exported."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_loading import NOT_IN_THE_PACKAGE
from torchlift.doctor.errors.known_error import KnownError, thread
from torchlift.doctor.errors.library_names import read_library_name

ROWS = (
    KnownError(
        id="not-a-lightning-module",
        pattern=r"has no attribute '(?:automatic_optimization|_metric_attributes|trainer_ref)'|must be a `?LightningModule`?(?: or `?torch\._dynamo\.OptimizedModule`?)?, got|is not an instance of `?LightningModule|`?model`? must be a `?LightningModule",
        cause="The Trainer got a model that is no LightningModule of its own package: a plain nn.Module, or the class comes from lightning and the Trainer from pytorch_lightning (or the other way round)",
        remedy="Import everything from one of them: either import lightning.pytorch as pl, or import pytorch_lightning as pl; a library that brings its own model (pyannote, NeMo, torchgeo): the package that it imports (grep -r 'lightning' in it). The model's class has to inherit from pl.LightningModule and call super().__init__()",
        command="python -m pip list | grep -i lightning",
        says=(
            "AttributeError: 'Model' object has no attribute 'automatic_optimization'",
            "TypeError: `model` must be a `LightningModule` or `torch._dynamo.OptimizedModule`, got `MyModel`",
        ),
        sources=(thread("Lightning-AI/pytorch-lightning", 6242, "2021-02-27"),),
        likely=True,
    ),
    KnownError(
        id="lightning-of-another-release",
        pattern=r"type object '(?P<part>Trainer|LightningModule|LightningDataModule)' has no attribute '(?P<name>\w{1,60})'|'(?P<part2>Trainer|LightningModule|LightningDataModule)' object has no attribute '(?P<name2>\w{1,60})'|Support for `?(?P<name3>\w{1,60})`? has been removed in v2",
        cause="The installed Lightning (or, where it is their Trainer, transformers) has no {name} any more or not yet: it and the code are of two times",
        remedy="python -m pip show pytorch-lightning lightning transformers. Code for Lightning 1: python -m pip install 'pytorch-lightning<2' (1.9.5), with a torch of its time; or change it: Trainer.add_argparse_args and from_argparse_args to LightningCLI or plain arguments, training_epoch_end(outputs) to on_train_epoch_end with a list of one's own, gpus=N to accelerator='gpu', devices=N, trainer.training_type_plugin to trainer.strategy",
        command="python -m pip show pytorch-lightning",
        causes=NOT_IN_THE_PACKAGE,
        reads=read_library_name,
        says=(
            "AttributeError: type object 'Trainer' has no attribute 'add_argparse_args'",
            "AttributeError: 'Trainer' object has no attribute 'accelerator_backend'",
            "NotImplementedError: Support for `training_epoch_end` has been removed in v2.0.0.",
        ),
        sources=(
            thread("Lightning-AI/pytorch-lightning", 19905, "2024-05-24"),
            thread("tlpss/keypoint-detection", 22, "2023-03-19"),
            thread("norse/norse", 369, "2023-07-17"),
            thread("schmidt-ju/crat-pred", 2, "2023-02-09"),
        ),
        likely=True,
    ),
    KnownError(
        id="number-written-as-float",
        pattern=r"invalid literal for int\(\) with base 10: '\d{6,15}\.0'|invalid literal for int\(\) with base 10: '\d{1,4}(?:\.\d{1,4})?e\+?\d{1,3}'",
        cause="A setting that has to be a whole number was written as a float: accelerate's FSDP_MIN_NUM_PARAMS (its default, 1e8, in some releases), or another variable or argument",
        remedy="accelerate: fsdp_min_num_params: 100000000 in the configuration (or export FSDP_MIN_NUM_PARAMS=100000000), and a newer accelerate. Else look in the last File line which value is read, and write it without a point",
        command="export FSDP_MIN_NUM_PARAMS=100000000",
        says=("ValueError: invalid literal for int() with base 10: '100000000.0'",),
        sources=(
            thread("huggingface/accelerate", 1361, "2023-04-27"),
            thread("huggingface/accelerate", 3854, "2025-11-26"),
        ),
        likely=True,
    ),
    KnownError(
        id="onnxruntime-input",
        pattern=r"Unexpected input data type\. Actual: ?\({1,2}(?P<name>[\w() ]{3,80}?)\){1,3} ?, ?expected: ?\({1,2}(?P<other>[\w() ]{3,80}?)\){1,3}|Invalid Feed Input Name|Invalid rank for input|Got invalid dimensions for input|Required inputs \(\[[^\]\n]{1,200}\]\) are missing|ONNXRuntimeError[^\n]{0,80}Missing Input: ",
        cause="ONNX Runtime was given another input than the model was exported with: another type (NumPy's default integers are int32 under older NumPy on Windows, its floats float64), name, number of dimensions or size",
        remedy="print([(i.name, i.shape, i.type) for i in session.get_inputs()]) and make the feed like it: x.astype(np.int64) for tokens, np.float32 (np.float16 for a model in half precision), the names in the list, a batch dimension (x[None]); a size that is fixed there: export again with dynamic_axes or dynamic_shapes",
        command="python -c \"import onnxruntime as o; print([(i.name, i.shape, i.type) for i in o.InferenceSession('MODEL.onnx', providers=['CPUExecutionProvider']).get_inputs()])\"",
        says=(
            "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Unexpected input data type. Actual: (tensor(int32)) , expected: (tensor(int64))",
            "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid Feed Input Name:data",
        ),
        sources=(
            thread("PaddlePaddle/PaddleNLP", 2771, "2022-07-10"),
            thread("pengzhendong/streaming-sensevoice", 10, "2024-10-25"),
            thread("microsoft/onnxruntime", 4423, "2020-07-03"),
            thread("pytorch/pytorch", 21677, "2019-06-12"),
        ),
    ),
    KnownError(
        id="onnx-model-without-types",
        pattern=r"Model input \(\w{1,80}\) does not have type information|This is an invalid model\. (?:Error in Node|Type Error|Model input|In Node)|Type Error: Type '[^'\n]{1,60}' of input parameter",
        cause="The exporter wrote an ONNX file that breaks ONNX's rules: a defect of that torch's exporter with this model (mostly of scripted parts, or of one data type in place of another), or a step that edited the file afterwards",
        remedy="onnx.checker.check_model(PATH, full_check=True) names the node. Export again with the newest torch and dynamo=True, with x.float() or x.long() where two types meet; a conversion to float16 afterwards: keep that operator in float32 (op_block_list of onnxconverter_common); an older ONNX Runtime: upgrade it",
        command="python -c \"import onnx; onnx.checker.check_model('MODEL.onnx', full_check=True)\"",
        says=(
            "RuntimeError: [ONNXRuntimeError] : 1 : GENERAL ERROR : Load model from crop.onnx failed:This is an invalid model. Model input (data) does not have type information",
            "[ONNXRuntimeError] : 10 : INVALID_GRAPH : Load model from x.onnx failed:This is an invalid model. Type Error: Type 'tensor(int64)' of input parameter (12) of operator (Sub) is invalid.",
        ),
        sources=(
            thread("microsoft/onnxruntime", 1726, "2019-08-29"),
            thread("pytorch/pytorch", 28607, "2019-10-24"),
        ),
        likely=True,
    ),
    KnownError(
        id="onnxruntime-providers",
        pattern=r"Since ORT 1\.9, you are required to explicitly set the providers|This ORT build has \[[^\]\n]{1,300}\] enabled",
        cause="The program is from before ONNX Runtime 1.9: the GPU package asks since then for the list of providers",
        remedy="onnxruntime.InferenceSession(PATH, providers=['CUDAExecutionProvider', 'CPUExecutionProvider']) (the first that works is taken); a package: a newer release of it, or onnxruntime (without -gpu) where the CPU is enough",
        says=(
            "ValueError: This ORT build has ['TensorrtExecutionProvider', 'CUDAExecutionProvider', 'CPUExecutionProvider'] enabled. Since ORT 1.9, you are required to explicitly set the providers parameter when instantiating InferenceSession.",
        ),
        sources=("onnxruntime 1.20, capi/onnxruntime_inference_collection.py, by knowledge of it, 2026-11-27",),
    ),
)
