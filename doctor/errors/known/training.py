"""Mixed precision, optimizers, schedules and activation checkpointing: a step of training in an order or with weights that it is not for."""

from __future__ import annotations

from torchlift.doctor.errors.known.tensors import of_the_program
from torchlift.doctor.errors.known_error import Cause, KnownError, thread, torch_file

_READ = "read 2026-11-27"
_SCALER = torch_file("torch/amp/grad_scaler.py")

_RECOMPUTED = (
    Cause(
        "The model keeps a cache of keys and values, which is longer when the layer runs again (shapes that have doubled)",
        "a size in `recomputed metadata` is twice the saved one, or the trace has past_key_values; use_cache is on",
        "model.config.use_cache = False, also where a library passes a cache by itself",
        seen=r"past_key|use_cache|recomputed metadata",
    ),
    Cause(
        "DeepSpeed ZeRO-3 or FSDP has put the weights away again (shape [0])",
        "`recomputed metadata: {'shape': torch.Size([0])`",
        "gradient_checkpointing_kwargs={'use_reentrant': True} with ZeRO-3; FSDP: its own activation checkpointing (fsdp_config: activation_checkpointing) in place of the Trainer's gradient_checkpointing; newer DeepSpeed",
        seen=r"torch\.Size\(\[0\]\)|deepspeed|zero|FSDP|fsdp",
    ),
    Cause(
        "The types differ: autocast is on in one of the passes only, or weights were converted in between",
        "saved and recomputed metadata differ in dtype",
        "backward outside, forward inside of one autocast; all weights in one dtype; LoRA and quantized models: upgrade peft and accelerate",
        seen=r"dtype[^\n]{0,120}\n[^\n]{0,40}recomputed|autocast",
    ),
    Cause(
        "The layer does not do the same twice: a router of experts, dropout or a random choice, a branch on a state that the first pass changed",
        "sizes differ by a few (965 and 964), or `A different number of tensors was saved`; it goes without that layer checkpointed",
        "leave that layer out of checkpointing, preserve_rng_state=True, determinism_check='none' only where the difference is harmless; no changes of attributes in forward",
        seen=r"different number of tensors|moe|MoE|expert|router",
    ),
)

_OPTIMIZER_STATE = (
    Cause(
        "The model has other parameters than the one that was saved: layers were added, frozen, or filtered otherwise",
        "len(optimizer.param_groups[i]['params']) differs from len(state['param_groups'][i]['params'])",
        "build model and optimizer as they were when it was saved, in the same order of freezing and grouping; or start the optimizer anew and load the model's weights only",
        seen=r"contains a parameter group that doesn",
    ),
    Cause(
        "Groups are formed otherwise: another optimizer, library or number of groups (weight decay, LoRA, ZeRO, FSDP)",
        "len(optimizer.param_groups) differs from len(state['param_groups'])",
        "the release and options of the run that saved it; FSDP and DeepSpeed: their own functions for optimizer states; transformers: remove optimizer.pt from the checkpoint to go on with the weights alone",
        seen=r"different number of parameter groups",
    ),
)

