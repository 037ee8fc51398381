"""The kinds of files: what they are in words, and what can be done with each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "torchscript": (
            "a TorchScript archive",
            "`torchlift convert {path}` makes an ExportedProgram of it that is compared with it, or says why not.",
        ),
        "mobile": (
            "a PyTorch Mobile archive: bytecode for the lite interpreter, without TorchScript's code",
            "Nothing reads its code back; look for the archive or the source that it was made of, and go to ExecuTorch.",
        ),
        "mobile flatbuffer": (
            "a PyTorch Mobile flatbuffer (.ptl)",
            "Nothing reads its code back; look for the archive or the source that it was made of, and go to ExecuTorch.",
        ),
        "executorch": ("an ExecuTorch program (.pte)", "`executorch.runtime` runs it."),
        "old torchscript": (
            "a TorchScript archive as torch 1.0 to 1.3 wrote it",
            "`torch.jit.load` of any torch until today reads it: save it again with `torch.jit.save`, and convert that.",
        ),
        "exported": ("an exported program (.pt2)", "`torch.export.load` reads it."),
        "aotinductor": ("an AOTInductor package: compiled code", "`torch._inductor.aoti_load_package` reads it. It runs what is in it: trust its source."),
        "package": ("an archive of torch.package: pickles with the Python code behind them", "`torch.package.PackageImporter` reads it. It runs what is in it: trust its source."),
        "torchserve": ("an archive of TorchServe (.mar)", "Unpack it: the model is the `serializedFile` that its manifest names."),
        "state dict": ("a state dict", "`torch.load(path, weights_only=True)` reads it, and the module's `load_state_dict` takes it."),
        "checkpoint": ("a checkpoint: a dictionary with more in it than tensors", "`torch.load(path, weights_only=True)` reads it if nothing below is refused."),
        "tensor": ("a tensor", "`torch.load(path, weights_only=True)` reads it."),
        "module": (
            "a whole module as a pickle: it names classes, and needs their source to be loaded",
            "`torch.load(path, weights_only=False)` runs what is in it: trust its source. Save `module.state_dict()` instead.",
        ),
        "pickle": ("a pickle", "Loading it runs what is in it: trust its source."),
        "tar": ("a tar archive", ""),
        "zip": ("a zip archive without a model of torch in it", ""),
        "safetensors": ("a safetensors file", "`safetensors.torch.load_file` reads it."),
        "tensorrt": ("a TensorRT engine", "The TensorRT of the release that built it runs it; build it again from the model."),
        "gguf": ("a GGUF file, for llama.cpp", ""),
        "hdf5": ("an HDF5 file, as Keras writes", ""),
        "numpy": ("an array of NumPy", "`numpy.load` reads it."),
        "library": ("a compiled library", ""),
        "lfs": ("a pointer of Git LFS; the file itself was not fetched", "`git lfs pull` fetches it."),
        "empty": ("empty", ""),
        "unknown": ("no model that torchlift knows", ""),
    }
)  # fmt: skip
"""By kind: what it is, and what can be done with it."""

VENDORS: Mapping[str, str] = MappingProxyType(
    {
        "tensorrt": "Torch-TensorRT: the network is a compiled engine, which only TensorRT runs",
        "neuron": "AWS Neuron: the network is compiled for Inferentia or Trainium",
        "neuronx": "AWS Neuron: the network is compiled for Inferentia or Trainium",
        "torch_ipex": "Intel Extension for PyTorch",
        "ipex_prepack": "Intel Extension for PyTorch, with packed weights",
        "torch_sparse": "torch_sparse",
        "torch_scatter": "torch_scatter",
        "torch_cluster": "torch_cluster",
        "torch_spline_conv": "torch_spline_conv",
        "torchvision": "torchvision",
        "torchaudio": "torchaudio",
        "torchtext": "torchtext",
        "image": "torchvision's readers and writers of files",
        "backends": "a backend that the network was lowered to (torch._C._jit_to_backend)",
    }
)
"""Namespaces of operators and classes that libraries bring along, and what their presence means."""

WEIGHTS_ONLY = frozenset(
    ("collections.OrderedDict", "collections.Counter", "torch.Size", "torch.device", "torch.dtype")
)
"""What `torch.load(weights_only=True)` imports besides storages, dtypes and `torch._utils._rebuild_*` (torch 2.13)."""
