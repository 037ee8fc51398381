"""Messages that several things print, of vendors and of CUDA's checks of arguments."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

INVALID_ARGUMENT = (
    Cause(
        "A kernel of a package asks for more than this GPU has (threads, shared memory) or is older than the GPU, driver or torch",
        "the frame that CUDA_LAUNCH_BLOCKING=1 names is in xformers, flash-attn, Triton, bitsandbytes or an extension; another backend works",
        "upgrade that package for this torch and GPU, or choose the other backend (attn_implementation='sdpa', eager mode)",
        seen=r"xformers|flash|triton|Triton|bitsandbytes|_C\\b|extension|gsplat|mamba|memory_efficient",
    ),
    Cause(
        "CUDA memory is shared between processes where that does not work: Jetsons and WSL have no sharing by CUDA's IPC, nor have processes on other GPUs or with another PYTORCH_ALLOC_CONF (expandable segments)",
        "a CUDA tensor goes through a Queue, share_memory_() or a data loader's worker; the frame is in multiprocessing/reductions.py or _share_cuda_; uname -m says aarch64 or uname -r microsoft",
        "hand CPU tensors (x.cpu()) from process to process, or threads instead of processes; leave expandable_segments out; the same CUDA_VISIBLE_DEVICES in both",
        seen=r"shared_memory|share_memory|_share_cuda|reductions\.py|multiprocessing|[Jj]etson|tegra|Ipc|IPC|Queue",
    ),
    Cause(
        "The tensor is empty, or has a stride or size that the call does not take",
        "the frame is torch's own; print x.shape, x.stride() and x.dtype before it shows a zero",
        "leave out empty batches, x.contiguous()",
        seen=r"shape|size|stride|empty",
    ),
    Cause(
        "A tensor or stream of another GPU, or a handle that has ended",
        "only with several GPUs; CUDA_VISIBLE_DEVICES=0 works",
        "torch.cuda.set_device(RANK) first in each process, `with torch.cuda.device_of(x):` around kernels of one's own",
        seen=r"cuda:[1-9]|rank|stream",
    ),
)

XPU_LOST = (
    Cause(
        "A kernel of torch, Triton or a package wrote where it must not, or has a defect on this GPU",
        "the kernel log says page fault, CAT error or engine reset at that moment, and it is always the same call (the last frame, after SYCL_UR_TRACE=1 or a synchronize behind each step)",
        "switch that package's own path off (another quantization, attention or backend), upgrade it, and report it there; torch's own: pytorch/pytorch or intel/torch-xpu-ops",
        seen=r"[Pp]age fault|CAT|CCS|auto.?round|gptq|GPTQ|quant|[Kk]ernel",
    ),
    Cause(
        "A kernel took longer than the driver lets it",
        "the kernel log says GUC or job timeout; smaller batches work",
        "smaller work at a time; Linux: job_timeout_ms and preempt_timeout_us of the engine below /sys/class/drm/card*/device (xe), i915.enable_hangcheck=0; Windows: TdrDelay",
        seen=r"time.?out|TDR|hang",
    ),
    Cause(
        "Driver, firmware and torch's runtime do not fit each other, or the GPU itself is unstable",
        "it comes with other programs as well, at random places; the log has errors of GuC or of PCIe",
        "Intel's newest compute runtime and kernel (a new GPU wants a new kernel), Resizable BAR on in the BIOS, power and cooling",
        seen=r"GuC|firmware|PCIe",
    ),
)