ROWS = (
    of_the_program(
        "unscaled-half-weights",
        r"Attempting to unscale FP16 gradients",
        "GradScaler serves weights in float32 whose forward pass runs in float16; here weights that are trained are float16 themselves",
        "Load the model in float32 and leave the rest to fp16=True or autocast (no .half(), no torch_dtype=torch.float16 for what is trained). With PEFT: only the adapters have to be float32: for p in model.parameters(): if p.requires_grad: p.data = p.data.float(), which peft 0.13 and newer do by themselves (autocast_adapter_dtype). Or train in bfloat16 without a scaler (bf16=True). diffusers' scripts: cast_training_params(unet, dtype=torch.float32)",
        "ValueError: Attempting to unscale FP16 gradients.",
        sources=(
            thread("pytorch/pytorch", 74739, "2023-06-23"),
            thread("mark1879/Baichuan-13B-Finetuning", 21, "2024-04-22"),
            thread("mk-minchul/AdaFace", 127, "2023-09-26"),
        ),
    ),
    of_the_program(
        "loss-unsafe-under-autocast",
        r"binary_cross_entropy and torch\.nn\.BCELoss are unsafe to autocast",
        "BCELoss takes probabilities, which float16 cannot hold near 0 and 1; torch refuses it under autocast",
        "Take the sigmoid out of the model and use BCEWithLogitsLoss (binary_cross_entropy_with_logits); where it has to stay: with torch.autocast(x.device.type, enabled=False): loss = F.binary_cross_entropy(p.float(), y.float()). In a detection package: fp16 off, or a newer release",
        "RuntimeError: torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.",
        sources=(thread("SysCV/transfiner", 43, "2022-11-15"), thread("Megvii-BaseDetection/YOLOX", 336, "2021-08-03")),
    ),
    of_the_program(
        "scaler-out-of-step",
        r"step\(\) has already been called since the last update\(\)|unscale_\(\) (?:has already been called|is being called after step)|Attempted \w{1,10}_? but _scale is None|No inf checks were recorded (?:for this optimizer|prior to update)",
        "GradScaler's calls do not follow each other as one step: scale(loss).backward(), unscale_ at most once, clip, step, update; `No inf checks`: no parameter of this optimizer had a gradient",
        "One scaler.update() after each scaler.step(); with two optimizers step both, then update once; with gradient accumulation unscale_ and clip only in the step that counts (accelerate: accelerator.clip_grad_norm_ inside of `if accelerator.sync_gradients:`). _scale is None: scale(loss) was not called, so the loss goes around the scaler. No gradients: the loss does not lead to these parameters (frozen, another optimizer's, an empty batch)",
        "RuntimeError: unscale_() has already been called on this optimizer since the last update().",
        "AssertionError: Attempted step but _scale is None.",
        "AssertionError: No inf checks were recorded for this optimizer.",
        sources=(_SCALER, thread("Lightning-AI/pytorch-lightning", 5162, "2020-12-16")),
    ),
    of_the_program(
        "checkpoint-recomputed-otherwise",
        r"Recomputed values for the following tensors have different metadata|A different number of tensors was saved during the original forward|Recomputed tensor size does not match",
        "Activation checkpointing ran a layer a second time for the backward pass, and it gave other shapes, types or numbers of tensors than the first time",
        "Compare `saved metadata` with `recomputed metadata`; torch.utils.checkpoint.set_checkpoint_debug_enabled(True) shows both runs",
        "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.",
        causes=_RECOMPUTED,
        sources=(
            thread("pytorch/pytorch", 155171, "2025-06-04"),
            thread("deepspeedai/DeepSpeed", 8148, _READ),
            thread("pytorch/torchtitan", 1117, "2025-04-18"),
            thread("Joluck/RWKV-PEFT", 58, _READ),
        ),
    ),
    of_the_program(
        "checkpointing-and-grad",
        r"Checkpointing is not compatible with \.grad\(\) or when an `inputs`|when use_reentrant=True is not compatible with \.grad",
        "Reentrant activation checkpointing works with backward() alone, not with torch.autograd.grad (gradient penalties, physics losses, double backward)",
        "torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False); transformers: gradient_checkpointing_kwargs={'use_reentrant': False}; or switch checkpointing off there",
        "RuntimeError: Checkpointing is not compatible with .grad() or when an `inputs` parameter is passed to .backward().",
        sources=(torch_file("torch/utils/checkpoint.py"),),
    ),
    of_the_program(
        "not-part-of-the-graph",
        r"One of the differentiated Tensors (?:appears (?:to )?not (?:to )?have been used|does not require grad|given as 'inputs')|differentiated tensors? [^\n]{0,40}not have been used in the graph",
        "torch.autograd.grad was asked for the gradient by a tensor from which the result was not computed: a parameter that this forward does not use (a frozen or unused head, a layer of another branch), or a copy of the tensor (after .to, .clone, .detach, unsqueeze) was used in its place",
        "Ask by the tensor itself that went into the forward pass, after it was moved to its device; print(y.grad_fn) to see whether y depends on it. Parameters that are truly not used: allow_unused=True gives None for them, which the lines below have to leave out (MAML: allow_unused and allow_nograd of learn2learn)",
        "RuntimeError: One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.",
        sources=(thread("pytorch/pytorch", 73697, "2023-01-03"), thread("learnables/learn2learn", 363, "2022-10-22")),
    ),
    of_the_program(
        "not-a-leaf",
        r"can't optimize a non-leaf Tensor|you can only change requires_grad flags of leaf variables",
        "The tensor is a result (of .to(device), .half(), an operation), not one that was made by itself, and only the latter can be optimized or frozen",
        "Move first, then mark: x = torch.zeros(n, device='cuda').requires_grad_(), nn.Parameter(x.detach().to(device)); parameters of a module after model.to(device); to cut it off: y = x.detach()",
        "ValueError: can't optimize a non-leaf Tensor",
        "RuntimeError: you can only change requires_grad flags of leaf variables.",
        sources=(torch_file("torch/optim/optimizer.py"),),
    ),
    of_the_program(
        "optimizer-of-another-model",
        r"loaded state dict (?:contains a parameter group|has a different number of parameter groups)",
        "The saved state of the optimizer is not for this optimizer's parameters",
        "Compare the numbers of groups and of parameters in each; the weights of the model can be loaded without it",
        "ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
        causes=_OPTIMIZER_STATE,
        sources=(torch_file("torch/optim/optimizer.py"),),
    ),
    of_the_program(
        "schedule-resumed-without-rate",
        r"param 'initial_lr' is not specified in param_groups",
        "A schedule is to go on at last_epoch other than -1, and the optimizer does not hold the rate that it began with: it is new, or its state was not loaded before the schedule was made",
        "Load the optimizer's state first (optimizer.load_state_dict), then make the schedule, then scheduler.load_state_dict; or {'params': p, 'lr': lr, 'initial_lr': lr} for the groups; last_epoch=-1 where training begins",
        "KeyError: \"param 'initial_lr' is not specified in param_groups[0] when resuming an optimizer\"",
        sources=(torch_file("torch/optim/lr_scheduler.py"),),
    ),
    KnownError(
        id="optimizer-of-another-torch",
        pattern=r"If capturable=(?:False|True), (?:params and )?state_steps|'(?:Adam|AdamW|SGD|RMSprop|Adagrad|RAdam|NAdam|Adamax|Adadelta)' object has no attribute '_(?:warned_capturable\w{0,30}|hook_for_profile|zero_grad_profile_name|optimizer_step_\w{3,12}|patch_step_function|optimizer_load\w{0,30}|optimizer_state\w{0,30})|torch[/\\]optim[/\\]\w{2,20}\.py[^\n]{0,120}\n(?:[^\n]{0,200}\n){1,4}?KeyError: '(?:foreach|capturable|fused|maximize|differentiable|amsgrad|nesterov|decoupled_weight_decay)'",
        cause="The optimizer or its state was saved by another torch (or is loaded in 1.12.0, whose Adam refuses states that were moved to the GPU; 1.12.1 mends that), or an optimizer object was copied or unpickled whole",
        remedy="Resuming with torch 1.12.0: upgrade to 1.12.1 or newer, or for g in optimizer.param_groups: g['capturable'] = True after loading. A missing attribute or key: make the optimizer anew with this torch and load its state_dict() into it, in place of unpickling or deep-copying the object; if the state itself lacks it: begin the optimizer anew",
        command="python -c 'import torch; print(torch.__version__)'",
        says=(
            "AssertionError: If capturable=False, state_steps should not be CUDA tensors.",
            "AttributeError: 'Adam' object has no attribute '_warned_capturable_if_run_uncaptured'",
        ),
        sources=(thread("awslabs/sockeye", 1067, "2022-12-18"), thread("thu-ml/tianshou", 681, "2022-07-03")),
    ),
    KnownError(
        id="not-an-optimizer",
        pattern=r"TypeError: (?P<name>\w{1,60}) is not an Optimizer",
        cause="A schedule of torch was given {name}, which is no torch.optim.Optimizer: a wrapper (DeepSpeed, apex, accelerate, a class of one's own), or another library's class of that name",
        remedy="Make the schedule with the optimizer inside (optimizer.optimizer, before accelerator.prepare or deepspeed.initialize), or let the class inherit from torch.optim.Optimizer; DeepSpeed: its own scheduler in the configuration. A package that says this: its release for this torch",
        says=("TypeError: DeepSpeedCPUAdam is not an Optimizer", "TypeError: SGD is not an Optimizer"),
        sources=(torch_file("torch/optim/lr_scheduler.py"),),
        likely=True,
    ),
    of_the_program(
        "fused-optimizer",
        r"`?fused(?:=True)?`? requires all the params to be|`?foreach`? and `?fused`? cannot be `?True`? together|Tensors of the same index must be on the same device and the same dtype|`?fused(?:=True)?`? and `?differentiable",
        "The optimizer's fast forms (fused, foreach) want parameters, gradients and states on one GPU and in one type",
        "optimizer after model.to('cuda'); some parameters on the CPU or disk (offload, device_map): fused=False, foreach=False; states that were loaded: move them beside their parameters (for s in optimizer.state.values(): ...) or load the checkpoint before the model is converted; mixed float32 and bfloat16 parameters: one dtype, or foreach=False. transformers: optim='adamw_torch' in place of adamw_torch_fused",
        "RuntimeError: `fused=True` requires all the params to be floating point Tensors of supported devices: ['mps', 'cuda', 'xpu'].",
        "RuntimeError: Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and float32/64 notwithstanding",
        sources=(torch_file("torch/optim/adam.py"), torch_file("torch/utils/_foreach_utils.py")),
    ),
)
