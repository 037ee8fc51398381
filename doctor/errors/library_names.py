"""When a name came into, or went out of, the libraries that stand on torch: for the messages that say that it is not there."""

from __future__ import annotations

import re
from functools import cache

from torchlift.doctor.errors.known_error import ValuesSay

_NAMES = """
transformers|AdamW||4.49.0<4.51.3|torch.optim.AdamW
transformers|Cache DynamicCache is_torch_npu_available|4.36.2>4.30.2||
transformers|EncoderDecoderCache|4.44.2>4.40.2||
transformers|HybridCache|4.44.2>4.40.2|4.57.6<5.0.0|StaticCache
transformers|SlidingWindowCache|4.44.2>4.40.2|4.57.6<5.0.0|StaticCache
transformers|MllamaForConditionalGeneration Qwen2VLForConditionalGeneration AutoModelForImageTextToText|4.46.3>4.44.2||
transformers|Qwen2_5_VLForConditionalGeneration|4.49.0>4.48.3||
transformers|Qwen3ForCausalLM|4.51.3>4.49.0||
transformers|AutoModelWithLMHead||4.57.6<5.0.0|AutoModelForCausalLM, AutoModelForMaskedLM or AutoModelForSeq2SeqLM
transformers|AutoModelForVision2Seq||4.57.6<5.0.0|AutoModelForImageTextToText
transformers|CLIPFeatureExtractor||4.57.6<5.0.0|CLIPImageProcessor
transformers|SiglipImageProcessor|4.40.2>4.36.2||
transformers|is_torch_tpu_available||4.49.0<4.51.3|is_torch_xla_available
transformers|top_k_top_p_filtering||4.36.2<4.40.2|
transformers|TransfoXLTokenizer||4.57.6<5.0.0|
transformers|ViTFeatureExtractor||4.57.6<5.0.0|ViTImageProcessor
transformers.utils|is_flash_attn_greater_or_equal_2_10 is_flash_attn_2_available|4.36.2>4.30.2||
transformers.utils|is_torch_fx_available FLAX_WEIGHTS_NAME is_offline_mode||4.57.6<5.0.0|
transformers.utils.import_utils|is_torch_fx_available||4.57.6<5.0.0|
transformers.utils.import_utils|is_flash_attn_available|4.36.2>4.30.2|4.36.2<4.40.2|
transformers.utils.import_utils|is_torch_greater_or_equal|4.47.1>4.46.3||
transformers.utils|is_torchdynamo_compiling|4.40.2>4.36.2||
transformers.utils|LossKwargs|4.47.1>4.46.3|4.53.3<4.55.4|transformers.utils.TransformersKwargs
transformers.utils|cached_property||4.55.4<4.57.6|
transformers.utils.generic|check_model_inputs|4.55.4>4.53.3||
transformers.utils|auto_docstring|4.53.3>4.51.3||
transformers.modeling_utils|apply_chunking_to_forward||4.55.4<4.57.6|transformers.pytorch_utils.apply_chunking_to_forward
transformers.modeling_utils|find_pruneable_heads_and_indices||4.55.4<4.57.6|transformers.pytorch_utils.find_pruneable_heads_and_indices up to 4.57
transformers.modeling_utils|prune_linear_layer||4.55.4<4.57.6|transformers.pytorch_utils.prune_linear_layer
transformers.pytorch_utils|find_pruneable_heads_and_indices||4.57.6<5.0.0|
transformers.pytorch_utils|is_torch_less_than_1_11||4.36.2<4.40.2|
transformers.pytorch_utils|isin_mps_friendly|4.46.3>4.44.2||
transformers.modeling_utils|shard_checkpoint||4.46.3<4.47.1|huggingface_hub.split_torch_state_dict_into_shards
transformers.modeling_utils|dtype_byte_size _load_state_dict_into_model||4.49.0<4.51.3|
transformers.modeling_utils|load_sharded_checkpoint no_init_weights||4.57.6<5.0.0|
transformers.modeling_utils|ALL_ATTENTION_FUNCTIONS|4.48.3>4.47.1||
transformers.deepspeed|is_deepspeed_zero3_enabled||4.44.2<4.46.3*|transformers.integrations.is_deepspeed_zero3_enabled
transformers.deepspeed|HfDeepSpeedConfig||4.44.2<4.46.3*|transformers.integrations.HfDeepSpeedConfig
transformers.generation.utils|SampleDecoderOnlyOutput GreedySearchOutput||4.57.6<5.0.0|
transformers.generation_utils|GenerationMixin||4.36.2<4.40.2*|transformers.GenerationMixin
transformers.generation|BeamSearchScorer||4.55.4<4.57.6|
transformers.generation|BeamScorer||4.57.6<5.0.0|
transformers|BeamSearchScorer||4.55.4<4.57.6|
transformers.models.llama.modeling_llama|LlamaFlashAttention2|4.36.2>4.30.2|4.47.1<4.48.3|LlamaAttention with attn_implementation='flash_attention_2'
transformers.models.llama.modeling_llama|LLAMA_INPUTS_DOCSTRING||4.51.3<4.53.3|
transformers.models.llama.modeling_llama|LLAMA_ATTENTION_CLASSES|4.36.2>4.30.2|4.47.1<4.48.3|LlamaAttention with attn_implementation
transformers.models.llama.modeling_llama|_expand_mask||4.36.2<4.40.2|
transformers.models.llama.modeling_llama|LlamaSdpaAttention|4.36.2>4.30.2|4.47.1<4.48.3|LlamaAttention with attn_implementation='sdpa'
transformers.models.llama.modeling_llama|LlamaDynamicNTKScalingRotaryEmbedding|4.36.2>4.30.2|4.47.1<4.48.3|
transformers.models.mistral.modeling_mistral|MISTRAL_INPUTS_DOCSTRING|4.36.2>4.30.2*|4.51.3<4.53.3|
transformers.models.mistral.modeling_mistral|_prepare_4d_causal_attention_mask|4.36.2>4.30.2*|4.40.2<4.44.2|
transformers.models.llama.modeling_llama|_prepare_4d_causal_attention_mask|4.36.2>4.30.2|4.36.2<4.40.2|
transformers.models.clip.modeling_clip|_expand_mask _make_causal_mask||4.30.2<4.36.2|
transformers.models.bart.modeling_bart|_expand_mask||4.30.2<4.36.2|
transformers.models.qwen2.modeling_qwen2|Qwen2FlashAttention2|4.40.2>4.36.2*|4.47.1<4.48.3|Qwen2Attention with attn_implementation='flash_attention_2'
transformers.trainer_utils|ShardedDDPOption||4.30.2<4.36.2|
transformers.trainer|ShardedDDPOption||4.30.2<4.36.2|
transformers.trainer|is_torch_tpu_available||4.36.2<4.40.2|transformers.is_torch_xla_available
transformers.integrations|is_fairscale_available||4.30.2<4.36.2|
transformers.cache_utils|SlidingWindowCache|4.44.2>4.40.2|4.57.6<5.0.0|StaticCache
transformers.cache_utils|HybridCache|4.44.2>4.40.2|4.57.6<5.0.0|StaticCache
transformers.cache_utils|SinkCache|4.36.2>4.30.2*|4.57.6<5.0.0|
transformers.cache_utils|StaticLayer DynamicLayer CacheLayerMixin|4.55.4>4.53.3||
transformers.optimization|AdamW||4.49.0<4.51.3|torch.optim.AdamW
transformers.utils.model_parallel_utils|get_device_map||4.57.6<5.0.0*|
transformers.image_utils|VideoInput|4.44.2>4.40.2|4.51.3<4.53.3|transformers.video_utils.VideoInput
transformers.image_utils|make_batched_videos|4.49.0>4.48.3|4.51.3<4.53.3|transformers.video_utils.make_batched_videos
transformers.video_utils|VideoInput|4.53.3>4.51.3*||
transformers.masking_utils|create_causal_mask|4.53.3>4.51.3*||
transformers.modeling_layers|GradientCheckpointingLayer|4.53.3>4.51.3*||
transformers.modeling_flash_attention_utils|FlashAttentionKwargs|4.47.1>4.46.3||
transformers.modeling_flash_attention_utils|_flash_supports_window_size|4.44.2>4.40.2*|4.53.3<4.55.4|
transformers.modeling_rope_utils|rope_config_validation|4.44.2>4.40.2*||
transformers.processing_utils|Unpack|4.46.3>4.44.2||
transformers.utils.quantization_config|HqqConfig|4.44.2>4.40.2||
transformers.utils.bitsandbytes|get_keys_to_not_convert||4.57.6<5.0.0*|
huggingface_hub|cached_download||0.25.2<0.26.5|hf_hub_download
huggingface_hub|HfFolder||0.36.0<1.0.1|get_token and login
huggingface_hub|ModelFilter||0.22.2<0.25.2|arguments of list_models
huggingface_hub|DatasetFilter||0.22.2<0.25.2|arguments of list_datasets
huggingface_hub|split_torch_state_dict_into_shards|0.22.2>0.17.3||
huggingface_hub|Repository||0.36.0<1.0.1|upload_folder and snapshot_download
huggingface_hub|DDUFEntry|0.36.0>0.26.5||
huggingface_hub|InferenceApi||0.36.0<1.0.1|InferenceClient
huggingface_hub.utils|OfflineModeIsEnabled|0.22.2>0.17.3||
huggingface_hub.utils._errors|EntryNotFoundError||0.22.2<0.25.2*|huggingface_hub.errors.EntryNotFoundError
huggingface_hub.errors|OfflineModeIsEnabled|0.25.2>0.22.2||
huggingface_hub.inference._text_generation|TextGenerationStreamResponse||0.17.3<0.22.2*|
huggingface_hub.dataclasses|strict|0.36.0>0.26.5*||
accelerate.utils.memory|clear_device_cache|0.34.2>0.27.2||
accelerate.utils|is_mlu_available DataLoaderConfiguration is_torch_xla_available|0.34.2>0.27.2||
accelerate.utils|ParallelismConfig TorchTensorParallelPlugin|1.12.0>1.2.1||
accelerate|ParallelismConfig|1.12.0>1.2.1||
accelerate|DataLoaderConfiguration|0.34.2>0.27.2||
accelerate.utils.imports|is_tpu_available||0.34.2<1.2.1|is_torch_xla_available
accelerate.utils|is_tpu_available||0.27.2<0.34.2|is_torch_xla_available
diffusers|FluxPipeline FluxTransformer2DModel SD3Transformer2DModel CogVideoXPipeline FlowMatchEulerDiscreteScheduler|0.30.3>0.27.2||
diffusers|StableDiffusionXLControlNetUnionPipeline AutoencoderKLWan WanPipeline QwenImagePipeline PipelineQuantizationConfig|0.36.0>0.30.3||
diffusers|AutoencoderKLTemporalDecoder UNetSpatioTemporalConditionModel LCMScheduler|0.24.0>0.19.3||
diffusers|TCDScheduler EDMEulerScheduler|0.27.2>0.24.0||
diffusers.models.unet_2d_condition|UNet2DConditionModel||0.27.2<0.30.3*|diffusers.models.unets.unet_2d_condition.UNet2DConditionModel
diffusers.models.unets.unet_2d_condition|UNet2DConditionModel|0.27.2>0.24.0*||
diffusers.models.unet_2d_blocks|CrossAttnDownBlock2D||0.27.2<0.30.3*|diffusers.models.unets.unet_2d_blocks.CrossAttnDownBlock2D
diffusers.models.cross_attention|CrossAttention||0.19.3<0.24.0*|diffusers.models.attention_processor.Attention
diffusers.models.attention|AdaGroupNorm||0.19.3<0.24.0|
diffusers.models.attention|GatedSelfAttentionDense|0.24.0>0.19.3||
diffusers.models.embeddings|PositionNet|0.24.0>0.19.3|0.24.0<0.27.2|GLIGENTextBoundingboxProjection
diffusers.models.embeddings|GLIGENTextBoundingboxProjection|0.27.2>0.24.0||
diffusers.models.modeling_utils|load_model_dict_into_meta|0.24.0>0.19.3|0.30.3<0.36.0|diffusers.models.model_loading_utils.load_model_dict_into_meta
diffusers.models.transformer_2d|Transformer2DModel||0.27.2<0.30.3*|diffusers.models.transformers.transformer_2d.Transformer2DModel
diffusers.models.transformer_2d|Transformer2DModelOutput||0.27.2<0.30.3*|diffusers.models.modeling_outputs.Transformer2DModelOutput
diffusers.models.dual_transformer_2d|DualTransformer2DModel||0.27.2<0.30.3*|diffusers.models.transformers.dual_transformer_2d.DualTransformer2DModel
diffusers.models.transformer_temporal|TransformerTemporalModel||0.27.2<0.30.3*|diffusers.models.transformers.transformer_temporal.TransformerTemporalModel
diffusers.models.vae|DecoderOutput||0.24.0<0.27.2*|diffusers.models.autoencoders.vae.DecoderOutput
diffusers.models.autoencoder_kl|AutoencoderKLOutput||0.24.0<0.27.2*|diffusers.models.modeling_outputs.AutoencoderKLOutput
diffusers.loaders|StableDiffusionLoraLoaderMixin|0.30.3>0.27.2||
diffusers.pipeline_utils|DiffusionPipeline||0.19.3<0.24.0*|diffusers.DiffusionPipeline
diffusers.utils|randn_tensor||0.19.3<0.24.0|diffusers.utils.torch_utils.randn_tensor
diffusers.utils|is_compiled_module||0.19.3<0.24.0|diffusers.utils.torch_utils.is_compiled_module
diffusers.utils|DIFFUSERS_CACHE||0.24.0<0.27.2|
diffusers.utils|convert_state_dict_to_diffusers USE_PEFT_BACKEND|0.24.0>0.19.3||
diffusers.utils|maybe_allow_in_graph||0.19.3<0.24.0|diffusers.utils.torch_utils.maybe_allow_in_graph
diffusers.training_utils|compute_snr|0.24.0>0.19.3||
diffusers.training_utils|cast_training_params|0.27.2>0.24.0||
diffusers.training_utils|free_memory|0.36.0>0.30.3||
diffusers.quantizers|PipelineQuantizationConfig|0.36.0>0.30.3*||
peft|prepare_model_for_int8_training||0.9.0<0.13.2|prepare_model_for_kbit_training
peft|LoftQConfig PeftMixedModel|0.9.0>0.4.0||
peft.tuners.lora|mark_only_lora_as_trainable||0.4.0<0.9.0|
peft.tuners.tuners_utils|onload_layer|0.9.0>0.4.0*||
peft.utils|PromptLearningConfig||0.4.0<0.9.0|
pytorch_lightning.utilities.distributed|rank_zero_only||1.9.5<2.5.5*|pytorch_lightning.utilities.rank_zero_only
pytorch_lightning.utilities.rank_zero|rank_zero_only|1.6.5>1.4.9*||
pytorch_lightning.utilities.seed|seed_everything||1.9.5<2.5.5|pytorch_lightning.seed_everything
pytorch_lightning.utilities.cloud_io|load||1.9.5<2.5.5*|
pytorch_lightning.utilities.types|EPOCH_OUTPUT||1.9.5<2.5.5|
pytorch_lightning.utilities.apply_func|apply_to_collection||1.9.5<2.5.5*|lightning_utilities.core.apply_func.apply_to_collection
pytorch_lightning.utilities.argparse|from_argparse_args||1.9.5<2.5.5|LightningCLI, or arguments of one's own
pytorch_lightning.plugins|DDPPlugin||1.6.5<1.9.5|pytorch_lightning.strategies.DDPStrategy
pytorch_lightning.plugins.training_type.ddp|DDPPlugin||1.6.5<1.9.5*|pytorch_lightning.strategies.DDPStrategy
pytorch_lightning.plugins|NativeMixedPrecisionPlugin||1.9.5<2.5.5|pytorch_lightning.plugins.MixedPrecision
pytorch_lightning.strategies|DDPStrategy|1.6.5>1.4.9*||
pytorch_lightning.strategies|DDPFullyShardedNativeStrategy|1.9.5>1.6.5|1.9.5<2.5.5|
pytorch_lightning.loggers|LightningLoggerBase||1.6.5<1.9.5|pytorch_lightning.loggers.Logger
pytorch_lightning.loggers|TestTubeLogger||1.6.5<1.9.5|
pytorch_lightning.loggers.base|rank_zero_experiment||1.6.5<1.9.5*|pytorch_lightning.loggers.logger.rank_zero_experiment
pytorch_lightning.loggers.logger|rank_zero_experiment|1.9.5>1.6.5*||
pytorch_lightning.callbacks.progress|ProgressBarBase||1.9.5<2.5.5|pytorch_lightning.callbacks.ProgressBar
pytorch_lightning.callbacks|GPUStatsMonitor||1.6.5<1.9.5|DeviceStatsMonitor
pytorch_lightning.metrics|Accuracy||1.4.9<1.6.5*|the package torchmetrics
pytorch_lightning.core.lightning|LightningModule||1.6.5<1.9.5*|pytorch_lightning.LightningModule
pytorch_lightning.core.memory|ModelSummary||1.6.5<1.9.5*|pytorch_lightning.utilities.model_summary.ModelSummary
pytorch_lightning.trainer.supporters|CombinedLoader||1.9.5<2.5.5*|pytorch_lightning.utilities.combined_loader.CombinedLoader
pytorch_lightning.utilities.model_summary|summarize|1.6.5>1.4.9*||
pytorch_lightning.lite|LightningLite|1.6.5>1.4.9*|1.9.5<2.5.5*|lightning.fabric.Fabric
pytorch_lightning.accelerators|GPUAccelerator||1.6.5<1.9.5|CUDAAccelerator
pytorch_lightning.profiler|SimpleProfiler||1.9.5<2.5.5*|pytorch_lightning.profilers.SimpleProfiler
pytorch_lightning.profilers|SimpleProfiler|1.9.5>1.6.5*||
pytorch_lightning.utilities.enums|DistributedType||1.6.5<1.9.5|
trl|PPOv2Trainer|0.11.4>0.7.11|0.11.4<0.16.1|PPOTrainer
trl|GRPOTrainer GRPOConfig|0.16.1>0.11.4||
GRPOTrainer|_get_per_token_logps||0.16.1<0.25.1|_get_per_token_logps_and_entropies
trl|SFTConfig ORPOTrainer KTOTrainer TrlParser|0.11.4>0.7.11||
trl|DataCollatorForCompletionOnlyLM||0.16.1<0.25.1|
trl.core|LengthSampler||0.16.1<0.25.1*|
trl.core|respond_to_batch top_k_top_p_filtering||0.11.4<0.16.1|
trl.trainer|ConstantLengthDataset||0.16.1<0.25.1|
trl.trainer.utils|ConstantLengthDataset||0.16.1<0.25.1|
trl.import_utils|is_vllm_available|0.16.1>0.11.4||
trl.trainer.utils|SIMPLE_CHAT_TEMPLATE|0.11.4>0.7.11||
trl.commands.cli_utils|TrlParser|0.11.4>0.7.11*|0.11.4<0.16.1*|trl.TrlParser
Trainer|add_argparse_args from_argparse_args resume_from_checkpoint tune||1.9.5<2.5.5|
Trainer|lr_schedulers training_type_plugin num_gpus gpus root_gpu data_parallel_device_ids tpu_cores use_amp call_hook||1.6.5<1.9.5|
Trainer|logger_connector running_sanity_check disable_validation||1.4.9<1.6.5|
LightningModule|training_epoch_end validation_epoch_end test_epoch_end tbptt_split_batch||1.9.5<2.5.5|
LightningModule|get_progress_bar_dict||1.6.5<1.9.5|
*|all_tied_weights_keys rope_parameters|5.0.0>4.57.6||
*|get_text_config|4.46.3>4.44.2||
*|_supports_sdpa _attn_implementation_internal _attn_implementation|4.36.2>4.30.2||
*|_supports_attention_backend|4.49.0>4.48.3||
*|_supports_flash_attn|4.55.4>4.53.3||
*|_tp_plan|4.47.1>4.46.3||
*|hf_quantizer|4.40.2>4.36.2||
*|get_head_mask is_parallelizable pruned_heads build_inputs_with_special_tokens prepare_for_model||4.57.6<5.0.0|
*|_get_logits_warper contrastive_search||4.44.2<4.46.3|
*|_extract_past_from_model_output||4.48.3<4.49.0|
*|greedy_search beam_search||4.40.2<4.44.2|generate() with a GenerationConfig
*|_temporary_reorder_cache|4.36.2>4.30.2|4.53.3<4.55.4|
*|_validate_model_class||4.51.3<4.53.3|
DynamicCache|seen_tokens||4.53.3<4.55.4|get_seq_length()
DynamicCache|get_max_length||4.48.3<4.49.0|get_max_cache_shape()
DynamicCache|get_usable_length||4.53.3<4.55.4|get_seq_length()
DynamicCache|key_cache||4.55.4<4.57.6|layers[i].keys
DynamicCache|to_legacy_cache from_legacy_cache||4.57.6<5.0.0|
"""
"""Module; names; `A>B`: A has it and B, the release looked at before it, has not; `A<B`: A has it and B, the one looked at behind it, has not
(`*`: nor that module); what follows it; module `*`: an attribute of models,
configurations and tokenizers of transformers. Measured on the wheels of PyPI (13 of transformers, 4 to 6 of each other), 2026-11-27.
"""

