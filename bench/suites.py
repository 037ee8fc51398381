"""Test suites of real projects that run on a CPU: exact sources, what they need installed, and which tests to run.

Files named in `tests` were chosen because they script, trace, save or load something, or import a file that torchlift
changes. What they need beyond torch is pinned to the versions they were first run with, on Python 3.11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

TORCH = "torch==2.13.0"
PYTEST = "pytest==9.2.0"
NUMPY = "numpy==2.4.6"


@dataclass(frozen=True)
class Suite:
    """One project and its tests.

    Attributes:
        name: distribution name on the package index, as in `corpus.py`.
        version: version of a source archive that `corpus.py` pins, or the full commit of `repository`.
        repository: `owner/name` on GitHub; empty when the tests come with the source archive.
        requirements: what to install for pytest and for the tests; the project itself runs from its tree.
        tests: arguments for pytest.
        environment: variables to set; `{scratch}` stands for an empty folder.
        stand_ins: modules to put on the path, by file name, for imports of packages that have no CPU build for this
            torch; tests that would really use them are not chosen.
    """

    name: str
    version: str
    requirements: tuple[str, ...]
    tests: tuple[str, ...]
    repository: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of the folder that holds the sources."""
        return f"{self.name}-{self.version[:8]}"


# What timm imports of torchvision without using it in the chosen tests.
TORCHVISION = {
    "torchvision/__init__.py": "",
    "torchvision/datasets.py": "CIFAR10 = CIFAR100 = FashionMNIST = ImageFolder = KMNIST = MNIST = object\n",
    "torchvision/ops/__init__.py": "",
    "torchvision/ops/misc.py": "import torch\n\n\nclass FrozenBatchNorm2d(torch.nn.Module):\n    pass\n",
    "torchvision/transforms/__init__.py": "class ToTensor:\n    pass\n",
    "torchvision/transforms/functional.py": (
        "import enum\n\nInterpolationMode = enum.Enum('InterpolationMode', 'NEAREST BILINEAR BICUBIC BOX HAMMING LANCZOS')\n"
    ),
}

# The smallest model of every architecture whose file has TorchScript in it, and a few others.
TIMM_MODELS = """
    beit_base_patch16_224 caformer_s18 cait_xxs24_224 coat_tiny davit_tiny efficientvim_m1 eva02_tiny_patch14_224
    fastvit_t8 hieradet_small iformer_t inception_v3 levit_128s lowformer_b0 mobilenetv3_small_050 mvitv2_tiny nest_tiny
    nextvit_small poolformerv2_s12 pvt_v2_b0 resnet18 samvit_base_patch16_224 swin_tiny_patch4_window7_224 test_byobnet
    test_coatnet test_convnext test_efficientnet test_mambaout test_maxvit test_nfnet test_resnet test_vit test_vit2
    test_vit_relpos tiny_vit_5m_224 twins_pcpvt_small twins_svt_small visformer_tiny vit_tiny_patch16_224
    vit_tiny_patch16_dinov3_qkvb volo_d1_224 xcit_nano_12_p16_224
""".split()

