"""The names of `torch._C` that belong to TorchScript, by what they are for.

Source: `dir(torch._C)` of the torch 2.13.0 wheel, 2026-11-21: every `_jit_*` name, and those of the others that
`torch/jit`, `torch/onnx` and `torch/utils` use for TorchScript. tests/rules/torchscript/test_torchscript_surface.py compares with torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Purpose = Literal["freeze", "switch", "state", "graph", "mobile", "type", "error", "schema", "tracing", "other"]

NAMES: Mapping[Purpose, tuple[str, ...]] = {
    # Freezing.
    "freeze": ("_freeze_module",),
    # Settings of the compiler.
    "switch": tuple(
        """
        _debug_set_autodiff_subgraph_inlining _debug_set_fusion_group_inlining _jit_cat_wo_conditionals
        _jit_nvfuser_clear_comparison_callback _jit_nvfuser_set_comparison_callback _jit_opt_conditionals
        _jit_override_can_fuse_on_cpu _jit_override_can_fuse_on_cpu_legacy _jit_override_can_fuse_on_gpu
        _jit_set_autocast_mode _jit_set_bailout_depth _jit_set_emit_hooks _jit_set_fusion_strategy
        _jit_set_inline_everything_mode _jit_set_llga_enabled _jit_set_logging_option _jit_set_logging_stream
        _jit_set_num_profiled_runs _jit_set_nvfuser_enabled _jit_set_nvfuser_guard_mode
        _jit_set_nvfuser_horizontal_mode _jit_set_nvfuser_single_node_mode _jit_set_nvfuser_skip_node_kind
        _jit_set_onnx_log_enabled _jit_set_onnx_log_output_stream _jit_set_profiling_executor
        _jit_set_profiling_mode _jit_set_symbolic_shapes_test_mode _jit_set_te_cuda_pointwise_block_count
        _jit_set_te_cuda_pointwise_block_size _jit_set_te_cuda_pointwise_loop_levels _jit_set_te_generate_block_code
        _jit_set_te_must_use_llvm_cpu _jit_set_texpr_dynamic_shape_enabled _jit_set_texpr_fuser_enabled
        _jit_set_texpr_reductions_enabled _jit_set_tracer_state_warn _jit_set_utf8_decoding_ignore
        _jit_texpr_set_fallback_allowed _set_graph_executor_optimize
        """.split()
    ),
    # Reads of those settings.
    "state": tuple(
        """
        _debug_get_fusion_group_inlining _get_graph_executor_optimize _jit_can_fuse_on_cpu
        _jit_can_fuse_on_cpu_legacy _jit_can_fuse_on_gpu _jit_get_emit_hooks _jit_get_inline_everything_mode
        _jit_get_logging_option _jit_get_num_profiled_runs _jit_get_te_cuda_pointwise_block_count
        _jit_get_te_cuda_pointwise_block_size _jit_get_te_cuda_pointwise_loop_levels _jit_get_te_generate_block_code
        _jit_get_te_must_use_llvm_cpu _jit_get_tracer_state_warn _jit_is_onnx_log_enabled _jit_llga_enabled
        _jit_nvfuser_can_be_enabled _jit_nvfuser_enabled _jit_nvfuser_horizontal_mode _jit_nvfuser_single_node_mode
        _jit_symbolic_shapes_test_mode_enabled _jit_texpr_dynamic_shape_enabled _jit_texpr_fallback_allowed
        _jit_texpr_fuser_enabled _jit_texpr_reductions_enabled
        """.split()
    ),
    # Graphs, passes over them, and the intermediate representation.
    "graph": tuple(
        """
        Graph GraphExecutorState _compile_graph_to_code_table _create_function_from_graph _create_graph_by_tracing
        _export_opnames _get_value_trace _import_ir_module_from_package _jit_debug_fuser_num_cached_kernel_specs
        _jit_debug_module_iterators _jit_decomposition_graph_for_node _jit_differentiate
        _jit_fuser_get_fused_kernel_code _jit_interpret_graph _jit_onnx_list_model_parameters _jit_pass_autocast
        _jit_pass_batch_mm _jit_pass_canonicalize _jit_pass_canonicalize_graph_fuser_ops
        _jit_pass_complete_shape_analysis _jit_pass_concat_frozen_linear _jit_pass_constant_loop_unrolling
        _jit_pass_constant_pooling _jit_pass_constant_propagation _jit_pass_constant_propagation_immutable_types
        _jit_pass_convert_frozen_ops_to_mkldnn _jit_pass_create_autodiff_subgraphs
        _jit_pass_create_functional_graphs _jit_pass_cse _jit_pass_custom_pattern_based_rewrite
        _jit_pass_custom_pattern_based_rewrite_graph _jit_pass_dbr_quant_remove_redundant_aliases _jit_pass_dce
        _jit_pass_dce_allow_deleting_nodes_with_side_effects _jit_pass_dce_graph _jit_pass_decompose_ops
        _jit_pass_dedup_module_uses _jit_pass_erase_number_types _jit_pass_erase_shape_information
        _jit_pass_filter_non_tensor_arguments _jit_pass_fixup_onnx_controlflow_node _jit_pass_fold_convbn
        _jit_pass_fold_frozen_conv_add_or_sub _jit_pass_fold_frozen_conv_bn _jit_pass_fold_frozen_conv_mul_or_div
        _jit_pass_fold_frozen_linear_bn _jit_pass_fold_prepacking_ops _jit_pass_functional_to_inplace_activation
        _jit_pass_fuse _jit_pass_fuse_add_relu _jit_pass_fuse_addmm _jit_pass_fuse_clamp_w_prepacked_linear_conv
        _jit_pass_fuse_frozen_conv_add_relu _jit_pass_fuse_linear _jit_pass_fuse_quantized_add_relu
        _jit_pass_fuse_tensorexprs _jit_pass_inline _jit_pass_inline_fork_wait _jit_pass_inline_functional_graphs
        _jit_pass_inplace_to_functional_activation _jit_pass_insert_observers _jit_pass_insert_prepack_unpack
        _jit_pass_insert_prepacked_ops _jit_pass_insert_quant_dequant _jit_pass_integer_value_refinement
        _jit_pass_lint _jit_pass_loop_unrolling _jit_pass_lower_all_tuples _jit_pass_lower_graph _jit_pass_onnx
        _jit_pass_onnx_assign_output_shape _jit_pass_onnx_assign_scoped_names_for_node_and_value
        _jit_pass_onnx_autograd_function_process _jit_pass_onnx_block _jit_pass_onnx_cast_all_constant_to_floating
        _jit_pass_onnx_clear_scope_records _jit_pass_onnx_constant_fold _jit_pass_onnx_deduplicate_initializers
        _jit_pass_onnx_eliminate_unused_items _jit_pass_onnx_eval_peephole _jit_pass_onnx_function_extraction
        _jit_pass_onnx_function_substitution _jit_pass_onnx_graph_shape_type_inference _jit_pass_onnx_lint
        _jit_pass_onnx_node_shape_type_inference _jit_pass_onnx_peephole _jit_pass_onnx_preprocess
        _jit_pass_onnx_preprocess_caffe2 _jit_pass_onnx_quantization_insert_permutes
        _jit_pass_onnx_remove_inplace_ops_for_onnx _jit_pass_onnx_remove_print _jit_pass_onnx_scalar_type_analysis
        _jit_pass_onnx_set_dynamic_input_shape _jit_pass_onnx_track_scope_attributes
        _jit_pass_onnx_unpack_quantized_weights _jit_pass_optimize_for_inference _jit_pass_optimize_frozen_graph
        _jit_pass_pattern_based_rewrite _jit_pass_peephole _jit_pass_peephole_list_idioms
        _jit_pass_prepare_division_for_onnx _jit_pass_propagate_device _jit_pass_propagate_dtype
        _jit_pass_propagate_shapes_on_graph _jit_pass_propagate_shapes_on_graph_and_build_compute
        _jit_pass_quant_finalize _jit_pass_quant_fusion _jit_pass_refine_integer_values _jit_pass_refine_tuple_types
        _jit_pass_remove_dropout _jit_pass_remove_expands _jit_pass_remove_inplace_ops _jit_pass_remove_mutation
        _jit_pass_replace_old_ops_with_upgraders _jit_pass_replicate_dequantize _jit_pass_run_decompositions
        _jit_pass_specialize_autogradzero _jit_pass_swap_functional_linear _jit_pass_transform_conv1d_to_conv2d
        _jit_pass_transpose_frozen_linear _jit_register_shape_compute_graph_for_node
        _jit_shape_compute_graph_for_node _jit_trace_graph _last_executed_optimized_graph
        _propagate_and_assign_input_shapes _propagate_shapes import_ir_module import_ir_module_from_buffer parse_ir
        """.split()
    ),
    # Lite interpreter, flatbuffers, mobile passes and delegates.
    "mobile": tuple(
        """
        LiteScriptModule _backport_for_mobile _backport_for_mobile_from_buffer
        _backport_for_mobile_from_buffer_to_buffer _backport_for_mobile_to_buffer
        _enable_mobile_interface_call_export _export_operator_list _get_mobile_model_contained_types
        _get_mobile_model_contained_types_from_buffer _get_model_bytecode_version
        _get_model_bytecode_version_from_buffer _get_model_extra_files _get_model_extra_files_from_buffer
        _get_model_ops_and_info _get_model_ops_and_info_from_buffer _get_module_info_from_flatbuffer
        _jit_pass_insert_observer_method_for_ondevice_ptq _jit_pass_insert_quant_dequant_for_ondevice_ptq
        _jit_pass_metal_fold_prepacking_ops _jit_pass_metal_fuse_clamp_w_prepacked_conv
        _jit_pass_metal_insert_prepacked_ops _jit_pass_metal_optimize_for_mobile _jit_pass_optimize_for_mobile
        _jit_pass_quant_finalize_for_ondevice_ptq _jit_pass_vulkan_fold_prepacking_ops
        _jit_pass_vulkan_fuse_clamp_w_prepacked_conv _jit_pass_vulkan_insert_prepacked_ops
        _jit_pass_vulkan_optimize_for_mobile _jit_to_backend _jit_to_backend_selective _load_for_lite_interpreter
        _load_for_lite_interpreter_from_buffer _load_jit_module_from_bytes _load_jit_module_from_file
        _load_mobile_module_from_bytes _load_mobile_module_from_file _nn_module_to_mobile
        _quantize_ondevice_ptq_dynamic _save_jit_module _save_jit_module_to_bytes _save_mobile_module
        _save_mobile_module_to_bytes _save_parameters
        """.split()
    ),
    # Classes of TorchScript values.
    "type": ("ScriptClass", "ScriptFunction", "ScriptMethod", "ScriptModule"),
    # What its interpreter raises.
    "error": ("JITException",),
    # The operator registry, which outlives TorchScript.
    "schema": tuple(
        """
        _jit_get_all_schemas _jit_get_custom_class_schemas _jit_get_operation _jit_get_schemas_for_operator
        _jit_register_decomposition_for_schema _jit_resolve_packet
        """.split()
    ),
    # Whether a trace is being recorded.
    "tracing": ("_get_tracing_state", "_is_tracing"),
    # The compiler's own parts.
    "other": tuple(
        """
        CompilationUnit ConcreteModuleType ConcreteModuleTypeBuilder FileCheck ScriptClassFunction ScriptDict
        ScriptList ScriptModuleSerializer ScriptObjectProperty StaticModule TracingState _Await _awaitable
        _awaitable_nowait _awaitable_wait _create_function_from_trace _create_function_from_trace_with_dict
        _create_module_with_type _create_object_with_type _fuse_to_static_module
        _hack_do_not_use_clone_module_with_class _jit_assert_is_instance _jit_check_alias_annotation
        _jit_clear_class_registry _jit_decay_packed_param_input_types _jit_erase_non_input_shape_information
        _jit_flatten _jit_has_cpp_tests _jit_init _jit_is_script_object _jit_object_is_non_holding
        _jit_onnx_convert_pattern_from_subblock _jit_onnx_create_full_scope_name _jit_onnx_log
        _jit_replace_submodule _jit_run_cpp_tests _jit_script_class_compile _jit_script_compile
        _jit_script_compile_overload _jit_script_interface_compile _jit_to_static_module _jit_trace_module
        _jit_tree_views _jit_try_infer_type _jit_unflatten _parse_source_def _replace_overloaded_method_decl
        _resolve_type _resolve_type_from_object _run_emit_module_hook _set_tracing_state _set_value_trace
        _tracer_set_force_outplace _tracer_set_get_unique_name_fn _tracer_warn_use_python fork
        merge_type_from_type_comment parse_type_comment wait
        """.split()
    ),
}


def bindings(*purposes: Purpose) -> tuple[str, ...]:
    """Qualified names that are for one of the purposes, sorted."""
    return tuple(sorted(f"torch._C.{name}" for purpose in purposes for name in NAMES[purpose]))
