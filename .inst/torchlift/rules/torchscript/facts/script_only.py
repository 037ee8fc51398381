"""What a TorchScript value offers and the plain function or module in its place does not.

Source: `dir` of both, scripted and traced, with torch 2.13.0, 2026-11-23.
"""

from __future__ import annotations

_OF_BOTH = frozenset(
    "graph inlined_graph graph_for code code_with_constants get_debug_state save save_to_buffer _c".split()
)
OF_FUNCTIONS = _OF_BOTH | {"name", "qualified_name", "schema", "_debug_flush_compilation_cache"}
"""Attributes that `torch.jit.ScriptFunction` has and a Python function has not."""
OF_MODULES = _OF_BOTH | frozenset(
    """_save_for_lite_interpreter _save_to_buffer_for_lite_interpreter define original_name
    forward_magic_method""".split()
)
"""Attributes that `torch.jit.ScriptModule` has and an `nn.Module` has not."""