SUITES = (
    Suite(
        name="torch_geometric",
        version="5c6461b2305ad068a6d61165b3c55852a11aaa41",  # between 2.8.0.post1 and 2.9.0
        repository="pyg-team/pytorch_geometric",
        requirements=(
            TORCH,
            PYTEST,
            NUMPY,
            "aiohttp==3.14.5",
            "fsspec==2026.9.0",
            "jinja2==3.1.6",
            "networkx==3.6.1",
            "psutil==7.2.2",
            "pyparsing==3.3.3",
            "requests==2.34.2",
            "scikit-learn==1.9.1",
            "scipy==1.17.1",
            "tqdm==4.70.1",
            "xxhash==4.1.0",
        ),
        tests=(
            *("test/nn/aggr", "test/nn/conv", "test/nn/dense", "test/nn/norm", "test/nn/pool", "test/utils"),
            *("test/nn/test_model_summary.py", "test/nn/test_sequential.py", "test/test_edge_index.py"),
            *("test/nn/models/test_basic_gnn.py", "test/nn/models/test_autoencoder.py"),
            *("test/nn/models/test_node2vec.py", "test/nn/models/test_rect.py"),
        ),
        environment={"FULL_TEST": "1"},
    ),
    Suite(
        name="kornia",
        version="b4f5a78a13891c7ac4c1cd9695941380273e981d",  # between 0.9.0rc1 and 0.9.0
        repository="kornia/kornia",
        requirements=(
            TORCH,
            PYTEST,
            NUMPY,
            "kornia_rs==0.2.0",
            "packaging==26.3",
            "pillow==13.0.0",
            "pytest-timeout==2.4.0",
        ),
        tests=("tests", "-k", "jit or script or siftdesc"),
    ),
    Suite(
        name="pyro_ppl",
        version="ff6ae1c9572591791aae8842bcd702fcf0b46fd6",  # after 1.9.1
        repository="pyro-ppl/pyro",
        requirements=(
            TORCH,
            PYTEST,
            NUMPY,
            "opt_einsum==3.4.0",
            "pyro-api==0.1.2",
            "scipy==1.17.1",
            "tqdm==4.70.1",
        ),
        tests=(
            *("tests/infer/test_jit.py", "tests/infer/test_autoguide.py", "tests/ops/test_stats.py"),
            *("tests/contrib/cevae", "tests/distributions/test_util.py", "-k", "not Funsor"),
        ),
    ),
    Suite(
        name="timm",
        version="1.0.31",
        requirements=(
            TORCH,
            PYTEST,
            NUMPY,
            "expecttest==0.3.0",
            "huggingface_hub==2.4.0",
            "pillow==13.0.0",
            "pytest-timeout==2.4.0",
            "pyyaml==6.0.3",
            "safetensors==0.8.0",
        ),
        tests=(
            *(f"tests/test_models.py::test_model_forward_torchscript[1-{model}]" for model in TIMM_MODELS),
            "tests/test_models.py::test_feature_getter_stage_ends_torchscript",
            "tests/test_models.py::test_model_forward[1-hiera_tiny_224]",  # cannot be scripted
            "tests/test_models.py::test_pruned_features_torchscript",
            "tests/test_models.py::test_swin_family_dynamic_mask_trace",
            "tests/test_models.py::test_swin_family_script_after_resize",
            "tests/test_layers.py",
            "tests/test_layers_pool.py",
        ),
        environment={"HF_HUB_OFFLINE": "1"},
        stand_ins=TORCHVISION,
    ),
    Suite(
        name="torchani",
        version="2.9.0",
        requirements=(
            TORCH,
            PYTEST,
            NUMPY,
            "ase==3.29.0",
            "expecttest==0.3.0",
            "h5py==3.16.0",
            "huggingface_hub==2.4.0",
            "pandas==3.1.1",
            "parameterized==0.9.0",
            "pyarrow==26.0.1",
            "rich==15.0.0",
            "setuptools==84.2.1",
            "tqdm==4.70.1",
            "typer==0.29.2",
            "typing_extensions==4.16.0",
            "zarr==2.18.7",
        ),
        tests=tuple(
            f"tests/test_{what}.py"
            for what in (
                *("aev", "dispersion", "electro", "embed", "ensemble", "grad_module", "infer", "neighbors", "nn"),
                *("periodic_table_indexing", "potentials_custom", "pt2", "repulsion", "utils"),
            )
        ),
        # Tests that want trained models find none here and fail, before as after.
        environment={"HF_HUB_OFFLINE": "1", "TORCHANI_DATA_DIR": "{scratch}"},
    ),
)


def chosen(names: Iterable[str]) -> list[Suite]:
    """The named suites, or all of them when there is no name.

    Raises:
        SystemExit: a name is not in the list.
    """
    wanted = list(names)
    known = {suite.name: suite for suite in SUITES}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"There is no suite {', '.join(unknown)}. There are: {', '.join(known)}.")
    return [known[name] for name in wanted] if wanted else list(SUITES)