_IMPORTED = re.compile(r"cannot import name '(?P<name>\w{1,80})' from '(?P<module>[\w.]{1,100})'")
_ASKED = re.compile(r"module '(?P<module>[\w.]{1,100})' has no attribute '(?P<name>\w{1,80})'")
_OF_AN_OBJECT = re.compile(r"'(?P<module>\w{1,80})' (?:object )?has no attribute '(?P<name>\w{1,80})'")
_OF_CLASSES = {
    "DynamicCache": "transformers",
    "Trainer": "pytorch_lightning",
    "LightningModule": "pytorch_lightning",
    "GRPOTrainer": "trl",
}
_MODULE = re.compile(r"No module named '(?P<module>[\w.]{1,100})'")


@cache
def _by_name() -> dict[tuple[str, str], tuple[str, str, str]]:
    table = {}
    for line in _NAMES.strip().split("\n"):
        module, names, came, gone, instead = line.split("|")
        for name in names.split():
            table[module, name] = (came, gone, instead)
    return table


@cache
def _by_module() -> dict[str, tuple[str, str, str]]:
    """Modules that came or went as a whole."""
    table = {}
    for (module, _), (came, gone, instead) in _by_name().items():
        if came.endswith("*") or gone.endswith("*"):
            table[module] = (came if came.endswith("*") else "", gone if gone.endswith("*") else "", instead)
    return table


