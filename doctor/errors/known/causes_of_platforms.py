"""What tells the reasons apart that Windows, an AMD card or the C++ library print as one message."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

TORCH_DLL = (
    Cause(
        "Microsoft's Visual C++ runtime is missing or too old",
        "python -c \"import ctypes; [ctypes.WinDLL(d) for d in ('vcruntime140_1.dll', 'msvcp140.dll')]\" fails, or Settings > Apps shows no `Visual C++ 2015-2022 Redistributable (x64)` of this year or the last",
        "winget install Microsoft.VCRedist.2015+.x64 (or https://aka.ms/vs/17/release/vc_redist.x64.exe), then restart",
    ),
    Cause(
        "The wheel of torch 2.4.0 wants libomp140.x86_64.dll, which Windows has only with Visual Studio",
        "fbgemm.dll is named, and python -m pip show torch says 2.4.0",
        "python -m pip install -U torch torchvision torchaudio from the same index (2.4.1 and newer bring what they need)",
        seen=r"fbgemm",
    ),
    Cause(
        "The DLLs that are found are of another torch or program: two installations over each other (conda and pip, a nightly, +cu over +cpu), or a folder on PATH has its own",
        "[WinError 127] (procedure not found) always is this; where.exe c10.dll torch_cpu.dll libiomp5md.dll lists others; python -m pip list and conda list both name torch",
        "a new environment, torch, torchvision and torchaudio in one command with --no-cache-dir, and nothing of torch from a second source; start it from a plain prompt (an editor or launcher may add its own PATH)",
        seen=r"WinError 127|找不到指定的程序|specified procedure",
        checks=("conda-pip-mix", "several-torch-copies", "torch-version-files"),
    ),
    Cause(
        "The installation is not whole: pip was stopped, the disk was full, a virus scanner took a DLL away, or the path is longer than 260 characters",
        "the DLL that is named is not in torch\\lib; python -m pip check; the path goes through LocalCache\\local-packages (Python of the Microsoft Store)",
        "python -m pip install --force-reinstall --no-cache-dir the same wheels; Python of python.org or conda in a short folder in place of the Store's",
        seen=r"PythonSoftwareFoundation|LocalCache|OneDrive",
        checks=("torch-import-fails", "missing-libraries"),
    ),
    Cause(
        "It is a build for Intel's GPUs, and the libraries of oneAPI or libuv are not found",
        "the DLL is intel-ext-pt, c10_xpu, torch_xpu or backend_with_compiler; python -m pip show torch says +xpu or +cxx11.abi",
        "torch's own wheel for XPU (--index-url https://download.pytorch.org/whl/xpu), which brings them, with the newest Intel driver; an older build: conda install libuv, and oneAPI's setvars.bat in the same prompt, in the release that the build names",
        seen=r"intel.ext.pt|xpu|backend_with_compiler|ipex",
    ),
)

NO_AMD_CODE = (
    Cause(
        "This torch for ROCm has no code for the card",
        "the gfx that rocminfo lists is not in what torch.cuda.get_arch_list() prints",
        "the newest torch for ROCm (for the newest cards AMD's nightly wheels for that gfx); where none has it: HSA_OVERRIDE_GFX_VERSION of its nearest relative (10.3.0 for RDNA 1 and 2, 11.0.0 for RDNA 3), at your own risk",
        checks=("gpu-architecture",),
    ),
    Cause(
        "The processor's own graphics is taken in place of the card, or a variable says another architecture",
        "rocminfo lists two gfx, and HIP_VISIBLE_DEVICES=0 (or 1) makes it work; env | grep HSA_OVERRIDE shows one that is not the card's family",
        "export HIP_VISIBLE_DEVICES with the card's number (or switch the graphics off in the BIOS); unset HSA_OVERRIDE_GFX_VERSION where torch has code for the card",
        seen=r"OVERRIDE|gfx1036|gfx90c|gfx1103|Raphael|iGPU|APU",
        checks=("forgotten-switches",),
    ),
    Cause(
        "An extension has none (flash-attn, bitsandbytes, vLLM, xformers, a custom kernel)",
        "python -c 'import torch; x = torch.rand(64, 64).cuda(); print((x @ x).sum())' works",
        "build it for this card: PYTORCH_ROCM_ARCH=gfx1100 pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps PACKAGE, or switch it off (attn_implementation='sdpa')",
        seen=r"flash|bitsandbytes|vllm|xformers|_C\.|triton|exllama|gptq",
        checks=("extension-architecture",),
    ),
    Cause(
        "Libraries of another ROCm are loaded (a system's rocBLAS beside torch's own)",
        "the path in the message lies in /opt/rocm or Program Files, while torch brings its own libraries; env | grep LD_LIBRARY_PATH",
        "unset LD_LIBRARY_PATH; a program without torch (llama.cpp, ZLUDA): rocBLAS' files for that gfx in that folder",
        seen=r"/opt/rocm|Program Files|TensileLibrary",
        checks=("library-path",),
    ),
)

OLD_STDCXX = (
    Cause(
        "The system's libstdc++ is loaded, and what asks for a newer one is in a conda environment",
        "the path before `version` is below /lib or /usr/lib, and strings $CONDA_PREFIX/lib/libstdc++.so.6 | grep GLIBCXX_3.4 (or CXXABI) lists the one that is asked",
        "conda install -c conda-forge 'libstdcxx-ng>=13'; export LD_LIBRARY_PATH=$CONDA_PREFIX/lib (that folder first)",
        seen=r"required by \S{0,200}(?:conda|envs/|mamba)",
        checks=("library-path", "conda-pip-mix"),
    ),
    Cause(
        "The environment's own libstdc++ is older than what asks (built on this machine, or installed by pip)",
        "the path before `version` is below the environment (conda, envs, miniconda), and strings /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | grep GLIBCXX_3.4 has it",
        "conda install -c conda-forge 'libstdcxx-ng>=13'; until then LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        seen=r"(?:conda|envs/|mamba)\S{0,200}libstdc\+\+\.so\.6: version",
        checks=("conda-pip-mix",),
    ),
    Cause(
        "The system is older than the package was built for (CentOS 7, a cluster, Ubuntu 18.04, R's torch)",
        "strings on the file that the message names shows that its list ends below; cat /etc/os-release",
        "module load gcc on a cluster, python and torch of conda-forge, or a container; else an older release of the package, or build it here; R's torch: Sys.setenv(PRECXX11ABI=1), then install_torch()",
        seen=r"/lib64/|liblantern|torchpkg|lantern",
        checks=("glibc-too-old",),
    ),
    Cause(
        "Another package loaded the older one first",
        "it works with the imports in the other order",
        "import the package that asks before the other, or put the newer file first (LD_LIBRARY_PATH)",
        checks=("preloaded-libraries",),
    ),
)

XFORMERS = (
    Cause(
        "This xFormers was built for another torch, CUDA or Python",
        "python -m xformers.info: `built for: PyTorch X` beside `you have Y`, or every operator `unavailable`",
        "the one for this torch, in one command with it: python -m pip install -U torch torchvision torchaudio xformers --index-url https://download.pytorch.org/whl/cu128 (the index that `torchlift doctor` names)",
        seen=r"can't load C\+\+|wasn't build with CUDA|built for|wasn't built",
        checks=("companion-mismatch", "extension-abi"),
    ),
    Cause(
        "The tensors are on the CPU (or Apple's GPU), where it has no kernels",
        "behind an operator stands device=cpu (supported: {'cuda'}); print(query.device)",
        "model and inputs onto the GPU; torch for the CPU: the wheel that `torchlift doctor` prints; no GPU: switch xFormers off",
        seen=r"device=(?:cpu|mps)",
        checks=("torch-cpu-build", "torch-other-vendor"),
    ),
    Cause(
        "No kernel for this GPU, dtype or shape",
        "behind each operator stands why: requires device with capability (too old or too new), dtype=torch.float32 (supported: ...), unsupported embed per head",
        "float16 or bfloat16, a head size up to 128 (256), or torch's own attention",
        seen=r"requires device with capability|dtype=torch\.float|embed per head|too old|too new|attn_bias type",
        checks=("extension-architecture",),
    ),
    Cause(
        "The program does not need it: torch has an attention of its own since 2.0",
        "it runs after python -m pip uninstall xformers, or with the program's switch (no --xformers, --attention-pytorch, pipe.disable_xformers_memory_efficient_attention())",
        "leave it out; it is only faster",
    ),
)
