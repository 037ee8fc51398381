"""torch below other languages, and servers that run models without Python's torch."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_running import RUNNER_ENDED
from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread

ROWS = (
    KnownError(
        id="binding-other-libtorch",
        pattern=r"this tch version expects PyTorch (?P<wanted>[\d.]{1,12})|failed to run custom build command for `(?P<name>torch-sys|cudarc|candle-kernels|bindgen_cuda|ort-sys)",
        cause="The Rust crate (tch, torch-sys, candle, cudarc, ort) is made for one release of libtorch or CUDA, and what it finds here is another, or nothing",
        remedy="Take the crate whose table names the libtorch here, or that libtorch: unpack it and set LIBTORCH=/path/libtorch and LD_LIBRARY_PATH=$LIBTORCH/lib, or LIBTORCH_USE_PYTORCH=1 with python's torch of that release. candle, cudarc: nvcc has to be on PATH and CUDA_COMPUTE_CAP to name the GPU (86 for 8.6). The lines below `--- stderr` say what failed; cargo clean before the next try",
        command="cargo clean && LIBTORCH_USE_PYTORCH=1 cargo build",
        checks=("toolkit-mismatch",),
        says=(
            "this tch version expects PyTorch 2.5.1, got 2.6.0, this check can be bypassed by setting LIBTORCH_BYPASS_VERSION_CHECK",
            "error: failed to run custom build command for `torch-sys v0.13.0`",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="binding-library",
        pattern=r"Unable to load (?:DLL|shared library) '?(?P<name>LibTorchSharp|onnxruntime|libtorch\w{0,10}|torch_c\w{0,8})|no (?P<name2>djl_torch|torch|onnxruntime4j_jni|tensorflow_jni|jnicudart|jnitorch) in java\.library\.path|(?P<name3>lantern|lanternc?)\.(?:dll|so|dylib)[ :-]|UnsatisfiedLinkError: [^\n]{0,160}(?:libtorch|torch_cpu|torch_cuda|djl_torch|onnxruntime|cudart|jnicud)|TypeInitializationException[^\n]{0,120}(?:TorchSharp|OnnxRuntime)",
        cause="A binding of another language (.NET, Java, R) does not load its native part ({name}): it was not installed (it is a package of its own), is for another system or processor, or lacks a library beside it (CUDA, the Visual C++ Redistributable)",
        remedy="TorchSharp: add libtorch-cpu or libtorch-cuda-12.1-win-x64 (or -linux-x64) of the release that its table names. DJL: pytorch-native-auto, or -cu124 with the matching engine. R: torch::install_torch(reinstall = TRUE), with CUDA of the release that it prints. Windows: the Visual C++ Redistributable 2022. ldd on the file (or Dependencies.exe) shows which library is not found",
        checks=("missing-libraries", "library-path", "python-platform"),
        says=(
            "System.DllNotFoundException: Unable to load DLL 'LibTorchSharp' or one of its dependencies",
            "java.lang.UnsatisfiedLinkError: no djl_torch in java.library.path",
            "Error in cpp_lantern_init: lantern.dll - The specified module could not be found",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="rust-linker",
        pattern=r"error: linker `(?P<name>[\w.+-]{1,40})` not found|linking with `(?P<name2>[\w.+-]{1,40})` failed: exit",
        cause="Rust links with the system's C linker ({name}), which is not there or refused; with `failed: exit` the reason stands in the lines `= note:` below",
        remedy="Install it: apt-get install build-essential (Fedora: gcc; macOS: xcode-select --install; Windows: the Build Tools of Visual Studio with C++). In the notes, `cannot find -lNAME`: that library's -dev package",
        command="sudo apt-get install -y build-essential pkg-config",
        checks=("host-compiler",),
        says=("error: linker `cc` not found",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="gpu-of-amd-not-answering",
        pattern=r"(?:in function ggml_backend_\w{1,20}_get_device_memory|hipMemGetInfo\()",
        cause="ROCm's first question to the GPU, how much memory it has, already fails: this ROCm, or the kernel's amdgpu driver, does not support that card (an integrated GPU, Vega and older, one with HSA_OVERRIDE_GFX_VERSION), or one of several cards is such a one",
        remedy="rocminfo | grep gfx shows the cards, rocm-smi whether they answer. Hide the ones that are not supported (HIP_VISIBLE_DEVICES=0, ROCR_VISIBLE_DEVICES=0; the integrated one can be switched off in the BIOS), take the override away, install amdgpu's driver and ROCm of one release that names the card; older cards run with Vulkan (ollama and llama.cpp have it)",
        command="rocminfo | grep gfx; rocm-smi",
        says=(
            "current device: 0, in function ggml_backend_cuda_get_device_memory at /go/src/github.com/ollama/ollama/llm/llama.cpp/ggml-cuda.cu:3018\n  hipMemGetInfo(free, total)",
        ),
        sources=(thread("ollama/ollama", 5077, "2024-07-02"),),
        likely=True,
    ),
    KnownError(
        id="model-runner-ended",
        causes=RUNNER_ENDED,
        pattern=r"llama[ -]?runner process (?:has terminated|no longer running)(?![^\n]{0,60}(?:CUDA|ROCm|HIP|Vulkan) error:? \w)|llama runner (?:exited|terminated)|model runner has unexpectedly stopped|Failed to create llama_context|Failed to load model from file|llama_init_from_model: failed|failed to (?:create context|initialize the context)|unable to (?:create|allocate) (?:context|backend buffer)|failed to allocate (?:compute|buffer|CUDA\d{1,2}) [^\n]{0,40}buffer",
        cause="llama.cpp (in Ollama, LM Studio, llama-cpp-python) could not start or keep the model",
        remedy="The lines above it say why: ollama: journalctl -u ollama or ~/.ollama/logs/server.log, OLLAMA_DEBUG=1; llama-cpp-python: verbose=True",
        command="nvidia-smi; journalctl -u ollama --no-pager | tail -50",
        checks=("memory-in-use", "driver-too-old"),
        says=(
            "Error: llama runner process has terminated: exit status 2",
            "ValueError: Failed to create llama_context",
        ),
        sources=(UNREAD,),
        likely=True,
        general=True,
    ),
    KnownError(
        id="model-without-weights",
        pattern=r"Cannot find any model weights with|Error no file named (?:pytorch_model\.bin|model\.safetensors|diffusion_pytorch_model)|does not appear to have a file named (?:pytorch_model|model\.safetensors|config\.json)",
        cause="The folder or the hub's page has no weights in a form that the program reads: the download broke off, only LoRA adapters or GGUF are there, a subfolder is meant, or git clone without LFS fetched pointers",
        remedy="List the files with their sizes (ls -lL FOLDER): weights are of hundreds of megabytes, pointers of LFS of 130 bytes. Fetch it whole: hf download NAME (huggingface-cli download NAME), or git lfs pull; adapters: load the base model and PEFT's adapter; GGUF: with the option for it (gguf_file=, load_format gguf); say subfolder= or variant='fp16' where the files lie so",
        command="ls -lL FOLDER",
        says=(
            "RuntimeError: Cannot find any model weights with `meta-llama/Llama-2-7b`",
            "OSError: Error no file named pytorch_model.bin, model.safetensors, tf_model.h5, model.ckpt.index or flax_model.msgpack found in directory /models/x.",
        ),
        sources=(UNREAD,),
        likely=True,
    ),
    KnownError(
        id="hub-account",
        pattern=r"is not a local folder and is not a valid model identifier|40[13] Client Error[^\n]{0,120}huggingface\.co|Access to model \S{1,120} is restricted|You are trying to access a gated repo|GatedRepoError|RepositoryNotFoundError|Invalid (?:username or password|credentials in Authorization header|user token)",
        cause="The Hugging Face hub does not give this model: its name is not spelled as on the page, it is private or gated and this account has no access or no token, or a folder of that name was meant that is not here",
        remedy="Open https://huggingface.co/NAME in the browser: 404: another name; a form: ask for access and wait for it. Then hf auth login (huggingface-cli login) on the machine that runs, or HF_TOKEN in the container's environment; a token that has ended makes 401 for public models too: hf auth logout. A local folder: its absolute path",
        command="hf auth whoami",
        says=(
            "OSError: meta-llama/Llama-2-7b-hf is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/models/x",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="opencv-headless",
        pattern=r"cv2\.error[^\n]{0,160}The function is not implemented|Rebuild the library with Windows, GTK\+|The function is not implemented\. Rebuild the library",
        cause="This OpenCV has no windows (cv2.imshow): it is opencv-python-headless, or that one was installed over opencv-python",
        remedy="Keep one of them: python -m pip uninstall -y opencv-python opencv-python-headless opencv-contrib-python, then python -m pip install opencv-python; on a server write images (cv2.imwrite) instead of showing them",
        command="python -m pip list | grep -i opencv",
        says=("The function is not implemented. Rebuild the library with Windows, GTK+ 2.x or Cocoa support.",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="jetson-kernel-log",
        pattern=r"\bnvgpu: \S{1,20}(?: |:)|gk20a_fifo_handle_mmu_fault",
        cause="The Jetson's own driver (nvgpu, nvmap) reports it: mostly its memory, which the CPU and the GPU share, is used up, or the process may not open /dev/nvmap (a container without the NVIDIA runtime, a user outside of the group video)",
        remedy="free -m and sudo tegrastats while it runs: close the desktop (sudo systemctl isolate multi-user.target), add swap, take a smaller model or batch. `Permission denied`: docker run --runtime nvidia, or sudo usermod -aG video $USER and a new login. An mmu fault again and again: the image and the wheels of another JetPack",
        command="sudo tegrastats",
        checks=("jetson-wheel", "device-permissions"),
        says=("nvgpu: 57000000.gpu gk20a_fifo_handle_mmu_fault",),
        sources=(UNREAD,),
        likely=True,
    ),
)