def read_library_name(message: str) -> ValuesSay | None:
    """Since which release a library has no longer, or first has, what the message asks for; None where the table does not know it."""
    found = next((each for one in (_IMPORTED, _ASKED, _OF_AN_OBJECT, _MODULE) if (each := one.search(message))), None)
    if found is None:
        return None
    module, name = found["module"], found.groupdict().get("name", "")
    known = _by_name().get((module, name)) if name else _by_module().get(module)
    if known is None and _OF_AN_OBJECT.fullmatch(found[0]):
        return _asked_of_a_model(module, name)
    if known is None:
        return None
    came, gone, instead = (each.rstrip("*") for each in known)
    library = _OF_CLASSES.get(module, module.partition(".")[0])
    asked = f"{module}.{name}" if name else module
    if gone:
        last, without = gone.split("<")
        since = f", which came with {came.split('>')[0]} or shortly before," if came else ""
        follows = f"; its place has {instead}" if instead else ""
        return ValuesSay(
            f"{asked}{since} is in {library} {last} and no longer in {without}: the one that is installed is newer{follows}."
            f" Where the code cannot be changed: python -m pip install '{library}<={last}'",
            0,
        )
    first, before = came.split(">")
    return ValuesSay(
        f"{asked} is in {library} {first} and not yet in {before}: the one that is installed is older: python -m pip install -U '{library}>={first}'",
        1,
    )


def _asked_of_a_model(part: str, name: str) -> ValuesSay | None:
    """Of a class that is derived from one of transformers' (`*` in the table): in both directions its code, or what calls it, is the older."""
    came, gone, instead = _by_name().get(("*", name), ("", "", ""))
    if gone:
        last, without = gone.split("<")
        follows = f"; its place has {instead}" if instead else ""
        return ValuesSay(
            f"{name} is in transformers {last} and no longer in {without}, and code that is older asks {part} for it{follows}:"
            f" upgrade that code, or python -m pip install 'transformers<={last}'",
            0,
        )
    if came:
        first, before = came.split(">")
        return ValuesSay(
            f"transformers {first} asks every model for {name}, which {before} does not yet; {part} is a class of code for an older transformers:"
            f" upgrade that code, or python -m pip install 'transformers<={before}'",
            0,
        )
    return None
